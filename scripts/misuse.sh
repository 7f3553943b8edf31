#!/usr/bin/env bash
# Misuses the C library: calls every function of the header with wrong arguments, in wrong orders, from callbacks, with structs of
# other versions, and on random walks of an assembler. Each call must return a status that the function's documentation names, and
# change nothing.
. "$(dirname "$0")/lib.sh"
have python3 || skip "python3 is missing"
have gcc || skip "gcc is missing"
want_clang
need_capi
out=$TARGET/misuse
tests=ffi-tests/misuse
mkdir -p "$out"
python3 $tests/generate.py include/deltawire.h "$out/misuse.c"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' capi/Cargo.toml)

# build NAME SUFFIX COMPILER...: builds one program with the library and the shared parts.
build() {
  local sources=("$tests/common.c")
  case $1 in
    misuse) sources+=("$out/misuse.c") ;;
    version) sources=(ffi-tests/header/version.c) ;;
    *) sources+=("$tests/$1.c") ;;
  esac
  "${@:3}" -std=c99 -g -Wall -Wextra -pedantic -Werror -Wno-overlength-strings -Iinclude -I$tests "${sources[@]}" \
    "$TARGET/capi/libdeltawire.a" -o "$out/$1-$2"
}
# run SUFFIX COMPILER...
run() {
  local program pids=()
  for program in version versions order sizes meters messages misuse; do
    build "$program" "$@" &
    pids+=($!)
  done
  for program in "${pids[@]}"; do wait "$program" || fail "the program does not compile: ${*:2}"; done
  # On a crash the program itself reports the case.
  export ASAN_OPTIONS=handle_segv=0:detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
  "$out/version-$1" "$version" || fail "the versions differ"
  for program in versions order sizes meters messages misuse; do "$out/$program-$1" || fail "$program-$1 found faults"; done
}
run gcc gcc -O1
# Control: a library with three errors must be detected.
build misuse faulty gcc -O0 $tests/faulty.c -Wl,--wrap=deltawire_value_u64,--wrap=deltawire_quirk_count \
  -Wl,--wrap=deltawire_reset
! said=$("$out/misuse-faulty") || fail "the library with faults passed"
for name in value_u64 quirk_count reset; do
  grep -q "^deltawire_$name: " <<<"$said" || fail "the fault in deltawire_$name was not detected"
done
pass misuse-gcc

if ! have clang; then
  echo "SKIP misuse-sanitizers: clang is missing"
  exit
fi
# Not optimized: the generated program is large, and its own code is not under test.
run sanitizers clang -O0 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
for program in versions order sizes meters messages misuse; do
  nm "$out/$program-sanitizers" | grep __asan_init >/dev/null || fail "$program was built without the sanitizer"
done
pass misuse-sanitizers
