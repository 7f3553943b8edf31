package deltawire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Reads whole streams: ../../samples, and the recorded streams of DELTAWIRE_CORPUS.

type stream struct {
	name     string
	bytes    []byte
	expected []byte // the expected message; nil: unknown
}

func readStreams(t testing.TB, folder string, expected func(path string) string) []stream {
	paths, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var streams []stream
	for _, path := range paths {
		ext := filepath.Ext(path)
		if ext != ".sse" && ext != ".json" || strings.HasSuffix(path, ".expected.json") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(expected(path))
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, stream{filepath.Base(path), text, want})
	}
	if len(streams) == 0 {
		t.Fatalf("no streams in %s", folder)
	}
	return streams
}

// needProject skips a test if the package is not in the project, whose samples and cases the test needs.
func needProject(t testing.TB) {
	if _, err := os.Stat("../../tests/quirks"); errors.Is(err, os.ErrNotExist) {
		t.Skip("samples and cases are in the project's tree")
	}
}

func samples(t testing.TB) []stream {
	needProject(t)
	return readStreams(t, "../../samples", func(path string) string {
		return strings.TrimSuffix(path, filepath.Ext(path)) + ".expected.json"
	})
}

// corpus returns the recorded streams. Without them it skips the test, or fails it if REQUIRE_ALL is 1.
func corpus(t testing.TB) []stream {
	folder := os.Getenv("DELTAWIRE_CORPUS")
	if folder == "" {
		if os.Getenv("REQUIRE_ALL") == "1" {
			t.Fatal("DELTAWIRE_CORPUS is not set")
		}
		fmt.Printf("SKIP %s: DELTAWIRE_CORPUS is not set\n", t.Name())
		t.Skip("DELTAWIRE_CORPUS is not set")
	}
	return readStreams(t, filepath.Join(folder, "streams"), func(path string) string { return path + ".expected.json" })
}

var readSizes = []int{1, 7, 1448, 1 << 20}

// prune leaves out values that are null or empty, which mean the same as absent ones.
func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			if member = prune(member); member == nil || member == "" {
				delete(v, key)
			} else {
				v[key] = member
			}
		}
	case []any:
		for i := range v {
			v[i] = prune(v[i])
		}
	}
	return v
}

func decode(t *testing.T, text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return prune(v)
}

// assembled returns the message of a stream, in reads of size bytes.
func assembled(t *testing.T, s stream, size int, opts ...Option) []byte {
	var a Assembler
	r := NewReader(&pieces{input: s.bytes, cuts: cutEvery(size, len(s.bytes))}, append(opts, WithAssembler(&a))...)
	for r.Next() {
		if r.Event().Kind == KindPayload {
			t.Fatalf("%s: a payload, which no option turned on", s.name)
		}
	}
	text, err := a.JSON(false)
	if err != nil || (r.Err() == nil) != r.End().Complete {
		t.Fatalf("%s: %v, %v", s.name, err, r.Err())
	}
	return text
}

func TestMessageSamples(t *testing.T) {
	for _, s := range samples(t) {
		want := decode(t, s.expected)
		for _, size := range readSizes {
			for _, m := range (&quirkCase{storage: -1}).memories()[:2] {
				got := decode(t, assembled(t, s, size, m.option()))
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s, reads of %d, %s:\n   got %v\n  want %v", s.name, size, m.name, got, want)
				}
			}
		}
	}
}

