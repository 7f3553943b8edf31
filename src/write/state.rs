//! What a writer knows of its stream, and what the protocols share: choices, calls, long texts, token counts.

use super::calls::{is_custom, Call, Calls, CLOSED, CUSTOM, ENDED, HAS_ARGUMENTS, HAS_ID, NAMED, OPEN, WANTED};
use super::head::Head;
use super::log::{Log, Span, Tag};
use super::out::{Frame, Out, To, Written};
use super::parts::{Part, Serial, Source};
use super::WriteError;
use crate::chat::{ApiError, CallUpdate, FinishReason, NamePiece, Owner, TokenCounts, Update, Usage};
use crate::dialect::Counts;
use crate::json::{Text, Value};
use crate::message::put_paths;
use crate::stream::Protocol;

/// How far a text came that takes several events.
#[derive(Clone, Copy, Debug)]
struct Progress {
    choice: u32,
    part: Part,
    /// The length of the text in raw bytes.
    len: usize,
    /// How many of these were written; 0 if there is no such text.
    taken: usize,
}

impl Progress {
    const NONE: Progress = Progress { choice: 0, part: Part::Content, len: 0, taken: 0 };
}

#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) protocol: Protocol,
    pub(super) created: u64,
    pub(super) text_len: u32,
    pub(super) has_usage: bool,
    pub(super) event_ids: bool,
    retry: Option<u32>,
    /// The number of the next event.
    pub(super) sequence: u64,
    pub(super) id: Span,
    pub(super) model: Span,
    pub(super) members: Span,
    /// The beginning of each chunk of chat completions, and of one with content of choice 0.
    pub(super) envelope: Span,
    pub(super) first_content: Span,
    /// Whether content of choice 0 needs nothing before it, and no lines before its data.
    pub(super) is_quick: bool,
    pub(super) log: Log,
    pub(super) calls: Calls,
    /// Whether the stream ended.
    pub(super) ended: bool,
    /// How far a text of the caller came, and one of the log.
    progress: Progress,
    waited: Progress,
    /// Whether calls are being settled.
    settles: bool,
    native: Counts,
    usage: Option<TokenCounts>,
    /// Bit sets of choices: those that began, those that finished, and those whose `function_call` has a name.
    pub(super) begun: u64,
    pub(super) finished: u64,
    pub(super) functions: u64,
    /// How many annotations and signatures chat completions have so far.
    pub(super) annotations: u32,
    pub(super) details: u32,
    /// How many events of the end, or of the present task, were written.
    pub(super) step: u8,
    pub(super) serial: Serial,
}

impl State {
    pub(super) fn new(protocol: Protocol, head: &Head<'_>, memory: &mut [u8]) -> Result<Self, WriteError> {
        let members = head.keep(protocol, memory)?;
        let mut state = State {
            protocol,
            created: 0,
            text_len: head.text_len,
            has_usage: head.usage,
            event_ids: head.event_ids,
            retry: head.retry,
            sequence: head.sequence,
            id: Span::default(),
            model: Span::default(),
            members,
            envelope: Span::default(),
            first_content: Span::default(),
            is_quick: false,
            log: Log::new(members.start.saturating_add(members.len) as usize),
            calls: Calls::NONE,
            ended: false,
            progress: Progress::NONE,
            waited: Progress::NONE,
            settles: false,
            serial: Serial::NEW,
            step: 0,
            native: Counts::NOTHING,
            usage: None,
            begun: 0,
            finished: 0,
            functions: 0,
            annotations: 0,
            details: 0,
        };
        let names = [head.id, head.model].map(|name| Some(Text::verbatim(name.as_bytes())));
        state.name(memory, names, head.created)?;
        Ok(state)
    }

    /// Does what [`Writer::put`](super::Writer::put) does.
    #[inline(always)]
    pub(super) fn put(&mut self, to: &mut To<'_, '_>, choice: u32, update: &Update<'_>) -> Written {
        match update {
            Update::Content(text) if choice == 0 && self.is_quick && self.quick(to, *text) => Ok(()),
            _ => self.put_any(to, choice, update),
        }
    }

