package deltawire

// #include "bridge.h"
import "C"

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"unsafe"
)

// Assembler assembles a message. The zero value is an empty message; give it to a reader with [WithAssembler]. It holds no
// C memory. Only one goroutine at a time may use it, and it must not be copied.
type Assembler struct {
	_      noCopy
	block  []uint64
	least  int                // the initial size of the block, in words
	config C.deltawire_config // only max_choices and max_tool_calls matter
}

// Field is a text of a message, for [Assembler.Text].
type Field uint32

// The fields of a message.
const (
	FieldID                Field = 0
	FieldObject            Field = 1 // as sent
	FieldModel             Field = 2
	FieldSystemFingerprint Field = 3
	FieldServiceTier       Field = 4
	FieldProvider          Field = 5
	FieldUsage             Field = 6  // the last usage, JSON; the counts of other protocols have the names of chat completions
	FieldNativeUsage       Field = 32 // the usage of another protocol under its own names, JSON
	FieldError             Field = 7  // the first error, JSON or plain text
	FieldErrorMessage      Field = 8
	FieldErrorCode         Field = 9
	FieldErrorType         Field = 10

	// Fields of a choice.
	FieldRole               Field = 11
	FieldContent            Field = 12
	FieldReasoning          Field = 14
	FieldReasoningName      Field = 31 // the name of the member with its first reasoning, such as reasoning_content
	FieldSignatures         Field = 33 // JSON, an array
	FieldNativeContent      Field = 34 // JSON, an array: the parts that no other field contains
	FieldRefusal            Field = 13
	FieldFinish             Field = 15 // the last finish reason
	FieldNativeFinish       Field = 16 // the reason as another protocol sends it, or OpenRouter's native_finish_reason
	FieldChoiceError        Field = 17 // the first error that belongs to this choice, JSON
	FieldChoiceErrorMessage Field = 18
	FieldChoiceErrorCode    Field = 19
	FieldChoiceErrorType    Field = 20
	FieldFunctionName       Field = 21
	FieldFunctionArguments  Field = 22
	FieldAudioID            Field = 23
	FieldAudioData          Field = 24 // JSON: an array of pieces in base64, each possibly with padding
	FieldAudioTranscript    Field = 25

	// Fields of a call.
	FieldCallID        Field = 26
	FieldCallType      Field = 27
	FieldCallName      Field = 28
	FieldCallArguments Field = 29 // or the input of a custom tool

	// A field of a choice: JSON, with the fragments of each entry joined.
	FieldReasoningDetails Field = 30
)

// String returns the name of the field, such as CallArguments.
func (f Field) String() string { return nameOf("Field", f, fieldNames) }

var fieldNames = []string{
	"ID", "Object", "Model", "SystemFingerprint", "ServiceTier", "Provider", "Usage", "Error", "ErrorMessage",
	"ErrorCode", "ErrorType", "Role", "Content", "Refusal", "Reasoning", "Finish", "NativeFinish", "ChoiceError",
	"ChoiceErrorMessage", "ChoiceErrorCode", "ChoiceErrorType", "FunctionName", "FunctionArguments", "AudioID",
	"AudioData", "AudioTranscript", "CallID", "CallType", "CallName", "CallArguments", "ReasoningDetails",
	"ReasoningName", "NativeUsage", "Signatures", "NativeContent",
}

// Owner is the object whose member [Assembler.Member] returns.
type Owner uint32

// The owners of members.
const (
	OwnerChunk    Owner = 0
	OwnerChoice   Owner = 1
	OwnerDelta    Owner = 2 // the deltas of a choice, or its message
	OwnerCall     Owner = 3 // a tool call: send its members back with it
	OwnerFunction Owner = 4 // the function of a tool call, or its custom tool
	OwnerUsage    Owner = 5 // the usage of Anthropic, merged from several events
)

// String returns the name of the owner, such as Choice.
func (o Owner) String() string { return nameOf("Owner", o, ownerNames) }

var ownerNames = []string{"Chunk", "Choice", "Delta", "Call", "Function", "Usage"}

// Message is a response as the API sends it without streaming: a chat.completion. An absent member is "" or nil.
type Message struct {
	ID                string          `json:"id"`
	Object            string          `json:"object"`
	Created           uint64          `json:"created"`
	Model             string          `json:"model"`
	SystemFingerprint string          `json:"system_fingerprint"`
	ServiceTier       string          `json:"service_tier"`
	Provider          string          `json:"provider"`
	Choices           []Choice        `json:"choices"`
	Usage             json.RawMessage `json:"usage"`
	Error             json.RawMessage `json:"error"`

	// Members has the members that the struct has no field for, by name: citations, timings.
	Members map[string]json.RawMessage `json:"-"`
}

