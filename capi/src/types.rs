//! The types that cross the boundary. Their layout is fixed: see `layout.rs`.

use core::ffi::{c_char, c_void};

/// The result of a call. 0: done. Above 0: the call stopped early; call again. -1 to -99: misuse.
/// Nothing was changed, and a correct call succeeds afterwards. -100 and below: the stream failed.
/// Every later call returns the same status until `deltawire_reset`.
pub type deltawire_status = i32;

/// All input is consumed, and no event is pending.
pub const DELTAWIRE_OK: i32 = 0;
/// A callback returned `DELTAWIRE_PAUSE` or `DELTAWIRE_AGAIN`. To go on, give the bytes from
/// `consumed` on again.
pub const DELTAWIRE_PAUSED: i32 = 1;
/// Batch: the array or the scratch is full, or more than 2^31 - 1 bytes were given. Process the
/// events, then call again with the bytes from `consumed` on.
pub const DELTAWIRE_MORE: i32 = 2;
/// The block is too small. A parser answers this for an event that a read cut (only with
/// `DELTAWIRE_CFG_GROW`), an assembler for a message. Give it a block of `deltawire_need` or
/// `deltawire_message_need` bytes: after `realloc` call `deltawire_resize`, or call `deltawire_move`
/// with another block. Then call again with the bytes from `consumed` on.
pub const DELTAWIRE_NEED_STORAGE: i32 = 3;
/// A getter's answer: there is no such value, or it has another type.
pub const DELTAWIRE_ABSENT: i32 = 10;
/// Misuse: a pointer is NULL that must not be.
pub const DELTAWIRE_E_NULL: i32 = -1;
/// Misuse: a struct that the caller fills has an unknown size, a value out of range, or a tail that
/// is not zero.
pub const DELTAWIRE_E_CONFIG: i32 = -2;
/// Misuse: memory is too small. If a getter's text does not fit into the buffer, only `*need` is
/// written.
pub const DELTAWIRE_E_SMALL: i32 = -3;
/// Misuse: memory is not aligned to `DELTAWIRE_ALIGN`.
pub const DELTAWIRE_E_ALIGN: i32 = -4;
/// Misuse: the block was never initialised, or the order of calls is wrong.
pub const DELTAWIRE_E_STATE: i32 = -5;
/// Misuse: a callback called a function on the parser that is calling it.
pub const DELTAWIRE_E_REENTRANT: i32 = -6;
/// Misuse: an argument is outside its range, or a number does not fit the requested type.
pub const DELTAWIRE_E_RANGE: i32 = -7;
/// Misuse: bytes have to be given again, those of a pending event or those that the block had no
/// room for, and the caller gave fewer, or others. Give the bytes from `consumed` on again.
pub const DELTAWIRE_E_RESUME: i32 = -8;
/// A callback returned a number below 0; `deltawire_user_code` returns that number.
pub const DELTAWIRE_E_ABORTED: i32 = -100;
/// A callback returned a number that is not allowed; `deltawire_user_code` returns that number.
pub const DELTAWIRE_E_CALLBACK: i32 = -101;
/// The stream has a quirk that the config makes an error; `deltawire_error_quirk` and
/// `deltawire_error_offset` name it.
pub const DELTAWIRE_E_STRICT: i32 = -102;

/// A callback returns this to go on.
pub const DELTAWIRE_GO_ON: i32 = 0;
/// A callback returns this to stop after the current event. The event's other callbacks are still
/// called. The call then returns `DELTAWIRE_PAUSED`.
pub const DELTAWIRE_PAUSE: i32 = 1;
/// A callback returns this to stop at once. The call returns `DELTAWIRE_PAUSED`; the next call
/// repeats this callback, with the same piece if a text comes in pieces, and goes on from there.
/// Only `deltawire_feed` and `deltawire_finish` can go on from there, not a batch.
pub const DELTAWIRE_AGAIN: i32 = 2;

/// The alignment of every block, in bytes. Memory of malloc has it, and so has a Go `[]uint64`.
pub const DELTAWIRE_ALIGN: usize = 8;
/// Bytes of a block beside the event buffer: the state and tables of the default size, with room to
/// spare. It grows only with `DELTAWIRE_ABI`.
pub const DELTAWIRE_STATE_SIZE: usize = 8192;
/// Bytes of an assembler's block beside the log. It grows only with `DELTAWIRE_ABI`.
pub const DELTAWIRE_MESSAGE_STATE_SIZE: usize = 4096;
/// The smallest scratch that a batch accepts, in bytes.
pub const DELTAWIRE_SCRATCH_MIN: usize = 64;
/// How many choices of one stream a parser and an assembler have room for, unless the config sets
/// `max_choices`.
pub const DELTAWIRE_DEFAULT_CHOICES: u32 = 8;
/// How many tool calls of one stream, over all choices, a parser and an assembler have room for,
/// unless the config sets `max_tool_calls`.
pub const DELTAWIRE_DEFAULT_TOOL_CALLS: u32 = 32;
/// The largest `max_choices`.
pub const DELTAWIRE_MAX_CHOICES: u32 = 128;
/// The largest `max_tool_calls`.
pub const DELTAWIRE_MAX_TOOL_CALLS: u32 = 1024;
/// An upper bound of the bytes that one choice or one tool call takes in a block; see
/// `DELTAWIRE_TABLES_SIZE`. It grows only with `DELTAWIRE_ABI`.
pub const DELTAWIRE_ROW_SIZE: usize = 128;
/// Every quirk number is below this.
pub const DELTAWIRE_QUIRKS: u32 = 128;

/// Mode: response streams: chat completion chunks, and the protocols that are read like them
/// (`dialect`).
pub const DELTAWIRE_MODE_CHAT: u32 = 0;
/// Mode: any event stream. The parser does not read the payloads; `on_sse` and `DELTAWIRE_EV_SSE`
/// deliver them.
pub const DELTAWIRE_MODE_SSE: u32 = 1;
/// Mode: as `DELTAWIRE_MODE_CHAT`, for who needs token counts, finish reasons, errors and the
/// verdict alone. Events of Responses and Anthropic Messages that have none of them, by the type
/// that is their first member, are not read beyond that; they are `DELTAWIRE_EV_SSE`. Other events
/// are read in full, so that some deltas come and some do not.
pub const DELTAWIRE_MODE_USAGE: u32 = 2;

