package deltawire

// #cgo noescape deltawire_batch
// #cgo nocallback deltawire_batch
// #include "bridge.h"
import "C"

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"unsafe"
)

// An event has 64 bytes in every version of the library.
var _ [64]byte = [unsafe.Sizeof(C.deltawire_event{})]byte{}

// maxEmptyReads is how often in a row a source may return neither bytes nor an error.
const maxEmptyReads = 100

// Reader reads a stream; [NewReader] makes one. It holds no C memory, so there is nothing to close. Only one goroutine at a
// time may use it, and it must not be copied.
//
// A reader reads its source, or, if it has none, the bytes that the caller gives it: [Reader.Feed], [Reader.Writer] and
// [Reader.Tee].
type Reader struct {
	_        noCopy
	src      io.Reader
	settings settings

	// Memory that C uses during a call. It contains no Go pointers.
	block   []uint64
	least   int // the initial size of the block, in words
	events  []C.deltawire_event
	scratch []byte
	buf     []byte
	result  *C.deltawire_batch_result

	in        []byte // the input that the last call did not consume
	copied    bool   // in is memory of this reader, not of Feed's caller
	fed       bool   // Feed or Finish was called
	next      int    // the index of the next event of the last call
	status    C.deltawire_status
	finishing bool   // the source has ended; the parser may still emit events
	over      bool   // the parser emits no more events, or failed
	shown     uint64 // the kinds that Next returns, a bit each
	event     Event
	joined    []byte // the pieces of a text that did not fit into the scratch

	err      error     // what Err returns
	srcErr   error     // the error of the source; io.EOF at its end
	apiError *APIError // the first error event
	stats    Stats
}

// noCopy makes "go vet" report copies of a struct that contains it.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// keptMemory is the largest piece of memory, in bytes, that Reset keeps for the next stream. It gives back a piece that
// a long event made larger.
const keptMemory = 64 << 10

// Stats counts what a [Reader] did.
type Stats struct {
	Reads  uint64 // calls of the source's Read
	Calls  uint64 // calls into C that read or finish a stream
	Moves  uint64 // growths of the memory for a cut event
	Events uint64 // events that C wrote
}

// NewReader makes a reader of the stream in src, usually the body of a response. Only [Reader.Next] reads src. If src
// is nil, the caller gives the bytes ([Reader.Feed], [Reader.Writer], [Reader.Tee]) or a later source ([Reader.Reset]);
// until then [Reader.Err] returns an error.
func NewReader(src io.Reader, opts ...Option) *Reader {
	r := &Reader{settings: defaults()}
	s := &r.settings
	for _, opt := range opts {
		if opt == nil {
			s.wrong("an Option is nil")
			continue
		}
		opt(s)
	}
	if s.assembler != nil && s.config.mode == C.DELTAWIRE_MODE_SSE && s.err == nil {
		s.err = errNoMessage
	}
	if C.deltawire_abi() != C.DELTAWIRE_ABI {
		r.stop(ErrABI)
		return r
	}
	if s.err != nil {
		r.stop(s.err)
		return r
	}
	r.shown = s.events
	if !s.chosen {
		r.shown = (1<<kindCount - 1) &^
			(maskOf(KindFrame) | maskOf(KindPayload) | maskOf(KindMeta) | maskOf(KindAnnotation) | maskOf(KindSignature) |
				maskOf(KindMedia) | maskOf(KindNative))
	}
	// The reader itself needs the errors for End. They also keep the mask from being 0, which would mean the default kinds.
	s.config.events = C.uint64_t(r.shown | maskOf(KindError) | maskOf(KindChoiceError))
	if s.assembler != nil {
		s.assembler.setRoom(s.config.max_choices, s.config.max_tool_calls)
	}
	r.buf = make([]byte, s.readSize)
	r.result = new(C.deltawire_batch_result)
	r.begin(src, r.memory())
	return r
}

// memory allocates the memory for C that the reader lacks, and begins a stream.
func (r *Reader) memory() C.deltawire_status {
	s := &r.settings
	if r.events == nil {
		r.events = make([]C.deltawire_event, s.array)
	}
	if r.scratch == nil {
		r.scratch = make([]byte, s.scratch)
	}
	if r.block != nil {
		return C.deltawire_reset(r.p())
	}
	r.least = words(C.deltawire_block_size(&s.config, C.size_t(s.block)))
	r.block = make([]uint64, r.least)
	return C.deltawire_init(unsafe.Pointer(&r.block[0]), C.size_t(len(r.block)*8), &s.config, nil)
}

