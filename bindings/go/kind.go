//go:build cgo

package deltawire

// Kind is the kind of an event. Ignore kinds that you do not know.
//
// The numbers of kinds and of the other enumerations here are those of the C interface: they never change. String
// returns the name of the constant without its prefix, such as Content for [KindContent], or Kind(99) for a number
// without a constant.
type Kind uint16

// The kinds of events, and what their members hold. Start and End are set for every kind; the members that a comment
// does not name are zero.
const (
	// KindNone is the kind of the event that [Reader.Event] returns when there is none.
	KindNone Kind = 0
	// KindSSE is an event of [WithSSE]. Text: its data. Aux: its type. Extra: the last event ID.
	KindSSE Kind = 1
	// KindComment is a comment. Text: any bytes.
	KindComment Kind = 2
	// KindKeepAlive is a payload that only keeps the connection alive. Text: any bytes.
	KindKeepAlive Kind = 3
	// KindRetry is a reconnection time. Number: milliseconds.
	KindRetry Kind = 4
	// KindLastEventID is a last event ID without an event. Text: any bytes.
	KindLastEventID Kind = 5
	// KindChunk is a chunk, before its deltas. Text: its id. Aux: its model. Extra: the event field. Number: its
	// created, if [FlagNumber] is set. Code: how many choices it has.
	KindChunk Kind = 6
	// KindRole is the role, once for each choice. Text.
	KindRole Kind = 7
	// KindContent is content. Text.
	KindContent Kind = 8
	// KindReasoning is reasoning, whatever the provider calls the member. Text.
	KindReasoning Kind = 9
	// KindRefusal is a refusal. Text.
	KindRefusal Kind = 10
	// KindToolCall reports that a tool call opens ([FlagOpens]), or that the ID or type of an open call arrives. Text: its
	// ID. Aux: its type. Number: its index, as sent, or as the parser assigned it.
	KindToolCall Kind = 11
	// KindToolName is the whole name of a tool call ([FlagReplaces]), or a piece to append to the name so far. Text. A
	// name that replaces an earlier name of the same call begins with that name.
	KindToolName Kind = 12
	// KindToolArguments is a fragment of a tool call's arguments or, for a custom tool, of its input. Text. If a call has no
	// fragment, take the arguments of a function as {}, and the input of a custom tool as empty. Arguments that Gemini sends
	// by path (partialArgs) are not emitted as fragments: an [Assembler] joins them, [MetaCallMember] has them as sent, and
	// [QuirkPartialArguments] counts the events that contain them.
	KindToolArguments Kind = 13
	// KindFunctionName is the name of a function_call's function, otherwise as KindToolName.
	KindFunctionName Kind = 14
	// KindFunctionArguments is a fragment of a function_call's arguments. Text.
	KindFunctionArguments Kind = 15
	// KindAudio is a fragment of audio. Text: JSON, in Responses the event; [Event.Audio] decodes it.
	KindAudio Kind = 16
	// KindLogprobs is the log probabilities of more tokens. Text: JSON, an object with some of content and refusal, each an
	// array of tokens, or the object of legacy completions. In Responses it is the array.
	KindLogprobs Kind = 17
	// KindFinish reports that a choice finished. Text: the finish reason; [Event.FinishReason] returns it as a number. A
	// choice may finish twice; the last finish reason counts.
	KindFinish Kind = 19
	// KindChoiceError reports that a choice failed; [Event.APIError] returns the error.
	KindChoiceError Kind = 20
	// KindUsage is the usage, as this event reports it: [Event.Usage] returns its counts. Never add up the counts of
	// several events: each is the count so far. One event may lack some counts (Anthropic sends the prompt at the
	// beginning, and often only the completion at the end); [Reader.Usage] returns all counts, merged.
	KindUsage Kind = 21
	// KindError reports an error of the API; [Event.APIError] returns it.
	KindError Kind = 22
	// KindMalformed is a payload that is not a JSON object, or the bytes that follow the object; the stream goes on. Text:
	// any bytes. Extra: the event field. [Event.Fault] returns the fault. Number: the offset of the fault in the payload.
	KindMalformed Kind = 23
	// KindTooLong is an event over the limit: the parser drops the rest of it, and the stream goes on. Start and End are
	// both where the event began; its length is not known yet.
	KindTooLong Kind = 24
	// KindCommentTooLong is a comment over the limit, which the parser drops. If it lies inside an event, that event goes
	// on. Start and End are both where the comment began.
	KindCommentTooLong Kind = 25
	// KindLimit reports that the parser left out deltas of a chunk. Choice is the choice of the first of them, or
	// math.MaxUint32 if its index is out of range. [Event.Limit] returns why.
	KindLimit Kind = 26
	// KindQuirk is a quirk of the event in the stream, after everything else that this event emits. [Event.Quirk] returns
	// it.
	KindQuirk Kind = 27
	// KindDone is [DONE]: the response ended. Some servers send more events after it, and Responses, Anthropic and Gemini
	// end without it: [Reader.Err] reports whether the response is complete.
	KindDone Kind = 28
	// KindPayload is the payload of a chunk, before KindChunk; only [WithEvents] turns it on. Text: JSON, for
	// json.Unmarshal, or the plain text of an error event. The JSON is as sent, in the members of its protocol.
	KindPayload Kind = 29
	// KindMeta is a member that describes the response, or a member that no other kind covers; only [WithEvents] turns it
	// on. [Event.Meta] returns which member it is. Members with a constant of their own ([MetaObject]) are text: they are
	// emitted once for a stream, [MetaReasoningName] once for a choice, and [MetaNativeFinishReason] as often as a choice
	// has it. A provider's own members are emitted as often as they are sent, as raw JSON ([Event.Member]);
	// [Assembler.Member] and [Message] keep the last value of each.
	KindMeta Kind = 30
	// KindAnnotation is annotations of the content, such as citations; only [WithEvents] turns it on. Text: JSON. In chat
	// completions it is an array; in other protocols, and for a message so far that has more annotations than the previous
	// message, each new annotation is an event of its own.
	KindAnnotation Kind = 31
	// KindSignature is a signature of reasoning, or the encrypted reasoning of Responses (not in chat completions); only
	// [WithEvents] turns it on. Text.
	KindSignature Kind = 34
	// KindMedia is an image or another medium (not in chat completions); only [WithEvents] turns it on. Text: JSON.
	KindMedia Kind = 35
	// KindNative is a part of the response that no other kind covers (not in chat completions): a tool that the server
	// ran, its result, or a piece of either; only [WithEvents] turns it on. Text: JSON.
	KindNative Kind = 38
	// KindToolCallEnd reports that a tool call is over: it can run now. It comes once for each call of a tool of the
	// client, if the stream is not cut inside it. [Event.Whole] returns whether its arguments are whole. Responses and
	// Anthropic end a call with its item or block, Gemini with its part; in chat completions a call ends when another call
	// of its choice opens and the arguments are a closed object or array, otherwise when the choice finishes. What is open
	// after that, or without a finish reason, ends with the stream if the response is over.
	KindToolCallEnd Kind = 39
	// KindFrame reports that a frame ended; only [WithEvents] turns it on. The frame is the bytes Start to End of the
	// stream. Each byte of the stream lies in exactly one frame, and frames are in order. If lines end in CR, a frame may
	// be reported one byte later. The frame of JSON outside of fields ends with its line, or before the next value on that
	// line. Code: how many choices the frame's chunk has. Number: the kinds in the frame, bit 1<<kind for each, whether
	// they are turned on or not (without KindFrame, KindPayload and KindMeta).
	KindFrame Kind = 48

	kindCount = 49
)

