#!/usr/bin/env bash
# go_lib.sh [FOLDER]: the archive and the header that the Go package in FOLDER (bindings/go) is built with.
. "$(dirname "$0")/lib.sh"
to=${1:-bindings/go}
have rustc || fail "rustc is missing"
# The machine that Rust builds for: a kernel may be of another (64 bits under a 32-bit system).
arch=$(go_arch "$(rustc -vV | sed -n 's/^host: //p')")
need_capi fail
# put FROM TO: only where it differs, for the sake of Go's cache.
put() {
  mkdir -p "${2%/*}"
  cmp -s "$1" "$2" || install -m 644 "$1" "$2"
}
put "$TARGET/capi/libdeltawire.a" "$to/lib/linux_$arch/libdeltawire.a"
put include/deltawire.h "$to/deltawire.h"
