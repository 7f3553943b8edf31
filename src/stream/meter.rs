//! What a program keeps of a response that it only meters: when tokens came, how much of what, usage, and how it
//! finished.

use super::handler::{Flow, Handler};
use super::Event;
use crate::chat::{ApiError, CallUpdate, Chunk, FinishReason, NamePiece, Update, Usage};
use crate::delta::FinishKind;
use crate::dialect::{Protocol, TokenCounts};
use crate::json::{Fragment, Text, ValueKind};
use crate::words::words;
use core::fmt;

/// How many choices have their finish reasons kept.
const CHOICES: usize = 8;

/// How many tool calls have their names kept.
const NAMES: usize = 8;

/// Takes the place of a call's number for the `function_call` of a choice.
const FUNCTION: u32 = u32::MAX;

words! {
    /// What a [`Token`] is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[repr(u8)]
    #[non_exhaustive]
    pub enum TokenKind {
        /// Content.
        Content = 1, "content";
        /// Reasoning.
        Reasoning = 2, "reasoning";
        /// A refusal.
        Refusal = 3, "refusal";
        /// A tool call, or the `function_call` of a choice: it opens, or has more of its name or arguments.
        Call = 4, "call";
    }
}

/// An event that bears a token: content, reasoning, a refusal or a part of a call, which is never empty. A role, a
/// ping, a signature, audio, images and tools that are neither functions nor custom tools are no tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Token {
    /// What the event's token is: its first one in [`Meter::first`], its last one in [`Meter::last`].
    pub kind: TokenKind,
    /// The number of the event, from 1, as [`Meter::events`] counts.
    pub event: u64,
    /// Stream offset, in bytes, of the event's first byte.
    pub offset: u64,
}

/// How much text came, decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Amount {
    /// Bytes of UTF-8.
    pub bytes: u64,
    /// Unicode characters.
    pub chars: u64,
}

impl Amount {
    /// Adds a text. Nearly every text is plain, so each byte is a character.
    #[inline]
    fn add(&mut self, text: &Text<'_>) {
        if text.is_plain() {
            return self.count(text.raw().len(), text.raw().len());
        }
        text.fragments().for_each(|fragment| match fragment {
            Fragment::Str(run) => self.count(run.len(), run.chars().count()),
            Fragment::Char(char) => self.count(char.len_utf8(), 1),
        });
    }

    #[inline]
    fn count(&mut self, bytes: usize, chars: usize) {
        self.bytes = self.bytes.saturating_add(bytes as u64);
        self.chars = self.chars.saturating_add(chars as u64);
    }
}

/// A text from the stream, of which at most the first `N` bytes are kept, cut between two characters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ShortText<const N: usize> {
    bytes: [u8; N],
    len: u16,
    is_cut: bool,
}

impl<const N: usize> ShortText<N> {
    const EMPTY: Self = ShortText { bytes: [0; N], len: 0, is_cut: false };

    /// The text. Empty if none came.
    pub fn as_str(&self) -> &str {
        let bytes = self.bytes.get(..usize::from(self.len)).unwrap_or_default();
        core::str::from_utf8(bytes).unwrap_or_default()
    }

    /// Whether no text came.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the text was longer than `N` bytes.
    pub const fn is_cut(&self) -> bool {
        self.is_cut
    }

    pub(crate) fn of(text: &Text<'_>) -> Self {
        let mut short = Self::EMPTY;
        short.append(text);
        short
    }

    fn append(&mut self, text: &Text<'_>) {
        for fragment in text.fragments() {
            if self.is_cut {
                return;
            }
            self.push(fragment);
        }
    }

    /// Appends as much of a fragment as there is room for.
    fn push(&mut self, fragment: Fragment<'_>) {
        let mut encoded = [0; 4];
        let run = fragment.encode(&mut encoded);
        let room = N.saturating_sub(usize::from(self.len));
        let fits = (0..=run.len().min(room)).rev().find(|len| run.is_char_boundary(*len)).unwrap_or(0);
        let from = usize::from(self.len);
        if let (Some(to), Some(bytes)) =
            (self.bytes.get_mut(from..from.saturating_add(fits)), run.as_bytes().get(..fits))
        {
            to.iter_mut().zip(bytes).for_each(|(to, byte)| *to = *byte);
        }
        self.len = self.len.saturating_add(fits as u16);
        self.is_cut = fits < run.len();
    }
}

