#!/usr/bin/env bash
# Tests the C library as its users get it: installed, found by pkg-config and by CMake, linked in every way, uninstalled, and
# unpacked from its archive.
. "$(dirname "$0")/lib.sh"
export LC_ALL=C
need_capi
for tool in g++ readelf find python3; do have "$tool" || skip "$tool is missing"; done
if ! have cmake || ! have pkg-config; then packages cmake pkg-config; fi
capi_names
out=$TARGET/capi/ship
rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
prefix=$out/prefix
tests=ffi-tests/ship
strict=(-Wall -Wextra -pedantic -Werror -O1)

# says PROGRAM: the program must print the right text, for a sample with escapes and for one cut inside code points.
says() {
  local got
  got=$("$1" <samples/content.sse) || fail "$1 fails on content.sse"
  [ "$got" = $'The tide turns at 6:40.\n\nBring "boots".' ] || fail "$1 says on content.sse: $got"
  got=$("$1" <samples/multibyte.sse) || fail "$1 fails on multibyte.sse"
  case $got in "漢字とかな 👩‍🚀 漢字 🚀 😀 "*) ;; *) fail "$1 says on multibyte.sse: $got" ;; esac
}
# with_cmake NAME OPTIONS...: builds the programs of the folder in "$out/NAME".
with_cmake() {
  local build=$out/$1
  if ! { cmake -S "$tests" -B "$build" "${@:2}" && cmake --build "$build"; } >"$build.log" 2>&1; then
    fail "$1: $(cat "$build.log")"
  fi
}
# links FILE yes|no: checks whether the file needs the shared library.
links() {
  local found=no
  readelf -d "$1" 2>/dev/null | grep -q "NEEDED.*\[$SONAME\]" && found=yes
  [ $found = "$2" ] || fail "${1##*/}: needs $SONAME: $found"
}

# scripts/capi.sh checks the names; these are the other properties that matter to a linker:
lib=$TARGET/capi/$SHARED
readelf -d "$lib" | grep -q "SONAME.*\[$SONAME\]" || fail "the soname is not $SONAME"
needed=$(readelf -d "$lib" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -v '^libc\.' || true)
[ -z "$needed" ] || fail "the shared library needs $needed"
if readelf -d "$lib" | grep -qE 'TEXTREL|INIT|FINI'; then fail "text relocations or start-up code in the shared library"; fi
readelf -lW "$lib" | grep -qE 'GNU_STACK .* RW ' || fail "the shared library wants an executable stack"
readelf -SW "$TARGET/capi/libdeltawire.a" >"$out/sections.txt" 2>&1
grep -q 'note.GNU-stack' "$out/sections.txt" || fail "the object does not say that it needs no executable stack"
for file in "$lib" "$TARGET/capi/libdeltawire.a"; do
  if readelf -SW "$file" | grep -qE '\.debug_|\.llvmbc|\.init_array|\.tbss|\.tdata'; then fail "${file##*/}: debug info, bitcode, thread-locals or start-up code"; fi
  if grep -aqE "$HOME/|/rustc/|\.cargo|$PWD" "$file"; then fail "${file##*/} has paths of the machine that made it"; fi
done
# No mutable state: nothing writable, except what the loader sets once, and the byte of src/scan/level.rs in .bss.
writable=$(awk '$0 ~ / WA[LMSI]* / && !/ \.(data\.rel\.ro|got|dynamic)/ && !/ 000000 00 +WA/ && !/ \.bss[^ ]* +NOBITS +[0-9a-f]+ [0-9a-f]+ 000001 /' < <(sed 's/^ *\[ *[0-9]*\]//' "$out/sections.txt"))
[ -z "$writable" ] || fail "writable sections: $writable"
pass ship-files

# Installing builds nothing: no compiler runs, and if there is no library, it says how to make one.
mkdir "$out/no-tools"
for tool in cargo rustc gcc cc ld; do
  printf '#!/bin/sh\necho %s >>"%s/ran"\nexit 1\n' $tool "$out" >"$out/no-tools/$tool"
  chmod +x "$out/no-tools/$tool"
