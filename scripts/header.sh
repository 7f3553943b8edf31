#!/usr/bin/env bash
# Checks that the headers compile with every documented compiler and standard, with all warnings; that deltawire.h is up to date with
# capi/ and its table of sections; and that the layout of public structs has not changed, on machines of 32 and 64 bits.
#   header.sh          checks
#   header.sh --write  makes include/deltawire.h
. "$(dirname "$0")/lib.sh"

# made FILE: writes the expected header to FILE, because cbindgen's --verify would overwrite the header itself.
made() {
  need_tool cbindgen "$CBINDGEN_VERSION"
  cbindgen --quiet --config capi/cbindgen.toml --crate deltawire-capi --output "$1.cbindgen" capi || fail "cbindgen failed"
  python3 -B scripts/header.py "$1.cbindgen" >"$1"
}
if [ "${1:-}" = --write ]; then
  mkdir -p "$TARGET/capi"
  made "$TARGET/capi/made.h"
  cp "$TARGET/capi/made.h" include/deltawire.h
  exit
fi
have python3 || skip "python3 is missing"
{ have gcc && have g++; } || skip "gcc and g++ are missing"
want_clang
ccs=(gcc) cxxs=(g++)
if have clang; then ccs+=(clang) cxxs+=(clang++); else echo "SKIP header-clang: clang is missing"; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ---- alone, twice, before and after everything, and in use
headers=(assert ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdarg stdbool stddef stdint
  stdio stdlib string time wchar wctype)
c99=("${headers[@]}" complex tgmath)
c11=("${c99[@]}" stdalign stdatomic stdnoreturn threads uchar)
cxx=("${headers[@]}" uchar)
warn=(-Wall -Wextra -pedantic -Werror -Wconversion -Wsign-conversion -Wshadow -Wundef -Wcast-qual -Wcast-align)

includes() { printf '#include <%s.h>\n' "$@"; }
# sources HEADER DIRECTORY SUFFIX STANDARD-HEADER...: writes one file for each way of including the header.
sources() {
  local header=$1 dir=$2 suffix=$3
  shift 3
  mkdir -p "$dir"
  echo "#include \"$header\"" >"$dir/alone.$suffix"
  { cat "$dir/alone.$suffix" "$dir/alone.$suffix"; } >"$dir/twice.$suffix"
  { cat "$dir/alone.$suffix" && includes "$@"; } >"$dir/before.$suffix"
  { includes "$@" && cat "$dir/alone.$suffix" && echo '#include "use.inc"'; } >"$dir/after.$suffix"
}
sources deltawire.h "$work/c99" c "${c99[@]}"
sources deltawire.h "$work/c11" c "${c11[@]}"
ln -s c11 "$work/c17"
# With the oldest and the newest standard, in `make test-full` with each.
c=(c99 $(full c11 "") c17) cpp=(c++11 $(full c++17 "") c++20)
for std in "${cpp[@]}"; do sources deltawire.h "$work/$std" cpp "${cxx[@]}"; done
compile() { "$@" -Iinclude -Iffi-tests/header -fsyntax-only || fail "the header does not compile: $*"; }
count=0
for cc in "${ccs[@]}"; do
  for std in "${c[@]}"; do
    for file in "$work/$std"/*.c; do
      compile "$cc" -std="$std" "${warn[@]}" -Wc++-compat -Wstrict-prototypes "$file"
      count=$((count + 1))
    done
  done
done
for cc in "${cxxs[@]}"; do
  for std in "${cpp[@]}"; do
    for file in "$work/$std"/*.cpp; do
      compile "$cc" -std="$std" "${warn[@]}" -Wold-style-cast "$file"
      count=$((count + 1))
    done
  done
done
# Control: a header with an error must fail.
mkdir "$work/fault"
sed 's/^uint32_t deltawire_abi(void);/uint32_t deltawire_abi();/' include/deltawire.h >"$work/fault/deltawire.h"
! gcc -std=c99 "${warn[@]}" -Wstrict-prototypes -I"$work/fault" -fsyntax-only "$work/c99/alone.c" 2>/dev/null ||
  fail "a prototype without parameters is not detected"
pass "header-c ($count compilations)"

if [ -e include/deltawire.hpp ]; then
  count=0
  for std in c++17 c++20; do
    sources deltawire.hpp "$work/hpp-$std" cpp "${cxx[@]}"
    sed 's/.*/#include "deltawire.h"\n&/' "$work/hpp-$std/alone.cpp" >"$work/hpp-$std/behind_c.cpp"
    for cc in "${cxxs[@]}"; do
      for file in "$work/hpp-$std"/*.cpp; do
        compile "$cc" -std="$std" "${warn[@]}" -Wold-style-cast "$file"
        count=$((count + 1))
      done
    done
  done
  pass "header-cpp ($count compilations)"
fi

# ---- layout: one record, asserted of the header. The structs of the crate are `repr(C)`, and the header is made from them
layout=ffi-tests/layout
python3 -B $layout/layout.py || fail "layout.c does not name each member once"
for cc in "${ccs[@]}"; do compile "$cc" -std=c11 "${warn[@]}" $layout/layout.c; done
if have clang; then
  for target in x86_64-linux-gnu aarch64-linux-gnu s390x-linux-gnu i686-linux-gnu armv7-linux-gnueabihf \
    thumbv7em-none-eabi wasm32-unknown-unknown; do
    compile clang --target=$target -ffreestanding -std=c11 "${warn[@]}" $layout/layout.c
  done
fi
# Control: a moved member must be detected.
mkdir "$work/moved"
sed 's/^    uint64_t events;/    uint32_t inserted; uint64_t events;/' include/deltawire.h >"$work/moved/deltawire.h"
! gcc -std=c11 -I"$work/moved" -fsyntax-only $layout/layout.c 2>/dev/null || fail "a moved member is not detected"
pass header-layout

# ---- one version
version=$(sed -n 's/^version = "\(.*\)"/\1/p' capi/Cargo.toml)
macro() { sed -n "s/^#define DELTAWIRE_VERSION_$1 //p" include/deltawire.h; }
[ "$version" = "$(macro MAJOR).$(macro MINOR).$(macro PATCH)" ] || fail "the header is not of version $version"
[ "$version" = "$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)" ] || fail "the crates' versions differ"
pass header-version

# ---- cbindgen and the sections
have cargo || skip "cargo is missing"
made "$work/made.h"
diff -u include/deltawire.h "$work/made.h" || fail "deltawire.h is not up to date with capi/: scripts/header.sh --write"
[ -z "$(awk 'length > 100' include/deltawire.h)" ] || fail "lines of over 100 columns: $(awk 'length > 100' include/deltawire.h)"
# Control: an item without a section must be detected.
sed '$d' capi/sections.txt >"$work/fewer.txt"
! python3 -B scripts/header.py "$work/made.h.cbindgen" "$work/fewer.txt" >/dev/null 2>&1 || fail "an item without a section is not detected"
pass header-cbindgen
