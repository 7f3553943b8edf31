//! The template memo: an event that differs from an earlier one only in a few values is not parsed again.
//!
//! A template keeps an event without the values that may differ, its holes ([`Holes`]), and the index of its payload.
//! If an event equals the template outside the holes, and every hole contains a value of the expected kind, a full
//! parse would give the same index, shifted: only the bases, from which the offsets of the index count, are new. So the
//! memo changes the cost, never the result.
//!
//! An event that is whole in the window is compared together with its framing, before it is cut into lines. An event
//! that a slice cut is compared when its last line ends, as the payload that was collected in the storage.

use crate::chat::index::SeenChoices;
use crate::chat::shape::{Changing, HoleKind, Holes, Shape};
use crate::chat::Index;
use crate::dialect::{Protocol, TokenCounts};
use crate::hash::fnv;
use crate::scan::parts::FIXED;
use crate::scan::{block64::Kernel, find, target::Target};
use crate::sse::Ended;
use crate::visits::visit;
use core::num::NonZeroUsize;
use envelope::{Envelope, Lengths, UNSPACED};
use template::{fixed_len, Compare, Template, TemplateFacts};

mod envelope;
mod template;

pub(super) use envelope::DATA_PREFIX;
pub(super) use template::{Terms, NONE};

/// A payload that has at least this length, and more than [`FIXED`] bytes outside its holes, is not searched for
/// further holes, because that search costs as much as a full parse.
const LONG: usize = 4 * FIXED;

/// After this many unrecognized events in a row, only every sixteenth event is compared.
const PATIENCE: u8 = 32;

/// How many events are then not compared before the next one is.
const IDLE: u8 = 15;

/// A template that has recognized an event is replaced only after this many unrecognized events in a row.
const LOYALTY: u8 = 3;

/// The longest wait between two attempts to learn a template, in parsed events.
const LONGEST_WAIT: u8 = 250;

/// How many readable bytes should follow a payload, because a kernel loads this many at once.
pub(super) const READ_AHEAD: usize = 32;

/// An event that a template recognized, as offsets in the compared bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    /// Where the payload begins.
    pub(super) start: usize,
    /// The length of the payload.
    pub(super) len: usize,
    /// Where the event ends, after its line ends.
    pub(super) end: usize,
    /// How the last line ended.
    pub(super) ended: Ended,
    /// The event is of another protocol than chat completions.
    pub(super) is_native: bool,
}

/// The templates, each known by its number, and what decides which of them is compared first and which is replaced.
#[derive(Clone, Debug)]
pub(super) struct Memo<const SLOTS: usize> {
    /// The template that recognized an event last.
    last: u8,
    /// The template that recognized the event in the machine's index, or [`NONE`].
    current: u8,
    /// The template whose shape was restored to the machine's index last, or [`NONE`]. Only bases may have changed
    /// there since.
    unpacked: u8,
    /// The template to compare first, or [`NONE`].
    expected: u8,
    /// The template to replace next.
    next: u8,
    /// How many events are parsed before one is learned.
    wait: u8,
    /// `wait` after each attempt to learn. It grows when an attempt fails, or when a template is replaced that
    /// recognized nothing.
    penalty: u8,
    /// How many events in a row no template recognized.
    unknown: u8,
    /// How many events are not compared before another is.
    idle: u8,
    /// The shortest payload that a template could recognize.
    shortest: u16,
    /// A copy of the framing of `unpacked`.
    framing: Lengths,
    /// Whether `unpacked` is of another protocol than chat completions.
    is_native: bool,
    /// The terms of the machine that the templates are lent to.
    terms: Terms,
    /// The protocol of that machine's stream, if it is known.
    protocol: Option<Protocol>,
    /// A bit for each template that may be compared.
    usable: u8,
    /// A bit for each template that recognized an event of this loan and is no longer current.
    recognized: u8,
    /// The framing of the last event that was parsed. A template that is learned gets it.
    envelope: Envelope,
    changing: Changing,
    /// Hashes of `id` and `created` of the payload that was learned last, if `has_before`.
    before: [u16; 2],
    has_before: bool,
    templates: [Template; SLOTS],
}

