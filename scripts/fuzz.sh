#!/usr/bin/env bash
# Fuzzes each target for a bounded time, and fails on any finding.
#   fuzz.sh [SECONDS [TARGET...]]   by default 5 seconds each, all targets; with 0 seconds the seeds and earlier findings, once
# Keeps what earlier runs learned in "$TARGET/fuzz/corpus", and failing inputs in "$TARGET/fuzz/artifacts".
. "$(dirname "$0")/lib.sh"
seconds=${1:-$(full 60 5)}
# A check that runs on each change must be reproducible: without arguments it uses the same random numbers each time.
seed=$(($# == 0))
[[ $seconds =~ ^[0-9]+$ ]] || fail "fuzz.sh [SECONDS [TARGET...]]"
shift $(($# > 0))
mapfile -t known < <(sed -n 's/^path = "fuzz_targets\/\(.*\)\.rs"$/\1/p' fuzz/Cargo.toml)
targets=("$@")
[ $# -gt 0 ] || targets=("${known[@]}")
for name in "${targets[@]}"; do
  [[ " ${known[*]} " == *" $name "* ]] || fail "there is no target $name; there are ${known[*]}"
done

[ "$(uname -s)" = Linux ] || skip "libFuzzer and its sanitizer are set up only for Linux so far"
have cargo || skip "cargo is missing"
have c++ || packages g++
have c++ || skip "a C++ compiler is missing, for libFuzzer (Debian: g++)"
need_crates --manifest-path fuzz/Cargo.toml

out=$TARGET/fuzz
mkdir -p "$out"
log=$out/build.log
host=$(rustc -vV | sed -n 's/^host: //p')
# The flags of cargo-fuzz, except two. Tracing comparisons would take half of the time, and the dictionary and the generators know the
# words. A table of the covered places, which libFuzzer only reports, would take a fifth of the time at the start. The flags are
# unstable, so allow them for this Rust.
export RUSTC_BOOTSTRAP=1 RUSTFLAGS='--cfg=fuzzing -Zsanitizer=address -Cpasses=sancov-module
  -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
  -Cllvm-args=-simplifycfg-branch-fold-threshold=0'
# In short runs the build takes most of the time. One codegen unit avoids compiling the same code for several units.
[ "$seconds" -gt 60 ] || export CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_DEBUG=false CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1
# Use the libFuzzer of an installed clang, because compiling that of libfuzzer-sys takes as long as compiling the targets.
want_clang
if have clang; then
  fuzzer=$(clang -print-resource-dir)/lib/linux/libclang_rt.fuzzer-$(uname -m).a
  [ ! -e "$fuzzer" ] || export CUSTOM_LIBFUZZER_PATH=$fuzzer
fi
began=$SECONDS
CARGO_TARGET_DIR=$out cargo build --release --locked --manifest-path fuzz/Cargo.toml --target "$host" "${targets[@]/#/--bin=}" >"$log" 2>&1 || {
  cat "$log" >&2
  fail "the targets do not build"
}
echo "NOTE built in $((SECONDS - began)) s"

# Each sample is a seed of every target: no control part, and the stream.
samples=$out/samples
rm -rf "$samples"
mkdir -p "$samples"
for sample in samples/*.sse samples/*body.json; do { printf '\0' && cat "$sample"; } >"$samples/${sample##*/}"; done

# fuzz NAME: runs the target. Writes "$out/NAME.log" and "$out/NAME.status".
fuzz() {
  local name=$1 corpus=$out/corpus/$1 artifacts=$out/artifacts/$1 bound=("-max_total_time=$seconds") status=0
  mkdir -p "$corpus" "$artifacts"
  # Try earlier failures again, with the seeds.
  [ "$seconds" -gt 0 ] || bound=(-runs=0 "$artifacts")
  # An input takes milliseconds, so a minute for one is a finding on any machine. Two things are off for more executions: weighing
  # inputs by their rarest features (entropic), which takes two thirds of the time, and detecting stack use after return, which takes a
  # third of the remaining time, and which the steps asan and ffi_c do. An input frees less than 8 MiB, so a larger quarantine detects
  # no more. Allocation stacks are off, because running the failing input again shows who allocated. The corpus is not reloaded,
  # because nobody else adds to it meanwhile.
  local options=detect_leaks=1:detect_stack_use_after_return=0:quarantine_size_mb=8:malloc_context_size=0
  ASAN_OPTIONS=$options:${ASAN_OPTIONS:-} timeout $((seconds + 300)) "$out/$host/release/$name" "${bound[@]}" \
    "-seed=$seed" -max_len=4096 -timeout=60 -rss_limit_mb=2048 -dict=fuzz/dict -entropic=0 -reload=0 -print_final_stats=1 "-artifact_prefix=$artifacts/" \
    "$corpus" "fuzz/seeds/$name" "$samples" >"$out/$name.log" 2>&1 || status=$?
  echo $status >"$out/$name.status"
}
# Run as many at a time as there are processors, at most two; targets are independent.
rm -f "$out"/*.status
at_once=$(nproc)
[ "$at_once" -le 2 ] || at_once=2
for name in "${targets[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n || true; done
  fuzz "$name" &
done
wait

found=0
for name in "${targets[@]}"; do
  log=$out/$name.log
  stat() { sed -n "s/^stat::$1: *//p" "$log"; }
  runs=$(stat number_of_executed_units)
  if [ "$(cat "$out/$name.status" 2>/dev/null)" != 0 ]; then
    found=$((found + 1))
    echo "fuzz $name: A FINDING" >&2
    grep -aE 'panicked at|ERROR|SUMMARY|Test unit written' -A 6 "$log" | cut -c1-2000 | head -n 40 >&2 || tail -n 20 "$log" >&2
    echo "the whole of it: $log; again: $out/$host/release/$name INPUT" >&2
  elif [ "${runs:-0}" -lt "$(find "fuzz/seeds/$name" -type f | wc -l)" ]; then
    found=$((found + 1))
    echo "fuzz $name: only ${runs:-0} executions: $log" >&2
  else
    echo "NOTE $name: $runs executions, $(stat average_exec_per_sec) a second, $(stat peak_rss_mb) MiB"
    pass "fuzz-$name"
  fi
done
[ "$found" -eq 0 ] || fail "findings in $found targets"
