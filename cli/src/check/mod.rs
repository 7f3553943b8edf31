//! Judges a stream by the rules of its protocol.

mod anthropic;
mod calls;
mod chat;
mod gemini;
mod responses;
pub mod rules;

use crate::report::is_foreign;
use deltawire::chat::{ApiError, Chunk};
use deltawire::json::{Value, ValueKind};
use deltawire::stream::{Malformed, Pending, Protocol};
use deltawire::{End, Error, Event, Flow, Handler, Quirk, Update, Verdict};
use rules::{Rule, Severity};
use std::collections::BTreeMap;
use std::fmt::Display;

/// A place where a stream does not do what a rule demands.
pub struct Finding {
    pub rule: &'static Rule,
    /// The quirk, if the rule is that there is none.
    pub quirk: Option<Quirk>,
    /// Where the event begins, in bytes from the beginning of the stream; at the end of the stream, its length.
    pub offset: u64,
    /// The number of the event, from 1, counted as `Meter::events` does; 0 if no event came.
    pub event: u64,
    /// What was found there.
    pub found: String,
}

impl Finding {
    /// The code of the rule; of a quirk, with the code of its row in docs/quirks.md.
    pub fn code(&self) -> String {
        let quirk = self.quirk.map(|quirk| format!("-{}", quirk.code()));
        self.rule.code.to_owned() + quirk.as_deref().unwrap_or_default()
    }
}

/// The findings so far.
#[derive(Default)]
pub struct Findings {
    /// Those that were not taken yet.
    pub list: Vec<Finding>,
    /// How many there are of each code. Those over the limit are only counted.
    pub counts: BTreeMap<String, u64>,
    pub errors: u64,
    pub warnings: u64,
    /// How many findings of a code are listed.
    each: u64,
    event: u64,
    offset: u64,
}

impl Findings {
    pub fn add(&mut self, rule: &'static Rule, found: impl Display) {
        self.add_at(self.offset, rule, None, found);
    }

    fn add_at(&mut self, offset: u64, rule: &'static Rule, quirk: Option<Quirk>, found: impl Display) {
        match rule.severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
        }
        let finding = Finding { rule, quirk, offset, event: self.event, found: found.to_string() };
        let count = self.counts.entry(finding.code()).or_default();
        *count += 1;
        if *count <= self.each {
            self.list.push(finding);
        }
    }
}

/// Reads a stream as a handler, and keeps what its rules need to know of the events so far.
pub struct Checker {
    pub findings: Findings,
    calls: calls::Calls,
    chat: chat::Chat,
    anthropic: anthropic::Anthropic,
    responses: responses::Responses,
    gemini: gemini::Gemini,
    /// The protocol of the last chunk.
    protocol: Protocol,
    /// Where the last event ended whose end is known.
    ended: u64,
}

impl Checker {
    /// A checker that lists `each` findings of each code.
    pub fn new(each: u64) -> Self {
        Checker {
            findings: Findings { each, ..Findings::default() },
            calls: calls::Calls::default(),
            chat: chat::Chat::default(),
            anthropic: anthropic::Anthropic::default(),
            responses: responses::Responses::default(),
            gemini: gemini::Gemini::default(),
            protocol: Protocol::Chat,
            ended: 0,
        }
    }

    /// How many events came.
    pub fn events(&self) -> u64 {
        self.findings.event
    }

    /// Adds what only the end of the stream shows.
    pub fn finish(&mut self, end: &End) {
        let Checker { findings, calls, .. } = self;
        findings.offset = end.offset;
        if is_foreign(end) {
            let is_other = end.verdict == Verdict::OtherProtocol;
            return findings.add(if is_other { &rules::NOT_JUDGED } else { &rules::NO_STREAM }, end);
        }
        match end.pending {
            Pending::Nothing => {}
            Pending::Line => findings.add(&rules::EVENT_CUT, "the stream ended inside a line"),
            _ => findings.add(&rules::EVENT_CUT, "the stream ended inside an event"),
        }
        // A stream that the API broke off by an error is not cut as well.
        let is_over = !end.api_error;
        if is_over && matches!(end.verdict, Verdict::Truncated | Verdict::Lost) {
            findings.add(&rules::STREAM_CUT, format_args!("the stream ended without it ({})", end.verdict));
        }
        let protocol = end.protocol.unwrap_or(Protocol::Chat);
        calls.finish(is_over && !end.body, protocol, findings);
        match protocol {
            _ if !is_over || end.body => {}
            Protocol::Chat => self.chat.finish(end, findings),
            Protocol::Anthropic => self.anthropic.finish(findings),
            Protocol::Gemini => self.gemini.finish(findings),
            _ => {}
        }
    }
}

