#!/usr/bin/env bash
# count.sh [--update]: counts the instructions of an event in fixed scenarios, with callgrind. They must be within 3 %
# of benches/instructions.txt, up or down; --update regenerates the table. A control checks that slightly more work for each event
# is detected. The work must be linear: an event twice as long takes twice as many instructions.
. "$(dirname "$0")/lib.sh"
table=benches/instructions.txt
[ "$(uname -sm)" = "Linux x86_64" ] || skip "the table is of x86-64 under Linux"
have valgrind || packages valgrind
have valgrind || skip "valgrind is missing"
need_crates
need_capi
grep -qw avx2 /proc/cpuinfo || skip "the searches take another path on a processor without AVX2"
# Versions, besides the library itself, that the numbers depend on.
versions=("rustc:$(rustc -V)")
[ "${1:-}" = --update ] || table_is_of $table "${versions[@]}"
out=$TARGET/count
mkdir -p "$out"

DELTAWIRE_BENCH_CAPI=$TARGET/capi DELTAWIRE_BENCH_SIMDJSON=0 CARGO_TARGET_DIR=$out/build cargo build --quiet --locked --release \
  -p deltawire-benches --no-default-features --bin deltawire-benches-count
count=$out/build/release/deltawire-benches-count

# instructions PROGRAM SCENARIO...: prints `EVENTS INSTRUCTIONS`.
instructions() {
  local events log
  log=$(mktemp "$out/log.XXXXXX")
  events=$(timeout 600 valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no \
    --toggle-collect=deltawire_measured "$@" 2>"$log") || { cat "$log" >&2 && fail "${*:2}"; }
  echo "$events $(sed -n 's/^.*Collected : \([0-9]*\)$/\1/p' "$log")"
  rm -f "$log"
}
# each PROGRAM SCENARIO [slower]: prints the instructions of one event.
each() {
  local events all
  read -r events all < <(instructions "$@")
  [ "${all:-0}" -gt 0 ] && [ "$events" -gt 0 ] || fail "callgrind counted nothing for $2"
  echo $(((all + events / 2) / events))
}

mapfile -t scenarios < <("$count" list)
new=$out/instructions.txt
{
  echo "# Instructions an event: scripts/count.sh."
  printf '# %s\n' "${versions[@]/:/: }"
  printf '%s\n' "${scenarios[@]}" | COUNT=$count xargs -P 2 -I{} bash -c "$(declare -f instructions each fail); out='$out' STEP='$STEP'"'; got=$(each "$COUNT" {}) && echo "{} $got"'
} >"$new.unsorted"
{
  grep '^#' "$new.unsorted"
  for scenario in "${scenarios[@]}"; do grep "^$scenario " "$new.unsorted" || fail "$scenario was not counted"; done
} >"$new"
if [ "${1:-}" = --update ]; then
  cp "$new" $table
  cat $table
  exit
fi

[ "$(grep -cv '^#' "$table")" = "${#scenarios[@]}" ] || fail "$table has other scenarios"
table_holds $table "$new" "instructions an event"
pass count-table

# Control: slightly more work for each event.
got=$(each "$count" content slower)
[ "$(off "$got" "$(sed -n 's/^content //p' $table)")" -gt 300 ] || fail "a slower library is not detected: content takes $got"
pass count-control

# An event twice as long.
for slice in 1 1460 whole; do
  read -r _ four < <(instructions "$count" linear 4 $slice)
  read -r _ eight < <(instructions "$count" linear 8 $slice)
  ratio=$((eight * 1000 / four))
  echo "8 MiB : 4 MiB, slices of $slice: 2 * $((ratio / 2000)).$(printf %03d $((ratio / 2 % 1000)))"
  [ "$ratio" -ge 1900 ] && [ "$ratio" -le 2100 ] || fail "an event twice as long takes $ratio thousandths of the work in slices of $slice"
done
pass count-linear
