#!/usr/bin/env bash
# Runs the core as a WebAssembly module under Node, with simd128, and in `make test-full` without, too. The module must import nothing,
# so it reaches neither a panic nor an allocator, and must compute the same as an ordinary program (the test of proof/).
. "$(dirname "$0")/lib.sh"
need_crates --manifest-path proof/Cargo.toml
have node || packages nodejs
have node || skip "node is missing (apt-get install nodejs)"
need_lld wasm-ld
need_debian_rust

export CARGO_TARGET_DIR=$TARGET/wasm LC_ALL=C
target=wasm32-unknown-unknown
debian_fetch -Zbuild-std=core --target "$target" --manifest-path proof/Cargo.toml

mkdir -p "$CARGO_TARGET_DIR"
hosted_sums "$CARGO_TARGET_DIR" "$(full 1 13)"
# Without simd128 (in `make test-full`), then with it. The flag applies to all crates except core, which is built once for both.
for with in $(full without "") with; do
  if [ "$with" = with ]; then feature=+simd128; else feature=-simd128; fi
  flags=()
  for package in deltawire deltawire-proof; do
    flags+=(--config "profile.release.package.$package.rustflags=['-Ctarget-feature=$feature','-Dwarnings']")
  done
  RUSTFLAGS=-Clinker=$ld "${DEBIAN_CARGO[@]}" rustc --quiet --locked --release "${PLAIN_CORE[@]}" -Zprofile-rustflags "${flags[@]}" \
    --target "$target" --manifest-path proof/Cargo.toml --crate-type cdylib
  module=$CARGO_TARGET_DIR/$with.wasm sums=$CARGO_TARGET_DIR/$with.txt
  cp "$CARGO_TARGET_DIR/$target/release/deltawire_proof.wasm" "$module"
  node proof/run.mjs "$module" "${summed[@]}" >"$sums"
  diff "$CARGO_TARGET_DIR/hosted.txt" "$sums" || fail "the program computes something else $with simd128"
  # Check that the code uses simd128 at all.
  if [ "$with" = with ] && cmp -s "$CARGO_TARGET_DIR"/with{,out}.wasm; then
    fail "simd128 changes nothing"
  fi
  pass "$STEP-$with-simd128"
done
