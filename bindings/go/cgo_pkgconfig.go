//go:build pkgconfig

package deltawire

// #cgo pkg-config: deltawire
import "C"
