//! A batch brings the same log as push and pull, however small its array and its scratch are.
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used)]

mod common;

use common::case::{self, Case};
use common::log::{self, escaped, quoted};
use deltawire::chat::ApiError;
use deltawire::delta::{self, Kind};
use deltawire::json::{Text, Value};
use deltawire::stream::{self, Emitter, Machine, Outcome, Record, Records};
use deltawire::track::Tracker;
use deltawire::{Config, Error, Movable, Quirk, QuirkSet, Stop};
use std::fmt::Write as _;

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

/// A reader with everything that a batch takes.
struct Reader {
    machine: Machine,
    tracker: Tracker,
    emitter: Emitter,
    store: Vec<u8>,
    can_move: bool,
    /// It was just moved to a larger storage.
    moved: bool,
    scratch: Vec<u8>,
    records: Vec<Record>,
    lines: Vec<String>,
    /// A record whose text came in pieces so far, and the text.
    open: Option<(Record, Vec<u8>)>,
    /// Where the last frame ended.
    framed: u64,
    /// Frames: where they end, choices, kinds.
    frames: Vec<(u64, u32, u64)>,
    quirks: Vec<(Quirk, u16)>,
}

/// Whether more is to be asked for.
enum Next {
    Go,
    Done,
    Stop,
}

impl Reader {
    fn new(config: Config, store: Option<usize>, cap: usize, scratch: usize) -> Self {
        Reader {
            machine: Machine::new(config),
            tracker: Tracker::new(),
            emitter: Emitter::new(),
            store: vec![0xAA; store.unwrap_or(24)],
            can_move: store.is_none(),
            moved: false,
            scratch: vec![0; scratch],
            records: vec![Record::default(); cap],
            lines: Vec::new(),
            open: None,
            framed: 0,
            frames: Vec::new(),
            quirks: Vec::new(),
        }
    }

    /// One call; `data` is taken off as it is spent. `None`: the stream ended.
    fn call(&mut self, data: Option<&mut &[u8]>) -> Next {
        let given = data.as_deref().copied().unwrap_or_default();
        let finish = data.is_none();
        if self.can_move && !std::mem::take(&mut self.moved) {
            // To the smallest storage that there is, and out of it again.
            let pending = self.emitter.is_pending();
            let mut least = vec![0x55; self.machine.retained(&self.store, pending)];
            assert!(self.machine.relocate(&self.store, &mut least, pending));
            self.store.fill(0xA5);
            self.store = least;
        }
        let mut records = std::mem::take(&mut self.records);
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut sink = Records::new(&mut records, &mut scratch, u64::MAX);
        let mut store = Movable::new(&mut self.store, self.can_move);
        let (spent, outcome) = if finish {
            (0, self.emitter.finish(&mut self.machine, &mut store, &mut self.tracker, &mut sink))
        } else {
            self.emitter.run(&mut self.machine, &mut store, &mut self.tracker, given, 0, &mut sink)
        };
        let (written, need) = (sink.written(), sink.need());
        for record in &records[..written] {
            self.take(*record, given, &scratch);
        }
        if let Some(data) = data {
            *data = &data[spent..];
        }
        if need > scratch.len() {
            scratch = vec![0; need];
        }
        (self.records, self.scratch) = (records, scratch);
        match outcome {
            Outcome::Done => return Next::Done,
            Outcome::Full => {}
            Outcome::NeedStorage(need) => {
                let mut larger = vec![0x55; need.len];
                assert!(self.machine.relocate(&self.store, &mut larger, self.emitter.is_pending()));
                self.store.fill(0xA5);
                self.store = larger;
                self.moved = true;
            }
            Outcome::Stopped(Stop::Error(Error::Quirk { quirk, offset })) => {
                self.lines.push(format!("stop {} at {offset}", quirk.code()));
                return Next::Stop;
            }
            outcome => panic!("{outcome:?}"),
        }
        Next::Go
    }