// byCorpus runs a script of the corpus that compares the messages in a folder with its golden results. For each
// recording the script runs a program, here one that prints the message of that name. byCorpus returns the last line of
// the script: how many messages of how many are right.
func byCorpus(t *testing.T, messages, script string, args ...string) string {
	program := filepath.Join(messages, "program")
	const text = "#!/bin/sh\nfor path; do :; done\nexec cat \"${0%/*}/${path##*/}\"\n"
	if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	script = filepath.Join(os.Getenv("DELTAWIRE_CORPUS"), script)
	out, err := exec.Command("python3", append([]string{"-B", script, program}, args...)...).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

func TestMessageCorpus(t *testing.T) {
	all := corpus(t)
	for _, size := range []int{1, 1448, 1 << 20} {
		messages, count := t.TempDir(), 0
		for _, s := range all {
			var golden struct{ Protocol string }
			if err := json.Unmarshal(s.expected, &golden); err != nil {
				t.Fatal(err)
			}
			if golden.Protocol != "chat" && golden.Protocol != "text_completion" {
				continue
			}
			if err := os.WriteFile(filepath.Join(messages, s.name), assembled(t, s, size), 0o600); err != nil {
				t.Fatal(err)
			}
			count++
		}
		said := byCorpus(t, messages, "compare_messages.py", filepath.Join(os.Getenv("DELTAWIRE_CORPUS"), "streams"))
		if want := fmt.Sprintf("%d/%d ", count, count); !strings.HasPrefix(said, want) || count < 30 {
			t.Errorf("reads of %d: %s, not %s", size, said, want)
		}
		t.Logf("%d streams compared in reads of %d", count, size)
	}
}

// TestProtocolCorpus reads the recordings of other protocols and compares the messages with the corpus's golden
// results.
func TestProtocolCorpus(t *testing.T) {
	corpus(t) // skips the test without the corpus
	folder := filepath.Join(os.Getenv("DELTAWIRE_CORPUS"), "protocols")
	manifest, err := os.ReadFile(filepath.Join(folder, "MANIFEST.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	protocols := map[string]Protocol{"anthropic": ProtocolAnthropic, "gemini": ProtocolGemini, "responses": ProtocolResponses}
	for _, size := range readSizes {
		messages, compared := t.TempDir(), map[string]int{}
		for _, row := range strings.Split(string(manifest), "\n")[1:] {
			columns := strings.Split(row, "\t")
			if len(columns) < 2 || protocols[columns[1]] == ProtocolNone {
				continue
			}
			name := columns[0]
			input, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				t.Fatal(err)
			}
			golden, err := os.ReadFile(filepath.Join(folder, strings.TrimSuffix(name, filepath.Ext(name))+".expected.json"))
			if err != nil {
				t.Fatal(err)
			}
			var want struct {
				ID    string
				Error any
			}
			if err := json.Unmarshal(golden, &want); err != nil {
				t.Fatal(err)
			}
			var a Assembler
			r := NewReader(&pieces{input: input, cuts: cutEvery(size, len(input))}, WithAssembler(&a))
			for r.Next() {
			}
			verdict, protocol := VerdictDone, protocols[columns[1]]
			if protocol == ProtocolGemini {
				verdict = VerdictFinished
			}
			if want.Error != nil {
				verdict = VerdictAPIError
			}
			if strings.Contains(row, "error-body") {
				protocol, want.ID = ProtocolNone, ""
			}
			end := r.End()
			if end.Verdict != verdict || end.Protocol != protocol || end.Complete != (want.Error == nil) || (r.Err() == nil) != end.Complete {
				t.Errorf("%s, reads of %d: %v %v %v %v", name, size, end.Verdict, end.Protocol, end.Complete, r.Err())
			}
			if id := a.Text(FieldID, 0, 0); id != want.ID {
				t.Errorf("%s, reads of %d: ID %q, not %q", name, size, id, want.ID)
			}
			text, err := a.JSON(false)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(messages, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
			compared[columns[1]]++
		}
		if len(compared) != len(protocols) {
			t.Fatalf("only %v were read", compared)
		}
		for protocol, count := range compared {
			said := byCorpus(t, messages, "protocols/check.py", folder, "-p", protocol)
			if all := fmt.Sprintf("%d/%d", count, count); !strings.HasSuffix(said, all) {
				t.Errorf("%s, reads of %d: %s, not %s", protocol, size, said, all)
			}
		}
		t.Logf("reads of %d: %v recordings compared", size, compared)
	}
}

func TestReadMessage(t *testing.T) {
	for _, s := range samples(t) {
		m, err := ReadMessage(bytes.NewReader(s.bytes))
		if m == nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		var apiError *APIError
		switch {
		case strings.HasPrefix(s.name, "error"):
			if !errors.As(err, &apiError) || apiError.Message == "" {
				t.Errorf("%s: %v is not an error of the API", s.name, err)
			}
		case strings.HasPrefix(s.name, "truncated"):
			if !errors.Is(err, ErrTruncated) || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s: %v is not a truncation", s.name, err)
			}
		case err != nil:
			t.Errorf("%s: %v", s.name, err)
		}
		if len(m.Choices) == 0 && apiError == nil {
			t.Errorf("%s: no choices", s.name)
		}
	}
	m, err := ReadMessage(bytes.NewReader(sample(t, "weather.sse")))
	if err != nil {
		t.Fatal(err)
	}
	call := m.Choices[0].Message.ToolCalls[0]
	if call.ID != "call_h3Vt91" || call.Function == nil || call.Function.Name != "get_weather" ||
		!json.Valid([]byte(call.Function.Arguments)) || m.Choices[0].FinishReason != "tool_calls" {
		t.Errorf("weather: %+v", call)
	}
	if m.Usage == nil || m.Error != nil || m.Choices[0].Logprobs != nil || m.Choices[0].Message.Audio != nil {
		t.Errorf("weather: %+v", m)
	}
	m, err = ReadMessage(bytes.NewReader(sample(t, "openrouter.sse")))
	if err != nil || m.Choices[0].Message.ReasoningName != "reasoning" || m.Choices[0].Message.ReasoningContent != "Two plus two is four." {
		t.Errorf("openrouter: %+v, %v", m, err)
	}
	m, err = ReadMessage(bytes.NewReader(sample(t, "reasoning.sse")))
	if err != nil || m.Choices[0].Message.ReasoningContent == "" || m.Choices[0].Message.Content != "Yes, 17 is prime." {
		t.Errorf("reasoning: %+v, %v", m, err)
	}
}

func sample(t testing.TB, name string) []byte {
	for _, s := range samples(t) {
		if s.name == name {
			return s.bytes
		}
	}
	t.Fatalf("no sample %s", name)
	return nil
}

func TestMembersOfCalls(t *testing.T) {
	const stream = `data: {"choices":[{"index":2,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},` +
		`{"index":1,"id":"b","extra_content":{"sig": "s"},"function":{"name":"g","arguments":"{}","strict":true}}]},` +
		`"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"
	var a Assembler
	r := NewReader(strings.NewReader(stream), WithEvents(), WithAssembler(&a))
	for r.Next() {
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	for _, m := range []struct {
		owner Owner
		call  int
		name  string
		want  string
	}{
		{OwnerCall, 1, "extra_content", `{"sig": "s"}`},
		{OwnerFunction, 1, "strict", "true"},
		{OwnerCall, 0, "extra_content", ""},
		{OwnerCall, 2, "extra_content", ""},
	} {
		if got := a.Member(m.owner, 2, m.call, m.name); string(got) != m.want {
			t.Errorf("%d %d %s: %q", m.owner, m.call, m.name, got)
		}
	}
	message, err := a.Message()
	if err != nil {
		t.Fatal(err)
	}
	calls := message.Choices[0].Message.ToolCalls
	if got := calls[1].Members["extra_content"]; string(got) != `{"sig": "s"}` || calls[0].Members != nil || len(calls[1].Members) != 1 {
		t.Errorf("%q, %v", got, calls[0].Members)
	}
}

// The result of ReadMessage has the members that have no field.
func TestMembersOfMessages(t *testing.T) {
	message, err := ReadMessage(strings.NewReader(`data: {"citations":["u"],"choices":[{"x":1,"delta":{"reasoning":"r","extra_content":{"a":1}},` +
		`"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	choice := message.Choices[0]
	for name, got := range map[string]string{
		`["u"]`:   string(message.Members["citations"]),
		"1":       string(choice.Members["x"]),
		`{"a":1}`: string(choice.Message.Members["extra_content"]),
	} {
		if got != name {
			t.Errorf("%s: %s", name, got)
		}
	}
	if len(message.Members) != 1 || len(choice.Members) != 1 || len(choice.Message.Members) != 1 || choice.Message.ReasoningContent != "r" {
		t.Errorf("%+v", message)
	}
}

// The text of an error of the API cannot write to a terminal.
func TestAPIErrorIsPrintable(t *testing.T) {
	err := &APIError{Message: "a\x1b[31m\u202e\nb", Code: "c\r"}
	if got := err.Error(); got != `deltawire: the API reported an error: a\x1b[31m\u202e\nb (c\r)` {
		t.Error(got)
	}
}

func TestMembersOfProviders(t *testing.T) {
	const stream = `data: {"x\u0041":{"a" : [1]},"choices":[{"y" : "z","delta":{"content":"c"}}]}` + "\n\ndata: [DONE]\n\n"
	type member struct {
		meta       Meta
		name, json string
	}
	var got []member
	for e, err := range NewReader(strings.NewReader(stream), WithEvents(KindMeta, KindContent)).Events() {
		if err != nil {
			t.Fatal(err)
		}
		name, json, ok := e.Member()
		if ok != (e.Kind == KindMeta) {
			t.Errorf("%v is a member: %v", e.Kind, ok)
		}
		if ok {
			got = append(got, member{e.Meta(), name, string(json)})
		}
	}
	want := []member{{MetaChoiceMember, "y", `"z"`}, {MetaMember, "xA", `{"a" : [1]}`}}
	slices.SortFunc(got, func(a, b member) int { return int(b.meta) - int(a.meta) })
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	id := Event{Kind: KindMeta, Code: uint32(MetaObject), Text: []byte("chat.completion.chunk")}
	if name, _, ok := id.Member(); ok || name != "" {
		t.Error("a text is not a member")
	}
}
