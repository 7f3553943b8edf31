//! This library, by pull with templates or without, and by push. The storage for a cut event
//! comes from the caller: an array, as for a stream without a heap, or a slice for long events.

use super::contender::{Contender, Kind};
use crate::{Input, Sink, Sums};
use deltawire::chat::{CallUpdate, FinishReason, Usage};
use deltawire::stream::Meter;
use deltawire::track::Tracker;
use deltawire::{Config, Event, Flow, Handler, Parser, Stop, Storage, Update};

fn usage(usage: &Usage<'_>, sink: &mut Sink) {
    // Reading each count by itself would read the usage several times.
    let counts = usage.counts();
    let [prompt, completion, total] =
        [counts.prompt_tokens(), counts.completion_tokens(), counts.total_tokens()].map(Option::unwrap_or_default);
    sink.usage(prompt, completion, total);
}

fn finish(reason: FinishReason<'_>, sink: &mut Sink) {
    reason.text().push_to(&mut sink.names);
}

/// `next`, and the deltas of each event.
pub struct Pull<S, const SLOTS: usize> {
    parser: Parser<S, SLOTS>,
    name: &'static str,
}

impl<S: Storage, const SLOTS: usize> Pull<S, SLOTS> {
    pub fn new(name: &'static str, storage: S) -> Self {
        Pull { parser: Parser::with_slots(storage, Config::default(), Tracker::new()), name }
    }
}

#[inline(always)]
pub(super) fn deltas<'a>(updates: impl IntoIterator<Item = (u32, Update<'a>)>, sink: &mut Sink) {
    for (choice, update) in updates {
        match update {
            Update::Content(text) => {
                sink.choice(choice);
                text.push_to(&mut sink.content);
            }
            Update::Reasoning(text) => {
                sink.choice(choice);
                text.push_to(&mut sink.reasoning);
            }
            Update::Call(CallUpdate { call, id: Some(id), .. }) => {
                sink.call(choice, call);
                id.push_to(&mut sink.names);
            }
            Update::CallName { call, text, .. } => {
                sink.call(choice, call);
                text.push_to(&mut sink.names);
            }
            Update::CallArguments { call, text } => {
                sink.call(choice, call);
                text.push_to(&mut sink.arguments);
            }
            Update::Finish(reason) => {
                sink.choice(choice);
                finish(reason, sink);
            }
            Update::Usage(tokens) => usage(&tokens, sink),
            _ => {}
        }
    }
}

impl<S: Storage, const SLOTS: usize> Contender for Pull<S, SLOTS> {
    fn name(&self) -> &'static str {
        self.name
    }
    fn kind(&self) -> Kind {
        Kind::Own
    }
    fn read(&mut self, response: &[u8], slice: usize, sink: &mut Sink) {
        self.parser.reset();
        for mut slice in response.chunks(slice) {
            while let Some(event) = self.parser.next(&mut slice).expect("no quirk is an error") {
                match *event {
                    Event::Chunk(_) => {
                        sink.sums.events += 1;
                        deltas(event.deltas(), sink);
                    }
                    Event::Done => return,
                    _ => {}
                }
            }
        }
    }
}

/// `feed`, with the default table of choices and calls.
pub struct Push<S> {
    parser: Parser<S>,
}

impl<S: Storage> Push<S> {
    pub fn new(storage: S) -> Self {
        Push { parser: Parser::new(storage) }
    }
}

/// A handler that fills a sink.
pub(super) struct Fill<'s>(pub(super) &'s mut Sink);

impl Handler for Fill<'_> {
    fn event(&mut self, event: &Event<'_>) -> Flow {
        match event {
            Event::Chunk(_) => self.0.sums.events += 1,
            Event::Done => return Flow::Break(Stop::Abort),
            _ => {}
        }
        Flow::Continue(())
    }
    // If the kind is known at the call, the update stays in registers.
    #[inline(always)]
    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        match update {
            Update::Content(text) => {
                self.0.choice(choice);
                text.push_to(&mut self.0.content);
            }
            Update::Reasoning(text) => {
                self.0.choice(choice);
                text.push_to(&mut self.0.reasoning);
            }
            Update::Call(call) => {
                if let (Some(index), Some(id)) = (call.index, call.id) {
                    self.0.call(choice, index);
                    id.push_to(&mut self.0.names);
                }
            }
            Update::CallName { call, text, .. } => {
                self.0.call(choice, call);
                text.push_to(&mut self.0.names);
            }
            Update::CallArguments { call, text } => {
                self.0.call(choice, call);
                text.push_to(&mut self.0.arguments);
            }
            Update::Finish(reason) => {
                self.0.choice(choice);
                finish(reason, self.0);
            }
            Update::Usage(tokens) => usage(&tokens, self.0),
            _ => {}
        }
        Flow::Continue(())
    }
}

impl<S: Storage> Contender for Push<S> {
    fn name(&self) -> &'static str {
        super::contender::PUSH
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

/// A meter, and a sink that checks the token counts.
struct Metering<'s> {
    meter: Meter,
    sink: &'s mut Sink,
}

impl Handler for Metering<'_> {
    fn event(&mut self, event: &Event<'_>) -> Flow {
        self.meter.event(event)
    }
    #[inline]
    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        if let Update::Usage(tokens) = &update {
            usage(tokens, self.sink);
        }
        self.meter.update(choice, update)
    }
}

/// `feed` to a meter: the amounts, the finish reasons and the token counts of a stream that is passed on.
pub struct Metered<S> {
    parser: Parser<S>,
}

impl<S: Storage> Metered<S> {
    pub fn new(storage: S) -> Self {
        Metered { parser: Parser::new(storage) }
    }

    fn feed(&mut self, response: &[u8], slice: usize, handler: &mut impl Handler) {
        for slice in response.chunks(slice) {
            if self.parser.feed(slice, handler).stop.is_some() {
                return;
            }
        }
    }
}

impl<S: Storage> Contender for Metered<S> {
    fn name(&self) -> &'static str {
        super::contender::METER
    }
    fn kind(&self) -> Kind {
        Kind::Own
    }
    fn expected(&self, input: &Input) -> Sums {
        Sums { usage: input.expected.usage, ..Sums::default() }
    }
    fn read(&mut self, response: &[u8], slice: usize, sink: &mut Sink) {
        self.parser.reset();
        if sink.is_checking() {
            return self.feed(response, slice, &mut Metering { meter: Meter::new(), sink });
        }
        let mut meter = Meter::new();
        self.feed(response, slice, &mut meter);
        std::hint::black_box(&meter);
    }
}
