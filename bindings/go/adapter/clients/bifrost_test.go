package clients_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	deltawire "deltawire.dev/go"
	"deltawire.dev/go/adapter"
	"github.com/maximhq/bifrost/core/providers/anthropic"
	"github.com/maximhq/bifrost/core/providers/openai"
	"github.com/maximhq/bifrost/core/providers/utils"
	"github.com/maximhq/bifrost/core/schemas"
)

// own returns a context without a factory, with which the gateway uses its own scanners.
func own() *schemas.BifrostContext {
	return schemas.NewBifrostContext(context.Background(), schemas.NoDeadline)
}

// adapted returns a context whose factory makes readers of the adapter, and counts them.
func adapted(readers *int) *schemas.BifrostContext {
	return own().WithValue(schemas.BifrostContextKeySSEReaderFactory, &utils.SSEReaderFactory{
		NewDataReader: func(body io.Reader) utils.SSEDataReader {
			*readers++
			return adapter.NewEventReader(body)
		},
		NewEventReader: func(body io.Reader) utils.SSEEventReader {
			*readers++
			return adapter.NewEventReader(body)
		},
	})
}

// quiet is a logger that writes nothing.
type quiet struct{ schemas.Logger }

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

// gateway returns the configuration of a provider whose server answers with this body.
func gateway(t *testing.T, body string, size int) *schemas.ProviderConfig {
	t.Helper()
	return &schemas.ProviderConfig{NetworkConfig: schemas.NetworkConfig{BaseURL: serve(t, body, size)}}
}

// answer is what the gateway returns of a stream.
type answer struct {
	content, call, finish, failed string
	tokens                        int
}

// ask sends a request to the provider and collects its answer.
func ask(t *testing.T, provider schemas.Provider, ctx *schemas.BifrostContext) (got answer) {
	t.Helper()
	text := "Hello"
	request := &schemas.BifrostChatRequest{Model: "m", Input: []schemas.ChatMessage{{
		Role: schemas.ChatMessageRoleUser, Content: &schemas.ChatMessageContent{ContentStr: &text},
	}}}
	pass := func(_ *schemas.BifrostContext, r *schemas.BifrostResponse, err *schemas.BifrostError) (*schemas.BifrostResponse, *schemas.BifrostError) {
		return r, err
	}
	chunks, failed := provider.ChatCompletionStream(ctx, pass, func(context.Context) {}, schemas.Key{}, request)
	if failed != nil {
		t.Fatalf("%+v", failed.Error)
	}
	timeout := time.After(time.Minute)
	for {
		select {
		case <-timeout:
			t.Fatal("the stream does not end")
		case chunk, more := <-chunks:
			if !more {
				return got
			}
			if chunk.BifrostError != nil {
				got.failed = chunk.BifrostError.Error.Message
				if err := chunk.BifrostError.Error.Error; err != nil {
					got.failed += err.Error()
				}
				continue
			}
			if chunk.BifrostChatResponse.Usage != nil {
				got.tokens = chunk.BifrostChatResponse.Usage.TotalTokens
			}
			for _, choice := range chunk.BifrostChatResponse.Choices {
				if choice.FinishReason != nil {
					got.finish = *choice.FinishReason
				}
				if choice.ChatStreamResponseChoice == nil || choice.ChatStreamResponseChoice.Delta == nil {
					continue
				}
				if delta := choice.ChatStreamResponseChoice.Delta; delta.Content != nil {
					got.content += *delta.Content
				}
				for _, call := range choice.ChatStreamResponseChoice.Delta.ToolCalls {
					if call.ID != nil {
						got.call += *call.ID
					}
					if call.Function.Name != nil {
						got.call += *call.Function.Name
					}
					got.call += call.Function.Arguments
				}
			}
		}
	}
}

func TestBifrostChat(t *testing.T) {
	want := answer{content: "Größe: 😀", call: `tf{"a":1}`, finish: "tool_calls", tokens: 7}
	for _, size := range []int{1, 7, 1 << 20} {
		readers := 0
		provider := openai.NewOpenAIProvider(gateway(t, begin+end+"data: [DONE]\n\n", size), quiet{})
		if got := ask(t, provider, adapted(&readers)); got != want || readers != 1 {
			t.Errorf("%d: %+v with %d readers, want %+v", size, got, readers, want)
		}
		if got := ask(t, provider, own()); got != want {
			t.Errorf("%d, its own reader: %+v, want %+v", size, got, want)
		}
	}
}

func TestBifrostAnthropic(t *testing.T) {
	event := func(data string) string {
		name, _, _ := strings.Cut(strings.TrimPrefix(data, `{"type":"`), `"`)
		return "event: " + name + "\ndata: " + data + "\n\n"
	}
	body := event(`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}`) +
		event(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`) +
		event(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Gr\u00f6ße"}}`)
	last := event(`{"type":"content_block_stop","index":0}`) +
		event(`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":4}}`) +
		event(`{"type":"message_stop"}`)
	readers := 0
	provider := anthropic.NewAnthropicProvider(gateway(t, body+last, 7), quiet{})
	want := answer{content: "Größe", finish: "stop", tokens: 7}
	if got := ask(t, provider, adapted(&readers)); got != want || readers != 1 {
		t.Errorf("%+v with %d readers, want %+v", got, readers, want)
	}
	provider = anthropic.NewAnthropicProvider(gateway(t, body, 7), quiet{})
	if got := ask(t, provider, adapted(&readers)); got.content != "Größe" || !strings.Contains(got.failed, deltawire.ErrTruncated.Error()) {
		t.Errorf("cut: %+v", got)
	}
}

