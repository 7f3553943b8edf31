//! A template, and its comparison with an event.

use super::envelope::{Envelope, Lengths};
use crate::chat::index::SeenChoices;
use crate::chat::shape::{Hole, HoleKind, Shape};
use crate::chat::Index;
use crate::json::{digits_len, strict_string_end, TextFlags};
use crate::scan::parts::{Fill, Parts, HOLES};
use crate::scan::{
    block64::{Kernel, Task},
    container, string,
};
use crate::stream::config::{self, Config, Payload, Validate};
use core::num::NonZeroUsize;

/// Stands for "no template" or "no choice".
pub(in crate::stream) const NONE: u8 = u8::MAX;

/// The most digits of a number in a hole. Such a number fits 64 bits.
const DIGITS: usize = 19;

/// A template: an event without the values in its holes, with its framing, and the shape of its payload. The bytes
/// outside the holes are its fixed parts.
#[derive(Clone, Debug)]
pub(super) struct Template {
    /// The length of the payload without its holes, or 0 if the template is free.
    pub(super) len: u16,
    /// It recognized at least one event.
    pub(super) proved: bool,
    /// The template that recognized the next event, last time that this one recognized an event.
    pub(super) followed_by: u8,
    /// A bit for each template whose shape differs from this one only in the number of its choice.
    pub(super) alike: u8,
    pub(super) framing: Lengths,
    pub(super) terms: Terms,
    pub(super) facts: TemplateFacts,
    pub(super) holes: [HoleKind; HOLES],
    pub(super) shape: Shape,
    /// The fixed parts. The first begins with the bytes before the payload; the last ends with the line ends after it.
    pub(super) parts: Parts,
}

/// The settings of a configuration on which the reading of an event depends, packed. Parsers that share templates may
/// be configured differently; each uses only the templates that were learned on its own terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::stream) struct Terms(u16);

impl Terms {
    /// The terms of the templates of a machine that shares none.
    pub(super) const OWN: Terms = Terms(0);

    /// The terms of a parser that shares templates. They never equal [`OWN`](Self::OWN).
    pub(in crate::stream) fn shared(config: &Config) -> Self {
        // A configured depth is at most 1,024, which fits 11 bits.
        let depth = config.limits.max_depth as u16;
        let (strict, spec) = (config.validate == Validate::Strict, config.framing == config::Framing::Spec);
        let payload = match config.payload {
            Payload::Chunks => 0,
            Payload::Opaque => 1,
        };
        Terms(1 << 15 | u16::from(strict) << 14 | u16::from(spec) << 13 | payload << 11 | (depth & 0x7ff))
    }
}

/// The facts of the stream that an event of a template adds: its choice, if it has one, and whether that choice
/// finished.
#[derive(Clone, Copy, Debug)]
pub(super) struct TemplateFacts {
    choice: u8,
    finished: bool,
}

impl TemplateFacts {
    pub(super) const NOTHING: TemplateFacts = TemplateFacts { choice: NONE, finished: false };

    /// The facts of an event that has at most one choice.
    pub(super) fn of(seen: &SeenChoices) -> Self {
        TemplateFacts { choice: seen.all.first().unwrap_or(NONE), finished: !seen.finished.is_empty() }
    }

    pub(super) fn add_to(self, seen: &mut SeenChoices) {
        if self.choice != NONE {
            seen.add(self.choice.into(), self.finished);
        }
    }
}

/// Compares the front of `bytes` with a template, and writes the bases of the segments to the index. Returns how many
/// bytes match. They are an event with its framing or, if not `FRAMED`, a payload.
pub(super) struct Compare<'m, const FRAMED: bool> {
    pub(super) template: &'m Template,
    pub(super) bytes: &'m [u8],
    pub(super) max_depth: u32,
    pub(super) index: &'m mut Index,
}

impl<const FRAMED: bool> Task for Compare<'_, FRAMED> {
    type Out = Option<NonZeroUsize>;

    #[inline(always)]
    fn run<K: Kernel>(mut self) -> Self::Out {
        let Lengths { lead, tail, .. } = self.template.framing;
        let ends = if FRAMED { (usize::from(lead), 0, 0) } else { (0, usize::from(lead), usize::from(tail)) };
        self.template.parts.compare::<K>(self.bytes, ends, &mut self).and_then(NonZeroUsize::new)
    }
}

impl<const FRAMED: bool> Fill for Compare<'_, FRAMED> {
    #[inline(always)]
    fn fill<K: Kernel>(&mut self, hole: usize, bytes: &[u8]) -> Option<usize> {
        let kind = self.template.holes.get(hole)?;
        // The common case is a short text.
        let (len, flags) = match string::brief_end::<K>(bytes).filter(|_| *kind == HoleKind::Text) {
            Some(len) => (len, 0),
            None => general_end(kind, bytes, FRAMED, self.max_depth)?,
        };
        *self.index.between.get_mut(hole)? = flags;
        Some(len)
    }

    #[inline(always)]
    fn note(&mut self, hole: usize, end: usize) {
        if let Some(base) = self.index.bases.get_mut(hole.wrapping_add(1)) {
            *base = end as u32;
        }
    }
}