impl<const N: usize> fmt::Debug for ShortText<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// The name of a call.
#[derive(Clone, Copy)]
struct CallName {
    choice: u32,
    call: u32,
    text: ShortText<64>,
}

/// A handler for a program that only meters a response, such as a gateway that forwards a stream without reading it
/// otherwise. It can be read at any time, and after a cut it covers the part that came. It is about 2 KiB, without a
/// heap.
///
/// The parser has the verdict and the protocol ([`Parser::end`](super::Parser::end)), and the quirks. A program with a
/// handler of its own passes each event and each update on to a meter.
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use deltawire::stream::{Meter, TokenKind};
/// use deltawire::{Growing, Parser};
/// let stream = "data: {\"model\":\"m\",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n\
///     data: {\"choices\":[{\"delta\":{\"content\":\"Grüße\"}}]}\n\n";
/// let (mut parser, mut meter) = (Parser::new(Growing::new()), Meter::new());
/// parser.feed(stream.as_bytes(), &mut meter).into_result()?;
/// let first = meter.first.unwrap(); // the role and the empty text of the first event are no tokens
/// assert_eq!((first.kind, first.event, meter.token_events), (TokenKind::Content, 2, 1));
/// assert_eq!((meter.content.bytes, meter.content.chars, meter.model.as_str()), (7, 5, "m"));
/// # }
/// # Ok::<(), deltawire::Stop>(())
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Meter {
    /// The first event that bears a token. A program with a clock learns when it came: in the read in which this became
    /// known.
    pub first: Option<Token>,
    /// The last event so far that bears a token.
    pub last: Option<Token>,
    /// How many events came: every one with a payload, also `[DONE]`, a ping, and one that could not be read. Comments,
    /// reconnection times and IDs alone do not count. A JSON object as body is one event.
    pub events: u64,
    /// How many of them bear a token.
    pub token_events: u64,
    /// Content of all choices.
    pub content: Amount,
    /// Reasoning of all choices.
    pub reasoning: Amount,
    /// Refusals of all choices.
    pub refusal: Amount,
    /// Arguments of all calls, custom tools' inputs and `function_call`s. Arguments that Gemini sends by path do not
    /// count.
    pub arguments: Amount,
    /// How many tool calls and `function_call`s opened, in all choices.
    pub calls: u32,
    /// The first `model` that came.
    pub model: ShortText<128>,
    /// The first `id` of the response that came.
    pub id: ShortText<128>,
    /// The finish reason of choice 0, as the message has it: in the word of chat completions, if there is one.
    pub finish_reason: ShortText<64>,
    /// The first error of the API, as its type, else its code, else the word `error`.
    pub error: ShortText<128>,
    /// The counts so far, with the meaning that they have in chat completions, merged if the protocol reports them over
    /// several events. `None` if the last usage has none of them. Bill these, or [`iterations`](Meter::iterations).
    pub usage: Option<TokenCounts>,
    /// The sum of Anthropic's `usage.iterations`, if the last usage that has them is Anthropic's. It includes what
    /// [`usage`](Meter::usage) has: that is the sum of those iterations alone whose `type` is `message`. Bill the one or
    /// the other, never both.
    pub iterations: Option<TokenCounts>,
    /// The sum of those iterations whose `type` is not `message`, such as a compaction.
    pub other_iterations: Option<TokenCounts>,
    /// `tool_usage` of Responses, as raw JSON: what tools of the server used. [Cut](ShortText::is_cut), and then empty,
    /// if it is longer than 512 bytes.
    pub tool_usage: ShortText<512>,
    finish: [Option<FinishKind>; CHOICES],
    names: [Option<CallName>; NAMES],
    /// The choices that have a `function_call`, one bit each; the last one is for all further ones.
    functions: u64,
    /// The counts so far of a protocol other than chat completions.
    native: TokenCounts,
    /// Stream offset and number of the last event that may have deltas. A text that was pending at its end, half a
    /// character, belongs to it.
    start: Option<u64>,
    number: u64,
}