// String returns the name of the kind, such as Content.
func (k Kind) String() string { return nameOf("Kind", k, kindNames) }

var kindNames = []string{
	"None", "SSE", "Comment", "KeepAlive", "Retry", "LastEventID", "Chunk", "Role", "Content", "Reasoning",
	"Refusal", "ToolCall", "ToolName", "ToolArguments", "FunctionName", "FunctionArguments", "Audio", "Logprobs",
	19: "Finish", "ChoiceError", "Usage", "Error", "Malformed", "TooLong", "CommentTooLong", "Limit",
	"Quirk", "Done", "Payload", "Meta", "Annotation", 34: "Signature", "Media", 38: "Native", "ToolCallEnd", 48: "Frame",
}

// Meta is the member that a [KindMeta] reports.
type Meta uint32

// The members. "Another member" is raw JSON, as in an object, "name":value, which [Event.Member] splits.
const (
	MetaObject             Meta = 1
	MetaSystemFingerprint  Meta = 2
	MetaServiceTier        Meta = 3
	MetaProvider           Meta = 4
	MetaNativeFinishReason Meta = 5
	MetaMember             Meta = 6  // another member of the chunk
	MetaChoiceMember       Meta = 7  // another member of a choice
	MetaDeltaMember        Meta = 8  // another member of a delta, and reasoning_details
	MetaMessageMember      Meta = 9  // another member of a message
	MetaReasoningName      Meta = 10 // the name of the member with a choice's first reasoning, such as reasoning_content
	MetaCallMember         Meta = 11 // another member of a tool call, such as extra_content
	MetaFunctionMember     Meta = 12 // another member of the function of a tool call, or of its custom tool
)

// String returns the name of the member, such as ServiceTier.
func (m Meta) String() string { return nameOf("Meta", m, metaNames) }

