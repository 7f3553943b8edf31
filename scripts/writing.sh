#!/usr/bin/env bash
# writing.sh: what `deltawire convert` writes, read by the official clients of OpenAI and Anthropic for Python and Node from a server on
# this machine. What they put together must be the message that `deltawire message` prints of the source. Every event must be valid by the
# published schemas, and llm-comply must find nothing in a server that answers with such streams.
. "$(dirname "$0")/lib.sh"
need_crates
need_clients
python=$wheel/bin/python
cargo build --quiet --locked "${TESTED[@]}" --bin deltawire
folders=(samples)
if [ -n "${DELTAWIRE_CORPUS:-}" ]; then
  folders+=("$DELTAWIRE_CORPUS"/{streams,protocols})
else
  echo "SKIP writing-corpus: DELTAWIRE_CORPUS is not set, ../shared/corpus is not there"
fi
mapfile -t streams < <(find "${folders[@]}" -maxdepth 1 -name '*.sse' | sort)
may_node
wheels "${COMPLY[0]/==/-}" "${COMPLY[@]}"
[ -e "$wheel/done" ] || echo "SKIP writing-schemas: ${COMPLY[0]} could not be installed from PyPI"
for to in chat anthropic responses; do
  "$python" -B scripts/writing.py "$TARGET/debug/deltawire" "$to" "${folders[@]}"
  pass "writing-$to"
  [ -e "$wheel/done" ] || continue
  events=()
  for file in "${streams[@]}"; do
    write_as "$to" "$file"
    events+=("$written")
  done
  "$wheel/bin/python" -B -W ignore scripts/schemas.py "$to" "${events[@]}"
  pass "writing-schemas-$to"
done
if [ -e "$wheel/done" ]; then
  "$python" -B scripts/comply.py "$TARGET/debug/deltawire" "$wheel/bin/llm-comply"
  pass writing-comply
fi
