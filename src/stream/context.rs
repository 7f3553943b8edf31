//! The context of a delta: a view of its event, and the event's place in the stream and in the input.

use super::found::{Found, Span};
use super::state::StreamState;
use super::{Event, Machine, Malformed};
use crate::chat::{Chunk, Created, Index};
use crate::shown::{self, shown};
use crate::{sse, Error, Storage};

/// Takes the place of an offset in the input for bytes that are not in the input. It is higher than any offset, and
/// still is after an offset is added to it.
pub(super) const NOT_IN_INPUT: u64 = 1 << 63;

/// Bytes, with their offset if they are in the input.
#[derive(Clone, Copy)]
pub(super) struct InputBytes<'a> {
    pub(super) bytes: &'a [u8],
    /// The offset, or [`NOT_IN_INPUT`]. It is one word rather than an `Option`, because it is read right after it is
    /// written, and a load across two stores would stall.
    place: u64,
}

impl<'a> InputBytes<'a> {
    pub(super) const NONE: InputBytes<'static> = InputBytes { bytes: &[], place: NOT_IN_INPUT };

    #[inline(always)]
    pub(super) fn new(bytes: &'a [u8], input: Option<u32>) -> Self {
        InputBytes { bytes, place: input.map_or(NOT_IN_INPUT, u64::from) }
    }

    /// The offset of the bytes in the input.
    #[inline(always)]
    pub(super) fn input(&self) -> Option<u32> {
        u32::try_from(self.place).ok()
    }

    /// The offset in the input of the byte at offset `start` of these bytes.
    #[inline]
    pub(super) fn at(&self, start: u32) -> Option<u32> {
        u32::try_from(self.place.wrapping_add(u64::from(start))).ok()
    }
}

/// The event whose deltas a [`Sink`](super::Sink) receives.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    chunk: Option<Chunk<'a>>,
    /// Stream offset of the event's first byte.
    pub start: u64,
    /// Stream offset after the event's last byte.
    pub end: u64,
    /// Offset of the payload in the input, or [`NOT_IN_INPUT`].
    payload_at: u64,
    /// See [`repeats`](Self::repeats).
    repeats: bool,
    /// See [`follows_chunk`](Self::follows_chunk).
    follows_chunk: bool,
    details: &'a Details<'a>,
}

shown!("Context": Context<'_>, this => start: this.start, end: this.end, payload: shown::Bytes(this.payload()));

/// What a context needs only for events that are not chunks or have a name. A context refers to it, so that contexts
/// are small.
pub(super) struct Details<'a> {
    /// The event, unless it is a chunk.
    event: Option<Event<'a>>,
    payload: &'a [u8],
    name: InputBytes<'a>,
    /// The last event ID.
    id: &'a [u8],
}

impl<'a> Details<'a> {
    /// The details of a chunk without a name.
    pub(super) const NOTHING: &'static Details<'static> = &Details::of_chunk(InputBytes::NONE);

    /// The details of a chunk with this name.
    #[inline(always)]
    pub(super) const fn of_chunk(name: InputBytes<'a>) -> Self {
        Details { event: None, payload: &[], name, id: &[] }
    }
}

impl<'a> Context<'a> {
    /// A context without an event, with these stream offsets.
    #[inline(always)]
    pub(super) fn nothing((start, end): (u64, u64)) -> Self {
        Context {
            chunk: None,
            start,
            end,
            payload_at: NOT_IN_INPUT,
            repeats: false,
            follows_chunk: false,
            details: Details::NOTHING,
        }
    }

    /// The context of a chunk. `payload_at` is the offset of its payload in the input, or [`NOT_IN_INPUT`].
    #[inline(always)]
    pub(super) fn of_chunk(
        (payload, payload_at): (&'a [u8], u64),
        index: &'a Index,
        (start, end): (u64, u64),
        repeats: bool,
        details: &'a Details<'a>,
    ) -> Self {
        let chunk = Some(Chunk::from_parts(payload, index, details.name.bytes));
        Context { chunk, start, end, payload_at, repeats, follows_chunk: false, details }
    }

    /// The event. `None` at the end of the stream, where pending texts are flushed, and for a [`Frame`](super::Frame).
    pub fn event(&self) -> Option<Event<'a>> {
        self.chunk.map(Event::Chunk).or(self.details.event)
    }

    /// The chunk, if the event is one.
    #[inline(always)]
    pub fn chunk(&self) -> Option<&Chunk<'a>> {
        self.chunk.as_ref()
    }

    /// The payload of the event. Deltas are offsets into it.
    #[inline(always)]
    pub fn payload(&self) -> &'a [u8] {
        match &self.chunk {
            Some(chunk) => chunk.payload(),
            None => self.details.payload,
        }
    }

    /// The payload of the event, and its offset in the input.
    #[inline(always)]
    pub(super) fn bytes(&self) -> InputBytes<'a> {
        InputBytes { bytes: self.payload(), place: self.payload_at }
    }

    /// The context of the deltas after the chunk itself, which the sink has taken.
    #[inline(always)]
    pub(super) fn after_chunk(self) -> Self {
        Context { follows_chunk: true, ..self }
    }

    /// Whether the sink took the [`Chunk`](Kind::Chunk) delta of this event in the same call.
    #[inline(always)]
    #[doc(hidden)]
    pub fn follows_chunk(&self) -> bool {
        self.follows_chunk
    }

    /// Whether the same template recognized this chunk and the event before it, whose deltas the sink got in the same
    /// call. Then the bytes outside the template's holes are the same.
    #[inline(always)]
    #[doc(hidden)]
    pub fn repeats(&self) -> bool {
        self.repeats
    }

    /// The chunk's `created`, for a sink that reports it with each chunk. `last` keeps the value of the chunk before,
    /// so that it is parsed again only if it changed.
    #[inline(always)]
    #[doc(hidden)]
    pub fn created(&self, last: &mut Created) -> Option<u64> {
        match last.fixed().filter(|_| self.repeats) {
            None => self.chunk()?.created_after(last),
            number => number,
        }
    }

    /// The name of the event.
    pub(super) fn name(&self) -> InputBytes<'a> {
        self.details.name
    }

    /// The last event ID.
    pub(super) fn id(&self) -> &'a [u8] {
        self.details.id
    }
}

