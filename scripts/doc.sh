#!/usr/bin/env bash
# Every public item is documented and every link leads somewhere.
. "$(dirname "$0")/lib.sh"
need_crates
RUSTDOCFLAGS="-D warnings" cargo doc --locked -p deltawire --no-deps --all-features
pass
