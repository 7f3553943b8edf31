//! What an event contains, as plain data: the vocabulary of every interface.
//!
//! The reader of a dialect ([`chat`](crate::chat), or one of those in `dialect/`) writes deltas. Every interface reads
//! them: pull, a handler, the records of a batch, the callbacks of C, the message log. A delta holds offsets into its
//! event's payload instead of pointers, so it can be stored while the payload is elsewhere. No name here is specific to
//! one provider's protocol.

use crate::json::{Text, TextFlags, Value};
use crate::words::c_str;

/// Defines [`Kind`], its list and its masks from one table: name, number in the C interface, name there (reserved kinds
/// have none), masks and description. `off`: a batch emits the kind only on request. `message`: a whole message needs it.
macro_rules! kinds {
    ($($name:ident = $number:literal $($c_name:ident)? $([$($mask:ident)+])?: $doc:literal,)*) => {
        /// The kind of a [`Delta`] or a [`Record`](crate::stream::Record). The numbers are those of the C interface.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Kind {
            $(#[doc = $doc] $name = $number,)*
        }

        impl Kind {
            /// Every kind.
            pub const ALL: &'static [Kind] = &[$(Kind::$name,)*];

            /// The kinds that a batch emits by default: all except frames, payloads, and what only a message needs.
            pub const DEFAULT: u64 = !(0 $($($(| in_mask!(off, $mask) << $number)+)?)*);

            /// The kinds needed to assemble a whole message and to know whether part of it was skipped.
            pub const MESSAGE: u64 = 0 $($($(| in_mask!(message, $mask) << $number)+)?)*;

            /// Returns the kind with this number in the C interface.
            #[inline]
            pub fn from_number(number: u32) -> Option<Kind> {
                match number {
                    $($number => Some(Kind::$name),)*
                    _ => None,
                }
            }

            /// Returns the name in the C interface of the kind with this number.
            #[doc(hidden)]
            #[inline(always)]
            pub const fn c_name(number: u32) -> Option<&'static core::ffi::CStr> {
                match number {
                    $($($number => Some(const { c_str(concat!(stringify!($c_name), "\0")) }),)?)*
                    _ => None,
                }
            }
        }
    };
}

/// 1 if both are the same mask, else 0.
macro_rules! in_mask {
    (off, off) => {
        1
    };
    (message, message) => {
        1
    };
    ($of:ident, $mask:ident) => {
        0
    };
}

