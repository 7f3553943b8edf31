//! The rules: what each reference demands of a stream. A rule is one row here and one check in the file of its protocol.

use deltawire::stream::Protocol;

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
    /// Where the demand stands: one place for every protocol, or one each for chat completions, Responses, Anthropic and
    /// Gemini.
    pub references: &'static [&'static str],
}

impl Rule {
    /// Where the demand stands for a stream of this protocol.
    pub fn reference(&self, protocol: Protocol) -> &'static str {
        let at = match protocol {
            Protocol::Responses => 1,
            Protocol::Anthropic => 2,
            Protocol::Gemini => 3,
            _ => 0,
        };
        self.references.get(at).or(self.references.first()).copied().unwrap_or_default()
    }
}

const SSE: &[&str] = &["WHATWG HTML, 9.2 Server-sent events"];
const JSON: &[&str] = &["RFC 8259"];
const LIMITS: &[&str] = &["docs/command.md"];
const JUDGED: &[&str] = &["docs/check.md"];
const QUIRKS: &[&str] = &["docs/quirks.md"];
const CHUNK: &[&str] = &["OpenAI API reference, Chat Completions, The chat completion chunk object"];
const CHAT: &[&str] = &["OpenAI API reference, Chat Completions, Streaming"];
const CREATE: &[&str] = &["OpenAI API reference, Chat Completions, Create (stream, stream_options)"];
const USAGE: &[&str] = &["OpenAI API reference, Chat Completions, usage"];
const EVENTS: &[&str] = &["OpenAI API reference, Responses, Streaming events"];
const RESPONSE: &[&str] = &["OpenAI API reference, Responses, The response object"];
const MESSAGES: &[&str] = &["Anthropic API documentation, Streaming messages, Event types"];
const STREAMED: &[&str] = &["Anthropic API documentation, Streaming messages"];
const MESSAGE: &[&str] = &["Anthropic API reference, Messages, The message object"];
const GENERATE: &[&str] = &["Gemini API reference, GenerateContentResponse"];
const TYPES: &[&str] = &["Anthropic API reference, Messages, RawMessageStreamEvent"];
const COMPLETION: &[&str] = &["OpenAI API reference, Chat Completions, The chat completion object"];
const CANDIDATE: &[&str] = &["Gemini API reference, GenerateContentResponse, Candidate"];
const COUNTS: &[&str] = &["Gemini API reference, GenerateContentResponse, UsageMetadata"];

// Of every protocol.
const ENDS: &[&str] = &[CHAT[0], EVENTS[0], MESSAGES[0], CANDIDATE[0]];
const ERRORS: &[&str] = &[
    "OpenAI API reference, Errors",
    EVENTS[0],
    "Anthropic API documentation, Streaming messages, Error events",
    "Gemini API documentation, Troubleshooting",
];
const CALLS: &[&str] = &[CHUNK[0], RESPONSE[0], MESSAGE[0], "Gemini API reference, Content, FunctionCall"];

