//go:build !cgo

package deltawire

// Without cgo there is nothing to build here: set CGO_ENABLED=1 and have a C compiler. (Go turns cgo off by itself where
// it finds no compiler, and when it builds for another machine.) The next line is an error whose text says so.
var _ = deltawire_needs_cgo_and_a_C_compiler
