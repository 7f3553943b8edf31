//go:build cgo

package deltawire

import (
	"fmt"
	"strings"
)

// Each type has a list of names in the order of its numbers. TestNames compares each name with that of the constant.

// nameOf returns the name of a number, or Type(number) if it has none.
func nameOf[T ~uint16 | ~uint32](typ string, number T, names []string) string {
	if uint64(number) < uint64(len(names)) && names[number] != "" {
		return names[number]
	}
	return fmt.Sprintf("%s(%d)", typ, uint32(number))
}

// namesOf returns the names of the set bits, joined by |, or None if no bit is set. It writes the bits without a name
// as one number.
func namesOf[T ~uint16 | ~uint32](typ string, bits T, names []string) string {
	if bits == 0 {
		return "None"
	}
	var set []string
	for bit, name := range names {
		if mask := T(1) << bit; name != "" && bits&mask != 0 {
			set = append(set, name)
			bits &^= mask
		}
	}
	if bits != 0 {
		set = append(set, fmt.Sprintf("%s(%#x)", typ, uint32(bits)))
	}
	return strings.Join(set, "|")
}
