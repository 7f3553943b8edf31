//! Callbacks: the sink that calls functions of C.

use crate::convert::{plain_of, str_of, text_value, value_of, NO_STR};
use crate::types::*;
use core::ffi::c_void;
use core::ptr;
use deltawire::chat::Created;
use deltawire::delta::{Delta, Kind, Part};
use deltawire::json::{Text, Value};
use deltawire::stream::{Context, Event, Put, Sink, Stop};

/// Pieces of a text that has to be decoded are this long at most.
const PIECE: usize = 1024;

/// Texts that are sure to fit are decoded to so much.
const SHORT: usize = 96;

/// Calls what C gave.
pub(crate) struct Calls<'c> {
    callbacks: &'c deltawire_callbacks,
    user: *mut c_void,
    /// What callbacks are given: the event at hand, of which each delta overwrites what it has of its own.
    at: deltawire_at,
    /// Of the chunk before.
    created: Created,
    /// The number with which a callback ended the call, and the offset of its event.
    pub(crate) broke_off: Option<(i32, u64)>,
}

/// No event begins there.
const NOWHERE: deltawire_at = deltawire_at {
    size: core::mem::size_of::<deltawire_at>() as u32,
    kind: 0,
    flags: 0,
    choice: 0,
    call: 0,
    code: 0,
    number: 0,
    start: u64::MAX,
    end: 0,
    chunk: ptr::null(),
    event_name: NO_STR,
};

impl Sink for Calls<'_> {
    #[inline(always)]
    fn wants(&self, kind: Kind) -> bool {
        match kind {
            Kind::Frame => self.callbacks.on_frame.is_some(),
            Kind::Meta => self.callbacks.on_meta.is_some(),
            kind => kind != Kind::Payload,
        }
    }

    #[inline(always)]
    fn put(&mut self, context: &Context<'_>, delta: &Delta, taken: &mut usize) -> Put {
        let calls = self.callbacks;
        let f = match delta.kind {
            Kind::Content => calls.on_content,
            Kind::Chunk => return self.chunk(context, delta),
            Kind::Reasoning => calls.on_reasoning,
            Kind::ToolArguments => calls.on_tool_arguments,
            // A copy, so that nothing points to the delta: it need not be in memory.
            _ => return self.other(context, &{ *delta }, taken),
        };
        self.text(f, context, delta, taken)
    }
}

impl<'c> Calls<'c> {
    pub(crate) fn new(callbacks: &'c deltawire_callbacks, user: *mut c_void) -> Self {
        Calls { callbacks, user, at: NOWHERE, created: Created::default(), broke_off: None }
    }

    /// Notes the event that the next deltas belong to.
    #[inline(always)]
    fn enter(&mut self, context: &Context<'_>) {
        let (chunk, name) = match context.chunk() {
            // C has a chunk as the library has it.
            Some(chunk) => (ptr::from_ref(chunk).cast(), chunk.event_name()),
            None => (ptr::null(), name_of(context)),
        };
        (self.at.start, self.at.end) = (context.start, context.end);
        (self.at.chunk, self.at.event_name) = (chunk, str_of(name));
    }

    #[cold]
    #[inline(never)]
    fn enter_again(&mut self, context: &Context<'_>) {
        self.enter(context);
    }

    /// Notes the delta at hand. It comes without its event where an earlier call stopped between the two, and at the end
    /// of the stream.
    #[inline(always)]
    fn note(&mut self, context: &Context<'_>, delta: &Delta) {
        if self.at.start != context.start {
            self.enter_again(context);
        }
        let Delta { kind, flags, choice, call, code, number, .. } = *delta;
        (self.at.kind, self.at.flags, self.at.choice, self.at.call) = (kind as u32, u32::from(flags), choice, call);
        (self.at.code, self.at.number) = (code, number);
    }

    /// What a callback returned.
    #[inline(always)]
    fn answer(&mut self, code: i32) -> Put {
        match code {
            DELTAWIRE_GO_ON => Put::Go,
            code => self.interruption(code),
        }
    }

