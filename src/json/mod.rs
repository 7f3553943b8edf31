//! JSON read lazily: a forward-only cursor, values that stay bytes, strings that stay escaped.
//!
//! [`Cursor`] enters only what it is told to enter and reads over the rest: a container that is not entered is checked
//! for balance alone, a string for its end, a number and a literal in full. [`Text`] decodes when it is read, and what it
//! meets there that strict JSON forbids is replaced or kept, and told by a [`Quirk`](crate::Quirk). [`validate`] is the
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
mod cursor;
mod decimal;
mod error;
mod fragments;
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

use crate::visits::visit;
pub(crate) use balance::Balance;
pub use cursor::Cursor;
pub use decimal::Decimal;
pub use error::{JsonError, JsonErrorKind};
pub use fragments::{Copied, Fragment, Fragments, Unescape};
pub use number::Number;
pub(crate) use rewrite::{escape, rewrite};
pub(crate) use steps::{Kinds, Read, Steps};
pub(crate) use strict::string_end as strict_string_end;
pub use strict::validate;
pub use text::Text;
pub(crate) use text::TextFlags;
pub use value::{Elements, Members, Value};

/// The six kinds of a JSON value (RFC 8259, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// The kind of the value that begins with `byte`.
    #[inline]
    fn of(byte: u8) -> Option<Kind> {
        Some(match byte {
            b'"' => Kind::String,
            b'{' => Kind::Object,
            b'[' => Kind::Array,
            b'-' | b'0'..=b'9' => Kind::Number,
            b't' | b'f' => Kind::Bool,
            b'n' => Kind::Null,
            _ => return None,
        })
    }
}

/// The one value in `bytes`, with nothing but whitespace round it. It is checked as [`Cursor::value`] does: a container
/// for balance (128 levels at most), anything else in full but for what is inside a string.
///
/// # Errors
/// What [`Cursor::value`] and [`Cursor::end`] return.
#[inline]
pub fn parse(bytes: &[u8]) -> Result<Value<'_>, JsonError> {
    let mut cursor = Cursor::new(bytes);
    let value = cursor.value()?;
    cursor.end()?;
    Ok(value)
}

/// The offset of the first byte at or after `at` that is not whitespace (RFC 8259, section 2), and that byte.
#[inline]
fn significant(bytes: &[u8], mut at: usize) -> (usize, Option<u8>) {
    loop {
        visit!(1);
        match bytes.get(at) {
            Some(b' ' | b'\n' | b'\r' | b'\t') => at += 1,
            Some(&byte) => return (at, Some(byte)),
            None => return (at, None),
        }
    }
}

/// One past the literal that begins at `at` with `first`, which is `t`, `f` or `n`.
#[inline]
fn literal_end(bytes: &[u8], at: usize, first: u8) -> Result<usize, JsonError> {
    visit!(5);
    let rest = bytes.get(at..).unwrap_or_default();
    // Compared with each as a constant: no call.
    let word: &[u8] = match (first, rest) {
        (b'n', [b'n', b'u', b'l', b'l', ..]) | (b't', [b't', b'r', b'u', b'e', ..]) => return Ok(at + 4),
        (b'f', [b'f', b'a', b'l', b's', b'e', ..]) => return Ok(at + 5),
        (b't', _) => b"true",
        (b'f', _) => b"false",
        _ => b"null",
    };
    let same = rest.iter().zip(word).take_while(|(byte, due)| byte == due).count();
    let kind = if same == rest.len() { JsonErrorKind::UnexpectedEnd } else { JsonErrorKind::BadLiteral };
    Err(kind.at(at + same))
}
