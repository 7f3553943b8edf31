//! The text of a JSON string that is still escaped.

use super::fragments::{Copied, Fragment, Fragments};
use crate::scan::unescape::{self, Decoded};
use crate::scan::{find, string::StringEnd, utf8};
use crate::shown::show;
use crate::visits::visit;
use crate::QuirkSet;
use core::fmt::{self, Write};

/// Longer than every word that texts are compared with.
pub(crate) const LONGEST_WORD: usize = 64;

/// What a string's bytes may contain. A set bit means "may contain it", a clear bit "does not contain it".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextFlags(u16);

impl TextFlags {
    /// Plain: printable ASCII without a backslash, which decodes to itself.
    pub(crate) const PLAIN: TextFlags = TextFlags(0);
    /// May contain a backslash.
    pub(crate) const ESCAPED: TextFlags = TextFlags(1);
    /// May contain a byte of at least 0x80.
    pub(crate) const NON_ASCII: TextFlags = TextFlags(2);
    /// May contain a raw control character.
    pub(crate) const CONTROL: TextFlags = TextFlags(4);
    /// Not a JSON string: backslashes and control characters decode to themselves.
    pub(crate) const VERBATIM: TextFlags = TextFlags(8);
    /// A high surrogate was removed from the end of the text, so a high surrogate at the new end is not pending.
    const HELD: TextFlags = TextFlags(16);
    /// Nothing is known about the string.
    pub(crate) const UNKNOWN: TextFlags = TextFlags(7);

    /// Returns the flags found by a search for the closing quote.
    #[inline]
    pub(crate) fn of(end: &StringEnd) -> Self {
        TextFlags(u16::from(end.escaped) | u16::from(!end.ascii) << 1 | u16::from(end.control) << 2)
    }

    /// Whether any flag of `other` is set.
    #[inline]
    pub(crate) const fn any(self, other: TextFlags) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether all bytes of the string are printable ASCII.
    #[inline]
    pub(crate) const fn is_printable_ascii(self) -> bool {
        self.0 & !TextFlags::ESCAPED.0 == 0
    }

    /// Returns the flags of both.
    #[inline]
    pub(crate) const fn with(self, other: TextFlags) -> Self {
        TextFlags(self.0 | other.0)
    }

    /// Returns the flags as a number.
    #[inline]
    pub(crate) const fn bits(self) -> u16 {
        self.0
    }

    /// Returns the flags of a number from [`bits`](TextFlags::bits).
    #[inline]
    pub(crate) const fn from_bits(bits: u16) -> Self {
        TextFlags(bits & 31)
    }
}

/// The length that most texts of a stream do not exceed.
const SHORT: usize = 48;

/// The text of a JSON string, still escaped. Borrows its bytes and decodes them when it is read.
///
/// Any bytes decode to valid UTF-8. What strict JSON forbids is reported as a quirk: ill-formed UTF-8 becomes U+FFFD as
/// in the Encoding standard (`IllFormedUtf8`), an unpaired surrogate becomes U+FFFD (`LoneSurrogate`), raw control
/// characters are kept (`RawControl`), and so is an unknown escape with its backslash (`BadEscape`).
///
/// ```
/// use deltawire::json::{self, Fragment};
/// let value = json::parse_lazy(br#""a\u00e9\n""#)?;
/// let text = value.as_text().unwrap();
/// assert_eq!(text, "aé\n");
/// assert_eq!(text.raw(), br"a\u00e9\n");
/// assert!(text.fragments().eq([Fragment::Str("a"), Fragment::Char('é'), Fragment::Char('\n')]));
/// let mut buffer = [0; 3];
/// let copied = text.copy_to(&mut buffer);
/// assert_eq!((copied.written, copied.complete, &buffer), (3, false, "aé".as_bytes().try_into().unwrap()));
/// # Ok::<(), json::JsonError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Text<'a> {
    raw: &'a [u8],
    /// Pending high surrogate from the end of the previous text, or 0.
    lead: u16,
    flags: TextFlags,
}

