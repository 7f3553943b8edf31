//! What a piece of a line means for the block and its payload.

use super::config::{Framing, Payload};
use super::end::DONE;
use super::facts::Evidence;
use super::found::Found;
use super::machine::{is_space, AfterPiece, Machine};
use super::state::{After, Line};
use crate::sse::buffer::NoRoom;
use crate::sse::{LineKind, Piece};
use crate::{Quirk, Storage};

/// The longest [`Line::NextDone`]: `[DONE]`, and one blank for each bit of [`retry`](super::StreamState::retry), which
/// keeps them.
const NEXT_DONE: usize = DONE.len() + 64;

/// The bit of the blank at this offset of a [`Line::NextDone`]. It is set for a tab.
fn tab(at: usize) -> u64 {
    1u64.wrapping_shl(at.saturating_sub(DONE.len()) as u32)
}

impl<const SLOTS: usize> Machine<SLOTS> {
    /// Takes a piece of a line. `end` is the offset in the window after the piece.
    pub(super) fn piece<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        window: &[u8],
        piece: Piece<'_>,
        end: usize,
    ) -> AfterPiece {
        if piece.field == LineKind::Blank {
            return self.blank(storage, window, end);
        }
        if self.holds_value_back() && Self::has_more(&piece) {
            return AfterPiece::Again(self.dispatch_held_value(storage, window));
        }
        // A last piece has one more byte after its value: the CR or LF.
        let value_end = end.saturating_sub(usize::from(piece.last));
        let start = value_end.saturating_sub(piece.value.len());
        if self.block.skipping && !matches!(piece.field, LineKind::Comment | LineKind::Retry) {
            if !self.block.raw || !(piece.first || piece.field == LineKind::Unknown) {
                return AfterPiece::Go;
            }
            if piece.field == LineKind::Unknown {
                return self.skip_raw(piece, start);
            }
            // A field ends the raw value.
            self.end_skipped_block();
        }
        if piece.field == LineKind::Unknown {
            return self.unknown(storage, window, piece, start);
        }
        if piece.first {
            if piece.field == LineKind::Comment {
                self.facts.evidence = self.facts.evidence.max(Evidence::Comments);
            } else {
                self.state.facts.note_field(self.state.line_start);
            }
            self.in_array = false;
            self.line = match piece.field {
                LineKind::Data if self.block.raw => {
                    return AfterPiece::Again(self.dispatch(storage, window, self.line_start, false));
                }
                LineKind::Data
                    if matches!(piece.value.first(), Some(b'{' | b'[')) && self.is_whole(storage, window) =>
                {
                    if piece.value.first() == Some(&b'{') {
                        return AfterPiece::Again(self.dispatch_before_next(storage, window));
                    }
                    self.retry = 0;
                    Line::NextDone(0)
                }
                LineKind::Data => Line::Payload,
                LineKind::Event if self.buffer.has_next() || self.is_whole(storage, window) => Line::NextName,
                LineKind::Event if self.buffer.has_data() && self.buffer.has_stored_name() => {
                    return self.drop_name(storage, window);
                }
                LineKind::Event => Line::Name,
                LineKind::Id => Line::Id,
                LineKind::Retry => {
                    self.retry = 0;
                    let empty = piece.last && piece.value.is_empty();
                    if empty {
                        Line::Skip
                    } else {
                        Line::Retry
                    }
                }
                _ => Line::Comment,
            };
            if self.line != Line::Comment {
                self.open();
            }
        }
        let line_end = self.offset.saturating_add(end as u64);
        let fits = match self.line {
            Line::Payload => return self.payload(storage, window, piece.value, piece.first, start),
            Line::NextDone(matched) => return self.next_done(storage, window, piece, start, matched),
            Line::Name => self.buffer.name(storage, &piece, start).is_ok(),
            Line::NextName => return self.next_name(storage, window, piece),
            // The storage keeps the ID after the payload, so the payload is copied there first.
            Line::Id => (piece.last || self.save_to_storage(storage, window)) && self.take_id(storage, &piece),
            Line::Comment => return self.comment(storage, window, piece, start, line_end),
            Line::Retry => return self.retry(storage, window, piece, line_end),
            _ => true,
        };
        if fits {
            AfterPiece::Go
        } else {
            AfterPiece::Found(self.too_long())
        }
    }

    /// Whether the payload so far is a whole JSON object. Then the next field may begin another event, because some
    /// servers end events with a single LF.
    pub(super) fn is_whole<S: Storage + ?Sized>(&mut self, storage: &S, window: &[u8]) -> bool {
        self.buffer.has_data()
            && !self.block.raw
            && self.config.framing == Framing::Lenient
            && self.config.payload != Payload::Opaque
            && self.data_is_whole(storage, window)
    }

    /// Ends an event after which another one follows in the same block, and returns it. Its frame ends where the lines
    /// of the next event begin.
    pub(super) fn dispatch_before_next<S: Storage + ?Sized>(&mut self, storage: &mut S, window: &[u8]) -> Found {
        self.block.quirks.insert(Quirk::SeveralValues);
        let end = if self.buffer.has_next() { self.block.next_start } else { self.line_start };
        self.dispatch(storage, window, end, false)
    }

    /// Drops the stored event name, because a line that replaces it begins. The next name is stored in the same place,
    /// and no checkpoint restores the old one, so a step that may have looked at it ends here.
    fn drop_name<S: Storage + ?Sized>(&mut self, storage: &mut S, window: &[u8]) -> AfterPiece {
        if !self.save_to_storage(storage, window) {
            return AfterPiece::Found(self.too_long());
        }
        self.buffer.drop_name();
        AfterPiece::Again(Found::NeedMore)
    }

    /// Takes a piece of an ID line. Returns `false` if the storage cannot grow.
    fn take_id<S: Storage + ?Sized>(&mut self, storage: &mut S, piece: &Piece<'_>) -> bool {
        let taken = self.buffer.identify(storage, piece);
        if taken == Err(NoRoom::Limit) {
            self.block.quirks.insert(Quirk::LongId);
        }
        taken != Err(NoRoom::Storage)
    }

    /// Takes a piece of an `event` line after a whole payload. The step ends with the line.
    fn next_name<S: Storage + ?Sized>(&mut self, storage: &mut S, window: &[u8], piece: Piece<'_>) -> AfterPiece {
        if piece.first && !self.buffer.has_next() {
            self.block.next_start = self.line_start;
        }
        let fits = self.save_to_storage(storage, window) && self.buffer.next_name(storage, &piece).is_ok();
        match fits {
            true if piece.last => AfterPiece::Found(Found::NeedMore),
            true => AfterPiece::Go,
            false => AfterPiece::Found(self.too_long()),
        }
    }

    /// Takes a piece of a further `data` line after a whole payload. The line may be `[DONE]`: the pieces before this
    /// one had `matched` bytes of `[DONE]` and of blanks after it.
    pub(super) fn next_done<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        window: &[u8],
        piece: Piece<'_>,
        start: usize,
        matched: u8,
    ) -> AfterPiece {
        let (mut longer, mut tabs) = (usize::from(matched), self.retry);
        let is_next = piece.value.iter().all(|byte| {
            let fits = match DONE.get(longer) {
                Some(expected) => byte == expected,
                None => is_space(*byte) && longer < NEXT_DONE,
            };
            if *byte == b'\t' {
                tabs |= tab(longer);
            }
            longer = longer.saturating_add(1);
            fits
        });
        if !is_next || piece.last && longer < DONE.len() {
            // The line is not `[DONE]`, so it belongs to the payload, with the bytes that were taken for `[DONE]`.
            self.line = Line::Payload;
            let mut before = [b' '; NEXT_DONE];
            for (at, byte) in before.iter_mut().enumerate() {
                match DONE.get(at) {
                    Some(done) => *byte = *done,
                    None if self.retry & tab(at) != 0 => *byte = b'\t',
                    None => {}
                }
            }
            let before = before.get(..usize::from(matched)).unwrap_or(&[]);
            let is_first = before.is_empty();
            let fits = is_first || self.add_data(storage, window, before, true, 0);
            return match fits && self.add_data(storage, window, piece.value, is_first, start) {
                true => AfterPiece::Go,
                false => AfterPiece::Found(self.too_long()),
            };
        }
        (self.line, self.retry) = (Line::NextDone(longer as u8), tabs);
        if !piece.last {
            return AfterPiece::Go;
        }
        AfterPiece::Found(self.dispatch_before_done(storage, window, false))
    }

    /// Ends an event after which `[DONE]` follows in the same block, and returns it. The next step reports the
    /// `[DONE]`.
    pub(super) fn dispatch_before_done<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        window: &[u8],
        bare: bool,
    ) -> Found {
        let found = self.dispatch_before_next(storage, window);
        self.after = After::Done { bare };
        found
    }

    /// Takes a piece of a comment. `line_end` is the stream offset after the piece.
    pub(super) fn comment<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        window: &[u8],
        piece: Piece<'_>,
        start: usize,
        line_end: u64,
    ) -> AfterPiece {
        if !self.save_to_storage(storage, window) {
            return AfterPiece::Found(self.too_long());
        }
        match self.buffer.comment(storage, &piece, start) {
            Ok(None) => AfterPiece::Go,
            Ok(Some(span)) => {
                self.index.frame = (self.line_start, line_end);
                self.after = After::Unstage;
                if !self.block.open {
                    self.lines.expect_lf();
                }
                AfterPiece::Found(Found::Comment(span))
            }
            Err(_) => {
                self.buffer.unstage();
                self.facts.too_long = self.facts.too_long.saturating_add(1);
                self.line = Line::Skip;
                self.index.frame = (self.line_start, self.line_start);
                AfterPiece::Found(Found::CommentTooLong)
            }
        }
    }

    /// Takes a piece of a `retry` line. A value with other bytes than digits is ignored, as WHATWG HTML 9.2 requires.
    pub(super) fn retry<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        window: &[u8],
        piece: Piece<'_>,
        line_end: u64,
    ) -> AfterPiece {
        for &byte in piece.value {
            if !byte.is_ascii_digit() {
                self.line = Line::Skip;
                return AfterPiece::Go;
            }
            self.retry = self.retry.saturating_mul(10).saturating_add(u64::from(byte.wrapping_sub(b'0')));
        }
        if !piece.last {
            return AfterPiece::Go;
        }
        let ms = self.retry;
        if !self.save_to_storage(storage, window) {
            return AfterPiece::Found(self.too_long());
        }
        self.index.frame = (self.line_start, line_end);
        AfterPiece::Found(Found::Retry(ms))
    }
}
