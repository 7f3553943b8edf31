//! The types that cross the boundary. Their layout is fixed: see `layout.rs`.

use core::ffi::{c_char, c_void};

/// What a call came to. 0: done. Above 0: stopped, call again. -1 to -99: misuse, nothing was changed, and it does not
/// stick. -100 and below: sticks until `deltawire_reset`.
pub type deltawire_status = i32;

/// All input is consumed, and nothing is pending.
pub const DELTAWIRE_OK: i32 = 0;
/// A callback asked for a pause, or to be called again. Give the bytes from `consumed` on again to go on.
pub const DELTAWIRE_PAUSED: i32 = 1;
/// Batch: the array or the scratch is full. Take the events out, then call again with the bytes from `consumed` on.
pub const DELTAWIRE_MORE: i32 = 2;
/// A cut event does not fit into the block (only with `DELTAWIRE_CFG_GROW`): `deltawire_move` to a block of
/// `deltawire_need` bytes, then call again with the bytes from `consumed` on. An assembler answers it too.
pub const DELTAWIRE_NEED_STORAGE: i32 = 3;
/// A getter's answer: there is no such thing, or it is of another type.
pub const DELTAWIRE_ABSENT: i32 = 10;
/// Misuse: a pointer is NULL that must not be.
pub const DELTAWIRE_E_NULL: i32 = -1;
/// Misuse: a struct that the caller fills has a size or a value that is not known, or a tail that is not zero.
pub const DELTAWIRE_E_CONFIG: i32 = -2;
/// Misuse: memory is too small. Of a getter with a size query: the text does not fit; nothing was written but `*need`.
pub const DELTAWIRE_E_SMALL: i32 = -3;
/// Misuse: memory is not aligned to `DELTAWIRE_ALIGN`.
pub const DELTAWIRE_E_ALIGN: i32 = -4;
/// Misuse: the block was never initialised, or the order of calls is wrong.
pub const DELTAWIRE_E_STATE: i32 = -5;
/// Misuse: called from a callback of the same parser.
pub const DELTAWIRE_E_REENTRANT: i32 = -6;
/// Misuse: an argument is outside its range, or a number does not fit the type asked for.
pub const DELTAWIRE_E_RANGE: i32 = -7;
/// Misuse: the bytes that were not consumed were not given again: these are fewer than the pending event has.
pub const DELTAWIRE_E_RESUME: i32 = -8;
/// A callback returned a number below 0, which `deltawire_user_code` tells.
pub const DELTAWIRE_E_ABORTED: i32 = -100;
/// A callback returned a number that it may not return, which `deltawire_user_code` tells.
pub const DELTAWIRE_E_CALLBACK: i32 = -101;
/// A quirk came that the config makes an error: `deltawire_error_quirk`, `deltawire_error_offset`.
pub const DELTAWIRE_E_STRICT: i32 = -102;

/// A callback's answer: go on.
pub const DELTAWIRE_GO_ON: i32 = 0;
/// A callback's answer: stop after this event, whose other callbacks are still called. The answer of the call is
/// `DELTAWIRE_PAUSED`.
pub const DELTAWIRE_PAUSE: i32 = 1;
/// A callback's answer: stop here; it is called again for the same thing, of a text in pieces for the same piece, and the
/// event goes on behind that. The answer of the call is `DELTAWIRE_PAUSED`. Only callbacks can go on, no batch.
pub const DELTAWIRE_AGAIN: i32 = 2;

/// The alignment of every block, in bytes. What malloc gives satisfies it, and so does a Go `[]uint64`.
pub const DELTAWIRE_ALIGN: usize = 8;
/// Bytes of a block that are not event buffer: the fixed state, with room to spare. It grows only with `DELTAWIRE_ABI`.
pub const DELTAWIRE_STATE_SIZE: usize = 8192;
/// Bytes of an assembler's block that are not log. It grows only with `DELTAWIRE_ABI`.
pub const DELTAWIRE_MESSAGE_STATE_SIZE: usize = 4096;
/// The least scratch that a batch takes, in bytes.
pub const DELTAWIRE_SCRATCH_MIN: usize = 64;
/// How many choices of one stream are told apart.
pub const DELTAWIRE_MAX_CHOICES: u32 = 8;
/// How many tool calls of one stream are told apart, of all choices together.
pub const DELTAWIRE_MAX_TOOL_CALLS: u32 = 32;
/// Quirk numbers are below this.
pub const DELTAWIRE_QUIRKS: u32 = 128;

