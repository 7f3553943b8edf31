// Package clients_test runs programs that have a hook for the reader of package adapter: the client of
// github.com/openai/openai-go, and the gateway github.com/maximhq/bifrost. It is a module of its own, so that users of
// the adapter depend on neither program.
package clients_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// serve answers every request with this body, written in pieces of size bytes, and returns the URL.
func serve(t *testing.T, body string, size int) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.Header().Set("Connection", "close") // Bifrost reads on after the end of a body, until the connection closes
		for rest := body; rest != ""; {
			piece := rest[:min(size, len(rest))]
			rest = rest[len(piece):]
			io.WriteString(w, piece)
			w.(http.Flusher).Flush()
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// recordings returns the recorded streams in this folder of the corpus.
func recordings(t *testing.T, folder string) []string {
	t.Helper()
	corpus := os.Getenv("DELTAWIRE_CORPUS")
	files, _ := filepath.Glob(filepath.Join(corpus, folder, "*.sse"))
	if corpus == "" || len(files) == 0 {
		t.Skip("SKIP DELTAWIRE_CORPUS has no recordings in " + folder)
	}
	return files
}

func chunk(delta, rest string) string {
	return `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + delta +
		`,"finish_reason":` + rest + "}\n\n"
}

var (
	begin = ": hello\n\n" + chunk(`{"role":"assistant","content":"Größe: \ud83d\ude00"}`, `null}]`) +
		chunk(`{"tool_calls":[{"index":0,"id":"t","type":"function","function":{"name":"f","arguments":"{\"a\":"}}]}`, `null}]`)
	end = chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`, `null}]`) + "event: ping\ndata: {}\n\n" +
		chunk(`{}`, `"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}`)
)
