//! The tracker: turns the deltas of chunks into those of a stream, in place.

use super::call::{is_sound, Arguments, CallRow, NameSoFar};
use super::repeats::Repeats;
use super::surrogate::{PendingSurrogate, Slots};
use super::whole::Reach;
use crate::chat::{name_before, DeltaCursor, Index, NamePiece};
use crate::delta::{Called, Delta, FinishKind, Kind, Meta, Part, FLAG_NATIVE, FLAG_NUMBER, FLAG_REPLACES, FLAG_WHOLE};
use crate::json::{Text, TextFlags};
use crate::tables::{Arrays, Tables};
use crate::visits::visit;
use crate::{Error, Quirk, QuirkSet};

mod message;
mod tools;

/// A choice that was seen: a row of a tracker's table.
#[derive(Clone, Copy, Debug)]
pub struct ChoiceRow {
    index: u32,
    /// Whether the role was emitted.
    role: bool,
    /// Whether the name of the member that contains its reasoning was emitted.
    reasoning_named: bool,
    /// Whether a delta of the choice contained a text, a call or another part of the message.
    delta: bool,
    finished: bool,
    /// How many tool calls have a number.
    calls: u32,
    /// The place in the table of the call that a delta opened or continued last.
    open: Option<u16>,
    source: TextSource,
    /// The pending surrogates: one for each kind of [`PendingSurrogate::OF_CHOICE`], or one for each of the [`Slots`].
    surrogates: [PendingSurrogate; 4],
    /// What is known of the content and the reasoning, to find repetitions.
    repeats: [Repeats; 2],
}

/// Whether the texts of a choice were reported from deltas or from messages so far, and the state that each needs.
#[derive(Clone, Copy, Debug)]
enum TextSource {
    /// Deltas, with the name and the arguments of a `function_call`.
    Deltas { function: NameSoFar, arguments: Arguments },
    /// Messages so far: how much of them was reported (`reach`), and a hash of the reported part (`sum`).
    Messages { sum: u64, reach: Reach },
    /// Deltas of another protocol, whose texts have slots.
    Slots(Slots),
}

impl TextSource {
    const NOTHING: TextSource = TextSource::Deltas { function: NameSoFar::EMPTY, arguments: Arguments::EMPTY };

    /// Returns the state of the `function_call` that deltas report. If messages or slots were the source, forgets them.
    fn function(&mut self) -> (&mut NameSoFar, &mut Arguments) {
        loop {
            match self {
                TextSource::Deltas { function, arguments } => return (function, arguments),
                TextSource::Messages { .. } | TextSource::Slots(_) => *self = TextSource::NOTHING,
            }
        }
    }
}

impl ChoiceRow {
    /// Returns the surrogate that is pending before a text, or the place for one that the end of the text may make
    /// pending. Returns `None` if there is no room for one.
    fn surrogate(&mut self, delta: &Delta) -> Option<&mut PendingSurrogate> {
        if delta.number().is_none() {
            return self.surrogate_of(delta.kind);
        }
        if !matches!(self.source, TextSource::Slots(_)) {
            self.source = TextSource::Slots(Slots::NOTHING);
        }
        let TextSource::Slots(slots) = &mut self.source else { return None };
        slots.surrogate(delta, &mut self.surrogates)
    }

    /// Does what [`surrogate`](Self::surrogate) does, for a text without a slot.
    fn surrogate_of(&mut self, kind: Kind) -> Option<&mut PendingSurrogate> {
        let mut surrogates = PendingSurrogate::OF_CHOICE.into_iter().zip(&mut self.surrogates);
        surrogates.find(|(of, _)| *of == kind).map(|(_, surrogate)| surrogate)
    }

    /// Removes a pending surrogate of this slot, or any if `None`. Returns it with an empty delta of its kind and slot.
    fn take_surrogate(&mut self, slot: Option<u64>) -> Option<(Delta, u16)> {
        let mut surrogates = PendingSurrogate::OF_CHOICE.into_iter().zip(&mut self.surrogates).enumerate();
        surrogates.find_map(|(place, (kind, surrogate))| {
            let delta = match &self.source {
                TextSource::Slots(slots) => slots.delta(place)?,
                _ => Delta::new(kind),
            };
            if slot.is_some() && slot != delta.number() {
                return None;
            }
            Some((Delta { choice: self.index, ..delta }, surrogate.take()?))
        })
    }
}

