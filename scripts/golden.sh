#!/usr/bin/env bash
# `deltawire message` against recorded streams, cut into reads of several sizes.
. "$(dirname "$0")/lib.sh"
[ -n "${DELTAWIRE_CORPUS:-}" ] || skip "no corpus (DELTAWIRE_CORPUS is not set, ../shared/corpus is not there)"
have python3 || skip "python3 is missing"
need_crates
cargo build --locked --release -p deltawire-cli
python3 -B "$DELTAWIRE_CORPUS/compare_messages.py" "$TARGET/release/deltawire" "$DELTAWIRE_CORPUS/streams" 1 1448 65536
pass
