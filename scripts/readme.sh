#!/usr/bin/env bash
# readme.sh [FILE]: compiles and runs the C, C++ and Go programs in docs/languages.md. Each must print the content of a sample that it
# gets on standard input. The second of each language, the third in C and C++ and the fourth in C must also print its tool calls; the
# fourth in C++ passes the sample on and prints its usage. (The Rust programs are documentation tests.) Also checks the sizes in
# docs/memory.md and docs/benchmarks.md.
. "$(dirname "$0")/lib.sh"
readme=${1:-docs/languages.md}
have python3 || skip "python3 is missing"
out=$TARGET/readme
mkdir -p "$out"
# programs LANGUAGE NAME...: writes the blocks of a language to files of these names; there must be no other block.
programs() {
  local language=$1 nth=0 name
  for name in "${@:2}"; do
    nth=$((nth + 1))
    python3 -B scripts/fences.py "$readme" "$language" "$nth" >"$out/$name.$language" || fail "$readme has no program $name"
  done
  if python3 -B scripts/fences.py "$readme" "$language" $((nth + 1)) >/dev/null 2>&1; then
    fail "$readme has another block of $language, which no test runs"
  fi
}
programs c quick tools batch calls
programs cpp quick tools batch meter
programs go quick tools

have gcc || skip "gcc is missing"
need_crates
need_capi
expected() { python3 -c 'import json, sys; sys.stdout.write(json.load(open(sys.argv[1]))["choices"][0]["message"]["content"])' "$1"; }

# try NAME COMMAND...: runs the command on several samples. Other output, a verdict or a line end, may follow the
# content.
try() {
  local name=$1 sample
  for sample in content.sse multibyte.sse openrouter.sse crlf.sse body.json; do
    expected "samples/${sample%.*}.expected.json" >"$out/expected.txt"
    "${@:2}" <"samples/$sample" >"$out/$name.txt" 2>"$out/$name.err" || fail "$name on $sample: status $?: $(cat "$out/$name.err")"
    python3 - "$out/$name.txt" "$out/expected.txt" <<'PY' || fail "$name on $sample does not print the content"
import sys

got, expected = (open(path, "rb").read() for path in sys.argv[1:])
sys.exit(not (got.startswith(expected) and len(got) <= len(expected) + 40))
PY
  done
  # A last event without its blank line comes at the end. Output and error go to one file, and the content must come first.
  printf 'data: {"choices":[{"delta":{"content":"whole"},"finish_reason":"stop"}]}' | "${@:2}" >"$out/$name.txt" 2>&1 ||
    fail "$name on an event without a blank line: $(cat "$out/$name.txt")"
  [ "$(head -c 5 "$out/$name.txt")" = whole ] || fail "$name prints how it ended before the content: $(cat "$out/$name.txt")"
  # Standard error must have the message of an error, and choices without room.
  if "${@:2}" <samples/error-midstream.sse >"$out/$name.txt" 2>&1; then fail "$name reports success for an error of the API"; fi
  grep -q "went away" "$out/$name.txt" || fail "$name does not print the message of an error: $(cat "$out/$name.txt")"
  expected samples/error-midstream.expected.json >"$out/expected.txt"
  cmp -n "$(stat -c %s "$out/expected.txt")" "$out/expected.txt" "$out/$name.txt" || fail "$name prints the error before the content: $(cat "$out/$name.txt")"
  if "${@:2}" <"$out/choices.sse" >"$out/$name.txt" 2>"$out/$name.err"; then fail "$name reports success for a lost ninth choice"; fi
  [ "$(head -c 1 "$out/$name.txt")" = a ] && grep -Eq "incomplete|lost" "$out/$name.err" ||
    fail "$name on nine choices: $(cat "$out/$name.txt" "$out/$name.err")"
  pass "readme-$name"
}
# tools NAME COMMAND...: tests the second program, with input in pieces of 7 bytes. It must print the content, then a line for each
# tool call, but no call of a response that is cut.
tools() {
  local name=$1 sample
  for sample in content weather parallel-tools multibyte; do
    python3 - "samples/$sample.expected.json" >"$out/expected.txt" <<'PY'
import json, sys

message = json.load(open(sys.argv[1]))["choices"][0]["message"]
sys.stdout.write(message.get("content") or "")
for call in message.get("tool_calls") or []:
    sys.stdout.write("\n%s %s" % (call["function"]["name"], call["function"]["arguments"] or "{}"))
PY
    "${@:2}" < <(slowly "samples/$sample.sse") >"$out/$name.txt" || fail "$name on $sample: status $?"
    cmp "$out/$name.txt" "$out/expected.txt" || fail "$name on $sample printed something else"
  done
  # A call of a custom tool has an input instead of arguments.
  printf 'data: {"choices":[{"delta":{"tool_calls":[{"id":"a","type":"custom","custom":{"name":"run","input":"ls"}}]}}]}\n\ndata: [DONE]\n\n' |
    "${@:2}" >"$out/$name.txt" || fail "$name on a custom tool: status $?"
  [ "$(tail -n 1 "$out/$name.txt")" = "run ls" ] || fail "$name prints a custom tool as $(cat "$out/$name.txt")"
  # Longer than the assembler's first block: nothing may be printed twice.
  python3 - >"$out/long.sse" <<'PY'
import json

for n in range(400):
    print("data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": f"word {n} \u20ac\n"}}]}) + "\n")