macro_rules! rules {
    ($($name:ident = $code:literal, $severity:ident, $reference:ident, $demand:literal;)*) => {
        $(pub static $name: Rule =
            Rule { code: $code, severity: Severity::$severity, demand: $demand, references: $reference };)*

        /// Every rule, in the order of the documentation.
        pub static ALL: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    // Every protocol.
    NO_STREAM = "no-stream", Error, SSE, "the response is an event stream of a response";
    NOT_JUDGED = "not-judged", Error, JUDGED, "the stream is of a protocol that this command judges";
    STREAM_CUT = "stream-cut", Error, ENDS, "the stream comes to the end that its protocol has";
    EVENT_CUT = "event-cut", Error, SSE, "a blank line ends each event";
    API_ERROR = "api-error", Error, ERRORS, "the API reports no error, and no choice ends because of one";
    PAYLOAD_MALFORMED = "payload-malformed", Error, JSON, "each payload is one JSON object, or [DONE]";
    TOO_LONG = "too-long", Error, LIMITS, "no event and no comment is longer than --max-event-len";
    TOO_MANY = "too-many", Error, LIMITS, "there are at most 128 choices and 256 tool calls, under indexes of 32 bits";
    QUIRK = "quirk", Warning, QUIRKS, "no deviation of this name occurs";
    CALL_OPEN = "call-open", Error, ENDS, "each tool call is over before the stream ends";
    CALL_NOT_JSON = "call-not-json", Error, JSON, "the arguments of a function are one JSON value, unless the answer was cut by a limit";
    CALL_NAME = "call-name", Error, CALLS, "each tool call has a name";
    CALL_ID = "call-id", Error, CALLS, "each tool call has an ID (not those of Gemini)";
    CALL_ID_TWICE = "call-id-twice", Error, CALLS, "each tool call of a choice has an ID of its own";
    CALL_NAME_PIECES = "call-name-pieces", Warning, CALLS, "the name of a tool call is the name of the function, and comes whole";

    // Chat completions.
    CHAT_ID = "chat-id", Warning, CHUNK, "each chunk has an ID";
    CHAT_ID_CHANGED = "chat-id-changed", Error, CHUNK, "each chunk has the same ID";
    CHAT_CREATED = "chat-created", Warning, CHUNK, "each chunk has the time when the completion was created, in seconds";
    CHAT_CREATED_CHANGED = "chat-created-changed", Warning, CHUNK, "each chunk has the same time";
    CHAT_MODEL = "chat-model", Warning, CHUNK, "each chunk names the model";
    CHAT_MODEL_CHANGED = "chat-model-changed", Warning, CHUNK, "one model generates the completion";
    CHAT_OBJECT = "chat-object", Warning, CHUNK, "`object` is `chat.completion.chunk` in each chunk (in each of legacy completions `text_completion`)";
    CHAT_MEMBER = "chat-member", Error, CHUNK, "a chunk has `choices`, and each choice `delta` (of legacy completions `text`)";
    CHAT_ROLE = "chat-role", Warning, CHAT, "the first delta of a choice has the role";
    CHAT_ROLE_REPEATED = "chat-role-repeated", Warning, CHAT, "only the first delta of a choice has the role";
    CHAT_ROLE_OTHER = "chat-role-other", Warning, COMPLETION, "the role is `assistant`";
    CHAT_INDEX = "chat-index", Error, CHUNK, "the indexes of the choices are 0, 1, 2, … without a gap";
    CHAT_CALL_INDEX = "chat-call-index", Warning, CHUNK, "the indexes of the tool calls of a choice are 0, 1, 2, … in order";
    CHAT_CALL_TYPE = "chat-call-type", Warning, CHUNK, "each tool call has a type";
    CHAT_FINISH = "chat-finish", Error, CHUNK, "each choice gets a finish reason";
    CHAT_FINISH_MISSING = "chat-finish-missing", Warning, CHUNK, "each choice has `finish_reason`, which is null until it finishes";
    CHAT_FINISH_UNKNOWN = "chat-finish-unknown", Warning, CHUNK, "the finish reason is `stop`, `length`, `tool_calls`, `content_filter` or `function_call`";
    CHAT_FINISH_CALL = "chat-finish-call", Error, CHUNK, "a choice that finishes with `tool_calls` or `function_call` has a call";
    CHAT_USAGE_PLACE = "chat-usage-place", Warning, CREATE, "the usage comes in a chunk of its own, whose `choices` are empty";
    CHAT_USAGE_LAST = "chat-usage-last", Warning, CREATE, "the chunk with the usage is the last one before [DONE]";
    CHAT_USAGE = "chat-usage", Error, USAGE, "`prompt_tokens`, `completion_tokens` and `total_tokens` are there, and are counts";
    CHAT_USAGE_TOTAL = "chat-usage-total", Warning, USAGE, "`total_tokens` is the sum of `prompt_tokens` and `completion_tokens`";
    CHAT_DONE = "chat-done", Error, CREATE, "`data: [DONE]` ends the stream";

    // Anthropic Messages.
    ANTHROPIC_NAME = "anthropic-name", Warning, STREAMED, "each event has a name in its `event` field";
    ANTHROPIC_NAME_DIFFERS = "anthropic-name-differs", Error, STREAMED, "the name of an event is the `type` of its data";
    ANTHROPIC_START = "anthropic-start", Error, MESSAGES, "`message_start` is the first event";
    ANTHROPIC_START_TWICE = "anthropic-start-twice", Error, MESSAGES, "there is one `message_start`";
    ANTHROPIC_HEAD = "anthropic-head", Error, MESSAGE, "the message of `message_start` has `id`, `model`, the type `message` and the role `assistant`, empty content, and no stop reason";
    ANTHROPIC_MEMBER = "anthropic-member", Error, TYPES, "an event has `content_block` or `delta`, a block and a delta have a type, and those of known types what belongs to it";
    ANTHROPIC_BLOCK_NOT_OPEN = "anthropic-block-not-open", Error, MESSAGES, "a block has its `content_block_start` before its deltas and its stop";
    ANTHROPIC_BLOCK_NESTED = "anthropic-block-nested", Error, MESSAGES, "a block stops before another one, or the message, goes on";
    ANTHROPIC_BLOCK_INDEX = "anthropic-block-index", Error, MESSAGES, "`index` is the place of the block in the message: 0, 1, 2, …";
    ANTHROPIC_BLOCK_LATE = "anthropic-block-late", Error, MESSAGES, "the blocks come before `message_delta`";
    ANTHROPIC_DELTA_TYPE = "anthropic-delta-type", Error, STREAMED, "the type of a delta fits the type of its block";
    ANTHROPIC_SIGNATURE = "anthropic-signature", Warning, STREAMED, "a `signature_delta` comes before the end of a thinking block";
    ANTHROPIC_STOP_REASON = "anthropic-stop-reason", Error, MESSAGES, "a `message_delta` with the stop reason comes before `message_stop`";
    ANTHROPIC_STOP_CHANGED = "anthropic-stop-changed", Error, MESSAGE, "a message has one stop reason";
    ANTHROPIC_STOP_TOOL = "anthropic-stop-tool", Error, MESSAGE, "a message with a `tool_use` block does not stop with `end_turn`, and one without does not stop with `tool_use`";
    ANTHROPIC_STOP_UNKNOWN = "anthropic-stop-unknown", Warning, MESSAGE, "the stop reason is one that the reference names";
    ANTHROPIC_USAGE = "anthropic-usage", Warning, STREAMED, "`message_start` has a usage with `input_tokens` and `output_tokens`, and `message_delta` one with `output_tokens`";
    ANTHROPIC_USAGE_FALLS = "anthropic-usage-falls", Error, STREAMED, "the `output_tokens` of `message_delta` are cumulative: they do not fall";
    ANTHROPIC_STOP = "anthropic-stop", Error, MESSAGES, "`message_stop` ends the stream";
    ANTHROPIC_AFTER_STOP = "anthropic-after-stop", Warning, MESSAGES, "nothing comes after `message_stop`";

    // OpenAI Responses.
    RESPONSES_NAME = "responses-name", Warning, EVENTS, "each event has a name in its `event` field";
    RESPONSES_NAME_DIFFERS = "responses-name-differs", Error, EVENTS, "the name of an event is the `type` of its data";
    RESPONSES_START = "responses-start", Error, EVENTS, "`response.created` is the first event (`response.queued` of a response in the background)";
    RESPONSES_START_TWICE = "responses-start-twice", Error, EVENTS, "`response.created` comes once";
    RESPONSES_MEMBER = "responses-member", Error, EVENTS, "an event has the members of its type, and so have the response, the item or the part in it";
    RESPONSES_SEQUENCE = "responses-sequence", Warning, EVENTS, "each event has a `sequence_number`";
    RESPONSES_SEQUENCE_ORDER = "responses-sequence-order", Error, EVENTS, "`sequence_number` grows by 1 with each event";
    RESPONSES_ID_CHANGED = "responses-id-changed", Error, RESPONSE, "each event that has the response has the same ID";
    RESPONSES_CHANGED = "responses-changed", Error, RESPONSE, "each event that has the response has the same `model` and `created_at`";
    RESPONSES_STATUS = "responses-status", Error, RESPONSE, "the status of the response is the one that its event names";
    RESPONSES_ITEM_NOT_ADDED = "responses-item-not-added", Error, EVENTS, "`response.output_item.added` comes before the other events of an item, and they before `response.output_item.done`";
    RESPONSES_ITEM_TWICE = "responses-item-twice", Error, EVENTS, "an item is added once";
    RESPONSES_ITEM_INDEX = "responses-item-index", Error, EVENTS, "`output_index` is the place of the item in the output: 0, 1, 2, …";
    RESPONSES_ITEM_ID = "responses-item-id", Error, EVENTS, "`item_id` is the ID of the item at `output_index`";
    RESPONSES_ITEM_CHANGED = "responses-item-changed", Error, EVENTS, "an item is done with the type, the `call_id` and the name that it was added with";
    RESPONSES_ITEM_ROLE = "responses-item-role", Warning, RESPONSE, "the role of a message is `assistant`";
    RESPONSES_ITEM_OPEN = "responses-item-open", Error, EVENTS, "each item is done before `response.completed`";
    RESPONSES_PART_NOT_ADDED = "responses-part-not-added", Error, EVENTS, "`….part.added` comes before the deltas of a part, and they before `….part.done`";
    RESPONSES_PART_TWICE = "responses-part-twice", Error, EVENTS, "a part is added once";
    RESPONSES_PART_INDEX = "responses-part-index", Error, EVENTS, "`content_index` and `summary_index` are the place of the part in its item: 0, 1, 2, …";
    RESPONSES_PART_TYPE = "responses-part-type", Error, EVENTS, "the texts of a part and its end are of the type that it was added with";
    RESPONSES_PART_OPEN = "responses-part-open", Error, EVENTS, "each part of an item is done before the item";
    RESPONSES_TEXT_OPEN = "responses-text-open", Error, EVENTS, "a text, arguments, an input or code that had a delta is done before its part and its item";
    RESPONSES_OUTPUT = "responses-output", Warning, RESPONSE, "the output of the completed response has each item that was done, in order";
    RESPONSES_USAGE = "responses-usage", Warning, RESPONSE, "the completed response has its usage";
    RESPONSES_USAGE_TOTAL = "responses-usage-total", Warning, RESPONSE, "`total_tokens` is the sum of `input_tokens` and `output_tokens`";
    RESPONSES_AFTER_END = "responses-after-end", Warning, EVENTS, "nothing comes after the event that ends the response";

    // Gemini.
    GEMINI_ID = "gemini-id", Warning, GENERATE, "each chunk has the `responseId`, which identifies the response";
    GEMINI_ID_CHANGED = "gemini-id-changed", Error, GENERATE, "each chunk has the same `responseId`";
    GEMINI_MODEL_CHANGED = "gemini-model-changed", Warning, GENERATE, "one `modelVersion` generates the response";
    GEMINI_ROLE = "gemini-role", Warning, GENERATE, "the role of the content is `model`";
    GEMINI_FINISH = "gemini-finish", Error, CANDIDATE, "each candidate gets a `finishReason`";
    GEMINI_FINISH_UNKNOWN = "gemini-finish-unknown", Warning, CANDIDATE, "the `finishReason` is one that the reference names";
    GEMINI_AFTER_FINISH = "gemini-after-finish", Error, CANDIDATE, "a candidate with a `finishReason` has stopped: no content follows, and no other reason";
    GEMINI_USAGE = "gemini-usage", Warning, GENERATE, "the response has `usageMetadata`";
    GEMINI_USAGE_TOTAL = "gemini-usage-total", Warning, COUNTS, "`totalTokenCount` is the sum of the counts of the prompt, of tool use, of thoughts and of the candidates";
    GEMINI_USAGE_FALLS = "gemini-usage-falls", Warning, COUNTS, "`totalTokenCount` and `candidatesTokenCount` are totals: none is less than before";
}
