// The contenders of Go: the package in bindings/go, and bufio with encoding/json into structs of the needed members.
// Commands and answers are those of src/contenders/child.rs; at the end of an answer is how often the program
// allocated.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	deltawire "deltawire.dev/go"
)

// source returns a response in slices.
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

type sums struct{ events, choices, calls, usage, text, hash uint64 }

type sink struct {
	sums
	content, reasoning, arguments, names []byte
	check                                bool
}

func (s *sink) choice(index uint32) { s.choices += uint64(index) + 1 }

func (s *sink) call(choice, index uint32) {
	s.choice(choice)
	s.calls += uint64(index) + 1
}

// end of a response.
func (s *sink) end() {
	for _, text := range []*[]byte{&s.content, &s.reasoning, &s.arguments, &s.names} {
		s.text += uint64(len(*text))
		if s.check {
			hash := s.hash ^ 0xcbf29ce484222325
			for _, b := range *text {
				hash = (hash ^ uint64(b)) * 0x100000001b3
			}
			s.hash = hash ^ uint64(len(*text))
		}
		*text = (*text)[:0]
	}
}

var (
	wanted = deltawire.WithEvents(deltawire.KindChunk, deltawire.KindContent,
		deltawire.KindReasoning, deltawire.KindToolCall, deltawire.KindToolName, deltawire.KindToolArguments,
		deltawire.KindFinish, deltawire.KindUsage, deltawire.KindDone)
	src    source
	reader = deltawire.NewReader(&src, wanted)
	lines  = bufio.NewScanner(nil)
	line   = make([]byte, 0, 1<<20)
)

func byDeltawire(s *sink) {
	reader.Reset(&src)
	if !take(reader, s) && !reader.End().Finished {
		panic(reader.Err())
	}
}

// take reads the pending events, and reports whether [DONE] was the last of them.
func take(reader *deltawire.Reader, s *sink) bool {
	for reader.Next() {
		e := reader.Event()
		switch e.Kind {
		case deltawire.KindChunk:
			s.events++
		case deltawire.KindContent:
			s.choice(e.Choice)
			s.content = append(s.content, e.Text...)
		case deltawire.KindReasoning:
			s.choice(e.Choice)
			s.reasoning = append(s.reasoning, e.Text...)
		case deltawire.KindToolCall:
			if len(e.Text) > 0 {
				s.call(e.Choice, uint32(e.Number))
				s.names = append(s.names, e.Text...)
			}
		case deltawire.KindToolName:
			s.call(e.Choice, e.Call)
			s.names = append(s.names, e.Text...)
		case deltawire.KindToolArguments:
			s.call(e.Choice, e.Call)
			s.arguments = append(s.arguments, e.Text...)
		case deltawire.KindFinish:
			s.choice(e.Choice)
			s.names = append(s.names, e.Text...)
		case deltawire.KindUsage:
			usage, _ := e.Usage()
			s.usage += usage.Prompt + usage.Completion + usage.Total
		case deltawire.KindDone:
			return true
		}
	}
	return false
}

