#!/usr/bin/env bash
# bench.sh [--sdks] [ARGUMENT...]: runs all contenders in turn and writes the results to docs/benchmarks.md and the pictures
# beside it. With arguments (see benches/src/runner/main.rs) it prints tables instead: bench.sh --input content --slice
# 16384. With --sdks it compares this library with the vendors' SDKs for Python and JavaScript, which it installs under target/.
# Contenders whose tools are missing are skipped and reported.
. "$(dirname "$0")/lib.sh"
need_crates
out=$TARGET/bench
mkdir -p "$out"
with=()

said=$(bash scripts/capi.sh)
case $said in
  SKIP*) echo "SKIP bench-c: ${said#*: }" >&2 ;;
  *) export DELTAWIRE_BENCH_CAPI=$TARGET/capi ;;
esac
if have g++; then
  has_simdjson() { echo '#include <simdjson.h>' | g++ -x c++ -std=c++17 -fsyntax-only - 2>/dev/null; }
  has_simdjson || packages libsimdjson-dev
  if has_simdjson; then export DELTAWIRE_BENCH_SIMDJSON=1; else echo "SKIP bench-simdjson: libsimdjson-dev is missing" >&2; fi
else
  echo "SKIP bench-simdjson: g++ is missing" >&2
fi
cargo build --quiet --locked --release -p deltawire-benches

sdks=()
if [ "${1:-}" = --sdks ]; then
  shift
  python=$out/sdk-python node=$out/sdk-node
  if have python3 && python3 -m venv "$python" && "$python/bin/pip" install --quiet --disable-pip-version-check "${SDKS_PYTHON[@]}"; then
    sdks+=(--sdk "SDK, $("$python/bin/python" -V)=$python/bin/python -B benches/sdk/sdk.py")
    echo "Python: $("$python/bin/pip" list --disable-pip-version-check --format=freeze |
      grep -E '^(openai|anthropic|google-genai|pydantic|httpx2)==' | paste -sd' ')."
  else
    echo "SKIP bench-python: python3 or the SDKs are missing" >&2
  fi
  mkdir -p "$node"
  if have npm && npm install --silent --no-audit --no-fund --no-save --prefix "$node" "${SDKS_NODE[@]}"; then
    # Node looks for packages in the program's folder.
    cp benches/sdk/sdk.mjs "$node/"
    sdks+=(--sdk "SDK, Node $(node -v)=node $node/sdk.mjs")
    echo "Node: ${SDKS_NODE[*]}."
  else
    echo "SKIP bench-node: npm or the SDKs are missing" >&2
  fi
  [ ${#sdks[@]} -gt 0 ] || skip "no SDK is installed"
  # An SDK takes a hundred times as long, so an eighth of the bytes is enough.
  with+=("${sdks[@]}" --bytes 500000 --rounds 9)
fi

# The library without its vector kernels: a copy that behaves as on a machine without them. Not needed with --sdks.
if [ ${#sdks[@]} = 0 ]; then
  rm -rf "$out/portable"
  mkdir -p "$out/portable"
  cp -r Cargo.toml Cargo.lock README.md src examples benches cli "$out/portable/"
  grep -rl 'target_feature = "sse2"' "$out/portable/src" | xargs sed -i 's/target_feature = "sse2"/target_feature = "none"/g'
  if [ "$(uname -m)" = x86_64 ] && ! diff -rq src "$out/portable/src" >/dev/null; then
    (cd "$out/portable" && CARGO_TARGET_DIR=$out/portable-build RUSTFLAGS="--cap-lints=allow" cargo build --quiet --locked \
      --release -p deltawire-benches --no-default-features --bin deltawire-benches-count)
    with+=(--portable "$out/portable-build/release/deltawire-benches-count")
  else
    echo "SKIP bench-portable: this machine has other kernels than SSE2" >&2
  fi
fi

if find_go; then
  mkdir -p "$out/go"
  cp benches/native/go/main.go "$out/go/"
  go_module "$out/go" rows "$out/bench-go"
  with+=(--go "$out/bench-go" --go-version "$("$go" version | cut -d' ' -f3)")
else
  echo "SKIP bench-go: go 1.24 is missing (scripts/ffi_go.sh installs one)" >&2
fi

[ $# -gt 0 ] || [ ${#sdks[@]} -gt 0 ] || with+=(--write docs)
"$TARGET/release/deltawire-benches" "${with[@]}" "$@"
