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
	VerdictEmpty         Verdict = C.DELTAWIRE_END_EMPTY          // nothing came
	VerdictNotAStream    Verdict = C.DELTAWIRE_END_NOT_A_STREAM   // what came is no event stream, and no JSON either
	VerdictAPIError      Verdict = C.DELTAWIRE_END_API_ERROR      // the API reported an error
	VerdictDone          Verdict = C.DELTAWIRE_END_DONE           // [DONE] came
	VerdictFinished      Verdict = C.DELTAWIRE_END_FINISHED       // no [DONE], but every choice has a finish reason
	VerdictBody          Verdict = C.DELTAWIRE_END_BODY           // a whole JSON body, without a finish reason
	VerdictOtherProtocol Verdict = C.DELTAWIRE_END_OTHER_PROTOCOL // a stream of another protocol
	VerdictTruncated     Verdict = C.DELTAWIRE_END_TRUNCATED      // the stream was cut
)

// String is the name of the verdict, as Done.
func (v Verdict) String() string { return C.GoString(C.deltawire_verdict_name(C.uint32_t(v))) }

// Pending is what was left over at the end.
type Pending uint32

// What may be left over.
const (
	PendingNothing Pending = C.DELTAWIRE_PENDING_NOTHING // the stream ended between events
	PendingEvent   Pending = C.DELTAWIRE_PENDING_EVENT   // an event that was cut, or dropped for want of a blank line
	PendingJSON    Pending = C.DELTAWIRE_PENDING_JSON    // a JSON value that was cut
)

// String is its name, as Nothing.
func (p Pending) String() string {
	switch p {
	case PendingNothing:
		return "Nothing"
	case PendingEvent:
		return "Event"
	case PendingJSON:
		return "Json"
	}
	return fmt.Sprintf("Pending(%d)", uint32(p))
}

// End is how a stream ended, or would if it ended now.
type End struct {
	Verdict         Verdict
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

	anyStream bool // of WithSSE, where no protocol is another one
}

// Why a stream is not what it should be.
var (
	// ErrTruncated says that the stream was cut. errors.Is(ErrTruncated, io.ErrUnexpectedEOF) holds.
	ErrTruncated = fmt.Errorf("deltawire: the stream was cut: %w", io.ErrUnexpectedEOF)
	// ErrEmpty says that nothing came.
	ErrEmpty = errors.New("deltawire: nothing came")
	// ErrNotAStream says that what came is no event stream, and no JSON either.
	ErrNotAStream = errors.New("deltawire: no event stream")
	// ErrOtherProtocol says that the event stream has no chat completion chunks.
	ErrOtherProtocol = errors.New("deltawire: a stream of another protocol")
	// ErrIncomplete says that the stream came to its end, but that parts of it were lost on the way. The error that wraps
	// it counts them.
	ErrIncomplete = errors.New("deltawire: parts of the stream were lost")
)

// Err is nil if the response is whole: [DONE] came, or every choice has a finish reason, or it is a whole body; nothing of
// it was malformed, too long or left out; and the stream did not end inside an event. Else it is what is wrong: an
// [*APIError], [ErrTruncated], [ErrEmpty], [ErrNotAStream], [ErrOtherProtocol] or, to errors.Is, [ErrIncomplete]. A stream
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
		return ErrNotAStream
	case VerdictOtherProtocol:
		if !e.anyStream {
			return ErrOtherProtocol
		}
		return e.incomplete()
	case VerdictDone, VerdictFinished, VerdictBody:
		if e.Malformed|e.TooLong|e.LeftOut == 0 {
			return ErrTruncated // inside an event
		}
		return e.incomplete()
	}
	if e.anyStream && e.Pending == PendingNothing && e.TooLong != 0 {
		return e.incomplete()
	}
	return ErrTruncated
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
