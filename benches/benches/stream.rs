//! Bytes to events: the ways in, by the size of the slices.

use criterion::{criterion_group, criterion_main, Criterion, Throughput};
use deltawire_benches::contenders::{self, BATCH, PULL, PULL_GENERIC, PUSH, VIEWS};
use deltawire_benches::{all, Input, Sink, WHOLE};

fn stream(criterion: &mut Criterion) {
    for shape in ["content", "tools", "alternate"] {
        let input = Input::new(shape, 400_000);
        for slice in [64, 1448, WHOLE] {
            let mut group = criterion.benchmark_group(format!("stream/{shape}/{slice}"));
            group.throughput(Throughput::ElementsAndBytes {
                elements: input.expected.events,
                bytes: input.bytes() as u64,
            });
            for name in [PULL, PULL_GENERIC, VIEWS, PUSH, BATCH] {
                let mut contender = contenders::named(all(), name);
                let mut sink = Sink::default();
                group.bench_function(name, |bencher| bencher.iter(|| contender.run(&input, slice, &mut sink)));
            }
            group.finish();
        }
    }
}

criterion_group!(benches, stream);
criterion_main!(benches);
