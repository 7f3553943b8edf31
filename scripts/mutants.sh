#!/usr/bin/env bash
# mutants.sh [FILE...]: changes the library (these files of it) in some thousands of places, one at a time, and looks whether
# a test fails: scripts/mutants.py. What is missed and has no reason in docs/testing.md fails. An hour on two cores.
. "$(dirname "$0")/lib.sh"
need_crates
have python3 || skip "python3 is missing"
need_tool cargo-mutants "$CARGO_MUTANTS_VERSION"

out=$TARGET/mutants
mkdir -p "$out"
cargo mutants --list --json >"$out/list.json"
# The corpus is not needed: the project's own tests are what is tested.
unset DELTAWIRE_CORPUS
mutants() { python3 scripts/mutants.py "$1" "$out" "${@:2}"; }
rm -f "$out/results"
mutants prepare "$out/list.json"
mutants build
mutants record
mutants run "$@"
# Those with all tests, the slow ones too.
mutants run "$@" --slow 600 --missed
if [ $# -eq 0 ]; then
  # What cannot be switched, with a build for each: the library's own tests, then all. `delete field` comes whatever is asked for.
  # quoted FILE: its lines, as patterns of themselves.
  quoted() { sed 's/[][\.*^$+?(){}|]/\\&/g; s/^/^/; s/$/$/' "$1"; }
  mapfile -t rest < <(quoted "$out/rest")
  mapfile -t files < <(cut -d: -f1 "$out/rest" | sort -u)
  export CARGO_PROFILE_TEST_OPT_LEVEL=0 CARGO_PROFILE_TEST_DEBUG=0
  one_by_one() { # TESTS MUTANT...
    local tests=$1
    shift
    DELTAWIRE_THIN=${DELTAWIRE_THIN:-53} cargo mutants --output "$out/$tests" --jobs 2 --timeout 600 --baseline skip --all-features \
      "--cargo-arg=--$tests" "${files[@]/#/--file=}" "${@/#/--re=}" || true
    mutants rest "$out/$tests/mutants.out"
  }
  one_by_one lib "${rest[@]}"
  mapfile -t rest < <(quoted "$out/lib/mutants.out/missed.txt")
  [ ${#rest[@]} -eq 0 ] || one_by_one tests "${rest[@]}"
  # The kernels of other processors, as scripts/emulate.sh and scripts/wasm.sh try them.
  if debian_rust && have qemu-aarch64 && have aarch64-linux-gnu-gcc && have node; then
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
    arm="DELTAWIRE_THIN=${DELTAWIRE_THIN:-53} CARGO_TARGET_DIR=$TARGET/emulate ${DEBIAN_CARGO[*]} test --all-features --lib -Zbuild-std=std,test,panic_unwind \
      --target aarch64-unknown-linux-gnu"
    mutants elsewhere src/scan/neon.rs "$arm --no-run" "$arm scan::"
    mutants elsewhere src/scan/wasm.rs "CARGO_TARGET_DIR=$TARGET/wasm/with RUSTFLAGS=-Ctarget-feature=+simd128 ${DEBIAN_CARGO[*]} \
      check -Zbuild-std=core --target wasm32-unknown-unknown --no-default-features --lib" \
      "CARGO_TARGET_DIR=$TARGET bash scripts/wasm.sh | grep '^PASS wasm-with-simd128'"
  else
    echo "NOTE the kernels of other processors were not tried: first run scripts/emulate.sh and scripts/wasm.sh"
  fi
fi
# Where only some files were asked for, the others are not tried, and say nothing of the share.
share=95
[ $# -eq 0 ] || share=0
mutants report docs/testing.md "$share" || fail "mutants were missed; what changes no answer is to be listed in docs/testing.md"
pass mutants