// CONTRIBUTING.md, *How to add a kind*, lists every file that names a kind.
kinds! {
    None = 0 NONE: "The kind of a record whose bytes are all 0. Never emitted.",
    Sse = 1 SSE: "An event whose payload is not read.",
    Comment = 2 COMMENT: "A comment.",
    KeepAlive = 3 KEEP_ALIVE: "A payload that only keeps the connection alive.",
    Retry = 4 RETRY: "A reconnection time.",
    LastEventId = 5 LAST_EVENT_ID: "A last event ID that came without an event.",
    Chunk = 6 CHUNK [message]: "A chunk begins. Emitted before the deltas of the chunk.",
    Role = 7 ROLE [message]: "The role.",
    Content = 8 CONTENT [message]: "Content.",
    Reasoning = 9 REASONING [message]: "Reasoning.",
    Refusal = 10 REFUSAL [message]: "A refusal.",
    ToolCall = 11 TOOL_CALL [message]: "A tool call opens, or its ID or type comes later.",
    ToolName = 12 TOOL_NAME [message]: "The name of a tool call, or a piece of it.",
    ToolArguments = 13 TOOL_ARGUMENTS [message]: "A fragment of a tool call's arguments.",
    FunctionName = 14 FUNCTION_NAME [message]: "The name of a `function_call`, or a piece of it.",
    FunctionArguments = 15 FUNCTION_ARGUMENTS [message]: "A fragment of a `function_call`'s arguments.",
    Audio = 16 AUDIO [message]: "A fragment of audio.",
    Logprobs = 17 LOGPROBS [message]: "Log probabilities.",
    Message = 18: "Reserved: a whole message, whose parts are reported as other deltas.",
    Finish = 19 FINISH [message]: "A choice finished.",
    ChoiceError = 20 CHOICE_ERROR [message]: "A choice failed.",
    Usage = 21 USAGE [message]: "The token counts so far.",
    Error = 22 ERROR [message]: "The API reported an error.",
    Malformed = 23 MALFORMED: "A payload that is no JSON object, or bytes that follow the object.",
    TooLong = 24 TOO_LONG: "An event over the limit.",
    CommentTooLong = 25 COMMENT_TOO_LONG: "A comment over the limit.",
    Limit = 26 LIMIT [message]: "Deltas were left out, because a table is full or an index is out of range.",
    Quirk = 27 QUIRK: "A quirk of the event.",
    Done = 28 DONE: "`[DONE]`.",
    Payload = 29 PAYLOAD [off]: "The payload of a chunk.",
    Meta = 30 META [off message]: "A member that describes the response: one of [`Meta`]. Emitted on request.",
    Annotation = 31 ANNOTATION [off message]: "Annotations of the content, as raw JSON. Emitted on request.",
    PartBegin = 32: "Reserved: a part of the content begins.",
    PartEnd = 33: "Reserved: a part of the content ends.",
    Signature = 34 SIGNATURE [off message]: "A signature of reasoning, or encrypted reasoning. Emitted on request.",
    Media = 35 MEDIA [off message]: "An image or another medium, as raw JSON. Emitted on request.",
    Status = 36: "Reserved: the response's status changed.",
    ToolResult = 37: "Reserved: the result of a tool that the server ran.",
    Native = 38 NATIVE [off message]: "A part of the response without its own kind, such as a server tool's result: raw JSON, on request.",
    ToolCallEnd = 39 TOOL_CALL_END [message]: "A tool call is over.",
    Frame = 48 FRAME [off]: "A frame ends: the bytes of one event in the stream.",
}

impl Kind {
    /// Returns the bit of the kind in a mask of kinds.
    #[inline]
    pub const fn bit(self) -> u64 {
        1 << (self as u8)
    }

    /// Whether a delta of this kind shows that a choice has deltas, rather than only a whole message.
    pub(crate) const fn is_part_of_delta(self) -> bool {
        !matches!(
            self,
            Kind::Role
                | Kind::ToolCallEnd
                | Kind::Finish
                | Kind::ChoiceError
                | Kind::Logprobs
                | Kind::Meta
                | Kind::Annotation
        )
    }
}

/// The member that a delta of kind [`Kind::Meta`] holds. [`Delta::code`] is its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Meta {
    /// `object`, once a stream.
    Object = 1,
    /// `system_fingerprint`, once a stream.
    SystemFingerprint = 2,
    /// `service_tier`, once a stream.
    ServiceTier = 3,
    /// `provider` (OpenRouter), once a stream.
    Provider = 4,
    /// `native_finish_reason` of a choice: the finish reason of the model's own provider.
    NativeFinishReason = 5,
    /// Any other top-level member that is not null, reported for each chunk that has it: raw JSON preceded by its name
    /// as in an object (`"name":value`).
    Member = 6,
    /// Like `Member`, of a choice.
    ChoiceMember = 7,
    /// Like `Member`, of a delta; includes `reasoning_details`.
    DeltaMember = 8,
    /// Like `Member`, of a `message`.
    MessageMember = 9,
    /// The name of the member that contains the reasoning of a choice: `reasoning_content`, `reasoning`, `thinking`,
    /// `thought` or `reasoning_text`. Emitted once a choice, before the first reasoning. Reasoning in
    /// `reasoning_details` or in parts of the content has no such name.
    ReasoningName = 10,
    /// Like `Member`, of a tool call ([`Delta::call`]), such as `extra_content`. Emitted after the arguments of the
    /// call.
    CallMember = 11,
    /// Like `CallMember`, of the `function` of a tool call, or of its `custom` tool.
    FunctionMember = 12,
}

impl Meta {
    /// The members that are emitted once per stream.
    pub(crate) const ONCE: [Meta; 4] = [Meta::Object, Meta::SystemFingerprint, Meta::ServiceTier, Meta::Provider];

