//go:build cgo

package deltawire

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// convert writes a response as `deltawire convert` does.
func convert(t *testing.T, stream []byte, to Protocol) []byte {
	var (
		out    bytes.Buffer
		w      *Writer
		head   = Head{ID: "response", Model: "unknown", Usage: true}
		finish = map[uint32]*Event{} // the choices, each with its last finish reason, which is written at the end
	)
	put := func(call func(*Writer) error) {
		if w == nil {
			var err error
			if w, err = NewWriter(&out, to, head); err != nil {
				t.Fatal(err)
			}
		}
		if err := call(w); err != nil && !errors.Is(err, ErrNoPlace) && !errors.Is(err, ErrEnded) {
			t.Log(err)
		}
	}
	kinds := []Kind{KindChunk, KindRole, KindContent, KindReasoning, KindRefusal, KindToolCall, KindToolName, KindToolArguments,
		KindToolCallEnd, KindFunctionName, KindFunctionArguments, KindAudio, KindLogprobs, KindFinish, KindChoiceError, KindUsage,
		KindError, KindMeta, KindAnnotation, KindSignature, KindMedia, KindNative}
	r := NewReader(bytes.NewReader(stream), WithEvents(kinds...), WithMaxEventLen(1<<24))
	for r.Next() {
		e := r.Event()
		known := e.Choice == 0 || to == ProtocolChat
		stop := func(text string) *Event { return &Event{Kind: KindFinish, Choice: e.Choice, Text: []byte(text)} }
		switch e.Kind {
		case KindChunk:
			if w == nil {
				if len(e.ID()) > 0 && head.ID == "response" {
					head.ID = string(e.ID())
				}
				if len(e.Model()) > 0 && head.Model == "unknown" {
					head.Model = string(e.Model())
				}
				if e.Is(FlagNumber) && head.Created.IsZero() && e.Number > 0 {
					head.Created = time.Unix(int64(e.Number), 0)
				}
			}
			continue
		case KindFinish:
			if known {
				finish[e.Choice] = e.Clone()
				continue
			}
		case KindToolCall:
			if known && (finish[e.Choice] == nil || string(finish[e.Choice].Text) == "none came") {
				finish[e.Choice] = stop("tool_calls")
			}
		case KindChoiceError:
			delete(finish, e.Choice)
		case KindMeta:
			// Members of the chunk describe the response.
			if e.Meta() <= MetaProvider || e.Meta() == MetaMember {
				continue
			}
		case KindUsage, KindError, KindToolCallEnd:
		default:
			if known && finish[e.Choice] == nil {
				finish[e.Choice] = stop("none came")
			}
		}
		put(func(w *Writer) error { return w.Put(e) })
	}
	var choices []uint32
	for choice := range finish {
		choices = append(choices, choice)
	}
	slices.Sort(choices)
	if w == nil && len(choices) == 0 {
		return nil
	}
	if !r.End().Complete {
		put(func(w *Writer) error { return w.Fail("the response is not complete") })
		return out.Bytes()
	}
	for _, choice := range choices {
		e := finish[choice]
		if string(e.Text) == "none came" {
			e.Text = []byte("stop")
		}
		put(func(w *Writer) error { return w.Put(e) })
	}
	put(func(w *Writer) error { return w.Finish() })
	return out.Bytes()
}

// translate does the same by the translator, from reads of different lengths.
func translate(t *testing.T, stream []byte, to Protocol) []byte {
	var out bytes.Buffer
	tr, err := NewTranslator(&out, to, Head{Usage: true}, WithMaxEventLen(1<<24))
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; len(stream) > 0; n = 1 + n*7%61 {
		n = min(n, len(stream))
		if m, err := tr.Write(stream[:n]); m != n || err != nil {
			t.Fatal(m, err)
		}
		stream = stream[n:]
	}
	if err := tr.Close(); err != nil {
		t.Error(err)
	}
	if _, lost := tr.LeftOut(); lost > 0 {
		t.Logf("%d lost", lost)
	}
	return out.Bytes()
}

// TestRustWriter compares what this package writes of each stream in DELTAWIRE_LOGS with what the command wrote.
func TestRustWriter(t *testing.T) {
	folder, names := rustLogs(t)
	runs := 0
	for _, path := range names {
		stream, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		byPath := bytes.Contains(stream, []byte("partialArgs")) // which an event has only as the text of a member
		for name, to := range map[string]Protocol{"chat": ProtocolChat, "anthropic": ProtocolAnthropic, "responses": ProtocolResponses} {
			want, err := os.ReadFile(filepath.Join(folder, filepath.Base(path)+"."+name))
			if err != nil {
				t.Fatal(err)
			}
			runs++
			if got := convert(t, stream, to); !byPath && !bytes.Equal(got, want) {
				t.Errorf("%s is written as another stream of %s", filepath.Base(path), name)
			}
			if got := translate(t, stream, to); !bytes.Equal(got, want) {
				t.Errorf("%s is translated to another stream of %s", filepath.Base(path), name)
			}
		}
	}
	t.Logf("%d streams, %d runs", len(names), runs)
}

// failing fails after so many bytes.
type failing struct {
	left, flushes int
	got           bytes.Buffer
}

var errFull = errors.New("full")

func (f *failing) Write(p []byte) (int, error) {
	if len(p) > f.left {
		return 0, errFull
	}
	f.left -= len(p)
	return f.got.Write(p)
}

func (f *failing) Flush() { f.flushes++ }

