package deltawire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// fedLog returns the log of a stream that is fed in pieces. It feeds late pieces before it takes their events.
func fedLog(r *Reader, input []byte, size, late int) []string {
	var events []string
	take := func() {
		for r.Next() {
			if line := lineOf(r.Event()); line != "" {
				events = append(events, line)
			}
		}
	}
	for n, at := 0, 0; at < len(input); n, at = n+1, at+size {
		piece := bytes.Clone(input[at:min(at+size, len(input))])
		r.Feed(piece)
		if late > 1 && n%late == 0 && r.Next() { // take one event of several
			if line := lineOf(r.Event()); line != "" {
				events = append(events, line)
			}
		}
		if (n+1)%late == 0 {
			take()
			for i := range piece {
				piece[i] = 'x' // the reader must not read it any more
			}
		}
	}
	r.Finish()
	take()
	return append(events, logOf(r)...)
}

// Fed bytes make the same events as bytes from a source, whenever the events are taken.
func TestFeed(t *testing.T) {
	fed := NewReader(nil, logged())
	for _, c := range quirkCases(t) {
		if len(c.opts) > 0 || c.storage >= 0 {
			continue
		}
		for _, size := range []int{1, 7, 1448} {
			for _, late := range []int{1, 3, 1 << 30} {
				if late > 1 && len(c.input)/size > 5000 {
					continue
				}
				fed.Reset(nil)
				if got := fedLog(fed, c.input, size, late); !slices.Equal(got, c.log) {
					t.Errorf("%s, pieces of %d, %d at a time: %s", c.title, size, late, difference(got, c.log))
				}
			}
		}
	}
	least := memory{block: 512, array: 1, scratch: 64, blockGrows: true}.option()
	for _, s := range samples(t) {
		want := logOf(NewReader(bytes.NewReader(s.bytes), logged()))
		for _, size := range readSizes {
			if got := fedLog(NewReader(nil, logged(), least), s.bytes, size, 2); !slices.Equal(got, want) {
				t.Errorf("%s, pieces of %d: %s", s.name, size, difference(got, want))
			}
		}
	}
}

// Next returns each event once its last byte is fed, and Err returns nil before the end.
func TestFeedPrompt(t *testing.T) {
	r := NewReader(nil, WithEvents(KindContent))
	for n := range 3 {
		if n > 0 && r.Err() != nil {
			t.Errorf("in the middle: %v", r.Err())
		}
		r.Feed([]byte(contentChunk[:20]))
		if r.Next() {
			t.Error("an event of half a chunk")
		}
		r.Feed([]byte(contentChunk[20:]))
		if !r.Next() || r.Event().TextString() != `some "words" of text` || r.Next() || r.Event().Kind != KindNone {
			t.Errorf("%v", r.Event())
		}
	}
	r.Finish()
	if r.Next() || r.Err() != ErrTruncated {
		t.Errorf("%v", r.Err())
	}
}

// If Next has not taken all events, Feed copies the new bytes to memory of its own. It never appends to the caller's.
func TestFeedLeavesMemory(t *testing.T) {
	memory := []byte(contentChunk + contentChunk)
	r := NewReader(nil, WithEvents(KindContent))
	r.Feed(memory[:20])
	r.Feed([]byte("xxxx"))
	r.Feed([]byte("yyyy"))
	if string(memory) != contentChunk+contentChunk {
		t.Errorf("%q", memory)
	}
}

func TestFeedAllocates(t *testing.T) {
	r := NewReader(nil)
	chunk := []byte(contentChunk)
	feed := func() {
		r.Feed(chunk)
		for r.Next() {
		}
	}
	feed()
	if allocs := testing.AllocsPerRun(100, feed); allocs != 0 {
		t.Errorf("%v allocations a piece", allocs)
	}
}

