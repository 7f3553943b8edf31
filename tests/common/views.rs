//! Logs the results of all accessors of a chunk.

use super::log::Log;
use deltawire::chat::{ApiError, Chunk, ChunkMember, ErrorPart, Usage};
use deltawire::json::{Fragment, Text, Value, ValueKind};

/// The raw bytes that views point into, to compare their positions too.
struct Views<'l> {
    log: &'l mut Log,
    payload: *const u8,
    len: usize,
}

/// Logs everything about a chunk except its name, its range and its quirks, which are logged elsewhere.
pub fn chunk(log: &mut Log, chunk: &Chunk<'_>) {
    let payload = chunk.payload();
    log.line(" views");
    log.put("payload", payload);
    Views { log, payload: payload.as_ptr(), len: payload.len() }.chunk(chunk);
}

impl Views<'_> {
    /// Logs a text, decoded in every way, and its position.
    fn text(&mut self, name: &str, text: Option<Text<'_>>) {
        let Some(text) = text else { return };
        self.raw(name, text.raw());
        let mut decoded = String::new();
        for fragment in text.fragments() {
            match fragment {
                Fragment::Str(run) => decoded.push_str(run),
                Fragment::Char(char) => decoded.push(char),
            }
        }
        std::str::from_utf8(decoded.as_bytes()).expect("text is UTF-8");
        let quirks = text.quirks();
        assert_eq!(text.decoded_len(), decoded.len(), "decoded_len");
        assert!(text == *decoded, "a text equals what it decodes to");
        if let Some(str) = text.as_str() {
            assert_eq!(str, decoded, "as_str");
        }
        self.log.number("str", u64::from(text.as_str().is_some()));
        self.log.put("text", decoded.as_bytes());
        if !quirks.is_empty() {
            quirks.iter().for_each(|quirk| self.log.number("odd", quirk as u64));
        }
    }

    fn raw(&mut self, name: &str, raw: &[u8]) {
        let start = (raw.as_ptr() as usize).wrapping_sub(self.payload as usize);
        let inside = start <= self.len && raw.len() <= self.len - start;
        assert!(inside || raw.is_empty(), "{name} lies outside of its payload");
        self.log.number(name, if inside { start as u64 } else { u64::MAX });
        self.log.put("raw", raw);
    }

    fn value(&mut self, name: &str, value: Option<Value<'_>>) {
        let Some(value) = value else { return };
        self.raw(name, value.raw());
        match value.kind() {
            ValueKind::String => self.text("string", value.as_text()),
            ValueKind::Number => {
                if let Some(number) = value.as_number() {
                    let decimal = number.to_decimal();
                    self.log.number("number", decimal.digits);
                    self.log.number("exp", decimal.exp10 as u32 as u64);
                    self.log.number("is", u64::from(decimal.negative) | u64::from(decimal.exact) << 1);
                    self.count("u64", number.to_u64());
                    self.count("i64", number.to_i64().map(|number| number as u64));
                }
            }
            _ => {}
        }
    }

    fn count(&mut self, name: &str, count: Option<u64>) {
        if let Some(count) = count {
            self.log.number(name, count);
        }
    }

    fn chunk(&mut self, chunk: &Chunk<'_>) {
        self.text("id", chunk.id());
        self.text("object", chunk.object());
        self.count("created", chunk.created());
        self.text("model", chunk.model());
        self.text("fingerprint", chunk.system_fingerprint());
        self.text("tier", chunk.service_tier());
        self.text("provider", chunk.provider());
        for field in ChunkMember::ALL {
            self.value("field", chunk.field(field));
        }
        for name in ["obfuscation", "x_groq", "choices", "id"] {
            self.value("get", chunk.get(name));
        }
        let is = |flag: bool, bit: u64| if flag { bit } else { 0 };
        let facts = is(chunk.is_whole_error(), 1) | is(chunk.is_plain_text(), 2);
        self.log.number("facts", facts);
        self.log.number("choices", u64::from(chunk.choice_count()));
        self.error(chunk.error());
        self.usage(chunk.usage());
    }

    fn usage(&mut self, usage: Option<Usage<'_>>) {
        let Some(usage) = usage else { return };
        self.value("usage", Some(usage.value()));
        let counts = usage.counts();
        self.log.number("has", u64::from(counts.has));
        counts.counts.iter().for_each(|count| self.log.number("n", *count));
        self.value("cost", usage.get("cost"));
    }

    fn error(&mut self, error: Option<ApiError<'_>>) {
        let Some(error) = error else { return };
        self.log.line("   error");
        self.value("whole", error.value());
        self.text("message", error.message());
        self.text("kind", error.kind());
        self.text("param", error.param());
        self.text("code", error.code());
        self.value("metadata", error.metadata());
        for part in [ErrorPart::Message, ErrorPart::Code, ErrorPart::Kind, ErrorPart::Param] {
            self.value("part", error.part(part));
        }
    }
}
