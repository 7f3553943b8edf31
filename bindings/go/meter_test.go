package deltawire

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// meterLine returns the line of a meter that examples/event_log.rs writes.
func meterLine(word string, at int, m Meter) string {
	line := fmt.Sprintf("%s %d", word, at)
	token := func(name string, t Token) {
		if t.Kind != TokenNone {
			line += fmt.Sprintf(" %s=%d:%d:%d", name, uint32(t.Kind), t.Event, t.Offset)
		}
	}
	token("first", m.First)
	token("last", m.Last)
	line += fmt.Sprintf(" events=%d/%d content=%d/%d reasoning=%d/%d refusal=%d/%d arguments=%d/%d calls=%d", m.TokenEvents, m.Events,
		m.Content.Bytes, m.Content.Chars, m.Reasoning.Bytes, m.Reasoning.Chars, m.Refusal.Bytes, m.Refusal.Chars,
		m.Arguments.Bytes, m.Arguments.Chars, m.Calls)
	for _, name := range m.CallNames {
		line += named("name", []byte(name))
	}
	line += named("model", []byte(m.Model)) + named("id", []byte(m.ID)) + named("finish", []byte(m.FinishText)) +
		named("error", []byte(m.Error)) + named("tool_usage", []byte(m.ToolUsage))
	line += fmt.Sprintf(" kind=%d", uint32(m.Finish))
	usage := func(name string, u Usage) {
		if u.Has == 0 {
			return
		}
		var counts []string
		for bit, count := range []uint64{u.Prompt, u.Completion, u.Total, u.Reasoning, u.Cached, u.PromptAudio, u.CompletionAudio,
			u.AcceptedPrediction, u.RejectedPrediction, u.CacheWrite} {
			if u.Has>>bit&1 == 1 {
				counts = append(counts, strconv.FormatUint(count, 10))
			} else {
				counts = append(counts, "-")
			}
		}
		line += fmt.Sprintf(" %s=%s", name, strings.Join(counts, ","))
	}
	usage("usage", m.Usage)
	usage("iterations", m.Iterations)
	usage("other_iterations", m.OtherIterations)
	return line
}

// TestRustMeters compares the meter at each cut of the streams in DELTAWIRE_LOGS, before and after the end, with that of
// the Rust library.
func TestRustMeters(t *testing.T) {
	folder, names := rustLogs(t)
	compared := 0
	type known struct {
		word string
		at   int
		line string
	}
	compare := func(r *Reader, want known, context ...any) {
		m, ok := r.Meter()
		if got := meterLine(want.word, want.at, m); !ok || got != want.line {
			t.Fatalf("%v:\n got  %s\n want %s", context, got, want.line)
		}
		compared++
	}
	for nth, path := range names {
		stream, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(filepath.Join(folder, filepath.Base(path)+".meter"))
		if err != nil {
			t.Fatal(err)
		}
		var lines []known
		for line := range strings.Lines(string(file)) {
			want := known{line: strings.TrimSuffix(line, "\n")}
			if _, err := fmt.Sscan(line, &want.word, &want.at); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, want)
		}
		size := 1 // of a read
		if len(stream) > 20_000 {
			size = 61
		}
		opts := []Option{WithMeter(), WithMaxEventLen(4 << 20)}
		if nth%2 == 0 {
			opts = append(opts, WithEvents())
		}
		fed, from := NewReader(nil, opts...), 0
		for at := 0; at < len(stream); {
			next := min(at+size, len(stream))
			fed.Feed(stream[at:next])
			at = next
			for fed.Next() {
			}
			for lines[from+1].word == "from" && lines[from+1].at <= at {
				from++
			}
			compare(fed, lines[from], filepath.Base(path), at)
		}
		r := NewReader(nil, append(opts, WithReadSize(1448))...)
		for _, want := range lines {
			if want.word == "cut" {
				r.Reset(bytes.NewReader(stream[:want.at]))
				for r.Next() {
				}
				compare(r, want, filepath.Base(path), "cut")
			}
		}
	}
	t.Logf("%d streams, %d meters", len(names), compared)
}