/// The state of one stream's choices: at most `CHOICES` of them, with `CALLS` tool calls in all.
///
/// Plain data, no heap. Each [`Parser`](crate::stream::Parser) has one. Who reads payloads without a parser takes the
/// [`updates`](Tracker::updates) of each chunk from a tracker of their own.
pub type Tracker<const CHOICES: usize = 8, const CALLS: usize = 32> =
    TrackerOf<Arrays<Option<ChoiceRow>, Option<CallRow>, CHOICES, CALLS>>;

/// A [`Tracker`] with any kind of tables, which may be borrowed.
#[derive(Clone)]
pub struct TrackerOf<T> {
    tables: T,
    state: TrackerState,
}

/// Prints how much of its tables is in use.
impl<T: Tables<Option<ChoiceRow>, Option<CallRow>>> core::fmt::Debug for TrackerOf<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (choices, calls) = (self.tables.choices(), self.tables.calls());
        f.debug_struct("Tracker")
            .field("choices", &choices.iter().flatten().count())
            .field("max_choices", &choices.len())
            .field("calls", &calls.iter().flatten().count())
            .field("max_calls", &calls.len())
            .finish_non_exhaustive()
    }
}

/// The state of a tracker outside its tables.
#[derive(Clone, Copy, Debug, Default)]
#[doc(hidden)]
pub struct TrackerState {
    /// How many surrogates are pending.
    pending: u32,
    /// The place in the table of the call that the last tool call delta selected. The name and the arguments of that
    /// call follow.
    current_call: Option<u16>,
    /// Whether a tool call was left out, because the table was full. Its fragments belong to no other call.
    lost_call: bool,
    /// Whether the response is over.
    is_over: bool,
    /// How much of the current message earlier messages reported. Its deltas begin after that part. `None` if its
    /// deltas are dropped.
    reported: Option<Reach>,
    /// See [`Config::snapshots`](crate::Config::snapshots).
    snapshots: bool,
}

impl<const CHOICES: usize, const CALLS: usize> Default for Tracker<CHOICES, CALLS> {
    fn default() -> Self {
        Tracker::new()
    }
}

/// The next step through the deltas of a chunk.
#[derive(Debug)]
pub enum Next {
    /// A delta to emit.
    Delta(Delta),
    /// A delta that was reported before.
    Nothing,
    /// A delta that is left out, because a table is full or an index is out of range.
    LeftOut(Error),
    /// The chunk has no more deltas.
    End,
}

/// The tracker's decision about a delta.
#[derive(Clone, Copy, Debug)]
enum Taken {
    /// Emit it.
    Keep,
    /// Drop it: it was reported before.
    Drop,
    /// Emit this delta first, an unpaired high surrogate or the end of another call. Then pass the same delta to the tracker again.
    Before(Delta),
    /// Leave it out: the table is full, or an index is out of range.
    LeftOut(Error),
}

impl<const CHOICES: usize, const CALLS: usize> Tracker<CHOICES, CALLS> {
    /// Returns a tracker for the start of a stream.
    pub const fn new() -> Self {
        let tables = Arrays { choices: [None; CHOICES], calls: [None; CALLS] };
        TrackerOf {
            tables,
            state: TrackerState {
                pending: 0,
                current_call: None,
                lost_call: false,
                is_over: false,
                reported: None,
                snapshots: false,
            },
        }
    }
}

