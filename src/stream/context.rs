//! The context of a delta: its event as a view, and where the event's bytes lie.

use super::found::{Found, Span};
use super::state::StreamState;
use super::{Event, Machine, Malformed};
use crate::chat::{Chunk, Created, Index};
use crate::shown::{self, shown};
use crate::{sse, Error, Storage};

/// Stands for the offset in the input of bytes that do not lie there. It is too high for an offset, even if one is added.
pub(super) const NOT_IN_INPUT: u64 = 1 << 63;

/// Bytes, and their offset in the input if they lie there.
#[derive(Clone, Copy)]
pub(super) struct InputBytes<'a> {
    pub(super) bytes: &'a [u8],
    /// The offset, or [`NOT_IN_INPUT`]. One word instead of an `Option`, because it is read as soon as it is written.
    place: u64,
}

impl<'a> InputBytes<'a> {
    pub(super) const NONE: InputBytes<'static> = InputBytes { bytes: &[], place: NOT_IN_INPUT };

    #[inline(always)]
    pub(super) fn new(bytes: &'a [u8], input: Option<u32>) -> Self {
        InputBytes { bytes, place: input.map_or(NOT_IN_INPUT, u64::from) }
    }

    /// Their offset in the input.
    #[inline(always)]
    pub(super) fn input(&self) -> Option<u32> {
        u32::try_from(self.place).ok()
    }

    /// The offset in the input of the byte at `start`.
    #[inline]
    pub(super) fn at(&self, start: u32) -> Option<u32> {
        u32::try_from(self.place.wrapping_add(u64::from(start))).ok()
    }
}

/// The event whose deltas a [`Sink`](super::Sink) receives.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    chunk: Option<Chunk<'a>>,
    /// Where the event lies in the stream: the offset of its first byte.
    pub start: u64,
    /// One past its last byte.
    pub end: u64,
    /// Offset of the payload in the input, or [`NOT_IN_INPUT`].
    payload_at: u64,
    /// The event before it, in the same call, was a chunk with the same bytes outside the holes of a template.
    repeats: bool,
    /// The sink took the chunk itself just before, in the same call.
    follows_chunk: bool,
    rest: &'a Rest<'a>,
}

shown!("Context": Context<'_>, this => start: this.start, end: this.end, payload: shown::Bytes(this.payload()));

/// What a context has for events that are no chunks or have a name. It is behind a reference, so that a context is small.
pub(super) struct Rest<'a> {
    /// The event, if it is no chunk.
    event: Option<Event<'a>>,
    payload: &'a [u8],
    name: InputBytes<'a>,
    /// The last event ID.
    id: &'a [u8],
}

impl<'a> Rest<'a> {
    /// For a chunk without a name.
    pub(super) const NOTHING: &'static Rest<'static> = &Rest::of_chunk(InputBytes::NONE);

    /// For an event that is not looked into, with this name and payload.
    #[inline(always)]
    pub(super) fn of_event((name, payload): (InputBytes<'a>, &'a [u8]), id: &'a [u8]) -> Self {
        let event = sse::Event::new(name.bytes, payload, id);
        Rest { event: Some(Event::Sse(event)), payload, name, id }
    }

    /// For a chunk with this name.
    #[inline(always)]
    pub(super) const fn of_chunk(name: InputBytes<'a>) -> Self {
        Rest { event: None, payload: &[], name, id: &[] }
    }
}

impl<'a> Context<'a> {
    /// A context without an event, at this place in the stream.
    #[inline(always)]
    pub(super) fn nothing((start, end): (u64, u64)) -> Self {
        Context {
            chunk: None,
            start,
            end,
            payload_at: NOT_IN_INPUT,
            repeats: false,
            follows_chunk: false,
            rest: Rest::NOTHING,
        }
    }

    /// The context of an event that is not looked into. Its payload lies at this offset of the input.
    #[inline(always)]
    pub(super) fn of_event(rest: &'a Rest<'a>, input: u32, frame: (u64, u64)) -> Self {
        Context { payload_at: u64::from(input), rest, ..Context::nothing(frame) }
    }

