#!/usr/bin/env bash
# size.sh [--update]: measures the bytes of code and constants (text and data of `size`) that a user links: the C program of
# docs/languages.md, the shared library, the file of the static library, and a program for a microcontroller that only pulls. Each
# is measured with all protocols and with chat completions alone, the last one also without templates. The sizes must be within
# 3 % of benches/sizes.txt, up or down; --update regenerates the table.
. "$(dirname "$0")/lib.sh"
export LC_ALL=C
table=benches/sizes.txt
[ "$(uname -sm)" = "Linux x86_64" ] || skip "the table is of x86-64 under Linux"
for tool in gcc ld size strip python3; do have "$tool" || skip "$tool is missing"; done
need_lld ld.lld
need_crates --manifest-path proof/Cargo.toml
need_capi
# The sets of protocols; chat completions alone only in `make test-full` and for the table.
chats=('')
if in_full || [ "${1:-}" = --update ]; then chats+=(-chat); fi
[ ${#chats[@]} = 1 ] || DIALECTS='' need_capi
need_debian_rust
# Versions, besides the library itself, that the numbers depend on.
versions=("rustc:$(rustc -V)" "Debian's rustc:$(/usr/bin/rustc -V)" "gcc:$(gcc --version | head -n 1)" "ld:$(ld --version | head -n 1)")
[ "${1:-}" = --update ] || table_is_of $table "${versions[@]}"
out=$TARGET/size
mkdir -p "$out"

# bytes FILE: prints text plus data.
bytes() { size "$1" | awk 'NR == 2 { print $1 + $2 }'; }
# link NAME LIBRARY [OPTION]...: links the C program with the library in a folder.
link() {
  gcc -std=c99 -Os -I"$TARGET/$2/include" "$out/${1%-chat}.c" "$TARGET/$2/libdeltawire.a" "${@:3}" -s -o "$out/$1"
}

python3 -B scripts/fences.py docs/languages.md c 1 >"$out/c-program.c" || fail "docs/languages.md has no program in C"
echo 'int main(void) { return 0; }' >"$out/c-empty.c"
# Control: a program with the whole library, used or not, must exceed the limit.
link c-program capi -Wl,--no-gc-sections
whole=$(bytes "$out/c-program")
link c-empty capi -Wl,--gc-sections
for chat in "${chats[@]}"; do
  link "c-program$chat" "capi$chat" -Wl,--gc-sections
  cp -L "$TARGET/capi$chat/libdeltawire.so" "$out/c-shared-library$chat"
  strip --strip-all "$out/c-shared-library$chat"
done

target=thumbv7em-none-eabi
debian_cargo() {
  CARGO_TARGET_DIR=$out/build CARGO_PROFILE_RELEASE_OPT_LEVEL=s RUSTFLAGS=-Clinker=$ld "${DEBIAN_CARGO[@]}" "$@" --quiet --locked
}
on=(-Zbuild-std=core --target $target --manifest-path proof/Cargo.toml)
debian_fetch "${on[@]}"
for chat in "${chats[@]}"; do
  debian_cargo build "${on[@]}" --release ${chat:+--no-default-features} --features size --example pull
  cp "$out/build/$target/release/examples/pull" "$out/thumb-pull$chat"
done
programs=(c-empty)
for chat in "${chats[@]}"; do programs+=({c-program,c-shared-library,thumb-pull}"$chat"); done
if [ ${#chats[@]} = 2 ]; then
  debian_cargo build "${on[@]}" --release --no-default-features --features least --example pull
  cp "$out/build/$target/release/examples/pull" "$out/thumb-pull-least"
  programs+=(thumb-pull-least)
fi

new=$out/sizes.txt
{
  echo "# Bytes of code and constants: scripts/size.sh."
  printf '# %s\n' "${versions[@]/:/: }"
  for chat in "${chats[@]}"; do echo "c-archive$chat $(stat -c %s "$TARGET/capi$chat/libdeltawire.a")"; done
  for program in "${programs[@]}"; do echo "$program $(bytes "$out/$program")"; done
} >"$new"
if [ "${1:-}" = --update ]; then
  cp "$new" $table
  cat $table
  exit
fi

table_holds $table "$new" bytes
[ "$(off "$whole" "$(sed -n 's/^c-program //p' $table)")" -gt 300 ] || fail "a larger program is not detected: with the whole library it takes $whole"
pass