/// How the emitter uses a tracker of any size.
pub trait Tracking {
    /// Takes in the next delta of a chunk, of any kind. `offset` is the stream offset of the chunk, for errors. Adds
    /// quirks to `quirks`.
    fn next(&mut self, cursor: &mut DeltaCursor, chunk: (&[u8], &Index), offset: u64, quirks: &mut QuirkSet) -> Next;
    /// Fast path: whether the choice is known. Log probabilities of a known choice do not change its state.
    fn knows(&self, choice: u32) -> bool;
    /// Fast path: whether the role of a choice was emitted. Another role does not change its state.
    fn has_role(&self, choice: u32) -> bool;
    /// Fast path: takes in content or reasoning of a choice that is emitted as it is, as nearly all is. Returns
    /// `false`, with no effect, if the text may have to be changed.
    fn take_unchanged(&mut self, kind: Kind, choice: u32, text: Part, payload: &[u8]) -> bool;
    /// Fast path: takes in a fragment of the open call of a choice, whose arguments are short and without quirks.
    /// Returns the number of the call, or `None`, with no effect, if the fragment may be something else.
    fn take_fragment(&mut self, choice: u32, index: u32, arguments: Part, payload: &[u8]) -> Option<u32>;
    /// Notes that the response is over: what has no end of its own ends with the stream.
    fn note_over(&mut self);
    /// Whether [`rest`](Self::rest) will return a delta.
    fn has_rest(&self) -> bool;
    /// Returns what is left at the end of the stream: U+FFFD for a pending high surrogate and, if the response is over,
    /// the end of a call that is open. Call it until it returns `None`. Then each choice without a finish reason counts as
    /// finished, if the response is over.
    fn rest(&mut self, quirks: &mut QuirkSet) -> Option<Delta>;
}

impl<T: Tables<Option<ChoiceRow>, Option<CallRow>>> Tracking for TrackerOf<T> {
    fn next(
        &mut self,
        cursor: &mut DeltaCursor,
        (payload, index): (&[u8], &Index),
        offset: u64,
        quirks: &mut QuirkSet,
    ) -> Next {
        let Some(mut delta) = cursor.next_of_any(payload, index) else { return Next::End };
        self.state.snapshots = index.snapshots;
        if delta.kind == Kind::Reasoning && !cursor.is_inside() {
            if let Some(name) = self.name_of_reasoning(&delta, payload) {
                cursor.back();
                return Next::Delta(name);
            }
        }
        if delta.kind == Kind::ToolCall && index.plan.protocol().is_some() {
            delta.flags |= FLAG_NATIVE;
        }
        match self.take(&mut delta, cursor.called(), payload, offset, quirks) {
            Taken::Keep => Next::Delta(delta),
            Taken::Drop => Next::Nothing,
            Taken::Before(first) => {
                cursor.back();
                Next::Delta(first)
            }
            Taken::LeftOut(error) => Next::LeftOut(error),
        }
    }

    #[inline(always)]
    fn knows(&self, choice: u32) -> bool {
        self.known(choice).is_some()
    }

    #[inline(always)]
    fn has_role(&self, choice: u32) -> bool {
        self.known(choice).is_some_and(|known| known.role)
    }

    #[inline(always)]
    fn take_unchanged(&mut self, kind: Kind, choice: u32, text: Part, payload: &[u8]) -> bool {
        let Some(Some(known)) = self.tables.choices_mut().get_mut(choice as usize) else { return false };
        if known.index != choice {
            return false;
        }
        // Before the first reasoning, `next` emits the name of the member that contains it.
        if kind == Kind::Reasoning && !known.reasoning_named {
            return false;
        }
        let is_sound = text.flags == TextFlags::PLAIN || is_sound(text.bytes(payload), text.flags);
        if self.state.pending != 0 || known.finished || !is_sound {
            return false;
        }
        let [content, reasoning] = &mut known.repeats;
        let repeats = if kind == Kind::Reasoning { reasoning } else { content };
        if !repeats.pass(text, payload) {
            return false;
        }
        known.delta = true;
        true
    }

    #[inline(always)]
    fn take_fragment(&mut self, choice: u32, index: u32, arguments: Part, payload: &[u8]) -> Option<u32> {
        let (choices, calls) = self.tables.both_mut();
        let known = choices.get_mut(choice as usize)?.as_mut()?;
        let open = known.open?;
        let call = calls.get_mut(usize::from(open))?.as_mut()?;
        let is_open = known.index == choice && !known.finished && call.index == index;
        // The arguments of a call without an ID are hashed, which this path does not do.
        if !is_open || self.state.pending != 0 || call.id().is_none() || !call.is_open() {
            return None;
        }
        let before = call.repeats;
        if !call.repeats.pass(arguments, payload) {
            return None;
        }
        if !call.arguments.add_short(arguments, payload) {
            call.repeats = before;
            return None;
        }
        (call.position, self.state.current_call, known.delta) = (0, Some(open), true);
        Some(call.number)
    }

