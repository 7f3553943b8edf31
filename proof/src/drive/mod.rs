//! Every function that the core offers, called on bytes that the compiler knows nothing about.
//!
//! A drive takes a stream and the size of the slices that it comes in, and answers with a hash of all that was read,
//! the same for every size. What a drive does itself must not be able to panic.

mod chat;
mod json;
mod message;
mod sse;
mod stream;
mod translate;
mod write;

pub use chat::chat;
pub use json::json;
pub use message::message;
pub use sse::{decoder, lines};
pub use stream::{pull, push};
pub use translate::translate;
pub use write::write;

use deltawire::json::{Text, Value};
use deltawire::QuirkSet;

/// FNV-1a, 64 bit.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }

    /// The bytes, and that they end.
    fn bytes(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.byte(byte));
        self.byte(0xff);
    }

    fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    fn quirks(&mut self, quirks: QuirkSet) {
        quirks.iter().for_each(|quirk| self.byte(quirk as u8));
    }

    /// All ways to read a text.
    fn text(&mut self, text: &Text<'_>) {
        self.bytes(text.raw());
        self.bytes(text.as_str().unwrap_or_default().as_bytes());
        for fragment in text.fragments() {
            self.bytes(fragment.encode(&mut [0; 4]).as_bytes());
        }
        let mut buffer = [0; 16];
        let copied = text.copy_to(&mut buffer);
        self.bytes(buffer.get(..copied.written).unwrap_or_default());
        self.byte(u8::from(copied.complete));
        let mut rest = *text;
        while !rest.is_empty() {
            let written = rest.take_to(&mut buffer);
            self.bytes(buffer.get(..written).unwrap_or_default());
        }
        self.number(text.decoded_len() as u64);
        self.byte(u8::from(*text == "stop"));
        self.quirks(text.quirks());
    }

    fn maybe(&mut self, text: Option<Text<'_>>) {
        match text {
            Some(text) => self.text(&text),
            None => self.byte(0),
        }
    }

    fn raw(&mut self, value: Option<Value<'_>>) {
        self.bytes(value.map_or(b"", |value| value.raw()));
    }

    fn count(&mut self, number: Option<u64>) {
        self.number(number.unwrap_or(u64::MAX));
    }
}
