//! The contents of a stream as lines of text, the same through every interface. `tests/quirks/README.md` lists the
//! lines. A line that begins with a space is a detail and not listed there.

use super::log::{same, Log};
use super::views;
use deltawire::chat::{ApiError, CallUpdate, Chunk, NamePiece, Owner, TokenCounts};
use deltawire::delta::Meta;
use deltawire::json::Text;
use deltawire::stream::{Event, Protocol};
use deltawire::{Config, End, Error, Parser, Quirk, QuirkSet, Storage, Update, Verdict};
use std::ops::Range;

/// How much to log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Only the lines.
    Lines,
    /// Also the results of all accessors.
    Views,
    /// Also the parser's state after each call.
    States,
}

/// What is known of a stream while it is read.
pub trait Reader {
    fn offset(&self) -> u64;
    fn config(&self) -> &Config;
    fn last_event_id(&self) -> &[u8];
    fn end(&self) -> End;
    fn quirk_count(&self, quirk: Quirk) -> u16;
    fn wire_range(&self) -> Range<u64>;
    fn usage(&self) -> Option<TokenCounts>;
}

impl<S: Storage, const SLOTS: usize, T> Reader for Parser<S, SLOTS, T> {
    fn offset(&self) -> u64 {
        self.offset()
    }
    fn config(&self) -> &Config {
        self.config()
    }
    fn last_event_id(&self) -> &[u8] {
        self.last_event_id()
    }
    fn end(&self) -> End {
        self.end()
    }
    fn quirk_count(&self, quirk: Quirk) -> u16 {
        self.quirk_count(quirk)
    }
    fn wire_range(&self) -> Range<u64> {
        self.wire_range()
    }
    fn usage(&self) -> Option<TokenCounts> {
        self.usage()
    }
}

/// The logs of one run.
#[derive(Clone)]
pub struct Logs {
    pub detail: Detail,
    /// Events, their updates, and the errors: the same by pull, push and batch.
    pub events: Log,
    /// The range of each event: by pull and batch, and by push if it pauses at each call.
    pub ranges: Log,
    /// The quirks of each event: by push and batch.
    pub quirks: Log,
    /// How the stream ended, and how often each quirk was reported.
    pub end: Log,
    /// Only by batch.
    pub frames: Log,
    /// The parser's state after each call: the same for the same calls.
    pub states: Log,
    /// How often each quirk was reported in total.
    pub counts: [u16; Quirk::ALL.len()],
}

/// The first words of the lines of events, and whether a range follows.
const EVENTS: [(&str, bool); 10] = [
    ("chunk", false),
    ("sse", true),
    ("done", true),
    ("comment", true),
    ("keep-alive", true),
    ("retry", true),
    ("id", true),
    ("malformed", true),
    ("too-long", false),
    ("comment-too-long", false),
];

/// The names of the kinds of errors, by number.
const FAULTS: [&str; 10] = [
    "",
    "UnexpectedEnd",
    "UnexpectedByte",
    "TrailingBytes",
    "TooDeep",
    "BadNumber",
    "BadLiteral",
    "BadEscape",
    "RawControl",
    "IllFormedUtf8",
];

/// The facts about an event after it is gone.
#[derive(Clone, Copy)]
pub struct Seen {
    pub word: &'static str,
    /// Its length without the name, which may precede a JSON value without `data:`.
    pub bytes: usize,
}

impl Logs {
    pub fn new(detail: Detail) -> Self {
        let log = Log::default;
        Logs {
            detail,
            events: log(),
            ranges: log(),
            quirks: log(),
            end: log(),
            frames: log(),
            states: log(),
            counts: [0; Quirk::ALL.len()],
        }
    }

