//! The one vocabulary: what an event says, as plain data.
//!
//! A reader of a dialect ([`chat`](crate::chat) is the first) writes deltas; every interface reads them: pull, a handler,
//! the records of a batch, the callbacks of C, the message log. A delta is offsets into its event's payload, without
//! pointers, so that it can be kept while the payload is not at hand. No name here belongs to one provider's protocol.

use crate::json::{Text, TextFlags, Value};

/// Makes [`Kind`] and its list from one table: the name, the number in the C interface, and what it is.
macro_rules! kinds {
    ($($name:ident = $number:literal: $doc:literal,)*) => {
        /// What a [`Delta`] or a [`Record`](crate::stream::Record) is. The numbers are those of the C interface, which uses 0 for no kind.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Kind {
            $(#[doc = $doc] $name = $number,)*
        }

        impl Kind {
            /// Every kind.
            pub const ALL: &'static [Kind] = &[$(Kind::$name,)*];

            /// The kind with this number in the C interface.
            #[inline]
            pub fn from_number(number: u32) -> Option<Kind> {
                match number {
                    $($number => Some(Kind::$name),)*
                    _ => None,
                }
            }
        }
    };
}

kinds! {
    Sse = 1: "An event whose payload is not looked into.",
    Comment = 2: "A comment.",
    KeepAlive = 3: "A payload that only keeps the connection alive.",
    Retry = 4: "A reconnection time.",
    LastEventId = 5: "A last event ID that came without an event.",
    Chunk = 6: "A chunk, before what it contains.",
    Role = 7: "The role.",
    Content = 8: "Content.",
    Reasoning = 9: "Reasoning.",
    Refusal = 10: "A refusal.",
    ToolCall = 11: "A tool call opens, or more is known of it.",
    ToolName = 12: "The name of a tool call, or a piece of it.",
    ToolArguments = 13: "A fragment of a tool call's arguments.",
    FunctionName = 14: "The name of a `function_call`, or a piece of it.",
    FunctionArguments = 15: "A fragment of a `function_call`'s arguments.",
    Audio = 16: "A fragment of audio.",
    Logprobs = 17: "Log probabilities.",
    Message = 18: "The whole message so far: emitted where it is asked for. What is new in it follows as deltas.",
    Finish = 19: "A choice finished.",
    ChoiceError = 20: "A choice failed.",
    Usage = 21: "Usage so far.",
    Error = 22: "The API reported an error.",
    Malformed = 23: "A payload that is no JSON object, or what followed one.",
    TooLong = 24: "An event over the limit.",
    CommentTooLong = 25: "A comment over the limit.",
    Limit = 26: "A part of a chunk was left out: a full table, or an index out of range.",
    Quirk = 27: "A quirk of the event.",
    Done = 28: "`[DONE]`.",
    Payload = 29: "The payload of a chunk.",
    Meta = 30: "A member that describes the response, by [`Meta`]: emitted where it is asked for, once a stream.",
    Annotation = 31: "Annotations of the content, as raw JSON: emitted where they are asked for.",
    PartBegin = 32: "Reserved: a part of the content begins.",
    PartEnd = 33: "Reserved: a part of the content ends.",
    Signature = 34: "Reserved: a signature of reasoning.",
    Media = 35: "Reserved: an image or another medium.",
    Status = 36: "Reserved: the response's status changed.",
    ToolResult = 37: "Reserved: the result of a tool that the server ran.",
    Frame = 48: "A frame is over.",
}

impl Kind {
    /// Its bit in a mask of kinds.
    #[inline]
    pub const fn bit(self) -> u64 {
        1 << (self as u8)
    }

    /// The kinds that a batch emits by default: all but [`Frame`](Kind::Frame),
    /// [`Payload`](Kind::Payload), the two that only a message needs, [`Meta`](Kind::Meta) and
    /// [`Annotation`](Kind::Annotation), and [`Message`](Kind::Message), which repeats what other deltas report.
    pub const DEFAULT: u64 =
        !(Kind::Frame.bit() | Kind::Payload.bit() | Kind::Meta.bit() | Kind::Annotation.bit() | Kind::Message.bit());

    /// The kinds that a whole message is put together from, and what says that something of it was left out. Not
    /// [`Message`](Kind::Message): what it says comes as deltas, too.
    pub const MESSAGE: u64 = Kind::Chunk.bit()
        | Kind::Role.bit()
        | Kind::Content.bit()
        | Kind::Reasoning.bit()
        | Kind::Refusal.bit()
        | Kind::ToolCall.bit()
        | Kind::ToolName.bit()
        | Kind::ToolArguments.bit()
        | Kind::FunctionName.bit()
        | Kind::FunctionArguments.bit()
        | Kind::Audio.bit()
        | Kind::Logprobs.bit()
        | Kind::Finish.bit()
        | Kind::ChoiceError.bit()
        | Kind::Usage.bit()
        | Kind::Error.bit()
        | Kind::Limit.bit()
        | Kind::Meta.bit()
        | Kind::Annotation.bit();

