//! The state of a tool call: a few integers and hashes, no text.

use super::repeats::Repeats;
use super::surrogate::PendingSurrogate;
use crate::chat::NamePiece;
use crate::delta::{Delta, Kind, Meta, Part};
use crate::json::{Balance, Text, TextFlags};
use crate::scan::quoted;
use crate::visits::visit;

/// FNV-1a hash of 64 bits. Compares an ID or a name with a later one without storing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hash(u64);

impl Hash {
    pub(crate) const EMPTY: Hash = Hash(0xcbf2_9ce4_8422_2325);

    /// The hash of `{}`.
    const NO_ARGUMENTS: Hash = Hash(0x08f4_4b07_b590_1a25);

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.byte(*byte));
    }

    pub(crate) fn of(text: Text<'_>) -> Hash {
        let mut hash = Hash::EMPTY;
        each_byte(text, |byte| hash.byte(byte));
        hash
    }

    /// Returns the hash with `place` added, so that equal texts in different places have different hashes.
    pub(crate) fn at(mut self, place: u32) -> u64 {
        self.bytes(&place.to_le_bytes());
        self.0
    }
}

/// Calls [`Text::is_sound`] out of line, so that the inlined fast paths that call it stay short.
#[inline(never)]
pub(super) fn is_sound(raw: &[u8], flags: TextFlags) -> bool {
    Text::from_raw(raw, flags).is_sound(|_| ())
}

/// Passes the decoded bytes of a text to `f`.
fn each_byte(text: Text<'_>, mut f: impl FnMut(u8)) {
    let mut buffer = [0; 4];
    for fragment in text.fragments() {
        fragment.encode(&mut buffer).bytes().for_each(&mut f);
    }
}

/// The name so far, as a hash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameSoFar {
    hash: Hash,
    len: u32,
}

impl NameSoFar {
    pub(crate) const EMPTY: NameSoFar = NameSoFar { hash: Hash::EMPTY, len: 0 };

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether `text` equals the name so far.
    pub(crate) fn is(&self, text: Text<'_>) -> bool {
        Hash::of(text) == self.hash
    }

    /// Whether `text` begins with the name so far.
    pub(crate) fn begins(&self, text: Text<'_>) -> bool {
        let mut copy = *self;
        copy.len == 0 || copy.add(text) != Some(NamePiece::Appends)
    }

    /// Takes in a name or a piece of one. A text that begins with the name so far (as the first does) replaces it.
    /// Returns `None` if the text equals the name so far.
    pub(crate) fn add(&mut self, text: Text<'_>) -> Option<NamePiece> {
        let mut whole = Hash::EMPTY;
        let mut appended = self.hash;
        let mut prefix = if self.len == 0 { whole } else { Hash(0) };
        let mut len = 0u32;
        let so_far = self.len;
        each_byte(text, |byte| {
            whole.byte(byte);
            appended.byte(byte);
            len = len.saturating_add(1);
            if len == so_far {
                prefix = whole;
            }
        });
        if len >= so_far && prefix == self.hash {
            let repeats = len == so_far;
            *self = NameSoFar { hash: whole, len };
            return (!repeats).then_some(NamePiece::Replaces);
        }
        *self = NameSoFar { hash: appended, len: so_far.saturating_add(len) };
        Some(NamePiece::Appends)
    }
}

/// How far the arguments of a call have been read. They are usually the text of a JSON object. An array or a string
/// also ends where it is complete; a number or a word ends at the first quote or bracket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arguments {
    /// The value or, if more came after it, the last of the values after it.
    balance: Balance,
    /// Whether more came after the end of the value.
    went_on: bool,
    /// Whether a bracket closed that never opened.
    broken: bool,
}

impl Arguments {
    pub(crate) const EMPTY: Arguments = Arguments { balance: Balance::NOTHING, went_on: false, broken: false };

    /// Whether the object, array or string is complete.
    pub(crate) fn is_closed(&self) -> bool {
        self.went_on || self.balance.is_closed()
    }

    /// Whether anything but whitespace came.
    pub(crate) fn has_begun(&self) -> bool {
        self.went_on || self.balance.is_open() || self.balance.is_over() || self.balance.is_broken()
    }

