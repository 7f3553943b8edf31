//! The kinds of JSON values.

/// The six kinds of JSON values (RFC 8259, section 3).
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
    /// Returns the kind of a value whose first byte is `byte`. A table, because a `match` would be longer in each of many
    /// places.
    #[inline]
    pub(super) fn of(byte: u8) -> Option<Kind> {
        KINDS.get(usize::from(byte)).copied().flatten()
    }

    const fn judge(byte: u8) -> Option<Kind> {
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

/// The result of [`Kind::judge`] for each byte below 0x80. No value begins with a byte from 0x80 on.
static KINDS: [Option<Kind>; 128] = {
    let (mut kinds, mut byte) = ([None; 128], 0_u8);
    while byte < 128 {
        #[allow(clippy::indexing_slicing)] // Evaluated at compile time, and checked above.
        {
            kinds[byte as usize] = Kind::judge(byte);
        }
        byte += 1;
    }
    kinds
};
