//! Messages so far: some servers send the whole message so far in each chunk. The tracker cuts what earlier messages
//! reported off the deltas of a later message.

use super::tools::Selected;
use super::{ChoiceRow, Taken, TextSource, TrackerOf};
use crate::chat::ItemDeltas;
use crate::delta::{Called, Delta, Kind, Part, FLAG_CUSTOM, FLAG_REPLACES, FLAG_SELECTS};
use crate::tables::Tables;
use crate::track::call::{CallRow, Element, Fate, Hash};
use crate::track::whole::{cut, Reach, Reading};
use crate::visits::visit;
use crate::{Quirk, QuirkSet};

impl<T: Tables<Option<ChoiceRow>, Option<CallRow>>> TrackerOf<T> {
    /// Takes in a `message`, or a delta of the current message, and cuts off what earlier messages reported.
    #[inline(never)]
    pub(super) fn take_whole(
        &mut self,
        place: usize,
        (delta, called): (&mut Delta, Called),
        payload: &[u8],
        offset: u64,
        quirks: &mut QuirkSet,
    ) -> Taken {
        if delta.kind == Kind::Message {
            return self.message(place, delta, payload, quirks);
        }
        let Some(choice) = self.tables.choices_mut().get_mut(place).and_then(Option::as_mut) else {
            return Taken::Drop;
        };
        let Some(reported) = &mut self.state.reported else { return Taken::Drop };
        let is_late = choice.finished && delta.kind != Kind::Role;
        let taken = match delta.kind {
            Kind::ToolCall => {
                // The name and the arguments of a message choose no call, but a message has `{}` for empty arguments.
                let arguments = Some(called.arguments).filter(Part::is_empty).unwrap_or(Part::NONE);
                self.tool_call(place, delta, Called { arguments, ..Called::NOTHING }, payload, offset, quirks)
            }
            Kind::ToolName => self.tool_name(delta, payload, quirks),
            Kind::ToolArguments => self.whole_arguments(delta, payload, quirks),
            Kind::Meta => self.meta(delta),
            Kind::Role if core::mem::replace(&mut choice.role, true) => Taken::Drop,
            kind if reported.has(kind) => Taken::Drop,
            kind => {
                if let Some(surrogate) = choice.surrogate_of(kind) {
                    let more = surrogate.join(&mut delta.text, payload);
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

    /// Takes in a `message`. Its deltas follow if it begins with what earlier messages reported.
    pub(super) fn message(&mut self, place: usize, delta: &Delta, payload: &[u8], quirks: &mut QuirkSet) -> Taken {
        (self.state.reported, self.state.current_call) = (None, None);
        let Some(choice) = self.choice(place).copied() else { return Taken::Drop };
        if choice.delta {
            return Taken::Drop;
        }
        let (before, reach) = match choice.source {
            TextSource::Deltas { .. } | TextSource::Slots(_) => (None, Reach::default()),
            TextSource::Messages { sum, reach } => (Some(sum), reach),
        };
        let reading = self.read_message(choice.index, reach, delta.text.bytes(payload));
        let Some((sum, now)) = reading.end(before) else {
            quirks.insert(Quirk::ReplacedMessage);
            return Taken::Drop;
        };
        // This message contains the pending surrogates again.
        while self.flush(Some(choice.index), &mut QuirkSet::EMPTY.clone()).is_some() {}
        self.state.reported = Some(reach);
        if let Some(choice) = self.choice(place) {
            choice.source = TextSource::Messages { sum, reach: now };
        }
        Taken::Drop
    }

    /// Reads a message, to compare it with `reach`, which is how much of its choice was reported.
    pub(super) fn read_message(&self, choice: u32, reach: Reach, message: &[u8]) -> Reading {
        visit!(self.tables.calls().len());
        let mut reading = Reading::new(reach);
        let mut room = self.tables.calls().iter().filter(|row| row.is_none()).count();
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
                    known = row.filter(CallRow::has_opened);
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

    /// Returns the place in the table of the call at this position of earlier messages.
    pub(super) fn call_of_message(&self, choice: u32, position: u32) -> Option<u16> {
        visit!(self.tables.calls().len());
        let is_it = |call: &CallRow| call.choice == choice && call.position == position;
        u16::try_from(self.tables.calls().iter().position(|row| row.as_ref().is_some_and(is_it))?).ok()
    }

    /// Does what [`resolve`](Self::resolve) does, for a call in a message: a call at a new position opens.
    pub(super) fn resolve_whole(&self, choice: &ChoiceRow, call: &Element<'_>) -> Selected {
        if let Some(call_place) = self.call_of_message(choice.index, call.position) {
            let known = self.tables.calls().get(usize::from(call_place)).and_then(Option::as_ref);
            let has_opened = known.is_some_and(CallRow::has_opened);
            return Selected::Call(call_place, if has_opened { Fate::Continues } else { Fate::Opens });
        }
        visit!(self.tables.calls().len());
        let of_choice = |state: &&CallRow| state.choice == choice.index;
        let reuses =
            self.tables.calls().iter().flatten().filter(of_choice).any(|state| Some(state.index) == call.index);
        Selected::New { reuses }
    }

    /// Takes in arguments in a message, and cuts off what was reported of them.
    pub(super) fn whole_arguments(&mut self, delta: &mut Delta, payload: &[u8], quirks: &mut QuirkSet) -> Taken {
        let Some(state) = self.current_call() else { return Taken::Drop };
        delta.call = state.number;
        let more = state.surrogate.join(&mut delta.text, payload);
        cut(&mut delta.text, payload, state.reach);
        let text = delta.text.text(payload);
        state.reach = state.reach.saturating_add(text.decoded_len() as u32);
        if !delta.has(FLAG_CUSTOM) && state.arguments.add(text, None) {
            quirks.insert(Quirk::ArgumentsAfterEnd);
        }
        delta.flags = 0;
        self.joined(more, delta, payload, quirks)
    }
}