type chunk struct {
	Choices []struct {
		Index uint32 `json:"index"`
		Delta struct {
			Content          string `json:"content"`
			Reasoning        string `json:"reasoning"`
			ReasoningContent string `json:"reasoning_content"`
			ToolCalls        []struct {
				Index    uint32 `json:"index"`
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     uint64 `json:"prompt_tokens"`
		Completion uint64 `json:"completion_tokens"`
		Total      uint64 `json:"total_tokens"`
	} `json:"usage"`
}

func byJSON(s *sink) {
	lines = bufio.NewScanner(&src)
	lines.Buffer(line, 1<<21)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if !ok {
			continue
		}
		data = bytes.TrimSpace(data)
		if string(data) == "[DONE]" {
			return
		}
		var c chunk
		if err := json.Unmarshal(data, &c); err != nil {
			panic(err)
		}
		s.events++
		for i := range c.Choices {
			choice := &c.Choices[i]
			for _, text := range []string{choice.Delta.ReasoningContent, choice.Delta.Reasoning} {
				if text != "" {
					s.choice(choice.Index)
					s.reasoning = append(s.reasoning, text...)
				}
			}
			if choice.Delta.Content != "" {
				s.choice(choice.Index)
				s.content = append(s.content, choice.Delta.Content...)
			}
			for i := range choice.Delta.ToolCalls {
				call := &choice.Delta.ToolCalls[i]
				for _, text := range []string{call.ID, call.Function.Name} {
					if text != "" {
						s.call(choice.Index, call.Index)
						s.names = append(s.names, text...)
					}
				}
				if call.Function.Arguments != "" {
					s.call(choice.Index, call.Index)
					s.arguments = append(s.arguments, call.Function.Arguments...)
				}
			}
			if choice.FinishReason != "" {
				s.choice(choice.Index)
				s.names = append(s.names, choice.FinishReason...)
			}
		}
		if c.Usage != nil {
			s.usage += c.Usage.Prompt + c.Usage.Completion + c.Usage.Total
		}
	}
	if lines.Err() != nil {
		panic(lines.Err())
	}
}

// nanoseconds returns how long this thread has run, without the time of the collector on other threads.
func nanoseconds() int64 {
	const threadCPU = 3
	var now syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, threadCPU, uintptr(unsafe.Pointer(&now)), 0); errno != 0 {
		panic(errno)
	}
	return now.Nano()
}

// Of streams that read in turn.
const (
	step  = 61_803 // has no divisor in common with the number of streams, so that no prefetcher guesses the order
	warm  = 4      // turns before any is timed, in which every shape of event comes
	turns = 9
)

// inTurn lets each of many streams, which share a workspace, read the next event of one of the responses in every turn,
// and returns the median of the nanoseconds.
func inTurn(responses [][]byte, streams int, s *sink) int64 {
	workspace := deltawire.NewWorkspace()
	readers := make([]*deltawire.Reader, streams)
	for i := range readers {
		readers[i] = deltawire.NewReader(nil, wanted, deltawire.WithWorkspace(workspace), deltawire.WithReadSize(512))
	}
	events, rests := make([][]byte, len(responses)), slices.Clone(responses)
	var times []int64
	for range warm + turns {
		for i, rest := range rests {
			end := bytes.Index(rest, []byte("\n\n")) + 2
			events[i], rests[i] = rest[:end], rest[end:]
		}
		runtime.GC()
		start := nanoseconds()
		for nth := 1; nth <= streams; nth++ {
			stream := nth * step % streams
			readers[stream].Feed(events[stream%len(events)])
			take(readers[stream], s)
		}
		times = append(times, nanoseconds()-start)
		s.end()
	}
	times = times[warm:]
	slices.Sort(times)
	return times[turns/2]
}

func load(path string) (responses [][]byte) {
	file, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	for len(file) > 0 {
		end := 8 + binary.LittleEndian.Uint64(file)
		responses = append(responses, file[8:end:end])
		file = file[end:]
	}
	return responses
}

func main() {
	runtime.LockOSThread()
	read := byDeltawire
	if os.Args[1] == "json" {
		read = byJSON
	}
	inputs := map[string][][]byte{}
	var s sink
	commands := bufio.NewScanner(os.Stdin)
	for commands.Scan() {
		words := strings.Split(commands.Text(), "\t")
		responses, ok := inputs[words[1]]
		if !ok {
			responses = load(words[1])
			inputs[words[1]] = responses
		}
		slice, err := strconv.Atoi(words[2])
		if err != nil {
			panic(err)
		}
		s.sums, s.check = sums{}, words[0] == "check"
		if words[0] == "turns" {
			time := inTurn(responses, slice, &s)
			fmt.Println(time, s.events, s.choices, s.calls, s.usage, s.text, s.hash)
			continue
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := nanoseconds()
		for _, response := range responses {
			src = source{response, slice}
			read(&s)
			s.end()
		}
		time := nanoseconds() - start
		runtime.ReadMemStats(&after)
		fmt.Println(time, s.events, s.choices, s.calls, s.usage, s.text, s.hash, after.Mallocs-before.Mallocs)
	}
}
