#!/usr/bin/env bash
# The link proof of the C library, on the object that is shipped: linked without libc, with five memory functions and
# every export as a root, it reaches no panic, no allocator and no operating system. The linked program also runs, in
# little stack.
. "$(dirname "$0")/lib.sh"
[ "$(uname -sm)" = "Linux x86_64" ] || skip "ffi-tests/proof/main.c is for Linux on x86-64"
for tool in gcc ld nm python3; do have "$tool" || skip "$tool is missing"; done
export LC_ALL=C
need_capi
case $(rustc --version) in
  "rustc $RUST_VERSION".*) ;;
  *) echo "NOTE judged on $(rustc --version), not on $RUST_VERSION" ;;
esac

# Stack limit of a drive in bytes, including its own calls and callbacks.
STACK_LIMIT=16384

lib=$TARGET/capi/libdeltawire.a
out=$TARGET/capi/proof
mkdir -p "$out"
mapfile -t exports <capi/exports.txt

# build EXPORTS...: builds the object of the bare program.
build() {
  printf 'EXPORT(%s)\n' "$@" >"$out/exports.def"
  gcc -std=c11 -O2 -Wall -Wextra -Wno-cast-function-type -Werror -ffreestanding -fno-stack-protector -fno-pie \
    -fno-tree-loop-distribute-patterns -DFREESTANDING "${control[@]}" -Iinclude -I"$out" -c ffi-tests/proof/main.c -o "$out/bare.o"
}
link() { gcc -nostartfiles -nostdlib -static -no-pie -Wl,--gc-sections "$out/bare.o" "$@" -o "$out/bare"; }

# Control first: with one unchecked index the link must fail for that reason.
panicking_control "$out/control.a"
control=(-DCONTROL)
build "${exports[@]}" deltawire_control
if link "$lib" "$out/control.a" 2>"$out/control.log"; then fail "the control linked: the proof shows nothing"; fi
grep -q 'undefined reference to .deltawire_panic_reached' "$out/control.log" ||
  fail "the control failed for another reason: $(cat "$out/control.log")"
other=$(grep 'undefined reference to' "$out/control.log" | grep -v deltawire_panic_reached || true)
[ -z "$other" ] || fail "the control lacks more than the panic: $other"
pass ffi-proof-control

control=()
build "${exports[@]}"
link "$lib"
[ -z "$(nm --undefined-only "$out/bare")" ] || fail "the bare program lacks symbols"
nm --defined-only --extern-only -j "$out/bare" | sort | comm -23 capi/exports.txt - >"$out/missing.txt"
[ ! -s "$out/missing.txt" ] || fail "exports that are not in the bare program: $(tr '\n' ' ' <"$out/missing.txt")"
pass ffi-proof-link

# The bare program must compute the same as an ordinary one.
gcc -std=c11 -O2 -Wall -Wextra -Wno-cast-function-type -Werror -Iinclude -I"$out" ffi-tests/proof/main.c "$lib" -o "$out/hosted"
rm -f "$out/stack.txt" "$out/all.new"
# The samples, and the inputs that need the most stack: each conformance case, deep and wide values.
rm -rf "$out/streams"
python3 -B ffi-tests/proof/streams.py tests/quirks "$out/streams" >"$out/streams.txt"
for sample in samples/* "$out"/streams/*; do
  "$out/hosted" <"$sample" >"$out/hosted.txt" || fail "the ordinary program, on $sample"
  "$out/bare" <"$sample" >"$out/bare.txt" 2>"$out/said.txt" || fail "the bare program, on $sample: $(cat "$out/said.txt")"
  diff "$out/hosted.txt" "$out/bare.txt" || fail "the bare program computes something else, on $sample"
  grep -qx "roots ${#exports[@]}" "$out/bare.txt" || fail "not every export is a root"
  cat "$out/said.txt" >>"$out/stack.txt"
  cat "$out/bare.txt" >>"$out/all.new"
done
mv "$out/all.new" "$out/all.txt"
# A drive that noted almost nothing would test nothing.
idle=$(awk '$1 != "roots" && $3 > most[$1] { most[$1] = $3 } END { for (d in most) if (most[d] < 500) print d }' "$out/all.txt")
[ -z "$idle" ] || fail "drives that did almost nothing: $idle"
[ "$(awk '{ print $1 }' "$out/all.txt" | sort -u | wc -l)" -ge 10 ] || fail "not all drives ran"
pass ffi-proof-run

# Compares the maxima with docs/memory.md (x86-64): those of a call by callbacks, by batch and of an assembler, each including the
# drive's own calls and callbacks.
sort -k 3 -n "$out/stack.txt" | awk '{ most[$2] = $3 } END { for (drive in most) print "stack of " drive ": " most[drive] }' | sort
most() { awk -v drives=" $* " 'index(drives, " " $2 " ") && $3 > most { most = $3 } END { print most + 0 }' "$out/stack.txt"; }
feed=$(most push pause strict sse meter) batch=$(most batch direct) assembler=$(most message message-batch)
deepest=$(awk '{ print $3 }' "$out/stack.txt" | sort -n | tail -n 1)
echo "NOTE stack, at most: feed $feed, batch $batch, assembler $assembler bytes ($(cut -d' ' -f1 "$out/streams.txt") streams and the samples)"
[ "$deepest" -le "$STACK_LIMIT" ] || fail "more stack than $STACK_LIMIT bytes: $deepest"
stated_stack "in C by callbacks" "$feed"
stated_stack "in C by batch" "$batch"
stated_stack "in C, the assembler" "$assembler"
pass ffi-proof-stack
