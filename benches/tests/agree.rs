//! All contenders find what the generator put in, however the stream is cut; and this library does so without the heap.

use deltawire_benches::allocations::{so_far, Counting};
use deltawire_benches::contenders::all_of_protocol;
use deltawire_benches::{agree, all, all_large, Input, Kind, Sink, COUNTED, PROTOCOLS, SHAPES, WHOLE};

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn all_contenders_find_the_same() {
    for shape in SHAPES.into_iter().chain(COUNTED) {
        let input = Input::new(shape, 60_000);
        for slice in [1, 7, 64, 1448, 16 * 1024, WHOLE] {
            let sums = agree(&mut all(), &input, slice);
            assert!(sums.events > 70 && sums.choices > 70 && sums.text > 300 && sums.hash != 0, "{shape}: {sums:?}");
        }
    }
}

#[test]
fn all_contenders_find_the_same_in_other_protocols() {
    for shape in PROTOCOLS {
        let input = Input::new(shape, 60_000);
        for slice in [1, 7, 64, 1448, 16 * 1024, WHOLE] {
            let sums = agree(&mut all_of_protocol(shape), &input, slice);
            assert!(sums.events > 70 && sums.choices > 70 && sums.text > 300 && sums.hash != 0, "{shape}: {sums:?}");
            assert_eq!(sums.calls > 0, shape.ends_with("tools"), "{shape}");
        }
    }
}

#[test]
fn all_contenders_find_the_same_in_long_chunks() {
    for len in [1_000, 70_000, 1_000_000] {
        let input = Input::large(len, 200_000);
        for slice in [64, 1448, WHOLE] {
            agree(&mut all_large(), &input, slice);
        }
    }
}

#[test]
fn all_contenders_find_the_same_in_recorded_streams() {
    let Some(corpus) = std::env::var_os("DELTAWIRE_CORPUS") else {
        println!("SKIP real: DELTAWIRE_CORPUS names no recorded streams");
        return;
    };
    let (input, left_out) = deltawire_benches::real::real(std::path::Path::new(&corpus)).expect("it can be read");
    assert!(input.responses.len() > left_out, "most of them can be compared");
    for slice in [1, 64, 1448, WHOLE] {
        agree(&mut all(), &input, slice);
    }
}

#[test]
fn inputs_are_as_described() {
    // Bytes an event, whether the input has usage, and whether it has calls.
    let expected = [(330, true, false), (256, true, false), (372, true, true), (722, true, false), (282, false, false)];
    for (shape, (bytes, usage, calls)) in SHAPES.into_iter().zip(expected) {
        let input = Input::new(shape, 400_000);
        let mean = input.bytes() as u64 / input.expected.events;
        assert!(mean.abs_diff(bytes) * 50 <= bytes, "{shape}: {mean} bytes an event");
        assert_eq!((input.expected.usage > 0, input.expected.calls > 0), (usage, calls), "{shape}");
        assert_eq!(input.responses, Input::new(shape, 400_000).responses, "the seed decides");
        let mut ids: Vec<&[u8]> = input.responses.iter().map(|response| &response[..200]).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), input.responses.len(), "{shape}: responses are distinct");
    }
}

#[test]
fn this_library_never_allocates_and_the_count_would_show_it() {
    for shape in SHAPES {
        let input = Input::new(shape, 60_000);
        for mut contender in all() {
            let mut sink = Sink::default();
            // The sink's own buffers grow in the first round.
            contender.run(&input, 1448, &mut sink);
            let before = so_far();
            contender.run(&input, 1448, &mut sink);
            let allocations = so_far() - before;
            match contender.kind() {
                Kind::Own => assert_eq!(allocations, 0, "{} on {shape}", contender.name()),
                Kind::Peer => println!("{} on {shape}: {allocations} in {}", contender.name(), input.expected.events),
                Kind::Bound => {}
            }
            if contender.name().starts_with("eventsource") {
                assert!(allocations > input.expected.events, "the counter counts");
            }
        }
    }
}
