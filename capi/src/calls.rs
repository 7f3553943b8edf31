//! Callbacks: the library's handler that calls functions of C.

use crate::convert::{plain_of, str_of, text_value, value_of, CChunk, NO_STR};
use crate::types::*;
use core::ffi::c_void;
use core::ops::ControlFlow;
use core::ptr;
use deltawire::chat::{ApiError, Chunk, TokenCounts};
use deltawire::json::{Text, Value};
use deltawire::sse;
use deltawire::stream::{Event, Flow, Frame, Frames, Handler, Kind, Malformed, Stop};
use deltawire::track::{CallUpdate, Update};
use deltawire::{Error, Quirk};

/// Pieces of a text that has to be decoded are this long at most.
const PIECE: usize = 1024;

/// Texts that are sure to fit are decoded to so much.
const SHORT: usize = 96;

/// Calls what C gave.
pub(crate) struct Calls<'c> {
    callbacks: &'c deltawire_callbacks,
    user: *mut c_void,
    pub(crate) frames: Frames,
    /// Something of the event was left out.
    pub(crate) left_out: bool,
    /// Token counts, if some came.
    pub(crate) usage: Option<TokenCounts>,
    at: deltawire_at,
    chunk: Option<CChunk>,
    /// What a callback returned that ends the call.
    pub(crate) code: Option<i32>,
    pub(crate) paused: bool,
}

const NOWHERE: deltawire_at = deltawire_at {
    size: core::mem::size_of::<deltawire_at>() as u32,
    kind: 0,
    flags: 0,
    choice: 0,
    call: 0,
    code: 0,
    number: 0,
    start: 0,
    end: 0,
    chunk: ptr::null(),
    event_name: NO_STR,
};

impl<'c> Calls<'c> {
    pub(crate) fn new(callbacks: &'c deltawire_callbacks, user: *mut c_void, frames: Frames) -> Self {
        Calls {
            callbacks,
            user,
            frames,
            left_out: false,
            usage: None,
            at: NOWHERE,
            chunk: None,
            code: None,
            paused: false,
        }
    }

    /// Whether nothing came up that is to be seen to.
    #[inline(always)]
    pub(crate) fn is_quiet(&self) -> bool {
        self.code.is_none() && !self.paused && !self.left_out && self.usage.is_none()
    }

    /// What follows lay there in the stream.
    #[inline(always)]
    pub(crate) fn go_to(&mut self, (start, end): (u64, u64)) {
        (self.at.start, self.at.end) = (start, end);
        (self.at.choice, self.at.event_name) = (0, NO_STR);
        self.chunk = None;
    }

    /// Where a thing of this kind is.
    fn at(&mut self, kind: Kind) -> deltawire_at {
        self.frames.add(kind);
        let chunk = self.chunk.as_ref().map_or(ptr::null(), |chunk| ptr::from_ref(chunk).cast());
        deltawire_at { kind: kind as u32, flags: 0, call: 0, code: 0, number: 0, chunk, ..self.at }
    }

    /// A text, as nearly all are: where it is stands in `self.at`, of which only what differs is written.
    #[inline(always)]
    fn text(&mut self, kind: Kind, f: deltawire_text_fn, call: u32, flags: u32, text: Text<'_>) -> Flow {
        self.frames.add(kind);
        let Some(f) = f else { return ControlFlow::Continue(()) };
        let Some(plain) = text.as_str() else {
            let mut at = deltawire_at { call, flags, ..self.at(kind) };
            return self.say_pieces(Some(f), &mut at, text);
        };
        self.at.chunk = self.chunk.as_ref().map_or(ptr::null(), |chunk| ptr::from_ref(chunk).cast());
        (self.at.kind, self.at.flags, self.at.call) = (kind as u32, flags, call);
        (self.at.code, self.at.number) = (0, 0);
        // SAFETY: as in `say`; the bytes live until it returns.
        let code = unsafe { f(self.user, &self.at, plain.as_ptr().cast(), plain.len()) };
        self.answer(code)
    }

    /// What a callback returned.
    #[inline(always)]
    fn answer(&mut self, code: i32) -> Flow {
        match code {
            DELTAWIRE_GO_ON => ControlFlow::Continue(()),
            DELTAWIRE_PAUSE => {
                self.paused = true;
                ControlFlow::Continue(())
            }
            code => {
                self.code = Some(code);
                ControlFlow::Break(Stop::Abort)
            }
        }
    }

