//! Tool calls: which call a delta belongs to, and how the delta changes the state of that call.

use super::{named, ChoiceRow, Taken, TrackerOf};
use crate::delta::{
    Called, Delta, Kind, Part, FLAG_ANEW, FLAG_CUSTOM, FLAG_EMPTY, FLAG_NATIVE, FLAG_NULL_ID, FLAG_NUMBER, FLAG_OPENS,
    FLAG_REUSES, FLAG_SELECTS, FLAG_WHOLE, ONLY_EMPTY,
};
use crate::json::Text;
use crate::tables::Tables;
use crate::track::call::{Arguments, CallRow, Element, Fate, Hash, Identity, NameSoFar};
use crate::track::repeats::Repeats;
use crate::track::surrogate::PendingSurrogate;
use crate::visits::visit;
use crate::{Error, Quirk, QuirkSet};

/// The call that a tool call delta belongs to.
pub(super) enum Selected {
    /// The call at this place in the table, and the effect of the delta.
    Call(u16, Fate),
    /// A new one, which may open under an index in use.
    New { reuses: bool },
}

impl<T: Tables<Option<ChoiceRow>, Option<CallRow>>> TrackerOf<T> {
    pub(super) fn tool_call(
        &mut self,
        place: usize,
        delta: &mut Delta,
        called: Called,
        payload: &[u8],
        offset: u64,
        quirks: &mut QuirkSet,
    ) -> Taken {
        self.state.current_call = None;
        if delta.number() == Some(u64::from(u32::MAX)) {
            return Taken::LeftOut(Error::BadIndex { choice: delta.choice, offset });
        }
        let Some(choice) = self.choice(place).copied() else { return Taken::Drop };
        let text = |part: Part| (!part.is_empty()).then(|| part.text(payload));
        let mut fragment = Element {
            index: delta.number().map(|index| index as u32),
            id: text(delta.text).map(Hash::of),
            position: delta.call,
            name: text(called.name),
            arguments: called.arguments.text(payload),
            is_bare: !delta.has(FLAG_SELECTS | FLAG_NATIVE)
                && [delta.text, called.name].iter().all(Part::is_empty)
                && (delta.aux.is_empty() || delta.has(FLAG_NULL_ID)),
        };
        let is_whole = delta.has(FLAG_WHOLE);
        if is_null_name(delta, called.name, payload) {
            let nameless = Element { name: None, is_bare: true, ..fragment };
            let goes_on = match self.selected(&choice, &nameless) {
                Some((_, call)) => !call.name.is_empty(),
                // Under an index that no call has, it may go on with the call opened last, or say nothing.
                None => match self.opened_last(choice.index) {
                    Some((_, call)) if !call.name.is_empty() && called.arguments.is_empty() => {
                        quirks.insert(Quirk::NoneString);
                        return Taken::Drop;
                    }
                    last => last.is_some_and(|(_, call)| !call.name.is_empty() && !call.arguments.may_end()),
                },
            };
            if goes_on {
                fragment = nameless;
            }
        }
        let only_empty = core::mem::take(&mut delta.code) == ONLY_EMPTY;
        // Where the arguments are, if they are an empty string.
        let empty = [called.arguments, delta.aux].into_iter().find(|part| part.is_empty() && part.start > 0);
        let empty = empty.filter(|_| !delta.has(FLAG_NATIVE));
        if delta.has(FLAG_SELECTS) {
            let selected = match is_whole {
                true => self.call_of_message(choice.index, delta.call),
                false => self.selected(&choice, &fragment).and_then(|(place, _)| u16::try_from(place).ok()),
            };
            if selected.is_none() && only_empty {
                return Taken::Drop;
            }
            // Members of a call may come before anything that opens it. The call gets its row and its number now.
            self.state.current_call = selected.or_else(|| self.new_call(place, &fragment, is_whole));
            let Some(call) = self.current_call() else {
                return Taken::LeftOut(Error::TooManyCalls { choice: delta.choice, offset });
            };
            call.position = delta.call;
            let is_member = empty.is_some_and(|empty| call.note_empty(empty, delta, payload));
            return if is_member { Taken::Keep } else { Taken::Drop };
        }
        let resolved = match is_whole {
            true => self.resolve_whole(&choice, &fragment),
            false if delta.has(FLAG_ANEW) => Selected::New { reuses: false },
            false => self.resolve(&choice, &fragment),
        };
        let opens = matches!(resolved, Selected::New { .. } | Selected::Call(_, Fate::Opens));
        // Other protocols say where a call is over.
        if opens && !delta.has(FLAG_NATIVE) {
            // Messages so far have a call only when the one before it is whole.
            let is_over =
                |call: &CallRow| call.choice == choice.index && (is_whole || call.arguments.is_closed_container());
            if let Some(end) = self.end_of(is_over, quirks) {
                return Taken::Before(end);
            }
        }
        let (call_place, fate, reuses) = match resolved {
            Selected::Call(call_place, fate) => (Some(call_place), fate, false),
            Selected::New { reuses } => (self.new_call(place, &fragment, is_whole), Fate::Opens, reuses),
        };
        let Some(call_place) = call_place else {
            self.state.lost_call = true;
            return Taken::LeftOut(Error::TooManyCalls { choice: delta.choice, offset });
        };
        let is_nameless = !is_whole && !delta.has(FLAG_NATIVE) && fragment.id.is_none() && fragment.name.is_none();
        match fate {
            Fate::ContinuesUnderAnotherId => quirks.insert(Quirk::ChangedCallId),
            Fate::ContinuesUnderAnotherIndex => quirks.insert(Quirk::GuessedCall),
            Fate::Opens if is_nameless => quirks.insert(Quirk::NamelessCall),
            Fate::Opens | Fate::Continues => {}
        }
        self.state.current_call = Some(call_place);
        let (choices, calls) = self.tables.both_mut();
        let Some(Some(state)) = calls.get_mut(usize::from(call_place)) else { return Taken::Drop };
        if let Some(Some(choice)) = choices.get_mut(place) {
            choice.open = Some(call_place);
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
        state.is_custom |= delta.has(FLAG_CUSTOM);
        let flag = |set: bool, flag: u16| if set { flag } else { 0 };
        let is_kept = opens || !delta.text.is_empty() || !delta.aux.is_empty();
        if let Some(empty) = empty.filter(|_| !is_kept) {
            return if state.note_empty(empty, delta, payload) { Taken::Keep } else { Taken::Drop };
        }
        delta.flags = delta.flags & FLAG_CUSTOM
            | FLAG_NUMBER
            | flag(opens, FLAG_OPENS)
            | flag(reuses, FLAG_REUSES)
            | flag(empty.is_some(), FLAG_EMPTY);
        (delta.call, delta.number) = (state.number, u64::from(state.index));
        if is_kept {
            Taken::Keep
        } else {
            Taken::Drop
        }
    }

    /// Returns the call that the last tool call delta belongs to.
    pub(super) fn current_call(&mut self) -> Option<&mut CallRow> {
        self.tables.calls_mut().get_mut(usize::from(self.state.current_call?))?.as_mut()
    }

    pub(super) fn tool_name(&mut self, delta: &mut Delta, payload: &[u8], quirks: &mut QuirkSet) -> Taken {
        let Some(state) = self.current_call() else { return Taken::Drop };
        delta.call = state.number;
        if is_null_name(delta, delta.text, payload) && !state.name.is_empty() {
            quirks.insert(Quirk::NoneString);
            return Taken::Drop;
        }
        let text = delta.text.text(payload);
        named(state.name.add(text), delta, text, quirks)
    }

    pub(super) fn tool_arguments(&mut self, delta: &mut Delta, payload: &[u8], quirks: &mut QuirkSet) -> Taken {
        let Some(state) = self.current_call() else { return Taken::Drop };
        delta.call = state.number;
        let is_custom = delta.has(FLAG_CUSTOM);
        delta.flags = 0;
        if state.repeats.repeats(&mut delta.text, payload) {
            quirks.insert(Quirk::RepeatedText);
            if delta.text.is_empty() {
                return Taken::Drop;
            }
        }
        let more = state.surrogate.join(&mut delta.text, payload);
        // The call was reported as over, although its arguments had no end of their own.
        let is_late = !state.is_open() && !state.arguments.is_closed();
        let goes_on = !is_custom && state.add(delta.text.text(payload));
        if goes_on || is_late && (is_custom || state.arguments.has_begun()) {
            quirks.insert(Quirk::ArgumentsAfterEnd);
        }
        self.joined(more, delta, payload, quirks)
    }

    /// Takes in the end of the call with this index.
    pub(super) fn tool_call_end(&mut self, place: usize, delta: &mut Delta, quirks: &mut QuirkSet) -> Taken {
        let Some(choice) = self.choice(place).copied() else { return Taken::Drop };
        let index = delta.number().map(|index| index as u32);
        let (id, name, arguments) = (None, None, Text::verbatim(b""));
        let fragment = Element { index, id, position: 0, name, arguments, is_bare: false };
        let selected = self.selected(&choice, &fragment).filter(|(_, call)| call.is_open());
        let Some((call_place, _)) = selected else { return Taken::Drop };
        match self.end(call_place, quirks) {
            Some(first) if first.kind != Kind::ToolCallEnd => Taken::Before(first),
            Some(end) => {
                *delta = end;
                Taken::Keep
            }
            None => Taken::Drop,
        }
    }

    /// Ends the first call that is open and that `is_over` accepts. Returns its end or, before that, an unpaired high
    /// surrogate of its arguments.
    pub(super) fn end_of(&mut self, is_over: impl Fn(&CallRow) -> bool, quirks: &mut QuirkSet) -> Option<Delta> {
        visit!(self.tables.calls().len());
        let is_it = |call: &CallRow| call.is_open() && is_over(call);
        let place = self.tables.calls().iter().position(|row| row.as_ref().is_some_and(is_it))?;
        self.end(place, quirks)
    }

    /// Ends the call at this place of the table. Returns what [`end_of`](Self::end_of) does.
    fn end(&mut self, place: usize, quirks: &mut QuirkSet) -> Option<Delta> {
        let call = self.tables.calls_mut().get_mut(place)?.as_mut()?;
        match call.take_surrogate() {
            Some((delta, lead)) => Some(self.flushed(delta, lead, quirks)),
            None => Some(call.end()),
        }
    }

    /// Whether the arguments of a call of this choice are [not whole](Arguments::is_whole).
    pub(super) fn has_broken_call(&self, choice: u32) -> bool {
        visit!(self.tables.calls().len());
        self.tables.calls().iter().flatten().any(|call| call.choice == choice && !call.arguments.is_whole())
    }

    /// Finds the call that a fragment belongs to.
    pub(super) fn resolve(&mut self, choice: &ChoiceRow, fragment: &Element<'_>) -> Selected {
        let selected = self.selected(choice, fragment);
        let fate = selected.map_or(Fate::Opens, |(_, call)| call.fate(fragment));
        if let Some((call_place, _)) = selected.filter(|(_, call)| fate != Fate::Opens || !call.has_opened()) {
            return Selected::Call(call_place as u16, fate);
        }
        let reuses = selected.is_some() && fragment.index.is_some();
        if let (false, true, Some(index)) =
            (selected.is_some() || self.state.lost_call, fragment.is_bare, fragment.index)
        {
            let last = self.opened_last(choice.index).filter(|(_, call)| !call.arguments.may_end());
            if let Some((call_place, call)) = last {
                call.other_index = index;
                return Selected::Call(call_place, Fate::ContinuesUnderAnotherIndex);
            }
        }
        Selected::New { reuses }
    }

    /// Returns the call that a fragment selects, and its place in the table. An index selects the call; without one the
    /// ID does; without both the position in the array does; otherwise the open call is selected. Returns `None` if the
    /// fragment selects no call.
    pub(super) fn selected(&self, choice: &ChoiceRow, fragment: &Element<'_>) -> Option<(usize, &CallRow)> {
        let open = choice
            .open
            .and_then(|open| Some((usize::from(open), self.tables.calls().get(usize::from(open))?.as_ref()?)));
        let is_its_own = |call: &CallRow| fragment.id.is_none() || call.id() == fragment.id;
        let has_index = |call: &CallRow| fragment.index == Some(call.index);
        if open.is_some_and(|(_, call)| has_index(call) && is_its_own(call)) {
            // Nearly every fragment continues the open call.
            return open;
        }
        let last = |wanted: &dyn Fn(&CallRow) -> bool| {
            let of_choice = |call: &CallRow| call.choice == choice.index;
            let calls = self.tables.calls();
            visit!(calls.len());
            let place = calls.iter().rposition(|row| row.as_ref().is_some_and(|c| of_choice(c) && wanted(c)))?;
            Some((place, calls.get(place)?.as_ref()?))
        };
        if fragment.index.is_some() {
            let under_index = last(&|call| has_index(call) && is_its_own(call)).or_else(|| last(&has_index));
            // The index that the call opened last went on under.
            let has_taken = |call: &CallRow| fragment.index == Some(call.other_index);
            let is_last = |call: &CallRow| call.number.saturating_add(1) == choice.calls && has_taken(call);
            return under_index.or_else(|| last(&is_last).filter(|_| fragment.is_bare));
        }
        if let Some(found) = last(&is_its_own).filter(|_| fragment.id.is_some()) {
            return Some(found);
        }
        // Several calls may have begun at one position, in chunks of their own. The open one is preferred to the last
        // one.
        let in_place = |call: &CallRow| call.by_place && call.position == fragment.position;
        // An element after the first of an array is a call of its own if it has a name or an ID.
        let goes_on = fragment.position == 0 || fragment.name.is_none() && fragment.id.is_none();
        let by_place = open.filter(|(_, call)| in_place(call)).or_else(|| last(&in_place));
        by_place.or_else(|| open.filter(|_| goes_on))
    }

    /// Returns the call of a choice that opened last, and its place in the table.
    fn opened_last(&mut self, choice: u32) -> Option<(u16, &mut CallRow)> {
        visit!(self.tables.calls().len());
        let rows = (0..).zip(self.tables.calls_mut()).filter_map(|(place, row)| Some((place, row.as_mut()?)));
        rows.filter(|(_, call)| call.choice == choice && call.has_opened()).max_by_key(|(_, call)| call.number)
    }

    /// Returns the index for a call that came without one: its position in the array or, if that is taken, the next
    /// free index.
    pub(super) fn free_index(&self, choice: &ChoiceRow, position: u32) -> u32 {
        let of_choice = |call: &&CallRow| call.choice == choice.index;
        visit!(self.tables.calls().len());
        let taken = self.tables.calls().iter().flatten().filter(of_choice).any(|call| call.index == position);
        if !taken {
            return position;
        }
        visit!(self.tables.calls().len());
        let highest = self.tables.calls().iter().flatten().filter(of_choice).map(|call| call.index).max();
        highest.unwrap_or(0).saturating_add(1)
    }

    /// Makes a row for the next call of the choice in row `choice`. Returns its place in the table, or `None` if there
    /// is no room.
    pub(super) fn new_call(&mut self, choice: usize, element: &Element<'_>, is_whole: bool) -> Option<u16> {
        let known = self.tables.choices().get(choice).copied().flatten()?;
        let index = element.index.unwrap_or_else(|| self.free_index(&known, element.position));
        let (choices, calls) = self.tables.both_mut();
        visit!(calls.len());
        let place = calls.iter().position(Option::is_none)?;
        let choice = choices.get_mut(choice)?.as_mut()?;
        if let Some(row) = calls.get_mut(place) {
            *row = Some(CallRow {
                choice: choice.index,
                number: choice.calls,
                index,
                other_index: CallRow::NO_INDEX,
                by_place: element.index.is_none() && !is_whole,
                position: element.position,
                identity: Identity::Unopened,
                kind_known: false,
                is_custom: false,
                ended: false,
                name: NameSoFar::EMPTY,
                arguments: Arguments::EMPTY,
                repeats: Repeats::new(self.state.snapshots),
                reach: 0,
                surrogate: PendingSurrogate::NONE,
            });
        }
        choice.calls = choice.calls.saturating_add(1);
        u16::try_from(place).ok()
    }
}

/// Whether the name of a call is the text `null` or `None` in the place of null, as the ID beside it is. A fragment may
/// have such a name; a call that is opened may be named so.
fn is_null_name(delta: &Delta, name: Part, payload: &[u8]) -> bool {
    delta.has(FLAG_NULL_ID) && name.text(payload).is_one_of("null None")
}
