#!/usr/bin/env bash
# Fuzzes each target for a bounded time, and fails on any finding.
#   fuzz.sh [SECONDS [TARGET...]]   30 seconds each, all targets; 0 seconds: the seeds and what was found before, once
# What an earlier run has learnt is kept in "$TARGET/fuzz/corpus", an input that fails in "$TARGET/fuzz/artifacts".
. "$(dirname "$0")/lib.sh"
seconds=${1:-30}
[[ $seconds =~ ^[0-9]+$ ]] || fail "fuzz.sh [SECONDS [TARGET...]]"
shift $(($# > 0))
mapfile -t known < <(sed -n 's/^path = "fuzz_targets\/\(.*\)\.rs"$/\1/p' fuzz/Cargo.toml)
targets=("$@")
[ $# -gt 0 ] || targets=("${known[@]}")
for name in "${targets[@]}"; do
  [[ " ${known[*]} " == *" $name "* ]] || fail "there is no target $name, but ${known[*]}"
done

[ "$(uname -s)" = Linux ] || skip "libFuzzer and its sanitizer are set up for Linux only, so far"
have cargo || skip "cargo is missing"
have c++ || bash scripts/install.sh g++
have c++ || skip "a C++ compiler is missing, for libFuzzer (Debian: g++)"
need_crates --manifest-path fuzz/Cargo.toml

# The sanitizer's flags are unstable: a nightly toolchain, or any that is told to take them.
toolchain=()
if have rustup && rustup run nightly rustc --version >/dev/null 2>&1; then
  toolchain=(+nightly)
else
  export RUSTC_BOOTSTRAP=1
fi

is_right() { [ "$(cargo fuzz --version 2>/dev/null)" = "cargo-fuzz $CARGO_FUZZ_VERSION" ]; }
PATH=$TARGET/tools/bin:$PATH
if ! is_right; then
  RUSTC_BOOTSTRAP=0 CARGO_TARGET_DIR=$TARGET/tools/build cargo install --quiet --locked --root "$TARGET/tools" \
    "cargo-fuzz@$CARGO_FUZZ_VERSION" >/dev/null 2>&1 || true
  is_right || skip "cargo-fuzz $CARGO_FUZZ_VERSION is missing, and cannot be installed"
fi

out=$TARGET/fuzz
mkdir -p "$out"
log=$out/build.log
host=$(rustc -vV | sed -n 's/^host: //p')
# Comparisons are not traced: that takes half of the time, and the dictionary and the generators know the words.
for name in "${targets[@]}"; do
  CARGO_TARGET_DIR=$out cargo "${toolchain[@]}" fuzz build --fuzz-dir fuzz --target "$host" --no-trace-compares "$name" \
    >"$log" 2>&1 || {
    cat "$log" >&2
    fail "the target $name does not build"
  }
done

found=0
for name in "${targets[@]}"; do
  corpus=$out/corpus/$name artifacts=$out/artifacts/$name log=$out/$name.log
  mkdir -p "$corpus" "$artifacts"
  bound=("-max_total_time=$seconds")
  [ "$seconds" -gt 0 ] || bound=(-runs=0)
  args=("${bound[@]}" -max_len=4096 -timeout=25 -rss_limit_mb=2048 -dict=fuzz/dict -print_final_stats=1
    "-artifact_prefix=$artifacts/")
  if ASAN_OPTIONS=detect_leaks=1:${ASAN_OPTIONS:-} timeout $((seconds + 300)) \
    "$out/$host/release/$name" "${args[@]}" "$corpus" "fuzz/seeds/$name" >"$log" 2>&1; then
    stat() { sed -n "s/^stat::$1: *//p" "$log"; }
    echo "fuzz $name: $(stat number_of_executed_units) executions, $(stat average_exec_per_sec) a second"
    pass "fuzz-$name"
  else
    found=$((found + 1))
    echo "fuzz $name: A FINDING" >&2
    grep -aE 'panicked at|ERROR|SUMMARY|Test unit written' -A 6 "$log" | cut -c1-2000 | head -n 40 >&2 || true
    echo "the whole of it: $log; again: $out/$host/release/$name INPUT" >&2
  fi
done
[ "$found" -eq 0 ] || fail "findings in $found targets"