    fn take(&mut self, mut record: Record, given: &[u8], scratch: &[u8]) {
        let bytes = |flag: u16, off: u32, len: u32| {
            let from = if record.flags & flag != 0 { scratch } else { given };
            from[off as usize..][..len as usize].to_vec()
        };
        let piece = bytes(stream::FLAG_TEXT_SCRATCH, record.text_off, record.text_len);
        let aux = bytes(stream::FLAG_AUX_SCRATCH, record.aux_off, record.aux_len);
        let extra = bytes(stream::FLAG_EXTRA_SCRATCH, record.extra_off, record.extra_len);
        let more = record.flags & delta::FLAG_MORE != 0;
        let places = stream::FLAG_TEXT_SCRATCH | stream::FLAG_AUX_SCRATCH | stream::FLAG_EXTRA_SCRATCH;
        record.flags &= !(delta::FLAG_MORE | places);
        (record.text_off, record.text_len, record.aux_off, record.extra_off) = (0, 0, 0, 0);
        let mut text = match self.open.take() {
            Some((before, text)) => {
                assert_eq!(before, record, "a piece of something else");
                text
            }
            None => Vec::new(),
        };
        text.extend_from_slice(&piece);
        if more {
            assert!(!piece.is_empty(), "an empty piece");
            self.open = Some((record, text));
            return;
        }
        self.line(&record, &text, &aux, &extra);
    }

    fn line(&mut self, record: &Record, text: &[u8], aux: &[u8], extra: &[u8]) {
        let Record { choice, call, start, end, number, .. } = *record;
        let has = |flag: u16| record.flags & flag != 0;
        let named = |line: &mut String, name: &str, text: &[u8]| {
            if !text.is_empty() {
                write!(line, " {name}={}", quoted(text)).unwrap();
            }
        };
        let kind = |kind: Kind| kind as u16 == record.kind;
        let whole = || if has(delta::FLAG_REPLACES) { "replaces" } else { "appends" };
        let line = if kind(Kind::Frame) {
            assert_eq!(start, self.framed, "frames lie one behind the other");
            assert!(end > start);
            self.framed = end;
            self.frames.push((end, record.code, number));
            return;
        } else if kind(Kind::Quirk) {
            let quirk = Quirk::ALL[record.code as usize];
            match self.quirks.iter_mut().find(|(known, _)| *known == quirk) {
                Some((_, count)) => *count += 1,
                None => self.quirks.push((quirk, 1)),
            }
            return;
        } else if kind(Kind::Payload) || kind(Kind::Meta) || kind(Kind::Annotation) {
            return;
        } else if kind(Kind::Chunk) {
            let mut line = format!("chunk {start}..{end}");
            named(&mut line, "name", extra);
            named(&mut line, "id", text);
            named(&mut line, "model", aux);
            if has(delta::FLAG_NUMBER) {
                write!(line, " created={number}").unwrap();
            }
            line
        } else if kind(Kind::Done) {
            format!("done {start}..{end}")
        } else if kind(Kind::Comment) {
            format!("comment {start}..{end} {}", quoted(text))
        } else if kind(Kind::KeepAlive) {
            format!("keep-alive {start}..{end} {}", quoted(text))
        } else if kind(Kind::LastEventId) {
            format!("id {start}..{end} {}", quoted(text))
        } else if kind(Kind::Retry) {
            format!("retry {start}..{end} {number}")
        } else if kind(Kind::Malformed) {
            let fault = FAULTS[record.code as usize];
            let mut line = format!("malformed {start}..{end} {} {fault} at {number}", quoted(text));
            named(&mut line, "name", extra);
            line
        } else if kind(Kind::TooLong) {
            format!("too-long {start}")
        } else if kind(Kind::CommentTooLong) {
            format!("comment-too-long {start}")
        } else if kind(Kind::Role) {
            format!("role {choice} {}", quoted(text))
        } else if kind(Kind::Content) {
            format!("content {choice} {}", quoted(text))
        } else if kind(Kind::Reasoning) {
            format!("reasoning {choice} {}", quoted(text))
        } else if kind(Kind::Refusal) {
            format!("refusal {choice} {}", quoted(text))
        } else if kind(Kind::ToolCall) {
            let mut line = format!("call {choice} #{call} index={number}");
            let flags = [(delta::FLAG_OPENS, "opens"), (delta::FLAG_REUSES, "reuses"), (delta::FLAG_CUSTOM, "custom")];
            for (flag, word) in flags {
                if has(flag) {
                    write!(line, " {word}").unwrap();
                }
            }
            named(&mut line, "id", text);
            named(&mut line, "type", aux);
            line
        } else if kind(Kind::ToolName) {
            format!("name {choice} #{call} {} {}", whole(), quoted(text))
        } else if kind(Kind::ToolArguments) {
            format!("arguments {choice} #{call} {}", quoted(text))
        } else if kind(Kind::FunctionName) {
            format!("function-name {choice} {} {}", whole(), quoted(text))
        } else if kind(Kind::FunctionArguments) {
            format!("function-arguments {choice} {}", quoted(text))
        } else if kind(Kind::Audio) {
            let value = Value::from_raw(text);
            let text = |name: &str| value.get(name).ok().flatten().and_then(|value| value.as_text());
            let mut line = format!("audio {choice}");
            for name in ["id", "data", "transcript"] {
                if let Some(text) = text(name).filter(|text| !text.is_empty()) {
                    write!(line, " {name}={}", quoted(text.to_string().as_bytes())).unwrap();
                }
            }
            if let Some(time) = value.get("expires_at").ok().flatten().and_then(|value| value.as_number()) {
                write!(line, " expires_at={time}").unwrap();
            }
            line
        } else if kind(Kind::Logprobs) {
            format!("logprobs {choice} {}", escaped(text))
        } else if kind(Kind::Message) {
            format!("message {choice} {}", escaped(text))
        } else if kind(Kind::Finish) {
            format!("finish {choice} {}", quoted(text))
        } else if kind(Kind::Usage) {
            format!("usage {}", escaped(text))
        } else if kind(Kind::ChoiceError) {
            error_line(&format!("choice-error {choice}"), text, has(delta::FLAG_PLAIN))
        } else if kind(Kind::Error) {
            error_line("error", text, has(delta::FLAG_PLAIN))
        } else if kind(Kind::Limit) {
            format!("stop {} at {start}", ["", "TooManyChoices", "TooManyCalls", "BadIndex"][record.code as usize])
        } else {
            panic!("{record:?}");
        };
        self.lines.push(line);
    }
}

