//! The tool calls of a stream that is written.

use super::log::{Chain, Tag};
use super::out::Frame;
use super::WriteError;
use crate::json::Text;

/// How many tool calls a stream may have.
pub(super) const CALLS: usize = 32;

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
    flags: u8,
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

    pub(super) fn set(&mut self, flag: u8) {
        self.flags |= flag;
    }

    /// Whether the call can be opened: its name is known, and arguments follow, or it is over.
    pub(super) fn is_ready(&self) -> bool {
        !self.has(OPEN) && (self.has(NAMED) && self.has(WANTED) || self.has(ENDED))
    }

    /// Writes the name.
    pub(super) fn name(&self, frame: &mut Frame<'_>, memory: &[u8]) {
        let mut before = 0u32;
        self.waiting.each(memory, |tag, _| before = before.saturating_add((tag == Tag::NewName as u8).into()));
        self.waiting.each(memory, |tag, bytes| {
            before = before.saturating_sub((tag == Tag::NewName as u8).into());
            if before == 0 && (tag == Tag::Name as u8 || tag == Tag::NewName as u8) {
                frame.text(Text::verbatim(bytes), u32::MAX);
            }
        });
    }

    /// Writes the ID. An ID that never came is made of `word`, the ID of the response and the call's place in
    /// the table.
    pub(super) fn id(&self, frame: &mut Frame<'_>, memory: &[u8], (word, response, place): (&str, &[u8], usize)) {
        if self.has(HAS_ID) {
            return self.waiting.each(memory, |tag, bytes| {
                if tag == Tag::Id as u8 {
                    frame.text(Text::verbatim(bytes), u32::MAX);
                }
            });
        }
        frame.bytes(word.as_bytes());
        frame.bytes(response);
        frame.bytes(b"_");
        frame.number(place as u64);
    }
}

/// The calls, in the order in which they came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calls {
    rows: [Call; CALLS],
    len: usize,
    /// The place that was asked for last.
    last: usize,
}

impl Calls {
    pub(super) const NONE: Calls =
        Calls { rows: [Call { choice: 0, call: 0, index: 0, waiting: Chain::NONE, flags: 0 }; CALLS], len: 0, last: 0 };

    /// Returns the call and its place. A new call is added by [`set`](Self::set).
    pub(super) fn find(&mut self, choice: u32, call: u32) -> Result<(usize, Call), WriteError> {
        let is_it = |row: &Call| row.choice == choice && row.call == call;
        if let Some(row) = self.rows().get(self.last).filter(|row| is_it(row)) {
            return Ok((self.last, *row));
        }
        let Some(place) = self.rows().iter().position(is_it) else {
            let is_full = self.len >= CALLS;
            let new = Call { choice, call, ..Call::default() };
            return if is_full { Err(WriteError::TooManyCalls) } else { Ok((self.len, new)) };
        };
        self.last = place;
        Ok((place, self.get(place)))
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn rows(&self) -> &[Call] {
        self.rows.get(..self.len).unwrap_or_default()
    }

    pub(super) fn rows_mut(&mut self) -> &mut [Call] {
        self.rows.get_mut(..self.len).unwrap_or_default()
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

    /// Whether a record of a call waits.
    pub(super) fn wait(&self) -> bool {
        self.rows().iter().any(|call| !call.waiting.is_empty())
    }

    /// Returns how many calls of the choice were opened.
    pub(super) fn opened(&self, choice: u32) -> u32 {
        self.rows().iter().filter(|call| call.choice == choice && call.has(OPEN)).count() as u32
    }
}

/// Whether a type of a call is that of a custom tool.
pub(super) fn is_custom(kind: Option<Text<'_>>) -> bool {
    kind.is_some_and(|kind| kind == "custom" || kind == "custom_tool_call")
}
