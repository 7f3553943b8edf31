// The rows of Go: the package in bindings/go, and what a program without it does: bufio and encoding/json. With slices of 0,
// many streams that share a workspace read one event each in turn.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	deltawire "deltawire.dev/go"
)

var done = []byte("data: [DONE]\n\n")

// source gives a response in slices.
type source struct {
	rest  []byte
	slice int
}

func (s *source) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), s.slice)], s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

type sums struct{ texts, bytes, hash uint64 }

func (s *sums) add(content []byte) {
	s.bytes += uint64(len(content))
	for _, b := range content {
		s.hash = (s.hash ^ uint64(b)) * 0x100000001b3
	}
}

// row times passes, after one that warms up and is checked.
func row(name string, passes int, responses [][]byte, read func(response []byte, content []byte) ([]byte, uint64)) {
	var content []byte
	all := sums{hash: 0xcbf29ce484222325}
	best := int64(math.MaxInt64) // what a neighbour on the machine took is in none but by chance
	for pass := 0; pass <= passes; pass++ {
		start := time.Now()
		for _, response := range responses {
			var texts uint64
			content, texts = read(response, content[:0])
			if pass == 0 {
				all.texts += texts
				all.add(content)
			}
		}
		if pass > 0 {
			best = min(best, time.Since(start).Nanoseconds())
		}
	}
	fmt.Printf("%s\t%d\t%d %d %016x\n", name, best, all.texts, all.bytes, all.hash)
}

const (
	streams = 100_000 // that read in turn
	step    = 61_803  // no divisor in common with streams, so that no prefetcher guesses the order
	warm    = 4       // turns before anything is timed, in which every shape of event is seen
)

// turns times turns: in each, every stream reads its next event, which read is given.
func turns(name string, passes int, responses [][]byte, read func(stream int, event []byte, content []byte) ([]byte, uint64)) {
	var content []byte
	all := sums{hash: 0xcbf29ce484222325}
	best := int64(math.MaxInt64)
	events, rests, stream := make([][]byte, len(responses)), slices.Clone(responses), 0
	for turn := range warm + passes {
		for i, rest := range rests {
			end := bytes.Index(rest, []byte("\n\n")) + 2
			events[i], rests[i] = rest[:end], rest[end:]
		}
		runtime.GC()
		content = content[:0]
		start := time.Now()
		for range streams {
			var texts uint64
			stream = (stream + step) % streams
			content, texts = read(stream, events[stream%len(events)], content)
			all.texts += texts
		}
		if t := time.Since(start).Nanoseconds(); turn >= warm {
			best = min(best, t)
		}
		all.add(content)
	}
	fmt.Printf("%s\t%d\t%d %d %016x\n", name, best, all.texts, all.bytes, all.hash)
}

func inTurn(passes int, responses [][]byte) {
	workspace := deltawire.NewWorkspace()
	readers := make([]*deltawire.Reader, streams)
	for i := range readers {
		readers[i] = deltawire.NewReader(nil, deltawire.WithEvents(deltawire.KindContent), deltawire.WithWorkspace(workspace),
			deltawire.WithReadSize(512))
	}
	turns("Go, deltawire", passes, responses, func(stream int, event, content []byte) ([]byte, uint64) {
		var texts uint64
		reader := readers[stream]
		reader.Feed(event)
		for reader.Next() {
			if e := reader.Event(); e.Kind == deltawire.KindContent && e.Choice == 0 {
				content = append(content, e.Text...)
				texts++
			}
		}
		return content, texts
	})
}

type chunk struct {
	Choices []struct {
		Index uint32 `json:"index"`
		Delta struct {
			Content string `json:"content"`
		} `json:"delta"`
	} `json:"choices"`
}

func main() {
	file, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	slice, _ := strconv.Atoi(os.Args[2])
	passes, _ := strconv.Atoi(os.Args[3])
	responses := bytes.SplitAfter(file, done)
	if last := len(responses) - 1; len(responses[last]) == 0 {
		responses = responses[:last]
	}

	if slice == 0 {
		inTurn(passes, responses)
		return
	}
	src := &source{slice: slice}
	reader := deltawire.NewReader(src, deltawire.WithEvents(deltawire.KindContent))
	row("Go, deltawire", passes, responses, func(response, content []byte) ([]byte, uint64) {
		var texts uint64
		src.rest = response
		reader.Reset(src)
		for reader.Next() {
			if e := reader.Event(); e.Kind == deltawire.KindContent && e.Choice == 0 {
				content = append(content, e.Text...)
				texts++
			}
		}
		if !reader.End().Finished {
			panic(reader.Err())
		}
		return content, texts
	})

	lines := bufio.NewReaderSize(nil, 64<<10)
	row("Go, bufio and encoding/json", passes, responses, func(response, content []byte) ([]byte, uint64) {
		var texts uint64
		src.rest = response
		lines.Reset(src)
		for {
			line, err := lines.ReadSlice('\n')
			if err == io.EOF {
				return content, texts
			}
			if err != nil {
				panic(err)
			}
			data, ok := bytes.CutPrefix(line, []byte("data: "))
			if !ok || bytes.HasPrefix(data, []byte("[DONE]")) {
				continue
			}
			var c chunk
			if err := json.Unmarshal(data, &c); err != nil {
				panic(err)
			}
			for _, choice := range c.Choices {
				if choice.Index == 0 && choice.Delta.Content != "" {
					content = append(content, choice.Delta.Content...)
					texts++
				}
			}
		}
	})
}
