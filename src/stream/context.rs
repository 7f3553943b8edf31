//! Where a delta stands: its event as a view, and where the bytes of that lie.

use super::found::{Found, Place, Span};
use super::{Event, Machine, Malformed};
use crate::chat::Chunk;
use crate::{sse, Error, Storage};

/// No offset in the input.
const NOWHERE: u64 = u64::MAX;

/// Bytes, and their offset in the input if they lie there.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a> {
    pub(super) bytes: &'a [u8],
    /// The offset, or [`NOWHERE`]: in one word, because it is read as soon as it is written.
    place: u64,
}

impl<'a> Bytes<'a> {
    pub(super) const NONE: Bytes<'static> = Bytes { bytes: &[], place: NOWHERE };

    #[inline(always)]
    pub(super) fn new(bytes: &'a [u8], input: Option<u32>) -> Self {
        Bytes { bytes, place: input.map_or(NOWHERE, u64::from) }
    }

    /// Their offset in the input.
    #[inline(always)]
    pub(super) fn input(&self) -> Option<u32> {
        u32::try_from(self.place).ok()
    }

    /// The offset in the input of the byte at `start`.
    #[inline]
    pub(super) fn at(&self, start: u32) -> Option<u32> {
        self.input()?.checked_add(start)
    }
}

/// What a [`Sink`](super::Sink) may ask about the event whose deltas it is given.
pub struct Context<'a> {
    /// The event; none at the end of the stream, where what waited is emitted.
    pub event: Option<Event<'a>>,
    /// Where it lies in the stream: offsets of its first byte, and of one past its last.
    pub start: u64,
    /// One past its last byte.
    pub end: u64,
    /// Its payload, into which deltas are offsets.
    pub(super) payload: Bytes<'a>,
    pub(super) name: Bytes<'a>,
    /// The last event ID.
    pub(super) id: &'a [u8],
}

impl<'a> Context<'a> {
    /// Of no event, at this place in the stream.
    pub(super) fn nothing((start, end): (u64, u64)) -> Self {
        Context { event: None, start, end, payload: Bytes::NONE, name: Bytes::NONE, id: &[] }
    }

    /// Its payload, into which deltas are offsets.
    #[inline(always)]
    pub fn payload(&self) -> &'a [u8] {
        self.payload.bytes
    }

    /// The chunk, if the event is one.
    #[inline(always)]
    pub fn chunk(&self) -> Option<&Chunk<'a>> {
        match &self.event {
            Some(Event::Chunk(chunk)) => Some(chunk),
            _ => None,
        }
    }
}

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
        Chunk::from_parts(payload, self.index(), name)
    }

    /// The context of what the last step found in `given`, which begins at offset `base` of the input.
    #[inline(always)]
    pub(super) fn context<'a, S: Storage + ?Sized>(
        &'a self,
        store: &'a S,
        given: &'a [u8],
        base: u32,
        found: Found,
    ) -> Context<'a> {
        let bytes = |span: Span| {
            let input = (span.place == Place::Input && span.len > 0).then(|| base.saturating_add(span.start));
            Bytes::new(span.of(given, store), input)
        };
        let (start, end) = self.frame();
        let name = bytes(self.name_span());
        if let Found::Chunk(span) = found {
            let payload = bytes(span);
            let event = Some(Event::Chunk(self.chunk(payload.bytes, name.bytes)));
            return Context { event, start, end, payload, name, id: &[] };
        }
        let payload = match found {
            Found::Sse(span) | Found::Comment(span) | Found::KeepAlive(span) | Found::Malformed(span, _) => bytes(span),
            _ => Bytes::NONE,
        };
        let event = self.other_event(store, given, found).ok().flatten();
        Context { event, start, end, payload, name, id: self.last_event_id(store.bytes()) }
    }

    /// Where what was found last lies in the stream. A call, so that the two words come in registers: read as a pair they
    /// would wait for the two stores that a step has just made.
    #[inline(never)]
    fn frame(&self) -> (u64, u64) {
        self.index().frame
    }
}
