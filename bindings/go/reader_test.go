package deltawire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// If the loop is left early, the response is not complete, even if the reader has read all of it.
func TestLeftEarly(t *testing.T) {
	const stream = `data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}` + "\n\n" +
		`data: {"choices":[{"index":0,"delta":{"content":"lo"}}]}` + "\n\ndata: [DONE]\n\n"
	r := NewReader(strings.NewReader(stream))
	for e := range r.Events() {
		if e.Kind == KindContent {
			break
		}
	}
	if end := r.End(); end.Complete || !end.Done {
		t.Errorf("left at the first content: %+v", end)
	}
	for r.Next() {
	}
	if r.Err() != nil || !r.End().Complete {
		t.Errorf("read to its end: %v, %+v", r.Err(), r.End())
	}
}

// The package's copy of the header equals include/deltawire.h.
func TestHeaderCopy(t *testing.T) {
	own, err := os.ReadFile("deltawire.h")
	if err != nil {
		t.Fatal(err)
	}
	header, err := os.ReadFile("../../include/deltawire.h")
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the header of the project is not here")
	}
	if err != nil || !bytes.Equal(own, header) {
		t.Errorf("deltawire.h is not a copy of include/deltawire.h: make go-lib (%v)", err)
	}
}

// endless repeats whole chunks without an end.
type endless struct {
	chunk []byte
	size  int // bytes of a read
	at    int
}

func (s *endless) Read(b []byte) (int, error) {
	b = b[:min(len(b), s.size)]
	n := 0
	for n < len(b) {
		m := copy(b[n:], s.chunk[s.at:])
		s.at = (s.at + m) % len(s.chunk)
		n += m
	}
	return n, nil
}

const contentChunk = `data: {"id":"c-1","object":"chat.completion.chunk","created":1760000001,"model":"m","choices":[{"index":0,` +
	`"delta":{"content":"some \"words\" of text"},"finish_reason":null}]}` + "\n\n"

func TestSteadyState(t *testing.T) {
	long := strings.Replace(contentChunk, "some", strings.Repeat(`x\n`, 500), 1)
	for i, size := range []int{1, 100, 1448, 16384, 16384} {
		chunk := contentChunk
		if i == 4 {
			chunk = long // one read has more decoded text than the initial scratch
		}
		r := NewReader(&endless{chunk: []byte(chunk), size: size})
		next := func() {
			if !r.Next() {
				t.Fatal(r.Err())
			}
		}
		for range 5000 {
			next()
		}
		before := r.Stats()
		if allocs := testing.AllocsPerRun(5000, next); allocs != 0 {
			t.Errorf("reads of %d: %v allocations an event", size, allocs)
		}
		after := r.Stats()
		reads, calls := after.Reads-before.Reads, after.Calls-before.Calls
		if reads == 0 || calls != reads {
			t.Errorf("reads of %d: %d reads, %d calls", size, reads, calls)
		}
		if after.Moves != before.Moves {
			t.Errorf("reads of %d: the block was moved", size)
		}
	}
}

// An array of one event costs one call for each event, and changes nothing else.
func TestSmallArray(t *testing.T) {
	calls := func(n int) (events, calls uint64) {
		var chunk strings.Builder
		chunk.WriteString(`data: {"choices":[{"delta":{"tool_calls":[`)
		for i := range n {
			fmt.Fprintf(&chunk, `{"index":0,"function":{"arguments":"%d,"}},`, i)
		}
		chunk.WriteString(`{"index":0,"function":{"arguments":"x"}}]}}]}` + "\n\n")
		r := NewReader(strings.NewReader(chunk.String()), memory{block: 512, array: 1, scratch: 64, blockGrows: true}.option())
		for r.Next() {
		}
		return r.Stats().Events, r.Stats().Calls
	}
	events, made := calls(2000)
	if events < 2000 || made > events+100 {
		t.Errorf("%d calls for %d events", made, events)
	}
}

