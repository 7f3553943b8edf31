//! The tracker: turns the deltas of chunks into those of a stream, in place.

use super::call::{is_sound, Arguments, Call, Element, Fate, Hash, Identity, Name, NamePiece};
use super::carry::PendingSurrogate;
use super::whole::{cut, Reach, Reading, MANY};
use crate::chat::{name_before, Cursor, Index, ItemDeltas};
use crate::delta::{
    Called, Delta, Kind, Meta, Part, FLAG_CUSTOM, FLAG_NATIVE, FLAG_NUMBER, FLAG_OPENS, FLAG_REPLACES, FLAG_REUSES,
    FLAG_SELECTS, FLAG_WHOLE,
};
use crate::json::{Text, TextFlags};
use crate::tables::{Arrays, Tables};
use crate::{Error, Quirk, QuirkSet};

/// A choice that was seen: a row of a tracker's table.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    index: u32,
    role: bool,
    /// The name of its reasoning was emitted.
    reasoning_named: bool,
    /// A delta was not empty.
    delta: bool,
    finished: bool,
    calls: u32,
    /// The call opened or continued last, by its place in the table.
    open: Option<u16>,
    source: Source,
    /// The pending surrogate of each of [`PendingSurrogate::OF_CHOICE`].
    halves: [PendingSurrogate; 4],
}

/// Whether deltas or messages so far reported the texts of a choice, and the state that this needs.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// Deltas; of a `function_call`.
    Deltas { function: Name, arguments: Arguments },
    /// Messages so far: how much of them, and a hash of that.
    Messages { sum: u64, reach: Reach },
}

impl Source {
    const NOTHING: Source = Source::Deltas { function: Name::EMPTY, arguments: Arguments::EMPTY };

    /// The name and the arguments of the `function_call` that deltas report; those of messages no longer count.
    fn function(&mut self) -> (&mut Name, &mut Arguments) {
        loop {
            match self {
                Source::Deltas { function, arguments } => return (function, arguments),
                Source::Messages { .. } => *self = Source::NOTHING,
            }
        }
    }
}

/// The state of one stream's choices: at most `CHOICES` of them, with `CALLS` tool calls in all.
///
/// Plain data, no heap. [`Parser::feed`](crate::stream::Parser::feed) uses one; a caller that pulls may do without, or take
/// the [`updates`](Tracker::updates) of each chunk from one.
pub type Tracker<const CHOICES: usize = 8, const CALLS: usize = 32> =
    TrackerOf<Arrays<Option<Choice>, Option<Call>, CHOICES, CALLS>>;

/// A [`Tracker`] whose tables may lie elsewhere.
#[derive(Clone)]
pub struct TrackerOf<T> {
    tables: T,
    state: TrackerState,
}

/// Prints how much of its tables is in use.
impl<T: Tables<Option<Choice>, Option<Call>>> core::fmt::Debug for TrackerOf<T> {
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

/// What a tracker knows beside its tables.
#[derive(Clone, Copy, Debug, Default)]
#[doc(hidden)]
pub struct TrackerState {
    /// How many surrogates are pending.
    waiting: u32,
    /// The call of the last tool call delta, by its place in the table; its name and arguments follow.
    at_hand: Option<u16>,
    /// What of the message at hand was reported and is still to be cut off its deltas. `None`: they do not count.
    reported: Option<Reach>,
    /// How far the annotations of that message were read, from the beginning of their array.
    annotations_at: u32,
}

impl<const CHOICES: usize, const CALLS: usize> Default for Tracker<CHOICES, CALLS> {
    fn default() -> Self {
        Tracker::new()
    }
}

/// What is next of a chunk's deltas.
#[derive(Debug)]
pub enum Next {
    /// A delta, to be emitted.
    Delta(Delta),
    /// One that was reported before.
    Nothing,
    /// One that was left out: a table is full, or an index is out of range.
    LeftOut(Error),
    /// None.
    End,
}

/// What to do with a delta.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub enum Taken {
    /// Emit it.
    Keep,
    /// Drop it: it was reported before.
    Drop,
    /// Emit this delta first, an unpaired high surrogate. Then give the tracker the same delta again.
    Before(Delta),
    /// It was left out: the table is full, or an index is out of range.
    LeftOut(Error),
}

