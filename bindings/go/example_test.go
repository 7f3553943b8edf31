package deltawire_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	deltawire "deltawire.dev/go"
)

const stream = `data: {"id":"c-1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}

data: {"id":"c-1","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}

data: {"id":"c-1","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}

data: [DONE]

`

func ExampleReader() {
	r := deltawire.NewReader(strings.NewReader(stream))
	for r.Next() {
		switch e := r.Event(); e.Kind {
		case deltawire.KindContent:
			fmt.Printf("%s|", e.Text)
		case deltawire.KindFinish:
			fmt.Printf(" finish: %s\n", e.Text)
		}
	}
	if err := r.Err(); err != nil {
		fmt.Println("not a whole response:", err)
	}
	usage, _ := r.Usage()
	fmt.Println(r.End().Verdict, usage.Total, "tokens")
	// Output:
	// Hel|lo| finish: stop
	// Done 11 tokens
}

// Meter a response that another reader consumes, even if it was cut.
func ExampleWithMeter() {
	const stream = `event: message_start
data: {"type":"message_start","message":{"usage":{"input_tokens":9,"cache_read_input_tokens":20,"output_tokens":1}}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grüß dich!"}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":12}}

event: message_stop
data: {"type":"message_stop"}

`
	for _, length := range []int{len(stream), 280} {
		r := deltawire.NewReader(nil, deltawire.WithMeter(), deltawire.WithEvents()) // no events: the meter is enough
		end := func() {
			m, _ := r.Meter()
			fmt.Printf("%v, prompt %d, completion %d, finish %q\n", r.End().Verdict, m.Usage.Prompt, m.Usage.Completion, m.FinishText)
			fmt.Println(m.First.Kind, "in event", m.First.Event, "at byte", m.First.Offset, "then", m.Content.Chars, "characters")
		}
		body := r.Tee(io.NopCloser(strings.NewReader(stream[:length])), nil, end)
		io.Copy(io.Discard, body)
	}
	// Output:
	// Done, prompt 29, completion 12, finish "stop"
	// Content in event 2 at byte 139 then 10 characters
	// Truncated, prompt 29, completion 1, finish ""
	// Content in event 2 at byte 139 then 10 characters
}

func ExampleReader_Events() {
	r := deltawire.NewReader(strings.NewReader(stream), deltawire.WithEvents(deltawire.KindContent, deltawire.KindDone))
	for e, err := range r.Events() {
		if err != nil {
			fmt.Println("not a whole response:", err)
			return
		}
		fmt.Println(e.Kind, e.TextString())
	}
	// Output:
	// Content Hel
	// Content lo
	// Done
}

func ExampleReadMessage() {
	m, err := deltawire.ReadMessage(strings.NewReader(stream))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.ID, m.Choices[0].Message.Role, m.Choices[0].Message.Content)
	// Output: c-1 assistant Hello
}

func ExampleReadMessage_truncated() {
	m, err := deltawire.ReadMessage(strings.NewReader(stream[:len(stream)-200]))
	fmt.Println(m.Choices[0].Message.Content, errors.Is(err, deltawire.ErrTruncated))
	// Output: Hel true
}

func ExampleReader_Err() {
	r := deltawire.NewReader(strings.NewReader(`{"error":{"message":"Slow down","type":"rate_limit","code":429}}`))
	for r.Next() {
	}
	err := r.Err()
	fmt.Println(err)
	var api *deltawire.APIError
	fmt.Println(errors.As(err, &api), api.Code)
	// Output:
	// deltawire: the API reported an error: Slow down (429, rate_limit)
	// true 429
}

// The payload has the members that only one provider sends.
func ExampleWithEvents_payload() {
	const perplexity = `data: {"choices":[{"delta":{"content":"Yes [1]"}}],"citations":["https://example.org"]}` + "\n\n"
	r := deltawire.NewReader(strings.NewReader(perplexity), deltawire.WithEvents(deltawire.KindPayload, deltawire.KindContent))
	for r.Next() {
		switch e := r.Event(); e.Kind {
		case deltawire.KindPayload:
			var more struct{ Citations []string }
			if err := json.Unmarshal(e.Text, &more); err != nil {
				fmt.Println(err)
			}
			fmt.Println(more.Citations)
		case deltawire.KindContent:
			fmt.Println(e.TextString())
		}
	}
	// Output:
	// [https://example.org]
	// Yes [1]
}

// Read any event stream.
func ExampleWithSSE() {
	r := deltawire.NewReader(strings.NewReader("event: add\nid: 7\ndata: 1\ndata: 2\n\n"), deltawire.WithSSE())
	for r.Next() {
		e := r.Event()
		fmt.Printf("%s %q %s\n", e.Type(), e.Data(), e.ID())
	}
	// Output: add "1\n2" 7
}

// Join the arguments of tool calls. Each choice numbers its calls from 0: the second call of either choice is call 1.
func ExampleEvent() {
	const calls = `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"sum","arguments":""}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":"}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]},"finish_reason":"tool_calls"}]}

`
	type call struct{ choice, call uint32 }
	arguments := map[call]string{}
	r := deltawire.NewReader(strings.NewReader(calls))
	for r.Next() {
		switch e := r.Event(); e.Kind {
		case deltawire.KindToolCall:
			fmt.Printf("call %d: %s\n", e.Call, e.ID())
		case deltawire.KindToolName:
			fmt.Printf("name %d: %s\n", e.Call, e.Text)
		case deltawire.KindToolArguments:
			arguments[call{e.Choice, e.Call}] += e.TextString()
		case deltawire.KindFinish:
			fmt.Println(arguments[call{e.Choice, 0}], e.FinishReason() == deltawire.FinishToolCalls)
		}
	}
	// Output:
	// call 0: a
	// name 0: sum
	// {"x":1} true
}

func ExampleWriter() {
	w, err := deltawire.NewWriter(os.Stdout, deltawire.ProtocolChat, deltawire.Head{ID: "c1", Model: "some-model"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range []deltawire.Event{
		{Kind: deltawire.KindContent, Text: []byte("Hello")},
		{Kind: deltawire.KindFinish, Text: []byte("stop")},
	} {
		if err := w.Put(&e); err != nil {
			fmt.Println(err)
		}
	}
	if err := w.Finish(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// data: {"id":"c1","object":"chat.completion.chunk","created":0,"model":"some-model","choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]}
	//
	// data: {"id":"c1","object":"chat.completion.chunk","created":0,"model":"some-model","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}
	//
	// data: {"id":"c1","object":"chat.completion.chunk","created":0,"model":"some-model","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
	//
	// data: [DONE]
}

func ExampleTranslator() {
	body := strings.NewReader(`data: {"choices":[{"delta":{"content":"Hello"},"finish_reason":"stop"}]}` + "\n\n")
	t, err := deltawire.NewTranslator(os.Stdout, deltawire.ProtocolChat, deltawire.Head{ID: "c1", Model: "some-model"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := io.Copy(t, body); err != nil {
		fmt.Println(err)
	}
	if err := t.Close(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// data: {"id":"c1","object":"chat.completion.chunk","created":0,"model":"some-model","choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]}
	//
	// data: {"id":"c1","object":"chat.completion.chunk","created":0,"model":"some-model","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}
	//
	// data: {"id":"c1","object":"chat.completion.chunk","created":0,"model":"some-model","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
	//
	// data: [DONE]
}