// Reset begins a new stream with the same options, and resets the assembler, too. It keeps the memory, but gives back
// what a long event took.
func (r *Reader) Reset(src io.Reader) {
	if r.block == nil {
		return
	}
	if len(r.block) > max(keptMemory/8, r.least) {
		r.block = nil
	}
	if len(r.scratch) > max(keptMemory, r.settings.scratch) {
		r.scratch = nil
	}
	if cap(r.joined) > keptMemory {
		r.joined = nil
	}
	r.begin(src, r.memory())
}

func (r *Reader) begin(src io.Reader, status C.deltawire_status) {
	r.src, r.in, r.next, r.status = src, nil, 0, C.DELTAWIRE_OK
	*r.result = C.deltawire_batch_result{}
	r.copied, r.fed, r.finishing, r.over = false, false, false, false
	r.event, r.joined = Event{}, r.joined[:0]
	r.err, r.srcErr, r.apiError, r.stats = nil, nil, nil, Stats{}
	if status != C.DELTAWIRE_OK {
		r.stop(statusError(status))
	}
	if a := r.settings.assembler; a != nil {
		a.Reset()
	}
}

func words(bytes C.size_t) int { return (int(bytes) + 7) / 8 }

func (r *Reader) p() *C.deltawire_parser { return (*C.deltawire_parser)(unsafe.Pointer(&r.block[0])) }

func (r *Reader) stop(err error) {
	r.over = true
	if r.err == nil {
		r.err = err
	}
}

// Next advances to the next event, and reads from the source if necessary. It returns false if the stream has ended, if
// reading failed ([Reader.Err]), or if a reader without a source needs more bytes. Next returns an event as soon as its
// last byte was read: it does not wait for more.
func (r *Reader) Next() bool {
	if r.block == nil {
		return false // NewReader reported an error, or did not make this reader
	}
	for {
		for r.next < int(r.result.events) {
			e := &r.events[r.next]
			r.next++
			if r.take(e) {
				return true
			}
		}
		if r.over || !r.fill() {
			if r.over {
				r.in = nil // release it: it may be the caller's memory
			}
			r.event = Event{}
			return false
		}
	}
}

// take converts an event that C wrote to r.event. It reports whether Next returns that event.
func (r *Reader) take(c *C.deltawire_event) bool {
	flags := Flags(c.flags)
	text := r.view(c.text_off, c.text_len, flags&flagTextScratch != 0)
	if flags&flagMore != 0 || len(r.joined) != 0 {
		r.joined = append(r.joined, text...)
		if flags&flagMore != 0 {
			return false
		}
		// The next event that comes in pieces reuses this memory. Until then the text stays valid.
		text, r.joined = r.joined, r.joined[:0]
	}
	// Assigned member by member, because the compiler builds a literal in a temporary and copies it.
	e := &r.event
	e.Kind, e.Flags = Kind(c.kind), flags&^flagsOfReader
	e.Choice, e.Call, e.Code, e.Number = uint32(c.choice), uint32(c.call), uint32(c.code), uint64(c.number)
	e.Text = text
	e.Aux = r.view(c.aux_off, c.aux_len, flags&flagAuxScratch != 0)
	e.Extra = r.view(c.extra_off, c.extra_len, flags&flagExtraScratch != 0)
	e.Start, e.End = uint64(c.start), uint64(c.end)
	if (e.Kind == KindError || e.Kind == KindChoiceError) && r.apiError == nil {
		r.apiError = e.APIError()
	}
	return r.shown&maskOf(e.Kind) != 0
}

func (r *Reader) view(off, length C.uint32_t, scratch bool) []byte {
	if length == 0 {
		return nil
	}
	from, to := int(off), int(off)+int(length)
	if scratch {
		return r.scratch[from:to:to]
	}
	return r.in[from:to:to]
}

// fill calls C once, with the unconsumed input or with a new read, after Next took all events. It returns false at the
// end.
func (r *Reader) fill() bool {
	r.in = r.in[int(r.result.consumed):]
	if len(r.in) == 0 {
		r.in, r.copied = nil, false // release it: it may be the memory of Feed's caller
	}
	full := int(r.result.events) == len(r.events)
	r.next, r.result.events, r.result.consumed = 0, 0, 0
	switch {
	case r.status < 0:
		r.stop(r.statusErr())
		return false
	case r.status > 0:
		// Call again with the same bytes and more memory.
		if !r.grow(full) {
			return false
		}
	case r.finishing:
		r.finished()
		return false
	case len(r.in) != 0: // Feed added bytes before Next took the events of earlier ones
	case r.src == nil && r.srcErr == nil:
		return false // until Feed gives more bytes
	case !r.read():
		r.finishing = true
	}
	r.stats.Calls++
	r.status = r.batch()
	r.stats.Events += uint64(r.result.events)
	return true
}