/// Answer `DELTAWIRE_NEED_STORAGE` when a cut event does not fit into the block. Without this flag
/// the parser drops the event and reports `DELTAWIRE_EV_TOO_LONG`.
pub const DELTAWIRE_CFG_GROW: u32 = 1;
/// Framing exactly as in WHATWG HTML 9.2: unknown lines are ignored, and a last event without its
/// blank line is dropped.
pub const DELTAWIRE_CFG_SPEC: u32 = 2;
/// Check each payload completely, against RFC 8259 and as UTF-8. A payload that fails is malformed.
pub const DELTAWIRE_CFG_STRICT_JSON: u32 = 4;

/// How a parser behaves. A member that is 0 has its default. `deltawire_init` copies the struct.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct deltawire_config {
    /// `sizeof(deltawire_config)`; `DELTAWIRE_CONFIG_INIT` sets it.
    pub size: u32,
    /// `DELTAWIRE_MODE_*`.
    pub mode: u32,
    /// `DELTAWIRE_CFG_*`, or-ed.
    pub flags: u32,
    /// How deep JSON may nest; 0 is 128, at most 1024. A payload that nests deeper is malformed.
    pub max_depth: u32,
    /// The kinds of events that a batch emits: `DELTAWIRE_MASK(kind)`, or-ed. 0 is every kind except
    /// `DELTAWIRE_EV_FRAME`, `DELTAWIRE_EV_PAYLOAD`, `DELTAWIRE_EV_META`,
    /// `DELTAWIRE_EV_ANNOTATION`, `DELTAWIRE_EV_SIGNATURE`, `DELTAWIRE_EV_MEDIA`,
    /// `DELTAWIRE_EV_NATIVE` and `DELTAWIRE_EV_MESSAGE`. Texts of other kinds are not decoded,
    /// which saves time. Callbacks ignore this mask: a feed calls every callback that is not NULL.
    pub events: u64,
    /// Quirks that are errors: bit `quirk % 64` of element `quirk / 64`. Bits of unknown quirks are
    /// ignored.
    pub errors: [u64; 2],
    /// The longest event, in bytes: its data, the line feeds that join its data lines, and its name.
    /// 0 is 1 MiB; at most 2^31 - 1. Without `DELTAWIRE_CFG_GROW` the size of the block is a limit
    /// as well, even for events that no read cut.
    pub max_event_len: u32,
    /// `DELTAWIRE_PROTOCOL_*`, if the protocol of the stream is known: CHAT, RESPONSES, ANTHROPIC or
    /// GEMINI. 0: the first event whose protocol can be recognised decides for the whole stream.
    pub dialect: u32,
    /// The longest last event ID, in bytes; 0 is 1 KiB. A longer one is ignored.
    pub max_id_len: u32,
    /// Bytes at the end of the block that are reserved for direct reading (`deltawire_reserve`),
    /// rounded up to a multiple of 8; 0 is none.
    pub read_len: u32,
    /// How many choices of one stream there is room for; 0 is `DELTAWIRE_DEFAULT_CHOICES`, at most
    /// `DELTAWIRE_MAX_CHOICES`. Deltas of a further choice are left out, and `DELTAWIRE_EV_LIMIT`
    /// reports that.
    pub max_choices: u32,
    /// How many tool calls of one stream, over all choices, there is room for; 0 is
    /// `DELTAWIRE_DEFAULT_TOOL_CALLS`, at most `DELTAWIRE_MAX_TOOL_CALLS`. A further tool call is
    /// left out, and `DELTAWIRE_EV_LIMIT` reports that.
    pub max_tool_calls: u32,
}

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
/// Part of an error: `code`, a string or a number.
pub const DELTAWIRE_ERROR_CODE: u32 = 1;
/// Part of an error: `type`.
pub const DELTAWIRE_ERROR_TYPE: u32 = 2;
/// Part of an error: `param`.
pub const DELTAWIRE_ERROR_PARAM: u32 = 3;
/// Part of an error: `metadata`, any JSON.
pub const DELTAWIRE_ERROR_METADATA: u32 = 4;

/// What a callback is called for, and where that lies in the stream. The library fills the struct;
/// later versions may add members at its end. It is valid until the callback returns.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct deltawire_at {
    /// `sizeof(deltawire_at)` of the library.
    pub size: u32,
    /// `DELTAWIRE_EV_*`.
    pub kind: u32,
    /// `DELTAWIRE_EVF_*`.
    pub flags: u32,
    /// The index of the choice; 0 if the event belongs to no choice.
    pub choice: u32,
    /// The number of the tool call among those of its choice, in order of appearance.
    pub call: u32,
    /// As in `deltawire_event`.
    pub code: u32,
    /// As in `deltawire_event`.
    pub number: u64,
    /// Where the event begins: the stream offset of its first byte.
    pub start: u64,
    /// Where the event ends: the stream offset behind its last byte.
    pub end: u64,
    /// The chunk that contains the delta; NULL outside of a chunk.
    pub chunk: *const deltawire_chunk,
    /// The `event` field of the event: any bytes except CR and LF. Absent if the event has no such
    /// field.
    pub event_name: deltawire_str,
}

/// A callback without a text.
pub type deltawire_at_fn = Option<unsafe extern "C" fn(user: *mut c_void, at: *const deltawire_at) -> i32>;
/// A callback with a text: valid UTF-8 and not empty. For comments, keep-alives, last event IDs and
/// malformed payloads the text is any bytes, and may be empty. The text is valid until the callback
/// returns, and is not ended by NUL.
pub type deltawire_text_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, at: *const deltawire_at, text: *const c_char, len: usize) -> i32>;
/// A callback with a JSON value; the value of an error may be of type `DELTAWIRE_T_TEXT`. The value
/// and its bytes are valid until the callback returns.
pub type deltawire_value_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, at: *const deltawire_at, value: *const deltawire_value) -> i32>;
/// A callback for a tool call that opens, or whose ID or type arrives later. `id` and `type` are
/// strings if this event is the first to contain them, else of type `DELTAWIRE_T_NONE`. Both are
/// valid until the callback returns.
pub type deltawire_call_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        at: *const deltawire_at,
        id: *const deltawire_value,
        r#type: *const deltawire_value,
    ) -> i32,
