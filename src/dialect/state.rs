//! What the readers know about a stream, and about one of its events.

use super::blocks::Blocks;
use super::identity::{Address, Class, Id};
use super::protocol::Protocol;
use super::reported::{Claims, ItemCounts, ItemPart, Reported, ARGUMENTS, CALL};
use super::texts::{Cuts, Texts};
use super::usage::TokenCounts;
use crate::delta::Kind;
use crate::json::{Text, Value};
use crate::{Quirk, QuirkSet};

/// What is known about a stream between its events.
#[derive(Clone, Debug)]
pub(crate) struct DialectState {
    /// The protocol of the stream, once it is known. Only a protocol that is read is stored.
    pub(crate) protocol: Option<Protocol>,
    /// Whether an error was reported.
    pub(crate) failed: bool,
    /// Whether a finish reason came. In Anthropic, a later event ends the response.
    pub(super) finished: bool,
    /// Whether the event that ends a response came.
    pub(crate) ended: bool,
    /// Token counts so far.
    pub(crate) usage: TokenCounts,
    /// One bit for each choice that has a tool call of the client. All choices from 63 on share one.
    pub(super) called: u64,
    /// A hash of the ID of the response.
    response: u16,
    /// Whether an earlier response in the stream came before this one.
    pub(super) is_later: bool,
    /// Responses: an event had no index, or not that of its item. From then on, no template may recognize an event.
    pub(crate) is_odd: bool,
    pub(super) output: Output,
    /// Responses: the texts and arguments so far.
    pub(super) texts: Texts,
}

/// What is known about the output so far, which depends on the protocol.
#[derive(Clone, Debug)]
pub(super) enum Output {
    /// Responses: the parts that were reported.
    Items(Reported),
    /// Anthropic: the blocks that are tool calls of the client.
    Blocks(Blocks),
    /// Gemini: the tool calls.
    Calls(CallCount),
}

/// The tool calls of a stream that gives them no index (Gemini).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CallCount {
    /// How many calls were opened.
    pub(super) opened: u32,
    /// Whether more arguments of the last call follow.
    pub(super) continues: bool,
}

impl Output {
    const NOTHING: Output = Output::Items(Reported::NOTHING);

    /// Returns the parts that were reported (Responses).
    pub(super) fn reported(&self) -> &Reported {
        match self {
            Output::Items(reported) => reported,
            _ => &Reported::NOTHING,
        }
    }

    /// Returns the parts that were reported, to add more (Responses).
    #[inline(never)]
    pub(super) fn items(&mut self) -> &mut Reported {
        loop {
            match self {
                Output::Items(reported) => return reported,
                Output::Blocks(_) | Output::Calls(_) => *self = Output::NOTHING,
            }
        }
    }

    /// Returns the blocks that are tool calls of the client, to add more (Anthropic).
    pub(super) fn blocks(&mut self) -> &mut Blocks {
        loop {
            match self {
                Output::Blocks(blocks) => return blocks,
                Output::Items(_) | Output::Calls(_) => *self = Output::Blocks(Blocks::NOTHING),
            }
        }
    }

    /// Returns the tool calls (Gemini).
    pub(super) fn calls(&self) -> CallCount {
        match self {
            Output::Calls(calls) => *calls,
            _ => CallCount::default(),
        }
    }
}

impl DialectState {
    /// Creates the state at the start of a stream of this protocol. A protocol that is not read counts as unknown.
    pub(crate) const fn new(protocol: Option<Protocol>, snapshots: bool) -> Self {
        let protocol = match protocol {
            Some(protocol) if protocol.is_read() => Some(protocol),
            _ => None,
        };
        DialectState {
            protocol,
            failed: false,
            finished: false,
            ended: false,
            usage: TokenCounts::NOTHING,
            called: 0,
            response: 0,
            is_later: false,
            is_odd: false,
            output: Output::NOTHING,
            texts: Texts::new(snapshots),
        }
    }

