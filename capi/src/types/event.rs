//! The events of a batch and of callbacks: kinds, flags and codes.

/// No event.
pub const DELTAWIRE_EV_NONE: u32 = 0;
/// Mode SSE: an event. Mode USAGE: a skipped event. Text: its data. Aux: its type. Extra: the last
/// event ID. All three are bytes.
pub const DELTAWIRE_EV_SSE: u32 = 1;
/// A comment, without its colon and the one space that may follow the colon. Text: bytes.
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
/// Content. Text. The message of a body that was not streamed is emitted as this kind and the kinds
/// below, too. `number`, in other protocols than chat completions: the slot of the text, a number
/// that tells the parts of an output apart.
pub const DELTAWIRE_EV_CONTENT: u32 = 8;
/// Reasoning. Text. `number`: as in `DELTAWIRE_EV_CONTENT`. `code` 1: a summary (Responses).
pub const DELTAWIRE_EV_REASONING: u32 = 9;
/// A refusal. Text.
pub const DELTAWIRE_EV_REFUSAL: u32 = 10;
/// A tool call opens (`DELTAWIRE_EVF_OPENS`), or the ID or type of an open call arrives. Text: its
/// ID. Aux: its type. `number`: its index, as sent, or as the parser assigned it.
pub const DELTAWIRE_EV_TOOL_CALL: u32 = 11;
/// The whole name of a tool call (`DELTAWIRE_EVF_REPLACES`), or a piece to append to the name so
/// far. Text.
pub const DELTAWIRE_EV_TOOL_NAME: u32 = 12;
/// A fragment of a tool call's arguments or, for a custom tool, of its input. Text. If a call has no
/// fragment, take the arguments of a function as `{}`, and the input of a custom tool as empty.
/// Arguments that Gemini sends by path (`partialArgs`) are not emitted as fragments: an assembler
/// joins them, `DELTAWIRE_META_CALL_MEMBER` has them as sent, and
/// `DELTAWIRE_QUIRK_PARTIAL_ARGUMENTS` counts the events that contain them.
pub const DELTAWIRE_EV_TOOL_ARGUMENTS: u32 = 13;
/// The name of a `function_call`'s function; otherwise as `DELTAWIRE_EV_TOOL_NAME`.
pub const DELTAWIRE_EV_FUNCTION_NAME: u32 = 14;
/// A fragment of a `function_call`'s arguments. Text.
pub const DELTAWIRE_EV_FUNCTION_ARGUMENTS: u32 = 15;
/// A fragment of audio. Text: JSON, an object with some of `id`, `data`, `transcript`, `expires_at`.
/// In Responses it is the event, whose `delta` is data or, if its `type` names a transcript, a piece
/// of that.
pub const DELTAWIRE_EV_AUDIO: u32 = 16;
/// Log probabilities of more tokens. Text: JSON, an object with some of `content` and `refusal`,
/// each an array of tokens, or the object of legacy completions. In Responses it is the array.
pub const DELTAWIRE_EV_LOGPROBS: u32 = 17;
/// A choice finished. Text: the finish reason. A callback may receive it in pieces
/// (`DELTAWIRE_EVF_MORE`); a batch has it whole. `code`: `DELTAWIRE_FINISH_*`. A choice may finish
/// twice; the last finish reason counts.
pub const DELTAWIRE_EV_FINISH: u32 = 19;
/// A choice failed. Text: JSON.
pub const DELTAWIRE_EV_CHOICE_ERROR: u32 = 20;
/// Usage, as this event reports it. Text: JSON. `deltawire_value_usage` reads the counts from the
/// value that a callback receives, or from the value that `deltawire_value_open` makes of a batch's
/// text. Never add up the counts of several events: each is the count so far. One event may lack
/// some counts (Anthropic sends the prompt at the beginning, and often only the completion at the
/// end). After the call that emitted the event returned, `deltawire_last_usage` has all counts,
/// merged.
pub const DELTAWIRE_EV_USAGE: u32 = 21;
/// The API reported an error. Text: JSON, or with the flag `DELTAWIRE_EVF_PLAIN` bytes of plain
/// text. A batch may emit it in pieces (`DELTAWIRE_EVF_MORE`): join them before you open the value.
pub const DELTAWIRE_EV_ERROR: u32 = 22;
/// A payload that is not a JSON object, or the bytes that follow the object; the stream goes on.
/// Only with `DELTAWIRE_CFG_STRICT_JSON` does the parser find a broken value inside a member that it
/// does not read. Text: bytes. Extra: the `event` field. `code`: `DELTAWIRE_FAULT_*`. `number`: the
/// offset of the fault, counted from the start of the text's first piece.
pub const DELTAWIRE_EV_MALFORMED: u32 = 23;
/// An event over the limit: the parser drops the rest of it, and the stream goes on. `start` and
/// `end` are where the event began: its length is not known yet.
pub const DELTAWIRE_EV_TOO_LONG: u32 = 24;
/// A comment over the limit was dropped. `start` and `end` are where it began. If it lies inside an
/// event, that event goes on.
pub const DELTAWIRE_EV_COMMENT_TOO_LONG: u32 = 25;
/// The parser left out deltas of the chunk. `code`: `DELTAWIRE_LIMIT_*`. `choice`: the index of
/// their choice; 2^32 - 1 if the choice has no valid index. Emitted at most once for each event, for
/// the first delta left out, after the event's other deltas.
pub const DELTAWIRE_EV_LIMIT: u32 = 26;
/// A quirk of the event, after everything else that the event emits. `code`: the number of the
/// quirk.
pub const DELTAWIRE_EV_QUIRK: u32 = 27;
/// `[DONE]`: the response ended. Some servers send more events after it, and Responses, Anthropic
/// and Gemini end without it: `deltawire_end_of` says whether the response is complete.
pub const DELTAWIRE_EV_DONE: u32 = 28;
/// The payload of a chunk, before `DELTAWIRE_EV_CHUNK`, for `deltawire_chunk_open`. Text: JSON, or
/// with the flag `DELTAWIRE_EVF_PLAIN` the plain text of an error event. `code`: 1 if the event's
/// name makes the whole payload an error. Only a batch emits it: a callback has `at->chunk`.
pub const DELTAWIRE_EV_PAYLOAD: u32 = 29;
/// A member that describes the response. Text. `code`: `DELTAWIRE_META_*`. Most members are emitted
/// once for a stream. `DELTAWIRE_META_REASONING_NAME` is emitted once for a choice, before its first
/// reasoning. `DELTAWIRE_META_NATIVE_FINISH_REASON`, which belongs to a choice, and unknown members
/// (`DELTAWIRE_META_*MEMBER`) are emitted as often as they are sent. Off unless `events` or a
/// callback asks for it.
pub const DELTAWIRE_EV_META: u32 = 30;
/// Annotations of the content, such as citations. Text: JSON. In chat completions it is an array; in
/// other protocols, and for a message so far that has more annotations than the previous message,
/// each new annotation is an event of its own. Off unless `events` or a callback asks for it.
pub const DELTAWIRE_EV_ANNOTATION: u32 = 31;
/// A signature of reasoning, or the encrypted reasoning of Responses. (Encrypted reasoning of
/// Anthropic, `redacted_thinking`, is a `DELTAWIRE_EV_NATIVE`.) Text. `number`: as in
/// `DELTAWIRE_EV_CONTENT`. Off unless `events` or a callback asks for it.
pub const DELTAWIRE_EV_SIGNATURE: u32 = 34;
/// An image or another medium (other protocols). Text: JSON. Off unless `events` or a callback asks
/// for it.
pub const DELTAWIRE_EV_MEDIA: u32 = 35;
/// A part of the response that no other kind covers (other protocols): a tool that the server ran,
/// its result, or a piece of either. Text: JSON. Off unless `events` or a callback asks for it.
pub const DELTAWIRE_EV_NATIVE: u32 = 38;
/// A tool call is over: it can run now. Emitted once for each call of a tool of the client, if the
/// stream is not cut inside it. `code` 1: its arguments are whole, that is, no string or bracket is
/// open, none closed that never opened, and the first byte that is not blank begins a JSON value (or
/// there is none). This is a balance, not a parse. The input of a custom tool is always whole.
/// Responses and Anthropic end a call with its item or block, Gemini with its part; in chat
/// completions a call ends when another call of its choice opens and the arguments are a closed
/// object or array, otherwise when the choice finishes. What is open after that, or without a finish
/// reason, ends in `deltawire_finish` if the response is over.
pub const DELTAWIRE_EV_TOOL_CALL_END: u32 = 39;
/// A frame ended. The frame is the bytes `start` to `end` of the stream, however reads cut them.
/// Each byte of the stream lies in exactly one frame, and frames are in order. A comment inside an
/// event belongs to the event's frame; a comment between events is a frame of its own. If lines end
/// in CR, a frame may be reported one byte later, or at the end of the stream. The frame of JSON
/// outside of fields includes the end of its line, unless more JSON follows on that line. `code`:
/// how many choices the frame's chunk has (0: usage only, a comment, `[DONE]`, …). `number`: the
/// kinds of events in the frame, `DELTAWIRE_MASK(kind)` or-ed, whether the mask asks for them or not
/// (without `DELTAWIRE_EV_FRAME`, `DELTAWIRE_EV_PAYLOAD` and `DELTAWIRE_EV_META`).
pub const DELTAWIRE_EV_FRAME: u32 = 48;
/// Every kind of this version is below this number. Not every number below it is a kind.
pub const DELTAWIRE_EV_COUNT: u32 = 49;
/// The kinds that a message is made of, for `deltawire_config.events`: `DELTAWIRE_MASK(kind)`,
/// or-ed. They are all kinds from `DELTAWIRE_EV_CHUNK` to `DELTAWIRE_EV_ERROR`, and
/// `DELTAWIRE_EV_LIMIT`, `_META`, `_ANNOTATION`, `_SIGNATURE`, `_MEDIA`, `_NATIVE` and
/// `_TOOL_CALL_END`.
pub const DELTAWIRE_MESSAGE_EVENTS: u64 = 0xcc_c47b_ffc0;

