package deltawire

// #include "deltawire.h"
import "C"

// Kind is the kind of an event. Ignore kinds that you do not know.
type Kind uint16

// The kinds of events, and what their members hold. Start and End are set for every kind; other members that are not named
// are zero.
const (
	// KindSSE is an event of [WithSSE]. Text: its data. Aux: its type. Extra: the last event ID.
	KindSSE Kind = C.DELTAWIRE_EV_SSE
	// KindComment is a comment. Text: any bytes.
	KindComment Kind = C.DELTAWIRE_EV_COMMENT
	// KindKeepAlive is a payload that only keeps the connection alive. Text: any bytes.
	KindKeepAlive Kind = C.DELTAWIRE_EV_KEEP_ALIVE
	// KindRetry is a reconnection time. Number: milliseconds.
	KindRetry Kind = C.DELTAWIRE_EV_RETRY
	// KindLastEventID is a last event ID without an event. Text: any bytes.
	KindLastEventID Kind = C.DELTAWIRE_EV_LAST_EVENT_ID
	// KindChunk is a chunk, before its deltas. Text: its id. Aux: its model. Extra: the event field. Number: its
	// created, if [FlagNumber] is set. Code: how many choices it has.
	KindChunk Kind = C.DELTAWIRE_EV_CHUNK
	// KindRole is the role, once for each choice. Text.
	KindRole Kind = C.DELTAWIRE_EV_ROLE
	// KindContent is content. Text.
	KindContent Kind = C.DELTAWIRE_EV_CONTENT
	// KindReasoning is reasoning, whatever the provider calls the member. Text.
	KindReasoning Kind = C.DELTAWIRE_EV_REASONING
	// KindRefusal is a refusal. Text.
	KindRefusal Kind = C.DELTAWIRE_EV_REFUSAL
	// KindToolCall reports that a tool call opens ([FlagOpens]), or that its ID or type arrives later. Text: its ID. Aux:
	// its type. Number: its index, as sent, or as the parser assigned it.
	KindToolCall Kind = C.DELTAWIRE_EV_TOOL_CALL
	// KindToolName is the name of a tool call, whole ([FlagReplaces]), or a piece to append to the name so far. Text.
	KindToolName Kind = C.DELTAWIRE_EV_TOOL_NAME
	// KindToolArguments is a fragment of a tool call's arguments; for a custom tool, of its input. Text.
	KindToolArguments Kind = C.DELTAWIRE_EV_TOOL_ARGUMENTS
	// KindFunctionName is the name of a function_call's function, otherwise as KindToolName.
	KindFunctionName Kind = C.DELTAWIRE_EV_FUNCTION_NAME
	// KindFunctionArguments is a fragment of a function_call's arguments. Text.
	KindFunctionArguments Kind = C.DELTAWIRE_EV_FUNCTION_ARGUMENTS
	// KindAudio is a fragment of audio. Text: JSON; [Event.Audio] decodes it.
	KindAudio Kind = C.DELTAWIRE_EV_AUDIO
	// KindLogprobs is the log probabilities of more tokens. Text: JSON.
	KindLogprobs Kind = C.DELTAWIRE_EV_LOGPROBS
	// KindMessage is the whole message so far, of a body that was not streamed or of a dialect without deltas; only
	// [WithEvents] turns it on. Text: JSON. Its new contents follow as events of the same choice ([FlagWhole]): read one of
	// the two.
	KindMessage Kind = C.DELTAWIRE_EV_MESSAGE
	// KindFinish reports that a choice finished. Text: the finish reason; [Event.FinishReason] returns it as a number. A
	// choice may finish twice; the last finish reason counts.
	KindFinish Kind = C.DELTAWIRE_EV_FINISH
	// KindChoiceError reports that a choice failed; [Event.APIError] returns the error.
	KindChoiceError Kind = C.DELTAWIRE_EV_CHOICE_ERROR
	// KindUsage is the usage so far; the last one counts. [Event.Usage] returns the counts.
	KindUsage Kind = C.DELTAWIRE_EV_USAGE
	// KindError reports an error of the API; [Event.APIError] returns it.
	KindError Kind = C.DELTAWIRE_EV_ERROR
	// KindMalformed is a payload that is not a JSON object, or bytes that follow one; the stream goes on. Text: any bytes.
	// Extra: the event field. [Event.Fault] returns the fault. Number: the offset of the fault in the payload.
	KindMalformed Kind = C.DELTAWIRE_EV_MALFORMED
	// KindTooLong is an event over the limit: the rest of it is dropped, and the stream goes on.
	KindTooLong Kind = C.DELTAWIRE_EV_TOO_LONG
	// KindCommentTooLong is a comment over the limit, which is dropped. If it lies inside an event, that event goes on.
	KindCommentTooLong Kind = C.DELTAWIRE_EV_COMMENT_TOO_LONG
	// KindLimit reports that deltas of a chunk were left out, of Choice first. Code: LimitChoices, LimitToolCalls or LimitIndex.
	// If the index that is none is the choice's own, Choice is math.MaxUint32.
	KindLimit Kind = C.DELTAWIRE_EV_LIMIT
	// KindQuirk is a quirk of the event, behind all its other events. [Event.Quirk] returns it.
	KindQuirk Kind = C.DELTAWIRE_EV_QUIRK
	// KindDone is [DONE]: the response is complete. More events may follow all the same.
	KindDone Kind = C.DELTAWIRE_EV_DONE
	// KindPayload is the payload of a chunk, before KindChunk; only [WithEvents] turns it on. Text: JSON, for
	// json.Unmarshal, or the plain text of an error event.
	KindPayload Kind = C.DELTAWIRE_EV_PAYLOAD
	// KindMeta is a member that describes the response, or one that no other kind is made of; only [WithEvents] turns it on.
	// Those with a name of their own (MetaObject) are emitted once for a stream, MetaReasoningName once for a choice,
	// MetaNativeFinishReason as often as a choice has it: text. Members of providers come as often as they are sent, as raw
	// JSON; [Assembler.Member] and [Message] keep the last of each. Code: which it is.
	KindMeta Kind = C.DELTAWIRE_EV_META
	// KindAnnotation is annotations of the content, such as citations; only [WithEvents] turns it on. Text: JSON, an array.
	KindAnnotation Kind = C.DELTAWIRE_EV_ANNOTATION
	// KindFrame reports that a frame ended: the bytes Start to End of the stream; only [WithEvents] turns it on. Each byte
	// of the stream lies in exactly one frame, and frames are in order. A frame that ends in a CR waits for the next byte, a
	// LF of its own perhaps, if the line before ended in CR LF. The frame of JSON outside of fields ends with its line,
	// or before the next value on that line. Code: how many choices the frame's chunk has.
	// Number: the kinds in the frame, bit 1<<kind for each, whether they are turned on or not (without KindFrame,
	// KindPayload and KindMeta).
	KindFrame Kind = C.DELTAWIRE_EV_FRAME

	kindCount = C.DELTAWIRE_EV_COUNT
)

