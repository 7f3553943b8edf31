//! Events to the whole message: the assembler on the heap, and the log in memory that is given.

use criterion::{criterion_group, criterion_main, Criterion, Throughput};
use deltawire::message::{Assembler, MessageLog};
use deltawire::track::Tracker;
use deltawire::{Config, Event, Parser};
use deltawire_benches::Input;

fn message(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("message");
    for shape in ["content", "tools"] {
        let input = Input::new(shape, 400_000);
        group.throughput(Throughput::Elements(input.expected.events));
        let mut parser = Parser::with_tracker([0; 4096], Config::default(), ());
        let mut each = |mut take: Box<dyn FnMut(&Event<'_>) + '_>| {
            for mut response in input.responses.iter().map(Vec::as_slice) {
                parser.reset();
                while let Some(event) = parser.next(&mut response).expect("no quirk is an error") {
                    take(&event);
                }
            }
        };
        group.bench_function(format!("assembler, {shape}"), |bencher| {
            bencher.iter(|| {
                let mut assembler = Assembler::new();
                each(Box::new(|event| match event {
                    Event::Done => assembler.reset(),
                    event => assembler.add(event).expect("there is room"),
                }));
            });
        });
        let mut memory = vec![0; 4 << 20];
        group.bench_function(format!("log, {shape}"), |bencher| {
            bencher.iter(|| {
                let mut log: MessageLog = MessageLog::new();
                let mut tracker: Tracker = Tracker::new();
                each(Box::new(|event| match event {
                    Event::Done => {
                        log.reset();
                        tracker.reset();
                    }
                    Event::Chunk(chunk) => {
                        log.add_chunk(&mut memory, &mut tracker, chunk).expect("there is room");
                    }
                    _ => {}
                }));
            });
        });
    }
    group.finish();
}

criterion_group!(benches, message);
criterion_main!(benches);
