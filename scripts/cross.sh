#!/usr/bin/env bash
# The library without features needs `core` and nothing else: it builds where there is no alloc crate at all,
# for a microcontroller, with the sources of the standard library that Debian packages.
. "$(dirname "$0")/lib.sh"
need_crates
# It is only built.
export CARGO_TARGET_DIR=$TARGET/cross CARGO_PROFILE_DEV_OPT_LEVEL=0

cargo build --locked -p deltawire --no-default-features
if have nm; then
  needs=$(nm -uC "$CARGO_TARGET_DIR/debug/libdeltawire.rlib" 2>/dev/null | grep -E '__rust_alloc|__rg_|[ <]alloc::' || true)
  [ -z "$needs" ] || fail "the library without features refers to an allocator: $needs"
fi
pass no-features-host

need_debian_rust
debian_cargo() { "${DEBIAN_CARGO[@]}" "$@" --locked; }
# WebAssembly is built, and run, by scripts/wasm.sh.
targets=(thumbv7em-none-eabi)
for target in "${targets[@]}"; do
  debian_cargo fetch --quiet -Zbuild-std=core,alloc --target "$target" ||
    skip "the crates of the standard library are neither cached nor to be fetched"
  debian_cargo build -Zbuild-std=core --target "$target" -p deltawire --no-default-features
  pass "core-only-$target"
done

# The same with the feature that does need alloc must fail, or the check above shows nothing.
target=${targets[0]}
if out=$(debian_cargo build -Zbuild-std=core --target "$target" -p deltawire --features alloc 2>&1); then
  fail "feature alloc was built without the alloc crate"
fi
grep -q "find crate for .alloc." <<<"$out" || fail "the control failed for another reason: $out"
debian_cargo build -Zbuild-std=core,alloc --target "$target" -p deltawire --features alloc
pass "alloc-$target"

# The C interface where pointers have 32 bits, and uint64_t is aligned to 8 or (i686) to 4: capi/src/layout.rs asserts there
# what ffi-tests/layout/layout.c does.
for target in "${targets[@]}" i686-unknown-linux-gnu; do
  debian_cargo fetch --quiet -Zbuild-std=core --target "$target" --manifest-path capi/Cargo.toml ||
    skip "the crates of the standard library are neither cached nor to be fetched"
  debian_cargo check -Zbuild-std=core --target "$target" --manifest-path capi/Cargo.toml
  pass "capi-$target"
done

# The kernels that this machine does not compile: NEON and simd128. scripts/emulate.sh and scripts/wasm.sh run them.
[ "$(full 1 0)" = 1 ] || exit 0
debian_clippy() { [ -x /usr/bin/cargo-clippy ] && [ -x /usr/bin/clippy-driver ]; }
debian_clippy || packages "$DEBIAN_CLIPPY_PACKAGE"
debian_clippy || skip "the package $DEBIAN_CLIPPY_PACKAGE is missing (apt-get install, as root)"
for target in aarch64-unknown-linux-gnu wasm32-unknown-unknown; do
  flags=
  [ "${target%%-*}" != wasm32 ] || flags=-Ctarget-feature=+simd128
  "${DEBIAN_CARGO[@]}" fetch --quiet --locked -Zbuild-std=core,alloc --target "$target" ||
    skip "the crates of the standard library are neither cached nor to be fetched"
  # Cargo looks for its commands by PATH. Where a usize has 32 bits, a bound of 2^32 - 1 is no bound: that is meant.
  PATH=/usr/bin:$PATH RUSTFLAGS=$flags "${DEBIAN_CARGO[@]}" clippy --locked -Zbuild-std=core,alloc --target "$target" \
    -p deltawire --all-features -- -D warnings -A clippy::unnecessary_min_or_max
  pass "clippy-$target"
done
