//! Events of Responses that repeat the whole response: over the limit they are reduced instead of discarded.
//!
//! When such an event reaches the limit, its bytes in the storage are reduced to the members that are reported, and so
//! are the bytes that follow. The reduction is a step of its own. That step cannot be undone, but it never has to be,
//! because it needs no more storage. Output items are left out. If earlier events did not report them all, the event is
//! reported as too long, and then what is left of it.

use super::config::{Payload, Validate};
use super::found::Found;
use super::machine::{AfterPiece, Machine};
use super::state::StreamState;
use crate::dialect::{ends_response, DialectState, GiveUp, ItemCounts, Protocol, Skim, SkimOut};
use crate::json::Balance;
use crate::sse::buffer::{EventBuffer, NoRoom};
use crate::Storage;

/// How many bytes of the storage the reduction copies out at a time, because it writes to the storage while it reads.
const CHUNK: usize = 64;

impl<const SLOTS: usize> Machine<SLOTS> {
    /// Adds bytes of a line to the payload. `first` means that they are the line's first bytes. Of an event that is
    /// reduced, only what is reported is added. `start` is the offset of the bytes in the window; it matters only if
    /// the payload is empty so far. Returns `false` if they do not fit.
    pub(super) fn add_data<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        window: &[u8],
        value: &[u8],
        first: bool,
        start: usize,
    ) -> bool {
        if !self.block.skim.is_on() {
            return self.buffer.data(storage, window, value, first, start).is_ok();
        }
        // In the middle of such a line nothing can be reported, so an event that loses output items is discarded.
        self.skim(storage, window, value, first) && !self.block.skim.has_loss()
    }

    /// Takes a piece of a `data` line.
    pub(super) fn payload<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        window: &[u8],
        value: &[u8],
        first: bool,
        start: usize,
    ) -> AfterPiece {
        if self.block.skim.is_on() {
            return self.skim_line(storage, window, value, first);
        }
        match self.buffer.data(storage, window, value, first, start) {
            Ok(()) => AfterPiece::Go,
            Err(NoRoom::Limit) => self.over_limit(storage, window, value, first),
            Err(NoRoom::Storage) => AfterPiece::Found(self.too_long()),
        }
    }

    /// Decides whether an event that is over the limit is reduced or discarded.
    #[cold]
    #[inline(never)]
    fn over_limit<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        window: &[u8],
        value: &[u8],
        first: bool,
    ) -> AfterPiece {
        let has_data = self.buffer.has_data();
        let join: &[u8] = if first && has_data { b"\n" } else { b"" };
        if !self.may_skim(storage, window) || !self.save_to_storage(storage, window) {
            return AfterPiece::Found(self.too_long());
        }
        let mut skim = Skim::START;
        let mut balance = Balance::NOTHING;
        let room = self.buffer.allowance(storage).saturating_sub(self.buffer.data_len());
        let kept = self.reduce(storage, &mut skim, &mut balance);
        // The decision depends on all bytes up to the limit, however the slices cut them. So it looks ahead to the
        // limit: at the LF between the lines, and at as much of this line as there was room for.
        let (mut then, mut behind) = (skim, balance);
        let join = join.get(..room).unwrap_or(join);
        let ahead = value.get(..room.saturating_sub(join.len())).unwrap_or(value);
        let mut ahead = [join, ahead].into_iter();
        let known = kept.and_then(|()| ahead.try_for_each(|bytes| then.feed(&mut behind, bytes, &mut Discard)));
        let name = self.buffer.name_span().of(&[], storage);
        let is_typed =
            self.dialect.protocol.is_some() || then.is_typed() || Protocol::of_type(name) == Some(Protocol::Responses);
        if known.is_err() || !then.has_response() || !is_typed {
            return AfterPiece::Found(self.too_long());
        }
        (self.block.skim, self.block.balance) = (skim, balance);
        if has_data {
            return AfterPiece::Again(Found::NeedMore);
        }
        self.skim_line(storage, window, value, first)
    }

    /// Whether an event over the limit may be reduced: it may be an event of Responses, and is not validated.
    fn may_skim<S: Storage + ?Sized>(&self, storage: &S, window: &[u8]) -> bool {
        Protocol::Responses.is_read()
            && matches!(self.dialect.protocol, None | Some(Protocol::Responses))
            && self.config.payload != Payload::Opaque
            && self.config.validate == Validate::Lazy
            && !self.block.error_field
            && self.buffer.name_span().of(window, storage) != b"error"
    }

    /// Reduces the bytes of the event in the storage to what is reported.
    fn reduce<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        skim: &mut Skim,
        balance: &mut Balance,
    ) -> Result<(), GiveUp> {
        let (start, len) = self.buffer.restart();
        for at in (0..len).step_by(CHUNK) {
            let mut chunk = [0; CHUNK];
            let from = start.saturating_add(at);
            let stored = storage.bytes().get(from..from.saturating_add(len.saturating_sub(at).min(CHUNK)));
            let stored = stored.unwrap_or_default();
            for (to, byte) in chunk.iter_mut().zip(stored) {
                *to = *byte;
            }
            let chunk = chunk.get(..stored.len()).unwrap_or_default();
            // The output is no longer than the bytes read so far, so it overwrites no byte before it is read.
            self.keep(storage, skim, balance, chunk)?;
        }
        Ok(())
    }

    /// Takes a piece of a `data` line of an event that is reduced.
    fn skim_line<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        window: &[u8],
        value: &[u8],
        first: bool,
    ) -> AfterPiece {
        if !self.skim(storage, window, value, first) {
            return AfterPiece::Found(self.too_long());
        }
        if !self.block.skim.tell_loss() {
            return AfterPiece::Go;
        }
        self.facts.too_long = self.facts.too_long.saturating_add(1);
        self.index.frame = (self.block.start, self.block.start);
        AfterPiece::Found(Found::TooLong)
    }

    /// Reduces a piece. Returns `false` if the reduced event does not fit, or is not JSON.
    fn skim<S: Storage + ?Sized>(&mut self, storage: &mut S, window: &[u8], value: &[u8], first: bool) -> bool {
        if !self.save_to_storage(storage, window) {
            return false;
        }
        self.buffer.unstage();
        let (mut skim, mut balance) = (self.block.skim, self.block.balance);
        let join: &[u8] = if first { b"\n" } else { b"" };
        let kept = self
            .keep(storage, &mut skim, &mut balance, join)
            .and_then(|()| self.keep(storage, &mut skim, &mut balance, value));
        (self.block.skim, self.block.balance) = (skim, balance);
        kept.is_ok()
    }

    /// Feeds bytes to `skim`, which writes the reduced event to the storage.
    fn keep<S: Storage + ?Sized>(
        &mut self,
        storage: &mut S,
        skim: &mut Skim,
        balance: &mut Balance,
        bytes: &[u8],
    ) -> Result<(), GiveUp> {
        let StreamState { buffer, dialect, .. } = &mut self.state;
        skim.feed(balance, bytes, &mut Reduced { buffer, storage, dialect })
    }
}

/// Discards the output of a skim that only looks ahead.
struct Discard;

impl SkimOut for Discard {}

/// Writes the output of a skim, the reduced event, to the storage.
struct Reduced<'a, S: ?Sized> {
    buffer: &'a mut EventBuffer,
    storage: &'a mut S,
    dialect: &'a mut DialectState,
}

impl<S: Storage + ?Sized> SkimOut for Reduced<'_, S> {
    fn put(&mut self, bytes: &[u8]) -> bool {
        !self.buffer.is_over(self.storage, bytes.len()) && self.buffer.append_growing(self.storage, bytes).is_ok()
    }
    fn last(&self) -> Option<u8> {
        self.buffer.data_span().of(&[], self.storage).last().copied()
    }
    fn ends_by_name(&self) -> bool {
        ends_response(self.buffer.name_span().of(&[], self.storage)).is_some()
    }
    fn ends_with(&mut self, items: &ItemCounts) -> bool {
        self.dialect.ends_with(items)
    }
}