fn error_line(word: &str, raw: &[u8], plain: bool) -> String {
    let mut line = word.to_string();
    if plain && raw.is_empty() {
        return line;
    }
    if plain {
        write!(line, " {}", quoted(Text::verbatim(raw).to_string().as_bytes())).unwrap();
        return line;
    }
    let error = ApiError::of(Value::from_raw(raw));
    if let Some(message) = error.message() {
        write!(line, " {}", quoted(message.to_string().as_bytes())).unwrap();
    }
    for (name, text) in [("code", error.code()), ("type", error.kind()), ("param", error.param())] {
        if let Some(text) = text {
            write!(line, " {name}={}", quoted(text.to_string().as_bytes())).unwrap();
        }
    }
    if let Some(metadata) = error.metadata() {
        write!(line, " metadata={}", escaped(metadata.raw())).unwrap();
    }
    line
}

/// The log by batches: its lines up to the end, and the last line of quirks as pull has it.
fn read(input: &[u8], cuts: &[usize], config: Config, store: Option<usize>, cap: usize, scratch: usize) -> Vec<String> {
    read_with_frames(input, cuts, config, store, cap, scratch).0
}

/// The same, and the frames: where they end, how many choices, what was in them.
fn read_with_frames(
    input: &[u8],
    cuts: &[usize],
    config: Config,
    store: Option<usize>,
    cap: usize,
    scratch: usize,
) -> (Vec<String>, Vec<(u64, u32, u64)>) {
    let mut reader = Reader::new(config, store, cap, scratch);
    for mut piece in log::pieces(input, cuts) {
        loop {
            match reader.call(Some(&mut piece)) {
                Next::Go => {}
                Next::Done => break,
                Next::Stop => return (reader.lines, reader.frames),
            }
        }
        assert!(piece.is_empty(), "done, and bytes are left");
    }
    loop {
        match reader.call(None) {
            Next::Go => {}
            Next::Done => break,
            Next::Stop => return (reader.lines, reader.frames),
        }
    }
    assert_eq!(reader.framed, input.len() as u64, "every byte lies in a frame");
    assert!(reader.open.is_none());
    let told: u32 = reader.quirks.iter().map(|(_, count)| u32::from(*count)).sum();
    let counted: u32 = Quirk::ALL.iter().map(|quirk| u32::from(reader.machine.quirk_count(*quirk))).sum();
    assert!(told <= counted);
    (reader.lines, reader.frames)
}

/// A case's log without what is said of the end.
fn wanted(case: &Case) -> Vec<String> {
    let end = ["last-id ", "end ", "quirks "];
    case.log.iter().filter(|line| !end.iter().any(|word| line.starts_with(word))).cloned().collect()
}

