//! The tool calls of a stream that is written.

use super::log::{Chain, Tag};
use super::out::{put, Frame, Inner, Written};
use super::WriteError;
use crate::json::Text;

/// How many tool calls a stream may have.
const CALLS: usize = 32;

/// A tool call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Call {
    /// The choice of the call.
    pub(super) choice: u32,
    /// Its number among the calls of its choice, as the caller counts.
    pub(super) call: u32,
    /// Its number among the calls of its choice that were opened.
    pub(super) index: u32,
    /// ID, name and arguments that wait.
    pub(super) waiting: Chain,
    /// How many bytes of the first record that waits were written.
    pub(super) taken: u32,
    pub(super) flags: u8,
}

/// The call has a name, or a piece of one.
pub(super) const NAMED: u8 = 1;
/// The call has an ID.
pub(super) const HAS_ID: u8 = 2;
/// Arguments came.
pub(super) const HAS_ARGUMENTS: u8 = 4;
/// The call is one of a custom tool.
pub(super) const CUSTOM: u8 = 8;
/// The beginning of the call was written.
pub(super) const OPEN: u8 = 16;
/// No more arguments come.
pub(super) const ENDED: u8 = 32;
/// The end of the call was written.
pub(super) const CLOSED: u8 = 64;
/// Arguments are about to come, so the call may be opened.
pub(super) const WANTED: u8 = 128;

impl Call {
    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Whether the call can be opened: its name is known, and arguments follow, or it is over.
    pub(super) fn is_ready(&self) -> bool {
        !self.has(OPEN) && (self.has(NAMED) && self.has(WANTED) || self.has(ENDED))
    }

    /// Whether something has to be written before more arguments.
    pub(super) fn is_behind(&self) -> bool {
        !self.has(OPEN) || !self.waiting.is_empty()
    }

    /// Writes the name.
    pub(super) fn name(&self, frame: &mut Frame<'_>) {
        let is_new = |tag: u8| tag == Tag::NewName as u8;
        let mut before = self.waiting.records(frame.memory).filter(|(tag, _)| is_new(*tag)).count();
        for (tag, bytes) in self.waiting.records(frame.memory) {
            before = before.saturating_sub(is_new(tag).into());
            if before == 0 && (is_new(tag) || tag == Tag::Name as u8) {
                put!(frame, Inner(Text::verbatim(bytes)));
            }
        }
    }
}

/// The calls, in the order in which they came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calls {
    rows: [Call; CALLS],
    pub(super) len: usize,
    /// The place that was asked for last.
    last: usize,
}

impl Calls {
    pub(super) fn none() -> Calls {
        Calls { rows: [Call::default(); CALLS], len: 0, last: 0 }
    }

    /// Returns the call and its place. A new call is added by [`set`](Self::set).
    pub(super) fn find(&mut self, (choice, call): (u32, u32)) -> Written<(usize, Call)> {
        let is_it = |row: &Call| row.choice == choice && row.call == call;
        if !self.rows().get(self.last).is_some_and(is_it) {
            self.last = self.rows().iter().position(is_it).unwrap_or(self.len);
        }
        match self.rows().get(self.last) {
            Some(row) => Ok((self.last, *row)),
            None if self.len < CALLS => Ok((self.len, Call { choice, call, ..Call::default() })),
            None => Err(WriteError::TooManyCalls),
        }
    }

    pub(super) fn rows(&self) -> &[Call] {
        self.rows.get(..self.len).unwrap_or_default()
    }

    /// Returns the call at this place, or an empty one if there is none.
    pub(super) fn get(&self, place: usize) -> Call {
        self.rows.get(place).copied().unwrap_or_default()
    }

    pub(super) fn set(&mut self, place: usize, call: Call) {
        if let Some(row) = self.rows.get_mut(place) {
            *row = call;
            self.len = self.len.max(place.saturating_add(1));
        }
    }

    /// Sets flags of the call at this place.
    pub(super) fn flag(&mut self, place: usize, flags: u8) {
        self.rows.get_mut(place).into_iter().for_each(|call| call.flags |= flags);
    }

    /// Gives the call the next number among those of its choice.
    pub(super) fn number(&mut self, place: usize) {
        let choice = self.get(place).choice;
        let opened = self.rows().iter().filter(|call| call.choice == choice && call.has(OPEN)).count() as u32;
        self.rows.get_mut(place).into_iter().for_each(|call| call.index = opened);
    }
}
