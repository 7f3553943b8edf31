#!/usr/bin/env bash
# The module for the installed nginx: docs/nginx.md. Needs nginx-dev of the same version.
#   nginx.sh          builds "$TARGET/nginx/ngx_http_deltawire_module.so", if something changed, and prints its path
#   nginx.sh install  also copies it to the folder in DIR
. "$(dirname "$0")/lib.sh"
[ "${1:-}" != install ] || [ -n "${DIR:-}" ] || fail "say where to: make install-nginx DIR=…"
[ "$(uname -s)" = Linux ] || skip "set up only for Linux so far"
have gcc || skip "gcc is missing"
have make || skip "make is missing"
PATH=$PATH:/usr/sbin
source=/usr/share/nginx/src
at_hand() { have nginx && [ -x $source/configure ]; }
at_hand || packages nginx nginx-dev
at_hand || skip "nginx or nginx-dev is missing (apt-get install, as root)"
# A module runs only in the version that it was built for, and nginx says so when it refuses another.
running=$(nginx -v 2>&1 | sed 's,.*/\([0-9.]*\).*,\1,')
headers=$(sed -n 's/^#define NGINX_VERSION *"\(.*\)"/\1/p' $source/src/core/nginx.h)
[ "$running" = "$headers" ] || skip "nginx is $running, nginx-dev is $headers"
need_capi

out=$TARGET/nginx
mkdir -p "$out"
out=$(cd "$out" && pwd)
module=$out/ngx_http_deltawire_module.so
stamp=$(cat integrations/nginx/* integrations/meter/llm_meter.* scripts/nginx.sh "$TARGET/capi/stamp" $source/conf_flags | cksum)-$running
if [ "$(cat "$out/stamp" 2>/dev/null)" != "$stamp" ] || [ ! -e "$module" ]; then
  # The flags that Debian built nginx with, so that nginx takes the module.
  # shellcheck source=/dev/null
  . $source/conf_flags
  here=$PWD capi=$(cd "$TARGET/capi" && pwd)
  if ! (
    cd $source
    DELTAWIRE_CAPI=$capi ./configure --builddir="$out" "${NGX_CONF_FLAGS[@]}" --with-cc-opt='-O2 -g' \
      --add-dynamic-module="$here/integrations/nginx" && make -f "$out/Makefile" modules
  ) >"$out/build.log" 2>&1 </dev/null; then
    tail -n 30 "$out/build.log" >&2
    fail "the module cannot be built"
  fi
  exports=$(nm -D --defined-only "$module" | awk '{ print $3 }' | sort | tr '\n' ' ')
  [ "$exports" = "ngx_module_names ngx_module_order ngx_modules " ] || fail "the module exports $exports"
  echo "$stamp" >"$out/stamp"
fi

if [ "${1:-}" = install ]; then install_module "$module" 644; else echo "$module"; fi
