package deltawire

// #include "bridge.h"
import "C"

import "strings"

// Quirk is a deviation from the protocol that this package understands and reports, and that a strict reader would
// refuse. docs/quirks.md has the table. [Quirks] returns all of them.
type Quirk uint32

// The quirks.
const (
	QuirkContinuedPayload   Quirk = 0  // F6: a payload continued in lines without data:
	QuirkKeepAliveData      Quirk = 1  // F8: a keep-alive was sent as data
	QuirkLongID             Quirk = 2  // F11: an event ID over the limit was ignored
	QuirkUnterminatedEvent  Quirk = 3  // F12: the last event had no blank line after it
	QuirkIllFormedUTF8      Quirk = 4  // F13: ill-formed UTF-8 was replaced by U+FFFD
	QuirkErrorField         Quirk = 5  // F18: an error came as a field named error
	QuirkJSONBody           Quirk = 6  // F20: a JSON body came instead of an event stream
	QuirkNDJSON             Quirk = 7  // F21: several JSON values came instead of an event stream
	QuirkJSONBetweenEvents  Quirk = 8  // F23: a JSON value without data: came between events
	QuirkEventAfterDone     Quirk = 9  // F25: something came after [DONE]
	QuirkBareDone           Quirk = 10 // F26: [DONE] came without data:
	QuirkNullChunk          Quirk = 11 // C3: a chunk or its choices were null
	QuirkMissingChoiceIndex Quirk = 12 // C4: a choice had no index
	QuirkUnknownContentPart Quirk = 13 // C8: a content part of an unknown type was left out
	QuirkOddIndex           Quirk = 14 // C14: an index was negative, a string or another odd value
	QuirkReusedCallIndex    Quirk = 15 // C15: another tool call came under an index already in use
	QuirkArgumentsNotText   Quirk = 16 // C18: tool call arguments were JSON instead of text
	QuirkArgumentsAfterEnd  Quirk = 17 // C19: tool call arguments continued after they were complete
	QuirkDeltaAfterFinish   Quirk = 18 // C23: a choice continued after its finish reason
	QuirkSecondFinish       Quirk = 19 // C23: a choice had more than one finish reason
	QuirkOddType            Quirk = 20 // C27: a known member had a value of an unexpected type
	QuirkLoneSurrogate      Quirk = 21 // C31: half a surrogate pair was replaced by U+FFFD
	QuirkDuplicateMember    Quirk = 22 // C32: a known member came twice in one object
	QuirkNoneString         Quirk = 23 // C32: the string "None" or "null" came instead of null
	QuirkRawControl         Quirk = 24 // C33: a string contained a raw control character
	QuirkBadEscape          Quirk = 25 // C33: an escape that JSON does not define was kept unchanged
	QuirkChangedCallID      Quirk = 26 // C16: a fragment of a tool call came with another ID
	QuirkReplacedMessage    Quirk = 27 // C35: a message so far does not continue the one before, or a response began before another ended
	QuirkSeveralValues      Quirk = 28 // F28: one block held several JSON values
	QuirkForeignEvent       Quirk = 29 // F29: an event of another protocol came
	QuirkPartialArguments   Quirk = 30 // C36: arguments came by path: deltas have them as members of the call, a message joins them
	QuirkOddItemIndex       Quirk = 31 // C37: an event of Responses had no output_index, or that of another output item
	QuirkChangedText        Quirk = 32 // C38: a finished text or tool call of Responses differs from its deltas
	QuirkDeltaAfterDone     Quirk = 33 // C39: a delta of Responses came after its text was done
	QuirkUnknownText        Quirk = 34 // C40: a text came in members or events that nobody documents
	QuirkGuessedCall        Quirk = 35 // C41: a fragment without ID and name, under another index, continued the call opened last
	QuirkNamelessCall       Quirk = 36 // C41: a fragment without ID and name opened a tool call
	QuirkRepeatedText       Quirk = 37 // C42: deltas repeated the text before them: each has all of it so far, or it came once more
	QuirkBrokenArguments    Quirk = 38 // C43: a choice finished while the arguments of a tool call were cut or no JSON
	QuirkNotANumber         Quirk = 39 // C44: a log probability was NaN or Infinity, which JSON does not have
)

// Quirks returns all quirks that the library knows, in the order of their numbers.
func Quirks() []Quirk {
	var all []Quirk
	for q := Quirk(0); q.known(); q++ {
		all = append(all, q)
	}
	return all
}

// QuirksOf returns the quirks with this name, in any case (KeepAliveData), or with this code (F8).
func QuirksOf(name string) []Quirk {
	var found []Quirk
	for _, q := range Quirks() {
		if strings.EqualFold(q.String(), name) || q.Code() == name {
			found = append(found, q)
		}
	}
	return found
}

func (q Quirk) known() bool { return C.deltawire_quirk_name(C.uint32_t(q)) != nil }

// String returns the name of the quirk, such as KeepAliveData.
func (q Quirk) String() string { return nameOf("Quirk", q, quirkNames) }

// Code returns the code of the quirk in docs/quirks.md, such as F8; "" if the library does not know the quirk.
func (q Quirk) Code() string { return C.GoString(C.deltawire_quirk_code(C.uint32_t(q))) }

// Text describes the quirk; "" if the library does not know it.
func (q Quirk) Text() string { return C.GoString(C.deltawire_quirk_text(C.uint32_t(q))) }

var quirkNames = []string{
	"ContinuedPayload", "KeepAliveData", "LongID", "UnterminatedEvent", "IllFormedUTF8", "ErrorField", "JSONBody",
	"NDJSON", "JSONBetweenEvents", "EventAfterDone", "BareDone", "NullChunk", "MissingChoiceIndex",
	"UnknownContentPart", "OddIndex", "ReusedCallIndex", "ArgumentsNotText", "ArgumentsAfterEnd",
	"DeltaAfterFinish", "SecondFinish", "OddType", "LoneSurrogate", "DuplicateMember", "NoneString", "RawControl",
	"BadEscape", "ChangedCallID", "ReplacedMessage", "SeveralValues", "ForeignEvent", "PartialArguments",
	"OddItemIndex", "ChangedText", "DeltaAfterDone", "UnknownText", "GuessedCall", "NamelessCall", "RepeatedText",
	"BrokenArguments", "NotANumber",
}
