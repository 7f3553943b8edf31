//! Decodes a string, fragment by fragment.

pub(super) use crate::scan::escape::{simple, unit};
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
    /// An ill-formed run that was taken off `rest`, and whether the replacement for its last chunk is pending. Stored
    /// here so that no byte is read twice, however many ill-formed sequences the run has.
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

    /// Decodes the escape at the front. For an unknown escape, returns the backslash; the rest follows as a run.
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

    /// Returns the run of bytes without an escape at the front, which is not empty.
    #[inline]
    fn text_run(&mut self) -> Option<Fragment<'a>> {
        let run = if self.verbatim {
            let bytes = core::mem::take(&mut self.rest);
            utf8::to_str(bytes).ok_or(bytes)
        } else {
            let found = utf8::text_run(self.rest);
            self.rest = found.rest;
            if found.control {
                self.quirks.insert(Quirk::RawControl);
            }
            found.run
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
            Some(_) => self.text_run(),
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
