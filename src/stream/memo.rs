//! The template memo: an event that differs from an earlier one only in a few texts is not parsed again.
//!
//! A slot keeps the payload of an event without its holes ([`Holes`]), and its index. If the next payload equals it outside
//! the holes, and every hole contains a value of the expected kind, a full parse would give the same index, with other
//! bases. So the memo is quicker, never different.
//!
//! An event that lies whole in the window is recognised with its framing, before it is cut into lines; an event that a slice
//! cut, at its end, when it is put together.

use super::config::{self, Config, Payload, Validate};
use crate::chat::index::Seen;
use crate::chat::shape::{Changing, Fill, Hole, Holes, Shape, HOLES};
use crate::chat::Index;
use crate::dialect::{Counts, Protocol};
use crate::json::{strict_string_end, TextFlags};
use crate::scan::{
    block64::{Kernel, Task},
    container, find,
    native::Native,
    string,
};
use crate::sse::Ended;
use crate::visits::visit;
use core::num::NonZeroUsize;

/// The most bytes that an event has outside its holes, to be learned.
const FIXED: usize = 416;

/// From this length on, an event with more outside its holes is not searched for further ones.
const LONG: usize = 4 * FIXED;

/// What may stand before a payload.
pub(super) const HEAD: &[u8; 6] = b"data: ";

/// How long it is without the space.
const UNSPACED: u8 = 5;

/// The most digits of a number in a hole: what fits 64 bits.
const DIGITS: usize = 19;

/// After so many unrecognised events in a row, only every sixteenth is compared.
const PATIENCE: u8 = 32;
const IDLE: u8 = 15;

/// A slot that was recognised before is replaced only after so many unrecognised events in a row.
const LOYALTY: u8 = 3;

/// The most events that pass before the memo learns again.
const LONGEST_WAIT: u8 = 250;

/// How many bytes behind a payload are of use: what a kernel loads at once.
pub(super) const MORE: usize = 32;

/// No slot.
pub(super) const NONE: u8 = u8::MAX;

/// An event that was recognised.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    /// Where its payload begins, and how long it is.
    pub(super) start: usize,
    pub(super) len: usize,
    /// One past the line ends behind it.
    pub(super) end: usize,
    /// The last of them.
    pub(super) ended: Ended,
    /// It is of another protocol than chat completions.
    pub(super) is_native: bool,
}

/// How events are framed: what stands before a payload, and the line ends behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Framing {
    /// `data:`, with or without a space.
    head: u8,
    /// The line ends; 0 if there is no third.
    ends: [u8; 3],
}

/// A hole of a template, and the part before it, which does not change.
#[derive(Clone, Copy, Debug)]
struct Gap {
    /// How long the part is.
    before: u16,
    /// Where in the payload that was learned the hole ended.
    end: u16,
    fill: Fill,
}

/// A template: an event without its holes, and the shape of its payload.
#[derive(Clone, Debug)]
struct Slot {
    /// How long the payload is without its holes. 0: the slot is free.
    len: u16,
    count: u8,
    /// It was recognised at least once.
    proved: bool,
    /// How long what stands before the payload is, and the name in it.
    lead: u8,
    name: u8,
    /// How long what stands from there on before the payload is.
    behind_name: u8,
    /// How long the line ends behind the payload are, and how the last ended.
    tail: u8,
    ended: Ended,
    terms: Terms,
    said: Said,
    gaps: [Gap; HOLES],
    /// How long the part behind the holes is.
    last: u16,
    shape: Shape,
    /// The parts, one behind the other: the first with what stands before the payload, the last with the line ends behind it.
    fixed: [u8; FIXED],
}

/// What the configuration has of that on which the reading of an event depends. In templates that several parsers share no
/// event is recognised that was learned on other terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Terms(u16);

impl Terms {
    /// Those of templates that one machine has for itself.
    const OWN: Terms = Terms(0);

    pub(super) fn shared(config: &Config) -> Self {
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

/// What the event that was learned says of its stream, beside its deltas: its choice, if it has one, and whether that is
/// finished.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said {
    choice: u8,
    finished: bool,
}

impl Said {
    const NOTHING: Said = Said { choice: NONE, finished: false };

    /// Of an event with one choice at most.
    fn of(seen: &Seen) -> Self {
        Said { choice: seen.all.first().unwrap_or(NONE), finished: !seen.finished.is_empty() }
    }

