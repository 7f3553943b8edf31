package deltawire

// #include "bridge.h"
import "C"

import (
	"errors"
	"fmt"
	"io"
)

// Verdict is how a stream ended: the first of these that applies.
type Verdict uint32

// The verdicts.
const (
	VerdictEmpty         Verdict = C.DELTAWIRE_VERDICT_EMPTY          // the stream has no bytes, blanks only, or nothing but [DONE]
	VerdictNotAStream    Verdict = C.DELTAWIRE_VERDICT_NOT_A_STREAM   // the bytes are neither an event stream nor JSON: see [End.Media]
	VerdictAPIError      Verdict = C.DELTAWIRE_VERDICT_API_ERROR      // the API reported an error
	VerdictDone          Verdict = C.DELTAWIRE_VERDICT_DONE           // the stream has [DONE], and a chunk
	VerdictFinished      Verdict = C.DELTAWIRE_VERDICT_FINISHED       // no [DONE], but every choice has a finish reason
	VerdictBody          Verdict = C.DELTAWIRE_VERDICT_BODY           // a whole JSON body, without a finish reason
	VerdictJSONAnswer    Verdict = C.DELTAWIRE_VERDICT_JSON_ANSWER    // another whole JSON value: a list of models, a number
	VerdictOtherProtocol Verdict = C.DELTAWIRE_VERDICT_OTHER_PROTOCOL // a stream of another protocol: see [End.Protocol]
	VerdictLost          Verdict = C.DELTAWIRE_VERDICT_LOST           // the stream ended between events, but parts of it were lost
	VerdictTruncated     Verdict = C.DELTAWIRE_VERDICT_TRUNCATED      // the stream was cut
)

// String returns the name of the verdict, such as Done.
func (v Verdict) String() string { return C.GoString(C.deltawire_verdict_name(C.uint32_t(v))) }

// Pending is what was left over at the end of a stream: whatever began and did not end. Of bytes that are no event stream
// ([VerdictNotAStream]) it is PendingNothing.
type Pending uint32

// The kinds of bytes that may be left over.
const (
	PendingNothing Pending = C.DELTAWIRE_PENDING_NOTHING // the stream ended between events
	PendingEvent   Pending = C.DELTAWIRE_PENDING_EVENT   // an event that was cut, or that lacks its blank line and is not whole JSON
	PendingJSON    Pending = C.DELTAWIRE_PENDING_JSON    // a JSON value that was cut
	PendingLine    Pending = C.DELTAWIRE_PENDING_LINE    // a line that was cut, outside of an event
)

// String returns the name, such as Nothing.
func (p Pending) String() string { return C.GoString(C.deltawire_pending_name(C.uint32_t(p))) }

// Media is what the response is instead of an event stream.
type Media uint32

// The media.
const (
	MediaNone   Media = C.DELTAWIRE_MEDIA_NONE   // unknown, or the verdict is another
	MediaGzip   Media = C.DELTAWIRE_MEDIA_GZIP   // gzip: decompress the body first
	MediaZstd   Media = C.DELTAWIRE_MEDIA_ZSTD   // Zstandard: decompress the body first
	MediaBinary Media = C.DELTAWIRE_MEDIA_BINARY // other bytes that are not text
	MediaHTML   Media = C.DELTAWIRE_MEDIA_HTML   // a page
	MediaText   Media = C.DELTAWIRE_MEDIA_TEXT   // other text
)

// String returns the name, such as Gzip.
func (m Media) String() string { return C.GoString(C.deltawire_media_name(C.uint32_t(m))) }

// Protocol is the protocol of events that are not chunks.
type Protocol uint32

// The protocols.
const (
	ProtocolNone         Protocol = C.DELTAWIRE_PROTOCOL_NONE         // the stream has no such event, or payloads are not read
	ProtocolOther        Protocol = C.DELTAWIRE_PROTOCOL_OTHER        // an unknown protocol
	ProtocolResponses    Protocol = C.DELTAWIRE_PROTOCOL_RESPONSES    // OpenAI Responses
	ProtocolAnthropic    Protocol = C.DELTAWIRE_PROTOCOL_ANTHROPIC    // Anthropic Messages
	ProtocolGemini       Protocol = C.DELTAWIRE_PROTOCOL_GEMINI       // Gemini generateContent
	ProtocolInteractions Protocol = C.DELTAWIRE_PROTOCOL_INTERACTIONS // Gemini Interactions
	ProtocolOllama       Protocol = C.DELTAWIRE_PROTOCOL_OLLAMA       // Ollama's own
	ProtocolCohere       Protocol = C.DELTAWIRE_PROTOCOL_COHERE       // Cohere's own
)

