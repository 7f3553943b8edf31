//! The template memo: an event that differs from an earlier one only in a few texts is not parsed again.
//!
//! A template keeps the payload of an event without its holes ([`Holes`]), and its index. If the next payload equals it outside
//! the holes, and every hole contains a value of the expected kind, a full parse would give the same index, with other
//! bases. So the memo is quicker, never different.
//!
//! An event that lies whole in the window is recognised with its framing, before it is cut into lines; an event that a slice
//! cut, at its end, when it is put together.

use crate::chat::index::SeenChoices;
use crate::chat::shape::{Changing, HoleKind, Holes, Shape};
use crate::chat::Index;
use crate::dialect::{Counts, Protocol};
use crate::hash::fnv;
use crate::scan::{
    block64::{Kernel, Task},
    find,
    target::Target,
};
use crate::sse::Ended;
use crate::visits::visit;
use core::num::NonZeroUsize;
use envelope::{Envelope, Lengths, UNSPACED};
use template::{fixed_len, Added, Asked, Extent, Template, FIXED};

mod envelope;
mod template;

pub(super) use envelope::HEAD;
pub(super) use template::{Terms, NONE};

/// To find more holes costs as much as a reading: a payload from this length on, with more than [`FIXED`] bytes outside its holes, is
/// not searched for any.
const LONG: usize = 4 * FIXED;

/// After so many unrecognised events in a row, only every sixteenth is compared.
const PATIENCE: u8 = 32;
const IDLE: u8 = 15;

/// A template that was recognised before is replaced only after so many unrecognised events in a row.
const LOYALTY: u8 = 3;

/// The most events that pass before the memo learns again.
const LONGEST_WAIT: u8 = 250;

/// How many bytes behind a payload are of use: what a kernel loads at once.
pub(super) const MORE: usize = 32;

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

/// What a memo expects of a machine's next events. It decides which template is compared first, and how often, and nothing
/// else.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expectation {
    last: u8,
    unknown: u8,
    idle: u8,
}

impl Expectation {
    pub(super) const NOTHING: Expectation = Expectation { last: 0, unknown: 0, idle: 0 };
}

/// The templates.
#[derive(Clone, Debug)]
pub(super) struct Memo<const SLOTS: usize> {
    /// The template that matched last.
    last: u8,
    /// The template that recognised the event in the machine's index, if one did.
    current: u8,
    /// The template whose shape is in the machine's index, but for the places of its segments.
    unpacked: u8,
    /// The template that is compared first behind an event that one recognised.
    expected: u8,
    /// The template that is replaced next.
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
    /// Copied from the [`Template`] that recognised the last event: its framing, and whether the event is of another protocol than chat
    /// completions.
    framing: Lengths,
    is_native: bool,
    /// The terms and the protocol, if it was known, of the machine that the templates were lent to.
    terms: Terms,
    protocol: Option<Protocol>,
    /// A bit for each template that may be compared.
    usable: u8,
    /// A bit for each template that recognised events and is not current any more.
    recognised: u8,
    /// The framing of the next event that is learned.
    envelope: Envelope,
    changing: Changing,
    /// Hashes of `id` and `created` of the payload learned last.
    before: [u16; 2],
    has_before: bool,
    templates: [Template; SLOTS],
}

