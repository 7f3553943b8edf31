//! Raw JSON, which came without `data:`: where a value begins and ends.
//!
//! An unknown line is one that is neither a field nor a comment. A raw value begins in an unknown line whose first
//! byte, after blanks, is `{`, if the block has no data yet. If the block has data that is an object without its end,
//! an unknown line continues that object. This module follows brackets and strings only; the pass over the JSON checks
//! the value later.

use super::config::{Framing, Payload};
use super::end::DONE;
use super::found::Found;
use super::machine::{is_space, AfterPiece, Machine};
use super::state::{After, Ending, EventBlock, Line};
use crate::chat::read::is_error_as_body;
use crate::sse::{LineKind, Piece};
use crate::visits::visit;
use crate::{Quirk, Storage};

/// The number of a [`Line::Bracket`] with the whole of `[DONE]`.
const WHOLE: u8 = DONE.len() as u8;

/// The number of a [`Line::Bracket`] with a `[` and blanks. Such a line cannot become `[DONE]`.
const SPACED: u8 = u8::MAX;

impl<const SLOTS: usize> Machine<SLOTS> {
    /// Takes a piece of an unknown line.
    pub(super) fn unknown<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        window: &[u8],
        piece: Piece<'_>,
        start: usize,
    ) -> AfterPiece {
        let held = piece.held;
        if piece.first {
            self.line = if self.config.framing == Framing::Spec || self.config.payload == Payload::Opaque {
                Line::Skip
            } else if self.holds_value_back() {
                Line::Lead
            } else if self.block.raw {
                Line::Raw
            } else if self.buffer.has_data() && self.data_is_open(storage, window) {
                self.block.quirks.insert(Quirk::ContinuedPayload);
                Line::Payload
            } else if self.buffer.has_data() && !self.data_is_whole(storage, window) {
                Line::Skip
            } else if held.as_slice().is_empty() {
                Line::Lead
            } else {
                Line::ErrorName(0)
            };
            // The held bytes are the beginning of a field name or of a byte order mark, so they have no bracket, quote
            // or colon.
            match self.line {
                Line::Raw | Line::Payload => {
                    if self.block.raw {
                        self.block.balance.feed(held.as_slice());
                    }
                    if !self.add_data(storage, window, held.as_slice(), true, 0) {
                        if !self.block.raw {
                            return AfterPiece::Found(self.too_long());
                        }
                        let closes = self.block.balance.feed(piece.value);
                        return self.raw_too_long(closes, start);
                    }
                }
                Line::ErrorName(_) => {
                    for &byte in held.as_slice() {
                        self.error_name(byte);
                    }
                }
                _ => {}
            }
        }
        self.unknown_bytes(storage, window, piece.value, start, piece.last)
    }

    /// Whether the data so far is an object without its end.
    fn data_is_open<S: Storage + ?Sized>(&mut self, storage: &S, window: &[u8]) -> bool {
        if self.block.skim.is_on() {
            return !self.block.skim.is_over();
        }
        self.follow_data(storage, window);
        self.block.balance.is_open()
    }

    /// Whether the data so far is exactly one whole object.
    pub(super) fn data_is_whole<S: Storage + ?Sized>(&mut self, storage: &S, window: &[u8]) -> bool {
        if self.block.skim.is_on() {
            return self.block.skim.is_over();
        }
        self.follow_data(storage, window);
        self.block.balance.is_whole()
    }

    /// Follows the brackets of the data. It looks at each byte once, in however many steps.
    fn follow_data<S: Storage + ?Sized>(&mut self, storage: &S, window: &[u8]) {
        let payload = self.buffer.data_span().of(window, storage);
        let fresh = payload.get(self.block.scanned as usize..).unwrap_or(&[]);
        self.block.balance.follow(fresh);
        self.block.scanned = payload.len() as u32;
    }

    /// Takes the next byte of a line that may become a field named `error`.
    fn error_name(&mut self, byte: u8) {
        self.line = match self.line {
            Line::ErrorName(5) if byte == b':' => Line::ErrorColon,
            Line::ErrorName(n) if b"error".get(usize::from(n)) == Some(&byte) => Line::ErrorName(n.saturating_add(1)),
            _ => Line::Skip,
        };
    }

    /// Takes bytes of an unknown line. Decides byte by byte what the line is, until that is known.
    fn unknown_bytes<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        window: &[u8],
        bytes: &[u8],
        start: usize,
        last: bool,
    ) -> AfterPiece {
        // After a whole payload, only `[DONE]`, an object and a field named `error` can begin another event.
        let is_free = !self.buffer.has_data();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            visit!(1);
            match self.line {
                Line::Lead | Line::Space if is_space(byte) => self.line = Line::Space,
                Line::Lead | Line::Space if is_free && self.in_array && matches!(byte, b',' | b']') => {
                    self.line = Line::BetweenRaw;
                    continue;
                }
                Line::Lead | Line::Space | Line::BetweenRaw if is_free && byte == b'{' => {
                    self.begin_raw(start.saturating_add(at));
                    continue;
                }
                Line::Lead | Line::Space if !is_free && byte == b'{' => {
                    // The event before has no blank line, so it ends here.
                    let found = self.dispatch_before_next(storage, window);
                    return AfterPiece::Within(start.saturating_add(at), found);
                }
                Line::Lead | Line::Space if byte == b'[' => self.line = Line::Bracket(1),
                Line::Lead => {
                    self.line = Line::ErrorName(0);
                    continue;
                }
                Line::Space => {
                    self.line = Line::Skip;
                    continue;
                }
                Line::AfterRaw | Line::BetweenRaw if is_space(byte) => {}
                Line::ErrorName(_) => {
                    self.error_name(byte);
                    if self.line == Line::Skip {
                        continue;
                    }
                }
                Line::ErrorColon if self.buffer.has_data() => {
                    // The event before has no blank line, so it ends here.
                    let found = self.dispatch_before_next(storage, window);
                    return AfterPiece::Within(start.saturating_add(at), found);
                }
                Line::ErrorColon => {
                    self.open();
                    self.block.error_field = true;
                    self.block.quirks.insert(Quirk::ErrorField);
                    self.state.facts.note_field(self.state.line_start);
                    self.line = Line::Payload;
                    if byte != b' ' {
                        continue;
                    }
                }
                Line::Bracket(1 | SPACED) if is_space(byte) => self.line = Line::Bracket(SPACED),
                Line::Bracket(1 | SPACED) if is_free && byte == b'{' => {
                    self.begin_array();
                    self.begin_raw(start.saturating_add(at));
                    continue;
                }
                Line::Bracket(1 | SPACED) if is_free && byte == b']' => {
                    self.begin_array();
                    self.end_array();
                    self.line = Line::BetweenRaw;
                }
                Line::Bracket(WHOLE) if is_space(byte) => {}
                Line::Bracket(n) => {
                    if n == SPACED || DONE.get(usize::from(n)) != Some(&byte) {
                        self.line = Line::Skip;
                        continue;
                    }
                    self.line = Line::Bracket(n.saturating_add(1));
                }
                Line::AfterRaw | Line::BetweenRaw if self.in_array && byte == b',' => {}
                Line::AfterRaw | Line::BetweenRaw if self.in_array && byte == b']' => self.end_array(),
                Line::AfterRaw => {
                    // The frame of the value ends before this byte, whatever the byte begins.
                    self.line = Line::BetweenRaw;
                    let here = start.saturating_add(at);
                    self.empty_block_end = self.offset.saturating_add(here as u64);
                    return AfterPiece::Within(here, Found::NeedMore);
                }
                Line::BetweenRaw => {
                    self.begin_at(start.saturating_add(at));
                    self.line = Line::Junk;
                    continue;
                }
                Line::Raw => {
                    let rest = bytes.get(at..).unwrap_or(&[]);
                    return self.raw(storage, window, rest, start.saturating_add(at));
                }
                Line::Payload | Line::Junk => {
                    let rest = bytes.get(at..).unwrap_or(&[]);
                    if !self.add_data(storage, window, rest, false, start.saturating_add(at)) {
                        return AfterPiece::Found(self.too_long());
                    }
                    break;
                }
                _ => {
                    self.note_text();
                    self.facts.sniff.foreign(bytes.get(at..).unwrap_or(&[]));
                    break;
                }
            }
            at = at.saturating_add(1);
        }
        if last {
            return self.end_unknown_line(storage, window, start.saturating_add(bytes.len()));
        }
        AfterPiece::Go
    }

    /// Ends an unknown line at offset `end` of the window.
    fn end_unknown_line<S: Storage + ?Sized>(&mut self, storage: &mut S, window: &[u8], end: usize) -> AfterPiece {
        match self.line {
            Line::Bracket(WHOLE) if self.buffer.has_data() => {
                AfterPiece::Found(self.dispatch_before_done(storage, window, true))
            }
            Line::Bracket(WHOLE) => {
                self.open();
                self.block.quirks.insert(Quirk::BareDone);
                self.buffer.end();
                self.lines.expect_lf();
                // The frame includes the byte that ends the line, unless the stream ended before it.
                let line_end = end.saturating_add(usize::from(self.ending == Ending::Open));
                self.index.frame = (self.line_start, self.offset.saturating_add(line_end as u64));
                AfterPiece::Found(self.conclude_done())
            }
            Line::Bracket(1 | SPACED) if !self.buffer.has_data() && self.ending == Ending::Open => {
                self.begin_array();
                AfterPiece::Go
            }
            Line::Lead | Line::Skip | Line::ErrorName(_) | Line::ErrorColon | Line::Bracket(_)
                if self.ending == Ending::Open =>
            {
                self.note_text();
                AfterPiece::Go
            }
            Line::Junk => {
                let end = self.offset.saturating_add(end as u64);
                self.line = Line::Skip;
                let found = self.dispatch(storage, window, end, false);
                if self.ending == Ending::Open {
                    // The frame ends after the line, as the next step notes.
                    self.stays_in_line();
                    self.lines.expect_lf();
                    self.next_empty_block_end = end.saturating_add(1);
                }
                AfterPiece::Found(found)
            }
            // While a block is open the step goes on, because bytes of the block are in this window.
            Line::AfterRaw | Line::BetweenRaw if self.ending == Ending::Open && !self.block.open => {
                self.lines.expect_lf();
                self.end_empty_block(self.offset.saturating_add(end as u64).saturating_add(1))
            }
            _ => AfterPiece::Go,
        }
    }

    /// Notes that a line has text which is not a field, a comment or a JSON object.
    pub(super) fn note_text(&mut self) {
        self.facts.has_text = true;
    }

    /// Begins an array of raw JSON values.
    fn begin_array(&mut self) {
        self.in_array = true;
        self.facts.whole_values = self.facts.whole_values.saturating_add(1);
    }

    /// Ends an array of raw JSON values.
    fn end_array(&mut self) {
        self.in_array = false;
        self.facts.empty_array |= self.facts.raw_values == 0;
    }

    /// Begins a block in the middle of a line, at this offset of the window.
    fn begin_at(&mut self, at: usize) {
        self.block = EventBlock {
            open: true,
            start: self.offset.saturating_add(at as u64),
            quirks: self.block.quirks,
            ..EventBlock::NEW
        };
    }

    /// Begins a raw JSON value at this offset of the window.
    fn begin_raw(&mut self, at: usize) {
        self.begin_at(at);
        self.block.raw = true;
        self.line = Line::Raw;
    }

    /// Takes bytes of a raw JSON value.
    fn raw<S: Storage + ?Sized>(&mut self, storage: &mut S, window: &[u8], bytes: &[u8], start: usize) -> AfterPiece {
        let closes = self.block.balance.feed(bytes);
        let value = closes.and_then(|len| bytes.get(..len)).unwrap_or(bytes);
        if !self.add_data(storage, window, value, false, start) {
            return self.raw_too_long(closes, start);
        }
        if closes.is_none() {
            return AfterPiece::Go;
        }
        self.line = Line::AfterRaw;
        let end = start.saturating_add(value.len());
        let frame_end = self.offset.saturating_add(end as u64);
        let behind = bytes.get(value.len()..).unwrap_or(&[]);
        if behind.iter().all(|byte| is_space(*byte)) && self.must_hold_back(storage, window, frame_end) {
            return AfterPiece::Go;
        }
        let found = self.dispatch(storage, window, frame_end, false);
        self.stays_in_line();
        AfterPiece::Within(end, found)
    }

    /// Makes the frame of the event that was found end with its line.
    fn stays_in_line(&mut self) {
        if self.after == After::Release {
            self.after = After::Line;
        }
    }

    /// Whether to hold back the raw JSON value that ends at this stream offset: it is an error response if nothing
    /// follows it.
    fn must_hold_back<S: Storage + ?Sized>(&mut self, storage: &S, window: &[u8], end: u64) -> bool {
        let Ok(len) = u32::try_from(end.saturating_sub(self.block.start)) else { return false };
        if self.in_array || !self.facts.is_bodiless() {
            return false;
        }
        self.memo.forget_current();
        let payload = self.buffer.data_span().of(window, storage);
        self.block.scanned = len;
        is_error_as_body(&mut self.index, payload, self.state.config.limits.max_depth)
    }

    /// Whether a whole raw JSON value is held back until something follows it, or the stream ends.
    pub(super) fn holds_value_back(&self) -> bool {
        self.block.raw && self.block.balance.is_closed()
    }

    /// Whether a piece has more than blanks and comments, so that something follows a value that is held back.
    pub(super) fn has_more(piece: &Piece<'_>) -> bool {
        let is_blank = piece.held.as_slice().is_empty() && piece.value.iter().all(|byte| is_space(*byte));
        piece.field != LineKind::Comment && (piece.field != LineKind::Unknown || !is_blank)
    }

    /// Ends the event of the raw JSON value that was held back, and returns it. Its frame ends where the current line
    /// begins, or with the stream.
    pub(super) fn dispatch_held_value<S: Storage + ?Sized>(&mut self, storage: &mut S, window: &[u8]) -> Found {
        let end = self.block.start.saturating_add(self.block.scanned.into());
        let found = self.dispatch(storage, window, end, false);
        self.stays_in_line();
        if self.ending == Ending::Open && self.line_start >= end {
            self.next_empty_block_end = self.line_start;
        }
        found
    }

    /// Skips a raw JSON value that is too long. `closes` is the end of the value, if the piece that begins at `start`
    /// has it.
    fn raw_too_long(&mut self, closes: Option<usize>, start: usize) -> AfterPiece {
        let found = self.too_long();
        let Some(end) = closes else { return AfterPiece::Found(found) };
        self.end_skipped_block();
        self.line = Line::AfterRaw;
        AfterPiece::Within(start.saturating_add(end), found)
    }

    /// Skips a piece of a raw JSON value that is too long. If the value ends in the piece, the line goes on after it.
    pub(super) fn skip_raw(&mut self, piece: Piece<'_>, start: usize) -> AfterPiece {
        self.block.balance.feed(piece.held.as_slice());
        let Some(end) = self.block.balance.feed(piece.value) else { return AfterPiece::Go };
        self.end_skipped_block();
        self.line = Line::AfterRaw;
        AfterPiece::Within(start.saturating_add(end), Found::NeedMore)
    }
}
