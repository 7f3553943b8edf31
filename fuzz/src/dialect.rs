//! Streams of other protocols than chat completions: with a naive reader of serde_json's values, and with themselves cut, by
//! other calls, and with another number of shapes that are remembered.
//!
//! Control part: whether the body is a stream or what one is generated from, edits, strictness, whether the protocol is given,
//! cuts, records, pauses.

use crate::batch::{self, How};
use crate::drive;
use crate::edit::edit;
use crate::event_log::Detail;
use crate::input::{self, Source};
use crate::log::escaped;
use crate::naive_native;
use crate::native;
use deltawire::stream::Protocol;
use deltawire::track::Tracker;
use deltawire::{Config, Growing, Parser, Validate};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many streams the naive reader could read.
pub static COMPARED: AtomicUsize = AtomicUsize::new(0);

/// Returns the configuration and the stream of an input, and the rest of its control part.
pub fn decode(data: &[u8]) -> (Config, Vec<u8>, Source<'_>) {
    let (mut control, body) = input::split(data);
    let how = control.u8();
    let mut bytes = if how & 1 != 0 { native::stream(&mut Source::new(body)).1 } else { body.to_vec() };
    edit(&mut bytes, &mut control);
    let given = control.pick(&[0, 0, 0, 2, 3, 4, 8]);
    let config = Config::new()
        .with_validate(if how & 2 != 0 { Validate::Strict } else { Validate::Lazy })
        .with_protocol(Protocol::from_number(given));
    (config, bytes, control)
}

pub fn dialect(data: &[u8]) {
    let (config, bytes, mut control) = decode(data);
    let cuts = input::cuts(&mut control, bytes.len());
    let (records, pause) = (control.pick(&[64, 1, 2, 3, 7]), control.below(5));
    let context = || format!("{config:?}, cuts {cuts:?}, {records} records, stream b\"{}\"", escaped(&bytes));
    // Half of the inputs are for the naive reader.
    let reading = input::which(&mut control, bytes.len(), 6);
    if reading < 3 {
        // It looks for the protocol itself.
        let config = config.with_protocol(None);
        if naive_native::compare(config, &bytes, &cuts, records, &context) {
            COMPARED.fetch_add(1, Ordering::Relaxed);
        }
        return;
    }
    let mut parser: Parser<Growing, 0> = Parser::with_slots(Growing::new(), config, Tracker::new());
    let whole = drive::pull(&mut parser, &bytes, &[], Detail::Lines, |_| ());
    let (other, what) = match reading {
        3 => {
            let mut parser = Parser::<_, 2>::with_slots(Growing::new(), config, Tracker::new());
            (drive::pull(&mut parser, &bytes, &cuts, Detail::Lines, |_| ()), "pull")
        }
        4 => {
            let tracker = Tracker::<8, 32>::new();
            let mut parser = Parser::<_, 2>::with_slots(Growing::new(), config, tracker);
            (drive::push(&mut parser, &bytes, &cuts, pause, Detail::Lines), "push")
        }
        _ => {
            let how = How {
                store: 24,
                can_move: true,
                shake: pause == 4,
                records,
                scratch: control.pick(&[4096, 0, 16, 64]),
                base: 0,
                detail: Detail::Lines,
            };
            (batch::batch(config, &bytes, &cuts, how), "batch")
        }
    };
    whole.across(&other, what, context);
}