    fn say(&mut self, f: deltawire_at_fn, at: &deltawire_at) -> Flow {
        let Some(f) = f else { return ControlFlow::Continue(()) };
        // SAFETY: the caller gave a function of this type; `at` lives until it returns.
        let code = unsafe { f(self.user, at) };
        self.answer(code)
    }

    fn say_bytes(&mut self, f: deltawire_text_fn, at: &deltawire_at, bytes: &[u8]) -> Flow {
        let Some(f) = f else { return ControlFlow::Continue(()) };
        // SAFETY: as in `say`; the bytes live until it returns.
        let code = unsafe { f(self.user, at, bytes.as_ptr().cast(), bytes.len()) };
        self.answer(code)
    }

    /// A text: as it stands if it can be, else decoded in pieces.
    fn say_text(&mut self, f: deltawire_text_fn, at: &mut deltawire_at, text: Text<'_>) -> Flow {
        if f.is_none() {
            return ControlFlow::Continue(());
        }
        if let Some(plain) = text.as_str() {
            return self.say_bytes(f, at, plain.as_bytes());
        }
        self.say_pieces(f, at, text)
    }

    #[inline(never)]
    fn say_pieces(&mut self, f: deltawire_text_fn, at: &mut deltawire_at, text: Text<'_>) -> Flow {
        // A byte decodes to three at most, and so does a half that waited before it.
        if text.raw().len() < SHORT / 3 {
            self.say_in_pieces::<SHORT>(f, at, text)
        } else {
            self.say_in_pieces::<PIECE>(f, at, text)
        }
    }

    #[inline(always)]
    fn say_in_pieces<const ROOM: usize>(
        &mut self,
        f: deltawire_text_fn,
        at: &mut deltawire_at,
        mut text: Text<'_>,
    ) -> Flow {
        let mut buffer = [0; ROOM];
        let mut flags = at.flags;
        loop {
            let len = text.take_to(&mut buffer);
            let more = !text.is_empty() && len > 0;
            at.flags = if more { flags | DELTAWIRE_EVF_MORE } else { flags };
            self.say_bytes(f, at, buffer.get(..len).unwrap_or_default())?;
            if !more {
                return ControlFlow::Continue(());
            }
            // What follows is put behind this.
            flags &= !DELTAWIRE_EVF_REPLACES;
        }
    }

    fn say_value(&mut self, f: deltawire_value_fn, at: &deltawire_at, value: deltawire_value) -> Flow {
        let Some(f) = f else { return ControlFlow::Continue(()) };
        // SAFETY: as in `say`; the value and its bytes live until it returns.
        let code = unsafe { f(self.user, at, &value) };
        self.answer(code)
    }

    fn say_json(&mut self, f: deltawire_value_fn, at: &deltawire_at, value: Value<'_>) -> Flow {
        self.say_value(f, at, value_of(value))
    }

    fn say_error(&mut self, f: deltawire_value_fn, at: &mut deltawire_at, error: &ApiError<'_>) -> Flow {
        match error.value() {
            Some(value) => self.say_json(f, at, value),
            None => {
                at.flags |= DELTAWIRE_EVF_PLAIN;
                let text = error.message().map_or(&b""[..], |text| text.raw());
                self.say_value(f, at, plain_of(text))
            }
        }
    }

    /// Whether somebody wants the chunk or event itself.
    pub(crate) fn wants_head(&self) -> bool {
        self.callbacks.on_chunk.is_some() || self.callbacks.on_sse.is_some()
    }

    /// The chunk or event itself. What it returns may be AGAIN, which is for the caller to see to.
    #[inline(always)]
    pub(crate) fn head(&mut self, event: &Event<'_>) -> i32 {
        let Event::Chunk(chunk) = event else { return self.other_head(event) };
        let Some(f) = self.callbacks.on_chunk else { return DELTAWIRE_GO_ON };
        self.chunk = Some(CChunk::of(chunk));
        self.at.event_name = str_of(chunk.event_name());
        self.frames.add(Kind::Chunk);
        self.at.chunk = self.chunk.as_ref().map_or(ptr::null(), |chunk| ptr::from_ref(chunk).cast());
        let created = chunk.created();
        self.at.flags = if created.is_some() { DELTAWIRE_EVF_NUMBER } else { 0 };
        (self.at.kind, self.at.call) = (Kind::Chunk as u32, 0);
        (self.at.code, self.at.number) = (chunk.choice_count(), created.unwrap_or(0));
        // SAFETY: as in `say`.
        unsafe { f(self.user, &self.at) }
    }