func TestLongTexts(t *testing.T) {
	// Characters of several widths and escapes, in texts longer than the scratch.
	text := strings.Repeat("añ€😀\"\\\n", 5000)
	quotedText, _ := json.Marshal(text)
	input := `: ` + strings.Repeat("c", 9999) + "\n\ndata: {\"id\":\"" + strings.Repeat("i", 5000) + `","choices":[{"delta":{"content":` + string(quotedText) +
		`}}],"usage":{"total_tokens":1,"more":"` + strings.Repeat("u", 20000) + "\"}}\n\ndata: [DONE]\n\n"
	for _, size := range []int{100, 4096, 1 << 20} {
		for _, m := range (&quirkCase{storage: -1}).memories()[:2] {
			r := NewReader(&pieces{input: []byte(input), cuts: cutEvery(size, len(input))}, m.option())
			got := map[Kind]int{}
			var content []byte
			for r.Next() {
				e := r.Event()
				got[e.Kind] += 1
				switch e.Kind {
				case KindContent:
					content = append(content, e.Text...)
				case KindComment:
					if len(e.Text) != 9999 {
						t.Errorf("a comment of %d bytes", len(e.Text))
					}
				case KindChunk:
					if len(e.ID()) != 5000 {
						t.Errorf("an id of %d bytes", len(e.ID()))
					}
				case KindUsage:
					if u, ok := e.Usage(); !ok || u.Total != 1 || u.Has != HasTotal || len(e.Text) < 20000 {
						t.Errorf("usage: %+v of %d bytes", u, len(e.Text))
					}
				}
			}
			if string(content) != text || got[KindContent] != 1 || got[KindDone] != 1 || got[KindUsage] != 1 || got[KindComment] != 1 {
				t.Errorf("%s, reads of %d: content of %d bytes, events %v, %v", m.name, size, len(content), got, r.Err())
			}
			if u, ok := r.Usage(); !ok || u.Total != 1 || u.Has != HasTotal {
				t.Errorf("the last usage: %+v", u)
			}
		}
	}
}

func TestMaxEventLen(t *testing.T) {
	input := contentChunk + "data: {\"id\":\"" + strings.Repeat("x", 1000) + "\"}\n\n" + contentChunk
	r := NewReader(iotest.OneByteReader(strings.NewReader(input)), WithMaxEventLen(500), WithEvents(KindTooLong, KindContent))
	var kinds []Kind
	for r.Next() {
		kinds = append(kinds, r.Event().Kind)
	}
	if !slices.Equal(kinds, []Kind{KindContent, KindTooLong, KindContent}) || r.End().TooLong != 1 {
		t.Errorf("%v, %+v", kinds, r.End())
	}
}

// The frames, in order, are the stream, and each names the kinds in it.
func TestFrames(t *testing.T) {
	for _, s := range samples(t) {
		for _, size := range readSizes {
			r := NewReader(&pieces{input: s.bytes, cuts: cutEvery(size, len(s.bytes))}, WithEvents(KindFrame))
			at, all := uint64(0), uint64(0)
			for r.Next() {
				e := r.Event()
				if e.Kind != KindFrame || e.Start != at || e.End <= e.Start {
					t.Fatalf("%s, reads of %d: %v %d..%d after %d", s.name, size, e.Kind, e.Start, e.End, at)
				}
				at, all = e.End, all|e.Number
			}
			if at != uint64(len(s.bytes)) && r.End().Pending == PendingNothing {
				t.Errorf("%s, reads of %d: frames to %d of %d", s.name, size, at, len(s.bytes))
			}
			if all&maskOf(KindChunk) == 0 && !strings.HasPrefix(s.name, "error-body") {
				t.Errorf("%s: no frame with a chunk: %b", s.name, all)
			}
		}
	}
}

func TestSSE(t *testing.T) {
	input := "event: add\nid: 7\ndata: 1\ndata: 2\n\ndata: x\n\nretry: 250\n\n: hi\n\n"
	for _, size := range readSizes {
		r := NewReader(&pieces{input: []byte(input), cuts: cutEvery(size, len(input))}, WithSSE())
		var got []string
		for r.Next() {
			switch e := r.Event(); e.Kind {
			case KindSSE:
				got = append(got, fmt.Sprintf("%s %q %s", e.Type(), e.Data(), e.ID()))
			case KindRetry:
				got = append(got, fmt.Sprint("retry ", e.Number))
			case KindComment:
				got = append(got, "comment "+e.TextString())
			}
		}
		want := []string{`add "1\n2" 7`, `message "x" 7`, "retry 250", "comment hi"}
		if !slices.Equal(got, want) || r.LastEventID() != "7" || r.Err() != nil {
			t.Errorf("reads of %d: %v, last ID %q, %v", size, got, r.LastEventID(), r.Err())
		}
	}
}

