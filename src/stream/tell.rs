//! What was found, as a view, and told to a handler: what every parser round the machine shares.

use super::push::{self, Handler, Push, Rest, Stop, Track};
use super::{Event, Found, Machine, Malformed};
use crate::chat::{Chunk, Source};
use crate::sse;
use crate::{Error, QuirkSet, Storage};

impl<const SLOTS: usize> Machine<SLOTS> {
    /// The view of what the last step found; `given` is the window of that step, and `store` its storage.
    ///
    /// # Errors
    ///
    /// [`Error::Quirk`], if a quirk that is to be an error was found.
    #[inline(always)]
    pub fn event<'a, S: Storage + ?Sized>(
        &'a self,
        store: &'a S,
        given: &'a [u8],
        found: Found,
    ) -> Result<Option<Event<'a>>, Error> {
        // Nearly always.
        if let Found::Chunk(span) = found {
            return Ok(Some(Event::Chunk(self.chunk(span.of(given, store), self.name(given, store)))));
        }
        self.other_event(store, given, found)
    }

    #[inline(never)]
    fn other_event<'a, S: Storage + ?Sized>(
        &'a self,
        store: &'a S,
        given: &'a [u8],
        found: Found,
    ) -> Result<Option<Event<'a>>, Error> {
        let (offset, _) = self.index().frame;
        Ok(Some(match found {
            Found::NeedMore => return Ok(None),
            Found::Error(quirk) => return Err(Error::Quirk { quirk, offset }),
            Found::Chunk(span) => Event::Chunk(self.chunk(span.of(given, store), self.name(given, store))),
            Found::Sse(span) => Event::Sse(sse::Event::new(
                self.name(given, store),
                span.of(given, store),
                self.last_event_id(store.bytes()),
            )),
            Found::Done => Event::Done,
            Found::Comment(span) => Event::Comment(span.of(given, store)),
            Found::KeepAlive(span) => Event::KeepAlive(span.of(given, store)),
            Found::Retry(ms) => Event::Retry(ms),
            Found::LastEventId => Event::LastEventId(self.last_event_id(store.bytes())),
            Found::Malformed(span, fault) => {
                let (payload, name) = (span.of(given, store), self.name(given, store));
                Event::Malformed(Malformed { payload, fault, name, frame: &self.index().frame })
            }
            Found::TooLong => Event::TooLong { offset },
            Found::CommentTooLong => Event::CommentTooLong { offset },
        }))
    }

    /// The chunk found last, whose payload and name these are.
    #[inline]
    pub(crate) fn chunk<'a>(&'a self, payload: &'a [u8], name: &'a [u8]) -> Chunk<'a> {
        Chunk { source: Source { payload, index: self.index() }, name }
    }

    /// Tells a handler of what the last step found, and counts the quirks that come to light. Says why to stop.
    #[inline(always)]
    pub fn tell<S: Storage + ?Sized, T: Track, H: Handler + ?Sized>(
        &mut self,
        store: &S,
        tracker: &mut T,
        given: &[u8],
        found: Found,
        handler: &mut H,
    ) -> Option<Stop> {
        // Nearly always.
        if let Found::Chunk(span) = found {
            let quirks = self.quirks();
            let chunk = self.chunk(span.of(given, store), self.name(given, store));
            let rest = push::chunk(handler, tracker, chunk, quirks)?;
            let (offset, _) = self.index().frame;
            let (told, stop) = self.tell_chunk_rest(rest, tracker, quirks, offset);
            self.count(told);
            return stop;
        }
        self.tell_other(store, given, found, handler)
    }

    /// The rest of a chunk: what came to light in it, and why to stop.
    #[inline(never)]
    fn tell_chunk_rest<T: Track, H: Handler + ?Sized>(
        &self,
        rest: Rest<'_, '_, H>,
        tracker: &mut T,
        quirks: QuirkSet,
        offset: u64,
    ) -> (QuirkSet, Option<Stop>) {
        let push = push::chunk_rest(rest, tracker, quirks, offset);
        (push.quirks, push.stop(self.config().errors, offset))
    }

    /// [`tell`](Machine::tell) of anything but a chunk.
    #[inline(never)]
    fn tell_other<S: Storage + ?Sized, H: Handler + ?Sized>(
        &mut self,
        store: &S,
        given: &[u8],
        found: Found,
        handler: &mut H,
    ) -> Option<Stop> {
        if found == Found::NeedMore {
            return None;
        }
        let (offset, _) = self.index().frame;
        let mut push = Push::new(handler);
        match self.event(store, given, found) {
            Ok(Some(event)) => push::event(&mut push, &event, self.quirks(), offset),
            Ok(None) => {}
            Err(error) => return Some(Stop::Error(error)),
        }
        self.count(push.quirks);
        push.stop(self.config().errors, offset)
    }

    /// Tells a handler of half a character that still waits at the end of the stream.
    pub fn tell_rest<T: Track, H: Handler + ?Sized>(&mut self, tracker: &mut T, handler: &mut H) -> Option<Stop> {
        let mut push = Push::new(handler);
        let offset = self.offset();
        push.finish(tracker, offset);
        self.count(push.quirks);
        push.stop(self.config().errors, offset)
    }
}
