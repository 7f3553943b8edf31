#!/usr/bin/env bash
# replay.sh: what `deltawire replay --serve` serves, read by curl and by the official clients of OpenAI and Anthropic for Python and
# Node: whole streams, and the faults that it makes on purpose.
. "$(dirname "$0")/lib.sh"
have curl || packages curl
have curl || skip "curl is missing"
need_crates
need_clients
may_node
cargo build --quiet --locked "${TESTED[@]}" --bin deltawire
"$wheel/bin/python" -B scripts/replay.py "$TARGET/debug/deltawire" samples cli/tests/faults
pass
