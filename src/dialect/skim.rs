//! Reduces an event of Responses that is over the limit to the members that the reader uses.
//!
//! Events about the whole response repeat it: its instructions, its tools and, at the end, all of its output. [`Skim`]
//! reads such an event byte by byte and copies the members that [`super::read()`] looks at, so that the result is an
//! event like any other. It stores no bytes of the event: it decides on each byte as it comes, wherever reads cut the
//! event.

use super::protocol::Protocol;
use crate::json::Balance;
use crate::visits::visit;

/// The members that are kept, each with its level: the event or its `response`. The members at the level of output
/// items are looked at even if the item is not kept.
static NAMES: [(&str, u16); 16] = [
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
    ("type", ITEM),
    ("role", ITEM),
];
/// The bits of some names in [`NAMES`].
const TYPE_NAME: u16 = 1;
const RESPONSE_NAME: u16 = 2;
const OUTPUT_NAME: u16 = 16;
const ITEM_TYPE_NAME: u16 = 1 << 14;
const ROLE_NAME: u16 = 1 << 15;

/// The levels at which a member or an element may lie.
const EVENT: u16 = 1;
const RESPONSE: u16 = 2;
const OUTPUT: u16 = 3;
const ITEM: u16 = 4;

/// Words that the value of a member may begin with, as JSON: the word, the bit of the member's name, and the flag that
/// the word sets. They are the types of the events that end a response, the prefix of all types of Responses, the types
/// of a tool call of the client, and the role.
static WORDS: [(&[u8], u16, u16); 8] = [
    (b"\"response.completed\"", TYPE_NAME, ENDS),
    (b"\"response.incomplete\"", TYPE_NAME, ENDS),
    (b"\"response.failed\"", TYPE_NAME, ENDS),
    (b"\"response.cancelled\"", TYPE_NAME, ENDS),
    (b"\"response.", TYPE_NAME, TYPED),
    (b"\"function_call\"", ITEM_TYPE_NAME, CALLS),
    (b"\"custom_tool_call\"", ITEM_TYPE_NAME, CALLS),
    (b"\"assistant\"", ROLE_NAME, ROLE),
];
/// An output item that reports only a role.
const ROLE_ITEM: &[u8] = b",{\"type\":\"message\",\"role\":\"assistant\"}";

/// The destination of kept bytes, and what the stream knows about the event. The default methods discard the bytes.
pub(crate) trait SkimOut {
    /// Appends bytes. Returns `false`, with no effect, if they do not fit.
    fn put(&mut self, _bytes: &[u8]) -> bool {
        true
    }
    /// Returns how many bytes were kept.
    fn len(&self) -> u32 {
        0
    }
    /// Returns the last kept byte.
    fn last(&self) -> Option<u8> {
        None
    }
    /// Removes the bytes from one offset to another. Returns `false`, with no effect, if it cannot.
    fn cut(&mut self, _from: u32, _to: u32) -> bool {
        true
    }
    /// Whether this output item has nothing left to report.
    fn is_reported(&self, _item: u32) -> bool {
        true
    }
    /// Whether the event ends a response, judging by its name. Returns `None` if the name does not decide it.
    fn ends_by_name(&self) -> Option<bool> {
        None
    }
    /// Notes that the output has a tool call of the client.
    fn calls(&mut self) {}
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
    names: u16,
    /// The index of the next output item.
    item: u16,
    /// The range of kept output items, which may be removed again: from the first kept item to the end of the last
    /// whole item.
    kept_from: u32,
    kept_to: u32,
}

/// The bits of the level.
const LEVEL: u16 = 7;
/// The current value or output item is kept.
const KEEPS: u16 = 8;
/// A `response` or an `output` was entered.
const ENTERED: u16 = 16;
/// The type of the event is one of Responses.
const TYPED: u16 = 32;
/// The type of the event ends a response.
const ENDS: u16 = 64;
/// Output items are not kept, because the event was known not to end a response when the output began.
const VOID: u16 = 128;
/// Because of [`VOID`], an output item was left out that had something to report.
const WITHHELD: u16 = 256;
/// No further output item is kept.
const DROPS: u16 = 512;
/// An output item did not fit, or was left out although the event ends a response.
const LOST: u16 = 1024;
/// An output item is a tool call of the client.
const CALLS: u16 = 2048;
/// An output item has the role `assistant`.
const ROLE: u16 = 4096;

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

impl Skim {
    /// No event is skimmed.
    pub(crate) const OFF: Skim =
        Skim { at: Expected::Off, matched: 0, flags: 0, names: 0, item: 0, kept_from: 0, kept_to: 0 };
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

    /// Whether a `response` or an `output` was entered.
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

    fn level(&self) -> u16 {
        self.flags & LEVEL
    }

    fn set_level(&mut self, level: u16) {
        self.flags = self.flags & !LEVEL | level;
    }

    fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// Whether the skim is in an output item whose bytes are kept.
    fn keeps_item(&self) -> bool {
        self.level() == ITEM && self.has(KEEPS)
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
                    self.value_ends(out);
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
                Expected::Name | Expected::Behind if byte == b'}' && level == ITEM => {
                    if self.has(KEEPS) {
                        self.write(b"}", out)?;
                    }
                    self.set_level(OUTPUT);
                    self.value_ends(out);
                    rest = behind;
                    continue;
                }
                Expected::Name | Expected::Behind if byte == b'}' && level != OUTPUT => self.close(byte, out)?,
                Expected::Item | Expected::Behind if byte == b']' && level == OUTPUT => self.close(byte, out)?,
                Expected::Colon if byte == b':' => self.at = Expected::Value,
                Expected::Behind if byte == b',' => {
                    self.at = if level == OUTPUT { Expected::Item } else { Expected::Name }
                }
                Expected::Value if self.enters(byte) => {
                    self.separate(out)?;
                    let is_response = self.names == RESPONSE_NAME;
                    self.write(if is_response { b"\"response\":{" } else { b"\"output\":[" }, out)?;
                    self.set_level(if is_response { RESPONSE } else { OUTPUT });
                    self.at = if is_response { Expected::Name } else { Expected::Item };
                    self.flags |= ENTERED;
                    let is_void = self.ends(out) == Some(false);
                    self.set(VOID, is_void);
                    self.item = 0;
                    (self.kept_from, self.kept_to) = (out.len(), out.len());
                    self.names = 0;
                }
                Expected::Value => {
                    if self.names != 0 && level != ITEM {
                        self.separate(out)?;
                        let name = NAMES.get(self.names.trailing_zeros() as usize).map_or("", |(name, _)| name);
                        for piece in [b"\"", name.as_bytes(), b"\":"] {
                            self.write(piece, out)?;
                        }
                    }
                    let is_kept = if level == ITEM { self.has(KEEPS) } else { self.names != 0 };
                    self.begin(byte, is_kept, balance)?;
                    continue;
                }
                Expected::Item => {
                    let is_new = !out.is_reported(self.item.into());
                    let is_kept = is_new && !self.has(VOID);
                    self.flags |= if is_new && self.has(VOID) { WITHHELD } else { 0 };
                    self.names = 0;
                    self.set(KEEPS, false);
                    if !self.has(DROPS) {
                        self.separate(out)?;
                        if !is_kept && !self.has(DROPS) {
                            // A placeholder takes the place of the item, so that the next item keeps its index.
                            self.write(b"0", out)?;
                        }
                    }
                    let is_kept = is_kept && !self.has(DROPS);
                    if byte != b'{' {
                        self.begin(byte, is_kept, balance)?;
                        continue;
                    }
                    self.set(KEEPS, is_kept);
                    self.set_level(ITEM);
                    self.at = Expected::Name;
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
            if self.keeps_item() {
                self.write(&[byte], out)?;
            }
            rest = behind;
        }
        Ok(())
    }

    /// Whether the event ends a response, by its type or else by its name. Returns `None` if neither decides it.
    fn ends(&self, out: &dyn SkimOut) -> Option<bool> {
        if self.has(TYPED) {
            Some(self.has(ENDS))
        } else {
            out.ends_by_name()
        }
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
        }
        let words = WORDS.iter().enumerate().filter(|(_, (_, name, _))| self.names & name != 0);
        self.names = words.fold(0, |all, (at, _)| all | 1u16.wrapping_shl(at as u32));
        self.set(KEEPS, is_kept);
        self.at = match byte {
            b'{' | b'[' | b'"' => Expected::In,
            b',' | b'}' | b']' | b':' => return Err(GiveUp),
            _ => Expected::Bare,
        };
        Ok(())
    }

    /// Ends a value or an output item.
    fn value_ends(&mut self, out: &dyn SkimOut) {
        self.at = Expected::Behind;
        self.names = 0;
        if self.level() == OUTPUT {
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

    /// Ends the object or array that was entered last.
    fn close(&mut self, byte: u8, out: &mut dyn SkimOut) -> Result<(), GiveUp> {
        let level = self.level();
        if level == OUTPUT && self.has(ROLE) && self.has(LOST) {
            let item = if out.last() == Some(b'[') { ROLE_ITEM.get(1..) } else { Some(ROLE_ITEM) };
            out.put(item.unwrap_or_default());
            self.kept_to = out.len();
        }
        self.set_level(level.saturating_sub(1));
        self.at = Expected::Behind;
        if level == EVENT {
            self.at = Expected::Over;
            if self.ends(out) == Some(true) {
                if self.has(CALLS) {
                    out.calls();
                }
                self.flags |= if self.has(WITHHELD) { LOST } else { 0 };
            }
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
                let bit = 1u16.wrapping_shl(row as u32) & self.names;
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
            Some(b'{' | b'[') => Ok(()),
            _ => self.write(b",", out),
        }
    }

    /// Keeps bytes. If they do not fit, gives up the current output item or, if that is not enough, all output items,
    /// because the other members of the event matter more.
    fn write(&mut self, bytes: &[u8], out: &mut dyn SkimOut) -> Result<(), GiveUp> {
        if out.put(bytes) {
            return Ok(());
        }
        let in_output = self.level() >= OUTPUT;
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
        // Without the earlier items, later items would get wrong indexes, so none of those is kept either.
        self.flags |= DROPS | LOST;
        self.kept_to = self.kept_from;
        if in_output || out.put(bytes) {
            Ok(())
        } else {
            Err(GiveUp)
        }
    }
}

/// Returns the bits of the wanted names.
fn names(wanted: impl Fn(&str, u16) -> bool) -> u16 {
    let bits = NAMES.iter().enumerate().map(|(at, (name, _))| (name, 1u16.wrapping_shl(at as u32)));
    bits.filter(|(name, bit)| wanted(name, *bit)).fold(0, |all, (_, bit)| all | bit)
}

/// Returns the level of the name with this bit.
fn level_of(bit: u16) -> u16 {
    NAMES.get(bit.trailing_zeros() as usize).map_or(0, |(_, level)| *level)
}
