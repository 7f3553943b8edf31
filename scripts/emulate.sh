#!/usr/bin/env bash
# emulate.sh [TARGET...]: the library's tests on other processors: 64-bit Arm (NEON) and s390x (big-endian) under QEMU, and
# 32-bit x86, which runs here as it is. On each the same tests must pass as on this machine.
. "$(dirname "$0")/lib.sh"
[ "$(uname -sm)" = "Linux x86_64" ] || skip "it compares with x86-64"
need_crates
logs=$TARGET/emulate
targets=("$@")
[ $# -gt 0 ] || targets=(aarch64-unknown-linux-gnu s390x-unknown-linux-gnu i686-unknown-linux-gnu)

# Of what the tests try one by one, every so manyth: tests/common/thin.rs. An emulated processor is ten times slower.
export DELTAWIRE_THIN=${DELTAWIRE_THIN:-53}
# No test may hang.
LIMIT=${EMULATE_LIMIT:-1800}

# names LOG: the tests that passed, each with the file it is in.
names() {
  awk '/^     Running / { sub(/ \([^ ]*\)$/, ""); file = $NF } /^test .* \.\.\. ok$/ { print file, $2 }' "$1" | sort
}
# tested LOG CARGO...: builds the tests and runs them; what they have skipped is said.
tested() {
  local log=$1
  shift
  local tests=("$@" --locked -p deltawire --all-features --lib --tests)
  if ! { "${tests[@]}" --no-run && timeout "$LIMIT" "${tests[@]}" -- --show-output; } >"$log" 2>&1; then
    tail -n 60 "$log"
    return 1
  fi
  grep '^SKIP ' "$log" || true
}

mkdir -p "$logs"
here=$logs/x86_64.log
tested "$here" cargo test || fail "the tests fail on this machine"
names "$here" >"${here%.log}.txt"
due=$(wc -l <"${here%.log}.txt")
[ "$due" -gt 100 ] || fail "only $due tests are seen to pass on this machine"

need_debian_rust
export CARGO_TARGET_DIR=$TARGET/emulate
std=(-Zbuild-std=std,test,panic_unwind)
able=()
for target in "${targets[@]}"; do
  arch=${target%%-*}
  root=/usr/$arch-linux-gnu
  cc=$arch-linux-gnu-gcc packages=(qemu-user)
  case $arch in
    aarch64) runner="qemu-aarch64 -L $root" packages+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross) ;;
    s390x) runner="qemu-s390x -L $root" packages+=(gcc-s390x-linux-gnu libc6-dev-s390x-cross) ;;
    # The processor runs it; only the libraries lie elsewhere.
    i686) runner="$root/lib/ld-linux.so.2 --library-path $root/lib" packages=(gcc-i686-linux-gnu libc6-dev-i386-cross) ;;
    *) fail "unknown target $target" ;;
  esac
  if ! have "$cc" || ! have "${runner%% *}"; then bash scripts/install.sh "${packages[@]}"; fi
  if ! have "$cc" || ! have "${runner%% *}"; then
    echo "SKIP $STEP-$arch: the packages ${packages[*]} are missing (apt-get install, as root)"
    continue
  fi
  # Cargo's names for what links and what runs the programs of a target.
  name=${target//-/_}
  export "CARGO_TARGET_${name^^}_LINKER=$cc" "CARGO_TARGET_${name^^}_RUNNER=$runner"
  "${DEBIAN_CARGO[@]}" fetch --quiet --locked "${std[@]}" --target "$target" ||
    skip "the crates of the standard library are neither cached nor to be fetched"
  able+=("$target")
done

# emulate TARGET
emulate() {
  local target=$1 arch=${1%%-*} log began=$SECONDS
  log=$logs/$arch.log
  tested "$log" "${DEBIAN_CARGO[@]}" test "${std[@]}" --target "$target" || fail "the tests fail on $arch"
  names "$log" >"${log%.log}.txt"
  diff "${here%.log}.txt" "${log%.log}.txt" || fail "other tests passed on $arch than on x86-64"
  if grep -A 8 '^warning: ' "$log"; then fail "the compiler warns on $arch"; fi
  echo "NOTE $arch: $((SECONDS - began)) s, beside the others"
  pass "$STEP-$arch ($(wc -l <"${log%.log}.txt") tests of $due)"
}
# Beside each other: Cargo builds for one at a time, and one long test keeps no processor waiting.
running=()
for target in ${able[@]+"${able[@]}"}; do
  emulate "$target" >"$logs/$target.said" 2>&1 &
  running+=("$!:$target")
done
bad=0
for one in ${running[@]+"${running[@]}"}; do
  wait "${one%%:*}" || bad=1
  cat "$logs/${one#*:}.said"
done
[ $bad = 0 ] || fail "see above"
