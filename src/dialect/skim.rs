//! Reduces an event of Responses that is over the limit to the members that the reader uses.
//!
//! Events about the whole response repeat it: its instructions, its tools and, at the end, all of its output. [`Skim`]
//! reads such an event byte by byte and copies the members that [`super::read()`] looks at, so that the result is an
//! event like any other. It stores no bytes of the event: it decides on each byte as it comes, wherever reads cut the
//! event. Of the output it keeps nothing, but counts the items of each class: the counts show whether earlier events
//! reported them all.

use super::identity::Class;
use super::protocol::Protocol;
use super::reported::ItemCounts;
use crate::json::Balance;
use crate::visits::visit;

/// The members that are kept, each with its level: the event or its `response`. `output` and the type of its items are
/// read, but not kept.
static NAMES: [(&str, u16); 18] = [
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
    ("tool_usage", RESPONSE),
    ("moderation", RESPONSE),
    ("completed_at", RESPONSE),
    ("type", ITEM),
];
/// The bits of some names in [`NAMES`].
const TYPE_NAME: u32 = 1;
const RESPONSE_NAME: u32 = 2;
const OUTPUT_NAME: u32 = 16;
const ITEM_TYPE_NAME: u32 = 1 << 17;

/// The levels at which a member or an element may lie.
const EVENT: u16 = 1;
const RESPONSE: u16 = 2;
const OUTPUT: u16 = 3;
const ITEM: u16 = 4;

/// Words that the value of a member may begin with, as JSON: the word, the bit of the member's name, and the flag that
/// the word sets. They are the types of the events that end a response, the prefix of all types of Responses, and the
/// types of output items that have a class of their own.
static WORDS: [(&[u8], u32, u16); 10] = [
    (b"\"response.completed\"", TYPE_NAME, ENDS),
    (b"\"response.incomplete\"", TYPE_NAME, ENDS),
    (b"\"response.failed\"", TYPE_NAME, ENDS),
    (b"\"response.cancelled\"", TYPE_NAME, ENDS),
    (b"\"response.done\"", TYPE_NAME, ENDS),
    (b"\"response.", TYPE_NAME, TYPED),
    (b"\"message\"", ITEM_TYPE_NAME, MESSAGE),
    (b"\"reasoning\"", ITEM_TYPE_NAME, REASONING),
    (b"\"function_call\"", ITEM_TYPE_NAME, CALL),
    (b"\"custom_tool_call\"", ITEM_TYPE_NAME, CALL),
];

/// The destination of kept bytes, and what the stream knows about the event. The default methods discard the bytes.
pub(crate) trait SkimOut {
    /// Appends bytes. Returns `false`, with no effect, if they do not fit.
    fn put(&mut self, _bytes: &[u8]) -> bool {
        true
    }
    /// Returns the last kept byte.
    fn last(&self) -> Option<u8> {
        None
    }
    /// Whether the event ends a response, judging by its name.
    fn ends_by_name(&self) -> bool {
        false
    }
    /// Notes the output items of an event that ends the response. Returns whether earlier events reported all of them.
    fn ends_with(&mut self, _items: &ItemCounts) -> bool {
        true
    }
}

/// The event is not as expected, or the bytes to keep do not fit.
#[derive(Debug)]
pub(crate) struct GiveUp;

/// What the skim expects next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// No event is skimmed.
    Off,
    Start,
    Name,
    InName,
    /// In a name, after a backslash.
    InEscape,
    Colon,
    Value,
    /// An output item, or the end of the output.
    Item,
    /// In a string, an object or an array.
    In,
    /// In a number or a word.
    Bare,
    /// After a value: a comma, or the end of the object or array.
    Behind,
    /// After the event.
    Over,
}

/// How far an event was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Skim {
    at: Expected,
    /// How many bytes of a name came, or of a value that is compared with [`WORDS`].
    matched: u8,
    /// The level in the lowest three bits, and flags.
    flags: u16,
    /// One bit for each of [`NAMES`] that the current name may be. In a value, one bit for each of [`WORDS`] that the
    /// value may begin with.
    names: u32,
    /// The output items so far.
    items: ItemCounts,
}

/// The bits of the level.
const LEVEL: u16 = 7;
/// The current value is kept.
const KEEPS: u16 = 8;
/// A `response` was entered.
const ENTERED: u16 = 16;
/// The type of the event is one of Responses.
const TYPED: u16 = 32;
/// The type of the event ends a response.
const ENDS: u16 = 64;
/// The class of the current output item, unless it is of none of these.
const MESSAGE: u16 = 128;
const REASONING: u16 = 256;
const CALL: u16 = 512;
const CLASSES: u16 = MESSAGE | REASONING | CALL;
/// The event ends a response with output items that no earlier event reported.
const LOST: u16 = 1024;
/// That was reported.
const TOLD: u16 = 2048;

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

