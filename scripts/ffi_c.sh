#!/usr/bin/env bash
# Programs in C99 that know only the header read cases, streams, messages and values; with AddressSanitizer (also in the library) and
# with valgrind. Prints the number of runs.
. "$(dirname "$0")/lib.sh"
for tool in gcc python3; do have "$tool" || skip "$tool is missing"; done
need_crates --manifest-path capi/Cargo.toml
need_crates
need_capi
lib=$TARGET/capi
src=ffi-tests/c
out=$TARGET/ffi-c
rm -rf "$out"
mkdir -p "$out/logs"

python3 -B "$src/coverage.py" hits "$lib/include/deltawire.h" >"$out/hits.h"
common=(counted text log meter drive cases)
programs=(check message values shared write)

# build FOLDER COMPILER LIBRARY FLAG...
build() {
  local folder=$1 compiler=$2 library=$3 objects=() name
  shift 3
  mkdir -p "$folder"
  local compile=("$compiler" -std=c99 -Wall -Wextra -pedantic -Werror -g -I "$lib/include" -I "$out" "$@")
  for name in "${common[@]}"; do
    "${compile[@]}" -c "$src/$name.c" -o "$folder/$name.o"
    objects+=("$folder/$name.o")
  done
  for name in "${programs[@]}"; do
    "${compile[@]}" "$src/main_$name.c" "${objects[@]}" "$library" -o "$folder/$name"
  done
}