func TestFeedMisuse(t *testing.T) {
	ends := func(name string, r *Reader, want error) {
		t.Helper()
		for r.Next() {
		}
		if !errors.Is(r.Err(), want) {
			t.Errorf("%s: %v, want %v", name, r.Err(), want)
		}
	}
	r := NewReader(strings.NewReader(contentChunk))
	r.Feed([]byte(contentChunk))
	ends("Feed with a source", r, errFedSource)
	r.Reset(strings.NewReader(contentChunk))
	r.Finish()
	ends("Finish with a source", r, errFedSource)
	r.Reset(nil)
	ends("neither", r, errNoSource)
	r.Finish()
	ends("only the end", r, ErrEmpty)
	r.Reset(nil)
	r.Finish()
	r.Feed([]byte(contentChunk))
	ends("Feed after Finish", r, errFedEnd)
	zero := new(Reader)
	zero.Feed([]byte(contentChunk))
	zero.Finish()
	zero.Reset(nil)
	ends("the zero Reader", zero, errNotMade)
	wrong := NewReader(nil, WithMaxDepth(0))
	wrong.Feed([]byte(contentChunk))
	if wrong.Next() || wrong.Err() == nil || wrong.Err().Error() != "deltawire: WithMaxDepth(0): at least 1" {
		t.Errorf("a wrong option: %v", wrong.Err())
	}
	for e, err := range NewReader(nil).Events() {
		if e != nil || err != errNoSource {
			t.Errorf("%v, %v", e, err)
		}
	}
	for _, n := range []int{-1, 1 << 20} {
		r := NewReader(readerFunc(func([]byte) (int, error) { return n, nil }))
		if r.Next() || r.Err() == nil || !strings.Contains(r.Err().Error(), fmt.Sprintf("a count of %d for 16384 bytes", n)) {
			t.Errorf("a source that returns %d: %v", n, r.Err())
		}
	}
	for name, opts := range map[string][]Option{"WithSSE": {WithSSE()}, "nil": {nil}, "an assembler": {WithAssembler(nil)}} {
		if m, err := ReadMessage(strings.NewReader(contentChunk), opts...); m != nil || err == nil {
			t.Errorf("ReadMessage, %s: %v, %v", name, m, err)
		}
	}
	var a Assembler
	ends("an assembler of any stream", NewReader(strings.NewReader(contentChunk), WithAssembler(&a), WithSSE()), errNoMessage)
	if m, err := ReadMessage(bytes.NewReader(sample(t, "content.sse")), WithAssembler(&a)); err != nil ||
		a.Text(FieldContent, 0, 0) != m.Choices[0].Message.Content {
		t.Errorf("ReadMessage with an assembler: %v", err)
	}
}

// If the source fails, Err wraps both its error and the reason why the stream is incomplete. After [DONE] it returns
// nil.
func TestSourceFails(t *testing.T) {
	fault := errors.New("the line is dead")
	finished := strings.Replace(contentChunk, "null", `"stop"`, 1)
	for _, c := range []struct {
		input string
		is    []error
		text  string
	}{
		{contentChunk, []error{fault, ErrTruncated}, "deltawire: the stream was cut: the line is dead"},
		{contentChunk + "data: {\"cho", []error{fault, ErrTruncated}, "deltawire: the stream was cut: the line is dead"},
		{"", []error{fault, ErrEmpty}, "deltawire: the stream is empty: the line is dead"},
		{finished, []error{fault}, "the line is dead"},
		{finished + "data: [DONE]\n\n", nil, "<nil>"},
		{"data: {\"error\":{\"message\":\"no\"}}\n\n", []error{fault}, "deltawire: the API reported an error: no: the line is dead"},
	} {
		var a Assembler
		r := NewReader(io.MultiReader(strings.NewReader(c.input), iotest.ErrReader(fault)), WithAssembler(&a))
		last, text := error(nil), ""
		for e, err := range r.Events() {
			last = err
			if err == nil && e.Kind == KindContent {
				text = e.TextString()
			}
		}
		if last != r.Err() || fmt.Sprint(last) != c.text || !r.End().Finished || r.Next() {
			t.Errorf("%q: %v, %v, %+v", c.input, last, r.Err(), r.End())
		}
		if strings.HasPrefix(c.input, contentChunk[:20]) && text != `some "words" of text` {
			t.Errorf("%q: content %q", c.input, text)
		}
		for _, is := range c.is {
			if !errors.Is(last, is) {
				t.Errorf("%q: %v is not %v", c.input, last, is)
			}
		}
	}
}

