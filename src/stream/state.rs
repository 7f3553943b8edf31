//! The state of a stream between two steps of the machine.

use super::config::{Config, Payload};
use super::end::End;
use super::facts::{Facts, Failed};
use super::found::{Found, Place, Span};
use crate::chat::TokenCounts;
use crate::dialect::{DialectState, Protocol, Skim};
use crate::json::Balance;
use crate::shown::shown;
use crate::sse::buffer::EventBuffer;
use crate::sse::Lines;
use crate::{Quirk, QuirkSet};

/// The block that is being read: the lines of one event, up to its blank line.
#[derive(Clone, Debug)]
pub(super) struct EventBlock {
    /// The block has a field or a raw JSON value.
    pub(super) open: bool,
    /// The event is over the limit, or is left unread: the rest of the block is skipped.
    pub(super) skipping: bool,
    /// The payload came in a field named `error`.
    pub(super) error_field: bool,
    /// The payload is raw JSON: it came without `data:`.
    pub(super) raw: bool,
    pub(super) quirks: QuirkSet,
    /// Stream offset of its first byte.
    pub(super) start: u64,
    /// Stream offset of the first `event` line after the payload. If another event follows in the same block, it begins
    /// there.
    pub(super) next_start: u64,
    /// The open brackets after the first `scanned` bytes of the payload. While `skim` is on, those of the current
    /// value.
    pub(super) balance: Balance,
    /// On if the event is over the limit and is reduced to the members that are reported.
    pub(super) skim: Skim,
    /// How many bytes of the payload `balance` has followed. For a raw JSON value that is held back: its length in the
    /// stream.
    pub(super) scanned: u32,
}

impl EventBlock {
    /// A block without a field so far.
    pub(super) const NEW: EventBlock = EventBlock {
        open: false,
        skipping: false,
        error_field: false,
        raw: false,
        quirks: QuirkSet::EMPTY,
        start: 0,
        next_start: 0,
        balance: Balance::NOTHING,
        skim: Skim::OFF,
        scanned: 0,
    };
}

/// What the current line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// The rest of the line is ignored.
    Skip,
    /// A `data` line, or a line that continues its payload.
    Payload,
    Name,
    Id,
    /// An `event` line after a whole payload.
    NextName,
    Comment,
    Retry,
    /// The beginning of an unknown line, which is not one of the standard's fields.
    Lead,
    /// An unknown line with only white space so far.
    Space,
    /// An unknown line with this many of the first bytes of `error` so far.
    ErrorName(u8),
    /// An unknown line with `error:` so far. It is a field named `error` if a value follows.
    ErrorColon,
    /// An unknown line with this many of the first bytes of `[DONE]` so far. `SPACED` means a `[` and blanks.
    Bracket(u8),
    /// A further `data` line after a whole payload, with this many bytes of `[DONE]` and of blanks after it so far.
    NextDone(u8),
    /// Inside a raw JSON value.
    Raw,
    /// After a raw JSON value, in the frame of that value.
    AfterRaw,
    /// After the frame of a raw JSON value, or between the values of an array.
    BetweenRaw,
    /// Bytes after a raw JSON value that do not begin another JSON object.
    Junk,
}

/// What the next step does first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    Nothing,
    /// Release the event that was emitted.
    Release,
    /// Release the event that was emitted; its frame ends with its line.
    Line,
    /// Release the staged comment that was emitted.
    Unstage,
    /// Report these bytes, which follow a sound payload, as malformed.
    Trailing(Span),
    /// Read the event that stands behind one that broke off in the same payload. `is_error` means that it is named so.
    Glued {
        payload: Span,
        is_error: bool,
    },
    /// Report `[DONE]`, the line after the event. `bare` means that it came without `data:`.
    Done {
        bare: bool,
    },
}

/// How far [`Machine::finish`](super::Machine::finish) has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It was not called: the stream goes on.
    Open,
    /// The last line was read.
    Lines,
    /// The last block was read.
    Over,
}

/// The state of a stream between two steps: plain data without pointers or lifetimes, in which positions are offsets.
#[derive(Clone)]
pub struct StreamState {
    pub(super) config: Config,
    pub(super) lines: Lines,
    pub(super) buffer: EventBuffer,
    /// The name of the event found last.
    pub(super) name: Span,
    /// Stream offset of the next byte.
    pub(super) offset: u64,
    /// Stream offset where the current line began.
    pub(super) line_start: u64,
    /// Stream offset of the end of the last block that produced no event, or of the line of the last raw JSON value. A
    /// frame ends there, although no result of a step does.
    pub(super) empty_block_end: u64,
    /// If this is higher than `empty_block_end`, the next step sets `empty_block_end` to it.
    pub(super) next_empty_block_end: u64,
    pub(super) line: Line,
    pub(super) block: EventBlock,
    /// In a [`Line::Retry`], the reconnection time so far. In a [`Line::NextDone`], a bit for each blank that is a tab.
    pub(super) retry: u64,
    /// Inside a raw JSON array, whose elements are reported as values of their own.
    pub(super) in_array: bool,
    pub(super) after: After,
    pub(super) ending: Ending,
    pub(super) facts: Facts,
    /// How often each quirk occurred.
    pub(super) counts: [u16; Quirk::ALL.len()],
    /// The protocol, and what the readers of protocols other than chat completions need of earlier events.
    pub(super) dialect: DialectState,
    /// [`Machine::is_between_events`](super::Machine::is_between_events) is known to be true. `false` means unknown.
    pub(super) between_events: bool,
    /// Stream offset of the last event that no template recognized, so that its payload is not compared again.
    /// `u64::MAX` if a slice cut that event: then its payload is compared when the event ends.
    pub(super) unknown_at: u64,
    /// How many bytes may be appended to the stored payload of an event that a slice cut, without checking anything
    /// else. 0 if no payload was cut, or if the next step has more to do than to append.
    pub(super) appendable: u32,
}

