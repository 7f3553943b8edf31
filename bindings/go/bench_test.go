package deltawire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
)

// chunked is a stream of n content chunks, as the API sends them.
func chunked(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `data: {"id":"chatcmpl-Wq7Lz2","object":"chat.completion.chunk","created":1760000001,"model":"gpt-4o-mini",`+
			`"system_fingerprint":"fp_5c1d09ae33","choices":[{"index":0,"delta":{"content":" word%d"},"logprobs":null,`+
			`"finish_reason":null}],"usage":null}`+"\n\n", i)
	}
	b.WriteString("data: [DONE]\n\n")
	return b.Bytes()
}

// inReads returns its input in reads of at most size bytes.
type inReads struct {
	bytes.Reader
	size int
}

func (r *inReads) Read(b []byte) (int, error) { return r.Reader.Read(b[:min(len(b), r.size)]) }

const benchChunks = 1000

func perEvent(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchChunks, "ns/event")
}

var benchSizes = []int{1, 16, 64, 256, 1448, 16384}

func BenchmarkReader(b *testing.B) {
	input := chunked(benchChunks)
	for _, size := range benchSizes {
		b.Run(fmt.Sprint("reads=", size), func(b *testing.B) {
			b.SetBytes(int64(len(input)))
			b.ReportAllocs()
			src := &inReads{size: size}
			r := NewReader(src)
			for b.Loop() {
				src.Reader.Reset(input)
				r.Reset(src)
				texts := 0
				for r.Next() {
					if r.Event().Kind == KindContent {
						texts++
					}
				}
				if texts != benchChunks || r.Err() != nil {
					b.Fatal(texts, r.Err())
				}
			}
			perEvent(b)
		})
	}
}

func BenchmarkReaderContentOnly(b *testing.B) {
	input := chunked(benchChunks)
	b.SetBytes(int64(len(input)))
	b.ReportAllocs()
	src := &inReads{size: 16384}
	r := NewReader(src, WithEvents(KindContent))
	for b.Loop() {
		src.Reader.Reset(input)
		r.Reset(src)
		texts := 0
		for r.Next() {
			texts++
		}
		if texts != benchChunks {
			b.Fatal(texts)
		}
	}
	perEvent(b)
}

func BenchmarkAssembler(b *testing.B) {
	input := chunked(benchChunks)
	b.SetBytes(int64(len(input)))
	b.ReportAllocs()
	for b.Loop() {
		if m, err := ReadMessage(bytes.NewReader(input)); err != nil || m.Choices[0].Message.Content == "" {
			b.Fatal(err)
		}
	}
	perEvent(b)
}

// The hand-written reader to compare with: bufio for the lines, encoding/json for the wanted members of a chunk.
type refChunk struct {
	Choices []struct {
		Delta struct {
			Content string `json:"content"`
		} `json:"delta"`
	} `json:"choices"`
}

func BenchmarkBufioJSON(b *testing.B) {
	input := chunked(benchChunks)
	for _, size := range benchSizes {
		b.Run(fmt.Sprint("reads=", size), func(b *testing.B) {
			b.SetBytes(int64(len(input)))
			b.ReportAllocs()
			src := &inReads{size: size}
			for b.Loop() {
				src.Reader.Reset(input)
				texts, lines := 0, bufio.NewScanner(src)
				for lines.Scan() {
					data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
					if !ok || string(data) == "[DONE]" {
						continue
					}
					var c refChunk
					if err := json.Unmarshal(data, &c); err != nil {
						b.Fatal(err)
					}
					if c.Choices[0].Delta.Content != "" {
						texts++
					}
				}
				if texts != benchChunks || lines.Err() != nil {
					b.Fatal(texts, lines.Err())
				}
			}
			perEvent(b)
		})
	}
}
