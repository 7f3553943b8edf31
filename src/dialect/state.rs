//! What is known of a stream, and of one event of it.

use super::blocks::Blocks;
use super::protocol::Protocol;
use super::reported::{Of, Reported};
use super::usage::Counts;
use crate::delta::Kind;
use crate::json::{Text, Value};

/// What is known of a stream between its events.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// The protocol that is read, once it is known.
    pub(crate) protocol: Option<Protocol>,
    /// An error was reported.
    pub(crate) failed: bool,
    /// The event that ends a response came.
    pub(crate) ended: bool,
    /// Token counts so far.
    pub(crate) usage: Counts,
    /// The choices that have a tool call of the client, a bit each; all from 63 on share one.
    pub(super) called: u64,
    /// How many tool calls were opened by an event without an index.
    pub(super) calls: u32,
    /// Of Gemini: more of the arguments of the last call follows.
    pub(super) continues: bool,
    output: Output,
}

/// What is known of the output so far, by the protocol.
#[derive(Clone, Debug)]
enum Output {
    /// Of Responses: the parts that were reported.
    Items(Reported),
    /// Of Anthropic: the blocks that are tool calls of the client.
    Blocks(Blocks),
}

impl State {
    /// At the start of a stream of this protocol, if it is known.
    pub(crate) const fn new(protocol: Option<Protocol>) -> Self {
        let protocol = match protocol {
            Some(protocol) if protocol.is_read() => Some(protocol),
            _ => None,
        };
        State {
            protocol,
            failed: false,
            ended: false,
            usage: Counts::NOTHING,
            called: 0,
            calls: 0,
            continues: false,
            output: Output::Items(Reported::NOTHING),
        }
    }

    /// Of Anthropic: whether the block with this index is a tool call of the client.
    pub(super) fn is_of_client(&self, index: u32) -> bool {
        matches!(&self.output, Output::Blocks(blocks) if blocks.has(index))
    }

    /// Of Anthropic: a block begins. Returns whether one that was a tool call of the client is known as one no more.
    pub(super) fn begin_block(&mut self, index: u32, is_client: bool) -> bool {
        if let Output::Items(_) = self.output {
            self.output = Output::Blocks(Blocks::NOTHING);
        }
        match &mut self.output {
            Output::Blocks(blocks) => blocks.begin(index, is_client),
            Output::Items(_) => false,
        }
    }

    /// Of Responses: the parts that were reported.
    pub(super) fn reported(&self) -> Reported {
        match &self.output {
            Output::Items(reported) => *reported,
            Output::Blocks(_) => Reported::NOTHING,
        }
    }

    /// Of Responses: whether a part of an output item was reported.
    pub(super) fn has(&self, item: u32, of: Of) -> bool {
        matches!(&self.output, Output::Items(reported) if reported.has(item, of))
    }

    /// Of Responses: notes that a part of an output item is reported. Returns whether it was.
    pub(super) fn add(&mut self, item: u32, of: Of) -> bool {
        match &mut self.output {
            Output::Items(reported) => reported.add(item, of),
            Output::Blocks(_) => false,
        }
    }

    /// Of Responses: notes that all of an output item is reported.
    pub(super) fn add_all(&mut self, item: u32) {
        if let Output::Items(reported) = &mut self.output {
            reported.add_all(item);
        }
    }

    /// Of Responses: the output has a tool call of the client.
    pub(crate) fn has_call(&mut self) {
        self.called |= 1;
    }

    /// Of Responses: notes that a text was reported, of the part with this [slot](Piece::slot).
    pub(crate) fn report(&mut self, slot: u32, is_summary: bool) {
        let part = slot & 0xffff;
        self.add(slot >> 16, if is_summary { Of::Summary(part) } else { Of::Content(part) });
    }

    /// Of Responses: whether an event that repeats the response has nothing to report of this output item.
    pub(crate) fn is_reported(&self, item: u32) -> bool {
        self.ended || matches!(&self.output, Output::Items(reported) if reported.has_all(item))
    }
}

/// How the deltas of an event are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) protocol: Option<Protocol>,
    pub(super) what: What,
    /// Of Responses: which event with a text it is.
    pub(super) row: u8,
    /// As of [`State`], with the calls of the event.
    pub(super) called: u64,
    /// As of [`State`], before the event.
    pub(super) calls: u32,
    pub(super) continues: bool,
    pub(super) reported: Reported,
}

impl Plan {
    pub(crate) const NONE: Plan = Plan {
        protocol: None,
        what: What::Nothing,
        row: 0,
        called: 0,
        calls: 0,
        continues: false,
        reported: Reported::NOTHING,
    };

    /// The protocol of the event, unless that is chat completions.
    pub(crate) fn protocol(&self) -> Option<Protocol> {
        Protocol::read_here(self.protocol)
    }
}

impl Default for Plan {
    fn default() -> Self {
        Plan::NONE
    }
}

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// It has no deltas.
    Nothing,
    /// Anthropic: a message, in a member of that name.
    Start,
    /// A whole response that is the payload.
    Body,
    /// Anthropic: a block begins.
    Block,
    /// Anthropic: more of a block of the server's.
    Piece,
    /// Anthropic: more of a text, of a block, or of a tool call of the client.
    Delta,
    /// Anthropic: why the message ended.
    Stop,
    /// Gemini: candidates.
    Candidates,
    /// Responses: more of a text or of arguments, or one of them that no event had before.
    More,
    /// Responses: an item begins.
    Item,
    /// Responses: an item, whole.
    WholeItem,
    /// Responses: an annotation.
    Annotation,
    /// Responses: the response is over.
    Response,
}

/// A piece of a text, the only delta of its event but for a role and usage.
#[derive(Clone, Copy)]
pub(crate) struct Piece<'a> {
    pub(crate) kind: Kind,
    /// Of arguments the index of the call; of another text its slot: the part in the lower 16 bits, the item in the upper.
    pub(crate) slot: u32,
    /// It is a summary.
    pub(crate) is_summary: bool,
    pub(crate) text: Text<'a>,
    pub(crate) role: Option<Text<'a>>,
}

/// What an event says beside its deltas.
#[derive(Default)]
pub(crate) struct Seen<'a> {
    pub(crate) plan: Plan,
    /// All of its deltas, if it is a piece of a text. Then nothing is planned.
    pub(crate) piece: Option<Piece<'a>>,
    pub(crate) id: Option<Value<'a>>,
    pub(crate) model: Option<Value<'a>>,
    pub(crate) created: Option<Value<'a>>,
    pub(crate) service_tier: Option<Value<'a>>,
    pub(crate) usage: Option<Value<'a>>,
    pub(crate) error: Option<Value<'a>>,
    /// It is a whole response, instead of a stream.
    pub(crate) is_body: bool,
    /// It reports that the response failed.
    pub(crate) fails: bool,
    /// It may have members that no delta is made of.
    pub(crate) others: bool,
    /// A block that was a tool call of the client is known as one no more.
    pub(crate) forgets: bool,
}