func TestStreamWriter(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWriter(&out, ProtocolChat, Head{ID: "i", Model: "m", Retry: 5 * time.Millisecond, EventIDs: true, FirstSequence: 7})
	if err != nil {
		t.Fatal(err)
	}
	text := func(kind Kind, text string) error { return w.Put(&Event{Kind: kind, Text: []byte(text)}) }
	for _, c := range []struct{ got, want error }{
		{w.Finish(), ErrUnfinished},
		{text(KindNative, "{}"), ErrNoPlace},
		{text(KindContent, strings.Repeat("long ", 5000)), nil},
		{text(KindAnnotation, "["), ErrJSON},
		{w.KeepAlive(), nil},
		{text(KindFinish, "stop"), nil},
		{text(KindContent, "late"), ErrLate},
		{w.Finish(), nil},
		{w.Finish(), ErrEnded},
		{w.Fail("over"), ErrEnded},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
	if got := out.String(); !strings.HasPrefix(got, "retry: 5\nid: 7\ndata: {") || !strings.HasSuffix(got, "data: [DONE]\n\n") {
		t.Error(got)
	}
	if _, err := NewWriter(&out, ProtocolGemini, Head{}); err == nil {
		t.Error("a writer of Gemini was made")
	}
	if _, err := NewWriter(&out, ProtocolChat, Head{Members: []byte("[]")}); err == nil {
		t.Error("members that are no object were taken")
	}

	// Each event is flushed, and the first error stays.
	f := &failing{left: 600}
	w, _ = NewWriter(f, ProtocolAnthropic, Head{})
	for i := range 9 {
		err = text(KindContent, "text")
		if err == nil && f.flushes != i+1 {
			t.Errorf("%d flushes after event %d", f.flushes, i)
		}
	}
	if !errors.Is(err, errFull) || f.flushes < 2 {
		t.Errorf("%v after %d flushes", err, f.flushes)
	}
	f.left = 1 << 20
	before := f.got.Len()
	if err := w.Fail("x"); !errors.Is(err, errFull) || f.got.Len() != before {
		t.Errorf("%v, and %d bytes more", err, f.got.Len()-before)
	}
	out.Reset()
	w, _ = NewWriter(bufio.NewWriter(&out), ProtocolChat, Head{})
	if err := text(KindContent, "a"); err != nil || out.Len() == 0 {
		t.Errorf("%v, %d bytes", err, out.Len())
	}
	// What is written again costs no allocation.
	e := &Event{Kind: KindContent, Text: []byte("text")}
	w, _ = NewWriter(discard{}, ProtocolChat, Head{})
	if n := testing.AllocsPerRun(100, func() { _ = w.Put(e) }); n > 1 {
		t.Errorf("%v allocations an event", n)
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func TestTranslator(t *testing.T) {
	stream := []byte("data: {\"id\":\"c\",\"choices\":[{\"delta\":{\"content\":\"a\"}},{\"index\":1,\"delta\":{\"content\":\"b\"}}]}\n\n")
	f := &failing{left: 1 << 20}
	tr, err := NewTranslator(f, ProtocolAnthropic, Head{ID: "own"})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := tr.Write(stream); n != len(stream) || err != nil || f.flushes != 1 {
		t.Errorf("%d, %v, %d flushes", n, err, f.flushes)
	}
	if err := tr.Writer().KeepAlive(); err != nil {
		t.Error(err)
	}
	if err := tr.Close(); err != nil {
		t.Error(err)
	}
	if got := f.got.String(); !strings.Contains(got, `"id":"own"`) || !strings.Contains(got, "event: ping") || !strings.Contains(got, "event: error") {
		t.Error(got)
	}
	if without, lost := tr.LeftOut(); without != 1 || lost != 0 || tr.Reader().End().Verdict != VerdictTruncated {
		t.Errorf("%d without a place, %d lost, %v", without, lost, tr.Reader().End().Verdict)
	}
	if _, err := tr.Write(stream); err == nil {
		t.Error("bytes after the end")
	}
	f = &failing{left: 9}
	tr, _ = NewTranslator(f, ProtocolChat, Head{})
	if _, err := tr.Write(stream); !errors.Is(err, errFull) {
		t.Error(err)
	}
	if _, err := NewTranslator(f, ProtocolGemini, Head{}); err == nil {
		t.Error("a translator to Gemini was made")
	}
	if _, err := NewTranslator(f, ProtocolChat, Head{}, nil); err == nil {
		t.Error("a nil option was taken")
	}
}

func TestPlace(t *testing.T) {
	event := []byte(": c\r\nevent: message_start\r\ndata: {\"message\":{\"model\":\"m-2\"},\"usage\":{\r\ndata: \"total_tokens\":5}}\r\n\r\n")
	r := NewReader(bytes.NewReader(event), WithEvents(KindPayload))
	if !r.Next() {
		t.Fatal(r.Err())
	}
	payload := r.Event().Text
	start, end, ok := Place(event, payload, "message", "model")
	if !ok || string(event[start:end]) != `"m-2"` {
		t.Errorf("%d %d %t", start, end, ok)
	}
	start, end, ok = Place(event, payload, "usage")
	if !ok || string(event[start:end]) != "{\r\ndata: \"total_tokens\":5}" {
		t.Errorf("%d %d %t", start, end, ok)
	}
	for _, path := range [][]string{{"no"}, {"message", "no"}} {
		if _, _, ok := Place(event, payload, path...); ok {
			t.Error(path)
		}
	}
	if _, _, ok := Place(event[:60], payload, "usage"); ok {
		t.Error("a part of an event is taken for it")
	}
}
