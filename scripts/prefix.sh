#!/usr/bin/env bash
# prefix.sh install|uninstall: installs the C library below $DESTDIR$PREFIX, or removes it. LIBDIR: `lib`, or another
# folder below PREFIX.
. "$(dirname "$0")/lib.sh"
PREFIX=${PREFIX:-/usr/local} DESTDIR=${DESTDIR:-} LIBDIR=${LIBDIR:-lib}
LIBDIR=${LIBDIR#"$PREFIX"/}
case $LIBDIR in /* | *..* | '') fail "LIBDIR is a folder below PREFIX" ;; esac
case $DESTDIR$PREFIX in /*) ;; *) fail "DESTDIR and PREFIX are absolute" ;; esac
capi_names
root=$DESTDIR$PREFIX
lib=$root/$LIBDIR
from=$TARGET/capi

case ${1:-} in
  install)
    need_capi fail
    # One `..` for each part of LIBDIR: the installed files find the prefix relative to themselves.
    up=$(printf '%s' "$LIBDIR" | sed 's:[^/][^/]*:..:g')
    pointer=$(($(printf '__SIZEOF_POINTER__' | gcc -E -P -)))
    # fill TEMPLATE TO
    fill() {
      mkdir -p "${2%/*}"
      sed "s|@VERSION@|$VERSION|g; s|@SONAME@|$SONAME|g; s|@SHARED@|$SHARED|g; s|@LIBDIR@|$LIBDIR|g; s|@UP@|$up|g
        s|@POINTER@|$pointer|g" "capi/pkg/$1" >"$2"
      chmod 644 "$2"
    }
    install -d "$root/include" "$lib"
    install -m 644 include/deltawire.h* "$root/include"
    install -m 644 "$from/libdeltawire.a" "$lib"
    install -m 755 "$from/$SHARED" "$lib"
    ln -sfn "$SHARED" "$lib/$SONAME"
    ln -sfn "$SONAME" "$lib/libdeltawire.so"
    fill deltawire.pc "$lib/pkgconfig/deltawire.pc"
    for file in config config-version targets; do
      fill "deltawire-$file.cmake" "$lib/cmake/deltawire/deltawire-$file.cmake"
    done
    ;;
  uninstall)
    rm -f "$root"/include/deltawire.{h,hpp} "$lib"/libdeltawire.{a,so} "$lib/$SONAME" "$lib/$SHARED" \
      "$lib/pkgconfig/deltawire.pc" "$lib"/cmake/deltawire/deltawire-{config,config-version,targets}.cmake
    # Remove empty folders, except those that every prefix has.
    for folder in cmake/deltawire cmake pkgconfig; do rmdir "$lib/$folder" 2>/dev/null || true; done
    ;;
  *) fail "install or uninstall?" ;;
esac