#[test]
fn cases() {
    let mut runs = 0u64;
    for case in case::all() {
        let wanted = wanted(&case);
        let len = case.input.len();
        let every: Vec<usize> = (1..len).collect();
        let seven: Vec<usize> = (1..len).filter(|at| at % 7 == 0).collect();
        let mut cuts: Vec<Vec<usize>> = vec![vec![], every, seven];
        if len < 400 {
            cuts.extend((1..len).map(|at| vec![at]));
        }
        // Without a size of its own a case runs on a storage that grows from next to nothing too.
        let stores = if case.storage.is_some() { vec![case.storage] } else { vec![None, Some(8192)] };
        for store in stores {
            let frames = read_with_frames(&case.input, &[], case.config, store, 64, 4096).1;
            for cuts in &cuts {
                for (cap, scratch) in [(1, 64), (2, 4096), (3, 64), (64, 4096)] {
                    let (lines, framed) = read_with_frames(&case.input, cuts, case.config, store, cap, scratch);
                    assert_eq!(framed, frames, "{} cut at {cuts:?}: frames", case.title());
                    assert_eq!(lines, wanted, "{} cut at {cuts:?}, {cap} records, {store:?}", case.title());
                    runs += 1;
                }
            }
            let strict = Config { errors: QuirkSet::ALL, ..case.config };
            let lines = read(&case.input, &[], strict, store, 2, 64);
            match &case.strict {
                Some(stop) => {
                    assert_eq!(lines.last(), Some(stop), "{}", case.title());
                    assert_eq!(lines[..lines.len() - 1], wanted[..lines.len() - 1], "{}", case.title());
                }
                None => assert_eq!(lines, wanted, "{}", case.title()),
            }
            runs += 1;
        }
    }
    println!("{runs} runs of cases by batch");
    assert!(runs > 50_000);
}

/// Frames are the same however a raw value that is too long, and what follows it, are cut.
#[test]
fn frames_of_what_is_too_long() {
    let limits = deltawire::Limits { max_event_len: 4, ..deltawire::Limits::DEFAULT };
    let config = Config { limits, ..Config::default() };
    for input in [
        &b"{\"a\":\"bcd\"}\nretry: x\n\n"[..],
        b"{\"a\":1}{\"b\":2}\n{\"c\":3}\nretry: y\n\n",
        b"data: 12345\n\nretry: x\n\n: c\n",
    ] {
        let whole = read_with_frames(input, &[], config, Some(64), 64, 64);
        for first in 0..=input.len() {
            for second in first..=input.len() {
                for cap in [1, 64] {
                    let cut = read_with_frames(input, &[first, second], config, Some(64), cap, 64);
                    assert_eq!(cut, whole, "cut at {first} and {second}: {}", escaped(input));
                }
            }
        }
    }
}

/// Log and frames of streams put together at random, whole and cut, on storages of every kind.
#[test]
fn streams_at_random() {
    const TOKENS: [&str; 34] = [
        "data: ", "data:", "event: ", "id: ", "retry: 5", "retry: x", ": c", "error: ", "\n", "\n", "\n\n", "\n\n", "\r\n",
        "\r", "{\"a\":1}", "{\"a\":", "\"bcd", "\"}", "}", "{", "[", "]", ",", "[DONE]", "x", "12345678",
        "{\"choices\":[{\"delta\":{\"content\":\"h\\u0069\\ud83d\"}}]}",
        "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"f\\n\",\"arguments\":\"{}\"}}]}}]}",
        "{\"choices\":[{\"index\":1,\"delta\":{},\"finish_reason\":\"st\\u006fp\"}],\"usage\":{\"total_tokens\":3}}",
        "\u{e9}", "abcdefghijklmnopqrstuvw", " ", "id", "{\"error\":{\"message\":\"no\"}}",
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % bound as u64) as usize
    };
    let mut runs = 0;
    for _ in 0..20_000 {
        let mut input = Vec::new();
        for _ in 0..1 + random(16) {
            input.extend_from_slice(TOKENS[random(TOKENS.len())].as_bytes());
        }
        let limits = deltawire::Limits {
            max_event_len: [4, 20, 60, 1 << 20][random(4)],
            max_id_len: [2, 1024][random(2)],
            ..deltawire::Limits::DEFAULT
        };
        let config = Config { limits, ..Config::default() };
        // What a storage can hold bounds an event: a fixed one is compared with itself.
        let store = [None, Some(8192), Some(24 + random(80))][random(3)];
        let whole = read_with_frames(&input, &[], config, store, 64, 4096);
        let every: Vec<usize> = (1..input.len()).collect();
        let mut some: Vec<usize> = (0..random(6)).map(|_| random(input.len() + 1)).collect();
        some.sort_unstable();
        for cuts in [&every, &some] {
            for (cap, scratch) in [(1, 64), (64, 4096)] {
                let cut = read_with_frames(&input, cuts, config, store, cap, scratch);
                assert_eq!(cut, whole, "{} cut at {cuts:?}, {store:?}, {limits:?}", escaped(&input));
                runs += 1;
            }
        }
    }
    println!("{runs} runs of streams at random by batch");
}

