#!/usr/bin/env bash
# bench_ffi.sh [SHAPE [BYTES [ROUNDS]]]: measures the cost of an event through each language's interface, on one stream.
# The task is the same for all: append the unescaped content of choice 0 to a buffer. Slices of 0: one event each of 100,000
# streams in turn, of which callgrind also counts how many lines of 64 bytes an event touches that a cache of 1 MiB has not: those
# of the stream's own state. Prints tables for docs/benchmarks.md. Rows whose tools or files are missing are skipped and reported.
. "$(dirname "$0")/lib.sh"
shape=${1:-content} bytes=${2:-4000000} rounds=${3:-9} slices=16384,1448,256,64,0
have gcc || skip "gcc is missing"
have python3 || skip "python3 is missing"
need_crates
need_capi
out=$TARGET/bench-ffi
mkdir -p "$out"
include=$TARGET/capi/include lib=$TARGET/capi/libdeltawire.a

cargo build --quiet --locked --release -p deltawire-benches --bin deltawire-benches-file
rust=$TARGET/release/deltawire-benches-file
events=$("$rust" write "$shape" "$bytes" "$out/stream.sse")
rows=("$rust rows")

gcc -O2 -std=c99 -Wall -Wextra -Werror -I"$include" benches/ffi/rows.c "$lib" -o "$out/rows-c"
rows+=("$out/rows-c")
if have g++ && [ -e "$include/deltawire.hpp" ]; then
  g++ -O2 -std=c++17 -Wall -Wextra -Werror -I"$include" benches/ffi/rows.cpp "$lib" -o "$out/rows-cpp"
  rows+=("$out/rows-cpp")
else
  echo "without C++: g++ or deltawire.hpp is missing" >&2
fi
if find_go && [ -e bindings/go/go.mod ]; then
  mkdir -p "$out/go"
  cp benches/ffi/go/main.go "$out/go/"
  go_module "$out/go" rows "$out/rows-go"
  rows+=("$out/rows-go")
  version=", $("$go" version | cut -d' ' -f3)"
else
  echo "without Go: go or bindings/go is missing" >&2
fi

echo "Command: \`bash scripts/bench_ffi.sh $shape $bytes $rounds\`."
echo "Machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) cores, $(uname -m)."
echo "Versions: $(rustc -V), $(gcc --version | head -1)${version:-}."
python3 -B benches/ffi/run.py "$events" "$(stat -c %s "$out/stream.sse")" "$out/stream.sse" "$rounds" "$slices" -- "${rows[@]}"

# lines NAME FUNCTION PROGRAM...: of turn 6 to 9, so that what is touched but once does not count.
lines() {
  local name=$1 function=$2 misses=() turns
  shift 2
  for turns in 1 5; do
    misses+=("$(valgrind --tool=callgrind --callgrind-out-file=/dev/null --cache-sim=yes --D1=32768,8,64 --LL=1048576,16,64 \
      --collect-atstart=no --toggle-collect="$function" "$@" "$out/stream.sse" 0 "$turns" 2>&1 |
      sed -n 's/,//g; s/.*LLd misses: *\([0-9]*\).*/\1/p')")
  done
  awk -v name="$name" -v all=$((misses[1] - misses[0])) 'BEGIN { printf "| %s | %.1f |\n", name, all / 400000 }'
}
if have valgrind; then
  printf '\n| 100,000 streams in turn | lines an event |\n|---|--:|\n'
  lines "Rust, pull" event_by_pull "$rust" rows
  lines "Rust, push" event_by_push "$rust" rows
  lines "C, callbacks" event_by_callbacks "$out/rows-c"
  lines "C, batches of 64" event_by_batch "$out/rows-c"
else
  echo "without lines: valgrind is missing" >&2
fi
