//! What a parser in mode USAGE keeps of its stream.

use super::event::*;
use super::value::*;

/// The size of a meter in a block, in bytes, is at most this.
pub const DELTAWIRE_METER_SIZE: usize = 2304;

/// No token came so far.
pub const DELTAWIRE_TOKEN_NONE: u32 = 0;
/// Content.
pub const DELTAWIRE_TOKEN_CONTENT: u32 = 1;
/// Reasoning.
pub const DELTAWIRE_TOKEN_REASONING: u32 = 2;
/// A refusal.
pub const DELTAWIRE_TOKEN_REFUSAL: u32 = 3;
/// A tool call, or the `function_call` of a choice: it opens, or has more of its name or arguments.
pub const DELTAWIRE_TOKEN_CALL: u32 = 4;

/// How many names of calls a meter keeps.
pub const DELTAWIRE_METER_NAMES: usize = 8;

/// An event that bears a token: content, reasoning, a refusal or a part of a call, which is never
/// empty. A role, a ping, a signature, audio, images and tools that are neither functions nor custom
/// tools are no tokens.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct deltawire_token {
    /// The number of the event, from 1, as `deltawire_meter.events` counts; 0: none.
    pub event: u64,
    /// Stream offset, in bytes, of the event's first byte.
    pub offset: u64,
    /// `DELTAWIRE_TOKEN_*`: of the first token of the first such event, of the last token of the
    /// last.
    pub kind: u32,
    /// Zero.
    pub reserved: u32,
}

/// How much text came, decoded.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct deltawire_amount {
    /// Bytes of UTF-8.
    pub bytes: u64,
    /// Unicode characters.
    pub chars: u64,
}

/// What a parser in mode USAGE keeps of its stream. The caller sets `size`: the library writes no
/// more bytes than that, and zeroes members that it does not know. Texts are UTF-8, not ended by
/// NUL, cut between two characters, and valid until the next call on the parser; a text that did not
/// come has the length 0. They are as the server sent them: escape them before you print them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct deltawire_meter {
    /// `sizeof(deltawire_meter)`; `DELTAWIRE_METER_INIT` sets it.
    pub size: u32,
    /// `DELTAWIRE_FINISH_*`: why choice 0 finished; 0: it has not.
    pub finish: u32,
    /// The first event that bears a token. A program with a clock learns when it came: in the read
    /// in which this became known.
    pub first: deltawire_token,
    /// The last event so far that bears a token.
    pub last: deltawire_token,
    /// How many events came: every one with a payload, also `[DONE]`, a ping, and one that could not
    /// be read. Comments, reconnection times and IDs alone do not count. A JSON object as body is
    /// one event.
    pub events: u64,
    /// How many of them bear a token.
    pub token_events: u64,
    /// Content of all choices.
    pub content: deltawire_amount,
    /// Reasoning of all choices.
    pub reasoning: deltawire_amount,
    /// Refusals of all choices.
    pub refusal: deltawire_amount,
    /// Arguments of all calls, custom tools' inputs and `function_call`s. Arguments that Gemini
    /// sends by path do not count.
    pub arguments: deltawire_amount,
    /// How many tool calls and `function_call`s opened, in all choices.
    pub calls: u32,
    /// How many elements of `call_names` are names.
    pub names: u32,
    /// The names of the first calls that have one, each at most 64 bytes.
    pub call_names: [deltawire_str; DELTAWIRE_METER_NAMES],
    /// The first `model` that came, at most 128 bytes.
    pub model: deltawire_str,
    /// The first `id` of the response that came, at most 128 bytes.
    pub id: deltawire_str,
    /// The finish reason of choice 0 as the message has it, in the word of chat completions if there
    /// is one; at most 64 bytes.
    pub finish_reason: deltawire_str,
    /// The first error of the API: its type, else its code, else `error`; at most 128 bytes.
    pub error: deltawire_str,
    /// The counts so far, as `deltawire_last_usage` has them; `has` is 0 if none came. Bill these,
    /// or `iterations`.
    pub usage: deltawire_usage,
    /// The sum of Anthropic's `usage.iterations`; `has` is 0 if none came. It includes what `usage`
    /// has: that is the sum of those iterations alone whose `type` is `message`. Bill the one or the
    /// other, never both.
    pub iterations: deltawire_usage,
    /// The sum of those iterations whose `type` is not `message`, such as a compaction.
    pub other_iterations: deltawire_usage,
    /// `tool_usage` of Responses, as raw JSON: what tools of the server used. Absent if it is longer
    /// than 512 bytes.
    pub tool_usage: deltawire_str,
}