impl<const CHOICES: usize, const CALLS: usize> Tracker<CHOICES, CALLS> {
    /// A tracker at the start of a stream.
    pub const fn new() -> Self {
        let tables = Arrays { choices: [None; CHOICES], calls: [None; CALLS] };
        TrackerOf { tables, state: TrackerState { waiting: 0, at_hand: None, reported: None, annotations_at: 0 } }
    }
}

impl<T: Tables<Option<Choice>, Option<Call>>> TrackerOf<T> {
    /// A tracker that goes on from `state` in the tables of an earlier one. At the start of a stream every row is `None`.
    #[doc(hidden)]
    pub fn from_parts(tables: T, state: TrackerState) -> Self {
        TrackerOf { tables, state }
    }

    /// What it knows beside its tables.
    #[doc(hidden)]
    pub fn state(&self) -> TrackerState {
        self.state
    }

    /// A new stream.
    pub fn reset(&mut self) {
        self.tables.choices_mut().fill(None);
        self.tables.calls_mut().fill(None);
        self.state = TrackerState::default();
    }

    /// Takes in the next delta of a chunk, of whatever kind; `plain` is that delta if the cursor is behind it. `offset` is the
    /// stream offset of the chunk, for errors; quirks are added to `quirks`.
    pub(crate) fn next(
        &mut self,
        plain: Option<Delta>,
        cursor: &mut Cursor,
        (payload, index): (&[u8], &Index),
        offset: u64,
        quirks: &mut QuirkSet,
    ) -> Next {
        let Some(mut delta) = plain.or_else(|| cursor.next_of_any(payload, index)) else { return Next::End };
        if delta.kind == Kind::Reasoning && !cursor.is_inside() {
            if let Some(name) = self.name_of_reasoning(&delta, payload) {
                cursor.back();
                return Next::Delta(name);
            }
        }
        match self.take(&mut delta, cursor.called(), payload, offset, quirks) {
            Taken::Keep => Next::Delta(delta),
            Taken::Drop => Next::Nothing,
            Taken::Before(waited) => {
                cursor.back();
                Next::Delta(waited)
            }
            Taken::LeftOut(error) => Next::LeftOut(error),
        }
    }

    /// Fast path: whether a choice is known. Log probabilities of one change nothing that is known of it.
    #[inline(always)]
    pub(crate) fn knows(&self, choice: u32) -> bool {
        // Nearly always the place in the table is the index.
        matches!(self.tables.choices().get(choice as usize), Some(Some(known)) if known.index == choice)
    }

    /// Fast path: takes in content or reasoning of a choice that needs no change, as nearly all. `false`: it may need one,
    /// and nothing was taken in.
    #[inline(always)]
    pub(crate) fn take_plain(&mut self, kind: Kind, choice: u32, text: Part, payload: &[u8]) -> bool {
        let Some(Some(known)) = self.tables.choices_mut().get_mut(choice as usize) else { return false };
        if known.index != choice {
            return false;
        }
        // The first reasoning comes behind the name of its member.
        if kind == Kind::Reasoning && !known.reasoning_named {
            return false;
        }
        let is_plain = text.flags == TextFlags::PLAIN || is_sound(text.bytes(payload), text.flags);
        if self.state.waiting != 0 || known.finished || !is_plain {
            return false;
        }
        known.delta = true;
        true
    }

