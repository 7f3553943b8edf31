#!/usr/bin/env bash
# The module for Envoy: docs/envoy.md.
#   envoy.sh          builds "$TARGET/envoy/RELEASE/libdeltawire_envoy.so" for the release in ENVOY (1.40, 1.39), or for the newest, and
#                     prints its path
#   envoy.sh install  also copies it to the folder in DIR
. "$(dirname "$0")/lib.sh"

release=${ENVOY:-${ENVOY_VERSIONS[0]%.*}}
grep -q "^    {\"$release\"," integrations/envoy/interface.c || fail "there is no module for Envoy $release; integrations/envoy/interface.c lists the releases"
[ "${1:-}" != install ] || [ -n "${DIR:-}" ] || fail "say where to: make install-envoy DIR=…"
have gcc || skip "gcc is missing"
need_capi
out=$TARGET/envoy/$release
mkdir -p "$out"
# Written beside its place, because an Envoy may have loaded the file there.
gcc -std=c99 -O2 -Wall -Wextra -pedantic -Werror -fPIC -fvisibility=hidden -DENVOY_RELEASE="\"$release\"" -Iinclude -Iintegrations/meter \
  integrations/envoy/*.c integrations/meter/llm_meter.c "$TARGET/capi/libdeltawire.a" \
  -shared -Wl,--exclude-libs,ALL -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--gc-sections -o "$out/building.so"
strip --strip-unneeded "$out/building.so"
mv "$out/building.so" "$out/libdeltawire_envoy.so"
if [ "${1:-}" = install ]; then install_module "$out/libdeltawire_envoy.so" 755; else echo "$out/libdeltawire_envoy.so"; fi