    fn note_over(&mut self) {
        self.state.is_over = true;
    }

    fn has_rest(&self) -> bool {
        self.state.pending > 0 || self.state.is_over && self.tables.calls().iter().flatten().any(CallRow::is_open)
    }

    fn rest(&mut self, quirks: &mut QuirkSet) -> Option<Delta> {
        let first = self.flush(None, quirks);
        if first.is_some() || !self.state.is_over {
            return first;
        }
        if let Some(end) = self.end_of(|_| true, quirks) {
            if end.kind == Kind::ToolCallEnd && end.code == 0 {
                quirks.insert(Quirk::BrokenArguments);
            }
            return Some(end);
        }
        for place in 0..self.tables.choices().len() {
            let Some(choice) = self.choice(place) else { continue };
            let number = choice.index;
            if !core::mem::replace(&mut choice.finished, true) && self.has_broken_call(number) {
                quirks.insert(Quirk::BrokenArguments);
            }
        }
        None
    }
}

impl<T: Tables<Option<ChoiceRow>, Option<CallRow>>> TrackerOf<T> {
    /// Returns a tracker that goes on from `state` in the tables of an earlier one. At the start of a stream every row
    /// is `None`.
    #[doc(hidden)]
    pub fn from_parts(tables: T, state: TrackerState) -> Self {
        TrackerOf { tables, state }
    }

    /// Returns the state outside the tables.
    #[doc(hidden)]
    pub fn state(&self) -> TrackerState {
        self.state
    }

    /// Forgets everything, for a new stream.
    pub fn reset(&mut self) {
        self.tables.choices_mut().fill(None);
        self.tables.calls_mut().fill(None);
        self.state = TrackerState::default();
    }

    /// Returns the choice with this index if it is in the row of that number, as nearly every choice is. `None` does
    /// not mean that the choice is new.
    #[inline(always)]
    fn known(&self, choice: u32) -> Option<&ChoiceRow> {
        self.tables.choices().get(choice as usize)?.as_ref().filter(|known| known.index == choice)
    }

    /// Takes in a delta of `payload`, and changes it to report only what is new after the deltas before it. If the
    /// delta is a tool call, `called` contains the name and the arguments that the next deltas report. `offset` is the
    /// stream offset of the event, for errors. Adds quirks to `quirks`.
    #[inline(never)]
    fn take(&mut self, delta: &mut Delta, called: Called, payload: &[u8], offset: u64, quirks: &mut QuirkSet) -> Taken {
        if matches!(delta.kind, Kind::Usage | Kind::Error) {
            if delta.kind == Kind::Error {
                *quirks |= message_quirks(delta, payload);
            }
            return Taken::Keep;
        }
        if delta.choice == u32::MAX {
            return Taken::LeftOut(Error::BadIndex { choice: delta.choice, offset });
        }
        let Some(place) = self.place(delta.choice) else {
            return Taken::LeftOut(Error::TooManyChoices { choice: delta.choice, offset });
        };
        let Some(choice) = self.choice(place) else { return Taken::Drop };
        if delta.has(FLAG_WHOLE) {
            return self.take_whole(place, (delta, called), payload, offset, quirks);
        }
        if delta.kind.is_part_of_delta() {
            choice.delta = true;
            if choice.finished {
                quirks.insert(Quirk::DeltaAfterFinish);
            }
        }
        match delta.kind {
            Kind::Content | Kind::Reasoning | Kind::Refusal => self.text(place, delta, payload, quirks),
            Kind::ToolCall => self.tool_call(place, delta, called, payload, offset, quirks),
            Kind::ToolName => self.tool_name(delta, payload, quirks),
            Kind::ToolArguments => self.tool_arguments(delta, payload, quirks),
            Kind::ToolCallEnd => self.tool_call_end(place, delta, quirks),
            Kind::Role => {
                if core::mem::replace(&mut choice.role, true) {
                    return Taken::Drop;
                }
                *quirks |= delta.text.text(payload).quirks();
                Taken::Keep
            }
            Kind::FunctionName => {
                let text = delta.text.text(payload);
                named(choice.source.function().0.add(text), delta, text, quirks)
            }
            Kind::FunctionArguments => {
                if choice.source.function().1.add(delta.text.text(payload), None) {
                    quirks.insert(Quirk::ArgumentsAfterEnd);
                }
                self.text(place, delta, payload, quirks)
            }
            Kind::Finish => {
                let number = choice.index;
                let first =
                    self.flush(Some(number), quirks).or_else(|| self.end_of(|call| call.choice == number, quirks));
                if let Some(first) = first {
                    return Taken::Before(first);
                }
                if self.has_broken_call(number) && !FinishKind::from_number(delta.code).may_cut() {
                    quirks.insert(Quirk::BrokenArguments);
                }
                // Some protocols report a finish reason with more than one event.
                let counts = !delta.has(FLAG_NATIVE);
                if let Some(choice) = self.choice(place).filter(|_| counts) {
                    if core::mem::replace(&mut choice.finished, true) {
                        quirks.insert(Quirk::SecondFinish);
                    }
                }
                *quirks |= delta.text.text(payload).quirks();
                Taken::Keep
            }
            Kind::Meta => match delta.number().and_then(|slot| self.flush_slot(place, slot, quirks)) {
                Some(first) => Taken::Before(first),
                None => self.meta(delta),
            },
            _ => Taken::Keep,
        }
    }

