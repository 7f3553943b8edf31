//! count SCENARIO [slower]: reads a fixed input twice, the second time in `deltawire_measured`, whose instructions
//! `scripts/count.sh` counts. Prints how many events it read. With `serve` it takes commands, as `contenders::child`
//! says.

use deltawire::chat::{replaced, ChunkMember};
use deltawire::json::Text;
use deltawire::stream::Protocol;
use deltawire::write::{Head, Out, WriteError, Writer};
use deltawire::{Config, Limits, Parser, Update};
use deltawire_benches::contenders::{
    self, BATCH, C_BATCH, C_CALLBACKS, C_MESSAGE, C_MESSAGE_BATCH, METER, PULL, PULL_GENERIC, PUSH,
};
use deltawire_benches::{Contender, Input, Sink, EVEN_LEN, METERED, PROTOCOLS, WHOLE};

/// The counted function. Callgrind finds it by its name.
#[no_mangle]
#[inline(never)]
fn deltawire_measured(work: &mut dyn FnMut()) {
    work();
}

/// Each kind of event by each interface: the prefix of the kind in the scenario's name, and the contender.
const INTERFACES: [(&str, &str); 6] = [
    ("", PULL),
    ("push-", PUSH),
    ("c-callbacks-", C_CALLBACKS),
    ("c-batch-", C_BATCH),
    ("message-log-", C_MESSAGE),
    ("message-log-batch-", C_MESSAGE_BATCH),
];
const KINDS: [&str; 5] = ["content", "reasoning", "tools", "logprobs", "usage"];

/// Chunks of several choices, read in these ways.
const WAYS: [(&str, &str); 3] = [("", PULL), ("generic-", PULL_GENERIC), ("push-", PUSH)];
const CHOICES: [&str; 2] = ["choices-4", "choices-8"];

/// Other scenarios: name, contender, input, slice.
const OTHERS: [(&str, &str, &str, usize); 14] = [
    ("content-plain", PULL, "content-plain", 16384),
    ("vllm-like", PULL, "vllm-like", 16384),
    ("alternate", PULL, "alternate", 16384),
    ("misses", PULL, "misses", 16384),
    ("misses-in-order", PULL, "misses-in-order", 16384),
    ("push-misses", PUSH, "misses", 16384),
    ("c-callbacks-misses", C_CALLBACKS, "misses", 16384),
    ("c-batch-misses", C_BATCH, "misses", 16384),
    ("generic-content", PULL_GENERIC, "content", 16384),
    ("generic-tools", PULL_GENERIC, "tools", 16384),
    // A choice that is walked member by member, and a choice with the members that vLLM adds.
    ("generic-logprobs", PULL_GENERIC, "logprobs", 16384),
    ("generic-vllm-like", PULL_GENERIC, "vllm-like", 16384),
    ("generic-misses", PULL_GENERIC, "misses", 16384),
    ("batch-content", BATCH, "content", 16384),
];

/// Content by these interfaces: an event in each slice, and in slices of these lengths.
const SLICED: [(&str, &str); 4] = [("", PULL), ("push-", PUSH), ("c-callbacks-", C_CALLBACKS), ("c-batch-", C_BATCH)];
const SLICES: [usize; 4] = [1448, 256, 64, 1];

/// Streams of other protocols, read in these ways.
const PROTOCOL_WAYS: [(&str, &str); 3] = [("", PULL), ("generic-", PULL_GENERIC), ("push-", PUSH)];

/// A short plain content delta, written in each protocol.
const WRITES: [(&str, Protocol); 3] = [
    ("write-chat", Protocol::Chat),
    ("write-anthropic", Protocol::Anthropic),
    ("write-responses", Protocol::Responses),
];

/// Events of content that are passed on, and those whose model is replaced.
const PASSES: [(&str, bool); 2] = [("pass", false), ("pass-replaced", true)];

struct Scenario {
    name: String,
    contender: &'static str,
    input: &'static str,
    slice: usize,
}

fn scenarios() -> Vec<Scenario> {
    let each = |ways: &[(&'static str, &'static str)], inputs: &[&'static str]| -> Vec<Scenario> {
        let all =
            ways.iter().flat_map(|&(prefix, contender)| inputs.iter().map(move |&input| (prefix, contender, input)));
        all.map(|(prefix, contender, input)| Scenario {
            name: format!("{prefix}{input}"),
            contender,
            input,
            slice: 16384,
        })
        .collect()
    };
    let mut all = each(&INTERFACES, &KINDS);
    all.extend(each(&WAYS, &CHOICES));
    all.extend(each(&PROTOCOL_WAYS, &PROTOCOLS));
    all.extend(METERED.map(|input| Scenario {
        // One of each protocol.
        name: format!("meter-{}", if input == "content" { "chat" } else { input.trim_end_matches("-text") }),
        contender: METER,
        input,
        slice: 16384,
    }));
    all.extend(OTHERS.map(|(name, contender, input, slice)| Scenario { name: name.into(), contender, input, slice }));
    all.extend(SLICED.map(|(prefix, contender)| Scenario {
        name: format!("{prefix}content-each"),
        contender,
        input: "even",
        slice: EVEN_LEN,
    }));
    let sliced = SLICED.iter().flat_map(|way| SLICES.map(|slice| (way, slice)));
    all.extend(sliced.map(|(&(prefix, contender), slice)| Scenario {
        name: format!("{prefix}content-{slice}"),
        contender,
        input: "content",
        slice,
    }));
    all
}

