// Package openaigo_test runs the client of github.com/openai/openai-go with the decoder of package adapter. It is a module of
// its own, so that who uses the adapter does not depend on that client.
package openaigo_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	deltawire "deltawire.dev/go"
	"deltawire.dev/go/adapter"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"
)

// decoded counts the bodies that the registered decoder read.
var decoded int

func init() {
	ssestream.RegisterDecoder("text/event-stream", func(body io.ReadCloser) ssestream.Decoder {
		decoded++
		return adapter.NewDecoder[ssestream.Event](body)
	})
}

// serve answers every request with this body, written in pieces of size bytes.
func serve(t *testing.T, body string, size int) *openai.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for rest := body; rest != ""; {
			piece := rest[:min(size, len(rest))]
			rest = rest[len(piece):]
			io.WriteString(w, piece)
			w.(http.Flusher).Flush()
		}
	}))
	t.Cleanup(server.Close)
	client := openai.NewClient(option.WithBaseURL(server.URL), option.WithAPIKey("none"), option.WithMaxRetries(0))
	return &client
}

// chat reads a chat completion with the client.
func chat(client *openai.Client) (openai.ChatCompletionAccumulator, error) {
	stream := client.Chat.Completions.NewStreaming(context.Background(), openai.ChatCompletionNewParams{})
	defer stream.Close()
	var acc openai.ChatCompletionAccumulator
	for stream.Next() {
		if !acc.AddChunk(stream.Current()) {
			return acc, errors.New("a chunk does not fit those before")
		}
	}
	return acc, stream.Err()
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

func TestChat(t *testing.T) {
	for _, size := range []int{1, 7, 1 << 20} {
		before := decoded
		acc, err := chat(serve(t, begin+end+"data: [DONE]\n\n", size))
		if err != nil || decoded != before+1 {
			t.Fatalf("%d: %v, decoded %d", size, err, decoded-before)
		}
		choice := acc.Choices[0]
		call := choice.Message.ToolCalls[0]
		got := fmt.Sprint(choice.Message.Content, call.ID, call.Function.Name, call.Function.Arguments, choice.FinishReason, acc.Usage.TotalTokens)
		if want := "Größe: 😀" + "t" + "f" + `{"a":1}` + "tool_calls" + "7"; got != want {
			t.Errorf("%d: %q, want %q", size, got, want)
		}
	}
}

// What the client's own decoder takes for the end of a stream, or loses.
func TestErrors(t *testing.T) {
	var api *deltawire.APIError
	var stream *ssestream.StreamError
	for _, c := range []struct {
		name, body string
		is         func(error) bool
	}{
		{"cut between events", begin, func(err error) bool { return errors.Is(err, deltawire.ErrTruncated) }},
		{"cut in an event", begin + end[:30], func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }},
		{"a page", "<html><body>502</body></html>\n", func(err error) bool { return errors.Is(err, deltawire.ErrNotAStream) }},
		{"nothing", "", func(err error) bool { return errors.Is(err, deltawire.ErrEmpty) }},
		{"a plain error", begin + "event: error\ndata: overloaded\n\n", func(err error) bool { return errors.As(err, &api) }},
		{"an error", begin + "data: {\"error\":{\"message\":\"no\"}}\n\n", func(err error) bool { return errors.As(err, &stream) }},
		{"too long", begin + "data: \"" + strings.Repeat("x", 2<<20) + "\"\n\n" + end, func(err error) bool { return errors.Is(err, deltawire.ErrIncomplete) }},
	} {
		if _, err := chat(serve(t, c.body, 1448)); !c.is(err) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestResponses(t *testing.T) {
	body := "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"r\"}}\n\n" +
		"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":1,\"output_index\":0,\"content_index\":0,\"delta\":\"Hi\"}\n\n"
	last := "event: response.completed\ndata: {\"type\":\"response.completed\",\"sequence_number\":2,\"response\":{\"id\":\"r\",\"status\":\"completed\"}}\n\n"
	for _, c := range []struct {
		body string
		err  error
	}{{body + last, nil}, {body, deltawire.ErrTruncated}} {
		stream := serve(t, c.body, 7).Responses.NewStreaming(context.Background(), responses.ResponseNewParams{})
		var text, kinds []string
		for stream.Next() {
			event := stream.Current()
			kinds = append(kinds, event.Type)
			if event.Type == "response.output_text.delta" {
				text = append(text, event.Delta)
			}
		}
		if !errors.Is(stream.Err(), c.err) || strings.Join(text, "") != "Hi" || len(kinds) != strings.Count(c.body, "\n\n") {
			t.Errorf("%v %q %v", stream.Err(), text, kinds)
		}
		stream.Close()
	}
}

// Recordings of which the two decoders do not deliver the same, and why.
var differ = map[string]string{
	"anthropic-messages-1.sse":  "the adapter leaves out what only keeps the connection alive",
	"openaiphp-single-lf-1.sse": "one line end behind each event: the client's own decoder finds none",
}

// All other recorded streams are the same, read with the adapter and with the client's own decoder.
func TestRecordings(t *testing.T) {
	folder := os.Getenv("DELTAWIRE_CORPUS")
	files, _ := filepath.Glob(filepath.Join(folder, "streams", "*.sse"))
	if folder == "" || len(files) == 0 {
		t.Skip("SKIP DELTAWIRE_CORPUS has no recordings")
	}
	for _, file := range files {
		bytes, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		// A content type of which no decoder is registered gets the client's own.
		var said [2]string
		for i, contentType := range []string{"text/event-stream", "text/plain"} {
			response := &http.Response{Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(strings.NewReader(string(bytes)))}
			stream := ssestream.NewStream[openai.ChatCompletionChunk](ssestream.NewDecoder(response), nil)
			for stream.Next() {
				said[i] += strings.TrimSpace(stream.Current().RawJSON()) + "\n"
			}
			said[i] += fmt.Sprint(stream.Err() != nil)
		}
		name := filepath.Base(file)
		if why, ok := differ[name]; (said[0] != said[1]) != ok {
			t.Errorf("%s (%s): %d bytes, with its own decoder %d", name, why, len(said[0]), len(said[1]))
		}
	}
	t.Logf("%d recordings compared", len(files))
}
