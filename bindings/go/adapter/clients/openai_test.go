package clients_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
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
	for _, contentType := range []string{"text/event-stream", "text/event-stream; charset=utf-8"} {
		ssestream.RegisterDecoder(contentType, func(body io.ReadCloser) ssestream.Decoder {
			decoded++
			return adapter.NewDecoder[ssestream.Event](body)
		})
	}
}

// openaiClient returns a client of a server that answers with this body.
func openaiClient(t *testing.T, body string, size int) *openai.Client {
	t.Helper()
	client := openai.NewClient(option.WithBaseURL(serve(t, body, size)), option.WithAPIKey("none"), option.WithMaxRetries(0))
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

func TestOpenAIChat(t *testing.T) {
	for _, size := range []int{1, 7, 1 << 20} {
		before := decoded
		acc, err := chat(openaiClient(t, begin+end+"data: [DONE]\n\n", size))
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

// Streams whose faults the client's own decoder loses, or takes for the end.
func TestOpenAIErrors(t *testing.T) {
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
		if _, err := chat(openaiClient(t, c.body, 1448)); !c.is(err) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestOpenAIResponses(t *testing.T) {
	body := "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"r\"}}\n\n" +
		"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":1,\"output_index\":0,\"content_index\":0,\"delta\":\"Hi\"}\n\n"
	last := "event: response.completed\ndata: {\"type\":\"response.completed\",\"sequence_number\":2,\"response\":{\"id\":\"r\",\"status\":\"completed\"}}\n\n"
	for _, c := range []struct {
		body string
		err  error
	}{{body + last, nil}, {body, deltawire.ErrTruncated}} {
		stream := openaiClient(t, c.body, 7).Responses.NewStreaming(context.Background(), responses.ResponseNewParams{})
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

// The recordings for which the two decoders deliver different events, and why.
var differInOpenAI = map[string]string{
	"anthropic-messages-1.sse":  "the adapter leaves out what only keeps the connection alive",
	"openaiphp-single-lf-1.sse": "one line end behind each event: the client's own decoder finds none",
}

// For all other recorded streams the adapter and the client's own decoder deliver the same.
func TestOpenAIRecordings(t *testing.T) {
	files := recordings(t, "streams")
	for _, file := range files {
		bytes, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		// The client reads a content type without a registered decoder with its own.
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
		if why, ok := differInOpenAI[name]; (said[0] != said[1]) != ok {
			t.Errorf("%s (%s): %d bytes, with its own decoder %d", name, why, len(said[0]), len(said[1]))
		}
	}
	t.Logf("%d recordings compared", len(files))
}
