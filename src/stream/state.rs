//! The state of a stream between two steps of the machine.

use super::config::{Config, Payload};
use super::end::End;
use super::facts::Facts;
use super::found::{Found, Place, Span};
use crate::chat::TokenCounts;
use crate::dialect::{DialectState, Protocol, Skim};
use crate::json::{Balance, Bare};
use crate::shown::shown;
use crate::sse::buffer::EventBuffer;
use crate::sse::Lines;
use crate::{Quirk, QuirkSet};

/// The current block of lines.
#[derive(Clone, Debug)]
pub(super) struct EventBlock {
    pub(super) open: bool,
    /// The block was too long: its rest is skipped.
    pub(super) skipping: bool,
    /// Its payload came in a field named `error`.
    pub(super) error_field: bool,
    /// Its payload is a raw JSON value that has not ended.
    pub(super) raw: bool,
    pub(super) quirks: QuirkSet,
    /// Stream offset of its first byte.
    pub(super) start: u64,
    /// Stream offset of the first `event` or `id` line behind its value: there the next event begins, if one follows.
    pub(super) next_start: u64,
    /// The brackets of the first `scanned` bytes of the payload.
    pub(super) balance: Balance,
    /// It is over the limit, and what counts of it is kept. `balance` follows the value at hand.
    pub(super) skim: Skim,
    /// How many bytes of the payload `balance` followed. Of a raw JSON value that waits: its length in the stream.
    pub(super) scanned: u32,
}

impl EventBlock {
    /// No block.
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
    /// A line that nothing is read from.
    Skip,
    Payload,
    Name,
    Id,
    /// An `event` line behind a payload that is whole.
    NextName,
    /// An `id` line behind a payload that is whole.
    NextId,
    Comment,
    Retry,
    /// A line that is no field, without a byte so far.
    Lead,
    /// A line that is no field, with only space so far.
    Space,
    /// A line that is no field so far: it has this many of the first bytes of `error`.
    ErrorName(u8),
    /// After the colon of `error:`; it is a field if a value follows.
    ErrorColon,
    /// A line that is no field: it has this many of the first bytes of `[DONE]`, or `SPACED` for a `[` and blanks.
    Bracket(u8),
    /// A further `data` line behind a payload that is whole: it has this many bytes of `[DONE]` and blanks behind it.
    NextDone(u8),
    /// In a raw JSON value.
    Raw,
    /// Behind a raw JSON value, in its frame.
    AfterRaw,
    /// Behind the frame of a raw JSON value, or beside the brackets and commas of an array.
    BetweenRaw,
    /// Bytes behind a raw JSON value that are no JSON object.
    Junk,
}

/// What to do before the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    Nothing,
    /// The event was emitted: release it.
    Release,
    /// The event was emitted: release it. Its frame ends with its line.
    Line,
    /// A staged comment was emitted: release it.
    Unstage,
    /// Emit these bytes, which lie behind a sound payload, as malformed.
    Trailing(Span),
    /// Emit `[DONE]`, the line behind the event; `bare`: it came without `data:`.
    Done {
        bare: bool,
    },
}

/// How far `finish` has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Open,
    Lines,
    Over,
}

/// What a machine knows of its stream between two steps: plain data, no lifetimes, no pointers, offsets only.
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
    /// Stream offset of the end of the last block that produced no event.
    pub(super) silent: u64,
    /// The next value of `silent`, which takes effect with the next step.
    pub(super) silent_next: u64,
    pub(super) line: Line,
    pub(super) block: EventBlock,
    /// The reconnection time so far, on a [`Line::Retry`]. On a [`Line::NextDone`] a bit for each blank that is a tab.
    pub(super) retry: u64,
    /// Inside a raw JSON array: its elements are values of their own.
    pub(super) in_array: bool,
    /// Unknown lines, as far as they may be a JSON value that is no object.
    pub(super) plain: Bare,
    pub(super) after: After,
    pub(super) ending: Ending,
    pub(super) facts: Facts,
    /// How often each quirk occurred.
    pub(super) counts: [u16; Quirk::ALL.len()],
    /// What is known of a stream of another protocol than chat completions.
    pub(super) dialect: DialectState,
    /// The machine is known to be where an event may begin, with nothing pending.
    pub(super) rested: bool,
    /// Stream offset of the last event that the memo did not recognise, as far as it was not cut.
    pub(super) unknown_at: u64,
    /// How many bytes may be appended to a payload that was cut, which is in the storage, without another look at anything.
    /// 0: no payload is under way, or other things are to be looked at.
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
            silent: 0,
            silent_next: 0,
            line: Line::Skip,
            block: EventBlock::NEW,
            retry: 0,
            in_array: false,
            plain: Bare::NOTHING,
            after: After::Nothing,
            ending: Ending::Open,
            facts: Facts::NEW,
            counts: [0; Quirk::ALL.len()],
            dialect: DialectState::new(config.dialect),
            rested: false,
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

    /// How often `quirk` occurred. Stops counting at 65,535.
    pub fn quirk_count(&self, quirk: Quirk) -> u16 {
        self.counts.get(quirk as usize).copied().unwrap_or(0)
    }

    /// The verdict so far.
    pub fn end(&self) -> End {
        let mut end = self.facts.end(self.offset, self.config.payload == Payload::Opaque);
        end.dialect = self.dialect.protocol.filter(|protocol| self.facts.chat && protocol.is_read());
        end.replaced = self.quirk_count(Quirk::ReplacedMessage).into();
        end
    }

    /// The token counts so far, of a stream of another protocol than chat completions. Where the protocol reports them bit by
    /// bit they are merged.
    pub fn native_usage(&self) -> Option<TokenCounts> {
        let counts = self.dialect.usage.canonical(Protocol::read_here(self.dialect.protocol)?)?;
        Some(TokenCounts::of(counts))
    }

    /// Whether the stream is known to be of another protocol than chat completions, and is read.
    pub(crate) fn is_native(&self) -> bool {
        Protocol::read_here(self.dialect.protocol).is_some()
    }

    /// Whether the frame of what was found last is over: its block ended, or there was none.
    pub(crate) fn closed(&self) -> bool {
        match self.after {
            After::Release | After::Done { .. } => true,
            After::Unstage => !self.block.open,
            After::Nothing | After::Line | After::Trailing(_) => false,
        }
    }

    /// Whether what ends at this stream offset ends in a CR, to which a LF that comes next probably belongs.
    #[inline]
    pub(crate) fn expects_lf(&self, end: u64) -> bool {
        self.lines.expects_lf() && end == self.offset
    }

    /// The quirks of the event found last.
    pub(crate) fn quirks(&self) -> QuirkSet {
        match self.after {
            After::Release | After::Line | After::Trailing(_) | After::Done { .. } => self.block.quirks,
            After::Nothing | After::Unstage => QuirkSet::EMPTY,
        }
    }

    /// Whether bytes of what the last step found, or of its name, lie in that place.
    pub fn is_borrowed(&self, found: Found, place: Place) -> bool {
        let is_there = |span: Span| span.place == place && span.len > 0;
        let has_name = matches!(found, Found::Chunk(_) | Found::Sse(_) | Found::Malformed(..));
        found.payload().is_some_and(is_there) || has_name && is_there(self.name)
    }

    /// The ID of the last event, in the storage's bytes.
    pub fn last_event_id<'a>(&self, storage: &'a [u8]) -> &'a [u8] {
        self.buffer.id(storage)
    }

    /// Counts an event with these quirks.
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