/// Mode: chat completion chunks.
pub const DELTAWIRE_MODE_CHAT: u32 = 0;
/// Mode: any event stream. Payloads are not looked into; `on_sse` and `DELTAWIRE_EV_SSE` have them.
pub const DELTAWIRE_MODE_SSE: u32 = 1;

/// Answer `DELTAWIRE_NEED_STORAGE` when a cut event does not fit into the block, instead of giving it up as too long.
pub const DELTAWIRE_CFG_GROW: u32 = 1;
/// Framing exactly as WHATWG HTML 9.2 has it: unknown lines are ignored, a last event without its blank line is dropped.
pub const DELTAWIRE_CFG_SPEC: u32 = 2;
/// Check all of each payload: RFC 8259 and UTF-8. What fails is malformed.
pub const DELTAWIRE_CFG_STRICT_JSON: u32 = 4;

/// How a parser is to behave. Zero in a member is its default. Copied by `deltawire_init`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct deltawire_config {
    /// `sizeof(deltawire_config)`; `DELTAWIRE_CONFIG_INIT` sets it.
    pub size: u32,
    /// `DELTAWIRE_MODE_*`.
    pub mode: u32,
    /// `DELTAWIRE_CFG_*`, or-ed.
    pub flags: u32,
    /// How deep JSON may nest; 0 is 128, at most 1024. A deeper payload is malformed.
    pub max_depth: u32,
    /// What a batch is to bring: `DELTAWIRE_MASK(kind)`, or-ed. 0 is everything but `DELTAWIRE_EV_FRAME`,
    /// `DELTAWIRE_EV_PAYLOAD`, `DELTAWIRE_EV_META` and `DELTAWIRE_EV_ANNOTATION`. Kinds that are not asked for are not unescaped. Callbacks are chosen by not being NULL.
    pub events: u64,
    /// Quirks that are errors: bit `quirk % 64` of element `quirk / 64`. Bits of unknown quirks are ignored.
    pub errors: [u64; 2],
    /// The longest event, in bytes: its data, the line feeds that join it, its name. 0 is 1 MiB; at most 2^31 - 1.
    /// Without `DELTAWIRE_CFG_GROW` what the block can hold bounds it too, whether the event was cut or not.
    pub max_event_len: u64,
    /// The longest last event ID, in bytes; 0 is 1 KiB. A longer one is ignored.
    pub max_id_len: u32,
    /// Bytes at the end of the block that are set apart for direct reading (`deltawire_reserve`); 0 is none.
    pub read_len: u32,
}

/// Bytes: not ended by NUL. `{NULL, 0}` is none.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct deltawire_str {
    /// The first byte.
    pub ptr: *const c_char,
    /// How many.
    pub len: usize,
}

/// A parser. It is its block: `(deltawire_parser *)mem`.
pub struct deltawire_parser {
    _opaque: [u64; 0],
}

/// A chunk: one event's payload, with an index of where its members lie.
pub struct deltawire_chunk {
    _opaque: [u64; 0],
}

/// An assembler. It is its block: `(deltawire_message *)mem`.
pub struct deltawire_message {
    _opaque: [u64; 0],
}

/// A JSON value: its bytes, not read yet. It lives as long as they do. Make one with `deltawire_value_open`, or take
/// what a function gives; do not fill it by hand.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct deltawire_value {
    /// Its bytes as they came: a string with its quotes.
    pub ptr: *const c_char,
    /// How many.
    pub len: usize,
    /// `DELTAWIRE_T_*`, by its first byte.
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
/// No JSON: plain text, as some servers report errors.
pub const DELTAWIRE_T_TEXT: u32 = 8;

/// A number: (negative ? -1 : 1) * digits * 10^exp10.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct deltawire_decimal {
    /// The first 19 significant digits.
    pub digits: u64,
    /// The power of ten.
    pub exp10: i32,
    /// 1 if it is below 0, or -0.
    pub negative: u8,
    /// 1 if that is all of the number; 0 if digits that are not zero were cut off, or the exponent does not fit.
    pub exact: u8,
    /// Always 0.
    pub reserved: [u8; 2],
}

