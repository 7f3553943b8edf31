#!/usr/bin/env bash
# A step of `make test-full`. Checks that the library without features needs only `core`, and with feature `alloc` only `core` and
# `alloc`, with the sources of the standard library that Debian packages. (scripts/size.sh, a step of `make test`, builds and links the
# library without features for a microcontroller.) Also checks the C interface where a pointer has 32 bits.
. "$(dirname "$0")/lib.sh"
need_crates
# Nothing runs, and with one profile core is checked once for all manifests.
export CARGO_TARGET_DIR=$TARGET/cross CARGO_PROFILE_DEV_OPT_LEVEL=0 CARGO_PROFILE_DEV_DEBUG=false CARGO_PROFILE_DEV_PANIC=abort

cargo build --locked -p deltawire --no-default-features
if have nm; then
  needs=$(nm -uC "$CARGO_TARGET_DIR/debug/libdeltawire.rlib" 2>/dev/null | grep -E '__rust_alloc|__rg_|[ <]alloc::' || true)
  [ -z "$needs" ] || fail "the library without features refers to an allocator: $needs"
fi
pass no-features-host

need_debian_rust
debian_cargo() { "${DEBIAN_CARGO[@]}" "$@" --locked; }
# scripts/wasm.sh builds and runs WebAssembly.
targets=(thumbv7em-none-eabi)
for target in "${targets[@]}"; do
  debian_fetch -Zbuild-std=core,alloc --target "$target"
  debian_cargo check -Zbuild-std=core --target "$target" -p deltawire --no-default-features
  pass "core-only-$target"
done

# Control: with the feature that needs alloc it must fail.
target=${targets[0]}
if out=$(debian_cargo check -Zbuild-std=core --target "$target" -p deltawire --features alloc 2>&1); then
  fail "feature alloc compiled without the alloc crate"
fi
grep -q "find crate for .alloc." <<<"$out" || fail "the control failed for another reason: $out"
debian_cargo check -Zbuild-std=core,alloc --target "$target" -p deltawire --features alloc
pass "alloc-$target"

# The C interface with 32-bit pointers, and u64 aligned to 8 or (i686) to 4. Its assertions about the sizes of blocks, events and
# rows are compiled for each target.
for target in "${targets[@]}" i686-unknown-linux-gnu; do
  debian_fetch -Zbuild-std=core --target "$target" --manifest-path capi/Cargo.toml
  debian_cargo check -Zbuild-std=core --target "$target" --manifest-path capi/Cargo.toml
  pass "capi-$target"
done

# The kernels for other machines, NEON and simd128, and the adapters that need no `std`. scripts/emulate.sh and scripts/wasm.sh run them.
debian_clippy() { [ -x /usr/bin/cargo-clippy ] && [ -x /usr/bin/clippy-driver ]; }
debian_clippy || packages "$DEBIAN_CLIPPY_PACKAGE"
debian_clippy || skip "the package $DEBIAN_CLIPPY_PACKAGE is missing (apt-get install, as root)"
for target in aarch64-unknown-linux-gnu wasm32-unknown-unknown; do
  flags=
  [ "${target%%-*}" != wasm32 ] || flags=-Ctarget-feature=+simd128
  debian_fetch -Zbuild-std=core,alloc --target "$target"
  # Cargo finds its subcommands by PATH. On 32 bits, comparing a usize with 2^32 - 1 has no effect; that is intended.
  PATH=/usr/bin:$PATH RUSTFLAGS=$flags "${DEBIAN_CARGO[@]}" clippy --locked -Zbuild-std=core,alloc --target "$target" \
    -p deltawire --features serde,futures -- -D warnings -A clippy::unnecessary_min_or_max -A clippy::absurd_extreme_comparisons
  pass "clippy-$target"
done
