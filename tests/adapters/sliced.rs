//! A stream of `Bytes` whose long texts are slices of it: the same items, without a copy.

use super::sources::Blocking;
use super::{streams, Seen, DONE};
use crate::alloc::{allocations, live};
use crate::common::log::same;
use crate::common::random::Random;
use bytes::Bytes;
use deltawire::adapters::{DeltaStreamExt, Item};
use deltawire::Update;
use futures_util::stream;
use std::convert::Infallible;

type Read = Result<Bytes, Infallible>;

/// The reads, cut at random.
fn cut(bytes: &[u8], random: &mut Random) -> Vec<Read> {
    let (bytes, mut reads, mut at) = (Bytes::copy_from_slice(bytes), Vec::new(), 0);
    while at < bytes.len() {
        let end = bytes.len().min(at + 1 + random.below(3000));
        reads.push(Ok(bytes.slice(at..end)));
        at = end;
    }
    reads
}

#[test]
fn slices_are_the_texts_that_copies_are() {
    let (mut random, mut items) = (Random::new(83), 0);
    for stream in streams("sliced") {
        let reads = cut(&stream.bytes, &mut random);
        let [copied, sliced] = [false, true].map(|is_sliced| {
            let deltas = stream::iter(reads.clone()).deltas();
            let deltas = Blocking(if is_sliced { deltas.sliced() } else { deltas });
            // All are kept until the last one came, and the stream itself is gone.
            let kept: Vec<Item> = deltas.map(Result::unwrap).collect();
            let mut seen = Seen::new();
            kept.iter().for_each(|item| seen.take(item));
            seen
        });
        same(&stream.name, &sliced.logs.events, &copied.logs.events, String::new);
        assert_eq!(sliced.end, copied.end, "{}", stream.name);
        items += copied.logs.events.len();
    }
    println!("sliced: {items} items");
    assert!(items > 1000);
}

/// The address of each content of more than 32 bytes lies in the read, escaped or not; one that was cut is copied.
#[test]
fn a_long_text_lies_in_its_read_unless_it_was_cut() {
    let event =
        |text: &str| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
    let texts = ["x".repeat(33), "y\\n\\u00e9".repeat(9), "z".repeat(32), "w".repeat(500)];
    let whole = texts.iter().map(|text| event(text)).collect::<String>();
    let bytes = Bytes::from([whole.as_bytes(), DONE].concat());
    let (first, second) = (bytes.slice(..whole.len() - 200), bytes.slice(whole.len() - 200..));
    let addresses = bytes.as_ptr_range();
    let deltas = stream::iter([first, second].map(Ok::<_, Infallible>)).deltas().sliced();
    let mut lies = Vec::new();
    for item in Blocking(deltas).map(Result::unwrap) {
        if let Some((_, Update::Content(text))) = item.as_update() {
            assert_eq!(text.raw(), texts[lies.len()].as_bytes());
            lies.push(addresses.contains(&text.raw().as_ptr()));
        }
    }
    assert_eq!(lies, [true, true, false, false]);
}

#[test]
fn long_texts_cost_no_allocation_and_hold_the_read_only_as_long_as_they_live() {
    let event =
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n", "x".repeat(300));
    let mut made = [0; 2];
    let left = live(|| {
        let bytes = Bytes::from(event.repeat(1000));
        for (made, is_sliced) in made.iter_mut().zip([false, true]) {
            let deltas = stream::iter([Ok::<_, Infallible>(bytes.clone())]).deltas();
            let mut deltas = Blocking(if is_sliced { deltas.sliced() } else { deltas });
            deltas.by_ref().take(4).for_each(|item| assert!(item.is_ok()));
            *made = allocations(|| deltas.by_ref().take(990).for_each(|item| assert!(item.is_ok())));
            assert!(!bytes.is_unique());
            drop(deltas);
            assert!(bytes.is_unique(), "something holds the read");
        }
    });
    println!("sliced: {made:?} allocations in 990 events, copied and sliced");
    assert_eq!(made, [990, 0]);
    assert_eq!(left, 0, "bytes on the heap that nobody owns");
}