/// Returns the end of the value in a hole of this kind, which begins at the front of the bytes, and the [`TextFlags`] of
/// a text. `None` if the value is of another kind or, with `framed`, if a line ends in it.
#[inline(never)]
fn general_end(kind: &HoleKind, bytes: &[u8], framed: bool, max_depth: u32) -> Option<(usize, u8)> {
    match *kind {
        HoleKind::Text | HoleKind::Checked => {
            let end = string::end(bytes, 0)?;
            // CR and LF are control characters.
            if framed && end.control {
                return None;
            }
            let flags = TextFlags::of(&end).bits() as u8;
            let is_sound = || strict_string_end(bytes, 0) == Ok(end.at.wrapping_add(1));
            (*kind == HoleKind::Text || flags == 0 || is_sound()).then_some((end.at, flags))
        }
        HoleKind::Number | HoleKind::Count(_) => number_end(bytes).map(|end| (end, 0)),
        HoleKind::Spaces => Some((bytes.iter().take_while(|byte| **byte == b' ').count(), 0)),
        HoleKind::Container(depth) => {
            if bytes.first() != Some(&b'{') {
                return None;
            }
            let levels = max_depth.saturating_sub(u32::from(depth));
            let end = if framed {
                container::end_in_line(bytes, levels)
            } else {
                container::end(bytes, 0, levels).ok().map(|end| end.at)
            };
            end.map(|end| (end, 0))
        }
    }
}

impl Template {
    pub(super) const EMPTY: Template = Template {
        len: 0,
        proved: false,
        followed_by: NONE,
        alike: 0,
        framing: Lengths::NOTHING,
        terms: Terms::OWN,
        facts: TemplateFacts::NOTHING,
        holes: [HoleKind::Text; HOLES],
        shape: Shape::EMPTY,
        parts: Parts::EMPTY,
    };

    /// Whether the template is of an event with this name.
    #[inline]
    pub(super) fn has_name(&self, name: &[u8]) -> bool {
        let before = usize::from(self.framing.lead).wrapping_sub(usize::from(self.framing.name_to_payload));
        let is_it = |bytes: &[u8]| bytes.starts_with(name);
        name.len() == usize::from(self.framing.name)
            && (name.is_empty() || self.parts.bytes().get(before..).is_some_and(is_it))
    }

    /// Keeps a payload without its holes. The caller checked that it fits; if it did not, the template would become
    /// free.
    pub(super) fn learn(&mut self, shape: Shape, payload: &[u8], holes: &[Hole], name: &[u8], envelope: Envelope) {
        self.len = 0;
        self.shape = shape;
        self.framing = envelope.framing(name);
        if let Some(len) = self.put_parts(payload, holes, name, envelope) {
            (self.len, self.proved) = (len, false);
        }
    }

    /// Copies the fixed parts of an event to the template. Returns the length of those of the payload.
    fn put_parts(&mut self, payload: &[u8], holes: &[Hole], name: &[u8], envelope: Envelope) -> Option<u16> {
        self.parts.clear();
        for part in envelope.before(name) {
            self.parts.append(part)?;
        }
        let mut at = 0;
        for (kind, hole) in self.holes.iter_mut().zip(holes) {
            self.parts.append(payload.get(at..hole.start)?)?;
            self.parts.end_part()?;
            (*kind, at) = (hole.fill, hole.end);
        }
        self.parts.append(payload.get(at..)?)?;
        let len = self.parts.bytes().len().checked_sub(envelope.lead(name))?;
        self.parts.append(envelope.tail())?;
        u16::try_from(len).ok()
    }
}

/// Returns how many bytes an event has outside its holes.
pub(super) fn fixed_len(payload: &[u8], holes: &[Hole], name: &[u8], envelope: Envelope) -> usize {
    let filled = holes.iter().fold(0_usize, |sum, hole| sum.saturating_add(hole.end.saturating_sub(hole.start)));
    let framed = envelope.lead(name).saturating_add(envelope.tail().len());
    payload.len().saturating_sub(filled).saturating_add(framed)
}

/// Returns the end of the whole number at the front of the bytes, if they begin with one.
fn number_end(bytes: &[u8]) -> Option<usize> {
    let digits = digits_len(bytes.get(..DIGITS.saturating_add(1)).unwrap_or(bytes));
    let sound = digits == 1 || bytes.first() != Some(&b'0');
    // A digit after these does not match: the byte that the template has after a number is not a digit.
    (sound && digits > 0 && digits <= DIGITS).then_some(digits)
}
