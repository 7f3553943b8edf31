#!/usr/bin/env bash
# translators.sh: the table of docs/writing.md. Recorded streams of chat completions are translated to Anthropic by deltawire, LiteLLM and
# llm-rosetta; Anthropic's own Python client reads the results. No part of `make test`.
. "$(dirname "$0")/lib.sh"
need_crates
have python3 || skip "python3 is missing"
wheels "translators-$(printf '%s\n' "${TRANSLATORS[@]}" "${SDKS_PYTHON[1]}" | cksum | cut -d ' ' -f 1)" "${TRANSLATORS[@]}" "${SDKS_PYTHON[1]}"
[ -e "$wheel/done" ] || skip "${TRANSLATORS[*]} could not be installed from PyPI"
cargo build --quiet --locked "${TESTED[@]}" --bin deltawire
LITELLM_LOCAL_MODEL_COST_MAP=True "$wheel/bin/python" -B -W ignore scripts/translators.py "$TARGET/debug/deltawire" anthropic \
  samples "${DELTAWIRE_CORPUS:-samples}"/streams