    #[inline(never)]
    fn other_head(&mut self, event: &Event<'_>) -> i32 {
        match event {
            Event::Sse(event) => {
                self.at.event_name = str_of(event.name());
                let Some(f) = self.callbacks.on_sse else { return DELTAWIRE_GO_ON };
                let at = self.at(Kind::Sse);
                let (name, data, id) = (event.event_type(), event.data(), event.last_event_id());
                // SAFETY: as in `say`; the bytes live until it returns.
                unsafe { f(self.user, &at, str_of(name), str_of(data), str_of(id)) }
            }
            _ => DELTAWIRE_GO_ON,
        }
    }

    /// An answer that `head` gave and the caller let pass.
    pub(crate) fn take(&mut self, code: i32) -> bool {
        self.answer(code).is_continue()
    }

    /// A frame is over.
    #[inline(always)]
    pub(crate) fn frame(&mut self, frame: Option<Frame>) -> bool {
        match frame {
            Some(frame) if self.callbacks.on_frame.is_some() => self.say_frame(frame),
            _ => true,
        }
    }

    #[inline(never)]
    fn say_frame(&mut self, Frame { start, end, choices, kinds }: Frame) -> bool {
        let at = deltawire_at { kind: Kind::Frame as u32, code: choices, number: kinds, start, end, ..NOWHERE };
        self.say(self.callbacks.on_frame, &at).is_continue()
    }
}

impl Handler for Calls<'_> {
    #[inline(always)]
    fn chunk(&mut self, chunk: &Chunk<'_>) -> Flow {
        // `head` was given the same chunk; its parts were borrowed for that call.
        self.chunk = Some(CChunk::of(chunk));
        self.at.event_name = str_of(chunk.event_name());
        self.frames.add(Kind::Chunk);
        ControlFlow::Continue(())
    }

    fn sse(&mut self, _: &sse::Event<'_>) -> Flow {
        self.frames.add(Kind::Sse);
        ControlFlow::Continue(())
    }

    fn comment(&mut self, text: &[u8]) -> Flow {
        let at = self.at(Kind::Comment);
        self.say_bytes(self.callbacks.on_comment, &at, text)
    }

    fn keep_alive(&mut self, payload: &[u8]) -> Flow {
        let at = self.at(Kind::KeepAlive);
        self.say_bytes(self.callbacks.on_keep_alive, &at, payload)
    }

    fn retry(&mut self, ms: u64) -> Flow {
        let at = deltawire_at { number: ms, flags: DELTAWIRE_EVF_NUMBER, ..self.at(Kind::Retry) };
        self.say(self.callbacks.on_retry, &at)
    }

    fn last_event_id(&mut self, id: &[u8]) -> Flow {
        let at = self.at(Kind::LastEventId);
        self.say_bytes(self.callbacks.on_last_event_id, &at, id)
    }

    #[inline(always)]
    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        let calls = self.callbacks;
        self.at.choice = choice;
        match update {
            Update::Content(text) => self.text(Kind::Content, calls.on_content, 0, 0, text),
            update => self.other_update(update),
        }
    }

    fn malformed(&mut self, malformed: &Malformed<'_>) -> Flow {
        self.at.event_name = str_of(malformed.event_name());
        let mut at = self.at(Kind::Malformed);
        let fault = malformed.fault();
        at.code = fault.kind.number();
        at.number = fault.offset as u64;
        at.flags = DELTAWIRE_EVF_NUMBER;
        self.say_bytes(self.callbacks.on_malformed, &at, malformed.payload())
    }

    fn too_long(&mut self, _: u64) -> Flow {
        let at = self.at(Kind::TooLong);
        self.say(self.callbacks.on_too_long, &at)
    }

    fn comment_too_long(&mut self, _: u64) -> Flow {
        let at = self.at(Kind::CommentTooLong);
        self.say(self.callbacks.on_comment_too_long, &at)
    }

    fn limit(&mut self, error: &Error) -> Flow {
        self.left_out = true;
        self.at.choice = 0;
        let at = deltawire_at { code: error.number(), ..self.at(Kind::Limit) };
        self.say(self.callbacks.on_limit, &at)
    }

    fn quirk(&mut self, quirk: Quirk, _: u64) -> Flow {
        self.at.choice = 0;
        let at = deltawire_at { code: quirk as u32, ..self.at(Kind::Quirk) };
        self.say(self.callbacks.on_quirk, &at)
    }

    fn done(&mut self) -> Flow {
        let at = self.at(Kind::Done);
        self.say(self.callbacks.on_done, &at)
    }
}

