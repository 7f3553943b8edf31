#!/usr/bin/env bash
# The core as a WebAssembly module of its own, without and with simd128, run by Node: it imports nothing, so that neither a
# panic nor an allocator is reached, and it computes what an ordinary program does (the test of proof/).
. "$(dirname "$0")/lib.sh"
need_crates --manifest-path proof/Cargo.toml
have node || packages nodejs
have node || skip "node is missing (apt-get install nodejs)"
# The linker that Rust brings along.
ld=$(dirname "$(rustc --print target-libdir)")/bin/rust-lld
[ -x "$ld" ] || ld=$(command -v wasm-ld) || skip "neither rust-lld nor wasm-ld is here"
need_debian_rust

export CARGO_TARGET_DIR=$TARGET/wasm LC_ALL=C
target=wasm32-unknown-unknown
"${DEBIAN_CARGO[@]}" fetch --quiet --locked -Zbuild-std=core --target "$target" --manifest-path proof/Cargo.toml ||
  skip "the crates of the standard library are neither cached nor to be fetched"

mkdir -p "$CARGO_TARGET_DIR"
CARGO_TARGET_DIR=$TARGET/proof cargo test --quiet --locked --manifest-path proof/Cargo.toml -- --nocapture | grep '^sum ' >"$CARGO_TARGET_DIR/hosted.txt"
# Without the unit, then with it; in other directories, or one build would throw away the other.
for with in without with; do
  if [ $with = with ]; then feature=+simd128; else feature=-simd128; fi
  dir=$CARGO_TARGET_DIR/$with
  CARGO_TARGET_DIR=$dir RUSTFLAGS="-Ctarget-feature=$feature -Clinker=$ld -Dwarnings" "${DEBIAN_CARGO[@]}" rustc --quiet --locked \
    --release -Zbuild-std=core --target "$target" --manifest-path proof/Cargo.toml --crate-type cdylib
  node proof/run.mjs "$dir/$target/release/deltawire_proof.wasm" samples/* >"$dir.txt"
  diff "$CARGO_TARGET_DIR/hosted.txt" "$dir.txt" || fail "$with simd128 it computes something else"
  # Whether it uses the unit at all is seen by its code.
  if [ $with = with ] && cmp -s "$CARGO_TARGET_DIR"/with{,out}/"$target"/release/deltawire_proof.wasm; then
    fail "simd128 changes nothing"
  fi
  pass "$STEP-$with-simd128"
done
