//! Judges a stream by the rules of its protocol.

mod anthropic;
mod calls;
mod chat;
mod findings;
mod gemini;
mod members;
mod responses;
pub mod rules;

use crate::report::{is_foreign, verdict};
use deltawire::chat::{ApiError, Chunk};
use deltawire::json::Value;
use deltawire::stream::{Malformed, Pending, Protocol};
use deltawire::{End, Error, Event, Flow, Handler, Quirk, Update, Verdict};
pub use findings::Finding;
use findings::Findings;

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
            findings: Findings::new(each),
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
            return findings.add(if is_other { &rules::NOT_JUDGED } else { &rules::NO_STREAM }, verdict(end));
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
        // What is wrong with a whole answer is that it is no stream, which its quirk says.
        let is_body = chunk.quirks().contains(Quirk::JsonBody);
        match self.protocol {
            Protocol::Anthropic | Protocol::Responses if is_body => {}
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
