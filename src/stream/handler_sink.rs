//! The sink that calls a handler.

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
                return put_of(self.0.event(&Event::Chunk(*chunk)));
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
                // Push has the deltas of the end without an event.
                let event = context.event().filter(|event| !matches!(event, Event::Rest));
                event.map_or(Put::Go, |event| put_of(self.0.event(&event)))
            }
        }
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
