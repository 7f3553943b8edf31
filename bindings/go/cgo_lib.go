//go:build !pkgconfig

package deltawire

// The package links the archive by its path. The archive is one object, which needs no other library. It lies in the
// folder of the package, because "go mod vendor" copies only the folders of packages.

// #cgo linux,386 LDFLAGS: ${SRCDIR}/libdeltawire_linux_386.a
// #cgo linux,amd64 LDFLAGS: ${SRCDIR}/libdeltawire_linux_amd64.a
// #cgo linux,arm LDFLAGS: ${SRCDIR}/libdeltawire_linux_arm.a
// #cgo linux,arm64 LDFLAGS: ${SRCDIR}/libdeltawire_linux_arm64.a
// #cgo linux,riscv64 LDFLAGS: ${SRCDIR}/libdeltawire_linux_riscv64.a
// #cgo darwin,amd64 LDFLAGS: ${SRCDIR}/libdeltawire_darwin_amd64.a
// #cgo darwin,arm64 LDFLAGS: ${SRCDIR}/libdeltawire_darwin_arm64.a
// #cgo freebsd,amd64 LDFLAGS: ${SRCDIR}/libdeltawire_freebsd_amd64.a
// #cgo windows,amd64 LDFLAGS: ${SRCDIR}/libdeltawire_windows_amd64.a
// #cgo windows,arm64 LDFLAGS: ${SRCDIR}/libdeltawire_windows_arm64.a
import "C"