    pub fn event(&mut self, event: &Event<'_>) -> Seen {
        let log = &mut self.events;
        let (word, bytes) = match event {
            Event::Chunk(chunk) => {
                // A payload that is read again, as a batch's is, does not know whether the event is of another protocol.
                self.states.line("completion");
                self.states.number("is", u64::from(chunk.is_completion()));
                self.chunk(chunk.wire_range(), chunk.event_name(), chunk);
                ("chunk", chunk.payload().len())
            }
            Event::Sse(event) => {
                self.sse(event.event_type(), event.data(), event.last_event_id());
                ("sse", event.data().len())
            }
            Event::Malformed(malformed) => {
                let fault = malformed.fault();
                let payload = malformed.payload();
                assert_eq!(format!("{:?}", fault.kind), FAULTS[fault.kind.number() as usize]);
                assert!(fault.offset <= payload.len(), "a fault beyond its payload");
                self.malformed(payload, fault.kind.number(), fault.offset as u64, malformed.event_name());
                ("malformed", payload.len())
            }
            Event::Done => {
                log.line("done");
                ("done", 0)
            }
            Event::Comment(bytes) => {
                log.line("comment");
                log.quoted("", bytes);
                ("comment", bytes.len())
            }
            Event::KeepAlive(bytes) => {
                log.line("keep-alive");
                log.quoted("", bytes);
                ("keep-alive", bytes.len())
            }
            Event::LastEventId(bytes) => {
                log.line("id");
                log.quoted("", bytes);
                ("id", bytes.len())
            }
            Event::Retry(ms) => {
                log.line("retry");
                log.word(ms);
                ("retry", 0)
            }
            Event::TooLong { offset } => {
                log.line("too-long");
                log.word(offset);
                ("too-long", 0)
            }
            Event::CommentTooLong { offset } => {
                log.line("comment-too-long");
                log.word(offset);
                ("comment-too-long", 0)
            }
            _ => panic!("an event that is not known: {event:?}"),
        };
        Seen { word, bytes }
    }

    pub fn chunk(&mut self, range: Range<u64>, name: &[u8], chunk: &Chunk<'_>) {
        self.head(range, name, chunk.id(), chunk.model(), chunk.created());
        // A chunk of another protocol has members of its own.
        if self.detail >= Detail::Views && chunk.protocol() == Protocol::Chat {
            views::chunk(&mut self.events, chunk);
        }
    }

    /// Logs what every chunk has.
    pub fn head(
        &mut self,
        range: Range<u64>,
        name: &[u8],
        id: Option<Text<'_>>,
        model: Option<Text<'_>>,
        created: Option<u64>,
    ) {
        let log = &mut self.events;
        log.line("chunk");
        log.word(format_args!("{}..{}", range.start, range.end));
        if !name.is_empty() {
            log.quoted("name", name);
        }
        log.maybe("id", id);
        log.maybe("model", model);
        if let Some(created) = created {
            log.word(format_args!("created={created}"));
        }
    }

    pub fn sse(&mut self, kind: &[u8], data: &[u8], id: &[u8]) {
        self.events.line("sse");
        self.events.quoted("type", kind);
        self.events.quoted("data", data);
        self.events.quoted("id", id);
    }

    pub fn malformed(&mut self, payload: &[u8], fault: u32, offset: u64, name: &[u8]) {
        let log = &mut self.events;
        log.line("malformed");
        log.quoted("", payload);
        log.word(format_args!("{} at {offset}", FAULTS[fault as usize]));
        if !name.is_empty() {
            log.quoted("name", name);
        }
    }

    /// Logs the range of an event, as the parser reports it afterwards.
    pub fn place(&mut self, seen: Seen, range: Range<u64>) {
        assert!(range.start <= range.end, "a range runs backwards");
        assert!(seen.bytes as u64 <= range.end - range.start, "{} of {} bytes in {range:?}", seen.word, seen.bytes);
        self.ranges.line(seen.word);
        self.ranges.word(format_args!("{}..{}", range.start, range.end));
    }