// The gateway's errors for faulty streams, with the adapter and with its own reader.
func TestBifrostErrors(t *testing.T) {
	for _, c := range []struct{ name, body, want, own string }{
		{"an error", begin + "data: {\"error\":{\"message\":\"no\"}}\n\n", "no", "no"},
		{"a plain error", begin + "event: error\ndata: overloaded\n\n", "overloaded", ""},
		{"a page", "<html><body>502</body></html>\n", deltawire.ErrNotAStream.Error(), ""},
		{"nothing", "\n\n", deltawire.ErrEmpty.Error(), ""},
		{"too long", begin + "data: \"" + strings.Repeat("x", 2<<20) + "\"\n\n" + end, "too long", ""},
	} {
		readers := 0
		provider := openai.NewOpenAIProvider(gateway(t, c.body, 1448), quiet{})
		if got := ask(t, provider, adapted(&readers)); got.failed == "" || !strings.Contains(got.failed, c.want) {
			t.Errorf("%s: %+v, want %q", c.name, got, c.want)
		}
		if got := ask(t, provider, own()); got.failed != c.own {
			t.Errorf("%s, its own reader: %+v, want %q", c.name, got, c.own)
		}
	}
}

// endOf reads all lines, and returns the error at the end.
func endOf(r utils.SSEDataReader) (err error) {
	for err == nil {
		_, err = r.ReadDataLine()
	}
	return err
}

// A stream that the server closed too early ends with io.EOF, as with the gateway's own readers. Only SawDoneMarker,
// which the gateway calls since it has SSEStreamTerminator, tells it from a whole stream.
func TestBifrostCut(t *testing.T) {
	for body, done := range map[string]bool{begin: false, begin + end[:30]: false, begin + end: false, begin + end + "data: [DONE]\n\n": true} {
		readers := 0
		r := utils.GetSSEDataReader(adapted(&readers), strings.NewReader(body))
		err := endOf(r)
		if mark, ok := r.(interface{ SawDoneMarker() bool }); err != io.EOF || !ok || mark.SawDoneMarker() != done {
			t.Errorf("%.40q…: %v, mark %v", body[max(0, len(body)-40):], err, !done)
		}
	}
	// A broken connection is an error with either reader.
	for _, ctx := range []*schemas.BifrostContext{adapted(new(int)), own()} {
		r := utils.GetSSEDataReader(ctx, io.MultiReader(strings.NewReader(begin), iotest.ErrReader(io.ErrUnexpectedEOF)))
		if err := endOf(r); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(err)
		}
	}
}

// alive reports whether a payload only keeps the connection alive. The adapter leaves such payloads out.
func alive(data []byte) bool {
	var event struct{ Type string }
	return json.Unmarshal(data, &event) == nil && (event.Type == "ping" || event.Type == "keepalive")
}

// ended describes how a stream ended. If the server closed the stream too early, the adapter reports that, and it
// reports an error after the payload of the error; the gateway's own readers return io.EOF for both. No source fails
// here.
func ended(err error) string {
	var api *deltawire.APIError
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &api) {
		return io.EOF.Error()
	}
	return err.Error()
}

// The recordings for which the two readers deliver different lines or events, and why.
var differInBifrost = map[string]string{
	"gemini-error-mid-stream.sse": "JSON behind the stream: a payload for the adapter, lines for the gateway",
	"openaiphp-single-lf-1.sse":   "one line end behind each event: the gateway's reader of events makes one of them",
	"other-ids-1.sse":             "data of several lines: the gateway's reader of lines takes each for a payload",
}

// For all other recorded streams the adapter and the gateway's own readers deliver the same.
func TestBifrostRecordings(t *testing.T) {
	files := append(recordings(t, "streams"), recordings(t, "protocols")...)
	for _, file := range files {
		bytes, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		readers := 0
		var lines, events [2]string
		for i, ctx := range []*schemas.BifrostContext{adapted(&readers), own()} {
			r := utils.GetSSEDataReader(ctx, strings.NewReader(string(bytes)))
			data, err := r.ReadDataLine()
			for ; err == nil; data, err = r.ReadDataLine() {
				if !alive(data) {
					lines[i] += strings.TrimSpace(string(data)) + "\n"
				}
			}
			lines[i] += ended(err)

			e := utils.GetSSEEventReader(ctx, strings.NewReader(string(bytes)))
			name, data, err := e.ReadEvent()
			for ; err == nil; name, data, err = e.ReadEvent() {
				if string(data) == "[DONE]" {
					err = io.EOF
					break
				}
				if !alive(data) {
					events[i] += name + " " + string(data) + "\n"
				}
			}
			events[i] += ended(err)
		}
		name := filepath.Base(file)
		why, ok := differInBifrost[name]
		if (lines[0] != lines[1] || events[0] != events[1]) != ok {
			t.Errorf("%s (%s): lines %d, its own %d; events %d, its own %d", name, why, len(lines[0]), len(lines[1]), len(events[0]), len(events[1]))
		}
	}
	for name := range differInBifrost {
		if !slices.ContainsFunc(files, func(file string) bool { return filepath.Base(file) == name }) {
			t.Errorf("%s is no recording", name)
		}
	}
	t.Logf("%d recordings compared", len(files))
}
