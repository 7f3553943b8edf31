package deltawire

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
)

// tiny makes batches stop inside events.
func tiny(s *settings) { s.array, s.scratch, s.block, s.mayGrow = 1, 64, 8, false }

// eventsOf reads a stream and returns its events, one a line, and its error.
func eventsOf(stream []byte, step int, opts ...Option) string {
	r := NewReader(nil, opts...)
	var out strings.Builder
	note := func() {
		for r.Next() {
			e := r.Event()
			fmt.Fprintln(&out, e.Kind, e.Flags, e.Choice, e.Call, e.Code, e.Number, string(e.Text), string(e.Aux), e.Start, e.End)
		}
	}
	for at := 0; at < len(stream); at += step {
		r.Feed(stream[at:min(at+step, len(stream))])
		note()
	}
	r.Finish()
	note()
	fmt.Fprintln(&out, r.Err())
	return out.String()
}

// Readers that share a workspace in two goroutines emit the same events as a reader without one.
func TestWorkspace(t *testing.T) {
	files, err := filepath.Glob("../../samples/*.sse")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	w := NewWorkspace()
	var wg sync.WaitGroup
	for half := range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for round := range 3 {
				for n, file := range files {
					stream, err := os.ReadFile(file)
					if err != nil {
						t.Error(err)
						return
					}
					if half == 1 {
						stream = bytes.ReplaceAll(stream, []byte("\n"), []byte("\r\n"))
					}
					step := 1 + (n*37+half*11)%200
					opts := []Option{}
					if round == 1 {
						opts = append(opts, tiny)
					}
					alone := eventsOf(stream, step, opts...)
					shared := eventsOf(stream, step, append(opts, WithWorkspace(w))...)
					if alone != shared {
						t.Errorf("%s, goroutine %d, round %d: not what it is alone:\n%s\n%s", file, half, round, alone, shared)
					}
				}
				w.Clear()
			}
		}()
	}
	wg.Wait()
}

// Several readers share a workspace in turn, each with a source, and Reset between two streams.
func TestWorkspaceInTurn(t *testing.T) {
	const stream = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n" +
		"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	w := NewWorkspace()
	var readers []*Reader
	for range 5 {
		readers = append(readers, NewReader(nil, WithWorkspace(w)))
	}
	alone := NewReader(nil)
	if len(readers[0].block) >= len(alone.block) {
		t.Errorf("a block of %d words, %d alone", len(readers[0].block), len(alone.block))
	}
	for range 3 {
		texts := make([]string, len(readers))
		for _, r := range readers {
			r.Reset(iotest.OneByteReader(strings.NewReader(stream)))
		}
		for open := true; open; {
			open = false
			for i, r := range readers {
				if r.Next() {
					open = true
					if r.Event().Kind == KindContent {
						texts[i] += string(r.Event().Text)
					}
				}
			}
		}
		for i, r := range readers {
			if texts[i] != "ab" || r.Err() != nil {
				t.Errorf("reader %d: %q, %v", i, texts[i], r.Err())
			}
		}
	}
}

func TestNoWorkspace(t *testing.T) {
	for _, w := range []*Workspace{nil, {}} {
		r := NewReader(strings.NewReader("data: x\n\n"), WithWorkspace(w))
		if r.Next() || r.Err() == nil || !strings.Contains(r.Err().Error(), "WithWorkspace") {
			t.Error(r.Err())
		}
	}
}
