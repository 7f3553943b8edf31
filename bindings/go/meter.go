package deltawire

// #include "bridge.h"
import "C"

// TokenKind is what a [Token] is.
type TokenKind uint32

// The kinds of tokens.
const (
	TokenNone      TokenKind = 0 // no token came
	TokenContent   TokenKind = 1
	TokenReasoning TokenKind = 2
	TokenRefusal   TokenKind = 3
	TokenCall      TokenKind = 4 // a tool call, or the function_call of a choice: it opens, or has more of its name or arguments
)

// String returns the name of the kind, such as Content.
func (k TokenKind) String() string { return nameOf("TokenKind", k, tokenNames) }

var tokenNames = []string{"None", "Content", "Reasoning", "Refusal", "Call"}

// Token is an event that bears a token: content, reasoning, a refusal or a part of a call, which is never empty. A role,
// a ping, a signature, audio, images and tools that are neither functions nor custom tools are no tokens.
type Token struct {
	Kind   TokenKind // in [Meter.First] of the event's first token, in [Meter.Last] of its last one
	Event  uint64    // the number of the event, from 1, as [Meter.Events] counts
	Offset uint64    // the stream offset, in bytes, of the event's first byte
}

// Amount is how much text came, decoded.
type Amount struct {
	Bytes uint64 // bytes of UTF-8
	Chars uint64 // Unicode characters
}

// Meter is what a reader with [WithMeter] keeps of its stream. Its texts are copies, cut between two characters if they
// are longer than this says, and "" if they did not come. They are as the server sent them: escape them before you print
// them.
type Meter struct {
	// First is the first event that bears a token; its Kind is TokenNone if none came. A program with a clock learns when
	// it came: in the read in which this became known.
	First Token
	// Last is the last event so far that bears a token.
	Last Token
	// Events is how many events came: every one with a payload, also [DONE], a ping, and one that could not be read.
	// Comments, reconnection times and IDs alone do not count. A JSON object as body is one event.
	Events uint64
	// TokenEvents is how many of them bear a token.
	TokenEvents uint64
	Content     Amount // of all choices
	Reasoning   Amount // of all choices
	Refusal     Amount // of all choices
	// Arguments is the arguments of all calls, custom tools' inputs and function_calls. Arguments that Gemini sends by
	// path do not count.
	Arguments Amount
	// Calls is how many tool calls and function_calls opened, in all choices.
	Calls uint32
	// CallNames has the names of the first 8 calls that have one, each at most 64 bytes.
	CallNames []string
	// Finish is why choice 0 finished; 0: it has not.
	Finish FinishReason
	// FinishText is the finish reason of choice 0, in the word of chat completions if there is one; at most 64 bytes.
	FinishText string
	Model      string // the first that came, at most 128 bytes
	ID         string // the first ID of the response that came, at most 128 bytes
	// Error is the first error of the API: its type, else its code, else "error"; at most 128 bytes.
	Error string
	// Usage has the counts so far, as [Reader.Usage] returns them; its Has is 0 if none came. Bill these, or Iterations.
	Usage Usage
	// Iterations is the sum of Anthropic's usage.iterations; its Has is 0 if none came. It includes what Usage has: that is
	// the sum of those iterations alone whose type is message. Bill the one or the other, never both.
	Iterations Usage
	// OtherIterations is the sum of those iterations whose type is not message, such as a compaction.
	OtherIterations Usage
	// ToolUsage is the tool_usage of Responses, as raw JSON: what tools of the server used. It is "" if it is longer than
	// 512 bytes.
	ToolUsage string
}

// Meter returns what the reader keeps of the stream so far, as far as the source was read: at any time, also after the
// stream was cut. It returns false without [WithMeter].
func (r *Reader) Meter() (Meter, bool) {
	var c C.bridge_meter
	if r.block == nil || C.bridge_meter_of(r.p(), &c) != C.DELTAWIRE_OK {
		return Meter{}, false
	}
	used := 0
	text := func(nth int) string {
		from := used
		used += int(c.lens[nth])
		if used == from {
			return ""
		}
		return C.GoStringN(&c.texts[from], C.int(used-from))
	}
	m := Meter{
		First:           tokenOf(&c.first),
		Last:            tokenOf(&c.last),
		Events:          uint64(c.events),
		TokenEvents:     uint64(c.token_events),
		Content:         Amount{uint64(c.content.bytes), uint64(c.content.chars)},
		Reasoning:       Amount{uint64(c.reasoning.bytes), uint64(c.reasoning.chars)},
		Refusal:         Amount{uint64(c.refusal.bytes), uint64(c.refusal.chars)},
		Arguments:       Amount{uint64(c.arguments.bytes), uint64(c.arguments.chars)},
		Calls:           uint32(c.calls),
		Finish:          FinishReason(c.finish),
		Usage:           usageOf(&c.usage),
		Iterations:      usageOf(&c.iterations),
		OtherIterations: usageOf(&c.other_iterations),
		Model:           text(0),
		ID:              text(1),
		FinishText:      text(2),
		Error:           text(3),
		ToolUsage:       text(4),
	}
	for nth := range int(c.names) {
		m.CallNames = append(m.CallNames, text(5+nth))
	}
	return m, true
}

func tokenOf(c *C.deltawire_token) Token {
	return Token{TokenKind(c.kind), uint64(c.event), uint64(c.offset)}
}