>;
/// A callback for an event of any event stream: its type (`message` if it has no name), its data
/// lines joined by LF, and the last event ID. All are any bytes, valid until the callback returns.
pub type deltawire_sse_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        at: *const deltawire_at,
        r#type: deltawire_str,
        data: deltawire_str,
        id: deltawire_str,
    ) -> i32,
>;

/// The functions that `deltawire_feed` and `deltawire_finish` call. A member that is NULL is not
/// called. Each function returns `DELTAWIRE_GO_ON`, `DELTAWIRE_PAUSE`, `DELTAWIRE_AGAIN`, or any
/// number below 0 to abort (`DELTAWIRE_E_ABORTED`). It must return: no exception, no longjmp. The
/// constant `DELTAWIRE_EV_*` of the same name describes what each function receives.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct deltawire_callbacks {
    /// `sizeof(deltawire_callbacks)`; `DELTAWIRE_CALLBACKS_INIT` sets it.
    pub size: u32,
    /// Mode SSE: an event. Mode USAGE: one that was skipped.
    pub on_sse: deltawire_sse_fn,
    /// A comment: bytes.
    pub on_comment: deltawire_text_fn,
    /// A payload that only keeps the connection alive: bytes.
    pub on_keep_alive: deltawire_text_fn,
    /// A reconnection time: `at->number`, in milliseconds.
    pub on_retry: deltawire_at_fn,
    /// A last event ID without an event: bytes.
    pub on_last_event_id: deltawire_text_fn,
    /// A chunk (`at->chunk`). The callbacks for its deltas follow.
    pub on_chunk: deltawire_at_fn,
    /// The role, once for each choice.
    pub on_role: deltawire_text_fn,
    /// Content.
    pub on_content: deltawire_text_fn,
    /// Reasoning, whatever the provider calls the member.
    pub on_reasoning: deltawire_text_fn,
    /// A refusal.
    pub on_refusal: deltawire_text_fn,
    /// A tool call opens, or its ID or type arrives later.
    pub on_tool_call: deltawire_call_fn,
    /// The name of a tool call, or a piece of it.
    pub on_tool_name: deltawire_text_fn,
    /// A fragment of a tool call's arguments.
    pub on_tool_arguments: deltawire_text_fn,
    /// The name of a `function_call`, or a piece of it.
    pub on_function_name: deltawire_text_fn,
    /// A fragment of a `function_call`'s arguments.
    pub on_function_arguments: deltawire_text_fn,
    /// Audio.
    pub on_audio: deltawire_value_fn,
    /// Log probabilities.
    pub on_logprobs: deltawire_value_fn,
    /// The whole message so far; its new contents are given to the other callbacks, too.
    pub on_message: deltawire_value_fn,
    /// A choice finished: the finish reason.
    pub on_finish: deltawire_text_fn,
    /// A choice failed: its error.
    pub on_choice_error: deltawire_value_fn,
    /// Usage, as this event reports it: see `DELTAWIRE_EV_USAGE`.
    pub on_usage: deltawire_value_fn,
    /// The API reported an error.
    pub on_error: deltawire_value_fn,
    /// A payload that is not JSON, or bytes that follow a JSON payload.
    pub on_malformed: deltawire_text_fn,
    /// An event over the limit was dropped.
    pub on_too_long: deltawire_at_fn,
    /// A comment over the limit was dropped.
    pub on_comment_too_long: deltawire_at_fn,
    /// The chunk has a choice or tool call that there is no room for, or a bad index; its deltas
    /// were left out.
    pub on_limit: deltawire_at_fn,
    /// A quirk of the event.
    pub on_quirk: deltawire_at_fn,
    /// `[DONE]`; other protocols end without it.
    pub on_done: deltawire_at_fn,
    /// A frame ended.
    pub on_frame: deltawire_at_fn,
    /// A member that describes the response: `at->code` is one of `DELTAWIRE_META_*`.
    pub on_meta: deltawire_text_fn,
    /// Annotations of the content.
    pub on_annotations: deltawire_value_fn,
    /// A signature of reasoning, or reasoning that is encrypted.
    pub on_signature: deltawire_text_fn,
    /// An image or another medium.
    pub on_media: deltawire_value_fn,
    /// A part of the response that no other callback is for.
    pub on_native: deltawire_value_fn,
}