/// Room for `deltawire_chunk_open`. The chunk points into it: it must not be moved while the chunk is used.
#[repr(C)]
pub struct deltawire_chunk_storage {
    /// Of no concern.
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
/// `usage`, if it is an object with something in it; where the provider puts it elsewhere, that.
pub const DELTAWIRE_F_USAGE: u32 = 8;
/// The error, in whatever place and shape it came; it may be `DELTAWIRE_T_TEXT`.
pub const DELTAWIRE_F_ERROR: u32 = 9;

/// Of an error: what happened, in words.
pub const DELTAWIRE_ERROR_MESSAGE: u32 = 0;
/// Of an error: `code`, a string or a number.
pub const DELTAWIRE_ERROR_CODE: u32 = 1;
/// Of an error: `type`.
pub const DELTAWIRE_ERROR_TYPE: u32 = 2;
/// Of an error: `param`.
pub const DELTAWIRE_ERROR_PARAM: u32 = 3;
/// Of an error: `metadata`, any JSON.
pub const DELTAWIRE_ERROR_METADATA: u32 = 4;

/// Where and what a callback's thing is. The library fills it; it may grow at its end. Valid until the callback returns.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct deltawire_at {
    /// `sizeof(deltawire_at)` of the library.
    pub size: u32,
    /// `DELTAWIRE_EV_*`.
    pub kind: u32,
    /// `DELTAWIRE_EVF_*`.
    pub flags: u32,
    /// The index of the choice; 0 where there is none.
    pub choice: u32,
    /// The number of the tool call among those of its choice, in order of appearance.
    pub call: u32,
    /// As in `deltawire_event`.
    pub code: u32,
    /// As in `deltawire_event`.
    pub number: u64,
    /// Where it lay in the stream: offset of its first byte.
    pub start: u64,
    /// One past its last byte.
    pub end: u64,
    /// The chunk that it came in; NULL if it came in none.
    pub chunk: *const deltawire_chunk,
    /// The `event` field of the event that it came in, any bytes but CR and LF; none if there was none.
    pub event_name: deltawire_str,
}

/// A thing without text.
pub type deltawire_at_fn = Option<unsafe extern "C" fn(user: *mut c_void, at: *const deltawire_at) -> i32>;
/// A text, valid UTF-8 and not empty, or (comments, keep-alives, IDs, malformed payloads) any bytes, perhaps none.
/// Valid until the callback returns, not ended by NUL.
pub type deltawire_text_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, at: *const deltawire_at, text: *const c_char, len: usize) -> i32>;
/// A JSON value; an error may be `DELTAWIRE_T_TEXT`. It and its bytes are valid until the callback returns.
pub type deltawire_value_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, at: *const deltawire_at, value: *const deltawire_value) -> i32>;
/// A tool call opens, or its ID or type came late: what is known now for the first time, else `DELTAWIRE_T_NONE`. Both
/// are strings; valid until the callback returns.
pub type deltawire_call_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        at: *const deltawire_at,
        id: *const deltawire_value,
        r#type: *const deltawire_value,
    ) -> i32,
>;
/// An event of any event stream: its type (`message` if it has no name), its data lines joined by LF, and the last event
/// ID. Any bytes; valid until the callback returns.
pub type deltawire_sse_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        at: *const deltawire_at,
        r#type: deltawire_str,
        data: deltawire_str,
        id: deltawire_str,
    ) -> i32,
>;

