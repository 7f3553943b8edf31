//! Tool calls: what comes of them waits in the log until it can be written.

use super::calls::Call;
use super::log::{Mark, Record, Tag};
use super::out::{Arg, To, Written};
use super::parts::Part;
use super::state::State;
use super::WriteError;
use crate::chat::scalar::is_none;
use crate::chat::{CallUpdate, NamePiece};
use crate::json::{Text, Value};
use crate::stream::Protocol;

impl State {
    /// Appends to what waits of a call.
    fn wait(&mut self, memory: &mut [u8], (place, mut call): (usize, Call), tag: Tag, data: Arg<'_>) -> Written {
        let at = self.keep(memory, tag, (call.choice, Part::Call(place)), "$v", &[data])?;
        call.waiting.begin(at);
        self.calls.set(place, call);
        Ok(())
    }

    /// Takes in a tool call's ID and type, which are written once its name is known.
    pub(super) fn call(&mut self, memory: &mut [u8], choice: u32, update: &CallUpdate<'_>) -> Written {
        let (place, mut call) = self.calls.find((choice, update.call))?;
        // Readers take these words for an ID that is missing (C32), and leave out a call that has nothing else.
        let is_new = update.id.filter(|id| !(id.is_empty() || is_none(id) || call.has_id));
        let is_custom = update.custom || update.kind.is_some_and(|kind| kind.is_one_of("custom custom_tool_call"));
        if call.is_open && (is_new.is_some() || is_custom != call.is_custom) {
            return Err(WriteError::Late);
        }
        call.is_custom |= is_custom;
        if let Some(id) = is_new {
            return self.wait(memory, (place, Call { has_id: true, ..call }), Tag::Id, Arg::Decoded(id));
        }
        self.calls.set(place, call);
        Ok(())
    }

    /// Takes in a tool call's name, or a piece of it.
    pub(super) fn name_call(
        &mut self,
        memory: &mut [u8],
        of: (u32, u32),
        (name, piece): (Text<'_>, NamePiece),
    ) -> Written {
        let (place, mut call) = self.calls.find(of)?;
        if call.is_open || call.is_over {
            return Err(WriteError::Late);
        }
        if call.name == 0 || piece == NamePiece::Replaces {
            call.name = self.log.len() as u32;
        }
        self.wait(memory, (place, call), Tag::Name, Arg::Decoded(name))
    }

    /// Puts arguments that come by path (Gemini) into the log until their call is over.
    pub(super) fn paths(&mut self, memory: &mut [u8], of: (u32, u32), list: Value<'_>) -> Written {
        let (place, call) = self.calls.find(of)?;
        if call.is_over || call.has_arguments {
            return Err(WriteError::Late);
        }
        self.wait(memory, (place, call), Tag::Paths, Arg::Json(list))
    }

    /// Writes a fragment of a tool call's arguments, or puts it into the log until its call can be opened.
    pub(super) fn arguments(&mut self, to: &mut To<'_, '_>, of: (u32, u32), text: Text<'_>) -> Written {
        let (place, mut call) = self.calls.find(of)?;
        if text.is_empty() {
            return Ok(());
        }
        if call.is_over {
            return Err(WriteError::Late);
        }
        if call.is_behind() {
            call.is_wanted = true;
            if call.name > 0 {
                self.calls.set(place, call);
                self.settle(to)?;
                call = self.calls.get(place);
            }
            if call.is_behind() {
                call.has_arguments = true;
                return self.wait(to.memory, (place, call), Tag::Arguments, Arg::Decoded(text));
            }
        }
        self.pieces(to, (of.0, Part::Call(place)), text)?;
        self.calls.set(place, Call { has_arguments: true, ..self.calls.get(place) });
        Ok(())
    }

    /// Notes that the calls of a choice are over, or only this one, and writes what can be written now.
    pub(super) fn end_calls(&mut self, to: &mut To<'_, '_>, choice: u32, only: Option<u32>) -> Written {
        let mut is_any = false;
        for place in 0..self.calls.len {
            let mut call = self.calls.get(place);
            if call.choice != choice || only.is_some_and(|only| call.call != only) {
                continue;
            }
            let paths = self.log.bytes(to.memory, call.waiting.at, (Tag::Paths, place)).next();
            if paths.is_some() && !call.is_over {
                self.keep(to.memory, Tag::Arguments, (choice, Part::Call(place)), "$p", &[])?;
                call.has_arguments = true;
            }
            self.calls.set(place, Call { is_over: true, ..call });
            is_any = true;
        }
        if is_any {
            self.settle(to)?;
        }
        Ok(())
    }

    /// Writes what can be written of the calls, in the order in which they came: opens those that are ready, writes
    /// their arguments that wait, and closes those that are over. Each event changes the state, so that the next call
    /// goes on behind it.
    pub(super) fn settle(&mut self, to: &mut To<'_, '_>) -> Written {
        self.settles = true;
        let mut next = 0;
        while next < self.calls.len {
            let place = next;
            next = next.saturating_add(1);
            let call = self.calls.get(place);
            let is_ready = call.name > 0 && call.is_wanted || call.is_over;
            if !call.is_open && is_ready {
                match (self.protocol, self.row.open) {
                    (Protocol::Chat, _) => self.chat_open_call(to, place)?,
                    // Another call must end first.
                    (_, Part::Call(_)) => continue,
                    _ => self.want(to, Part::Call(place))?,
                }
            }
            if self.calls.get(place).is_open && !call.is_closed {
                self.write_waiting(to, place)?;
                if call.is_over {
                    match self.protocol {
                        Protocol::Chat => self.chat_close_call(to, place)?,
                        _ => self.close(to)?,
                    }
                    // An earlier call may have waited for the end of this one.
                    next = 0;
                }
            }
        }
        self.settles = false;
        let is_any = self.calls.rows().iter().any(|call| call.waiting.at > 0);
        if !is_any && self.later.at == 0 && self.stop.at == 0 && self.protocol != Protocol::Responses {
            self.log.clear();
        }
        Ok(())
    }

    /// Writes the arguments of an open call that wait.
    pub(super) fn write_waiting(&mut self, to: &mut To<'_, '_>, place: usize) -> Written {
        loop {
            let mut call = self.calls.get(place);
            let is_next = |record: &Record<'_>| record.place == place && record.is(Tag::Arguments);
            let Some(rest) = self.log.next(to.memory, &mut call.waiting, is_next) else {
                self.calls.set(place, Call { waiting: Mark::default(), ..call });
                return Ok(());
            };
            let left = self.piece(to, (call.choice, Part::Call(place)), Arg::Kept(rest))?;
            call.waiting.take(rest.len.saturating_sub(left as u32));
            self.calls.set(place, Call { has_arguments: true, ..call });
        }
    }
}
