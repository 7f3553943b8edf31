//! Generated streams of other protocols than chat completions, delta by delta, against a naive reader on `serde_json`.

#![cfg(feature = "dialects")]

use crate::common::cases::cases;
use crate::common::event_log::Detail;
use crate::common::input::{self, Source};
use crate::common::log::escaped;
use crate::common::read::{pull, push, How, Store};
use crate::common::thin::thin;
use crate::common::{batch, edit, naive_native, native};
use deltawire::stream::Protocol;
use deltawire::{Config, Validate};
use proptest::prelude::*;
use std::cell::Cell;

thread_local! {
    /// How many streams of each protocol the naive reader could read.
    static COMPARED: Cell<[usize; 3]> = const { Cell::new([0; 3]) };
}

/// Compares a stream as it was generated, or with edits.
fn one(control: &[u8], body: &[u8], edits: bool) {
    let mut from = Source::new(control);
    let (protocol, mut bytes) = native::stream(&mut Source::new(body));
    let validate = if from.once_in(2) { Validate::Strict } else { Validate::Lazy };
    if edits {
        edit::edit(&mut bytes, &mut from);
    }
    let cuts = input::cuts(&mut from, bytes.len());
    let records = from.pick(&[64, 1, 2, 3, 7]);
    let config = Config::new().with_validate(validate);
    let context = || format!("{config:?}, cuts {cuts:?}, {records} records, stream b\"{}\"", escaped(&bytes));
    if naive_native::compare(config, &bytes, &cuts, records, &context) && !edits {
        let place =
            [Protocol::Anthropic, Protocol::Responses, Protocol::Gemini].iter().position(|own| *own == protocol);
        let mut compared = COMPARED.get();
        compared[place.unwrap()] += 1;
        COMPARED.set(compared);
    }
    // By the other calls, cut.
    let store = bytes.len() + 4096;
    let whole = How::whole(Store::Fixed(store), config);
    let cut = How { cuts: &cuts, pause: from.once_in(2), ..whole };
    let whole = pull(&bytes, &whole);
    whole.across(&pull(&bytes, &cut), "pull", context);
    whole.across(&push(&bytes, &cut), "push", context);
    let how =
        batch::How { store, can_move: false, shake: false, records, scratch: 4096, base: 0, detail: Detail::Lines };
    whole.across(&batch::batch(config, &bytes, &cuts, how), "batch", context);
}

#[test]
fn generated_streams_are_what_a_naive_reader_reads() {
    let cases = cases(8000, thin(), 100);
    let total = cases.cases as usize;
    proptest!(cases, |(
        control in prop::collection::vec(any::<u8>(), 0..60),
        body in prop::collection::vec(any::<u8>(), 12..400),
    )| {
        one(&control, &body, false);
        one(&control, &body, true);
    });
    let compared = COMPARED.get();
    println!("compared with the naive reader, of {total} streams: {compared:?}");
    assert!(compared.iter().all(|compared| *compared > total / 12), "{compared:?} of {total}");
}
