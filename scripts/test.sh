#!/usr/bin/env bash
# test.sh [STEP...]: runs every step, or those, and counts. REQUIRE_ALL=1: what is skipped, by a step or by a single test,
# has failed. What a step says is in "$TARGET/logs/STEP.log"; here are its PASS and SKIP lines and its figures (`NOTE `),
# and of a step that fails the end of its log, at once and once more behind everything.
. "$(dirname "$0")/lib.sh"
steps=(fmt clippy doc deny tests asan golden cross wasm emulate proof header misuse ffi_proof abi ffi_c ffi_cpp ffi_go ffi_use readme ship count size fuzz)
[ $# -eq 0 ] || steps=("$@")
for step in "${steps[@]}"; do [ -e "scripts/$step.sh" ] || fail "there is no scripts/$step.sh"; done
logs=$TARGET/logs
mkdir -p "$logs"

# end_of LOG LINES: its last lines, none of them long.
end_of() { tail -n "$2" "$1" | cut -c1-200 | sed 's/^/    /'; }

[ -z "${DELTAWIRE_THIN:-}" ] || echo "NOTE DELTAWIRE_THIN=$DELTAWIRE_THIN: the tests try so manyth of what they try else"
passed=0 failed=0 skips=() broken=() took=()
for step in "${steps[@]}"; do
  log=$logs/$step.log
  echo "== $step (meanwhile: $log)"
  began=$SECONDS status=0
  bash "scripts/$step.sh" </dev/null >"$log" 2>&1 || status=$?
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