var metaNames = []string{
	1: "Object", "SystemFingerprint", "ServiceTier", "Provider", "NativeFinishReason", "Member", "ChoiceMember",
	"DeltaMember", "MessageMember", "ReasoningName", "CallMember", "FunctionMember",
}

// Limit is why the parser left out deltas, or the assembler parts of a message.
type Limit uint32

// The limits.
const (
	LimitNone      Limit = 0 // nothing was left out
	LimitChoices   Limit = 1 // more choices than [WithMaxChoices] makes room for
	LimitToolCalls Limit = 2 // more tool calls than [WithMaxToolCalls] makes room for
	LimitIndex     Limit = 3 // an index that is not a whole number of 32 bits
	LimitLength    Limit = 4 // a message is longer than 4 GiB, or has more than 256 members of providers
)

// String returns the name of the limit, such as ToolCalls.
func (l Limit) String() string { return nameOf("Limit", l, limitNames) }

var limitNames = []string{"None", "Choices", "ToolCalls", "Index", "Length"}

// Flags are details of an event. Ignore flags that you do not know.
type Flags uint16

// The flags of events.
const (
	// FlagOpens: the tool call opens.
	FlagOpens Flags = 1 << 4
	// FlagReuses: the tool call opens under the index of an earlier call.
	FlagReuses Flags = 1 << 5
	// FlagCustom: the tool call calls a custom tool.
	FlagCustom Flags = 1 << 6
	// FlagReplaces: the name is whole and replaces the name so far.
	FlagReplaces Flags = 1 << 7
	// FlagPlain: the error is plain text instead of JSON.
	FlagPlain Flags = 1 << 8
	// FlagNumber: Number is set, even if it is 0.
	FlagNumber Flags = 1 << 9
	// FlagNative: the event is of another protocol than chat completions. On a [KindFinish]: the text is that protocol's
	// own word. On a [KindUsage]: the members have its own names, and Code is the [Protocol].
	FlagNative Flags = 1 << 12
	// FlagPrompt: the provider refused the prompt, and the text of the [KindFinish] is the reason.
	FlagPrompt Flags = 1 << 13

	// Flags that the reader removes from events: where a text lies, and that more pieces of it follow.
	flagTextScratch  Flags = 1 << 0
	flagAuxScratch   Flags = 1 << 1
	flagExtraScratch Flags = 1 << 2
	flagMore         Flags = 1 << 3
	flagsOfReader          = flagTextScratch | flagAuxScratch | flagExtraScratch | flagMore
)

// String returns the names of the flags, such as Opens|Custom.
func (f Flags) String() string { return namesOf("Flags", f, flagNames) }

// flagNames has the name of each flag at the number of its bit.
var flagNames = []string{4: "Opens", "Reuses", "Custom", "Replaces", "Plain", "Number", "Whole", "", "Native", "Prompt"}

// FinishReason is why a choice finished.
type FinishReason uint32

// The known finish reasons.
const (
	// FinishOther is any other reason; the Text of the event has it.
	FinishOther         FinishReason = 1
	FinishStop          FinishReason = 2
	FinishLength        FinishReason = 3
	FinishToolCalls     FinishReason = 4
	FinishContentFilter FinishReason = 5
	FinishFunctionCall  FinishReason = 6
	FinishError         FinishReason = 7
)

// String returns the reason as providers write it, such as tool_calls; other for FinishOther.
func (f FinishReason) String() string { return nameOf("FinishReason", f, finishNames) }

var finishNames = []string{1: "other", "stop", "length", "tool_calls", "content_filter", "function_call", "error"}

// Fault is why a payload is malformed.
type Fault uint32

// The faults.
const (
	FaultUnexpectedEnd  Fault = 1 // the bytes end inside a value
	FaultUnexpectedByte Fault = 2 // a byte that is not allowed at its place
	FaultTrailingBytes  Fault = 3 // bytes other than whitespace follow the value
	FaultTooDeep        Fault = 4 // nested deeper than allowed
	FaultBadNumber      Fault = 5 // an invalid number
	FaultBadLiteral     Fault = 6 // a literal other than true, false and null
	FaultBadEscape      Fault = 7 // an unknown escape
	FaultRawControl     Fault = 8 // a raw control character in a string
	FaultIllFormedUTF8  Fault = 9 // ill-formed UTF-8
)

// String returns the name of the fault, such as UnexpectedEnd.
func (f Fault) String() string { return nameOf("Fault", f, faultNames) }

var faultNames = []string{
	1: "UnexpectedEnd", "UnexpectedByte", "TrailingBytes", "TooDeep", "BadNumber", "BadLiteral", "BadEscape",
	"RawControl", "IllFormedUTF8",
}
