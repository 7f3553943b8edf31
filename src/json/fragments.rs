//! Decodes a string, fragment by fragment or into buffers.

pub(super) use crate::scan::escape::{simple, unit};
use crate::scan::unescape::{self, Progress};
use crate::scan::{escape, utf8};
use crate::shown::{shown, Bytes};
use crate::{Quirk, QuirkSet};
use core::iter::FusedIterator;
use core::str::Utf8Chunks;

/// A piece of decoded text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fragment<'a> {
    /// A run of unescaped bytes. Never empty.
    Str(&'a str),
    /// The character of an escape, or U+FFFD.
    Char(char),
}

impl<'a> Fragment<'a> {
    /// Returns the fragment as `str`; a single character is encoded into `buffer`.
    #[inline]
    pub fn encode<'b>(self, buffer: &'b mut [u8; 4]) -> &'b str
    where
        'a: 'b,
    {
        match self {
            Fragment::Str(run) => run,
            Fragment::Char(char) => escape::encode(char, buffer),
        }
    }

    /// Returns the length in bytes, never 0.
    #[inline]
    #[allow(clippy::len_without_is_empty)] // A fragment is never empty.
    pub fn len(&self) -> usize {
        match self {
            Fragment::Str(run) => run.len(),
            Fragment::Char(char) => char.len_utf8(),
        }
    }
}

/// Iterates over the decoded pieces of a [`Text`](super::Text). Created by [`Text::fragments`](super::Text::fragments).
#[derive(Clone)]
pub struct Fragments<'a> {
    rest: &'a [u8],
    /// An ill-formed run taken off `rest`, and whether the replacement for its last chunk is pending. Kept so that no
    /// byte is read twice, however many ill-formed sequences the run has.
    chunks: Utf8Chunks<'a>,
    replace: bool,
    verbatim: bool,
    lead: u16,
    quirks: QuirkSet,
}

shown!("Fragments": Fragments<'_>, this => rest: Bytes(this.rest), quirks: this.quirks);

impl<'a> Fragments<'a> {
    #[inline]
    pub(super) fn new(raw: &'a [u8], lead: u16, verbatim: bool) -> Self {
        let chunks = [].utf8_chunks();
        Fragments { rest: raw, chunks, replace: false, verbatim, lead, quirks: QuirkSet::EMPTY }
    }

    /// Returns what strict JSON forbids in the fragments returned so far and in the run of the last one.
    #[inline]
    pub fn quirks(&self) -> QuirkSet {
        self.quirks
    }

    /// Returns the number of bytes not read yet.
    #[inline]
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    /// Returns U+FFFD and records its quirk.
    #[inline]
    fn replacement(&mut self, quirk: Quirk) -> Fragment<'a> {
        self.quirks.insert(quirk);
        Fragment::Char(char::REPLACEMENT_CHARACTER)
    }

    /// Joins the pending high surrogate of the previous text, or replaces it.
    #[cold]
    fn lead(&mut self) -> Fragment<'a> {
        let high = core::mem::take(&mut self.lead);
        if !self.verbatim {
            if let Some(char) = escape::low_half(self.rest).and_then(|low| escape::join(high, low)) {
                self.rest = self.rest.get(6..).unwrap_or_default();
                return Fragment::Char(char);
            }
        }
        self.replacement(Quirk::LoneSurrogate)
    }

    /// Returns the next piece of an ill-formed run.
    #[cold]
    fn chunk(&mut self) -> Option<Fragment<'a>> {
        if core::mem::take(&mut self.replace) {
            return Some(self.replacement(Quirk::IllFormedUtf8));
        }
        let chunk = self.chunks.next()?;
        if chunk.valid().is_empty() {
            return Some(self.replacement(Quirk::IllFormedUtf8));
        }
        self.replace = !chunk.invalid().is_empty();
        Some(Fragment::Str(chunk.valid()))
    }

    /// Decodes the escape at the front. For an unknown escape, returns the backslash; the rest follows as a plain run.
    #[inline]
    fn escape(&mut self) -> Fragment<'a> {
        let escape = escape::read(self.rest);
        self.rest = self.rest.get(escape.len..).unwrap_or_default();
        match escape.fault {
            None => Fragment::Char(escape.char),
            Some(fault) => self.faulty(fault),
        }
    }

    #[cold]
    fn faulty(&mut self, fault: Quirk) -> Fragment<'a> {
        if fault == Quirk::BadEscape {
            self.quirks.insert(fault);
            return Fragment::Str("\\");
        }
        self.replacement(fault)
    }

    /// Passes the remaining bytes to `decode`, and returns how many bytes that wrote. Call it before the first fragment
    /// or after the last: no part of an ill-formed run may be pending.
    #[inline]
    pub(super) fn bulk(&mut self, decode: impl FnOnce(&'a [u8]) -> Progress) -> usize {
        if self.lead != 0 || self.verbatim {
            return 0;
        }
        let progress = decode(self.rest);
        self.rest = self.rest.get(progress.took..).unwrap_or_default();
        self.quirks |= progress.quirks;
        progress.wrote
    }

    /// Returns the run of plain bytes at the front, which is not empty.
    #[inline]
    fn plain(&mut self) -> Option<Fragment<'a>> {
        let run = if self.verbatim {
            let bytes = core::mem::take(&mut self.rest);
            utf8::to_str(bytes).ok_or(bytes)
        } else {
            let plain = utf8::plain(self.rest);
            self.rest = plain.rest;
            if plain.control {
                self.quirks.insert(Quirk::RawControl);
            }
            plain.run
        };
        match run {
            Ok(text) => Some(Fragment::Str(text)),
            Err(bytes) => {
                self.chunks = bytes.utf8_chunks();
                self.chunk()
            }
        }
    }
}