/// Tries the template that followed the current one last time, then the others. One loop, so that the comparison is compiled into it
/// once. A macro, because a closure is not inlined into a function that is compiled for more than the target guarantees.
macro_rules! find {
    ($memo:ident, $index:ident, $template:ident => $compare:expr) => {{
        let first = if $memo.current == NONE { NONE } else { $memo.expected };
        let mut number = first;
        loop {
            let found = match $memo.templates.get(usize::from(number)) {
                Some($template) => $compare,
                None => None,
            };
            if found.is_some() {
                if number != $memo.current {
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
        recognised: 0,
        envelope: Envelope::USUAL,
        changing: Changing::NOTHING,
        before: [0; 2],
        has_before: false,
        templates: [const { Template::EMPTY }; SLOTS],
    };

    /// Templates that several parsers share.
    pub(super) const SHARED: Memo<SLOTS> = Memo { changing: Changing::ALL, ..Memo::NEW };

    /// Lends a machine the templates that were learned on its terms and are of its protocol. There are none before its protocol is
    /// known.
    pub(super) fn lend(&mut self, terms: Terms, protocol: Option<Protocol>, expectation: Expectation) {
        let is_usable = |template: &Template| {
            template.len > 0
                && template.terms == terms
                && Some(template.shape.protocol().unwrap_or(Protocol::Chat)) == protocol
        };
        // Nearly always the machine before had the same. What it learned before its protocol was known counts for none.
        if terms != self.terms || protocol != self.protocol || protocol.is_none() {
            (self.terms, self.protocol, self.usable) = (terms, protocol, 0);
            for (template, bit) in self.templates.iter().zip(0..8) {
                self.usable |= u8::from(is_usable(template)) << bit;
            }
        }
        // It is 0 as soon as an event of this loan is recognised.
        (self.unknown, self.idle, self.recognised) = (expectation.unknown.max(1), expectation.idle, 0);
        self.last = if self.may_use(expectation.last) { expectation.last } else { NONE };
        self.expected = self.last;
    }

    /// Makes the template the first to be compared that recognised the last event of the machine.
    pub(super) fn prepare(&mut self, index: &mut Index) {
        if self.last != NONE && self.last != self.current {
            self.unpack(self.last, index);
        }
    }

    /// Returns what to expect when the templates are lent to the same machine again.
    pub(super) fn expectation(&self) -> Expectation {
        Expectation { last: self.last, unknown: self.unknown, idle: self.idle }
    }

    /// Whether several parsers share the templates.
    #[inline(always)]
    pub(super) fn is_shared(&self) -> bool {
        self.terms != Terms::OWN
    }

    /// Whether a template may be compared.
    fn may_use(&self, number: u8) -> bool {
        number < 8 && self.usable >> (number & 7) & 1 != 0
    }

    /// Returns the facts that the events recognised since the last call add to their stream.
    pub(super) fn take_added(&mut self) -> SeenChoices {
        let (mut seen, recognised) = (SeenChoices::default(), core::mem::take(&mut self.recognised));
        // Another machine may have left the shape that is current: it counts only if an event of this loan was recognised.
        let current = if self.unknown == 0 { self.current } else { NONE };
        for (template, number) in self.templates.iter().zip(0..8) {
            if recognised >> number & 1 != 0 || number == current {
                template.added.add_to(&mut seen);
            }
        }
        seen
    }

    /// Forgets what a step that is taken back may have learned: its event was never emitted.
    pub(super) fn take_back(&mut self) {
        if self.is_shared() {
            // A shared template may stay: the machine that it recognises an event for adds the facts of that event.
            self.current = NONE;
        } else {
            *self = Memo::NEW;
        }
    }

    /// Whether an event as short as this could be recognised.
    #[inline(always)]
    pub(super) fn may_know(&self, len: usize) -> bool {
        SLOTS > 0 && len >= usize::from(self.shortest)
    }

    /// The template that recognised the last event, if one did.
    #[inline(always)]
    pub(super) fn current(&self) -> u8 {
        self.current
    }

    /// The index was read anew, or is about to be.
    #[inline]
    pub(super) fn forget_shown(&mut self) {
        (self.current, self.unpacked) = (NONE, NONE);
    }

    /// The event that was just recognised is left to a full reading. `before` is the template that recognised the event before it.
    #[cold]
    pub(super) fn refuse(&mut self, before: u8) {
        self.current = before;
        self.leave_current();
        self.unpacked = NONE;
    }

    /// Recognises the event at the front of `bytes`, and makes `index` its index.
    #[inline(always)]
    pub(super) fn event(&mut self, index: &mut Index, bytes: &[u8], max_depth: u32) -> Option<Hit> {
        if self.idle > 0 {
            self.idle = self.idle.wrapping_sub(1);
            return None;
        }
        let end = Target::best(FindEvent { memo: self, index, bytes, max_depth })?.get();
        let Lengths { lead, tail, ended, .. } = self.framing;
        let start = usize::from(lead);
        let len = end.wrapping_sub(start).wrapping_sub(usize::from(tail));
        Some(Hit { start, len, end, ended, is_native: Protocol::HAS_READERS && self.is_native })
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
        Target::best(FindPayload { memo: self, index, asked: &asked, max_depth })
    }

    /// How long the name of the event that was recognised is, and how far before its payload it begins.
    pub(super) fn name(&self) -> (usize, usize) {
        (usize::from(self.framing.name), usize::from(self.framing.behind_name))
    }

    /// The token counts of the payload that was recognised, if they are in holes.
    #[inline(never)]
    pub(super) fn counts(&self, index: &Index, payload: &[u8]) -> Option<Counts> {
        let template = self.templates.get(usize::from(self.current))?;
        let mut counts = None;
        for (gap, base) in template.gaps.iter().zip(index.bases.iter().skip(1)).take(usize::from(template.count)) {
            let HoleKind::Count(place) = gap.fill else { continue };
            let before = payload.get(..*base as usize)?;
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

    /// The template to try after `number`, of which `first` was tried first.
    #[inline(never)]
    fn next_of(&mut self, first: u8, number: u8) -> Option<u8> {
        // If another template matches, it overwrites these segments.
        self.leave_current();
        let from = if number == first { 0 } else { number.wrapping_add(1) };
        let templates = self.templates.iter().zip(0..).skip(usize::from(from));
        let may_match = |template: &Template, at| at != first && template.len > 0 && self.may_use(at);
        let next = templates.filter(|(template, at)| may_match(template, *at)).map(|(_, at)| at).next();
        if next.is_none() {
            // A stream whose events are not alike is not to pay for looking.
            self.unknown = self.unknown.saturating_add(1);
            self.idle = if self.unknown > PATIENCE { IDLE } else { 0 };
        }
        next
    }

    /// Another template becomes the current one, or none.
    fn leave_current(&mut self) {
        if self.is_shared() && self.unknown == 0 && self.current < 8 {
            self.recognised |= 1 << (self.current & 7);
        }
        self.current = NONE;
    }

    /// Puts the shape of this template, which matched, into the index.
    #[inline(never)]
    fn show(&mut self, number: u8, index: &mut Index) {
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

    /// Whether the events so far had [`HEAD`] before the payload and these line ends behind it.
    #[inline(always)]
    pub(super) fn has_envelope(&self, ends: [u8; 3]) -> bool {
        let envelope = &self.envelope;
        usize::from(envelope.head) == HEAD.len() && envelope.ends == ends
    }

    /// Notes how an event was framed.
    pub(super) fn note_envelope(&mut self, event: &[u8], start: usize, len: usize, name: &[u8]) {
        if let Some(envelope) = Envelope::of(event, start, len, name).filter(|envelope| *envelope != self.envelope) {
            self.envelope = envelope;
        }
    }

    /// Forgets all templates, because the stream may not read such events the same way any more. Shared templates stay: none is
    /// learned from an event whose reading can change. Only a stream with odd indexes of output items may not use them any more.
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
        self.forget_shown();
        self.shortest = u16::MAX;
    }

    /// Whether to learn the next event that is parsed.
    #[inline]
    pub(super) fn wants(&mut self) -> bool {
        if SLOTS == 0 {
            return false;
        }
        let wants = self.wait == 0;
        self.wait = self.wait.saturating_sub(1);
        wants
    }

    /// Learns a payload that was read, all of it.
    #[inline(never)]
    pub(super) fn learn(&mut self, index: &Index, payload: &[u8], name: &[u8], is_strict: bool, seen: &SeenChoices) {
        if self.try_learn(index, payload, name, is_strict, seen).is_none() {
            self.learn_less_often();
        }
        self.wait = self.penalty;
    }

    /// Lengthens the wait between attempts to learn: the last one gave no template, or one that was never recognised.
    fn learn_less_often(&mut self) {
        self.penalty = self.penalty.saturating_mul(4).saturating_add(3).min(LONGEST_WAIT);
    }

    fn try_learn(
        &mut self,
        index: &Index,
        payload: &[u8],
        name: &[u8],
        is_strict: bool,
        seen: &SeenChoices,
    ) -> Option<()> {
        if index.facts.error || self.is_shared() && index.has_native_arguments() {
            // Their reading depends on the events before them.
            return Some(());
        }
        let Some(place) = self.place() else { return Some(()) };
        // In one event these bytes would be another payload: of several lines, or with a space that is taken off.
        let lost_space = self.envelope.head == UNSPACED && payload.first() == Some(&b' ');
        if payload.len() > usize::from(u16::MAX) || lost_space || find::line_end(payload).is_some() {
            return None;
        }
        self.note_changes(index, payload);
        let mut holes = Holes::of(index, payload, self.changing, is_strict)?;
        let envelope = self.envelope;
        if fixed_len(payload, holes.as_slice(), name, envelope) > FIXED {
            // Not in a long one: to look for them takes as long as to read it.
            Some(()).filter(|()| payload.len() < LONG)?;
            holes.add_filter_results(payload)?;
            if fixed_len(payload, holes.as_slice(), name, envelope) > FIXED {
                return None;
            }
        }
        // The longest that a template keeps.
        u8::try_from(envelope.lead(name)).ok()?;
        let mut shape = Shape::EMPTY;
        shape.keep(index, payload, holes.as_slice())?;
        let alike = self.note_alike(place, &shape);
        let template = self.templates.get_mut(place)?;
        (template.alike, template.followed_by) = (alike, place as u8);
        let was_useless = template.len > 0 && !template.proved;
        template.learn(shape, payload, holes.as_slice(), name, envelope);
        (template.terms, template.added) = (self.terms, Added::of(seen));
        self.usable |= 1_u8.wrapping_shl(place as u32);
        self.next = place.wrapping_add(1) as u8;
        let shortest = self.templates.iter().filter(|template| template.len > 0).map(|template| template.len).min();
        self.shortest = shortest.unwrap_or(u16::MAX);
        if was_useless {
            self.learn_less_often();
        }
        Some(())
    }

    /// Notes which templates have the same shape as this one is about to get, but for the number.
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

    /// The template for another payload: one that is free, or was never recognised. If all are in use, one is replaced only when
    /// nothing is recognised any more: with more shapes in turn than templates, the templates keep what they have.
    fn place(&self) -> Option<usize> {
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
        find!(memo, index, template => template.compare_payload::<K>(asked, max_depth, index)).is_some()
    }
}

/// The search of [`Memo::event`]. A function of its own, so that all registers are for it.
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
        find!(memo, index, template => template.compare::<K>(bytes, Extent::Event, max_depth, index))
            .and_then(NonZeroUsize::new)
    }
}

/// A collision costs a missing hole, no more.
fn hash(text: &[u8]) -> u16 {
    visit!(text.len());
    let hash = fnv(text);
    (hash ^ hash >> 16) as u16
}

#[cfg(test)]
mod tests;