    fn add_to(self, seen: &mut Seen) {
        if self.choice != NONE {
            seen.add(self.choice.into(), self.finished);
        }
    }
}

/// What a memo expects of the events to come: it decides what is compared first and how often, nothing else.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hints {
    last: u8,
    unknown: u8,
    idle: u8,
}

impl Hints {
    pub(super) const NOTHING: Hints = Hints { last: 0, unknown: 0, idle: 0 };
}

/// The templates.
#[derive(Clone, Debug)]
pub(super) struct Memo<const SLOTS: usize> {
    /// The slot that matched last.
    last: u8,
    /// The slot whose shape is in the machine's index.
    shown: u8,
    /// The slot that is replaced next.
    next: u8,
    /// How many events pass before one is learned.
    wait: u8,
    /// How many events pass after each learning; grows when a template was learned and never recognised.
    penalty: u8,
    /// Unrecognised events in a row.
    unknown: u8,
    /// How many events pass before another is compared.
    idle: u8,
    /// The shortest payload that could be recognised.
    shortest: u16,
    /// Of the slot whose shape is shown: how long what stands before its payload is, the name in it, and what stands from there
    /// on; how long the line ends behind it are, and how the last ended; whether it is of another protocol than chat
    /// completions.
    lead: u8,
    name: u8,
    behind_name: u8,
    tail: u8,
    ended: Ended,
    is_native: bool,
    /// On which terms the next event is learned, and the protocol of the machine that they were lent to, if that was known.
    terms: Terms,
    protocol: Option<Protocol>,
    /// The slots that may be compared, a bit each.
    usable: u8,
    /// The slots that recognised events and are not shown any more, a bit each.
    recognised: u8,
    /// The framing of the next event that is learned.
    framing: Framing,
    changing: Changing,
    /// Hashes of `id` and `created` of the payload learned last.
    before: [u16; 2],
    has_before: bool,
    slots: [Slot; SLOTS],
}

impl Framing {
    const USUAL: Framing = Framing { head: 6, ends: *b"\n\n\0" };

    /// The framing of an event, if it has just that payload.
    fn of(event: &[u8], start: usize, len: usize, name: &[u8]) -> Option<Self> {
        let (before, rest) = event.split_at_checked(start)?;
        let tail = rest.get(len..)?;
        let ends = match *tail {
            [first, second] => [first, second, 0],
            [first, second, third] => [first, second, third],
            _ => return None,
        };
        let framing = Framing { head: if before.ends_with(HEAD) { HEAD.len() as u8 } else { UNSPACED }, ends };
        let rest = framing.before(name).iter().try_fold(before, |rest, part| rest.strip_prefix(*part))?;
        (rest.is_empty() && tail.iter().all(|byte| matches!(byte, b'\n' | b'\r'))).then_some(framing)
    }

    /// The line ends behind a payload.
    fn tail(&self) -> &[u8] {
        self.ends.strip_suffix(b"\0").unwrap_or(&self.ends)
    }

    /// How the last of them ended.
    fn ended(&self) -> Ended {
        match self.tail() {
            b"\r\n\r" => Ended::CrBehindCrLf,
            b"\r\r" => Ended::CrBehindCr,
            [.., b'\r'] => Ended::Cr,
            _ => Ended::Alone,
        }
    }

    /// What stands before a payload with this name, in parts: the line of the name, if there is one, and the head.
    fn before<'n>(&'n self, name: &'n [u8]) -> [&'n [u8]; 4] {
        let head = HEAD.get(..usize::from(self.head)).unwrap_or_default();
        if name.is_empty() {
            return [b"", b"", b"", head];
        }
        let field = if self.head == UNSPACED { &b"event:"[..] } else { b"event: " };
        [field, name, self.ends.get(..usize::from(self.line_end())).unwrap_or_default(), head]
    }

    /// How long that is.
    fn lead(&self, name: &[u8]) -> usize {
        self.before(name).iter().map(|part| part.len()).sum()
    }

    /// How long what stands from the beginning of a name of this length to the payload is.
    fn behind_name(&self, name: usize) -> usize {
        name.wrapping_add(usize::from(self.line_end())).wrapping_add(usize::from(self.head))
    }

    /// How long a line end is.
    fn line_end(&self) -> u8 {
        if self.ends.starts_with(b"\r\n") {
            2
        } else {
            1
        }
    }
}

