//! Interprets the lines of an event stream (WHATWG HTML 9.2.6).

use super::buffer::{EventBuffer, NoRoom, Span};
use super::{LineKind, Lines, Piece};
use crate::shown::{shown, Bytes};
use crate::{Limits, Storage};

/// The most bytes of input that are read at a time, because offsets in the input have 32 bits.
const WINDOW: usize = i32::MAX as usize;

/// An event, borrowed from the input, or from the decoder's storage if a slice cut it.
#[derive(Clone, Copy)]
pub struct Event<'a> {
    name: &'a [u8],
    data: &'a [u8],
    id: &'a [u8],
}

shown!("Event": Event<'_>, this => name: Bytes(this.name), data: Bytes(this.data), id: Bytes(this.id));

impl<'a> Event<'a> {
    pub(crate) fn new(name: &'a [u8], data: &'a [u8], id: &'a [u8]) -> Self {
        Event { name, data, id }
    }

    /// Returns the value of the block's last `event` line, or an empty slice if it is empty or absent.
    pub fn name(&self) -> &'a [u8] {
        self.name
    }

    /// Returns the event's type: its name, or `message` if the name is empty.
    pub fn event_type(&self) -> &'a [u8] {
        if self.name.is_empty() {
            b"message"
        } else {
            self.name
        }
    }

    /// Returns the values of the block's `data` lines, joined by LF.
    pub fn data(&self) -> &'a [u8] {
        self.data
    }

    /// Returns the last event ID, set by this block or an earlier one, or an empty slice if there is none.
    pub fn last_event_id(&self) -> &'a [u8] {
        self.id
    }
}

/// An item of an event stream.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Item<'a> {
    /// A block that has data.
    Event(Event<'a>),
    /// A comment, without its colon and the one space that may follow. Reported when its line ends, even inside a
    /// block.
    Comment(&'a [u8]),
    /// The reconnection time in milliseconds that the server asks for, at most `u64::MAX`. Reported when its line ends,
    /// even inside a block.
    Retry(u64),
    /// An event or a comment was longer than the limit and is skipped.
    TooLong {
        /// Stream offset, in bytes, of its beginning: of the block's first line that is not a comment, or of the
        /// comment.
        offset: u64,
    },
}

impl core::fmt::Debug for Item<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Item::Event(event) => core::fmt::Debug::fmt(event, f),
            Item::Comment(text) => f.debug_tuple("Comment").field(&Bytes(text)).finish(),
            Item::Retry(ms) => f.debug_tuple("Retry").field(ms).finish(),
            Item::TooLong { offset } => f.debug_struct("TooLong").field("offset", offset).finish(),
        }
    }
}

