//! Each fast path is taken where it should be, and has the same effect as the general way.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]
extern crate std;

use super::found::{Found, Place, Step};
use super::state::{After, StreamState};
use super::tests::stream;
use super::{Config, Machine};
use crate::scan::tests::Random;
use crate::Limits;
use std::format;
use std::string::String;
use std::vec::Vec;

/// Storage of the tests.
type Store = [u8; 512];

/// The way that a step takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// A template recognizes the event.
    Memo,
    /// A fast path continues a payload that was cut.
    Payload,
    /// A fast path begins an event that consists of one `data` line.
    Event,
    /// The general way, line by line.
    General,
}

/// Makes a step on this window, unless it has to take the general way. Returns the way and the step.
fn way<const SLOTS: usize>(machine: &mut Machine<SLOTS>, storage: &mut Store, window: &[u8]) -> (Way, Option<Step>) {
    if let Some(recognized) = machine.recognize(storage, window) {
        return (Way::Memo, Some(recognized.step(window)));
    }
    let way = if machine.appendable > 0 { Way::Payload } else { Way::Event };
    let step = machine.quick(storage, window);
    (if step.is_some() { way } else { Way::General }, step)
}

/// The state of a machine after a step, and the chunk that was found. Leaves out the members that only say which path
/// may be taken next, and those that the next step clears.
fn state<const SLOTS: usize>(machine: &Machine<SLOTS>, storage: &Store, window: &[u8], found: Found) -> String {
    let StreamState { buffer, offset, empty_block_end, next_empty_block_end, block, retry, in_array, after, .. } =
        &machine.state;
    let StreamState { ending, facts, counts, .. } = &machine.state;
    let block = if *after == After::Release { format!("{:?}", block.quirks) } else { format!("{block:?}") };
    let name = machine.name.of(window, storage);
    let chunk = match found {
        Found::Chunk(payload) => Some(machine.chunk(payload.of(window, storage), name)),
        _ => None,
    };
    let lines = machine.lines.in_line().then_some(&machine.lines);
    format!(
        "{lines:?} {buffer:?} {name:?} {offset} {empty_block_end} {next_empty_block_end} {block} {retry:?} {in_array} {after:?} {ending:?} {facts:?} \
         {counts:?} {chunk:?} {:?}",
        machine.index_frame()
    )
}

/// The way of each step through these windows. Checks that each fast path has the effect of the general way.
fn ways<const SLOTS: usize>(max_event_len: usize, windows: &[&[u8]]) -> Vec<Way> {
    let limits = Limits { max_event_len: max_event_len as u32, ..Limits::DEFAULT };
    let mut machine = Machine::<SLOTS>::with_slots(Config { limits, ..Config::default() });
    let mut storage = [0; 512];
    let mut ways = Vec::new();
    for window in windows {
        let mut rest = *window;
        while !rest.is_empty() {
            let (mut fast, mut fast_storage) = (machine.clone(), storage);
            let (way, step) = way(&mut fast, &mut fast_storage, rest);
            let (mut general, mut general_storage) = (machine.clone(), storage);
            // A fast path may end a step at a line end, where the general way would go on.
            let seen = match step {
                Some(Step { consumed, found: Found::NeedMore }) => &rest[..consumed],
                _ => rest,
            };
            let expected = general.read_lines(&mut general_storage, seen);
            if let Some(step) = step {
                let states = [(&fast, &fast_storage), (&general, &general_storage)];
                let states = states.map(|(machine, storage)| state(machine, storage, rest, expected.found));
                assert_eq!((step, &states[0]), (expected, &states[1]), "{way:?} {}", String::from_utf8_lossy(rest));
                // The bytes after those in use may differ.
                let found = step.found.payload().filter(|span| span.place == Place::Storage);
                let found = found.map_or(0, |span| (span.start + span.len) as usize);
                let stored = if fast.buffer.is_stored() { fast.buffer.data_span().range() } else { (0, 0) };
                let in_use = (stored.0 + stored.1).max(fast.buffer.lasting()).max(found);
                assert_eq!(fast_storage[..in_use], general_storage[..in_use]);
            }
            ways.push(way);
            let step = machine.step(&mut storage, rest);
            assert_eq!(step, expected);
            rest = &rest[step.consumed..];
        }
    }
    ways
}