impl Gap {
    /// The end of what lies in the hole, at the front of the bytes, and what is known of the text. In an event (`framed`) no
    /// line may end there.
    #[inline(always)]
    fn end<K: Kernel>(&self, bytes: &[u8], framed: bool, max_depth: u32) -> Option<(usize, u8)> {
        // Nearly always.
        match string::brief_end::<K>(bytes).filter(|_| self.fill == Fill::Text) {
            Some(end) => Some((end, 0)),
            None => self.odd_end(bytes, framed, max_depth),
        }
    }

    /// [`end`](Gap::end) of a text that is long or has more than printable ASCII, or is to be checked, and of what is no text.
    #[inline(never)]
    fn odd_end(&self, bytes: &[u8], framed: bool, max_depth: u32) -> Option<(usize, u8)> {
        match self.fill {
            Fill::Text | Fill::Checked => {
                let end = string::end(bytes, 0)?;
                // A CR or LF is a control character.
                if framed && end.control {
                    return None;
                }
                let flags = TextFlags::of(&end).bits() as u8;
                let is_sound = || strict_string_end(bytes, 0) == Ok(end.at.wrapping_add(1));
                (self.fill == Fill::Text || flags == 0 || is_sound()).then_some((end.at, flags))
            }
            Fill::Number | Fill::Count(_) => number_end(bytes).map(|end| (end, 0)),
            Fill::Spaces => Some((bytes.iter().take_while(|byte| **byte == b' ').count(), 0)),
            Fill::Container(depth) => {
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
enum Extent {
    /// All of it.
    Event,
    /// The payload alone, without so many bytes of line ends behind it.
    Payload { tail: u8 },
}

impl Slot {
    const EMPTY: Slot = Slot {
        len: 0,
        count: 0,
        proved: false,
        lead: 0,
        name: 0,
        behind_name: 0,
        tail: 0,
        ended: Ended::Alone,
        terms: Terms::OWN,
        said: Said::NOTHING,
        gaps: [Gap { before: 0, end: 0, fill: Fill::Text }; HOLES],
        last: 0,
        shape: Shape::EMPTY,
        fixed: [0; FIXED],
    };

    /// Compares what is at the front of `bytes` with what is remembered, and notes in the index where its segments begin. Gives
    /// how long it is.
    #[inline(always)]
    fn compare<K: Kernel>(&self, bytes: &[u8], extent: Extent, max_depth: u32, index: &mut Index) -> Option<usize> {
        let (is_event, lead) = (matches!(extent, Extent::Event), usize::from(self.lead));
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
            (*base, *text) = ((origin.wrapping_sub(rest.len()) as u32).wrapping_sub(u32::from(gap.end)), flags);
        }
        let (_, rest) = behind::<K>(fixed, rest, usize::from(self.last).checked_sub(skip)?.checked_sub(cut)?)?;
        Some(bytes.len().wrapping_sub(rest.len()))
    }

    /// [`compare`](Slot::compare) of a payload alone, all of it, and of its name.
    #[inline(always)]
    fn compare_payload<K: Kernel>(&self, asked: &Asked<'_>, max_depth: u32, index: &mut Index) -> Option<()> {
        let Asked { bytes, len, name } = *asked;
        if name.len() != usize::from(self.name) {
            return None;
        }
        let before = usize::from(self.lead).checked_sub(usize::from(self.behind_name));
        if !name.is_empty() && !self.fixed.get(before?..)?.starts_with(name) {
            return None;
        }
        // What lies behind the payload is only loaded: whatever ends there makes this longer.
        let end = self.compare::<K>(bytes, Extent::Payload { tail: self.tail }, max_depth, index)?;
        (end == len).then_some(())
    }

    /// Keeps a payload without its holes: all of it fits. If it did not, the slot would be free.
    fn learn(&mut self, shape: Shape, payload: &[u8], holes: &[Hole], name: &[u8], framing: Framing) {
        self.len = 0;
        self.shape = shape;
        // No longer than the lead.
        self.behind_name = framing.behind_name(name.len()) as u8;
        (self.lead, self.name) = (framing.lead(name) as u8, name.len() as u8);
        (self.tail, self.ended) = (framing.tail().len() as u8, framing.ended());
        if let Some(len) = self.put(payload, holes, name, framing) {
            (self.len, self.count, self.proved) = (len, holes.len() as u8, false);
        }
    }

    /// Puts the parts of an event one behind the other. Gives how long those of the payload are.
    fn put(&mut self, payload: &[u8], holes: &[Hole], name: &[u8], framing: Framing) -> Option<u16> {
        let mut end = 0;
        for part in framing.before(name) {
            end = append(&mut self.fixed, end, part)?;
        }
        let (lead, mut begin, mut at) = (end, 0, 0);
        for (gap, hole) in self.gaps.iter_mut().zip(holes) {
            end = append(&mut self.fixed, end, payload.get(at..hole.start)?)?;
            let before = u16::try_from(end.checked_sub(begin)?).ok()?;
            *gap = Gap { before, end: u16::try_from(hole.end).ok()?, fill: hole.fill };
            (begin, at) = (end, hole.end);
        }
        end = append(&mut self.fixed, end, payload.get(at..)?)?;
        let len = u16::try_from(end.checked_sub(lead)?).ok()?;
        end = append(&mut self.fixed, end, framing.tail())?;
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

/// How long an event is outside its holes.
fn fixed_len(payload: &[u8], holes: &[Hole], name: &[u8], framing: Framing) -> usize {
    let filled = holes.iter().fold(0_usize, |sum, hole| sum.saturating_add(hole.end.saturating_sub(hole.start)));
    let framed = framing.lead(name).saturating_add(framing.tail().len());
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

/// Tries the slot that was right last, then the others. One loop, so that the comparison is compiled into it once. A macro,
/// because a closure is not inlined into a function that is compiled for more than the target guarantees.
macro_rules! find {
    ($memo:ident, $index:ident, $slot:ident => $compare:expr) => {{
        let first = if $memo.shown == $memo.last { $memo.last } else { NONE };
        let mut number = first;
        loop {
            let found = match $memo.slots.get(usize::from(number)) {
                Some($slot) => $compare,
                None => None,
            };
            if found.is_some() {
                if number != $memo.shown {
                    $memo.show(number, $index);
                }
                $memo.unknown = 0;
                break found;
            }
            match $memo.next_of(first, number) {
                Some(next) => number = next,
                None => break None,
            }
        }
    }};
}

impl<const SLOTS: usize> Memo<SLOTS> {
    pub(super) const NEW: Memo<SLOTS> = Memo {
        last: 0,
        shown: NONE,
        next: 0,
        wait: 0,
        penalty: 0,
        unknown: 0,
        idle: 0,
        shortest: u16::MAX,
        lead: 0,
        name: 0,
        behind_name: 0,
        tail: 0,
        ended: Ended::Alone,
        is_native: false,
        terms: Terms::OWN,
        protocol: None,
        usable: u8::MAX,
        recognised: 0,
        framing: Framing::USUAL,
        changing: Changing::NOTHING,
        before: [0; 2],
        has_before: false,
        slots: [const { Slot::EMPTY }; SLOTS],
    };

    /// Of templates that several parsers share.
    pub(super) const SHARED: Memo<SLOTS> = Memo { changing: Changing::ALL, ..Memo::NEW };

    /// Lends a machine the templates that were learned on its terms and are of its protocol. None are as long as that is not
    /// known.
    pub(super) fn lend(&mut self, terms: Terms, protocol: Option<Protocol>, hints: Hints) {
        let is_usable = |slot: &Slot| {
            slot.len > 0 && slot.terms == terms && Some(slot.shape.protocol().unwrap_or(Protocol::Chat)) == protocol
        };
        // Nearly always those of the machine before. What that one learned before its protocol was known is of none.
        if terms != self.terms || protocol != self.protocol || protocol.is_none() {
            (self.terms, self.protocol, self.usable) = (terms, protocol, 0);
            for (slot, bit) in self.slots.iter().zip(0..8) {
                self.usable |= u8::from(is_usable(slot)) << bit;
            }
        }
        // Not 0 before one was recognised.
        (self.unknown, self.idle, self.recognised) = (hints.unknown.max(1), hints.idle, 0);
        self.last = if self.may_use(hints.last) { hints.last } else { NONE };
    }

    /// Makes the template the first to be compared that recognised the last event of the machine.
    pub(super) fn prepare(&mut self, index: &mut Index) {
        if self.last != NONE && self.last != self.shown {
            self.unpack(self.last, index);
        }
    }

    /// What to expect when they are lent to the same machine again.
    pub(super) fn hints(&self) -> Hints {
        Hints { last: self.last, unknown: self.unknown, idle: self.idle }
    }

    /// Whether several parsers share the templates.
    #[inline(always)]
    pub(super) fn is_shared(&self) -> bool {
        self.terms != Terms::OWN
    }

    /// Whether a slot may be compared.
    fn may_use(&self, number: u8) -> bool {
        number < 8 && self.usable >> (number & 7) & 1 != 0
    }

    /// What the events that were recognised since this was asked say of their stream.
    pub(super) fn take_said(&mut self) -> Seen {
        let (mut seen, recognised) = (Seen::default(), core::mem::take(&mut self.recognised));
        for (slot, number) in self.slots.iter().zip(0..8) {
            if recognised >> number & 1 != 0 || number == self.shown {
                slot.said.add_to(&mut seen);
            }
        }
        seen
    }

    /// The step that was the last to learn is taken back.
    pub(super) fn take_back(&mut self) {
        if self.is_shared() {
            // Whoever recognises its event notes what that says.
            self.shown = NONE;
        } else {
            // It may have been of an event that was never emitted.
            *self = Memo::NEW;
        }
    }

    /// Whether an event as short as this could be recognised.
    #[inline(always)]
    pub(super) fn may_know(&self, len: usize) -> bool {
        SLOTS > 0 && len >= usize::from(self.shortest)
    }

    /// The slot that recognised the last event, if one did.
    #[inline(always)]
    pub(super) fn shown(&self) -> u8 {
        self.shown
    }

    /// The index was read anew, or is about to be.
    #[inline]
    pub(super) fn forget_shown(&mut self) {
        self.shown = NONE;
    }

    /// Recognises the event at the front of `bytes`, and makes `index` its index. Gives how long it is.
    #[inline(always)]
    fn find_event(&mut self, index: &mut Index, bytes: &[u8], max_depth: u32) -> Option<NonZeroUsize> {
        if self.idle > 0 {
            self.idle = self.idle.wrapping_sub(1);
            return None;
        }
        Native::best(FindEvent { memo: self, index, bytes, max_depth })
    }

    /// The same with what the caller wants to know of it.
    #[inline(always)]
    pub(super) fn event(&mut self, index: &mut Index, bytes: &[u8], max_depth: u32) -> Option<Hit> {
        self.find_event(index, bytes, max_depth).map(|end| self.hit(end.get()))
    }

    #[inline(always)]
    fn hit(&self, end: usize) -> Hit {
        let (start, tail) = (usize::from(self.lead), usize::from(self.tail));
        let len = end.wrapping_sub(start).wrapping_sub(tail);
        Hit { start, len, end, ended: self.ended, is_native: self.is_native }
    }

    /// Recognises the payload that is the first `len` of these bytes, and makes `index` its index. What lies behind it does not
    /// matter, but with [`MORE`] bytes of that a kernel loads the end of a payload as any other part.
    pub(super) fn payload(
        &mut self,
        index: &mut Index,
        (bytes, len): (&[u8], usize),
        name: &[u8],
        max_depth: u32,
    ) -> bool {
        if !self.may_know(len) {
            return false;
        }
        let asked = Asked { bytes, len, name };
        Native::best(FindPayload { memo: self, index, asked: &asked, max_depth })
    }

    /// How long the name of the event that was recognised is, and how far before its payload it begins.
    pub(super) fn name(&self) -> (usize, usize) {
        (usize::from(self.name), usize::from(self.behind_name))
    }

    /// The token counts of the payload that was recognised, if they are in holes.
    #[inline(never)]
    pub(super) fn counts(&self, index: &Index, payload: &[u8]) -> Option<Counts> {
        let slot = self.slots.get(usize::from(self.shown))?;
        let mut counts = None;
        for (gap, base) in slot.gaps.iter().zip(index.bases.iter().skip(1)).take(usize::from(slot.count)) {
            let Fill::Count(place) = gap.fill else { continue };
            let before = payload.get(..base.wrapping_add(u32::from(gap.end)) as usize)?;
            let (mut count, mut unit) = (0_u64, 1_u64);
            // At most 19 digits, which fit.
            for digit in before.iter().rev().map(|byte| byte.wrapping_sub(b'0')).take_while(|digit| *digit < 10) {
                count = count.wrapping_add(unit.wrapping_mul(u64::from(digit)));
                unit = unit.wrapping_mul(10);
            }
            counts.get_or_insert(Counts::NOTHING).set(usize::from(place), count);
        }
        counts
    }

    /// The slot to try after `number`, of which `first` was tried first.
    #[inline(never)]
    fn next_of(&mut self, first: u8, number: u8) -> Option<u8> {
        if self.is_shared() && self.unknown == 0 && self.shown < 8 {
            self.recognised |= 1 << (self.shown & 7);
        }
        // If another slot matches, it overwrites these segments.
        self.shown = NONE;
        let from = if number == first { 0 } else { number.wrapping_add(1) };
        let slots = self.slots.iter().zip(0..).skip(usize::from(from));
        let may_match = |slot: &Slot, at| at != first && slot.len > 0 && self.may_use(at);
        let next = slots.filter(|(slot, at)| may_match(slot, *at)).map(|(_, at)| at).next();
        if next.is_none() {
            // A stream whose events are not alike is not to pay for looking.
            self.unknown = self.unknown.saturating_add(1);
            self.idle = if self.unknown > PATIENCE { IDLE } else { 0 };
        }
        next
    }

    /// Puts the shape of this slot, which matched, into the index.
    #[inline(never)]
    fn show(&mut self, number: u8, index: &mut Index) {
        if let Some(slot) = self.slots.get_mut(usize::from(number)) {
            slot.proved = true;
        }
        self.unpack(number, index);
        (self.last, self.penalty) = (number, 0);
    }

    #[inline]
    fn unpack(&mut self, number: u8, index: &mut Index) {
        if let Some(slot) = self.slots.get(usize::from(number)) {
            slot.shape.recall(index);
            (self.lead, self.name, self.behind_name) = (slot.lead, slot.name, slot.behind_name);
            (self.tail, self.ended) = (slot.tail, slot.ended);
            self.is_native = index.plan.protocol.is_some();
        }
        self.shown = number;
    }

    /// Whether the events so far had [`HEAD`] before the payload and these line ends behind it.
    #[inline(always)]
    pub(super) fn is_framed(&self, ends: [u8; 3]) -> bool {
        let framing = &self.framing;
        usize::from(framing.head) == HEAD.len() && framing.ends == ends
    }

    /// Notes how an event was framed.
    pub(super) fn note_framing(&mut self, event: &[u8], start: usize, len: usize, name: &[u8]) {
        if let Some(framing) = Framing::of(event, start, len, name).filter(|framing| *framing != self.framing) {
            self.framing = framing;
        }
    }

    /// Forgets all templates, of which one may not be as the stream has it any more. Shared ones are not learned from an event
    /// of which that could be so.
    #[cold]
    pub(super) fn forget(&mut self) {
        if self.is_shared() {
            return;
        }
        self.slots.iter_mut().for_each(|slot| slot.len = 0);
        (self.shown, self.shortest) = (NONE, u16::MAX);
    }

    /// Whether to learn the next event that is parsed.
    #[inline]
    pub(super) fn wants(&mut self) -> bool {
        if SLOTS == 0 {
            return false;
        }
        let due = self.wait == 0;
        self.wait = self.wait.saturating_sub(1);
        due
    }

    /// Learns a payload that was read, all of it.
    #[inline(never)]
    pub(super) fn learn(&mut self, index: &Index, payload: &[u8], name: &[u8], is_strict: bool, seen: &Seen) {
        if self.try_learn(index, payload, name, is_strict, seen).is_none() {
            self.learned_in_vain();
        }
        self.wait = self.penalty;
    }

    /// Learns less often, the more often that did not pay.
    fn learned_in_vain(&mut self) {
        self.penalty = self.penalty.saturating_mul(4).saturating_add(3).min(LONGEST_WAIT);
    }

    fn try_learn(&mut self, index: &Index, payload: &[u8], name: &[u8], is_strict: bool, seen: &Seen) -> Option<()> {
        if self.is_shared() && (index.facts.error || index.has_native_arguments()) {
            // They depend on how the stream came to them.
            return Some(());
        }
        let Some(place) = self.place() else { return Some(()) };
        // In one event these bytes would be another payload: of several lines, or with a space that is taken off.
        let lost_space = self.framing.head == UNSPACED && payload.first() == Some(&b' ');
        if payload.len() > usize::from(u16::MAX) || lost_space || find::line_end(payload).is_some() {
            return None;
        }
        self.note_changes(index, payload);
        let mut holes = Holes::of(index, payload, self.changing, is_strict)?;
        let framing = self.framing;
        if fixed_len(payload, holes.as_slice(), name, framing) > FIXED {
            // Not in a long one: to look for them takes as long as to read it.
            Some(()).filter(|()| payload.len() < LONG)?;
            holes.add_filter_results(payload, is_strict)?;
            if fixed_len(payload, holes.as_slice(), name, framing) > FIXED {
                return None;
            }
        }
        // The longest that a slot keeps.
        u8::try_from(framing.lead(name)).ok()?;
        let mut shape = Shape::EMPTY;
        shape.keep(index, payload, holes.as_slice())?;
        let slot = self.slots.get_mut(place)?;
        let in_vain = slot.len > 0 && !slot.proved;
        slot.learn(shape, payload, holes.as_slice(), name, framing);
        (slot.terms, slot.said) = (self.terms, Said::of(seen));
        self.usable |= 1_u8.wrapping_shl(place as u32);
        self.next = place.wrapping_add(1) as u8;
        let shortest = self.slots.iter().filter(|slot| slot.len > 0).map(|slot| slot.len).min();
        self.shortest = shortest.unwrap_or(u16::MAX);
        if in_vain {
            // The template that was replaced was never recognised.
            self.learned_in_vain();
        }
        Some(())
    }

    /// The slot for another payload: one that is free, or was never recognised. If all are in use, one is replaced only when
    /// nothing is recognised any more: with more shapes in turn than slots, the slots keep what they have.
    fn place(&self) -> Option<usize> {
        let free = self.slots.iter().position(|slot| slot.len == 0);
        let unproved = || self.slots.iter().position(|slot| !slot.proved);
        let found = free.or_else(unproved);
        if found.is_some() || self.unknown < LOYALTY {
            return found;
        }
        let next = usize::from(self.next).checked_rem(SLOTS)?;
        if next == usize::from(self.last) {
            next.wrapping_add(1).checked_rem(SLOTS)
        } else {
            Some(next)
        }
    }

    /// Notes which members changed since a payload was learned last: they are holes from now on.
    fn note_changes(&mut self, index: &Index, payload: &[u8]) {
        let texts = Changing::texts(index, payload).map(hash);
        if self.has_before {
            let ([id, created], [id_now, created_now]) = (self.before, texts);
            self.changing.id |= id_now != id;
            self.changing.created |= created_now != created;
        }
        (self.before, self.has_before) = (texts, true);
    }
}

/// A payload that is the first `len` of these bytes, and its name.
struct Asked<'b> {
    bytes: &'b [u8],
    len: usize,
    name: &'b [u8],
}

/// [`Memo::payload`].
struct FindPayload<'m, const SLOTS: usize> {
    memo: &'m mut Memo<SLOTS>,
    index: &'m mut Index,
    asked: &'m Asked<'m>,
    max_depth: u32,
}

impl<const SLOTS: usize> Task for FindPayload<'_, SLOTS> {
    type Out = bool;

    #[inline(always)]
    fn run<K: Kernel>(self) -> bool {
        let FindPayload { memo, index, asked, max_depth } = self;
        find!(memo, index, slot => slot.compare_payload::<K>(asked, max_depth, index)).is_some()
    }
}

/// [`Memo::find_event`]. A function of its own, so that all registers are for it.
struct FindEvent<'m, const SLOTS: usize> {
    memo: &'m mut Memo<SLOTS>,
    index: &'m mut Index,
    bytes: &'m [u8],
    max_depth: u32,
}

impl<const SLOTS: usize> Task for FindEvent<'_, SLOTS> {
    type Out = Option<NonZeroUsize>;

    #[inline(always)]
    fn run<K: Kernel>(self) -> Self::Out {
        let FindEvent { memo, index, bytes, max_depth } = self;
        find!(memo, index, slot => slot.compare::<K>(bytes, Extent::Event, max_depth, index))
            .and_then(NonZeroUsize::new)
    }
}

/// FNV-1a. A collision costs a missing hole, no more.
fn hash(text: &[u8]) -> u16 {
    visit!(text.len());
    let hash = text.iter().fold(0x811c_9dc5_u32, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    (hash ^ hash >> 16) as u16
}

#[cfg(test)]
mod tests;
