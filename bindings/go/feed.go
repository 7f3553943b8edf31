//go:build cgo

package deltawire

import "io"

// Feed gives a reader without a source the next bytes of the stream, for a caller that receives them itself. Afterwards
// [Reader.Next] returns their events, and false as soon as it needs more bytes. The caller must not change the bytes before
// that: the texts of events may be views of them. Misuse is an error of [Reader.Err]: a reader that has a source, and bytes
// after [Reader.Finish].
func (r *Reader) Feed(b []byte) {
	if !r.feeds() {
		return
	}
	if r.srcErr != nil {
		r.stop(errFedEnd)
		return
	}
	if r.over {
		return // nothing reads them
	}
	r.begins(b)
	if len(r.in) == 0 && r.next == int(r.result.events) {
		r.in, r.copied = b, false
		return
	}
	// Events that were not taken yet are views of the bytes before, by their offsets.
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

// feeds reports whether the bytes are the caller's.
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

// Writer returns a writer for a reader without a source: what is written to it is the stream. It calls each, unless that is
// nil, for every event; the event is valid until each returns. Close ends the stream and returns [Reader.Err].
//
// Write takes all bytes and reports no error before Close, whatever the stream is: an [io.MultiWriter] or [io.TeeReader]
// goes on copying.
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

// Tee returns a body that reads as the given one, while a reader without a source reads the same bytes: to watch a response
// that goes to somebody else, as a proxy does. It calls each, unless that is nil, for every event, and end, unless that is
// nil, once, when the body has ended, failed or been closed: [Reader.Err], [Reader.Usage] and [Reader.End] are those of the
// whole stream then. Both are called by the goroutine that reads or closes the body. Whatever the stream is, the bytes and
// errors of the body stay as they are. A body that is compressed must be decompressed first; otherwise Err names the compression.
//
// The body of a response with status 101 (an upgrade, such as WebSocket) is a connection that is written to as well: leave it
// as it is, because the body that Tee returns can only be read. Of a response without a body (HEAD, 204, 304) Err is [ErrEmpty].
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
	t.finish(io.EOF)
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