    /// Logs a tracked update. Annotations and native finish reasons are details, because not every interface requests
    /// them.
    pub fn update(&mut self, choice: u32, update: &Update<'_>) {
        let log = &mut self.events;
        let place = |piece: NamePiece| if piece == NamePiece::Replaces { "replaces" } else { "appends" };
        let mut simple = |word: &str, text: Text<'_>| {
            log.line(word);
            log.word(choice);
            log.text("", text);
        };
        match update {
            Update::Role(text) => simple("role", *text),
            Update::Content(text) => simple("content", *text),
            Update::Reasoning(text) => simple("reasoning", *text),
            Update::Refusal(text) => simple("refusal", *text),
            Update::FunctionArguments(text) => simple("function-arguments", *text),
            Update::Finish(reason) => self.finish(choice, reason.text(), reason.kind().number()),
            Update::Call(CallUpdate { call, index, opens, reuses, id, kind, custom, .. }) => {
                log.line("call");
                let index = index.expect("a tracker knows the index of each call");
                log.word(format_args!("{choice} #{call} index={index}"));
                for (flag, word) in [(opens, "opens"), (reuses, "reuses"), (custom, "custom")] {
                    if *flag {
                        log.word(word);
                    }
                }
                log.maybe("id", *id);
                log.maybe("type", *kind);
            }
            Update::CallName { call, text, piece } => {
                log.line("name");
                log.word(format_args!("{choice} #{call} {}", place(*piece)));
                log.text("", *text);
            }
            Update::CallArguments { call, text } => {
                log.line("arguments");
                log.word(format_args!("{choice} #{call}"));
                log.text("", *text);
            }
            Update::CallEnd { call, whole } => {
                log.line("call-end");
                log.word(format_args!("{choice} #{call} {}", if *whole { "whole" } else { "broken" }));
            }
            Update::FunctionName { text, piece } => {
                log.line("function-name");
                log.word(format_args!("{choice} {}", place(*piece)));
                log.text("", *text);
            }
            Update::Audio(audio) => {
                log.line("audio");
                log.word(choice);
                let member = |name| audio.get(name).ok().flatten();
                for name in ["id", "data", "transcript"] {
                    log.maybe(name, member(name).and_then(|value| value.as_text()).filter(|text| !text.is_empty()));
                }
                if let Some(time) = member("expires_at").and_then(|time| time.as_number()?.to_u64()) {
                    log.word(format_args!("expires_at={time}"));
                }
                self.raw(audio.raw());
            }
            Update::Logprobs(logprobs) => {
                log.line("logprobs");
                log.word(choice);
                log.word("");
                log.escape(logprobs.raw());
            }
            Update::Usage(usage) => {
                log.line("usage");
                log.word("");
                log.escape(usage.value().raw());
            }
            Update::ChoiceError(error) => {
                log.line("choice-error");
                log.word(choice);
                self.api_error(error);
            }
            Update::Error(error) => {
                log.line("error");
                self.api_error(error);
            }
            Update::Annotations(value) => {
                if self.detail >= Detail::Views {
                    log.line(" annotations");
                    log.word(choice);
                }
                self.raw(value.raw());
            }
            Update::Signature(text) => {
                if self.detail >= Detail::Views {
                    log.line(" signature");
                    log.word(choice);
                    log.text("", *text);
                }
            }
            Update::Media(value) | Update::Native(value) => {
                if self.detail >= Detail::Views {
                    log.line(" part");
                    log.word(choice);
                }
                self.raw(value.raw());
            }
            // Only of a choice: pull has no update for the others.
            Update::Meta(Meta::NativeFinishReason, text) => {
                if self.detail >= Detail::Views {
                    log.line(" native-finish");
                    log.word(choice);
                    log.text("", *text);
                }
            }
            Update::Meta(..) => {}
            Update::Member(member) if !matches!(member.owner, Owner::Call | Owner::Function) => {}
            Update::Member(member) => {
                if self.detail >= Detail::Views {
                    log.line(" member");
                    log.word(choice);
                    log.word(member.call);
                    log.member(member.name);
                }
                self.raw(member.value.raw());
            }
            _ => panic!("an update that is not known: {update:?}"),
        }
    }

    pub fn finish(&mut self, choice: u32, text: Text<'_>, kind: u32) {
        self.events.line("finish");
        self.events.word(choice);
        self.events.text("", text);
        if self.detail >= Detail::Views {
            self.events.line(" kind");
            self.events.word(kind);
        }
    }

    fn api_error(&mut self, error: &ApiError<'_>) {
        let log = &mut self.events;
        log.maybe("", error.message());
        log.maybe("code", error.code());
        log.maybe("type", error.kind());
        log.maybe("param", error.param());
        if let Some(metadata) = error.metadata() {
            log.word("metadata=");
            log.escape(metadata.raw());
        }
        self.raw(error.value().map_or(b"", |value| value.raw()));
    }

    /// Logs raw JSON of which the line contains a part.
    fn raw(&mut self, raw: &[u8]) {
        if self.detail >= Detail::Views {
            self.events.line(" raw");
            self.events.word("");
            self.events.escape(raw);
        }
    }

    /// Logs a full table, an index out of range, or a quirk that is an error.
    pub fn error(&mut self, error: &Error) {
        self.events.line("stop");
        let of = error.choice().map_or(String::new(), |choice| format!(" of {choice}"));
        self.events.word(format_args!("{}{of} at {}", error_code(error), error.offset()));
    }

    pub fn quirks(&mut self, quirks: QuirkSet) {
        for quirk in quirks.iter() {
            self.quirks.line(quirk.name());
        }
    }

    /// Logs the parser's state.
    pub fn state(&mut self, parser: &dyn Reader) {
        if self.detail < Detail::States {
            return;
        }
        let log = &mut self.states;
        log.line("state");
        log.number("offset", parser.offset());
        log.number("start", parser.wire_range().start);
        log.number("end", parser.wire_range().end);
        log.put("id", parser.last_event_id());
        assert_eq!(parser.end().offset, parser.offset());
        if let Some(counts) = parser.usage() {
            log.word(format_args!("counts {counts:?}"));
        }
        end(log, &parser.end(), &|quirk| parser.quirk_count(quirk));
    }

    /// Logs what is known at the end of the stream.
    pub fn close(&mut self, id: &[u8], of: End, count: impl Fn(Quirk) -> u16) {
        if !id.is_empty() {
            self.end.line("last-id");
            self.end.quoted("", id);
        }
        end(&mut self.end, &of, &count);
        Quirk::ALL.iter().for_each(|quirk| self.counts[*quirk as usize] = count(*quirk));
    }

    /// Panics unless this run and another with the same calls have equal logs.
    #[track_caller]
    pub fn equal(&self, other: &Logs, what: &str, context: impl Fn() -> String) {
        self.across(other, what, &context);
        same(&format!("ranges by {what}"), &self.ranges, &other.ranges, &context);
        same(&format!("quirks by {what}"), &self.quirks, &other.quirks, &context);
        same(&format!("frames by {what}"), &self.frames, &other.frames, &context);
        same(&format!("states by {what}"), &self.states, &other.states, &context);
    }

    /// Panics unless this run and another with different calls are equal in the logs that both have.
    #[track_caller]
    pub fn across(&self, other: &Logs, what: &str, context: impl Fn() -> String) {
        same(&format!("events by {what}"), &self.events, &other.events, &context);
        same(&format!("end by {what}"), &self.end, &other.end, &context);
    }

    /// Returns the log in the format of `tests/quirks/README.md`, up to the first quirk that is an error, without
    /// ranges if they are unknown.
    pub fn lines(&self) -> Vec<String> {
        let mut ranges = self.ranges.lines();
        let mut lines = Vec::new();
        for line in self.events.lines() {
            let (word, rest) = line.split_once(' ').map_or((line, ""), |(word, rest)| (word, rest));
            let event = EVENTS.iter().find(|(event, _)| *event == word);
            let range = event.and_then(|(_, is_ranged)| Some((ranges.next()?, is_ranged)));
            lines.push(match range {
                Some((range, true)) if rest.is_empty() => range.to_string(),
                Some((range, true)) => format!("{range} {rest}"),
                _ => line.to_string(),
            });
            if line.starts_with("stop F") || line.starts_with("stop C") {
                return lines;
            }
        }
        lines.extend(self.end.lines().map(str::to_string));
        lines
    }
}

