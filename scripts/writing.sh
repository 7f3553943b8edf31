#!/usr/bin/env bash
# writing.sh: what `deltawire convert` writes, read by the official Python clients of OpenAI and Anthropic from a server on this
# machine. What they put together must be the message that `deltawire message` prints of the source.
. "$(dirname "$0")/lib.sh"
need_crates
need_clients
cargo build --quiet --locked "${TESTED[@]}" --bin deltawire
folders=(samples)
if [ -n "${DELTAWIRE_CORPUS:-}" ]; then
  folders+=("$DELTAWIRE_CORPUS"/{streams,protocols})
else
  echo "SKIP writing-corpus: DELTAWIRE_CORPUS is not set, ../shared/corpus is not there"
fi
for to in chat anthropic responses; do
  "$wheel/bin/python" -B scripts/writing.py "$TARGET/debug/deltawire" "$to" "${folders[@]}"
  pass "writing-$to"
done