impl<'a> Text<'a> {
    /// Wraps the bytes between the quotes of a JSON string. `flags` must have every flag that applies to the bytes.
    #[inline]
    pub(crate) fn from_raw(raw: &'a [u8], flags: TextFlags) -> Self {
        Text { raw, lead: 0, flags }
    }

    /// Wraps bytes that are not a JSON string: nothing is unescaped, and only ill-formed UTF-8 is replaced.
    #[inline]
    pub fn verbatim(raw: &'a [u8]) -> Self {
        Text { raw, lead: 0, flags: TextFlags::NON_ASCII.with(TextFlags::VERBATIM) }
    }

    /// Returns the escaped high surrogate that ends the text, if there is one: the next text may begin with its low
    /// surrogate.
    #[inline]
    pub(crate) fn trailing_half(&self) -> Option<u16> {
        if !self.may(TextFlags::ESCAPED) || self.may(TextFlags::VERBATIM.with(TextFlags::HELD)) {
            return None;
        }
        let [before @ .., b'\\', b'u', a, b, c, d] = self.raw else { return None };
        let half = super::fragments::unit(&[*a, *b, *c, *d]).filter(|half| (0xd800..0xdc00).contains(half))?;
        // The backslash begins an escape unless the backslash before it escapes it.
        let backslashes = before.iter().rev().take_while(|&&byte| byte == b'\\').count();
        (backslashes % 2 == 0).then_some(half)
    }

    /// Whether a short look shows that the text is short, decodes without a quirk, and does not end in half a surrogate
    /// pair. A text for which this returns `false` may still have all of these properties. `each` gets the decoded
    /// bytes. For a `\\u` escape beyond ASCII it gets some byte that is not ASCII.
    #[inline(always)]
    pub(crate) fn is_sound(&self, mut each: impl FnMut(u8)) -> bool {
        let unusual = TextFlags::CONTROL.with(TextFlags::VERBATIM).with(TextFlags::HELD);
        if self.raw.len() > SHORT || self.lead != 0 || self.may(unusual) {
            return false;
        }
        visit!(self.raw.len());
        let mut rest = self.raw;
        while let [byte, after @ ..] = rest {
            let (byte, after) = match (byte, after) {
                (b'\\', [b'u', a, b, c, d, after @ ..]) => match super::fragments::unit(&[*a, *b, *c, *d]) {
                    None | Some(0xd800..0xe000) => return false,
                    Some(unit) => (unit.min(0x80) as u8, after),
                },
                (b'\\', [kind, after @ ..]) => match super::fragments::simple(*kind) {
                    0 => return false,
                    byte => (byte, after),
                },
                (b'\\', []) => return false,
                (byte, after) => (*byte, after),
            };
            each(byte);
            rest = after;
        }
        !self.may(TextFlags::NON_ASCII) || utf8::to_str(self.raw).is_some()
    }

    /// Returns the text without its [`trailing_half`](Text::trailing_half).
    #[inline]
    pub(crate) fn without_trailing_half(self) -> Self {
        let Some(kept) = self.trailing_half().and_then(|_| self.raw.len().checked_sub(6)) else { return self };
        Text { raw: self.raw.get(..kept).unwrap_or_default(), flags: self.flags.with(TextFlags::HELD), ..self }
    }

    /// Returns the text preceded by a high surrogate (0xD800 to 0xDBFF) that ended the previous text. If the text
    /// begins with an escaped low surrogate, the two join; otherwise U+FFFD precedes the text.
    #[inline]
    pub(crate) fn with_lead(self, half: u16) -> Self {
        Text { lead: half, ..self }
    }

    /// Whether the bytes may have any of these properties.
    #[inline]
    fn may(&self, flags: TextFlags) -> bool {
        self.flags.any(flags)
    }

    /// Whether the text decodes to exactly its bytes, provided they are valid UTF-8.
    #[inline]
    fn is_literal(&self) -> bool {
        self.lead == 0 && (!self.may(TextFlags::ESCAPED) || self.may(TextFlags::VERBATIM))
    }

