package deltawire

// #cgo noescape deltawire_writer_put
// #cgo nocallback deltawire_writer_put
// #include "bridge.h"
import "C"

import (
	"errors"
	"io"
	"time"
	"unsafe"
)

// Why a [Writer] did not write something; the stream goes on with the next event. errors.Is compares with these.
var (
	ErrNoPlace    error = statusError(C.DELTAWIRE_E_NO_PLACE)   // the protocol has no place for the event
	ErrLate       error = statusError(C.DELTAWIRE_E_LATE)       // its choice finished, or its call is over
	ErrJSON       error = statusError(C.DELTAWIRE_E_JSON)       // a value is not JSON
	ErrUnfinished error = statusError(C.DELTAWIRE_E_UNFINISHED) // a choice has no finish reason: call Fail
	ErrEnded      error = statusError(C.DELTAWIRE_E_ENDED)      // the stream ended before
)

// Head is what every event of a stream repeats, and how the stream is written.
type Head struct {
	ID, Model     string // UTF-8
	Created       time.Time
	Members       []byte // more members, a JSON object: docs/writing.md
	Usage         bool   // chat completions: the request has stream_options.include_usage
	EventIDs      bool   // each event has an id: its sequence number
	FirstSequence uint64
	Retry         time.Duration // in whole milliseconds; 0: none
	TextLen       uint32        // bytes of text in an event; 0 is 4096
}

// Writer writes a response as an event stream in chat completions, Responses or Anthropic Messages; [NewWriter] makes
// one. It cannot write an invalid stream: it opens and closes what the protocol wants opened and closed, numbers it, and
// ends the stream only once. It holds no C memory, so there is nothing to close. Only one goroutine at a time may use it,
// and it must not be copied.
//
// Each call writes all of its event to the destination at once, and flushes the destination if it has a method Flush or
// FlushError, as an http.ResponseWriter has. After an error of the destination every call returns that error.
type Writer struct {
	_     noCopy
	dst   io.Writer
	block []uint64
	buf   []byte
	len   *C.size_t
	err   error
}

// NewWriter makes a writer of this protocol. It fails if the protocol is not written, or if the members of the head are
// no JSON object.
func NewWriter(dst io.Writer, protocol Protocol, head Head) (*Writer, error) {
	if C.deltawire_abi() != C.DELTAWIRE_ABI {
		return nil, ErrABI
	}
	var flags C.uint32_t
	if head.Usage {
		flags |= C.DELTAWIRE_WRITE_USAGE
	}
	if head.EventIDs {
		flags |= C.DELTAWIRE_WRITE_EVENT_IDS
	}
	created := uint64(0)
	if !head.Created.IsZero() {
		created = uint64(head.Created.Unix())
	}
	w := &Writer{dst: dst, buf: make([]byte, 4096), len: new(C.size_t)}
	id, model := []byte(head.ID), []byte(head.Model)
	// Asks for the size of the block, then makes it.
	for {
		var mem unsafe.Pointer
		if w.block != nil {
			mem = unsafe.Pointer(&w.block[0])
		}
		status := C.bridge_writer_init(mem, C.size_t(len(w.block)*8), C.uint32_t(protocol), flags, C.uint32_t(head.TextLen),
			C.uint32_t(head.Retry.Milliseconds()), C.uint64_t(created), C.uint64_t(head.FirstSequence),
			chars(id), C.size_t(len(id)), chars(model), C.size_t(len(model)),
			chars(head.Members), C.size_t(len(head.Members)), w.len)
		if status != C.DELTAWIRE_OK {
			return nil, statusError(status)
		}
		if w.block != nil {
			*w.len = 0
			return w, nil
		}
		w.block = make([]uint64, words(*w.len))
	}
}

// Put writes an event as a [Reader] returns it, or one that the program makes. Of that only Kind, Flags, Choice, Call, Code
// and Number count, with the meaning that the comment of its kind gives them, and Text and Aux: a text needs Kind and Text, a
// name that comes whole also [FlagReplaces], plain text instead of the JSON of an error [FlagPlain]. Kinds that no protocol
// has a place for, such as [KindChunk], are [ErrNoPlace].
func (w *Writer) Put(e *Event) error {
	c := C.deltawire_event{kind: C.uint16_t(e.Kind), flags: C.uint16_t(e.Flags), choice: C.uint32_t(e.Choice),
		call: C.uint32_t(e.Call), code: C.uint32_t(e.Code), number: C.uint64_t(e.Number)}
	return w.call(func(buf *C.char, room C.size_t) C.deltawire_status {
		return C.deltawire_writer_put(w.p(), &c, chars(e.Text), C.size_t(len(e.Text)), chars(e.Aux), C.size_t(len(e.Aux)),
			buf, room, w.len)
	})
}