// Choice is one answer of a [Message].
type Choice struct {
	Index              uint32          `json:"index"`
	Message            ChoiceMessage   `json:"message"`
	FinishReason       string          `json:"finish_reason"`
	NativeFinishReason string          `json:"native_finish_reason"`
	Logprobs           json.RawMessage `json:"logprobs"`
	Error              json.RawMessage `json:"error"`

	// Members has the members that the struct has no field for, by name.
	Members map[string]json.RawMessage `json:"-"`
}

// ChoiceMessage is the message of a [Choice].
type ChoiceMessage struct {
	Role             string          `json:"role"`
	Content          string          `json:"content"`
	ReasoningContent string          `json:"reasoning_content"` // under whichever name the stream has it
	Refusal          string          `json:"refusal"`
	ToolCalls        []ToolCall      `json:"tool_calls"`
	FunctionCall     *Function       `json:"function_call"`
	Audio            json.RawMessage `json:"audio"` // data is an array of pieces in base64, each possibly with padding
	Annotations      json.RawMessage `json:"annotations"`
	ReasoningDetails json.RawMessage `json:"reasoning_details"` // with the fragments of each entry joined

	// ReasoningName is the name of the member with the first reasoning, such as reasoning_content or reasoning; "" if the
	// reasoning has no member of its own. [Assembler.JSON] writes the reasoning under this name if extended is true.
	ReasoningName string `json:"-"`
	// Members has the members that the struct has no field for, by name.
	Members map[string]json.RawMessage `json:"-"`
}

// ToolCall is a call of a function or of a custom tool: one of Function and Custom is nil, whatever Type is.
type ToolCall struct {
	ID       string    `json:"id"`
	Type     string    `json:"type"`
	Function *Function `json:"function"`
	Custom   *Custom   `json:"custom"`

	// Members has the members that the struct has no field for, by name. Send them back with the call: extra_content has
	// the signature of a thought.
	Members map[string]json.RawMessage `json:"-"`
}

// Function is the name of a function and the arguments of its call: JSON, as the model wrote it.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Custom is the name of a custom tool and its input.
type Custom struct {
	Name  string `json:"name"`
	Input string `json:"input"`
}

// assemblerLog is the initial size of the log, in bytes.
const assemblerLog = 4 << 10

func (a *Assembler) p() *C.deltawire_message {
	if a.block == nil {
		a.config.size = C.sizeof_deltawire_config
		a.least = words(C.deltawire_message_size(&a.config, assemblerLog))
		a.block = make([]uint64, a.least)
		C.deltawire_message_init(unsafe.Pointer(&a.block[0]), C.size_t(len(a.block)*8), &a.config, nil)
	}
	return (*C.deltawire_message)(unsafe.Pointer(&a.block[0]))
}

// setRoom gives the assembler the same room for choices and tool calls as its reader. If that changes the room, it
// empties the message.
func (a *Assembler) setRoom(choices, calls C.uint32_t) {
	if a.config.max_choices != choices || a.config.max_tool_calls != calls {
		a.config.max_choices, a.config.max_tool_calls = choices, calls
		a.block = nil
	}
}

// Reset begins a new message. It gives back the memory of a long message.
func (a *Assembler) Reset() {
	if len(a.block) > max(keptMemory/8, a.least) {
		a.block = nil
	}
	if a.block != nil {
		C.deltawire_message_reset(a.p())
	}
}

func (a *Assembler) grow() error {
	need := words(C.deltawire_message_need(a.p()))
	if need <= len(a.block) {
		return errors.New("deltawire: the message is too long")
	}
	block := make([]uint64, need)
	status := C.deltawire_message_move(unsafe.Pointer(&block[0]), C.size_t(need*8), a.p(), nil)
	if status != C.DELTAWIRE_OK {
		return statusError(status)
	}
	a.block = block
	return nil
}

// JSON returns the message so far, a chat.completion. A tool call includes the members that must be sent back with it,
// such as extra_content. If extended is true, the JSON includes the members that only gateways and providers send:
// provider, native_finish_reason, reasoning_details, and every unknown member. The reasoning is then under its name in
// the stream ([FieldReasoningName]), and data of audio is an array of its pieces.
func (a *Assembler) JSON(extended bool) (json.RawMessage, error) {
	flags := C.uint32_t(0)
	if extended {
		flags = C.DELTAWIRE_JSON_EXTENDED
	}
	return sized(func(buf *C.char, size C.size_t, need *C.size_t) C.deltawire_status {
		return C.deltawire_message_json(a.p(), flags, buf, size, need)
	})
}

// Text returns a text of the message, or "" if there is none. choice is the index of a choice, call the position of a
// call among the calls of that choice; give 0 where the field needs no choice or no call.
func (a *Assembler) Text(field Field, choice uint32, call int) string {
	text, _ := sized(func(buf *C.char, size C.size_t, need *C.size_t) C.deltawire_status {
		return C.deltawire_message_text(a.p(), C.uint32_t(field), C.uint32_t(choice), C.uint32_t(call), buf, size, need)
	})
	return string(text)
}

