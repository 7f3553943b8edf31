//! Logs the results of all accessors of a chunk.

use super::log::Log;
use deltawire::chat::{ApiError, Chunk, ChunkMember, ErrorPart, FinishReason, NamePiece, Usage};
use deltawire::json::{Fragment, Text, Value, ValueKind};
use deltawire::Update;

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
        // A chunk that is read alone does not know whether an earlier one had the choice of its message.
        let has_message = chunk.get("choices").is_some_and(|choices| {
            let mut choices = choices.elements().map_while(Result::ok);
            choices
                .any(|choice| matches!(choice.get("message"), Ok(Some(message)) if message.kind() == ValueKind::Object))
        });
        for (choice, update) in chunk.deltas().filter(|_| !has_message) {
            self.log.line("  flat");
            self.log.number("choice", u64::from(choice));
            self.update(&update);
        }
    }

    fn finish(&mut self, reason: Option<FinishReason<'_>>) {
        let Some(reason) = reason else { return };
        self.text("finish", Some(reason.text()));
        self.log.number("kind", u64::from(reason.kind().number()));
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

    /// Logs an update as pulled, without a tracker.
    fn update(&mut self, update: &Update<'_>) {
        match update {
            Update::Role(text) => self.text("role", Some(*text)),
            Update::Content(text) => self.text("content", Some(*text)),
            Update::Reasoning(text) => self.text("reasoning", Some(*text)),
            Update::Refusal(text) => self.text("refusal", Some(*text)),
            Update::Call(call) => {
                assert!(!call.opens && !call.reuses, "only a tracker knows which call opens");
                self.log.number("call", u64::from(call.call));
                self.count("index", call.index.map(u64::from));
                self.text("id", call.id);
                self.text("kind", call.kind);
                self.log.number("custom", u64::from(call.custom));
            }
            Update::CallName { call, text, piece } => {
                assert_eq!(*piece, NamePiece::Appends, "only a tracker knows what a name replaces");
                self.log.number("call", u64::from(*call));
                self.text("name", Some(*text));
            }
            Update::CallArguments { call, text } => {
                self.log.number("call", u64::from(*call));
                self.text("arguments", Some(*text));
            }
            Update::FunctionName { text, piece } => {
                assert_eq!(*piece, NamePiece::Appends, "only a tracker knows what a name replaces");
                self.text("function name", Some(*text));
            }
            Update::FunctionArguments(text) => self.text("function arguments", Some(*text)),
            Update::Audio(audio) => self.value("audio", Some(*audio)),
            Update::Annotations(value) => self.value("annotations", Some(*value)),
            Update::Signature(text) => self.text("signature", Some(*text)),
            Update::Media(value) | Update::Native(value) => self.value("part", Some(*value)),
            Update::Logprobs(logprobs) => self.value("logprobs", Some(*logprobs)),
            Update::Meta(meta, text) => {
                self.log.number("meta", *meta as u64);
                self.text("text", Some(*text));
            }
            Update::Member(member) => {
                self.log.number("call", u64::from(member.call));
                self.text("name", Some(member.name));
                self.value("value", Some(member.value));
            }
            Update::Finish(reason) => self.finish(Some(*reason)),
            Update::ChoiceError(error) => self.value("choice error", error.value()),
            Update::Usage(usage) => self.value("usage", Some(usage.value())),
            Update::Error(error) => self.value("error", error.value()),
            _ => panic!("an update that is not known"),
        }
    }
}
