#!/usr/bin/env bash
# Runs every step and counts. REQUIRE_ALL=1: what is skipped, by a step or by a single test, has failed.
. "$(dirname "$0")/lib.sh"
steps=(fmt clippy doc tests golden cross wasm emulate proof header misuse ffi_proof abi ffi_c ffi_cpp ffi_go ffi_use readme ship count)
log=$(mktemp)
trap 'rm -f "$log"' EXIT

passed=0 failed=0 skips=()
for step in "${steps[@]}"; do
  echo "== $step"
  if bash "scripts/$step.sh" </dev/null 2>&1 | tee "$log"; then
    grep -qE '^(PASS|SKIP) ' "$log" || { echo "FAIL $step: it said nothing" && failed=$((failed + 1)); }
  else
    echo "FAIL $step"
    failed=$((failed + 1))
  fi
  passed=$((passed + $(grep -c '^PASS ' "$log" || true)))
  while read -r line; do skips+=("$line"); done < <(grep '^SKIP ' "$log" || true)
done

echo "== all"
skipped=${#skips[@]}
if [ "$skipped" -gt 0 ]; then
  printf '%s\n' "${skips[@]}"
  if [ "${REQUIRE_ALL:-0}" = 1 ]; then
    echo "REQUIRE_ALL=1: these $skipped count as failed"
    failed=$((failed + skipped)) skipped=0
  fi
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
