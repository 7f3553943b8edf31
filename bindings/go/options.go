package deltawire

// #include "bridge.h"
import "C"

import "fmt"

// Option configures a [Reader]. If an option is nil or its argument out of range, the reader reads nothing, and
// [Reader.Err] names the option.
type Option func(*settings)

type settings struct {
	config    C.deltawire_config
	chosen    bool   // WithEvents chose the kinds; without it NewReader does
	events    uint64 // the chosen kinds, one bit for each
	err       error  // about the first option that is wrong
	readSize  int
	assembler *Assembler
	workspace *Workspace

	// The initial sizes of memory, and how far it may grow. Tests make them small.
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

// wrong keeps the error of an option, if it is the first one.
func (s *settings) wrong(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("deltawire: "+format, args...)
	}
}

// inRange reports whether the argument of an option lies between 1 and most.
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

// WithEvents makes the reader emit only events of these kinds. It does not decode the texts of other kinds, which saves
// time. If the option is given twice, the reader emits the kinds of both. Without this option the reader emits all
// kinds except [KindFrame], [KindPayload], [KindMeta], [KindAnnotation], [KindSignature], [KindMedia] and
// [KindNative]. Without arguments the option turns every kind off: the first [Reader.Next] reads to the end of the
// stream, which is enough for an [Assembler], for [Reader.Meter], for [Reader.Usage] and for [Reader.Err].
func WithEvents(kinds ...Kind) Option {
	return func(s *settings) {
		s.chosen = true
		for _, kind := range kinds {
			if kind == KindNone || int(kind) >= len(kindNames) || kindNames[kind] == "" {
				s.wrong("WithEvents(%d): not a kind of event", uint16(kind))
				continue
			}
			s.events |= maskOf(kind)
		}
	}
}

func maskOf(kind Kind) uint64 { return 1 << (kind & 63) }

// WithMaxEventLen sets the longest allowed event, in bytes, from 1 to 2,147,483,647, and so limits the reader's memory.
// The default is 1 MiB. A longer event is emitted as a [KindTooLong], and the stream goes on.
func WithMaxEventLen(bytes int) Option {
	return func(s *settings) {
		if s.inRange("WithMaxEventLen", bytes, maxLen) {
			s.config.max_event_len = C.uint32_t(bytes)
		}
	}
}

// WithMaxIDLen sets the longest allowed last event ID, in bytes, from 1 to 2,147,483,647. The default is 1 KiB. The
// reader ignores a longer ID.
func WithMaxIDLen(bytes int) Option {
	return func(s *settings) {
		if s.inRange("WithMaxIDLen", bytes, maxLen) {
			s.config.max_id_len = C.uint32_t(bytes)
		}
	}
}

// WithMaxDepth sets how deep JSON may nest, from 1 to 1024. The default is 128. A payload that nests deeper is emitted
// as a [KindMalformed].
func WithMaxDepth(depth int) Option {
	return func(s *settings) {
		if s.inRange("WithMaxDepth", depth, maxDepth) {
			s.config.max_depth = C.uint32_t(depth)
		}
	}
}

// WithMaxChoices sets how many choices of one stream the reader and its [Assembler] have room for, from 1 to 128. The
// default is 8. The reader leaves out the deltas of further choices, and emits a [KindLimit].
func WithMaxChoices(choices int) Option {
	return func(s *settings) {
		if s.inRange("WithMaxChoices", choices, C.DELTAWIRE_MAX_CHOICES) {
			s.config.max_choices = C.uint32_t(choices)
		}
	}
}

// WithMaxToolCalls sets how many tool calls of one stream, over all choices, the reader and its [Assembler] have room
// for, from 1 to 1024. The default is 32. The reader leaves out further tool calls, and emits a [KindLimit].
func WithMaxToolCalls(calls int) Option {
	return func(s *settings) {
		if s.inRange("WithMaxToolCalls", calls, C.DELTAWIRE_MAX_TOOL_CALLS) {
			s.config.max_tool_calls = C.uint32_t(calls)
		}
	}
}

// WithProtocol sets the protocol of the stream: [ProtocolChat], [ProtocolResponses], [ProtocolAnthropic] or
// [ProtocolGemini]. Without it, the first event whose protocol the parser recognizes decides for the whole stream.
func WithProtocol(p Protocol) Option {
	return func(s *settings) {
		switch p {
		case ProtocolChat, ProtocolResponses, ProtocolAnthropic, ProtocolGemini:
			s.config.protocol = C.uint32_t(p)
		default:
			s.wrong("WithProtocol(%d): not a protocol that the package reads", uint32(p))
		}
	}
}

// WithStrict makes these quirks an error, a [*StrictError]; without arguments, all quirks but
// [QuirkRepeatedText], which must be named: a model may repeat itself.
func WithStrict(quirks ...Quirk) Option {
	return func(s *settings) {
		if len(quirks) == 0 {
			s.config.errors = [2]C.uint64_t{^C.uint64_t(0), ^C.uint64_t(0)}
		}
		for _, q := range quirks {
			if q >= C.DELTAWIRE_QUIRKS || !q.known() {
				s.wrong("WithStrict(%d): not a quirk", uint32(q))
				continue
			}
			s.config.errors[q/64] |= 1 << (q % 64)
		}
	}
}

// WithSSE reads any event stream without reading its payloads: each event is a [KindSSE].
func WithSSE() Option {
	return func(s *settings) { s.config.mode = C.DELTAWIRE_MODE_SSE }
}

// WithMeter makes the reader keep a [Meter] of the stream, which [Reader.Meter] returns: when tokens came, how much of
// what, the token counts, and how the stream finished. It emits the same events as without this option; a program that
// needs only the meter turns them off ([WithEvents] without kinds). A meter takes about 2 KiB.
func WithMeter() Option {
	return func(s *settings) { s.config.mode = C.DELTAWIRE_MODE_USAGE }
}

// WithSpec frames the stream exactly as WHATWG HTML 9.2 says: the reader ignores unknown lines, and drops a last event
// without its blank line.
func WithSpec() Option {
	return func(s *settings) { s.config.flags |= C.DELTAWIRE_CFG_SPEC }
}

// WithSnapshots is for servers that send all of a text so far in each delta (of content, reasoning or the arguments of a
// tool call): only what is new is emitted. A delta that does not begin with the text so far, compared by its length and a
// hash, continues it. Use it only for such a server: a model may repeat itself.
func WithSnapshots() Option {
	return func(s *settings) { s.config.flags |= C.DELTAWIRE_CFG_SNAPSHOTS }
}

// WithStrictJSON checks every byte of each payload, against RFC 8259 and as UTF-8. A payload that fails is emitted as a
// [KindMalformed].
func WithStrictJSON() Option {
	return func(s *settings) { s.config.flags |= C.DELTAWIRE_CFG_STRICT_JSON }
}

// WithReadSize sets how many bytes one read of the source may return, from 1 to 1,073,741,824. The default is 16 KiB.
func WithReadSize(bytes int) Option {
	return func(s *settings) {
		if s.inRange("WithReadSize", bytes, maxReadSize) {
			s.readSize = bytes
		}
	}
}

// WithAssembler makes the reader assemble the message in a, while it reads the events. Two readers must not use one
// assembler at the same time.
func WithAssembler(a *Assembler) Option {
	return func(s *settings) {
		if a == nil {
			s.wrong("WithAssembler: the Assembler is nil")
		}
		s.assembler = a
	}
}
