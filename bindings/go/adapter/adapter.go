/*
Package adapter fits the reader of deltawire into packages that let their users replace the reader of event streams. It
imports none of these packages.

openai-go, and other clients with the same package ssestream, have a decoder for each content type. Up to v3.52.0 openai-go
compares the whole content type, and silently uses its own decoder for others, so register each that your servers send:

	for _, contentType := range []string{"text/event-stream", "text/event-stream; charset=utf-8"} {
		ssestream.RegisterDecoder(contentType, func(body io.ReadCloser) ssestream.Decoder {
			return adapter.NewDecoder[ssestream.Event](body)
		})
	}

The gateway Bifrost has a hook in core/providers/utils, which makes a reader of payloads from an [io.Reader]. It takes an
[EventReader], as other hooks of this kind do:

	factory := &utils.SSEReaderFactory{
		NewDataReader:  func(body io.Reader) utils.SSEDataReader { return adapter.NewEventReader(body) },
		NewEventReader: func(body io.Reader) utils.SSEEventReader { return adapter.NewEventReader(body) },
	}

[Decoder] and [EventReader] deliver each payload as it was sent, of any protocol, with the name of its event, even if it is
not JSON. They skip comments and the events ping and keepalive, and end at [DONE]. They report errors that a scanner of lines
misses: a stream that was cut, HTML instead of a stream, an error of the API in plain text or as {"detail": …}, and an event
over the limit. After either of the last two they deliver nothing more. Any other error in JSON is a payload, which the
caller must recognize. With [deltawire.WithSSE] they deliver every event, including [DONE].
*/
package adapter

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	deltawire "deltawire.dev/go"
)

// EventReader reads the payloads of a stream one by one.
type EventReader struct {
	r       *deltawire.Reader
	src     source
	payload []byte // of the chunk whose KindChunk comes next
	failed  bool   // the whole payload is an error
	given   bool   // the payload of the last chunk was delivered
	start   uint64 // of that chunk
	done    bool
	err     error
}

// NewEventReader makes a reader of the stream in src. The options are those of [deltawire.NewReader], except for
// [deltawire.WithEvents].
func NewEventReader(src io.Reader, opts ...deltawire.Option) *EventReader {
	kinds := deltawire.WithEvents(deltawire.KindPayload, deltawire.KindChunk, deltawire.KindError, deltawire.KindMalformed,
		deltawire.KindTooLong, deltawire.KindDone, deltawire.KindSSE)
	d := &EventReader{src: source{Reader: src}}
	if src != nil {
		src = &d.src
	}
	d.r = deltawire.NewReader(src, append(opts[:len(opts):len(opts)], kinds)...)
	return d
}

// source remembers the error of the source.
type source struct {
	io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.err = err
	return n, err
}

// ReadEvent returns the name of the next event, "" if it has none, and its data, which belongs to the caller. The error
// is io.EOF at [DONE], whatever came before it, and at the end of a whole stream without [DONE]. Other errors are those
// of [deltawire.Reader.Err].
func (d *EventReader) ReadEvent() (name string, data []byte, err error) {
	if d.err == nil {
		name, data, d.err = d.next()
	}
	return name, data, d.err
}

func (d *EventReader) next() (string, []byte, error) {
	for d.r.Next() {
		switch e := d.r.Event(); e.Kind {
		case deltawire.KindPayload:
			d.payload, d.failed = append([]byte{}, e.Text...), e.Code == 1
		case deltawire.KindChunk:
			name := string(e.EventName())
			d.start = e.Start
			// A client does not know an error in plain text or in a field "error" as JSON, so it gets an error instead.
			if d.given = name != "" && json.Valid(d.payload) || !d.failed; d.given {
				return name, d.payload, nil
			}
		case deltawire.KindSSE:
			name := string(e.Type())
			if name == "message" {
				name = "" // the default
			}
			return name, append([]byte{}, e.Data()...), nil
		case deltawire.KindError:
			if !d.given || d.start != e.Start {
				return "", nil, e.APIError()
			}
		case deltawire.KindMalformed:
			return string(e.EventName()), append([]byte{}, e.Text...), nil
		case deltawire.KindTooLong:
			return "", nil, fmt.Errorf("%w: too long at byte %d", deltawire.ErrIncomplete, e.Start)
		case deltawire.KindDone:
			d.done = true
			return "", nil, io.EOF
		}
	}
	err := d.r.Err()
	if err == nil || errors.Is(err, deltawire.ErrOtherProtocol) { // payloads of any protocol are welcome
		err = io.EOF
	}
	return "", nil, err
}

// ReadDataLine returns the next payload, as [EventReader.ReadEvent] does. But if the source ends with io.EOF in the
// middle of a stream, ReadDataLine returns io.EOF, too, because Bifrost expects it and then looks for a finish reason
// and calls [EventReader.SawDoneMarker]. A caller that makes no such check must use ReadEvent.
func (d *EventReader) ReadDataLine() ([]byte, error) {
	_, data, err := d.ReadEvent()
	if errors.Is(err, io.ErrUnexpectedEOF) && d.src.err == io.EOF {
		err = io.EOF
	}
	return data, err
}

// SawDoneMarker reports whether the stream ended at [DONE]. Many protocols, and some servers of chat completions, do
// not send it. With [deltawire.WithSSE], where [DONE] is an event like others, SawDoneMarker returns false.
func (d *EventReader) SawDoneMarker() bool { return d.done }

// Decoder reads events as the decoders of package ssestream do. Its type parameter is that package's Event.
type Decoder[E ~struct {
	Type string
	Data []byte
}] struct {
	events *EventReader
	body   io.Closer
	event  E
}

// NewDecoder makes a decoder of the stream in the body. The options are those of [NewEventReader].
func NewDecoder[E ~struct {
	Type string
	Data []byte
}](body io.ReadCloser, opts ...deltawire.Option) *Decoder[E] {
	return &Decoder[E]{events: NewEventReader(body, opts...), body: body}
}

// Next advances to the next event. It returns false at the end, and after an error ([Decoder.Err]).
func (d *Decoder[E]) Next() bool {
	name, data, err := d.events.ReadEvent()
	if err != nil {
		d.event = E{}
		return false
	}
	d.event = struct {
		Type string
		Data []byte
	}{name, data}
	return true
}

// Event returns the event that [Decoder.Next] advanced to. Its data belongs to the caller.
func (d *Decoder[E]) Event() E { return d.event }

// Err returns nil after [DONE] and at the end of a whole stream; otherwise the error of [EventReader.ReadEvent].
func (d *Decoder[E]) Err() error {
	if d.events.err == io.EOF {
		return nil
	}
	return d.events.err
}

// Close closes the body.
func (d *Decoder[E]) Close() error { return d.body.Close() }