// The members that a KindMeta reports.
const (
	MetaObject             = C.DELTAWIRE_META_OBJECT
	MetaSystemFingerprint  = C.DELTAWIRE_META_SYSTEM_FINGERPRINT
	MetaServiceTier        = C.DELTAWIRE_META_SERVICE_TIER
	MetaProvider           = C.DELTAWIRE_META_PROVIDER
	MetaNativeFinishReason = C.DELTAWIRE_META_NATIVE_FINISH_REASON
	MetaReasoningName      = C.DELTAWIRE_META_REASONING_NAME // the member that the first reasoning of a choice is in, such as reasoning_content
)

// Why a KindLimit left deltas out.
const (
	// LimitChoices: more choices than the reader has room for: [WithMaxChoices].
	LimitChoices = C.DELTAWIRE_LIMIT_CHOICES
	// LimitToolCalls: more tool calls than the reader has room for: [WithMaxToolCalls].
	LimitToolCalls = C.DELTAWIRE_LIMIT_TOOL_CALLS
	// LimitIndex: an index that is not a whole number of 32 bits.
	LimitIndex = C.DELTAWIRE_LIMIT_INDEX
	// LimitLength: a message is longer than its limit, or has more members of providers than it keeps.
	LimitLength = C.DELTAWIRE_LIMIT_LENGTH
)

// LimitName returns the name of the Code of a KindLimit, such as TooManyCalls.
func LimitName(code uint32) string { return C.GoString(C.deltawire_limit_name(C.uint32_t(code))) }

// String returns the name of the kind in the C interface, such as CONTENT.
func (k Kind) String() string { return C.GoString(C.deltawire_event_name(C.uint32_t(k))) }

// Flags are details of an event. Ignore flags that you do not know.
type Flags uint16