/// What `deltawire_feed` calls. NULL in a member: not interested. Each returns `DELTAWIRE_GO_ON`, `DELTAWIRE_PAUSE`, or any number
/// below 0 to break off at once (`DELTAWIRE_E_ABORTED`); or `DELTAWIRE_AGAIN`. They must return: no exception, no longjmp. For what each brings see `DELTAWIRE_EV_*` of the same name.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct deltawire_callbacks {
    /// `sizeof(deltawire_callbacks)`; `DELTAWIRE_CALLBACKS_INIT` sets it.
    pub size: usize,
    /// Mode SSE: an event.
    pub on_sse: deltawire_sse_fn,
    /// A comment: bytes.
    pub on_comment: deltawire_text_fn,
    /// A payload that only keeps the connection alive: bytes.
    pub on_keep_alive: deltawire_text_fn,
    /// A reconnection time: `at->number`, in milliseconds.
    pub on_retry: deltawire_at_fn,
    /// A last event ID that came without an event: bytes.
    pub on_last_event_id: deltawire_text_fn,
    /// A chunk (`at->chunk`); what it brings follows.
    pub on_chunk: deltawire_at_fn,
    /// The role, once a choice.
    pub on_role: deltawire_text_fn,
    /// Content.
    pub on_content: deltawire_text_fn,
    /// Reasoning, by whichever name it came.
    pub on_reasoning: deltawire_text_fn,
    /// A refusal.
    pub on_refusal: deltawire_text_fn,
    /// A tool call opens, or more is known of it.
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
    /// The whole message so far.
    pub on_message: deltawire_value_fn,
    /// A choice finished.
    pub on_finish: deltawire_text_fn,
    /// A choice failed.
    pub on_choice_error: deltawire_value_fn,
    /// Usage so far; the last one counts.
    pub on_usage: deltawire_value_fn,
    /// The API reported an error.
    pub on_error: deltawire_value_fn,
    /// A payload that is no JSON, or what followed one that is: bytes.
    pub on_malformed: deltawire_text_fn,
    /// An event over the limit was given up.
    pub on_too_long: deltawire_at_fn,
    /// A comment over the limit was given up.
    pub on_comment_too_long: deltawire_at_fn,
    /// More choices or tool calls than are told apart, or an index that is none: what it brought was left out.
    pub on_limit: deltawire_at_fn,
    /// A quirk of the event.
    pub on_quirk: deltawire_at_fn,
    /// `[DONE]`.
    pub on_done: deltawire_at_fn,
    /// A frame is over.
    pub on_frame: deltawire_at_fn,
    /// A member that describes the response: `at->code`, `DELTAWIRE_META_*`.
    pub on_meta: deltawire_text_fn,
    /// Annotations of the content.
    pub on_annotations: deltawire_value_fn,
}