/// For each event, `turns` empty turns are counted, too.
fn run(contender: &mut dyn Contender, input: &Input, slice: usize, turns: u64) {
    let mut sink = Sink::checking();
    contender.run(input, slice, &mut sink);
    assert_eq!(sink.sums, contender.expected(input), "it reads what is there");
    // The buffers have grown now. A sink that checks would be counted too.
    let mut sink = Sink::default();
    contender.run(input, slice, &mut sink);
    deltawire_measured(&mut || {
        contender.run(input, slice, &mut sink);
        for turn in 0..input.expected.events * turns {
            std::hint::black_box(turn);
        }
    });
}

/// Writes deltas of content after the first one. Returns how many.
fn write(protocol: Protocol) -> u64 {
    const TEXTS: [&str; 4] = [" the", " tide", " turns at", "."];
    let updates = TEXTS.map(|text| Update::Content(Text::verbatim(text.as_bytes())));
    let (mut buffer, rounds) = (vec![0; 16384], 2000);
    let head = Head::new("chatcmpl-9lUSGqfZr2ZfUqcdw1GQ8xLE", "gpt-4o-mini-2024-07-18", 1_720_000_000);
    let mut writer = Writer::new(protocol, &head, vec![0; 1 << 20]).expect("there is memory");
    let mut out = Out::new(&mut buffer);
    writer.put(&mut out, 0, &updates[0]).expect("there is room");
    deltawire_measured(&mut || {
        for update in updates.iter().cycle().take(rounds) {
            while let Err(error) = writer.put(&mut out, 0, update) {
                assert!(matches!(error, WriteError::NeedRoom { .. }) && !out.is_empty());
                std::hint::black_box(out.written());
                out.clear();
            }
        }
    });
    rounds as u64
}

/// Reads events that a gateway holds, each whole, and makes the pieces to send: the event, or the event with its model
/// replaced. Returns how many.
fn pass(replaces: bool) -> u64 {
    let input = Input::new("content", 300_000);
    let mut parser: Parser<Vec<u8>> = Parser::new(vec![0; 4096]);
    let (mut events, mut pieces) = (0, 0);
    deltawire_measured(&mut || {
        let (mut rest, whole) = (&input.responses[0][..], &input.responses[0][..]);
        while let Some(event) = parser.next(&mut rest).expect("no quirk is an error") {
            let Some(chunk) = event.chunk() else { continue };
            let range = chunk.wire_range();
            let frame = &whole[range.start as usize..range.end as usize];
            let place = chunk.field(ChunkMember::Model).filter(|_| replaces);
            let places = place.and_then(|model| chunk.place_in(frame, model)).map(|place| (place, &b"\"m\""[..]));
            pieces += replaced(frame, places.as_slice()).map(std::hint::black_box).count();
            events += 1;
        }
    });
    assert!(pieces > events * if replaces { 2 } else { 0 });
    events as u64
}

/// One event of so many MiB.
fn linear(mib: usize, slice: usize) {
    let len = mib << 20;
    let input = Input::large(len, len);
    let limits = Limits::new().with_max_event_len(2 * len as u32);
    let config = Config::new().with_limits(limits);
    let mut memory = vec![0; 2 * len];
    let mut text = String::with_capacity(2 * len);
    deltawire_measured(&mut || {
        let mut parser: Parser<&mut [u8]> = Parser::with_config(&mut memory[..], config);
        for mut slice in input.responses[0].chunks(slice) {
            while let Some(event) = parser.next(&mut slice).expect("no quirk is an error") {
                for (_, update) in event.deltas() {
                    if let Update::Content(content) = update {
                        content.push_to(&mut text);
                    }
                }
            }
        }
    });
    assert_eq!(text.len() as u64 + "stop".len() as u64, input.expected.text, "all of it is read");
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["list"] => {
            for scenario in scenarios() {
                println!("{}", scenario.name);
            }
            println!("large-16384\nlarge-whole");
            WRITES
                .iter()
                .map(|(name, _)| name)
                .chain(PASSES.iter().map(|(name, _)| name))
                .for_each(|name| println!("{name}"));
        }
        ["serve"] => contenders::child::serve(&mut *contenders::named(contenders::all(), PULL)),
        ["linear", mib, slice] => {
            let slice = slice.parse().unwrap_or(WHOLE);
            linear(mib.parse().expect("a number"), slice);
            println!("1");
        }
        ["large-16384" | "large-whole"] => {
            let input = Input::large(1_000_000, 1_000_000);
            let slice = if args[0] == "large-whole" { WHOLE } else { 16384 };
            run(&mut *contenders::named(contenders::all_large(), PULL), &input, slice, 0);
            println!("{}", input.expected.events);
        }
        [name] if WRITES.iter().any(|(known, _)| *known == name) => {
            let (_, protocol) = WRITES.into_iter().find(|(known, _)| *known == name).expect("it was found");
            println!("{}", write(protocol));
        }
        [name] if PASSES.iter().any(|(known, _)| *known == name) => println!("{}", pass(name == "pass-replaced")),
        // The control, which must take more than the table says.
        [name] | [name, "slower"] => {
            let turns = if args.len() == 1 { 0 } else { 40 };
            let scenario = scenarios().into_iter().find(|scenario| scenario.name == name).expect("no such scenario");
            let input = Input::new(scenario.input, 300_000);
            let mut all = contenders::all();
            all.extend(contenders::messages());
            if scenario.contender == METER {
                all = contenders::all_observing();
            } else if PROTOCOLS.contains(&scenario.input) {
                all = contenders::all_of_protocol(scenario.input);
            }
            run(&mut *contenders::named(all, scenario.contender), &input, scenario.slice, turns);
            println!("{}", input.expected.events);
        }
        _ => panic!("count list | SCENARIO [slower] | linear MIB SLICE | serve"),
    }
}
