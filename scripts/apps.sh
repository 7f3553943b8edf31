#!/usr/bin/env bash
# Runs the examples. Those without dependencies read the samples from standard input, in pieces. In `make test-full` the
# programs of examples/apps, which use tokio, reqwest, axum and ureq, run against a local server; their crate has its own lock file and
# target folder.
. "$(dirname "$0")/lib.sh"
have python3 || skip "python3 is missing"
need_crates
out=$TARGET/apps
mkdir -p "$out"
cargo build --quiet --locked "${TESTED[@]}" --example blocking --example any_protocol --example usage
# Without features there is no allocator to call.
cargo build --quiet --locked -p deltawire --no-default-features --target-dir "$out/no_std" --example no_std

# says WANTED COMMAND...: fails unless the command prints WANTED; it reads standard input in pieces of 7 bytes.
says() {
  local got
  got=$(slowly "$2" | "${@:3}") || fail "${*:3} on $2: status $?"
  [ "$got" = "$1" ] || fail "${*:3} on $2 prints: $got"
}
tide=$'The tide turns at 6:40.\n\nBring "boots".'
for program in "$TARGET/debug/examples/blocking" "$out/no_std/debug/examples/no_std"; do
  says "$tide" samples/content.sse "$program"
  if "$program" <samples/truncated.sse >/dev/null 2>"$out/said.txt"; then fail "$program reports success for a stream that was cut"; fi
  grep -q truncated "$out/said.txt" || fail "$program does not say that it was cut"
done
# An event that is longer than the array of 2 KiB is reported.
{ printf 'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' "$(printf '%3000s' x)"; cat samples/content.sse; } >"$out/long.sse"
if "$out/no_std/debug/examples/no_std" <"$out/long.sse" >"$out/shown.txt" 2>/dev/null; then fail "no_std reports success for a lost event"; fi
[ "$(cat "$out/shown.txt")" = "[…]$tide" ] || fail "no_std prints: $(cat "$out/shown.txt")"
printf 'id: 7\nevent: content_block_delta\ndata: {"delta":{"text":"Hi\\n"}}\n\nevent: ping\ndata: {"type": "ping"}\n\ndata: no\n\n' >"$out/other.sse"
says $'content_block_delta: Hi\n\nping\nmessage: no JSON: not a literal at byte 1\nlast event ID: 7' "$out/other.sse" \
  "$TARGET/debug/examples/any_protocol" delta text
# The bytes pass through unchanged, and the usage is reported, whether the stream is whole or cut.
start='data: {"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}'
printf '%s\n\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":12}}\n\ndata: {"type":"message_stop"}\n\n' \
  "$start" >"$out/usage.sse"
came='came: 0 characters of content, 0 of reasoning, 0 of the arguments of 0 calls'
for len in 1000 95; do
  head -c $len "$out/usage.sse" | "$TARGET/debug/examples/usage" >"$out/passed.sse" 2>"$out/said.txt" || fail "usage: status $?"
  head -c $len "$out/usage.sse" | cmp - "$out/passed.sse"
  case $len in
    95) said=$'end: truncated: the stream was cut: it ended inside a line; protocol: Anthropic Messages; finish reason: none; error: none\nusage: 9 and 1 tokens' ;;
    *) said=$'end: done; protocol: Anthropic Messages; finish reason: stop; error: none\nusage: 9 and 12 tokens' ;;
  esac
  [ "$(cat "$out/said.txt")" = "$said"$'\n'"$came" ] || fail "usage prints: $(cat "$out/said.txt")"
done
pass apps-examples
in_full || exit 0

need_crates --manifest-path examples/apps/Cargo.toml
began=$SECONDS
cargo build --quiet --locked --manifest-path examples/apps/Cargo.toml --target-dir "$out"
echo "NOTE examples/apps: built in $((SECONDS - began)) s"
# Anthropic sends the prompt at the beginning, and only the completion at the end.
cat >"$out/anthropic.sse" <<'SSE'
event: message_start
data: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"usage":{"input_tokens":13,"cache_read_input_tokens":4,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grüße, 世界"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":82}}

event: message_stop
data: {"type":"message_stop"}

SSE
echo '{"choices":[{"message":{"content":"Grüße, 世界"}}],"usage":{"prompt_tokens":17,"completion_tokens":82}}' >"$out/anthropic.expected.json"
cargo test --quiet --locked --manifest-path examples/apps/Cargo.toml --target-dir "$out" --tests
python3 -B examples/apps/check.py "$out/debug" \
  samples/{content,multibyte,crlf,usage,openrouter,parallel-tools,weather}.sse "$out/anthropic.sse"
python3 -B examples/apps/load.py "$out/debug/gateway" 50 20
pass
