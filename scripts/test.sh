#!/usr/bin/env bash
# test.sh [STEP...]: runs all steps, or the given ones, and counts the results. With REQUIRE_ALL=1 everything that a step or a single
# test skips counts as failed. The output of a step is in "$TARGET/logs/STEP.log". This script prints the PASS and SKIP lines and the
# figures (`NOTE `) of each step. If a step fails, it prints the end of its log at once, and again at the end. Two steps run at a time:
# those that build in separate folders run beside the others.
. "$(dirname "$0")/lib.sh"
steps=(format clippy doc circles deny tests writing replay abi ffi_c ffi_cpp ffi_go ffi_use readme ship)
apart=(emulate wasm asan proof fuzz header misuse ffi_proof apps package count size gateways)
! in_full || apart+=(cross)
if [ $# -gt 0 ]; then steps=("$@") apart=(); fi
logs=$TARGET/logs
rm -rf "$logs"
mkdir -p "$logs"
# No build is repeated, so the files for incremental builds are not needed.
export CARGO_INCREMENTAL=0

# end_of LOG LINES: prints the last lines of the log, cut to 200 columns.
end_of() { tail -n "$2" "$1" | cut -c1-200 | sed 's/^/    /'; }

# run STEP...: runs the steps one after the other. "$logs/STEP.took" has the status of each, its seconds, and its processor seconds.
TIMEFORMAT='%0U %0S'
run() {
  local step log began status user system
  for step in "$@"; do
    log=$logs/$step.log began=$SECONDS status=0
    echo "== $step (meanwhile: $log)"
    { time make -s "$step" </dev/null >"$log" 2>&1; } 2>"$logs/$step.cpu" || status=$?
    if [ "$status" -eq 0 ] && ! grep -qE '^(PASS|SKIP) ' "$log"; then
      echo "$step: the step printed no PASS or SKIP" >>"$log"
      status=1
    fi
    read -r user system <"$logs/$step.cpu"
    echo "$status $((SECONDS - began)) $((user + system))" >"$logs/$step.took"
    {
      grep -E '^(PASS|SKIP|NOTE) ' "$log" || true
      if [ "$status" -ne 0 ]; then
        end_of "$log" 60
        echo "FAIL $step: status $status, $log"
      fi
      echo "   $step: $((SECONDS - began)) s"
    } >"$logs/$step.said"
    # Write the report at once, so that the reports of two steps do not mix.
    cat "$logs/$step.said"
  done
}
run ${apart[@]+"${apart[@]}"} &
# In a separate shell, too, so that the processor seconds of the two are not mixed.
run "${steps[@]}" &
wait

echo "== all"
passed=0 skips=() broken=() took=()
for step in "${steps[@]}" ${apart[@]+"${apart[@]}"}; do
  status=1 seconds=0 busy=0
  # Without this file the step was interrupted.
  if [ -e "$logs/$step.took" ]; then read -r status seconds busy <"$logs/$step.took"; else : >>"$logs/$step.log"; fi
  took+=("$seconds $busy $step")
  [ "$status" -eq 0 ] || broken+=("$step")
  passed=$((passed + $(grep -c '^PASS ' "$logs/$step.log" || true)))
  while read -r line; do skips+=("$line"); done < <(grep '^SKIP ' "$logs/$step.log" || true)
done
printf '%s\n' "${took[@]}" | sort -rn | awk '{ printf "%6d s  %s, %d s of processors\n", $1, $3, $2; all += $2 } END { printf "%6d s  of processors\n", all }'
printf '%6d s  in all\n' "$SECONDS"
failed=${#broken[@]} skipped=${#skips[@]}
if [ "$skipped" -gt 0 ]; then
  printf '%s\n' "${skips[@]}"
  if [ "${REQUIRE_ALL:-0}" = 1 ]; then
    echo "REQUIRE_ALL=1: these $skipped count as failed"
    failed=$((failed + skipped)) skipped=0
  fi
fi
for step in ${broken[@]+"${broken[@]}"}; do
  echo "FAIL $step:"
  end_of "$logs/$step.log" 15
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
