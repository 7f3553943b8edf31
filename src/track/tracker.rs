//! The tracker: deltas in, updates out.

use super::call::{Arguments, Call, Hash, Name, NamePiece};
use super::carry::{Channel, Half};
use crate::chat::{ApiError, Audio, Delta, DeltaKind, FinishReason, FunctionCall, Logprobs, Message, ToolCall, Usage};
use crate::json::Text;
use crate::{Error, Quirk, QuirkSet};
use core::ops::ControlFlow;

/// What a delta means, given what came before. No text is empty; a text never ends in half a character.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Update<'a> {
    /// The role, once.
    Role(Text<'a>),
    /// Content.
    Content(Text<'a>),
    /// Reasoning.
    Reasoning(Text<'a>),
    /// A refusal.
    Refusal(Text<'a>),
    /// A tool call was opened, or more is known of it.
    Call(CallUpdate<'a>),
    /// The name of a tool call, or a piece of it.
    CallName {
        /// The number of the call.
        call: u32,
        /// The name, or what is to be put behind it.
        text: Text<'a>,
        /// It is the whole name, not a piece.
        replaces: bool,
    },
    /// A fragment of a tool call's arguments (of a custom tool: its input).
    CallArguments {
        /// The number of the call.
        call: u32,
        /// The fragment.
        text: Text<'a>,
    },
    /// The name of the function of a `function_call`, or a piece of it.
    FunctionName {
        /// The name, or what is to be put behind it.
        text: Text<'a>,
        /// It is the whole name, not a piece.
        replaces: bool,
    },
    /// A fragment of the arguments of a `function_call`.
    FunctionArguments(Text<'a>),
    /// A fragment of audio.
    Audio(Audio<'a>),
    /// Log probabilities of more tokens.
    Logprobs(Logprobs<'a>),
    /// The whole message so far. It replaces what an earlier one said, and comes only while no delta of its choice
    /// brought anything.
    Message(Message<'a>),
    /// The choice finished. It may do so twice; the last one counts.
    Finish(FinishReason<'a>),
    /// The choice failed.
    ChoiceError(ApiError<'a>),
    /// How many tokens were used so far. The last one counts; the choice is 0.
    Usage(Usage<'a>),
    /// The API reported an error. The choice is 0.
    Error(ApiError<'a>),
}

/// A tool call that was opened, or of which more is known: an ID or a type that came late. What was known stays as it
/// was.
#[derive(Clone, Copy, Debug)]
pub struct CallUpdate<'a> {
    /// Its number among the calls of its choice, in order of appearance, from 0.
    pub call: u32,
    /// Its index, as sent or as understood.
    pub index: u32,
    /// This opens it.
    pub opens: bool,
    /// It opens under an index that an earlier call has.
    pub reuses: bool,
    /// Its ID, if it is known now for the first time.
    pub id: Option<Text<'a>>,
    /// Its type, if it is known now for the first time.
    pub kind: Option<Text<'a>>,
    /// It is a call of a custom tool.
    pub custom: bool,
}

#[derive(Clone, Copy, Debug)]
struct Choice {
    index: u32,
    role: bool,
    /// A delta brought something.
    delta: bool,
    finished: bool,
    calls: u32,
    /// The call opened or continued last, by its place in the table.
    open: Option<u16>,
    function: Name,
    arguments: Arguments,
    /// What waits in each of [`Channel::OF_CHOICE`].
    halves: [Half; 4],
}

/// The state of one stream's choices: at most `CHOICES` of them, with `CALLS` tool calls in all.
///
/// Plain data, no heap. [`Parser::feed`](crate::stream::Parser::feed) and the assembler use it; who pulls may do without.
///
/// ```
/// use deltawire::{chat::{Chunk, Index}, track::{Tracker, Update}};
/// use std::ops::ControlFlow;
///
/// let mut tracker = Tracker::<8, 16>::new();
/// let mut seen = String::new();
/// for payload in [
///     r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"\ud83d"}}]}"#,
///     r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"\ude00!"}}]}"#,
/// ] {
///     let mut index = Index::new();
///     let chunk = Chunk::read(payload.as_bytes(), &mut index)?;
///     for delta in chunk.deltas() {
///         let _ = tracker.update(&delta, 0, |_choice, update| -> ControlFlow<()> {
///             match update {
///                 Update::Role(role) => seen += &format!("{role}: "),
///                 Update::Content(text) => seen += &text.to_string(),
///                 _ => {}
///             }
///             ControlFlow::Continue(())
///         });
///     }
/// }
/// assert_eq!(seen, "assistant: \u{1F600}!");
/// # Ok::<(), deltawire::json::JsonError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tracker<const CHOICES: usize = 8, const CALLS: usize = 32> {
    choices: [Option<Choice>; CHOICES],
    calls: [Option<Call>; CALLS],
    /// In how many channels half a character waits.
    waiting: u32,
}

impl<const CHOICES: usize, const CALLS: usize> Default for Tracker<CHOICES, CALLS> {
    fn default() -> Self {
        Tracker::new()
    }
}

/// What came of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Outcome<B> {
    /// What was odd about the delta, given what came before, and in its texts.
    pub quirks: QuirkSet,
    /// The table is full: what the delta brought was left out.
    pub error: Option<Error>,
    /// What the callee broke off with.
    pub flow: ControlFlow<B>,
}

/// Where updates go, and what is noted on the way.
struct Out<'f, F, B> {
    each: &'f mut F,
    quirks: QuirkSet,
    flow: ControlFlow<B>,
}

impl<F, B> Out<'_, F, B> {
    fn put<'a>(&mut self, choice: u32, update: Update<'a>)
    where
        F: FnMut(u32, Update<'a>) -> ControlFlow<B>,
    {
        if self.flow.is_continue() {
            self.flow = (self.each)(choice, update);
        }
    }
}

impl<const CHOICES: usize, const CALLS: usize> Tracker<CHOICES, CALLS> {
    /// A tracker at the start of a stream.
    pub const fn new() -> Self {
        Tracker { choices: [None; CHOICES], calls: [None; CALLS], waiting: 0 }
    }

    /// A new stream.
    pub fn reset(&mut self) {
        *self = Tracker::new();
    }

    /// Takes in a delta and says what it means, update by update, with the choice's index. `offset` is the stream offset
    /// of its event, for the error. After a break nothing more is said of this delta, but all of it is taken in.
    pub fn update<'a, B>(
        &mut self,
        delta: &Delta<'a>,
        offset: u64,
        mut each: impl FnMut(u32, Update<'a>) -> ControlFlow<B>,
    ) -> Outcome<B> {
        let mut out = Out { each: &mut each, quirks: QuirkSet::EMPTY, flow: ControlFlow::Continue(()) };
        let done = self.take(delta, offset, &mut out);
        Outcome { quirks: out.quirks, error: done.err(), flow: out.flow }
    }

    /// Takes in a text of a delta (content, reasoning or refusal) that is the update itself, as it stands: its choice is
    /// the one that was known first and has not finished, no half of a character waits or has to wait now, and nothing about
    /// the text is odd. `false`: it may not be so, nothing was taken in, and [`update`](Tracker::update) is to be asked.
    #[inline(always)]
    pub fn plain(&mut self, choice: u32, text: Text<'_>) -> bool {
        let Some(Some(known)) = self.choices.first_mut() else { return false };
        if known.index != choice || known.finished || self.waiting != 0 {
            return false;
        }
        if !text.quirks().is_empty() || text.trailing_half().is_some() {
            return false;
        }
        known.delta = true;
        true
    }

    /// The stream ended: halves of characters that still wait are said to be U+FFFD.
    pub fn finish<B>(&mut self, mut each: impl FnMut(u32, Update<'static>) -> ControlFlow<B>) -> Outcome<B> {
        let mut out = Out { each: &mut each, quirks: QuirkSet::EMPTY, flow: ControlFlow::Continue(()) };
        self.settle(None, &mut out);
        Outcome { quirks: out.quirks, error: None, flow: out.flow }
    }

    fn take<'a, F, B>(&mut self, delta: &Delta<'a>, offset: u64, out: &mut Out<'_, F, B>) -> Result<(), Error>
    where
        F: FnMut(u32, Update<'a>) -> ControlFlow<B>,
    {
        match delta.kind {
            DeltaKind::Usage(usage) => {
                out.put(0, Update::Usage(usage));
                return Ok(());
            }
            DeltaKind::Error(error) => {
                if let Some(text) = error.message() {
                    out.quirks |= text.quirks();
                }
                out.put(0, Update::Error(error));
                return Ok(());
            }
            _ => {}
        }
        let number = delta.choice;
        if number == u32::MAX {
            return Err(Error::BadIndex { offset });
        }
        let Some(place) = self.place(number) else { return Err(Error::TooManyChoices { offset }) };
        let Some(Some(choice)) = self.choices.get_mut(place) else { return Ok(()) };
        let brings = !matches!(
            delta.kind,
            DeltaKind::Role(_) | DeltaKind::Finish(_) | DeltaKind::Message(_) | DeltaKind::ChoiceError(_)
        );
        let logprobs = matches!(delta.kind, DeltaKind::Logprobs(_));
        if brings && !logprobs {
            choice.delta = true;
            if choice.finished {
                out.quirks.insert(Quirk::DeltaAfterFinish);
            }
        }
        match &delta.kind {
            DeltaKind::Role(text) => {
                if !core::mem::replace(&mut choice.role, true) {
                    out.quirks |= text.quirks();
                    out.put(number, Update::Role(*text));
                }
            }
            DeltaKind::Content(text) => self.text(number, Channel::Content, *text, out),
            DeltaKind::Reasoning(text) => self.text(number, Channel::Reasoning, *text, out),
            DeltaKind::Refusal(text) => self.text(number, Channel::Refusal, *text, out),
            DeltaKind::FunctionCall(call) => self.function_call(place, call, out),
            DeltaKind::ToolCall(call) => return self.tool_call(place, call, offset, out),
            DeltaKind::Audio(audio) => out.put(number, Update::Audio(*audio)),
            DeltaKind::Logprobs(logprobs) => out.put(number, Update::Logprobs(*logprobs)),
            DeltaKind::Message(message) => {
                if !choice.delta {
                    out.put(number, Update::Message(*message));
                }
            }
            DeltaKind::Finish(reason) => {
                if core::mem::replace(&mut choice.finished, true) {
                    out.quirks.insert(Quirk::SecondFinish);
                }
                out.quirks |= reason.text().quirks();
                self.settle(Some(number), out);
                out.put(number, Update::Finish(*reason));
            }
            DeltaKind::ChoiceError(error) => out.put(number, Update::ChoiceError(*error)),
            DeltaKind::Usage(_) | DeltaKind::Error(_) => {}
        }
        Ok(())
    }

    /// The place of a choice in the table; a new one is given a place.
    #[inline]
    fn place(&mut self, index: u32) -> Option<usize> {
        // Nearly always.
        if self.choices.first().is_some_and(|slot| slot.as_ref().is_some_and(|choice| choice.index == index)) {
            return Some(0);
        }
        self.further_place(index)
    }

    #[inline(never)]
    fn further_place(&mut self, index: u32) -> Option<usize> {
        for (place, slot) in self.choices.iter_mut().enumerate() {
            match slot {
                Some(choice) if choice.index == index => return Some(place),
                Some(_) => {}
                None => {
                    *slot = Some(Choice {
                        index,
                        role: false,
                        delta: false,
                        finished: false,
                        calls: 0,
                        open: None,
                        function: Name::EMPTY,
                        arguments: Arguments::default(),
                        halves: [Half::NONE; 4],
                    });
                    return Some(place);
                }
            }
        }
        None
    }

    /// A text of a channel, with the half that waited for it.
    fn text<'a, F, B>(&mut self, choice: u32, channel: Channel, text: Text<'a>, out: &mut Out<'_, F, B>)
    where
        F: FnMut(u32, Update<'a>) -> ControlFlow<B>,
    {
        let Some(half) = self.half(choice, channel) else { return };
        let (text, more) = half.join(text);
        self.waiting = self.waiting.saturating_add_signed(more);
        if let Some(text) = text {
            out.quirks |= text.quirks();
            self.say(choice, channel, text, out);
        }
    }

    /// What waits in a channel.
    #[inline]
    fn half(&mut self, choice: u32, channel: Channel) -> Option<&mut Half> {
        if let Channel::Arguments(place) = channel {
            return self.calls.get_mut(usize::from(place))?.as_mut().map(|call| &mut call.half);
        }
        let place = Channel::OF_CHOICE.iter().position(|one| *one == channel)?;
        let choice = self.choices.iter_mut().flatten().find(|known| known.index == choice)?;
        choice.halves.get_mut(place)
    }

    /// Halves that waited in vain, of this choice or of all: each is U+FFFD.
    fn settle<'a, F, B>(&mut self, of: Option<u32>, out: &mut Out<'_, F, B>)
    where
        F: FnMut(u32, Update<'a>) -> ControlFlow<B>,
    {
        if self.waiting == 0 {
            return;
        }
        for place in 0..CHOICES {
            let Some(Some(choice)) = self.choices.get(place) else { break };
            let number = choice.index;
            if of.is_none_or(|of| of == number) {
                for channel in Channel::OF_CHOICE {
                    self.lone(number, channel, out);
                }
            }
        }
        for place in 0..CALLS {
            let Some(Some(call)) = self.calls.get(place) else { break };
            let (number, place) = (call.choice, u16::try_from(place));
            if let (true, Ok(place)) = (of.is_none_or(|of| of == number), place) {
                self.lone(number, Channel::Arguments(place), out);
            }
        }
    }

    /// The half that waits in a channel, if one does.
    fn lone<'a, F, B>(&mut self, choice: u32, channel: Channel, out: &mut Out<'_, F, B>)
    where
        F: FnMut(u32, Update<'a>) -> ControlFlow<B>,
    {
        if self.half(choice, channel).is_some_and(Half::take) {
            self.waiting = self.waiting.saturating_sub(1);
            out.quirks.insert(Quirk::LoneSurrogate);
            self.say(choice, channel, Text::verbatim("\u{FFFD}".as_bytes()), out);
        }
    }

    fn say<'a, F, B>(&mut self, choice: u32, channel: Channel, text: Text<'a>, out: &mut Out<'_, F, B>)
    where
        F: FnMut(u32, Update<'a>) -> ControlFlow<B>,
    {
        let update = match channel {
            Channel::Content => Update::Content(text),
            Channel::Reasoning => Update::Reasoning(text),
            Channel::Refusal => Update::Refusal(text),
            Channel::FunctionArguments => Update::FunctionArguments(text),
            Channel::Arguments(place) => {
                let Some(Some(call)) = self.calls.get(usize::from(place)) else { return };
                Update::CallArguments { call: call.number, text }
            }
        };
        out.put(choice, update);
    }

    fn function_call<'a, F, B>(&mut self, place: usize, call: &FunctionCall<'a>, out: &mut Out<'_, F, B>)
    where
        F: FnMut(u32, Update<'a>) -> ControlFlow<B>,
    {
        let Some(Some(choice)) = self.choices.get_mut(place) else { return };
        let number = choice.index;
        if let Some(text) = call.name() {
            let piece = choice.function.add(text);
            if piece != NamePiece::Repeats {
                out.quirks |= text.quirks();
                let replaces = piece == NamePiece::Replaces;
                out.put(number, Update::FunctionName { text, replaces });
            }
        }
        if let Some(text) = call.arguments() {
            if choice.arguments.add(text) {
                out.quirks.insert(Quirk::ArgumentsAfterEnd);
            }
            self.text(number, Channel::FunctionArguments, text, out);
        }
    }

    fn tool_call<'a, F, B>(
        &mut self,
        place: usize,
        call: &ToolCall<'a>,
        offset: u64,
        out: &mut Out<'_, F, B>,
    ) -> Result<(), Error>
    where
        F: FnMut(u32, Update<'a>) -> ControlFlow<B>,
    {
        let Some(Some(choice)) = self.choices.get(place).copied() else { return Ok(()) };
        if call.index() == Some(u32::MAX) {
            return Err(Error::BadIndex { offset });
        }
        let (slot, opens, reuses) = self.resolve(&choice, call).ok_or(Error::TooManyCalls { offset })?;
        let Some(Some(state)) = self.calls.get_mut(usize::from(slot)) else { return Ok(()) };
        if let Some(Some(choice)) = self.choices.get_mut(place) {
            choice.open = Some(slot);
            choice.calls = choice.calls.saturating_add(u32::from(opens));
        }
        if reuses {
            out.quirks.insert(Quirk::ReusedCallIndex);
        }
        state.position = call.position();
        let number = state.number;
        let id = call.id().filter(|_| state.id.is_none());
        if let Some(id) = id {
            state.id = Some(Hash::of(id));
            out.quirks |= id.quirks();
        }
        let kind = call.kind().filter(|_| !state.kind_known);
        state.kind_known |= kind.is_some();
        if opens || id.is_some() || kind.is_some() {
            let (index, custom) = (state.index, call.is_custom());
            out.put(choice.index, Update::Call(CallUpdate { call: number, index, opens, reuses, id, kind, custom }));
        }
        if let Some(text) = call.name() {
            let piece = state.name.add(text);
            if piece != NamePiece::Repeats {
                out.quirks |= text.quirks();
                let replaces = piece == NamePiece::Replaces;
                out.put(choice.index, Update::CallName { call: number, text, replaces });
            }
        }
        if let Some(text) = call.arguments() {
            if !call.is_custom() && state.arguments.add(text) {
                out.quirks.insert(Quirk::ArgumentsAfterEnd);
            }
            self.text(choice.index, Channel::Arguments(slot), text, out);
        }
        Ok(())
    }

    /// Which call a fragment belongs to: its place in the table, whether it opens it, whether it does so under an index
    /// already in use. By index, else by ID, else by its place in the array, else the open one.
    fn resolve(&mut self, choice: &Choice, call: &ToolCall<'_>) -> Option<(u16, bool, bool)> {
        let id = call.id().map(Hash::of);
        let index = call.index();
        let open = choice.open.and_then(|slot| Some((slot, self.calls.get(usize::from(slot)).copied().flatten()?)));
        if let Some((slot, state)) = open {
            // Nearly always: more of the open call.
            if index == Some(state.index) && (id.is_none() || id == state.id) {
                return Some((slot, false, false));
            }
        }
        let of_choice = |state: &Call| state.choice == choice.index;
        let last = |wanted: &dyn Fn(&Call) -> bool| {
            let place = self.calls.iter().rposition(|slot| slot.as_ref().is_some_and(|s| of_choice(s) && wanted(s)))?;
            Some((place, self.calls.get(place).copied().flatten()?))
        };
        let found = match (index, id) {
            (Some(index), _) => match last(&|state| state.index == index) {
                Some((_, state)) if id.is_some() && state.id.is_some() && state.id != id => {
                    match last(&|state| state.index == index && state.id == id) {
                        Some((place, _)) => place,
                        None => return self.open(choice, index, false).map(|slot| (slot, true, true)),
                    }
                }
                Some((place, _)) => place,
                None => return self.open(choice, index, false).map(|slot| (slot, true, false)),
            },
            (None, Some(_)) => match last(&|state| state.id == id) {
                Some((place, _)) => place,
                None => {
                    let index = self.free_index(choice, call.position());
                    return self.open(choice, index, true).map(|slot| (slot, true, false));
                }
            },
            (None, None) => {
                let position = call.position();
                // Several calls may have begun in one place, in chunks of their own: the open one goes before the last.
                let in_place = |state: &Call| state.by_place && state.position == position;
                let by_place = match open {
                    Some((slot, state)) if in_place(&state) => Some((usize::from(slot), state)),
                    _ => last(&in_place),
                };
                // A name that is not its own, once its arguments are complete, is another call's.
                let other =
                    |state: &Call| call.name().is_some_and(|name| state.arguments.is_closed() && !state.name.is(name));
                match (by_place, open) {
                    (Some((place, state)), _) if !other(&state) => place,
                    (None, Some((slot, state))) if !other(&state) && (call.name().is_none() || position == 0) => {
                        usize::from(slot)
                    }
                    _ => {
                        let index = self.free_index(choice, position);
                        return self.open(choice, index, true).map(|slot| (slot, true, false));
                    }
                }
            }
        };
        Some((u16::try_from(found).ok()?, false, false))
    }

    /// The index of a call that has none: its place in the array, or the next that is free.
    fn free_index(&self, choice: &Choice, position: u32) -> u32 {
        let of_choice = |call: &&Call| call.choice == choice.index;
        let taken = self.calls.iter().flatten().filter(of_choice).any(|call| call.index == position);
        if !taken {
            return position;
        }
        let highest = self.calls.iter().flatten().filter(of_choice).map(|call| call.index).max();
        highest.unwrap_or(0).saturating_add(1)
    }

    fn open(&mut self, choice: &Choice, index: u32, by_place: bool) -> Option<u16> {
        let place = self.calls.iter().position(Option::is_none)?;
        if let Some(slot) = self.calls.get_mut(place) {
            *slot = Some(Call {
                choice: choice.index,
                number: choice.calls,
                index,
                by_place,
                position: 0,
                id: None,
                kind_known: false,
                name: Name::EMPTY,
                arguments: Arguments::default(),
                half: Half::NONE,
            });
        }
        u16::try_from(place).ok()
    }
}