    /// The members that have no delta kind of their own.
    const MEMBERS: [Meta; 6] = [
        Meta::Member,
        Meta::ChoiceMember,
        Meta::DeltaMember,
        Meta::MessageMember,
        Meta::CallMember,
        Meta::FunctionMember,
    ];

    /// Returns the member with this number.
    pub fn from_number(number: u32) -> Option<Meta> {
        let texts = Meta::ONCE.into_iter().chain([Meta::NativeFinishReason, Meta::ReasoningName]);
        texts.chain(Meta::MEMBERS).find(|meta| *meta as u32 == number)
    }

    /// Whether the member has no delta kind of its own, and is reported as raw JSON.
    pub fn is_member(self) -> bool {
        Meta::MEMBERS.contains(&self)
    }
}

/// The finish reasons that the reference of chat completions names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum FinishKind {
    /// `stop`: a natural end, or a stop sequence.
    Stop = 2,
    /// `length`: the token limit.
    Length = 3,
    /// `tool_calls`: the model called tools.
    ToolCalls = 4,
    /// `content_filter`: content was left out.
    ContentFilter = 5,
    /// `function_call`: the model called a function (deprecated form).
    FunctionCall = 6,
    /// `error`: the choice failed.
    Error = 7,
    /// Any other reason. [`Delta::text`] contains it.
    Other = 1,
}

impl FinishKind {
    /// The finish reasons that have a word in chat completions, each with its word.
    pub(crate) const WORDS: [(&'static str, FinishKind); 6] = [
        ("stop", FinishKind::Stop),
        ("length", FinishKind::Length),
        ("tool_calls", FinishKind::ToolCalls),
        ("content_filter", FinishKind::ContentFilter),
        ("function_call", FinishKind::FunctionCall),
        ("error", FinishKind::Error),
    ];

    /// Returns the number of the kind in the C interface.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// Returns the kind of a reason in the words of chat completions, or of a server that speaks its protocol: DeepSeek
    /// sends `insufficient_system_resource`, Z.ai `network_error`, `sensitive` and `model_context_window_exceeded`,
    /// Mistral `model_length`, gateways the `max_tokens` of other protocols.
    pub(crate) fn of(reason: Text<'_>) -> FinishKind {
        const OTHERS: [(&str, FinishKind); 7] = [
            ("max_tokens", FinishKind::Length),
            ("model_context_window_exceeded", FinishKind::Length),
            ("MAX_TOKENS", FinishKind::Length),
            ("model_length", FinishKind::Length),
            ("insufficient_system_resource", FinishKind::Error),
            ("network_error", FinishKind::Error),
            ("sensitive", FinishKind::ContentFilter),
        ];
        let known = FinishKind::WORDS.iter().chain(&OTHERS).find(|(word, _)| reason == *word);
        known.map_or(FinishKind::Other, |(_, kind)| *kind)
    }

    /// Returns the word that chat completions uses for the kind, or `None` for [`Other`](FinishKind::Other).
    pub fn word(self) -> Option<&'static str> {
        FinishKind::WORDS.iter().find(|(_, kind)| *kind == self).map(|(word, _)| *word)
    }

    /// Whether the choice may have ended before a tool call was whole.
    pub(crate) fn may_cut(self) -> bool {
        matches!(self, FinishKind::Length | FinishKind::ContentFilter | FinishKind::Error)
    }

    /// Returns the kind with this number in the C interface.
    pub(crate) fn from_number(number: u32) -> FinishKind {
        let known = FinishKind::WORDS.iter().find(|(_, kind)| kind.number() == number);
        known.map_or(FinishKind::Other, |(_, kind)| *kind)
    }
}

