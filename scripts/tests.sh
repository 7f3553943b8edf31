#!/usr/bin/env bash
# Unit, property, corpus, command and documentation tests, and the fuzz targets on their seeds. --show-output: what a test skips is to be seen and counted.
. "$(dirname "$0")/lib.sh"
need_crates
cargo test --locked --workspace --all-features -- --show-output
pass tests
cargo test --locked -p deltawire --no-default-features -- --show-output
pass tests-no-features
need_crates --manifest-path fuzz/Cargo.toml
cargo test --locked --manifest-path fuzz/Cargo.toml --no-default-features -- --show-output
pass tests-fuzz
