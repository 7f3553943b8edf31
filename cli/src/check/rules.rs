//! The rules: what each reference demands of a stream. A rule is one row here and one check in the file of its protocol.

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// A client that follows the reference may fail, or lose a part of the response.
    Error,
    /// The reference demands otherwise, but clients usually get along.
    Warning,
}

impl Severity {
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// What a reference demands, and the code under which a stream that does otherwise is reported.
#[derive(Debug)]
pub struct Rule {
    pub code: &'static str,
    pub severity: Severity,
    pub demand: &'static str,
    pub reference: &'static str,
}

const SSE: &str = "WHATWG HTML, 9.2 Server-sent events";
const JSON: &str = "RFC 8259";
const LIMITS: &str = "docs/command.md";
const JUDGED: &str = "docs/check.md";
const QUIRKS: &str = "docs/quirks.md";
const CHUNK: &str = "OpenAI API reference, Chat Completions, The chat completion chunk object";
const CHAT: &str = "OpenAI API reference, Chat Completions, Streaming";
const CREATE: &str = "OpenAI API reference, Chat Completions, Create (stream, stream_options)";
const USAGE: &str = "OpenAI API reference, Chat Completions, usage";
const EVENTS: &str = "OpenAI API reference, Responses, Streaming events";
const RESPONSE: &str = "OpenAI API reference, Responses, The response object";
const MESSAGES: &str = "Anthropic API documentation, Streaming messages, Event types";
const STREAMED: &str = "Anthropic API documentation, Streaming messages";
const MESSAGE: &str = "Anthropic API reference, Messages, The message object";
const GENERATE: &str = "Gemini API reference, GenerateContentResponse";

macro_rules! rules {
    ($($name:ident = $code:literal, $severity:ident, $reference:ident, $demand:literal;)*) => {
        $(pub static $name: Rule =
            Rule { code: $code, severity: Severity::$severity, demand: $demand, reference: $reference };)*

        /// Every rule, in the order of the documentation.
        pub static ALL: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    // Every protocol.
    NO_STREAM = "no-stream", Error, SSE, "the response is an event stream of a response";
    NOT_JUDGED = "not-judged", Error, JUDGED, "the stream is of a protocol that this command judges";
    STREAM_CUT = "stream-cut", Error, CHAT, "the stream comes to the end that its protocol has";
    EVENT_CUT = "event-cut", Error, SSE, "a blank line ends each event";
    API_ERROR = "api-error", Error, CHAT, "the API reports no error";
    PAYLOAD_MALFORMED = "payload-malformed", Error, JSON, "each payload is one JSON object, or [DONE]";
    TOO_LONG = "too-long", Error, LIMITS, "no event and no comment is longer than --max-event-len";
    TOO_MANY = "too-many", Error, LIMITS, "there are at most 128 choices and 256 tool calls, under indexes of 32 bits";
    QUIRK = "quirk", Warning, QUIRKS, "no deviation of this name occurs";
    CALL_OPEN = "call-open", Error, CHAT, "each tool call is over before the stream ends";
    CALL_NOT_JSON = "call-not-json", Error, JSON, "the arguments of a function are one JSON value, unless the answer was cut by a limit";
    CALL_NAME = "call-name", Error, CHUNK, "each tool call has a name";
    CALL_ID = "call-id", Error, CHUNK, "each tool call has an ID (not those of Gemini)";

    // Chat completions.
    CHAT_ID = "chat-id", Warning, CHUNK, "each chunk has an ID";
    CHAT_ID_CHANGED = "chat-id-changed", Error, CHUNK, "each chunk has the same ID";
    CHAT_CREATED = "chat-created", Warning, CHUNK, "each chunk has the time when the completion was created, in seconds";
    CHAT_CREATED_CHANGED = "chat-created-changed", Warning, CHUNK, "each chunk has the same time";
    CHAT_MODEL = "chat-model", Warning, CHUNK, "each chunk names the model";
    CHAT_MODEL_CHANGED = "chat-model-changed", Warning, CHUNK, "one model generates the completion";
    CHAT_OBJECT = "chat-object", Warning, CHUNK, "`object` is `chat.completion.chunk` (in legacy completions `text_completion`)";
    CHAT_ROLE = "chat-role", Warning, CHAT, "the first delta of a choice has the role";
    CHAT_ROLE_REPEATED = "chat-role-repeated", Warning, CHAT, "only the first delta of a choice has the role";
    CHAT_INDEX = "chat-index", Error, CHUNK, "the indexes of the choices are 0, 1, 2, … without a gap";
    CHAT_CALL_INDEX = "chat-call-index", Warning, CHUNK, "the indexes of the tool calls of a choice are 0, 1, 2, … in order";
    CHAT_CALL_TYPE = "chat-call-type", Warning, CHUNK, "each tool call has a type";
    CHAT_FINISH = "chat-finish", Error, CHUNK, "each choice gets a finish reason";
    CHAT_FINISH_UNKNOWN = "chat-finish-unknown", Warning, CHUNK, "the finish reason is `stop`, `length`, `tool_calls`, `content_filter` or `function_call`";
    CHAT_FINISH_CALL = "chat-finish-call", Error, CHUNK, "a choice that finishes with `tool_calls` or `function_call` has a call";
    CHAT_USAGE_PLACE = "chat-usage-place", Warning, CREATE, "the usage comes in a chunk of its own, whose `choices` are empty";
    CHAT_USAGE_LAST = "chat-usage-last", Warning, CREATE, "the chunk with the usage is the last one before [DONE]";
    CHAT_USAGE_TOTAL = "chat-usage-total", Warning, USAGE, "`total_tokens` is the sum of `prompt_tokens` and `completion_tokens`";
    CHAT_DONE = "chat-done", Error, CREATE, "`data: [DONE]` ends the stream";

    // Anthropic Messages.
    ANTHROPIC_NAME = "anthropic-name", Warning, STREAMED, "each event has a name in its `event` field";
    ANTHROPIC_NAME_DIFFERS = "anthropic-name-differs", Error, STREAMED, "the name of an event is the `type` of its data";
    ANTHROPIC_START = "anthropic-start", Error, MESSAGES, "`message_start` is the first event";
    ANTHROPIC_START_TWICE = "anthropic-start-twice", Error, MESSAGES, "there is one `message_start`";
    ANTHROPIC_HEAD = "anthropic-head", Error, MESSAGE, "the message of `message_start` has `id`, `model` and the role `assistant`, and empty content";
    ANTHROPIC_BLOCK_NOT_OPEN = "anthropic-block-not-open", Error, MESSAGES, "a block has its `content_block_start` before its deltas and its stop";
    ANTHROPIC_BLOCK_NESTED = "anthropic-block-nested", Error, MESSAGES, "a block stops before another one, or the message, goes on";
    ANTHROPIC_BLOCK_INDEX = "anthropic-block-index", Error, MESSAGES, "`index` is the place of the block in the message: 0, 1, 2, …";
    ANTHROPIC_BLOCK_LATE = "anthropic-block-late", Error, MESSAGES, "the blocks come before `message_delta`";
    ANTHROPIC_DELTA_TYPE = "anthropic-delta-type", Error, STREAMED, "the type of a delta fits the type of its block";
    ANTHROPIC_STOP_REASON = "anthropic-stop-reason", Error, MESSAGES, "a `message_delta` with the stop reason comes before `message_stop`";
    ANTHROPIC_STOP_UNKNOWN = "anthropic-stop-unknown", Warning, MESSAGE, "the stop reason is one that the reference names";
    ANTHROPIC_USAGE = "anthropic-usage", Warning, STREAMED, "`message_start` and `message_delta` have the usage";
    ANTHROPIC_USAGE_FALLS = "anthropic-usage-falls", Error, STREAMED, "the counts of `message_delta` are cumulative";
    ANTHROPIC_STOP = "anthropic-stop", Error, MESSAGES, "`message_stop` ends the stream";
    ANTHROPIC_AFTER_STOP = "anthropic-after-stop", Warning, MESSAGES, "nothing comes after `message_stop`";

    // OpenAI Responses.
    RESPONSES_NAME = "responses-name", Warning, EVENTS, "each event has a name in its `event` field";
    RESPONSES_NAME_DIFFERS = "responses-name-differs", Error, EVENTS, "the name of an event is the `type` of its data";
    RESPONSES_START = "responses-start", Error, EVENTS, "`response.created` is the first event (`response.queued` of a response in the background)";
    RESPONSES_SEQUENCE = "responses-sequence", Warning, EVENTS, "each event has a `sequence_number`";
    RESPONSES_SEQUENCE_ORDER = "responses-sequence-order", Error, EVENTS, "`sequence_number` grows by 1 with each event";
    RESPONSES_ID_CHANGED = "responses-id-changed", Error, RESPONSE, "each event that has the response has the same ID";
    RESPONSES_STATUS = "responses-status", Error, RESPONSE, "the status of the response is the one that its event names";
    RESPONSES_ITEM_NOT_ADDED = "responses-item-not-added", Error, EVENTS, "`response.output_item.added` comes before the other events of an item, and they before `response.output_item.done`";
    RESPONSES_ITEM_TWICE = "responses-item-twice", Error, EVENTS, "an item is added once";
    RESPONSES_ITEM_INDEX = "responses-item-index", Error, EVENTS, "`output_index` is the place of the item in the output: 0, 1, 2, …";
    RESPONSES_ITEM_ID = "responses-item-id", Error, EVENTS, "`item_id` is the ID of the item at `output_index`";
    RESPONSES_ITEM_OPEN = "responses-item-open", Error, EVENTS, "each item is done before `response.completed`";
    RESPONSES_PART_NOT_ADDED = "responses-part-not-added", Error, EVENTS, "`….part.added` comes before the deltas of a part, and they before `….part.done`";
    RESPONSES_PART_TWICE = "responses-part-twice", Error, EVENTS, "a part is added once";
    RESPONSES_PART_OPEN = "responses-part-open", Error, EVENTS, "each part of an item is done before the item";
    RESPONSES_OUTPUT = "responses-output", Warning, RESPONSE, "the output of the completed response has each item that was done";
    RESPONSES_USAGE = "responses-usage", Warning, RESPONSE, "the completed response has its usage";
    RESPONSES_AFTER_END = "responses-after-end", Warning, EVENTS, "nothing comes after the event that ends the response";

    // Gemini.
    GEMINI_ID_CHANGED = "gemini-id-changed", Error, GENERATE, "each chunk has the same `responseId`";
    GEMINI_MODEL_CHANGED = "gemini-model-changed", Warning, GENERATE, "one `modelVersion` generates the response";
    GEMINI_ROLE = "gemini-role", Warning, GENERATE, "the role of the content is `model`";
    GEMINI_FINISH = "gemini-finish", Error, GENERATE, "each candidate gets a `finishReason`";
    GEMINI_USAGE = "gemini-usage", Warning, GENERATE, "the response has `usageMetadata`";
}
