//! Where a value of an event lies on the wire, so that a gateway can replace it and pass on every other byte.

use super::Chunk;
use crate::delta::offset_in;
use crate::json::Value;
use crate::sse::{LineKind, Lines};
use core::ops::Range;

impl Chunk<'_> {
    /// Returns where a value of this chunk lies in the event's bytes on the wire. `value` must be borrowed from the
    /// [payload](Self::payload), as [`field`](Self::field) and [`get`](Self::get) return it: with the quotes of a string.
    /// `event` are the bytes that the caller kept of the event: its [`wire_range`](Self::wire_range), whatever reads the
    /// parser was given. Comments before it may be among them. They are compared with the payload, so a wrong range is
    /// never returned.
    ///
    /// If the value lies in several `data` lines, the range has all of them up to the end of the value, so that what
    /// replaces it makes one line of them. Returns `None` if there is another field between these lines, if the payload
    /// is not what the `data` lines have (a quirk of framing joined other lines, or the parser reduced an event over the
    /// limit), or if `event` are the bytes of another event. Such an event can be passed on only as it is.
    ///
    /// [`replaced`] makes the pieces to write.
    pub fn place_in(&self, event: &[u8], value: Value<'_>) -> Option<Range<usize>> {
        let from = offset_in(self.payload(), value.raw());
        let to = from.checked_add(value.raw().len())?;
        self.payload().get(from..to).filter(|raw| !raw.is_empty())?;
        let (mut lines, mut input) = (Lines::new(), event);
        // How much of the payload the lines so far have, and where the value begins.
        let (mut passed, mut start, mut has_data) = (0usize, None, false);
        while let Some(line) = lines.next(&mut input) {
            match line.field {
                LineKind::Data => {
                    let mut rest = self.payload().get(passed..)?;
                    if has_data {
                        rest = rest.strip_prefix(b"\n")?;
                        passed = passed.checked_add(1)?;
                    }
                    if !rest.starts_with(line.value) {
                        return None;
                    }
                    has_data = true;
                    let (line_at, end) = (offset_in(event, line.value), passed.checked_add(line.value.len())?);
                    if start.is_none() && from < end {
                        start = Some(line_at.checked_add(from.checked_sub(passed)?)?);
                    }
                    if let Some(start) = start.filter(|_| to <= end) {
                        return Some(start..line_at.checked_add(to.checked_sub(passed)?)?);
                    }
                    passed = end;
                }
                // What replaces the value would replace this line, too.
                _ if start.is_some() => return None,
                LineKind::Blank if has_data => return None,
                _ => {}
            }
        }
        // JSON without fields.
        let raw = event.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(event).trim_ascii_start();
        let is_whole = !has_data && raw.starts_with(self.payload());
        let at = offset_in(event, raw);
        is_whole.then_some(at.checked_add(from)?..at.checked_add(to)?)
    }
}

/// Returns the pieces to write of an event whose values at these places are replaced, without a copy: what is before
/// the first of them, what replaces it, what is between it and the next one, and so on. An empty piece may be among them.
///
/// The places are those that [`Chunk::place_in`] returned, in ascending order. What replaces them is JSON in one line: a
/// line end in it would end the event.
///
/// ```
/// use deltawire::chat::{replaced, ChunkMember};
/// use deltawire::Parser;
///
/// let event = b"data: {\"model\":\"m-2024\",\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
/// let mut parser = Parser::new([0; 256]); // a longer event is skipped
/// let chunk = parser.next(&mut &event[..])?.and_then(|event| event.chunk()).unwrap();
/// let place = chunk.field(ChunkMember::Model).and_then(|model| chunk.place_in(event, model)).unwrap();
/// let places = [(place, &b"\"m\""[..])];
/// let sent: Vec<&[u8]> = replaced(event, &places).collect();
/// assert_eq!(sent.concat(), b"data: {\"model\":\"m\",\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n");
/// # Ok::<(), deltawire::Error>(())
/// ```
pub fn replaced<'a>(
    event: &'a [u8],
    places: &'a [(Range<usize>, &'a [u8])],
) -> impl Iterator<Item = &'a [u8]> + Clone + 'a {
    let starts = core::iter::once(0).chain(places.iter().map(|(place, _)| place.end));
    let ends = places.iter().map(|(place, with)| (place.start, *with)).chain([(event.len(), &b""[..])]);
    starts.zip(ends).flat_map(move |(start, (end, with))| [event.get(start..end).unwrap_or_default(), with])
}
