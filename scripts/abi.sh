#!/usr/bin/env bash
# Compares the binary interface with the record in capi/abi: functions, types, layouts, numbers of constants.
# capi/abi/accepted.txt has the checksum of each accepted record, with the reason.
#   abi.sh                 compares
#   abi.sh --write REASON  records the header's interface (make abi-write REASON=…)
. "$(dirname "$0")/lib.sh"
export LC_ALL=C
have abidiff || packages abigail-tools
for tool in gcc abidw abidiff; do have "$tool" || skip "$tool is missing"; done
[ "$(uname -sm)" = "Linux x86_64" ] || skip "the record is of Linux on x86-64"
capi_names
record=capi/abi/deltawire-${VERSION%.*}.abi
out=$TARGET/capi/abi
mkdir -p "$out"

# dump HEADER FILE: writes the interface of this header.
dump() {
  local work=$2.work
  rm -rf "$work"
  mkdir "$work"
  # A prototype begins at the margin and ends with `);`.
  awk '/^typedef|^#|^\/\/|^}|^extern|^ / && !open { next }
    /^[a-z]/ || open { sub(/ *\/\/.*/, ""); line = open ? line " " $0 : $0; open = 1 }
    open && /;$/ { sub(/;$/, "", line); gsub(/  +/, " ", line); print "FUNCTION(" line ")"; open = 0 }' "$1" >"$work/functions.def"
  grep -oE '^#define DELTAWIRE_[A-Z0-9_]+ +-?[0-9]+u?$' "$1" | sed -E 's/^#define ([A-Z0-9_]+).*/CONSTANT(\1)/' >"$work/constants.def"
  # Every declared function must occur, or the record is incomplete.
  sed -n 's/^FUNCTION(.*\b\(deltawire_[a-z0-9_]*\)(.*/\1/p' "$work/functions.def" | sort | diff capi/exports.txt - ||
    fail "not every function was found in $1"
  mkdir "$work/include"
  cp "$1" "$work/include/deltawire.h"
  gcc -std=c11 -g -gdwarf-4 -fno-eliminate-unused-debug-types -fPIC -shared -Wno-unused-parameter -Wno-return-type \
    -I"$work/include" -I"$work" ffi-tests/abi/abi.c -o "$work/abi.so"
  abidw --no-comp-dir-path --no-corpus-path --no-show-locs --no-architecture --type-id-style hash "$work/abi.so" >"$2"
  # Drop lines that depend on the compiler and on the name of the source.
  sed -i -E "s/ path='[^']*'//; s/ comp-dir-path='[^']*'//; s/ (version|producer)='GNU [^']*'//" "$2"
}

# Fails unless the last line of accepted.txt accepts this record, and gives a reason.
accepted() {
  local sum why
  read -r sum why < <(tail -n 1 "$1")
  [ -n "$why" ] && [ "$sum" = "$(sha256sum <"$2" | cut -c 1-16)" ] ||
    { echo "abi: the last line of $1 does not accept $2: make abi-write REASON=…" >&2; return 1; }
}

if [ "${1:-}" = --write ]; then
  [ -n "${2:-}" ] || fail "give the reason for the change: make abi-write REASON=…"
  mkdir -p capi/abi
  dump include/deltawire.h "$record"
  rm -rf "$record.work"
  echo "$(sha256sum <"$record" | cut -c 1-16) $2" >>capi/abi/accepted.txt
  echo "$record"
  exit
fi

[ -e "$record" ] || fail "there is no $record (make abi-write)"
accepted capi/abi/accepted.txt "$record" || exit 1
# Control: a record without its own reason must be detected.
sed 's/size-in-bits/size_in_bits/' "$record" >"$out/other.abi"
! accepted capi/abi/accepted.txt "$out/other.abi" 2>/dev/null || fail "a record that was not accepted is not detected"
dump include/deltawire.h "$out/now.abi"
# Controls first. control NAME SED WORD: a header changed by SED must be detected, and the report must contain WORD.
control() {
  sed -E "$2" include/deltawire.h >"$out/$1.h"
  cmp -s include/deltawire.h "$out/$1.h" && fail "the control $1 changes nothing in the header"
  dump "$out/$1.h" "$out/$1.abi"
  if abidiff --harmless --no-show-locs "$out/now.abi" "$out/$1.abi" >"$out/$1.log"; then fail "the control $1 was not detected"; fi
  grep -qE "$3" "$out/$1.log" || fail "the control $1 was detected for another reason: $(cat "$out/$1.log")"
}
control member 's/^    uint32_t max_id_len;/    uint64_t max_id_len;/' 'max_id_len'
control name 's/^    uint32_t (choice|call);/    uint32_t other_\1;/' 'other_choice'
control order 's/^    (uint32_t|int32_t|uint8_t|uint64_t) digits;/    int32_t digits;/; s/^    int32_t exp10;/    uint64_t exp10;/' 'exp10'
control number 's/^(#define DELTAWIRE_E_STRICT) -102/\1 -103/' 'DELTAWIRE_E_STRICT'
control parameter 's/^(uint32_t deltawire_message_calls\(const deltawire_message \*m, )uint32_t choice/\1uint16_t choice/' 'deltawire_message_calls'
control answer 's/^uint32_t deltawire_abi/uint64_t deltawire_abi/' 'deltawire_abi'
pass abi-control

if ! abidiff --harmless --no-show-locs "$record" "$out/now.abi" >"$out/diff.txt"; then
  cat "$out/diff.txt"
  fail "the binary interface differs from $record: raise DELTAWIRE_ABI if programs must be compiled again, then make abi-write REASON=…"
fi
pass abi
