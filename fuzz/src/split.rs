//! No answer depends on slicing: a parser emits the same however a stream is cut, whatever the storage, and by
//! whichever calls.

use crate::batch::{self, seldom, How};
use crate::drive;
use crate::event_log::Detail;
use crate::input::{self, Source};
use crate::log::{escaped, same};
use crate::memo::decode;
use deltawire::sse::{Decoder, Item};
use deltawire::track::Tracker;
use deltawire::{Config, Growing, Parser, Storage};

/// The options of a run besides the stream.
struct Ask {
    config: Config,
    bytes: Vec<u8>,
    cuts: Vec<usize>,
    pause: usize,
    /// At every `clone`th call the parser is cloned, used on other bytes, and restored; 0: never.
    clone: usize,
    /// Length of a part that the same parser reads first, before it is reset.
    before: usize,
    how: How,
    reading: Reading,
    /// Whether AVX2 is used for the whole stream, and for the cut one.
    avx2: [bool; 2],
}

/// What is compared with the whole stream, pulled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Pull,
    Push,
    Batch,
    /// Batches, compared with one batch: frames and quirks too.
    OneBatch,
}

pub fn split(data: &[u8]) {
    let (config, bytes, mut control) = decode(data);
    let store = control.below(8);
    let cuts = input::cuts(&mut control, bytes.len());
    let mut ask = Ask {
        config,
        cuts,
        pause: control.below(5),
        clone: control.below(6),
        before: if control.below(3) == 2 { control.below(bytes.len() + 1) } else { 0 },
        how: How {
            store: 0,
            can_move: false,
            shake: control.below(2) == 1,
            records: control.pick(&[64, 1, 2, 3, 7, 256]),
            scratch: control.pick(&[4096, 0, 16, 64]),
            base: control.pick(&[0, 1, 1 << 31]),
            detail: Detail::Views,
        },
        reading: [Reading::Pull, Reading::Push, Reading::Batch, Reading::OneBatch]
            [input::which(&mut control, bytes.len(), 4)],
        avx2: control.pick(&[[true, true], [true, false], [false, true], [false, false]]),
        bytes,
    };
    if let Some(len) = control.once_in(3).then(|| length_of_an_event(&ask.bytes, &mut control)).flatten() {
        ask.config.limits = config.limits.with_max_event_len(len);
    }
    match store {
        0 => hold(&ask, Growing::new, How { store: 16384, ..ask.how }),
        1 => hold(&ask, Growing::new, How { store: 24, can_move: true, ..ask.how }),
        2 => hold(&ask, Growing::new, How { store: 0, can_move: true, ..ask.how }),
        fixed => {
            let store = [0, 40, 100, 600, 5000][fixed - 3];
            hold(&ask, || input::storage(store), How { store, ..ask.how });
        }
    }
}

/// Returns the length of an event of the stream as a limit counts it, or one byte more or less.
pub fn length_of_an_event(bytes: &[u8], control: &mut Source<'_>) -> Option<u32> {
    let (mut decoder, mut rest, mut lengths) = (Decoder::new(Growing::new()), bytes, Vec::new());
    while let Some(item) = decoder.next(&mut rest) {
        if let Item::Event(event) = item {
            lengths.push(event.data().len() + event.name().len());
        }
    }
    let last = lengths.len().checked_sub(1)?;
    Some((lengths[control.below(last.min(255) + 1)] + control.below(3)).saturating_sub(1) as u32)
}

/// Compares one run of the cut stream with one of the whole.
fn hold<S: Storage + Clone>(ask: &Ask, storage: impl Fn() -> S, how: How) {
    let Ask { config, bytes, cuts, pause, clone, before, reading, avx2: [first, second], .. } = ask;
    let context = || context(ask, &format!("{how:?}"));
    crate::use_avx2(*first);
    if *reading == Reading::OneBatch {
        let calm = How { shake: false, records: 256, scratch: 4096, base: 0, ..how };
        let one = batch::batch(*config, bytes, &[], calm);
        crate::use_avx2(*second);
        one.equal(&batch::batch(*config, bytes, cuts, how), "batch", context);
        return;
    }
    let whole = drive::pull(&mut Parser::with_config(storage(), *config), bytes, &[], Detail::Views, |_| ());
    crate::use_avx2(*second);
    if *reading == Reading::Batch {
        let cut = batch::batch(*config, bytes, cuts, how);
        whole.across(&cut, "batch", context);
        same("ranges by batch", &whole.ranges, &cut.ranges, context);
    } else if *reading == Reading::Push {
        let mut parser = Parser::<_, 2>::with_slots(storage(), *config, Tracker::<8, 32>::new());
        drive::begin_anew(&mut parser, &bytes[..*before]);
        whole.across(&drive::push(&mut parser, bytes, cuts, *pause, Detail::Views), "push", context);
    } else {
        let mut parser = Parser::with_config(storage(), *config);
        drive::begin_anew(&mut parser, &bytes[..*before]);
        let mut calls = 0;
        let cut = drive::pull(&mut parser, bytes, cuts, Detail::Views, |parser| {
            calls += 1;
            if *clone > 0 && calls % clone == 0 && seldom(calls / clone) {
                let kept = parser.clone();
                let mut spoil = &b"data: {\"id\":\"spoilt\"}\n\n{\"a\":[\nid: spoilt\ndata: \"\n: \n\n"[..];
                while !matches!(parser.next(&mut spoil), Ok(None)) {}
                *parser = kept;
            }
        });
        whole.across(&cut, "pull", context);
        same("ranges by pull", &whole.ranges, &cut.ranges, context);
    }
}

fn context(ask: &Ask, what: &str) -> String {
    let Ask { config, bytes, cuts, pause, clone, before, .. } = ask;
    format!(
        "{what}: {config:?}, cuts {cuts:?}, pause {pause}, clone {clone}, before {before}, stream b\"{}\"",
        escaped(bytes)
    )
}
