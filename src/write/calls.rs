//! The tool calls of a stream that is written.

use super::log::Mark;
use super::out::Written;
use super::WriteError;

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
    pub(super) index: u8,
    /// Where ID, name and arguments begin that wait.
    pub(super) waiting: Mark,
    /// Where its name begins, or 0 if it has none.
    pub(super) name: u32,
    /// Whether it has an ID, and arguments.
    pub(super) has_id: bool,
    pub(super) has_arguments: bool,
    /// Whether it is one of a custom tool.
    pub(super) is_custom: bool,
    /// Whether arguments are about to come, so that it may be opened, and whether no more come.
    pub(super) is_wanted: bool,
    pub(super) is_over: bool,
    /// Whether its beginning and its end were written.
    pub(super) is_open: bool,
    pub(super) is_closed: bool,
}

impl Call {
    /// Whether something has to be written before more arguments.
    pub(super) fn is_behind(&self) -> bool {
        !self.is_open || self.waiting.at > 0
    }

    /// Whether arguments never came, which are then an empty object.
    pub(super) fn is_missing_arguments(&self) -> bool {
        !self.has_arguments && !self.is_custom
    }
}

/// The calls, in the order in which they came.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Calls {
    rows: [Call; CALLS],
    pub(super) len: usize,
}

impl Calls {
    /// Returns the call and its place. A new call is added by [`set`](Self::set).
    pub(super) fn find(&self, (choice, call): (u32, u32)) -> Written<(usize, Call)> {
        let place = self.rows().iter().position(|row| (row.choice, row.call) == (choice, call)).unwrap_or(self.len);
        let new = Call { choice, call, ..Call::default() };
        let row = self.rows.get(place).ok_or(WriteError::TooManyCalls)?;
        Ok((place, if place < self.len { *row } else { new }))
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
}