/// Reads an event stream as WHATWG HTML 9.2.6 prescribes. Takes slices of any size.
///
/// The decoder does not check for UTF-8. The standard decodes a stream as `String::from_utf8_lossy` does. A leading byte
/// order mark is dropped.
///
/// # What is borrowed
///
/// An event is borrowed from the slice if the slice contains it whole and it has one data line. Any other event is
/// copied once into the storage, which also holds the last event ID.
///
/// # Limits
///
/// The limits depend only on the bytes of the stream, not on where the stream was cut.
///
/// - *An event* may be as long as [`Limits::max_event_len`], or as the storage allows after the IDs (see below) if
///   that is less. Its length counts data values, the LFs that join them, and the event name. The first byte beyond the
///   limit makes the decoder return [`Item::TooLong`], once, and skip the rest of the block, including its ID. Comments
///   and reconnection times in that block are still reported.
/// - *A comment* may be as long as the room that the event around it leaves. [`Item::TooLong`] reports a longer one;
///   the event continues.
/// - *An ID* longer than [`Limits::max_id_len`] is ignored. So is an ID for which the storage has no room. The storage
///   may have to hold the ID in force, the next ID and the ID being read, in addition to the event so far. Two slots as
///   long as the longest ID so far stay reserved; a slot that grows at least doubles.
///
/// # Examples
///
/// ```
/// use deltawire::sse::{Decoder, Item};
/// # #[cfg(feature = "alloc")] {
/// # use deltawire::Growing;
///
/// let mut decoder = Decoder::new(Growing::new());
/// let mut seen = Vec::new();
/// for mut slice in [&b"id: 7\nevent: add\nda"[..], b"ta: 73857293\n\n: ping\n\nretry: 3000\n"] {
///     while let Some(item) = decoder.next(&mut slice) {
///         seen.push(match item {
///             Item::Event(event) => {
///                 let [kind, data] = [event.event_type(), event.data()].map(String::from_utf8_lossy);
///                 format!("{kind} {data}")
///             }
///             Item::Comment(text) => format!("comment of {}", text.len()),
///             Item::Retry(time) => format!("{time} ms"),
///             other => format!("{other:?}"),
///         });
///     }
/// }
/// assert_eq!(seen, ["add 73857293", "comment of 4", "3000 ms"]);
/// assert_eq!(decoder.last_event_id(), b"7");
/// # }
/// ```
#[derive(Clone)]
pub struct Decoder<S> {
    reader: DecoderState,
    storage: S,
}

/// Prints the offset and the size of the storage.
impl<S: Storage> core::fmt::Debug for Decoder<S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let len = self.storage.bytes().len();
        f.debug_struct("Decoder")
            .field("offset", &self.reader.offset)
            .field("storage_len", &len)
            .finish_non_exhaustive()
    }
}

impl<S: Storage> Decoder<S> {
    /// Creates a decoder with the default limits.
    pub const fn new(storage: S) -> Self {
        Decoder::with_limits(storage, Limits::DEFAULT)
    }

    /// Creates a decoder with the given limits. Only [`Limits::max_event_len`] and [`Limits::max_id_len`] apply.
    pub const fn with_limits(storage: S, limits: Limits) -> Self {
        Decoder { reader: DecoderState::new(limits), storage }
    }

    /// Removes the next item from the front of `input`. Returns `None` when the input is used up: pass the next slice.
    ///
    /// The item borrows from the input or from the decoder; it lives until the next call.
    pub fn next<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Option<Item<'a>> {
        self.next_of(input, WINDOW)
    }

    /// [`next`](Self::next), in windows of at most `most` bytes.
    fn next_of<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8], most: usize) -> Option<Item<'a>> {
        let (window, found) = loop {
            let whole: &'i [u8] = input;
            let window = whole.get(..most).unwrap_or(whole);
            let mut rest = window;
            let found = self.reader.read(&mut self.storage, &mut rest);
            *input = whole.get(window.len().saturating_sub(rest.len())..).unwrap_or_default();
            if found.is_some() || input.is_empty() {
                break (window, found?);
            }
        };
        Some(self.view(found, window))
    }

    /// Ends the stream. Call it until it returns `None`.
    ///
    /// The standard discards a block without a blank line. This method returns it: a line cut by the end of the stream
    /// counts as ended, and the block as if its blank line had come, which also commits its ID. For the standard's
    /// behavior, do not call this method.
    pub fn finish(&mut self) -> Option<Item<'_>> {
        let found = self.reader.finish(&mut self.storage)?;
        Some(self.view(found, &[]))
    }

    /// Returns the last event ID in force, committed by the latest blank line, or an empty slice if there is none.
    pub fn last_event_id(&self) -> &[u8] {
        self.reader.buffer.id(self.storage.bytes())
    }

    /// Returns the number of bytes consumed so far.
    pub fn offset(&self) -> u64 {
        self.reader.offset
    }

    /// Returns to the start of a stream and drops the last event ID. Storage and limits stay.
    pub fn reset(&mut self) {
        self.storage.shrink(0);
        self.reader.reset();
    }

    fn view<'a>(&'a self, found: FoundItem, input: &'a [u8]) -> Item<'a> {
        let storage = self.storage.bytes();
        match found {
            FoundItem::Event { data, name } => Item::Event(Event {
                name: name.of(input, storage),
                data: data.of(input, storage),
                id: self.reader.buffer.id(storage),
            }),
            FoundItem::Comment(text) => Item::Comment(text.of(input, storage)),
            FoundItem::Retry(time) => Item::Retry(time),
            FoundItem::TooLong { offset } => Item::TooLong { offset },
        }
    }
}

