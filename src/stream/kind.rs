//! The kinds of things that a batch brings, and that a frame says were in it.

/// What a [`Record`](super::Record) is. The numbers are those of the C interface and never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
#[non_exhaustive]
pub enum Kind {
    /// A frame is over.
    Frame = 0,
    /// An event whose payload is not looked into.
    Sse = 1,
    /// A comment.
    Comment = 2,
    /// A payload that only keeps the connection alive.
    KeepAlive = 3,
    /// A reconnection time.
    Retry = 4,
    /// A last event ID that came without an event.
    LastEventId = 5,
    /// A chunk, before what it brings.
    Chunk = 6,
    /// The role.
    Role = 7,
    /// Content.
    Content = 8,
    /// Reasoning.
    Reasoning = 9,
    /// A refusal.
    Refusal = 10,
    /// A tool call opens, or more is known of it.
    ToolCall = 11,
    /// The name of a tool call, or a piece of it.
    ToolName = 12,
    /// A fragment of a tool call's arguments.
    ToolArguments = 13,
    /// The name of a `function_call`, or a piece of it.
    FunctionName = 14,
    /// A fragment of a `function_call`'s arguments.
    FunctionArguments = 15,
    /// A fragment of audio.
    Audio = 16,
    /// Log probabilities.
    Logprobs = 17,
    /// The whole message so far.
    Message = 18,
    /// A choice finished.
    Finish = 19,
    /// A choice failed.
    ChoiceError = 20,
    /// Usage so far.
    Usage = 21,
    /// The API reported an error.
    Error = 22,
    /// A payload that is no JSON object, or what followed one.
    Malformed = 23,
    /// An event over the limit.
    TooLong = 24,
    /// A comment over the limit.
    CommentTooLong = 25,
    /// What a chunk brought was left out: a full table, or an index that is none.
    Limit = 26,
    /// A quirk of the event.
    Quirk = 27,
    /// `[DONE]`.
    Done = 28,
    /// The payload of a chunk.
    Payload = 29,
}

impl Kind {
    /// Kinds are below this number.
    pub const COUNT: u16 = 30;

    /// Its bit in a mask of kinds.
    #[inline]
    pub const fn bit(self) -> u64 {
        1 << (self as u16)
    }

    /// Every kind but [`Frame`](Kind::Frame) and [`Payload`](Kind::Payload).
    pub const DEFAULT: u64 = ((1 << Kind::COUNT) - 1) & !Kind::Frame.bit() & !Kind::Payload.bit();
}