    /// Whether a delta of this kind shows that a choice has deltas, not only a whole message.
    pub(crate) const fn is_part_of_delta(self) -> bool {
        !matches!(
            self,
            Kind::Role
                | Kind::Finish
                | Kind::Message
                | Kind::ChoiceError
                | Kind::Logprobs
                | Kind::Meta
                | Kind::Annotation
        )
    }
}

/// The member that a delta of kind [`Kind::Meta`] holds: [`Delta::code`] is its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Meta {
    /// `object`.
    Object = 1,
    /// `system_fingerprint`.
    SystemFingerprint = 2,
    /// `service_tier`.
    ServiceTier = 3,
    /// `provider` (OpenRouter).
    Provider = 4,
    /// Of a choice: `native_finish_reason`, the reason that the model's own provider gave.
    NativeFinishReason = 5,
    /// Any other member of the top level that is not null, in each chunk that has it: raw JSON, with its name before it as in
    /// an object (`"name":value`).
    Member = 6,
    /// The same of a choice.
    ChoiceMember = 7,
    /// The same of a delta, `reasoning_details` too.
    DeltaMember = 8,
    /// The same of a `message`.
    MessageMember = 9,
    /// Of a choice, once: the name of the member that its first reasoning is in: `reasoning_content`, `reasoning`, `thinking` or
    /// `thought`. Reasoning in `reasoning_details` or in parts of the content has none.
    ReasoningName = 10,
    /// The same as [`Member`](Meta::Member) of a tool call ([`Delta::call`]), behind its arguments: `extra_content`, …
    CallMember = 11,
    /// The same of a tool call's `function`, or of its `custom` tool.
    FunctionMember = 12,
}

impl Meta {
    /// Those that are emitted once a stream.
    pub(crate) const ONCE: [Meta; 4] = [Meta::Object, Meta::SystemFingerprint, Meta::ServiceTier, Meta::Provider];

    /// The member with this number.
    pub fn from_number(number: u32) -> Option<Meta> {
        use Meta::{CallMember, ChoiceMember, DeltaMember, FunctionMember, Member, MessageMember};
        use Meta::{NativeFinishReason, Object, Provider, ReasoningName, ServiceTier, SystemFingerprint};
        let texts = [Object, SystemFingerprint, ServiceTier, Provider, NativeFinishReason, ReasoningName];
        let members = [Member, ChoiceMember, DeltaMember, MessageMember, CallMember, FunctionMember];
        texts.into_iter().chain(members).find(|meta| *meta as u32 == number)
    }

    /// Whether it is a member that no other delta is made of: raw JSON.
    pub fn is_member(self) -> bool {
        use Meta::{CallMember, ChoiceMember, DeltaMember, FunctionMember, Member, MessageMember};
        matches!(self, Member | ChoiceMember | DeltaMember | MessageMember | CallMember | FunctionMember)
    }
}

/// Another piece of the text follows.
pub const FLAG_MORE: u16 = 8;
/// The tool call opens.
pub const FLAG_OPENS: u16 = 16;
/// It opens under an index that an earlier call has.
pub const FLAG_REUSES: u16 = 32;
/// It is a call of a custom tool.
pub const FLAG_CUSTOM: u16 = 64;
/// The name replaces what came before.
pub const FLAG_REPLACES: u16 = 128;
/// The error is plain text.
pub const FLAG_PLAIN: u16 = 256;
/// [`Delta::number`] holds a number.
pub const FLAG_NUMBER: u16 = 512;
/// Of a [`Kind::Message`]: what is new in it follows as deltas of the same choice. Those have the flag, too, until a tracker
/// takes them.
pub const FLAG_WHOLE: u16 = 1024;

/// Of a pulled [`Kind::ToolCall`]: its element has no ID, name or arguments, but members that no other delta is made of. They
/// belong to the call that it selects; it opens none.
pub(crate) const FLAG_SELECTS: u16 = 2048;

/// Bytes of a payload: a string's without its quotes and still escaped, or a raw JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Offset of the first byte in the payload.
    pub start: u32,
    /// How many bytes.
    pub len: u32,
    /// What is known of a string.
    pub(crate) flags: TextFlags,
    /// A high surrogate that the text before ended with; 0 if there is none.
    pub(crate) lead: u16,
}

impl Part {
    /// No bytes.
    pub const NONE: Part = Part { start: 0, len: 0, flags: TextFlags::PLAIN, lead: 0 };

