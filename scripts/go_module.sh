#!/usr/bin/env bash
# go_module.sh [TARGET...]: makes the Go module of a release, with the archives for these machines (by default linux/amd64 and
# linux/arm64, for which there are tools), so that its users need no Rust. The archives are not checked in. "$TARGET/dist/goproxy" is
# a folder of static files that the "go" command reads as a module proxy (docs/installing.md). The same commit and the same tools
# make the same files, byte for byte.
. "$(dirname "$0")/lib.sh"
export LC_ALL=C
for tool in tar python3; do have "$tool" || skip "$tool is missing"; done
targets=("$@")
[ $# -gt 0 ] || targets=(x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu)
capi_names
mkdir -p "$TARGET/dist"
out=$(cd "$TARGET/dist" && pwd)
work=$(mktemp -d "$out/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
path=$(awk '$1 == "module" { print $2 }' bindings/go/go.mod)
dir=$work/$path@v$VERSION
mkdir -p "$dir"

# foreign TARGET TO: makes the archive for another Linux machine, linked as scripts/capi.sh does it for this one, with Debian's Rust,
# because rustup's has no standard library for that machine.
foreign() {
  local target=$1 tools=${1%%-*}-linux-gnu- at=$work/$1 std
  std=(-Zbuild-std=core --manifest-path capi/Cargo.toml --target "$target")
  have "${tools}ld" || packages "binutils-${1%%-*}-linux-gnu"
  have "${tools}ld" || skip "the package binutils-${1%%-*}-linux-gnu is missing (apt-get install, as root)"
  need_debian_rust
  debian_fetch "${std[@]}"
  "${DEBIAN_CARGO[@]}" rustc --quiet --locked --release "${std[@]}" --target-dir "$TARGET/capi/build" --lib --crate-type staticlib \
    -- "${codegen[@]}"
  mkdir "$at"
  mapfile -t exports <capi/exports.txt
  join_archive "$TARGET/capi/build/$target/release/libdeltawire_capi.a" "$at" "$tools"
  "${tools}nm" -j --defined-only --extern-only "$at/deltawire.o" | sort | diff capi/exports.txt - >&2 || fail "$target: other exports than capi/exports.txt"
  needs=$("${tools}nm" -j --undefined-only "$at/deltawire.o" | sort | comm -13 capi/undefined.txt -)
  [ -z "$needs" ] || fail "$target: needs symbols that capi/undefined.txt does not list: $needs"
  install -m 644 "$at/libdeltawire.a" "$2"
}

# Omit the tests, which need the rest of the project, and the module that is only a test.
tar -C bindings/go --exclude='*.a' --exclude=./deltawire.h --exclude='*_test.go' --exclude=./adapter/clients -cf - . | tar -C "$dir" -xf -
cp LICENSE-MIT LICENSE-APACHE include/deltawire.h "$dir"
host=$(rustc -vV | sed -n 's/^host: //p')
for target in "${targets[@]}"; do
  archive=$dir/libdeltawire_linux_$(go_arch "$target").a
  if [ "$target" = "$host" ]; then
    need_capi
    install -m 644 "$TARGET/capi/libdeltawire.a" "$archive"
  else
    foreign "$target" "$archive"
  fi
  if grep -aqE "/rustc/|\.cargo|$PWD" "$archive"; then fail "${archive##*/} has paths of the machine that made it"; fi
done

# The files of a proxy: https://go.dev/ref/mod#goproxy-protocol
at=$work/goproxy/$path/@v
mkdir -p "$at"
echo "v$VERSION" >"$at/list"
time=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
printf '{"Version":"v%s","Time":"%s"}\n' "$VERSION" "$(date -u -d "@$time" +%Y-%m-%dT%H:%M:%SZ)" >"$at/v$VERSION.info"
cp bindings/go/go.mod "$at/v$VERSION.mod"
python3 - "$work" "$path@v$VERSION" "$at/v$VERSION.zip" <<'PY'
import os, sys, zipfile
root, module, to = sys.argv[1:]
names = sorted(os.path.relpath(os.path.join(at, name), root) for at, _, files in os.walk(os.path.join(root, module)) for name in files)
with zipfile.ZipFile(to, "w") as packed:
    for name in names:
        entry = zipfile.ZipInfo(name)  # in 1980
        entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
        with open(os.path.join(root, name), "rb") as file:
            packed.writestr(entry, file.read(), compresslevel=9)
PY
rm -rf "$out/goproxy"
mv "$work/goproxy" "$out/goproxy"
echo "$out/goproxy"
