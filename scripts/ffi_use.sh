#!/usr/bin/env bash
# Runs realistic programs on the C interface: libcurl, and the code of docs/gateway.md, alone and in a gateway. Compares their output
# with the command's, on the samples and on recorded streams if there are any.
. "$(dirname "$0")/lib.sh"
have gcc || skip "gcc is missing"
have python3 || skip "python3 is missing"
need_crates
need_capi
cargo build --quiet --locked "${TESTED[@]}" --bin deltawire
command=$TARGET/debug/deltawire

use=ffi-tests/use
out=$TARGET/ffi-use
mkdir -p "$out"
cc=(gcc -std=c99 -O1 -g -Wall -Wextra -Wpedantic -Werror -I"$TARGET/capi/include")
lib=$TARGET/capi/libdeltawire.a
samples=(samples/*.sse samples/body.json samples/error-body.json)
bodies=("${samples[@]}")
if [ -n "${DELTAWIRE_CORPUS:-}" ]; then
  bodies+=("$DELTAWIRE_CORPUS"/streams/*.sse)
  used=("$DELTAWIRE_CORPUS"/protocols/{responses,anthropic,gemini}-*.sse)
else
  echo "SKIP $STEP-corpus: no corpus (DELTAWIRE_CORPUS is not set, ../shared/corpus is not there)"
fi
# A second build with memory checks, where the compiler supports them.
sane=('-fsanitize=address,undefined' -fno-sanitize-recover=all)
sane_cc() { "${cc[@]}" "${sane[@]}" "$@"; }
echo 'int main(void) { return 0; }' >"$out/empty.c"
sane_cc "$out/empty.c" -o "$out/empty" 2>/dev/null || sane=()

python3 -B scripts/fences.py docs/gateway.md c >"$out/gateway_md.c"
# Compiled unchanged, as a user who copies it would.
"${cc[@]}" -D_POSIX_C_SOURCE=200809L -Wno-unused-function -c "$out/gateway_md.c" -o "$out/gateway_md.o"
docs=(-DDOCS="\"$out/gateway_md.c\"" -Wno-unused-function)
"${cc[@]}" "${docs[@]}" "$use/gateway.c" "$lib" -o "$out/gateway"
python3 -B "$use/check_gateway.py" "$out/gateway" "$command" "${bodies[@]}"
sane_cc "${docs[@]}" "$use/gateway.c" "$lib" -o "$out/gateway-sane"
python3 -B "$use/check_gateway.py" "$out/gateway-sane" "$command" "${samples[@]}"
pass ffi-gateway

sane_cc "${docs[@]}" "$use/docs_main.c" "$lib" -o "$out/docs"
"$out/docs" samples/*.sse
"$out/docs" --meter samples/*.sse ${used[@]+"${used[@]}"}
pass ffi-docs

at_hand() { have curl-config; }
at_hand || packages libcurl4-openssl-dev
if at_hand; then
  read -ra curl <<<"$(curl-config --libs)"
  "${cc[@]}" "$use/curl_text.c" "$lib" "${curl[@]}" -o "$out/curl_text"
  python3 -B "$use/check_curl.py" "$out/curl_text" "$command" "${bodies[@]}"
  sane_cc "$use/curl_text.c" "$lib" "${curl[@]}" -o "$out/curl_text-sane"
  python3 -B "$use/check_curl.py" "$out/curl_text-sane" "$command" "${samples[@]}"
  pass ffi-curl
else
  echo "SKIP ffi-curl: libcurl4-openssl-dev is missing (apt-get install, as root)"
fi
