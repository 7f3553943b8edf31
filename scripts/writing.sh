#!/usr/bin/env bash
# writing.sh: what `deltawire convert` writes, read by the official Python clients of OpenAI and Anthropic from a server on this
# machine. Their helpers must accumulate the message that `deltawire message` prints of the source.
. "$(dirname "$0")/lib.sh"
have python3 || skip "python3 is missing"
need_crates
name=writing-$(printf '%s\n' "${SDKS_PYTHON[@]}" | cksum | cut -d ' ' -f 1)
clients=$TARGET/tools/$name
if [ ! -e "$clients/done" ] && [ "${INSTALL:-1}" != 0 ]; then
  python3 -m venv "$clients" >/dev/null 2>&1 &&
    timeout 300 "$clients/bin/pip" install --quiet --disable-pip-version-check "${SDKS_PYTHON[@]:0:2}" >/dev/null 2>&1 &&
    touch "$clients/done" || true
fi
[ -e "$clients/done" ] || skip "the clients of OpenAI and Anthropic could not be installed from PyPI"
cargo build --quiet --locked "${TESTED[@]}" --bin deltawire
folders=(samples)
if [ -n "${DELTAWIRE_CORPUS:-}" ]; then
  folders+=("$DELTAWIRE_CORPUS"/{streams,protocols})
else
  echo "SKIP writing-corpus: DELTAWIRE_CORPUS is not set, ../shared/corpus is not there"
fi
for to in chat anthropic responses; do
  "$clients/bin/python" -B scripts/writing.py "$TARGET/debug/deltawire" "$to" "${folders[@]}"
  pass "writing-$to"
done
