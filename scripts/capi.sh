#!/usr/bin/env bash
# Builds the C library into "$TARGET/capi": libdeltawire.a, the shared library with its links, and include/.
# Prints nothing if all is well, and does nothing if nothing changed.
#   capi.sh            build and check
#   capi.sh --exports  writes capi/exports.txt from the header
#
# cargo makes an archive of a few hundred members, including Rust's runtime. This script links the exports and what they
# reach into one relocatable object and makes all other names local, so that a program may contain two libraries made
# with Rust.
. "$(dirname "$0")/lib.sh"
export LC_ALL=C

# Lists the functions that the header declares.
declared() {
  grep -E '^[a-z]' include/deltawire.h | grep -v '^typedef' | grep -oE '\bdeltawire_[a-z0-9_]+\(' | tr -d '(' | sort
}
if [ "${1:-}" = --exports ]; then
  declared >capi/exports.txt
  exit
fi

[ "$(uname -s)" = Linux ] || skip "the C library is put together for Linux only, so far"
for tool in gcc ld ar nm objcopy objdump strip flock; do have "$tool" || skip "$tool is missing"; done
export CARGO_TARGET_DIR=$TARGET/capi/build
need_crates --manifest-path capi/Cargo.toml
out=$TARGET/capi
mkdir -p "$out/include"
exec 9>"$out/lock"
flock 9

declared | diff capi/exports.txt - >&2 || fail "capi/exports.txt is not what the header declares (scripts/capi.sh --exports)"
# Built as staticlib only: with an rlib beside it, cargo would omit the optimisation across crates.
cargo rustc --quiet --locked --release --manifest-path capi/Cargo.toml --lib --crate-type staticlib
rust=$CARGO_TARGET_DIR/release/libdeltawire_capi.a
for header in "$out"/include/*; do
  [ -e "include/${header##*/}" ] || rm -f "$header"
done
for header in include/*; do
  cmp -s "$header" "$out/$header" || cp "$header" "$out/$header"
done

capi_names
stamp=$(cat "$rust" scripts/capi.sh capi/exports.txt capi/undefined.txt capi/Cargo.toml | sha256sum)
[ "$(cat "$out/stamp" 2>/dev/null)" = "$stamp" ] && [ -e "$out/$SHARED" ] && [ -e "$out/libdeltawire.a" ] && exit
work=$out/work
rm -rf "$work" "$out/stamp" "$out"/libdeltawire.*
mkdir "$work"
mapfile -t exports <capi/exports.txt

ld -r --gc-sections "${exports[@]/#/--undefined=}" "$rust" -o "$work/partial.o"
# Remove Rust's bitcode first: nm passes it to the installed LLVM, and an older one finds no symbols.
objcopy --remove-section=.llvmbc --remove-section=.llvmcmd --remove-section=.comment \
  --keep-global-symbols=capi/exports.txt "$work/partial.o" "$work/deltawire.o"
strip --strip-unneeded "$work/deltawire.o"
ar rcsD "$work/libdeltawire.a" "$work/deltawire.o"

# Lists the functions that refer to core's panics, if any are reachable.
panics() {
  objdump -drC --no-show-raw-insn "$work/partial.o" | awk '
    /^[0-9a-f]+ <.*>:$/ { from = $0; sub(/^[^<]*</, "", from); sub(/>:$/, "", from) }
    / R_[A-Z0-9_]+\t.*(panicking|_fail|begin_unwind)/ && from !~ /core::panicking/ {
      sub(/.* R_[A-Z0-9_]+\t/, ""); sub(/[-+]0x[0-9a-f]+$/, ""); print from " refers to " $0 }' | sort -u
}

# check FILE [-D]: the file must define exactly the exports, and need nothing beyond the allowed symbols.
check() {
  nm "${@:2}" --defined-only --extern-only -j "$1" | sed '/:$/d; /^$/d' | sort >"$work/exports.txt"
  diff capi/exports.txt "$work/exports.txt" >&2 || fail "${1##*/} exports something else than capi/exports.txt says"
  nm "${@:2}" --undefined-only -j "$1" | sed '/:$/d; /^$/d; s/@.*//' | sort >"$work/undefined.txt"
  more=$(comm -13 capi/undefined.txt "$work/undefined.txt")
  [ -z "$more" ] || {
    panics >&2
    fail "${1##*/} needs what capi/undefined.txt does not list: $more"
  }
}
check "$work/libdeltawire.a"
[ "$(ar t "$work/libdeltawire.a")" = deltawire.o ] || fail "the archive has more than one member"

{
  echo '{ global:'
  printf '%s;\n' "${exports[@]}"
  echo 'local: *; };'
} >"$work/exports.map"
gcc -shared -nostartfiles -Wl,-soname,"$SONAME" -Wl,--version-script="$work/exports.map" -Wl,-Bsymbolic-functions \
  -Wl,-z,defs -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,--as-needed -Wl,--build-id=sha1 \
  "$work/deltawire.o" -o "$work/$SHARED"
strip --strip-unneeded "$work/$SHARED"

check "$work/$SHARED" -D

mv "$work/libdeltawire.a" "$work/$SHARED" "$out"
ln -s "$SHARED" "$out/$SONAME"
ln -s "$SONAME" "$out/libdeltawire.so"
echo "$stamp" >"$out/stamp"
