//! The functions that a feed calls, and what they receive.

use super::{deltawire_chunk, deltawire_str, deltawire_value};
use core::ffi::{c_char, c_void};

/// The delta or event that a callback is called for, and its place in the stream. The library fills
/// the struct; later versions may add members at its end. It is valid until the callback returns.
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
    /// Where the event ends: the stream offset one past its last byte.
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
/// malformed payloads the text is any bytes, and may be empty. Raw JSON (`DELTAWIRE_META_*MEMBER`)
/// is as it was sent: ill-formed UTF-8 stays in it. The text is valid until the callback returns,
/// and is not ended by NUL.
pub type deltawire_text_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, at: *const deltawire_at, text: *const c_char, len: usize) -> i32>;
/// A callback with a JSON value; the value of an error may be of type `DELTAWIRE_T_TEXT`. The value
/// and its bytes are valid until the callback returns.
pub type deltawire_value_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, at: *const deltawire_at, value: *const deltawire_value) -> i32>;
/// A callback for a tool call that opens, or whose ID or type arrives later. `id` and `type` are of
/// type `DELTAWIRE_T_NONE` unless this event is the first to contain them, and `type` is so in every
/// protocol but chat completions. Otherwise each is a string, or a number or boolean as sent;
/// `deltawire_value_text` reads all of these. Both are valid until the callback returns.
pub type deltawire_call_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        at: *const deltawire_at,
        id: *const deltawire_value,
        r#type: *const deltawire_value,
    ) -> i32,
>;
/// A callback for an event of any event stream: its type (`message` if it has no name), its data
/// lines joined by LF, and the last event ID. All three are bytes, valid until the callback returns.
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
    /// Mode SSE: an event. Mode USAGE: a skipped event.
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
    /// The role, once for each choice. Append the pieces: like every text here, a long role comes in
    /// several (`DELTAWIRE_EVF_MORE`).
    pub on_role: deltawire_text_fn,
    /// Content.
    pub on_content: deltawire_text_fn,
    /// Reasoning, whatever the provider calls the member.
    pub on_reasoning: deltawire_text_fn,
    /// A refusal.
    pub on_refusal: deltawire_text_fn,
    /// A tool call opens, or its ID or type arrives later.
    pub on_tool_call: deltawire_call_fn,
    /// The name of a tool call, or a piece of it: append the text to the name so far, unless the
    /// flag `DELTAWIRE_EVF_REPLACES` says to replace it.
    pub on_tool_name: deltawire_text_fn,
    /// A fragment of a tool call's arguments. Gemini's arguments are as the server wrote them, with
    /// its whitespace and line breaks.
    pub on_tool_arguments: deltawire_text_fn,
    /// The name of a `function_call`, or a piece of it.
    pub on_function_name: deltawire_text_fn,
    /// A fragment of a `function_call`'s arguments.
    pub on_function_arguments: deltawire_text_fn,
    /// Audio.
    pub on_audio: deltawire_value_fn,
    /// Log probabilities.
    pub on_logprobs: deltawire_value_fn,
    /// A choice finished: the finish reason. `at->code` is its meaning, `DELTAWIRE_FINISH_*`. A long
    /// reason comes in pieces (`DELTAWIRE_EVF_MORE`), one call for each.
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
    /// The parser left out deltas of the chunk: it had no room for a choice or a tool call, or an
    /// index was bad.
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
    /// A signature of reasoning, or the encrypted reasoning of Responses.
    pub on_signature: deltawire_text_fn,
    /// An image or another medium.
    pub on_media: deltawire_value_fn,
    /// A part of the response that no other callback covers.
    pub on_native: deltawire_value_fn,
    /// A tool call is over. `at->code` is 1 if its arguments are whole: see
    /// `DELTAWIRE_EV_TOOL_CALL_END`.
    pub on_tool_call_end: deltawire_at_fn,
}