/// Another piece of the same text follows.
pub const FLAG_MORE: u16 = 8;
/// The delta opens a tool call.
pub const FLAG_OPENS: u16 = 16;
/// The tool call opens under the index of an earlier call.
pub const FLAG_REUSES: u16 = 32;
/// The tool call is of a custom tool.
pub const FLAG_CUSTOM: u16 = 64;
/// The arguments of the tool call were sent, and are empty so far. A message has `{}` for them once the choice finished.
pub const FLAG_EMPTY: u16 = 1024;
/// The name replaces the name so far.
pub const FLAG_REPLACES: u16 = 128;
/// The error is plain text, not JSON.
pub const FLAG_PLAIN: u16 = 256;
/// [`Delta::number`] holds a number.
pub const FLAG_NUMBER: u16 = 512;
/// The event is of another protocol than chat completions. On a [`Kind::Finish`]: the text is in the words of that
/// protocol, and the code is the [`FinishKind`] that it means. On a [`Kind::Usage`]: the members have the names of that
/// protocol, whose number is the code. On a [`Kind::ToolCall`] only inside the tracker.
pub const FLAG_NATIVE: u16 = 4096;
/// On a [`Kind::Finish`] of another protocol: the prompt was refused, and the text is the reason.
pub const FLAG_PROMPT: u16 = 8192;

/// On a pulled [`Kind::ToolCall`]: its element of `tool_calls` has no ID, name or arguments, but members that no other
/// delta is made of. The members belong to the call that the element selects; the element opens no call.
pub(crate) const FLAG_SELECTS: u16 = 2048;
/// On a [`Kind::Chunk`]: the event is not of the response, whose ID, model and time it does not have.
pub(crate) const FLAG_FOREIGN: u16 = 2048;
/// The code of a pulled [`Kind::ToolCall`] with [`FLAG_SELECTS`]: its element has nothing but arguments that are an
/// empty string.
pub(crate) const ONLY_EMPTY: u32 = 1;
/// Set by the reader on a tool call and on its name, for the tracker: the ID was sent, but as null. So the element goes
/// on with a call whatever its type is, and a name `null` is none.
pub(crate) const FLAG_NULL_ID: u16 = 32768;
/// Set by the reader on a whole `message` and on each delta of it, for the tracker, which removes the flag. After the
/// tracker the bit is [`FLAG_EMPTY`].
pub(crate) const FLAG_WHOLE: u16 = 1024;
/// Set by the reader of a protocol for the tracker: a new tool call begins, even under the index or the ID of an
/// earlier call.
pub(crate) const FLAG_ANEW: u16 = 16384;

/// A range of payload bytes: a string without its quotes and still escaped, or a raw JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Offset of the first byte in the payload.
    pub start: u32,
    /// Length in bytes.
    pub len: u32,
    /// For a string, what its bytes may contain.
    pub(crate) flags: TextFlags,
    /// Pending high surrogate from the end of the previous text, or 0.
    pub(crate) lead: u16,
}

impl Part {
    /// The empty range.
    pub const NONE: Part = Part { start: 0, len: 0, flags: TextFlags::PLAIN, lead: 0 };

    /// Returns the range of a text borrowed from `payload`.
    #[inline]
    pub(crate) fn of(payload: &[u8], text: Text<'_>) -> Part {
        let (flags, lead) = text.parts();
        Part { start: offset_in(payload, text.raw()) as u32, len: text.raw().len() as u32, flags, lead }
    }

    /// Returns the range of a value borrowed from `payload`.
    #[inline]
    pub(crate) fn raw(payload: &[u8], value: Value<'_>) -> Part {
        Part { start: offset_in(payload, value.raw()) as u32, len: value.raw().len() as u32, ..Part::NONE }
    }

    /// Returns the offset one past the last byte.
    #[inline]
    pub(crate) fn end(&self) -> u32 {
        self.start.saturating_add(self.len)
    }

