//! Texts and JSON: what a chunk, a value and a number look like to the caller.

use core::ffi::c_char;

/// Bytes, not ended by NUL. `{NULL, 0}` stands for an absent text.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct deltawire_str {
    /// The first byte.
    pub ptr: *const c_char,
    /// The number of bytes.
    pub len: usize,
}

/// A parser. Its address is that of its block: `(deltawire_parser *)mem`.
pub struct deltawire_parser {
    _opaque: [u64; 0],
}

/// What the parsers of a thread share: the shapes of the events that were read, and the index of the
/// event at hand. Its address is that of its block: `(deltawire_workspace *)mem`.
///
/// Streams of one upstream have most bytes of their events in common. Parsers that share a workspace
/// have smaller blocks (`DELTAWIRE_CFG_SHARED`), and keep what they have in common in the
/// processor's cache, however many they are. Sharing changes the cost, never the events. A
/// workspace remembers two shapes, so give the streams of each upstream one. It holds no pointers
/// between calls, and no parser refers to one.
///
/// One workspace serves one thread, and one trust domain: it contains bytes of the streams that were
/// read with it, such as names of tools, until they are replaced or `deltawire_workspace_clear`
/// overwrites them. No parser emits those of another stream, but an event like an earlier one
/// takes less time, which whoever writes a stream can measure.
pub struct deltawire_workspace {
    _opaque: [u64; 0],
}

/// A chunk: the payload of one event, and an index of its members.
pub struct deltawire_chunk {
    _opaque: [u64; 0],
}

/// An assembler. Its address is that of its block: `(deltawire_message *)mem`.
pub struct deltawire_message {
    _opaque: [u64; 0],
}

/// A JSON value that was not decoded yet: a view of its bytes. It is valid as long as those bytes
/// are. Make one with `deltawire_value_open`, or use one that a function returned; do not fill the
/// struct by hand.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct deltawire_value {
    /// The bytes of the value as they were sent; a string includes its quotes.
    pub ptr: *const c_char,
    /// The number of bytes.
    pub len: usize,
    /// `DELTAWIRE_T_*`. The first byte of the value decides it.
    pub r#type: u32,
    /// Always 0.
    pub reserved: u32,
}

/// No value.
pub const DELTAWIRE_T_NONE: u32 = 0;
/// `null`.
pub const DELTAWIRE_T_NULL: u32 = 1;
/// `false`.
pub const DELTAWIRE_T_FALSE: u32 = 2;
/// `true`.
pub const DELTAWIRE_T_TRUE: u32 = 3;
/// A number.
pub const DELTAWIRE_T_NUMBER: u32 = 4;
/// A string.
pub const DELTAWIRE_T_STRING: u32 = 5;
/// An array.
pub const DELTAWIRE_T_ARRAY: u32 = 6;
/// An object.
pub const DELTAWIRE_T_OBJECT: u32 = 7;
/// Plain text instead of JSON: some servers report errors so.
pub const DELTAWIRE_T_TEXT: u32 = 8;

/// A number: (negative ? -1 : 1) * digits * 10^exp10.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct deltawire_decimal {
    /// The first 19 significant digits.
    pub digits: u64,
    /// The power of ten.
    pub exp10: i32,
    /// 1 if the number is below 0, or is -0.
    pub negative: u8,
    /// 1 if `digits` and `exp10` are the whole number; 0 if digits other than zero were cut off, or
    /// the exponent does not fit.
    pub exact: u8,
    /// Always 0.
    pub reserved: [u8; 2],
}

/// Memory for `deltawire_chunk_open`. The chunk points into it: do not move it while the chunk is in
/// use.
#[repr(C)]
pub struct deltawire_chunk_storage {
    /// Private to the library.
    pub opaque: [u64; 96],
}

/// `id`.
pub const DELTAWIRE_F_ID: u32 = 0;
/// `object`.
pub const DELTAWIRE_F_OBJECT: u32 = 1;
/// `created`.
pub const DELTAWIRE_F_CREATED: u32 = 2;
/// `model`.
pub const DELTAWIRE_F_MODEL: u32 = 3;
/// `system_fingerprint`.
pub const DELTAWIRE_F_SYSTEM_FINGERPRINT: u32 = 4;
/// `service_tier`.
pub const DELTAWIRE_F_SERVICE_TIER: u32 = 5;
/// `provider`.
pub const DELTAWIRE_F_PROVIDER: u32 = 6;
/// `choices`.
pub const DELTAWIRE_F_CHOICES: u32 = 7;
/// `usage`, if it is an object that is not empty. If the provider sends usage under another name,
/// that member.
pub const DELTAWIRE_F_USAGE: u32 = 8;
/// The error, wherever and in whatever shape the provider sends it; its type may be
/// `DELTAWIRE_T_TEXT`.
pub const DELTAWIRE_F_ERROR: u32 = 9;

/// Part of an error: the message for a reader.
pub const DELTAWIRE_ERROR_MESSAGE: u32 = 0;
/// Part of an error: `code`, `status_code`, `statusCode` or `error_code`, a string or a number, or
/// the code of the first of its `errors`.
pub const DELTAWIRE_ERROR_CODE: u32 = 1;
/// Part of an error: `type`, unless that is just `error`, or `error_type`, or `status` in words.
pub const DELTAWIRE_ERROR_TYPE: u32 = 2;
/// Part of an error: `param`.
pub const DELTAWIRE_ERROR_PARAM: u32 = 3;
/// Part of an error: `metadata`, any JSON.
pub const DELTAWIRE_ERROR_METADATA: u32 = 4;