    /// Returns the bytes between the quotes, still escaped.
    #[inline]
    pub fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// Whether the text decodes to nothing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty() && self.lead == 0
    }

    /// Returns the text borrowed from the bytes, or `None` if it has an escape or ill-formed UTF-8.
    #[inline]
    pub fn as_str(&self) -> Option<&'a str> {
        if !self.is_literal() && (self.lead != 0 || find::byte(b'\\', self.raw).is_some()) {
            return None;
        }
        utf8::to_str(self.raw)
    }

    /// Iterates over the decoded text: runs borrowed from the bytes, and single characters for escapes and
    /// replacements.
    #[inline]
    pub fn fragments(&self) -> Fragments<'a> {
        Fragments::new(self.raw, self.lead, self.may(TextFlags::VERBATIM))
    }

    /// Decodes as many whole code points as fit into `buffer`. To continue when the buffer is full, use
    /// [`take_to`](Text::take_to).
    #[inline]
    pub fn copy_to(&self, buffer: &mut [u8]) -> Copied {
        let may_differ = self.may(TextFlags::ESCAPED.with(TextFlags::CONTROL));
        if !may_differ || self.lead != 0 || self.is_verbatim() {
            return self.copy_unescaped(buffer);
        }
        let progress = unescape::copy(self.raw, buffer);
        if progress.took == self.raw.len() {
            return Copied { written: progress.wrote, complete: true, quirks: progress.quirks };
        }
        self.copy_fragments(progress, buffer)
    }

    /// Does what [`copy_to`](Self::copy_to) does, for a text without escapes, or one that is preceded by a pending high
    /// surrogate.
    #[inline(never)]
    fn copy_unescaped(&self, buffer: &mut [u8]) -> Copied {
        match self.copy_unchanged(buffer) {
            Some(written) => Copied { written, complete: true, quirks: QuirkSet::EMPTY },
            None => self.copy_fragments(Decoded::default(), buffer),
        }
    }

    /// Copies the rest of a text after the bytes that `before` counts. A function of its own, so that the usual
    /// [`copy_to`](Self::copy_to) saves few registers.
    #[inline(never)]
    fn copy_fragments(&self, before: Decoded, buffer: &mut [u8]) -> Copied {
        let rest = if before.took > 0 { self.behind(before.took) } else { *self };
        let (mut fragments, mut written, mut complete) = (rest.fragments(), before.wrote, true);
        for fragment in fragments.by_ref() {
            let mut encoded = [0; 4];
            let run = fragment.encode(&mut encoded);
            let len = copy_fitting(run, buffer.get_mut(written..).unwrap_or_default());
            complete = len == run.len();
            written = written.saturating_add(len);
            if !complete {
                break;
            }
        }
        Copied { written, complete, quirks: before.quirks | fragments.quirks() }
    }

    /// Returns the bytes of a word, decoded. Of a word that has escapes and is longer than any known word, returns only
    /// the first bytes.
    #[inline(never)]
    pub(crate) fn word<'b>(&self, buffer: &'b mut [u8; LONGEST_WORD]) -> &'b [u8]
    where
        'a: 'b,
    {
        if self.is_literal() {
            return self.raw;
        }
        let written = self.copy_fragments(Decoded::default(), buffer).written;
        buffer.get(..written).unwrap_or_default()
    }

    /// Copies a text that decodes to itself without a quirk. Returns `None` if it does not, or does not fit.
    #[inline]
    pub(crate) fn copy_unchanged(&self, buffer: &mut [u8]) -> Option<usize> {
        let len = self.raw.len();
        let may_differ = self.lead != 0 || self.may(TextFlags::ESCAPED.with(TextFlags::CONTROL));
        if may_differ {
            return None;
        }
        utf8::copy(self.raw, buffer.get_mut(..len)?).then_some(len)
    }

    /// Returns the text after its first `len` raw bytes. A pending high surrogate counts as consumed.
    #[inline]
    pub(crate) fn behind(self, len: usize) -> Self {
        Text { raw: self.raw.get(len..).unwrap_or_default(), lead: 0, ..self }
    }

    /// Returns the pending high surrogate, or 0.
    #[inline]
    pub(super) fn half(&self) -> u16 {
        self.lead
    }

    /// Whether backslashes decode to themselves.
    #[inline]
    pub(super) fn is_verbatim(&self) -> bool {
        self.may(TextFlags::VERBATIM)
    }

    /// Returns the flags and the pending high surrogate, to store them together with the offset of the text.
    #[inline]
    pub(crate) fn parts(&self) -> (TextFlags, u16) {
        (self.flags, self.lead)
    }

    /// Returns the text with these [`parts`](Text::parts).
    #[inline]
    pub(crate) fn from_parts(raw: &'a [u8], (flags, lead): (TextFlags, u16)) -> Self {
        Text { raw, lead, flags }
    }

    /// Returns the length of the decoded text in bytes. Reads all of it.
    pub fn decoded_len(&self) -> usize {
        if self.is_plain() {
            return self.raw.len();
        }
        self.measure().0
    }

    /// Returns what strict JSON forbids in the text. Reads all of it.
    pub fn quirks(&self) -> QuirkSet {
        if self.is_plain() {
            return QuirkSet::EMPTY;
        }
        self.measure().1
    }

    /// Returns the length of the decoded text in bytes, and what strict JSON forbids in it.
    fn measure(&self) -> (usize, QuirkSet) {
        let is_string = self.lead == 0 && !self.is_verbatim();
        let before = if is_string { unescape::measure(self.raw) } else { Decoded::default() };
        let rest = if before.took > 0 { self.behind(before.took) } else { *self };
        let mut fragments = rest.fragments();
        let add = |len: usize, fragment: Fragment<'_>| len.saturating_add(fragment.len());
        (fragments.by_ref().fold(before.wrote, add), before.quirks | fragments.quirks())
    }

    /// Whether the text is known to decode to itself, without a quirk.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.lead == 0 && self.flags == TextFlags::PLAIN
    }

    /// Whether the text equals `word`, which is ASCII. The usual case is inlined, for walks that compare each name with
    /// several words.
    #[inline(always)]
    pub(crate) fn is_word(&self, word: &str) -> bool {
        if self.is_plain() {
            return self.raw == word.as_bytes();
        }
        *self == *word
    }

    /// Whether the text is one of `words`, which are separated by spaces. In a list of slices, each word would take 40
    /// bytes more in a shared library, for the slice and its relocation.
    #[inline(never)]
    pub(crate) fn is_one_of(&self, words: &str) -> bool {
        words.split(' ').any(|word| self.is_word(word))
    }

    /// Appends the decoded text to `text`, and returns what strict JSON forbids in it. In a match arm, write
    /// `{ content.push_to(&mut text); }`.
    #[cfg(feature = "alloc")]
    #[inline]
    pub fn push_to(&self, text: &mut alloc::string::String) -> QuirkSet {
        if self.is_plain() && utf8::append_ascii(self.raw, text) {
            return QuirkSet::EMPTY;
        }
        self.decode_to(text)
    }

    /// Does what [`push_to`](Text::push_to) does, for texts that may need decoding.
    #[cfg(feature = "alloc")]
    #[inline(never)]
    fn decode_to(&self, text: &mut alloc::string::String) -> QuirkSet {
        if self.lead == 0 && !self.is_verbatim() {
            let progress = unescape::append(self.raw, text);
            if progress.took == self.raw.len() {
                return progress.quirks;
            }
            return progress.quirks | self.behind(progress.took).fragments_to(text);
        }
        self.fragments_to(text)
    }

    /// Does what [`push_to`](Text::push_to) does, fragment by fragment.
    #[cfg(feature = "alloc")]
    #[cold]
    fn fragments_to(&self, text: &mut alloc::string::String) -> QuirkSet {
        let mut fragments = self.fragments();
        // This is nearly always enough: an escape is longer than its character, and only a replacement can be longer
        // than its bytes.
        text.reserve(self.raw.len());
        for fragment in fragments.by_ref() {
            match fragment {
                Fragment::Str(run) => text.push_str(run),
                Fragment::Char(char) => text.push(char),
            }
        }
        fragments.quirks()
    }

    /// Returns the decoded text, borrowed if the bytes need no decoding.
    #[cfg(feature = "alloc")]
    pub fn to_cow(&self) -> alloc::borrow::Cow<'a, str> {
        match self.as_str() {
            Some(text) => text.into(),
            None => {
                let mut text = alloc::string::String::new();
                self.push_to(&mut text);
                text.into()
            }
        }
    }

    /// Iterates over the decoded characters.
    pub(super) fn chars(&self) -> impl Iterator<Item = char> + use<'a> {
        self.fragments().flat_map(|fragment| {
            let (run, char) = match fragment {
                Fragment::Str(run) => (run, None),
                Fragment::Char(char) => ("", Some(char)),
            };
            run.chars().chain(char)
        })
    }

    /// Whether the text decodes to these bytes.
    #[inline(never)]
    pub(crate) fn is_decoded(&self, bytes: &[u8]) -> bool {
        if self.is_literal() {
            // If the bytes differ, the text can only be equal if ill-formed bytes decode to U+FFFD.
            return self.raw == bytes || self.may(TextFlags::NON_ASCII) && self.eq_decoded(bytes);
        }
        self.eq_decoded(bytes)
    }

    fn eq_decoded(&self, mut rest: &[u8]) -> bool {
        for fragment in self.fragments() {
            match rest.strip_prefix(fragment.encode(&mut [0; 4]).as_bytes()) {
                Some(after) => rest = after,
                None => return false,
            }
        }
        rest.is_empty()
    }
}