    /// Whether the text decodes to nothing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0 && self.lead == 0
    }

    /// Returns the bytes of the range, still escaped.
    #[inline]
    pub fn bytes<'a>(&self, payload: &'a [u8]) -> &'a [u8] {
        let start = self.start as usize;
        payload.get(start..start.wrapping_add(self.len as usize)).unwrap_or_default()
    }

    /// Whether the text needs no decoding: its bytes in the payload are valid UTF-8 and decode to themselves.
    #[inline(always)]
    pub fn stands(&self, payload: &[u8]) -> bool {
        let is_plain = self.lead == 0 && self.flags == TextFlags::PLAIN;
        is_plain || self.text(payload).as_str().is_some()
    }

    /// Returns the text after its first `taken` raw bytes.
    #[inline]
    pub fn behind(self, taken: usize) -> Part {
        let taken = u32::try_from(taken).unwrap_or(u32::MAX).min(self.len);
        let lead = if taken > 0 { 0 } else { self.lead };
        Part { start: self.start.saturating_add(taken), len: self.len.saturating_sub(taken), lead, ..self }
    }

    /// Returns the text.
    #[inline]
    pub fn text<'a>(&self, payload: &'a [u8]) -> Text<'a> {
        Text::from_parts(self.bytes(payload), (self.flags, self.lead))
    }

    /// Returns the raw JSON value.
    #[inline]
    pub(crate) fn value<'a>(&self, payload: &'a [u8]) -> Value<'a> {
        Value::from_raw(self.bytes(payload))
    }
}

/// Returns the offset in `whole` of bytes borrowed from it. Of other bytes it returns any number.
#[inline]
pub(crate) fn offset_in(whole: &[u8], bytes: &[u8]) -> usize {
    (bytes.as_ptr() as usize).wrapping_sub(whole.as_ptr() as usize)
}

/// One thing that an event reports, as offsets into the payload. Plain data, 48 bytes.
///
/// The kind decides which fields are used. [`Update`](crate::Update) is a delta with borrowed texts.
#[derive(Clone, Copy, Debug)]
pub struct Delta {
    /// The kind.
    pub kind: Kind,
    /// A set of `FLAG_*`.
    pub flags: u16,
    /// The index of the choice. 0 if the delta belongs to the chunk as a whole, and `u32::MAX` in a [`Kind::Limit`] if
    /// the index of the choice itself is out of range.
    pub choice: u32,
    /// For a tool call, the number of the call among the calls of its choice, in order of appearance. Until a tracker
    /// takes the delta in, its position in the array of the chunk.
    pub call: u32,
    /// Depends on the kind: a finish reason, a quirk, an error kind, a limit, a number of choices, a [`Meta`] or, in a
    /// [`Kind::ToolCallEnd`], 1 if the arguments are whole.
    pub code: u32,
    /// Depends on the kind: a tool call's index, a time, an offset, or a set of kinds.
    pub number: u64,
    /// The text or the raw JSON.
    pub text: Part,
    /// For a tool call, the type.
    pub aux: Part,
}

impl Delta {
    /// Creates a delta of this kind with every other field empty.
    #[inline]
    pub const fn new(kind: Kind) -> Self {
        Delta { kind, flags: 0, choice: 0, call: 0, code: 0, number: 0, text: Part::NONE, aux: Part::NONE }
    }

    /// Whether `flag` is set.
    #[inline]
    pub const fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// Returns [`number`](Delta::number) if [`FLAG_NUMBER`] is set, such as a tool call's index or a time.
    #[inline]
    pub fn number(&self) -> Option<u64> {
        self.has(FLAG_NUMBER).then_some(self.number)
    }
}

/// The name and the arguments of a tool call delta, which are reported in the deltas after it. Empty if absent; the range
/// of arguments that were sent as an empty string begins behind the start of the payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Called {
    pub(crate) name: Part,
    pub(crate) arguments: Part,
}

impl Called {
    pub(crate) const NOTHING: Called = Called { name: Part::NONE, arguments: Part::NONE };
}

const _: () = assert!(core::mem::size_of::<Delta>() == 48);

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn every_kind_has_its_own_number_and_bit() {
        let mut bits = 0;
        for &kind in Kind::ALL {
            assert_eq!(Kind::from_number(kind as u32), Some(kind));
            assert_eq!(bits & kind.bit(), 0, "{kind:?}");
            bits |= kind.bit();
        }
        assert_eq!(Kind::from_number(0), Some(Kind::None));
        assert_eq!(Kind::from_number(63), None);
        assert_eq!(Kind::MESSAGE & !bits, 0);
    }
}
