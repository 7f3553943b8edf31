#!/usr/bin/env bash
# Floods of MIB mebibytes, 1024 if nothing is said, each in a process of its own: visits a byte, and the peak of memory.
. "$(dirname "$0")/lib.sh"
need_crates
MIB=${1:-1024}
tests() { cargo test --quiet --locked -p deltawire --all-features --lib stream::flood_tests "$@"; }
names=$(tests -- --list | sed -n 's/: test$//p')
[ -n "$names" ] || fail "there are no floods"
count=0
for name in $names; do
  DELTAWIRE_FLOOD=$MIB cargo test --quiet --locked -p deltawire --all-features --lib -- --exact "$name" --show-output >"$TARGET/flood.txt" 2>&1 || {
    cat "$TARGET/flood.txt"
    fail "$name"
  }
  grep '^flood of' "$TARGET/flood.txt" || fail "$name said nothing"
  count=$((count + 1))
done
echo "$count floods of $MIB MiB"
pass