impl Default for Meter {
    fn default() -> Self {
        Meter::new()
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meter")
            .field("first", &self.first)
            .field("last", &self.last)
            .field("events", &self.events)
            .field("token_events", &self.token_events)
            .field("content", &self.content)
            .field("reasoning", &self.reasoning)
            .field("refusal", &self.refusal)
            .field("arguments", &self.arguments)
            .field("calls", &self.calls)
            .field("model", &self.model)
            .field("id", &self.id)
            .field("finish_reason", &self.finish_reason)
            .field("error", &self.error)
            .field("usage", &self.usage)
            .field("iterations", &self.iterations)
            .field("other_iterations", &self.other_iterations)
            .field("tool_usage", &self.tool_usage)
            .finish_non_exhaustive()
    }
}

impl Meter {
    /// A meter at the beginning of a stream.
    pub const fn new() -> Self {
        Meter {
            first: None,
            last: None,
            events: 0,
            token_events: 0,
            content: Amount { bytes: 0, chars: 0 },
            reasoning: Amount { bytes: 0, chars: 0 },
            refusal: Amount { bytes: 0, chars: 0 },
            arguments: Amount { bytes: 0, chars: 0 },
            calls: 0,
            model: ShortText::EMPTY,
            id: ShortText::EMPTY,
            finish_reason: ShortText::EMPTY,
            error: ShortText::EMPTY,
            usage: None,
            iterations: None,
            other_iterations: None,
            tool_usage: ShortText::EMPTY,
            finish: [None; CHOICES],
            names: [None; NAMES],
            functions: 0,
            native: TokenCounts::NOTHING,
            start: None,
            number: 0,
        }
    }

    /// Why a choice finished. `None` if it has not finished, or if its index is 8 or higher.
    pub fn finish(&self, choice: u32) -> Option<FinishKind> {
        *self.finish.get(choice as usize)?
    }

    /// The names of the first 8 calls that have one, in the order in which they began, each at most 64 bytes.
    pub fn call_names(&self) -> impl Iterator<Item = &ShortText<64>> {
        self.names.iter().flatten().map(|name| &name.text)
    }

    /// Counts the event that begins at this offset, unless a part of it was counted before.
    fn begin(&mut self, start: u64) {
        if self.start.replace(start) != Some(start) {
            self.events = self.events.saturating_add(1);
            self.number = self.events;
        }
    }

    /// Notes the members of the top level.
    #[inline]
    fn head(&mut self, chunk: &Chunk<'_>) {
        if self.model.is_empty() || self.id.is_empty() {
            self.name_response(chunk);
        }
        if chunk.protocol() == Protocol::Responses {
            self.tools_used(chunk);
        }
    }

