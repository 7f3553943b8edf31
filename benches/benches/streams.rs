//! The same contenders, one after the other, with criterion's statistics. `cargo run --release -p deltawire-benches`
//! has them in turn, which is fairer on a busy machine.

use criterion::{criterion_group, criterion_main, Criterion, Throughput};
use deltawire_benches::{agree, all, Input, Sink, SHAPES, SLICES};

fn streams(criterion: &mut Criterion) {
    for shape in SHAPES {
        let input = Input::new(shape, 4_000_000);
        for slice in SLICES {
            agree(&input, slice);
            let mut group = criterion.benchmark_group(format!("{shape}/{slice}"));
            group.sample_size(10);
            // Both units: bytes for the machine, elements are events.
            let (elements, bytes) = (input.due.events, input.bytes() as u64);
            group.throughput(Throughput::ElementsAndBytes { elements, bytes });
            for mut contender in all() {
                let mut sink = Sink::default();
                group.bench_function(contender.name(), |bencher| {
                    bencher.iter(|| contender.run(&input, slice, &mut sink));
                });
            }
            group.finish();
        }
    }
}

criterion_group!(benches, streams);
criterion_main!(benches);