// TestMeter checks what the logs of TestRustMeters do not have: readers without a meter, and meters that outlive theirs.
func TestMeter(t *testing.T) {
	stream := sample(t, "weather.sse")
	for name, r := range map[string]*Reader{
		"no meter": NewReader(bytes.NewReader(stream)), "not made": {}, "wrong options": NewReader(nil, WithMeter(), WithReadSize(0)),
		"any stream": NewReader(bytes.NewReader(stream), WithMeter(), WithSSE()),
	} {
		for r.Next() {
		}
		if m, ok := r.Meter(); ok {
			t.Errorf("%s: %+v", name, m)
		}
	}
	// Next may be behind: the meter has what was read. A reset clears it, and what was returned stays.
	r := NewReader(bytes.NewReader(stream), WithMeter())
	if empty, ok := r.Meter(); !ok || empty.Events != 0 || empty.First != (Token{}) || empty.CallNames != nil {
		t.Errorf("before the first read: %+v, %v", empty, ok)
	}
	r.Next()
	m, _ := r.Meter()
	if m.TokenEvents < 3 || m.First.Kind != TokenCall || m.First.Event != 1 || m.Last.Offset <= m.First.Offset || m.CallNames[0] != "get_weather" {
		t.Errorf("after the first event: %+v", m)
	}
	r.Reset(strings.NewReader(strings.ReplaceAll(string(stream), "get_weather", "xxx_xxxxxxx")))
	if empty, ok := r.Meter(); !ok || empty.Events != 0 || empty.CallNames != nil || m.CallNames[0] != "get_weather" {
		t.Errorf("after a reset: %+v, %v, and before %+v", empty, ok, m)
	}
	// With an assembler, the message and the meter agree.
	var a Assembler
	r = NewReader(bytes.NewReader(stream), WithMeter(), WithEvents(), WithAssembler(&a))
	for r.Next() {
	}
	m, _ = r.Meter()
	if arguments := a.Text(FieldCallArguments, 0, 0); r.Err() != nil || m.Arguments.Bytes != uint64(len(arguments)) ||
		m.Calls != 1 || m.Finish != FinishToolCalls || m.FinishText != "tool_calls" {
		t.Errorf("%v, %+v, arguments %q", r.Err(), m, arguments)
	}
	if usage, known := r.Usage(); known != (m.Usage.Has != 0) || usage != m.Usage {
		t.Errorf("usage %+v, of the meter %+v", usage, m.Usage)
	}
	// Tee has it at any time, and after its reader left.
	r = NewReader(nil, WithMeter(), WithEvents())
	b := r.Tee(&body{bytes.NewReader(stream), nil}, nil, nil)
	io.ReadFull(b, make([]byte, 700))
	before, _ := r.Meter()
	b.Close()
	if after, ok := r.Meter(); !ok || before.TokenEvents != 2 || after.TokenEvents != 2 || after.Arguments != (Amount{2, 2}) || after.Finish != 0 {
		t.Errorf("after a cut: %+v, before: %+v", after, before)
	}
}

// Texts of the longest lengths that a meter keeps fit into the memory that C fills.
func TestMeterTexts(t *testing.T) {
	long := func(n int) string { return strings.Repeat("é", n) }
	input := `data: {"id":"` + long(100) + `","model":"` + long(100) + `","choices":[{"delta":{"tool_calls":[`
	for call := range 9 {
		input += fmt.Sprintf(`{"index":%d,"id":"%d","function":{"name":"%d%s"}},`, call, call, call, long(40))
	}
	input = strings.TrimSuffix(input, ",") + `]},"finish_reason":"` + long(100) + `"}],"error":{"type":"` + long(100) + "\"}}\n\n"
	r := NewReader(strings.NewReader(input), WithMeter())
	for r.Next() {
	}
	m, ok := r.Meter()
	if !ok || m.Model != long(64) || m.ID != long(64) || m.FinishText != long(32) || m.Error != long(64) || len(m.CallNames) != 8 || m.Calls != 9 {
		t.Errorf("%+v", m)
	}
	for call, name := range m.CallNames {
		if name != strconv.Itoa(call)+long(31) {
			t.Errorf("name %d: %q", call, name)
		}
	}
}