# The streams, and their logs and messages from the Rust library.
samples=(samples/*.sse samples/body.json samples/error-body.json)
streams=() protocols=()
if [ -n "${DELTAWIRE_CORPUS:-}" ]; then
  streams=("$DELTAWIRE_CORPUS"/streams/*.sse)
  mapfile -t protocols < <(of_protocols)
fi
python3 -B "$src/make_streams.py" "$out/made" samples/*.sse
made=("$out"/made/*.sse)
event_log "$out/logs" "${samples[@]}" "${made[@]}" "${streams[@]}" "${protocols[@]}"
corpus_or_skip() {
  [ "${#streams[@]}" -gt 0 ] || echo "SKIP $1 (corpus): DELTAWIRE_CORPUS is not set, ../shared/corpus is not there"
}

build "$out/gcc" gcc "$lib/libdeltawire.a" -O2
export DELTAWIRE_HITS=$out/hits.txt

"$out/gcc/check" cases --part "$(full 1 13)" tests/quirks
"$out/gcc/check" cases $src
pass ffi-c-cases

"$out/gcc/check" streams "$out/logs" --part "$(full 1 23)" "${samples[@]}" "${made[@]}" "${streams[@]}"
corpus_or_skip ffi-c-streams
pass ffi-c-streams

# The meter at every cut.
"$out/gcc/check" meters "$out/logs" --part "$(full 1 19)" "${samples[@]}" "${made[@]}" "${streams[@]}" "${protocols[@]}"
# Control: another meter in the middle of a stream, and at the end of one that is cut, must be detected.
mkdir "$out/control"
for line in from cut; do
  sed "/^$line/s|arguments=15/|arguments=14/|" "$out/logs/weather.sse.meter" >"$out/control/weather.sse.meter"
  ! "$out/gcc/check" meters "$out/control" samples/weather.sse >/dev/null || fail "a wrong meter (\`$line\`) is not detected"
done
corpus_or_skip ffi-c-meters
pass ffi-c-meters

"$out/gcc/shared" --part "$(full 1 3)" "${samples[@]}" "${made[@]}" "${streams[@]}" "${protocols[@]}"
corpus_or_skip ffi-c-shared
pass ffi-c-shared

python3 -B "$src/messages.py" "$out/gcc/message" "$out/logs" "${samples[@]}" "${made[@]}" "${streams[@]}" "${protocols[@]}"
corpus_or_skip ffi-c-message
pass ffi-c-message

"$out/gcc/values"
pass ffi-c-values

"$out/gcc/write"
# Into a buffer that is always too small, and a block that always is: the bytes must be those of the Rust writer, by the translator
# and event by event. (Of arguments by path an event has only the text of the member, which the writer does not take.)
cargo build --quiet --locked "${TESTED[@]}" --bin deltawire
times=0
for stream in "${samples[@]}" "${streams[@]}" "${protocols[@]}"; do
  for to in chat anthropic responses; do
    write_as $to "$stream"
    "$out/gcc/write" $to --translate 1 "$stream" | cmp - "$written" || fail "$stream is translated to another stream of $to"
    ! grep -q partialArgs "$stream" || continue
    "$out/gcc/write" $to --room 1 "$stream" | cmp - "$written" || fail "$stream is written as another stream of $to"
    times=$((times + 1))
  done
done
echo "NOTE ffi-c-write: $times streams written"
# The examples of docs/writing.md.
{
  python3 -B scripts/fences.py docs/writing.md c
  cat <<'C'
#include <stdio.h>
static int print(void *to, const char *bytes, size_t len) { return fwrite(bytes, 1, len, to) != len; }
int main(int argc, char **argv) {
    static union { uint64_t align; unsigned char bytes[DELTAWIRE_BLOCK_SIZE(4096)]; } in;
    static union { uint64_t align; unsigned char bytes[DELTAWIRE_WRITER_SIZE(4096)]; } out;
    deltawire_writer_config config = DELTAWIRE_WRITER_CONFIG_INIT;
    deltawire_writer *w;
    deltawire_parser *p;
    if (argc < 2) return answer("Hello", print, stdout);
    config.protocol = DELTAWIRE_PROTOCOL_ANTHROPIC;
    if (deltawire_writer_init(&out, sizeof out, &config, &w) != DELTAWIRE_OK) return 2;
    if (deltawire_init(&in, sizeof in, NULL, &p) != DELTAWIRE_OK) return 3;
    return translate(w, p, argv[1], strlen(argv[1]), print, stdout) || translate(w, p, NULL, 0, print, stdout);
}
C
} >"$out/writing.c"
gcc -std=c99 -Wall -Wextra -pedantic -Werror -I "$lib/include" "$out/writing.c" "$lib/libdeltawire.a" -o "$out/writing"
chunk=$'data: {"choices":[{"delta":{"content":"Hello"},"finish_reason":"stop"}]}\n\n'
for arguments in "" "$chunk"; do
  "$out/writing" ${arguments:+"$arguments"} >"$out/writing.txt" || fail "an example of docs/writing.md"
  grep -q '"text":"Hello"' "$out/writing.txt" && [ "$(tail -n 2 "$out/writing.txt" | head -n 1)" = 'data: {"type":"message_stop"}' ] ||
    fail "an example of docs/writing.md writes: $(cat "$out/writing.txt")"
done
corpus_or_skip ffi-c-write
pass ffi-c-write

# The example at the start of the header.
sed -n '/#include <deltawire/,/^ \* The sections/s|^ \*     ||p' include/deltawire.h >"$out/example.c"
gcc -std=c99 -Wall -Wextra -pedantic -Werror -I "$lib/include" "$out/example.c" "$lib/libdeltawire.a" -o "$out/example"
[ "$("$out/example" <samples/content.sse | tail -n 1)" = 'Bring "boots". (done)' ] ||
  fail "the example of deltawire.h says: $("$out/example" <samples/content.sse)"
pass ffi-c-example

python3 -B "$src/coverage.py" check "$lib/include/deltawire.h" "$DELTAWIRE_HITS"
pass ffi-c-coverage
unset DELTAWIRE_HITS

# With an instrumented library that has assertions and overflow checks: a panic, which the link proof shows to be unreachable, would
# abort the program here.
STEP=ffi-c-asan
want_clang
clang_sanitizes || skip "clang and its sanitizers are missing"
host=$(rustc -vV | sed -n 's/^host: //p')
RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address CARGO_PROFILE_RELEASE_LTO=off CARGO_TARGET_DIR=$TARGET/capi/asan \
  CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true \
  cargo build --quiet --locked --release --target "$host" --manifest-path capi/Cargo.toml
instrumented=$TARGET/capi/asan/$host/release/libdeltawire_capi.a
build "$out/asan" clang "$instrumented" -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -DASSERTING
# has FILE SYMBOL
has() { nm "$1" 2>/dev/null | grep -F "$2" >/dev/null; }
for name in "${programs[@]}"; do
  has "$out/asan/$name" __asan_init || fail "$name has no AddressSanitizer in it"
  has "$out/asan/$name" __ubsan_handle || fail "$name has no UndefinedBehaviorSanitizer in it"
done
has "$instrumented" __asan_report_load || fail "the library is not instrumented"
"$out/asan/check" cases --part "$(full 23 101)" tests/quirks
"$out/asan/check" cases --part 7 $src
"$out/asan/check" streams "$out/logs" --part "$(full 23 101)" "${samples[@]}" "${made[@]}" "${streams[@]}"
"$out/asan/check" meters "$out/logs" --part "$(full 5 23)" "${samples[@]}" "${made[@]}"
"$out/asan/shared" --part 5 "${samples[@]}" "${made[@]}" "${streams[@]}" "${protocols[@]}"
"$out/asan/values"
"$out/asan/write"
for to in chat anthropic responses; do
  for sample in samples/{choices,weather,openrouter}.sse; do
    "$out/asan/write" $to --room 1 "$sample" | cmp - <("$out/gcc/write" $to "$sample")
  done
done
for sample in samples/{choices,weather,openrouter}.sse; do
  for way in "" --batch; do
    "$out/asan/message" ${way:+"$way"} --read 7 "$sample" >"$out/message.json"
    cmp "$out/message.json" <("$out/gcc/message" "$sample")
  done
done
pass

STEP=ffi-c-valgrind
have valgrind || packages valgrind
have valgrind || skip "valgrind is missing"
grind() { valgrind -q --error-exitcode=9 --leak-check=full --show-leak-kinds=all "$@"; }
grind "$out/gcc/check" cases --malloc --part 997 tests/quirks
grind "$out/gcc/check" streams "$out/logs" --malloc --part 41 "${samples[@]}"
grind "$out/gcc/shared" --part 5 "${samples[@]}"
grind "$out/gcc/write"
! in_full || grind "$out/gcc/values"
grind "$out/gcc/check" cases --malloc --part 13 $src
for way in "" --batch; do
  grind "$out/gcc/message" ${way:+"$way"} --read 64 samples/weather.sse >"$out/message.json"
  cmp "$out/message.json" <("$out/gcc/message" samples/weather.sse)
done
pass
