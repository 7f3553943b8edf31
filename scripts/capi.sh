#!/usr/bin/env bash
# Builds the C library into "$TARGET/capi": libdeltawire.a, the shared library with its links, and include/.
# Prints nothing if all is well, and does nothing if nothing changed. If DIALECTS is set, to none or more of "anthropic gemini
# responses", the library reads only these protocols and chat completions, and is built in "$TARGET/capi-chat…".
#   capi.sh            builds and checks; with DRY=1 only prints the commands that link the library
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

capi_names
case $SYSTEM in
  Linux) tools=(gcc ld ar nm objcopy objdump strip flock) ;;
  Darwin) tools=(cc ar nm strip) ;;
  *) skip "the C library is built only for Linux and macOS so far" ;;
esac
mapfile -t exports <capi/exports.txt

# join RUST-ARCHIVE WORK: makes one relocatable object with the exports and what they reach, then the archive of it, then the
# shared library.
join_linux() {
  join_archive "$1" "$2"
  run gcc -shared -nostartfiles -Wl,-soname,"$SONAME" -Wl,--version-script="$2/exports.map" -Wl,-Bsymbolic-functions \
    -Wl,-z,defs -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,--as-needed -Wl,--build-id=sha1 \
    "$2/deltawire.o" -o "$2/$SHARED"
  run strip --strip-unneeded "$2/$SHARED"
}
# On macOS names of C begin with an underscore. With -r, all names that are not in the list become local.
join_darwin() {
  run cc -r -nostdlib "${exports[@]/#/-Wl,-u,_}" -Wl,-exported_symbols_list,"$2/exports.list" "$1" -o "$2/deltawire.o"
  run strip -S -x "$2/deltawire.o"
  run env ZERO_AR_DATE=1 ar rcs "$2/libdeltawire.a" "$2/deltawire.o"
  run cc -dynamiclib -install_name "$INSTALL_NAME" -compatibility_version "${VERSION%.*}" -current_version "$VERSION" \
    -Wl,-exported_symbols_list,"$2/exports.list" -Wl,-dead_strip "$2/deltawire.o" -o "$2/$SHARED"
  run strip -S -x "$2/$SHARED"
}
join() { if [ "$SYSTEM" = Darwin ]; then join_darwin "$@"; else join_linux "$@"; fi; }
if [ -n "${DRY:-}" ]; then
  join libdeltawire_capi.a work
  exit
fi

for tool in "${tools[@]}"; do have "$tool" || skip "$tool is missing"; done
out=$TARGET/capi features=()
if [ -n "${DIALECTS+set}" ]; then
  out=$TARGET/capi-chat${DIALECTS:+-${DIALECTS// /-}}
  features=(--no-default-features --features "panic-handler $DIALECTS")
fi
export CARGO_TARGET_DIR=$out/build
need_crates --manifest-path capi/Cargo.toml
mkdir -p "$out/include"
if have flock; then
  exec 9>"$out/lock"
  flock 9
fi

declared | diff capi/exports.txt - >&2 || fail "capi/exports.txt differs from the header (scripts/capi.sh --exports)"
# Build only a staticlib: if cargo also builds an rlib, it omits the optimization across crates.
cargo rustc --quiet --locked --release --manifest-path capi/Cargo.toml --lib --crate-type staticlib \
  "${features[@]}" -- "${codegen[@]}"
rust=$CARGO_TARGET_DIR/release/libdeltawire_capi.a
for header in "$out"/include/*; do
  [ -e "include/${header##*/}" ] || rm -f "$header"
done
for header in include/*; do
  cmp -s "$header" "$out/$header" || cp "$header" "$out/$header"
done

stamp=$(cat "$rust" scripts/capi.sh scripts/lib.sh capi/exports.txt capi/undefined.txt capi/Cargo.toml | cksum)
[ "$(cat "$out/stamp" 2>/dev/null)" = "$stamp" ] && [ -e "$out/$SHARED" ] && [ -e "$out/libdeltawire.a" ] && exit
work=$out/work
rm -rf "$work" "$out/stamp" "$out"/libdeltawire.*
mkdir "$work"
sed 's/^/_/' capi/exports.txt >"$work/exports.list"
{
  echo '{ global:'
  printf '%s;\n' "${exports[@]}"
  echo 'local: *; };'
} >"$work/exports.map"
join "$rust" "$work"

# Lists the functions that refer to core's panics, if any are reachable.
panics() {
  objdump -drC --no-show-raw-insn "$work/partial.o" | awk '
    /^[0-9a-f]+ <.*>:$/ { from = $0; sub(/^[^<]*</, "", from); sub(/>:$/, "", from) }
    / R_[A-Z0-9_]+\t.*(panicking|_fail|begin_unwind)/ && from !~ /core::panicking/ {
      sub(/.* R_[A-Z0-9_]+\t/, ""); sub(/[-+]0x[0-9a-f]+$/, ""); print from " refers to " $0 }' | sort -u
}

# names FILE OPTION…: prints the names that nm lists, as they are in C.
names() {
  if [ "$SYSTEM" = Darwin ]; then
    nm -j "${@:2}" "$1" | sed '/:$/d; /^$/d; s/^_//; /^dyld_stub_binder$/d' | sort
  else
    nm -j "${@:2}" "$1" | sed '/:$/d; /^$/d; s/@.*//' | sort
  fi
}
# check FILE [-D]: the file must define exactly the exports, and need nothing beyond the allowed symbols.
check() {
  local defined=(--defined-only --extern-only) undefined=(--undefined-only) more
  [ "$SYSTEM" != Darwin ] || defined=(-g -U) undefined=(-u)
  names "$1" "${@:2}" "${defined[@]}" >"$work/exports.txt"
  diff capi/exports.txt "$work/exports.txt" >&2 || fail "${1##*/} has other exports than capi/exports.txt"
  names "$1" "${@:2}" "${undefined[@]}" >"$work/undefined.txt"
  more=$(comm -13 capi/undefined.txt "$work/undefined.txt")
  [ -z "$more" ] || {
    [ "$SYSTEM" = Darwin ] || panics >&2
    fail "${1##*/} needs symbols that capi/undefined.txt does not list: $more"
  }
}
check "$work/libdeltawire.a"
[ "$(ar t "$work/libdeltawire.a" | grep -v __.SYMDEF)" = deltawire.o ] || fail "the archive has more than one member"
if [ "$SYSTEM" = Darwin ]; then check "$work/$SHARED"; else check "$work/$SHARED" -D; fi

mv "$work/libdeltawire.a" "$work/$SHARED" "$out"
ln -s "$SHARED" "$out/$SONAME"
ln -s "$SONAME" "$out/$SHARED_LINK"
# The size of a pointer, for the CMake package.
echo "$(($(printf '__SIZEOF_POINTER__' | "${CC:-cc}" -E -P -)))" >"$out/pointer"
echo "$stamp" >"$out/stamp"
