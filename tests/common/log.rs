//! A stream as a log: one line for each thing that it brings. `tests/quirks/README.md` has the lines.

use deltawire::chat::{ApiError, Audio, CallUpdate};
use deltawire::json::{Fragment, Text};
use deltawire::stream::{End, Event, Fed};
use deltawire::track::Tracker;
use deltawire::{Config, Error, Flow, Handler, Parser, Quirk, QuirkSet, Stop, Storage, Update};
use std::fmt::Write as _;
use std::ops::Range;

/// Where a cut event is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// `[u8; N]`, for the sizes that [`with_fixed`] knows.
    Fixed(usize),
    /// `&mut [u8]` of any length.
    Borrowed(usize),
    #[cfg(feature = "alloc")]
    Growing,
}

/// The sizes of fixed storage that cases can ask for.
pub const FIXED: [usize; 9] = [0, 16, 32, 48, 64, 128, 256, 8192, 32768];

/// How a stream is to be read.
#[derive(Clone, Copy, Debug)]
pub struct How<'a> {
    /// Offsets of the cuts, in order.
    pub cuts: &'a [usize],
    pub store: Store,
    pub config: Config,
    /// The handler asks for a pause at every call.
    pub pause: bool,
}

impl How<'_> {
    pub fn whole(store: Store, config: Config) -> Self {
        How { cuts: &[], store, config, pause: false }
    }
}

/// A log, its last line the count of the quirks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    pub lines: Vec<String>,
    /// How often each quirk was met.
    pub quirks: Vec<(Quirk, u16)>,
}

/// The pieces of `input`.
pub fn pieces<'a>(input: &'a [u8], cuts: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain(std::iter::once(input.len()));
    starts.zip(ends).map(|(start, end)| &input[start..end])
}

macro_rules! with_store {
    ($how:expr, $storage:ident => $body:expr) => {
        match $how.store {
            #[cfg(feature = "alloc")]
            Store::Growing => {
                let $storage = deltawire::Growing::new();
                $body
            }
            Store::Borrowed(len) => {
                let mut memory = vec![0xAAu8; len];
                let $storage = &mut memory[..];
                $body
            }
            Store::Fixed(0) => with_store!(@fixed 0, $storage => $body),
            Store::Fixed(16) => with_store!(@fixed 16, $storage => $body),
            Store::Fixed(32) => with_store!(@fixed 32, $storage => $body),
            Store::Fixed(48) => with_store!(@fixed 48, $storage => $body),
            Store::Fixed(64) => with_store!(@fixed 64, $storage => $body),
            Store::Fixed(128) => with_store!(@fixed 128, $storage => $body),
            Store::Fixed(256) => with_store!(@fixed 256, $storage => $body),
            Store::Fixed(8192) => with_store!(@fixed 8192, $storage => $body),
            Store::Fixed(32768) => with_store!(@fixed 32768, $storage => $body),
            Store::Fixed(len) => panic!("no fixed storage of {len} bytes is compiled in"),
        }
    };
    (@fixed $len:literal, $storage:ident => $body:expr) => {{
        let $storage = [0x55u8; $len];
        $body
    }};
}

/// The log by [`Parser::feed`].
pub fn push(input: &[u8], how: &How<'_>) -> Log {
    with_store!(how, storage => push_on(Parser::with_config(storage, how.config), input, how))
}

/// The log by [`Parser::next`] and a tracker of the caller's.
pub fn pull(input: &[u8], how: &How<'_>) -> Log {
    with_store!(how, storage => pull_on(Parser::with_tracker(storage, how.config, ()), input, how))
}

/// A log without the wire ranges of what is no chunk: a handler is not told of those.
pub fn without_ranges(lines: &[String]) -> Vec<String> {
    let strip = |line: &String| {
        let mut words = line.splitn(3, ' ');
        let (kind, range, rest) = (words.next().unwrap_or(""), words.next().unwrap_or(""), words.next());
        let known = ["done", "comment", "keep-alive", "retry", "id", "malformed"].contains(&kind);
        let is_range = range.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit()) && range.contains("..");
        match (known && is_range, rest) {
            (true, Some(rest)) => format!("{kind} {rest}"),
            (true, None) => kind.to_string(),
            _ => line.clone(),
        }
    };
    lines.iter().map(strip).collect()
}

// ---------------------------------------------------------------------------------------------------------------------
// Push

struct Logger {
    lines: Vec<String>,
    pause: bool,
    told: Vec<(Quirk, u16)>,
    /// The line that a wire range is to be put in, if it becomes known.
    ranged: Option<usize>,
}

impl Logger {
    fn flow(&self) -> Flow {
        if self.pause {
            Flow::Break(Stop::Pause)
        } else {
            Flow::Continue(())
        }
    }
}

