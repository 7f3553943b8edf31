package deltawire

// #include "bridge.h"
import "C"

import (
	"encoding/json"
	"strconv"
	"strings"
	"unsafe"
)

// value is a JSON value, which the library reads as lazily and as leniently as a chunk. An absent value has no bytes.
type value struct {
	json  []byte
	plain bool // plain text, as some servers report errors
}

func chars(b []byte) *C.char { return (*C.char)(unsafe.Pointer(unsafe.SliceData(b))) }

func (v value) span(s C.bridge_span) value {
	from, to := int(s.off), int(s.off)+int(s.len)
	return value{json: v.json[from:to:to], plain: s._type == C.DELTAWIRE_T_TEXT}
}

// member returns the member with this name, or an absent value.
func (v value) member(name string) value {
	var s C.bridge_span
	if v.json == nil || v.plain {
		return value{}
	}
	n := (*C.char)(unsafe.Pointer(unsafe.StringData(name)))
	if C.bridge_member(chars(v.json), C.size_t(len(v.json)), n, C.size_t(len(name)), &s) != C.DELTAWIRE_OK {
		return value{}
	}
	return v.span(s)
}

// splitMember returns the name and the value of a member, or two absent values if the bytes are not a member.
func splitMember(member []byte) (name, v value) {
	var key, s C.bridge_span
	if C.bridge_open_member(chars(member), C.size_t(len(member)), &key, &s) != C.DELTAWIRE_OK {
		return value{}, value{}
	}
	all := value{json: member}
	return all.span(key), all.span(s)
}

// errorField returns a part of an error, whichever member the provider puts it in.
func (v value) errorField(field C.uint32_t) value {
	var s C.bridge_span
	plain := C.int(0)
	if v.plain {
		plain = 1
	}
	if C.bridge_error_field(chars(v.json), C.size_t(len(v.json)), plain, field, &s) != C.DELTAWIRE_OK {
		return value{}
	}
	return v.span(s)
}

// string returns the decoded text of a string or of plain text, a number, true or false as it is written, and otherwise
// "".
func (v value) string() string {
	if v.json == nil {
		return ""
	}
	plain := C.int(0)
	if v.plain {
		plain = 1
	}
	text := make([]byte, len(v.json))
	for {
		var need C.size_t
		switch C.bridge_text(chars(v.json), C.size_t(len(v.json)), plain, chars(text), C.size_t(len(text)), &need) {
		case C.DELTAWIRE_OK:
			return unsafe.String(unsafe.SliceData(text), int(need))
		case C.DELTAWIRE_E_SMALL:
			text = make([]byte, int(need))
		default:
			return ""
		}
	}
}

func (v value) uint64() (uint64, bool) {
	var n C.uint64_t
	if v.json == nil || v.plain || C.bridge_u64(chars(v.json), C.size_t(len(v.json)), &n) != C.DELTAWIRE_OK {
		return 0, false
	}
	return uint64(n), true
}

// Usage holds token counts. A count that was not sent is 0, and its bit in Has is not set.
type Usage struct {
	Has                UsageCounts // which counts were sent
	Prompt             uint64      // prompt_tokens; for Anthropic including the tokens read from and written to a cache
	Completion         uint64      // completion_tokens
	Total              uint64      // total_tokens
	Reasoning          uint64      // completion_tokens_details.reasoning_tokens
	Cached             uint64      // prompt_tokens_details.cached_tokens
	PromptAudio        uint64      // prompt_tokens_details.audio_tokens
	CompletionAudio    uint64      // completion_tokens_details.audio_tokens
	AcceptedPrediction uint64      // completion_tokens_details.accepted_prediction_tokens
	RejectedPrediction uint64      // completion_tokens_details.rejected_prediction_tokens
	CacheWrite         uint64      // prompt_tokens_details.cache_write_tokens; OpenAI includes them in Prompt
}

// UsageCounts is a set of counts of [Usage].
type UsageCounts uint32