    /// Writes content of choice 0 in chat completions, if it is short, plain and fits, as it nearly always does.
    #[inline(always)]
    fn quick(&mut self, to: &mut To<'_, '_>, text: Text<'_>) -> bool {
        let is_whole = text.raw().len() <= self.text_len as usize && !text.is_empty();
        if !is_whole || self.settles || self.progress.taken > 0 {
            return false;
        }
        let head = self.first_content.of(to.memory);
        let wrote = if self.has_usage {
            to.out.quick(head, text, b"\"},\"finish_reason\":null}],\"usage\":null}\n\n")
        } else {
            to.out.quick(head, text, b"\"},\"finish_reason\":null}]}\n\n")
        };
        self.sequence = self.sequence.wrapping_add(wrote.into());
        wrote
    }

    /// Does what [`put`](Self::put) does, for any update.
    #[inline(never)]
    fn put_any(&mut self, to: &mut To<'_, '_>, choice: u32, update: &Update<'_>) -> Written {
        if self.resume(to)? {
            // The error was written to its end.
            return if matches!(update, Update::Error(_)) { Ok(()) } else { Err(WriteError::Ended) };
        }
        match update {
            Update::Usage(usage) => return self.count(usage),
            Update::Error(error) => return self.write_error(to, error),
            // The choice has ended its calls.
            Update::CallEnd { .. } if self.finished & bit(choice) != 0 => return Ok(()),
            _ => self.check(choice)?,
        }
        match update {
            Update::Content(text) => self.text(to, (choice, Part::Content), *text),
            Update::Reasoning(text) => self.text(to, (choice, Part::Reasoning), *text),
            Update::Refusal(text) => self.text(to, (choice, Part::Refusal), *text),
            Update::Role(role) => self.begin(to, choice, *role),
            Update::Call(call) => self.call(to.memory, choice, call),
            Update::CallName { call, text, piece } => self.call_name(to.memory, (choice, *call), *text, *piece),
            Update::CallArguments { call, text } => self.arguments(to, (choice, *call), *text),
            Update::CallEnd { call, .. } => self.call_end(to, (choice, *call)),
            Update::Finish(reason) => self.finish_choice(to, choice, reason),
            Update::Member(member) if member.owner == Owner::Call && member.name == "partialArgs" => {
                self.paths(to.memory, (choice, member.call), member.value)
            }
            _ if self.protocol == Protocol::Chat => self.chat_part(to, choice, update),
            _ => self.serial_part(to, update),
        }
    }

    /// Fails if the choice may have no update now.
    #[inline(always)]
    fn check(&self, choice: u32) -> Written {
        match 1u64.checked_shl(choice) {
            _ if choice > 0 && self.protocol != Protocol::Chat => Err(WriteError::NoPlace),
            None => Err(WriteError::TooManyChoices),
            Some(bit) if self.finished & bit != 0 => Err(WriteError::Late),
            Some(_) => Ok(()),
        }
    }

    /// Takes in token counts, which are written at the end.
    fn count(&mut self, usage: &Usage<'_>) -> Written {
        self.usage = match usage.protocol() {
            Protocol::Chat => Some(usage.counts_after(self.usage.as_ref())),
            protocol => {
                self.native.add(protocol, usage.value());
                self.native.canonical(protocol).map(TokenCounts::of).or(self.usage)
            }
        };
        Ok(())
    }

    /// Returns the token counts so far.
    pub(super) fn counts(&self) -> Option<TokenCounts> {
        self.usage
    }