impl Handler for Checker {
    fn event(&mut self, event: &Event<'_>) -> Flow {
        let range = match event {
            Event::Chunk(chunk) => chunk.wire_range(),
            Event::Malformed(malformed) => malformed.wire_range(),
            Event::TooLong { offset } => *offset..*offset,
            // These do not say where they are. They come after the event before.
            Event::Sse(_) | Event::Done | Event::KeepAlive(_) => self.ended..self.ended,
            _ => return Flow::Continue(()),
        };
        self.findings.event += 1;
        self.findings.offset = range.start;
        self.ended = range.end;
        Flow::Continue(())
    }

    fn chunk(&mut self, chunk: &Chunk<'_>) -> Flow {
        let Checker { findings, .. } = self;
        self.protocol = chunk.protocol();
        match self.protocol {
            Protocol::Chat => self.chat.chunk(chunk, findings),
            Protocol::Anthropic => self.anthropic.event(chunk, findings),
            Protocol::Responses => self.responses.event(chunk, findings),
            Protocol::Gemini => self.gemini.chunk(chunk, findings),
            _ => {}
        }
        Flow::Continue(())
    }

    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        let Checker { findings, .. } = self;
        self.calls.update(choice, &update, self.protocol, findings);
        match &update {
            Update::Finish(reason) => self.chat.finished(choice, reason, findings),
            Update::Usage(usage) => self.chat.used(usage, findings),
            Update::FunctionName { .. } | Update::Call(_) => self.chat.called(choice),
            Update::Error(error) | Update::ChoiceError(error) => findings.add(&rules::API_ERROR, shown(error)),
            _ => {}
        }
        Flow::Continue(())
    }

    fn quirk(&mut self, quirk: Quirk, offset: u64) -> Flow {
        self.findings.add_at(offset, &rules::QUIRK, Some(quirk), format_args!("{}: {quirk}", quirk.name()));
        Flow::Continue(())
    }

    fn keep_alive(&mut self, payload: &[u8]) -> Flow {
        self.responses.keep_alive(&Value::from_raw(payload), &mut self.findings);
        Flow::Continue(())
    }

    fn malformed(&mut self, malformed: &Malformed<'_>) -> Flow {
        let fault = malformed.fault();
        self.findings.add(&rules::PAYLOAD_MALFORMED, format_args!("{} at byte {} of it", fault.kind, fault.offset));
        Flow::Continue(())
    }

    fn too_long(&mut self, offset: u64) -> Flow {
        self.findings.add_at(offset, &rules::TOO_LONG, None, "an event was too long and left out");
        Flow::Continue(())
    }

    fn comment_too_long(&mut self, offset: u64) -> Flow {
        self.findings.add_at(offset, &rules::TOO_LONG, None, "a comment was too long and left out");
        Flow::Continue(())
    }

    fn limit(&mut self, error: &Error) -> Flow {
        self.findings.add_at(error.offset(), &rules::TOO_MANY, None, error);
        Flow::Continue(())
    }

    fn done(&mut self) -> Flow {
        self.anthropic.done(&mut self.findings);
        self.responses.done(&mut self.findings);
        Flow::Continue(())
    }
}

fn shown(error: &ApiError<'_>) -> String {
    error.message().or_else(|| error.kind()).or_else(|| error.code()).map_or("an error".into(), |text| text.to_string())
}

/// Returns a member that is there and not null.
fn member<'a>(object: &Value<'a>, name: &str) -> Option<Value<'a>> {
    object.get(name).ok().flatten().filter(|value| !value.is_null())
}

/// Returns a text that is not empty.
fn text(object: &Value<'_>, name: &str) -> Option<String> {
    let text = member(object, name)?.as_text()?.to_cow().into_owned();
    (!text.is_empty()).then_some(text)
}

fn number(object: &Value<'_>, name: &str) -> Option<u64> {
    member(object, name)?.as_number()?.to_u64()
}

/// Returns the elements of an array; nothing of anything else.
fn elements<'a>(array: Option<Value<'a>>) -> impl Iterator<Item = Value<'a>> {
    let array = array.filter(|value| value.kind() == ValueKind::Array);
    array.into_iter().flat_map(|array| array.elements().map_while(Result::ok))
}

/// Adds a finding if the text is another one than the first time. Keeps the first one.
fn same(first: &mut Option<String>, now: String, what: &str, rule: &'static Rule, findings: &mut Findings) {
    match first {
        None => *first = Some(now),
        Some(first) if *first == now => {}
        Some(first) => findings.add(rule, format_args!("{what} is {now:?}, and was {first:?}")),
    }
}

/// Compares the name of an event with its type, by the rule for a name that is missing, and that for another name.
fn name(chunk: &Chunk<'_>, kind: &str, rules: [&'static Rule; 2], findings: &mut Findings) {
    let name = String::from_utf8_lossy(chunk.event_name());
    let [missing, differs] = rules;
    if name.is_empty() {
        findings.add(missing, format_args!("the event of type {kind:?} has no name"));
    } else if name != kind {
        findings.add(differs, format_args!("the event of type {kind:?} has the name {name:?}"));
    }
}
