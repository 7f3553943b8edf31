//! No answer depends on slicing: however a stream is cut, whatever it is kept in, and by whichever calls it is read, it
//! tells the same.

use crate::batch::{self, How};
use crate::drive;
use crate::event_log::{Detail, Logs};
use crate::input;
use crate::log::{escaped, same};
use crate::memo::decode;
use deltawire::track::Tracker;
use deltawire::{Config, Growing, Parser, Storage};

/// What is asked for beside the stream.
struct Ask {
    config: Config,
    bytes: Vec<u8>,
    cuts: Vec<usize>,
    pause: usize,
    /// At every so many calls the parser is cloned, spoilt, and put back; 0: never.
    clone: usize,
    /// A part that is read first, by the same parser, which is then reset.
    before: usize,
    how: How,
}

pub fn split(data: &[u8]) {
    let (config, bytes, mut control) = decode(data);
    let store = control.below(8);
    let cuts = input::cuts(&mut control, bytes.len());
    let ask = Ask {
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
        bytes,
    };
    match store {
        0..=2 => {
            let whole = drive::pull(
                &mut Parser::with_tracker(Growing::new(), config, ()),
                &ask.bytes,
                &[],
                Detail::Views,
                |_| (),
            );
            match store {
                0 => {
                    on(&ask, &whole, "growing", Growing::new);
                    batches(&ask, &whole, How { store: 16384, ..ask.how });
                }
                1 => {
                    on(&ask, &whole, "growing", Growing::new);
                    batches(&ask, &whole, How { store: 24, can_move: true, ..ask.how });
                }
                _ => {
                    on(&ask, &whole, "16 KiB", || [0x55; 16384]);
                    batches(&ask, &whole, How { store: 0, can_move: true, ..ask.how });
                }
            }
        }
        3 => fixed::<0>(&ask),
        4 => fixed::<40>(&ask),
        5 => fixed::<100>(&ask),
        6 => fixed::<600>(&ask),
        _ => fixed::<5000>(&ask),
    }
}

fn fixed<const LEN: usize>(ask: &Ask) {
    let mut memory = vec![0xAA; LEN];
    let mut parser = Parser::with_tracker(&mut memory[..], ask.config, ());
    let whole = drive::pull(&mut parser, &ask.bytes, &[], Detail::Views, |_| ());
    on(ask, &whole, &format!("{LEN} bytes"), || [0x55; LEN]);
    let mut parser = Parser::with_tracker(&mut memory[..], ask.config, ());
    let pulled = drive::pull(&mut parser, &ask.bytes, &ask.cuts, Detail::Views, |_| ());
    pull_same(ask, &whole, &pulled, "a slice");
    batches(ask, &whole, How { store: LEN, ..ask.how });
}

fn context(ask: &Ask, what: &str) -> String {
    let Ask { config, bytes, cuts, pause, clone, before, how } = ask;
    format!(
        "{what}: {config:?}, cuts {cuts:?}, pause {pause}, clone {clone}, before {before}, {how:?}, stream b\"{}\"",
        escaped(bytes)
    )
}

fn pull_same(ask: &Ask, whole: &Logs, pulled: &Logs, what: &str) {
    whole.across(pulled, "pull", || context(ask, what));
    same("ranges by pull", &whole.ranges, &pulled.ranges, || context(ask, what));
}

/// Pull and push, cut, on this kind of storage.
fn on<S: Storage + Clone>(ask: &Ask, whole: &Logs, what: &str, storage: impl Fn() -> S) {
    let Ask { config, bytes, cuts, pause, clone, before, .. } = ask;
    let mut parser = Parser::with_tracker(storage(), *config, ());
    drive::begin_anew(&mut parser, &bytes[..*before]);
    let mut calls = 0;
    let pulled = drive::pull(&mut parser, bytes, cuts, Detail::Views, |parser| {
        calls += 1;
        if *clone > 0 && calls % clone == 0 {
            let kept = parser.clone();
            let mut spoil = &b"data: {\"id\":\"spoilt\"}\n\n{\"a\":[\nid: spoilt\ndata: \"\n: \n\n"[..];
            while !matches!(parser.next(&mut spoil), Ok(None)) {}
            *parser = kept;
        }
    });
    pull_same(ask, whole, &pulled, what);
    let mut parser = Parser::<_, 2, _>::with_slots(storage(), *config, Tracker::<8, 32>::new());
    drive::begin_anew(&mut parser, &bytes[..*before]);
    let pushed = drive::push(&mut parser, bytes, cuts, *pause, Detail::Views);
    whole.across(&pushed, "push", || context(ask, what));
}

fn batches(ask: &Ask, whole: &Logs, how: How) {
    let Ask { config, bytes, cuts, .. } = ask;
    let what = format!("batches, {how:?}");
    let cut = batch::batch(*config, bytes, cuts, how);
    whole.across(&cut, "batch", || context(ask, &what));
    same("ranges by batch", &whole.ranges, &cut.ranges, || context(ask, &what));
    // Frames and quirks are told by batches alone.
    let calm = How { shake: false, records: 256, scratch: 4096, base: 0, ..how };
    let one = batch::batch(*config, bytes, &[], calm);
    one.equal(&cut, "batch", || context(ask, &what));
}
