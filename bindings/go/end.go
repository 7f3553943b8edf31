package deltawire

// #include "bridge.h"
import "C"

import (
	"errors"
	"fmt"
	"io"
)

// Verdict is how a stream ended: the first that holds, in this order.
type Verdict uint32

// The verdicts.
const (
	VerdictEmpty         Verdict = C.DELTAWIRE_VERDICT_EMPTY          // nothing came, or nothing but [DONE]
	VerdictNotAStream    Verdict = C.DELTAWIRE_VERDICT_NOT_A_STREAM   // no event stream, and no JSON either: see [End.Media]
	VerdictAPIError      Verdict = C.DELTAWIRE_VERDICT_API_ERROR      // the API reported an error
	VerdictDone          Verdict = C.DELTAWIRE_VERDICT_DONE           // [DONE] came, and a chunk
	VerdictFinished      Verdict = C.DELTAWIRE_VERDICT_FINISHED       // no [DONE], but every choice has a finish reason
	VerdictBody          Verdict = C.DELTAWIRE_VERDICT_BODY           // a whole JSON body, without a finish reason
	VerdictJSONAnswer    Verdict = C.DELTAWIRE_VERDICT_JSON_ANSWER    // another whole JSON value: a list of models, an embedding
	VerdictOtherProtocol Verdict = C.DELTAWIRE_VERDICT_OTHER_PROTOCOL // a stream of another protocol: see [End.Protocol]
	VerdictLost          Verdict = C.DELTAWIRE_VERDICT_LOST           // it ended between events, but parts of it were lost
	VerdictTruncated     Verdict = C.DELTAWIRE_VERDICT_TRUNCATED      // the stream was cut
)

// String is the name of the verdict, as Done.
func (v Verdict) String() string { return C.GoString(C.deltawire_verdict_name(C.uint32_t(v))) }

// Pending is what was left over at the end: whatever began and did not end.
type Pending uint32

// What may be left over.
const (
	PendingNothing Pending = C.DELTAWIRE_PENDING_NOTHING // the stream ended between events
	PendingEvent   Pending = C.DELTAWIRE_PENDING_EVENT   // an event that was cut, or that has no blank line and is not whole JSON
	PendingJSON    Pending = C.DELTAWIRE_PENDING_JSON    // a JSON value that was cut
	PendingLine    Pending = C.DELTAWIRE_PENDING_LINE    // a line that was cut, outside of an event
)

// String is its name, as Nothing.
func (p Pending) String() string { return C.GoString(C.deltawire_pending_name(C.uint32_t(p))) }

// Media is what came instead of an event stream.
type Media uint32

// What may come instead.
const (
	MediaNone   Media = C.DELTAWIRE_MEDIA_NONE   // not known, or the verdict is another
	MediaGzip   Media = C.DELTAWIRE_MEDIA_GZIP   // gzip: the body is to be decompressed first
	MediaZstd   Media = C.DELTAWIRE_MEDIA_ZSTD   // Zstandard: the body is to be decompressed first
	MediaBinary Media = C.DELTAWIRE_MEDIA_BINARY // other bytes that are no text
	MediaHTML   Media = C.DELTAWIRE_MEDIA_HTML   // a page
	MediaText   Media = C.DELTAWIRE_MEDIA_TEXT   // other text
)

// String is its name, as Gzip.
func (m Media) String() string { return C.GoString(C.deltawire_media_name(C.uint32_t(m))) }

// Protocol is whose protocol events are of that are no chunks.
type Protocol uint32

// The protocols that are known.
const (
	ProtocolNone         Protocol = C.DELTAWIRE_PROTOCOL_NONE         // no such event came, or payloads are not looked into
	ProtocolOther        Protocol = C.DELTAWIRE_PROTOCOL_OTHER        // one that is not known
	ProtocolResponses    Protocol = C.DELTAWIRE_PROTOCOL_RESPONSES    // OpenAI Responses
	ProtocolAnthropic    Protocol = C.DELTAWIRE_PROTOCOL_ANTHROPIC    // Anthropic Messages
	ProtocolGemini       Protocol = C.DELTAWIRE_PROTOCOL_GEMINI       // Gemini generateContent
	ProtocolInteractions Protocol = C.DELTAWIRE_PROTOCOL_INTERACTIONS // Gemini Interactions
	ProtocolOllama       Protocol = C.DELTAWIRE_PROTOCOL_OLLAMA       // Ollama's own
	ProtocolCohere       Protocol = C.DELTAWIRE_PROTOCOL_COHERE       // Cohere's own
)

