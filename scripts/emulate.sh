#!/usr/bin/env bash
# emulate.sh [TARGET...]: runs the library's tests on other processors: 64-bit Arm (NEON) under QEMU. The same tests must pass
# there as here. s390x (big-endian) has no kernels of its own: what proof/ computes of the samples must be the same there, which
# needs neither std nor a test harness built for it. `make test-full` runs the tests there too, adds the integration tests, and
# 32-bit x86, which runs natively.
. "$(dirname "$0")/lib.sh"
[ "$(uname -sm)" = "Linux x86_64" ] || skip "it compares with x86-64"
need_crates
logs=$TARGET/emulate/logs
mkdir -p "$logs"
targets=("$@")
[ $# -gt 0 ] || read -ra targets <<<"aarch64-unknown-linux-gnu $(full 's390x-unknown-linux-gnu i686-unknown-linux-gnu' '')"
# An emulated processor is thirty times slower. 37 has no common divisor with lengths of blocks and words: each length modulo 64 still
# occurs with each position and with each alignment.
export DELTAWIRE_THIN=$(full 53 997) DELTAWIRE_EMULATED=$(full 1 37)
read -ra kinds <<<"$(full '--lib --tests' --lib)"
# Skips tests that count reads or compare two paths that do not depend on the processor, the floors of JSON and
# messages, and the tests of every cut: they have no processor-specific code of their own, and what they call in
# src/scan is tested here.
skipped='--skip linear_tests --skip flood_tests --skip quick_tests --skip small_worlds --skip json:: --skip message:: --skip stream::tests'
read -ra chosen <<<"$(full '' "$skipped")"

# names: reads a log, or a list of tests, and prints `FILE TEST` for each test that passed or is listed.
names() {
  awk '/^     Running / { sub(/ \([^ ]*\)$/, ""); file = $NF } /^test .* \.\.\. ok$/ { print file, $2 } /: test$/ { print file, substr($1, 1, length($1) - 1) }' | sort
}
cargo test --locked "${TESTED[@]}" "${kinds[@]}" -p deltawire -- --list "${chosen[@]}" 2>&1 | names >"$logs/here.txt"
expected=$(wc -l <"$logs/here.txt")
[ "$expected" -gt 100 ] || fail "only $expected tests are seen on this machine"

need_debian_rust
export CARGO_TARGET_DIR=$TARGET/emulate CARGO_PROFILE_DEV_OPT_LEVEL=0

# provide ARCH: tries to install what links and runs programs of that processor; sets "$cc" and "$runner", fails without them.
provide() {
  local arch=$1 root=/usr/$1-linux-gnu packages=(qemu-user)
  cc=$arch-linux-gnu-gcc
  case $arch in
    aarch64) runner="qemu-aarch64 -L $root" packages+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross) ;;
    s390x) runner="qemu-s390x -L $root" packages+=(gcc-s390x-linux-gnu libc6-dev-s390x-cross) ;;
    # The processor runs it natively; only the libraries are elsewhere.
    i686) runner="$root/lib/ld-linux.so.2 --library-path $root/lib" packages=(gcc-i686-linux-gnu libc6-dev-i386-cross) ;;
    *) fail "unknown processor $arch" ;;
  esac
  if ! have "$cc" || ! have "${runner%% *}"; then packages "${packages[@]}"; fi
  have "$cc" && have "${runner%% *}" && return
  echo "SKIP $STEP-$arch: the packages ${packages[*]} are missing (apt-get install, as root)"
  return 1
}

# The sums of proof/ on a big-endian processor.
big_endian() {
  local target=s390x-unknown-linux-gnu out=$TARGET/emulate/sums cc runner
  provide s390x || return 0
  need_crates --manifest-path proof/Cargo.toml
  mkdir -p "$out"
  hosted_sums "$out/hosted.txt"
  "${DEBIAN_CARGO[@]}" fetch --quiet --locked -Zbuild-std=core --target "$target" --manifest-path proof/Cargo.toml ||
    skip "the crates of the standard library are neither cached nor to be fetched"
  "${DEBIAN_CARGO[@]}" build --quiet --locked --release -Zbuild-std=core --target "$target" --manifest-path proof/Cargo.toml
  sed 's/.*/EXPORT(&)/' proof/exports.txt >"$out/exports.def"
  "$cc" -std=c99 -O1 -Wall -Wextra -Werror -static -I "$out" proof/sums.c "$CARGO_TARGET_DIR/$target/release/libdeltawire_proof.a" -o "$out/sums"
  $runner "$out/sums" samples/* >"$out/here.txt"
  diff "$out/hosted.txt" "$out/here.txt" || fail "on s390x it computes something else"
  pass "$STEP-s390x-sums"
}
std=(-Zbuild-std=std,test,panic_unwind)
# Optimising the standard library takes longer than running it.
tests=(--locked -p deltawire --all-features "${kinds[@]}" "${std[@]}" --config profile.dev.package.deltawire.opt-level=1)
able=()
for target in "${targets[@]}"; do
  arch=${target%%-*}
  provide "$arch" || continue
  # Cargo's variables for the linker and the runner of a target.
  name=${target//-/_}
  export "CARGO_TARGET_${name^^}_LINKER=$cc" "CARGO_TARGET_${name^^}_RUNNER=$runner"
  "${DEBIAN_CARGO[@]}" fetch --quiet --locked "${std[@]}" --target "$target" ||
    skip "the crates of the standard library are neither cached nor to be fetched"
  able+=("$target")
done
if [ $# -eq 0 ]; then big_endian; fi
[ ${#able[@]} -gt 0 ] || exit 0
"${DEBIAN_CARGO[@]}" test "${tests[@]}" "${able[@]/#/--target=}" --no-run 2>&1 | tee "$logs/build.log"
if grep -A 8 '^warning: ' "$logs/build.log"; then fail "the compiler warns"; fi

# emulate TARGET
emulate() {
  local target=$1 arch=${1%%-*} log began=$SECONDS
  log=$logs/$arch.log
  timeout 1800 "${DEBIAN_CARGO[@]}" test "${tests[@]}" --target "$target" -- --show-output "${chosen[@]}" >"$log" 2>&1 ||
    { tail -n 60 "$log" && fail "the tests fail on $arch"; }
  grep '^SKIP ' "$log" || true
  names <"$log" | diff "$logs/here.txt" - || fail "other tests passed on $arch than there are on x86-64"
  echo "NOTE $arch: $((SECONDS - began)) s, beside the others"
  pass "$STEP-$arch ($expected tests)"
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