// Finish ends the stream after every choice has a finish reason. If one has none, or none began, it returns
// [ErrUnfinished]: call Fail, so that nobody takes the stream for whole.
func (w *Writer) Finish() error {
	return w.call(func(buf *C.char, room C.size_t) C.deltawire_status {
		return C.deltawire_writer_finish(w.p(), buf, room, w.len)
	})
}

// Fail ends the stream with an error of this message.
func (w *Writer) Fail(message string) error {
	text := []byte(message)
	return w.call(func(buf *C.char, room C.size_t) C.deltawire_status {
		return C.deltawire_writer_fail(w.p(), chars(text), C.size_t(len(text)), buf, room, w.len)
	})
}

// KeepAlive writes what only keeps the connection alive: a comment, or a ping in a message of Anthropic.
func (w *Writer) KeepAlive() error {
	return w.call(func(buf *C.char, room C.size_t) C.deltawire_status {
		return C.deltawire_writer_keep_alive(w.p(), buf, room, w.len)
	})
}

func (w *Writer) p() *C.deltawire_writer { return (*C.deltawire_writer)(unsafe.Pointer(&w.block[0])) }

// call calls C until all of the event is written, and sends what was written.
func (w *Writer) call(write func(buf *C.char, room C.size_t) C.deltawire_status) error {
	for w.err == nil {
		status := write(chars(w.buf), C.size_t(len(w.buf)))
		switch status {
		case C.DELTAWIRE_NEED_ROOM:
			need := int(*w.len) + int(C.deltawire_writer_room(w.p()))
			w.buf = append(w.buf[:*w.len], make([]byte, 2*need-int(*w.len))...)
		case C.DELTAWIRE_NEED_STORAGE:
			need := C.deltawire_writer_need(w.p())
			if need > 1<<30 {
				w.send()
				return errors.Join(w.err, errTooMuch)
			}
			w.block = append(w.block, make([]uint64, 2*words(need)-len(w.block))...)
			C.deltawire_writer_resize(w.p(), C.size_t(len(w.block)*8))
		default:
			w.send()
			if w.err == nil && status != C.DELTAWIRE_OK {
				return statusError(status)
			}
			return w.err
		}
	}
	return w.err
}

var errTooMuch = errors.New("deltawire: the writer has too much to write later")

// send writes what was collected to the destination.
func (w *Writer) send() {
	bytes := w.buf[:*w.len]
	*w.len = 0
	if len(bytes) == 0 || w.err != nil {
		return
	}
	n, err := w.dst.Write(bytes)
	if err == nil && n < len(bytes) {
		err = io.ErrShortWrite
	}
	if err == nil {
		switch dst := w.dst.(type) {
		case interface{ FlushError() error }:
			err = dst.FlushError()
		case interface{ Flush() error }:
			err = dst.Flush()
		case interface{ Flush() }:
			dst.Flush()
		}
	}
	w.err = err
}

// Place returns where a member of a payload lies in the event's bytes on the wire, so that a gateway can replace the value
// and pass on every other byte: event[:start], the new value (JSON in one line), event[end:]. payload is the text of a
// [KindPayload]; path is the names of the members that lead to the value. If the value lies in several data lines, what
// replaces it makes one line of them. ok is false if there is no such member, or if the event can be passed on only as it
// is: the payload is not what its data lines have, or another field is between the lines of the value.
func Place(event, payload []byte, path ...string) (start, end int, ok bool) {
	v := value{json: payload}
	for _, name := range path {
		if v = v.member(name); len(v.json) == 0 {
			return 0, 0, false
		}
	}
	if len(v.json) == 0 || len(event) == 0 {
		return 0, 0, false
	}
	off := uintptr(unsafe.Pointer(unsafe.SliceData(v.json))) - uintptr(unsafe.Pointer(unsafe.SliceData(payload)))
	var from, to C.size_t
	status := C.bridge_place(chars(payload), C.size_t(len(payload)), C.size_t(off), C.size_t(len(v.json)),
		chars(event), C.size_t(len(event)), &from, &to)
	return int(from), int(to), status == C.DELTAWIRE_OK
}
