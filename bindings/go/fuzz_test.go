package deltawire

import (
	"bytes"
	"slices"
	"testing"
)

// The log and the message depend only on the bytes, not on the reads or the sizes of memory.
func FuzzReader(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s.bytes, uint16(len(s.bytes)/2), uint16(7))
	}
	for _, c := range quirkCases(f) {
		if len(c.input) < 1000 {
			f.Add(c.input, uint16(len(c.input)/3), uint16(1000))
		}
	}
	f.Fuzz(func(t *testing.T, input []byte, cut, every uint16) {
		read := func(src *pieces, opts ...Option) ([]string, string) {
			var a Assembler
			lines := logOf(NewReader(src, append(opts, WithAssembler(&a))...))
			text, err := a.JSON(true)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := a.Message(); err != nil {
				t.Errorf("%v: %s", err, text)
			}
			return lines, string(text)
		}
		lines, text := read(&pieces{input: input})
		for _, cuts := range [][]int{{int(cut)}, cutEvery(max(int(every), 1), len(input))} {
			for _, m := range (&quirkCase{storage: -1}).memories()[:2] {
				got, gotText := read(&pieces{input: input, cuts: cuts}, m.option())
				if !slices.Equal(got, lines) {
					t.Errorf("%s, cut at %v: %s", m.name, cuts[:min(len(cuts), 9)], difference(got, lines))
				}
				if gotText != text {
					t.Errorf("%s, cut at %v:\n   got %s\n  want %s", m.name, cuts[:min(len(cuts), 9)], gotText, text)
				}
			}
		}
		// The frames, one after the other, are the stream.
		at := uint64(0)
		for r := NewReader(bytes.NewReader(input), WithEvents(KindFrame)); r.Next(); {
			e := r.Event()
			if e.Start != at || e.End < e.Start || e.End > uint64(len(input)) {
				t.Fatalf("a frame %d..%d after %d", e.Start, e.End, at)
			}
			at = e.End
		}
	})
}