/// Events of one shape, with other bytes between some of them.
fn made(random: &mut Random) -> Vec<u8> {
    let end = [&b"\n\n"[..], b"\r\n\r\n", b"\r\r"][random.below(3)];
    let mut bytes = Vec::new();
    for _ in 0..random.below(12) {
        bytes.extend_from_slice(b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"");
        bytes.extend_from_slice([&b"a"[..], b"bcd", b"\\n", b"\xC3\xA4", b"\xC3"][random.below(5)]);
        bytes.extend_from_slice(b"\"}}]}");
        bytes.extend_from_slice(end);
        if random.below(10) == 0 {
            bytes.extend_from_slice(&stream(random));
        }
    }
    bytes
}

#[test]
fn a_fast_path_has_the_effect_of_the_general_way() {
    let mut random = Random(21);
    let mut taken = [0; 4];
    for _ in 0..20_000 {
        let bytes = if random.below(4) == 0 { stream(&mut random) } else { made(&mut random) };
        let max_event_len = if random.below(2) == 0 { 1 << 20 } else { random.below(80) };
        let (first, rest) = bytes.split_at(random.below(bytes.len() + 1));
        let (second, third) = rest.split_at(random.below(rest.len() + 1));
        let small: Vec<&[u8]> = bytes.chunks(random.below(3) + 1).collect();
        let windows = if random.below(8) == 0 { &small[..] } else { &[first, second, third] };
        for way in ways::<2>(max_event_len, windows).into_iter().chain(ways::<0>(max_event_len, windows)) {
            taken[way as usize] += 1;
        }
    }
    assert!(taken.iter().all(|times| *times > 2_000), "{taken:?}");
}

const HEAD: &str = r#"data: {"choices":[{"index":0,"delta":{"content":""#;

