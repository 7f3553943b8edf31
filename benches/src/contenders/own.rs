//! This library, in its three ways of reading. All with storage for a cut event in an array, as a stream without a
//! heap has it.

use super::{Contender, Kind};
use crate::Sink;
use deltawire::chat::{Chunk, DeltaKind, FinishReason, ToolCall, Usage};
use deltawire::json::Text;
use deltawire::track::{CallUpdate, Update};
use deltawire::{Config, Event, Flow, Handler, Parser, Stop};

/// The largest event that may be cut.
const STORAGE: usize = 8 * 1024;

fn call(call: &ToolCall<'_>, sink: &mut Sink) {
    let index = call.index().unwrap_or(0);
    for name in [call.id(), call.name()].into_iter().flatten() {
        sink.call(index);
        name.push_to(&mut sink.names);
    }
    if let Some(text) = call.arguments() {
        sink.call(index);
        text.push_to(&mut sink.arguments);
    }
}

fn usage(usage: &Usage<'_>, sink: &mut Sink) {
    let [prompt, completion, total] =
        [usage.prompt_tokens(), usage.completion_tokens(), usage.total_tokens()].map(Option::unwrap_or_default);
    sink.usage(prompt, completion, total);
}

fn finish(reason: FinishReason<'_>, sink: &mut Sink) {
    reason.text().push_to(&mut sink.names);
}

/// A parser that pulls, and what to do with a chunk.
macro_rules! pull {
    ($parser:expr, $response:expr, $slice:expr, $sink:expr, $chunk:expr) => {
        $parser.reset();
        for mut slice in $response.chunks($slice) {
            while let Some(event) = $parser.next(&mut slice).expect("no quirk is an error") {
                match event {
                    Event::Chunk(chunk) => {
                        $sink.sums.events += 1;
                        $chunk(&chunk, $sink);
                    }
                    Event::Done => return,
                    _ => {}
                }
            }
        }
    };
}

/// `next`, and the deltas of each event.
pub struct Pull {
    parser: Parser<[u8; STORAGE], 2, ()>,
}

impl Default for Pull {
    fn default() -> Self {
        Pull { parser: Parser::with_tracker([0; STORAGE], Config::default(), ()) }
    }
}

fn deltas(chunk: &Chunk<'_>, sink: &mut Sink) {
    for delta in chunk.deltas() {
        match delta.kind {
            DeltaKind::Content(text) => {
                sink.choice(delta.choice);
                text.push_to(&mut sink.content);
            }
            DeltaKind::Reasoning(text) => {
                sink.choice(delta.choice);
                text.push_to(&mut sink.reasoning);
            }
            DeltaKind::ToolCall(fragment) => {
                sink.choice(delta.choice);
                call(&fragment, sink);
            }
            DeltaKind::Finish(reason) => {
                sink.choice(delta.choice);
                finish(reason, sink);
            }
            DeltaKind::Usage(tokens) => usage(&tokens, sink),
            _ => {}
        }
    }
}

impl Contender for Pull {
    fn name(&self) -> &'static str {
        "deltawire pull: deltas"
    }
    fn kind(&self) -> Kind {
        Kind::Own
    }
    fn read(&mut self, response: &[u8], slice: usize, sink: &mut Sink) {
        pull!(self.parser, response, slice, sink, deltas);
    }
}

/// `next`, and the views of just what is wanted.
#[derive(Default)]
pub struct Views {
    pull: Pull,
}

fn views(chunk: &Chunk<'_>, sink: &mut Sink) {
    for choice in chunk.choices() {
        let index = choice.index();
        if let Some(delta) = choice.delta() {
            if let Some(text) = delta.reasoning_content() {
                sink.choice(index);
                text.push_to(&mut sink.reasoning);
            }
            if let Some(text) = delta.content() {
                sink.choice(index);
                text.push_to(&mut sink.content);
            }
            for fragment in delta.tool_calls() {
                sink.choice(index);
                call(&fragment, sink);
            }
        }
        if let Some(reason) = choice.finish_reason() {
            sink.choice(index);
            finish(reason, sink);
        }
    }
    if let Some(tokens) = chunk.usage() {
        usage(&tokens, sink);
    }
}

impl Contender for Views {
    fn name(&self) -> &'static str {
        "deltawire pull: views"
    }
    fn kind(&self) -> Kind {
        Kind::Own
    }
    fn read(&mut self, response: &[u8], slice: usize, sink: &mut Sink) {
        pull!(self.pull.parser, response, slice, sink, views);
    }
}

/// `feed`, with the default table of choices and calls.
pub struct Push {
    parser: Parser<[u8; STORAGE]>,
}

impl Default for Push {
    fn default() -> Self {
        Push { parser: Parser::new([0; STORAGE]) }
    }
}

/// A handler that fills a sink.
struct Fill<'s>(&'s mut Sink);

impl Handler for Fill<'_> {
    fn chunk(&mut self, _chunk: &Chunk<'_>) -> Flow {
        self.0.sums.events += 1;
        Flow::Continue(())
    }
    fn content(&mut self, choice: u32, text: Text<'_>) -> Flow {
        self.0.choice(choice);
        text.push_to(&mut self.0.content);
        Flow::Continue(())
    }
    fn reasoning(&mut self, choice: u32, text: Text<'_>) -> Flow {
        self.0.choice(choice);
        text.push_to(&mut self.0.reasoning);
        Flow::Continue(())
    }
    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        // A fragment counts once for its choice, whatever it brings of its call.
        match update {
            Update::Content(text) => self.content(choice, text),
            Update::Reasoning(text) => self.reasoning(choice, text),
            Update::Call(CallUpdate { index, id, .. }) => {
                self.0.choice(choice);
                if let Some(id) = id {
                    self.0.call(index);
                    id.push_to(&mut self.0.names);
                }
                Flow::Continue(())
            }
            Update::CallName { call, text, .. } => {
                self.0.call(call);
                text.push_to(&mut self.0.names);
                Flow::Continue(())
            }
            Update::CallArguments { call, text } => {
                self.0.choice(choice);
                self.0.call(call);
                text.push_to(&mut self.0.arguments);
                Flow::Continue(())
            }
            Update::Finish(reason) => {
                self.0.choice(choice);
                finish(reason, self.0);
                Flow::Continue(())
            }
            Update::Usage(tokens) => {
                usage(&tokens, self.0);
                Flow::Continue(())
            }
            _ => Flow::Continue(()),
        }
    }
    fn done(&mut self) -> Flow {
        Flow::Break(Stop::Abort)
    }
}

impl Contender for Push {
    fn name(&self) -> &'static str {
        "deltawire push"
    }
    fn kind(&self) -> Kind {
        Kind::Own
    }
    fn read(&mut self, response: &[u8], slice: usize, sink: &mut Sink) {
        self.parser.reset();
        let mut fill = Fill(sink);
        for slice in response.chunks(slice) {
            if self.parser.feed(slice, &mut fill).stop.is_some() {
                return;
            }
        }
    }
}