// String returns the name, such as Anthropic.
func (p Protocol) String() string { return C.GoString(C.deltawire_protocol_name(C.uint32_t(p))) }

// End is how a stream ended, or would if it ended now.
type End struct {
	Verdict         Verdict
	Media           Media    // what the response is, if it is not a stream
	Protocol        Protocol // of events that are not chunks; the first of them that has members decides
	Pending         Pending
	ChoicesSeen     uint32    // how many choices the stream has
	ChoicesFinished uint32    // how many of those have a finish reason
	Malformed       uint32    // how many payloads were malformed
	TooLong         uint32    // how many events and comments were over a limit
	LeftOut         uint32    // how many events had deltas that were left out: see [KindLimit]
	Complete        bool      // the response is complete: see [End.Err]
	Done            bool      // the stream has [DONE]
	Body            bool      // the response is a JSON body, not a stream
	Finished        bool      // the stream has ended
	Failed          bool      // the API reported an error
	Offset          uint64    // how many bytes were read
	APIError        *APIError // the first error event that [Reader.Next] read; nil if only a finish reason reports the failure
}

// The errors of [End.Err].
var (
	// ErrTruncated reports that the stream was cut. errors.Is(ErrTruncated, io.ErrUnexpectedEOF) holds.
	ErrTruncated = fmt.Errorf("deltawire: the stream was cut: %w", io.ErrUnexpectedEOF)
	// ErrEmpty reports that the stream has no bytes, blanks only, or nothing but [DONE].
	ErrEmpty = errors.New("deltawire: nothing came")
	// ErrNotAStream reports that the bytes are neither an event stream nor JSON.
	ErrNotAStream = errors.New("deltawire: no event stream")
	// ErrJSONAnswer reports a JSON value that is no completion: a list of models, an embedding.
	ErrJSONAnswer = errors.New("deltawire: a JSON value that is no completion")
	// ErrOtherProtocol reports that the event stream has no chat completion chunks.
	ErrOtherProtocol = errors.New("deltawire: a stream of another protocol")
	// ErrIncomplete reports that the stream reached its end, but that parts of it were lost on the way. The error that
	// wraps it counts them.
	ErrIncomplete = errors.New("deltawire: parts of the stream were lost")
)

// Err returns nil if the response is complete. That needs [DONE], a finish reason of every choice, or a whole body; nothing
// malformed, too long or left out; and [DONE] or nothing pending at the end. Otherwise Err returns an [*APIError],
// [ErrTruncated], [ErrEmpty], or an error that wraps [ErrNotAStream], [ErrJSONAnswer], [ErrOtherProtocol] or
// [ErrIncomplete]. With [WithSSE] a stream is complete if it ended between events, and nothing was too long.
func (e End) Err() error {
	if e.Complete {
		return nil
	}
	switch e.Verdict {
	case VerdictAPIError:
		if e.APIError != nil {
			return e.APIError
		}
		return &APIError{}
	case VerdictEmpty:
		return ErrEmpty
	case VerdictNotAStream:
		return fmt.Errorf("%w: %v", ErrNotAStream, e.Media)
	case VerdictJSONAnswer:
		return ErrJSONAnswer
	case VerdictOtherProtocol:
		return fmt.Errorf("%w: %v", ErrOtherProtocol, e.Protocol)
	case VerdictLost:
		return e.incomplete()
	case VerdictDone, VerdictFinished, VerdictBody:
		if e.Malformed|e.TooLong|e.LeftOut != 0 {
			return e.incomplete()
		}
	}
	return ErrTruncated // inside of something
}

func (e End) incomplete() error {
	return fmt.Errorf("%w: %d malformed, %d too long, %d left out", ErrIncomplete, e.Malformed, e.TooLong, e.LeftOut)
}

// StrictError reports a quirk that [WithStrict] makes an error.
type StrictError struct {
	Quirk  Quirk
	Offset uint64 // the stream offset of its event
}

func (e *StrictError) Error() string {
	return fmt.Sprintf("deltawire: %s (%s) at byte %d", e.Quirk.Text(), e.Quirk.Code(), e.Offset)
}

// statusError is a status by which the library reports that this package misused it.
type statusError C.deltawire_status

func (e statusError) Error() string {
	return "deltawire: " + C.GoString(C.deltawire_status_text(C.deltawire_status(e)))
}

var (
	errNoSource = errors.New("deltawire: a Reader without a source")
	errNotMade  = errors.New("deltawire: a Reader that NewReader did not make")
)

// ErrABI reports that the linked library has another binary interface than this package was compiled for.
var ErrABI = errors.New("deltawire: the C library has another ABI than this package was made for")