/// `code` of a `DELTAWIRE_EV_META`: `object`.
pub const DELTAWIRE_META_OBJECT: u32 = 1;
/// `code` of a `DELTAWIRE_EV_META`: `system_fingerprint`.
pub const DELTAWIRE_META_SYSTEM_FINGERPRINT: u32 = 2;
/// `code` of a `DELTAWIRE_EV_META`: `service_tier`.
pub const DELTAWIRE_META_SERVICE_TIER: u32 = 3;
/// `code` of a `DELTAWIRE_EV_META`: `provider`.
pub const DELTAWIRE_META_PROVIDER: u32 = 4;
/// `code` of a `DELTAWIRE_EV_META`: `native_finish_reason` of a choice, the finish reason of the
/// provider behind a gateway.
pub const DELTAWIRE_META_NATIVE_FINISH_REASON: u32 = 5;
/// `code` of a `DELTAWIRE_EV_META`: another member of the top level that is not null, each time it
/// is sent. Raw JSON, as in an object: `"name":value`, which `deltawire_value_open_member` splits.
pub const DELTAWIRE_META_MEMBER: u32 = 6;
/// `code` of a `DELTAWIRE_EV_META`: another member of a choice, as
/// `DELTAWIRE_META_MEMBER`.
pub const DELTAWIRE_META_CHOICE_MEMBER: u32 = 7;
/// `code` of a `DELTAWIRE_EV_META`: another member of a delta, as
/// `DELTAWIRE_META_MEMBER`; also `reasoning_details`.
pub const DELTAWIRE_META_DELTA_MEMBER: u32 = 8;
/// `code` of a `DELTAWIRE_EV_META`: another member of a `message`, as
/// `DELTAWIRE_META_MEMBER`.
pub const DELTAWIRE_META_MESSAGE_MEMBER: u32 = 9;
/// `code` of a `DELTAWIRE_EV_META`: the name of the member that contains the first reasoning of a
/// choice: `reasoning_content`, `reasoning`, `thinking`, `thought` or `reasoning_text`.
pub const DELTAWIRE_META_REASONING_NAME: u32 = 10;
/// `code` of a `DELTAWIRE_EV_META`: another member of the tool call `call`, such as `extra_content`,
/// each time it is sent, after the call's arguments. Raw JSON, as `DELTAWIRE_META_MEMBER`. The call
/// may open later.
pub const DELTAWIRE_META_CALL_MEMBER: u32 = 11;
/// `code` of a `DELTAWIRE_EV_META`: another member of the `function` of the tool call `call`, or of
/// its `custom` tool, as `DELTAWIRE_META_CALL_MEMBER`.
pub const DELTAWIRE_META_FUNCTION_MEMBER: u32 = 12;

