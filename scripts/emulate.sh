#!/usr/bin/env bash
# emulate.sh [TARGET...]: runs the library on other processors: 64-bit Arm (NEON) under QEMU, 32-bit x86 (byte-by-byte searches), and in
# `make test-full` s390x (big-endian, without its own kernels) under QEMU. The program of proof/ must compute the same there as here; it
# needs neither std nor a test harness for these processors. `make test-full` also runs the unit tests there, and all tests on 32-bit
# x86, which needs no QEMU. With TARGETs it runs only the tests on these.
. "$(dirname "$0")/lib.sh"
[ "$(uname -sm)" = "Linux x86_64" ] || skip "the comparison needs x86-64"
need_crates
logs=$TARGET/emulate/logs
mkdir -p "$logs"
need_debian_rust
export CARGO_TARGET_DIR=$TARGET/emulate

# provide ARCH: tries to install what links and runs programs of that processor, and sets "$cc" and "$runner"; otherwise fails.
provide() {
  local arch=$1 root=/usr/$1-linux-gnu packages=(qemu-user)
  cc=$arch-linux-gnu-gcc
  case $arch in
    aarch64) runner="qemu-aarch64 -L $root" packages+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross) ;;
    s390x) runner="qemu-s390x -L $root" packages+=(gcc-s390x-linux-gnu libc6-dev-s390x-cross) ;;
    # This processor runs it natively; only the libraries are elsewhere.
    i686) runner="$root/lib/ld-linux.so.2 --library-path $root/lib" packages=(gcc-i686-linux-gnu libc6-dev-i386-cross) ;;
    *) fail "unknown processor $arch" ;;
  esac
  if ! have "$cc" || ! have "${runner%% *}"; then packages "${packages[@]}"; fi
  have "$cc" && have "${runner%% *}" && return
  echo "SKIP $STEP-$arch: the packages ${packages[*]} are missing (apt-get install, as root)"
  return 1
}

# sums ARCH: compares the sums of proof/.
sums() {
  local arch=$1 target=$1-unknown-linux-gnu out=$TARGET/emulate/$1 cc runner began
  provide "$arch" || return 0
  mkdir -p "$out"
  debian_fetch -Zbuild-std=core --target "$target" --manifest-path proof/Cargo.toml
  RUSTFLAGS=-Dwarnings "${DEBIAN_CARGO[@]}" build --quiet --locked --release "${PLAIN_CORE[@]}" --target "$target" --manifest-path proof/Cargo.toml
  sed 's/.*/EXPORT(&)/' proof/exports.txt >"$out/exports.def"
  "$cc" -std=c99 -O1 -Wall -Wextra -Werror -static -I "$out" proof/sums.c "$CARGO_TARGET_DIR/$target/release/libdeltawire_proof.a" -o "$out/sums"
  began=$SECONDS
  $runner "$out/sums" "${summed[@]}" >"$out/here.txt"
  diff "$CARGO_TARGET_DIR/hosted.txt" "$out/here.txt" || fail "the program computes something else on $arch"
  echo "NOTE $arch: ${#summed[@]} streams in $((SECONDS - began)) s"
  pass "$STEP-$arch-sums"
}
if [ $# -eq 0 ]; then
  need_crates --manifest-path proof/Cargo.toml
  hosted_sums "$CARGO_TARGET_DIR" "$(full 1 13)"
  sums aarch64
  sums i686
  in_full || exit 0
  sums s390x
  set -- {aarch64,s390x,i686}-unknown-linux-gnu
fi

# names: reads a log, or a list of tests, and prints `FILE TEST` for each test that passed or is listed.
names() {
  awk '/^     Running / { sub(/ \([^ ]*\)$/, ""); file = $NF } /^test .* \.\.\. ok$/ { print file, $2 } /: test$/ { print file, substr($1, 1, length($1) - 1) }' | sort
}
# An emulated processor is thirty times slower.
export DELTAWIRE_THIN=53 DELTAWIRE_EMULATED=37
CARGO_TARGET_DIR=$TARGET cargo test --locked -p deltawire --all-features --lib --tests -- --list 2>&1 | names >"$logs/here.txt"
[ "$(grep -c '^src/lib.rs ' "$logs/here.txt")" -gt 250 ] || fail "the list of tests on this machine is too short"
std=(-Zbuild-std=std,test,panic_unwind)
# Optimizing the standard library takes longer than running it.
export CARGO_PROFILE_DEV_OPT_LEVEL=0
tests=(--locked -p deltawire --all-features "${std[@]}" --config profile.dev.package.deltawire.opt-level=1)
# native TARGET: whether it needs no QEMU, under which the tests of whole streams would take hours.
native() { [ "${1%%-*}" = i686 ]; }
# kinds TARGET: prints cargo's options for the tests that run there; for `here`, those of the same tests on this machine.
kinds() { if native "$1"; then echo --lib --tests; else echo --lib; fi; }
here() { if native "$1"; then cat "$logs/here.txt"; else grep '^src/lib.rs ' "$logs/here.txt"; fi; }
able=()
for target in "$@"; do
  arch=${target%%-*}
  provide "$arch" || continue
  # Cargo's variables for the linker and the runner of a target.
  name=${target//-/_}
  export "CARGO_TARGET_${name^^}_LINKER=$cc" "CARGO_TARGET_${name^^}_RUNNER=$runner"
  debian_fetch "${std[@]}" --target "$target"
  able+=("$target")
done
[ ${#able[@]} -gt 0 ] || exit 0
for target in "${able[@]}"; do
  # shellcheck disable=SC2046  # words
  "${DEBIAN_CARGO[@]}" test "${tests[@]}" $(kinds "$target") --target "$target" --no-run
done 2>&1 | tee "$logs/build.log"
if grep -A 8 '^warning: ' "$logs/build.log"; then fail "the compiler warns"; fi

# emulate TARGET
emulate() {
  local target=$1 arch=${1%%-*} log began=$SECONDS
  log=$logs/$arch.log
  # shellcheck disable=SC2046  # words
  timeout 3600 "${DEBIAN_CARGO[@]}" test "${tests[@]}" $(kinds "$target") --target "$target" -- --show-output >"$log" 2>&1 ||
    { tail -n 60 "$log" && fail "the tests fail on $arch, or take over an hour"; }
  grep '^SKIP ' "$log" || true
  names <"$log" | diff <(here "$target") - || fail "the tests that passed on $arch are not those of x86-64"
  echo "NOTE $arch: $((SECONDS - began)) s, beside the others"
  pass "$STEP-$arch ($(here "$target" | wc -l) tests)"
}
running=()
for target in "${able[@]}"; do
  emulate "$target" >"$logs/$target.said" 2>&1 &
  running+=("$!:$target")
done
bad=0
for one in "${running[@]}"; do
  wait "${one%%:*}" || bad=1
  cat "$logs/${one#*:}.said"
done
[ $bad = 0 ] || fail "see above"
