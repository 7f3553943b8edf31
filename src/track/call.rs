//! What is known of a tool call: a few words of state, no text.

use super::carry::Half;
use crate::json::{Balance, Fragment, Text};

/// FNV-1a, 64 bits: compares an ID or a name with another without storing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hash(u64);

impl Hash {
    pub(crate) const EMPTY: Hash = Hash(0xcbf2_9ce4_8422_2325);

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

    /// A number of its own for each place.
    pub(crate) fn at(mut self, place: u32) -> u64 {
        self.bytes(&place.to_le_bytes());
        self.0
    }
}

/// The decoded bytes of a text.
fn each_byte(text: Text<'_>, mut f: impl FnMut(u8)) {
    let mut buffer = [0; 4];
    for fragment in text.fragments() {
        match fragment {
            Fragment::Str(str) => str.bytes().for_each(&mut f),
            Fragment::Char(char) => char.encode_utf8(&mut buffer).bytes().for_each(&mut f),
        }
    }
}

/// What a piece of a name does to the name so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamePiece {
    /// It is the name so far: nothing.
    Repeats,
    /// It begins with the name so far, as the first piece does: it is the name now.
    Replaces,
    /// It goes on with it.
    Appends,
}

/// A name so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name {
    hash: Hash,
    len: u32,
}

impl Name {
    pub(crate) const EMPTY: Name = Name { hash: Hash::EMPTY, len: 0 };

    /// Whether `text` is the name so far.
    pub(crate) fn is(&self, text: Text<'_>) -> bool {
        Hash::of(text) == self.hash
    }

    /// Whether `text` begins with the name so far.
    pub(crate) fn begins(&self, text: Text<'_>) -> bool {
        let mut copy = *self;
        copy.len == 0 || copy.add(text) != NamePiece::Appends
    }

    pub(crate) fn add(&mut self, text: Text<'_>) -> NamePiece {
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
            *self = Name { hash: whole, len };
            return if repeats { NamePiece::Repeats } else { NamePiece::Replaces };
        }
        *self = Name { hash: appended, len: so_far.saturating_add(len) };
        NamePiece::Appends
    }
}

/// Fragments of arguments are as a rule no longer.
const SHORT: usize = 48;

/// How far a call's arguments have come: they are an object as a rule, as text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arguments {
    balance: Balance,
}

impl Arguments {
    pub(crate) const EMPTY: Arguments = Arguments { balance: Balance::NOTHING };

    /// The object is complete.
    pub(crate) fn is_closed(&self) -> bool {
        self.balance.is_closed()
    }

    /// Follows a fragment that is short and has nothing odd about it. `false`: it may not be so, and nothing was done.
    #[inline]
    pub(crate) fn add_short(&mut self, text: Text<'_>) -> bool {
        let mut buffer = [0; SHORT];
        let copied = text.copy_to(&mut buffer);
        let bytes = buffer.get(..copied.written).unwrap_or_default();
        if self.is_closed() || !copied.complete || !copied.quirks.is_empty() {
            return false;
        }
        let mut balance = self.balance;
        if balance.feed(bytes).is_some_and(|end| end < bytes.len()) {
            return false;
        }
        self.balance = balance;
        true
    }

    /// Follows a fragment. Says whether it went on after the end.
    pub(crate) fn add(&mut self, text: Text<'_>) -> bool {
        let mut buffer = [0; 4];
        let mut after_end = false;
        for fragment in text.fragments() {
            let bytes = match fragment {
                Fragment::Str(str) => str.as_bytes(),
                Fragment::Char(char) => char.encode_utf8(&mut buffer).as_bytes(),
            };
            let closed = self.is_closed();
            let end = self.balance.feed(bytes);
            if closed || end.is_some() {
                let rest = bytes.get(end.unwrap_or(0)..).unwrap_or(&[]);
                after_end |= !rest.trim_ascii().is_empty();
            }
        }
        after_end
    }
}

/// A tool call that was opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) choice: u32,
    /// Its number among the calls of its choice, in order of appearance.
    pub(crate) number: u32,
    pub(crate) index: u32,
    /// It had no index: `index` is its place, or the next that was free.
    pub(crate) by_place: bool,
    /// Where its fragment stood last in the array of its delta.
    pub(crate) position: u32,
    pub(crate) id: Option<Hash>,
    pub(crate) kind_known: bool,
    pub(crate) name: Name,
    pub(crate) arguments: Arguments,
    /// How much of its arguments messages so far reported, decoded.
    pub(crate) reach: u32,
    /// What waits at the end of its arguments.
    pub(crate) half: Half,
}
