//! Framing alone: lines, and events that nobody looks into.

use criterion::{criterion_group, criterion_main, Criterion, Throughput};
use deltawire::sse::{Decoder, Item, Lines};
use deltawire_benches::Input;

fn sse(criterion: &mut Criterion) {
    let input = Input::new("content", 400_000);
    let mut group = criterion.benchmark_group("sse");
    group.throughput(Throughput::Bytes(input.bytes() as u64));
    for slice in [1, 64, 1448, 16384] {
        group.bench_function(format!("lines, slices of {slice}"), |bencher| {
            bencher.iter(|| {
                let mut bytes = 0;
                for response in &input.responses {
                    let mut lines = Lines::new();
                    for mut slice in response.chunks(slice) {
                        while let Some(piece) = lines.next(&mut slice) {
                            bytes += piece.value.len();
                        }
                    }
                }
                bytes
            });
        });
        group.bench_function(format!("decoder, slices of {slice}"), |bencher| {
            bencher.iter(|| {
                let mut bytes = 0;
                for response in &input.responses {
                    let mut decoder = Decoder::new([0; 4096]);
                    for mut slice in response.chunks(slice) {
                        while let Some(item) = decoder.next(&mut slice) {
                            if let Item::Event(event) = item {
                                bytes += event.data().len();
                            }
                        }
                    }
                }
                bytes
            });
        });
    }
    group.finish();
}

criterion_group!(benches, sse);
criterion_main!(benches);