    /// The context of a chunk. `payload`: with its offset in the input, or [`NOT_IN_INPUT`].
    #[inline(always)]
    pub(super) fn of_chunk(
        (payload, payload_at): (&'a [u8], u64),
        index: &'a Index,
        (start, end): (u64, u64),
        repeats: bool,
        rest: &'a Rest<'a>,
    ) -> Self {
        let chunk = Some(Chunk::from_parts(payload, index, rest.name.bytes));
        Context { chunk, start, end, payload_at, repeats, follows_chunk: false, rest }
    }

    /// The event; none at the end of the stream, where pending texts are flushed.
    pub fn event(&self) -> Option<Event<'a>> {
        self.chunk.map(Event::Chunk).or(self.rest.event)
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
            None => self.rest.payload,
        }
    }

    /// The payload of the event, and its offset in the input.
    #[inline(always)]
    pub(super) fn bytes(&self) -> InputBytes<'a> {
        InputBytes { bytes: self.payload(), place: self.payload_at }
    }

    /// The context of the deltas behind the chunk itself, which the sink took just before.
    #[inline(always)]
    pub(super) fn behind_chunk(self) -> Self {
        Context { follows_chunk: true, ..self }
    }

    /// Whether the sink took the chunk itself just before, in the same call.
    #[inline(always)]
    #[doc(hidden)]
    pub fn follows_chunk(&self) -> bool {
        self.follows_chunk
    }

    /// Whether the event before it, whose deltas the sink got in the same call, was a chunk with the same bytes outside the holes
    /// of a template.
    #[inline(always)]
    #[doc(hidden)]
    pub fn repeats(&self) -> bool {
        self.repeats
    }

    /// The chunk's `created`, for a sink that reports it with each chunk: `last` saves reading it again.
    #[inline(always)]
    #[doc(hidden)]
    pub fn created(&self, last: &mut Created) -> Option<u64> {
        match last.fixed().filter(|_| self.repeats) {
            None => self.chunk()?.created_after(last),
            number => number,
        }
    }

    pub(super) fn name(&self) -> InputBytes<'a> {
        self.rest.name
    }

    /// The last event ID.
    pub(super) fn id(&self) -> &'a [u8] {
        self.rest.id
    }
}

impl StreamState {
    /// The view of what the last step found; `index` is that of its machine, `window` and `storage` are those of the step.
    ///
    /// # Errors
    ///
    /// [`Error::Quirk`], if a quirk that is to be an error was found.
    #[inline(always)]
    pub(super) fn event<'a, S: Storage + ?Sized>(
        &'a self,
        index: &'a Index,
        storage: &'a S,
        window: &'a [u8],
        found: Found,
    ) -> Result<Option<Event<'a>>, Error> {
        // Nearly always.
        if let Found::Chunk(span) = found {
            let (payload, name) = (span.of(window, storage), self.name.of(window, storage));
            return Ok(Some(Event::Chunk(Chunk::from_parts(payload, index, name))));
        }
        if found == Found::NeedMore {
            return Ok(None);
        }
        self.other_event(index, storage, window, found)
    }

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
    /// What the last step found, as a view. `window` and `storage` are those of the step.
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

    /// The chunk found last, whose payload and name these are.
    #[inline]
    pub(crate) fn chunk<'a>(&'a self, payload: &'a [u8], name: &'a [u8]) -> Chunk<'a> {
        Chunk::from_parts(payload, self.index(), name)
    }

    /// What a context refers to, of what the last step found in the window, which begins at offset `base` of the input.
    pub(super) fn rest<'a, S: Storage + ?Sized>(
        &'a self,
        storage: &'a S,
        window: &'a [u8],
        base: u32,
        found: Found,
    ) -> Rest<'a> {
        let event = match found {
            Found::Chunk(_) => None,
            _ => self.other_event(&self.index, storage, window, found).ok().flatten(),
        };
        let payload = found.payload().map_or(&[][..], |span| span.of(window, storage));
        let name = InputBytes::new(self.name.of(window, storage), self.name.offset_in_input(base));
        Rest { event, payload, name, id: self.last_event_id(storage.bytes()) }
    }

    /// The context of what the last step found.
    pub(super) fn context<'a>(&'a self, rest: &'a Rest<'a>, base: u32, found: Found) -> Context<'a> {
        let payload_at = found.payload().and_then(|span| span.offset_in_input(base)).map_or(NOT_IN_INPUT, u64::from);
        let chunk = match found {
            Found::Chunk(_) => Some(self.chunk(rest.payload, rest.name.bytes)),
            _ => None,
        };
        Context { chunk, payload_at, rest, ..Context::nothing(self.index_frame()) }
    }
}