done
PATH=$out/no-tools:$PATH make -s install PREFIX="$prefix"
PATH=$out/no-tools:$PATH make -s install PREFIX="$prefix"
[ ! -e "$out/ran" ] || fail "installing runs $(sort -u "$out/ran" | paste -sd ' ')"
! CARGO_TARGET_DIR=$out/nothing make -s install PREFIX="$out/none" >/dev/null 2>"$out/said.txt" || fail "installed without a library"
grep -q 'run `make capi` first' "$out/said.txt" || fail "without a library: $(cat "$out/said.txt")"
[ ! -e "$out/none" ] && [ ! -e "$out/ran" ] || fail "installing without a library left something, or ran something"
(cd "$prefix" && find . -type f -o -type l | sort) >"$out/installed.txt"
{
  for header in include/*; do echo "./$header"; done
  printf './share/doc/deltawire/%s\n' README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT \
    docs/{gateway,installing,languages,memory,promises,protocols,quirks,threat-model,vocabulary}.md
  printf './lib/%s\n' cmake/deltawire/deltawire-{config,config-version,targets}.cmake libdeltawire.{a,so} "$SONAME" \
    "$SHARED" pkgconfig/deltawire.pc
} | sort | diff - "$out/installed.txt" || fail "the installed files differ from the list"
links=$(cd "$prefix/share/doc/deltawire" && grep -oE '\]\([A-Za-z0-9_./-]+\.[a-z]+[)#]' *.md docs/*.md | tr -d '])(#')
[ -n "$links" ] || fail "the installed documents have no links"
while IFS=: read -r file link; do
  [ -e "$prefix/share/doc/deltawire/$(dirname "$file")/$link" ] || fail "$file links to $link, which is not installed"
done <<<"$links"
make -s install PREFIX=/usr LIBDIR=lib/machine DESTDIR="$out/dest"
[ -e "$out/dest/usr/lib/machine/pkgconfig/deltawire.pc" ] || fail "DESTDIR and LIBDIR"
if grep -rqF "$out" "$out/dest" "$prefix"; then fail "an installed file contains its path"; fi
pass ship-install

# macOS, as far as it can be tested here: the commands, and the installed names.
DRY=1 UNAME=Darwin bash scripts/capi.sh >"$out/darwin.txt"
for wanted in '-dynamiclib' '-install_name @rpath/libdeltawire.[0-9.]*.dylib ' '-exported_symbols_list' '-u,_deltawire_feed '; do
  grep -q -- "$wanted" "$out/darwin.txt" || fail "macOS: no $wanted in $(cat "$out/darwin.txt")"
done
if grep -qE -- '--gc-sections|soname|version-script|Bsymbolic|-z,|build-id|objcopy|\.so\b' "$out/darwin.txt"; then
  fail "macOS: options that only Linux has are in $(cat "$out/darwin.txt")"
fi
IFS=. read -r major minor _ <<<"$VERSION"
mkdir -p "$out/darwin/capi/include"
cp include/* "$out/darwin/capi/include"
for file in stamp pointer libdeltawire.a "libdeltawire.$VERSION.dylib"; do echo 8 >"$out/darwin/capi/$file"; done
darwin() { CARGO_TARGET_DIR=$out/darwin UNAME=Darwin make -s "$1" PREFIX=/usr/local DESTDIR="$out/mac"; }
darwin install
(cd "$out/mac/usr/local/lib" && find . -name '*.dylib' | sort) | diff - <(printf './%s\n' "libdeltawire.$VERSION.dylib" \
  "libdeltawire.$major.$minor.dylib" libdeltawire.dylib) || fail "macOS: the names of the shared library"
[ -e "$out/mac/usr/local/lib/libdeltawire.dylib" ] || fail "macOS: libdeltawire.dylib is a dead link"
grep -q "IMPORTED_SONAME \"@rpath/libdeltawire.$major.$minor.dylib\"" "$out/mac/usr/local/lib/cmake/deltawire/deltawire-targets.cmake" ||
  fail "macOS: CMake does not know the install name"
if grep -rq '\.so\b' "$out/mac/usr/local/lib/cmake" "$out/mac/usr/local/lib/pkgconfig"; then fail "macOS: a package names a .so"; fi
darwin uninstall
[ -z "$(find "$out/mac" -not -type d)" ] || fail "macOS: uninstalling left something"
pass ship-macos

if have pkg-config; then
  export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
  line() { pkg-config "$@" deltawire | sed 's/ *$//'; }
  escaped=${prefix// /\\ }
  want="-I$escaped/lib/pkgconfig/../../include -L$escaped/lib/pkgconfig/../../lib -ldeltawire"
  [ "$(line --cflags --libs)" = "$want" ] || fail "pkg-config says: $(line --cflags --libs)"
  # --static adds nothing.
  [ "$(line --static --cflags --libs)" = "$want" ] || fail "pkg-config --static says: $(line --static --cflags --libs)"
  [ "$(line --modversion)" = "$VERSION" ] || fail "pkg-config: version"
  there=$(PKG_CONFIG_PATH=$out/dest/usr/lib/machine/pkgconfig pkg-config --variable=includedir deltawire)
  [ "$(cd "${there//\\/}" && pwd)" = "$out/dest/usr/include" ] || fail "pkg-config with LIBDIR: $there"

  flags=()
  eval "flags+=($(line --cflags --libs))"
  gcc -std=c99 "${strict[@]}" "$tests/text.c" "${flags[@]}" -o "$out/pc-c"
  g++ -std=c++11 "${strict[@]}" "$tests/text.cpp" "${flags[@]}" -o "$out/pc-cpp"
  for program in "$out"/pc-c{,pp}; do
    links "$program" yes
    LD_LIBRARY_PATH=$prefix/lib says "$program"
  done
  gcc -std=c99 "${strict[@]}" -static "$tests/text.c" "${flags[@]}" -o "$out/pc-static-c"
  g++ -std=c++11 "${strict[@]}" -static "$tests/text.cpp" "${flags[@]}" -o "$out/pc-static-cpp"
  if [ -e include/deltawire.hpp ]; then
    printf '#include <deltawire.hpp>\n#include "text.c"\n' |
      g++ -std=c++17 "${strict[@]}" -I"$tests" -x c++ - -x none "${flags[@]}" -o "$out/pc-hpp"
    LD_LIBRARY_PATH=$prefix/lib says "$out/pc-hpp"
  fi
  for program in "$out"/pc-static-c{,pp}; do
    if readelf -lW "$program" | grep -q INTERP; then fail "$program is not static"; fi
    says "$program"
  done
  pass ship-pkg-config
else
  echo "SKIP ship-pkg-config: pkg-config is missing"
fi

# The archive in every kind of program.
archive=$prefix/lib/libdeltawire.a
gcc -std=c99 "${strict[@]}" -fPIE -pie -I"$prefix/include" "$tests/text.c" "$archive" -o "$out/pie"
gcc -std=c99 "${strict[@]}" -fno-pie -no-pie -I"$prefix/include" "$tests/text.c" "$archive" -o "$out/no-pie"
gcc -std=c99 "${strict[@]}" -fPIE -static-pie -I"$prefix/include" "$tests/text.c" "$archive" -o "$out/static-pie"
gcc -std=c99 "${strict[@]}" -fPIE -pie -nodefaultlibs -I"$prefix/include" "$tests/text.c" "$archive" -lc -o "$out/libc-only"
gcc -std=c99 "${strict[@]}" -fPIC -shared -Wl,-z,defs -Dmain=text_main -I"$prefix/include" "$tests/text.c" "$archive" -o "$out/libtext.so"
echo 'int text_main(void); int main(void) { return text_main(); }' >"$out/main.c"
gcc "$out/main.c" -L"$out" -ltext -Wl,-rpath,"$out" -o "$out/in-shared"
for program in pie no-pie static-pie libc-only in-shared; do
  links "$out/$program" no
  readelf -lW "$out/$program" | grep -qE 'GNU_STACK .* RW ' || fail "$program: executable stack"
  says "$out/$program"
done
if have clang; then
  clang -std=c99 "${strict[@]}" -I"$prefix/include" "$tests/text.c" "$archive" -o "$out/clang"
  says "$out/clang"
fi
# With --gc-sections only used code remains.
printf '#include <deltawire.h>\nint main(void) { return deltawire_abi() != DELTAWIRE_ABI; }\n' >"$out/little.c"
gcc -I"$prefix/include" -Wl,--gc-sections "$out/little.c" "$archive" -o "$out/little"
"$out/little"
if nm "$out/little" | grep -q ' deltawire_feed$'; then fail "--gc-sections keeps unused code"; fi
pass ship-static

# Two libraries made with Rust in one program.
rustc --edition 2021 -O --crate-type staticlib "$tests/other.rs" -o "$out/libother.a"
mapfile -d ' ' -t native < <(rustc --edition 2021 --crate-type staticlib --print native-static-libs "$tests/other.rs" \
  -o "$out/libignored.a" 2>&1 | sed -n 's/.*native-static-libs: //p' | tr -d '\n')
both() { gcc -std=c99 "${strict[@]}" -I"$prefix/include" "$tests/two.c" "$@" "${native[@]}"; }
both "$archive" "$out/libother.a" -o "$out/two"
both "$out/libother.a" "$archive" -o "$out/two-turned"
for program in two two-turned; do says "$out/$program"; done
# The same with all of each library, used or not: no name occurs twice.
both -Wl,--whole-archive "$archive" -Wl,--no-whole-archive "$out/libother.a" -o "$out/two-whole"
says "$out/two-whole"
pass ship-two-rusts

if have cmake; then
  for shared in OFF ON; do
    build=$out/cmake-$shared
    with_cmake "cmake-$shared" -DCMAKE_PREFIX_PATH="$prefix" -DBUILD_SHARED_LIBS=$shared -DASK="${VERSION%.*}" \
      -DCMAKE_C_FLAGS="${strict[*]}" -DCMAKE_CXX_FLAGS="${strict[*]}"
    for language in c cpp; do
      links "$build/deltawire_static-$language" no
      links "$build/deltawire_shared-$language" yes
      case $shared in ON) links "$build/deltawire-$language" yes ;; OFF) links "$build/deltawire-$language" no ;; esac
      for kind in '' _static _shared; do says "$build/deltawire$kind-$language"; done
    done
  done
  # Compatible versions: those of the same soname, not later ones.
  asks() {
    cmake -S "$tests" -B "$out/cmake-ask" -DCMAKE_PREFIX_PATH="$1" -DASK="$2" >"$out/cmake-ask.log" 2>&1
    local status=$?
    rm -rf "$out/cmake-ask"
    return $status
  }
  IFS=. read -r major minor patch <<<"$VERSION"
  for good in '' "$major" "$major.$minor" "$VERSION" "$VERSION;EXACT" "$major.$minor...<$((major + 1))"; do
    asks "$prefix" "$good" || fail "find_package(deltawire $good): $(cat "$out/cmake-ask.log")"
  done
  bad=("$((major + 1))" "$major.$((minor + 1))" "$major.$minor.$((patch + 1))")
  [ "$minor" = 0 ] || bad+=("$major.$((minor - 1))")
  for wrong in "${bad[@]}"; do
    if asks "$prefix" "$wrong"; then fail "find_package(deltawire $wrong) accepts $VERSION"; fi
    grep -q 'compatible with requested version\|requested version' "$out/cmake-ask.log" || fail "find_package(deltawire $wrong): $(cat "$out/cmake-ask.log")"
  done
  with_cmake cmake-dir -Ddeltawire_DIR="$out/dest/usr/lib/machine/cmake/deltawire"
  says "$out/cmake-dir/deltawire-c"
  pass ship-cmake
else
  echo "SKIP ship-cmake: cmake is missing"
fi

make -s uninstall PREFIX="$prefix"
left=$(find "$prefix" -not -type d; find "$prefix" -path '*deltawire*')
[ -z "$left" ] || fail "uninstalling left $left"
make -s uninstall PREFIX=/usr LIBDIR=lib/machine DESTDIR="$out/dest"
[ -z "$(find "$out/dest" -not -type d)" ] || fail "uninstalling with DESTDIR left something"
pass ship-uninstall

packed=$(make -s dist)
sum=$(sha256sum <"$packed")
make -s dist >/dev/null
[ "$(sha256sum <"$packed")" = "$sum" ] || fail "make dist is not reproducible"
mkdir "$out/elsewhere"
tar -C "$out/elsewhere" -xzf "$packed"
root=$(echo "$out"/elsewhere/*)
if grep -rqF "$out" "$root" || grep -rqF "$PWD" "$root"; then fail "a packed file contains a path of this machine"; fi
[ -e "$root/LICENSE-MIT" ] && [ -e "$root/LICENSE-APACHE" ] || fail "the licenses are not packed"
# shellcheck disable=SC2016  # backquotes of Markdown
# Follows the README of the archive: the program, and the commands that compile it.
sed -n '/^```c$/,/^```$/{/^```/!p}' "$root/README.md" >"$root/program.c"
(
  cd "$root"
  gcc -std=c99 "${strict[@]}" program.c -Iinclude lib/libdeltawire.a -o static
  says() {
    [ "$("$1" <"$2" 2>verdict)" = $'The tide turns at 6:40.\n\nBring "boots".' ] && [ "$(cat verdict)" = Done ] ||
      fail "the packed library's program: $1"
  }
  sample=$OLDPWD/samples/content.sse
  says ./static "$sample"
  if have pkg-config; then
    export PKG_CONFIG_PATH=$PWD/lib/pkgconfig
    eval "gcc program.c $(pkg-config --cflags --libs deltawire) -o shared"
    LD_LIBRARY_PATH=$PWD/lib says ./shared "$sample"
  fi
)
if have cmake; then
  with_cmake cmake-dist -DCMAKE_PREFIX_PATH="$root"
  says "$out/cmake-dist/deltawire-cpp"
fi
pass ship-dist

# Uses the packed Go package in a separate module, as its README describes, with the README's program and the same Go as
# scripts/ffi_go.sh.
if [ ! -d "$root/go" ]; then
  echo "NOTE there is no Go package"
elif ! find_go; then
  echo "SKIP ship-dist-go: go is missing"
else
  mkdir "$out/go"
  python3 -B scripts/fences.py bindings/go/README.md go >"$out/go/main.go"
  (
    cd "$out/go"
    export GOTOOLCHAIN=local GOPROXY=off GOFLAGS='' GOWORK=off GOCACHE=$TARGET/go-cache CGO_ENABLED=1
    go=$(readlink -f "$go")
    "$go" mod init program 2>/dev/null
    "$go" mod edit -require "deltawire.dev/go@v$VERSION" -replace "deltawire.dev/go=$root/go"
    "$go" build -o program . || fail "go build with the packed package"
  )
  says "$out/go/program"
  pass ship-dist-go
fi

for file in libdeltawire.a "$SHARED"; do echo "NOTE size of $file $(stat -c %s "$TARGET/capi/$file")"; done
size "$TARGET/capi/$SHARED" | awk 'NR == 2 { print "NOTE size of code and constants " $1; print "NOTE size of data " $2 + $3 }'
# Prints the size of the library after --gc-sections, in a program that reads by callbacks and in one that reads by batch.
for way in feed batch; do
  finish=finish
  [ $way = feed ] || finish=batch_finish
  mapfile -t roots < <(printf -- '--undefined=deltawire_%s\n' init end_of need move $way $finish)
  ld -r --gc-sections "${roots[@]}" "$TARGET/capi/libdeltawire.a" -o "$out/part.o"
  size "$out/part.o" | awk -v way="$way" 'NR == 2 { print "NOTE size with only " way " " $1 + $2 + $3 }'
done
pass ship-size