/// A found item, as offsets.
#[derive(Clone, Copy, Debug)]
enum FoundItem {
    Event { data: Span, name: Span },
    Comment(Span),
    Retry(u64),
    TooLong { offset: u64 },
}

/// The decoder without its storage. Contains no pointers.
#[derive(Clone, Debug)]
struct DecoderState {
    lines: Lines,
    buffer: EventBuffer,
    /// Bytes consumed.
    offset: u64,
    /// Stream offset of the current line.
    line_start: u64,
    /// Stream offset of the block's first line that is not a comment, if there was one.
    block_start: Option<u64>,
    /// Whether the block was too long and is skipped up to its blank line.
    discard: bool,
    /// Whether the comment being read was too long.
    skip_comment: bool,
    /// Value of the `retry` line being read, or `None` if the line contains something other than digits.
    retry: Option<u64>,
    /// Whether the `retry` line has a digit.
    digits: bool,
    /// Offset of a block that the storage could not hold, if `TooLong` is still pending because the decoder noticed
    /// that while it returned another item.
    unreported: Option<u64>,
}

impl DecoderState {
    const fn new(limits: Limits) -> Self {
        DecoderState {
            lines: Lines::new(),
            buffer: EventBuffer::new(limits),
            offset: 0,
            line_start: 0,
            block_start: None,
            discard: false,
            skip_comment: false,
            retry: None,
            digits: false,
            unreported: None,
        }
    }

    fn reset(&mut self) {
        let mut buffer = self.buffer.clone();
        buffer.reset();
        *self = DecoderState { buffer, ..DecoderState::new(Limits::DEFAULT) };
    }

    fn read<S: Storage>(&mut self, storage: &mut S, input: &mut &[u8]) -> Option<FoundItem> {
        self.settle(storage);
        let window = *input;
        let base = self.offset;
        let mut found = self.unreported.take().map(|offset| FoundItem::TooLong { offset });
        while found.is_none() {
            self.lines.skip_between(input);
            let taken = window.len().saturating_sub(input.len());
            if !input.is_empty() && !self.lines.in_line() {
                self.line_start = base.saturating_add(taken as u64);
            }
            let Some(piece) = self.lines.next(input) else {
                break;
            };
            let taken = window.len().saturating_sub(input.len());
            // The input is consumed up to the end of the piece, including the byte that ended its line if it is the
            // last piece.
            let start = taken.saturating_sub(piece.value.len()).saturating_sub(usize::from(piece.last));
            found = self.take(storage, window, &piece, start);
        }
        let taken = window.len().saturating_sub(input.len());
        self.offset = base.saturating_add(taken as u64);
        self.keep(storage, window);
        found.or_else(|| self.unreported.take().map(|offset| FoundItem::TooLong { offset }))
    }

    fn finish<S: Storage>(&mut self, storage: &mut S) -> Option<FoundItem> {
        self.settle(storage);
        if let Some(offset) = self.unreported.take() {
            return Some(FoundItem::TooLong { offset });
        }
        if let Some(piece) = self.lines.finish() {
            let found = self.take(storage, &[], &piece, 0);
            if found.is_some() {
                return found;
            }
        }
        self.blank()
    }

    /// Releases the storage that the last item needed.
    #[inline]
    fn settle<S: Storage>(&mut self, storage: &mut S) {
        if !self.lines.in_line() {
            self.buffer.unstage();
        }
        if self.buffer.is_empty() {
            storage.shrink(self.buffer.lasting());
        }
    }