impl<const SLOTS: usize> Memo<SLOTS> {
    pub(super) const NEW: Memo<SLOTS> = Memo {
        last: 0,
        current: NONE,
        unpacked: NONE,
        expected: NONE,
        next: 0,
        wait: 0,
        penalty: 0,
        unknown: 0,
        idle: 0,
        shortest: u16::MAX,
        framing: Lengths::NOTHING,
        is_native: false,
        terms: Terms::OWN,
        protocol: None,
        usable: u8::MAX,
        recognized: 0,
        envelope: Envelope::USUAL,
        changing: Changing::NOTHING,
        before: [0; 2],
        has_before: false,
        templates: [const { Template::EMPTY }; SLOTS],
    };

    /// Templates that several parsers share.
    pub(super) const SHARED: Memo<SLOTS> = Memo { changing: Changing::ALL, ..Memo::NEW };

    /// Lends a machine the templates that were learned on its terms and are of its protocol. A machine whose protocol
    /// is not known yet may use none. `own` is the memo of that machine, which has no templates.
    pub(super) fn lend(&mut self, terms: Terms, protocol: Option<Protocol>, own: &Memo<0>) {
        let is_usable = |template: &Template| {
            template.len > 0
                && template.terms == terms
                && Some(template.shape.protocol().unwrap_or(Protocol::Chat)) == protocol
        };
        // In the common case the machine before had the same terms and protocol, so `usable` is still right. It is not
        // if that machine learned templates before its protocol was known.
        if terms != self.terms || protocol != self.protocol || protocol.is_none() {
            (self.terms, self.protocol, self.usable) = (terms, protocol, 0);
            for (template, bit) in self.templates.iter().zip(0..8) {
                self.usable |= u8::from(is_usable(template)) << bit;
            }
        }
        // `unknown` is at least 1 until an event of this loan is recognized: `take_facts` relies on that.
        (self.unknown, self.idle, self.recognized) = (own.unknown.max(1), own.idle, 0);
        self.last = if self.may_use(own.last) { own.last } else { NONE };
        self.expected = self.last;
    }

    /// Restores the shape of the template that recognized the machine's last event, so that it is compared first.
    pub(super) fn prepare(&mut self, index: &mut Index) {
        if self.last != NONE && self.last != self.current {
            self.unpack(self.last, index);
        }
    }

    /// Keeps what `lent` learned about the stream, until the templates are lent again: which of them to compare first, and
    /// how often.
    pub(super) fn follow<const LENT: usize>(&mut self, lent: &Memo<LENT>) {
        (self.last, self.unknown, self.idle) = (lent.last, lent.unknown, lent.idle);
    }

    /// Whether several parsers share the templates.
    #[inline(always)]
    pub(super) fn is_shared(&self) -> bool {
        self.terms != Terms::OWN
    }

    /// Whether the template with this number may be compared.
    fn may_use(&self, number: u8) -> bool {
        number < 8 && self.usable >> (number & 7) & 1 != 0
    }

    /// Returns the facts that the events recognized since the last call add to their stream.
    pub(super) fn take_facts(&mut self) -> SeenChoices {
        let (mut seen, recognized) = (SeenChoices::default(), core::mem::take(&mut self.recognized));
        // The current template counts only if it recognized an event of this loan; another machine may have left it
        // current.
        let current = if self.unknown == 0 { self.current } else { NONE };
        for (template, number) in self.templates.iter().zip(0..8) {
            if recognized >> number & 1 != 0 || number == current {
                template.facts.add_to(&mut seen);
            }
        }
        seen
    }

    /// Forgets what an undone step may have learned, because its event was never emitted.
    pub(super) fn forget_undone_step(&mut self) {
        if self.is_shared() {
            // A shared template may stay: whenever it recognizes an event, the machine adds the facts of that event.
            (self.current, self.expected) = (NONE, NONE);
        } else {
            *self = Memo::NEW;
        }
    }

    /// Whether a template could recognize an event of this length.
    #[inline(always)]
    pub(super) fn may_recognize(&self, len: usize) -> bool {
        SLOTS > 0 && len >= usize::from(self.shortest)
    }

    /// The number of the template that recognized the event in the index, or [`NONE`].
    #[inline(always)]
    pub(super) fn current(&self) -> u8 {
        self.current
    }

