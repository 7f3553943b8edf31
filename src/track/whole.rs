//! How much of a choice the messages so far reported, without their texts. Each later message must begin with the
//! reported part.

use super::call::Hash;
use super::surrogate::PendingSurrogate;
use crate::delta::{Delta, Kind, Part};

/// How much of each text of a choice was reported, and whether the things that are reported once were.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reach {
    /// The lengths of the decoded texts, in the order of [`PendingSurrogate::OF_CHOICE`].
    pub(crate) lens: [u32; 4],
    /// Whether the name of a function was reported. A later one must be the same.
    function_name: bool,
    /// Whether annotations or audio were reported. Those of later messages are not.
    annotations: bool,
    audio: bool,
}

impl Reach {
    /// Whether the name of a function, annotations or audio were reported. `false` for any other kind.
    pub(crate) fn has(&self, kind: Kind) -> bool {
        match kind {
            Kind::FunctionName => self.function_name,
            Kind::Annotation => self.annotations,
            Kind::Audio => self.audio,
            _ => false,
        }
    }

    /// Cuts the reported part off the front of a text of this kind.
    pub(crate) fn cut(&mut self, kind: Kind, part: &mut Part, payload: &[u8]) {
        if let Some(left) = of_kind(kind, &mut self.lens) {
            *left = left.saturating_sub(cut(part, payload, *left));
        }
    }
}

/// Cuts `len` decoded bytes off the front of a text, or as many as there are. Returns how many.
pub(crate) fn cut(part: &mut Part, payload: &[u8], len: u32) -> u32 {
    let mut text = part.text(payload);
    let taken = text.take_first(len, |_| {});
    *part = Part::of(payload, text);
    taken
}

/// Returns the entry for a kind of text, from entries in the order of [`PendingSurrogate::OF_CHOICE`].
fn of_kind<T>(kind: Kind, all: &mut [T; 4]) -> Option<&mut T> {
    let place = PendingSurrogate::OF_CHOICE.iter().position(|of| *of == kind)?;
    all.get_mut(place)
}

/// The state of a text while its message is read.
#[derive(Clone, Copy)]
struct Channel {
    hash: Hash,
    len: u32,
    /// How many decoded bytes of the text were reported.
    known: u32,
    /// The hash of the part that was reported, once that part is read.
    before: Option<Hash>,
    surrogate: PendingSurrogate,
}

impl Channel {
    /// Returns the state before the first byte of a text. `known` is how many bytes of the text were reported, or
    /// `None` if the text is new.
    fn new(known: Option<u32>) -> Self {
        let before = (known == Some(0)).then_some(Hash::EMPTY);
        Channel { hash: Hash::EMPTY, len: 0, known: known.unwrap_or(0), before, surrogate: PendingSurrogate::NONE }
    }

    fn add(&mut self, mut part: Part, payload: &[u8]) {
        self.surrogate.join(&mut part, payload);
        let mut text = part.text(payload);
        if self.before.is_none() && self.known > 0 {
            let left = self.known.saturating_sub(self.len);
            self.len = self.len.saturating_add(text.take_first(left, |bytes| self.hash.bytes(bytes)));
            if self.len < self.known {
                return;
            }
            self.before = Some(self.hash);
        }
        self.len = self.len.saturating_add(text.take_first(u32::MAX, |bytes| self.hash.bytes(bytes)));
    }
}

/// Reads a message, to compare it with what was reported of its choice.
pub(crate) struct Reading {
    texts: [Channel; 4],
    /// The position of the call that is being read, and the state of its arguments.
    call: Option<(u32, Channel)>,
    /// How much was reported before this message, and with it. The lengths of the texts in `now` are set at the end.
    before: Reach,
    now: Reach,
    /// The sum of the hashes of what was reported, and the sum of the hashes of the whole message.
    known: u64,
    all: u64,
    /// Whether the message does not begin with what was reported.
    pub(crate) is_other: bool,
}

impl Reading {
    /// Returns the state before a message. `reach` is how much of its choice was reported.
    pub(crate) fn new(reach: Reach) -> Self {
        let texts = reach.lens.map(|len| Channel::new(Some(len)));
        Reading { texts, call: None, before: reach, now: reach, known: 0, all: 0, is_other: false }
    }

    /// Takes in a delta that does not concern a call.
    pub(crate) fn add(&mut self, delta: &Delta, message: &[u8]) {
        if let Some(text) = of_kind(delta.kind, &mut self.texts) {
            text.add(delta.text, message);
            return;
        }
        match delta.kind {
            Kind::FunctionName => {
                let hash = Hash::of(delta.text.text(message));
                self.sum(delta.kind as u32, self.before.function_name.then_some(hash), hash);
                self.now.function_name = true;
            }
            Kind::Audio => self.now.audio = true,
            Kind::Annotation => self.now.annotations = true,
            _ => {}
        }
    }

    /// Begins the call at this position. `None` skips an element that opens no call, or a call for which there is no
    /// room. `reported` is how much of the arguments was reported, or `None` if the call was not reported.
    pub(crate) fn call(&mut self, position: Option<u32>, reported: Option<u32>) {
        self.end_call();
        self.call = position.map(|position| (position, Channel::new(reported)));
    }

    /// Takes in arguments of the call that is being read.
    pub(crate) fn arguments(&mut self, text: Part, message: &[u8]) {
        if let Some((_, call)) = &mut self.call {
            call.add(text, message);
        }
    }

    fn end_call(&mut self) {
        if let Some((position, call)) = self.call.take() {
            self.sum(position | 1 << 31, call.before, call.hash);
        }
    }

    /// Adds the two hashes of a part of the message to the two sums. Each part has a `place` of its own.
    fn sum(&mut self, place: u32, before: Option<Hash>, hash: Hash) {
        self.known = self.known.wrapping_add(before.map_or(0, |before| before.at(place)));
        self.all = self.all.wrapping_add(hash.at(place));
    }

    /// Returns the sum over the message, and how far the message goes. `before` is the sum over the reported part, if
    /// anything was reported. Returns `None` if the message does not begin with that part.
    pub(crate) fn end(mut self, before: Option<u64>) -> Option<(u64, Reach)> {
        self.end_call();
        for (place, text) in (64..).zip(self.texts) {
            self.sum(place, text.before, text.hash);
        }
        let is_other = self.is_other || before.is_some_and(|before| before != self.known);
        (!is_other).then_some((self.all, Reach { lens: self.texts.map(|text| text.len), ..self.now }))
    }
}