// The flags of events.
const (
	// FlagOpens: the tool call opens.
	FlagOpens Flags = C.DELTAWIRE_EVF_OPENS
	// FlagReuses: the tool call opens under the index of an earlier call.
	FlagReuses Flags = C.DELTAWIRE_EVF_REUSES
	// FlagCustom: the tool call is one of a custom tool.
	FlagCustom Flags = C.DELTAWIRE_EVF_CUSTOM
	// FlagReplaces: the name is whole, and replaces the name so far.
	FlagReplaces Flags = C.DELTAWIRE_EVF_REPLACES
	// FlagPlain: the error is plain text instead of JSON.
	FlagPlain Flags = C.DELTAWIRE_EVF_PLAIN
	// FlagNumber: Number is set, even if it is 0.
	FlagNumber Flags = C.DELTAWIRE_EVF_NUMBER
	// FlagWhole: the new contents of a [KindMessage] follow. Without it, it is another message than the one before.
	FlagWhole Flags = C.DELTAWIRE_EVF_WHOLE

	// The reader removes these: where a text lies, and that more pieces of it follow.
	flagTextScratch  Flags = C.DELTAWIRE_EVF_TEXT_SCRATCH
	flagAuxScratch   Flags = C.DELTAWIRE_EVF_AUX_SCRATCH
	flagExtraScratch Flags = C.DELTAWIRE_EVF_EXTRA_SCRATCH
	flagMore         Flags = C.DELTAWIRE_EVF_MORE
	flagsOfReader          = flagTextScratch | flagAuxScratch | flagExtraScratch | flagMore
)

// FinishReason is why a choice finished.
type FinishReason uint32

// The known finish reasons.
const (
	// FinishOther is any other reason; see the Text of the event.
	FinishOther         FinishReason = C.DELTAWIRE_FINISH_OTHER
	FinishStop          FinishReason = C.DELTAWIRE_FINISH_STOP
	FinishLength        FinishReason = C.DELTAWIRE_FINISH_LENGTH
	FinishToolCalls     FinishReason = C.DELTAWIRE_FINISH_TOOL_CALLS
	FinishContentFilter FinishReason = C.DELTAWIRE_FINISH_CONTENT_FILTER
	FinishFunctionCall  FinishReason = C.DELTAWIRE_FINISH_FUNCTION_CALL
	FinishError         FinishReason = C.DELTAWIRE_FINISH_ERROR
)

// String returns the reason as providers write it, such as tool_calls; other for FinishOther.
func (f FinishReason) String() string { return C.GoString(C.deltawire_finish_name(C.uint32_t(f))) }

// Fault is why a payload is malformed.
type Fault uint32

// The faults.
const (
	FaultUnexpectedEnd  Fault = C.DELTAWIRE_FAULT_UNEXPECTED_END  // the bytes end inside a value
	FaultUnexpectedByte Fault = C.DELTAWIRE_FAULT_UNEXPECTED_BYTE // a byte that is not allowed at its place
	FaultTrailingBytes  Fault = C.DELTAWIRE_FAULT_TRAILING_BYTES  // bytes other than whitespace follow the value
	FaultTooDeep        Fault = C.DELTAWIRE_FAULT_TOO_DEEP        // nested deeper than allowed
	FaultBadNumber      Fault = C.DELTAWIRE_FAULT_BAD_NUMBER      // an invalid number
	FaultBadLiteral     Fault = C.DELTAWIRE_FAULT_BAD_LITERAL     // a literal other than true, false and null
	FaultBadEscape      Fault = C.DELTAWIRE_FAULT_BAD_ESCAPE      // an unknown escape
	FaultRawControl     Fault = C.DELTAWIRE_FAULT_RAW_CONTROL     // a raw control character in a string
	FaultIllFormedUTF8  Fault = C.DELTAWIRE_FAULT_ILL_FORMED_UTF8 // ill-formed UTF-8
)

// String returns the name of the fault, such as UnexpectedEnd.
func (f Fault) String() string { return C.GoString(C.deltawire_fault_name(C.uint32_t(f))) }

// Quirk is a deviation from the protocol that a strict reader would refuse: this package understands and reports it.
// docs/quirks.md has the table. Quirks are numbered from 0 on; [Quirks] lists them.
type Quirk uint32

// Quirks returns all quirks that the library knows, in the order of their numbers.
func Quirks() []Quirk {
	var all []Quirk
	for q := Quirk(0); q < C.DELTAWIRE_QUIRKS && C.deltawire_quirk_name(C.uint32_t(q)) != nil; q++ {
		all = append(all, q)
	}
	return all
}

// QuirksOf returns the quirks with this name (ContinuedPayload) or code (F6).
func QuirksOf(name string) []Quirk {
	var found []Quirk
	for _, q := range Quirks() {
		if q.String() == name || q.Code() == name {
			found = append(found, q)
		}
	}
	return found
}

// String returns the name of the quirk, such as ContinuedPayload; "" if it is unknown.
func (q Quirk) String() string { return C.GoString(C.deltawire_quirk_name(C.uint32_t(q))) }

// Code returns the code of the quirk in docs/quirks.md, such as F6; "" if it is unknown.
func (q Quirk) Code() string { return C.GoString(C.deltawire_quirk_code(C.uint32_t(q))) }

// Text describes the quirk; "" if it is unknown.
func (q Quirk) Text() string { return C.GoString(C.deltawire_quirk_text(C.uint32_t(q))) }