impl StreamState {
    /// The last step's result as a view. `index` is that of the machine, `window` and `storage` are those of the step.
    ///
    /// # Errors
    ///
    /// [`Error::Quirk`], if the step found a quirk that is configured as an error.
    #[inline(always)]
    pub(super) fn event<'a, S: Storage + ?Sized>(
        &'a self,
        index: &'a Index,
        storage: &'a S,
        window: &'a [u8],
        found: Found,
    ) -> Result<Option<Event<'a>>, Error> {
        // The common case.
        if let Found::Chunk(span) = found {
            let (payload, name) = (span.of(window, storage), self.name.of(window, storage));
            return Ok(Some(Event::Chunk(Chunk::from_parts(payload, index, name))));
        }
        if found == Found::NeedMore {
            return Ok(None);
        }
        self.other_event(index, storage, window, found)
    }

    /// [`event`](Self::event) for all results. It is a function of its own, so that chunks do not pay for them.
    #[inline(never)]
    fn other_event<'a, S: Storage + ?Sized>(
        &'a self,
        index: &'a Index,
        storage: &'a S,
        window: &'a [u8],
        found: Found,
    ) -> Result<Option<Event<'a>>, Error> {
        let (offset, _) = index.frame;
        let bytes = |span: Span| span.of(window, storage);
        let (name, id) = (bytes(self.name), self.last_event_id(storage.bytes()));
        Ok(Some(match found {
            Found::NeedMore => return Ok(None),
            Found::Error(quirk) => return Err(Error::Quirk { quirk, offset }),
            Found::Chunk(span) => Event::Chunk(Chunk::from_parts(bytes(span), index, name)),
            Found::Sse(span) => Event::Sse(sse::Event::new(name, bytes(span), id)),
            Found::Done => Event::Done,
            Found::Comment(span) => Event::Comment(bytes(span)),
            Found::KeepAlive(span) => Event::KeepAlive(bytes(span)),
            Found::Retry(ms) => Event::Retry(ms),
            Found::LastEventId => Event::LastEventId(id),
            Found::Malformed(span, fault) => {
                Event::Malformed(Malformed { payload: bytes(span), fault, name, frame: &index.frame })
            }
            Found::TooLong => Event::TooLong { offset },
            Found::CommentTooLong => Event::CommentTooLong { offset },
        }))
    }
}

impl<const SLOTS: usize> Machine<SLOTS> {
    /// The last step's result as a view. `window` and `storage` are those of the step.
    ///
    /// # Errors
    ///
    /// [`Error::Quirk`], if the step found a quirk that is configured as an error.
    #[inline(always)]
    pub fn event<'a, S: Storage + ?Sized>(
        &'a self,
        storage: &'a S,
        window: &'a [u8],
        found: Found,
    ) -> Result<Option<Event<'a>>, Error> {
        self.state.event(&self.index, storage, window, found)
    }

    /// The chunk that was found last, which has this payload and name.
    #[inline]
    pub(crate) fn chunk<'a>(&'a self, payload: &'a [u8], name: &'a [u8]) -> Chunk<'a> {
        Chunk::from_parts(payload, self.index(), name)
    }

    /// The details of the last step's result. `window`, which begins at offset `base` of the input, and `storage` are
    /// those of the step.
    pub(super) fn details<'a, S: Storage + ?Sized>(
        &'a self,
        storage: &'a S,
        window: &'a [u8],
        base: u32,
        found: Found,
    ) -> Details<'a> {
        let event = match found {
            Found::Chunk(_) => None,
            _ => self.other_event(&self.index, storage, window, found).ok().flatten(),
        };
        let payload = found.payload().map_or(&[][..], |span| span.of(window, storage));
        let name = InputBytes::new(self.name.of(window, storage), self.name.offset_in_input(base));
        Details { event, payload, name, id: self.last_event_id(storage.bytes()) }
    }

    /// The context of the last step's result.
    pub(super) fn context<'a>(&'a self, details: &'a Details<'a>, base: u32, found: Found) -> Context<'a> {
        let payload_at = found.payload().and_then(|span| span.offset_in_input(base)).map_or(NOT_IN_INPUT, u64::from);
        let chunk = match found {
            Found::Chunk(_) => Some(self.chunk(details.payload, details.name.bytes)),
            _ => None,
        };
        Context { chunk, payload_at, details, ..Context::nothing(self.index_frame()) }
    }
}
