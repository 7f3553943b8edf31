#!/usr/bin/env bash
# count.sh [--update]: counts the instructions of an event in fixed scenarios, with callgrind. They must be within 3 %
# of benches/instructions.txt, up or down; --update regenerates the table. More work for each event must be
# detected. The work must be linear: an event twice as long takes twice as many instructions.
. "$(dirname "$0")/lib.sh"
table=benches/instructions.txt
[ "$(uname -sm)" = "Linux x86_64" ] || skip "the table is of x86-64 under Linux"
have valgrind || packages valgrind
have valgrind || skip "valgrind is missing"
need_crates
need_capi
grep -qw avx2 /proc/cpuinfo || skip "memchr takes another way on a processor without AVX2"
# Versions, besides the library itself, that the numbers depend on.
compiler=$(rustc -V) memchr=$(grep -A1 '^name = "memchr"$' Cargo.lock | sed -n 's/^version = "\(.*\)"$/\1/p')
if [ "${1:-}" != --update ]; then
  [ -e $table ] || fail "$table is missing (count.sh --update)"
  for expected in "rustc:$compiler" "memchr:memchr $memchr"; do
    stated=$(sed -n "s/^# ${expected%%:*}: //p" $table)
    [ "$stated" = "${expected#*:}" ] || skip "$table is of $stated; this is ${expected#*:} (count.sh --update)"
  done
fi
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
# off GOT EXPECTED: prints the difference in hundredths of a percent.
off() { echo $((($1 - $2) * 10000 / $2)); }

mapfile -t scenarios < <("$count" list)
new=$out/instructions.txt
{
  echo "# Instructions an event: scripts/count.sh."
  echo "# rustc: $compiler"
  echo "# memchr: memchr $memchr"
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

wrong=0
while read -r scenario got; do
  expected=$(sed -n "s/^$scenario //p" $table)
  [ -n "$expected" ] || fail "$table has no $scenario (count.sh --update)"
  by=$(off "$got" "$expected")
  printf '%-20s %8d  (%+d.%02d %%)\n' "$scenario" "$got" $((by / 100)) $((${by#-} % 100))
  if [ "$by" -gt 300 ]; then
    echo "count: $scenario takes $got instructions an event; $table says $expected" >&2
    wrong=1
  elif [ "$by" -lt -300 ]; then
    echo "count: $scenario takes only $got instructions an event; $table says $expected: write it anew (count.sh --update)" >&2
    wrong=1
  fi
done < <(grep -v '^#' "$new")
[ "$(grep -cv '^#' "$table")" = "${#scenarios[@]}" ] || { echo "count: $table has other scenarios" >&2 && wrong=1; }
[ $wrong = 0 ] || fail "the table does not hold"
pass count-table

# Control: slightly more work for each event.
got=$(each "$count" content slower)
[ "$(off "$got" "$(sed -n 's/^content //p' $table)")" -gt 300 ] || fail "a slower library is not caught: content takes $got"
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
