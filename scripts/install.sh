#!/usr/bin/env bash
# install.sh PACKAGE...: tries to get Debian packages at the pinned version, else at whichever there is.
# Quietly does nothing where it cannot; the caller looks for itself. INSTALL=0 forbids it.
. "$(dirname "$0")/lib.sh"
[ "${INSTALL:-1}" != 0 ] && [ "$(id -u)" = 0 ] && have apt-get || exit 0
export DEBIAN_FRONTEND=noninteractive
apt=(timeout 600 apt-get -qq -y -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o DPkg::Lock::Timeout=120)
"${apt[@]}" update >/dev/null 2>&1 </dev/null || true
pinned=("${@/%/=$DEBIAN_RUST_VERSION.*}")
"${apt[@]}" install --no-install-recommends "${pinned[@]}" >/dev/null 2>&1 </dev/null ||
  "${apt[@]}" install --no-install-recommends "$@" >/dev/null 2>&1 </dev/null || true
