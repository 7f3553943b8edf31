//! What was found, as a view, and told to a handler: what every parser round the machine shares.

use super::push::{self, Handler, Push, Stop, Track};
use super::{Event, Found, Machine, Malformed};
use crate::chat::{Chunk, Source};
use crate::sse;
use crate::{Error, Storage};

impl Machine {
    /// The view of what the last step found; `given` is the window of that step, and `store` its storage.
    ///
    /// # Errors
    ///
    /// [`Error::Quirk`], if a quirk that is to be an error was found.
    #[inline]
    pub fn event<'a, S: Storage + ?Sized>(
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
                Event::Malformed(Malformed { payload: span.of(given, store), fault, name: self.name(given, store) })
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
    pub fn tell<S: Storage + ?Sized, T: Track, H: Handler + ?Sized>(
        &mut self,
        store: &S,
        tracker: &mut T,
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
            Ok(Some(event)) => push::event(&mut push, tracker, &event, self.quirks(), offset),
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
