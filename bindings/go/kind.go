package deltawire

// #include "deltawire.h"
import "C"

// Kind tells what an event is. Ignore kinds that you do not know.
type Kind uint16

// The kinds of events, and what their members hold. Members that are not named are zero, but for Start and End: where
// the thing lay in the stream.
const (
	// KindSSE is an event of [WithSSE]. Text: its data. Aux: its type. Extra: the last event ID.
	KindSSE Kind = C.DELTAWIRE_EV_SSE
	// KindComment is a comment. Text: any bytes.
	KindComment Kind = C.DELTAWIRE_EV_COMMENT
	// KindKeepAlive is a payload that only keeps the connection alive. Text: any bytes.
	KindKeepAlive Kind = C.DELTAWIRE_EV_KEEP_ALIVE
	// KindRetry is a reconnection time. Number: milliseconds.
	KindRetry Kind = C.DELTAWIRE_EV_RETRY
	// KindLastEventID is a last event ID that came without an event. Text: any bytes.
	KindLastEventID Kind = C.DELTAWIRE_EV_LAST_EVENT_ID
	// KindChunk is a chunk, before what it brings. Text: its id. Aux: its model. Extra: the event field. Number: its
	// created, if it has one ([FlagNumber]). Code: how many choices it has.
	KindChunk Kind = C.DELTAWIRE_EV_CHUNK
	// KindRole is the role, once a choice. Text.
	KindRole Kind = C.DELTAWIRE_EV_ROLE
	// KindContent is content. Text.
	KindContent Kind = C.DELTAWIRE_EV_CONTENT
	// KindReasoning is reasoning, by whichever name it came. Text.
	KindReasoning Kind = C.DELTAWIRE_EV_REASONING
	// KindRefusal is a refusal. Text.
	KindRefusal Kind = C.DELTAWIRE_EV_REFUSAL
	// KindToolCall says that a tool call opens ([FlagOpens]), or that its ID or type came late. Text: its ID. Aux: its
	// type. Number: its index, as sent or as understood.
	KindToolCall Kind = C.DELTAWIRE_EV_TOOL_CALL
	// KindToolName is the name of a tool call, whole ([FlagReplaces]), or what is to be put behind the name so far. Text.
	KindToolName Kind = C.DELTAWIRE_EV_TOOL_NAME
	// KindToolArguments is a fragment of a tool call's arguments; of a custom tool, its input. Text.
	KindToolArguments Kind = C.DELTAWIRE_EV_TOOL_ARGUMENTS
	// KindFunctionName is as KindToolName, of a function_call.
	KindFunctionName Kind = C.DELTAWIRE_EV_FUNCTION_NAME
	// KindFunctionArguments is a fragment of a function_call's arguments. Text.
	KindFunctionArguments Kind = C.DELTAWIRE_EV_FUNCTION_ARGUMENTS
	// KindAudio is a fragment of audio. Text: JSON; [Event.Audio] reads it.
	KindAudio Kind = C.DELTAWIRE_EV_AUDIO
	// KindLogprobs are log probabilities of more tokens. Text: JSON.
	KindLogprobs Kind = C.DELTAWIRE_EV_LOGPROBS
	// KindMessage is, if it is asked for, the whole message so far, of a body that did not stream or of a dialect without
	// deltas. Text: JSON. What is new in it follows as events of the same choice ([FlagWhole]): take one of the two.
	KindMessage Kind = C.DELTAWIRE_EV_MESSAGE
	// KindFinish says that a choice finished. Text: the finish reason. [Event.FinishReason] has it as a number. It may
	// come twice; the last one counts.
	KindFinish Kind = C.DELTAWIRE_EV_FINISH
	// KindChoiceError says that a choice failed. [Event.APIError] reads it.
	KindChoiceError Kind = C.DELTAWIRE_EV_CHOICE_ERROR
	// KindUsage is the usage so far; the last one counts. [Event.Usage] reads it.
	KindUsage Kind = C.DELTAWIRE_EV_USAGE
	// KindError says that the API reported an error. [Event.APIError] reads it.
	KindError Kind = C.DELTAWIRE_EV_ERROR
	// KindMalformed is a payload that is no JSON object, or what followed one; the stream goes on. Text: any bytes.
	// Extra: the event field. [Event.Fault] says what is wrong. Number: at which byte of the payload.
	KindMalformed Kind = C.DELTAWIRE_EV_MALFORMED
	// KindTooLong is an event over the limit: its rest is discarded, the stream goes on. Start: where it began.
	KindTooLong Kind = C.DELTAWIRE_EV_TOO_LONG
	// KindCommentTooLong is a comment over the limit, which is discarded; the event round it goes on.
	KindCommentTooLong Kind = C.DELTAWIRE_EV_COMMENT_TOO_LONG
	// KindLimit says that something in a chunk was left out; Code is one of LimitChoices, LimitToolCalls, LimitIndex.
	KindLimit Kind = C.DELTAWIRE_EV_LIMIT
	// KindQuirk is a quirk of the event, behind all other things of it. [Event.Quirk] tells which.
	KindQuirk Kind = C.DELTAWIRE_EV_QUIRK
	// KindDone is [DONE]: the response is complete. Something may still come.
	KindDone Kind = C.DELTAWIRE_EV_DONE
	// KindPayload is, if it is asked for, the payload of a chunk, before KindChunk. Text: JSON, for json.Unmarshal, or
	// what an error event says in plain text.
	KindPayload Kind = C.DELTAWIRE_EV_PAYLOAD
	// KindMeta is, if it is asked for, a member that describes the response: once a stream, but MetaNativeFinishReason of
	// a choice. Text. Code: which, as MetaObject.
	KindMeta Kind = C.DELTAWIRE_EV_META
	// KindAnnotation are, if they are asked for, annotations of the content, as citations. Text: JSON, an array.
	KindAnnotation Kind = C.DELTAWIRE_EV_ANNOTATION
	// KindFrame comes, if it is asked for, when a frame is over: Start to End are its bytes on the wire. Each byte of
	// the stream lies in exactly one frame, in order. Code: how many choices its chunk has. Number: the kinds in it, bit
	// 1<<kind each, asked for or not, but KindFrame, KindPayload and KindMeta.
	KindFrame Kind = C.DELTAWIRE_EV_FRAME

	kindCount = C.DELTAWIRE_EV_COUNT
)

