#!/usr/bin/env bash
# Everything is formatted as rustfmt.toml has it.
. "$(dirname "$0")/lib.sh"
cargo fmt --version >/dev/null 2>&1 || skip "rustfmt is missing (rustup component add rustfmt)"
cargo fmt --all -- --check
cargo fmt --manifest-path proof/Cargo.toml -- --check
cargo fmt --manifest-path capi/Cargo.toml -- --check
cargo fmt --manifest-path fuzz/Cargo.toml -- --check
pass