/// No event.
pub const DELTAWIRE_EV_NONE: u32 = 0;
/// Mode SSE: an event; mode USAGE: one that was skipped. Text: its data. Aux: its type. Extra:
/// the last event ID. Bytes.
pub const DELTAWIRE_EV_SSE: u32 = 1;
/// A comment, without its colon and at most one space. Text: bytes.
pub const DELTAWIRE_EV_COMMENT: u32 = 2;
/// A payload that only keeps the connection alive. Text: bytes.
pub const DELTAWIRE_EV_KEEP_ALIVE: u32 = 3;
/// A reconnection time. `number`: milliseconds.
pub const DELTAWIRE_EV_RETRY: u32 = 4;
/// A last event ID without an event. Text: bytes.
pub const DELTAWIRE_EV_LAST_EVENT_ID: u32 = 5;
/// A chunk, before its deltas. Text: its `id`. Aux: its `model`. Extra: the `event` field (bytes).
/// `number`: its `created`, if the flag `DELTAWIRE_EVF_NUMBER` is set. `code`: how many choices it
/// has.
pub const DELTAWIRE_EV_CHUNK: u32 = 6;
/// The role, once for each choice. Text.
pub const DELTAWIRE_EV_ROLE: u32 = 7;
/// Content. Text. The message of a body that was not streamed comes as content, and as the kinds
/// below, too.
pub const DELTAWIRE_EV_CONTENT: u32 = 8;
/// Reasoning. Text.
pub const DELTAWIRE_EV_REASONING: u32 = 9;
/// A refusal. Text.
pub const DELTAWIRE_EV_REFUSAL: u32 = 10;
/// A tool call opens (`DELTAWIRE_EVF_OPENS`), or its ID or type arrives later. Text: its ID. Aux:
/// its type. `number`: its index, as sent, or as the parser assigned it.
pub const DELTAWIRE_EV_TOOL_CALL: u32 = 11;
/// The name of a tool call, whole (`DELTAWIRE_EVF_REPLACES`), or a piece to append to the name so
/// far. Text.
pub const DELTAWIRE_EV_TOOL_NAME: u32 = 12;
/// A fragment of a tool call's arguments; for a custom tool, of its input. Text. A call without
/// arguments has no fragment: take them as `{}`. Arguments that Gemini sends by path (`partialArgs`)
/// are no fragments either: an assembler puts them together, and `DELTAWIRE_META_CALL_MEMBER` has
/// them as sent.
pub const DELTAWIRE_EV_TOOL_ARGUMENTS: u32 = 13;
/// The name of a `function_call`'s function; otherwise as `DELTAWIRE_EV_TOOL_NAME`.
pub const DELTAWIRE_EV_FUNCTION_NAME: u32 = 14;
/// A fragment of a `function_call`'s arguments. Text.
pub const DELTAWIRE_EV_FUNCTION_ARGUMENTS: u32 = 15;
/// A fragment of audio. Text: JSON, an object with some of `id`, `data`, `transcript`, `expires_at`.
pub const DELTAWIRE_EV_AUDIO: u32 = 16;
/// Log probabilities of more tokens. Text: JSON.
pub const DELTAWIRE_EV_LOGPROBS: u32 = 17;
/// The whole message so far, where a server sends that instead of deltas: of a body that was not
/// streamed, and of dialects without deltas. Text: JSON, an object with `role`, `content`,
/// `tool_calls`, …. Off unless `events` or a callback asks for it. With the flag
/// `DELTAWIRE_EVF_WHOLE` what is new in it follows as events of the same choice: read one of the
/// two. Without the flag the message does not continue the one before, and nothing of it follows.
pub const DELTAWIRE_EV_MESSAGE: u32 = 18;
/// A choice finished. Text: the finish reason. `code`: `DELTAWIRE_FINISH_*`. A choice may finish
/// twice; the last finish reason counts.
pub const DELTAWIRE_EV_FINISH: u32 = 19;
/// A choice failed. Text: JSON.
pub const DELTAWIRE_EV_CHOICE_ERROR: u32 = 20;
/// Usage, as this event reports it. Text: JSON, of which `deltawire_value_usage` reads the counts:
/// of the value in a callback, of `deltawire_value_open` of the text in a batch. Never add them up:
/// each is the count so far. One event may not have all counts (Anthropic sends the prompt at the
/// beginning, and often only the completion at the end): `deltawire_last_usage` has them merged.
pub const DELTAWIRE_EV_USAGE: u32 = 21;
/// The API reported an error. Text: JSON, or with the flag `DELTAWIRE_EVF_PLAIN` plain text, any
/// bytes.
pub const DELTAWIRE_EV_ERROR: u32 = 22;
/// A payload that is not a JSON object, or bytes that follow one; the stream goes on. Text: bytes.
/// Extra: the `event` field. `code`: `DELTAWIRE_FAULT_*`. `number`: the offset of the fault in the
/// text, from its first piece on.
pub const DELTAWIRE_EV_MALFORMED: u32 = 23;
/// An event over the limit: the parser drops the rest of it, and the stream goes on. `start` is
/// where the event began.
pub const DELTAWIRE_EV_TOO_LONG: u32 = 24;
/// A comment over the limit was dropped. If it lies inside an event, that event goes on.
pub const DELTAWIRE_EV_COMMENT_TOO_LONG: u32 = 25;
/// Deltas of the chunk were left out. `code`: `DELTAWIRE_LIMIT_*`. `choice`: the index of their
/// choice; 2^32 - 1 if that is the index that is none. At most one for each event, the first, behind
/// the event's deltas.
pub const DELTAWIRE_EV_LIMIT: u32 = 26;
/// A quirk of the event, behind all its other events. `code`: the number of the quirk.
pub const DELTAWIRE_EV_QUIRK: u32 = 27;
/// `[DONE]`: the response is complete. More events may follow all the same. Responses, Anthropic and
/// Gemini end without it: `deltawire_end_of` says whether the response is complete.
pub const DELTAWIRE_EV_DONE: u32 = 28;
/// The payload of a chunk, before `DELTAWIRE_EV_CHUNK`, for `deltawire_chunk_open`. Text: JSON, or
/// with the flag `DELTAWIRE_EVF_PLAIN` the plain text of an error event. `code`: 1 if the event's
/// name makes the whole payload an error. Only a batch emits it: a callback has `at->chunk`.
pub const DELTAWIRE_EV_PAYLOAD: u32 = 29;
/// A member that describes the response. Text. `code`: `DELTAWIRE_META_*`. Emitted once for a
/// stream, `DELTAWIRE_META_REASONING_NAME` once for a choice, before its first reasoning;
/// `DELTAWIRE_META_NATIVE_FINISH_REASON`, which belongs to a choice, and unknown members
/// (`DELTAWIRE_META_*MEMBER`) as often as they are sent. Off unless `events` or a callback asks for
/// it.
pub const DELTAWIRE_EV_META: u32 = 30;
/// Annotations of the content, such as citations. Text: JSON, an array; of other protocols than
/// chat completions, and of a message so far that has more than the one before, each that is new, in
/// an event of its own. Off unless `events` or a callback asks for it.
pub const DELTAWIRE_EV_ANNOTATION: u32 = 31;
/// A signature of reasoning, or reasoning that is encrypted (other protocols). Text. Off unless
/// `events` or a callback asks for it.
pub const DELTAWIRE_EV_SIGNATURE: u32 = 34;
/// An image or another medium (other protocols). Text: JSON. Off unless `events` or a callback asks
/// for it.
pub const DELTAWIRE_EV_MEDIA: u32 = 35;
/// A part of the response that no other kind is for (other protocols): a tool that the server ran,
/// its result, a piece of either. Text: JSON. Off unless `events` or a callback asks for it.
pub const DELTAWIRE_EV_NATIVE: u32 = 38;
/// A frame ended: the bytes `start` to `end` of the stream, whatever the reads were. Each byte of
/// the stream lies in exactly one frame, and frames are in order. A comment inside an event belongs
/// to the event's frame; a comment between events is a frame of its own. If lines end in CR, a frame
/// may be reported one byte later, or at the end of the stream. JSON outside of fields has the end
/// of its line in its frame, unless more JSON follows on that line. `code`: how many
/// choices the frame's chunk has (0: usage only, a comment, `[DONE]`, …). `number`: the kinds of
/// events in the frame, `DELTAWIRE_MASK(kind)` or-ed, whether the mask asks for them or not
/// (without `DELTAWIRE_EV_FRAME`, `DELTAWIRE_EV_PAYLOAD` and `DELTAWIRE_EV_META`).
pub const DELTAWIRE_EV_FRAME: u32 = 48;
/// Every kind of this version is below this. Not every number below it is a kind.
pub const DELTAWIRE_EV_COUNT: u32 = 49;
/// The kinds that an assembler needs, for `deltawire_config.events`: `DELTAWIRE_MASK(kind)`, or-ed.
pub const DELTAWIRE_MESSAGE_EVENTS: u64 = 0x4c_c47b_ffc0;

