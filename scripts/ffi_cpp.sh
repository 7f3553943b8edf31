#!/usr/bin/env bash
# deltawire.hpp compiles without warnings and rejects misuse. Its event logs equal those of the cases and of the Rust library. Programs
# test exceptions, ownership, growth and values. All of this also runs under sanitizers and valgrind.
. "$(dirname "$0")/lib.sh"
export LC_ALL=C
have g++ || packages g++
have g++ || skip "g++ is missing"
have python3 || skip "python3 is missing"
want_clang
have valgrind || packages valgrind
need_crates
need_capi
lib=$TARGET/capi/libdeltawire.a

src=ffi-tests/cpp
work=$TARGET/ffi-cpp
mkdir -p "$work"
flags=(-Wall -Wextra -pedantic -Werror -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -I "$TARGET/capi/include")
compilers=(g++)
if have clang++; then compilers+=(clang++); else echo "NOTE clang++ is missing, only g++ is used"; fi

# built NAME COMPILER FLAG...: builds the program of that source.
built() {
  "$2" "${flags[@]}" "${@:3}" "$src/$1.cpp" "$lib" -o "$work/$1-$2"
}

# No warnings with each compiler, with the oldest and the newest standard (in `make test-full` with each), with and without exceptions
# and RTTI, included twice.
# The first C++ program of docs/languages.md.
python3 -B scripts/fences.py docs/languages.md cpp 1 >"$work/quickstart.cpp"
printf '#include <deltawire.hpp>\n#include <deltawire.hpp>\n#include <deltawire.h>\nint main() {}\n' >"$work/alone.cpp"
for compiler in "${compilers[@]}"; do
  for standard in c++17 $(full c++20 "") c++2b; do
    "$compiler" "${flags[@]}" -std="$standard" -fsyntax-only "$work/alone.cpp"
    ! in_full || [ "$standard" = c++17 ] || "$compiler" "${flags[@]}" -std="$standard" -fsyntax-only $src/use.cpp
    "$compiler" "${flags[@]}" -std="$standard" -fsyntax-only -fno-exceptions -fno-rtti "$work/quickstart.cpp"
  done
  # Not all of these compilers treat addresses as constants.
  for extra in -fsanitize=address,undefined -fsanitize=null -fno-delete-null-pointer-checks; do
    "$compiler" "${flags[@]}" -std=c++17 $extra -fsyntax-only "$work/quickstart.cpp"
  done
  "$compiler" "${flags[@]}" -std=c++17 -fno-exceptions -fno-rtti "$work/quickstart.cpp" "$lib" -o "$work/bare-$compiler"
done
g++ "${flags[@]}" -std=c++17 -Wuseless-cast -fsyntax-only "$work/quickstart.cpp"
# Below C++17 the compiler reports one error, which says so.
for compiler in "${compilers[@]}"; do
  ! "$compiler" -std=c++14 -I "$TARGET/capi/include" -fsyntax-only "$work/alone.cpp" 2>"$work/said" || fail "$compiler accepts deltawire.hpp as C++14"
  [ "$(grep -c 'error:' "$work/said")" = 1 ] && grep -q 'error: .*needs C++17' "$work/said" ||
    fail "$compiler on deltawire.hpp as C++14: $(cat "$work/said")"
done
pass ffi-cpp-warnings

# Each case must be rejected for its own reason, in `make test-full` by each compiler; case 0 is valid.
refused=("" "cannot be called with" "returns nothing or a deltawire::flow" "none of the methods" "deleted"
  "given already" "cannot be called with" "none of the methods" "deleted" "deleted" "deleted" "no matching" "cannot be called with")
for compiler in $(full "${compilers[*]}" g++); do
  for number in "${!refused[@]}"; do
    wanted=${refused[number]}
    if "$compiler" "${flags[@]}" -std=c++17 -DCASE="$number" -fsyntax-only $src/refuse.cpp 2>"$work/said"; then
      [ -z "$wanted" ] || fail "$compiler accepts case $number of refuse.cpp"
    else
      [ -n "$wanted" ] && grep -q "$wanted" "$work/said" || fail "$compiler on case $number of refuse.cpp: $(cat "$work/said")"
    fi
  done
done
pass ffi-cpp-refuse

