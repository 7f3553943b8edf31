//! A template, and its comparison with an event.

use super::envelope::{Envelope, Lengths};
use crate::chat::index::SeenChoices;
use crate::chat::shape::{Hole, HoleKind, Shape, HOLES};
use crate::chat::Index;
use crate::json::{strict_string_end, TextFlags};
use crate::scan::{block64::Kernel, container, string};
use crate::stream::config::{self, Config, Payload, Validate};
use crate::visits::visit;

/// Stands for "no template" or "no choice".
pub(in crate::stream) const NONE: u8 = u8::MAX;

/// A template keeps at most this many bytes outside its holes. Events with more are not learned.
pub(super) const FIXED: usize = 416;

/// The most digits of a number in a hole. Such a number fits 64 bits.
const DIGITS: usize = 19;

/// A hole of a template, and the length of the fixed part before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    /// The length of the fixed part between the hole before and this one.
    pub(super) before: u16,
    pub(super) fill: HoleKind,
}

/// A template: an event without the values in its holes, with its framing, and the shape of its payload. The bytes
/// outside the holes are its fixed parts.
#[derive(Clone, Debug)]
pub(super) struct Template {
    /// The length of the payload without its holes, or 0 if the template is free.
    pub(super) len: u16,
    /// How many holes it has.
    pub(super) count: u8,
    /// It recognized at least one event.
    pub(super) proved: bool,
    /// The template that recognized the next event, last time that this one recognized an event.
    pub(super) followed_by: u8,
    /// A bit for each template whose shape differs from this one only in the number of its choice.
    pub(super) alike: u8,
    pub(super) framing: Lengths,
    pub(super) terms: Terms,
    pub(super) facts: TemplateFacts,
    pub(super) gaps: [Gap; HOLES],
    /// The length of the fixed part after the last hole.
    pub(super) last: u16,
    pub(super) shape: Shape,
    /// The fixed parts, concatenated. The first begins with the bytes before the payload; the last ends with the line
    /// ends after it.
    pub(super) fixed: [u8; FIXED],
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

/// A payload, which is the first `len` of these bytes, and the name of its event.
pub(super) struct NamedPayload<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) len: usize,
    pub(super) name: &'b [u8],
}

impl Gap {
    /// Returns the end of the value in the hole, which begins at the front of the bytes, and the [`TextFlags`] of a
    /// text. `None` if the value is not of the expected kind or, with `framed`, if a line ends in it.
    #[inline(always)]
    fn end<K: Kernel>(&self, bytes: &[u8], framed: bool, max_depth: u32) -> Option<(usize, u8)> {
        // The common case is a short text.
        match string::brief_end::<K>(bytes).filter(|_| self.fill == HoleKind::Text) {
            Some(end) => Some((end, 0)),
            None => self.general_end(bytes, framed, max_depth),
        }
    }

