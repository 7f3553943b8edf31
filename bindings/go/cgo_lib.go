//go:build !pkgconfig

package deltawire

// The archive is linked by its path: one object, which needs no other library. scripts/go_lib.sh puts it there.

// #cgo linux,386 LDFLAGS: ${SRCDIR}/lib/linux_386/libdeltawire.a
// #cgo linux,amd64 LDFLAGS: ${SRCDIR}/lib/linux_amd64/libdeltawire.a
// #cgo linux,arm LDFLAGS: ${SRCDIR}/lib/linux_arm/libdeltawire.a
// #cgo linux,arm64 LDFLAGS: ${SRCDIR}/lib/linux_arm64/libdeltawire.a
// #cgo linux,riscv64 LDFLAGS: ${SRCDIR}/lib/linux_riscv64/libdeltawire.a
// #cgo darwin,amd64 LDFLAGS: ${SRCDIR}/lib/darwin_amd64/libdeltawire.a
// #cgo darwin,arm64 LDFLAGS: ${SRCDIR}/lib/darwin_arm64/libdeltawire.a
// #cgo freebsd,amd64 LDFLAGS: ${SRCDIR}/lib/freebsd_amd64/libdeltawire.a
// #cgo windows,amd64 LDFLAGS: ${SRCDIR}/lib/windows_amd64/libdeltawire.a
// #cgo windows,arm64 LDFLAGS: ${SRCDIR}/lib/windows_arm64/libdeltawire.a
import "C"
