//! What counts of an event of Responses that is over the limit.
//!
//! Events about the whole response repeat it: its instructions, its tools and, at the end, all of its output. [`Skim`] reads
//! such an event byte by byte and copies the members that [`super::read`] looks at, so that what is left is an event like any
//! other. It keeps no text: what it decides depends on the bytes so far, wherever they were cut.

use super::protocol::Protocol;
use crate::json::Balance;
use crate::visits::visit;

/// The members that are kept, and where: in the event, or in its `response`.
const NAMES: [(&str, u8); 14] = [
    ("type", EVENT),
    ("response", EVENT),
    ("sequence_number", EVENT),
    ("error", EVENT),
    ("output", RESPONSE),
    ("id", RESPONSE),
    ("object", RESPONSE),
    ("model", RESPONSE),
    ("created_at", RESPONSE),
    ("service_tier", RESPONSE),
    ("usage", RESPONSE),
    ("error", RESPONSE),
    ("status", RESPONSE),
    ("incomplete_details", RESPONSE),
];
/// Bits of names.
const TYPE_NAME: u16 = 1;
const RESPONSE_NAME: u16 = 2;
const OUTPUT_NAME: u16 = 16;

/// Levels.
const EVENT: u8 = 1;
const RESPONSE: u8 = 2;
const OUTPUT: u8 = 3;

/// Types of Responses, as JSON: of the events that end a response, and what all of them begin with.
const TYPES: [&[u8]; 5] = [
    b"\"response.completed\"",
    b"\"response.incomplete\"",
    b"\"response.failed\"",
    b"\"response.cancelled\"",
    b"\"response.",
];
/// The bit of the last.
const ANY_TYPE: u16 = 16;

/// Where the kept bytes go.
pub(crate) trait Out {
    /// Appends bytes. `false`: they do not fit, and nothing was done.
    fn put(&mut self, bytes: &[u8]) -> bool;
    /// How many bytes it has.
    fn len(&self) -> u32;
    /// The last of them.
    fn last(&self) -> Option<u8>;
    /// Takes out the bytes from one offset to another. `false`: it cannot, and nothing was done.
    fn cut(&mut self, from: u32, to: u32) -> bool;
    /// Whether nothing is left to report of this output item.
    fn is_reported(&self, item: u32) -> bool;
    /// Whether the event by its name reports no output.
    fn has_no_output(&self) -> bool;
}

/// The event is not as expected, or what is kept of it does not fit.
#[derive(Debug)]
pub(crate) struct GiveUp;

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// Nothing is skimmed.
    Off,
    Start,
    Name,
    InName,
    Colon,
    Value,
    /// An output item, or the end of the output.
    Item,
    /// In a string, an object or an array.
    In,
    /// In another value.
    Bare,
    Behind,
    /// Behind the event.
    Over,
}

/// How far an event was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Skim {
    at: At,
    level: u8,
    /// How many bytes of a name, or of the type, came.
    matched: u8,
    flags: u8,
    /// The names that the one at hand may be, a bit each.
    names: u16,
    /// The index of the output item that is next, the highest if none counts; in the type, which of [`TYPES`] it may be.
    item: u16,
    /// What may be taken out: from the first output item that was kept to the end of the last that is whole.
    kept_from: u32,
    kept_to: u32,
}

/// The value at hand is kept.
const KEEPS: u8 = 1;
/// A `response` came.
const ENTERED: u8 = 2;
/// Its type is one of Responses.
const TYPED: u8 = 4;
/// It ends a response.
const ENDS: u8 = 32;
/// No further output item is kept.
const DROPS: u8 = 8;
/// An output item did not fit.
const LOST: u8 = 16;

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

impl Skim {
    /// Nothing is skimmed.
    pub(crate) const OFF: Skim =
        Skim { at: At::Off, level: 0, matched: 0, flags: 0, names: 0, item: 0, kept_from: 0, kept_to: 0 };
    /// Before the first byte.
    pub(crate) const START: Skim = Skim { at: At::Start, ..Skim::OFF };

    pub(crate) fn is_on(&self) -> bool {
        // Never, without the reader: then the compiler removes all of this.
        Protocol::Responses.is_read() && self.at != At::Off
    }

    /// Whether the event is whole.
    pub(crate) fn is_over(&self) -> bool {
        self.at == At::Over
    }

