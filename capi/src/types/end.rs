//! How a stream ended.

/// The stream has no bytes, blanks only, or nothing but `[DONE]`.
pub const DELTAWIRE_VERDICT_EMPTY: u32 = 1;
/// The bytes are neither an event stream nor JSON; `media` is what they are.
pub const DELTAWIRE_VERDICT_NOT_A_STREAM: u32 = 2;
/// The API reported an error.
pub const DELTAWIRE_VERDICT_API_ERROR: u32 = 3;
/// The stream has `[DONE]`, and a chunk; or the event that ends a response of Responses
/// (`response.completed`, `response.incomplete`) or Anthropic (`message_stop`). DONE does not mean
/// complete: ask `complete`.
pub const DELTAWIRE_VERDICT_DONE: u32 = 4;
/// The stream has no such end, but every choice has a finish reason. So ends every stream of Gemini,
/// a chat stream that was cut behind its finish reasons, whose usage may be missing, and one of
/// Anthropic that was cut before `message_stop`.
pub const DELTAWIRE_VERDICT_FINISHED: u32 = 5;
/// The response is a whole JSON body instead of a stream, without a finish reason: it has a message,
/// or its `object` is `chat.completion` or `text_completion`.
pub const DELTAWIRE_VERDICT_BODY: u32 = 6;
/// The response is another whole JSON value: a list of models, an embedding, a number.
pub const DELTAWIRE_VERDICT_JSON_ANSWER: u32 = 7;
/// The stream is of a protocol that is not read, which `protocol` names. In mode SSE every stream
/// with an event has this verdict if it ends between events and nothing was too long.
pub const DELTAWIRE_VERDICT_OTHER_PROTOCOL: u32 = 8;
/// The stream ended between events, without an end that counts as DONE or FINISHED, and something
/// was too long, malformed or left out. DONE and FINISHED can lose parts too: ask `complete`.
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
    /// How many of those choices have a finish reason. Compare it with `choices_seen`, and that with
    /// the `n` of the request: `complete` counts only the choices that came, and `[DONE]` ends all.
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
    /// (`DELTAWIRE_VERDICT_DONE`) or a finish reason of every choice or a whole body, and besides:
    /// no error of the API; nothing malformed, too long or left out; no status of -100 or below;
    /// and, unless `[DONE]` came, nothing pending. Ask after `deltawire_finish`: before it nobody
    /// knows what is pending. In mode SSE: the stream ended between events, and nothing was too
    /// long. Whether the model finished its answer is the finish reason:
    /// `DELTAWIRE_FINISH_LENGTH` and `DELTAWIRE_FINISH_CONTENT_FILTER` cut the answer itself, and a
    /// call's arguments with it.
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
