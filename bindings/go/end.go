package deltawire

// #include "bridge.h"
import "C"

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Verdict is how a stream ended: the first of the verdicts below that applies, but VerdictAborted before VerdictLost.
type Verdict uint32

// The verdicts.
const (
	VerdictEmpty         Verdict = 1  // the stream has no bytes, only blanks, or only [DONE]
	VerdictNotAStream    Verdict = 2  // the bytes are neither an event stream nor JSON: see [End.Media]
	VerdictAPIError      Verdict = 3  // the API reported an error
	VerdictDone          Verdict = 4  // the stream has [DONE], or the event that ends a response of its protocol
	VerdictFinished      Verdict = 5  // no such end, but every choice has a finish reason, as in Gemini streams
	VerdictBody          Verdict = 6  // a whole JSON body, without a finish reason
	VerdictJSONAnswer    Verdict = 7  // another whole JSON value: a list of models, an embedding
	VerdictOtherProtocol Verdict = 8  // a stream of a protocol that the package does not read: see [End.Protocol]
	VerdictLost          Verdict = 9  // the stream ended between events, but parts of it were lost
	VerdictTruncated     Verdict = 10 // the stream was cut
	VerdictAborted       Verdict = 11 // lost or cut, after the body was closed ([Reader.Tee]) or its context canceled
)

// String returns the name of the verdict, such as Done.
func (v Verdict) String() string { return nameOf("Verdict", v, verdictNames) }

var verdictNames = []string{
	1: "Empty", "NotAStream", "APIError", "Done", "Finished", "Body", "JSONAnswer", "OtherProtocol", "Lost",
	"Truncated", "Aborted",
}

// Pending is what the end of a stream cut. It is PendingNothing for bytes that are not an event stream
// ([VerdictNotAStream]).
type Pending uint32

// What the end of a stream may cut.
const (
	PendingNothing Pending = 0 // the stream ended between events
	PendingEvent   Pending = 1 // an event, or a last event that lacks its blank line and is not whole JSON
	PendingJSON    Pending = 2 // a JSON value
	PendingLine    Pending = 3 // a line outside of an event
)

// String returns the name, such as Nothing.
func (p Pending) String() string { return nameOf("Pending", p, pendingNames) }

var pendingNames = []string{"Nothing", "Event", "JSON", "Line"}

// Media is what a response is that is neither an event stream nor JSON.
type Media uint32

// The media.
const (
	MediaNone   Media = 0 // unknown, or the verdict is not VerdictNotAStream
	MediaGzip   Media = 1 // gzip: decompress the body first
	MediaZstd   Media = 2 // Zstandard: decompress the body first
	MediaBinary Media = 3 // other bytes that are not text
	MediaHTML   Media = 4 // HTML
	MediaText   Media = 5 // other text
)

// String returns the name, such as Gzip.
func (m Media) String() string { return nameOf("Media", m, mediaNames) }

var mediaNames = []string{"None", "Gzip", "Zstd", "Binary", "HTML", "Text"}

// Protocol is the protocol of events.
type Protocol uint32

// The protocols.
const (
	ProtocolNone         Protocol = 0 // no protocol: the stream has no event of one, or the reader does not read payloads
	ProtocolOther        Protocol = 1 // an unknown protocol
	ProtocolResponses    Protocol = 2 // OpenAI Responses
	ProtocolAnthropic    Protocol = 3 // Anthropic Messages
	ProtocolGemini       Protocol = 4 // Gemini generateContent
	ProtocolInteractions Protocol = 5 // Gemini Interactions
	ProtocolOllama       Protocol = 6 // Ollama's own
	ProtocolCohere       Protocol = 7 // Cohere's own
	ProtocolChat         Protocol = 8 // chat completions
)

// String returns the name, such as Anthropic.
func (p Protocol) String() string { return nameOf("Protocol", p, protocolNames) }

var protocolNames = []string{
	"None", "Other", "Responses", "Anthropic", "Gemini", "Interactions", "Ollama", "Cohere", "Chat",
}

// End is how a stream ended, or how it would end now.
type End struct {
	Verdict         Verdict
	Media           Media    // what the response is, with VerdictNotAStream
	Protocol        Protocol // the protocol that was read or, with VerdictOtherProtocol, the one that is not read
	Pending         Pending
	ChoicesSeen     uint32    // how many choices the stream has
	ChoicesFinished uint32    // how many of those have a finish reason
	Malformed       uint32    // how many payloads were malformed
	TooLong         uint32    // how many events and comments were over a limit
	LeftOut         uint32    // how many events had deltas that the parser left out: see [KindLimit]
	Complete        bool      // all of the response arrived, and [Reader.Next] returned all of it: see [Reader.Err]
	Done            bool      // the stream has [DONE]
	Body            bool      // the response is a JSON body, not a stream
	Finished        bool      // the source has ended; not [VerdictFinished]
	Failed          bool      // the API reported an error
	Offset          uint64    // how many bytes were read
	APIError        *APIError // the first error event that [Reader.Next] read; nil if only a finish reason reports the failure

	// FirstBytes are the first bytes of a response that does not begin with an event stream: a page, the sentence of a
	// proxy, a JSON body. They begin with the first byte that is not blank, and end before the first field, or after 128
	// bytes. They are as sent; the text of [Reader.Err] has them escaped.
	FirstBytes string

	limits uint32 // why the parser left out deltas: a bit for each limit
	left   bool   // the reading side closed the body or canceled its context
}

