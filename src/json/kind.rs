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

/// A set of kinds of values, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const NONE: Kinds = Kinds(0);
    pub(crate) const NULL: Kinds = Kinds(1);
    pub(crate) const STRING: Kinds = Kinds(2);
    pub(crate) const NUMBER: Kinds = Kinds(4);
    pub(crate) const OBJECT: Kinds = Kinds(8);
    /// Arrays, `true` and `false`.
    pub(crate) const OTHER: Kinds = Kinds(16);
    pub(crate) const ANY: Kinds = Kinds(31);

    /// Returns the union of both sets.
    pub(crate) const fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    /// Whether both sets have a kind in common.
    #[inline(always)]
    pub(crate) const fn any(self, others: Kinds) -> bool {
        self.0 & others.0 != 0
    }

    /// Returns the kind of a value whose first byte is `byte`.
    #[inline(always)]
    pub(super) fn of(byte: u8) -> Kinds {
        match byte {
            b'-' | b'0'..=b'9' => Kinds::NUMBER,
            b'{' => Kinds::OBJECT,
            b'n' => Kinds::NULL,
            b'"' => Kinds::STRING,
            _ => Kinds::OTHER,
        }
    }
}