/// The text lies in the scratch, not in the input.
pub const DELTAWIRE_EVF_TEXT_SCRATCH: u32 = 1;
/// The second text lies in the scratch, not in the input.
pub const DELTAWIRE_EVF_AUX_SCRATCH: u32 = 2;
/// The third text lies in the scratch, not in the input.
pub const DELTAWIRE_EVF_EXTRA_SCRATCH: u32 = 4;
/// Another piece of this text follows, in an event that is otherwise the same. A piece of a text
/// never ends inside a code point; a piece of JSON or of bytes may. In a batch, only content,
/// reasoning, refusals, arguments, signatures, JSON and bytes come in pieces. A callback receives
/// any text that must be decoded in pieces of up to 1 KiB. Roles, names and finish reasons are such
/// texts, too: `on_finish` may be called twice for one reason. A `deltawire_value` is never cut.
pub const DELTAWIRE_EVF_MORE: u32 = 8;
/// The tool call opens.
pub const DELTAWIRE_EVF_OPENS: u32 = 16;
/// The tool call opens under the index of an earlier call.
pub const DELTAWIRE_EVF_REUSES: u32 = 32;
/// The tool call calls a custom tool.
pub const DELTAWIRE_EVF_CUSTOM: u32 = 64;
/// The name replaces the name so far. If a callback receives a name in pieces, only the first piece
/// has this flag: append the others.
pub const DELTAWIRE_EVF_REPLACES: u32 = 128;
/// The error, or the payload of an error event, is plain text instead of JSON.
pub const DELTAWIRE_EVF_PLAIN: u32 = 256;
/// `number` is set, even if it is 0.
pub const DELTAWIRE_EVF_NUMBER: u32 = 512;
/// The event is of another protocol than chat completions. With `DELTAWIRE_EV_FINISH`: the text is
/// the protocol's own word, and `code` is its meaning. With `DELTAWIRE_EV_USAGE`: the members have
/// the protocol's own names, which `deltawire_value_usage` reads, and `code` is the
/// `DELTAWIRE_PROTOCOL_*`.
pub const DELTAWIRE_EVF_NATIVE: u32 = 4096;
/// With `DELTAWIRE_EV_FINISH`: the provider refused the prompt, and the text is the reason.
pub const DELTAWIRE_EVF_PROMPT: u32 = 8192;