/// Copies the longest prefix of `text` that fits into `room` and ends between two code points. Returns its length in
/// bytes.
#[inline]
pub(super) fn copy_fitting(text: &str, room: &mut [u8]) -> usize {
    let mut len = room.len().min(text.len());
    // At most three steps, because a code point has at most four bytes.
    while !text.is_char_boundary(len) {
        len = len.saturating_sub(1);
    }
    if let (Some(room), Some(text)) = (room.get_mut(..len), text.as_bytes().get(..len)) {
        room.copy_from_slice(text);
    }
    len
}

/// Compares the decoded text.
impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        self.is_decoded(other.as_bytes())
    }
}

/// Compares the decoded text.
impl PartialEq<&str> for Text<'_> {
    #[inline]
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

/// Compares the decoded text.
impl PartialEq<Text<'_>> for str {
    fn eq(&self, other: &Text<'_>) -> bool {
        *other == *self
    }
}

/// Compares the decoded text.
impl PartialEq<Text<'_>> for &str {
    fn eq(&self, other: &Text<'_>) -> bool {
        *other == **self
    }
}

/// Compares the decoded texts.
impl PartialEq<Text<'_>> for Text<'_> {
    fn eq(&self, other: &Text<'_>) -> bool {
        let replaced = self.may(TextFlags::NON_ASCII) && other.may(TextFlags::NON_ASCII);
        if self.is_literal() && other.is_literal() && !replaced {
            // A text with replaced bytes never equals ASCII.
            return self.raw == other.raw;
        }
        self.chars().eq(other.chars())
    }
}

impl Eq for Text<'_> {}

/// Writes the decoded text.
impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fragments().try_for_each(|fragment| match fragment {
            Fragment::Str(run) => f.write_str(run),
            Fragment::Char(char) => f.write_char(char),
        })
    }
}

/// Writes the decoded text, quoted and escaped as a Rust string, or the first 64 bytes of a long one.
impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, "\"", self.chars(), self.raw.len(), |char| char != '\'')
    }
}

/// The decoded text.
#[cfg(feature = "alloc")]
impl From<Text<'_>> for alloc::string::String {
    fn from(text: Text<'_>) -> Self {
        text.to_cow().into_owned()
    }
}