# The logs of the streams from the Rust library.
streams=(samples/*.sse samples/body.json samples/error-body.json)
[ -z "${DELTAWIRE_CORPUS:-}" ] || streams+=("$DELTAWIRE_CORPUS"/streams/*.sse)
[ -n "${DELTAWIRE_CORPUS:-}" ] || echo "SKIP ffi-cpp-log (corpus): DELTAWIRE_CORPUS is not set"
mkdir -p "$work/logs"
mapfile -t protocols < <(of_protocols)
event_log "$work/logs" "${streams[@]}" "${protocols[@]}"

built log g++ -std=c++17 -O1 -g
# Fewer cuts are tried below, with the sanitizers.
! in_full || "$work/log-g++" cases tests/quirks
"$work/log-g++" streams --quick "$work/logs" "${streams[@]}"
"$work/log-g++" meters "$work/logs" "${streams[@]}" "${protocols[@]}"
# Control: the comparisons must be able to fail.
cp "$work/logs/weather.sse.log" "$work/kept"
sed -i 's/get_weather/get_whether/' "$work/logs/weather.sse.log"
! "$work/log-g++" streams --quick "$work/logs" samples/weather.sse >/dev/null 2>&1 || fail "a wrong log is not detected"
mv "$work/kept" "$work/logs/weather.sse.log"
cp "$work/logs/weather.sse.meter" "$work/kept"
for line in from cut; do
  sed "/^$line/s|arguments=15/|arguments=14/|" "$work/kept" >"$work/logs/weather.sse.meter"
  ! "$work/log-g++" meters "$work/logs" samples/weather.sse >/dev/null 2>&1 || fail "a wrong meter (\`$line\`) is not detected"
done
mv "$work/kept" "$work/logs/weather.sse.meter"
pass ffi-cpp-log

built throw g++ -std=c++17 -O1 -g
"$work/throw-g++" tests/quirks
pass ffi-cpp-throw

# A locale with a decimal comma, if one can be made.
if have localedef && localedef -i de_DE -f UTF-8 "$work/de_DE.UTF-8" 2>/dev/null; then export LOCPATH=$work; fi
built use g++ -std=c++20 -O1 -g
"$work/use-g++" samples
pass ffi-cpp-use

# What the writer writes, by the translator and event by event: the bytes of the Rust writer. (Of arguments by path an event has
# only the text of the member, which the writer does not take.)
built write g++ -std=c++17 -O1 -g
"$work/write-g++"
cargo build --quiet --locked "${TESTED[@]}" --bin deltawire
for stream in "${streams[@]}" "${protocols[@]}"; do
  for to in chat anthropic responses; do
    write_as $to "$stream"
    "$work/write-g++" translate $to "$stream" | cmp - "$written" || fail "$stream is translated to another stream of $to"
    ! grep -q partialArgs "$stream" || continue
    "$work/write-g++" $to "$stream" | cmp - "$written" || fail "$stream is written as another stream of $to"
  done
done
pass ffi-cpp-write

for compiler in "${compilers[@]}"; do
  said=$("$work/bare-$compiler" <samples/content.sse 2>/dev/null)
  [ "$said" = $'The tide turns at 6:40.\n\nBring "boots".' ] || fail "quickstart by $compiler says: $said"
done
# The example at the start of the header.
sed -n '/^\/\/     /{s|^//     ||;p;/^}/q}' include/deltawire.hpp >"$work/example.cpp"
g++ "${flags[@]}" -std=c++17 "$work/example.cpp" "$lib" -o "$work/example"
[ "$("$work/example")" = "Hello (done)" ] || fail "the example of deltawire.hpp says: $("$work/example")"
pass ffi-cpp-quickstart

sanitizer=${compilers[-1]}
sanitized=(-std=c++17 -O0 -g -fsanitize=address,undefined -fno-sanitize-recover=all -DDELTAWIRE_NO_FROM_CHARS)
for name in log throw use write; do
  built $name "$sanitizer" "${sanitized[@]}"
  nm "$work/$name-$sanitizer" | grep __asan_init >/dev/null || fail "$name has no sanitizer in it"
done
"$work/log-$sanitizer" cases tests/quirks --quick
"$work/log-$sanitizer" streams --quick "$work/logs" samples/*.sse
"$work/log-$sanitizer" meters "$work/logs" samples/*.sse
"$work/throw-$sanitizer" tests/quirks --quick
"$work/use-$sanitizer" samples
"$work/write-$sanitizer"
for to in chat anthropic responses; do
  "$work/write-$sanitizer" $to samples/weather.sse | cmp - <("$work/write-g++" $to samples/weather.sse)
done
# g++ and clang++ define different constants for them.
if [ "$sanitizer" != g++ ] && in_full; then
  g++ "${flags[@]}" "${sanitized[@]}" $src/use.cpp "$lib" -o "$work/use-sanitized-g++"
  nm "$work/use-sanitized-g++" | grep __asan_init >/dev/null || fail "use by g++ has no sanitizer in it"
  "$work/use-sanitized-g++" samples
fi
pass ffi-cpp-asan

if have valgrind; then
  check=(valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=all)
  for stream in samples/weather.sse samples/multibyte.sse samples/error-midstream.sse; do
    "${check[@]}" "$work/log-g++" streams --quick "$work/logs" "$stream"
  done
  mkdir -p "$work/few"
  cp tests/quirks/{C1,C2,C20,C27,F1,F11,F12,F19}.case "$work/few"
  "${check[@]}" "$work/log-g++" cases "$work/few" --quick
  ! in_full || "${check[@]}" "$work/throw-g++" tests/quirks --quick
  "${check[@]}" "$work/use-g++" samples
else
  echo "SKIP ffi-cpp-valgrind: valgrind is missing"
  exit 0
fi
pass ffi-cpp-valgrind
