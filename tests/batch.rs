//! Batch produces the same log as push and pull, however small its array and its scratch are.

use crate::common::batch::{batch, How};
use crate::common::case;
use crate::common::event_log::{Detail, Logs};
use crate::common::log::{escaped, same};
use crate::common::random::Random;
use crate::common::records::{each_record, Room};
use deltawire::delta::Kind;
use deltawire::stream::{self, Record};
use deltawire::track::Tracker;
use deltawire::{Config, QuirkSet};

/// Reads by batch, on a storage of the given size, or on one that grows from almost nothing.
fn read(input: &[u8], cuts: &[usize], config: Config, store: Option<usize>, records: usize, scratch: usize) -> Logs {
    let can_move = store.is_none();
    let store = store.unwrap_or(24);
    let how = How { store, can_move, shake: can_move && records < 3, records, scratch, base: 0, detail: Detail::Lines };
    batch(config, input, cuts, how)
}

#[test]
fn cases() {
    let mut runs = 0u64;
    for case in case::all() {
        let len = case.input.len();
        let every: Vec<usize> = (1..len).collect();
        let seven: Vec<usize> = (1..len).filter(|at| at % 7 == 0).collect();
        let mut cuts: Vec<Vec<usize>> = vec![vec![], every, seven];
        if len < 400 {
            cuts.extend((1..len).map(|at| vec![at]));
        }
        // A case without a storage size also runs on a storage that grows.
        let stores = if case.storage.is_some() { vec![case.storage] } else { vec![None, Some(8192)] };
        for store in stores {
            let whole = read(&case.input, &[], case.config, store, 64, 4096);
            for cuts in &cuts {
                for (cap, scratch) in [(1, 64), (2, 4096), (3, 64), (64, 4096)] {
                    let logs = read(&case.input, cuts, case.config, store, cap, scratch);
                    let title = || format!("{} cut at {cuts:?}, {cap} records, {store:?}", case.title());
                    assert_eq!(logs.lines(), case.log, "{}", title());
                    same("frames", &whole.frames, &logs.frames, title);
                    same("quirks", &whole.quirks, &logs.quirks, title);
                    runs += 1;
                }
            }
            let strict = case.config.with_errors(QuirkSet::ALL);
            let lines = read(&case.input, &[], strict, store, 2, 64).lines();
            match &case.strict {
                Some(stop) => {
                    assert_eq!(lines.last(), Some(stop), "{}", case.title());
                    assert_eq!(lines[..lines.len() - 1], case.log[..lines.len() - 1], "{}", case.title());
                }
                None => assert_eq!(lines, case.log, "{}", case.title()),
            }
            runs += 1;
        }
    }
    println!("{runs} runs of cases by batch");
    assert!(runs > 50_000);
}

/// Compares log, quirks and frames of a stream, cut at every pair of positions, with those of the whole.
fn every_pair_of_cuts(input: &[u8], config: Config, store: Option<usize>) {
    let whole = read(input, &[], config, store, 64, 64);
    for first in 0..=input.len() {
        for second in first..=input.len() {
            for records in [1, 64] {
                let cut = read(input, &[first, second], config, store, records, 64);
                whole.equal(&cut, "batch", || format!("cut at {first} and {second}: {}", escaped(input)));
            }
        }
    }
}

/// Frames do not depend on how a raw value that is too long, and the bytes after it, are cut.
#[test]
fn frames_of_oversized_values() {
    let limits = deltawire::Limits::new().with_max_event_len(4);
    let config = Config::new().with_limits(limits);
    for input in [
        &b"{\"a\":\"bcd\"}\nretry: x\n\n"[..],
        b"{\"a\":1}{\"b\":2}\n{\"c\":3}\nretry: y\n\n",
        b"data: 12345\n\nretry: x\n\n: c\n",
    ] {
        every_pair_of_cuts(input, config, Some(64));
    }
}

/// A line of raw JSON is a frame with its line end, and is emitted as soon as its last byte came. Values glued on one line are
/// frames of their own.
#[test]
fn frames_of_raw_json() {
    let chunk = r#"{"choices":[{"index":0,"delta":{"content":"a"}}]}"#;
    // `|` ends a frame, `~` ends one that is emitted with the next byte, or with the end.
    for marked in [
        "#\n|#\n|[DONE]\n|",
        "#\r\n|#\r\n|[DONE]\r\n|",
        "#\r~#\r|[DONE]\r|",
        "[DONE]\r\n|",
        "#~#\n|",
        "# ~#\t\r\n|#\n|",
        "[#,~#,\n|#\n|,\n|#]\n|[DONE]~",
        "[\n#\n|]\n|",
        "# ~oops\n|#~oops\r\n|#~",
        "data: #\n\n|#\r\n|data: #\r\n\r\n|[DONE] \r\n|",
        "\n{\r\n\"object\":\r\n{}}\r\n|\r\n#\n|: c\n|",
    ] {
        let (mut input, mut expected) = (Vec::new(), Vec::new());
        for byte in marked.bytes() {
            match byte {
                b'#' => input.extend_from_slice(chunk.as_bytes()),
                b'|' => expected.push((input.len(), input.len())),
                b'~' => expected.push((input.len(), input.len() + 1)),
                byte => input.push(byte),
            }
        }
        assert_eq!(crate::common::batch::frames(&input, 1), expected, "{}", escaped(&input));
        every_pair_of_cuts(&input, Config::default(), None);
    }
}

