package deltawire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"testing"
)

// chunked is a stream of n content chunks, as they come from the API.
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

// inReads gives its input in reads of at most that size.
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

// What one writes by hand to compare with: bufio for the lines, encoding/json for the chunks.

type refChunk struct {
	ID      string      `json:"id"`
	Model   string      `json:"model"`
	Created uint64      `json:"created"`
	Choices []refChoice `json:"choices"`
	Usage   *refUsage   `json:"usage"`
	Error   *refError   `json:"error"`
}

type refChoice struct {
	Index        uint32   `json:"index"`
	Delta        refDelta `json:"delta"`
	Text         string   `json:"text"`
	FinishReason string   `json:"finish_reason"`
}

type refDelta struct {
	Role             string    `json:"role"`
	Content          string    `json:"content"`
	ReasoningContent *string   `json:"reasoning_content"`
	Reasoning        *string   `json:"reasoning"`
	Refusal          string    `json:"refusal"`
	ToolCalls        []refCall `json:"tool_calls"`
	FunctionCall     *struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function_call"`
}

type refCall struct {
	Index    uint64 `json:"index"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type refUsage struct {
	Prompt        uint64 `json:"prompt_tokens"`
	Completion    uint64 `json:"completion_tokens"`
	Total         uint64 `json:"total_tokens"`
	PromptDetails struct {
		Cached uint64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning uint64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

type refError struct {
	Message string `json:"message"`
}

// refEvents gives the data of each event, in order. A last event without its blank line counts.
func refEvents(src io.Reader, event func(data []byte) error) error {
	lines := bufio.NewReader(src)
	var data []byte
	some := false
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return err
		}
		ended := err == io.EOF
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if field, value, _ := bytes.Cut(line, []byte(":")); string(field) == "data" {
			if some {
				data = append(data, '\n')
			}
			data, some = append(data, bytes.TrimPrefix(value, []byte(" "))...), true
		}
		if (len(line) == 0 || ended) && some {
			if err := event(data); err != nil {
				return err
			}
			data, some = data[:0], false
		}
		if ended {
			return nil
		}
	}
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
				texts := 0
				err := refEvents(src, func(data []byte) error {
					if string(data) == "[DONE]" {
						return nil
					}
					var c refChunk
					if err := json.Unmarshal(data, &c); err != nil {
						return err
					}
					for i := range c.Choices {
						if c.Choices[i].Delta.Content != "" {
							texts++
						}
					}
					return nil
				})
				if texts != benchChunks || err != nil && err != io.EOF {
					b.Fatal(texts, err)
				}
			}
			perEvent(b)
		})
	}
}
