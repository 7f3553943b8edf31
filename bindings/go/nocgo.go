//go:build !cgo

package deltawire

// The package needs cgo: set CGO_ENABLED=1 and install a C compiler. (Go turns cgo off if it finds no C compiler, and
// when it builds for another machine.) The next line does not compile, and the error says why.
var _ = deltawire_needs_cgo_and_a_C_compiler
