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
    let mut kinds = [None; 128];
    let (mut rest, mut byte) = (kinds.as_mut_slice(), 0);
    while let Some((kind, after)) = rest.split_first_mut() {
        *kind = Kind::judge(byte);
        (rest, byte) = (after, byte + 1);
    }
    kinds
};