// A response is also incomplete if the assembler left something out.
func TestAssemblerLimit(t *testing.T) {
	var many strings.Builder
	for i := range 257 {
		fmt.Fprintf(&many, `"m%d":1,`, i)
	}
	var a Assembler
	r := NewReader(strings.NewReader("data: {"+many.String()+`"choices":[{"delta":{"content":"c"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n"), WithAssembler(&a))
	for r.Next() {
	}
	if !errors.Is(r.Err(), ErrIncomplete) || !strings.Contains(r.Err().Error(), "Length") || a.Limit() != LimitLength || !r.End().Complete {
		t.Errorf("%v, %v", r.Err(), a.Limit())
	}
}

func retained(r *Reader) int {
	return len(r.block)*8 + len(r.events)*64 + len(r.scratch) + len(r.buf) + cap(r.joined) + cap(r.in)
}

// Reset gives back the memory that a large event took, and keeps the rest.
func TestResetGivesBack(t *testing.T) {
	large := "data: {\"choices\":[{\"delta\":{\"content\":\"" + strings.Repeat(`words\n`, 1<<19) + "\"}}]}\n\n"
	for _, opts := range [][]Option{nil, {WithMaxChoices(128), WithMaxToolCalls(1024)}, {memory{block: 512, array: 1, scratch: 64, blockGrows: true}.option()}} {
		var a Assembler
		r := NewReader(nil, append(opts, WithAssembler(&a), WithMaxEventLen(8<<20))...)
		first := retained(r)
		for _, source := range []bool{true, false} {
			if source {
				r.Reset(strings.NewReader(large))
			} else {
				r.Reset(nil)
				r.Feed([]byte(large))
				r.Finish()
			}
			for r.Next() {
			}
			if source && (retained(r) < 3<<20 || len(a.block) < 3<<17) {
				t.Errorf("%d bytes, and %d words of a message", retained(r), len(a.block))
			}
			r.Reset(nil)
			if got := retained(r); got > first+3*keptMemory || len(a.block)*8 > keptMemory {
				t.Errorf("%d bytes after Reset, %d at first; %d words of a message", got, first, len(a.block))
			}
		}
		// The reader then reads as a new one does.
		r.Reset(bytes.NewReader(sample(t, "weather.sse")))
		if got, want := logOf(r), logOf(NewReader(bytes.NewReader(sample(t, "weather.sse")))); !slices.Equal(got, want) || a.Text(FieldCallName, 0, 0) != "get_weather" {
			t.Error(difference(got, want))
		}
		if testing.AllocsPerRun(10, func() { r.Reset(nil) }) != 0 {
			t.Error("Reset allocates")
		}
	}
}

func TestWriter(t *testing.T) {
	input := sample(t, "weather.sse")
	var want []string
	for r := NewReader(bytes.NewReader(input)); r.Next(); {
		want = append(want, lineOf(r.Event()))
	}
	var got []string
	r := NewReader(nil)
	w := r.Writer(func(e *Event) { got = append(got, lineOf(e)) })
	copied, err := io.Copy(w, iotest.OneByteReader(bytes.NewReader(input)))
	if err != nil || copied != int64(len(input)) || w.Close() != nil || w.Close() != nil || !slices.Equal(got, want) {
		t.Errorf("%d bytes, %v, %v: %s", copied, err, r.Err(), difference(got, want))
	}
	if n, err := w.Write([]byte("data: x\n\n")); n != 0 || err != io.ErrClosedPipe || r.Err() != nil {
		t.Errorf("after Close: %d, %v, %v", n, err, r.Err())
	}
	// No stream makes a Write fail, so a tee goes on.
	for name, r := range map[string]*Reader{"strict": NewReader(nil, WithStrict()), "a wrong option": NewReader(nil, nil),
		"a source": NewReader(strings.NewReader("")), "zero": new(Reader)} {
		w := r.Writer(nil)
		for range 3 {
			if n, err := w.Write([]byte("data: : ping\n\n")); n != 14 || err != nil {
				t.Errorf("%s: %d, %v", name, n, err)
			}
		}
		if len(r.in) != 0 {
			t.Errorf("%s: keeps %d bytes that nothing reads", name, len(r.in))
		}
		if err := w.Close(); err == nil || err != r.Err() {
			t.Errorf("%s: %v, %v", name, err, r.Err())
		}
	}
}

type body struct {
	io.Reader
	closed error
}

func (b *body) Close() error { return b.closed }

func TestTee(t *testing.T) {
	fault, close := errors.New("the line is dead"), errors.New("closed twice")
	whole := sample(t, "weather.sse")
	for _, c := range []struct {
		name string
		src  io.Reader
		read int // bytes before Close; -1: all
		want error
	}{
		{"whole", bytes.NewReader(whole), -1, nil},
		{"whole, the end with the last bytes", iotest.DataErrReader(bytes.NewReader(whole)), -1, nil},
		{"cut", bytes.NewReader(whole[:len(whole)-200]), -1, ErrTruncated},
		{"failed", io.MultiReader(bytes.NewReader(whole[:900]), iotest.ErrReader(fault)), -1, fault},
		{"closed", bytes.NewReader(whole), 900, ErrAborted},
		{"closed, so not whole", bytes.NewReader(whole), 900, ErrTruncated},
		{"closed, not by the source", bytes.NewReader(whole), 900, ErrClosed},
		{"closed after the last event", bytes.NewReader(whole), len(whole), nil},
		{"cut, not by Close", bytes.NewReader(whole[:len(whole)-200]), -1, io.ErrUnexpectedEOF},
	} {
		events, ends := 0, 0
		r := NewReader(nil)
		b := r.Tee(&body{c.src, close}, func(*Event) { events++ }, func() { ends++ })
		var got []byte
		var err error
		if c.read < 0 {
			got, err = io.ReadAll(b)
		} else {
			got = make([]byte, c.read)
			_, err = io.ReadFull(b, got)
		}
		if !bytes.HasPrefix(whole, got) || c.want == nil && len(got) != len(whole) || (err != nil) != (c.want == fault) {
			t.Errorf("%s: %d bytes, %v", c.name, len(got), err)
		}
		for range 2 {
			if b.Close() != close || ends != 1 || !errors.Is(r.Err(), c.want) || errors.Is(r.Err(), ErrClosed) != (c.read == 900) ||
				(r.End().Verdict == VerdictAborted) != (c.read == 900) || errors.Is(r.Err(), ErrAborted) != (c.read == 900) ||
				(c.want == nil) != (r.Err() == nil) || events == 0 {
				t.Errorf("%s: %v, %d events, %d ends", c.name, r.Err(), events, ends)
			}
		}
	}
	if b := NewReader(nil).Tee(&body{bytes.NewReader(whole), nil}, nil, nil); b.Close() != nil {
		t.Error("without functions")
	}
}

// "go vet" reports copies of a Reader and an Assembler.
func TestCopies(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the package once more")
	}
	folder := t.TempDir()
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"go.mod": "module copies\n\ngo 1.24\n\nrequire deltawire.dev/go v0.0.0\n\nreplace deltawire.dev/go => " + here + "\n",
		"main.go": `package main

import deltawire "deltawire.dev/go"

func main() {
	r, a := deltawire.NewReader(nil), new(deltawire.Assembler)
	s, b := *r, *a
	println(&s, &b)
}
`,
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	vet := exec.Command("go", "vet", ".")
	vet.Dir = folder
	out, err := vet.CombinedOutput()
	for _, want := range []string{"copies lock value to s: deltawire.dev/go.Reader", "copies lock value to b: deltawire.dev/go.Assembler"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("go vet does not report %q: %v\n%s", want, err, out)
		}
	}
}
