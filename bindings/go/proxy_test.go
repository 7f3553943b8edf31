// net/http takes long to build with these, and they make no difference to these tests.

//go:build !race && !goexperiment.cgocheck2

package deltawire_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	deltawire "deltawire.dev/go"
)

// metered is what the proxy knows of a response after its end.
type metered struct {
	deltawire.Meter
	err error // nil: the response was complete
}

// meteringProxy forwards everything to the target, and reports what each response has.
func meteringProxy(target *url.URL, report func(metered)) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Del("Accept-Encoding") // so that the transport decompresses bodies
		},
		ModifyResponse: func(resp *http.Response) error {
			if resp.StatusCode == http.StatusSwitchingProtocols {
				return nil // an upgrade: not a body to read
			}
			r := deltawire.NewReader(nil, deltawire.WithMeter(),
				deltawire.WithEvents(),            // no events: the meter and Err are enough
				deltawire.WithMaxEventLen(32<<20)) // a body that is not streamed, or an image, is one event
			resp.Body = r.Tee(resp.Body, nil, func() {
				m, _ := r.Meter()
				report(metered{m, r.Err()})
			})
			return nil
		},
		ErrorLog: log.New(io.Discard, "", 0), // clients may leave
	}
}

// A reverse proxy that meters the responses it forwards. It works for streams and for bodies, and the client receives
// each byte as soon as the proxy does.
func Example_reverseProxy() {
	upstream := server([]byte(stream), false)
	defer upstream.Close()
	target, err := url.Parse(upstream.URL)
	if err != nil {
		log.Fatal(err)
	}
	reports := make(chan metered, 1)
	proxy := httptest.NewServer(meteringProxy(target, func(m metered) { reports <- m }))
	defer proxy.Close()

	resp, err := http.Post(proxy.URL+"/v1/chat/completions", "application/json", strings.NewReader(`{"stream":true}`))
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	m, err := deltawire.ReadMessage(resp.Body) // the client
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Choices[0].Message.Content)
	bill := <-reports
	fmt.Println(bill.Usage.Prompt, bill.Usage.Completion, bill.Content.Chars, bill.FinishText, bill.err)
	// Output:
	// Hello
	// 9 2 5 stop <nil>
}

func TestProxy(t *testing.T) {
	const answer = `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}`
	long := strings.Replace(answer, "Hi", strings.Repeat("Hi", 1<<20), 1)
	leave := make(chan bool)
	// What came before the client leaves.
	before := map[string]string{"/left": stream[:len(stream)-14], "/early": stream[:200]}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		switch q.URL.Path {
		case "/gzip":
			if q.Header.Get("Accept-Encoding") != "gzip" {
				t.Errorf("the upstream is asked for %q", q.Header.Get("Accept-Encoding"))
			}
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			io.WriteString(z, stream)
			z.Close()
		case "/body":
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, answer)
		case "/long":
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, long)
		case "/cut":
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, stream[:200])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case "/left", "/early":
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, before[q.URL.Path])
			w.(http.Flusher).Flush()
			<-leave
		}
	}))
	defer upstream.Close()
	defer close(leave)
	target, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	reports := make(chan metered, 1)
	proxy := httptest.NewServer(meteringProxy(target, func(m metered) { reports <- m }))
	defer proxy.Close()

	for _, c := range []struct {
		path, body string
		prompt     uint64
		err        error
	}{
		{"/gzip", stream, 9, nil},
		{"/body", answer, 3, nil},
		{"/long", long, 3, nil},
		{"/cut", stream[:200], 0, deltawire.ErrTruncated},
		{"/left", "", 9, nil}, // finish reason and usage had come; only [DONE] was missing
		{"/early", "", 0, deltawire.ErrAborted},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		q, _ := http.NewRequestWithContext(ctx, "GET", proxy.URL+c.path, nil)
		q.Header.Set("Accept-Encoding", "br")
		resp, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		leaves := before[c.path] != ""
		if leaves {
			io.ReadFull(resp.Body, make([]byte, len(before[c.path])))
			cancel()
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		cancel()
		if string(got) != c.body || (err != nil) != (c.path == "/cut" || leaves) {
			t.Errorf("%s: the client received %.200q, %v", c.path, got, err)
		}
		select {
		case m := <-reports:
			if m.Usage.Prompt != c.prompt || (m.Usage.Has != 0) != (c.prompt != 0) || c.path != "/left" && !errors.Is(m.err, c.err) {
				t.Errorf("%s: %+v", c.path, m)
			}
			if c.path == "/early" && !errors.Is(m.err, deltawire.ErrClosed) && !errors.Is(m.err, context.Canceled) {
				t.Errorf("%s: nothing says that the client left: %v", c.path, m.err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: no report", c.path)
		}
	}
}

// The proxy forwards an upgrade (WebSocket) in both directions: its body is a connection, and no reader reads it as a
// stream.
func TestProxyUpgrade(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		conn, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		rw.Flush()
		line, _ := rw.ReadString('\n')
		rw.WriteString("echo " + line)
		rw.Flush()
	}))
	defer upstream.Close()
	target, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(meteringProxy(target, func(m metered) { t.Errorf("an upgrade was read: %+v", m) }))
	defer proxy.Close()

	conn, err := net.Dial("tcp", proxy.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	from := bufio.NewReader(conn)
	resp, err := http.ReadResponse(from, nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("the proxy answers %s", resp.Status)
	}
	io.WriteString(conn, "hello\n")
	if line, err := from.ReadString('\n'); line != "echo hello\n" {
		t.Errorf("the proxy passes on %q, %v", line, err)
	}
}