    /// Whether the object or array is complete, so that a call that opens next is another one.
    pub(crate) fn is_closed_container(&self) -> bool {
        self.went_on || self.balance.is_closed_container()
    }

    /// Whether a name that follows may belong to another call: the arguments are complete, or a number or a word.
    pub(crate) fn may_end(&self) -> bool {
        self.went_on || self.balance.is_over()
    }

    /// Whether no string or bracket is open, none closed that never opened, and the first byte that is not whitespace
    /// begins a JSON value. Arguments without such a byte are whole. This is a balance: it does not parse the value.
    pub(crate) fn is_whole(&self) -> bool {
        !self.balance.is_open() && !self.balance.is_broken() && !self.broken
    }

    /// Reads a fragment of `payload` that is short, has no quirk, and does not continue after the end of the value.
    /// Returns `false`, with no effect, for any other fragment.
    #[inline(always)]
    pub(crate) fn add_short(&mut self, part: Part, payload: &[u8]) -> bool {
        if self.went_on {
            return false;
        }
        let Part { start, len, flags, lead } = part;
        let is_plain = lead == 0 && flags == TextFlags::PLAIN;
        if is_plain && self.balance.is_in_string() {
            // A plain text has no quote, so the string goes on.
            self.balance.follow_inside(0);
            return true;
        }
        if self.balance.is_broken() {
            return is_plain || lead == 0 && is_sound(part.bytes(payload), flags);
        }
        // The slice begins with the text and goes on after it, because the search reads whole vectors.
        let bytes = payload.get(start as usize..).filter(|_| lead == 0 && flags.is_printable_ascii());
        bytes.is_some_and(|bytes| self.add_marks(bytes, len as usize)) || self.add_bytes(part, payload)
    }

    /// Takes in the first `len` bytes, a text, by its quotes and brackets alone. Returns `false`, with no effect, if
    /// other bytes of the text may matter.
    #[inline(never)]
    fn add_marks(&mut self, bytes: &[u8], len: usize) -> bool {
        quoted::marks(bytes, len).is_some_and(|marks| self.balance.follow_marks(marks, len))
    }

    #[inline(never)]
    fn add_bytes(&mut self, part: Part, payload: &[u8]) -> bool {
        let (mut balance, mut goes_on) = (self.balance, false);
        let is_sound = part.text(payload).is_sound(|byte| {
            if balance.passes(byte) {
                return;
            }
            if balance.is_over() {
                goes_on |= balance.is_closed() || !balance.is_broken() && ends_word(byte);
            } else {
                balance.follow_byte::<true>(byte);
            }
        });
        if !is_sound || goes_on {
            return false;
        }
        self.balance = balance;
        true
    }

    /// Reads a fragment, and adds the part that belongs to the value to `hash`. Returns whether the fragment continues
    /// after the end of the value.
    pub(crate) fn add(&mut self, text: Text<'_>, mut hash: Option<&mut Hash>) -> bool {
        let mut buffer = [0; 4];
        let mut after_end = false;
        for fragment in text.fragments() {
            let bytes = fragment.encode(&mut buffer).as_bytes();
            let (closed, was_open) = (self.is_closed(), self.balance.is_open());
            let end = if self.went_on { None } else { self.feed(bytes) };
            if let Some(hash) = hash.as_deref_mut().filter(|_| !closed) {
                let value = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
                let blanks = if was_open { 0 } else { value.len().saturating_sub(value.trim_ascii_start().len()) };
                value.iter().skip(blanks).for_each(|byte| hash.byte(*byte));
            }
            if closed || end.is_some() {
                let rest = bytes.get(end.unwrap_or(0)..).unwrap_or(&[]);
                after_end |= !rest.trim_ascii().is_empty();
                self.go_on(rest);
            }
        }
        after_end
    }

    /// Reads bytes of the value. Returns the offset at which it ends, if it does.
    fn feed(&mut self, bytes: &[u8]) -> Option<usize> {
        let end = self.balance.feed_value(bytes);
        if !self.balance.is_no_object() || self.balance.is_broken() {
            return end;
        }
        visit!(bytes.len());
        bytes.iter().position(|byte| ends_word(*byte))
    }