    /// Takes in a delta of kind `Meta`. A member of a tool call belongs to the call that the last tool call delta
    /// selected. Without a code it stands for a choice that has only members that no delta is made of, or for the end of
    /// the texts in a slot.
    fn meta(&mut self, delta: &mut Delta) -> Taken {
        delta.flags = 0;
        if delta.code == 0 {
            return Taken::Drop;
        }
        if ![Meta::CallMember as u32, Meta::FunctionMember as u32].contains(&delta.code) {
            return Taken::Keep;
        }
        let Some(call) = self.current_call() else { return Taken::Drop };
        delta.call = call.number;
        Taken::Keep
    }

    /// Flushes an unpaired high surrogate of this choice, or of any choice if `None`: returns a text that decodes to
    /// U+FFFD. At the end of the stream, call it until it returns `None`.
    pub fn flush(&mut self, of: Option<u32>, quirks: &mut QuirkSet) -> Option<Delta> {
        if self.state.pending == 0 {
            return None;
        }
        visit!(self.tables.choices().len().saturating_add(self.tables.calls().len()));
        let wanted = |choice: u32| of.is_none_or(|of| of == choice);
        let mut choices = self.tables.choices_mut().iter_mut().flatten().filter(|choice| wanted(choice.index));
        if let Some((delta, lead)) = choices.find_map(|choice| choice.take_surrogate(None)) {
            return Some(self.flushed(delta, lead, quirks));
        }
        let mut calls = self.tables.calls_mut().iter_mut().flatten().filter(|call| wanted(call.choice));
        let (delta, lead) = calls.find_map(CallRow::take_surrogate)?;
        Some(self.flushed(delta, lead, quirks))
    }

    /// Flushes an unpaired high surrogate at the end of the texts in a slot of the choice at this place.
    fn flush_slot(&mut self, place: usize, slot: u64, quirks: &mut QuirkSet) -> Option<Delta> {
        if self.state.pending == 0 {
            return None;
        }
        let (delta, lead) = self.choice(place)?.take_surrogate(Some(slot))?;
        Some(self.flushed(delta, lead, quirks))
    }

    fn flushed(&mut self, delta: Delta, lead: u16, quirks: &mut QuirkSet) -> Delta {
        self.state.pending = self.state.pending.saturating_sub(1);
        quirks.insert(Quirk::LoneSurrogate);
        Delta { text: Part { lead, ..Part::NONE }, ..delta }
    }