/// An event.
fn event(text: &str, end: &str) -> Vec<u8> {
    [HEAD, text, r#""}}]}"#, end].concat().into_bytes()
}

/// The ways through these windows, a letter for each step (L for the general way, line by line): with templates, and
/// without.
fn ways_taken(max_event_len: usize, windows: &[&[u8]]) -> [String; 2] {
    let letters = |ways: Vec<Way>| ways.iter().map(|way| char::from(b"MPEL"[*way as usize])).collect();
    [letters(ways::<2>(max_event_len, windows)), letters(ways::<0>(max_event_len, windows))]
}

/// The first event of a stream takes the general way, because it adds facts about the stream. The others take fast
/// paths.
#[test]
fn fast_paths_are_taken() {
    const ANY: usize = 1 << 20;
    // Whole events, events that are cut in three, events that are exactly as long as the limit, and events that are
    // longer.
    for (end, whole, cut, fits, too_long) in [
        ("\n\n", ["LMMM", "LEEE"], ["LPPEPPM", "LPPEPPE"], ["LMEP", "LEEP"], ["LLLLEL", "LLLLEL"]),
        ("\r\n\r\n", ["LMMML", "LEEEL"], ["LPPLEPPLEL", "LPPLEPPLEL"], ["LMLEP", "LELEP"], ["LLLLLEL", "LLLLLEL"]),
        ("\r\r", ["LMMM", "LLLL"], ["LPLEPLL", "LPLEPLL"], ["LMEP", "LLEP"], ["LLLLEL", "LLLLEL"]),
    ] {
        let all = [event("a", end), event("bc", end), event("", end), event("def", end)].concat();
        assert_eq!(ways_taken(ANY, &[&all]), whole, "{end:?}");
        let (first, last) = (event("a", end), event("bc", end));
        let (front, rest) = first.split_at(52);
        let (middle, back) = rest.split_at(3);
        assert_eq!(ways_taken(ANY, &[front, middle, back, front, middle, back, &last]), cut, "{end:?}");
        let (len, twice) = (first.len() - end.len() - 6, first.repeat(2));
        assert_eq!(ways_taken(len, &[&twice, front, middle]), fits, "{end:?}");
        assert_eq!(ways_taken(len - 1, &[&twice, front, middle]), too_long, "{end:?}");
    }
    let (first, second) = (event("a", "\n\n"), event("bc", "\n\n"));
    for (between, expected) in [
        ("\n", ["LLM", "LLE"]),
        (": x\n\n", ["LLLM", "LLLE"]),
        ("data: ", ["LEM", "LEE"]),
        ("data:\n\n", ["LLMM", "LLEE"]),
    ] {
        assert_eq!(
            ways_taken(ANY, &[&[&first, between.as_bytes(), &second, &first].concat()]),
            expected,
            "{between:?}"
        );
    }
    assert_eq!(ways_taken(ANY, &[&first, b"data: ", &first[6..]]), ["LLL", "LLL"]);
    // In slices of one byte, the name, the colon, the space and the first byte of the payload take the general way. Then
    // come the other bytes of the payload and its line end (P), and the blank line.
    let bytes: Vec<&[u8]> = [&first[..], &second].concat().leak().chunks(1).skip(first.len()).collect();
    let expected = format!("L{}{}L", "L".repeat(7), "P".repeat(second.len() - 8));
    let windows: Vec<&[u8]> = [&first[..]].into_iter().chain(bytes).collect();
    assert_eq!(ways_taken(ANY, &windows), [expected.clone(), expected]);
}

/// A fast path reads the JSON of an event before it knows the end of the line. If the payload contains a line end, or
/// none follows it, the event takes the general way.
#[test]
fn a_line_end_inside_a_payload_ends_its_line() {
    let usual = String::from_utf8(event("a", "\n\n")).unwrap();
    let plain = usual.trim_end();
    let mut odd: Vec<String> = ["\n", "\r", "\r\n", "\n\n", "\n\ndata: ", "\t", " ", "\\n", "\u{1}"]
        .into_iter()
        .flat_map(|line| {
            // `line` in a text, in a name, in a container and between members, and after each bracket, comma and colon.
            let inside =
                [format!("{HEAD}b{line}c\"}}}}]}}\n\n"), format!("{HEAD}b\"}},\"x{line}y\":[1,{line}2]}}]}}\n\n")];
            let between = plain.char_indices().filter(|(at, byte)| *at > 5 && "{}[],:".contains(*byte));
            let between = between.map(|(at, _)| format!("{}{line}{}\n\n", &plain[..=at], &plain[at + 1..]));
            inside.into_iter().chain(between).collect::<Vec<_>>()
        })
        .collect();
    odd.extend(
        ["\n", "\r\r", "\r\n\n", "\n\r", " \n\n", "{}\n\n", "\ndata: x\n\n", "\nid: 7\n\n"]
            .map(|end| format!("{plain}{end}")),
    );
    odd.extend(
        ["data: {\"error\":\"x\"}\n\n", "data: null\n\n", "data: {\"type\":\"ping\"}\n\n", "data: {\"a\":\"\n\n"]
            .map(String::from),
    );
    let mut short = 0;
    for odd in &odd {
        let all = [&usual, odd, &usual, &usual].map(String::as_bytes).concat();
        // All bytes in one window, and cut at the beginning, at the end and in the middle of the odd event.
        let cuts = [all.len(), usual.len(), usual.len() + odd.len(), usual.len() + odd.len() / 2, all.len() - 9];
        for cut in cuts {
            let (first, rest) = all.split_at(cut);
            for ways in [ways::<0>(1 << 20, &[first, rest]), ways::<2>(1 << 20, &[first, rest])] {
                short += ways.iter().filter(|way| **way == Way::Event).count();
            }
        }
    }
    assert!(odd.len() > 140 && short > 10 * odd.len(), "{} {short}", odd.len());
}

#[test]
fn more_of_a_payload_is_appended() {
    let (mut machine, mut storage) = (Machine::<0>::with_slots(Config::default()), [0; 16]);
    let mut begun = false;
    for (input, left, why) in [
        (&b"{"[..], 1, "no payload has begun"),
        (b"\n1", 2, "the line ends"),
        (b"\n", 1, "the line ends"),
        (b"", 0, "the input is empty"),
        (&[b' '; 16], 16, "the storage has no room"),
        (b" ", 0, ""),
        (b" ", 0, ""),
        (b"}\r", 1, "up to the line end"),
    ] {
        let mut rest = input;
        let is_taken = machine.append(&mut storage, &mut rest);
        assert_eq!((rest.len(), is_taken), (left, left == 0 && !input.is_empty()), "{why}");
        if !core::mem::replace(&mut begun, true) {
            let _ = machine.step(&mut storage, b"data: {");
        }
    }
    assert_eq!((machine.offset(), machine.appendable), (10, 12));
    let step = machine.step(&mut storage, b"\n\n");
    assert_eq!(step.consumed, 2);
    assert!(matches!(step.found, Found::Chunk(payload) if payload.of(b"", &storage) == b"{  }"), "{step:?}");
}