    /// Reads bytes after the end of the value. They may be further values, and anything between them.
    fn go_on(&mut self, bytes: &[u8]) {
        visit!(bytes.len());
        for byte in bytes {
            if !self.balance.is_open() {
                (self.balance, self.went_on) = (Balance::NOTHING, true);
                self.broken |= matches!(byte, b'}' | b']');
                if !matches!(byte, b'{' | b'[' | b'"') {
                    continue;
                }
            }
            self.balance.follow_byte::<true>(*byte);
        }
    }
}

/// What distinguishes a call from the next one under the same index: its ID or, until an ID comes, its arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Identity {
    /// The call has not opened yet: so far its elements had neither ID nor name nor arguments, only other members.
    Unopened,
    Id(Hash),
    /// A hash of the arguments so far.
    Arguments(Hash),
}

/// How a tool call delta identifies its call.
pub(crate) struct Element<'a> {
    pub(crate) index: Option<u32>,
    pub(crate) id: Option<Hash>,
    /// Its position in the array of its chunk.
    pub(crate) position: u32,
    pub(crate) name: Option<Text<'a>>,
    pub(crate) arguments: Text<'a>,
    /// Whether it has arguments alone: neither an ID nor a name, nor a type unless its ID was sent as null.
    pub(crate) is_bare: bool,
}

/// The effect of a fragment on the call that it selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Continues,
    /// The fragment continues the call although its ID differs.
    ContinuesUnderAnotherId,
    /// The fragment continues the call although no call has its index.
    ContinuesUnderAnotherIndex,
    /// The fragment opens the next call.
    Opens,
}

/// The state of an open tool call: a row of a tracker's table.
#[derive(Clone, Copy, Debug)]
pub struct CallRow {
    pub(crate) choice: u32,
    /// Its number among the calls of its choice, in order of appearance.
    pub(crate) number: u32,
    pub(crate) index: u32,
    /// The index of the last fragment that [continued the call](Fate::ContinuesUnderAnotherIndex) under an index that no
    /// call had, which means this call until another opens. [`NO_INDEX`](CallRow::NO_INDEX) if there was none.
    pub(crate) other_index: u32,
    /// Whether the call came without an index. Its `index` is then its position, or the next free index.
    pub(crate) by_place: bool,
    /// The position of its last fragment in the array of the delta.
    pub(crate) position: u32,
    pub(crate) identity: Identity,
    pub(crate) kind_known: bool,
    /// Whether it is one of a custom tool, whose input is free text.
    pub(crate) is_custom: bool,
    /// Whether its [end](CallRow::end) was reported.
    pub(crate) ended: bool,
    pub(crate) name: NameSoFar,
    pub(crate) arguments: Arguments,
    /// What is known of the arguments, to find repetitions.
    pub(crate) repeats: Repeats,
    /// The length of the decoded arguments that messages so far have reported.
    pub(crate) reach: u32,
    /// The pending high surrogate at the end of its arguments.
    pub(crate) surrogate: PendingSurrogate,
}

impl CallRow {
    /// No call has this index.
    pub(crate) const NO_INDEX: u32 = u32::MAX;

    pub(crate) fn id(&self) -> Option<Hash> {
        match self.identity {
            Identity::Id(id) => Some(id),
            Identity::Unopened | Identity::Arguments(_) => None,
        }
    }

    pub(crate) fn has_opened(&self) -> bool {
        !matches!(self.identity, Identity::Unopened)
    }

    /// Notes that the arguments were sent as an empty string, which is at `empty`, after the call opened. If there are no
    /// others yet, makes the delta that of a member of the function, from which a message learns it. Returns whether it
    /// did.
    pub(crate) fn note_empty(&self, empty: Part, delta: &mut Delta, payload: &[u8]) -> bool {
        if !self.has_opened() || self.arguments.has_begun() {
            return false;
        }
        let Some(text) = member_of_empty(empty, payload) else { return false };
        let (choice, call, code) = (self.choice, self.number, Meta::FunctionMember as u32);
        *delta = Delta { choice, call, code, text, ..Delta::new(Kind::Meta) };
        true
    }

    /// Whether it opened, and is not over.
    pub(crate) fn is_open(&self) -> bool {
        self.has_opened() && !self.ended
    }