    /// Notes that the index no longer has the shape of a template, because a pass fills it.
    #[inline]
    pub(super) fn forget_current(&mut self) {
        (self.current, self.unpacked, self.expected) = (NONE, NONE, NONE);
    }

    /// Leaves the event that was recognized last to a full reading. `before` is the template that recognized the event
    /// before it.
    #[cold]
    pub(super) fn refuse(&mut self, before: u8) {
        self.current = before;
        self.leave_current();
        self.unpacked = NONE;
    }

    /// Recognizes the event at the front of `bytes`, and makes `index` the index of its payload.
    #[inline(always)]
    pub(super) fn recognize_event(&mut self, index: &mut Index, bytes: &[u8], max_depth: u32) -> Option<Hit> {
        if self.idle > 0 {
            self.idle = self.idle.wrapping_sub(1);
            return None;
        }
        let compare = |template: &Template, index: &mut Index| {
            Target::best(Compare::<true> { template, bytes, max_depth, index })
        };
        let first = self.expected;
        let end = match self.templates.get(usize::from(first)).and_then(|template| compare(template, index)) {
            Some(end) => self.accept(first, index, end),
            None => self.search(first, index, compare)?,
        };
        let Lengths { lead, tail, ended, .. } = self.framing;
        let start = usize::from(lead);
        let len = end.get().wrapping_sub(start).wrapping_sub(usize::from(tail));
        Some(Hit { start, len, end: end.get(), ended, is_native: Protocol::HAS_READERS && self.is_native })
    }

    /// Recognizes the payload that is the first `len` of these bytes, and makes `index` its index. The bytes after it
    /// do not change the result, but [`READ_AHEAD`] of them make the comparison of its end faster.
    pub(super) fn recognize_payload(
        &mut self,
        index: &mut Index,
        (bytes, len): (&[u8], usize),
        name: &[u8],
        max_depth: u32,
    ) -> bool {
        if !self.may_recognize(len) {
            return false;
        }
        // The comparison may read past the payload. Then what it found is longer than `len`, so the bytes there cannot
        // cause a match.
        let compare = |template: &Template, index: &mut Index| {
            let compare = Compare::<false> { template, bytes, max_depth, index };
            let found = if template.has_name(name) { Target::best(compare) } else { None };
            found.filter(|end| end.get() == len)
        };
        let first = self.expected;
        match self.templates.get(usize::from(first)).and_then(|template| compare(template, index)) {
            Some(end) => self.accept(first, index, end).get() > 0,
            None => self.search(first, index, compare).is_some(),
        }
    }

    /// Makes the template that matched current.
    #[inline(always)]
    fn accept(&mut self, number: u8, index: &mut Index, end: NonZeroUsize) -> NonZeroUsize {
        if number != self.current {
            self.make_current(number, index);
        }
        self.unknown = 0;
        end
    }

    /// Compares the templates other than `first`, until one matches.
    #[inline(never)]
    fn search(
        &mut self,
        first: u8,
        index: &mut Index,
        compare: impl Fn(&Template, &mut Index) -> Option<NonZeroUsize>,
    ) -> Option<NonZeroUsize> {
        let mut number = first;
        loop {
            number = self.next_of(first, number)?;
            let found = self.templates.get(usize::from(number)).and_then(|template| compare(template, index));
            if let Some(end) = found {
                return Some(self.accept(number, index, end));
            }
        }
    }

    /// The length of the name of the event that was recognized, and the distance from the name's first byte to the
    /// payload.
    pub(super) fn name(&self) -> (usize, usize) {
        (usize::from(self.framing.name), usize::from(self.framing.name_to_payload))
    }

    /// The token counts of the payload that was recognized, if they are in holes.
    #[inline(never)]
    pub(super) fn counts(&self, index: &Index, payload: &[u8]) -> Option<TokenCounts> {
        let template = self.templates.get(usize::from(self.current))?;
        let mut counts = None;
        for (kind, base) in template.holes.iter().zip(index.bases.iter().skip(1)).take(template.parts.holes()) {
            let HoleKind::Count(place) = *kind else { continue };
            let before = payload.get(..*base as usize)?;
            let (mut count, mut unit) = (0_u64, 1_u64);
            // A hole has at most 19 digits, which fit 64 bits.
            for digit in before.iter().rev().map(|byte| byte.wrapping_sub(b'0')).take_while(|digit| *digit < 10) {
                count = count.wrapping_add(unit.wrapping_mul(u64::from(digit)));
                unit = unit.wrapping_mul(10);
            }
            counts.get_or_insert(TokenCounts::NOTHING).set(usize::from(place), Some(count));
        }
        counts
    }

