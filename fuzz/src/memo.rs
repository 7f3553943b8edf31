//! The template memo never changes an answer: a parser emits the same whatever number of shapes it remembers, and whoever shares
//! them.
//!
//! Control part: configuration, source of the stream (the body itself, or generated from it), edits, storage, cuts,
//! pauses, reset, what others read with the same workspace, which instructions each parser uses.

use crate::batch::{self, How};
use crate::drive;
use crate::edit::edit;
use crate::event_log::{Detail, Logs};
use crate::input::{self, Source};
use crate::log::escaped;
use crate::shared::{Sharing, Turns};
use crate::stream::stream;
use deltawire::track::Tracker;
use deltawire::{Config, Growing, Parser, Storage};

/// A decoded input.
struct Input {
    config: Config,
    /// The length of the storage, or `None` for one that grows.
    store: Option<usize>,
    bytes: Vec<u8>,
    cuts: Vec<usize>,
    pause: usize,
    /// Length of a part that the same parser reads first, before it is reset.
    before: usize,
    /// The number of slots of the other parser.
    slots: usize,
    /// 0: pull, 1: push, 2: batch.
    reading: usize,
    /// What others read with the same workspace, if the other parser shares one.
    others: Vec<(Config, Vec<u8>)>,
    /// Decides when.
    seed: u64,
    /// Whether each of the two parsers uses AVX2.
    avx2: [bool; 2],
}

/// Returns the configuration and the stream of an input, and the rest of its control part.
pub fn decode(data: &[u8]) -> (Config, Vec<u8>, Source<'_>) {
    let (mut control, body) = input::split(data);
    let config = input::config(&mut control);
    let mut bytes = if control.below(2) == 1 { stream(&mut Source::new(body)) } else { body.to_vec() };
    edit(&mut bytes, &mut control);
    (config, bytes, control)
}

pub fn memo(data: &[u8]) {
    let (config, bytes, mut control) = decode(data);
    let store = control.pick(&[None, None, None, Some(512), Some(96), Some(8192)]);
    let cuts = input::cuts(&mut control, bytes.len());
    let (pause, before) = (control.below(5), if control.below(4) == 3 { control.below(bytes.len() + 1) } else { 0 });
    let how = How {
        store: store.unwrap_or(24),
        can_move: store.is_none(),
        shake: control.below(2) == 1,
        records: control.pick(&[64, 1, 2, 3, 7, 256]),
        scratch: control.pick(&[4096, 0, 16, 64]),
        base: 0,
        detail: Detail::Views,
    };
    let slots = control.pick(&[2, 1, 4]);
    let reading = input::which(&mut control, bytes.len(), 3);
    let mut input = Input {
        config,
        store,
        bytes,
        cuts,
        pause,
        before,
        slots,
        reading,
        others: Vec::new(),
        seed: 0,
        avx2: [true; 2],
    };
    if control.below(2) == 1 {
        let other = input::config(&mut control);
        let mut bytes = input.bytes.clone();
        edit(&mut bytes, &mut control);
        input.others = vec![(config, bytes.clone()), (other, bytes)];
        (input.before, input.seed) = (0, control.u64());
    }
    input.avx2 = control.pick(&[[true, true], [true, false], [false, true], [false, false]]);
    all(&input, how);
}

fn all(input: &Input, how: How) {
    let Input { config, bytes, cuts, .. } = input;
    let context = |what: &str| format!("{what}, {:?}, cuts {cuts:?}, {how:?}, stream b\"{}\"", config, escaped(bytes));

    let [first, second] = input.avx2;
    crate::use_avx2(first);
    let one = by_slots::<0>(input, how);
    crate::use_avx2(second);
    if !input.others.is_empty() && input.reading < 2 {
        let other = match input.slots {
            1 => shared::<1>(input),
            2 => shared::<2>(input),
            _ => shared::<8>(input),
        };
        one.equal(&other, ["pull", "push"][input.reading], || context(&format!("shared, {} slots", input.slots)));
        return;
    }
    let other = match input.slots {
        1 => by_slots::<1>(input, how),
        2 => by_slots::<2>(input, how),
        _ => by_slots::<4>(input, how),
    };
    one.equal(&other, ["pull", "push", "batch"][input.reading], || {
        context(&format!("{} slots instead of none", input.slots))
    });
}

/// Runs `f` with a storage of `len` bytes, or with one that grows. Both have one type, so that what reads with them is compiled once.
fn with<R>(len: Option<usize>, f: impl FnOnce(&mut dyn Storage) -> R) -> R {
    match len {
        Some(len) => f(&mut input::storage(len)),
        None => f(&mut Growing::new()),
    }
}

fn by_slots<const SLOTS: usize>(input: &Input, how: How) -> Logs {
    match input.reading {
        0 => with(input.store, |storage| pull::<SLOTS>(input, storage)),
        1 => with(input.store, |storage| push::<SLOTS>(input, storage)),
        _ => batch::batch_with::<SLOTS>(input.config, &input.bytes, &input.cuts, how),
    }
}

fn shared<const SLOTS: usize>(input: &Input) -> Logs {
    let Input { config, bytes, cuts, pause, others, seed, .. } = input;
    let others: Vec<(Config, &[u8])> = others.iter().map(|(config, bytes)| (*config, &bytes[..])).collect();
    let turns = &mut Turns::<SLOTS>::new(&others, *seed);
    with(input.store, |storage| {
        if input.reading == 0 {
            let mut pull = Sharing { parser: Parser::with_slots(storage, *config, Tracker::<8, 32>::new()), turns };
            return drive::pull(&mut pull, bytes, cuts, Detail::States, |_| ());
        }
        let mut push = Sharing { parser: Parser::with_slots(storage, *config, Tracker::<8, 32>::new()), turns };
        drive::push(&mut push, bytes, cuts, *pause, Detail::States)
    })
}

fn pull<const SLOTS: usize>(input: &Input, storage: &mut dyn Storage) -> Logs {
    let Input { config, bytes, cuts, before, .. } = input;
    let mut parser = Parser::<_, SLOTS>::with_slots(storage, *config, Tracker::new());
    drive::begin_anew(&mut parser, &bytes[..*before]);
    drive::pull(&mut parser, bytes, cuts, Detail::States, |_| ())
}

fn push<const SLOTS: usize>(input: &Input, storage: &mut dyn Storage) -> Logs {
    let Input { config, bytes, cuts, pause, before, .. } = input;
    let mut parser = Parser::<_, SLOTS>::with_slots(storage, *config, Tracker::<8, 32>::new());
    drive::begin_anew(&mut parser, &bytes[..*before]);
    drive::push(&mut parser, bytes, cuts, *pause, Detail::States)
}