    /// Whether a whole message repeats the blocks of the one that began (Anthropic): it has the same ID or none, and as many
    /// blocks, and calls of the client among them. The texts are not compared.
    pub(super) fn is_repeated(&self, id: Option<Value<'_>>, count: u32, calls: u32) -> bool {
        let is_same = id.is_none() || Id::of([id]).short() == self.response;
        let are_all = matches!(&self.output, Output::Blocks(blocks) if blocks.has_any() && blocks.are(count, calls));
        self.response != 0 && is_same && are_all
    }

    /// Whether the block with this index is a tool call of the client (Anthropic).
    pub(super) fn is_of_client(&self, index: u32) -> bool {
        matches!(&self.output, Output::Blocks(blocks) if blocks.has(index))
    }

    /// Whether the block with this index is neither a tool call of the client nor text, so that it may have an input
    /// (Anthropic).
    pub(super) fn may_have_input(&self, index: u32) -> bool {
        matches!(&self.output, Output::Blocks(blocks) if blocks.has_other(index))
    }

    /// Whether this tool call takes deltas of arguments: an event opened the call without all of its arguments
    /// (Responses).
    pub(super) fn takes_arguments(&self, item: u32) -> bool {
        let reported = self.output.reported();
        reported.has(item, CALL) && !reported.began_whole(item) && !reported.came_early(item)
    }

    /// Notes that a response with this ID begins. Its items or blocks are numbered from 0 again.
    pub(super) fn begin_response(&mut self, id: Option<Value<'_>>, seen: &mut ReadEvent<'_>) {
        let (was_another, had_output) = match &mut self.output {
            Output::Items(reported) => {
                let had_any = core::mem::replace(reported, Reported::NOTHING).has_any();
                (had_any, had_any)
            }
            Output::Blocks(blocks) => (true, core::mem::replace(blocks, Blocks::NOTHING).has_any()),
            Output::Calls(_) => (false, false),
        };
        if was_another {
            self.texts = Texts::new(self.texts.snapshots);
        }
        let id = Id::of([id]).short();
        (seen.begins, seen.forgets) = (true, was_another);
        // The new response breaks off a response that has not ended, or is the same one, sent again.
        let is_open = was_another && !self.ended && !self.finished && !self.failed;
        seen.flag(is_open && (self.response != id || had_output), Quirk::ReplacedMessage);
        (self.response, self.is_later) = (id, self.is_later || was_another);
        (self.finished, self.ended, self.failed, self.called, self.is_odd) = (false, false, false, 0, false);
    }

    /// Returns the number of the item that an event belongs to or, if it `begins` one, of the item that it begins, and
    /// whether that number is the index of the event (Responses).
    pub(super) fn item(&self, address: &Address, begins: bool) -> (u32, bool) {
        let reported = self.output.reported();
        let found = if begins { reported.find_begun(address) } else { reported.find(address) };
        let number = found.unwrap_or_else(|| reported.new_number(address.index));
        let usual = address.index.filter(|index| reported.is_number(*index, number));
        (usual.unwrap_or(number), usual.is_some())
    }

    /// Whether an event with this index belongs to the item whose number is that index, judging by its class
    /// (Responses). Such an event is usual.
    pub(super) fn is_usual(&self, index: u32, class: Class) -> bool {
        !self.is_odd && self.output.reported().may_be(index, class)
    }

    /// Notes that a usual event reports a part of the item with this index (Responses).
    pub(super) fn add_usual(&mut self, index: u32, class: Class, of: ItemPart) {
        let items = self.output.items();
        items.add(index, of);
        items.describe(index, &Address::of(class, Some(index), Id::UNKNOWN));
    }

    /// Notes the output items of an event that ends the response and is over the limit. Returns whether earlier events
    /// reported at least as many items of each class (Responses).
    pub(crate) fn ends_with(&mut self, items: &ItemCounts) -> bool {
        self.called |= u64::from(items.has_call());
        // Once a response has ended, no event repeats its items.
        self.ended || items.are_among(&self.output.reported().counts())
    }