func TestSourceErrors(t *testing.T) {
	fault := errors.New("the line is dead")
	r := NewReader(readerFunc(func([]byte) (int, error) { return 0, nil }))
	if r.Next() || !errors.Is(r.Err(), io.ErrNoProgress) {
		t.Errorf("a source that gives nothing: %v", r.Err())
	}
	r = NewReader(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(contentChunk))))
	for range r.Events() {
	}
	if !errors.Is(r.Err(), iotest.ErrTimeout) {
		t.Errorf("a timeout: %v", r.Err())
	}
	seen := 0
	for e, err := range NewReader(iotest.ErrReader(fault)).Events() {
		if e != nil || !errors.Is(err, fault) {
			t.Errorf("%v, %v", e, err)
		}
		seen++
	}
	if seen != 1 {
		t.Errorf("%d errors", seen)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func TestMisuse(t *testing.T) {
	unmade := func(name string, r *Reader, want string) {
		t.Helper()
		for range 2 {
			if r.Next() || r.Err() == nil || r.Err().Error() != "deltawire: "+want {
				t.Errorf("%s: %v, want %s", name, r.Err(), want)
			}
			if _, ok := r.Usage(); ok || r.LastEventID() != "" || r.QuirkCount(0) != 0 || r.End() != (End{Verdict: VerdictEmpty}) {
				t.Errorf("%s: something is known of a reader that was never made", name)
			}
			r.Reset(strings.NewReader(contentChunk))
		}
	}
	const most = 1<<31 - 1
	for _, c := range []struct {
		option Option
		want   string
	}{
		{WithMaxEventLen(-1), "WithMaxEventLen(-1): at least 1"},
		{WithMaxEventLen(0), "WithMaxEventLen(0): at least 1"},
		{WithMaxIDLen(-1), "WithMaxIDLen(-1): at least 1"},
		{WithMaxDepth(-1), "WithMaxDepth(-1): at least 1"},
		{WithMaxDepth(1025), "WithMaxDepth(1025): at most 1024"},
		{WithMaxChoices(0), "WithMaxChoices(0): at least 1"},
		{WithMaxChoices(129), "WithMaxChoices(129): at most 128"},
		{WithMaxToolCalls(0), "WithMaxToolCalls(0): at least 1"},
		{WithMaxToolCalls(1025), "WithMaxToolCalls(1025): at most 1024"},
		{WithReadSize(-1), "WithReadSize(-1): at least 1"},
		{WithReadSize(1<<30 + 1), "WithReadSize(1073741825): at most 1073741824"},
		{WithEvents(KindContent, kindCount), "WithEvents(49): not a kind of event"},
		{WithEvents(KindNone), "WithEvents(0): not a kind of event"},
		{WithEvents(40), "WithEvents(40): not a kind of event"},
		{WithAssembler(nil), "WithAssembler: the Assembler is nil"},
		{nil, "an Option is nil"},
		{WithEvents(70), "WithEvents(70): not a kind of event"},
		{WithStrict(127), "WithStrict(127): not a quirk"},
		{WithStrict(1 << 31), "WithStrict(2147483648): not a quirk"},
	} {
		unmade("an option", NewReader(strings.NewReader(contentChunk), c.option), c.want)
	}
	if more := most; uint64(^uint(0)) > most { // if an int has more than 32 bits
		more++
		unmade("an option", NewReader(nil, WithMaxEventLen(more)), "WithMaxEventLen(2147483648): at most 2147483647")
		unmade("an option", NewReader(nil, WithMaxIDLen(more)), "WithMaxIDLen(2147483648): at most 2147483647")
	}
	unmade("two options", NewReader(nil, WithMaxDepth(0), WithReadSize(0)), "WithMaxDepth(0): at least 1")
	if _, err := ReadMessage(strings.NewReader(contentChunk), WithMaxDepth(5000)); err == nil ||
		err.Error() != "deltawire: WithMaxDepth(5000): at most 1024" {
		t.Errorf("a message of such a reader: %v", err)
	}
	unmade("the zero reader", new(Reader), "NewReader did not make this Reader")

	// The largest and smallest arguments in range.
	for _, options := range [][]Option{
		{WithMaxEventLen(most), WithMaxIDLen(most), WithMaxDepth(1024), WithReadSize(1 << 20), WithEvents(kindCount-1, KindContent)},
		{WithMaxEventLen(len(contentChunk)), WithMaxIDLen(1), WithMaxDepth(5), WithReadSize(1)},
	} {
		r := NewReader(strings.NewReader(contentChunk), options...)
		for r.Next() {
		}
		if r.Err() != ErrTruncated || r.End().Malformed != 0 || r.Stats().Events == 0 {
			t.Errorf("in range: %v, %+v", r.Err(), r.End())
		}
	}
}

// The options set the room for choices and tool calls in the reader and in its assembler.
func TestRoom(t *testing.T) {
	var input strings.Builder
	event := func(choice int, delta string) {
		fmt.Fprintf(&input, "data: {\"choices\":[{\"index\":%d,\"delta\":{%s}}]}\n\n", choice, delta)
	}
	for n := range 9 {
		event(n, fmt.Sprintf(`"content":"c%d"`, n))
	}
	for n := range 33 {
		event(0, fmt.Sprintf(`"tool_calls":[{"index":%d,"id":"t%d","function":{"name":"f","arguments":"{%d"}}]`, n, n, n))
	}
	var a Assembler // each round gives it other room
	for _, c := range []struct {
		choices, calls int
		options        []Option
	}{
		{8, 32, nil},
		{9, 33, []Option{WithMaxChoices(9), WithMaxToolCalls(33)}},
		{2, 3, []Option{WithMaxChoices(2), WithMaxToolCalls(3)}},
		{8, 32, nil},
	} {
		var limits []Limit
		r := NewReader(strings.NewReader(input.String()), append(c.options, WithAssembler(&a))...)
		for r.Next() {
			if e := r.Event(); e.Kind == KindLimit {
				limits = append(limits, e.Limit())
			}
		}
		left := 9 - c.choices + 33 - c.calls
		if r.End().LeftOut != uint32(left) || len(limits) != left || slices.Contains(limits, LimitToolCalls) != (c.calls < 33) {
			t.Errorf("%v: limits %v, %+v", c, limits, r.End())
		}
		m, err := a.Message()
		if err != nil || len(m.Choices) != c.choices || len(m.Choices[0].Message.ToolCalls) != c.calls {
			t.Fatalf("%v: a message of %d choices, %v", c, len(m.Choices), err)
		}
		last := m.Choices[0].Message.ToolCalls[c.calls-1].Function.Arguments
		if m.Choices[c.choices-1].Message.Content != fmt.Sprintf("c%d", c.choices-1) || last != fmt.Sprintf("{%d", c.calls-1) {
			t.Errorf("%v: the content of the last choice, or the arguments of the last call: %q", c, last)
		}
	}
}

// Reset can give a reader without a source one.
func TestNoSource(t *testing.T) {
	var a Assembler
	r := NewReader(nil, WithAssembler(&a))
	for range 2 {
		if r.Next() || r.Err() == nil || r.Err() != errNoSource {
			t.Errorf("%v, %+v", r.Err(), r.End())
		}
		r.Reset(bytes.NewReader(sample(t, "content.sse")))
		for r.Next() {
		}
		if r.Err() != nil || a.Text(FieldContent, 0, 0) == "" {
			t.Errorf("%v", r.Err())
		}
		r.Reset(nil)
	}
	if _, err := ReadMessage(nil); err == nil {
		t.Error("a message of nothing")
	}
}

// With no kinds, the reader emits no events and reads the whole stream.
func TestNoEvents(t *testing.T) {
	for _, s := range samples(t) {
		whole := NewReader(bytes.NewReader(s.bytes))
		for whole.Next() {
		}
		r := NewReader(bytes.NewReader(s.bytes), WithEvents())
		if r.Next() || !r.End().Finished || r.End().Offset != uint64(len(s.bytes)) {
			t.Errorf("%s: %v, %v, %+v", s.name, r.Event().Kind, r.Err(), r.End())
		}
		if got, want := fmt.Sprint(r.Err()), fmt.Sprint(whole.Err()); got != want {
			t.Errorf("%s: %s, want %s", s.name, got, want)
		}
	}
}

// Err is nil only if the response is complete.
func TestErr(t *testing.T) {
	var choices, limits strings.Builder
	for i := range 9 {
		fmt.Fprintf(&choices, `,{"index":%d,"delta":{"content":"x"}}`, i)
	}
	fmt.Fprintf(&limits, "data: {\"choices\":[%s]}\n\n", choices.String()[1:])
	const done, lost = "data: [DONE]\n\n", "deltawire: parts of the stream were lost: "
	tooLong := "data: {\"id\":\"" + strings.Repeat("x", 1000) + "\"}\n\n"
	for _, c := range []struct {
		name, input string
		opts        []Option
		want        string // the error; "": none
		is          error
	}{
		{"done", contentChunk + done, nil, "", nil},
		{"finished", strings.Replace(contentChunk, "null", `"stop"`, 1), nil, "", nil},
		{"body", `{"choices":[{"index":0,"message":{"content":"x"},"finish_reason":"stop"}]}`, nil, "", nil},
		{"cut", contentChunk, nil, ErrTruncated.Error(), io.ErrUnexpectedEOF},
		{"nothing", "", nil, ErrEmpty.Error(), ErrEmpty},
		{"no stream", "\n<html>\n<b>502\t</b>", nil, ErrNotAStream.Error() + ": HTML: <html> <b>502 </b>", ErrNotAStream},
		{"no stream, but a terminal's", "no \x1b[2J\u202eway", nil, ErrNotAStream.Error() + `: Text: no \x1b[2J\u202eway`, ErrNotAStream},
		{"compressed", "\x1f\x8b\x08", nil, ErrNotAStream.Error() + ": Gzip (decompress the body first)", ErrNotAStream},
		{"blanks", "\r\n \n", nil, ErrEmpty.Error(), ErrEmpty},
		{"an error as a body", `{"error":{"message":"no"}}`, nil, "deltawire: the API reported an error: no", nil},
		{"another protocol", "event: add\ndata: {\"a\":1}\n\n", nil, ErrOtherProtocol.Error() + ": Other", ErrOtherProtocol},
		{"another value", "{\"data\":[]}", nil, ErrJSONAnswer.Error() + `: {"data":[]}`, ErrJSONAnswer},
		{"another value, of several lines", "\uFEFF\r\n{\"data\":\t\r\n[]}", nil, ErrJSONAnswer.Error() + `: {"data": []}`, ErrJSONAnswer},
		{"another value of the longest quoted length", `{"a":"` + strings.Repeat("b", 112) + `"}`, nil, ErrJSONAnswer.Error() + `: {"a":"` + strings.Repeat("b", 112) + `"}`, ErrJSONAnswer},
		{"another long value", `{"a":"` + "\u202e" + strings.Repeat("é", 100) + `"}`, nil, ErrJSONAnswer.Error() + `: {"a":"\u202e` + strings.Repeat("é", 55) + "…", ErrJSONAnswer},
		{"only [DONE]", done, nil, ErrEmpty.Error(), ErrEmpty},
		{"an error", "data: {\"error\":{\"message\":\"no\"}}\n\n" + done, nil, "deltawire: the API reported an error: no", nil},
		{"malformed", contentChunk + "data: {\"choices\":[}\n\n" + done, nil, lost + "1 malformed", ErrIncomplete},
		{"too long", contentChunk + tooLong + done, []Option{WithMaxEventLen(500)}, lost + "1 too long (WithMaxEventLen)", ErrIncomplete},
		{"left out", contentChunk + limits.String() + done, nil, lost + "1 left out: more than 8 choices (WithMaxChoices)", ErrIncomplete},
		{"left out, of two", contentChunk + limits.String() + "data: {\"choices\":[}\n\n" + done, []Option{WithMaxChoices(2)}, lost + "1 malformed, 1 left out: more than 2 choices (WithMaxChoices)", ErrIncomplete},
		{"malformed, and not finished", contentChunk + "data: {\"choices\":[}\n\n", nil, lost + "1 malformed", ErrIncomplete},
		{"done, and cut", contentChunk + done + "data: {\"id\":", nil, "", nil},
		{"finished, and cut", strings.Replace(contentChunk, "null", `"stop"`, 1) + "data: {\"id\":", nil, ErrTruncated.Error(), ErrTruncated},
		{"malformed, and cut in an event", contentChunk + "data: {\"choices\":[}\n\n" + done + "data: {\"id\":", nil, lost + "1 malformed", ErrIncomplete},
		{"any stream", "event: add\ndata: 1\n\n", []Option{WithSSE()}, "", nil},
		{"any stream, too long", "data: 1\n\n" + tooLong, []Option{WithSSE(), WithMaxEventLen(500)}, lost + "1 too long (WithMaxEventLen)", ErrIncomplete},
		{"any stream, all too long", tooLong, []Option{WithSSE(), WithMaxEventLen(500)}, lost + "1 too long (WithMaxEventLen)", ErrIncomplete},
		{"any stream, cut", "data: 1\n\ndata: 2", []Option{WithSSE(), WithSpec()}, ErrTruncated.Error(), ErrTruncated},
		{"any stream, nothing", "", []Option{WithSSE()}, ErrEmpty.Error(), ErrEmpty},
	} {
		for _, size := range readSizes {
			for _, shown := range [][]Option{nil, {WithEvents()}} {
				source := func() io.Reader { return &pieces{input: []byte(c.input), cuts: cutEvery(size, len(c.input))} }
				opts := append(slices.Clone(c.opts), shown...)
				r := NewReader(source(), opts...)
				for r.Next() {
				}
				err := r.Err()
				text := ""
				if err != nil {
					text = err.Error()
				}
				if text != c.want || c.is != nil && !errors.Is(err, c.is) || r.End().Complete != (c.want == "") {
					t.Errorf("%s, reads of %d: %+v: %v, want %s", c.name, size, r.End(), err, c.want)
				}
				if _, again := ReadMessage(source(), opts...); !strings.HasPrefix(c.name, "any stream") && fmt.Sprint(again) != fmt.Sprint(err) {
					t.Errorf("%s, reads of %d: the message: %v, want %v", c.name, size, again, err)
				}
			}
		}
	}
}

func TestReset(t *testing.T) {
	var a Assembler
	r := NewReader(strings.NewReader(""), WithAssembler(&a))
	for _, name := range []string{"weather.sse", "truncated.sse", "parallel-tools.sse", "error-body.json", "weather.sse"} {
		input := sample(t, name)
		r.Reset(bytes.NewReader(input))
		got := logOf(r)
		if want := logOf(NewReader(bytes.NewReader(input))); !slices.Equal(got, want) {
			t.Errorf("%s: %s", name, difference(got, want))
		}
		text, err := a.JSON(false)
		var fresh Assembler
		if _, err := ReadMessage(bytes.NewReader(input), WithAssembler(&fresh)); err != nil && name == "weather.sse" {
			t.Error(err)
		}
		if err != nil || !json.Valid(text) {
			t.Errorf("%s: %v, %s", name, err, text)
		}
	}
	// Reset also works in the middle of a stream.
	r.Reset(bytes.NewReader(sample(t, "reasoning.sse")))
	r.Next()
	r.Next()
	r.Reset(bytes.NewReader(sample(t, "weather.sse")))
	if m, err := a.Message(); err != nil || m.ID != "" {
		t.Errorf("after a reset: %+v, %v", m, err)
	}
	for r.Next() {
	}
	if m, err := a.Message(); err != nil || m.ID != "chatcmpl-Wq7Lz2" || a.Text(FieldID, 0, 0) != m.ID ||
		a.Text(FieldCallName, 0, 0) != "get_weather" || a.Text(FieldContent, 0, 0) != "" || a.Text(999, 0, 0) != "" {
		t.Errorf("after a reset and a stream: %+v, %v", m, err)
	}
}

// The reader joins a payload that does not fit into the scratch, and the assembler has its content once.
func TestAssemblerSplitPayload(t *testing.T) {
	text := strings.Repeat("words and \\\"words\\\" ", 2000)
	chunk := `data: {"id":"x","choices":[{"delta":{"content":"` + text + `"}}]}` + "\n\n"
	for _, size := range []int{1000, 1 << 20} {
		var a Assembler
		r := NewReader(&pieces{input: []byte(chunk + chunk), cuts: cutEvery(size, 2*len(chunk))}, WithAssembler(&a),
			WithEvents(KindPayload), memory{block: 512, array: 1, scratch: 64, blockGrows: true}.option())
		payloads := 0
		for r.Next() {
			if e := r.Event(); e.Kind != KindPayload || !json.Valid(e.Text) || "data: "+e.TextString()+"\n\n" != chunk {
				t.Errorf("%v of %d bytes", e.Kind, len(e.Text))
			}
			payloads++
		}
		if payloads != 2 || r.Err() != ErrTruncated || a.Text(FieldContent, 0, 0) != strings.Repeat("words and \"words\" ", 4000) {
			t.Errorf("reads of %d: %d payloads, %v, content of %d bytes", size, payloads, r.Err(), len(a.Text(FieldContent, 0, 0)))
		}
	}
}

// Readers in several goroutines do not affect each other.
func TestParallel(t *testing.T) {
	all := samples(t)
	var want [][]string
	for _, s := range all {
		want = append(want, logOf(NewReader(bytes.NewReader(s.bytes))))
	}
	done := make(chan string)
	for g := range 8 {
		go func() {
			fault := ""
			for i := range all {
				n := (i + g) % len(all)
				r := NewReader(&pieces{input: all[n].bytes, cuts: cutEvery(100+g, len(all[n].bytes))})
				if got := logOf(r); !slices.Equal(got, want[n]) {
					fault = all[n].name + ": " + difference(got, want[n])
				}
			}
			done <- fault
		}()
	}
	for range 8 {
		if fault := <-done; fault != "" {
			t.Error(fault)
		}
	}
}

func TestClone(t *testing.T) {
	r := NewReader(bytes.NewReader(sample(t, "weather.sse")), WithReadSize(300))
	var kept []*Event
	var lines []string
	for r.Next() {
		kept = append(kept, r.Event().Clone())
		lines = append(lines, lineOf(r.Event()))
	}
	for i, e := range kept {
		if lineOf(e) != lines[i] {
			t.Fatalf("a clone changed: %s, %s", lineOf(e), lines[i])
		}
	}
	if r.Stats().Reads < 10 {
		t.Errorf("%d reads", r.Stats().Reads)
	}
	// Methods return nothing for members that the kind of the event does not have.
	e := Event{Kind: KindDone}
	_, isUsage := e.Usage()
	_, isAudio := e.Audio()
	_, isQuirk := e.Quirk()
	if isUsage || isAudio || isQuirk || e.APIError() != nil || e.ID() != nil || e.Data() != nil || e.FinishReason() != 0 {
		t.Error("an event of kind DONE has more than it should")
	}
}

// Event.Audio reads the events of Responses like the objects of chat completions.
func TestAudioOfResponses(t *testing.T) {
	stream := `data: {"type":"response.audio.delta","delta":"QQ=="}` + "\n\n" +
		`data: {"type":"response.audio.transcript.delta","delta":"hi"}` + "\n\n"
	r := NewReader(strings.NewReader(stream), WithProtocol(ProtocolResponses))
	var got []Audio
	for r.Next() {
		if a, ok := r.Event().Audio(); ok {
			got = append(got, a)
		}
	}
	if want := []Audio{{Data: "QQ=="}, {Transcript: "hi"}}; !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

// Event.Usage has the counts of one event; Reader.Usage has the merged counts of the stream.
func TestUsageOfOtherProtocols(t *testing.T) {
	event := func(typ, members string) string {
		return fmt.Sprintf("event: %s\ndata: {\"type\":\"%s\",%s}\n\n", typ, typ, members)
	}
	stream := event("message_start", `"message":{"role":"assistant","usage":{"input_tokens":9,"cache_read_input_tokens":4,"output_tokens":1}}`) +
		event("message_delta", `"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":82}`) +
		event("message_stop", `"x":1`)
	r := NewReader(strings.NewReader(stream))
	var got []Usage
	for r.Next() {
		if u, ok := r.Event().Usage(); ok {
			got = append(got, u)
		}
	}
	if len(got) != 2 || got[0].Prompt != 13 || got[1].Completion != 82 || got[1].Has&HasPrompt != 0 {
		t.Errorf("the events have %+v", got)
	}
	if u, ok := r.Usage(); !ok || u.Prompt != 13 || u.Completion != 82 || r.Err() != nil {
		t.Errorf("the stream has %+v, %v, %v", u, ok, r.Err())
	}
	if u, ok := UsageOf([]byte(`{"promptTokenCount":9,"thoughtsTokenCount":2}`)); !ok || u.Prompt != 9 || u.Completion != 2 {
		t.Errorf("a usage of Gemini has %+v, %v", u, ok)
	}
	for _, none := range []string{"", "[]", "{}", "x"} {
		if _, ok := UsageOf([]byte(none)); ok {
			t.Errorf("%q is a usage", none)
		}
	}
}
