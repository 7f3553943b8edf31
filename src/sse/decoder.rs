//! The reading of event-stream lines that WHATWG HTML 9.2.6 prescribes.

use super::block::{Block, NoRoom, Span};
use super::{Field, Lines, Lossy, Piece};
use crate::{Limits, Storage};

/// An event, borrowed from the input or, if a slice cut it, from the decoder's storage.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    name: &'a [u8],
    data: &'a [u8],
    id: &'a [u8],
}

impl<'a> Event<'a> {
    pub(crate) fn new(name: &'a [u8], data: &'a [u8], id: &'a [u8]) -> Self {
        Event { name, data, id }
    }

    /// The value of the block's last `event` line. Empty: there was none, or it was empty.
    pub fn name(&self) -> &'a [u8] {
        self.name
    }

    /// The event's type: its name, or `message` if that is empty.
    pub fn event_type(&self) -> &'a [u8] {
        if self.name.is_empty() {
            b"message"
        } else {
            self.name
        }
    }

    /// The values of the block's `data` lines, joined by LF.
    pub fn data(&self) -> &'a [u8] {
        self.data
    }

    /// The last event ID: of this block, or of one before. Empty: none.
    pub fn last_event_id(&self) -> &'a [u8] {
        self.id
    }

    /// [`event_type`](Event::event_type) as text.
    pub fn event_type_text(&self) -> Lossy<'a> {
        Lossy::new(self.event_type())
    }

    /// [`data`](Event::data) as text.
    pub fn data_text(&self) -> Lossy<'a> {
        Lossy::new(self.data)
    }

    /// [`last_event_id`](Event::last_event_id) as text.
    pub fn last_event_id_text(&self) -> Lossy<'a> {
        Lossy::new(self.id)
    }
}

/// What a stream holds.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Item<'a> {
    /// An event: a block with data.
    Event(Event<'a>),
    /// A comment without its colon and at most one space. It comes at once, even in the middle of a block.
    Comment(&'a [u8]),
    /// The reconnection time that the server asks for, in milliseconds; `u64::MAX` if it is longer than that. It comes
    /// at once, even in the middle of a block.
    Retry(u64),
    /// An event or a comment that is longer than the limit, and is left out.
    TooLong {
        /// Stream offset, in bytes, where it began: at the block's first line that is no comment, or at the comment.
        offset: u64,
    },
}

/// Reads an event stream: bytes in, in slices of any size; events out, as WHATWG HTML 9.2.6 has them.
///
/// Bytes are not checked to be UTF-8; [`Lossy`] reads them as the standard does. A byte order mark is dropped.
///
/// # What is borrowed
///
/// An event that lies whole in the slice and has one data line is borrowed from it. Any other is copied, once, into the
/// storage, which also holds the last event ID.
///
/// # Limits
///
/// They depend on the bytes of the stream alone, never on where it was cut.
///
/// - *An event* is bounded by the lesser of [`Limits::max_event_len`] and what the storage can hold beside the IDs (see
///   below). Its data values count, the LFs that join them, and its name. With the first byte over, [`Item::TooLong`]
///   comes, once; the rest of the block is discarded up to its blank line, and its ID with it. Comments and
///   reconnection times in it are still reported.
/// - *A comment* is bounded by what is left beside the event that it stands in. If it is longer, [`Item::TooLong`] comes
///   for the comment alone, and the event goes on.
/// - *An ID* longer than [`Limits::max_id_len`] is ignored, and so is one that the storage cannot hold as often as it may
///   have to: the one in force, the next one, and the one being read, beside the event so far. Two IDs as long as the
///   longest so far (rounded up to twice what was reserved before) stay reserved.
///
/// # Examples
///
/// ```
/// use deltawire::sse::{Decoder, Item};
///
/// let mut decoder = Decoder::new([0; 256]);
/// let mut seen = Vec::new();
/// for mut slice in [&b"id: 7\nevent: add\nda"[..], b"ta: 73857293\n\n: ping\n\nretry: 3000\n"] {
///     while let Some(item) = decoder.next(&mut slice) {
///         seen.push(match item {
///             Item::Event(event) => format!("{} {}", event.event_type_text(), event.data_text()),
///             Item::Comment(text) => format!("comment of {}", text.len()),
///             Item::Retry(time) => format!("{time} ms"),
///             other => format!("{other:?}"),
///         });
///     }
/// }
/// assert_eq!(seen, ["add 73857293", "comment of 4", "3000 ms"]);
/// assert_eq!(decoder.last_event_id(), b"7");
/// ```
#[derive(Clone, Debug)]
pub struct Decoder<S> {
    reader: Reader,
    storage: S,
}

impl<S: Storage> Decoder<S> {
    /// A decoder with the limits that hold if nothing else is said.
    pub const fn new(storage: S) -> Self {
        Decoder::with_limits(storage, Limits::DEFAULT)
    }

    /// A decoder with its own limits: [`Limits::max_event_len`] and [`Limits::max_id_len`] matter to it.
    pub const fn with_limits(storage: S, limits: Limits) -> Self {
        Decoder { reader: Reader::new(limits), storage }
    }

    /// Takes the next item off the front of `input`. `None`: the input is used up; give the next slice.
    ///
    /// The item borrows from the input or from the decoder, so it is gone with the next call.
    pub fn next<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Option<Item<'a>> {
        let given: &'i [u8] = input;
        let found = self.reader.read(&mut self.storage, input)?;
        Some(self.view(found, given))
    }

    /// Says that the stream ended. `None`: nothing is left; until then, call again.
    ///
    /// The standard discards a block without its blank line. This call offers it: a line that the end cut counts as
    /// ended, and the block as if its blank line had come, which commits its ID too. Who wants the standard's answer
    /// does not call it.
    pub fn finish(&mut self) -> Option<Item<'_>> {
        let found = self.reader.finish(&mut self.storage)?;
        Some(self.view(found, &[]))
    }

    /// The last event ID in force: what a blank line committed last. Empty: none.
    pub fn last_event_id(&self) -> &[u8] {
        self.reader.block.id(self.storage.bytes())
    }

    /// Bytes taken so far.
    pub fn offset(&self) -> u64 {
        self.reader.offset
    }

    /// Forgets the stream, the last event ID included. The storage and the limits stay.
    pub fn reset(&mut self) {
        self.storage.shrink(0);
        self.reader.reset();
    }

    fn view<'a>(&'a self, found: Found, input: &'a [u8]) -> Item<'a> {
        let store = self.storage.bytes();
        match found {
            Found::Event { data, name } => Item::Event(Event {
                name: name.of(input, store),
                data: data.of(input, store),
                id: self.reader.block.id(store),
            }),
            Found::Comment(text) => Item::Comment(text.of(input, store)),
            Found::Retry(time) => Item::Retry(time),
            Found::TooLong { offset } => Item::TooLong { offset },
        }
    }
}