    #[cold]
    #[inline(never)]
    fn interruption(&mut self, code: i32) -> Put {
        match code {
            DELTAWIRE_PAUSE => Put::Pause,
            DELTAWIRE_AGAIN => Put::Full,
            code => {
                self.broke_off = Some((code, self.at.start));
                Put::Stop(Stop::Abort)
            }
        }
    }

    #[inline(always)]
    fn chunk(&mut self, context: &Context<'_>, delta: &Delta) -> Put {
        self.enter(context);
        let Some(f) = self.callbacks.on_chunk else { return Put::Go };
        self.note(context, delta);
        if let Some(created) = context.created(&mut self.created) {
            self.at.flags |= DELTAWIRE_EVF_NUMBER;
            self.at.number = created;
        }
        // SAFETY: the caller gave a function of this type; what it is given lives until it returns.
        let code = unsafe { f(self.user, &self.at) };
        self.answer(code)
    }

    /// A text: as it stands if it can be, else decoded in pieces.
    #[inline(always)]
    fn text(&mut self, f: deltawire_text_fn, context: &Context<'_>, delta: &Delta, taken: &mut usize) -> Put {
        if f.is_none() {
            return Put::Go;
        }
        self.note(context, delta);
        let (text, payload) = (delta.text, context.payload());
        if text.stands(payload) {
            return self.bytes(f, text.bytes(payload));
        }
        // A byte decodes to three at most, and so does a half that waited before it.
        if (text.len as usize) < SHORT / 3 {
            self.short(f, text.text(payload))
        } else {
            self.pieces(f, payload, text, taken)
        }
    }

    /// A text that is sure to fit.
    #[inline(never)]
    fn short(&mut self, f: deltawire_text_fn, text: Text<'_>) -> Put {
        let mut buffer = [0; SHORT];
        let len = text.copy_to(&mut buffer).written;
        self.bytes(f, buffer.get(..len).unwrap_or_default())
    }

    #[inline(never)]
    fn pieces(&mut self, f: deltawire_text_fn, payload: &[u8], part: Part, taken: &mut usize) -> Put {
        let (mut buffer, flags) = ([0; PIECE], self.at.flags);
        let mut text = part.behind(*taken).text(payload);
        let mut answer = Put::Go;
        loop {
            let len = text.take_to(&mut buffer);
            let more = !text.is_empty() && len > 0;
            self.at.flags = if more { flags | DELTAWIRE_EVF_MORE } else { flags };
            if *taken > 0 {
                // It is put behind the piece before.
                self.at.flags &= !DELTAWIRE_EVF_REPLACES;
            }
            match self.bytes(f, buffer.get(..len).unwrap_or_default()) {
                Put::Go => {}
                Put::Pause => answer = Put::Pause,
                put => return put,
            }
            if !more {
                return answer;
            }
            *taken = (part.len as usize).saturating_sub(text.raw().len());
        }
    }

    #[inline(always)]
    fn bytes(&mut self, f: deltawire_text_fn, bytes: &[u8]) -> Put {
        let Some(f) = f else { return Put::Go };
        // SAFETY: as in `chunk`.
        let code = unsafe { f(self.user, &self.at, bytes.as_ptr().cast(), bytes.len()) };
        self.answer(code)
    }

    fn nothing(&mut self, f: deltawire_at_fn) -> Put {
        let Some(f) = f else { return Put::Go };
        // SAFETY: as in `chunk`.
        let code = unsafe { f(self.user, &self.at) };
        self.answer(code)
    }

    fn value(&mut self, f: deltawire_value_fn, json: &[u8]) -> Put {
        let Some(f) = f else { return Put::Go };
        let is_plain = self.at.flags & DELTAWIRE_EVF_PLAIN != 0;
        let value = if is_plain { plain_of(json) } else { value_of(Value::from_raw(json)) };
        // SAFETY: as in `chunk`.
        let code = unsafe { f(self.user, &self.at, &value) };
        self.answer(code)
    }