/// No event.
pub const DELTAWIRE_EV_NONE: u32 = 0;
/// Mode SSE: an event. Text: its data. Aux: its type. Extra: the last event ID. Bytes.
pub const DELTAWIRE_EV_SSE: u32 = 1;
/// A comment, without its colon and at most one space. Text: bytes.
pub const DELTAWIRE_EV_COMMENT: u32 = 2;
/// A payload that only keeps the connection alive. Text: bytes.
pub const DELTAWIRE_EV_KEEP_ALIVE: u32 = 3;
/// A reconnection time. `number`: milliseconds.
pub const DELTAWIRE_EV_RETRY: u32 = 4;
/// A last event ID that came without an event. Text: bytes.
pub const DELTAWIRE_EV_LAST_EVENT_ID: u32 = 5;
/// A chunk, before what it brings. Text: its `id`. Aux: its `model`. Extra: the `event` field (bytes). `number`: its
/// `created` (`DELTAWIRE_EVF_NUMBER`: it has one). `code`: how many choices it has.
pub const DELTAWIRE_EV_CHUNK: u32 = 6;
/// The role, once a choice. Text.
pub const DELTAWIRE_EV_ROLE: u32 = 7;
/// Content. Text. A body that did not stream has none of this and of the next ones: it comes as `DELTAWIRE_EV_MESSAGE`.
pub const DELTAWIRE_EV_CONTENT: u32 = 8;
/// Reasoning. Text.
pub const DELTAWIRE_EV_REASONING: u32 = 9;
/// A refusal. Text.
pub const DELTAWIRE_EV_REFUSAL: u32 = 10;
/// A tool call opens (`DELTAWIRE_EVF_OPENS`), or its ID or type came late. Text: its ID. Aux: its type. `number`: its
/// index, as sent or as understood.
pub const DELTAWIRE_EV_TOOL_CALL: u32 = 11;
/// The name of a tool call, whole (`DELTAWIRE_EVF_REPLACES`), or what is to be put behind the name so far. Text.
pub const DELTAWIRE_EV_TOOL_NAME: u32 = 12;
/// A fragment of a tool call's arguments; of a custom tool, its input. Text.
pub const DELTAWIRE_EV_TOOL_ARGUMENTS: u32 = 13;
/// The name of a `function_call`'s function; as `DELTAWIRE_EV_TOOL_NAME`.
pub const DELTAWIRE_EV_FUNCTION_NAME: u32 = 14;
/// A fragment of a `function_call`'s arguments. Text.
pub const DELTAWIRE_EV_FUNCTION_ARGUMENTS: u32 = 15;
/// A fragment of audio. Text: JSON, an object with some of `id`, `data`, `transcript`, `expires_at`.
pub const DELTAWIRE_EV_AUDIO: u32 = 16;
/// Log probabilities of more tokens. Text: JSON.
pub const DELTAWIRE_EV_LOGPROBS: u32 = 17;
/// The whole message so far; it replaces, and comes only while no delta of its choice brought anything: of a body that did
/// not stream, and of dialects without deltas. Text: JSON, an object with `role`, `content`, `tool_calls`, …; the
/// assembler reads it too.
pub const DELTAWIRE_EV_MESSAGE: u32 = 18;
/// A choice finished. Text: the finish reason. `code`: `DELTAWIRE_FINISH_*`. It may come twice; the last one counts.
pub const DELTAWIRE_EV_FINISH: u32 = 19;
/// A choice failed. Text: JSON.
pub const DELTAWIRE_EV_CHOICE_ERROR: u32 = 20;
/// Usage so far; the last one counts. Text: JSON. The counts: `deltawire_chunk_usage(at->chunk, …)` in a callback,
/// `deltawire_last_usage` outside.
pub const DELTAWIRE_EV_USAGE: u32 = 21;
/// The API reported an error. Text: JSON, or (`DELTAWIRE_EVF_PLAIN`) plain text, any bytes.
pub const DELTAWIRE_EV_ERROR: u32 = 22;
/// A payload that is no JSON object, or what followed one; the stream goes on. Text: bytes. Extra: the `event` field.
/// `code`: `DELTAWIRE_FAULT_*`. `number`: at which byte of the payload the fault is.
pub const DELTAWIRE_EV_MALFORMED: u32 = 23;
/// An event over the limit: its rest is discarded, the stream goes on. `start` is where it began.
pub const DELTAWIRE_EV_TOO_LONG: u32 = 24;
/// A comment over the limit is discarded; the event round it goes on.
pub const DELTAWIRE_EV_COMMENT_TOO_LONG: u32 = 25;
/// Something that the chunk brought was left out. `code`: `DELTAWIRE_LIMIT_*`. At most once an event, behind its other things.
pub const DELTAWIRE_EV_LIMIT: u32 = 26;
/// A quirk of the event, behind all other things of it. `code`: its number.
pub const DELTAWIRE_EV_QUIRK: u32 = 27;
/// `[DONE]`: the response is complete. Something may still come.
pub const DELTAWIRE_EV_DONE: u32 = 28;
/// The payload of a chunk, before `DELTAWIRE_EV_CHUNK`. Text: JSON, or (`DELTAWIRE_EVF_PLAIN`) what an error event says in
/// plain text. `code`: 1 if the whole of it is an error, as the name of its event says. For `deltawire_chunk_open`. Batch
/// only: a callback has `at->chunk`.
pub const DELTAWIRE_EV_PAYLOAD: u32 = 29;
/// A member that describes the response, where it is asked for. Text. `code`: `DELTAWIRE_META_*`. Once a stream, but of a
/// choice (`DELTAWIRE_META_NATIVE_FINISH_REASON`) as often as it comes.
pub const DELTAWIRE_EV_META: u32 = 30;
/// Annotations of the content (citations and the like), where they are asked for. Text: JSON, an array.
pub const DELTAWIRE_EV_ANNOTATION: u32 = 31;
/// A frame is over: `start` to `end` are its bytes on the wire. Each byte of the stream lies in exactly one frame, in
/// order; a comment inside an event belongs to the event's frame, one between events is a frame of its own. `code`: how many choices its chunk has (0: usage only,
/// a comment, `[DONE]`, …). `number`: what was in it, `DELTAWIRE_MASK(kind)` or-ed, asked for or not
/// (but `DELTAWIRE_EV_FRAME`, `DELTAWIRE_EV_PAYLOAD` and `DELTAWIRE_EV_META`).
pub const DELTAWIRE_EV_FRAME: u32 = 48;
/// Kinds are below this in this version. Not every number below it is a kind.
pub const DELTAWIRE_EV_COUNT: u32 = 49;
/// The kinds that an assembler needs, for `deltawire_config.events`: `DELTAWIRE_MASK(kind)`, or-ed.
pub const DELTAWIRE_MESSAGE_EVENTS: u64 = 0xc47f_ffc0;

