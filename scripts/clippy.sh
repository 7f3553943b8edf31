#!/usr/bin/env bash
# No warning, whatever the features.
. "$(dirname "$0")/lib.sh"
cargo clippy --version >/dev/null 2>&1 || skip "clippy is missing (rustup component add clippy)"
need_crates
cargo clippy --locked --workspace --all-targets -- -D warnings
pass clippy
cargo clippy --locked -p deltawire --all-targets --no-default-features -- -D warnings
pass clippy-no-features
cargo clippy --locked -p deltawire --all-targets --all-features -- -D warnings
pass clippy-all-features
cargo clippy --locked --manifest-path proof/Cargo.toml --all-targets --all-features -- -D warnings
pass clippy-proof
cargo clippy --locked --manifest-path capi/Cargo.toml --all-features -- -D warnings
pass clippy-capi
need_crates --manifest-path fuzz/Cargo.toml
cargo clippy --locked --manifest-path fuzz/Cargo.toml --no-default-features --all-targets -- -D warnings
pass clippy-fuzz