/// `code` of a `DELTAWIRE_EV_META`: `object`.
pub const DELTAWIRE_META_OBJECT: u32 = 1;
/// `code` of a `DELTAWIRE_EV_META`: `system_fingerprint`.
pub const DELTAWIRE_META_SYSTEM_FINGERPRINT: u32 = 2;
/// `code` of a `DELTAWIRE_EV_META`: `service_tier`.
pub const DELTAWIRE_META_SERVICE_TIER: u32 = 3;
/// `code` of a `DELTAWIRE_EV_META`: `provider`.
pub const DELTAWIRE_META_PROVIDER: u32 = 4;
/// `code` of a `DELTAWIRE_EV_META`: `native_finish_reason` of a choice, the reason that the model's
/// own provider gave.
pub const DELTAWIRE_META_NATIVE_FINISH_REASON: u32 = 5;
/// `code` of a `DELTAWIRE_EV_META`: another member of the top level that is not null, each time. Raw
/// JSON, as in an object: `"name":value`, which `deltawire_value_open_member` takes apart.
pub const DELTAWIRE_META_MEMBER: u32 = 6;
/// `code` of a `DELTAWIRE_EV_META`: another member of a choice, likewise.
pub const DELTAWIRE_META_CHOICE_MEMBER: u32 = 7;
/// `code` of a `DELTAWIRE_EV_META`: another member of a delta, likewise; `reasoning_details` too.
pub const DELTAWIRE_META_DELTA_MEMBER: u32 = 8;
/// `code` of a `DELTAWIRE_EV_META`: another member of a `message`, likewise.
pub const DELTAWIRE_META_MESSAGE_MEMBER: u32 = 9;
/// `code` of a `DELTAWIRE_EV_META`: the name of the member that the first reasoning of a choice is
/// in: `reasoning_content`, `reasoning`, `thinking` or `thought`.
pub const DELTAWIRE_META_REASONING_NAME: u32 = 10;
/// `code` of a `DELTAWIRE_EV_META`: another member of the tool call `call`, such as `extra_content`,
/// each time, behind its arguments. Raw JSON, as `DELTAWIRE_META_MEMBER`. The call may open later.
pub const DELTAWIRE_META_CALL_MEMBER: u32 = 11;
/// `code` of a `DELTAWIRE_EV_META`: another member of the `function` of the tool call `call`, or of
/// its `custom` tool, likewise.
pub const DELTAWIRE_META_FUNCTION_MEMBER: u32 = 12;

/// The text lies in the scratch, not in the input.
pub const DELTAWIRE_EVF_TEXT_SCRATCH: u32 = 1;
/// The second text lies in the scratch, not in the input.
pub const DELTAWIRE_EVF_AUX_SCRATCH: u32 = 2;
/// The third text lies in the scratch, not in the input.
pub const DELTAWIRE_EVF_EXTRA_SCRATCH: u32 = 4;
/// Another piece of this text follows, in an event that is otherwise the same. A piece of a text
/// never ends inside a code point; a piece of JSON or of bytes may. In a batch only content,
/// reasoning, refusals, arguments, JSON and bytes come in pieces. A callback may receive any text
/// that has to be decoded in pieces of up to 1 KiB: a role, a name and a finish reason, too.
pub const DELTAWIRE_EVF_MORE: u32 = 8;
/// The tool call opens.
pub const DELTAWIRE_EVF_OPENS: u32 = 16;
/// The tool call opens under the index of an earlier call.
pub const DELTAWIRE_EVF_REUSES: u32 = 32;
/// The tool call is one of a custom tool.
pub const DELTAWIRE_EVF_CUSTOM: u32 = 64;
/// The name replaces the name so far. If a callback receives a name in pieces, only the first piece
/// has this flag: append the others.
pub const DELTAWIRE_EVF_REPLACES: u32 = 128;
/// The error, or the payload of an error event, is plain text instead of JSON.
pub const DELTAWIRE_EVF_PLAIN: u32 = 256;
/// `number` is set, even if it is 0.
pub const DELTAWIRE_EVF_NUMBER: u32 = 512;
/// With `DELTAWIRE_EV_MESSAGE`: its new contents follow, up to the end of this choice.
pub const DELTAWIRE_EVF_WHOLE: u32 = 1024;
/// The event is of another protocol than chat completions. With `DELTAWIRE_EV_FINISH`: the text is
/// in the words of that, `code` is what it means. With `DELTAWIRE_EV_USAGE`: the names are those of
/// that, `code` is its `DELTAWIRE_PROTOCOL_*`; `deltawire_value_usage` reads them all the same.
pub const DELTAWIRE_EVF_NATIVE: u32 = 4096;
/// With `DELTAWIRE_EV_FINISH`: the prompt was refused, and the text is why.
pub const DELTAWIRE_EVF_PROMPT: u32 = 8192;