impl Calls<'_> {
    /// What is no content.
    #[inline(never)]
    fn other_update(&mut self, update: Update<'_>) -> Flow {
        let calls = self.callbacks;
        let named = |at: deltawire_at, call: u32, replaces: bool| {
            let flags = if replaces { DELTAWIRE_EVF_REPLACES } else { 0 };
            deltawire_at { call, flags, ..at }
        };
        match update {
            Update::Role(text) => {
                let mut at = self.at(Kind::Role);
                self.say_text(calls.on_role, &mut at, text)
            }
            Update::Content(text) => self.text(Kind::Content, calls.on_content, 0, 0, text),
            Update::Reasoning(text) => self.text(Kind::Reasoning, calls.on_reasoning, 0, 0, text),
            Update::Refusal(text) => self.text(Kind::Refusal, calls.on_refusal, 0, 0, text),
            Update::Call(call) => self.call(&call),
            Update::CallName { call, text, replaces } => {
                let mut at = named(self.at(Kind::ToolName), call, replaces);
                self.say_text(calls.on_tool_name, &mut at, text)
            }
            Update::CallArguments { call, text } => {
                self.text(Kind::ToolArguments, calls.on_tool_arguments, call, 0, text)
            }
            Update::FunctionName { text, replaces } => {
                let mut at = named(self.at(Kind::FunctionName), 0, replaces);
                self.say_text(calls.on_function_name, &mut at, text)
            }
            Update::FunctionArguments(text) => {
                self.text(Kind::FunctionArguments, calls.on_function_arguments, 0, 0, text)
            }
            Update::Audio(audio) => {
                let at = self.at(Kind::Audio);
                self.say_json(calls.on_audio, &at, audio.value())
            }
            Update::Logprobs(logprobs) => {
                let at = self.at(Kind::Logprobs);
                self.say_json(calls.on_logprobs, &at, logprobs.value())
            }
            Update::Message(message) => {
                let at = self.at(Kind::Message);
                self.say_json(calls.on_message, &at, message.value())
            }
            Update::Finish(reason) => {
                let mut at = self.at(Kind::Finish);
                at.code = reason.kind().number();
                self.say_text(calls.on_finish, &mut at, reason.text())
            }
            Update::ChoiceError(error) => {
                let mut at = self.at(Kind::ChoiceError);
                self.say_error(calls.on_choice_error, &mut at, &error)
            }
            Update::Usage(usage) => {
                self.usage = Some(usage.counts());
                let at = self.at(Kind::Usage);
                self.say_json(calls.on_usage, &at, usage.value())
            }
            Update::Error(error) => {
                let mut at = self.at(Kind::Error);
                self.say_error(calls.on_error, &mut at, &error)
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn call(&mut self, update: &CallUpdate<'_>) -> Flow {
        let CallUpdate { call, index, opens, reuses, id, kind, custom } = *update;
        let flag = |set: bool, flag: u32| if set { flag } else { 0 };
        let at = deltawire_at {
            call,
            number: u64::from(index),
            flags: DELTAWIRE_EVF_NUMBER
                | flag(opens, DELTAWIRE_EVF_OPENS)
                | flag(reuses, DELTAWIRE_EVF_REUSES)
                | flag(custom, DELTAWIRE_EVF_CUSTOM),
            ..self.at(Kind::ToolCall)
        };
        let Some(f) = self.callbacks.on_tool_call else { return ControlFlow::Continue(()) };
        // SAFETY: the chunk at hand was noted when it was begun, and is borrowed by whoever calls this handler.
        let payload = self.chunk.as_ref().map_or(&b""[..], |chunk| unsafe { chunk.payload() });
        let (id, kind) = (text_value(payload, id), text_value(payload, kind));
        // SAFETY: as in `say`; the values and their bytes live until it returns.
        let code = unsafe { f(self.user, &at, &id, &kind) };
        self.answer(code)
    }
}
