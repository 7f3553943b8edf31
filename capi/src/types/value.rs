//! Texts and JSON: what a chunk, a value and a number look like to the caller.

use core::ffi::c_char;

/// Bytes, not ended by NUL. `{NULL, 0}` is an absent text.
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

/// Memory that the parsers of a thread share: the shapes of events that were read (their bytes
/// without the texts that change), and the index of the current event. The address of a workspace is
/// that of its block: `(deltawire_workspace *)mem`.
///
/// Events from one upstream are the same in most of their bytes. Parsers that share a workspace have
/// smaller blocks (`DELTAWIRE_CFG_SHARED`), and the shared memory stays in the processor's cache,
/// however many parsers there are. Sharing changes the cost, never the events. A workspace remembers
/// two shapes, so use one workspace for each upstream. It holds no pointers between calls, and no
/// parser points to it.
///
/// One workspace serves one thread, and one trust domain: it contains bytes of the streams that were
/// read with it, such as names of tools, until other bytes replace them or
/// `deltawire_workspace_clear` overwrites them. No parser emits bytes of another stream. But an
/// event whose shape is remembered takes less time, and whoever writes a stream can measure that.
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

/// A JSON value that is not decoded yet: a view of its bytes, valid while those bytes are. Make a
/// value with `deltawire_value_open`, or use one that a function returned; do not fill the struct by
/// hand.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct deltawire_value {
    /// The bytes of the value as they were sent; a string includes its quotes.
    pub ptr: *const c_char,
    /// The number of bytes.
    pub len: usize,
    /// `DELTAWIRE_T_*`, which the first byte of the value decides.
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
/// Plain text instead of JSON, as some servers report errors.
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
    /// 1 if `digits` and `exp10` are exactly the number; 0 if digits other than zero were cut off,
    /// or the exponent does not fit.
    pub exact: u8,
    /// Always 0.
    pub reserved: [u8; 2],
}

/// Memory for `deltawire_chunk_open`. The chunk points into it: do not move it while the chunk is in
/// use.
#[repr(C)]
pub struct deltawire_chunk_storage {
    /// Private to the library.
    pub opaque: [u64; 104],
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
/// `usage`, if it is an object that is not empty; or the member that has the usage, if the provider
/// sends it under another name.
pub const DELTAWIRE_F_USAGE: u32 = 8;
/// The error, wherever the provider sends it and in whatever shape; its type may be
/// `DELTAWIRE_T_TEXT`.
pub const DELTAWIRE_F_ERROR: u32 = 9;

/// Part of an error: its message, for people to read.
pub const DELTAWIRE_ERROR_MESSAGE: u32 = 0;
/// Part of an error: `code`, `status_code`, `statusCode` or `error_code`, a string or a number; or
/// the code of the first of its `errors`.
pub const DELTAWIRE_ERROR_CODE: u32 = 1;
/// Part of an error: `type` (unless its value is `error`), `error_type`, or a `status` in words.
pub const DELTAWIRE_ERROR_TYPE: u32 = 2;
/// Part of an error: `param`.
pub const DELTAWIRE_ERROR_PARAM: u32 = 3;
/// Part of an error: `metadata`, any JSON.
pub const DELTAWIRE_ERROR_METADATA: u32 = 4;
