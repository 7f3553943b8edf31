//! JSON read lazily: a forward-only cursor, values that stay bytes, strings that stay escaped.
//!
//! [`Cursor`] enters only the containers that its caller enters and passes over the rest: a container that is not entered is checked
//! for balance alone, a string for its end, a number and a literal in full. [`Text`] decodes when it is read, and what it
//! meets there that strict JSON forbids is replaced or kept, and reported as a [`Quirk`](crate::Quirk). [`validate`] is the
//! strict check: all of RFC 8259 and UTF-8.
//!
//! Nothing here allocates (but for the two conveniences of feature `alloc`), recurses or copies.
//!
//! ```
//! use deltawire::json;
//! let value = json::parse(br#" {"id": 7, "name": "gr\u00fcn"} "#)?;
//! let id = value.get("id")?.and_then(|id| id.as_number());
//! assert_eq!(id.and_then(|id| id.to_u64()), Some(7));
//! let name = value.get("name")?.and_then(|name| name.as_text());
//! assert!(name.is_some_and(|name| name == "grün"));
//! # Ok::<(), json::JsonError>(())
//! ```

mod balance;
mod bare;
mod cursor;
mod decimal;
mod error;
mod fragments;
mod kind;
mod lexeme;
mod members;
mod number;
mod rewrite;
mod steps;
mod strict;
mod take;
mod text;
mod value;
mod walk;

#[cfg(test)]
mod tests;

pub(crate) use balance::Balance;
pub(crate) use bare::Bare;
pub use cursor::{parse, Cursor};
pub use decimal::Decimal;
pub use error::{JsonError, JsonErrorKind};
pub use fragments::{Copied, Fragment, Fragments, Unescape};
pub use kind::Kind;
pub use members::{Elements, Members};
pub use number::Number;
pub(crate) use rewrite::{element_at, escape, escape_text, rewrite, rewrite_keeping_halves};
pub(crate) use steps::{Kinds, Read, Steps};
pub(crate) use strict::string_end as strict_string_end;
pub use strict::validate;
pub use text::Text;
pub(crate) use text::TextFlags;
pub use value::Value;