/// Finish reason: any other; the text of the event has it.
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
/// Limit: an index is a fraction, or 2^32 - 1 or more. (Other odd indexes are only the quirk
/// `DELTAWIRE_QUIRK_ODD_INDEX`: a negative index counts as 0, digits in a string as their number,
/// and a value of another type as no index.)
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

/// An event of a batch. Its size is 64 bytes in every version, and it holds no pointers. Offsets
/// count from the start of `data` (in direct reading: of the block), or from the start of the
/// scratch if the flag for that text is set. They are valid until the next call on the parser, while
/// input and scratch are unchanged. An absent text has length 0.
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
    /// Where the event ends: the stream offset one past its last byte.
    pub end: u64,
}

/// The result of a batch. Every call writes it, whatever the status, unless `out` is NULL.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct deltawire_batch_result {
    /// How many bytes of `data` are consumed. 0 in direct reading, where the parser counts the
    /// consumed bytes itself.
    pub consumed: usize,
    /// How many events were written.
    pub events: usize,
    /// How many bytes of the scratch were written.
    pub scratch_used: usize,
    /// If not 0: the next event has texts that are never split, and needs a scratch of at least this
    /// many bytes.
    pub scratch_need: usize,
}

/// Bit of `deltawire_usage.has`: `prompt` was sent.
pub const DELTAWIRE_HAS_PROMPT: u32 = 1;
/// Bit of `deltawire_usage.has`: `completion` was sent.
pub const DELTAWIRE_HAS_COMPLETION: u32 = 2;
/// Bit of `deltawire_usage.has`: `total` was sent.
pub const DELTAWIRE_HAS_TOTAL: u32 = 4;
/// Bit of `deltawire_usage.has`: `reasoning` was sent.
pub const DELTAWIRE_HAS_REASONING: u32 = 8;
/// Bit of `deltawire_usage.has`: `cached` was sent.
pub const DELTAWIRE_HAS_CACHED: u32 = 16;
/// Bit of `deltawire_usage.has`: `prompt_audio` was sent.
pub const DELTAWIRE_HAS_PROMPT_AUDIO: u32 = 32;
/// Bit of `deltawire_usage.has`: `completion_audio` was sent.
pub const DELTAWIRE_HAS_COMPLETION_AUDIO: u32 = 64;
/// Bit of `deltawire_usage.has`: `accepted_prediction` was sent.
pub const DELTAWIRE_HAS_ACCEPTED_PREDICTION: u32 = 128;
/// Bit of `deltawire_usage.has`: `rejected_prediction` was sent.
pub const DELTAWIRE_HAS_REJECTED_PREDICTION: u32 = 256;
/// Bit of `deltawire_usage.has`: `cache_write` was sent.
pub const DELTAWIRE_HAS_CACHE_WRITE: u32 = 512;

