//! What is counted of a stream.

use super::plot::Points;
use super::times::Times;
use deltawire::stream::Meter;
use deltawire::{Event, Flow, Handler, Update};
use std::collections::BTreeMap;
use std::time::Duration;

/// What is counted of a stream, as a handler.
pub struct Stats {
    pub meter: Meter,
    /// How many deltas came, by the name of their kind.
    pub(super) deltas: BTreeMap<&'static str, u64>,
    /// The finish reasons of the choices, in the words of chat completions if there are any for them.
    pub(super) finish_reasons: BTreeMap<u32, String>,
    pub(super) comments: u64,
    pub(super) keep_alives: u64,
    /// How many reads brought bytes.
    pub(super) reads: u64,
    /// When they came, unless the input is a plain file.
    pub(super) times: Option<Times>,
    /// The points of the plot, if one is wanted.
    points: Option<Points>,
}

impl Stats {
    pub fn new(is_plotted: bool) -> Self {
        Stats {
            meter: Meter::new(),
            deltas: BTreeMap::new(),
            finish_reasons: BTreeMap::new(),
            comments: 0,
            keep_alives: 0,
            reads: 0,
            times: None,
            points: is_plotted.then(Points::default),
        }
    }

    /// How many bytes of text came: content, reasoning, refusals and arguments, as UTF-8.
    pub fn text(&self) -> u64 {
        let Meter { content, reasoning, refusal, arguments, .. } = &self.meter;
        [content, reasoning, refusal, arguments].iter().map(|amount| amount.bytes).sum()
    }

    /// Notes that a read came, after the parser read its bytes. `tokens` is how many events with a token had come before.
    pub fn read(&mut self, at: Option<Duration>, tokens: u64) {
        self.reads += 1;
        let Some(at) = at else { return };
        let has_token = self.meter.token_events > tokens;
        self.times.get_or_insert_with(|| Times::new(at)).read(at, has_token);
        let (text, kind) = (self.text(), self.meter.last.filter(|_| has_token).map(|token| token.kind));
        if let Some(points) = &mut self.points {
            points.add(at, text, kind);
        }
    }

    /// Notes when the end came.
    pub fn end(&mut self, at: Option<Duration>) {
        if let (Some(times), Some(at)) = (&mut self.times, at) {
            times.ended = at;
        }
    }

    /// The timeline, if one is wanted and there are times.
    pub fn plot(&self) -> Option<String> {
        Some(self.points.as_ref()?.draw(self.times.as_ref()?, &self.meter))
    }
}

/// The name of a kind of delta, as `deltawire events` prints it.
fn kind(update: &Update<'_>) -> &'static str {
    match update {
        Update::Role(_) => "role",
        Update::Content(_) => "content",
        Update::Reasoning(_) => "reasoning",
        Update::Refusal(_) => "refusal",
        Update::Call(_) => "tool_call",
        Update::CallName { .. } => "tool_name",
        Update::CallArguments { .. } => "tool_arguments",
        Update::CallEnd { .. } => "tool_call_end",
        Update::FunctionName { .. } | Update::FunctionArguments(_) => "function_call",
        Update::Audio(_) => "audio",
        Update::Annotations(_) => "annotations",
        Update::Signature(_) => "signature",
        Update::Media(_) => "media",
        Update::Native(_) => "native",
        Update::Logprobs(_) => "logprobs",
        Update::Finish(_) => "finish_reason",
        Update::Usage(_) => "usage",
        Update::ChoiceError(_) | Update::Error(_) => "error",
        _ => "member",
    }
}

impl Handler for Stats {
    fn event(&mut self, event: &Event<'_>) -> Flow {
        match event {
            Event::Comment(_) => self.comments += 1,
            Event::KeepAlive(_) => self.keep_alives += 1,
            _ => {}
        }
        self.meter.event(event)
    }

    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        *self.deltas.entry(kind(&update)).or_default() += 1;
        if let Update::Finish(reason) = &update {
            let word = reason.kind().word().map_or_else(|| reason.text().to_string(), str::to_owned);
            self.finish_reasons.insert(choice, word);
        }
        self.meter.update(choice, update)
    }
}
