//! What every event of a stream repeats, and how the stream is written.

use super::out::{Frame, Span, Written};
use super::WriteError;
use crate::json::{Text, Value, ValueKind};
use crate::stream::Protocol;

/// What every event of a stream repeats, and how the stream is written.
///
/// ```
/// use deltawire::write::Head;
/// let head = Head::new("chatcmpl-1", "some-model", 1_700_000_000)
///     .with_usage() // the request has `stream_options.include_usage`
///     .with_members(br#"{"system_fingerprint":"fp_1"}"#);
/// # let _ = head;
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    pub(super) id: &'a str,
    pub(super) model: &'a str,
    pub(super) members: &'a [u8],
    pub(super) created: u64,
    pub(super) usage: bool,
    pub(super) event_ids: bool,
    pub(super) sequence: u64,
    pub(super) retry: Option<u32>,
    pub(super) text_len: u32,
}

impl<'a> Head<'a> {
    /// Creates the head of a response with this ID, this model, and this time in seconds since 1970.
    pub const fn new(id: &'a str, model: &'a str, created: u64) -> Self {
        let (usage, event_ids, sequence, retry, text_len) = (false, false, 0, None, 4096);
        Head { id, model, members: b"{}", created, usage, event_ids, sequence, retry, text_len }
    }

    /// Returns the head with more members, a JSON object: those of every chunk in chat completions
    /// (`system_fingerprint`, `service_tier`), of the response in Responses (what the request asked for: `tools`,
    /// `temperature`, `metadata`), of the message in Anthropic Messages. Members that the writer writes itself are left
    /// out. Members that Responses demands and that are absent get the defaults of the API (`docs/writing.md`).
    #[must_use]
    pub const fn with_members(self, object: &'a [u8]) -> Self {
        Head { members: object, ..self }
    }

    /// Returns the head of a chat completion whose request has `stream_options.include_usage`: each chunk has a `usage`,
    /// and the last one has the counts. The other protocols always write the usage.
    #[must_use]
    pub const fn with_usage(self) -> Self {
        Head { usage: true, ..self }
    }

    /// Returns the head of a stream whose events have IDs: their sequence numbers.
    #[must_use]
    pub const fn with_event_ids(self) -> Self {
        Head { event_ids: true, ..self }
    }

    /// Returns the head of a stream whose first event has this sequence number. 0 by default.
    #[must_use]
    pub const fn with_first_sequence(self, number: u64) -> Self {
        Head { sequence: number, ..self }
    }

    /// Returns the head of a stream whose first event tells the client to wait this many milliseconds before it
    /// reconnects.
    #[must_use]
    pub const fn with_retry(self, milliseconds: u32) -> Self {
        Head { retry: Some(milliseconds), ..self }
    }

    /// Returns the head of a stream whose texts are cut into events of at most this many bytes of text: 4096 by default,
    /// at least 16.
    #[must_use]
    pub const fn with_text_len(self, bytes: u32) -> Self {
        Head { text_len: if bytes < 16 { 16 } else { bytes }, ..self }
    }

    /// Returns the head without its texts.
    pub(super) fn without_texts(&self) -> Head<'static> {
        Head { id: "", model: "", members: b"", ..*self }
    }

    /// Writes the further members to the beginning of the memory. Returns where they lie, even if there is no room.
    pub(super) fn keep(&self, protocol: Protocol, memory: &mut [u8]) -> Written<Span> {
        let own = match protocol {
            Protocol::Chat => "id object created model choices usage error",
            Protocol::Responses => "id object created_at status error incomplete_details model output usage",
            Protocol::Anthropic => "id type role content model stop_reason stop_sequence usage",
            _ => return Err(WriteError::NoPlace),
        };
        let object = Value::from_raw(self.members.trim_ascii());
        if object.kind() != ValueKind::Object {
            return Err(WriteError::Json);
        }
        let mut frame = Frame::new(memory, &[]);
        // Offset 0 is no record of the log.
        frame.bytes(b" ");
        frame.members(object, |name| name.is_one_of(own));
        if protocol == Protocol::Responses {
            let has = |name: Text<'_>| name.as_str().is_some_and(|name| matches!(object.get(name), Ok(Some(_))));
            frame.members(Value::from_raw(DEFAULTS), has);
        }
        Ok(Span { start: 1, len: frame.end()?.saturating_sub(1) as u32 })
    }
}

/// Members of a response that clients demand, with what the API has for a request that does not set them.
const DEFAULTS: &[u8] = br#"{"background":false,"completed_at":null,"frequency_penalty":0,"instructions":null,
"max_output_tokens":null,"max_tool_calls":null,"metadata":{},"parallel_tool_calls":true,"presence_penalty":0,
"previous_response_id":null,"prompt_cache_key":null,"reasoning":{"effort":null,"summary":null},
"safety_identifier":null,"service_tier":"default","store":false,"temperature":1,"text":{"format":{"type":"text"}},
"tool_choice":"auto","tools":[],"top_logprobs":0,"top_p":1,"truncation":"disabled","user":null,
"prompt_cache_retention":null}"#;