impl Handler for Logger {
    fn event(&mut self, event: &Event<'_>) -> Flow {
        self.ranged = Some(self.lines.len());
        self.lines.push(event_line(event));
        self.flow()
    }

    fn update(&mut self, choice: u32, update: Update<'_>) -> Flow {
        self.lines.extend(update_line(choice, &update));
        self.flow()
    }

    fn limit(&mut self, error: &Error) -> Flow {
        self.lines.push(stop_line(error));
        self.flow()
    }

    fn quirk(&mut self, quirk: Quirk, _offset: u64) -> Flow {
        count(&mut self.told, QuirkSet::from(quirk));
        self.flow()
    }
}

fn push_on<S: Storage>(mut parser: Parser<S>, input: &[u8], how: &How<'_>) -> Log {
    let mut logger = Logger { lines: Vec::new(), pause: how.pause, told: Vec::new(), ranged: None };
    let mut stopped = false;
    'input: for mut piece in pieces(input, how.cuts) {
        loop {
            let Fed { consumed, stop } = parser.feed(piece, &mut logger);
            piece = &piece[consumed..];
            match stop {
                None => {
                    assert!(piece.is_empty(), "feed left bytes without a stop");
                    break;
                }
                Some(stop) => {
                    stopped = !go_on(&parser, &mut logger, stop);
                    if stopped {
                        break 'input;
                    }
                }
            }
        }
    }
    while !stopped {
        let Some(stop) = parser.finish_into(&mut logger) else { break };
        stopped = !go_on(&parser, &mut logger, stop);
    }
    let quirks = counts(|quirk| parser.quirk_count(quirk));
    let Logger { mut lines, told, .. } = logger;
    for (quirk, told) in told {
        if told > parser.quirk_count(quirk) {
            lines.push(format!("{quirk:?} was told {told} times and counted {}", parser.quirk_count(quirk)));
        }
    }
    close(lines, stopped, parser.last_event_id(), &parser.end(), quirks)
}

