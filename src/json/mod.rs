//! Lazy JSON (RFC 8259): a forward-only cursor, values that remain bytes, strings that remain escaped.
//!
//! [`Cursor`] enters only the containers that its caller enters, and skips the others, as [`parse_lazy`] does. Skipping
//! a value checks this much of it:
//!
//! | Value | Checked when it is skipped |
//! | --- | --- |
//! | number, literal | in full |
//! | string | that it ends |
//! | object, array | that its strings end, how deep it nests, and that it has as many closing brackets as opening ones, braces and square brackets counted alike: `[}` passes, and so does `[1 2]` |
//!
//! The other checks happen when the value is read. [`Text`] decodes a string when it is read. It replaces or keeps what
//! strict JSON forbids there, and reports that as a [`Quirk`](crate::Quirk). [`validate`] is the strict check: RFC 8259
//! in full, and UTF-8.
//!
//! Nothing here recurses, copies the input or allocates, except [`Text::push_to`] and [`Text::to_cow`] (feature
//! `alloc`).
//!
//! ```
//! use deltawire::json;
//! let value = json::parse_lazy(br#" {"id": 7, "name": "gr\u00fcn"} "#)?;
//! let id = value.get("id")?.and_then(|id| id.as_number());
//! assert_eq!(id.and_then(|id| id.to_u64()), Some(7));
//! let name = value.get("name")?.and_then(|name| name.as_text());
//! assert!(name.is_some_and(|name| name == "grün"));
//! # Ok::<(), json::JsonError>(())
//! ```

mod balance;
mod checker;
mod cursor;
mod decimal;
mod error;
mod fragments;
mod kind;
mod lexeme;
mod members;
mod number;
mod rewrite;
#[cfg(feature = "serde")]
mod serialize;
mod steps;
mod strict;
mod take;
mod text;
mod value;

#[cfg(test)]
mod steps_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod text_tests;

pub(crate) use balance::Balance;
pub(crate) use checker::Checker;
pub use cursor::{parse_lazy, Cursor};
pub use decimal::Decimal;
pub use error::{JsonError, JsonErrorKind};
pub use fragments::{Copied, Fragment, Fragments};
pub use kind::ValueKind;
pub(crate) use kind::ValueKinds;
pub(crate) use members::members_of;
pub use members::{Elements, Members};
pub use number::Number;
pub(crate) use number::{digits_len, skip as skip_number};
pub(crate) use rewrite::{escape, escape_text, not_a_number, not_a_number_at, rewrite};
pub(crate) use rewrite::{rewrite_keeping_halves, rewrite_not_numbers, skip_string};
pub(crate) use steps::{Before, Head, Skipped, Steps};
pub(crate) use strict::string_end as strict_string_end;
pub use strict::validate;
pub use text::Text;
pub(crate) use text::{TextFlags, LONGEST_WORD};
pub use value::Value;