// maxQuoted is how many bytes of the start of a response an error quotes.
const maxQuoted = 120

// quoted returns the start of the response on one line, with unprintable characters escaped.
func (e End) quoted() string {
	head, dots := e.FirstBytes, ""
	if len(head) > maxQuoted {
		head, dots = head[:maxQuoted], "…"
	}
	head = strings.Join(strings.Fields(strings.TrimPrefix(head, "\uFEFF")), " ")
	return printable(strings.ToValidUTF8(head, "") + dots)
}

// The errors of [Reader.Err] about how the stream ended.
var (
	// ErrTruncated reports that the stream was cut. errors.Is(ErrTruncated, io.ErrUnexpectedEOF) holds.
	ErrTruncated error = truncatedError{}
	// ErrAborted reports that the stream was not read to its end, because the reading side closed the body of [Reader.Tee]
	// or canceled its context. errors.Is(ErrAborted, ErrTruncated) holds.
	ErrAborted error = abortedError{}
	// ErrEmpty reports that the stream has no bytes, only blanks, or only [DONE].
	ErrEmpty = errors.New("deltawire: the stream is empty")
	// ErrNotAStream reports that the bytes are neither an event stream nor JSON.
	ErrNotAStream = errors.New("deltawire: not an event stream")
	// ErrJSONAnswer reports a JSON value that is not a completion: a list of models, an embedding.
	ErrJSONAnswer = errors.New("deltawire: a JSON value that is not a completion")
	// ErrOtherProtocol reports an event stream of a protocol that the package does not read.
	ErrOtherProtocol = errors.New("deltawire: a stream of another protocol")
	// ErrClosed reports that a body of [Reader.Tee] was closed before it had ended, as a proxy does when its client
	// leaves. (A client that leaves while the proxy waits for the upstream ends the body with context.Canceled instead.)
	// ErrClosed is wrapped together with the error about the stream, usually ErrAborted.
	ErrClosed = errors.New("the body was closed before its end")
	// ErrIncomplete reports that the stream reached its end, but parts of the stream or of the message were lost. The
	// error that wraps ErrIncomplete says which parts.
	ErrIncomplete = errors.New("deltawire: parts of the stream were lost")
)

type truncatedError struct{}

func (truncatedError) Error() string { return "deltawire: the stream was cut" }
func (truncatedError) Unwrap() error { return io.ErrUnexpectedEOF }

type abortedError struct{}

func (abortedError) Error() string { return "deltawire: the caller broke off" }
func (abortedError) Unwrap() error { return ErrTruncated }

// err returns nil if the response is complete. limits says why the parser left out deltas.
func (e End) err(limits string) error {
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
		if e.Media == MediaGzip || e.Media == MediaZstd {
			return fmt.Errorf("%w: %v (decompress the body first)", ErrNotAStream, e.Media)
		}
		return fmt.Errorf("%w: %v: %s", ErrNotAStream, e.Media, e.quoted())
	case VerdictJSONAnswer:
		return fmt.Errorf("%w: %s", ErrJSONAnswer, e.quoted())
	case VerdictOtherProtocol:
		return fmt.Errorf("%w: %v", ErrOtherProtocol, e.Protocol)
	case VerdictLost:
		return e.incomplete(limits)
	case VerdictDone, VerdictFinished, VerdictBody:
		if e.Malformed|e.TooLong|e.LeftOut != 0 {
			return e.incomplete(limits)
		}
	}
	if e.left {
		return ErrAborted
	}
	return ErrTruncated // the stream ended inside an event, a value or a line
}

// incomplete names what was lost, and the options that raise the limits.
func (e End) incomplete(limits string) error {
	var lost []string
	for _, what := range []struct {
		count uint32
		text  string
	}{{e.Malformed, "malformed"}, {e.TooLong, "too long (WithMaxEventLen)"}, {e.LeftOut, "left out" + limits}} {
		if what.count != 0 {
			lost = append(lost, fmt.Sprintf("%d %s", what.count, what.text))
		}
	}
	if len(lost) == 0 {
		return ErrIncomplete
	}
	return fmt.Errorf("%w: %s", ErrIncomplete, strings.Join(lost, ", "))
}

// StrictError reports a quirk that [WithStrict] makes an error.
type StrictError struct {
	Quirk  Quirk
	Offset uint64 // the stream offset of its event
}

func (e *StrictError) Error() string {
	return fmt.Sprintf("deltawire: %s (%s) at byte %d", e.Quirk.Text(), e.Quirk.Code(), e.Offset)
}

// statusError is a status with which the library reports misuse.
type statusError C.deltawire_status

func (e statusError) Error() string {
	return "deltawire: " + C.GoString(C.deltawire_status_text(C.deltawire_status(e)))
}

var (
	errNoSource  = errors.New("deltawire: the Reader has no source, and Feed gave it no bytes: call Feed, or Reset with a source")
	errNotMade   = errors.New("deltawire: NewReader did not make this Reader")
	errFedSource = errors.New("deltawire: Feed and Finish are for a Reader without a source: NewReader(nil) makes one")
	errFedEnd    = errors.New("deltawire: Feed after Finish: Reset begins another stream")
	errNoMessage = errors.New("deltawire: WithAssembler and ReadMessage need a message, which WithSSE does not read")
)

// ErrABI reports that the linked library has another binary interface than the header that this package was compiled
// with.
var ErrABI = errors.New("deltawire: the C library has another ABI than this package was compiled for")