/// Notes why the parser stopped. Says whether to go on.
fn go_on<S: Storage>(parser: &Parser<S>, logger: &mut Logger, stop: Stop) -> bool {
    if let (Some(at), true) = (logger.ranged.take(), logger.pause) {
        // After a pause the parser can be asked.
        insert_range(&mut logger.lines[at], parser.wire_range());
    }
    match stop {
        Stop::Pause => true,
        Stop::Error(error @ Error::Quirk { .. }) => {
            logger.lines.push(stop_line(&error));
            false
        }
        // The handler was told.
        Stop::Error(_) => true,
        stop => panic!("{stop:?}"),
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Pull

fn pull_on<S: Storage>(mut parser: Parser<S, 2, ()>, input: &[u8], how: &How<'_>) -> Log {
    let mut tracker: Tracker = Tracker::new();
    let mut lines = Vec::new();
    let mut met = Vec::new();
    let mut stopped = false;
    'input: for mut piece in pieces(input, how.cuts) {
        loop {
            let start = lines.len();
            let offset = match parser.next(&mut piece) {
                Ok(None) => break,
                Ok(Some(event)) => {
                    let outcome = take(&event, &mut tracker, &mut lines, &mut met);
                    let offset = parser.wire_range().start;
                    insert_range(&mut lines[start], parser.wire_range());
                    (outcome, offset)
                }
                Err(error) => {
                    lines.push(stop_line(&error));
                    stopped = true;
                    break 'input;
                }
            };
            if told(offset, &how.config, &mut lines) {
                stopped = true;
                break 'input;
            }
        }
        assert!(piece.is_empty(), "next said None and left bytes");
    }
    while !stopped {
        let start = lines.len();
        let offset = match parser.finish() {
            Ok(None) => break,
            Ok(Some(event)) => {
                let outcome = take(&event, &mut tracker, &mut lines, &mut met);
                insert_range(&mut lines[start], parser.wire_range());
                (outcome, parser.wire_range().start)
            }
            Err(error) => {
                lines.push(stop_line(&error));
                stopped = true;
                break;
            }
        };
        stopped = told(offset, &how.config, &mut lines);
    }
    if !stopped {
        let mut quirks = QuirkSet::EMPTY;
        while let Some(delta) = tracker.flush(None, &mut quirks) {
            lines.extend(Update::of(&delta, b"").and_then(|update| update_line(delta.choice, &update)));
        }
        count(&mut met, quirks);
        stopped = told(((quirks, None), parser.offset()), &how.config, &mut lines);
    }
    let quirks = counts(|quirk| {
        let own = met.iter().find(|(met, _)| *met == quirk).map_or(0, |(_, count)| *count);
        parser.quirk_count(quirk) + own
    });
    close(lines, stopped, parser.last_event_id(), &parser.end(), quirks)
}

type Brought = (QuirkSet, Option<Error>);

fn take(event: &Event<'_>, tracker: &mut Tracker, lines: &mut Vec<String>, met: &mut Vec<(Quirk, u16)>) -> Brought {
    lines.push(event_line(event));
    let Some(chunk) = event.chunk() else { return (QuirkSet::EMPTY, None) };
    let mut updates = tracker.updates(&chunk);
    for (choice, update) in &mut updates {
        lines.extend(update_line(choice, &update));
    }
    let (quirks, error) = (updates.quirks(), updates.error());
    count(met, quirks);
    (quirks, error)
}

/// Does with a tracker's outcome what `feed` does. Says whether to stop.
fn told(((quirks, error), offset): (Brought, u64), config: &Config, lines: &mut Vec<String>) -> bool {
    let quirk = quirks.and(config.errors).iter().next().map(|quirk| Error::Quirk { quirk, offset });
    lines.extend(error.iter().chain(&quirk).map(stop_line));
    quirk.is_some()
}

// ---------------------------------------------------------------------------------------------------------------------
// Lines

fn count(into: &mut Vec<(Quirk, u16)>, quirks: QuirkSet) {
    for quirk in quirks.iter() {
        match into.iter_mut().find(|(known, _)| *known == quirk) {
            Some((_, count)) => *count += 1,
            None => into.push((quirk, 1)),
        }
    }
}

fn counts(count: impl Fn(Quirk) -> u16) -> Vec<(Quirk, u16)> {
    Quirk::ALL.iter().map(|quirk| (*quirk, count(*quirk))).filter(|(_, count)| *count > 0).collect()
}

fn close(mut lines: Vec<String>, stopped: bool, id: &[u8], end: &End, quirks: Vec<(Quirk, u16)>) -> Log {
    if !stopped {
        if !id.is_empty() {
            lines.push(format!("last-id {}", quoted(id)));
        }
        lines.push(format!(
            "end {:?} choices={}/{} pending={:?} error={} offset={}",
            end.verdict, end.choices_finished, end.choices_seen, end.pending, end.api_error, end.offset
        ));
        lines.push(quirks_line(&quirks));
    }
    Log { lines, quirks }
}

/// Quirks by code; those of one row of the table are added up.
fn quirks_line(quirks: &[(Quirk, u16)]) -> String {
    let mut rows: Vec<(&str, u16)> = Vec::new();
    for (quirk, count) in quirks {
        match rows.iter_mut().find(|(code, _)| *code == quirk.code()) {
            Some((_, sum)) => *sum += count,
            None => rows.push((quirk.code(), *count)),
        }
    }
    let words: Vec<String> = rows.iter().map(|(code, count)| format!("{code}:{count}")).collect();
    if words.is_empty() {
        "quirks none".to_string()
    } else {
        format!("quirks {}", words.join(" "))
    }
}

pub fn stop_line(error: &Error) -> String {
    match error {
        Error::Quirk { quirk, offset } => format!("stop {} at {offset}", quirk.code()),
        Error::TooManyChoices { offset } => format!("stop TooManyChoices at {offset}"),
        Error::BadIndex { offset } => format!("stop BadIndex at {offset}"),
        Error::TooManyCalls { offset } => format!("stop TooManyCalls at {offset}"),
        error => panic!("{error:?}"),
    }
}

/// Puts the wire range behind the first word of a line that has none.
fn insert_range(line: &mut String, range: Range<u64>) {
    let kind = line.split(' ').next().unwrap_or("").to_string();
    if ["done", "comment", "keep-alive", "retry", "id", "malformed"].contains(&kind.as_str()) {
        line.insert_str(kind.len(), &format!(" {}..{}", range.start, range.end));
    }
}

fn event_line(event: &Event<'_>) -> String {
    match event {
        Event::Chunk(chunk) => {
            let range = chunk.wire_range();
            let mut line = format!("chunk {}..{}", range.start, range.end);
            if !chunk.event_name().is_empty() {
                write!(line, " name={}", quoted(chunk.event_name())).unwrap();
            }
            put_text(&mut line, "id", chunk.id());
            put_text(&mut line, "model", chunk.model());
            if let Some(created) = chunk.created() {
                write!(line, " created={created}").unwrap();
            }
            line
        }
        Event::Done => "done".to_string(),
        Event::Comment(text) => format!("comment {}", quoted(text)),
        Event::KeepAlive(payload) => format!("keep-alive {}", quoted(payload)),
        Event::Retry(ms) => format!("retry {ms}"),
        Event::LastEventId(id) => format!("id {}", quoted(id)),
        Event::Malformed(malformed) => {
            let fault = malformed.fault();
            let mut line = format!("malformed {} {:?} at {}", quoted(malformed.payload()), fault.kind, fault.offset);
            if !malformed.event_name().is_empty() {
                write!(line, " name={}", quoted(malformed.event_name())).unwrap();
            }
            line
        }
        Event::TooLong { offset } => format!("too-long {offset}"),
        Event::CommentTooLong { offset } => format!("comment-too-long {offset}"),
        event => panic!("{event:?}"),
    }
}

/// The line of a tracked update. Annotations have none.
fn update_line(choice: u32, update: &Update<'_>) -> Option<String> {
    let place = |replaces: &bool| if *replaces { "replaces" } else { "appends" };
    Some(match update {
        Update::Role(text) => format!("role {choice} {}", quoted_text(*text)),
        Update::Content(text) => format!("content {choice} {}", quoted_text(*text)),
        Update::Reasoning(text) => format!("reasoning {choice} {}", quoted_text(*text)),
        Update::Refusal(text) => format!("refusal {choice} {}", quoted_text(*text)),
        Update::Call(CallUpdate { call, index, opens, reuses, id, kind, custom }) => {
            let index = index.expect("a tracker knows the index of each call");
            let mut line = format!("call {choice} #{call} index={index}");
            for (flag, word) in [(*opens, " opens"), (*reuses, " reuses"), (*custom, " custom")] {
                line.push_str(if flag { word } else { "" });
            }
            put_text(&mut line, "id", *id);
            put_text(&mut line, "type", *kind);
            line
        }
        Update::CallName { call, text, replaces } => {
            format!("name {choice} #{call} {} {}", place(replaces), quoted_text(*text))
        }
        Update::CallArguments { call, text } => format!("arguments {choice} #{call} {}", quoted_text(*text)),
        Update::FunctionName { text, replaces } => {
            format!("function-name {choice} {} {}", place(replaces), quoted_text(*text))
        }
        Update::FunctionArguments(text) => format!("function-arguments {choice} {}", quoted_text(*text)),
        Update::Audio(audio) => audio_line(choice, audio),
        Update::Logprobs(logprobs) => format!("logprobs {choice} {}", escaped(logprobs.value().raw())),
        Update::Message(message) => format!("message {choice} {}", escaped(message.value().raw())),
        Update::Finish(reason) => format!("finish {choice} {}", quoted_text(reason.text())),
        Update::ChoiceError(error) => error_line(&format!("choice-error {choice}"), error),
        Update::Usage(usage) => format!("usage {}", escaped(usage.value().raw())),
        Update::Error(error) => error_line("error", error),
        Update::Annotations(_) | Update::Meta(..) => return None,
        _ => panic!("an update that is not known"),
    })
}

fn audio_line(choice: u32, audio: &Audio<'_>) -> String {
    let mut line = format!("audio {choice}");
    put_text(&mut line, "id", audio.id());
    put_text(&mut line, "data", audio.data());
    put_text(&mut line, "transcript", audio.transcript());
    if let Some(time) = audio.expires_at() {
        write!(line, " expires_at={time}").unwrap();
    }
    line
}

fn error_line(word: &str, error: &ApiError<'_>) -> String {
    let mut line = word.to_string();
    if let Some(message) = error.message() {
        write!(line, " {}", quoted_text(message)).unwrap();
    }
    put_text(&mut line, "code", error.code());
    put_text(&mut line, "type", error.kind());
    put_text(&mut line, "param", error.param());
    if let Some(metadata) = error.metadata() {
        write!(line, " metadata={}", escaped(metadata.raw())).unwrap();
    }
    line
}

fn put_text(line: &mut String, name: &str, text: Option<Text<'_>>) {
    if let Some(text) = text {
        write!(line, " {name}={}", quoted_text(text)).unwrap();
    }
}

fn quoted_text(text: Text<'_>) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4];
    for fragment in text.fragments() {
        match fragment {
            Fragment::Str(run) => bytes.extend_from_slice(run.as_bytes()),
            Fragment::Char(char) => bytes.extend_from_slice(char.encode_utf8(&mut buffer).as_bytes()),
        }
    }
    assert!(!bytes.is_empty(), "an empty text was handed out");
    quoted(&bytes)
}

/// Bytes between quotes, escaped.
pub fn quoted(bytes: &[u8]) -> String {
    format!("\"{}\"", escaped(bytes).replace('"', "\\\""))
}

/// Bytes as printable ASCII: what is not, and the backslash, is escaped.
pub fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            b'\\' => text.push_str("\\\\"),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => write!(text, "\\x{byte:02X}").unwrap(),
        }
    }
    text
}