impl Skim {
    /// No event is skimmed.
    pub(crate) const OFF: Skim = Skim { at: Expected::Off, matched: 0, flags: 0, names: 0, items: ItemCounts::NONE };
    /// Before the first byte.
    pub(crate) const START: Skim = Skim { at: Expected::Start, ..Skim::OFF };

    pub(crate) fn is_on(&self) -> bool {
        // Without the reader this is always false, so that the compiler removes all of this module.
        Protocol::Responses.is_read() && self.at != Expected::Off
    }

    /// Whether the event was read to its end.
    pub(crate) fn is_over(&self) -> bool {
        self.at == Expected::Over
    }

    /// Whether a `response` was entered.
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

    /// Notes that the loss of output items is reported. Returns `false` if there is nothing new to report.
    pub(crate) fn tell_loss(&mut self) -> bool {
        let is_new = self.flags & (LOST | TOLD) == LOST;
        self.set(TOLD, self.has_loss());
        is_new
    }

    /// Whether the loss of output items was reported.
    pub(crate) fn has_told(&self) -> bool {
        self.has(TOLD)
    }

    fn level(&self) -> u16 {
        self.flags & LEVEL
    }

    fn set_level(&mut self, level: u16) {
        self.flags = self.flags & !LEVEL | level;
    }

    fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    fn set(&mut self, flag: u16, on: bool) {
        self.flags = if on { self.flags | flag } else { self.flags & !flag };
    }

    /// Reads more of the event. `balance` follows the current value.
    #[inline]
    pub(crate) fn feed(&mut self, balance: &mut Balance, bytes: &[u8], out: &mut dyn SkimOut) -> Result<(), GiveUp> {
        let mut rest = bytes;
        while let Some((&byte, behind)) = rest.split_first() {
            visit!(1);
            if matches!(self.at, Expected::In | Expected::Bare) {
                let end = if self.at == Expected::In {
                    balance.feed_value(rest)
                } else {
                    rest.iter().position(|byte| is_blank(*byte) || matches!(byte, b',' | b'}' | b']'))
                };
                let (value, after) = rest.split_at_checked(end.unwrap_or(rest.len())).ok_or(GiveUp)?;
                self.follow(value);
                if self.has(KEEPS) {
                    self.write(value, out)?;
                }
                rest = after;
                if end.is_some() {
                    (self.at, self.names) = (Expected::Behind, 0);
                }
                continue;
            }
            let level = self.level();
            match self.at {
                Expected::InName => match byte {
                    b'"' => {
                        let is_whole = |name: &str| name.len() == usize::from(self.matched);
                        self.names = names(|name, at| self.names & at != 0 && is_whole(name));
                        self.at = Expected::Colon;
                    }
                    // The reader would unescape the name, which the skim cannot.
                    b'\\' if level != ITEM => return Err(GiveUp),
                    b'\\' => (self.names, self.at) = (0, Expected::InEscape),
                    byte => {
                        let goes_on = |name: &str| name.as_bytes().get(usize::from(self.matched)) == Some(&byte);
                        self.names = names(|name, at| self.names & at != 0 && goes_on(name));
                        self.matched = self.matched.saturating_add(1);
                    }
                },
                Expected::InEscape => self.at = Expected::InName,
                _ if is_blank(byte) => {}
                Expected::Start if byte == b'{' => {
                    self.at = Expected::Name;
                    self.set_level(EVENT);
                    self.write(b"{", out)?;
                }
                Expected::Name if byte == b'"' => {
                    (self.at, self.matched) = (Expected::InName, 0);
                    self.names = names(|_, at| level_of(at) == level);
                }
                Expected::Name | Expected::Behind if byte == b'}' && level != OUTPUT => self.close(byte, out)?,
                Expected::Item | Expected::Behind if byte == b']' && level == OUTPUT => self.close(byte, out)?,
                Expected::Colon if byte == b':' => self.at = Expected::Value,
                Expected::Behind if byte == b',' => {
                    self.at = if level == OUTPUT { Expected::Item } else { Expected::Name }
                }
                Expected::Value if self.enters(byte) => {
                    // If there are several outputs, the last one counts.
                    self.items = ItemCounts::NONE;
                    if self.names == RESPONSE_NAME {
                        self.separate(out)?;
                        self.write(b"\"response\":{", out)?;
                        self.set_level(RESPONSE);
                        self.at = Expected::Name;
                        self.flags |= ENTERED;
                    } else {
                        self.set_level(OUTPUT);
                        self.at = Expected::Item;
                    }
                    self.names = 0;
                }
                Expected::Value => {
                    let is_kept = self.names & !OUTPUT_NAME != 0 && level != ITEM;
                    if is_kept {
                        self.separate(out)?;
                        let name = NAMES.get(self.names.trailing_zeros() as usize).map_or("", |(name, _)| name);
                        for piece in [b"\"", name.as_bytes(), b"\":"] {
                            self.write(piece, out)?;
                        }
                    }
                    self.begin(byte, is_kept, balance)?;
                    continue;
                }
                Expected::Item if byte == b'{' => {
                    self.set(CLASSES, false);
                    self.set_level(ITEM);
                    self.at = Expected::Name;
                }
                // A value that is no object is no item.
                Expected::Item => {
                    self.begin(byte, false, balance)?;
                    continue;
                }
                Expected::Off
                | Expected::Start
                | Expected::Name
                | Expected::Colon
                | Expected::Behind
                | Expected::Over
                | Expected::In
                | Expected::Bare => return Err(GiveUp),
            }
            rest = behind;
        }
        Ok(())
    }