    /// Whether a `response` came.
    pub(crate) fn has_response(&self) -> bool {
        self.has(ENTERED)
    }

    /// Whether the type of the event is one of Responses.
    pub(crate) fn is_typed(&self) -> bool {
        self.has(TYPED)
    }

    /// Whether output items were lost.
    pub(crate) fn has_loss(&self) -> bool {
        self.has(LOST)
    }

    fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    fn set(&mut self, flag: u8, on: bool) {
        self.flags = if on { self.flags | flag } else { self.flags & !flag };
    }

    /// Reads more of the event. `balance` follows the value at hand.
    pub(crate) fn feed(&mut self, balance: &mut Balance, bytes: &[u8], out: &mut dyn Out) -> Result<(), GiveUp> {
        let mut rest = bytes;
        while let Some((&byte, behind)) = rest.split_first() {
            visit!(1);
            match self.at {
                At::In | At::Bare => {
                    let end = if self.at == At::In {
                        balance.skip_value(rest)
                    } else {
                        rest.iter().position(|byte| is_blank(*byte) || matches!(byte, b',' | b'}' | b']'))
                    };
                    let (value, after) = rest.split_at_checked(end.unwrap_or(rest.len())).ok_or(GiveUp)?;
                    if self.names == TYPE_NAME {
                        self.follow_type(value);
                    }
                    if self.has(KEEPS) {
                        self.write(value, out)?;
                    }
                    rest = after;
                    if end.is_some() {
                        self.value_ends(out);
                    }
                    continue;
                }
                At::InName => match byte {
                    b'"' => {
                        let is_whole = |name: &str| name.len() == usize::from(self.matched);
                        self.names = names(|name, at| self.names & at != 0 && is_whole(name));
                        self.at = At::Colon;
                    }
                    // The reader would unescape it.
                    b'\\' => return Err(GiveUp),
                    byte => {
                        let goes_on = |name: &str| name.as_bytes().get(usize::from(self.matched)) == Some(&byte);
                        self.names = names(|name, at| self.names & at != 0 && goes_on(name));
                        self.matched = self.matched.saturating_add(1);
                    }
                },
                _ if is_blank(byte) => {}
                At::Start if byte == b'{' => {
                    (self.at, self.level) = (At::Name, EVENT);
                    self.write(b"{", out)?;
                }
                At::Name if byte == b'"' => {
                    let level = self.level;
                    (self.at, self.matched) = (At::InName, 0);
                    self.names = names(|_, at| level_of(at) == level);
                }
                At::Name | At::Behind if byte == b'}' && self.level != OUTPUT => self.close(byte, out)?,
                At::Item | At::Behind if byte == b']' && self.level == OUTPUT => self.close(byte, out)?,
                At::Colon if byte == b':' => self.at = At::Value,
                At::Behind if byte == b',' => self.at = if self.level == OUTPUT { At::Item } else { At::Name },
                At::Value if self.enters(byte) => {
                    self.separate(out)?;
                    let is_response = self.names == RESPONSE_NAME;
                    self.write(if is_response { b"\"response\":{" } else { b"\"output\":[" }, out)?;
                    self.level = if is_response { RESPONSE } else { OUTPUT };
                    self.at = if is_response { At::Name } else { At::Item };
                    self.flags |= ENTERED;
                    let has_none = if self.has(TYPED) { !self.has(ENDS) } else { out.has_no_output() };
                    self.item = if has_none { u16::MAX } else { 0 };
                    (self.kept_from, self.kept_to) = (out.len(), out.len());
                    self.names = 0;
                }
                At::Value => {
                    if self.names != 0 {
                        self.separate(out)?;
                        let name = NAMES.get(self.names.trailing_zeros() as usize).map_or("", |(name, _)| name);
                        for piece in [b"\"", name.as_bytes(), b"\":"] {
                            self.write(piece, out)?;
                        }
                    }
                    self.begin(byte, self.names != 0, balance)?;
                    continue;
                }
                At::Item => {
                    let is_kept = self.item != u16::MAX && !out.is_reported(self.item.into());
                    self.names = 0;
                    self.set(KEEPS, false);
                    if !self.has(DROPS) {
                        self.separate(out)?;
                        if !is_kept && !self.has(DROPS) {
                            // In its place, so that the next has its index.
                            self.write(b"0", out)?;
                        }
                    }
                    self.begin(byte, is_kept && !self.has(DROPS), balance)?;
                    continue;
                }
                At::Off | At::Start | At::Name | At::Colon | At::Behind | At::Over => return Err(GiveUp),
            }
            rest = behind;
        }
        Ok(())
    }

