//! The errors of a JSON text.

use crate::words::words;
use core::fmt;

/// An error in a JSON text.
///
/// ```
/// use deltawire::json::{self, JsonErrorKind};
/// let error = json::parse_lazy(b"[1, 2 ").unwrap_err();
/// assert_eq!((error.kind, error.offset), (JsonErrorKind::UnexpectedEnd, 6));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// What is wrong.
    pub kind: JsonErrorKind,
    /// Offset of the error in the given bytes; their length if they end too early.
    pub offset: usize,
}

words! {
    /// The kinds of errors, with their numbers in the C interface.
    // As wide as the offset next to it. Copies of a result then consist of whole words, which the processor can forward
    // from the stores that wrote them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    #[repr(usize)]
    pub enum JsonErrorKind {
        /// The bytes end inside a value.
        UnexpectedEnd = 1, "unexpected end";
        /// A byte that is not allowed at its position.
        UnexpectedByte = 2, "unexpected byte";
        /// Bytes other than whitespace after the value.
        TrailingBytes = 3, "trailing bytes";
        /// A bracket beyond the depth limit.
        TooDeep = 4, "nested too deep";
        /// Not a number in the grammar of RFC 8259, section 6.
        BadNumber = 5, "not a number";
        /// None of `true`, `false` and `null`.
        BadLiteral = 6, "not a literal";
        /// An escape that JSON does not define. Only the strict check reports it.
        BadEscape = 7, "unknown escape";
        /// A raw control character in a string. Only the strict check reports it.
        RawControl = 8, "raw control character in a string";
        /// Ill-formed UTF-8 in a string. Only the strict check reports it.
        IllFormedUtf8 = 9, "ill-formed UTF-8";
    }
}

impl JsonErrorKind {
    /// Returns the error of this kind at `offset`.
    #[inline]
    pub(super) const fn at(self, offset: usize) -> JsonError {
        JsonError { kind: self, offset }
    }

    /// Returns its number in the C interface.
    #[doc(hidden)]
    pub const fn number(self) -> u32 {
        self as u32
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.kind, self.offset)
    }
}

impl core::error::Error for JsonError {}