impl<'a> Iterator for Fragments<'a> {
    type Item = Fragment<'a>;

    #[inline]
    fn next(&mut self) -> Option<Fragment<'a>> {
        if self.lead != 0 {
            return Some(self.lead());
        }
        if self.quirks.contains(Quirk::IllFormedUtf8) || self.replace {
            if let Some(fragment) = self.chunk() {
                return Some(fragment);
            }
        }
        match self.rest.first() {
            None => None,
            Some(b'\\') if !self.verbatim => Some(self.escape()),
            Some(_) => self.plain(),
        }
    }
}

impl FusedIterator for Fragments<'_> {}

/// The result of [`Text::copy_to`](super::Text::copy_to).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Bytes written: whole code points.
    pub written: usize,
    /// Whether the whole text was written.
    pub complete: bool,
    /// What strict JSON forbids in the text read so far.
    pub quirks: QuirkSet,
}

/// Decodes a [`Text`](super::Text) into buffers of any size. Created by [`Text::unescape`](super::Text::unescape).
///
/// ```
/// let value = deltawire::json::parse_lazy("\"a\\tbß\"".as_bytes())?;
/// let mut reader = value.as_text().unwrap().unescape();
/// let mut buffer = [0; 4];
/// assert_eq!(reader.read(&mut buffer), 3); // ß does not fit any more
/// assert_eq!(&buffer[..3], b"a\tb");
/// assert_eq!(reader.read(&mut buffer), 2);
/// assert!(reader.is_done());
/// # Ok::<(), deltawire::json::JsonError>(())
/// ```
#[derive(Clone)]
pub struct Unescape<'a> {
    fragments: Fragments<'a>,
    /// The rest of the last fragment, which did not fit.
    held: Option<Fragment<'a>>,
}

shown!("Unescape": Unescape<'_>, this => rest: this.fragments);

impl<'a> Unescape<'a> {
    #[inline]
    pub(super) fn new(fragments: Fragments<'a>) -> Self {
        Unescape { fragments, held: None }
    }

    /// Decodes into `buffer` and returns the number of bytes written. Only whole code points are written, so a few
    /// bytes of the buffer may stay unused. Returns 0 if the text is done or the next code point is longer than the
    /// buffer.
    pub fn read(&mut self, buffer: &mut [u8]) -> usize {
        let bulk = match self.held {
            None => self.fragments.bulk(|raw| unescape::copy(raw, buffer)),
            Some(_) => 0,
        };
        bulk.saturating_add(self.read_fragments(buffer.get_mut(bulk..).unwrap_or_default()))
    }

    /// Does what [`read`](Unescape::read) does, fragment by fragment.
    pub(super) fn read_fragments(&mut self, buffer: &mut [u8]) -> usize {
        let mut written = 0;
        while let Some(fragment) = self.held.take().or_else(|| self.fragments.next()) {
            let room = buffer.get_mut(written..).unwrap_or_default();
            match fragment {
                Fragment::Str(run) => {
                    let (fits, over) = cut(run, room.len());
                    written += copy(fits.as_bytes(), room);
                    if !over.is_empty() {
                        self.held = Some(Fragment::Str(over));
                        break;
                    }
                }
                Fragment::Char(char) => {
                    if char.len_utf8() > room.len() {
                        self.held = Some(fragment);
                        break;
                    }
                    written += copy(escape::encode(char, &mut [0; 4]).as_bytes(), room);
                }
            }
        }
        written
    }

    /// Whether the whole text was read.
    #[inline]
    pub fn is_done(&mut self) -> bool {
        if self.held.is_none() {
            self.held = self.fragments.next();
        }
        self.held.is_none()
    }

    /// Returns what strict JSON forbids in the text read so far, which may be one run more than was written.
    #[inline]
    pub fn quirks(&self) -> QuirkSet {
        self.fragments.quirks()
    }
}

/// Splits `text` after the last whole code point within `len` bytes.
#[inline]
fn cut(text: &str, len: usize) -> (&str, &str) {
    let mut at = len.min(text.len());
    loop {
        if let Some(parts) = text.split_at_checked(at) {
            return parts;
        }
        // At most three times; 0 is always a boundary.
        at = at.saturating_sub(1);
    }
}

/// Copies as much as fits. Returns how many bytes that is.
#[inline]
fn copy(from: &[u8], to: &mut [u8]) -> usize {
    let len = from.len().min(to.len());
    if let (Some(to), Some(from)) = (to.get_mut(..len), from.get(..len)) {
        to.copy_from_slice(from);
    }
    len
}

#[cfg(test)]
mod tests {
    use super::{unescape, Fragments};

    /// Bulk decoding takes the whole text, except a run that it leaves to the fragments.
    #[test]
    fn a_text_is_decoded_in_bulk() {
        let raw = br"some\ntext\tand more, \u00e9 and \ud83d\ude00 and so on";
        let mut buffer = [0; 64];
        let mut fragments = Fragments::new(raw, 0, false);
        let wrote = fragments.bulk(|raw| unescape::copy(raw, &mut buffer));
        let expected = "some\ntext\tand more, \u{e9} and \u{1f600} and so on".as_bytes();
        assert_eq!((buffer.get(..wrote), fragments.left()), (Some(expected), 0));
        for (lead, verbatim) in [(0xd83d, false), (0, true)] {
            let mut fragments = Fragments::new(raw, lead, verbatim);
            assert_eq!(fragments.bulk(|raw| unescape::copy(raw, &mut buffer)), 0);
            assert_eq!(fragments.left(), raw.len());
        }
    }
}
