//! Callbacks: the sink that calls functions of C.

use crate::convert::{plain_of, str_of, text_value, value_of, NO_STR};
use crate::types::*;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;
use deltawire::chat::{Chunk, Created};
use deltawire::delta::{Delta, Kind, Part, FLAG_NUMBER};
use deltawire::json::{Text, Value};
use deltawire::stream::{Context, Event, Put, Sink, Stop};

/// The largest piece, in bytes, of a text that must be decoded.
const PIECE: usize = 1024;

/// The length of the buffer for texts that are certain to fit into it.
const SHORT: usize = 96;

/// A sink that calls the functions of the C program.
pub(crate) struct CallbackSink<'c> {
    callbacks: &'c deltawire_callbacks,
    user: *mut c_void,
    /// The argument of the callbacks. Between two deltas `flags`, `code` and `number` are 0, which they are for nearly
    /// every text.
    at: deltawire_at,
    /// A copy of the current chunk, to which `at` points. A pointer to the emitter's chunk would force it out of
    /// registers.
    chunk: MaybeUninit<Chunk<'static>>,
    /// `created` of the previous chunk.
    created: Created,
    /// The number with which a callback ended the call, and the stream offset of that event.
    pub(crate) aborted: Option<(i32, u64)>,
}

/// The argument of a callback before the first event. Its `start` is an offset at which no event
/// begins.
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

/// What a callback answered. One byte, which functions return in a register; a [`Put`] would be
/// returned in memory.
enum Answer {
    Go,
    Pause,
    Again,
    Abort,
}

impl Sink for CallbackSink<'_> {
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
        let answer = match delta.kind {
            Kind::Content => self.text(calls.on_content, context, delta, taken),
            Kind::Chunk => self.chunk(context, delta),
            Kind::Reasoning => self.text(calls.on_reasoning, context, delta, taken),
            Kind::ToolArguments => self.text(calls.on_tool_arguments, context, delta, taken),
            // `other` gets pointers to copies, so that the originals can stay in registers.
            _ => {
                let (mut copy, context, delta) = (*taken, *context, *delta);
                let answer = self.other(&context, &delta, &mut copy);
                *taken = copy;
                answer
            }
        };
        match answer {
            Answer::Go => Put::Go,
            Answer::Pause => Put::Pause,
            // Like a full array of a batch: the event stays pending, and the next call gives this delta again.
            Answer::Again => Put::Full,
            Answer::Abort => Put::Stop(Stop::Abort),
        }
    }
}

impl<'c> CallbackSink<'c> {
    pub(crate) fn new(callbacks: &'c deltawire_callbacks, user: *mut c_void) -> Self {
        CallbackSink {
            callbacks,
            user,
            at: NOWHERE,
            chunk: MaybeUninit::uninit(),
            created: Created::default(),
            aborted: None,
        }
    }

