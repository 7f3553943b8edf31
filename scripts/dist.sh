#!/usr/bin/env bash
# Makes an archive for people without Rust, in "$TARGET/dist": the files of `make install`, the Go package, a README.
# The same commit and the same tools make the same archive, byte for byte.
. "$(dirname "$0")/lib.sh"
export LC_ALL=C
for tool in gcc tar gzip; do have "$tool" || fail "$tool is missing"; done
capi_names
machine=$(gcc -dumpmachine)
name=deltawire-$VERSION-$machine
mkdir -p "$TARGET/dist"
out=$(cd "$TARGET/dist" && pwd)
work=$(mktemp -d "$out/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
dir=$work/$name

need_capi fail
PREFIX=$dir DESTDIR='' LIBDIR=lib bash scripts/prefix.sh install
cp LICENSE-MIT LICENSE-APACHE "$dir"
sed "s|@VERSION@|$VERSION|g; s|@SERIES@|${VERSION%.*}|g; s|@SONAME@|$SONAME|g; s|@SHARED@|$SHARED|g; s|@LIBDIR@|lib|g
  s|@MACHINE@|$machine|g" capi/pkg/README.md >"$dir/README.md"
if [ -e bindings/go/go.mod ]; then
  mkdir "$dir/go"
  # Omit the tests, which need the rest of the project, and archives of other machines.
  tar -C bindings/go --exclude='*.a' --exclude='*_test.go' -cf - . | tar -C "$dir/go" -xf -
  cp LICENSE-MIT LICENSE-APACHE "$dir/go"
  go_lib "$dir/go"
fi
chmod -R u=rwX,go=rX "$dir"

time=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
tar -C "$work" --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mtime="@$time" -cf - "$name" |
  gzip -9n >"$work/tar.gz"
mv "$work/tar.gz" "$out/$name.tar.gz"
echo "$out/$name.tar.gz"