// What a KindMeta is.
const (
	MetaObject             = C.DELTAWIRE_META_OBJECT
	MetaSystemFingerprint  = C.DELTAWIRE_META_SYSTEM_FINGERPRINT
	MetaServiceTier        = C.DELTAWIRE_META_SERVICE_TIER
	MetaProvider           = C.DELTAWIRE_META_PROVIDER
	MetaNativeFinishReason = C.DELTAWIRE_META_NATIVE_FINISH_REASON
)

// What a KindLimit left out.
const (
	// LimitChoices: more choices than are told apart.
	LimitChoices = C.DELTAWIRE_LIMIT_CHOICES
	// LimitToolCalls: more tool calls than are told apart.
	LimitToolCalls = C.DELTAWIRE_LIMIT_TOOL_CALLS
	// LimitIndex: an index that is no whole number of 32 bits.
	LimitIndex = C.DELTAWIRE_LIMIT_INDEX
)

// String is the name of the kind in the C interface, as CONTENT.
func (k Kind) String() string { return C.GoString(C.deltawire_event_name(C.uint32_t(k))) }

// Flags say more about an event. Ignore flags that you do not know.
type Flags uint16

// The flags of events.
const (
	// FlagOpens: the tool call opens.
	FlagOpens Flags = C.DELTAWIRE_EVF_OPENS
	// FlagReuses: it opens under an index that an earlier call has.
	FlagReuses Flags = C.DELTAWIRE_EVF_REUSES
	// FlagCustom: it is a call of a custom tool.
	FlagCustom Flags = C.DELTAWIRE_EVF_CUSTOM
	// FlagReplaces: the name is whole; it replaces what came before.
	FlagReplaces Flags = C.DELTAWIRE_EVF_REPLACES
	// FlagPlain: the error is plain text, no JSON.
	FlagPlain Flags = C.DELTAWIRE_EVF_PLAIN
	// FlagNumber: Number says something, be it 0.
	FlagNumber Flags = C.DELTAWIRE_EVF_NUMBER
	// FlagWhole, of a [KindMessage]: what is new in it follows. Without it, it is another message than before.
	FlagWhole Flags = C.DELTAWIRE_EVF_WHOLE

	// What only the reader sees: where a text lies, and that there is more of it.
	flagTextScratch  Flags = C.DELTAWIRE_EVF_TEXT_SCRATCH
	flagAuxScratch   Flags = C.DELTAWIRE_EVF_AUX_SCRATCH
	flagExtraScratch Flags = C.DELTAWIRE_EVF_EXTRA_SCRATCH
	flagMore         Flags = C.DELTAWIRE_EVF_MORE
	flagsOfReader          = flagTextScratch | flagAuxScratch | flagExtraScratch | flagMore
)