    /// Notes the event that the next deltas belong to.
    #[inline(always)]
    fn enter(&mut self, context: &Context<'_>) {
        let (chunk, name) = match context.chunk() {
            Some(chunk) => {
                let place = self.chunk.as_mut_ptr();
                // SAFETY: the field has the size of a chunk. Nothing here reads it, and C, for which a chunk of the
                // library is a `deltawire_chunk`, reads it only during callbacks for this chunk.
                unsafe { place.cast::<Chunk<'_>>().write(*chunk) };
                (place.cast_const().cast(), chunk.event_name())
            }
            None => (ptr::null(), name_of(context)),
        };
        (self.at.start, self.at.end) = (context.start, context.end);
        (self.at.chunk, self.at.event_name) = (chunk, str_of(name));
    }

    /// Notes the choice and the call of a delta. Also notes its event, if the emitter did not put a chunk before the
    /// delta: when a call resumes inside an event, and at the end of the stream.
    #[inline(always)]
    fn note(&mut self, context: &Context<'_>, delta: &Delta) {
        if !context.follows_chunk() && self.at.start != context.start {
            self.enter(&{ *context });
        }
        (self.at.kind, self.at.choice, self.at.call) = (delta.kind as u32, delta.choice, delta.call);
    }

    /// Notes flags, code and number, which few texts have.
    #[inline(always)]
    fn note_rest(&mut self, delta: &Delta) {
        (self.at.flags, self.at.code, self.at.number) = (u32::from(delta.flags), delta.code, delta.number);
    }

    /// Converts the number that a callback returned.
    #[inline(always)]
    fn answer(&mut self, code: i32) -> Answer {
        match code {
            DELTAWIRE_GO_ON => Answer::Go,
            code => self.interruption(code),
        }
    }

    #[cold]
    #[inline(never)]
    fn interruption(&mut self, code: i32) -> Answer {
        match code {
            DELTAWIRE_PAUSE => Answer::Pause,
            DELTAWIRE_AGAIN => Answer::Again,
            code => {
                self.aborted = Some((code, self.at.start));
                Answer::Abort
            }
        }
    }

    #[inline(always)]
    fn chunk(&mut self, context: &Context<'_>, delta: &Delta) -> Answer {
        self.enter(context);
        let Some(f) = self.callbacks.on_chunk else { return Answer::Go };
        self.note(context, delta);
        let created = context.created(&mut self.created);
        let flags = delta.flags | if created.is_some() { FLAG_NUMBER } else { 0 };
        self.note_rest(&Delta { flags, number: created.unwrap_or(0), ..*delta });
        // SAFETY: the C program gave a function of this type, and the arguments live until it returns.
        let code = unsafe { f(self.user, &self.at) };
        self.note_rest(&Delta::new(delta.kind));
        self.answer(code)
    }

    /// Gives a text to a callback: as it lies in the payload if it needs no decoding, otherwise decoded, in pieces.
    #[inline(always)]
    fn text(&mut self, f: deltawire_text_fn, context: &Context<'_>, delta: &Delta, taken: &mut usize) -> Answer {
        if f.is_none() {
            return Answer::Go;
        }
        self.note(context, delta);
        let has_more = delta.flags != 0 || delta.code != 0 || delta.number != 0;
        if has_more {
            self.note_rest(delta);
        }
        let (part, payload) = (delta.text, context.payload());
        let answer = if part.stands(payload) {
            self.bytes(f, part.bytes(payload))
        } else if (part.len as usize) < SHORT / 3 {
            // A byte decodes to at most three bytes, and so does a pending surrogate before the text.
            self.short(f, part.text(payload))
        } else {
            let mut copy = *taken;
            let answer = self.pieces(f, payload, &{ part }, &mut copy);
            *taken = copy;
            answer
        };
        if has_more {
            self.note_rest(&Delta::new(delta.kind));
        }
        answer
    }

    /// Gives a text that is certain to fit into the buffer to a callback.
    #[inline(never)]
    fn short(&mut self, f: deltawire_text_fn, text: Text<'_>) -> Answer {
        let mut buffer = [0; SHORT];
        let len = text.copy_to(&mut buffer).written;
        self.bytes(f, buffer.get(..len).unwrap_or_default())
    }

    /// Decodes a text, and gives it to a callback in pieces. `taken` is how many raw bytes of it the callback took
    /// before. A callback that asks for a pause still gets the rest of the text.
    #[inline(never)]
    fn pieces(&mut self, f: deltawire_text_fn, payload: &[u8], part: &Part, taken: &mut usize) -> Answer {
        let (mut buffer, flags) = ([0; PIECE], self.at.flags);
        let mut text = part.behind(*taken).text(payload);
        let mut answer = Answer::Go;
        loop {
            let len = text.take_to(&mut buffer);
            let more = !text.is_empty() && len > 0;
            self.at.flags = if more { flags | DELTAWIRE_EVF_MORE } else { flags };
            if *taken > 0 {
                // Only the first piece of a name replaces the name before it.
                self.at.flags &= !DELTAWIRE_EVF_REPLACES;
            }
            let given = self.bytes(f, buffer.get(..len).unwrap_or_default());
            self.at.flags = flags;
            match given {
                Answer::Go => {}
                Answer::Pause => answer = Answer::Pause,
                other => return other,
            }
            if !more {
                return answer;
            }
            *taken = (part.len as usize).saturating_sub(text.raw().len());
        }
    }

    #[inline(always)]
    fn bytes(&mut self, f: deltawire_text_fn, bytes: &[u8]) -> Answer {
        let Some(f) = f else { return Answer::Go };
        // SAFETY: as in `chunk`.
        let code = unsafe { f(self.user, &self.at, bytes.as_ptr().cast(), bytes.len()) };
        self.answer(code)
    }

    fn nothing(&mut self, f: deltawire_at_fn) -> Answer {
        let Some(f) = f else { return Answer::Go };
        // SAFETY: as in `chunk`.
        let code = unsafe { f(self.user, &self.at) };
        self.answer(code)
    }

    fn value(&mut self, f: deltawire_value_fn, json: &[u8]) -> Answer {
        let Some(f) = f else { return Answer::Go };
        let is_plain = self.at.flags & DELTAWIRE_EVF_PLAIN != 0;
        let value = if is_plain { plain_of(json) } else { value_of(Value::from_raw(json)) };
        // SAFETY: as in `chunk`.
        let code = unsafe { f(self.user, &self.at, &value) };
        self.answer(code)
    }

    fn call(&mut self, payload: &[u8], delta: &Delta) -> Answer {
        let Some(f) = self.callbacks.on_tool_call else { return Answer::Go };
        let text = |part: Part| (!part.is_empty()).then(|| part.text(payload));
        let (id, kind) = (text_value(payload, text(delta.text)), text_value(payload, text(delta.aux)));
        // SAFETY: as in `chunk`.
        let code = unsafe { f(self.user, &self.at, &id, &kind) };
        self.answer(code)
    }

    fn sse(&mut self, context: &Context<'_>) -> Answer {
        let (Some(f), Some(Event::Sse(event))) = (self.callbacks.on_sse, context.event()) else { return Answer::Go };
        let (name, data, id) = (str_of(event.event_type()), str_of(event.data()), str_of(event.last_event_id()));
        // SAFETY: as in `chunk`.
        let code = unsafe { f(self.user, &self.at, name, data, id) };
        self.answer(code)
    }

    /// Calls the callbacks for rare texts, and the callbacks without a text.
    #[inline(never)]
    fn other(&mut self, context: &Context<'_>, delta: &Delta, taken: &mut usize) -> Answer {
        if !context.follows_chunk() {
            self.enter(context);
        }
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

    fn no_text(&mut self, context: &Context<'_>, delta: &Delta) -> Answer {
        self.note(context, delta);
        self.note_rest(delta);
        let answer = self.call_for(context, delta);
        self.note_rest(&Delta::new(delta.kind));
        answer
    }

    #[inline(always)]
    fn call_for(&mut self, context: &Context<'_>, delta: &Delta) -> Answer {
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
            Kind::ChoiceError => self.value(calls.on_choice_error, bytes),
            Kind::Usage => self.value(calls.on_usage, bytes),
            Kind::Error => self.value(calls.on_error, bytes),
            Kind::Retry => self.nothing(calls.on_retry),
            Kind::TooLong => self.nothing(calls.on_too_long),
            Kind::CommentTooLong => self.nothing(calls.on_comment_too_long),
            Kind::ToolCallEnd => self.nothing(calls.on_tool_call_end),
            Kind::Limit => self.nothing(calls.on_limit),
            Kind::Quirk => self.nothing(calls.on_quirk),
            Kind::Done => self.nothing(calls.on_done),
            Kind::Frame => self.nothing(calls.on_frame),
            _ => Answer::Go,
        }
    }
}

/// Returns the name of an event that is not a chunk.
#[inline(never)]
fn name_of<'a>(context: &Context<'a>) -> &'a [u8] {
    match context.event() {
        Some(Event::Sse(event)) => event.name(),
        Some(Event::Malformed(malformed)) => malformed.event_name(),
        _ => b"",
    }
}
