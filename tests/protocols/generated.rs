//! Generated streams: each way of reading comes to the same message, which is what a naive reader's deltas come to.

use super::*;
use crate::common::cases::cases;
use crate::common::input::Source;
use crate::common::native;
use crate::common::thin::thin;
use proptest::prelude::*;
use std::cell::Cell;

thread_local! {
    /// How many streams the naive reader could read, and how many calls were in them.
    static COMPARED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

fn one(body: &[u8], sizes: &[usize]) {
    let (protocol, stream) = native::stream(&mut Source::new(body));
    let name = String::from_utf8_lossy(&stream);
    let whole = pull(&stream, &[stream.len()], None);
    if let Some(lines) = Naive::read(&stream).filter(|lines| !lines.iter().any(|line| is_left_out(line))) {
        let facts = facts_of_lines(&lines, protocol == Protocol::Anthropic);
        assert_eq!(facts_of_message(&whole.message), facts, "{name}");
        let (read, calls) = COMPARED.get();
        COMPARED.set((read + 1, calls + facts["calls"].as_array().unwrap().len()));
    }
    let cut = pull(&stream, sizes, None);
    assert_eq!((&cut.message, cut.end), (&whole.message, whole.end), "cut by {sizes:?}: {name}");
    assert_eq!(push(&stream, sizes[0], Config::default()), whole.message, "{name}");
    assert_eq!(emit(&stream, Config::default()), whole.message, "{name}");
}

/// Of Gemini: another choice than the first, and arguments that are in no delta.
fn is_left_out(line: &str) -> bool {
    let choice = line.split(' ').nth(1).and_then(|word| word.parse::<u32>().ok());
    line == "arguments by path" || !line.starts_with("usage") && choice.is_some_and(|choice| choice > 0)
}

#[test]
fn generated_streams_come_to_one_message() {
    let cases = cases(1000, thin(), 60);
    let total = cases.cases as usize;
    proptest!(cases, |(
        body in prop::collection::vec(any::<u8>(), 12..400),
        sizes in prop::collection::vec(1..99usize, 1..7),
    )| {
        one(&body, &sizes);
    });
    let (read, calls) = COMPARED.get();
    println!("{read} of {total} streams compared with the naive reader, {calls} calls");
    assert!(read > total / 4 && calls > read / 4, "{read} of {total}, {calls} calls");
}