/// An item, by offsets.
#[derive(Clone, Copy, Debug)]
enum Found {
    Event { data: Span, name: Span },
    Comment(Span),
    Retry(u64),
    TooLong { offset: u64 },
}

/// The decoder without its storage: plain data.
#[derive(Clone, Debug)]
struct Reader {
    lines: Lines,
    block: Block,
    /// Bytes taken.
    offset: u64,
    /// Where the line began.
    line_start: u64,
    /// Where the block began, if it did: at its first line that is no comment.
    block_start: Option<u64>,
    /// The block was too long; it is skipped up to its blank line.
    discard: bool,
    /// The comment being read was too long.
    mute: bool,
    /// The digits of the `retry` line being read. `None`: there was something else.
    retry: Option<u64>,
    /// The `retry` line has a digit.
    digits: bool,
    /// The storage could not be had for the block while something else was given out: to be reported.
    owed: Option<u64>,
}

impl Reader {
    const fn new(limits: Limits) -> Self {
        Reader {
            lines: Lines::new(),
            block: Block::new(limits),
            offset: 0,
            line_start: 0,
            block_start: None,
            discard: false,
            mute: false,
            retry: None,
            digits: false,
            owed: None,
        }
    }

    fn reset(&mut self) {
        let mut block = self.block.clone();
        block.reset();
        *self = Reader { block, ..Reader::new(Limits::DEFAULT) };
    }

    fn read<S: Storage>(&mut self, store: &mut S, input: &mut &[u8]) -> Option<Found> {
        self.settle(store);
        let given = *input;
        let base = self.offset;
        let mut found = self.owed.take().map(|offset| Found::TooLong { offset });
        while found.is_none() {
            self.lines.skip_between(input);
            let taken = given.len().saturating_sub(input.len());
            if !input.is_empty() && !self.lines.in_line() {
                self.line_start = base.saturating_add(taken as u64);
            }
            let Some(piece) = self.lines.next(input) else {
                break;
            };
            let taken = given.len().saturating_sub(input.len());
            // A piece ends where the input was taken to, but for the one byte that ended its line.
            let start = taken.saturating_sub(piece.value.len()).saturating_sub(usize::from(piece.last));
            found = self.take(store, given, &piece, start);
        }
        let taken = given.len().saturating_sub(input.len());
        self.offset = base.saturating_add(taken as u64);
        self.keep(store, given);
        found.or_else(|| self.owed.take().map(|offset| Found::TooLong { offset }))
    }