    /// Notes a text or arguments of an event that a template recognized, with the [slot](OnlyText::slot) of the text
    /// (Responses). Templates that several streams share notice only texts (`is_shared`): the part counts as reported,
    /// too. Returns `false`, with no effect, if this stream reads the event differently: the text is done, or the event
    /// is not [usual](Self::is_usual).
    #[inline]
    pub(crate) fn follow(&mut self, event: &OnlyText<'_>, is_shared: bool) -> bool {
        let OnlyText { kind, slot, is_summary, text, .. } = *event;
        let (index, of) = match kind {
            Kind::ToolArguments => (slot, ARGUMENTS),
            _ if is_summary => (slot >> 16, ItemPart::Summary(slot & 0xffff)),
            _ => (slot >> 16, ItemPart::Content(slot & 0xffff)),
        };
        let class = Class::of_text(kind);
        if is_shared && !self.is_usual(index, class) || !self.texts.follow(index, of, text, self.output.reported()) {
            return false;
        }
        if is_shared {
            self.add_usual(index, class, of);
        }
        true
    }
}

/// What reading the deltas of an event takes besides the payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) protocol: Option<Protocol>,
    pub(super) what: What,
    /// Responses: the row of the event's type in the table of events that have a text.
    pub(super) row: u8,
    /// The field of [`DialectState`], including the calls of this event.
    pub(super) called: u64,
    pub(super) is_later: bool,
    /// Responses: the number of the output item that the event belongs to. Anthropic: the index of the block. Gemini: how
    /// many tool calls earlier events opened.
    pub(super) number: u32,
    /// Responses: the index of the part of that item.
    pub(super) part: u32,
    /// Where the object begins that the deltas are in: a message, a block or its delta, an output item or a response.
    pub(super) inside: u32,
    /// Responses: the claims of the items of a whole response.
    pub(super) claims: Claims,
    /// Responses: the parts that earlier events reported.
    pub(super) reported: Reported,
    /// Responses: the texts that the event continues, although it has all of them.
    pub(super) cuts: Cuts,
}

impl Plan {
    pub(crate) const NONE: Plan = Plan {
        protocol: None,
        what: What::Nothing,
        row: 0,
        called: 0,
        is_later: false,
        number: 0,
        part: 0,
        inside: 0,
        claims: Claims::NONE,
        reported: Reported::NOTHING,
        cuts: Cuts::NONE,
    };

    /// Returns the protocol of the event, or `None` if that is chat completions.
    pub(crate) fn protocol(&self) -> Option<Protocol> {
        // Only a protocol with a reader is stored, so the filter changes nothing. It lets the compiler remove code if
        // no reader is compiled in.
        self.protocol.filter(|_| Protocol::HAS_READERS)
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
    /// An event without deltas.
    Nothing,
    /// Anthropic: the start of a message, in the member `message`.
    Start,
    /// Anthropic: a whole message, which is the payload.
    Body,
    /// Anthropic: the start of a block.
    Block,
    /// Anthropic: more of a block that is no tool call of the client.
    MoreOfBlock,
    /// Anthropic: more of a tool call of the client.
    MoreOfCall,
    /// Anthropic: the end of a tool call of the client.
    EndOfCall,
    /// Anthropic: the end of a block that is no tool call of the client. Responses: the end of a text that deltas
    /// reported.
    EndOfText,
    /// Anthropic: the finish reason of the message.
    Stop,
    /// Gemini: candidates. If it `continues`, the first call continues the last call of earlier events.
    Candidates { continues: bool },
    /// Responses: more of a text or of arguments, or a whole text that no earlier event had a piece of.
    More,
    /// Responses: the start of an item.
    Item,
    /// Responses: a whole item.
    WholeItem,
    /// Responses: an annotation.
    Annotation,
    /// A text that nobody documents or, in Responses, a piece of what a tool of the server does.
    Piece,
    /// Responses: log probabilities without a text.
    Logprobs,
    /// Responses: audio, or its transcript.
    Audio,
    /// Responses: the end of the response.
    Response,
}

/// A text, or arguments of a tool call, that is the only delta of its event, except for a role and usage.
#[derive(Clone, Copy)]
pub(crate) struct OnlyText<'a> {
    pub(crate) kind: Kind,
    /// For arguments, the index of the call. For any other text, its slot, which distinguishes the texts of a response:
    /// the item in the upper 16 bits, the part in the lower 16 bits.
    pub(crate) slot: u32,
    /// Whether the text is a summary of reasoning.
    pub(crate) is_summary: bool,
    pub(crate) text: Text<'a>,
    pub(crate) role: Option<Text<'a>>,
}