    #[inline(never)]
    fn name_response(&mut self, chunk: &Chunk<'_>) {
        if chunk.index().facts.is_foreign() {
            return;
        }
        let short = |old: ShortText<128>, text: Option<Text<'_>>| match text {
            Some(text) if old.is_empty() => ShortText::of(&text),
            _ => old,
        };
        self.model = short(self.model, chunk.model());
        self.id = short(self.id, chunk.id());
    }

    /// Notes `tool_usage` of an event of Responses that has usage.
    #[inline(never)]
    fn tools_used(&mut self, chunk: &Chunk<'_>) {
        if chunk.usage().is_none() {
            return;
        }
        let of_response = chunk.get("response").and_then(|response| response.get("tool_usage").ok().flatten());
        if let Some(value) = of_response.or_else(|| chunk.get("tool_usage")).filter(|value| !value.is_null()) {
            let text = ShortText::of(&Text::verbatim(value.raw()));
            self.tool_usage = if text.is_cut { ShortText { len: 0, ..text } } else { text };
        }
    }

    #[inline]
    fn text(&mut self, kind: TokenKind, text: &Text<'_>, amount: impl FnOnce(&mut Meter) -> &mut Amount) {
        self.token(kind);
        amount(self).add(text);
    }

    /// Notes that the last event bears a token.
    #[inline]
    fn token(&mut self, kind: TokenKind) {
        let token = Token { kind, event: self.number, offset: self.start.unwrap_or(0) };
        self.first.get_or_insert(token);
        if self.last.replace(token).is_none_or(|last| last.event != token.event) {
            self.token_events = self.token_events.saturating_add(1);
        }
    }

    /// Notes that a choice has a `function_call`.
    fn function(&mut self, choice: u32) {
        let bit = 1u64.wrapping_shl(choice.min(63));
        if self.functions & bit == 0 {
            self.functions |= bit;
            self.calls = self.calls.saturating_add(1);
        }
    }

    fn name(&mut self, (choice, call): (u32, u32), text: &Text<'_>, piece: NamePiece) {
        self.token(TokenKind::Call);
        let is_it = |name: &CallName| name.choice == choice && name.call == call;
        let slot = self.names.iter_mut().find(|slot| slot.as_ref().is_none_or(is_it));
        if let Some(slot) = slot {
            let name = slot.get_or_insert(CallName { choice, call, text: ShortText::EMPTY });
            if piece == NamePiece::Replaces {
                name.text = ShortText::EMPTY;
            }
            name.text.append(text);
        }
    }

    fn finished(&mut self, choice: u32, reason: &FinishReason<'_>) {
        if let Some(finish) = self.finish.get_mut(choice as usize) {
            *finish = Some(reason.kind());
        }
        if choice == 0 {
            self.finish_reason = ShortText::of(&reason.in_message());
        }
    }

    fn used(&mut self, usage: &Usage<'_>) {
        self.native.add(usage.protocol(), &usage.sent());
        self.usage = self.native.canonical(usage.protocol());
        if usage.protocol() != Protocol::Anthropic {
            return;
        }
        let Some(iterations) = usage.get("iterations").filter(|value| value.kind() == ValueKind::Array) else { return };
        (self.iterations, self.other_iterations) = (None, None);
        let mut at = 0;
        while let Some(iteration) = iterations.element_at(&mut at) {
            let mut counts = TokenCounts::NOTHING;
            counts.add_usage(Protocol::Anthropic, iteration);
            let Some(counts) = counts.canonical(Protocol::Anthropic) else { continue };
            let add = |sum: &mut Option<TokenCounts>| *sum = Some(sum.unwrap_or_default().plus(&counts));
            add(&mut self.iterations);
            let kind = iteration.get("type").ok().flatten().and_then(|value| value.as_text());
            if kind.is_none_or(|kind| kind != "message") {
                add(&mut self.other_iterations);
            }
        }
    }

    fn failed(&mut self, error: &ApiError<'_>) {
        if self.error.is_empty() {
            let word = error.kind().or_else(|| error.code());
            self.error = ShortText::of(&word.unwrap_or(Text::verbatim(b"error")));
        }
    }
}

impl Handler for Meter {
    #[inline]
    fn event(&mut self, event: &Event<'_>) -> Flow {
        match event {
            Event::Chunk(chunk) => {
                self.begin(chunk.wire_range().start);
                self.head(chunk);
            }
            Event::Malformed(malformed) => self.begin(malformed.wire_range().start),
            Event::TooLong { offset } => self.begin(*offset),
            Event::Sse(_) | Event::Done | Event::KeepAlive(_) => self.events = self.events.saturating_add(1),
            Event::Comment(_)
            | Event::Retry(_)
            | Event::LastEventId(_)
            | Event::CommentTooLong { .. }
            | Event::Rest => {}
        }
        Flow::Continue(())
    }

    // If the kind is known at the call, the update stays in registers.
    #[inline(always)]
    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        match &update {
            Update::Content(text) => self.text(TokenKind::Content, text, |meter| &mut meter.content),
            Update::Reasoning(text) => self.text(TokenKind::Reasoning, text, |meter| &mut meter.reasoning),
            Update::Refusal(text) => self.text(TokenKind::Refusal, text, |meter| &mut meter.refusal),
            Update::CallArguments { text, .. } => self.text(TokenKind::Call, text, |meter| &mut meter.arguments),
            Update::FunctionArguments(text) => {
                self.function(choice);
                self.text(TokenKind::Call, text, |meter| &mut meter.arguments);
            }
            Update::Call(CallUpdate { opens: true, .. }) => {
                self.calls = self.calls.saturating_add(1);
                self.token(TokenKind::Call);
            }
            Update::CallName { call, text, piece } => self.name((choice, *call), text, *piece),
            Update::FunctionName { text, piece } => {
                self.function(choice);
                self.name((choice, FUNCTION), text, *piece);
            }
            Update::Finish(reason) => self.finished(choice, reason),
            Update::Usage(usage) => self.used(usage),
            Update::Error(error) | Update::ChoiceError(error) => self.failed(error),
            _ => {}
        }
        Flow::Continue(())
    }
}