/// The frames of a value that waits for what follows, and of an open block with brackets in it, do not depend on the cuts.
#[test]
fn frames_of_what_waits() {
    for input in [
        "{\n\"message\":\"x\"\n} {\"a\":1}\n",
        "{\n\"message\":\"x\"}{\"a\":1}\n",
        "\r{\"message\":\"x\n\"}{",
        "{\"message\":\"x\"}\n: c\n\n{\"a\":1}\n",
        "{\"message\":\"x\"} \r\n \r\ndata: 1\r\n\r\n",
        "event: error\n[]\ndata: {\"message\":\"m\"}\n\n",
        "id: 1\n[\n]\n\n",
    ] {
        every_pair_of_cuts(input.as_bytes(), Config::default(), None);
    }
}

/// Log and frames of random streams, whole and cut, on storages of every kind.
#[test]
fn streams_at_random() {
    const TOKENS: [&str; 36] = [
        "data: ", "data:", "event: ", "id: ", "retry: 5", "retry: x", ": c", "error: ", "\n", "\n", "\n\n", "\n\n", "\r\n",
        "\r", "{\"a\":1}", "{\"a\":", "\"bcd", "\"}", "}", "{", "[", "]", ",", "[DONE]", "x", "12345678",
        "{\"choices\":[{\"delta\":{\"content\":\"h\\u0069\\ud83d\"}}]}",
        "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"f\\n\",\"arguments\":\"{}\"}}]}}]}",
        "{\"choices\":[{\"index\":1,\"delta\":{},\"finish_reason\":\"st\\u006fp\"}],\"usage\":{\"total_tokens\":3}}",
        "\u{e9}", "abcdefghijklmnopqrstuvw", " ", "id", "{\"error\":{\"message\":\"no\"}}",
        "{\"message\":\"no\"}", "[]",
    ];
    let mut numbers = Random::new(1);
    let mut random = |bound| numbers.below(bound);
    let mut runs = 0;
    for _ in 0..20_000 {
        let mut input = Vec::new();
        for _ in 0..1 + random(16) {
            input.extend_from_slice(TOKENS[random(TOKENS.len())].as_bytes());
        }
        let limits = deltawire::Limits::new()
            .with_max_event_len([4, 20, 60, 1 << 20][random(4)])
            .with_max_id_len([2, 1024][random(2)]);
        let config = Config::new().with_limits(limits);
        // The capacity of a storage limits an event, so a fixed storage is compared with itself.
        let store = [None, Some(8192), Some(24 + random(80))][random(3)];
        let whole = read(&input, &[], config, store, 64, 4096);
        let every: Vec<usize> = (1..input.len()).collect();
        let mut some: Vec<usize> = (0..random(6)).map(|_| random(input.len() + 1)).collect();
        some.sort_unstable();
        for cuts in [&every, &some] {
            for (cap, scratch) in [(1, 64), (64, 4096)] {
                let cut = read(&input, cuts, config, store, cap, scratch);
                whole.equal(&cut, "batch", || format!("{} cut at {cuts:?}, {store:?}, {limits:?}", escaped(&input)));
                runs += 1;
            }
        }
    }
    println!("{runs} runs of streams at random by batch");
}

/// Returns the contents of each record, wherever its bytes lie, for a batch with the kinds in `mask`.
fn records(bytes: &[u8], mask: u64, records: usize, cut: usize) -> Vec<(Record, [Vec<u8>; 3])> {
    let (tracker, room) = (&mut Tracker::<8, 32>::new(), Room { records, scratch: 1 << 20 });
    let mut found = Vec::new();
    each_record::<2>(Config::default(), tracker, bytes.chunks(cut), mask, room, |record, texts, _| {
        let places = stream::FLAG_TEXT_SCRATCH | stream::FLAG_AUX_SCRATCH | stream::FLAG_EXTRA_SCRATCH;
        let flags = record.flags & !places;
        let record = Record { flags, text_off: 0, aux_off: 0, extra_off: 0, ..*record };
        found.push((record, texts.map(<[u8]>::to_vec)));
    });
    found
}

/// Without the kind `Payload`, plain chunks take a fast path, which must emit the same; so must a batch with few kinds.
#[test]
fn kinds_that_are_off_change_no_others() {
    let wire: u64 = 1 << Kind::Payload as u16;
    let mut compared = 0;
    for stream in crate::common::corpus::samples() {
        let all = records(&stream.bytes, u64::MAX, 256, usize::MAX);
        for mask in [!wire, 1 << Kind::Chunk as u16 | 1 << Kind::Content as u16, 1 << Kind::Frame as u16] {
            let expected: Vec<_> = all.iter().filter(|(record, _)| mask >> record.kind & 1 == 1).collect();
            for (cap, cut) in [(256, usize::MAX), (1, usize::MAX), (2, 700), (3, 61), (256, 1)] {
                let got = records(&stream.bytes, mask, cap, cut);
                assert!(
                    got.iter().eq(expected.iter().copied()),
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
