//! How a stream ended.

/// The stream has no bytes, only blanks, or only `[DONE]`.
pub const DELTAWIRE_VERDICT_EMPTY: u32 = 1;
/// The bytes are neither an event stream nor JSON; `media` says what they are.
pub const DELTAWIRE_VERDICT_NOT_A_STREAM: u32 = 2;
/// The API reported an error.
pub const DELTAWIRE_VERDICT_API_ERROR: u32 = 3;
/// The stream has `[DONE]` and a chunk, or the event that ends a response of Responses
/// (`response.completed`, `response.incomplete`) or Anthropic (`message_stop`). DONE does not mean
/// complete: check `complete`.
pub const DELTAWIRE_VERDICT_DONE: u32 = 4;
/// The stream lacks the end that DONE describes, but every choice has a finish reason. Every stream
/// of Gemini ends so, and so do a chat stream that was cut after its finish reasons (its usage may
/// be missing) and an Anthropic stream that was cut before `message_stop`.
pub const DELTAWIRE_VERDICT_FINISHED: u32 = 5;
/// The response is a whole JSON body instead of a stream, and has no finish reason: it contains a
/// message, or its `object` is `chat.completion` or `text_completion`.
pub const DELTAWIRE_VERDICT_BODY: u32 = 6;
/// The response is another whole JSON value, an object or an array of objects: a list of models, an
/// embedding.
pub const DELTAWIRE_VERDICT_JSON_ANSWER: u32 = 7;
/// The stream is of a protocol that the parser does not read; `protocol` names it. In mode SSE every
/// stream with an event has this verdict if it ends between events and nothing was too long.
pub const DELTAWIRE_VERDICT_OTHER_PROTOCOL: u32 = 8;
/// The stream ended between events, without an end that counts as DONE or FINISHED, and something
/// was too long, malformed or left out. A stream with the verdict DONE or FINISHED may have lost
/// parts, too: check `complete`.
pub const DELTAWIRE_VERDICT_LOST: u32 = 9;
/// The stream was cut.
pub const DELTAWIRE_VERDICT_TRUNCATED: u32 = 10;
/// The stream would be LOST or TRUNCATED, but a callback had returned an error (E_ABORTED,
/// E_CALLBACK), so nobody knows how it would have ended.
pub const DELTAWIRE_VERDICT_ABORTED: u32 = 11;

/// Nothing is pending: the stream ended between events.
pub const DELTAWIRE_PENDING_NOTHING: u32 = 0;
/// The end of the stream cut an event, or the last event lacks its blank line and is not whole JSON.
pub const DELTAWIRE_PENDING_EVENT: u32 = 1;
/// The end of the stream cut a JSON value.
pub const DELTAWIRE_PENDING_JSON: u32 = 2;
/// The end of the stream cut a line outside of an event: `dat`, `data: `, `: pin`.
pub const DELTAWIRE_PENDING_LINE: u32 = 3;

/// Unknown, or the verdict is not NOT_A_STREAM.
pub const DELTAWIRE_MEDIA_NONE: u32 = 0;
/// gzip: decompress the body first.
pub const DELTAWIRE_MEDIA_GZIP: u32 = 1;
/// Zstandard: decompress the body first.
pub const DELTAWIRE_MEDIA_ZSTD: u32 = 2;
/// Other bytes that are not text.
pub const DELTAWIRE_MEDIA_BINARY: u32 = 3;
/// HTML: its first byte is `<`.
pub const DELTAWIRE_MEDIA_HTML: u32 = 4;
/// Other text.
pub const DELTAWIRE_MEDIA_TEXT: u32 = 5;

/// No protocol: the stream has no event of one, or the parser does not read payloads.
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

/// How many of the first bytes of a response `deltawire_end` has, at most.
pub const DELTAWIRE_FIRST_BYTES: usize = 128;

/// How a stream ended, or how it would end after the last byte that was read. The caller sets
/// `size`: the library writes no more bytes than that, and zeroes members that it does not know.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct deltawire_end {
    /// `sizeof(deltawire_end)`; `DELTAWIRE_END_INIT` sets it.
    pub size: u32,
    /// `DELTAWIRE_VERDICT_*`: the first that applies, in the order of their numbers, but ABORTED
    /// before LOST.
    pub verdict: u32,
    /// `DELTAWIRE_PENDING_*`; NOTHING if the verdict is `DELTAWIRE_VERDICT_NOT_A_STREAM`.
    pub pending: u32,
    /// How many choices the stream has. Indexes from 127 on count as one choice.
    pub choices_seen: u32,
    /// How many of those choices have a finish reason. Compare it with `choices_seen`, and
    /// `choices_seen` with the `n` of the request: `complete` knows only the choices that the stream
    /// has, and `[DONE]` counts as the end of all of them.
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
    /// 1: all of the response arrived, or would have if the stream ended now. The stream has its end
    /// (`DELTAWIRE_VERDICT_DONE`), a finish reason for every choice, or is a whole body; it has no
    /// error of the API; nothing was malformed, too long or left out; no call answered -100 or
    /// below; and, unless `[DONE]` came, nothing is pending. Check it after `deltawire_finish`: only
    /// then is it known what is pending. In mode SSE: the stream ended between events, and nothing
    /// was too long. The finish reason says whether the model finished its answer:
    /// `DELTAWIRE_FINISH_LENGTH` and `DELTAWIRE_FINISH_CONTENT_FILTER` cut the answer itself, and a
    /// call's arguments with it.
    pub complete: u32,
    /// `DELTAWIRE_MEDIA_*`: what the response is if the verdict is NOT_A_STREAM.
    pub media: u32,
    /// `DELTAWIRE_PROTOCOL_*`: the protocol of the stream, the one that was read (CHAT, RESPONSES,
    /// ANTHROPIC, GEMINI) or, if the verdict is OTHER_PROTOCOL, the one that is not read. NONE if no
    /// event showed a protocol.
    pub protocol: u32,
    /// How many messages contradict what was reported before (`DELTAWIRE_QUIRK_REPLACED_MESSAGE`,
    /// `DELTAWIRE_QUIRK_CHANGED_TEXT`).
    pub replaced: u32,
    /// How many events finished a choice whose tool calls have arguments that were cut or no JSON
    /// (`DELTAWIRE_QUIRK_BROKEN_ARGUMENTS`).
    pub broken_calls: u32,
    /// Why deltas were left out: the bit `1 << DELTAWIRE_LIMIT_*` for each limit.
    pub limits: u32,
    /// How many of the bytes in `first_bytes` are used.
    pub first_len: u32,
    /// The first bytes of a response that does not begin with an event stream: a page, the sentence
    /// of a proxy, a JSON body. They begin with the first byte that is not blank, and end before the
    /// first field, or after `DELTAWIRE_FIRST_BYTES`. Bytes as sent, which may be no text:
    /// `deltawire_end_text` escapes them. Zeros follow.
    pub first_bytes: [u8; DELTAWIRE_FIRST_BYTES],
}