// FinishReason is why a choice finished.
type FinishReason uint32

// The finish reasons that are told apart.
const (
	// FinishOther is any other; the event's Text tells.
	FinishOther         FinishReason = C.DELTAWIRE_FINISH_OTHER
	FinishStop          FinishReason = C.DELTAWIRE_FINISH_STOP
	FinishLength        FinishReason = C.DELTAWIRE_FINISH_LENGTH
	FinishToolCalls     FinishReason = C.DELTAWIRE_FINISH_TOOL_CALLS
	FinishContentFilter FinishReason = C.DELTAWIRE_FINISH_CONTENT_FILTER
	FinishFunctionCall  FinishReason = C.DELTAWIRE_FINISH_FUNCTION_CALL
	FinishError         FinishReason = C.DELTAWIRE_FINISH_ERROR
)

// Fault is why a payload is malformed.
type Fault uint32

// The faults.
const (
	FaultUnexpectedEnd  Fault = C.DELTAWIRE_FAULT_UNEXPECTED_END  // the bytes end inside a value
	FaultUnexpectedByte Fault = C.DELTAWIRE_FAULT_UNEXPECTED_BYTE // a byte that cannot stand there
	FaultTrailingBytes  Fault = C.DELTAWIRE_FAULT_TRAILING_BYTES  // something other than whitespace after the value
	FaultTooDeep        Fault = C.DELTAWIRE_FAULT_TOO_DEEP        // nested deeper than allowed
	FaultBadNumber      Fault = C.DELTAWIRE_FAULT_BAD_NUMBER      // no number
	FaultBadLiteral     Fault = C.DELTAWIRE_FAULT_BAD_LITERAL     // neither true nor false nor null
	FaultBadEscape      Fault = C.DELTAWIRE_FAULT_BAD_ESCAPE      // an unknown escape
	FaultRawControl     Fault = C.DELTAWIRE_FAULT_RAW_CONTROL     // a raw control character in a string
	FaultIllFormedUTF8  Fault = C.DELTAWIRE_FAULT_ILL_FORMED_UTF8 // ill-formed UTF-8
)

// String is the name of the fault, as UnexpectedEnd.
func (f Fault) String() string { return C.GoString(C.deltawire_fault_name(C.uint32_t(f))) }

// Quirk is something that a strict reader would refuse and that this one understands, and says so. docs/quirks.md has
// the table. Quirks are numbers from 0 on; [Quirks] lists them.
type Quirk uint32

// Quirks are all quirks that the library knows, in the order of their numbers.
func Quirks() []Quirk {
	var all []Quirk
	for q := Quirk(0); q < C.DELTAWIRE_QUIRKS && C.deltawire_quirk_name(C.uint32_t(q)) != nil; q++ {
		all = append(all, q)
	}
	return all
}

// QuirksOf are the quirks of that name (ContinuedPayload), or of that row of the table (F6).
func QuirksOf(name string) []Quirk {
	var found []Quirk
	for _, q := range Quirks() {
		if q.String() == name || q.Code() == name {
			found = append(found, q)
		}
	}
	return found
}

// String is the name of the quirk, as ContinuedPayload; "" if it is not known.
func (q Quirk) String() string { return C.GoString(C.deltawire_quirk_name(C.uint32_t(q))) }

// Code is its row of the table, as F6; "" if it is not known.
func (q Quirk) Code() string { return C.GoString(C.deltawire_quirk_code(C.uint32_t(q))) }

// Text says it in words; "" if it is not known.
func (q Quirk) Text() string { return C.GoString(C.deltawire_quirk_text(C.uint32_t(q))) }
