//! Payloads to views, without framing: the index alone, and with its deltas.

use criterion::{criterion_group, criterion_main, Criterion, Throughput};
use deltawire::chat::{Chunk, Index};
use deltawire_benches::{floors, Input};

fn chat(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("chat");
    for shape in ["content", "tools", "logprobs", "vllm-like"] {
        let input = Input::new(shape, 400_000);
        let payloads = floors::payloads(&input);
        group.throughput(Throughput::Bytes(payloads.iter().map(|payload| payload.len() as u64).sum()));
        let mut index = Index::new();
        group.bench_function(format!("index, {shape}"), |bencher| {
            bencher.iter(|| {
                let count = |payload: &&[u8]| Chunk::read(payload, &mut index).expect("sound").choice_count();
                payloads.iter().map(count).sum::<u32>()
            });
        });
        group.bench_function(format!("deltas, {shape}"), |bencher| {
            bencher.iter(|| {
                let count = |payload: &&[u8]| Chunk::read(payload, &mut index).expect("sound").deltas().count();
                payloads.iter().map(count).sum::<usize>()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, chat);
criterion_main!(benches);
