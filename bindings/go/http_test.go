// net/http takes long to build with these, and they make no difference to these tests.

//go:build !race && !goexperiment.cgocheck2

package deltawire_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	deltawire "deltawire.dev/go"
)

// server sends a stream in flushed pieces of odd sizes, with comments between events to keep the connection alive. If
// cut is true, it drops the connection before the last byte.
func server(body []byte, cut bool) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		flush := func(b []byte) {
			w.Write(b)
			w.(http.Flusher).Flush()
		}
		flush([]byte(": keep-alive\n\n"))
		for size := 1; len(body) > 1; size = size*7%113 + 1 {
			n := min(size, len(body)-1)
			flush(body[:n])
			body = body[n:]
		}
		if cut {
			panic(http.ErrAbortHandler)
		}
		flush(body)
	}))
}

func TestHTTP(t *testing.T) {
	body, err := os.ReadFile("../../samples/weather.sse")
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the samples are in the project's tree")
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []bool{false, true} {
		sent := body
		if cut {
			sent = body[:len(body)-500]
		}
		s := server(sent, cut)
		resp, err := http.Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		var a deltawire.Assembler
		r := deltawire.NewReader(resp.Body, deltawire.WithAssembler(&a))
		comments := 0
		for r.Next() {
			if r.Event().Kind == deltawire.KindComment {
				comments++
			}
		}
		resp.Body.Close()
		s.Close()
		m, err := a.Message()
		if err != nil || m.Choices[0].Message.ToolCalls[0].Function.Name != "get_weather" || comments != 1 {
			t.Errorf("cut %v: %+v, %v, %d comments", cut, m, err, comments)
		}
		if cut {
			if r.Err() != deltawire.ErrTruncated || r.End().Verdict != deltawire.VerdictTruncated {
				t.Errorf("cut: %v, %+v", r.Err(), r.End())
			}
		} else if r.Err() != nil {
			t.Errorf("whole: %v", r.Err())
		}
		if want := uint64(len(sent) + len(": keep-alive\n\n")); !cut && r.End().Offset != want {
			t.Errorf("%d bytes of %d were read", r.End().Offset, want)
		}
	}
}

// Next returns an event as soon as the server has sent it, without waiting for more bytes.
func TestHTTPPrompt(t *testing.T) {
	next := make(chan bool)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		for i := range 20 {
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"%d\"}}]}\n\n", i)
			w.(http.Flusher).Flush()
			<-next
		}
	}))
	defer s.Close()
	resp, err := http.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	r := deltawire.NewReader(resp.Body, deltawire.WithEvents(deltawire.KindContent))
	for i := range 20 {
		if !r.Next() || r.Event().TextString() != fmt.Sprint(i) {
			t.Fatalf("event %d: %q, %v", i, r.Event().Text, r.Err())
		}
		next <- true
	}
	if r.Next() {
		t.Error("one event more")
	}
}

func Example_http() {
	s := server([]byte(stream), false)
	defer s.Close()

	resp, err := http.Post(s.URL, "application/json", strings.NewReader(`{"stream":true}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	var text bytes.Buffer
	r := deltawire.NewReader(resp.Body)
	for r.Next() {
		if e := r.Event(); e.Kind == deltawire.KindContent {
			text.Write(e.Text)
		}
	}
	fmt.Println(text.String(), r.Err())
	// Output: Hello <nil>
}
