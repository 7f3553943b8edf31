// The rows of Go: the package in bindings/go, and what a program without it does: bufio and encoding/json.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
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
				all.bytes += uint64(len(content))
				for _, b := range content {
					all.hash = (all.hash ^ uint64(b)) * 0x100000001b3
				}
			}
		}
		if pass > 0 {
			best = min(best, time.Since(start).Nanoseconds())
		}
	}
	fmt.Printf("%s\t%d\t%d %d %016x\n", name, best, all.texts, all.bytes, all.hash)
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
