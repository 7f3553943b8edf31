#!/usr/bin/env bash
# The link proof: the core, linked with no library, reaches no panic, no allocator and no operating system.
. "$(dirname "$0")/lib.sh"
[ "$(uname -sm)" = "Linux x86_64" ] || skip "proof/main.c is for Linux on x86-64"
for tool in gcc ld nm objcopy objdump python3; do have "$tool" || skip "$tool is missing"; done
need_crates --manifest-path proof/Cargo.toml
case $(rustc --version) in
  "rustc $RUST_VERSION".*) ;;
  *) echo "NOTE judged on $(rustc --version), not on $RUST_VERSION" ;;
esac

# Stack limit of a drive in bytes, including its own buffers.
STACK_LIMIT=25600

export CARGO_TARGET_DIR=$TARGET/proof LC_ALL=C
out=$CARGO_TARGET_DIR/link
lib=$CARGO_TARGET_DIR/release/libdeltawire_proof.a
mkdir -p "$out"

# link EXPORTS...: builds the program that calls them.
link() {
  printf 'EXPORT(%s)\n' "$@" >"$out/exports.def"
  gcc -std=c11 -O2 -Wall -Wextra -Werror -ffreestanding -fno-stack-protector -fno-tree-loop-distribute-patterns \
    -fno-pie -Wno-cast-function-type -I "$out" -c proof/main.c -o "$out/main.o" &&
    gcc -nostartfiles -nostdlib -static -no-pie -Wl,--gc-sections "$out/main.o" "$lib" ${control:+"$control"} -o "$out/proof"
}
mapfile -t exports <proof/exports.txt

# who EXPORTS...: lists the functions, among those reachable from the exports, that refer to core's panics.
who() {
  ld -r --gc-sections "${@/#/--undefined=}" "$lib" ${control:+"$control"} -o "$out/panics.o"
  objdump -drC --no-show-raw-insn "$out/panics.o" | awk '
    /^[0-9a-f]+ <.*>:$/ { from = $0; sub(/^[^<]*</, "", from); sub(/>:$/, "", from) }
    / R_[A-Z0-9_]+\t.*(panicking|_fail|begin_unwind)/ && from !~ /core::panicking/ {
      sub(/.* R_[A-Z0-9_]+\t/, ""); sub(/[-+]0x[0-9a-f]+$/, ""); print from " refers to " $0 }' | sort -u
}

cargo build --quiet --locked --release --manifest-path proof/Cargo.toml
# Control first: with one unchecked index the link must fail for that reason.
panicking_control "$out/control.a"
if control=$out/control.a link "${exports[@]}" deltawire_control 2>"$out/control.log"; then fail "the control linked: the proof shows nothing"; fi
control=$out/control.a who "${exports[@]}" deltawire_control | grep -q '^deltawire_control .*panicking' || fail "the panic of the control is not detected"
grep -q 'undefined reference to .deltawire_panic_reached' "$out/control.log" ||
  fail "the control failed for another reason: $(cat "$out/control.log")"
pass proof-control
link "${exports[@]}" || { who "${exports[@]}" && fail "a panic can be reached"; }
pass proof-link

# One object of what the exports reach: its defined and its undefined symbols.
ld -r --gc-sections "${exports[@]/#/--undefined=}" "$lib" -o "$out/partial.o"
# Removes Rust's bitcode, which nm would pass to an LLVM that may be too old for it.
objcopy --remove-section=.llvmbc --remove-section=.llvmcmd "$out/partial.o"
nm --defined-only --extern-only -j "$out/partial.o" | sort >"$out/exports.txt"
diff proof/exports.txt "$out/exports.txt" || fail "the object has other exports than proof/exports.txt"
nm --undefined-only -j "$out/partial.o" | sort >"$out/undefined.txt"
more=$(comm -13 proof/undefined.txt "$out/undefined.txt")
[ -z "$more" ] || fail "the object needs symbols that proof/undefined.txt does not list: $more"
pass proof-symbols

# The linked program must compute the same as an ordinary one, also for the inputs that need the most stack: each conformance case,
# deep and wide values.
rm -f "$out/stack.new"
hosted_sums "$out" 1
for stream in "${summed[@]}"; do
  echo "sum ${stream##*/}"
  "$out/proof" <"$stream" 2>>"$out/stack.new"
done >"$out/bare.txt"
diff "$out/hosted.txt" "$out/bare.txt" || fail "the bare program computes something else"
pass proof-run

sort -k 3 -n "$out/stack.new" | awk '{ most[$2] = $3 } END { for (drive in most) print "stack of " drive ": " most[drive] }' | sort
most() { awk -v drive="$1" '$2 == drive && $3 > most { most = $3 } END { print most + 0 }' "$out/stack.new"; }
pull=$(most proof_pull) push=$(most proof_push) deepest=$(awk '{ print $3 }' "$out/stack.new" | sort -n | tail -n 1)
rm "$out/stack.new"
echo "NOTE stack, at most: pull $pull, push $push, any drive $deepest bytes, including the drives' own"
[ "$deepest" -le "$STACK_LIMIT" ] || fail "more stack than $STACK_LIMIT bytes"
stated_stack "in Rust by pull" "$pull"
stated_stack "in Rust by push" "$push"
pass proof-stack