fn error_code(error: &Error) -> &'static str {
    match error {
        Error::Quirk { quirk, .. } => quirk.code(),
        Error::TooManyChoices { .. } => "TooManyChoices",
        Error::TooManyCalls { .. } => "TooManyCalls",
        Error::BadIndex { .. } => "BadIndex",
        error => panic!("{error:?}"),
    }
}

fn end(log: &mut Log, end: &End, count: &dyn Fn(Quirk) -> u16) {
    let End {
        verdict,
        done,
        choices_seen,
        choices_finished,
        api_error,
        body,
        pending,
        malformed,
        too_long,
        left_out,
        offset,
        media,
        protocol,
        ..
    } = *end;
    log.line("end");
    log.word(format_args!("{verdict:?}"));
    if let Some(media) = media {
        log.word(format_args!("media={media:?}"));
    }
    if let Some(protocol) = protocol.filter(|_| verdict == Verdict::OtherProtocol) {
        log.word(format_args!("protocol={protocol:?}"));
    }
    log.word(format_args!("choices={choices_finished}/{choices_seen}"));
    log.word(format_args!("pending={pending:?} error={api_error} offset={offset}"));
    // Add up the quirks of one row of the table.
    let mut rows: Vec<(&str, u16)> = Vec::new();
    let mut each = Log::default();
    for quirk in Quirk::ALL.iter().filter(|quirk| count(**quirk) > 0) {
        each.number(quirk.name(), count(*quirk).into());
        match rows.iter_mut().find(|(code, _)| *code == quirk.code()) {
            Some((_, sum)) => *sum = sum.saturating_add(count(*quirk)),
            None => rows.push((quirk.code(), count(*quirk))),
        }
    }
    log.line("quirks");
    for (code, count) in &rows {
        log.word(format_args!("{code}:{count}"));
    }
    if rows.is_empty() {
        log.word("none");
    }
    log.line(" more");
    log.word(format_args!("done={done} body={body} malformed={malformed} too_long={too_long} left_out={left_out}"));
    log.append(&each);
}
