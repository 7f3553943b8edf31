#!/usr/bin/env bash
# mutants.sh [FILE...]: changes the library (these files of it) in some thousands of places, one at a time, and looks whether
# a test fails: scripts/mutants.py. What is missed and has no reason in docs/testing.md fails. An hour on two cores.
. "$(dirname "$0")/lib.sh"
need_crates
have python3 || skip "python3 is missing"
is_right() { [ "$(cargo mutants --version 2>/dev/null)" = "cargo-mutants $CARGO_MUTANTS_VERSION" ]; }
PATH=$TARGET/tools/bin:$PATH
if ! is_right; then
  CARGO_TARGET_DIR=$TARGET/tools/build cargo install --quiet --locked --root "$TARGET/tools" \
    "cargo-mutants@$CARGO_MUTANTS_VERSION" >/dev/null 2>&1 || true
  is_right || skip "cargo-mutants $CARGO_MUTANTS_VERSION is missing, and cannot be installed"
fi

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
# What cannot be switched, with a build for each.
if [ $# -eq 0 ] && [ -s "$out/rest" ]; then
  mapfile -t rest < <(sed 's/[][\.*^$+?(){}|]/\\&/g; s/^/^/; s/$/$/' "$out/rest")
  DELTAWIRE_THIN=${DELTAWIRE_THIN:-53} cargo mutants --output "$out" --jobs 2 --timeout 600 --baseline skip --all-features \
    "${rest[@]/#/--re=}" -- --lib --tests || true
  mutants rest "$out/mutants.out"
fi
mutants report docs/testing.md || fail "mutants were missed; what changes no answer is to be listed in docs/testing.md"
pass mutants