print('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n')
PY
  python3 -c 'for n in range(400): print(f"word {n} \u20ac")' >"$out/expected.txt"
  "${@:2}" <"$out/long.sse" | cmp - "$out/expected.txt" || fail "$name on a long answer printed something else"
  head -c 600 samples/weather.sse >"$out/cut.sse"
  if "${@:2}" <"$out/cut.sse" >"$out/$name.txt" 2>"$out/$name.err"; then fail "$name reports success for a stream that was cut"; fi
  grep -Eq "Truncated|was cut" "$out/$name.err" || fail "$name does not print that the stream was cut: $(cat "$out/$name.err")"
  ! grep -q get_weather "$out/$name.txt" || fail "$name prints a call of a stream that was cut"
  # A failure and a loss must be reported.
  for sample in error-midstream.sse:"went away" error-body.json:"try again"; do
    if "${@:2}" <"samples/${sample%:*}" >"$out/$name.txt" 2>"$out/$name.err"; then fail "$name reports success for an error of the API"; fi
    grep -Fq "${sample#*:}" "$out/$name.err" || fail "$name does not print the message of an error: $(cat "$out/$name.err")"
  done
  if "${@:2}" <"$out/choices.sse" >"$out/$name.txt" 2>"$out/$name.err"; then fail "$name reports success for a lost ninth choice"; fi
  grep -Eq "1 left out" "$out/$name.err" || fail "$name on nine choices: $(cat "$out/$name.err")"
  pass "readme-$name"
}
for index in 0 1 2 3 4 5 6 7 8; do
  printf 'data: {"choices":[{"index":%d,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n' "$index"
done >"$out/choices.sse"
printf 'data: [DONE]\n\n' >>"$out/choices.sse"

# compile LANGUAGE NAME COMPILER...
compile() {
  "${@:3}" -Wall -Wextra -Wpedantic -Werror -I"$TARGET/capi/include" "$out/$2.$1" "$TARGET/capi/libdeltawire.a" -o "$out/$2-$1"
}
for name in quick tools batch calls; do compile c "$name" gcc -std=c99; done
try c "$out/quick-c"
tools tools-c "$out/tools-c"
tools batch-c "$out/batch-c"
tools calls-c "$out/calls-c"
# Arguments by path: an assembler joins them. The program without one must not print the call, which has no arguments there.
printf 'data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","partialArgs":[{"jsonPath":"$.a","numberValue":1}]}}]},"finishReason":"STOP"}]}\n\n' >"$out/path.sse"
[ "$("$out/tools-c" <"$out/path.sse" | tail -n 1)" = 'f {"a":1}' ] || fail "tools-c does not join arguments by path"
if "$out/calls-c" <"$out/path.sse" >"$out/calls-c.txt" 2>/dev/null; then fail "calls-c prints a call without its arguments: $(cat "$out/calls-c.txt")"; fi

