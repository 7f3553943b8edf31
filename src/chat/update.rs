//! The updates of an event, with their texts borrowed.

use super::others::OtherMember;
use super::views::{ApiError, FinishReason};
use crate::delta::{
    Delta, Kind, Meta, FLAG_CUSTOM, FLAG_EMPTY, FLAG_NATIVE, FLAG_OPENS, FLAG_PLAIN, FLAG_PROMPT, FLAG_REPLACES,
    FLAG_REUSES, FLAG_SELECTS, ONLY_EMPTY,
};
use crate::dialect::{Protocol, Usage};
use crate::json::{Text, Value};

/// One thing that an event reports: a [`Delta`] with its texts borrowed. No text is empty.
///
/// Pull, push and batch give the same updates: each is reported once, a tool call has a number, and a text never ends in
/// half a character. A body, or a choice that has a `message` instead of deltas, is reported as the deltas of its
/// message; if a server sends the message so far in each chunk, what is new in each message is reported.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Update<'a> {
    /// The role of the author.
    Role(Text<'a>),
    /// Content, or the `text` of legacy completions.
    Content(Text<'a>),
    /// Reasoning: the first of `reasoning_content`, `reasoning`, `reasoning_details`, `thinking`, `thought` and
    /// `reasoning_text` that has a text, or a thinking part of the content.
    Reasoning(Text<'a>),
    /// A refusal.
    Refusal(Text<'a>),
    /// A tool call opened, or its ID or type came later. Its name and arguments follow.
    Call(CallUpdate<'a>),
    /// The name of a tool call, or a piece of it.
    CallName {
        /// The number of the call among the calls of its choice.
        call: u32,
        /// The name, or the piece to append to it.
        text: Text<'a>,
        /// Whether the text is the name or a piece of it.
        piece: NamePiece,
    },
    /// A fragment of a tool call's arguments (of a custom tool: its input). If a call has no fragment, take the arguments
    /// of a function as `{}`, and the input of a custom tool as empty. Arguments that Gemini sends by path
    /// (`partialArgs`) do not come as fragments: an [assembler](crate::message) joins them, a [member](Update::Member) of
    /// the call has them as they were sent, and the quirk [`PartialArguments`](crate::Quirk::PartialArguments) counts the
    /// events that have them.
    CallArguments {
        /// The same number as in [`CallName`](Update::CallName).
        call: u32,
        /// The fragment.
        text: Text<'a>,
    },
    /// A tool call is over: run it now. Emitted once for each call that is not one of the server's tools, before the
    /// stream ends where the protocol shows it: in Responses and Anthropic when the item or block ends, in Gemini with
    /// the call's part, in chat completions when another call of the choice opens and the arguments are a closed object
    /// or array, otherwise when the choice finishes. What is open after that, or without a finish reason, ends with the
    /// stream if the response is over. A call that is open when the stream is cut or fails gets none.
    CallEnd {
        /// The same number as in [`CallName`](Update::CallName).
        call: u32,
        /// Whether the arguments are whole: no string or bracket is open, none closed that never opened, and the first
        /// byte that is not blank begins a JSON value. Arguments without such a byte are whole, as is the input of a
        /// custom tool. This is a balance, not a parse: whole arguments may still be no JSON.
        whole: bool,
    },
    /// The name of the function of a `function_call` (deprecated form), or a piece of it.
    FunctionName {
        /// The name, or the piece to append to it.
        text: Text<'a>,
        /// Whether the text is the name or a piece of it.
        piece: NamePiece,
    },
    /// A fragment of the arguments of a `function_call`.
    FunctionArguments(Text<'a>),
    /// A fragment of audio, as raw JSON: an object with some of `id`, `data` (base64), `transcript` and `expires_at`. In
    /// Responses it is the event, whose `delta` is data or, if its `type` names a transcript, a piece of that. The
    /// transcript may end in half a surrogate pair whose other half begins the next fragment; an assembled message joins
    /// the halves.
    Audio(Value<'a>),
    /// Annotations of the content, such as citations, as raw JSON: an array. In other protocols each annotation is an
    /// update of its own, and an object.
    Annotations(Value<'a>),
    /// A signature of reasoning, or the encrypted reasoning of Responses (other protocols).
    Signature(Text<'a>),
    /// An image or another medium, as raw JSON (other protocols).
    Media(Value<'a>),
    /// A part of the response that no other update is made of, as raw JSON (other protocols), such as the call of a
    /// tool that the server ran, its result, or a piece of either.
    Native(Value<'a>),
    /// Log probabilities of more tokens, as raw JSON: an object with the lists `content` and `refusal` or, in legacy
    /// completions, `tokens`, `token_logprobs`, `top_logprobs` and `text_offset`. In Responses it is the list of the
    /// content alone.
    Logprobs(Value<'a>),
    /// A member that describes the response. Only two are reported here:
    /// [`NativeFinishReason`](Meta::NativeFinishReason) and, before the first reasoning of a choice,
    /// [`ReasoningName`](Meta::ReasoningName). Read the others from the [`Chunk`](super::Chunk).
    Meta(Meta, Text<'a>),
    /// A member of a tool call, or of its function, that no other update is made of, such as `extra_content` with the
    /// signature of a thought. [`Chunk::other_members`](super::Chunk::other_members) returns such members of the chunk,
    /// of its choices and of their deltas.
    Member(OtherMember<'a>),
    /// The choice finished. If it finishes twice, the last reason counts.
    Finish(FinishReason<'a>),
    /// The choice failed.
    ChoiceError(ApiError<'a>),
    /// The token counts that this event reports. Never add them up. In chat completions the last usage counts. Other
    /// protocols may report the counts over several events: [`Parser::usage`](crate::Parser::usage) has them merged. The
    /// choice is 0.
    Usage(Usage<'a>),
    /// The API reported an error. The choice is 0.
    Error(ApiError<'a>),
}

/// How a name, or a piece of one, relates to the name before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NamePiece {
    /// The text is the whole name. It begins with the name so far, if there is one, and replaces it.
    Replaces,
    /// The text continues the name so far.
    Appends,
}

/// A tool call that opened, or whose ID or type came later.
///
/// An ID and a type are reported only when they come for the first time.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct CallUpdate<'a> {
    /// The number of the call among the calls of its choice, in order of appearance, from 0. A call that has only unknown
    /// members so far has a number, too, so there may be gaps.
    pub call: u32,
    /// The index of the call as it was sent. A call that was sent without one is given one.
    pub index: Option<u32>,
    /// Whether this update opens the call.
    pub opens: bool,
    /// Whether the call opens under an index that an earlier call has.
    pub reuses: bool,
    /// The ID of the call.
    pub id: Option<Text<'a>>,
    /// The type of the call.
    pub kind: Option<Text<'a>>,
    /// Whether the call is one of a custom tool.
    pub custom: bool,
    /// Whether the call's arguments were sent with this update, and are empty so far. A message has `{}` for them if no
    /// arguments come before the choice finishes.
    pub empty_arguments: bool,
}

impl<'a> Update<'a> {
    /// Returns a delta of this payload as an update, or `None` if its kind does not come from a chunk.
    #[inline(always)]
    pub fn of(delta: &Delta, payload: &'a [u8]) -> Option<Self> {
        match delta.kind {
            Kind::Content => Some(Update::Content(delta.text.text(payload))),
            Kind::Reasoning => Some(Update::Reasoning(delta.text.text(payload))),
            Kind::ToolArguments => Some(Update::CallArguments { call: delta.call, text: delta.text.text(payload) }),
            // A pointer to the delta would force it into memory, so the call gets a copy.
            _ => Update::of_any(&{ *delta }, payload),
        }
    }

    /// Does what [`of`](Self::of) does, for a delta of any kind, compiled once.
    #[inline(never)]
    pub(crate) fn of_any(delta: &Delta, payload: &'a [u8]) -> Option<Self> {
        let Delta { call, .. } = *delta;
        let text = delta.text.text(payload);
        let value = || delta.text.value(payload);
        let piece = if delta.has(FLAG_REPLACES) { NamePiece::Replaces } else { NamePiece::Appends };
        Some(match delta.kind {
            Kind::Role => Update::Role(text),
            Kind::Content => Update::Content(text),
            Kind::Reasoning => Update::Reasoning(text),
            Kind::Refusal => Update::Refusal(text),
            // Only a tracker knows what an element with nothing but empty arguments means.
            Kind::ToolCall if delta.has(FLAG_SELECTS) && delta.code == ONLY_EMPTY => return None,
            Kind::ToolCall => {
                let part = |part: crate::delta::Part| (!part.is_empty()).then(|| part.text(payload));
                Update::Call(CallUpdate {
                    call,
                    index: delta.number().and_then(|index| u32::try_from(index).ok()),
                    opens: delta.has(FLAG_OPENS),
                    reuses: delta.has(FLAG_REUSES),
                    id: part(delta.text),
                    kind: part(delta.aux),
                    custom: delta.has(FLAG_CUSTOM),
                    empty_arguments: delta.has(FLAG_EMPTY),
                })
            }
            Kind::ToolName => Update::CallName { call, text, piece },
            Kind::ToolArguments => Update::CallArguments { call, text },
            Kind::ToolCallEnd => Update::CallEnd { call, whole: delta.code != 0 },
            Kind::FunctionName => Update::FunctionName { text, piece },
            Kind::FunctionArguments => Update::FunctionArguments(text),
            Kind::Audio => Update::Audio(value()),
            Kind::Annotation => Update::Annotations(value()),
            Kind::Logprobs => Update::Logprobs(value()),
            Kind::Meta => match Meta::from_number(delta.code)? {
                meta if meta.is_member() => Update::Member(OtherMember::of_delta(meta, delta, payload)?),
                meta => Update::Meta(meta, text),
            },
            Kind::Finish if delta.has(FLAG_NATIVE) => {
                Update::Finish(FinishReason::native(text, delta.code, delta.has(FLAG_PROMPT)))
            }
            Kind::Finish => Update::Finish(FinishReason::of(text)),
            Kind::ChoiceError => Update::ChoiceError(ApiError::of(value())),
            Kind::Usage => {
                let protocol = Protocol::from_number(delta.code).filter(|_| delta.has(FLAG_NATIVE));
                Update::Usage(Usage::of_protocol(value(), protocol)?)
            }
            Kind::Signature => Update::Signature(text),
            Kind::Media => Update::Media(value()),
            Kind::Native => Update::Native(value()),
            Kind::Error if delta.has(FLAG_PLAIN) => Update::Error(ApiError::plain(text.raw())),
            Kind::Error => Update::Error(ApiError::of(value())),
            _ => return None,
        })
    }
}