/// Of `DELTAWIRE_EV_META`: `object`.
pub const DELTAWIRE_META_OBJECT: u32 = 1;
/// Of `DELTAWIRE_EV_META`: `system_fingerprint`.
pub const DELTAWIRE_META_SYSTEM_FINGERPRINT: u32 = 2;
/// Of `DELTAWIRE_EV_META`: `service_tier`.
pub const DELTAWIRE_META_SERVICE_TIER: u32 = 3;
/// Of `DELTAWIRE_EV_META`: `provider`.
pub const DELTAWIRE_META_PROVIDER: u32 = 4;
/// Of `DELTAWIRE_EV_META`: `native_finish_reason` of a choice, the reason that the model's own provider gave.
pub const DELTAWIRE_META_NATIVE_FINISH_REASON: u32 = 5;

/// The text lies in the scratch, not in the input.
pub const DELTAWIRE_EVF_TEXT_SCRATCH: u32 = 1;
/// The same of the second text.
pub const DELTAWIRE_EVF_AUX_SCRATCH: u32 = 2;
/// The same of the third text.
pub const DELTAWIRE_EVF_EXTRA_SCRATCH: u32 = 4;
/// Another piece of this text follows, in an event that is otherwise the same. A piece of text is not cut inside a code
/// point; a piece of JSON or of bytes may be. Of a batch only content, reasoning, refusals, arguments, JSON and bytes come
/// in pieces.
pub const DELTAWIRE_EVF_MORE: u32 = 8;
/// The tool call opens.
pub const DELTAWIRE_EVF_OPENS: u32 = 16;
/// It opens under an index that an earlier call has.
pub const DELTAWIRE_EVF_REUSES: u32 = 32;
/// It is a call of a custom tool.
pub const DELTAWIRE_EVF_CUSTOM: u32 = 64;
/// The name replaces what came before. Of a name in pieces (callbacks only) the first has it: the others are put behind.
pub const DELTAWIRE_EVF_REPLACES: u32 = 128;
/// The error, or the payload of an error event, is plain text, no JSON.
pub const DELTAWIRE_EVF_PLAIN: u32 = 256;
/// `number` says something, be it 0.
pub const DELTAWIRE_EVF_NUMBER: u32 = 512;

/// Finish reason: any other; the text tells.
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

/// More choices than `DELTAWIRE_MAX_CHOICES`.
pub const DELTAWIRE_LIMIT_CHOICES: u32 = 1;
/// More tool calls than `DELTAWIRE_MAX_TOOL_CALLS`.
pub const DELTAWIRE_LIMIT_TOOL_CALLS: u32 = 2;
/// An index that is no whole number of 32 bits.
pub const DELTAWIRE_LIMIT_INDEX: u32 = 3;
/// Of an assembler: the message would be longer than 4 GiB.
pub const DELTAWIRE_LIMIT_LENGTH: u32 = 4;

/// Fault: the bytes end inside a value.
pub const DELTAWIRE_FAULT_UNEXPECTED_END: u32 = 1;
/// Fault: a byte that cannot stand there.
pub const DELTAWIRE_FAULT_UNEXPECTED_BYTE: u32 = 2;
/// Fault: something other than whitespace after the value.
pub const DELTAWIRE_FAULT_TRAILING_BYTES: u32 = 3;
/// Fault: nested deeper than allowed.
pub const DELTAWIRE_FAULT_TOO_DEEP: u32 = 4;
/// Fault: no number.
pub const DELTAWIRE_FAULT_BAD_NUMBER: u32 = 5;
/// Fault: neither `true` nor `false` nor `null`.
pub const DELTAWIRE_FAULT_BAD_LITERAL: u32 = 6;
/// Fault: an unknown escape.
pub const DELTAWIRE_FAULT_BAD_ESCAPE: u32 = 7;
/// Fault: a raw control character in a string.
pub const DELTAWIRE_FAULT_RAW_CONTROL: u32 = 8;
/// Fault: ill-formed UTF-8.
pub const DELTAWIRE_FAULT_ILL_FORMED_UTF8: u32 = 9;