# meter COMMAND FILE LINE: passes the file on in pieces, and prints LINE on standard error.
meter() {
  "$1" < <(slowly "$2") >"$out/meter.txt" 2>"$out/meter.err" || fail "the meter fails on $2: status $?"
  cmp "$out/meter.txt" "$2" || fail "the meter changes $2"
  [ "$(cat "$out/meter.err")" = "$3" ] || fail "the meter on $2: $(cat "$out/meter.err")"
}
if have g++; then
  for name in quick tools batch meter; do compile cpp "$name" g++ -std=c++17; done
  try cpp "$out/quick-cpp"
  tools tools-cpp "$out/tools-cpp"
  tools batch-cpp "$out/batch-cpp"
  meter "$out/meter-cpp" samples/usage.sse "Done; stop; prompt 9; completion 4; characters 21"
  meter "$out/meter-cpp" samples/truncated.sse "Truncated, incomplete; no finish reason; characters 17"
  printf 'data: {"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}\n\n' >"$out/anthropic.sse"
  meter "$out/meter-cpp" "$out/anthropic.sse" "Truncated, incomplete; no finish reason; prompt 9; completion 1; characters 0"
  pass readme-meter-cpp
else
  echo "SKIP readme-cpp: g++ is missing"
fi

if find_go; then
  mkdir -p "$out/go"
  cp "$out/quick.go" "$out/go/main.go"
  go_module "$out/go" quick "$out/quick-go"
  try go "$out/quick-go"
  cp "$out/tools.go" "$out/go/main.go"
  go_module "$out/go" tools "$out/tools-go"
  tools tools-go "$out/tools-go"
else
  echo "SKIP readme-go: go 1.24 is missing (scripts/ffi_go.sh installs one)"
fi

# The sizes stated in docs/memory.md.
cat >"$out/sizes.c" <<'C'
#include "deltawire.h"
#include <stdio.h>
int main(void) {
    deltawire_config choices = DELTAWIRE_CONFIG_INIT, calls = DELTAWIRE_CONFIG_INIT;
    const size_t parser = deltawire_block_size(NULL, 0), message = deltawire_message_size(NULL, 0);
    choices.max_choices = DELTAWIRE_DEFAULT_CHOICES + 10;
    calls.max_tool_calls = DELTAWIRE_DEFAULT_TOOL_CALLS + 10;
    deltawire_config shared = DELTAWIRE_CONFIG_INIT, one;
    deltawire_config usage = DELTAWIRE_CONFIG_INIT;
    shared.flags = DELTAWIRE_CFG_SHARED;
    usage.mode = DELTAWIRE_MODE_USAGE;
    one = shared, one.max_choices = one.max_tool_calls = 1;
    printf("%zu %zu %zu %zu %zu %zu", parser, message, (deltawire_block_size(&choices, 0) - parser) / 10,
           (deltawire_message_size(&choices, 0) - message) / 10, (deltawire_block_size(&calls, 0) - parser) / 10,
           (deltawire_message_size(&calls, 0) - message) / 10);
    printf(" %zu %zu %zu %zu\n", deltawire_block_size(&shared, 0), deltawire_block_size(&one, 0),
           deltawire_block_size(&usage, 0) - parser, deltawire_workspace_size());
    return 0;
}
C
gcc -std=c99 -I"$TARGET/capi/include" "$out/sizes.c" "$TARGET/capi/libdeltawire.a" -o "$out/sizes"
stated=$(sed -n '/^| in C, on /,/^$/s/^.* | \([0-9,]*\) |$/\1/p' docs/memory.md | tr -d , | paste -sd ' ')
[ "$stated" = "$("$out/sizes")" ] || fail "docs/memory.md says that the sizes in C are $stated; they are $("$out/sizes")"
# The sizes of the library's files change with every change of the library, so allow 3 %.
for file in libdeltawire.a libdeltawire.so; do
  stated=$(sed -n "s/^| \`$file\`.* | \([0-9,]*\) bytes |$/\1/p" docs/benchmarks.md | tr -d ,)
  real=$(stat -L -c %s "$TARGET/capi/$file")
  [ -n "$stated" ] && [ $((real * 100)) -lt $((stated * 103)) ] && [ $((real * 103)) -gt $((stated * 100)) ] ||
    fail "docs/benchmarks.md says that $file has $stated bytes; it has $real"
done
pass readme-sizes
