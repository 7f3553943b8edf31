//! The sink that calls a handler: each delta becomes a call of the method for its kind.

use super::context::Context;
use super::handler::{Flow, Handler, Stop};
use super::sink::{Put, Sink};
use super::Event;
use crate::chat::Update;
use crate::delta::{Delta, Kind};
use crate::{Error, Quirk};

/// The sink that calls a handler.
pub(super) struct HandlerSink<'h, H: ?Sized>(pub(super) &'h mut H);

impl<H: Handler + ?Sized> Sink for HandlerSink<'_, H> {
    #[inline(always)]
    fn is_of_one_call(&self) -> bool {
        true
    }

    #[inline(always)]
    fn stops_at_limit(&self) -> bool {
        true
    }

    #[inline(always)]
    fn wants(&self, kind: Kind) -> bool {
        !matches!(kind, Kind::Frame | Kind::Payload | Kind::Meta)
    }

    #[inline(always)]
    fn put(&mut self, context: &Context<'_>, delta: &Delta, _: &mut usize) -> Put {
        if delta.kind == Kind::Chunk {
            if let Some(chunk) = context.chunk() {
                return then(put_of(self.0.event(&Event::Chunk(*chunk))), || put_of(self.0.chunk(chunk)));
            }
        }
        let (call, text) = (delta.call, delta.text.text(context.payload()));
        put_of(match delta.kind {
            Kind::Content => self.0.update(delta.choice, Update::Content(text)),
            Kind::Reasoning => self.0.update(delta.choice, Update::Reasoning(text)),
            Kind::ToolArguments => self.0.update(delta.choice, Update::CallArguments { call, text }),
            // Copies are passed, because a pointer to context and delta would keep both out of registers.
            _ => return self.update(&{ *context }, &{ *delta }),
        })
    }
}

impl<H: Handler + ?Sized> HandlerSink<'_, H> {
    /// Calls the handler for a delta of any kind.
    #[inline(never)]
    fn update(&mut self, context: &Context<'_>, delta: &Delta) -> Put {
        match Update::of_any(delta, context.payload()) {
            Some(update) => put_of(self.0.update(delta.choice, update)),
            None => self.other(context, delta),
        }
    }

    /// Calls the handler for an event that is not a chunk, for a limit, or for a quirk.
    #[inline(never)]
    fn other(&mut self, context: &Context<'_>, delta: &Delta) -> Put {
        match delta.kind {
            Kind::Limit => {
                let error = Error::from_number(delta.code, delta.choice, context.start);
                error.map_or(Put::Go, |error| put_of(self.0.limit(&error)))
            }
            Kind::Quirk => {
                let quirk = Quirk::ALL.get(delta.code as usize);
                quirk.map_or(Put::Go, |quirk| put_of(self.0.quirk(*quirk, context.start)))
            }
            _ => {
                let Some(event) = &context.event() else { return Put::Go };
                then(put_of(self.0.event(event)), || put_of(self.event(event)))
            }
        }
    }

    /// Calls the handler's method for the type of the event.
    fn event(&mut self, event: &Event<'_>) -> Flow {
        match event {
            Event::Chunk(chunk) => self.0.chunk(chunk),
            Event::Sse(event) => self.0.sse(event),
            Event::Done => self.0.done(),
            Event::Comment(text) => self.0.comment(text),
            Event::KeepAlive(payload) => self.0.keep_alive(payload),
            Event::Retry(ms) => self.0.retry(*ms),
            Event::LastEventId(id) => self.0.last_event_id(id),
            Event::Malformed(malformed) => self.0.malformed(malformed),
            Event::TooLong { offset } => self.0.too_long(*offset),
            Event::CommentTooLong { offset } => self.0.comment_too_long(*offset),
            // Push has the deltas of the end without an event.
            Event::Unpaired => Flow::Continue(()),
        }
    }
}

/// Joins the answers of the two calls for an event. A pause does not prevent the second call.
#[inline(always)]
fn then(first: Put, second: impl FnOnce() -> Put) -> Put {
    match first {
        Put::Go => second(),
        Put::Pause => match second() {
            Put::Go => Put::Pause,
            put => put,
        },
        put => put,
    }
}

#[inline(always)]
fn put_of(flow: Flow) -> Put {
    match flow {
        Flow::Continue(()) => Put::Go,
        Flow::Break(Stop::Pause) => Put::Pause,
        Flow::Break(stop) => Put::Stop(stop),
    }
}