/// An event of a batch: 64 bytes for ever, no pointers. Offsets count from the start of `data` (in direct reading: of
/// the block), or of the scratch where a flag says so. They are valid until the next call on the parser, as long as
/// input and scratch are unchanged. A text that is not there has length 0.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct deltawire_event {
    /// `DELTAWIRE_EV_*`. Ignore kinds that you do not know.
    pub kind: u16,
    /// `DELTAWIRE_EVF_*`. Ignore flags that you do not know.
    pub flags: u16,
    /// The index of the choice; 0 where there is none.
    pub choice: u32,
    /// The number of the tool call among those of its choice, in order of appearance.
    pub call: u32,
    /// See `DELTAWIRE_EV_*`.
    pub code: u32,
    /// See `DELTAWIRE_EV_*`.
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
    /// Where it lay in the stream: offset of its first byte.
    pub start: u64,
    /// One past its last byte.
    pub end: u64,
}

/// What a batch came to. Written on every path but `DELTAWIRE_E_NULL` of `out` itself.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct deltawire_batch_result {
    /// Bytes of `data` that are spent. In direct reading 0: the parser itself keeps count.
    pub consumed: u64,
    /// Events written.
    pub events: u32,
    /// Bytes of the scratch written.
    pub scratch_used: u32,
    /// Not 0: the next event has texts that are never split, and needs a scratch of so many bytes.
    pub scratch_need: u32,
    /// Always 0.
    pub reserved: u32,
}

/// Token counts. `size` is set by the caller; no more than that is written, and a tail that the library does not know
/// is zeroed.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct deltawire_usage {
    /// `sizeof(deltawire_usage)`; `DELTAWIRE_USAGE_INIT` sets it.
    pub size: u32,
    /// Which counts are there: a bit each, in the order of the members; `prompt` is bit 0.
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

/// Nothing came, or blanks only, or nothing but `[DONE]`.
pub const DELTAWIRE_VERDICT_EMPTY: u32 = 1;
/// What came is no event stream, and no JSON either; `media` is what it is instead.
pub const DELTAWIRE_VERDICT_NOT_A_STREAM: u32 = 2;
/// The API reported an error.
pub const DELTAWIRE_VERDICT_API_ERROR: u32 = 3;
/// `[DONE]` came, and a chunk.
pub const DELTAWIRE_VERDICT_DONE: u32 = 4;
/// No `[DONE]`, but every choice that was seen has a finish reason.
pub const DELTAWIRE_VERDICT_FINISHED: u32 = 5;
/// A whole JSON body came instead of a stream, without a finish reason.
pub const DELTAWIRE_VERDICT_BODY: u32 = 6;
/// Another whole JSON value: a list of models, an embedding.
pub const DELTAWIRE_VERDICT_JSON_ANSWER: u32 = 7;
/// A stream of another protocol, which `protocol` names. In mode SSE every stream with an event is that, if it ends between
/// events and nothing was too long.
pub const DELTAWIRE_VERDICT_OTHER_PROTOCOL: u32 = 8;
/// The stream ended between events, but something was too long, malformed or left out.
pub const DELTAWIRE_VERDICT_LOST: u32 = 9;
/// The stream was cut.
pub const DELTAWIRE_VERDICT_TRUNCATED: u32 = 10;

/// Nothing was left over: the stream ended between events.
pub const DELTAWIRE_PENDING_NOTHING: u32 = 0;
/// An event that was cut, or that has no blank line and is not whole JSON.
pub const DELTAWIRE_PENDING_EVENT: u32 = 1;
/// A JSON value that was cut.
pub const DELTAWIRE_PENDING_JSON: u32 = 2;
/// A line that was cut, outside of an event: `dat`, `data: `, `: pin`.
pub const DELTAWIRE_PENDING_LINE: u32 = 3;

