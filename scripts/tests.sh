#!/usr/bin/env bash
# Unit, property, corpus, command and documentation tests. --show-output: what a test skips is to be seen and counted.
. "$(dirname "$0")/lib.sh"
need_crates
cargo test --locked --workspace --all-features -- --show-output
pass tests
cargo test --locked -p deltawire --no-default-features -- --show-output
pass tests-no-features
