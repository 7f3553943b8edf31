//! Tool calls: what comes of them waits until it can be written.

use super::calls::{Call, CLOSED, CUSTOM, ENDED, HAS_ARGUMENTS, HAS_ID, NAMED, OPEN, WANTED};
use super::log::Tag;
use super::out::{put, Frame, Inner, To, Written};
use super::parts::Part;
use super::state::State;
use super::WriteError;
use crate::chat::{CallUpdate, NamePiece};
use crate::json::{Text, Value};
use crate::message::put_paths;
use crate::stream::Protocol;

impl State {
    /// Writes the ID of a call. One that never came is made of `word`, the ID of the response and the call's place.
    pub(super) fn call_id(&self, frame: &mut Frame<'_>, word: &str, place: usize) {
        let call = self.calls.get(place);
        if !call.has(HAS_ID) {
            put!(frame, word, self.id, "_", place as u64);
        }
        for (_, bytes) in call.waiting.records(frame.memory).filter(|(tag, _)| *tag == Tag::Id as u8) {
            put!(frame, Inner(Text::verbatim(bytes)));
        }
    }

    /// Appends what `write` writes to what waits of a call, and sets flags.
    fn keep(
        &mut self,
        memory: &mut [u8],
        (place, mut call): (usize, Call),
        (tag, flags): (Tag, u8),
        write: impl FnOnce(&mut Frame<'_>),
    ) -> Written {
        self.log.append(memory, &mut call.waiting, tag, write)?;
        call.flags |= flags;
        self.calls.set(place, call);
        Ok(())
    }

    /// Takes in a tool call's ID and type, which are written once its name is known.
    pub(super) fn call(&mut self, memory: &mut [u8], choice: u32, update: &CallUpdate<'_>) -> Written {
        let (place, mut call) = self.calls.find((choice, update.call))?;
        let is_new = update.id.filter(|id| !id.is_empty() && !call.has(HAS_ID));
        let is_custom = update.custom || update.kind.is_some_and(|kind| kind.is_one_of("custom custom_tool_call"));
        if call.has(OPEN) && (is_new.is_some() || is_custom != call.has(CUSTOM)) {
            return Err(WriteError::Late);
        }
        call.flags |= if is_custom { CUSTOM } else { 0 };
        if let Some(id) = is_new {
            return self.keep(memory, (place, call), (Tag::Id, HAS_ID), |frame| frame.decoded(id));
        }
        self.calls.set(place, call);
        Ok(())
    }

    /// Takes in a tool call's name, or a piece of it.
    pub(super) fn call_name(
        &mut self,
        memory: &mut [u8],
        of: (u32, u32),
        (name, piece): (Text<'_>, NamePiece),
    ) -> Written {
        let row = self.calls.find(of)?;
        if row.1.has(OPEN | ENDED) {
            return Err(WriteError::Late);
        }
        let tag = if piece == NamePiece::Replaces { Tag::NewName } else { Tag::Name };
        self.keep(memory, row, (tag, NAMED), |frame| frame.decoded(name))
    }

    /// Writes a fragment of a tool call's arguments, or puts it into the log until its call can be opened.
    pub(super) fn arguments(&mut self, to: &mut To<'_, '_>, of: (u32, u32), text: Text<'_>) -> Written {
        let (place, mut call) = self.calls.find(of)?;
        if text.is_empty() {
            return Ok(());
        }
        if call.has(ENDED) {
            return Err(WriteError::Late);
        }
        if call.is_behind() {
            call.flags |= WANTED;
            if call.has(NAMED) {
                self.calls.set(place, call);
                self.settle(to)?;
                call = self.calls.get(place);
            }
            if call.is_behind() {
                return self
                    .keep(to.memory, (place, call), (Tag::Arguments, HAS_ARGUMENTS), |frame| frame.decoded(text));
            }
        }
        self.pieces(to, (of.0, Part::Call(place)), text)?;
        self.calls.flag(place, HAS_ARGUMENTS);
        Ok(())
    }

    /// Puts arguments that come by path (Gemini) into the log until their call is over.
    pub(super) fn paths(&mut self, memory: &mut [u8], of: (u32, u32), list: Value<'_>) -> Written {
        let row = self.calls.find(of)?;
        if row.1.has(ENDED | HAS_ARGUMENTS) {
            return Err(WriteError::Late);
        }
        self.keep(memory, row, (Tag::Paths, 0), |frame| put!(frame, list))
    }

    /// Joins the arguments of a call that came by path, before it is over.
    fn join_paths(&mut self, memory: &mut [u8], place: usize) -> Written {
        let call = self.calls.get(place);
        let is_list = |(tag, _): &(u8, &[u8])| *tag == Tag::Paths as u8;
        if call.has(ENDED) || !call.waiting.records(memory).any(|record| is_list(&record)) {
            return Ok(());
        }
        self.keep(memory, (place, call), (Tag::Arguments, HAS_ARGUMENTS), |frame| {
            let lists = call.waiting.records(frame.memory).filter(is_list);
            let pieces = lists.flat_map(|(_, list)| {
                let mut at = 0;
                core::iter::from_fn(move || Value::from_raw(list).element_at(&mut at))
            });
            put_paths(pieces, &mut |bytes| frame.bytes(bytes));
        })
    }

    /// Writes what can be written of the calls, in the order in which they came: opens those that are ready, writes
    /// their arguments that wait, and closes those that are over. Each event changes the state, so that the next call
    /// goes on behind it.
    pub(super) fn settle(&mut self, to: &mut To<'_, '_>) -> Written {
        self.settles = true;
        let mut place = 0;
        while let Some(call) = self.calls.rows().get(place).copied() {
            let at = place;
            place = place.saturating_add(1);
            if call.has(CLOSED) || call.is_ready() && !self.open_call(to, at)? {
                continue;
            }
            if self.calls.get(at).has(OPEN) {
                self.write_waiting(to, at)?;
                if call.has(ENDED) {
                    match self.protocol {
                        Protocol::Chat => self.chat_close_call(to, at)?,
                        _ => self.serial_close(to)?,
                    }
                    // An earlier call may have waited for the end of this one.
                    place = 0;
                }
            }
        }
        self.settles = false;
        let is_any = self.calls.rows().iter().any(|call| !call.waiting.is_empty());
        if !is_any && self.later.is_empty() && self.stop.is_empty() && self.protocol != Protocol::Responses {
            self.log.clear();
        }
        Ok(())
    }

    /// Writes the beginning of a call. Returns `false` if another call must end first.
    fn open_call(&mut self, to: &mut To<'_, '_>, place: usize) -> Written<bool> {
        match (self.protocol, self.serial.open) {
            (Protocol::Chat, _) => self.chat_open_call(to, place)?,
            (_, Part::Call(other)) if other != place => return Ok(false),
            _ => self.want(to, Part::Call(place))?,
        }
        Ok(true)
    }

    /// Returns the first record of a call that waits, behind what was written of it.
    pub(super) fn first_waiting<'m>(&self, memory: &'m [u8], place: usize) -> Text<'m> {
        let call = self.calls.get(place);
        let bytes = call.waiting.records(memory).next().map_or(&b""[..], |(_, bytes)| bytes);
        Text::verbatim(bytes).behind(call.taken as usize)
    }

    /// Writes the arguments of an open call that wait.
    pub(super) fn write_waiting(&mut self, to: &mut To<'_, '_>, place: usize) -> Written {
        loop {
            let mut call = self.calls.get(place);
            let Some((tag, bytes)) = call.waiting.records(to.memory).next() else { return Ok(()) };
            let (len, mut left) = (bytes.len(), 0);
            if tag == Tag::Arguments as u8 {
                left = self.piece(to, (call.choice, Part::Call(place)), None)?;
                call.flags |= HAS_ARGUMENTS;
            }
            call.taken = len.saturating_sub(left) as u32;
            if left == 0 {
                call.taken = 0;
                call.waiting.pop(to.memory);
            }
            self.calls.set(place, call);
        }
    }

    /// Notes that these calls are over, and writes what can be written now.
    pub(super) fn end_calls(&mut self, to: &mut To<'_, '_>, is_over: impl Fn(&Call) -> bool) -> Written {
        let mut is_any = false;
        for place in 0..self.calls.len {
            if is_over(&self.calls.get(place)) {
                self.join_paths(to.memory, place)?;
                self.calls.flag(place, ENDED);
                is_any = true;
            }
        }
        if is_any {
            self.settle(to)?;
        }
        Ok(())
    }
}