    /// The template to compare after `number`, or `None` if all were compared. `first` was compared first.
    #[inline(never)]
    fn next_of(&mut self, first: u8, number: u8) -> Option<u8> {
        // The comparisons overwrite the bases in the index, so the current template no longer describes it.
        self.leave_current();
        let from = if number == first { 0 } else { number.wrapping_add(1) };
        let templates = self.templates.iter().zip(0..).skip(usize::from(from));
        let may_match = |template: &Template, at| at != first && template.len > 0 && self.may_use(at);
        let next = templates.filter(|(template, at)| may_match(template, *at)).map(|(_, at)| at).next();
        if next.is_none() {
            // A stream of unlike events should not pay for comparisons that fail.
            self.unknown = self.unknown.saturating_add(1);
            self.idle = if self.unknown > PATIENCE { IDLE } else { 0 };
        }
        next
    }

    /// Makes no template current. If the templates are shared, first notes that the current one recognized events.
    fn leave_current(&mut self) {
        if self.is_shared() && self.unknown == 0 && self.current < 8 {
            self.recognized |= 1 << (self.current & 7);
        }
        (self.current, self.expected) = (NONE, NONE);
    }

    /// Makes the template with this number current, because it matched, and restores its shape to the index.
    #[inline(never)]
    fn make_current(&mut self, number: u8, index: &mut Index) {
        self.leave_current();
        if let Some(before) = self.templates.get_mut(usize::from(self.last)) {
            before.followed_by = number;
        }
        self.unpack(number, index);
        let mut expected = number;
        if let Some(template) = self.templates.get_mut(usize::from(number)) {
            template.proved = true;
            expected = template.followed_by;
        }
        self.expected = if self.may_use(expected) { expected } else { number };
        (self.last, self.penalty) = (number, 0);
    }

    /// Restores the shape of a template to the index. If the shape in the index differs only in the number of its
    /// choice, only that number is restored.
    #[inline]
    fn unpack(&mut self, number: u8, index: &mut Index) {
        if let Some(template) = self.templates.get(usize::from(number)) {
            if self.unpacked < 8 && template.alike >> (self.unpacked & 7) & 1 != 0 {
                template.shape.restore_number(index);
            } else {
                template.shape.restore(index);
            }
            self.framing = template.framing;
            self.is_native = index.plan.protocol().is_some();
        }
        (self.current, self.unpacked, self.expected) = (number, number, number);
    }

    /// Whether the envelope that was noted last is [`DATA_PREFIX`], the payload, and these line ends.
    #[inline(always)]
    pub(super) fn has_envelope(&self, ends: [u8; 3]) -> bool {
        let envelope = &self.envelope;
        usize::from(envelope.prefix_len) == DATA_PREFIX.len() && envelope.ends == ends
    }

    /// Notes how an event was framed.
    pub(super) fn note_envelope(&mut self, event: &[u8], start: usize, len: usize, name: &[u8]) {
        if let Some(envelope) = Envelope::of(event, start, len, name).filter(|envelope| *envelope != self.envelope) {
            self.envelope = envelope;
        }
    }

    /// Forgets all templates, because the stream may read the same bytes differently from now on. Shared templates
    /// stay, because none was learned from an event whose reading can change; but a stream with odd indexes of output
    /// items (`is_odd`) can no longer use them.
    #[cold]
    pub(super) fn forget(&mut self, is_odd: bool) {
        if self.is_shared() {
            if is_odd {
                (self.protocol, self.usable) = (None, 0);
                self.leave_current();
            }
            return;
        }
        self.templates.iter_mut().for_each(|template| template.len = 0);
        self.forget_current();
        self.shortest = u16::MAX;
    }

    /// Whether to learn the event that was just parsed. Counts down the wait.
    #[inline]
    pub(super) fn wants(&mut self) -> bool {
        if SLOTS == 0 {
            return false;
        }
        let wants = self.wait == 0;
        self.wait = self.wait.saturating_sub(1);
        wants
    }