    /// Where a text that is borrowed from `payload` lies.
    #[inline]
    pub(crate) fn of(payload: &[u8], text: Text<'_>) -> Part {
        let (flags, lead) = text.parts();
        Part { start: offset_in(payload, text.raw()), len: text.raw().len() as u32, flags, lead }
    }

    /// Where a value that is borrowed from `payload` lies.
    #[inline]
    pub(crate) fn raw(payload: &[u8], value: Value<'_>) -> Part {
        Part { start: offset_in(payload, value.raw()), len: value.raw().len() as u32, ..Part::NONE }
    }

    /// Whether it decodes to nothing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0 && self.lead == 0
    }

    /// Its bytes, as they stand in the payload.
    #[inline]
    pub fn bytes<'a>(&self, payload: &'a [u8]) -> &'a [u8] {
        let start = self.start as usize;
        payload.get(start..start.wrapping_add(self.len as usize)).unwrap_or_default()
    }

    /// Whether it decodes to its bytes as they stand in the payload, which are valid UTF-8 then.
    #[inline(always)]
    pub fn stands(&self, payload: &[u8]) -> bool {
        let is_plain = self.lead == 0 && self.flags == TextFlags::PLAIN;
        is_plain || self.text(payload).as_str().is_some()
    }

    /// What is left of a text behind its first `taken` bytes, as they stand in the payload.
    #[inline]
    pub fn behind(self, taken: usize) -> Part {
        let taken = u32::try_from(taken).unwrap_or(u32::MAX).min(self.len);
        let lead = if taken > 0 { 0 } else { self.lead };
        Part { start: self.start.saturating_add(taken), len: self.len.saturating_sub(taken), lead, ..self }
    }

    /// Its text.
    #[inline]
    pub fn text<'a>(&self, payload: &'a [u8]) -> Text<'a> {
        Text::from_parts(self.bytes(payload), (self.flags, self.lead))
    }

    /// Its raw JSON value.
    #[inline]
    pub(crate) fn value<'a>(&self, payload: &'a [u8]) -> Value<'a> {
        Value::from_raw(self.bytes(payload))
    }
}

/// The offset in `payload` of bytes that are borrowed from it.
#[inline]
fn offset_in(payload: &[u8], bytes: &[u8]) -> u32 {
    (bytes.as_ptr() as usize).wrapping_sub(payload.as_ptr() as usize) as u32
}

/// One thing that an event says: offsets into its payload. Plain data, 48 bytes.
///
/// Which fields hold something depends on the kind. [`Update`](crate::Update) is the same with its texts borrowed.
#[derive(Clone, Copy, Debug)]
pub struct Delta {
    /// What it is.
    pub kind: Kind,
    /// `FLAG_*`.
    pub flags: u16,
    /// The index of the choice; 0 for what belongs to the chunk as a whole; `u32::MAX` in a limit that is the choice's own index.
    pub choice: u32,
    /// Of a tool call: from a tracker its number among the calls of its choice, in order of appearance; without one its
    /// position in the chunk's array.
    pub call: u32,
    /// A finish reason, a quirk, a fault, a limit, a count of choices, a [`Meta`]: by the kind.
    pub code: u32,
    /// A tool call's index, a time, an offset, a set of kinds: by the kind.
    pub number: u64,
    /// The text or the raw JSON.
    pub text: Part,
    /// Of a tool call: its type.
    pub aux: Part,
}

impl Delta {
    /// A delta of this kind with all else empty.
    #[inline]
    pub const fn new(kind: Kind) -> Self {
        Delta { kind, flags: 0, choice: 0, call: 0, code: 0, number: 0, text: Part::NONE, aux: Part::NONE }
    }

    /// Whether a flag is set.
    #[inline]
    pub const fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// The tool call's index, the time or the like, if there is one.
    #[inline]
    pub fn number(&self) -> Option<u64> {
        self.has(FLAG_NUMBER).then_some(self.number)
    }
}

/// What a tool call delta calls, which is in the deltas behind it: parts of the payload, empty if absent.
#[derive(Clone, Copy, Debug)]
pub struct Called {
    /// The name.
    pub name: Part,
    /// The arguments.
    pub arguments: Part,
}

impl Called {
    /// Neither a name nor arguments.
    pub const NOTHING: Called = Called { name: Part::NONE, arguments: Part::NONE };
}

const _: () = assert!(core::mem::size_of::<Delta>() == 48);

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn each_kind_has_a_number_of_its_own_and_a_bit() {
        let mut bits = 0;
        for &kind in Kind::ALL {
            assert_eq!(Kind::from_number(kind as u32), Some(kind));
            assert_eq!(bits & kind.bit(), 0, "{kind:?}");
            bits |= kind.bit();
        }
        assert_eq!(bits & 1, 0, "0 is no kind");
        assert_eq!(Kind::from_number(0), None);
        assert_eq!(Kind::MESSAGE & !bits, 0);
    }
}