// read reads once from the source into r.in, which must be empty. It returns false if the source has ended.
func (r *Reader) read() bool {
	for empty := 0; r.srcErr == nil; empty++ {
		if empty == maxEmptyReads {
			r.srcErr = io.ErrNoProgress
			break
		}
		n, err := r.src.Read(r.buf)
		r.stats.Reads++
		if n < 0 || n > len(r.buf) {
			r.srcErr = fmt.Errorf("deltawire: the source returned a count of %d for %d bytes", n, len(r.buf))
			break
		}
		r.in, r.srcErr = r.buf[:n], err
		if n > 0 {
			return true
		}
	}
	r.in = nil
	return false
}

// whyLeftOut returns why the parser left out deltas, and the options that raise those limits. The set has a bit for each
// limit.
func (r *Reader) whyLeftOut(set uint32) string {
	text, before := "", ": "
	add := func(limit Limit, format string, args ...any) {
		if set&(1<<limit) != 0 {
			text += before + fmt.Sprintf(format, args...)
			before = ", "
		}
	}
	config := &r.settings.config
	add(LimitChoices, "more than %d choices (WithMaxChoices)", cmp.Or(config.max_choices, C.DELTAWIRE_DEFAULT_CHOICES))
	add(LimitToolCalls, "more than %d tool calls (WithMaxToolCalls)", cmp.Or(config.max_tool_calls, C.DELTAWIRE_DEFAULT_TOOL_CALLS))
	add(LimitIndex, "an index that is not a whole number of 32 bits")
	return text
}

// grow enlarges the memory that was too small. full reports that the array of events is full.
func (r *Reader) grow(full bool) bool {
	s := &r.settings
	if a := s.assembler; a != nil && C.deltawire_message_is_full(a.p()) != 0 {
		err := a.grow()
		if err != nil {
			r.stop(err)
		}
		return err == nil
	}
	if r.status == C.DELTAWIRE_NEED_STORAGE {
		need := words(C.deltawire_need(r.p()))
		if need == 0 {
			r.stop(statusError(C.DELTAWIRE_E_STATE))
			return false
		}
		block := make([]uint64, need)
		status := C.deltawire_move(unsafe.Pointer(&block[0]), C.size_t(need*8), r.p(), nil)
		if status != C.DELTAWIRE_OK {
			r.stop(statusError(status))
			return false
		}
		r.block = block
		r.stats.Moves++
		return true
	}
	if need := int(r.result.scratch_need); need > len(r.scratch) {
		// IDs, names, types, roles and finish reasons are never split.
		r.scratch = make([]byte, need)
		return true
	}
	if !s.mayGrow {
		return true
	}
	if full && len(r.events) < s.maxArray {
		r.events = make([]C.deltawire_event, min(2*len(r.events), s.maxArray))
	} else if !full && len(r.scratch) < s.maxScratch {
		r.scratch = make([]byte, min(2*len(r.scratch), s.maxScratch))
	}
	return true
}

// finished ends the stream: the parser emits no more events.
func (r *Reader) finished() {
	r.over = true
	end := r.End()
	r.err = end.err(r.whyLeftOut(end.limits))
	if r.err == nil && r.settings.assembler != nil {
		r.err = r.settings.assembler.err()
	}
	switch {
	case r.srcErr == io.EOF || r.srcErr == ErrClosed && r.err == nil:
	case r.err == nil && !end.Done: // after [DONE] an error of the source loses nothing
		r.err = r.srcErr
	case r.err != nil && !errors.Is(r.err, r.srcErr):
		r.err = fmt.Errorf("%w: %w", r.err, r.srcErr)
	}
}

func (r *Reader) statusErr() error {
	if r.status == C.DELTAWIRE_E_STRICT {
		return &StrictError{Quirk(C.deltawire_error_quirk(r.p())), uint64(C.deltawire_error_offset(r.p()))}
	}
	return statusError(r.status)
}

// Event returns the event that [Reader.Next] advanced to; its kind is [KindNone] if Next returned false. The next call
// of Next overwrites the event, and the memory that its texts are views of.
func (r *Reader) Event() *Event { return &r.event }