    /// Learns a template from a payload that the parser read to its end.
    #[inline(never)]
    pub(super) fn learn(&mut self, index: &Index, payload: &[u8], name: &[u8], is_strict: bool, seen: &SeenChoices) {
        if self.try_learn(index, payload, name, is_strict, seen).is_none() {
            self.learn_less_often();
        }
        self.wait = self.penalty;
    }

    /// Lengthens the wait between attempts to learn, after an attempt failed or replaced a template that recognized
    /// nothing.
    fn learn_less_often(&mut self) {
        self.penalty = self.penalty.saturating_mul(4).saturating_add(3).min(LONGEST_WAIT);
    }

    /// Learns a template. Returns `None` if the payload cannot become one, so that the next attempt should wait longer.
    fn try_learn(
        &mut self,
        index: &Index,
        payload: &[u8],
        name: &[u8],
        is_strict: bool,
        seen: &SeenChoices,
    ) -> Option<()> {
        if index.facts.error || self.is_shared() && index.has_native_arguments() {
            // How such an event is read depends on the events before it.
            return Some(());
        }
        let Some(place) = self.choose_slot() else { return Some(()) };
        // Written as one `data` line, these bytes would not be the same payload: a line end would split it, and a
        // leading space would be removed.
        let lost_space = self.envelope.prefix_len == UNSPACED && payload.first() == Some(&b' ');
        if payload.len() > usize::from(u16::MAX) || lost_space || find::line_end(payload).is_some() {
            return None;
        }
        self.note_changes(index, payload);
        let mut holes = Holes::of(index, payload, self.changing, is_strict)?;
        let envelope = self.envelope;
        if fixed_len(payload, holes.as_slice(), name, envelope) > FIXED {
            // In a long payload the search for more holes would cost as much as a parse.
            Some(()).filter(|()| payload.len() < LONG)?;
            holes.add_filter_results(payload)?;
            if fixed_len(payload, holes.as_slice(), name, envelope) > FIXED {
                return None;
            }
        }
        // A template keeps this length in a byte.
        u8::try_from(envelope.lead(name)).ok()?;
        let mut shape = Shape::EMPTY;
        shape.keep(index, payload, holes.as_slice())?;
        let alike = self.note_alike(place, &shape);
        let template = self.templates.get_mut(place)?;
        (template.alike, template.followed_by) = (alike, place as u8);
        let was_useless = template.len > 0 && !template.proved;
        template.learn(shape, payload, holes.as_slice(), name, envelope);
        (template.terms, template.facts) = (self.terms, TemplateFacts::of(seen));
        self.usable |= 1_u8.wrapping_shl(place as u32);
        self.next = place.wrapping_add(1) as u8;
        let shortest = self.templates.iter().filter(|template| template.len > 0).map(|template| template.len).min();
        self.shortest = shortest.unwrap_or(u16::MAX);
        if was_useless {
            self.learn_less_often();
        }
        Some(())
    }

    /// Notes which templates differ from `shape` only in the number of the choice. The template at `place` is about to
    /// get that shape.
    fn note_alike(&mut self, place: usize, shape: &Shape) -> u8 {
        let (mut alike, bit) = (0, 1_u8.wrapping_shl(place as u32));
        for (template, number) in self.templates.iter_mut().zip(0..8) {
            template.alike &= !bit;
            if number != place && template.len > 0 && template.shape.is_like(shape) {
                template.alike |= bit;
                alike |= 1 << number;
            }
        }
        alike
    }

    /// The place of the template to learn: one that is free, or one that has recognized nothing. If there is none of
    /// either, a template is replaced only after several unrecognized events in a row. So in a stream that alternates
    /// between more shapes than there are templates, the templates stay.
    fn choose_slot(&self) -> Option<usize> {
        let free = self.templates.iter().position(|template| template.len == 0);
        let unproved = || self.templates.iter().position(|template| !template.proved);
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

    /// Notes which members differ from those of the payload that was learned last. They are holes from now on.
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

/// A hash by which changes are noticed. A collision only delays a hole.
fn hash(text: &[u8]) -> u16 {
    visit!(text.len());
    let hash = fnv(text);
    (hash ^ hash >> 16) as u16
}

#[cfg(test)]
mod tests;
