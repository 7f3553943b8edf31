# shellcheck shell=bash
# Sourced by every script here. A step says `PASS name`, or `SKIP name: reason`, or fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/versions.sh
. scripts/versions.sh

STEP=$(basename "$0" .sh)
# shellcheck disable=SC2034  # for the steps
TARGET=${CARGO_TARGET_DIR:-$PWD/target}
export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-never}

# Recorded streams and conformance cases lie beside the project, if anywhere.
if [ -z "${DELTAWIRE_CORPUS:-}" ] && [ -d ../shared/corpus ]; then
  DELTAWIRE_CORPUS=$(cd ../shared/corpus && pwd)
  export DELTAWIRE_CORPUS
fi

pass() { echo "PASS ${1:-$STEP}"; }
skip() {
  echo "SKIP $STEP: $1"
  exit 0
}
fail() {
  echo "$STEP: $1" >&2
  exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

# need_crates [cargo arguments]: the step is skipped where neither cache nor network has the locked crates.
need_crates() {
  have cargo || skip "cargo is missing"
  local host said
  host=$(rustc -vV | sed -n 's/^host: //p')
  said=$(cargo fetch --quiet --locked --target "$host" "$@" 2>&1) && return
  # A lock file that does not fit is a fault of the project, not of the network.
  case $said in *--locked*) fail "$said" ;; esac
  skip "the crates of Cargo.lock are neither cached nor to be fetched"
}
