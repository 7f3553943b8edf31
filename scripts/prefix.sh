#!/usr/bin/env bash
# prefix.sh install|uninstall: installs the C library below $DESTDIR$PREFIX, or removes it. LIBDIR: `lib`, or another
# folder below PREFIX. It only copies what `make capi` built, so that no compiler runs as root.
. "$(dirname "$0")/lib.sh"
PREFIX=${PREFIX:-/usr/local} DESTDIR=${DESTDIR:-} LIBDIR=${LIBDIR:-lib}
LIBDIR=${LIBDIR#"$PREFIX"/}
case $LIBDIR in /* | *..* | '') fail "LIBDIR is a folder below PREFIX" ;; esac
case $DESTDIR$PREFIX in /*) ;; *) fail "DESTDIR and PREFIX are absolute" ;; esac
capi_names
root=$DESTDIR$PREFIX
lib=$root/$LIBDIR
doc=$root/share/doc/deltawire
from=$TARGET/capi
docs=(README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT docs/languages.md docs/gateway.md docs/installing.md docs/quirks.md
  docs/memory.md docs/promises.md docs/protocols.md docs/threat-model.md docs/vocabulary.md)

case ${1:-} in
  install)
    for file in stamp pointer libdeltawire.a "$SHARED" include/deltawire.h; do
      [ -e "$from/$file" ] || fail "there is no library in $from: run \`make capi\` first, not as root (if CARGO_TARGET_DIR was set for it, set it here too)"
    done
    for header in include/*; do
      cmp -s "$header" "$from/$header" || fail "the library in $from was built with another $header: run \`make capi\` first, not as root"
    done
    # One `..` for each part of LIBDIR: the installed files find the prefix relative to themselves.
    up=$(printf '%s' "$LIBDIR" | sed 's:[^/][^/]*:..:g')
    # fill TEMPLATE TO
    fill() {
      mkdir -p "${2%/*}"
      sed "s|@VERSION@|$VERSION|g; s|@INSTALL_NAME@|$INSTALL_NAME|g; s|@SHARED@|$SHARED|g; s|@LIBDIR@|$LIBDIR|g
        s|@UP@|$up|g; s|@POINTER@|$(cat "$from/pointer")|g" "capi/pkg/$1" >"$2"
      chmod 644 "$2"
    }
    install -d "$root/include" "$lib" "$doc/docs"
    install -m 644 "$from"/include/deltawire.h* "$root/include"
    install -m 644 "$from/libdeltawire.a" "$lib"
    install -m 755 "$from/$SHARED" "$lib"
    ln -sfn "$SHARED" "$lib/$SONAME"
    ln -sfn "$SONAME" "$lib/$SHARED_LINK"
    fill deltawire.pc "$lib/pkgconfig/deltawire.pc"
    for file in config config-version targets; do
      fill "deltawire-$file.cmake" "$lib/cmake/deltawire/deltawire-$file.cmake"
    done
    for file in "${docs[@]}"; do install -m 644 "$file" "$doc/$file"; done
    # Replaces a link to a file that is not installed by its text.
    for file in "${docs[@]/#/$doc/}"; do
      while read -r link; do
        [ -e "${file%/*}/$link" ] && continue
        sed -i.link "s|\[\([^]]*\)\](${link//./\\.}\(#[^)]*\)\{0,1\})|\1|g" "$file"
        rm "$file.link"
      done < <(grep -oE '\]\([A-Za-z0-9_./-]+[)#]' "$file" | tr -d '])(#' | grep '[./]' | sort -u)
    done
    ;;
  uninstall)
    rm -f "$root"/include/deltawire.{h,hpp} "$lib/libdeltawire.a" "$lib/$SHARED_LINK" "$lib/$SONAME" "$lib/$SHARED" \
      "$lib/pkgconfig/deltawire.pc" "$lib"/cmake/deltawire/deltawire-{config,config-version,targets}.cmake "${docs[@]/#/$doc/}"
    # Remove empty folders, except those that every prefix has.
    for folder in "$lib"/cmake/deltawire "$lib"/cmake "$lib"/pkgconfig "$doc/docs" "$doc"; do
      rmdir "$folder" 2>/dev/null || true
    done
    ;;
  *) fail "install or uninstall?" ;;
esac
