package deltawire

// #include "bridge.h"
import "C"

import (
	"io"
	"unsafe"
)

// Translator writes a response in any protocol that is read as an event stream in chat completions, Responses or Anthropic
// Messages, as it arrives; [NewTranslator] makes one. The bytes of the response go in by Write, such as of [io.Copy], and
// Close ends the stream: with an error if the response is not complete. It holds no C memory. Only one goroutine at a time
// may use it, and it must not be copied.
//
// Each call writes what became of its bytes to the destination, and flushes it, as a [Writer] does. docs/writing.md tells
// what becomes of what.
type Translator struct {
	_        noCopy
	w        *Writer
	r        *Reader
	consumed *C.size_t
}

// NewTranslator makes a translator to this protocol. If the head has no ID, no model or no time, they are those of the
// response. The options are those of the reader; events, assemblers and workspaces have no meaning. It fails as
// [NewWriter] does, and for a wrong option.
func NewTranslator(dst io.Writer, protocol Protocol, head Head, opts ...Option) (*Translator, error) {
	w, err := NewWriter(dst, protocol, head)
	if err != nil {
		return nil, err
	}
	r := NewReader(nil, opts...)
	if r.block == nil {
		return nil, r.Err()
	}
	return &Translator{w: w, r: r, consumed: new(C.size_t)}, nil
}

// Write translates bytes of the response.
func (t *Translator) Write(p []byte) (n int, err error) {
	err = t.call(func(buf *C.char, room C.size_t) C.deltawire_status {
		data, size := unsafe.Pointer(unsafe.SliceData(p[n:])), C.size_t(len(p)-n)
		status := C.deltawire_translate(t.w.p(), t.r.p(), data, size, t.consumed, buf, room, t.w.len)
		n += int(*t.consumed)
		return status
	})
	return n, err
}

// Close ends the response and the stream.
func (t *Translator) Close() error {
	return t.call(func(buf *C.char, room C.size_t) C.deltawire_status {
		return C.deltawire_translate_finish(t.w.p(), t.r.p(), buf, room, t.w.len)
	})
}

// LeftOut returns how many updates were left out: those that the protocol has no place for, such as all choices but the
// first, and those that were lost.
func (t *Translator) LeftOut() (withoutPlace, lost uint64) {
	counts := new([2]C.uint64_t)
	C.deltawire_translate_left_out(t.w.p(), &counts[0], &counts[1])
	return uint64(counts[0]), uint64(counts[1])
}

// Reader returns the reader of the response, for its End, Usage and Quirks.
func (t *Translator) Reader() *Reader { return t.r }

// Writer returns the writer of the stream, for its KeepAlive and Fail.
func (t *Translator) Writer() *Writer { return t.w }

// call calls C, with a larger block of the parser if it needs one.
func (t *Translator) call(run func(buf *C.char, room C.size_t) C.deltawire_status) error {
	return t.w.call(func(buf *C.char, room C.size_t) C.deltawire_status {
		for {
			status := run(buf, room)
			if status != C.DELTAWIRE_NEED_STORAGE || int(C.deltawire_writer_need(t.w.p())) > len(t.w.block)*8 {
				return status
			}
			t.r.status = status
			grown := t.r.grow(false)
			t.r.status = C.DELTAWIRE_OK
			if !grown {
				return C.DELTAWIRE_E_STATE
			}
		}
	})
}
