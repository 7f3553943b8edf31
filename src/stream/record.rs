//! A record: one delta as a batch writes it.

/// One thing of a batch: 64 bytes, no pointers, the layout of the C interface. Texts are offsets into the input or, where
/// a flag is set, into the scratch; an absent one has length 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Record {
    /// A [`Kind`](crate::delta::Kind), by its number.
    pub kind: u16,
    /// `FLAG_*`.
    pub flags: u16,
    /// The index of the choice.
    pub choice: u32,
    /// The number of the tool call among those of its choice.
    pub call: u32,
    /// A finish reason, a quirk, a fault, a limit, a count of choices: by the kind.
    pub code: u32,
    /// A tool call's index, a time, an offset, a set of kinds: by the kind.
    pub number: u64,
    /// Offset of the text.
    pub text_off: u32,
    /// Its length.
    pub text_len: u32,
    /// Offset of the second text.
    pub aux_off: u32,
    /// Its length.
    pub aux_len: u32,
    /// Offset of the third text.
    pub extra_off: u32,
    /// Its length.
    pub extra_len: u32,
    /// Stream offset of its first byte.
    pub start: u64,
    /// One past its last byte.
    pub end: u64,
}

impl Record {
    /// All 0.
    pub(super) const NONE: Record = Record {
        kind: 0,
        flags: 0,
        choice: 0,
        call: 0,
        code: 0,
        number: 0,
        text_off: 0,
        text_len: 0,
        aux_off: 0,
        aux_len: 0,
        extra_off: 0,
        extra_len: 0,
        start: 0,
        end: 0,
    };
}

/// The text lies in the scratch.
pub const FLAG_TEXT_SCRATCH: u16 = 1;
/// The second text lies in the scratch.
pub const FLAG_AUX_SCRATCH: u16 = 2;
/// The third text lies in the scratch.
pub const FLAG_EXTRA_SCRATCH: u16 = 4;