    /// Returns a delta with the name of the member that contains this reasoning, if the reasoning is the first of its
    /// choice: the name is emitted before it. Returns `None` too if the reasoning itself will be dropped or left out.
    fn name_of_reasoning(&mut self, reasoning: &Delta, payload: &[u8]) -> Option<Delta> {
        let is_dropped = reasoning.has(FLAG_WHOLE) && self.state.reported.is_none();
        if is_dropped || reasoning.choice == u32::MAX {
            return None;
        }
        let place = self.place(reasoning.choice)?;
        let choice = self.choice(place)?;
        // Reasoning with a slot belongs to another protocol, in which the name of the member has no meaning.
        if core::mem::replace(&mut choice.reasoning_named, true) || reasoning.has(FLAG_NUMBER) {
            return None;
        }
        // The text of an object that stands for reasoning has a name of its own, which says nothing.
        let name = name_before(payload.get(..reasoning.text.start as usize)?).filter(|name| *name != "text")?;
        let (code, text) = (Meta::ReasoningName as u32, Part::of(payload, name));
        Some(Delta { choice: choice.index, code, text, ..Delta::new(Kind::Meta) })
    }

    /// Returns the place of a choice in the table. A new choice gets one, if there is room.
    fn place(&mut self, index: u32) -> Option<usize> {
        let is_it = |row: &Option<ChoiceRow>| row.as_ref().is_some_and(|choice| choice.index == index);
        if self.tables.choices().get(index as usize).is_some_and(is_it) {
            return Some(index as usize);
        }
        visit!(self.tables.choices().len());
        if let Some(place) = self.tables.choices().iter().position(is_it) {
            return Some(place);
        }
        let place = self.tables.choices().iter().position(Option::is_none)?;
        *self.tables.choices_mut().get_mut(place)? = Some(ChoiceRow {
            index,
            role: false,
            reasoning_named: false,
            delta: false,
            finished: false,
            calls: 0,
            open: None,
            source: TextSource::NOTHING,
            surrogates: [PendingSurrogate::NONE; 4],
            repeats: [Repeats::new(self.state.snapshots); 2],
        });
        Some(place)
    }

    /// Returns the choice in this place of the table.
    #[inline]
    fn choice(&mut self, place: usize) -> Option<&mut ChoiceRow> {
        self.tables.choices_mut().get_mut(place)?.as_mut()
    }

    /// Joins a text of a choice with the pending surrogate.
    fn text(&mut self, place: usize, delta: &mut Delta, payload: &[u8], quirks: &mut QuirkSet) -> Taken {
        let Some(choice) = self.choice(place) else { return Taken::Drop };
        let [content, reasoning] = &mut choice.repeats;
        let repeats = match delta.kind {
            Kind::Content => Some(content),
            Kind::Reasoning => Some(reasoning),
            _ => None,
        };
        if repeats.is_some_and(|repeats| repeats.repeats(&mut delta.text, payload)) {
            quirks.insert(Quirk::RepeatedText);
            if delta.text.is_empty() {
                return Taken::Drop;
            }
        }
        // If there is no room for a pending surrogate, one at the end of the text counts as unpaired.
        let more = choice.surrogate(delta).map_or(0, |surrogate| surrogate.join(&mut delta.text, payload));
        self.joined(more, delta, payload, quirks)
    }

    fn joined(&mut self, more: i32, delta: &Delta, payload: &[u8], quirks: &mut QuirkSet) -> Taken {
        self.state.pending = self.state.pending.saturating_add_signed(more);
        if delta.text.is_empty() {
            return Taken::Drop;
        }
        *quirks |= delta.text.text(payload).quirks();
        Taken::Keep
    }
}

/// Decides whether to emit a name or a piece of one, and sets the flag of its delta. A `piece` of `None` repeats the
/// name.
fn named(piece: Option<NamePiece>, delta: &mut Delta, text: Text<'_>, quirks: &mut QuirkSet) -> Taken {
    delta.flags = if piece == Some(NamePiece::Replaces) { FLAG_REPLACES } else { 0 };
    if piece.is_none() {
        return Taken::Drop;
    }
    *quirks |= text.quirks();
    Taken::Keep
}

/// Returns the quirks in the message of an error.
fn message_quirks(delta: &Delta, payload: &[u8]) -> QuirkSet {
    match crate::chat::Update::of(delta, payload) {
        Some(crate::chat::Update::Error(error)) => error.message().map_or(QuirkSet::EMPTY, |text| text.quirks()),
        _ => QuirkSet::EMPTY,
    }
}