    /// Writes a frame, with the lines before its data.
    #[inline(always)]
    pub(super) fn frame<R>(
        &mut self,
        out: &mut Out<'_>,
        write: impl FnOnce(&mut Frame<'_>) -> Written<R>,
    ) -> Written<R> {
        let (retry, id, sequence) = (self.retry, self.event_ids, self.sequence);
        let result = out.frame(|frame| {
            if retry.is_some() || id {
                lines(frame, retry, id.then_some(sequence));
            }
            write(frame)
        })?;
        self.retry = None;
        self.sequence = sequence.wrapping_add(1);
        Ok(result)
    }

    /// Writes a text, in as many events as its length needs. The part and the length of the text tell whether it is the
    /// one that an earlier call began.
    #[inline(always)]
    pub(super) fn pieces(&mut self, to: &mut To<'_, '_>, (choice, part): (u32, Part), source: Source<'_>) -> Written {
        let len = source.rest(to.memory, &self.calls, 0).raw().len();
        let is_waiting = matches!(source, Source::Waiting(_));
        let mut taken = match if is_waiting { self.waited } else { self.progress } {
            Progress { choice: of, part: begun, len: own, taken } if (of, begun, own) == (choice, part, len) => taken,
            _ => 0,
        };
        loop {
            let left = match self.protocol {
                Protocol::Chat => self.chat_piece(to, (choice, part), source, taken)?,
                _ => self.serial_piece(to, part, source, taken)?,
            };
            taken = len.saturating_sub(left);
            if left == 0 {
                break;
            }
            *self.progress_of(is_waiting) = Progress { choice, part, len, taken };
        }
        *self.progress_of(is_waiting) = Progress::NONE;
        Ok(())
    }

    #[inline(always)]
    fn progress_of(&mut self, is_waiting: bool) -> &mut Progress {
        if is_waiting {
            &mut self.waited
        } else {
            &mut self.progress
        }
    }

    /// Takes in a tool call's ID and type, which are written once its name is known.
    fn call(&mut self, memory: &mut [u8], choice: u32, update: &CallUpdate<'_>) -> Written {
        let (place, mut call) = self.calls.find(choice, update.call)?;
        let is_new = update.id.filter(|id| !id.is_empty() && !call.has(HAS_ID));
        if call.has(OPEN) && (is_new.is_some() || (update.custom || is_custom(update.kind)) != call.has(CUSTOM)) {
            return Err(WriteError::Late);
        }
        if update.custom || is_custom(update.kind) {
            call.set(CUSTOM);
        }
        if let Some(id) = is_new {
            self.log.append(memory, &mut call.waiting, Tag::Id, |frame, _| {
                frame.decoded(id);
                Ok(())
            })?;
            call.set(HAS_ID);
        }
        self.calls.set(place, call);
        Ok(())
    }

    /// Takes in a tool call's name, or a piece of it.
    fn call_name(
        &mut self,
        memory: &mut [u8],
        (choice, call): (u32, u32),
        name: Text<'_>,
        piece: NamePiece,
    ) -> Written {
        let (place, mut call) = self.calls.find(choice, call)?;
        if call.has(OPEN | ENDED) {
            return Err(WriteError::Late);
        }
        let tag = if piece == NamePiece::Replaces { Tag::NewName } else { Tag::Name };
        self.log.append(memory, &mut call.waiting, tag, |frame, _| {
            frame.decoded(name);
            Ok(())
        })?;
        call.set(NAMED);
        self.calls.set(place, call);
        Ok(())
    }

    /// Writes a fragment of a tool call's arguments, or puts it into the log until its call can be opened.
    fn arguments(&mut self, to: &mut To<'_, '_>, (choice, number): (u32, u32), text: Text<'_>) -> Written {
        let (place, mut call) = self.calls.find(choice, number)?;
        if text.is_empty() {
            return Ok(());
        }
        if call.has(ENDED) {
            return Err(WriteError::Late);
        }
        if !call.has(OPEN) || !call.waiting.is_empty() {
            call.set(WANTED);
            if call.has(NAMED) {
                self.calls.set(place, call);
                self.settle(to)?;
                call = self.calls.get(place);
            }
            if !call.has(OPEN) || !call.waiting.is_empty() {
                self.log.append(to.memory, &mut call.waiting, Tag::Arguments, |frame, _| {
                    frame.decoded(text);
                    Ok(())
                })?;
                call.set(HAS_ARGUMENTS);
                self.calls.set(place, call);
                return Ok(());
            }
        }
        self.write_arguments(to, place, Source::Text(text))
    }

    /// Puts arguments that come by path (Gemini) into the log until their call is over.
    fn paths(&mut self, memory: &mut [u8], (choice, number): (u32, u32), list: Value<'_>) -> Written {
        let (place, mut call) = self.calls.find(choice, number)?;
        if call.has(ENDED | HAS_ARGUMENTS) {
            return Err(WriteError::Late);
        }
        self.log.append(memory, &mut call.waiting, Tag::Paths, |frame, _| frame.json(list))?;
        self.calls.set(place, call);
        Ok(())
    }

    /// Joins the arguments of a call that came by path, before it is over.
    fn join_paths(&mut self, memory: &mut [u8], place: usize) -> Written {
        let (mut call, mut has_paths) = (self.calls.get(place), false);
        call.waiting.each(memory, |tag, _| has_paths |= tag == Tag::Paths as u8);
        if !has_paths || call.has(ENDED) {
            return Ok(());
        }
        let (mut rest, mut at) = (call.waiting, 0);
        self.log.append(memory, &mut call.waiting, Tag::Arguments, |frame, used| {
            let pieces = core::iter::from_fn(|| loop {
                let (tag, bytes) = rest.first(used)?;
                let list = if tag == Tag::Paths as u8 { bytes } else { b"[]" };
                if let Some(piece) = Value::from_raw(list).element_at(&mut at) {
                    return Some(piece);
                }
                rest.pop(used);
                at = 0;
            });
            put_paths(pieces, &mut |bytes| frame.bytes(bytes));
            Ok(())
        })?;
        call.set(HAS_ARGUMENTS);
        self.calls.set(place, call);
        Ok(())
    }

    /// Writes arguments of an open call.
    fn write_arguments(&mut self, to: &mut To<'_, '_>, place: usize, source: Source<'_>) -> Written {
        let choice = self.calls.get(place).choice;
        self.pieces(to, (choice, Part::Arguments(place)), source)?;
        if let Some(call) = self.calls.rows_mut().get_mut(place) {
            call.set(HAS_ARGUMENTS);
        }
        Ok(())
    }

    /// Writes what can be written of the calls, in the order in which they came: opens those that are ready, writes
    /// their arguments that wait, and closes those that are over. Each event changes the state, so that the next call
    /// goes on behind it.
    fn settle(&mut self, to: &mut To<'_, '_>) -> Written {
        self.settles = true;
        let mut place = 0;
        while place < self.calls.len() {
            let call = self.calls.get(place);
            place = place.saturating_add(1);
            let at = place.saturating_sub(1);
            if call.has(CLOSED) || call.is_ready() && !self.open_call(to, at)? {
                continue;
            }
            if self.calls.get(at).has(OPEN) {
                self.write_waiting(to, at)?;
                if call.has(ENDED) {
                    self.close_call(to, at)?;
                    // An earlier call may have waited for the end of this one.
                    place = 0;
                }
            }
        }
        self.settles = false;
        if !self.calls.wait() && self.protocol != Protocol::Responses {
            self.log.clear();
        }
        Ok(())
    }

    /// Writes the arguments of an open call that wait.
    pub(super) fn write_waiting(&mut self, to: &mut To<'_, '_>, place: usize) -> Written {
        loop {
            let mut call = self.calls.get(place);
            let Some((tag, _)) = call.waiting.first(to.memory) else { return Ok(()) };
            if tag == Tag::Arguments as u8 {
                self.write_arguments(to, place, Source::Waiting(place))?;
            }
            call = self.calls.get(place);
            call.waiting.pop(to.memory);
            self.calls.set(place, call);
        }
    }

    /// Notes that a tool call is over, and writes what can be written now.
    fn call_end(&mut self, to: &mut To<'_, '_>, (choice, number): (u32, u32)) -> Written {
        self.end_calls(to, |call| call.choice == choice && call.call == number)
    }

    /// Notes that these calls are over, and writes what can be written now.
    fn end_calls(&mut self, to: &mut To<'_, '_>, is_over: impl Fn(&Call) -> bool) -> Written {
        let mut is_any = false;
        for place in 0..self.calls.len() {
            let is_it = is_over(&self.calls.get(place));
            if is_it {
                self.join_paths(to.memory, place)?;
                self.calls.rows_mut().get_mut(place).into_iter().for_each(|call| call.set(ENDED));
            }
            is_any |= is_it;
        }
        if is_any {
            self.settle(to)?;
        }
        Ok(())
    }

    /// Ends the calls of a choice, and the choice.
    fn finish_choice(&mut self, to: &mut To<'_, '_>, choice: u32, reason: &FinishReason<'_>) -> Written {
        self.end_calls(to, |call| call.choice == choice)?;
        match self.protocol {
            Protocol::Chat => self.chat_finish(to, choice, reason)?,
            _ => self.serial_finish(to, reason)?,
        }
        self.finished |= bit(choice);
        self.is_quick &= choice != 0;
        Ok(())
    }

    /// Writes a text of a choice.
    #[inline(always)]
    fn text(&mut self, to: &mut To<'_, '_>, (choice, part): (u32, Part), text: Text<'_>) -> Written {
        if text.is_empty() {
            return Ok(());
        }
        match self.protocol {
            Protocol::Chat => self.chat_begin(to, choice, ASSISTANT)?,
            _ => self.serial_begin_text(to, part)?,
        }
        self.pieces(to, (choice, part), Source::Text(text))
    }

    /// Begins a choice with its role.
    fn begin(&mut self, to: &mut To<'_, '_>, choice: u32, role: Text<'_>) -> Written {
        match self.protocol {
            Protocol::Chat => {
                self.chat_begin(to, choice, role.as_str().filter(|role| ROLES.contains(role)).unwrap_or(ASSISTANT))
            }
            _ => self.serial_start(to),
        }
    }

    /// Writes the beginning of a call. Returns `false` if another call must end first.
    fn open_call(&mut self, to: &mut To<'_, '_>, place: usize) -> Written<bool> {
        match self.protocol {
            Protocol::Chat => self.chat_open_call(to, place).map(|()| true),
            _ => self.serial_open_call(to, place),
        }
    }

    /// Writes the end of a call.
    fn close_call(&mut self, to: &mut To<'_, '_>, place: usize) -> Written {
        match self.protocol {
            Protocol::Chat => self.chat_close_call(to, place),
            _ => self.serial_close(to),
        }
    }

    /// Does what [`Writer::finish`](super::Writer::finish) does.
    pub(super) fn finish(&mut self, to: &mut To<'_, '_>) -> Written {
        if self.resume(to)? {
            return Ok(());
        }
        if self.begun == 0 || self.begun & !self.finished != 0 {
            return Err(WriteError::Unfinished);
        }
        match self.protocol {
            Protocol::Chat => self.chat_end(to),
            _ => self.serial_end(to),
        }
    }

    /// Ends the stream with an error.
    fn write_error(&mut self, to: &mut To<'_, '_>, error: &ApiError<'_>) -> Written {
        match self.protocol {
            Protocol::Chat => self.chat_error(to, error),
            _ => self.serial_error(to, error),
        }
    }

    /// Does what [`Writer::keep_alive`](super::Writer::keep_alive) does.
    pub(super) fn keep_alive(&mut self, to: &mut To<'_, '_>) -> Written {
        if self.resume(to)? {
            return Err(WriteError::Ended);
        }
        let is_ping = self.protocol == Protocol::Anthropic && self.begun != 0;
        to.out.frame(|frame| {
            frame.bytes(if is_ping { b"event: ping\ndata: {\"type\":\"ping\"}\n\n" } else { b": keep-alive\n\n" });
            Ok(())
        })
    }

    /// Goes on with what an earlier call began. Returns whether that ends the stream. Fails if the stream ended before.
    #[inline(always)]
    fn resume(&mut self, to: &mut To<'_, '_>) -> Written<bool> {
        if self.ended {
            return Err(WriteError::Ended);
        }
        if self.serial.is_busy() {
            self.run(to)?;
        }
        if self.settles {
            self.settle(to)?;
        }
        Ok(self.ended)
    }

    /// Returns how far the list of annotations with this length came.
    pub(super) fn progress_in(&self, len: usize) -> usize {
        if (self.progress.part, self.progress.len) == (Part::Annotations, len) {
            self.progress.taken
        } else {
            0
        }
    }

    /// Notes how far the list of annotations with this length came.
    pub(super) fn note_progress(&mut self, len: usize, taken: usize) {
        self.progress = Progress { choice: 0, part: Part::Annotations, len, taken };
    }
}

/// The roles of chat completions. Gemini's `model` is none of them, and OpenAI's clients take no message of it.
const ROLES: [&str; 6] = ["assistant", "developer", "function", "system", "tool", "user"];

/// The role of a choice that was sent without one, or with another.
pub(super) const ASSISTANT: &str = "assistant";

/// Returns the bit of a choice, which was checked.
pub(super) fn bit(choice: u32) -> u64 {
    1u64.checked_shl(choice).unwrap_or(0)
}

/// Writes the lines before the data of an event.
#[inline(never)]
fn lines(frame: &mut Frame<'_>, retry: Option<u32>, id: Option<u64>) {
    if let Some(retry) = retry {
        frame.bytes(b"retry: ");
        frame.number(retry.into());
        frame.bytes(b"\n");
    }
    if let Some(id) = id {
        frame.bytes(b"id: ");
        frame.number(id);
        frame.bytes(b"\n");
    }
}
