package deltawire

// #include "deltawire.h"
import "C"

import "fmt"

// Option sets up a [Reader]. One that is out of its range makes a reader that reads nothing: [Reader.Err] says which.
type Option func(*settings)

type settings struct {
	config    C.deltawire_config
	chosen    bool   // events says which kinds to bring; else those that WithEvents names
	events    uint64 // a bit for each
	err       error  // what is wrong with the first option that is out of its range
	readSize  int
	assembler *Assembler

	// How memory begins, and may grow: small in tests.
	block      int // bytes for a cut event
	array      int // events of a batch
	scratch    int // bytes of decoded text of a batch
	mayGrow    bool
	maxArray   int
	maxScratch int
}

func defaults() settings {
	return settings{
		config:     C.deltawire_config{size: C.sizeof_deltawire_config, flags: C.DELTAWIRE_CFG_GROW},
		readSize:   16 << 10,
		block:      2 << 10,
		array:      64,
		scratch:    4 << 10,
		mayGrow:    true,
		maxArray:   1 << 10,
		maxScratch: 256 << 10,
	}
}

// wrong keeps what is wrong with an option, if it is the first that is.
func (s *settings) wrong(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("deltawire: "+format, args...)
	}
}

// inRange says whether what an option was given is between 1 and most.
func (s *settings) inRange(option string, given, most int) bool {
	switch {
	case given < 1:
		s.wrong("%s(%d): at least 1", option, given)
	case given > most:
		s.wrong("%s(%d): at most %d", option, given, most)
	default:
		return true
	}
	return false
}

const (
	maxLen      = 1<<31 - 1 // of an event, and of an ID
	maxDepth    = 1024
	maxReadSize = 1 << 30
)

// WithEvents asks for these kinds of events only. Texts of others are not decoded, so that it saves time. Given twice,
// it asks for the kinds of both. Without it all come but [KindFrame], [KindPayload], [KindMeta], [KindAnnotation] and
// [KindMessage]. With no kinds none comes: the first [Reader.Next] reads to the end, for an [Assembler] or for what
// [Reader.End] says.
func WithEvents(kinds ...Kind) Option {
	return func(s *settings) {
		s.chosen = true
		for _, kind := range kinds {
			if kind >= kindCount {
				s.wrong("WithEvents(%d): no kind of event", uint16(kind))
				continue
			}
			s.events |= maskOf(kind)
		}
	}
}

func maskOf(kind Kind) uint64 { return 1 << (kind & 63) }

// WithMaxEventLen sets how long an event may be, in bytes, from 1 to 2,147,483,647; it bounds the reader's memory, too.
// 1 MiB without it. A longer one is a [KindTooLong], and the stream goes on.
func WithMaxEventLen(bytes int) Option {
	return func(s *settings) {
		if s.inRange("WithMaxEventLen", bytes, maxLen) {
			s.config.max_event_len = C.uint64_t(bytes)
		}
	}
}

// WithMaxIDLen sets how long a last event ID may be, in bytes, from 1 to 2,147,483,647: 1 KiB without it. A longer one
// is ignored.
func WithMaxIDLen(bytes int) Option {
	return func(s *settings) {
		if s.inRange("WithMaxIDLen", bytes, maxLen) {
			s.config.max_id_len = C.uint32_t(bytes)
		}
	}
}

// WithMaxDepth sets how deep JSON may nest, from 1 to 1024: 128 without it. A deeper payload is a [KindMalformed].
func WithMaxDepth(depth int) Option {
	return func(s *settings) {
		if s.inRange("WithMaxDepth", depth, maxDepth) {
			s.config.max_depth = C.uint32_t(depth)
		}
	}
}

// WithStrict makes quirks an error, a [*StrictError]: these, or all if none is named.
func WithStrict(quirks ...Quirk) Option {
	return func(s *settings) {
		if len(quirks) == 0 {
			s.config.errors = [2]C.uint64_t{^C.uint64_t(0), ^C.uint64_t(0)}
		}
		for _, q := range quirks {
			if q >= C.DELTAWIRE_QUIRKS || q.String() == "" {
				s.wrong("WithStrict(%d): no quirk", uint32(q))
				continue
			}
			s.config.errors[q/64] |= 1 << (q % 64)
		}
	}
}

// WithSSE reads any event stream, and does not look into what it carries: its events are of [KindSSE].
func WithSSE() Option {
	return func(s *settings) { s.config.mode = C.DELTAWIRE_MODE_SSE }
}

// WithSpec has the framing exactly as WHATWG HTML 9.2: lines that are not known are ignored, a last event without its
// blank line is dropped.
func WithSpec() Option {
	return func(s *settings) { s.config.flags |= C.DELTAWIRE_CFG_SPEC }
}

// WithStrictJSON checks all of each payload, by RFC 8259 and as UTF-8. What fails is a [KindMalformed].
func WithStrictJSON() Option {
	return func(s *settings) { s.config.flags |= C.DELTAWIRE_CFG_STRICT_JSON }
}

// WithReadSize sets how much is asked of the source at a time, in bytes, from 1 to 1,073,741,824: 16 KiB without it.
func WithReadSize(bytes int) Option {
	return func(s *settings) {
		if s.inRange("WithReadSize", bytes, maxReadSize) {
			s.readSize = bytes
		}
	}
}

// WithAssembler has the message put together, too, while the events are read. It is not to be used by two readers at a
// time. Nil: none.
func WithAssembler(a *Assembler) Option {
	return func(s *settings) { s.assembler = a }
}
