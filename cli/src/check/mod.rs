//! Judges a stream by the rules of its protocol.

mod anthropic;
mod calls;
mod chat;
mod findings;
mod gemini;
mod items;
mod members;
mod responses;
pub mod rules;

use crate::report::{is_foreign, verdict};
use deltawire::chat::{ApiError, Chunk};
use deltawire::delta::FinishKind;
use deltawire::json::Value;
use deltawire::stream::{Pending, Protocol};
use deltawire::{End, Error, Event, Flow, Handler, Limits, Quirk, Stop, Update, Verdict};
pub use findings::Finding;
use findings::Findings;

/// How many early pings are known. Those beyond are quirks in any stream.
const PINGS: usize = 1024;

/// Reads a stream as a handler, and keeps what its rules need to know of the events so far.
pub struct Checker {
    pub findings: Findings,
    calls: calls::Calls,
    chat: chat::Chat,
    anthropic: anthropic::Anthropic,
    responses: responses::Responses,
    gemini: gemini::Gemini,
    /// Where `ping` came before the first chunk, and as which event: no quirk in a stream of Anthropic's.
    pings: Vec<(u64, u64)>,
    /// Whether the event is such a `ping`.
    is_early_ping: bool,
    /// Whether a chunk came that is no error.
    has_chunk: bool,
    /// That a choice finished because of an error, unless the event has the error, too.
    failed: Option<String>,
    /// Whether the event has an error.
    has_error: bool,
}

impl Checker {
    /// A checker that lists `each` findings of each code, for a parser with these limits.
    pub fn new(each: u64, limits: &Limits) -> Self {
        Checker {
            findings: Findings::new(each),
            calls: calls::Calls::default(),
            chat: chat::Chat::default(),
            anthropic: anthropic::Anthropic::default(),
            responses: responses::Responses::new(limits.max_event_len()),
            gemini: gemini::Gemini::default(),
            pings: Vec::new(),
            is_early_ping: false,
            has_chunk: false,
            failed: None,
            has_error: false,
        }
    }

    /// How many events came.
    pub fn events(&self) -> u64 {
        self.findings.event
    }

    /// Tells where the last event began. A checker pauses after an event that does not say so itself.
    pub fn place(&mut self, offset: u64) {
        self.findings.place(offset);
    }

    /// Ends the event before.
    fn end_event(&mut self) {
        let has_error = std::mem::take(&mut self.has_error);
        if let Some(failed) = self.failed.take().filter(|_| !has_error) {
            self.findings.add(&rules::API_ERROR, failed);
        }
    }

    /// Reports the early pings if it is known that they are not of the protocol.
    fn judge_pings(&mut self, protocol: Option<Protocol>) {
        let event = self.findings.event;
        for (offset, at) in std::mem::take(&mut self.pings) {
            if protocol.is_some_and(|protocol| protocol != Protocol::Anthropic) {
                self.findings.event = at;
                self.findings.add_quirk(Quirk::KeepAliveData, offset);
            }
        }
        self.findings.event = event;
    }

    /// Adds what only the end of the stream shows.
    pub fn finish(&mut self, end: &End) {
        self.end_event();
        self.judge_pings(end.protocol);
        let protocol = end.protocol.unwrap_or(Protocol::Chat);
        let Checker { findings, calls, .. } = self;
        (findings.offset, findings.protocol) = (end.offset, protocol);
        if is_foreign(end) {
            let is_other = end.verdict == Verdict::OtherProtocol;
            return findings.add(if is_other { &rules::NOT_JUDGED } else { &rules::NO_STREAM }, verdict(end));
        }
        match end.pending {
            Pending::Nothing => {}
            Pending::Line => findings.add(&rules::EVENT_CUT, "the stream ended inside a line"),
            _ => findings.add(&rules::EVENT_CUT, "the stream ended inside an event"),
        }
        // An event of another protocol can be an error without a delta.
        if end.api_error && !findings.counts.contains_key(rules::API_ERROR.code) {
            findings.add(&rules::API_ERROR, end);
        }
        // A stream that the API broke off by an error is not cut as well.
        let is_over = !end.api_error;
        let is_cut = is_over && matches!(end.verdict, Verdict::Truncated | Verdict::Lost);
        if is_cut {
            findings.add(&rules::STREAM_CUT, format_args!("the stream ended without it ({})", end.verdict));
        }
        calls.finish(is_over && !end.body, findings);
        match protocol {
            _ if !is_over || end.body => {}
            Protocol::Chat => self.chat.finish(end, findings),
            // Its end and that of the stream are one thing.
            Protocol::Anthropic if is_cut => {}
            Protocol::Anthropic => self.anthropic.finish(findings),
            Protocol::Gemini => self.gemini.finish(findings),
            _ => {}
        }
    }
}

