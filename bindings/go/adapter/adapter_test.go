package adapter_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	deltawire "deltawire.dev/go"
	"deltawire.dev/go/adapter"
)

// Copies of the declarations of github.com/openai/openai-go/v3/packages/ssestream and
// github.com/maximhq/bifrost/core/providers/utils that the adapter must fit.
type (
	ssestreamEvent struct {
		Type string
		Data []byte
	}
	ssestreamDecoder interface {
		Event() ssestreamEvent
		Next() bool
		Close() error
		Err() error
	}
	sseDataReader  interface{ ReadDataLine() ([]byte, error) }
	sseEventReader interface {
		ReadEvent() (string, []byte, error)
	}
	sseDoneMarker    interface{ SawDoneMarker() bool }
	sseReaderFactory struct {
		NewDataReader  func(io.Reader) sseDataReader
		NewEventReader func(io.Reader) sseEventReader
	}
)

var decoders = map[string]func(io.ReadCloser) ssestreamDecoder{}

func registerDecoder(contentType string, decoder func(io.ReadCloser) ssestreamDecoder) {
	decoders[contentType] = decoder
}

func init() {
	registerDecoder("text/event-stream", func(body io.ReadCloser) ssestreamDecoder {
		return adapter.NewDecoder[ssestreamEvent](body)
	})
}

var factory = sseReaderFactory{
	NewDataReader:  func(body io.Reader) sseDataReader { return adapter.NewEventReader(body) },
	NewEventReader: func(body io.Reader) sseEventReader { return adapter.NewEventReader(body) },
}

type closer struct {
	io.Reader
	closed int
}

func (c *closer) Close() error {
	c.closed++
	return fmt.Errorf("closed %d times", c.closed)
}

const (
	chunk = `{"choices":[{"index":0,"delta":{"content":"Hi"}}]}`
	last  = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
)

var streams = []struct {
	name, input string
	want        []string // name and data
	err         error    // the decoder's; nil: none
	done        bool
}{
	{"whole", "data: " + chunk + "\n\ndata: " + last + "\n\ndata: [DONE]\n\ndata: more\n\n", []string{" " + chunk, " " + last}, nil, true},
	{"no [DONE]", "data: " + chunk + "\n\ndata: " + last + "\n\n", []string{" " + chunk, " " + last}, nil, false},
	{"cut between events", "data: " + chunk + "\n\n", []string{" " + chunk}, deltawire.ErrTruncated, false},
	{"cut in an event", "data: " + chunk + "\n\ndata: {\"cho", []string{" " + chunk}, deltawire.ErrTruncated, false},
	{"kept alive", ": ping\n\ndata: : ping\n\ndata:\n\ndata: " + chunk + "\r\n\r\nevent: ping\ndata: {}\n\ndata: [DONE]\n\n", []string{" " + chunk}, nil, true},
	{"several lines", "data: {\"choices\":\ndata: []}\n\ndata: [DONE]\n\n", []string{" {\"choices\":\n[]}"}, nil, true},
	{"another protocol", "event: step.start\ndata: {\"event_type\":\"step.start\"}\n\n", []string{`step.start {"event_type":"step.start"}`}, nil, false},
	{"Responses", "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n", []string{`response.completed {"type":"response.completed","response":{"status":"completed"}}`}, nil, false},
	{"Responses, cut", "event: response.created\ndata: {\"type\":\"response.created\"}\n\n", []string{`response.created {"type":"response.created"}`}, deltawire.ErrTruncated, false},
	{"an error", "data: " + chunk + "\n\ndata: {\"error\":{\"message\":\"no\"}}\n\ndata: [DONE]\n\n", []string{" " + chunk, ` {"error":{"message":"no"}}`}, nil, true},
	{"a plain error", "event: error\ndata: overloaded\n\n", nil, &deltawire.APIError{Message: "overloaded"}, false},
	{"a field of an error", "error: {\"message\":\"no\"}\n\ndata: [DONE]\n\n", nil, &deltawire.APIError{Message: "no"}, false},
	{"a body of an error", "{\"error\":{\"message\":\"no\"}}", []string{` {"error":{"message":"no"}}`}, &deltawire.APIError{Message: "no"}, false},
	{"malformed", "event: x\ndata: {\"a\n\ndata: [DONE]\n\n", []string{`x {"a`}, nil, true},
	{"a page", "<html></html>", nil, deltawire.ErrNotAStream, false},
	{"nothing", "", nil, deltawire.ErrEmpty, false},
	{"too long", "data: " + chunk + "\n\ndata: \"" + strings.Repeat("x", 2<<20) + "\"\n\n", []string{" " + chunk}, deltawire.ErrIncomplete, false},
}

// check compares the events of a stream and the error at its end.
func check(t *testing.T, name string, got, want []string, err, wantErr error) {
	t.Helper()
	if fmt.Sprintf("%.200q", got) != fmt.Sprintf("%.200q", want) {
		t.Errorf("%s:\n   got %.200q\n  want %.200q", name, got, want)
	}
	var api, wantAPI *deltawire.APIError
	switch {
	case errors.As(wantErr, &wantAPI):
		if !errors.As(err, &api) || api.Message != wantAPI.Message {
			t.Errorf("%s: %v, want %v", name, err, wantErr)
		}
	case !errors.Is(err, wantErr):
		t.Errorf("%s: %v, want %v", name, err, wantErr)
	}
}