/// Finish reason: any other; see the text.
pub const DELTAWIRE_FINISH_OTHER: u32 = 1;
/// Finish reason `stop`.
pub const DELTAWIRE_FINISH_STOP: u32 = 2;
/// Finish reason `length`.
pub const DELTAWIRE_FINISH_LENGTH: u32 = 3;
/// Finish reason `tool_calls`.
pub const DELTAWIRE_FINISH_TOOL_CALLS: u32 = 4;
/// Finish reason `content_filter`.
pub const DELTAWIRE_FINISH_CONTENT_FILTER: u32 = 5;
/// Finish reason `function_call`.
pub const DELTAWIRE_FINISH_FUNCTION_CALL: u32 = 6;
/// Finish reason `error`.
pub const DELTAWIRE_FINISH_ERROR: u32 = 7;

/// Limit: more choices than `max_choices` of the config.
pub const DELTAWIRE_LIMIT_CHOICES: u32 = 1;
/// Limit: more tool calls than `max_tool_calls` of the config.
pub const DELTAWIRE_LIMIT_TOOL_CALLS: u32 = 2;
/// Limit: an index that is a number, but not a whole one, or 2^32 - 1 or more. (The quirk
/// `DELTAWIRE_QUIRK_ODD_INDEX`, and no limit: a negative index counts as 0, digits in a string as
/// their number, and a value of another type as no index.)
pub const DELTAWIRE_LIMIT_INDEX: u32 = 3;
/// Limit of an assembler: the message would be longer than 4 GiB, or have more than 256 members of
/// providers.
pub const DELTAWIRE_LIMIT_LENGTH: u32 = 4;

/// Fault: the bytes end inside a value.
pub const DELTAWIRE_FAULT_UNEXPECTED_END: u32 = 1;
/// Fault: a byte that is not allowed at its place.
pub const DELTAWIRE_FAULT_UNEXPECTED_BYTE: u32 = 2;
/// Fault: bytes other than whitespace follow the value.
pub const DELTAWIRE_FAULT_TRAILING_BYTES: u32 = 3;
/// Fault: the value nests deeper than allowed.
pub const DELTAWIRE_FAULT_TOO_DEEP: u32 = 4;
/// Fault: an invalid number.
pub const DELTAWIRE_FAULT_BAD_NUMBER: u32 = 5;
/// Fault: a literal other than `true`, `false` and `null`.
pub const DELTAWIRE_FAULT_BAD_LITERAL: u32 = 6;
/// Fault: an unknown escape.
pub const DELTAWIRE_FAULT_BAD_ESCAPE: u32 = 7;
/// Fault: a raw control character in a string.
pub const DELTAWIRE_FAULT_RAW_CONTROL: u32 = 8;
/// Fault: ill-formed UTF-8.
pub const DELTAWIRE_FAULT_ILL_FORMED_UTF8: u32 = 9;

/// An event of a batch. Its size is 64 bytes in every version; it holds no pointers. Offsets count
/// from the start of `data` (in direct reading: of the block), or from the start of the scratch if
/// the flag for that text is set. They are valid until the next call on the parser, as long as input
/// and scratch are unchanged. An absent text has length 0.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct deltawire_event {
    /// `DELTAWIRE_EV_*`. Ignore kinds that you do not know.
    pub kind: u16,
    /// `DELTAWIRE_EVF_*`. Ignore flags that you do not know.
    pub flags: u16,
    /// The index of the choice; 0 if the event belongs to no choice.
    pub choice: u32,
    /// The number of the tool call among those of its choice, in order of appearance.
    pub call: u32,
    /// By kind: see `DELTAWIRE_EV_*`.
    pub code: u32,
    /// By kind: see `DELTAWIRE_EV_*`.
    pub number: u64,
    /// Offset of the text.
    pub text_off: u32,
    /// Bytes of the text.
    pub text_len: u32,
    /// Offset of the second text.
    pub aux_off: u32,
    /// Bytes of the second text.
    pub aux_len: u32,
    /// Offset of the third text.
    pub extra_off: u32,
    /// Bytes of the third text.
    pub extra_len: u32,
    /// Where the event begins: the stream offset of its first byte.
    pub start: u64,
    /// Where the event ends: the stream offset behind its last byte.
    pub end: u64,
}

/// The result of a batch. It is written whatever the call returns, unless `out` itself is NULL.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct deltawire_batch_result {
    /// How many bytes of `data` are consumed. 0 in direct reading, where the parser keeps count.
    pub consumed: usize,
    /// How many events were written.
    pub events: usize,
    /// How many bytes of the scratch were written.
    pub scratch_used: usize,
    /// If not 0, the next event has texts that are never split: give a scratch of at least this many
    /// bytes.
    pub scratch_need: usize,
}

/// Token counts. The caller sets `size`: the library writes no more bytes than that, and zeroes the
/// members that it does not know.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct deltawire_usage {
    /// `sizeof(deltawire_usage)`; `DELTAWIRE_USAGE_INIT` sets it.
    pub size: u32,
    /// Which counts are present: one bit for each member, in their order; `prompt` is bit 0.
    pub has: u32,
    /// `prompt_tokens`.
    pub prompt: u64,
    /// `completion_tokens`.
    pub completion: u64,
    /// `total_tokens`.
    pub total: u64,
    /// `completion_tokens_details.reasoning_tokens`.
    pub reasoning: u64,
    /// `prompt_tokens_details.cached_tokens`.
    pub cached: u64,
    /// `prompt_tokens_details.audio_tokens`.
    pub prompt_audio: u64,
    /// `completion_tokens_details.audio_tokens`.
    pub completion_audio: u64,
    /// `completion_tokens_details.accepted_prediction_tokens`.
    pub accepted_prediction: u64,
    /// `completion_tokens_details.rejected_prediction_tokens`.
    pub rejected_prediction: u64,
}