    /// Copies the block from the input to the storage, if the block continues after this call.
    #[inline]
    fn keep<S: Storage>(&mut self, storage: &mut S, window: &[u8]) {
        if self.buffer.save(storage, window).is_err() {
            self.unreported = Some(self.give_up());
        }
    }

    fn take<S: Storage>(
        &mut self,
        storage: &mut S,
        window: &[u8],
        piece: &Piece<'_>,
        start: usize,
    ) -> Option<FoundItem> {
        match piece.field {
            LineKind::Blank => return self.blank(),
            LineKind::Comment => return self.comment(storage, piece, start),
            _ => {}
        }
        self.block_start.get_or_insert(self.line_start);
        if piece.field == LineKind::Retry {
            return self.retry(piece);
        }
        if self.discard {
            return None;
        }
        let taken = match piece.field {
            LineKind::Data => self.buffer.data(storage, window, piece.value, piece.first, start),
            LineKind::Event => self.buffer.name(storage, piece, start),
            LineKind::Id => match self.buffer.identify(storage, piece) {
                // The ID is ignored.
                Err(NoRoom::Limit) => Ok(()),
                taken => taken,
            },
            _ => Ok(()),
        };
        match taken {
            Ok(()) => None,
            Err(_) => Some(FoundItem::TooLong { offset: self.give_up() }),
        }
    }

    /// Drops the block. Returns its offset.
    fn give_up(&mut self) -> u64 {
        self.buffer.clear();
        self.discard = true;
        self.block_start.unwrap_or(self.line_start)
    }

    fn blank(&mut self) -> Option<FoundItem> {
        self.block_start = None;
        self.discard = false;
        let (data, name) = self.buffer.end()?;
        Some(FoundItem::Event { data, name })
    }

    fn comment<S: Storage>(&mut self, storage: &mut S, piece: &Piece<'_>, start: usize) -> Option<FoundItem> {
        if piece.first {
            self.skip_comment = false;
        }
        if self.skip_comment {
            return None;
        }
        match self.buffer.comment(storage, piece, start) {
            Ok(text) => text.map(FoundItem::Comment),
            Err(_) => {
                self.skip_comment = true;
                self.buffer.unstage();
                Some(FoundItem::TooLong { offset: self.line_start })
            }
        }
    }

    fn retry(&mut self, piece: &Piece<'_>) -> Option<FoundItem> {
        if piece.first {
            self.retry = Some(0);
            self.digits = false;
        }
        for byte in piece.value {
            self.digits = true;
            self.retry = match byte {
                b'0'..=b'9' => {
                    let digit = u64::from(byte.wrapping_sub(b'0'));
                    self.retry.map(|time| time.saturating_mul(10).saturating_add(digit))
                }
                _ => None,
            };
        }
        let time = if piece.last && self.digits { self.retry } else { None };
        time.map(FoundItem::Retry)
    }
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    extern crate std;
    use super::*;
    use crate::Growing;

    /// Splitting the input into windows does not change the items.
    #[test]
    fn windows_do_not_matter() {
        let input = b": c\nevent: e\nid: 1\ndata: one\ndata: two\n\nretry: 7\n\ndata: last\n\n";
        let items = |most| {
            let (mut decoder, mut rest, mut items) = (Decoder::new(Growing::new()), &input[..], std::vec::Vec::new());
            while let Some(item) = decoder.next_of(&mut rest, most) {
                items.push(std::format!("{item:?}"));
            }
            assert!(rest.is_empty());
            items
        };
        let whole = items(WINDOW);
        assert_eq!(whole.len(), 4);
        for most in 1..input.len() {
            assert_eq!(items(most), whole, "windows of {most} bytes");
        }
    }

    /// The call after a large event releases its memory.
    #[test]
    fn a_large_event_releases_its_memory() {
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
