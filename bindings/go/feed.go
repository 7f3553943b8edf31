//go:build cgo

package deltawire

import "io"

// Feed gives a reader without a source the next bytes of the stream. Afterwards [Reader.Next] returns their events, and
// false as soon as it needs more bytes. Until it returns false, the caller must not change the bytes, because the texts
// of events may be views of them. It is misuse to call Feed on a reader with a source, or after [Reader.Finish];
// [Reader.Err] reports that.
func (r *Reader) Feed(b []byte) {
	if !r.feeds() {
		return
	}
	if r.srcErr != nil {
		r.stop(errFedEnd)
		return
	}
	if r.over {
		return // the reader reads no more bytes
	}
	if len(r.in) == 0 && r.next == int(r.result.events) {
		r.in, r.copied = b, false
		return
	}
	// The texts of events that Next did not take yet lie in r.in. Limiting its capacity makes append copy the caller's bytes.
	if !r.copied {
		r.in = r.in[:len(r.in):len(r.in)]
	}
	r.in, r.copied = append(r.in, b...), true
}

// Finish ends the stream of a reader without a source. [Reader.Next] then returns the events that the end completes, and
// [Reader.Err] reports how the stream ended.
func (r *Reader) Finish() { r.finish(io.EOF) }

func (r *Reader) finish(err error) {
	if r.feeds() && r.srcErr == nil {
		r.srcErr = err
	}
}

// feeds reports whether the caller may give bytes. It records misuse.
func (r *Reader) feeds() bool {
	switch {
	case r.block == nil:
		return false
	case r.src != nil:
		r.stop(errFedSource)
		return false
	}
	r.fed = true
	return true
}

// Writer returns a writer for a reader without a source: the bytes that are written to it are the stream. It calls each
// for every event, unless each is nil; the event is valid until each returns. Close ends the stream and returns
// [Reader.Err].
//
// Before Close, Write takes all bytes and reports no error, whatever the stream is, so that an [io.MultiWriter] or
// [io.TeeReader] goes on copying.
func (r *Reader) Writer(each func(*Event)) io.WriteCloser { return &writer{r: r, each: each} }

type writer struct {
	r      *Reader
	each   func(*Event)
	closed bool
}

func (w *writer) Write(b []byte) (int, error) {
	if w.closed {
		return 0, io.ErrClosedPipe
	}
	w.r.Feed(b)
	w.drain()
	return len(b), nil
}

func (w *writer) Close() error { return w.end(io.EOF) }

func (w *writer) end(err error) error {
	if !w.closed {
		w.closed = true
		w.r.finish(err)
		w.drain()
	}
	return w.r.Err()
}

func (w *writer) drain() {
	for w.r.Next() {
		if w.each != nil {
			w.each(&w.r.event)
		}
	}
}

// Tee returns a body that returns the same bytes and errors as the given body, and gives the bytes to a reader without
// a source. A proxy watches a response so, while passing it on. The body calls each for every event, unless each is
// nil. It calls end once, unless end is nil, when it has ended, failed or been closed: then [Reader.Err],
// [Reader.Meter], [Reader.Usage] and [Reader.End] describe the whole stream. The goroutine that reads or closes the body
// makes these calls. If the body is closed before it has ended, and the response is not complete, Err wraps [ErrClosed]:
// the reading side left. Decompress a compressed body first; otherwise Err names the compression.
//
// Do not use Tee for a response with status 101 (an upgrade, such as WebSocket): its body is a connection, which can
// also be written to, and the body that Tee returns can only be read. For a response without a body (HEAD, 204, 304)
// Err is [ErrEmpty].
func (r *Reader) Tee(body io.ReadCloser, each func(*Event), end func()) io.ReadCloser {
	return &tee{body: body, to: writer{r: r, each: each}, end: end}
}

type tee struct {
	body io.ReadCloser
	to   writer
	end  func()
}

func (t *tee) Read(b []byte) (int, error) {
	n, err := t.body.Read(b)
	if n > 0 && n <= len(b) && !t.to.closed {
		t.to.Write(b[:n])
	}
	if err != nil {
		t.finish(err)
	}
	return n, err
}

func (t *tee) Close() error {
	err := t.body.Close()
	t.finish(ErrClosed)
	return err
}

func (t *tee) finish(err error) {
	if t.to.closed {
		return
	}
	t.to.end(err)
	if t.end != nil {
		t.end()
	}
}