/// The stream has no bytes, blanks only, or nothing but `[DONE]`.
pub const DELTAWIRE_VERDICT_EMPTY: u32 = 1;
/// The bytes are neither an event stream nor JSON; `media` is what they are.
pub const DELTAWIRE_VERDICT_NOT_A_STREAM: u32 = 2;
/// The API reported an error.
pub const DELTAWIRE_VERDICT_API_ERROR: u32 = 3;
/// The stream has `[DONE]`, and a chunk; or the event that ends a response of Responses
/// (`response.completed`, `response.incomplete`) or Anthropic (`message_stop`).
pub const DELTAWIRE_VERDICT_DONE: u32 = 4;
/// The stream has no such end, but every choice has a finish reason. So ends every stream of Gemini.
pub const DELTAWIRE_VERDICT_FINISHED: u32 = 5;
/// The response is a whole JSON body instead of a stream, without a finish reason: it has a message,
/// or its `object` is `chat.completion` or `text_completion`.
pub const DELTAWIRE_VERDICT_BODY: u32 = 6;
/// The response is another whole JSON value: a list of models, an embedding, a number.
pub const DELTAWIRE_VERDICT_JSON_ANSWER: u32 = 7;
/// The stream is of a protocol that is not read, which `protocol` names. In mode SSE every stream
/// with an event has this verdict if it ends between events and nothing was too long.
pub const DELTAWIRE_VERDICT_OTHER_PROTOCOL: u32 = 8;
/// The stream ended between events, but something was too long, malformed or left out.
pub const DELTAWIRE_VERDICT_LOST: u32 = 9;
/// The stream was cut.
pub const DELTAWIRE_VERDICT_TRUNCATED: u32 = 10;

/// Nothing is left over: the stream ended between events.
pub const DELTAWIRE_PENDING_NOTHING: u32 = 0;
/// An event that the end of the stream cut, or that lacks its blank line and is not whole JSON.
pub const DELTAWIRE_PENDING_EVENT: u32 = 1;
/// A JSON value that the end of the stream cut.
pub const DELTAWIRE_PENDING_JSON: u32 = 2;
/// A line that the end of the stream cut, outside of an event: `dat`, `data: `, `: pin`.
pub const DELTAWIRE_PENDING_LINE: u32 = 3;

/// Unknown, or the verdict is another than NOT_A_STREAM.
pub const DELTAWIRE_MEDIA_NONE: u32 = 0;
/// gzip: decompress the body first.
pub const DELTAWIRE_MEDIA_GZIP: u32 = 1;
/// Zstandard: decompress the body first.
pub const DELTAWIRE_MEDIA_ZSTD: u32 = 2;
/// Other bytes that are not text.
pub const DELTAWIRE_MEDIA_BINARY: u32 = 3;
/// A page: its first byte is `<`.
pub const DELTAWIRE_MEDIA_HTML: u32 = 4;
/// Other text.
pub const DELTAWIRE_MEDIA_TEXT: u32 = 5;

/// The stream has no event of another protocol, or payloads are not read.
pub const DELTAWIRE_PROTOCOL_NONE: u32 = 0;
/// An unknown protocol.
pub const DELTAWIRE_PROTOCOL_OTHER: u32 = 1;
/// OpenAI Responses.
pub const DELTAWIRE_PROTOCOL_RESPONSES: u32 = 2;
/// Anthropic Messages.
pub const DELTAWIRE_PROTOCOL_ANTHROPIC: u32 = 3;
/// Gemini `generateContent`.
pub const DELTAWIRE_PROTOCOL_GEMINI: u32 = 4;
/// Gemini Interactions.
pub const DELTAWIRE_PROTOCOL_INTERACTIONS: u32 = 5;
/// Ollama's own.
pub const DELTAWIRE_PROTOCOL_OLLAMA: u32 = 6;
/// Cohere's own.
pub const DELTAWIRE_PROTOCOL_COHERE: u32 = 7;
/// Chat completions.
pub const DELTAWIRE_PROTOCOL_CHAT: u32 = 8;

/// How a stream ended, or would have ended if its last byte was read. The caller sets `size`: the
/// library writes no more bytes than that, and zeroes the members that it does not know.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct deltawire_end {
    /// `sizeof(deltawire_end)`; `DELTAWIRE_END_INIT` sets it.
    pub size: u32,
    /// `DELTAWIRE_VERDICT_*`: the first that applies, in the order of their numbers.
    pub verdict: u32,
    /// `DELTAWIRE_PENDING_*`. Nothing, if the verdict is `DELTAWIRE_VERDICT_NOT_A_STREAM`.
    pub pending: u32,
    /// How many choices the stream has. Indexes from 127 on count as one choice.
    pub choices_seen: u32,
    /// How many of those choices have a finish reason.
    pub choices_finished: u32,
    /// How many payloads were malformed.
    pub malformed: u32,
    /// How many events and comments were over a limit.
    pub too_long: u32,
    /// 1: the stream has `[DONE]`.
    pub done: u8,
    /// 1: the API reported an error.
    pub api_error: u8,
    /// 1: the response is a JSON body instead of a stream, and nothing else.
    pub body: u8,
    /// 1: `deltawire_finish` or `deltawire_batch_finish` has returned OK.
    pub finished: u8,
    /// How many bytes were read.
    pub offset: u64,
    /// How many events had deltas that were left out (`DELTAWIRE_EV_LIMIT`).
    pub left_out: u32,
    /// 1: all of the response arrived, or would have if the stream ended now. That needs its end
    /// (`DELTAWIRE_VERDICT_DONE`), a finish reason of every choice, or a whole body; nothing
    /// malformed, too long or left out; no status of -100 or below; and `[DONE]` or nothing pending,
    /// which is known once `finished` is 1. In mode SSE: the stream ended between events, and
    /// nothing was too long. Whether the model finished its answer is the finish reason:
    /// `DELTAWIRE_FINISH_LENGTH` and `DELTAWIRE_FINISH_CONTENT_FILTER` cut the answer itself.
    pub complete: u32,
    /// `DELTAWIRE_MEDIA_*`: what the response is, if the verdict is NOT_A_STREAM.
    pub media: u32,
    /// `DELTAWIRE_PROTOCOL_*`: with the verdict OTHER_PROTOCOL, which protocol that is. For the
    /// protocol that was read see `dialect`.
    pub protocol: u32,
    /// `DELTAWIRE_PROTOCOL_*`: the protocol that was read (CHAT, RESPONSES, ANTHROPIC, GEMINI), NONE
    /// if nothing of it came.
    pub dialect: u32,
    /// 0.
    pub reserved: u32,
}

