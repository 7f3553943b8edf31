#!/usr/bin/env bash
# Checks the package for crates.io: its files, the links in its documents, and that its documentation says which feature an item needs;
# in `make test-full` also that the unpacked package passes its own tests.
. "$(dirname "$0")/lib.sh"
for tool in git python3; do have "$tool" || skip "$tool is missing"; done
need_crates
out=$TARGET/package-check
rm -rf "$out"
mkdir -p "$out"

cargo package --locked --allow-dirty -p deltawire --list >"$out/list.txt"
# The package must have these files, among them those that its tests read.
git ls-files src tests examples/*.rs samples docs include README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE Cargo.lock >"$out/wanted.txt"
[ "$(wc -l <"$out/wanted.txt")" -gt 300 ] || fail "git lists few files"
lacks=$(sort "$out/list.txt" | comm -23 <(sort "$out/wanted.txt") - | head -n 5)
[ -z "$lacks" ] || fail "the package lacks $lacks"
if grep -vE '^(\.cargo_vcs_info\.json|Cargo\.(toml|toml\.orig|lock)|LICENSE-(MIT|APACHE)|[A-Z]+\.md|(src|tests|samples|docs)/.*|examples/[a-z_]+\.rs|include/deltawire\.(h|hpp)|bindings/go/README\.md)$' \
  "$out/list.txt"; then fail "the package has these files, too"; fi

cargo package --quiet --locked --allow-dirty --no-verify -p deltawire --target-dir "$out" 2>"$out/said.txt" || fail "$(cat "$out/said.txt")"
# Unpack it elsewhere: below this folder it would belong to the workspace.
away=$(mktemp -d)
trap 'rm -rf "$away"' EXIT
tar -C "$away" -xzf "$out"/package/deltawire-*.crate
root=$(echo "$away"/deltawire-*)
size=$(stat -c %s "$out"/package/deltawire-*.crate)
[ "$size" -lt 2000000 ] || fail "the package has $size bytes"
echo "NOTE the package has $size bytes"
python3 - "$root" <<'PY' || fail "dead links in the package"
import os
import re
import sys

root, dead = sys.argv[1], 0
for folder, _, names in os.walk(root):
    for name in names:
        if not name.endswith(".md"):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            text = re.sub(r"```.*?```", "", file.read(), flags=re.S)
        for link in re.findall(r"\]\(([^)\s]+)\)|\[[^]]+\]: (\S+)", text):
            link = (link[0] or link[1]).split("#")[0]
            if link and "://" not in link and not link.startswith("mailto:"):
                if not os.path.exists(os.path.join(folder, link)):
                    print(f"{os.path.join(folder, name)}: {link}")
                    dead += 1
sys.exit(dead > 0)
PY
for word in description license readme keywords categories rust-version documentation; do
  grep -q "^$word = " "$root/Cargo.toml" || fail "the manifest has no $word"
done
pass package-contents

# In a separate target folder, because cargo takes packages of the same name for one. The same tests ran here with more cuts.
if in_full; then
  (cd "$root" && CARGO_TARGET_DIR=$out/tests DELTAWIRE_THIN=53 cargo test --quiet --locked --offline --all-features --lib --tests --examples) \
    >"$out/tests.txt" 2>&1 || fail "the package fails its own tests: $(tail -40 "$out/tests.txt")"
  pass package-tests
fi

# Makes the documentation as docs.rs does, which uses a nightly compiler.
RUSTC_BOOTSTRAP=1 RUSTDOCFLAGS='--cfg docsrs -D warnings' cargo doc --quiet --locked -p deltawire --no-deps --all-features --target-dir "$out/doc"
grep -q 'Available on.*feature.*alloc' "$out/doc/doc/deltawire/chat/struct.OwnedUpdate.html" || fail "the documentation does not say which feature an item needs"
if find "$out/doc/doc" -name struct.Movable.html | grep .; then fail "items that only the C interface needs are documented"; fi
pass
