package deltawire

// #include "deltawire.h"
import "C"

import "bytes"

// Event is one thing that a stream brought. Its Kind says what the other members hold.
//
// Text, Aux and Extra are views of the reader's memory: valid until the next call of [Reader.Next], not to be written
// to. [Event.Clone] makes an event that keeps. A text is valid UTF-8 and whole, unless its kind says that it is any
// bytes; it never ends inside a code point or a surrogate pair.
type Event struct {
	Kind   Kind
	Flags  Flags
	Choice uint32 // the index of the choice, 0 where there is none
	Call   uint32 // the number of the tool call among those of its choice, in order of appearance
	Code   uint32 // by kind
	Number uint64 // by kind
	Text   []byte
	Aux    []byte
	Extra  []byte
	Start  uint64 // where it lay in the stream: offset of its first byte
	End    uint64 // one past its last byte
}

// TextString is the text, copied.
func (e *Event) TextString() string { return string(e.Text) }

// Is says whether all these flags are set.
func (e *Event) Is(flags Flags) bool { return e.Flags&flags == flags }

// Clone is a copy whose texts are its own.
func (e *Event) Clone() *Event {
	c := *e
	c.Text, c.Aux, c.Extra = bytes.Clone(e.Text), bytes.Clone(e.Aux), bytes.Clone(e.Extra)
	return &c
}

// ID is the ID of a chunk or a tool call; of a [KindSSE], the last event ID. Elsewhere nil.
func (e *Event) ID() []byte {
	switch e.Kind {
	case KindChunk, KindToolCall, KindLastEventID:
		return e.Text
	case KindSSE:
		return e.Extra
	}
	return nil
}

// Type is the type of a tool call or of a [KindSSE], which is message if it has no other. Elsewhere nil.
func (e *Event) Type() []byte {
	switch e.Kind {
	case KindToolCall, KindSSE:
		return e.Aux
	}
	return nil
}

// Data is the data of a [KindSSE], its lines joined by LF. Elsewhere nil.
func (e *Event) Data() []byte {
	if e.Kind == KindSSE {
		return e.Text
	}
	return nil
}

// Model is the model of a chunk. Elsewhere nil.
func (e *Event) Model() []byte {
	if e.Kind == KindChunk {
		return e.Aux
	}
	return nil
}

// EventName is the event field of the event in which a chunk or a malformed payload came. Elsewhere nil.
func (e *Event) EventName() []byte {
	switch e.Kind {
	case KindChunk, KindMalformed:
		return e.Extra
	}
	return nil
}

// FinishReason is that of a [KindFinish]. Elsewhere 0.
func (e *Event) FinishReason() FinishReason {
	if e.Kind == KindFinish {
		return FinishReason(e.Code)
	}
	return 0
}

// Fault is that of a [KindMalformed]. Elsewhere 0.
func (e *Event) Fault() Fault {
	if e.Kind == KindMalformed {
		return Fault(e.Code)
	}
	return 0
}

// Quirk is that of a [KindQuirk]; false elsewhere.
func (e *Event) Quirk() (Quirk, bool) { return Quirk(e.Code), e.Kind == KindQuirk }

// Usage reads the token counts of a [KindUsage]; false elsewhere.
func (e *Event) Usage() (Usage, bool) {
	if e.Kind != KindUsage {
		return Usage{}, false
	}
	return usageOf(value{json: e.Text}), true
}

// Audio reads a [KindAudio]; false elsewhere.
func (e *Event) Audio() (Audio, bool) {
	if e.Kind != KindAudio {
		return Audio{}, false
	}
	v := value{json: e.Text}
	a := Audio{ID: v.member("id").string(), Data: v.member("data").string(), Transcript: v.member("transcript").string()}
	a.ExpiresAt, _ = v.member("expires_at").uint64()
	return a, true
}

// APIError reads a [KindError] or a [KindChoiceError]; nil elsewhere.
func (e *Event) APIError() *APIError {
	switch e.Kind {
	case KindError, KindChoiceError:
		return apiErrorOf(value{json: bytes.Clone(e.Text), plain: e.Is(FlagPlain)})
	}
	return nil
}

// Audio is a fragment of audio: what came of it, else "" or 0.
type Audio struct {
	ID         string
	Data       string // base64
	Transcript string
	ExpiresAt  uint64 // seconds since 1970
}