/// Field of a message: `id`.
pub const DELTAWIRE_M_ID: u32 = 0;
/// Field of a message: `object`, as sent.
pub const DELTAWIRE_M_OBJECT: u32 = 1;
/// Field of a message: `model`.
pub const DELTAWIRE_M_MODEL: u32 = 2;
/// Field of a message: `system_fingerprint`.
pub const DELTAWIRE_M_SYSTEM_FINGERPRINT: u32 = 3;
/// Field of a message: `service_tier`.
pub const DELTAWIRE_M_SERVICE_TIER: u32 = 4;
/// Field of a message: `provider`.
pub const DELTAWIRE_M_PROVIDER: u32 = 5;
/// Field of a message: the last `usage`, JSON; of another protocol than chat completions its counts
/// under the names of those.
pub const DELTAWIRE_M_USAGE: u32 = 6;
/// Field of a message: the first error, JSON or plain text.
pub const DELTAWIRE_M_ERROR: u32 = 7;
/// Field of a message: the message of that error.
pub const DELTAWIRE_M_ERROR_MESSAGE: u32 = 8;
/// Field of a message: the code of that error.
pub const DELTAWIRE_M_ERROR_CODE: u32 = 9;
/// Field of a message: the type of that error.
pub const DELTAWIRE_M_ERROR_TYPE: u32 = 10;
/// Field of a choice: the role.
pub const DELTAWIRE_M_ROLE: u32 = 11;
/// Field of a choice: its content.
pub const DELTAWIRE_M_CONTENT: u32 = 12;
/// Field of a choice: its refusal.
pub const DELTAWIRE_M_REFUSAL: u32 = 13;
/// Field of a choice: its reasoning.
pub const DELTAWIRE_M_REASONING: u32 = 14;
/// Field of a choice: the last finish reason.
pub const DELTAWIRE_M_FINISH: u32 = 15;
/// Field of a choice: the finish reason that the model's own provider gave.
pub const DELTAWIRE_M_NATIVE_FINISH: u32 = 16;
/// Field of a choice: the first error of this choice alone, JSON.
pub const DELTAWIRE_M_CHOICE_ERROR: u32 = 17;
/// Field of a choice: the message of that error.
pub const DELTAWIRE_M_CHOICE_ERROR_MESSAGE: u32 = 18;
/// Field of a choice: the code of that error.
pub const DELTAWIRE_M_CHOICE_ERROR_CODE: u32 = 19;
/// Field of a choice: the type of that error.
pub const DELTAWIRE_M_CHOICE_ERROR_TYPE: u32 = 20;
/// Field of a choice: the name of a `function_call`.
pub const DELTAWIRE_M_FUNCTION_NAME: u32 = 21;
/// Field of a choice: the arguments of a `function_call`.
pub const DELTAWIRE_M_FUNCTION_ARGUMENTS: u32 = 22;
/// Field of a choice: the ID of its audio.
pub const DELTAWIRE_M_AUDIO_ID: u32 = 23;
/// Field of a choice: its audio, JSON: an array of the pieces that came, each in base64. Each may be
/// encoded by itself, with padding at its end: decode each, then join the bytes.
pub const DELTAWIRE_M_AUDIO_DATA: u32 = 24;
/// Field of a choice: the transcript of its audio.
pub const DELTAWIRE_M_AUDIO_TRANSCRIPT: u32 = 25;
/// Field of a call: its ID.
pub const DELTAWIRE_M_CALL_ID: u32 = 26;
/// Field of a call: its type.
pub const DELTAWIRE_M_CALL_TYPE: u32 = 27;
/// Field of a call: its name.
pub const DELTAWIRE_M_CALL_NAME: u32 = 28;
/// Field of a call: its arguments, or the input of a custom tool.
pub const DELTAWIRE_M_CALL_ARGUMENTS: u32 = 29;
/// Field of a choice: `reasoning_details`, JSON: entries that belong together are joined.
pub const DELTAWIRE_M_REASONING_DETAILS: u32 = 30;
/// Field of a choice: the name of the member that its first reasoning was in: `reasoning_content`,
/// `reasoning`, `thinking` or `thought`. Absent if reasoning came in `reasoning_details` or in parts
/// of the content alone.
pub const DELTAWIRE_M_REASONING_NAME: u32 = 31;
/// Field of a message of another protocol than chat completions: its usage under its own names,
/// JSON.
pub const DELTAWIRE_M_NATIVE_USAGE: u32 = 32;
/// Field of a choice of another protocol: its signatures, JSON: an array.
pub const DELTAWIRE_M_SIGNATURES: u32 = 33;
/// Field of a choice of another protocol: the parts that no other field has, JSON: an array.
pub const DELTAWIRE_M_NATIVE_CONTENT: u32 = 34;

/// Owner for `deltawire_message_member`: the chunks.
pub const DELTAWIRE_OWNER_CHUNK: u32 = 0;
/// Owner for `deltawire_message_member`: a choice.
pub const DELTAWIRE_OWNER_CHOICE: u32 = 1;
/// Owner for `deltawire_message_member`: the deltas of a choice, or its `message`.
pub const DELTAWIRE_OWNER_DELTA: u32 = 2;
/// Owner for `deltawire_message_member`: a tool call. Its members (`extra_content` with the
/// signature of a thought) have to be sent back with it.
pub const DELTAWIRE_OWNER_CALL: u32 = 3;
/// Owner for `deltawire_message_member`: the `function` of a tool call, or its `custom` tool.
pub const DELTAWIRE_OWNER_FUNCTION: u32 = 4;
/// Owner for `deltawire_message_member`: the usage of Anthropic, which is merged from several
/// events.
pub const DELTAWIRE_OWNER_USAGE: u32 = 5;

/// Flag of `deltawire_message_json`: include the members that only gateways and providers send
/// (`provider`, `native_finish_reason`, `reasoning_details`, and any member that is not known), and
/// write the reasoning under the name that it came by (`DELTAWIRE_M_REASONING_NAME`) and `data` of
/// audio as an array of its pieces.
pub const DELTAWIRE_JSON_EXTENDED: u32 = 1;