// The counts of Usage.
const (
	HasPrompt             UsageCounts = 1 << 0
	HasCompletion         UsageCounts = 1 << 1
	HasTotal              UsageCounts = 1 << 2
	HasReasoning          UsageCounts = 1 << 3
	HasCached             UsageCounts = 1 << 4
	HasPromptAudio        UsageCounts = 1 << 5
	HasCompletionAudio    UsageCounts = 1 << 6
	HasAcceptedPrediction UsageCounts = 1 << 7
	HasRejectedPrediction UsageCounts = 1 << 8
	HasCacheWrite         UsageCounts = 1 << 9
)

// String returns the names of the counts, such as Prompt|Completion.
func (c UsageCounts) String() string { return namesOf("UsageCounts", c, usageNames) }

// usageNames has the name of each count at the number of its bit.
var usageNames = []string{"Prompt", "Completion", "Total", "Reasoning", "Cached", "PromptAudio", "CompletionAudio",
	"AcceptedPrediction", "RejectedPrediction", "CacheWrite"}

// UsageOf returns the token counts of a stored usage object, such as [Message.Usage], with the member names of any
// protocol that the package reads; false if the bytes are not an object with members.
func UsageOf(usage []byte) (Usage, bool) {
	c := C.deltawire_usage{size: C.sizeof_deltawire_usage}
	if C.bridge_value_usage(chars(usage), C.size_t(len(usage)), &c) != C.DELTAWIRE_OK {
		return Usage{}, false
	}
	return usageOf(&c), true
}

func usageOf(c *C.deltawire_usage) Usage {
	return Usage{
		Has:                UsageCounts(c.has),
		Prompt:             uint64(c.prompt),
		Completion:         uint64(c.completion),
		Total:              uint64(c.total),
		Reasoning:          uint64(c.reasoning),
		Cached:             uint64(c.cached),
		PromptAudio:        uint64(c.prompt_audio),
		CompletionAudio:    uint64(c.completion_audio),
		AcceptedPrediction: uint64(c.accepted_prediction),
		RejectedPrediction: uint64(c.rejected_prediction),
		CacheWrite:         uint64(c.cache_write),
	}
}

// APIError is an error that the API reported, whatever its shape. An absent member is "".
type APIError struct {
	Message  string
	Code     string // a number as it is written
	Type     string
	Param    string
	Metadata json.RawMessage // any JSON
	Raw      []byte          // the error as it was sent: JSON, or plain text if Plain is true
	Plain    bool
}

func apiErrorOf(v value) *APIError {
	return &APIError{
		Message:  v.errorField(C.DELTAWIRE_ERROR_MESSAGE).string(),
		Code:     v.errorField(C.DELTAWIRE_ERROR_CODE).string(),
		Type:     v.errorField(C.DELTAWIRE_ERROR_TYPE).string(),
		Param:    v.errorField(C.DELTAWIRE_ERROR_PARAM).string(),
		Metadata: v.errorField(C.DELTAWIRE_ERROR_METADATA).json,
		Raw:      v.json,
		Plain:    v.plain,
	}
}

// Error returns the message, with code and type if there are any. It escapes control characters and those that change
// the direction of text, so that a server cannot write to a terminal or forge a line of a log. The member Message has
// the characters as sent.
func (e *APIError) Error() string {
	text := "deltawire: the API reported an error"
	if e.Message != "" {
		text += ": " + e.Message
	}
	var more []string
	for _, word := range []string{e.Code, e.Type} {
		if word != "" {
			more = append(more, word)
		}
	}
	if len(more) != 0 {
		text += " (" + strings.Join(more, ", ") + ")"
	}
	return printable(text)
}

// printable escapes the characters that are not printable as a Go string literal does.
func printable(text string) string {
	var out strings.Builder
	for _, r := range text {
		if strconv.IsPrint(r) {
			out.WriteRune(r)
		} else {
			quoted := strconv.QuoteRune(r)
			out.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return out.String()
}
