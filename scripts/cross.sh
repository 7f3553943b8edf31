#!/usr/bin/env bash
# The library without features needs `core` and nothing else: it builds where there is no alloc crate at all,
# for a microcontroller and for WebAssembly, with the sources of the standard library that Debian packages.
. "$(dirname "$0")/lib.sh"
need_crates
export CARGO_TARGET_DIR=$TARGET/cross

cargo build --locked -p deltawire --no-default-features
if have nm; then
  needs=$(nm -uC "$CARGO_TARGET_DIR/debug/libdeltawire.rlib" 2>/dev/null | grep -E '__rust_alloc|__rg_|[ <]alloc::' || true)
  [ -z "$needs" ] || fail "the library without features refers to an allocator: $needs"
fi
pass no-features-host

src=/usr/lib/rustlib/src/rust/library/Cargo.toml
at_hand() { [ -x /usr/bin/rustc ] && [ -x /usr/bin/cargo ] && [ -e "$src" ]; }
at_hand || bash scripts/install.sh "${DEBIAN_RUST_PACKAGES[@]}"
at_hand || skip "the packages ${DEBIAN_RUST_PACKAGES[*]} are missing (apt-get install, as root)"
case $(/usr/bin/rustc --version) in
  "rustc $DEBIAN_RUST_VERSION".*) ;;
  *) echo "note: $(/usr/bin/rustc --version) instead of $DEBIAN_RUST_VERSION" ;;
esac

# The installed compiler is a stable one; RUSTC_BOOTSTRAP lets it take -Zbuild-std.
debian_cargo() { RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 /usr/bin/cargo "$@" --locked; }
targets=(thumbv7em-none-eabi wasm32-unknown-unknown)
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