    /// Whether the value that begins with this byte is read member by member.
    fn enters(&self, byte: u8) -> bool {
        matches!((self.names, byte), (RESPONSE_NAME, b'{') | (OUTPUT_NAME, b'['))
    }

    /// A value begins.
    fn begin(&mut self, byte: u8, is_kept: bool, balance: &mut Balance) -> Result<(), GiveUp> {
        *balance = Balance::NOTHING;
        self.matched = 0;
        if self.names == TYPE_NAME {
            self.item = u16::MAX;
        }
        self.set(KEEPS, is_kept);
        self.at = match byte {
            b'{' | b'[' | b'"' => At::In,
            b',' | b'}' | b']' | b':' => return Err(GiveUp),
            _ => At::Bare,
        };
        Ok(())
    }

    fn value_ends(&mut self, out: &dyn Out) {
        self.at = At::Behind;
        self.names = 0;
        if self.level == OUTPUT {
            self.item = self.item.saturating_add(1);
            if !self.has(DROPS) {
                let is_first = self.kept_from == self.kept_to;
                self.kept_to = out.len();
                if is_first && !self.has(KEEPS) {
                    self.kept_from = self.kept_to;
                }
            }
        }
    }

    /// The end of what was entered last.
    fn close(&mut self, byte: u8, out: &mut dyn Out) -> Result<(), GiveUp> {
        self.level = self.level.saturating_sub(1);
        self.at = if self.level == 0 { At::Over } else { At::Behind };
        self.write(&[byte], out)
    }

    /// Follows the type of the event.
    fn follow_type(&mut self, value: &[u8]) {
        for byte in value {
            let at = usize::from(self.matched);
            self.matched = self.matched.saturating_add(1);
            for (row, known) in TYPES.iter().enumerate() {
                let bit = 1u16.wrapping_shl(row as u32);
                let is_last = known.len() == at.saturating_add(1);
                if at < known.len() && known.get(at) != Some(byte) {
                    self.item &= !bit;
                } else if is_last && self.item & bit != 0 {
                    self.flags |= if bit == ANY_TYPE { TYPED } else { ENDS };
                }
            }
            if self.item & (ANY_TYPE | (ANY_TYPE - 1)) == 0 {
                return;
            }
        }
    }

    /// Before a member or an item.
    fn separate(&mut self, out: &mut dyn Out) -> Result<(), GiveUp> {
        match out.last() {
            Some(b'{' | b'[') => Ok(()),
            _ => self.write(b",", out),
        }
    }

    /// Keeps bytes. What does not fit costs an output item, or all of them: what the rest says counts more.
    fn write(&mut self, bytes: &[u8], out: &mut dyn Out) -> Result<(), GiveUp> {
        if out.put(bytes) {
            return Ok(());
        }
        let in_output = self.level == OUTPUT;
        if in_output && self.has(KEEPS) {
            self.flags = self.flags & !KEEPS | LOST;
            if !out.cut(self.kept_to, out.len()) {
                return Err(GiveUp);
            }
            let place: &[u8] = if self.item > 0 { b",0" } else { b"0" };
            if out.put(place) {
                return Ok(());
            }
        }
        let to = if in_output { out.len() } else { self.kept_to };
        if self.kept_to <= self.kept_from || !out.cut(self.kept_from, to) {
            return Err(GiveUp);
        }
        // Without a place of their own those behind have no index.
        self.flags |= DROPS | LOST;
        self.kept_to = self.kept_from;
        if in_output || out.put(bytes) {
            Ok(())
        } else {
            Err(GiveUp)
        }
    }
}

/// The bits of those names that are wanted.
fn names(wanted: impl Fn(&str, u16) -> bool) -> u16 {
    let bits = NAMES.iter().enumerate().map(|(at, (name, _))| (name, 1u16.wrapping_shl(at as u32)));
    bits.filter(|(name, bit)| wanted(name, *bit)).fold(0, |all, (_, bit)| all | bit)
}

/// The level of a name, by its bit.
fn level_of(bit: u16) -> u8 {
    NAMES.get(bit.trailing_zeros() as usize).map_or(0, |(_, level)| *level)
}
