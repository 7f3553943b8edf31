#!/usr/bin/env bash
# Runs the tests of src/scan, which has all `unsafe` of the library, under AddressSanitizer; in `make test-full` all
# tests. A control that reads past the end of a vector, built and run in the same way, must be detected.
. "$(dirname "$0")/lib.sh"
[ "$(uname -sm)" = "Linux x86_64" ] || skip "set up only for Linux on x86-64 so far"
need_crates
export DELTAWIRE_THIN=${DELTAWIRE_THIN:-13} DELTAWIRE_EMULATED=$(full 1 41)
export CARGO_TARGET_DIR=$TARGET/asan ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1
# The flag is unstable, so allow it for this Rust. The target must be named, or build scripts would get the flag too.
export RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address
# The tests of src/scan run with every 41st of their inputs, for which optimizing takes longer than it saves.
CARGO_PROFILE_TEST_OPT_LEVEL=$(full 1 0)
export CARGO_PROFILE_TEST_OPT_LEVEL CARGO_PROFILE_DEV_OPT_LEVEL=$CARGO_PROFILE_TEST_OPT_LEVEL CARGO_PROFILE_TEST_DEBUG=line-tables-only
target=x86_64-unknown-linux-gnu
mkdir -p "$CARGO_TARGET_DIR"

# Controls: these errors must be detected.
control=$CARGO_TARGET_DIR/control
cat >"$control.rs" <<'R'
#[test]
fn a_read_past_the_end() {
    let bytes = std::hint::black_box(vec![1u8; 16]);
    let at = std::hint::black_box(bytes.as_ptr());
    // SAFETY: unsound on purpose: AddressSanitizer must report it.
    assert_ne!(unsafe { at.add(bytes.len()).read() }, 255);
}

#[test]
fn a_leak() {
    std::mem::forget(std::hint::black_box(vec![1u8; 4099]));
}
R
rustc --edition 2021 --target "$target" -Zsanitizer=address -Copt-level=2 --test "$control.rs" -o "$control" ||
  skip "this Rust has no sanitizer"
if said=$("$control" a_read 2>&1); then fail "a read past the end is not detected"; fi
case $said in *"AddressSanitizer: heap-buffer-overflow"*) ;; *) fail "the control failed for another reason: $said" ;; esac
if said=$("$control" a_leak 2>&1); then fail "a leak is not detected"; fi
case $said in *"LeakSanitizer: detected memory leaks"*) ;; *) fail "the control failed for another reason: $said" ;; esac
pass asan-control

tests=(cargo test --locked -p deltawire --all-features --lib $(full --tests "") --target "$target")
"${tests[@]}" --no-run
began=$SECONDS
log=$CARGO_TARGET_DIR/tests.log
timeout 900 "${tests[@]}" -- --show-output $(full "" scan::) >"$log" 2>&1 || { tail -n 60 "$log" && fail "the tests fail under AddressSanitizer"; }
grep '^SKIP ' "$log" || true
count=$(grep -c '^test .* \.\.\. ok$' "$log")
[ "$count" -gt "$(full 250 20)" ] || fail "only $count tests ran"
echo "NOTE $count tests in $((SECONDS - began)) s"
pass
