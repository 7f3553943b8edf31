//! A template: an event without its holes, and how it is compared with another event.

use super::envelope::{Envelope, Lengths};
use crate::chat::index::SeenChoices;
use crate::chat::shape::{Hole, HoleKind, Shape, HOLES};
use crate::chat::Index;
use crate::json::{strict_string_end, TextFlags};
use crate::scan::{block64::Kernel, container, string};
use crate::stream::config::{self, Config, Payload, Validate};
use crate::visits::visit;

/// No template, or no choice.
pub(in crate::stream) const NONE: u8 = u8::MAX;

/// The most bytes that an event has outside its holes, to be learned.
pub(super) const FIXED: usize = 416;

/// The most digits of a number in a hole: what fits 64 bits.
const DIGITS: usize = 19;

/// A hole of a template, and the part before it, which does not change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    /// The length of the part.
    pub(super) before: u16,
    pub(super) fill: HoleKind,
}

/// A template: an event without its holes, and the shape of its payload.
#[derive(Clone, Debug)]
pub(super) struct Template {
    /// The length of the payload without its holes. 0: the template is free.
    pub(super) len: u16,
    pub(super) count: u8,
    /// It was recognised at least once.
    pub(super) proved: bool,
    /// The template that recognised the event behind the last one that this template recognised.
    pub(super) followed_by: u8,
    /// A bit for each template whose shape differs from this one only in the number.
    pub(super) alike: u8,
    pub(super) framing: Lengths,
    pub(super) terms: Terms,
    pub(super) added: Added,
    pub(super) gaps: [Gap; HOLES],
    /// The length of the part behind the holes.
    pub(super) last: u16,
    pub(super) shape: Shape,
    /// The parts, one behind the other: the first with what stands before the payload, the last with the line ends behind it.
    pub(super) fixed: [u8; FIXED],
}

/// The part of a configuration on which the reading of an event depends. Several parsers may share templates; each recognises
/// only those that were learned on its own terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::stream) struct Terms(u16);

impl Terms {
    /// The terms of templates that one machine has for itself.
    pub(super) const OWN: Terms = Terms(0);

    pub(in crate::stream) fn shared(config: &Config) -> Self {
        // At most 1024.
        let depth = config.limits.max_depth as u16;
        let (strict, spec) = (config.validate == Validate::Strict, config.framing == config::Framing::Spec);
        let payload = match config.payload {
            Payload::Chunks => 0,
            Payload::Opaque => 1,
            Payload::Usage => 2,
        };
        Terms(1 << 15 | u16::from(strict) << 14 | u16::from(spec) << 13 | payload << 11 | (depth & 0x7ff))
    }
}

/// The facts that the learned event adds to its stream, beside its deltas: its choice, if it has one, and whether that is
/// finished.
#[derive(Clone, Copy, Debug)]
pub(super) struct Added {
    choice: u8,
    finished: bool,
}

impl Added {
    pub(super) const NOTHING: Added = Added { choice: NONE, finished: false };

    /// The facts of an event with one choice at most.
    pub(super) fn of(seen: &SeenChoices) -> Self {
        Added { choice: seen.all.first().unwrap_or(NONE), finished: !seen.finished.is_empty() }
    }

    pub(super) fn add_to(self, seen: &mut SeenChoices) {
        if self.choice != NONE {
            seen.add(self.choice.into(), self.finished);
        }
    }
}

/// A payload that is the first `len` of these bytes, and its name.
pub(super) struct Asked<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) len: usize,
    pub(super) name: &'b [u8],
}

impl Gap {
    /// The end of what lies in the hole, at the front of the bytes, and what is known of the text. In an event (`framed`) no
    /// line may end there.
    #[inline(always)]
    fn end<K: Kernel>(&self, bytes: &[u8], framed: bool, max_depth: u32) -> Option<(usize, u8)> {
        // Nearly always.
        match string::brief_end::<K>(bytes).filter(|_| self.fill == HoleKind::Text) {
            Some(end) => Some((end, 0)),
            None => self.odd_end(bytes, framed, max_depth),
        }
    }