/// Not known, or the verdict is another than NOT_A_STREAM.
pub const DELTAWIRE_MEDIA_NONE: u32 = 0;
/// Bytes that begin as gzip does: the body is to be decompressed first.
pub const DELTAWIRE_MEDIA_GZIP: u32 = 1;
/// Bytes that begin as Zstandard does: the body is to be decompressed first.
pub const DELTAWIRE_MEDIA_ZSTD: u32 = 2;
/// Other bytes that are no text.
pub const DELTAWIRE_MEDIA_BINARY: u32 = 3;
/// A page, by its first byte, which is `<`.
pub const DELTAWIRE_MEDIA_HTML: u32 = 4;
/// Other text.
pub const DELTAWIRE_MEDIA_TEXT: u32 = 5;

/// No event of another protocol came, or payloads are not looked into.
pub const DELTAWIRE_PROTOCOL_NONE: u32 = 0;
/// One that is not known.
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

/// How a stream ended, or would if it ended now. `size` is set by the caller; no more than that is written, and a tail
/// that the library does not know is zeroed.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct deltawire_end {
    /// `sizeof(deltawire_end)`; `DELTAWIRE_END_INIT` sets it.
    pub size: u32,
    /// `DELTAWIRE_VERDICT_*`: the first that holds, in the order of their numbers.
    pub verdict: u32,
    /// `DELTAWIRE_PENDING_*`.
    pub pending: u32,
    /// How many choices were seen.
    pub choices_seen: u32,
    /// How many of them have a finish reason.
    pub choices_finished: u32,
    /// How many payloads could not be read.
    pub malformed: u32,
    /// How many events and comments were over a limit.
    pub too_long: u32,
    /// 1: `[DONE]` came.
    pub done: u8,
    /// 1: the API reported an error.
    pub api_error: u8,
    /// 1: a JSON body with a message came instead of a stream.
    pub body: u8,
    /// 1: `deltawire_finish` (or `deltawire_batch_finish`) has come to its end.
    pub finished: u8,
    /// How many bytes were read.
    pub offset: u64,
    /// How many events had more than there is room for (`DELTAWIRE_EV_LIMIT`), and were told in part.
    pub left_out: u32,
    /// 1: the response is whole, or would be if it ended now: `[DONE]` came, or every choice has a finish reason, or it is
    /// a whole body; nothing was malformed, too long or left out; and `[DONE]` came or nothing is pending, which is known
    /// when it is `finished`. In mode SSE: the stream ended between events, and nothing was too long.
    pub complete: u32,
    /// `DELTAWIRE_MEDIA_*`: what came instead of a stream, if the verdict is NOT_A_STREAM.
    pub media: u32,
    /// `DELTAWIRE_PROTOCOL_*`: of events that are no chunks. The first of them that has members decides.
    pub protocol: u32,
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
/// Field of a message: `usage`, JSON; the last one.
pub const DELTAWIRE_M_USAGE: u32 = 6;
/// Field of a message: the first error, JSON or plain text.
pub const DELTAWIRE_M_ERROR: u32 = 7;
/// Field of a message: what happened, in words.
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
/// Field of a choice: why it finished; the last reason.
pub const DELTAWIRE_M_FINISH: u32 = 15;
/// Field of a choice: what the model's own provider said of that.
pub const DELTAWIRE_M_NATIVE_FINISH: u32 = 16;
/// Field of a choice: the first error of it alone, JSON.
pub const DELTAWIRE_M_CHOICE_ERROR: u32 = 17;
/// Field of a choice: what happened, in words.
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
/// Field of a choice: its audio, in base64.
pub const DELTAWIRE_M_AUDIO_DATA: u32 = 24;
/// Field of a choice: what is said in its audio.
pub const DELTAWIRE_M_AUDIO_TRANSCRIPT: u32 = 25;
/// Field of a call: its ID.
pub const DELTAWIRE_M_CALL_ID: u32 = 26;
/// Field of a call: its type.
pub const DELTAWIRE_M_CALL_TYPE: u32 = 27;
/// Field of a call: its name.
pub const DELTAWIRE_M_CALL_NAME: u32 = 28;
/// Field of a call: its arguments, or the input of a custom tool.
pub const DELTAWIRE_M_CALL_ARGUMENTS: u32 = 29;

/// Flag of `deltawire_message_json`: with what only gateways add (`provider`, `native_finish_reason`).
pub const DELTAWIRE_JSON_EXTENDED: u32 = 1;
