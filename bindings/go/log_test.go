package deltawire

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// Writes a stream as a log, using the public interface. ../../tests/quirks/README.md describes the lines.

// pieces is a source whose reads end at the cuts.
type pieces struct {
	input []byte
	cuts  []int // ascending
	at    int
}

func (p *pieces) Read(b []byte) (int, error) {
	for len(p.cuts) > 0 && p.cuts[0] <= p.at {
		p.cuts = p.cuts[1:]
	}
	if p.at == len(p.input) {
		return 0, io.EOF
	}
	end := len(p.input)
	if len(p.cuts) > 0 {
		end = min(end, p.cuts[0])
	}
	n := copy(b, p.input[p.at:end])
	p.at += n
	return n, nil
}

// cutEvery returns the cuts for reads of size bytes.
func cutEvery(size, length int) []int {
	var cuts []int
	for at := size; at < length; at += size {
		cuts = append(cuts, at)
	}
	return cuts
}

// logged turns on all kinds that have a line in a log: the default ones, and messages.
func logged() Option {
	return func(s *settings) {
		s.chosen = true
		s.events = (1<<kindCount - 1) &^ (maskOf(KindFrame) | maskOf(KindPayload) | maskOf(KindMeta) | maskOf(KindAnnotation) |
			maskOf(KindSignature) | maskOf(KindMedia) | maskOf(KindNative))
	}
}

// logOf reads to the end of the stream and returns its log.
func logOf(r *Reader) []string {
	var lines []string
	for e, err := range r.Events() {
		if err != nil {
			var strict *StrictError
			if errors.As(err, &strict) {
				return append(lines, fmt.Sprintf("stop %s at %d", strict.Quirk.Code(), strict.Offset))
			}
			if !r.End().Finished || r.End().Complete {
				lines = append(lines, "error of the reader: "+err.Error())
			}
			break
		}
		if line := lineOf(e); line != "" {
			lines = append(lines, line)
		}
	}
	if id := r.LastEventID(); id != "" {
		lines = append(lines, "last-id "+quoted([]byte(id)))
	}
	end := r.End()
	verdict := plainName(end.Verdict)
	if end.Media != MediaNone {
		verdict += " media=" + plainName(end.Media)
	}
	if end.Verdict == VerdictOtherProtocol && end.Protocol != ProtocolNone {
		verdict += " protocol=" + plainName(end.Protocol)
	}
	lines = append(lines, fmt.Sprintf("end %s choices=%d/%d pending=%s error=%v offset=%d", verdict,
		end.ChoicesFinished, end.ChoicesSeen, plainName(end.Pending), end.Failed, end.Offset))
	if !end.Finished {
		lines = append(lines, "the end is not the end")
	}
	if (r.Err() == nil) != end.Complete {
		lines = append(lines, fmt.Sprintf("complete: %v, but the error %v", end.Complete, r.Err()))
	}
	return append(lines, quirksLine(r))
}

// plainName returns the name of a number as logs write it, with initialisms as words.
func plainName(v fmt.Stringer) string {
	return strings.NewReplacer("API", "Api", "HTML", "Html", "JSON", "Json", "UTF8", "Utf8").Replace(v.String())
}

// The names of limits in a log.
var limitWords = map[Limit]string{LimitChoices: "TooManyChoices", LimitToolCalls: "TooManyCalls", LimitIndex: "BadIndex"}

func quirksLine(r *Reader) string {
	var rows []string
	counts := map[string]uint64{}
	for _, q := range r.Quirks() {
		if counts[q.Code()] == 0 {
			rows = append(rows, q.Code())
		}
		counts[q.Code()] += r.QuirkCount(q)
	}
	if len(rows) == 0 {
		return "quirks none"
	}
	line := "quirks"
	for _, row := range rows {
		line += fmt.Sprintf(" %s:%d", row, counts[row])
	}
	return line
}