    fn call(&mut self, payload: &[u8], delta: &Delta) -> Put {
        let Some(f) = self.callbacks.on_tool_call else { return Put::Go };
        let text = |part: Part| (!part.is_empty()).then(|| part.text(payload));
        let (id, kind) = (text_value(payload, text(delta.text)), text_value(payload, text(delta.aux)));
        // SAFETY: as in `chunk`.
        let code = unsafe { f(self.user, &self.at, &id, &kind) };
        self.answer(code)
    }

    fn sse(&mut self, context: &Context<'_>) -> Put {
        let (Some(f), Some(Event::Sse(event))) = (self.callbacks.on_sse, context.event()) else { return Put::Go };
        let (name, data, id) = (str_of(event.event_type()), str_of(event.data()), str_of(event.last_event_id()));
        // SAFETY: as in `chunk`.
        let code = unsafe { f(self.user, &self.at, name, data, id) };
        self.answer(code)
    }

    /// The texts that are seldom, and what is no text.
    #[inline(never)]
    fn other(&mut self, context: &Context<'_>, delta: &Delta, taken: &mut usize) -> Put {
        self.enter(context);
        let calls = self.callbacks;
        let f = match delta.kind {
            Kind::Role => calls.on_role,
            Kind::Refusal => calls.on_refusal,
            Kind::ToolName => calls.on_tool_name,
            Kind::FunctionName => calls.on_function_name,
            Kind::FunctionArguments => calls.on_function_arguments,
            Kind::Finish => calls.on_finish,
            Kind::Meta => calls.on_meta,
            Kind::Signature => calls.on_signature,
            _ => return self.no_text(context, delta),
        };
        self.text(f, context, delta, taken)
    }

    fn no_text(&mut self, context: &Context<'_>, delta: &Delta) -> Put {
        self.note(context, delta);
        let (calls, payload) = (self.callbacks, context.payload());
        let bytes = match context.event() {
            Some(Event::LastEventId(id)) => id,
            _ => delta.text.bytes(payload),
        };
        match delta.kind {
            Kind::Sse => self.sse(context),
            Kind::Comment => self.bytes(calls.on_comment, bytes),
            Kind::KeepAlive => self.bytes(calls.on_keep_alive, bytes),
            Kind::LastEventId => self.bytes(calls.on_last_event_id, bytes),
            Kind::Malformed => self.bytes(calls.on_malformed, bytes),
            Kind::ToolCall => self.call(payload, delta),
            Kind::Audio => self.value(calls.on_audio, bytes),
            Kind::Annotation => self.value(calls.on_annotations, bytes),
            Kind::Media => self.value(calls.on_media, bytes),
            Kind::Native => self.value(calls.on_native, bytes),
            Kind::Logprobs => self.value(calls.on_logprobs, bytes),
            Kind::Message => self.value(calls.on_message, bytes),
            Kind::ChoiceError => self.value(calls.on_choice_error, bytes),
            Kind::Usage => self.value(calls.on_usage, bytes),
            Kind::Error => self.value(calls.on_error, bytes),
            Kind::Retry => self.nothing(calls.on_retry),
            Kind::TooLong => self.nothing(calls.on_too_long),
            Kind::CommentTooLong => self.nothing(calls.on_comment_too_long),
            Kind::Limit => self.nothing(calls.on_limit),
            Kind::Quirk => self.nothing(calls.on_quirk),
            Kind::Done => self.nothing(calls.on_done),
            Kind::Frame => self.nothing(calls.on_frame),
            _ => Put::Go,
        }
    }
}

/// The name of an event that is no chunk.
#[inline(never)]
fn name_of<'a>(context: &Context<'a>) -> &'a [u8] {
    match context.event() {
        Some(Event::Sse(event)) => event.name(),
        Some(Event::Malformed(malformed)) => malformed.event_name(),
        _ => b"",
    }
}