impl Checker {
    fn chunk(&mut self, chunk: &Chunk<'_>) {
        let protocol = chunk.protocol();
        if chunk.error().is_none() {
            self.has_chunk = true;
            self.judge_pings(Some(protocol));
        }
        let Checker { findings, .. } = self;
        findings.protocol = protocol;
        // What is wrong with a whole answer is that it is no stream, which its quirk says.
        let is_body = chunk.quirks().contains(Quirk::JsonBody);
        match protocol {
            Protocol::Anthropic | Protocol::Responses | Protocol::Gemini if is_body => {}
            Protocol::Chat => self.chat.chunk(chunk, findings),
            Protocol::Anthropic => self.anthropic.event(chunk, findings),
            Protocol::Responses => self.responses.event(chunk, findings),
            Protocol::Gemini => self.gemini.chunk(chunk, findings),
            _ => {}
        }
    }

    fn keep_alive(&mut self, payload: &[u8]) {
        let event = Value::from_raw(payload);
        self.is_early_ping = !self.has_chunk && members::text(&event, "type").is_some_and(|kind| kind == "ping");
        self.responses.keep_alive(&event, &mut self.findings);
    }
}

impl Handler for Checker {
    fn event(&mut self, event: &Event<'_>) -> Flow {
        self.end_event();
        let start = match event {
            Event::Chunk(chunk) => chunk.wire_range().start,
            Event::Malformed(malformed) => malformed.wire_range().start,
            Event::TooLong { offset } => *offset,
            Event::CommentTooLong { offset } => {
                self.findings.add_at(*offset, &rules::TOO_LONG, None, "a comment was too long and left out");
                return Flow::Continue(());
            }
            Event::Sse(_) | Event::Done | Event::KeepAlive(_) => {
                self.findings.event += 1;
                self.findings.begin_unplaced();
                match event {
                    Event::KeepAlive(payload) => self.keep_alive(payload),
                    Event::Done => {
                        self.anthropic.done(&mut self.findings);
                        self.responses.done(&mut self.findings);
                    }
                    _ => {}
                }
                return Flow::Break(Stop::Pause);
            }
            _ => return Flow::Continue(()),
        };
        self.findings.event += 1;
        self.findings.offset = start;
        match event {
            Event::Chunk(chunk) => self.chunk(chunk),
            Event::Malformed(malformed) => {
                let fault = malformed.fault();
                let what = format_args!("{} at byte {} of it", fault.kind, fault.offset);
                self.findings.add(&rules::PAYLOAD_MALFORMED, what);
            }
            _ => self.findings.add_at(start, &rules::TOO_LONG, None, "an event was too long and left out"),
        }
        Flow::Continue(())
    }

    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        let Checker { findings, .. } = self;
        self.calls.update(choice, &update, findings);
        match &update {
            Update::Finish(reason) => {
                self.chat.finished(choice, reason, findings);
                if reason.kind() == FinishKind::Error {
                    self.failed = Some(format!("choice {choice} finishes with {:?}", reason.text()));
                }
            }
            Update::Usage(usage) => self.chat.used(usage, findings),
            Update::FunctionName { .. } | Update::Call(_) => self.chat.called(choice),
            Update::Error(error) | Update::ChoiceError(error) => {
                self.has_error = true;
                findings.add(&rules::API_ERROR, shown(error));
            }
            _ => {}
        }
        Flow::Continue(())
    }

    fn quirk(&mut self, quirk: Quirk, offset: u64) -> Flow {
        if quirk == Quirk::KeepAliveData && std::mem::take(&mut self.is_early_ping) && self.pings.len() < PINGS {
            self.pings.push((offset, self.findings.event));
        } else {
            self.findings.add_quirk(quirk, offset);
        }
        Flow::Continue(())
    }

    fn limit(&mut self, error: &Error) -> Flow {
        self.findings.add_at(error.offset(), &rules::TOO_MANY, None, error);
        Flow::Continue(())
    }
}

fn shown(error: &ApiError<'_>) -> String {
    error.message().or_else(|| error.kind()).or_else(|| error.code()).map_or("an error".into(), |text| text.to_string())
}
