//go:build cgo

package deltawire

import (
	"bytes"
	"strings"
)

// Event is a delta, or something else that the parser reports of a stream. Its Kind determines what the other members
// hold.
//
// Text, Aux and Extra are views of the reader's memory: they are valid until the next call of [Reader.Next], and must
// not be written to. [Event.Clone] makes a copy that stays valid. A text is complete and valid UTF-8, and never ends
// inside a code point or a surrogate pair. The kinds whose text is any bytes or JSON have it as sent.
type Event struct {
	Kind   Kind
	Flags  Flags
	Choice uint32 // the index of the choice; 0 if the event belongs to no choice
	Call   uint32 // the number of the tool call among those of its choice, in order of appearance
	Code   uint32 // depends on Kind
	Number uint64 // depends on Kind
	Text   []byte
	Aux    []byte
	Extra  []byte
	Start  uint64 // the stream offset of its first byte
	End    uint64 // the stream offset one past its last byte
}

// TextString returns a copy of the text.
func (e *Event) TextString() string { return string(e.Text) }

// Is reports whether all these flags are set.
func (e *Event) Is(flags Flags) bool { return e.Flags&flags == flags }

// Clone returns a copy of the event and its texts.
func (e *Event) Clone() *Event {
	c := *e
	c.Text, c.Aux, c.Extra = bytes.Clone(e.Text), bytes.Clone(e.Aux), bytes.Clone(e.Extra)
	return &c
}

// ID returns the ID of a chunk or a tool call, and the last event ID of a [KindSSE] or [KindLastEventID]; nil for other
// kinds.
func (e *Event) ID() []byte {
	switch e.Kind {
	case KindChunk, KindToolCall, KindLastEventID:
		return e.Text
	case KindSSE:
		return e.Extra
	}
	return nil
}

// Type returns the type of a tool call, or of a [KindSSE], where it is message by default; nil for other kinds.
func (e *Event) Type() []byte {
	switch e.Kind {
	case KindToolCall, KindSSE:
		return e.Aux
	}
	return nil
}

// Data returns the data of a [KindSSE], its lines joined by LF; nil for other kinds.
func (e *Event) Data() []byte {
	if e.Kind == KindSSE {
		return e.Text
	}
	return nil
}

// Model returns the model of a chunk; nil for other kinds.
func (e *Event) Model() []byte {
	if e.Kind == KindChunk {
		return e.Aux
	}
	return nil
}

// EventName returns the event field of the event that contains a chunk or a malformed payload; nil for other kinds.
func (e *Event) EventName() []byte {
	switch e.Kind {
	case KindChunk, KindMalformed:
		return e.Extra
	}
	return nil
}

// FinishReason returns the finish reason of a [KindFinish]; 0 for other kinds.
func (e *Event) FinishReason() FinishReason {
	if e.Kind == KindFinish {
		return FinishReason(e.Code)
	}
	return 0
}

// Whole returns, for a [KindToolCallEnd], whether the call's arguments are whole: no string or bracket is open, none closed
// that never opened, and the first byte that is not blank begins a JSON value, or there is none. This is a balance, not a
// parse. The input of a custom tool is always whole. It returns false for other kinds.
func (e *Event) Whole() bool { return e.Kind == KindToolCallEnd && e.Code != 0 }

// Fault returns the fault of a [KindMalformed]; 0 for other kinds.
func (e *Event) Fault() Fault {
	if e.Kind == KindMalformed {
		return Fault(e.Code)
	}
	return 0
}

// Limit returns why the parser left out the deltas of a [KindLimit]; LimitNone for other kinds.
func (e *Event) Limit() Limit {
	if e.Kind == KindLimit {
		return Limit(e.Code)
	}
	return LimitNone
}

// Meta returns the member that a [KindMeta] reports; 0 for other kinds.
func (e *Event) Meta() Meta {
	if e.Kind == KindMeta {
		return Meta(e.Code)
	}
	return 0
}

// Quirk returns the quirk of a [KindQuirk]; false for other kinds.
func (e *Event) Quirk() (Quirk, bool) { return Quirk(e.Code), e.Kind == KindQuirk }

// Usage returns the token counts of this [KindUsage], whatever the protocol; false for other kinds. [Reader.Usage]
// returns the counts of the stream so far.
func (e *Event) Usage() (Usage, bool) {
	if e.Kind != KindUsage {
		return Usage{}, false
	}
	return UsageOf(e.Text)
}

// Audio returns the fragment of a [KindAudio], in Responses too; false for other kinds.
func (e *Event) Audio() (Audio, bool) {
	if e.Kind != KindAudio {
		return Audio{}, false
	}
	v := value{json: e.Text}
	a := Audio{ID: v.member("id").string(), Data: v.member("data").string(), Transcript: v.member("transcript").string()}
	a.ExpiresAt, _ = v.member("expires_at").uint64()
	switch kind, delta := v.member("type").string(), v.member("delta").string(); {
	case strings.Contains(kind, "transcript"):
		a.Transcript = delta
	case kind != "":
		a.Data = delta
	}
	return a, true
}

// Member returns the name and the value, as raw JSON, of a [KindMeta] that is a provider's own member ([MetaMember],
// [MetaChoiceMember] and so on); false for other kinds.
func (e *Event) Member() (name string, json []byte, ok bool) {
	if e.Kind != KindMeta {
		return "", nil, false
	}
	key, v := splitMember(e.Text)
	return key.string(), v.json, v.json != nil
}

// APIError returns the error of a [KindError] or a [KindChoiceError]; nil for other kinds.
func (e *Event) APIError() *APIError {
	switch e.Kind {
	case KindError, KindChoiceError:
		return apiErrorOf(value{json: bytes.Clone(e.Text), plain: e.Is(FlagPlain)})
	}
	return nil
}

// Audio is a fragment of audio. A member that the fragment does not contain is "" or 0.
type Audio struct {
	ID         string
	Data       string // base64
	Transcript string
	ExpiresAt  uint64 // seconds since 1970
}
