package deltawire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// A reader of chat completion streams in plain Go, as one writes it by hand: bufio for the lines, encoding/json for the
// chunks. It knows the documented format and what is common beside it. It is the oracle of the tests, and what the
// benchmarks compare with.

type refChunk struct {
	ID      string      `json:"id"`
	Model   string      `json:"model"`
	Created uint64      `json:"created"`
	Choices []refChoice `json:"choices"`
	Usage   *refUsage   `json:"usage"`
	Error   *refError   `json:"error"`
}

type refChoice struct {
	Index        uint32   `json:"index"`
	Delta        refDelta `json:"delta"`
	Text         string   `json:"text"`
	FinishReason string   `json:"finish_reason"`
}

type refDelta struct {
	Role             string    `json:"role"`
	Content          string    `json:"content"`
	ReasoningContent *string   `json:"reasoning_content"`
	Reasoning        *string   `json:"reasoning"`
	Refusal          string    `json:"refusal"`
	ToolCalls        []refCall `json:"tool_calls"`
	FunctionCall     *struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function_call"`
}

type refCall struct {
	Index    uint64 `json:"index"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type refUsage struct {
	Prompt        uint64 `json:"prompt_tokens"`
	Completion    uint64 `json:"completion_tokens"`
	Total         uint64 `json:"total_tokens"`
	PromptDetails struct {
		Cached uint64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning uint64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

type refError struct {
	Message string `json:"message"`
}

// refEvents gives the data of each event, in order, and the comments. A last event without its blank line counts.
func refEvents(src io.Reader, event func(data []byte) error, comment func(text string)) error {
	lines := bufio.NewReader(src)
	var data []byte
	some := false
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return err
		}
		ended := err == io.EOF
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if bytes.HasPrefix(line, []byte(":")) {
			comment(string(bytes.TrimPrefix(line[1:], []byte(" "))))
		} else if field, value, _ := bytes.Cut(line, []byte(":")); string(field) == "data" {
			if some {
				data = append(data, '\n')
			}
			data, some = append(data, bytes.TrimPrefix(value, []byte(" "))...), true
		}
		if (len(line) == 0 || ended) && some {
			if err := event(data); err != nil {
				return err
			}
			data, some = data[:0], false
		}
		if ended {
			return nil
		}
	}
}

// refLog is what the oracle understands of a stream: for each kind of line the lines of it, in order.
type refLog map[string][]string

func (l refLog) add(kind, format string, args ...any) {
	l[kind] = append(l[kind], fmt.Sprintf(format, args...))
}

// halves are escapes of surrogates: encoding/json knows nothing of a pair whose halves come in two chunks.
var halves = regexp.MustCompile(`(?i)\\ud[89a-f]`)

// refRead reads a stream. The error says that it is beyond the oracle.
func refRead(src io.Reader) (refLog, error) {
	l := refLog{}
	roles := map[uint32]bool{}
	calls := map[string]int{}
	perChoice := map[uint32]int{}
	err := refEvents(src, func(data []byte) error {
		if string(bytes.TrimSpace(data)) == "[DONE]" {
			l.add("done", "")
			return nil
		}
		if halves.Match(data) {
			return errors.New("surrogates")
		}
		var c refChunk
		if err := json.Unmarshal(data, &c); err != nil {
			return err
		}
		l.add("chunk", "id=%q model=%q created=%d", c.ID, c.Model, c.Created)
		for _, choice := range c.Choices {
			d, n := &choice.Delta, choice.Index
			text := func(kind, text string) {
				if text != "" {
					l.add(kind, "%d %q", n, text)
				}
			}
			if !roles[n] {
				text("role", d.Role)
				roles[n] = d.Role != ""
			}
			text("content", d.Content)
			if d.Content == "" {
				text("content", choice.Text)
			}
			if d.ReasoningContent != nil {
				text("reasoning", *d.ReasoningContent)
			} else if d.Reasoning != nil {
				text("reasoning", *d.Reasoning)
			}
			text("refusal", d.Refusal)
			for _, call := range d.ToolCalls {
				key := fmt.Sprint(n, " ", call.Index)
				number, known := calls[key]
				if !known {
					number = perChoice[n]
					calls[key] = number
					perChoice[n]++
					l.add("call", "%d #%d index=%d id=%q type=%q", n, number, call.Index, call.ID, call.Type)
					l.add("name", "%d #%d %q", n, number, call.Function.Name)
				}
				if call.Function.Arguments != "" {
					l.add("arguments", "%d #%d %q", n, number, call.Function.Arguments)
				}
			}
			if f := d.FunctionCall; f != nil {
				text("function-name", f.Name)
				text("function-arguments", f.Arguments)
			}
			text("finish", choice.FinishReason)
		}
		if u := c.Usage; u != nil && *u != (refUsage{}) {
			l.add("usage", "%d %d %d %d %d", u.Prompt, u.Completion, u.Total, u.PromptDetails.Cached, u.CompletionDetails.Reasoning)
		}
		if c.Error != nil {
			l.add("error", "%q", c.Error.Message)
		}
		return nil
	}, func(text string) { l.add("comment", "%q", text) })
	return l, err
}

// libLog are the same lines, by the library.
func libLog(r *Reader) refLog {
	l := refLog{}
	for r.Next() {
		e := r.Event()
		text := func(kind string) { l.add(kind, "%d %q", e.Choice, e.Text) }
		switch e.Kind {
		case KindDone:
			l.add("done", "")
		case KindChunk:
			l.add("chunk", "id=%q model=%q created=%d", e.ID(), e.Model(), e.Number)
		case KindRole, KindContent, KindReasoning, KindRefusal, KindFinish:
			text(strings.ToLower(e.Kind.String()))
		case KindToolCall:
			l.add("call", "%d #%d index=%d id=%q type=%q", e.Choice, e.Call, e.Number, e.ID(), e.Type())
		case KindToolName:
			l.add("name", "%d #%d %q", e.Choice, e.Call, e.Text)
		case KindToolArguments:
			l.add("arguments", "%d #%d %q", e.Choice, e.Call, e.Text)
		case KindFunctionName:
			text("function-name")
		case KindFunctionArguments:
			text("function-arguments")
		case KindUsage:
			u, _ := e.Usage()
			if u.Prompt|u.Completion|u.Total|u.Cached|u.Reasoning == 0 {
				continue
			}
			l.add("usage", "%d %d %d %d %d", u.Prompt, u.Completion, u.Total, u.Cached, u.Reasoning)
		case KindError:
			l.add("error", "%q", e.APIError().Message)
		case KindComment:
			l.add("comment", "%q", e.Text)
		}
	}
	return l
}