    /// Fast path: takes in a fragment of the open call of a choice, whose arguments are short and without quirks.
    /// Returns the number of the call. `None`: it may be something else, and nothing was taken in.
    #[inline(always)]
    pub(crate) fn take_fragment(&mut self, choice: u32, index: u32, arguments: Part, payload: &[u8]) -> Option<u32> {
        let (choices, calls) = self.tables.both_mut();
        let known = choices.get_mut(choice as usize)?.as_mut()?;
        let open = known.open?;
        let call = calls.get_mut(usize::from(open))?.as_mut()?;
        let is_open = known.index == choice && !known.finished && call.index == index;
        // Without an ID its arguments are hashed.
        if !is_open || self.state.waiting != 0 || call.id().is_none() {
            return None;
        }
        if !call.arguments.add_short(arguments.text(payload)) {
            return None;
        }
        (call.position, self.state.at_hand, known.delta) = (0, Some(open), true);
        Some(call.number)
    }

    /// Takes in a delta of `payload`, and changes it to what it means after the deltas before it. `called` is what
    /// the next deltas call, if this one is a tool call's; `offset` is the stream offset of the event, for the error. Quirks are
    /// added to `quirks`.
    #[inline(never)]
    pub fn take(
        &mut self,
        delta: &mut Delta,
        called: Called,
        payload: &[u8],
        offset: u64,
        quirks: &mut QuirkSet,
    ) -> Taken {
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
        let Some(Some(choice)) = self.tables.choices_mut().get_mut(place) else { return Taken::Drop };
        if delta.has(FLAG_WHOLE) {
            return self.take_whole(place, delta, payload, offset, quirks);
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
                if let Some(waited) = self.flush(Some(number), quirks) {
                    return Taken::Before(waited);
                }
                // Some protocols report a finish reason with more than one event.
                let counts = !delta.has(FLAG_NATIVE);
                if let Some(Some(choice)) = self.tables.choices_mut().get_mut(place).filter(|_| counts) {
                    if core::mem::replace(&mut choice.finished, true) {
                        quirks.insert(Quirk::SecondFinish);
                    }
                }
                *quirks |= delta.text.text(payload).quirks();
                Taken::Keep
            }
            Kind::Meta => self.meta(delta),
            _ => Taken::Keep,
        }
    }

    /// Takes in a member: one of a call is of the call at hand.
    fn meta(&mut self, delta: &mut Delta) -> Taken {
        delta.flags = 0;
        if ![Meta::CallMember as u32, Meta::FunctionMember as u32].contains(&delta.code) {
            return Taken::Keep;
        }
        let Some(call) = self.call_at_hand() else { return Taken::Drop };
        delta.call = call.number;
        Taken::Keep
    }

    /// Takes in a `message`, or a delta of the one that was taken in last: what earlier messages reported is cut off.
    #[inline(never)]
    fn take_whole(
        &mut self,
        place: usize,
        delta: &mut Delta,
        payload: &[u8],
        offset: u64,
        quirks: &mut QuirkSet,
    ) -> Taken {
        if delta.kind == Kind::Message {
            return self.message(place, delta, payload, quirks);
        }
        let choice = self.tables.choices_mut().get_mut(place);
        let (Some(Some(choice)), Some(reported)) = (choice, &mut self.state.reported) else {
            return Taken::Drop;
        };
        let is_late = choice.finished && delta.kind != Kind::Role;
        let taken = match delta.kind {
            Kind::ToolCall => self.tool_call(place, delta, Called::NOTHING, payload, offset, quirks),
            Kind::ToolName => self.tool_name(delta, payload, quirks),
            Kind::ToolArguments => self.whole_arguments(delta, payload, quirks),
            Kind::Meta => self.meta(delta),
            Kind::Role if core::mem::replace(&mut choice.role, true) => Taken::Drop,
            Kind::Annotation => self.whole_annotations(delta, payload),
            kind if reported.has(kind) => Taken::Drop,
            kind => {
                let half = PendingSurrogate::OF_CHOICE.into_iter().zip(&mut choice.halves).find(|(of, _)| *of == kind);
                if let Some((_, half)) = half {
                    let more = half.join(&mut delta.text, payload);
                    reported.cut(kind, &mut delta.text, payload);
                    delta.flags = 0;
                    self.joined(more, delta, payload, quirks)
                } else {
                    delta.flags = if kind == Kind::FunctionName { FLAG_REPLACES } else { 0 };
                    if matches!(kind, Kind::Role | Kind::FunctionName) {
                        *quirks |= delta.text.text(payload).quirks();
                    }
                    Taken::Keep
                }
            }
        };
        if is_late && matches!(taken, Taken::Keep | Taken::Before(_)) {
            quirks.insert(Quirk::DeltaAfterFinish);
        }
        taken
    }

    /// Takes in a `message`, whose deltas follow if it begins with what earlier ones reported.
    fn message(&mut self, place: usize, delta: &mut Delta, payload: &[u8], quirks: &mut QuirkSet) -> Taken {
        (self.state.reported, self.state.at_hand, self.state.annotations_at) = (None, None, 0);
        let Some(Some(choice)) = self.tables.choices().get(place).copied() else { return Taken::Drop };
        if choice.delta {
            return Taken::Drop;
        }
        let (before, reach) = match choice.source {
            Source::Deltas { .. } => (None, Reach::default()),
            Source::Messages { sum, reach } => (Some(sum), reach),
        };
        let reading = self.read_message(choice.index, reach, delta.text.bytes(payload));
        let Some((sum, now)) = reading.end(before) else {
            quirks.insert(Quirk::ReplacedMessage);
            delta.flags = 0;
            return Taken::Keep;
        };
        // What was pending is in this message again.
        while self.flush(Some(choice.index), &mut QuirkSet::EMPTY.clone()).is_some() {}
        self.state.reported = Some(reach);
        if let Some(Some(choice)) = self.tables.choices_mut().get_mut(place) {
            choice.source = Source::Messages { sum, reach: now };
        }
        Taken::Keep
    }

    /// Reads a message of a choice of which so much was reported.
    fn read_message(&self, choice: u32, reach: Reach, message: &[u8]) -> Reading {
        let mut reading = Reading::new(reach);
        let mut room = self.tables.calls().iter().filter(|slot| slot.is_none()).count();
        let mut known = None;
        for delta in ItemDeltas::of(message) {
            let text = delta.text.text(message);
            match delta.kind {
                Kind::ToolCall => {
                    let place = self.call_of_message(choice, delta.call).map(usize::from);
                    let row = place.and_then(|place| self.tables.calls().get(place).copied().flatten());
                    let is_new = row.is_none() && room > 0 && delta.number() != Some(u64::from(u32::MAX));
                    room = room.saturating_sub(usize::from(is_new));
                    if delta.has(FLAG_SELECTS) {
                        reading.call(None, None);
                        continue;
                    }
                    known = row.filter(Call::has_opened);
                    let id = known.and_then(|call| call.id());
                    reading.is_other |= !text.is_empty() && id.is_some_and(|id| id != Hash::of(text));
                    let is_kept = is_new || row.is_some();
                    reading.call(is_kept.then_some(delta.call), known.map(|call| call.reach));
                }
                Kind::ToolName => reading.is_other |= known.is_some_and(|call| !call.name.begins(text)),
                Kind::ToolArguments => reading.arguments(delta.text, message),
                _ => reading.add(&delta, message),
            }
        }
        reading
    }

    /// The call that stood at this position in earlier messages, by its place in the table.
    fn call_of_message(&self, choice: u32, position: u32) -> Option<u16> {
        let is_it = |call: &Call| call.choice == choice && call.position == position;
        u16::try_from(self.tables.calls().iter().position(|slot| slot.as_ref().is_some_and(is_it))?).ok()
    }

    /// As [`resolve`](Self::resolve), of a call in a message: each that was not there before opens.
    fn resolve_whole(&mut self, place: usize, choice: &Choice, call: &Element<'_>) -> Option<(u16, Fate, bool)> {
        if let Some(slot) = self.call_of_message(choice.index, call.position) {
            let known = self.tables.calls().get(usize::from(slot)).and_then(Option::as_ref);
            let has_opened = known.is_some_and(Call::has_opened);
            return Some((slot, if has_opened { Fate::Continues } else { Fate::Opens }, false));
        }
        let of_choice = |state: &&Call| state.choice == choice.index;
        let reuses =
            self.tables.calls().iter().flatten().filter(of_choice).any(|state| Some(state.index) == call.index);
        self.new_call(place, call, true).map(|slot| (slot, Fate::Opens, reuses))
    }

    /// Arguments in a message.
    fn whole_arguments(&mut self, delta: &mut Delta, payload: &[u8], quirks: &mut QuirkSet) -> Taken {
        let Some(state) = self.call_at_hand() else { return Taken::Drop };
        delta.call = state.number;
        let more = state.half.join(&mut delta.text, payload);
        cut(&mut delta.text, payload, state.reach);
        let text = delta.text.text(payload);
        state.reach = state.reach.saturating_add(text.decoded_len() as u32);
        if !delta.has(FLAG_CUSTOM) && state.arguments.add(text, None) {
            quirks.insert(Quirk::ArgumentsAfterEnd);
        }
        delta.flags = 0;
        self.joined(more, delta, payload, quirks)
    }

    /// Annotations in a message: all of the first, of each later one those that are new, one by one.
    fn whole_annotations(&mut self, delta: &mut Delta, payload: &[u8]) -> Taken {
        delta.flags = 0;
        let TrackerState { reported, annotations_at, .. } = &mut self.state;
        let Some(reported) = reported.as_mut().filter(|reported| reported.annotations < MANY) else {
            return Taken::Drop;
        };
        if reported.annotations == 0 && *annotations_at == 0 {
            return Taken::Keep;
        }
        let (array, mut at) = (delta.text.value(payload), *annotations_at as usize);
        while let Some(annotation) = array.element_at(&mut at) {
            *annotations_at = at as u32;
            if reported.annotations == 0 {
                return Taken::Before(Delta { text: Part::raw(payload, annotation), ..*delta });
            }
            reported.annotations = reported.annotations.saturating_sub(1);
        }
        Taken::Drop
    }

    /// Flushes an unpaired high surrogate of this choice, or of any: a text that decodes to U+FFFD. At the end of the stream
    /// repeat until there is none.
    pub fn flush(&mut self, of: Option<u32>, quirks: &mut QuirkSet) -> Option<Delta> {
        if self.state.waiting == 0 {
            return None;
        }
        let wanted = |choice: u32| of.is_none_or(|of| of == choice);
        let mut choices = self.tables.choices_mut().iter_mut().flatten().filter(|choice| wanted(choice.index));
        let found = choices.find_map(|choice| {
            let mut halves = PendingSurrogate::OF_CHOICE.into_iter().zip(&mut choice.halves);
            let (kind, lead) = halves.find_map(|(kind, half)| Some((kind, half.take()?)))?;
            Some((Delta { choice: choice.index, ..Delta::new(kind) }, lead))
        });
        if let Some((delta, lead)) = found {
            return Some(self.flushed(delta, lead, quirks));
        }
        let mut calls = self.tables.calls_mut().iter_mut().flatten().filter(|call| wanted(call.choice));
        let (choice, call, lead) = calls.find_map(|call| Some((call.choice, call.number, call.half.take()?)))?;
        Some(self.flushed(Delta { choice, call, ..Delta::new(Kind::ToolArguments) }, lead, quirks))
    }

    fn flushed(&mut self, delta: Delta, lead: u16, quirks: &mut QuirkSet) -> Delta {
        self.state.waiting = self.state.waiting.saturating_sub(1);
        quirks.insert(Quirk::LoneSurrogate);
        Delta { text: Part { lead, ..Part::NONE }, ..delta }
    }

    /// The name of the member that this reasoning is in, if it is the first of its choice: emitted before it. `None` too if
    /// the reasoning itself will be dropped or left out.
    fn name_of_reasoning(&mut self, reasoning: &Delta, payload: &[u8]) -> Option<Delta> {
        let is_dropped = reasoning.has(FLAG_WHOLE) && self.state.reported.is_none();
        // One with a slot is of another protocol, in which the name tells nothing.
        if is_dropped || reasoning.has(FLAG_NUMBER) || reasoning.choice == u32::MAX {
            return None;
        }
        let place = self.place(reasoning.choice)?;
        let choice = self.tables.choices_mut().get_mut(place)?.as_mut()?;
        if core::mem::replace(&mut choice.reasoning_named, true) {
            return None;
        }
        let name = name_before(payload.get(..reasoning.text.start as usize)?)?;
        let (code, text) = (Meta::ReasoningName as u32, Part::of(payload, name));
        Some(Delta { choice: choice.index, code, text, ..Delta::new(Kind::Meta) })
    }

    /// The place of a choice in the table; a new choice gets one.
    fn place(&mut self, index: u32) -> Option<usize> {
        let is_it = |slot: &Option<Choice>| slot.as_ref().is_some_and(|choice| choice.index == index);
        if self.tables.choices().get(index as usize).is_some_and(is_it) {
            return Some(index as usize);
        }
        if let Some(place) = self.tables.choices().iter().position(is_it) {
            return Some(place);
        }
        let place = self.tables.choices().iter().position(Option::is_none)?;
        *self.tables.choices_mut().get_mut(place)? = Some(Choice {
            index,
            role: false,
            reasoning_named: false,
            delta: false,
            finished: false,
            calls: 0,
            open: None,
            source: Source::NOTHING,
            halves: [PendingSurrogate::NONE; 4],
        });
        Some(place)
    }

    /// Joins a text of a choice with the pending surrogate.
    fn text(&mut self, place: usize, delta: &mut Delta, payload: &[u8], quirks: &mut QuirkSet) -> Taken {
        let Some(Some(choice)) = self.tables.choices_mut().get_mut(place) else { return Taken::Drop };
        let half =
            PendingSurrogate::OF_CHOICE.into_iter().zip(&mut choice.halves).find(|(kind, _)| *kind == delta.kind);
        let Some((_, half)) = half else { return Taken::Drop };
        let more = half.join(&mut delta.text, payload);
        self.joined(more, delta, payload, quirks)
    }

    fn joined(&mut self, more: i32, delta: &Delta, payload: &[u8], quirks: &mut QuirkSet) -> Taken {
        self.state.waiting = self.state.waiting.saturating_add_signed(more);
        if delta.text.is_empty() {
            return Taken::Drop;
        }
        *quirks |= delta.text.text(payload).quirks();
        Taken::Keep
    }

    fn tool_call(
        &mut self,
        place: usize,
        delta: &mut Delta,
        called: Called,
        payload: &[u8],
        offset: u64,
        quirks: &mut QuirkSet,
    ) -> Taken {
        self.state.at_hand = None;
        if delta.number() == Some(u64::from(u32::MAX)) {
            return Taken::LeftOut(Error::BadIndex { choice: delta.choice, offset });
        }
        let Some(Some(choice)) = self.tables.choices().get(place).copied() else { return Taken::Drop };
        let text = |part: Part| (!part.is_empty()).then(|| part.text(payload));
        let fragment = Element {
            index: delta.number().map(|index| index as u32),
            id: text(delta.text).map(Hash::of),
            position: delta.call,
            name: text(called.name),
            arguments: called.arguments.text(payload),
        };
        let is_whole = delta.has(FLAG_WHOLE);
        if delta.has(FLAG_SELECTS) {
            let selected = match is_whole {
                true => self.call_of_message(choice.index, delta.call),
                false => self.selected(&choice, &fragment).and_then(|(place, _)| u16::try_from(place).ok()),
            };
            // The members of a call may come before anything that opens it: its row and its number wait for that.
            self.state.at_hand = selected.or_else(|| self.new_call(place, &fragment, is_whole));
            let Some(call) = self.call_at_hand() else {
                return Taken::LeftOut(Error::TooManyCalls { choice: delta.choice, offset });
            };
            call.position = delta.call;
            return Taken::Drop;
        }
        let resolved = match is_whole {
            true => self.resolve_whole(place, &choice, &fragment),
            false => self.resolve(place, &choice, &fragment),
        };
        let Some((slot, fate, reuses)) = resolved else {
            return Taken::LeftOut(Error::TooManyCalls { choice: delta.choice, offset });
        };
        let opens = fate == Fate::Opens;
        if fate == Fate::ContinuesUnderAnotherId {
            quirks.insert(Quirk::ChangedCallId);
        }
        self.state.at_hand = Some(slot);
        let (choices, calls) = self.tables.both_mut();
        let Some(Some(state)) = calls.get_mut(usize::from(slot)) else { return Taken::Drop };
        if let Some(Some(choice)) = choices.get_mut(place) {
            choice.open = Some(slot);
        }
        if opens {
            state.identity = Identity::Arguments(Hash::EMPTY);
        }
        if reuses {
            quirks.insert(Quirk::ReusedCallIndex);
        }
        state.position = delta.call;
        if state.id().is_some() {
            delta.text = Part::NONE;
        } else if let Some(id) = text(delta.text) {
            state.identity = Identity::Id(Hash::of(id));
            *quirks |= id.quirks();
        }
        if state.kind_known {
            delta.aux = Part::NONE;
        }
        state.kind_known |= !delta.aux.is_empty();
        let flag = |set: bool, flag: u16| if set { flag } else { 0 };
        delta.flags = delta.flags & FLAG_CUSTOM | FLAG_NUMBER | flag(opens, FLAG_OPENS) | flag(reuses, FLAG_REUSES);
        (delta.call, delta.number) = (state.number, u64::from(state.index));
        if opens || !delta.text.is_empty() || !delta.aux.is_empty() {
            Taken::Keep
        } else {
            Taken::Drop
        }
    }

    /// The call that the last tool call delta belongs to.
    fn call_at_hand(&mut self) -> Option<&mut Call> {
        self.tables.calls_mut().get_mut(usize::from(self.state.at_hand?))?.as_mut()
    }

    fn tool_name(&mut self, delta: &mut Delta, payload: &[u8], quirks: &mut QuirkSet) -> Taken {
        let Some(state) = self.call_at_hand() else { return Taken::Drop };
        delta.call = state.number;
        let text = delta.text.text(payload);
        named(state.name.add(text), delta, text, quirks)
    }

    fn tool_arguments(&mut self, delta: &mut Delta, payload: &[u8], quirks: &mut QuirkSet) -> Taken {
        let Some(state) = self.call_at_hand() else { return Taken::Drop };
        delta.call = state.number;
        let is_custom = delta.has(FLAG_CUSTOM);
        delta.flags = 0;
        let more = state.half.join(&mut delta.text, payload);
        if !is_custom && state.add(delta.text.text(payload)) {
            quirks.insert(Quirk::ArgumentsAfterEnd);
        }
        self.joined(more, delta, payload, quirks)
    }

    /// Which call a fragment belongs to, by its place in the table, what the fragment does to it, and whether it opens it
    /// under an index in use. `None`: there is no room for another call.
    fn resolve(&mut self, place: usize, choice: &Choice, fragment: &Element<'_>) -> Option<(u16, Fate, bool)> {
        let selected = self.selected(choice, fragment);
        let fate = selected.map_or(Fate::Opens, |(_, call)| call.fate(fragment));
        if let Some((slot, _)) = selected.filter(|(_, call)| fate != Fate::Opens || !call.has_opened()) {
            return Some((u16::try_from(slot).ok()?, fate, false));
        }
        let reuses = selected.is_some() && fragment.index.is_some();
        Some((self.new_call(place, fragment, false)?, Fate::Opens, reuses))
    }

    /// The call that a fragment selects, and its place in the table: by index; without one by ID; else by its position in the
    /// array; else the open call. `None`: it selects none.
    fn selected(&self, choice: &Choice, fragment: &Element<'_>) -> Option<(usize, &Call)> {
        let open = choice
            .open
            .and_then(|slot| Some((usize::from(slot), self.tables.calls().get(usize::from(slot))?.as_ref()?)));
        let is_its_own = |call: &Call| fragment.id.is_none() || call.id() == fragment.id;
        let has_index = |call: &Call| fragment.index == Some(call.index);
        if open.is_some_and(|(_, call)| has_index(call) && is_its_own(call)) {
            // Nearly always.
            return open;
        }
        let last = |wanted: &dyn Fn(&Call) -> bool| {
            let of_choice = |call: &Call| call.choice == choice.index;
            let calls = self.tables.calls();
            let place = calls.iter().rposition(|slot| slot.as_ref().is_some_and(|c| of_choice(c) && wanted(c)))?;
            Some((place, calls.get(place)?.as_ref()?))
        };
        if fragment.index.is_some() {
            return last(&|call| has_index(call) && is_its_own(call)).or_else(|| last(&has_index));
        }
        if let Some(found) = last(&is_its_own).filter(|_| fragment.id.is_some()) {
            return Some(found);
        }
        // Several calls may have begun in one place, in chunks of their own: the open one goes before the last.
        let in_place = |call: &Call| call.by_place && call.position == fragment.position;
        // Behind the first of its array, what has a name or an ID is a call of its own.
        let goes_on = fragment.position == 0 || fragment.name.is_none() && fragment.id.is_none();
        let by_place = open.filter(|(_, call)| in_place(call)).or_else(|| last(&in_place));
        by_place.or_else(|| open.filter(|_| goes_on))
    }

    /// The index for a call that came without one: its position in the array, or if that is taken the next free one.
    fn free_index(&self, choice: &Choice, position: u32) -> u32 {
        let of_choice = |call: &&Call| call.choice == choice.index;
        let taken = self.tables.calls().iter().flatten().filter(of_choice).any(|call| call.index == position);
        if !taken {
            return position;
        }
        let highest = self.tables.calls().iter().flatten().filter(of_choice).map(|call| call.index).max();
        highest.unwrap_or(0).saturating_add(1)
    }

    /// Gives the next call of the choice in row `choice` a row, by its place in the table. `None`: there is no room.
    fn new_call(&mut self, choice: usize, element: &Element<'_>, is_whole: bool) -> Option<u16> {
        let known = self.tables.choices().get(choice).copied().flatten()?;
        let index = element.index.unwrap_or_else(|| self.free_index(&known, element.position));
        let (choices, calls) = self.tables.both_mut();
        let place = calls.iter().position(Option::is_none)?;
        let choice = choices.get_mut(choice)?.as_mut()?;
        if let Some(slot) = calls.get_mut(place) {
            *slot = Some(Call {
                choice: choice.index,
                number: choice.calls,
                index,
                by_place: element.index.is_none() && !is_whole,
                position: element.position,
                identity: Identity::Unopened,
                kind_known: false,
                name: Name::EMPTY,
                arguments: Arguments::EMPTY,
                reach: 0,
                half: PendingSurrogate::NONE,
            });
        }
        choice.calls = choice.calls.saturating_add(1);
        u16::try_from(place).ok()
    }
}

/// Whether to emit a name, or a piece of one, and the flag of its delta.
fn named(piece: NamePiece, delta: &mut Delta, text: Text<'_>, quirks: &mut QuirkSet) -> Taken {
    delta.flags = if piece == NamePiece::Replaces { FLAG_REPLACES } else { 0 };
    if piece == NamePiece::Repeats {
        return Taken::Drop;
    }
    *quirks |= text.quirks();
    Taken::Keep
}

/// The quirks of an error's message.
fn message_quirks(delta: &Delta, payload: &[u8]) -> QuirkSet {
    match crate::chat::Update::of(delta, payload) {
        Some(crate::chat::Update::Error(error)) => error.message().map_or(QuirkSet::EMPTY, |text| text.quirks()),
        _ => QuirkSet::EMPTY,
    }
}