shown!("StreamState": StreamState, this => offset: this.offset, config: this.config);

impl StreamState {
    /// The state at the start of a stream.
    pub(super) const fn new(config: Config) -> Self {
        StreamState {
            config,
            lines: Lines::new(),
            buffer: EventBuffer::new(config.limits),
            name: Span::EMPTY,
            offset: 0,
            line_start: 0,
            empty_block_end: 0,
            next_empty_block_end: 0,
            line: Line::Skip,
            block: EventBlock::NEW,
            retry: 0,
            in_array: false,
            after: After::Nothing,
            ending: Ending::Open,
            facts: Facts::NEW,
            counts: [0; Quirk::ALL.len()],
            dialect: DialectState::new(config.protocol, config.snapshots),
            between_events: false,
            unknown_at: u64::MAX,
            appendable: 0,
        }
    }

    /// How many bytes were consumed.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// How often `quirk` occurred, at most 65,535.
    pub fn quirk_count(&self, quirk: Quirk) -> u16 {
        self.counts.get(quirk as usize).copied().unwrap_or(0)
    }

    /// The verdict so far.
    pub fn end(&self) -> End {
        self.end_after(QuirkSet::EMPTY)
    }

    /// The verdict so far, with quirks of the last event that are not counted yet.
    pub(super) fn end_after(&self, quirks: QuirkSet) -> End {
        let count = |quirk| u32::from(self.quirk_count(quirk)).saturating_add(quirks.contains(quirk).into());
        let mut end = self.facts.end(self.offset, self.config.payload == Payload::Opaque);
        if self.facts.own_event {
            end.protocol = self.dialect.protocol.filter(|protocol| protocol.is_read());
        }
        end.replaced = end.replaced.saturating_add(count(Quirk::ReplacedMessage));
        end.broken_calls = count(Quirk::BrokenArguments);
        end
    }

    /// Whether a response of chat completions is over, and did not fail: `[DONE]` came, each choice has a finish reason, or
    /// it is a whole body.
    #[cold]
    pub(super) fn is_over(&self) -> bool {
        let is_over = self.facts.is_done() || self.facts.has_finished() || self.facts.is_body();
        is_over && self.facts.failed == Failed::No && !self.is_native()
    }

    /// The token counts so far of a stream of another protocol than chat completions, merged where the protocol reports
    /// them over several events. `None` for chat completions.
    pub fn native_counts(&self) -> Option<TokenCounts> {
        self.dialect.usage.canonical(Protocol::read_here(self.dialect.protocol)?)
    }

    /// Whether the stream is known to be of another protocol than chat completions, and that protocol is read.
    pub(crate) fn is_native(&self) -> bool {
        Protocol::read_here(self.dialect.protocol).is_some()
    }

    /// Whether the frame of the last result is over: its block ended, or it was a comment outside of a block.
    pub(crate) fn closed(&self) -> bool {
        match self.after {
            After::Release | After::Done { .. } => true,
            After::Unstage => !self.block.open,
            After::Nothing | After::Line | After::Trailing(_) | After::Glued { .. } => false,
        }
    }

    /// Whether the bytes up to this stream offset end in a CR that a LF probably follows.
    #[inline]
    pub(crate) fn expects_lf(&self, end: u64) -> bool {
        self.lines.expects_lf() && end == self.offset
    }

    /// Whether the stream was ended, so that bytes would belong to another one.
    pub(super) fn is_finished(&self) -> bool {
        self.ending != Ending::Open
    }

    /// The quirks of the event found last.
    pub(crate) fn quirks(&self) -> QuirkSet {
        match self.after {
            After::Release | After::Line | After::Trailing(_) | After::Glued { .. } | After::Done { .. } => {
                self.block.quirks
            }
            After::Nothing | After::Unstage => QuirkSet::EMPTY,
        }
    }

    /// Whether the payload of the last step's result, or the name of its event, has bytes in that place.
    pub fn is_borrowed(&self, found: Found, place: Place) -> bool {
        let is_there = |span: Span| span.place == place && span.len > 0;
        let has_name = matches!(found, Found::Chunk(_) | Found::Sse(_) | Found::Malformed(..));
        found.payload().is_some_and(is_there) || has_name && is_there(self.name)
    }

    /// The last event ID, which is in `storage`.
    pub fn last_event_id<'a>(&self, storage: &'a [u8]) -> &'a [u8] {
        self.buffer.id(storage)
    }

    /// Counts the quirks of one event.
    pub(crate) fn count(&mut self, quirks: QuirkSet) {
        if quirks.is_empty() {
            return;
        }
        for quirk in quirks.iter() {
            if let Some(count) = self.counts.get_mut(quirk as usize) {
                *count = count.saturating_add(1);
            }
        }
    }
}