func TestDecoder(t *testing.T) {
	for _, s := range streams {
		for _, src := range []io.Reader{strings.NewReader(s.input), iotest.OneByteReader(strings.NewReader(s.input))} {
			body := &closer{Reader: src}
			d := decoders["text/event-stream"](body)
			var got []string
			var kept []ssestreamEvent
			for d.Next() {
				kept = append(kept, d.Event())
			}
			for _, e := range kept { // the events belong to the caller, so they must not change
				got = append(got, e.Type+" "+string(e.Data))
			}
			check(t, s.name, got, s.want, d.Err(), s.err)
			if s.err == nil && d.Err() != nil || d.Next() || d.Event().Data != nil {
				t.Errorf("%s: %v, and an event after the end", s.name, d.Err())
			}
			if err := d.Close(); body.closed != 1 || err == nil {
				t.Errorf("%s: %v", s.name, err)
			}
		}
	}
}

func TestEventReader(t *testing.T) {
	for _, s := range streams {
		want := s.err
		if want == nil {
			want = io.EOF
		}
		events := factory.NewEventReader(strings.NewReader(s.input))
		var got []string
		name, data, err := events.ReadEvent()
		for ; err == nil; name, data, err = events.ReadEvent() {
			got = append(got, name+" "+string(data))
		}
		check(t, s.name, got, s.want, err, want)
		if _, _, again := events.ReadEvent(); again != err {
			t.Errorf("%s: %v after %v", s.name, again, err)
		}

		if errors.Is(want, io.ErrUnexpectedEOF) {
			want = io.EOF // ReadDataLine ends a cut stream like a whole one
		}
		lines := factory.NewDataReader(strings.NewReader(s.input))
		var data2 []string
		line, err := lines.ReadDataLine()
		for ; err == nil; line, err = lines.ReadDataLine() {
			data2 = append(data2, string(line))
		}
		var wantData []string
		for _, event := range s.want {
			_, text, _ := strings.Cut(event, " ")
			wantData = append(wantData, text)
		}
		check(t, s.name+", lines", data2, wantData, err, want)
		if done := lines.(sseDoneMarker).SawDoneMarker(); done != s.done {
			t.Errorf("%s: [DONE]: %v", s.name, done)
		}
	}
}

// A failure of the source is not reported as its end.
func TestFault(t *testing.T) {
	fault := errors.New("connection reset by peer")
	for _, c := range []struct{ source, want error }{{fault, fault}, {io.ErrUnexpectedEOF, io.ErrUnexpectedEOF}, {io.EOF, io.EOF}} {
		lines := factory.NewDataReader(io.MultiReader(strings.NewReader("data: "+chunk+"\n\n"), iotest.ErrReader(c.source)))
		first, _ := lines.ReadDataLine()
		for range 2 {
			if _, err := lines.ReadDataLine(); string(first) != chunk || !errors.Is(err, c.want) || (err == io.EOF) != (c.source == io.EOF) {
				t.Errorf("%v: %q, %v", c.source, first, err)
			}
		}
	}
}

// WithSSE delivers any event stream, and a wrong option is an error.
func TestOptions(t *testing.T) {
	fault := errors.New("the line is dead")
	src := io.MultiReader(strings.NewReader("event: add\ndata: 1\n\ndata: hello\n\ndata: [DONE]\n\n"), iotest.ErrReader(fault))
	d := adapter.NewDecoder[ssestreamEvent](io.NopCloser(src), deltawire.WithSSE())
	var got []string
	for d.Next() {
		got = append(got, d.Event().Type+" "+string(d.Event().Data))
	}
	check(t, "any stream", got, []string{"add 1", " hello", " [DONE]"}, d.Err(), fault)
	if e := adapter.NewEventReader(strings.NewReader(""), nil); func() error { _, _, err := e.ReadEvent(); return err }() == io.EOF {
		t.Error("a wrong option is not an error")
	}
}

func ExampleNewEventReader() {
	body := strings.NewReader("data: " + chunk + "\n\ndata: " + last + "\n\n") // whole, without [DONE]
	events := adapter.NewEventReader(body)
	for {
		_, data, err := events.ReadEvent()
		if err != nil {
			fmt.Println(err == io.EOF)
			break
		}
		fmt.Println(string(data))
	}
	// Output:
	// {"choices":[{"index":0,"delta":{"content":"Hi"}}]}
	// {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
	// true
}

func ExampleNewDecoder() {
	// With openai-go: ssestream.RegisterDecoder("text/event-stream", …), and ssestream.Event as the type.
	type event struct {
		Type string
		Data []byte
	}
	body := io.NopCloser(strings.NewReader(": keep-alive\n\ndata: " + chunk + "\n\n"))
	d := adapter.NewDecoder[event](body)
	defer d.Close()
	for d.Next() {
		var c struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if err := json.Unmarshal(d.Event().Data, &c); err != nil {
			fmt.Println(err)
		}
		fmt.Println(c.Choices[0].Delta.Content)
	}
	fmt.Println(d.Err())
	// Output:
	// Hi
	// deltawire: the stream was cut
}