/// Token counts. The caller sets `size`: the library writes no more bytes than that, and zeroes
/// members that it does not know.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct deltawire_usage {
    /// `sizeof(deltawire_usage)`; `DELTAWIRE_USAGE_INIT` sets it.
    pub size: u32,
    /// Which counts were sent: `DELTAWIRE_HAS_*`, or-ed. The other counts are 0.
    pub has: u32,
    /// `prompt_tokens`.
    pub prompt: u64,
    /// `completion_tokens`.
    pub completion: u64,
    /// `total_tokens`.
    pub total: u64,
    /// `completion_tokens_details.reasoning_tokens`, or else `reasoning_tokens` of the usage itself
    /// (GitHub Copilot).
    pub reasoning: u64,
    /// `prompt_tokens_details.cached_tokens`, or else of the usage itself `prompt_cache_hit_tokens`
    /// (DeepSeek), `cached_tokens` (Moonshot), `num_cached_tokens` (Mistral) or
    /// `cache_read_input_tokens`.
    pub cached: u64,
    /// `prompt_tokens_details.audio_tokens`.
    pub prompt_audio: u64,
    /// `completion_tokens_details.audio_tokens`.
    pub completion_audio: u64,
    /// `completion_tokens_details.accepted_prediction_tokens`.
    pub accepted_prediction: u64,
    /// `completion_tokens_details.rejected_prediction_tokens`.
    pub rejected_prediction: u64,
    /// `prompt_tokens_details.cache_write_tokens`, or else `cache_creation_input_tokens` of the same
    /// object (Qwen) or of the usage itself (Vercel). OpenAI includes these tokens in `prompt`;
    /// gateways differ.
    pub cache_write: u64,
}
