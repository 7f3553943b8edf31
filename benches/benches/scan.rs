//! The searches, through what does little else: the end of a string, its decoding with the check of UTF-8, the end of a
//! container.

use criterion::{criterion_group, criterion_main, BatchSize, Criterion, Throughput};
use deltawire::json::{self, Cursor};
use deltawire_benches::{floors, Input};

/// Strings of 64 KB: plain, with an escape every 60 bytes, not ASCII.
fn strings() -> [(&'static str, Vec<u8>); 3] {
    let make = |piece: &str| format!("\"{}\"", piece.repeat(64_000 / piece.len())).into_bytes();
    let plain = "a token and another one of plain ASCII text, of sixty bytes ";
    [("plain", make(plain)), ("escapes", make(&format!("{}\\n", &plain[2..]))), ("not ASCII", make("für 東京 🙂 да"))]
}

fn scan(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("scan");
    for (name, string) in strings() {
        group.throughput(Throughput::Bytes(string.len() as u64));
        group.bench_function(format!("end of a string, {name}"), |bencher| {
            bencher.iter(|| json::parse_lazy(&string).expect("it is a string").raw().len());
        });
        let text = json::parse_lazy(&string).expect("it is a string").as_text().expect("it is a string");
        group.bench_function(format!("decoding, {name}"), |bencher| {
            let buffer = || String::with_capacity(string.len() * 2);
            bencher.iter_batched_ref(buffer, |out| text.push_to(out), BatchSize::LargeInput);
        });
    }
    let input = Input::new("logprobs", 400_000);
    let payloads = floors::payloads(&input);
    group.throughput(Throughput::Bytes(payloads.iter().map(|payload| payload.len() as u64).sum()));
    group.bench_function("end of a container", |bencher| {
        bencher.iter(|| {
            payloads.iter().map(|payload| Cursor::new(payload).value().expect("sound").raw().len()).sum::<usize>()
        });
    });
    group.finish();
}

criterion_group!(benches, scan);
criterion_main!(benches);