func lineOf(e *Event) string {
	span := fmt.Sprintf("%d..%d", e.Start, e.End)
	text := func(word string) string { return fmt.Sprintf("%s %d %s", word, e.Choice, quoted(e.Text)) }
	raw := func(word string) string { return fmt.Sprintf("%s %d %s", word, e.Choice, escaped(e.Text)) }
	place := "appends"
	if e.Is(FlagReplaces) {
		place = "replaces"
	}
	switch e.Kind {
	case KindChunk:
		line := "chunk " + span + named("name", e.EventName()) + named("id", e.ID()) + named("model", e.Model())
		if e.Is(FlagNumber) {
			line += fmt.Sprintf(" created=%d", e.Number)
		}
		return line
	case KindDone:
		return "done " + span
	case KindComment:
		return "comment " + span + " " + quoted(e.Text)
	case KindKeepAlive:
		return "keep-alive " + span + " " + quoted(e.Text)
	case KindRetry:
		return fmt.Sprintf("retry %s %d", span, e.Number)
	case KindLastEventID:
		return "id " + span + " " + quoted(e.ID())
	case KindMalformed:
		return fmt.Sprintf("malformed %s %s %v at %d", span, quoted(e.Text), plainName(e.Fault()), e.Number) + named("name", e.EventName())
	case KindTooLong:
		return fmt.Sprintf("too-long %d", e.Start)
	case KindCommentTooLong:
		return fmt.Sprintf("comment-too-long %d", e.Start)
	case KindRole:
		return text("role")
	case KindContent:
		return text("content")
	case KindReasoning:
		return text("reasoning")
	case KindRefusal:
		return text("refusal")
	case KindToolCall:
		line := fmt.Sprintf("call %d #%d index=%d", e.Choice, e.Call, e.Number)
		for _, f := range []struct {
			flag Flags
			word string
		}{{FlagOpens, " opens"}, {FlagReuses, " reuses"}, {FlagCustom, " custom"}} {
			if e.Is(f.flag) {
				line += f.word
			}
		}
		return line + named("id", e.ID()) + named("type", e.Type())
	case KindToolName:
		return fmt.Sprintf("name %d #%d %s %s", e.Choice, e.Call, place, quoted(e.Text))
	case KindToolArguments:
		return fmt.Sprintf("arguments %d #%d %s", e.Choice, e.Call, quoted(e.Text))
	case KindToolCallEnd:
		end := "broken"
		if e.Whole() {
			end = "whole"
		}
		return fmt.Sprintf("call-end %d #%d %s", e.Choice, e.Call, end)
	case KindFunctionName:
		return fmt.Sprintf("function-name %d %s %s", e.Choice, place, quoted(e.Text))
	case KindFunctionArguments:
		return text("function-arguments")
	case KindAudio:
		a, _ := e.Audio()
		line := fmt.Sprintf("audio %d", e.Choice) + named("id", []byte(a.ID)) + named("data", []byte(a.Data)) +
			named("transcript", []byte(a.Transcript))
		if a.ExpiresAt != 0 {
			line += fmt.Sprintf(" expires_at=%d", a.ExpiresAt)
		}
		return line
	case KindLogprobs:
		return raw("logprobs")
	case KindUsage:
		return "usage " + escaped(e.Text)
	case KindFinish:
		return text("finish")
	case KindError:
		return errorLine("error", e)
	case KindChoiceError:
		return errorLine(fmt.Sprintf("choice-error %d", e.Choice), e)
	case KindLimit:
		what := limitWords[e.Limit()]
		if e.Choice != math.MaxUint32 {
			what += fmt.Sprintf(" of %d", e.Choice)
		}
		return fmt.Sprintf("stop %s at %d", what, e.Start)
	case KindQuirk:
		return ""
	}
	return fmt.Sprintf("an event of kind %v", e.Kind)
}

func errorLine(word string, e *Event) string {
	err := e.APIError()
	line := word
	if err.Message != "" {
		line += " " + quoted([]byte(err.Message))
	}
	line += named("code", []byte(err.Code)) + named("type", []byte(err.Type)) + named("param", []byte(err.Param))
	if err.Metadata != nil {
		line += " metadata=" + escaped(err.Metadata)
	}
	return line
}

func named(name string, text []byte) string {
	if len(text) == 0 {
		return ""
	}
	return " " + name + "=" + quoted(text)
}

func quoted(b []byte) string { return `"` + strings.ReplaceAll(escaped(b), `"`, `\"`) + `"` }

func escaped(b []byte) string {
	var s strings.Builder
	for _, c := range b {
		switch {
		case c == '\n':
			s.WriteString(`\n`)
		case c == '\r':
			s.WriteString(`\r`)
		case c == '\t':
			s.WriteString(`\t`)
		case c == '\\':
			s.WriteString(`\\`)
		case c >= ' ' && c <= '~':
			s.WriteByte(c)
		default:
			fmt.Fprintf(&s, `\x%02X`, c)
		}
	}
	return s.String()
}
