#!/usr/bin/env bash
# replay.sh: what `deltawire replay --serve` serves, read by curl and by the official Python clients of OpenAI and Anthropic: whole
# streams, and the faults that it makes on purpose.
. "$(dirname "$0")/lib.sh"
have python3 || skip "python3 is missing"
have curl || packages curl
have curl || skip "curl is missing"
need_crates
wheels "writing-$(printf '%s\n' "${SDKS_PYTHON[@]}" | cksum | cut -d ' ' -f 1)" "${SDKS_PYTHON[@]:0:2}"
[ -e "$wheel/done" ] || skip "the clients of OpenAI and Anthropic could not be installed from PyPI"
cargo build --quiet --locked "${TESTED[@]}" --bin deltawire
"$wheel/bin/python" -B scripts/replay.py "$TARGET/debug/deltawire" samples cli/tests/faults
pass