    fn finish<S: Storage>(&mut self, store: &mut S) -> Option<Found> {
        self.settle(store);
        if let Some(offset) = self.owed.take() {
            return Some(Found::TooLong { offset });
        }
        if let Some(piece) = self.lines.finish() {
            let found = self.take(store, &[], &piece, 0);
            if found.is_some() {
                return found;
            }
        }
        self.blank()
    }

    /// What the last item needed can go.
    #[inline]
    fn settle<S: Storage>(&mut self, store: &mut S) {
        if !self.lines.in_line() {
            self.block.unstage();
        }
        if self.block.is_empty() {
            store.shrink(self.block.lasting());
        }
    }

    /// Copies what lies in the input, if the block goes on after this call.
    #[inline]
    fn keep<S: Storage>(&mut self, store: &mut S, given: &[u8]) {
        if self.block.save(store, given).is_err() {
            self.owed = Some(self.give_up());
        }
    }

    fn take<S: Storage>(&mut self, store: &mut S, given: &[u8], piece: &Piece<'_>, start: usize) -> Option<Found> {
        match piece.field {
            Field::Blank => return self.blank(),
            Field::Comment => return self.comment(store, piece, start),
            _ => {}
        }
        self.block_start.get_or_insert(self.line_start);
        if piece.field == Field::Retry {
            return self.retry(piece);
        }
        if self.discard {
            return None;
        }
        let taken = match piece.field {
            Field::Data => self.block.data(store, given, piece, start),
            Field::Event => self.block.name(store, piece, start),
            Field::Id => {
                let _ = self.block.identify(store, piece);
                Ok(())
            }
            _ => Ok(()),
        };
        match taken {
            Ok(()) => None,
            Err(NoRoom) => Some(Found::TooLong { offset: self.give_up() }),
        }
    }

    /// Drops the block. Where it began.
    fn give_up(&mut self) -> u64 {
        self.block.clear();
        self.discard = true;
        self.block_start.unwrap_or(self.line_start)
    }

    fn blank(&mut self) -> Option<Found> {
        self.block_start = None;
        self.discard = false;
        let (data, name) = self.block.end()?;
        Some(Found::Event { data, name })
    }

    fn comment<S: Storage>(&mut self, store: &mut S, piece: &Piece<'_>, start: usize) -> Option<Found> {
        if piece.first {
            self.mute = false;
        }
        if self.mute {
            return None;
        }
        match self.block.comment(store, piece, start) {
            Ok(text) => text.map(Found::Comment),
            Err(NoRoom) => {
                self.mute = true;
                self.block.unstage();
                Some(Found::TooLong { offset: self.line_start })
            }
        }
    }

    fn retry(&mut self, piece: &Piece<'_>) -> Option<Found> {
        if piece.first {
            self.retry = Some(0);
            self.digits = false;
        }
        for byte in piece.value {
            self.digits = true;
            self.retry = match byte {
                b'0'..=b'9' => self.retry.map(|time| {
                    let digit = u64::from(byte.wrapping_sub(b'0'));
                    time.checked_mul(10).and_then(|time| time.checked_add(digit)).unwrap_or(u64::MAX)
                }),
                _ => None,
            };
        }
        let time = if piece.last && self.digits { self.retry } else { None };
        time.map(Found::Retry)
    }
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;
    use crate::Growing;

    /// A large event's memory is given back with the call after it.
    #[test]
    fn what_the_last_item_needed_can_go() {
        let mut decoder = Decoder::new(Growing::new());
        let small = decoder.storage.bytes().len();
        let value = [b'x'; 40_000];
        for slice in [b"data: ", &value[..]] {
            assert!(decoder.next(&mut &*slice).is_none());
        }
        assert!(decoder.storage.bytes().len() >= value.len());
        assert!(matches!(decoder.next(&mut &b"\n\n"[..]), Some(Item::Event(event)) if event.data() == value));
        assert!(decoder.storage.bytes().len() >= value.len());
        assert!(decoder.next(&mut &b": next\n"[..]).is_some());
        assert_eq!(decoder.storage.bytes().len(), small);
    }
}