    /// Whether the event ends a response, by its type or else by its name.
    fn ends(&self, out: &dyn SkimOut) -> bool {
        self.has(ENDS) || !self.has(TYPED) && out.ends_by_name()
    }

    /// Whether the value that begins with this byte is read member by member, or item by item.
    fn enters(&self, byte: u8) -> bool {
        matches!((self.names, byte), (RESPONSE_NAME, b'{') | (OUTPUT_NAME, b'['))
    }

    /// Begins a value.
    fn begin(&mut self, byte: u8, is_kept: bool, balance: &mut Balance) -> Result<(), GiveUp> {
        *balance = Balance::NOTHING;
        self.matched = 0;
        if self.names == TYPE_NAME {
            // If the event has several types, the last one counts.
            self.flags &= !(TYPED | ENDS);
        } else if self.names == ITEM_TYPE_NAME {
            self.set(CLASSES, false);
        }
        let words = WORDS.iter().enumerate().filter(|(_, (_, name, _))| self.names & name != 0);
        self.names = words.fold(0, |all, (at, _)| all | 1u32.wrapping_shl(at as u32));
        self.set(KEEPS, is_kept);
        self.at = match byte {
            b'{' | b'[' | b'"' => Expected::In,
            b',' | b'}' | b']' | b':' => return Err(GiveUp),
            _ => Expected::Bare,
        };
        Ok(())
    }

    /// Ends the object or array that was entered last.
    fn close(&mut self, byte: u8, out: &mut dyn SkimOut) -> Result<(), GiveUp> {
        let level = self.level();
        self.set_level(level.saturating_sub(1));
        self.at = Expected::Behind;
        match level {
            OUTPUT => return Ok(()),
            ITEM => {
                let class = match self.flags & CLASSES {
                    MESSAGE => Class::Message,
                    REASONING => Class::Reasoning,
                    CALL => Class::Call,
                    _ => Class::Other,
                };
                self.items.add(class);
                return Ok(());
            }
            EVENT => {
                self.at = Expected::Over;
                let is_lost = self.ends(out) && !out.ends_with(&self.items);
                self.set(LOST, is_lost);
            }
            _ => {}
        }
        self.write(&[byte], out)
    }

    /// Compares the next bytes of a value with [`WORDS`].
    fn follow(&mut self, value: &[u8]) {
        for byte in value {
            if self.names == 0 {
                return;
            }
            let at = usize::from(self.matched);
            self.matched = self.matched.saturating_add(1);
            for (row, (known, _, flag)) in WORDS.iter().enumerate() {
                let bit = 1u32.wrapping_shl(row as u32) & self.names;
                if bit == 0 {
                    continue;
                }
                if known.get(at) != Some(byte) {
                    self.names &= !bit;
                } else if known.len() == at.saturating_add(1) {
                    self.flags |= flag;
                }
            }
        }
    }

    /// Writes the comma before a member or an item, unless it is the first.
    fn separate(&mut self, out: &mut dyn SkimOut) -> Result<(), GiveUp> {
        match out.last() {
            Some(b'{') => Ok(()),
            _ => self.write(b",", out),
        }
    }

    /// Keeps bytes.
    fn write(&mut self, bytes: &[u8], out: &mut dyn SkimOut) -> Result<(), GiveUp> {
        if out.put(bytes) {
            Ok(())
        } else {
            Err(GiveUp)
        }
    }
}

/// Returns the bits of the wanted names.
fn names(wanted: impl Fn(&str, u32) -> bool) -> u32 {
    let bits = NAMES.iter().enumerate().map(|(at, (name, _))| (name, 1u32.wrapping_shl(at as u32)));
    bits.filter(|(name, bit)| wanted(name, *bit)).fold(0, |all, (_, bit)| all | bit)
}

/// Returns the level of the name with this bit.
fn level_of(bit: u32) -> u16 {
    NAMES.get(bit.trailing_zeros() as usize).map_or(0, |(_, level)| *level)
}