// Member returns a member that has no [Field], such as a provider's citations or timings: its last value that was not
// null, or nil. Lists of a delta (images), except citations, become one. choice and call are as in [Assembler.Text].
func (a *Assembler) Member(owner Owner, choice uint32, call int, name string) json.RawMessage {
	bytes := []byte(name)
	value, _ := sized(func(buf *C.char, size C.size_t, need *C.size_t) C.deltawire_status {
		return C.deltawire_message_member(a.p(), C.uint32_t(owner), C.uint32_t(choice), C.uint32_t(call), chars(bytes),
			C.size_t(len(bytes)), buf, size, need)
	})
	return value
}

// sized calls get for the length of a text, then for the text.
func sized(get func(*C.char, C.size_t, *C.size_t) C.deltawire_status) ([]byte, error) {
	var need C.size_t
	if status := get(nil, 0, &need); status != C.DELTAWIRE_OK && status != C.DELTAWIRE_E_SMALL {
		return nil, statusError(status)
	}
	if need == 0 {
		return nil, nil
	}
	buf := make([]byte, int(need))
	if status := get(chars(buf), need, &need); status != C.DELTAWIRE_OK {
		return nil, statusError(status)
	}
	return buf, nil
}

// Limit returns why the assembler first left something out of the message; LimitNone if it left out nothing.
func (a *Assembler) Limit() Limit {
	return Limit(C.deltawire_message_limit(a.p()))
}

// err returns an error if the assembler left something out of the message.
func (a *Assembler) err() error {
	if limit := a.Limit(); limit != LimitNone {
		return fmt.Errorf("%w: the message is over its limit of %v", ErrIncomplete, limit)
	}
	return nil
}

// Message returns the message so far. [Assembler.Limit] tells whether the assembler left something out.
func (a *Assembler) Message() (*Message, error) {
	text, err := a.JSON(true)
	if err != nil {
		return nil, err
	}
	m := new(Message)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, err
	}
	dropNull(&m.Usage)
	dropNull(&m.Error)
	for i := range m.Choices {
		c := &m.Choices[i]
		c.Message.ReasoningContent = a.Text(FieldReasoning, c.Index, 0)
		c.Message.ReasoningName = a.Text(FieldReasoningName, c.Index, 0)
		dropNull(&c.Logprobs)
		dropNull(&c.Error)
		dropNull(&c.Message.Audio)
	}
	return m, m.keepMembers(text)
}

// keepMembers sets Members from the message's extended JSON. There the reasoning is under its name in the stream.
func (m *Message) keepMembers(text []byte) error {
	var top struct {
		Choices []json.RawMessage `json:"choices"`
	}
	if err := json.Unmarshal(text, &top); err != nil {
		return err
	}
	m.Members = membersBeside(text, *m)
	for i, choice := range top.Choices {
		var of struct {
			Message json.RawMessage `json:"message"`
		}
		var message struct {
			Calls []json.RawMessage `json:"tool_calls"`
		}
		if err := json.Unmarshal(choice, &of); err != nil {
			return err
		}
		if err := json.Unmarshal(of.Message, &message); err != nil {
			return err
		}
		c := &m.Choices[i]
		c.Members = membersBeside(choice, *c)
		c.Message.Members = membersBeside(of.Message, c.Message, c.Message.ReasoningName)
		for j, call := range message.Calls {
			c.Message.ToolCalls[j].Members = membersBeside(call, c.Message.ToolCalls[j])
		}
	}
	return nil
}

// membersBeside returns the members of object that the struct fields has no field for, except those with these names.
func membersBeside(object json.RawMessage, fields any, names ...string) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return nil
	}
	t := reflect.TypeOf(fields)
	for i := 0; i < t.NumField(); i++ {
		if name := t.Field(i).Tag.Get("json"); name != "-" {
			names = append(names, name)
		}
	}
	for _, name := range names {
		delete(members, name)
	}
	if len(members) == 0 {
		return nil
	}
	return members
}

// dropNull replaces null by nil.
func dropNull(raw *json.RawMessage) {
	if string(*raw) == "null" {
		*raw = nil
	}
}

// ReadMessage reads a whole stream and returns its message. If the response is not complete, it returns the error
// ([Reader.Err]) and the message so far; the message is nil only if an option is wrong. To keep the assembler of the
// message, give [WithAssembler].
func ReadMessage(src io.Reader, opts ...Option) (*Message, error) {
	opts = append([]Option{WithAssembler(new(Assembler))}, opts...)
	r := NewReader(src, append(opts, WithEvents())...)
	if r.block == nil {
		return nil, r.err
	}
	for r.Next() {
	}
	m, err := r.settings.assembler.Message()
	if err == nil {
		err = r.Err()
	}
	return m, err
}