// String is its name, as Anthropic.
func (p Protocol) String() string { return C.GoString(C.deltawire_protocol_name(C.uint32_t(p))) }

// End is how a stream ended, or would if it ended now.
type End struct {
	Verdict         Verdict
	Media           Media    // what came instead of a stream, if that is the verdict
	Protocol        Protocol // of events that are no chunks; the first of them that has members decides
	Pending         Pending
	ChoicesSeen     uint32    // how many choices were seen
	ChoicesFinished uint32    // how many of them have a finish reason
	Malformed       uint32    // how many payloads could not be read
	TooLong         uint32    // how many events and comments were over a limit
	LeftOut         uint32    // how many events were told in part: see [KindLimit]
	Complete        bool      // the response is whole: see [End.Err]
	Done            bool      // [DONE] came
	Body            bool      // a JSON body with a message came instead of a stream
	Finished        bool      // it has ended
	Failed          bool      // the API reported an error
	Offset          uint64    // how many bytes were read
	APIError        *APIError // the first of its errors that [Reader.Next] came by; nil if a finish reason was all it said
}

// Why a stream is not what it should be.
var (
	// ErrTruncated says that the stream was cut. errors.Is(ErrTruncated, io.ErrUnexpectedEOF) holds.
	ErrTruncated = fmt.Errorf("deltawire: the stream was cut: %w", io.ErrUnexpectedEOF)
	// ErrEmpty says that nothing came.
	ErrEmpty = errors.New("deltawire: nothing came")
	// ErrNotAStream says that what came is no event stream, and no JSON either.
	ErrNotAStream = errors.New("deltawire: no event stream")
	// ErrJSONAnswer says that what came is a JSON value that is no completion: a list of models, an embedding.
	ErrJSONAnswer = errors.New("deltawire: a JSON value that is no completion")
	// ErrOtherProtocol says that the event stream has no chat completion chunks.
	ErrOtherProtocol = errors.New("deltawire: a stream of another protocol")
	// ErrIncomplete says that the stream came to its end, but that parts of it were lost on the way. The error that wraps
	// it counts them.
	ErrIncomplete = errors.New("deltawire: parts of the stream were lost")
)

// Err is nil if the response is whole: [DONE] came, or every choice has a finish reason, or it is a whole body; nothing of
// it was malformed, too long or left out; and [DONE] came or nothing is pending. Else it is what is wrong: an [*APIError],
// [ErrTruncated], [ErrEmpty] or, to errors.Is, [ErrNotAStream], [ErrJSONAnswer], [ErrOtherProtocol], [ErrIncomplete]. A stream
// of [WithSSE] is whole if it ended between events, and nothing was too long.
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

// StrictError says that a quirk came that [WithStrict] makes an error.
type StrictError struct {
	Quirk  Quirk
	Offset uint64 // where the event began
}

func (e *StrictError) Error() string {
	return fmt.Sprintf("deltawire: %s (%s) at byte %d", e.Quirk.Text(), e.Quirk.Code(), e.Offset)
}

// statusError is a status that says that the library was misused by this package.
type statusError C.deltawire_status

func (e statusError) Error() string {
	return "deltawire: " + C.GoString(C.deltawire_status_text(C.deltawire_status(e)))
}

var (
	errNoSource = errors.New("deltawire: a Reader without a source")
	errNotMade  = errors.New("deltawire: a Reader that NewReader did not make")
)

// ErrABI says that the library that was linked does not go with this package.
var ErrABI = errors.New("deltawire: the C library has another ABI than this package was made for")