/// What each record says, wherever its bytes lie, of a batch that is asked for the kinds in `mask`.
fn told(bytes: &[u8], mask: u64, cap: usize, cut: usize) -> Vec<(Record, [Vec<u8>; 3])> {
    let (mut machine, mut tracker, mut emitter) =
        (Machine::<2>::new(Config::default()), Tracker::<8, 32>::new(), Emitter::new());
    let (mut store, mut scratch) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    let mut records = vec![Record::default(); cap];
    let mut told = Vec::new();
    let mut pieces: Vec<Option<&[u8]>> = bytes.chunks(cut).map(Some).collect();
    pieces.push(None);
    for mut piece in pieces {
        loop {
            let given = piece.unwrap_or_default();
            let mut sink = Records::new(&mut records, &mut scratch, mask);
            let mut movable = Movable::new(&mut store, false);
            let (spent, outcome) = match piece {
                Some(_) => emitter.run(&mut machine, &mut movable, &mut tracker, given, 0, &mut sink),
                None => (0, emitter.finish(&mut machine, &mut movable, &mut tracker, &mut sink)),
            };
            let written = sink.written();
            for record in &records[..written] {
                let bytes = |flag: u16, off: u32, len: u32| match len {
                    0 => Vec::new(),
                    _ if record.flags & flag != 0 => scratch[off as usize..][..len as usize].to_vec(),
                    _ => given[off as usize..][..len as usize].to_vec(),
                };
                let text = bytes(stream::FLAG_TEXT_SCRATCH, record.text_off, record.text_len);
                let aux = bytes(stream::FLAG_AUX_SCRATCH, record.aux_off, record.aux_len);
                let extra = bytes(stream::FLAG_EXTRA_SCRATCH, record.extra_off, record.extra_len);
                let places = stream::FLAG_TEXT_SCRATCH | stream::FLAG_AUX_SCRATCH | stream::FLAG_EXTRA_SCRATCH;
                let flags = record.flags & !places;
                told.push((Record { flags, text_off: 0, aux_off: 0, extra_off: 0, ..*record }, [text, aux, extra]));
            }
            piece = piece.map(|_| &given[spent..]);
            match outcome {
                Outcome::Done => break,
                Outcome::Full => assert!(written > 0 || spent > 0, "no progress"),
                outcome => panic!("{outcome:?}"),
            }
        }
    }
    told
}

/// Who does not ask for payloads is told of plain chunks by a shorter way: the same, and so with few kinds.
#[test]
fn what_is_not_asked_for_changes_nothing_else() {
    let wire: u64 = 1 << Kind::Payload as u16;
    let mut compared = 0;
    for stream in common::corpus::samples() {
        let all = told(&stream.bytes, u64::MAX, 256, usize::MAX);
        for mask in [!wire, 1 << Kind::Chunk as u16 | 1 << Kind::Content as u16, 1 << Kind::Frame as u16] {
            let due: Vec<_> = all.iter().filter(|(record, _)| mask >> record.kind & 1 == 1).collect();
            for (cap, cut) in [(256, usize::MAX), (1, usize::MAX), (2, 700), (3, 61), (256, 1)] {
                let got = told(&stream.bytes, mask, cap, cut);
                assert!(
                    got.iter().eq(due.iter().copied()),
                    "{}: kinds {mask:x}, {cap} records, slices of {cut}",
                    stream.name
                );
                compared += got.len();
            }
        }
    }
    println!("{compared} records compared");
    assert!(compared > 1000);
}
