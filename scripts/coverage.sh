#!/usr/bin/env bash
# Prints which lines of src/ (without tests) the library's tests run, by floor and in total. Not a check.
# "$TARGET/coverage/uncovered.txt" lists the lines that do not run; docs/testing.md has the figures.
. "$(dirname "$0")/lib.sh"
need_crates
have python3 || skip "python3 is missing"
# The profile has the format of the compiler's LLVM, so use tools of the same version.
major=$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
tools() { have "llvm-cov-$major" && have "llvm-profdata-$major"; }
tools || packages "llvm-$major"
tools || skip "llvm-cov-$major and llvm-profdata-$major are missing (apt-get install llvm-$major, as root)"

out=$TARGET/coverage
mkdir -p "$out"
rm -rf "$out/raw"
export CARGO_TARGET_DIR=$out/build LLVM_PROFILE_FILE=$out/raw/%p-%m.profraw DELTAWIRE_THIN=${DELTAWIRE_THIN:-13}
# Only the library and its tests need counters; elsewhere counters would cost time. Flags for a named target apply only to the
# crates built for it.
export RUSTFLAGS="-Cinstrument-coverage"
host=$(rustc -vV | sed -n 's/^host: //p')
tests=(cargo test --locked -p deltawire --all-features --lib --tests --target "$host")
"${tests[@]}" --no-run --message-format json 2>"$out/build.log" >"$out/build.json" || { cat "$out/build.log" && fail "the tests do not build"; }
mapfile -t programs < <(python3 -c '
import json, sys
for line in open(sys.argv[1]):
    made = json.loads(line)
    if made.get("profile", {}).get("test") and made.get("executable"): print(made["executable"])
' "$out/build.json")
timeout 1200 "${tests[@]}" >"$out/tests.log" 2>&1 || { tail -n 60 "$out/tests.log" && fail "the tests fail"; }

"llvm-profdata-$major" merge -sparse "$out"/raw/*.profraw -o "$out/all.profdata"
"llvm-cov-$major" export -format=lcov -instr-profile "$out/all.profdata" "${programs[0]}" "${programs[@]/#/--object=}" \
  --sources "$PWD/src" >"$out/lcov.info" 2>"$out/export.log" || { cat "$out/export.log" && fail "llvm-cov failed"; }
python3 -B scripts/coverage.py "$out/lcov.info" "$PWD" "$out/uncovered.txt"
echo "NOTE the lines that did not run: $out/uncovered.txt"
pass
