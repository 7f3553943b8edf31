//! The kinds of JSON values.

/// The six kinds of JSON values (RFC 8259, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueKind {
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

impl ValueKind {
    /// Returns the kind of a value whose first byte is `byte`. Uses a table, because a `match` would take more code in
    /// each of many places.
    #[inline]
    pub(super) fn of(byte: u8) -> Option<ValueKind> {
        KINDS.get(usize::from(byte)).copied().flatten()
    }

    const fn begun_by(byte: u8) -> Option<ValueKind> {
        Some(match byte {
            b'"' => ValueKind::String,
            b'{' => ValueKind::Object,
            b'[' => ValueKind::Array,
            b'-' | b'0'..=b'9' => ValueKind::Number,
            b't' | b'f' => ValueKind::Bool,
            b'n' => ValueKind::Null,
            _ => return None,
        })
    }
}

/// The result of [`ValueKind::begun_by`] for each byte below 0x80. No value begins with a byte from 0x80 on.
static KINDS: [Option<ValueKind>; 128] = {
    let (mut kinds, mut byte) = ([None; 128], 0_u8);
    while byte < 128 {
        #[allow(clippy::indexing_slicing)] // Evaluated at compile time, and checked above.
        {
            kinds[byte as usize] = ValueKind::begun_by(byte);
        }
        byte += 1;
    }
    kinds
};

/// A set of kinds of values, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ValueKinds(u8);

impl ValueKinds {
    pub(crate) const NONE: ValueKinds = ValueKinds(0);
    pub(crate) const NULL: ValueKinds = ValueKinds(1);
    pub(crate) const STRING: ValueKinds = ValueKinds(2);
    pub(crate) const NUMBER: ValueKinds = ValueKinds(4);
    pub(crate) const OBJECT: ValueKinds = ValueKinds(8);
    /// Arrays, `true` and `false`.
    pub(crate) const OTHER: ValueKinds = ValueKinds(16);
    pub(crate) const ANY: ValueKinds = ValueKinds(31);

    /// Returns the union of both sets.
    pub(crate) const fn or(self, other: ValueKinds) -> ValueKinds {
        ValueKinds(self.0 | other.0)
    }

    /// Whether both sets have a kind in common.
    #[inline(always)]
    pub(crate) const fn any(self, others: ValueKinds) -> bool {
        self.0 & others.0 != 0
    }

    /// Returns the kind of a value whose first byte is `byte`.
    #[inline(always)]
    pub(super) fn of(byte: u8) -> ValueKinds {
        match byte {
            b'-' | b'0'..=b'9' => ValueKinds::NUMBER,
            b'{' => ValueKinds::OBJECT,
            b'n' => ValueKinds::NULL,
            b'"' => ValueKinds::STRING,
            _ => ValueKinds::OTHER,
        }
    }
}