    /// [`end`](Gap::end) for all kinds of holes, and for texts that are long or contain more than plain ASCII.
    #[inline(never)]
    fn general_end(&self, bytes: &[u8], framed: bool, max_depth: u32) -> Option<(usize, u8)> {
        match self.fill {
            HoleKind::Text | HoleKind::Checked => {
                let end = string::end(bytes, 0)?;
                // CR and LF are control characters.
                if framed && end.control {
                    return None;
                }
                let flags = TextFlags::of(&end).bits() as u8;
                let is_sound = || strict_string_end(bytes, 0) == Ok(end.at.wrapping_add(1));
                (self.fill == HoleKind::Text || flags == 0 || is_sound()).then_some((end.at, flags))
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
}

/// What is compared with a template.
#[derive(Clone, Copy)]
pub(super) enum Extent {
    /// An event with its framing.
    Event,
    /// A payload. The last `tail` bytes of the template, its line ends, are not compared.
    Payload { tail: u8 },
}

impl Template {
    pub(super) const EMPTY: Template = Template {
        len: 0,
        count: 0,
        proved: false,
        followed_by: NONE,
        alike: 0,
        framing: Lengths::NOTHING,
        terms: Terms::OWN,
        facts: TemplateFacts::NOTHING,
        gaps: [Gap { before: 0, fill: HoleKind::Text }; HOLES],
        last: 0,
        shape: Shape::EMPTY,
        fixed: [0; FIXED],
    };

    /// Compares the bytes at the front of `bytes` with the template, and writes the bases of the segments to the index.
    /// Returns how many bytes matched.
    #[inline(always)]
    pub(super) fn compare<K: Kernel>(
        &self,
        bytes: &[u8],
        extent: Extent,
        max_depth: u32,
        index: &mut Index,
    ) -> Option<usize> {
        let (is_event, lead) = (matches!(extent, Extent::Event), usize::from(self.framing.lead));
        let (mut skip, cut) = match extent {
            Extent::Event => (0, 0),
            Extent::Payload { tail } => (lead, usize::from(tail)),
        };
        let origin = if is_event { bytes.len().wrapping_sub(lead) } else { bytes.len() };
        let (mut fixed, mut rest) = (self.fixed.get(skip..)?, bytes);
        let count = usize::from(self.count);
        let noted = index.bases.get_mut(1..)?.get_mut(..count)?.iter_mut().zip(index.between.get_mut(..count)?);
        for (gap, (base, text)) in self.gaps.get(..count)?.iter().zip(noted) {
            let part = usize::from(gap.before).checked_sub(core::mem::take(&mut skip))?;
            (fixed, rest) = strip_equal::<K>(fixed, rest, part)?;
            let (end, flags) = gap.end::<K>(rest, is_event, max_depth)?;
            rest = rest.get(end..)?;
            (*base, *text) = (origin.wrapping_sub(rest.len()) as u32, flags);
        }
        let (_, rest) = strip_equal::<K>(fixed, rest, usize::from(self.last).checked_sub(skip)?.checked_sub(cut)?)?;
        Some(bytes.len().wrapping_sub(rest.len()))
    }

    /// Compares a whole payload, and the name of its event, with the template.
    #[inline(always)]
    pub(super) fn compare_payload<K: Kernel>(
        &self,
        payload: &NamedPayload<'_>,
        max_depth: u32,
        index: &mut Index,
    ) -> Option<()> {
        let NamedPayload { bytes, len, name } = *payload;
        if name.len() != usize::from(self.framing.name) {
            return None;
        }
        let before = usize::from(self.framing.lead).checked_sub(usize::from(self.framing.name_to_payload));
        if !name.is_empty() && !self.fixed.get(before?..)?.starts_with(name) {
            return None;
        }
        // The comparison may read past the payload. Then `end` is higher than `len`, so the bytes there cannot cause a
        // match.
        let end = self.compare::<K>(bytes, Extent::Payload { tail: self.framing.tail }, max_depth, index)?;
        (end == len).then_some(())
    }

    /// Keeps a payload without its holes. The caller checked that it fits; if it did not, the template would become
    /// free.
    pub(super) fn learn(&mut self, shape: Shape, payload: &[u8], holes: &[Hole], name: &[u8], envelope: Envelope) {
        self.len = 0;
        self.shape = shape;
        self.framing = envelope.framing(name);
        if let Some(len) = self.put_parts(payload, holes, name, envelope) {
            (self.len, self.count, self.proved) = (len, holes.len() as u8, false);
        }
    }

    /// Copies the fixed parts of an event to the template. Returns the length of those of the payload.
    fn put_parts(&mut self, payload: &[u8], holes: &[Hole], name: &[u8], envelope: Envelope) -> Option<u16> {
        let mut end = 0;
        for part in envelope.before(name) {
            end = append(&mut self.fixed, end, part)?;
        }
        let (lead, mut begin, mut at) = (end, 0, 0);
        for (gap, hole) in self.gaps.iter_mut().zip(holes) {
            end = append(&mut self.fixed, end, payload.get(at..hole.start)?)?;
            let before = u16::try_from(end.checked_sub(begin)?).ok()?;
            *gap = Gap { before, fill: hole.fill };
            (begin, at) = (end, hole.end);
        }
        end = append(&mut self.fixed, end, payload.get(at..)?)?;
        let len = u16::try_from(end.checked_sub(lead)?).ok()?;
        end = append(&mut self.fixed, end, envelope.tail())?;
        self.last = u16::try_from(end.checked_sub(begin)?).ok()?;
        Some(len)
    }
}

/// Strips the first `len` bytes from the fixed parts and from the bytes of an event, if these bytes are equal.
#[inline(always)]
fn strip_equal<'f, 'b, K: Kernel>(fixed: &'f [u8], bytes: &'b [u8], len: usize) -> Option<(&'f [u8], &'b [u8])> {
    visit!(len.min(bytes.len()));
    let ((part, fixed), (here, rest)) = (fixed.split_at_checked(len)?, bytes.split_at_checked(len)?);
    K::same(part, here).then_some((fixed, rest))
}

/// Returns how many bytes an event has outside its holes.
pub(super) fn fixed_len(payload: &[u8], holes: &[Hole], name: &[u8], envelope: Envelope) -> usize {
    let filled = holes.iter().fold(0_usize, |sum, hole| sum.saturating_add(hole.end.saturating_sub(hole.start)));
    let framed = envelope.lead(name).saturating_add(envelope.tail().len());
    payload.len().saturating_sub(filled).saturating_add(framed)
}

/// Copies a part to offset `at`. Returns the offset of its end.
fn append(fixed: &mut [u8], at: usize, part: &[u8]) -> Option<usize> {
    let end = at.checked_add(part.len())?;
    for (to, from) in fixed.get_mut(at..end)?.iter_mut().zip(part) {
        *to = *from;
    }
    Some(end)
}

/// Returns the end of the whole number at the front of the bytes, if they begin with one.
fn number_end(bytes: &[u8]) -> Option<usize> {
    let digits = bytes.iter().take(DIGITS.saturating_add(1)).take_while(|byte| byte.is_ascii_digit()).count();
    let sound = digits == 1 || bytes.first() != Some(&b'0');
    // A digit after these does not match: the byte that the template has after a number is not a digit.
    (sound && digits > 0 && digits <= DIGITS).then_some(digits)
}
