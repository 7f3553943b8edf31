//! The cursor over payloads: members of the top level, the strict check.

use criterion::{criterion_group, criterion_main, Criterion, Throughput};
use deltawire::json::{self, Cursor};
use deltawire_benches::{floors, Input};

fn members(payload: &[u8]) -> Result<usize, json::JsonError> {
    let mut cursor = Cursor::new(payload);
    let mut bytes = 0;
    cursor.begin_object()?;
    while let Some(name) = cursor.next_member()? {
        bytes += name.raw().len() + cursor.value()?.raw().len();
    }
    cursor.end()?;
    Ok(bytes)
}

fn json(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("json");
    for shape in ["content", "tools", "logprobs"] {
        let input = Input::new(shape, 400_000);
        let payloads = floors::payloads(&input);
        group.throughput(Throughput::Bytes(payloads.iter().map(|payload| payload.len() as u64).sum()));
        group.bench_function(format!("members, {shape}"), |bencher| {
            bencher.iter(|| payloads.iter().map(|payload| members(payload).expect("sound")).sum::<usize>());
        });
        group.bench_function(format!("strict, {shape}"), |bencher| {
            bencher.iter(|| payloads.iter().filter(|payload| json::validate(payload, 128).is_ok()).count());
        });
    }
    group.finish();
}

criterion_group!(benches, json);
criterion_main!(benches);