/// What an event contains besides its deltas.
#[derive(Default)]
pub(crate) struct ReadEvent<'a> {
    pub(crate) plan: Plan,
    /// The deltas of the event, if it has only a text. Only the protocol is then set in the plan.
    pub(crate) only_text: Option<OnlyText<'a>>,
    pub(crate) id: Option<Value<'a>>,
    pub(crate) model: Option<Value<'a>>,
    pub(crate) created: Option<Value<'a>>,
    pub(crate) service_tier: Option<Value<'a>>,
    pub(crate) usage: Option<Value<'a>>,
    pub(crate) error: Option<Value<'a>>,
    /// Whether the event may be a whole response that was sent instead of a stream.
    pub(crate) is_body: bool,
    /// Whether the event reports that the response failed.
    pub(crate) fails: bool,
    /// Whether the event may have members that no delta is made of.
    pub(crate) others: bool,
    /// Whether a response begins, which may follow another one.
    pub(crate) begins: bool,
    /// Whether the memo must forget its templates, because the same bytes mean something else now: a block is no longer
    /// a tool call of the client, an output item has taken the place of another one, an index is odd, or another
    /// response begins.
    pub(crate) forgets: bool,
    /// Whether a text of the message is not the one that its deltas were: the response is not complete.
    pub(crate) changes: bool,
    pub(crate) quirks: QuirkSet,
}

impl ReadEvent<'_> {
    pub(super) fn flag(&mut self, when: bool, quirk: Quirk) {
        if when {
            self.quirks.insert(quirk);
        }
    }

    /// Notes that all that an event says is a text that nobody documents, which must not vanish without a sign.
    pub(super) fn note_unknown(&mut self, when: bool) {
        if when {
            self.flag(true, Quirk::UnknownText);
            self.plan.what = What::Piece;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slot has the item in its upper 16 bits and the part in its lower 16 bits. No other item and no other part
    /// counts as reported.
    #[test]
    fn a_reported_text_is_noted_by_item_and_part() {
        let mut state = DialectState::new(Some(Protocol::Responses), false);
        let follow = |state: &mut DialectState, kind, slot, is_summary| {
            state.follow(&OnlyText { kind, slot, is_summary, text: Text::verbatim(b"a"), role: None }, true)
        };
        assert!(follow(&mut state, Kind::Content, 2 << 16 | 1, false));
        state.output.items().describe(3, &Address::of(Class::Reasoning, Some(3), Id::UNKNOWN));
        assert!(follow(&mut state, Kind::Reasoning, 3 << 16, true));
        assert!(!follow(&mut state, Kind::Content, 3 << 16, false));
        let reported = state.output.reported();
        assert!(reported.has(2, ItemPart::Content(1)));
        assert!(reported.has(3, ItemPart::Summary(0)));
        assert!(!reported.has(2, ItemPart::Content(0)));
        assert!(!reported.has(2, ItemPart::Summary(1)));
        assert!(!reported.has(3, ItemPart::Content(0)));
        assert!(!reported.has(0, ItemPart::Content(1)));
    }
}