    /// Removes the pending surrogate at the end of its arguments, which is unpaired. Returns it with an empty delta of the
    /// arguments.
    pub(crate) fn take_surrogate(&mut self) -> Option<(Delta, u16)> {
        let lead = self.surrogate.take()?;
        if !self.is_custom {
            self.add(Text::from_raw(b"", TextFlags::PLAIN).with_lead(lead));
        }
        Some((Delta { choice: self.choice, call: self.number, ..Delta::new(Kind::ToolArguments) }, lead))
    }

    /// Notes that the call is over, and returns the delta that reports it.
    pub(crate) fn end(&mut self) -> Delta {
        self.ended = true;
        let (choice, call, code) = (self.choice, self.number, u32::from(self.arguments.is_whole()));
        Delta { choice, call, code, ..Delta::new(Kind::ToolCallEnd) }
    }

    /// Reads a fragment of its arguments. Returns whether the fragment continues after the end of their value.
    pub(crate) fn add(&mut self, text: Text<'_>) -> bool {
        let CallRow { arguments, identity, .. } = self;
        match identity {
            Identity::Unopened | Identity::Id(_) => arguments.add(text, None),
            Identity::Arguments(hash) => arguments.add(text, Some(hash)),
        }
    }

    /// Returns the effect of a fragment that selects this call. See C15 to C17 and C19 in `docs/quirks.md`.
    pub(crate) fn fate(&self, fragment: &Element<'_>) -> Fate {
        if !self.has_opened() {
            return Fate::Opens;
        }
        let (is_closed, may_end) = (self.arguments.is_closed(), self.arguments.may_end());
        if fragment.id.is_some() && fragment.id != self.id() {
            // Servers that send the ID late send the name with it, again or for the first time.
            let is_late = |name| !may_end && (self.name.is_empty() || self.name.is(name));
            return match self.identity {
                Identity::Arguments(_) if fragment.name.is_some_and(is_late) => Fate::Continues,
                _ if fragment.name.is_some() || is_closed => Fate::Opens,
                Identity::Id(_) => Fate::ContinuesUnderAnotherId,
                Identity::Unopened | Identity::Arguments(_) => Fate::Continues,
            };
        }
        // The ID is the same or absent. Until the arguments may be complete, a name is a late one or a piece of the
        // name.
        let Some(name) = fragment.name.filter(|_| fragment.id.is_none() && may_end && !self.name.is_empty()) else {
            return Fate::Continues;
        };
        if !self.name.is(name) {
            return Fate::Opens;
        }
        match self.identity {
            // A number may continue, and some servers repeat the name in each fragment.
            _ if !is_closed => Fate::Continues,
            // After a first `{}`, the actual arguments may follow.
            Identity::Arguments(Hash::NO_ARGUMENTS) if begins_object(fragment.arguments) => Fate::Continues,
            Identity::Arguments(hash) if !is_repeated(fragment.arguments, hash) => Fate::Opens,
            _ => Fate::Continues,
        }
    }
}

/// Whether a number or a word before this byte has ended.
fn ends_word(byte: u8) -> bool {
    matches!(byte, b'{' | b'}' | b'[' | b']' | b'"')
}

/// Returns the place of the member `arguments` whose value is this empty string.
fn member_of_empty(empty: Part, payload: &[u8]) -> Option<Part> {
    let before = payload.get(..empty.start as usize)?.strip_suffix(b"\"")?.trim_ascii_end();
    let name = before.strip_suffix(b":")?.trim_ascii_end();
    let start = name.strip_suffix(b"\"arguments\"")?.len() as u32;
    Some(Part { start, len: empty.start.saturating_add(1).saturating_sub(start), ..Part::NONE })
}

/// Whether arguments begin with an object, after whitespace.
fn begins_object(text: Text<'_>) -> bool {
    let mut first = None;
    each_byte(text, |byte| first = first.or((!byte.is_ascii_whitespace()).then_some(byte)));
    first == Some(b'{')
}

/// Whether arguments are blank, or repeat exactly the value with this hash.
fn is_repeated(text: Text<'_>, hash: Hash) -> bool {
    let (mut arguments, mut again) = (Arguments::EMPTY, Hash::EMPTY);
    let goes_on = arguments.add(text, Some(&mut again));
    let mut is_blank = true;
    each_byte(text, |byte| is_blank &= byte.is_ascii_whitespace());
    is_blank || arguments.is_closed() && !goes_on && again == hash
}
