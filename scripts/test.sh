#!/usr/bin/env bash
# test.sh [STEP...]: runs all steps, or the given ones, and counts results. With REQUIRE_ALL=1 a skipped step or test is
# a failure. The output of a step goes to "$TARGET/logs/STEP.log"; this script prints its PASS and SKIP lines and its
# figures (`NOTE `), and for a failed step the end of its log, at once and again at the end.
. "$(dirname "$0")/lib.sh"
steps=(format clippy doc circles deny tests asan cross wasm emulate proof header misuse ffi_proof abi ffi_c ffi_cpp ffi_go ffi_use readme ship count size fuzz)
[ $# -eq 0 ] || steps=("$@")
logs=$TARGET/logs
mkdir -p "$logs"
# Incremental files are useless in a single build.
export CARGO_INCREMENTAL=0

# end_of LOG LINES: prints the last lines, shortened.
end_of() { tail -n "$2" "$1" | cut -c1-200 | sed 's/^/    /'; }

passed=0 failed=0 skips=() broken=() took=()
for step in "${steps[@]}"; do
  log=$logs/$step.log
  echo "== $step (meanwhile: $log)"
  began=$SECONDS status=0
  make -s "$step" </dev/null >"$log" 2>&1 || status=$?
  took+=("$((SECONDS - began)) $step")
  grep -E '^(PASS|SKIP|NOTE) ' "$log" || true
  if [ "$status" -eq 0 ] && ! grep -qE '^(PASS|SKIP) ' "$log"; then
    echo "$step: it said nothing" >>"$log"
    status=1
  fi
  if [ "$status" -ne 0 ]; then
    end_of "$log" 60
    echo "FAIL $step: status $status, $log"
    broken+=("$step")
    failed=$((failed + 1))
  fi
  echo "   $step: $((SECONDS - began)) s"
  passed=$((passed + $(grep -c '^PASS ' "$log" || true)))
  while read -r line; do skips+=("$line"); done < <(grep '^SKIP ' "$log" || true)
done

echo "== all"
printf '%s\n' "${took[@]}" | sort -rn | awk '{ printf "%6d s  %s\n", $1, $2; all += $1 } END { printf "%6d s  in all\n", all }'
skipped=${#skips[@]}
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