// Err is the one check of how the stream ended. Before the end of the stream it returns nil, also if you leave the loop
// early. At the end it returns nil only if the response is complete: the stream has [DONE], the event that ends a
// response of its protocol, or a finish reason for every choice, or is a whole body; nothing was malformed, too long or
// left out; and [DONE] came, or nothing is pending. With [WithSSE] a stream is complete if it ended between events, and
// nothing was too long. Otherwise Err returns
//
//   - an [*APIError];
//   - [ErrTruncated], [ErrAborted], [ErrEmpty], or an error that wraps [ErrNotAStream], [ErrJSONAnswer],
//     [ErrOtherProtocol] or [ErrIncomplete];
//   - the error of the source, alone or wrapped together with one of those. An error of the source after [DONE] is
//     ignored, because nothing is missing. [ErrClosed], of [Reader.Tee], is such an error, and is always wrapped;
//   - a [*StrictError], or an error that names a misuse, such as an option out of range.
//
// A complete response may still not be what you asked for. Only the choices that came count: compare [End.ChoicesSeen]
// with the n of the request, and [End.ChoicesFinished] with ChoicesSeen. If you asked for usage and the stream has
// none, check the verdict: [VerdictFinished] instead of [VerdictDone] means that the end of a chat stream was cut off.
// If a Gemini server sends a finish reason with every chunk, Err cannot tell that its stream was cut. With
// [QuirkArgumentsAfterEnd] the arguments of a tool call may be several JSON values, one after the other: check that
// they parse before you run the call.
//
// [Reader.End] has the details.
func (r *Reader) Err() error {
	if r.err == nil && r.src == nil && !r.fed {
		if r.block == nil {
			return errNotMade
		}
		return errNoSource
	}
	return r.err
}

// Events returns the events, for a range loop. If [Reader.Err] is not nil at the end, the last pair is a nil event and
// that error. A loop that reaches the end without an error means that the response is complete.
func (r *Reader) Events() iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		for r.Next() {
			if !yield(&r.event, nil) {
				return
			}
		}
		if err := r.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// End returns how the stream ended, or how it would end now. Except for Complete, it may be ahead of [Reader.Next] by
// the events of one read.
func (r *Reader) End() End {
	c := C.deltawire_end{size: C.sizeof_deltawire_end}
	if r.block == nil || C.deltawire_end_of(r.p(), &c) != C.DELTAWIRE_OK {
		return End{Verdict: VerdictEmpty}
	}
	verdict, left := Verdict(c.verdict), r.srcErr == ErrClosed || errors.Is(r.srcErr, context.Canceled)
	if left && (verdict == VerdictTruncated || verdict == VerdictLost) {
		verdict = VerdictAborted
	}
	return End{
		Verdict:         verdict,
		Media:           Media(c.media),
		Protocol:        Protocol(c.protocol),
		Pending:         Pending(c.pending),
		ChoicesSeen:     uint32(c.choices_seen),
		ChoicesFinished: uint32(c.choices_finished),
		Malformed:       uint32(c.malformed),
		TooLong:         uint32(c.too_long),
		LeftOut:         uint32(c.left_out),
		Complete:        c.complete != 0 && r.next == int(r.result.events),
		Done:            c.done != 0,
		Body:            c.body != 0,
		Finished:        c.finished != 0,
		Offset:          uint64(c.offset),
		Failed:          c.api_error != 0,
		APIError:        r.apiError,
		FirstBytes:      C.GoStringN((*C.char)(unsafe.Pointer(&c.first_bytes[0])), C.int(c.first_len)),
		limits:          uint32(c.limits),
		left:            left,
	}
}

// Usage returns the token counts so far, as far as the source was read: those of the last usage or, for Anthropic,
// which spreads the counts over several events, all of them merged. It returns false if the stream has none yet. Do not
// bill by the counts of an incomplete stream: a cut Anthropic stream has the completion count of its beginning.
func (r *Reader) Usage() (Usage, bool) {
	c := C.deltawire_usage{size: C.sizeof_deltawire_usage}
	if r.block == nil || C.deltawire_last_usage(r.p(), &c) != C.DELTAWIRE_OK {
		return Usage{}, false
	}
	return usageOf(&c), true
}

// LastEventID returns the last event ID, for the header Last-Event-ID of a reconnection; "" if there is none. It may be
// ahead of [Reader.Next] by the events of one read.
func (r *Reader) LastEventID() string {
	if r.block == nil {
		return ""
	}
	id := make([]byte, 64)
	for {
		var need C.size_t
		switch C.bridge_last_event_id(r.p(), chars(id), C.size_t(len(id)), &need) {
		case C.DELTAWIRE_OK:
			return string(id[:int(need)])
		case C.DELTAWIRE_E_SMALL:
			id = make([]byte, int(need))
		default:
			return ""
		}
	}
}

// QuirkCount returns how often the stream has the quirk, as far as the source was read; counting stops at 65,535.
func (r *Reader) QuirkCount(q Quirk) uint64 {
	if r.block == nil {
		return 0
	}
	return uint64(C.deltawire_quirk_count(r.p(), C.uint32_t(q)))
}

// Quirks returns the quirks of the stream so far, in the order of their numbers.
func (r *Reader) Quirks() []Quirk {
	var met []Quirk
	for _, q := range Quirks() {
		if r.QuirkCount(q) != 0 {
			met = append(met, q)
		}
	}
	return met
}

// Stats returns the counts for this stream so far.
func (r *Reader) Stats() Stats { return r.stats }