    /// [`end`](Gap::end) of a text that is long or has more than printable ASCII, or is to be checked, and of what is no text.
    #[inline(never)]
    fn odd_end(&self, bytes: &[u8], framed: bool, max_depth: u32) -> Option<(usize, u8)> {
        match self.fill {
            HoleKind::Text | HoleKind::Checked => {
                let end = string::end(bytes, 0)?;
                // A CR or LF is a control character.
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

/// What of an event is compared with a template.
#[derive(Clone, Copy)]
pub(super) enum Extent {
    /// All of it.
    Event,
    /// The payload alone, without so many bytes of line ends behind it.
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
        added: Added::NOTHING,
        gaps: [Gap { before: 0, fill: HoleKind::Text }; HOLES],
        last: 0,
        shape: Shape::EMPTY,
        fixed: [0; FIXED],
    };

    /// Compares what is at the front of `bytes` with what is remembered, and notes in the index where its segments begin. Gives
    /// how long it is.
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
            (fixed, rest) = behind::<K>(fixed, rest, part)?;
            let (end, flags) = gap.end::<K>(rest, is_event, max_depth)?;
            rest = rest.get(end..)?;
            (*base, *text) = (origin.wrapping_sub(rest.len()) as u32, flags);
        }
        let (_, rest) = behind::<K>(fixed, rest, usize::from(self.last).checked_sub(skip)?.checked_sub(cut)?)?;
        Some(bytes.len().wrapping_sub(rest.len()))
    }

    /// [`compare`](Template::compare) of a payload alone, all of it, and of its name.
    #[inline(always)]
    pub(super) fn compare_payload<K: Kernel>(
        &self,
        asked: &Asked<'_>,
        max_depth: u32,
        index: &mut Index,
    ) -> Option<()> {
        let Asked { bytes, len, name } = *asked;
        if name.len() != usize::from(self.framing.name) {
            return None;
        }
        let before = usize::from(self.framing.lead).checked_sub(usize::from(self.framing.behind_name));
        if !name.is_empty() && !self.fixed.get(before?..)?.starts_with(name) {
            return None;
        }
        // What lies behind the payload is only loaded: whatever ends there makes this longer.
        let end = self.compare::<K>(bytes, Extent::Payload { tail: self.framing.tail }, max_depth, index)?;
        (end == len).then_some(())
    }

    /// Keeps a payload without its holes: all of it fits. If it did not, the template would be free.
    pub(super) fn learn(&mut self, shape: Shape, payload: &[u8], holes: &[Hole], name: &[u8], envelope: Envelope) {
        self.len = 0;
        self.shape = shape;
        self.framing = envelope.framing(name);
        if let Some(len) = self.put(payload, holes, name, envelope) {
            (self.len, self.count, self.proved) = (len, holes.len() as u8, false);
        }
    }

    /// Puts the parts of an event one behind the other. Gives how long those of the payload are.
    fn put(&mut self, payload: &[u8], holes: &[Hole], name: &[u8], envelope: Envelope) -> Option<u16> {
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

/// What follows the next `len` bytes, in what is remembered and in what is at hand, if they are the same in both.
#[inline(always)]
fn behind<'f, 'b, K: Kernel>(fixed: &'f [u8], bytes: &'b [u8], len: usize) -> Option<(&'f [u8], &'b [u8])> {
    visit!(len.min(bytes.len()));
    let ((part, fixed), (here, rest)) = (fixed.split_at_checked(len)?, bytes.split_at_checked(len)?);
    K::same(part, here).then_some((fixed, rest))
}

/// Returns the length of an event outside its holes.
pub(super) fn fixed_len(payload: &[u8], holes: &[Hole], name: &[u8], envelope: Envelope) -> usize {
    let filled = holes.iter().fold(0_usize, |sum, hole| sum.saturating_add(hole.end.saturating_sub(hole.start)));
    let framed = envelope.lead(name).saturating_add(envelope.tail().len());
    payload.len().saturating_sub(filled).saturating_add(framed)
}

/// Puts a part behind the first `at` bytes. Gives where it ends.
fn append(fixed: &mut [u8], at: usize, part: &[u8]) -> Option<usize> {
    let end = at.checked_add(part.len())?;
    for (to, from) in fixed.get_mut(at..end)?.iter_mut().zip(part) {
        *to = *from;
    }
    Some(end)
}

/// The end of the whole number at the front of the bytes, if it is written as one.
fn number_end(bytes: &[u8]) -> Option<usize> {
    let digits = bytes.iter().take(DIGITS.saturating_add(1)).take_while(|byte| byte.is_ascii_digit()).count();
    let sound = digits == 1 || bytes.first() != Some(&b'0');
    // What comes behind it is compared next, and is no digit.
    (sound && digits > 0 && digits <= DIGITS).then_some(digits)
}
