/* deltawire.h - LLM token streams: bytes in, deltas out.            SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ALLOCATION  None, ever. All memory is the caller's.
 * MEMORY      A parser is one block of memory: fixed state, then room for an event that was cut. No pointer is kept in it
 *             between calls (not to itself, to input, callbacks or user): a memcpy of the block, outside of a call, is a
 *             snapshot or a move. Aligned to DELTAWIRE_ALIGN. The same holds of an assembler.
 * VIEWS       In a callback, what is pointed to is valid until it returns. A batch deals in offsets: valid until the next
 *             call on the parser, as long as input and scratch are unchanged. A deltawire_value lives as long as its bytes.
 * TEXT        Texts are valid UTF-8 and not empty; none ends inside a code point or a surrogate pair. A text may come in
 *             several pieces: all but the last have DELTAWIRE_EVF_MORE. What is called bytes is as it came, and may be
 *             empty. Nothing is ended by NUL, but for the names that are said to be.
 * CALLS       NULL with length 0 is legal wherever bytes go in. Any number may be given for an enumeration: what is not
 *             known is answered with a status. Every function says which statuses it answers; any that takes a length
 *             answers E_RANGE if it is beyond any memory ((size_t)-1, as a failed read gives it). `*out` of a getter is
 *             written only when the answer is OK.
 * RESUMING    After a status above 0 give the bytes from `consumed` on again, perhaps with more behind them; if all were
 *             consumed, NULL and 0. The events come as if nothing had happened. A write callback of libcurl, which has to
 *             take all or nothing, loops until the status is 0 or below (see docs/gateway.md).
 * FAULTS      in the data are events (DELTAWIRE_EV_MALFORMED, _TOO_LONG, _LIMIT, _QUIRK), and the stream goes on. Statuses
 *             tell of calls.
 * THREADS     Any thread, one at a time for each parser. No globals, no thread-locals, no locks. Functions that take
 *             const pointers may run at the same time.
 * REENTRANCY  From a callback only functions that take a deltawire_chunk, a deltawire_value or another parser may be
 *             called, and those of an assembler. Those that take the parser itself answer E_REENTRANT (counts: 0) and
 *             change nothing. Not detected, and so forbidden: deltawire_init over a parser in use; copying the block, an
 *             exception or longjmp out of a callback.
 * LENGTHS     A function that copies a text out takes NULL and 0 to ask for its length: it answers E_SMALL (OK if there is
 *             nothing to copy), and `*need` has the length.
 * LOSSES      The verdict of deltawire_end says how a stream ended; `complete` says that nothing was lost on the way either:
 *             a payload that could not be read, an event over the limit (without DELTAWIRE_CFG_GROW: over what the block
 *             holds), an event that the end of the stream cut, or more choices or calls than there is room for.
 * MESSAGES    An assembler can stand beside callbacks of your own: let each call that of deltawire_message_callbacks() of the
 *             same name, with the assembler for `user`. If it answers DELTAWIRE_AGAIN the block is full: move the message at
 *             once and call again, or return that and move it when the feed is PAUSED.
 * VERSIONS    Structs that the caller fills begin with their size, a multiple of 8. They only grow at the end: members that an older caller
 *             does not have are defaults, and what a newer one has beyond the library's knowledge must be zero (E_CONFIG).
 *             deltawire_event is 64 bytes for ever. Ignore kinds, flags and quirks that you do not know. DELTAWIRE_ABI
 *             changes when a program has to be compiled again.
 *
 * Generated from capi/ by cbindgen. C99, C++11. */


#ifndef DELTAWIRE_H
#define DELTAWIRE_H

#include <stddef.h>
#include <stdint.h>

#define DELTAWIRE_VERSION_MAJOR 0
#define DELTAWIRE_VERSION_MINOR 1
#define DELTAWIRE_VERSION_PATCH 0
// The version of this header; deltawire_version() is that of the library.
#define DELTAWIRE_VERSION \
    (DELTAWIRE_VERSION_MAJOR * 1000000u + DELTAWIRE_VERSION_MINOR * 1000u + DELTAWIRE_VERSION_PATCH)
// The binary interface of this header; deltawire_abi() is that of the library.
#define DELTAWIRE_ABI 1u

// The bit of a kind of event in deltawire_config.events and in a frame's number.
#define DELTAWIRE_MASK(kind) (UINT64_C(1) << (kind))
// Bytes of a block with room for an event of so many bytes at least.
#define DELTAWIRE_BLOCK_SIZE(event_bytes) (DELTAWIRE_STATE_SIZE + (((size_t)(event_bytes) + 7u) & ~(size_t)7u))
// Declares a block of that size, aligned: on the stack, static, or in a struct. `&name` and `sizeof name` go to
// deltawire_init.
#define deltawire_block(name, event_bytes) \
    union { uint64_t align_; unsigned char bytes[DELTAWIRE_BLOCK_SIZE(event_bytes)]; } name
// The same for an assembler.
#define DELTAWIRE_MESSAGE_SIZE(log_bytes) (DELTAWIRE_MESSAGE_STATE_SIZE + (((size_t)(log_bytes) + 7u) & ~(size_t)7u))
// Initialisers of the structs that begin with their size. The rest is zero.
#define DELTAWIRE_CONFIG_INIT {(uint32_t)sizeof(deltawire_config), 0, 0, 0, 0, {0, 0}, 0, 0, 0}
#define DELTAWIRE_USAGE_INIT {(uint32_t)sizeof(deltawire_usage), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
#define DELTAWIRE_END_INIT {(uint32_t)sizeof(deltawire_end), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
#define DELTAWIRE_CALLBACKS_INIT \
    {sizeof(deltawire_callbacks), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
     NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}


// All input is consumed, and nothing is pending.
#define DELTAWIRE_OK 0

// A callback asked for a pause, or to be called again. Give the bytes from `consumed` on again to go on.
#define DELTAWIRE_PAUSED 1

// Batch: the array or the scratch is full. Take the events out, then call again with the bytes from `consumed` on.
#define DELTAWIRE_MORE 2

// A cut event does not fit into the block (only with `DELTAWIRE_CFG_GROW`): `deltawire_move` to a block of
// `deltawire_need` bytes, then call again with the bytes from `consumed` on. An assembler answers it too.
#define DELTAWIRE_NEED_STORAGE 3

// A getter's answer: there is no such thing, or it is of another type.
#define DELTAWIRE_ABSENT 10

// Misuse: a pointer is NULL that must not be.
#define DELTAWIRE_E_NULL -1

// Misuse: a struct that the caller fills has a size or a value that is not known, or a tail that is not zero.
#define DELTAWIRE_E_CONFIG -2

// Misuse: memory is too small. Of a getter with a size query: the text does not fit; nothing was written but `*need`.
#define DELTAWIRE_E_SMALL -3

// Misuse: memory is not aligned to `DELTAWIRE_ALIGN`.
#define DELTAWIRE_E_ALIGN -4

// Misuse: the block was never initialised, or the order of calls is wrong.
#define DELTAWIRE_E_STATE -5

// Misuse: called from a callback of the same parser.
#define DELTAWIRE_E_REENTRANT -6

// Misuse: an argument is outside its range, or a number does not fit the type asked for.
#define DELTAWIRE_E_RANGE -7

// Misuse: the bytes that were not consumed were not given again: these are fewer than the pending event has.
#define DELTAWIRE_E_RESUME -8

// A callback returned a number below 0, which `deltawire_user_code` tells.
#define DELTAWIRE_E_ABORTED -100

// A callback returned a number that it may not return, which `deltawire_user_code` tells.
#define DELTAWIRE_E_CALLBACK -101

// A quirk came that the config makes an error: `deltawire_error_quirk`, `deltawire_error_offset`.
#define DELTAWIRE_E_STRICT -102

// A callback's answer: go on.
#define DELTAWIRE_GO_ON 0

// A callback's answer: stop after this event, whose other callbacks are still called. The answer of the call is
// `DELTAWIRE_PAUSED`.
#define DELTAWIRE_PAUSE 1

// A callback's answer: stop here; it is called again for the same thing, of a text in pieces for the same piece, and the
// event goes on behind that. The answer of the call is `DELTAWIRE_PAUSED`. Only callbacks can go on, no batch.
#define DELTAWIRE_AGAIN 2

// The alignment of every block, in bytes. What malloc gives satisfies it, and so does a Go `[]uint64`.
#define DELTAWIRE_ALIGN 8

// Bytes of a block that are not event buffer: the fixed state, with room to spare. It grows only with `DELTAWIRE_ABI`.
#define DELTAWIRE_STATE_SIZE 8192

// Bytes of an assembler's block that are not log. It grows only with `DELTAWIRE_ABI`.
#define DELTAWIRE_MESSAGE_STATE_SIZE 4096

// The least scratch that a batch takes, in bytes.
#define DELTAWIRE_SCRATCH_MIN 64

// How many choices of one stream are told apart.
#define DELTAWIRE_MAX_CHOICES 8

// How many tool calls of one stream are told apart, of all choices together.
#define DELTAWIRE_MAX_TOOL_CALLS 32

// Quirk numbers are below this.
#define DELTAWIRE_QUIRKS 128

// Mode: chat completion chunks.
#define DELTAWIRE_MODE_CHAT 0

// Mode: any event stream. Payloads are not looked into; `on_sse` and `DELTAWIRE_EV_SSE` have them.
#define DELTAWIRE_MODE_SSE 1

// Answer `DELTAWIRE_NEED_STORAGE` when a cut event does not fit into the block, instead of giving it up as too long.
#define DELTAWIRE_CFG_GROW 1

// Framing exactly as WHATWG HTML 9.2 has it: unknown lines are ignored, a last event without its blank line is dropped.
#define DELTAWIRE_CFG_SPEC 2

// Check all of each payload: RFC 8259 and UTF-8. What fails is malformed.
#define DELTAWIRE_CFG_STRICT_JSON 4

// No value.
#define DELTAWIRE_T_NONE 0

// `null`.
#define DELTAWIRE_T_NULL 1

// `false`.
#define DELTAWIRE_T_FALSE 2

// `true`.
#define DELTAWIRE_T_TRUE 3

// A number.
#define DELTAWIRE_T_NUMBER 4

// A string.
#define DELTAWIRE_T_STRING 5

// An array.
#define DELTAWIRE_T_ARRAY 6

// An object.
#define DELTAWIRE_T_OBJECT 7

// No JSON: plain text, as some servers report errors.
#define DELTAWIRE_T_TEXT 8

// `id`.
#define DELTAWIRE_F_ID 0

// `object`.
#define DELTAWIRE_F_OBJECT 1

// `created`.
#define DELTAWIRE_F_CREATED 2

// `model`.
#define DELTAWIRE_F_MODEL 3

// `system_fingerprint`.
#define DELTAWIRE_F_SYSTEM_FINGERPRINT 4

// `service_tier`.
#define DELTAWIRE_F_SERVICE_TIER 5

// `provider`.
#define DELTAWIRE_F_PROVIDER 6

// `choices`.
#define DELTAWIRE_F_CHOICES 7

// `usage`, if it is an object with something in it; where the provider puts it elsewhere, that.
#define DELTAWIRE_F_USAGE 8

// The error, in whatever place and shape it came; it may be `DELTAWIRE_T_TEXT`.
#define DELTAWIRE_F_ERROR 9

// Of an error: what happened, in words.
#define DELTAWIRE_ERROR_MESSAGE 0

// Of an error: `code`, a string or a number.
#define DELTAWIRE_ERROR_CODE 1

// Of an error: `type`.
#define DELTAWIRE_ERROR_TYPE 2

// Of an error: `param`.
#define DELTAWIRE_ERROR_PARAM 3

// Of an error: `metadata`, any JSON.
#define DELTAWIRE_ERROR_METADATA 4

// No event.
#define DELTAWIRE_EV_NONE 0

// Mode SSE: an event. Text: its data. Aux: its type. Extra: the last event ID. Bytes.
#define DELTAWIRE_EV_SSE 1

// A comment, without its colon and at most one space. Text: bytes.
#define DELTAWIRE_EV_COMMENT 2

// A payload that only keeps the connection alive. Text: bytes.
#define DELTAWIRE_EV_KEEP_ALIVE 3

// A reconnection time. `number`: milliseconds.
#define DELTAWIRE_EV_RETRY 4

// A last event ID that came without an event. Text: bytes.
#define DELTAWIRE_EV_LAST_EVENT_ID 5

// A chunk, before what it brings. Text: its `id`. Aux: its `model`. Extra: the `event` field (bytes). `number`: its
// `created` (`DELTAWIRE_EVF_NUMBER`: it has one). `code`: how many choices it has.
#define DELTAWIRE_EV_CHUNK 6

// The role, once a choice. Text.
#define DELTAWIRE_EV_ROLE 7

// Content. Text. A body that did not stream has none of this and of the next ones: it comes as `DELTAWIRE_EV_MESSAGE`.
#define DELTAWIRE_EV_CONTENT 8

// Reasoning. Text.
#define DELTAWIRE_EV_REASONING 9

// A refusal. Text.
#define DELTAWIRE_EV_REFUSAL 10

// A tool call opens (`DELTAWIRE_EVF_OPENS`), or its ID or type came late. Text: its ID. Aux: its type. `number`: its
// index, as sent or as understood.
#define DELTAWIRE_EV_TOOL_CALL 11

// The name of a tool call, whole (`DELTAWIRE_EVF_REPLACES`), or what is to be put behind the name so far. Text.
#define DELTAWIRE_EV_TOOL_NAME 12

// A fragment of a tool call's arguments; of a custom tool, its input. Text.
#define DELTAWIRE_EV_TOOL_ARGUMENTS 13

// The name of a `function_call`'s function; as `DELTAWIRE_EV_TOOL_NAME`.
#define DELTAWIRE_EV_FUNCTION_NAME 14

// A fragment of a `function_call`'s arguments. Text.
#define DELTAWIRE_EV_FUNCTION_ARGUMENTS 15

// A fragment of audio. Text: JSON, an object with some of `id`, `data`, `transcript`, `expires_at`.
#define DELTAWIRE_EV_AUDIO 16

// Log probabilities of more tokens. Text: JSON.
#define DELTAWIRE_EV_LOGPROBS 17

// The whole message so far; it replaces, and comes only while no delta of its choice brought anything: of a body that did
// not stream, and of dialects without deltas. Text: JSON, an object with `role`, `content`, `tool_calls`, …; the
// assembler reads it too.
#define DELTAWIRE_EV_MESSAGE 18

// A choice finished. Text: the finish reason. `code`: `DELTAWIRE_FINISH_*`. It may come twice; the last one counts.
#define DELTAWIRE_EV_FINISH 19

// A choice failed. Text: JSON.
#define DELTAWIRE_EV_CHOICE_ERROR 20

// Usage so far; the last one counts. Text: JSON. The counts: `deltawire_chunk_usage(at->chunk, …)` in a callback,
// `deltawire_last_usage` outside.
#define DELTAWIRE_EV_USAGE 21

// The API reported an error. Text: JSON, or (`DELTAWIRE_EVF_PLAIN`) plain text, any bytes.
#define DELTAWIRE_EV_ERROR 22

// A payload that is no JSON object, or what followed one; the stream goes on. Text: bytes. Extra: the `event` field.
// `code`: `DELTAWIRE_FAULT_*`. `number`: at which byte of the payload the fault is.
#define DELTAWIRE_EV_MALFORMED 23

// An event over the limit: its rest is discarded, the stream goes on. `start` is where it began.
#define DELTAWIRE_EV_TOO_LONG 24

// A comment over the limit is discarded; the event round it goes on.
#define DELTAWIRE_EV_COMMENT_TOO_LONG 25

// Something that the chunk brought was left out. `code`: `DELTAWIRE_LIMIT_*`. At most once an event, behind its other things.
#define DELTAWIRE_EV_LIMIT 26

// A quirk of the event, behind all other things of it. `code`: its number.
#define DELTAWIRE_EV_QUIRK 27

// `[DONE]`: the response is complete. Something may still come.
#define DELTAWIRE_EV_DONE 28

// The payload of a chunk, before `DELTAWIRE_EV_CHUNK`. Text: JSON, or (`DELTAWIRE_EVF_PLAIN`) what an error event says in
// plain text. `code`: 1 if the whole of it is an error, as the name of its event says. For `deltawire_chunk_open`. Batch
// only: a callback has `at->chunk`.
#define DELTAWIRE_EV_PAYLOAD 29

// A member that describes the response, where it is asked for. Text. `code`: `DELTAWIRE_META_*`. Once a stream, but of a
// choice (`DELTAWIRE_META_NATIVE_FINISH_REASON`) as often as it comes.
#define DELTAWIRE_EV_META 30

// Annotations of the content (citations and the like), where they are asked for. Text: JSON, an array.
#define DELTAWIRE_EV_ANNOTATION 31

// A frame is over: `start` to `end` are its bytes on the wire. Each byte of the stream lies in exactly one frame, in
// order; a comment inside an event belongs to the event's frame, one between events is a frame of its own. `code`: how many choices its chunk has (0: usage only,
// a comment, `[DONE]`, …). `number`: what was in it, `DELTAWIRE_MASK(kind)` or-ed, asked for or not
// (but `DELTAWIRE_EV_FRAME`, `DELTAWIRE_EV_PAYLOAD` and `DELTAWIRE_EV_META`).
#define DELTAWIRE_EV_FRAME 48

// Kinds are below this in this version. Not every number below it is a kind.
#define DELTAWIRE_EV_COUNT 49

// The kinds that an assembler needs, for `deltawire_config.events`: `DELTAWIRE_MASK(kind)`, or-ed.
#define DELTAWIRE_MESSAGE_EVENTS 3296722880

// Of `DELTAWIRE_EV_META`: `object`.
#define DELTAWIRE_META_OBJECT 1

// Of `DELTAWIRE_EV_META`: `system_fingerprint`.
#define DELTAWIRE_META_SYSTEM_FINGERPRINT 2

// Of `DELTAWIRE_EV_META`: `service_tier`.
#define DELTAWIRE_META_SERVICE_TIER 3

// Of `DELTAWIRE_EV_META`: `provider`.
#define DELTAWIRE_META_PROVIDER 4

// Of `DELTAWIRE_EV_META`: `native_finish_reason` of a choice, the reason that the model's own provider gave.
#define DELTAWIRE_META_NATIVE_FINISH_REASON 5

// The text lies in the scratch, not in the input.
#define DELTAWIRE_EVF_TEXT_SCRATCH 1

// The same of the second text.
#define DELTAWIRE_EVF_AUX_SCRATCH 2

// The same of the third text.
#define DELTAWIRE_EVF_EXTRA_SCRATCH 4

// Another piece of this text follows, in an event that is otherwise the same. A piece of text is not cut inside a code
// point; a piece of JSON or of bytes may be. Of a batch only content, reasoning, refusals, arguments, JSON and bytes come
// in pieces.
#define DELTAWIRE_EVF_MORE 8

// The tool call opens.
#define DELTAWIRE_EVF_OPENS 16

// It opens under an index that an earlier call has.
#define DELTAWIRE_EVF_REUSES 32

// It is a call of a custom tool.
#define DELTAWIRE_EVF_CUSTOM 64

// The name replaces what came before. Of a name in pieces (callbacks only) the first has it: the others are put behind.
#define DELTAWIRE_EVF_REPLACES 128

// The error, or the payload of an error event, is plain text, no JSON.
#define DELTAWIRE_EVF_PLAIN 256

// `number` says something, be it 0.
#define DELTAWIRE_EVF_NUMBER 512

// Finish reason: any other; the text tells.
#define DELTAWIRE_FINISH_OTHER 1

// Finish reason `stop`.
#define DELTAWIRE_FINISH_STOP 2

// Finish reason `length`.
#define DELTAWIRE_FINISH_LENGTH 3

// Finish reason `tool_calls`.
#define DELTAWIRE_FINISH_TOOL_CALLS 4

// Finish reason `content_filter`.
#define DELTAWIRE_FINISH_CONTENT_FILTER 5

// Finish reason `function_call`.
#define DELTAWIRE_FINISH_FUNCTION_CALL 6

// Finish reason `error`.
#define DELTAWIRE_FINISH_ERROR 7

// More choices than `DELTAWIRE_MAX_CHOICES`.
#define DELTAWIRE_LIMIT_CHOICES 1

// More tool calls than `DELTAWIRE_MAX_TOOL_CALLS`.
#define DELTAWIRE_LIMIT_TOOL_CALLS 2

// An index that is no whole number of 32 bits.
#define DELTAWIRE_LIMIT_INDEX 3

// Of an assembler: the message would be longer than 4 GiB.
#define DELTAWIRE_LIMIT_LENGTH 4

// Fault: the bytes end inside a value.
#define DELTAWIRE_FAULT_UNEXPECTED_END 1

// Fault: a byte that cannot stand there.
#define DELTAWIRE_FAULT_UNEXPECTED_BYTE 2

// Fault: something other than whitespace after the value.
#define DELTAWIRE_FAULT_TRAILING_BYTES 3

// Fault: nested deeper than allowed.
#define DELTAWIRE_FAULT_TOO_DEEP 4

// Fault: no number.
#define DELTAWIRE_FAULT_BAD_NUMBER 5

// Fault: neither `true` nor `false` nor `null`.
#define DELTAWIRE_FAULT_BAD_LITERAL 6

// Fault: an unknown escape.
#define DELTAWIRE_FAULT_BAD_ESCAPE 7

// Fault: a raw control character in a string.
#define DELTAWIRE_FAULT_RAW_CONTROL 8

// Fault: ill-formed UTF-8.
#define DELTAWIRE_FAULT_ILL_FORMED_UTF8 9

// Nothing came, or blanks only, or nothing but `[DONE]`.
#define DELTAWIRE_VERDICT_EMPTY 1

// What came is no event stream, and no JSON either; `media` is what it is instead.
#define DELTAWIRE_VERDICT_NOT_A_STREAM 2

// The API reported an error.
#define DELTAWIRE_VERDICT_API_ERROR 3

// `[DONE]` came, and a chunk.
#define DELTAWIRE_VERDICT_DONE 4

// No `[DONE]`, but every choice that was seen has a finish reason.
#define DELTAWIRE_VERDICT_FINISHED 5

// A whole JSON body came instead of a stream, without a finish reason.
#define DELTAWIRE_VERDICT_BODY 6

// Another whole JSON value: a list of models, an embedding.
#define DELTAWIRE_VERDICT_JSON_ANSWER 7

// A stream of another protocol, which `protocol` names. In mode SSE every stream with an event is that, if it ends between
// events and nothing was too long.
#define DELTAWIRE_VERDICT_OTHER_PROTOCOL 8

// The stream ended between events, but something was too long, malformed or left out.
#define DELTAWIRE_VERDICT_LOST 9

// The stream was cut.
#define DELTAWIRE_VERDICT_TRUNCATED 10

// Nothing was left over: the stream ended between events.
#define DELTAWIRE_PENDING_NOTHING 0

// An event that was cut, or that has no blank line and is not whole JSON.
#define DELTAWIRE_PENDING_EVENT 1

// A JSON value that was cut.
#define DELTAWIRE_PENDING_JSON 2

// A line that was cut, outside of an event: `dat`, `data: `, `: pin`.
#define DELTAWIRE_PENDING_LINE 3

// Not known, or the verdict is another than NOT_A_STREAM.
#define DELTAWIRE_MEDIA_NONE 0

// Bytes that begin as gzip does: the body is to be decompressed first.
#define DELTAWIRE_MEDIA_GZIP 1

// Bytes that begin as Zstandard does: the body is to be decompressed first.
#define DELTAWIRE_MEDIA_ZSTD 2

// Other bytes that are no text.
#define DELTAWIRE_MEDIA_BINARY 3

// A page, by its first byte, which is `<`.
#define DELTAWIRE_MEDIA_HTML 4

// Other text.
#define DELTAWIRE_MEDIA_TEXT 5

// No event of another protocol came, or payloads are not looked into.
#define DELTAWIRE_PROTOCOL_NONE 0

// One that is not known.
#define DELTAWIRE_PROTOCOL_OTHER 1

// OpenAI Responses.
#define DELTAWIRE_PROTOCOL_RESPONSES 2

// Anthropic Messages.
#define DELTAWIRE_PROTOCOL_ANTHROPIC 3

// Gemini `generateContent`.
#define DELTAWIRE_PROTOCOL_GEMINI 4

// Gemini Interactions.
#define DELTAWIRE_PROTOCOL_INTERACTIONS 5

// Ollama's own.
#define DELTAWIRE_PROTOCOL_OLLAMA 6

// Cohere's own.
#define DELTAWIRE_PROTOCOL_COHERE 7

// Field of a message: `id`.
#define DELTAWIRE_M_ID 0

// Field of a message: `object`, as sent.
#define DELTAWIRE_M_OBJECT 1

// Field of a message: `model`.
#define DELTAWIRE_M_MODEL 2

// Field of a message: `system_fingerprint`.
#define DELTAWIRE_M_SYSTEM_FINGERPRINT 3

// Field of a message: `service_tier`.
#define DELTAWIRE_M_SERVICE_TIER 4

// Field of a message: `provider`.
#define DELTAWIRE_M_PROVIDER 5

// Field of a message: `usage`, JSON; the last one.
#define DELTAWIRE_M_USAGE 6

// Field of a message: the first error, JSON or plain text.
#define DELTAWIRE_M_ERROR 7

// Field of a message: what happened, in words.
#define DELTAWIRE_M_ERROR_MESSAGE 8

// Field of a message: the code of that error.
#define DELTAWIRE_M_ERROR_CODE 9

// Field of a message: the type of that error.
#define DELTAWIRE_M_ERROR_TYPE 10

// Field of a choice: the role.
#define DELTAWIRE_M_ROLE 11

// Field of a choice: its content.
#define DELTAWIRE_M_CONTENT 12

// Field of a choice: its refusal.
#define DELTAWIRE_M_REFUSAL 13

// Field of a choice: its reasoning.
#define DELTAWIRE_M_REASONING 14

// Field of a choice: why it finished; the last reason.
#define DELTAWIRE_M_FINISH 15

// Field of a choice: what the model's own provider said of that.
#define DELTAWIRE_M_NATIVE_FINISH 16

// Field of a choice: the first error of it alone, JSON.
#define DELTAWIRE_M_CHOICE_ERROR 17

// Field of a choice: what happened, in words.
#define DELTAWIRE_M_CHOICE_ERROR_MESSAGE 18

// Field of a choice: the code of that error.
#define DELTAWIRE_M_CHOICE_ERROR_CODE 19

// Field of a choice: the type of that error.
#define DELTAWIRE_M_CHOICE_ERROR_TYPE 20

// Field of a choice: the name of a `function_call`.
#define DELTAWIRE_M_FUNCTION_NAME 21

// Field of a choice: the arguments of a `function_call`.
#define DELTAWIRE_M_FUNCTION_ARGUMENTS 22

// Field of a choice: the ID of its audio.
#define DELTAWIRE_M_AUDIO_ID 23

// Field of a choice: its audio, in base64.
#define DELTAWIRE_M_AUDIO_DATA 24

// Field of a choice: what is said in its audio.
#define DELTAWIRE_M_AUDIO_TRANSCRIPT 25

// Field of a call: its ID.
#define DELTAWIRE_M_CALL_ID 26

// Field of a call: its type.
#define DELTAWIRE_M_CALL_TYPE 27

// Field of a call: its name.
#define DELTAWIRE_M_CALL_NAME 28

// Field of a call: its arguments, or the input of a custom tool.
#define DELTAWIRE_M_CALL_ARGUMENTS 29

// Flag of `deltawire_message_json`: with what only gateways add (`provider`, `native_finish_reason`).
#define DELTAWIRE_JSON_EXTENDED 1

// A chunk: one event's payload, with an index of where its members lie.
typedef struct deltawire_chunk deltawire_chunk;

// An assembler. It is its block: `(deltawire_message *)mem`.
typedef struct deltawire_message deltawire_message;

// A parser. It is its block: `(deltawire_parser *)mem`.
typedef struct deltawire_parser deltawire_parser;

// What a call came to. 0: done. Above 0: stopped, call again. -1 to -99: misuse, nothing was changed, and it does not
// stick. -100 and below: sticks until `deltawire_reset`.
typedef int32_t deltawire_status;

// An event of a batch: 64 bytes for ever, no pointers. Offsets count from the start of `data` (in direct reading: of
// the block), or of the scratch where a flag says so. They are valid until the next call on the parser, as long as
// input and scratch are unchanged. A text that is not there has length 0.
typedef struct {
    // `DELTAWIRE_EV_*`. Ignore kinds that you do not know.
    uint16_t kind;
    // `DELTAWIRE_EVF_*`. Ignore flags that you do not know.
    uint16_t flags;
    // The index of the choice; 0 where there is none.
    uint32_t choice;
    // The number of the tool call among those of its choice, in order of appearance.
    uint32_t call;
    // See `DELTAWIRE_EV_*`.
    uint32_t code;
    // See `DELTAWIRE_EV_*`.
    uint64_t number;
    // Offset of the text.
    uint32_t text_off;
    // Bytes of the text.
    uint32_t text_len;
    // Offset of the second text.
    uint32_t aux_off;
    // Bytes of the second text.
    uint32_t aux_len;
    // Offset of the third text.
    uint32_t extra_off;
    // Bytes of the third text.
    uint32_t extra_len;
    // Where it lay in the stream: offset of its first byte.
    uint64_t start;
    // One past its last byte.
    uint64_t end;
} deltawire_event;

// What a batch came to. Written on every path but `DELTAWIRE_E_NULL` of `out` itself.
typedef struct {
    // Bytes of `data` that are spent. In direct reading 0: the parser itself keeps count.
    uint64_t consumed;
    // Events written.
    uint32_t events;
    // Bytes of the scratch written.
    uint32_t scratch_used;
    // Not 0: the next event has texts that are never split, and needs a scratch of so many bytes.
    uint32_t scratch_need;
    // Always 0.
    uint32_t reserved;
} deltawire_batch_result;

// Room for `deltawire_chunk_open`. The chunk points into it: it must not be moved while the chunk is used.
typedef struct {
    // Of no concern.
    uint64_t opaque[96];
} deltawire_chunk_storage;

// A JSON value: its bytes, not read yet. It lives as long as they do. Make one with `deltawire_value_open`, or take
// what a function gives; do not fill it by hand.
typedef struct {
    // Its bytes as they came: a string with its quotes.
    const char *ptr;
    // How many.
    size_t len;
    // `DELTAWIRE_T_*`, by its first byte.
    uint32_t type;
    // Always 0.
    uint32_t reserved;
} deltawire_value;

// Bytes: not ended by NUL. `{NULL, 0}` is none.
typedef struct {
    // The first byte.
    const char *ptr;
    // How many.
    size_t len;
} deltawire_str;

// Token counts. `size` is set by the caller; no more than that is written, and a tail that the library does not know
// is zeroed.
typedef struct {
    // `sizeof(deltawire_usage)`; `DELTAWIRE_USAGE_INIT` sets it.
    uint32_t size;
    // Which counts are there: a bit each, in the order of the members; `prompt` is bit 0.
    uint32_t has;
    // `prompt_tokens`.
    uint64_t prompt;
    // `completion_tokens`.
    uint64_t completion;
    // `total_tokens`.
    uint64_t total;
    // `completion_tokens_details.reasoning_tokens`.
    uint64_t reasoning;
    // `prompt_tokens_details.cached_tokens`.
    uint64_t cached;
    // `prompt_tokens_details.audio_tokens`.
    uint64_t prompt_audio;
    // `completion_tokens_details.audio_tokens`.
    uint64_t completion_audio;
    // `completion_tokens_details.accepted_prediction_tokens`.
    uint64_t accepted_prediction;
    // `completion_tokens_details.rejected_prediction_tokens`.
    uint64_t rejected_prediction;
} deltawire_usage;

// Where and what a callback's thing is. The library fills it; it may grow at its end. Valid until the callback returns.
typedef struct {
    // `sizeof(deltawire_at)` of the library.
    uint32_t size;
    // `DELTAWIRE_EV_*`.
    uint32_t kind;
    // `DELTAWIRE_EVF_*`.
    uint32_t flags;
    // The index of the choice; 0 where there is none.
    uint32_t choice;
    // The number of the tool call among those of its choice, in order of appearance.
    uint32_t call;
    // As in `deltawire_event`.
    uint32_t code;
    // As in `deltawire_event`.
    uint64_t number;
    // Where it lay in the stream: offset of its first byte.
    uint64_t start;
    // One past its last byte.
    uint64_t end;
    // The chunk that it came in; NULL if it came in none.
    const deltawire_chunk *chunk;
    // The `event` field of the event that it came in, any bytes but CR and LF; none if there was none.
    deltawire_str event_name;
} deltawire_at;

// An event of any event stream: its type (`message` if it has no name), its data lines joined by LF, and the last event
// ID. Any bytes; valid until the callback returns.
typedef int32_t (*deltawire_sse_fn)(void *user,
                                    const deltawire_at *at,
                                    deltawire_str type,
                                    deltawire_str data,
                                    deltawire_str id);

// A text, valid UTF-8 and not empty, or (comments, keep-alives, IDs, malformed payloads) any bytes, perhaps none.
// Valid until the callback returns, not ended by NUL.
typedef int32_t (*deltawire_text_fn)(void *user, const deltawire_at *at, const char *text, size_t len);

// A thing without text.
typedef int32_t (*deltawire_at_fn)(void *user, const deltawire_at *at);

// A tool call opens, or its ID or type came late: what is known now for the first time, else `DELTAWIRE_T_NONE`. Both
// are strings; valid until the callback returns.
typedef int32_t (*deltawire_call_fn)(void *user,
                                     const deltawire_at *at,
                                     const deltawire_value *id,
                                     const deltawire_value *type);

// A JSON value; an error may be `DELTAWIRE_T_TEXT`. It and its bytes are valid until the callback returns.
typedef int32_t (*deltawire_value_fn)(void *user, const deltawire_at *at, const deltawire_value *value);

// What `deltawire_feed` calls. NULL in a member: not interested. Each returns `DELTAWIRE_GO_ON`, `DELTAWIRE_PAUSE`, or any number
// below 0 to break off at once (`DELTAWIRE_E_ABORTED`); or `DELTAWIRE_AGAIN`. They must return: no exception, no longjmp. For what each brings see `DELTAWIRE_EV_*` of the same name.
typedef struct {
    // `sizeof(deltawire_callbacks)`; `DELTAWIRE_CALLBACKS_INIT` sets it.
    size_t size;
    // Mode SSE: an event.
    deltawire_sse_fn on_sse;
    // A comment: bytes.
    deltawire_text_fn on_comment;
    // A payload that only keeps the connection alive: bytes.
    deltawire_text_fn on_keep_alive;
    // A reconnection time: `at->number`, in milliseconds.
    deltawire_at_fn on_retry;
    // A last event ID that came without an event: bytes.
    deltawire_text_fn on_last_event_id;
    // A chunk (`at->chunk`); what it brings follows.
    deltawire_at_fn on_chunk;
    // The role, once a choice.
    deltawire_text_fn on_role;
    // Content.
    deltawire_text_fn on_content;
    // Reasoning, by whichever name it came.
    deltawire_text_fn on_reasoning;
    // A refusal.
    deltawire_text_fn on_refusal;
    // A tool call opens, or more is known of it.
    deltawire_call_fn on_tool_call;
    // The name of a tool call, or a piece of it.
    deltawire_text_fn on_tool_name;
    // A fragment of a tool call's arguments.
    deltawire_text_fn on_tool_arguments;
    // The name of a `function_call`, or a piece of it.
    deltawire_text_fn on_function_name;
    // A fragment of a `function_call`'s arguments.
    deltawire_text_fn on_function_arguments;
    // Audio.
    deltawire_value_fn on_audio;
    // Log probabilities.
    deltawire_value_fn on_logprobs;
    // The whole message so far.
    deltawire_value_fn on_message;
    // A choice finished.
    deltawire_text_fn on_finish;
    // A choice failed.
    deltawire_value_fn on_choice_error;
    // Usage so far; the last one counts.
    deltawire_value_fn on_usage;
    // The API reported an error.
    deltawire_value_fn on_error;
    // A payload that is no JSON, or what followed one that is: bytes.
    deltawire_text_fn on_malformed;
    // An event over the limit was given up.
    deltawire_at_fn on_too_long;
    // A comment over the limit was given up.
    deltawire_at_fn on_comment_too_long;
    // More choices or tool calls than are told apart, or an index that is none: what it brought was left out.
    deltawire_at_fn on_limit;
    // A quirk of the event.
    deltawire_at_fn on_quirk;
    // `[DONE]`.
    deltawire_at_fn on_done;
    // A frame is over.
    deltawire_at_fn on_frame;
    // A member that describes the response: `at->code`, `DELTAWIRE_META_*`.
    deltawire_text_fn on_meta;
    // Annotations of the content.
    deltawire_value_fn on_annotations;
} deltawire_callbacks;

// How a parser is to behave. Zero in a member is its default. Copied by `deltawire_init`.
typedef struct {
    // `sizeof(deltawire_config)`; `DELTAWIRE_CONFIG_INIT` sets it.
    uint32_t size;
    // `DELTAWIRE_MODE_*`.
    uint32_t mode;
    // `DELTAWIRE_CFG_*`, or-ed.
    uint32_t flags;
    // How deep JSON may nest; 0 is 128, at most 1024. A deeper payload is malformed.
    uint32_t max_depth;
    // What a batch is to bring: `DELTAWIRE_MASK(kind)`, or-ed. 0 is everything but `DELTAWIRE_EV_FRAME`,
    // `DELTAWIRE_EV_PAYLOAD`, `DELTAWIRE_EV_META` and `DELTAWIRE_EV_ANNOTATION`. Kinds that are not asked for are not unescaped. Callbacks are chosen by not being NULL.
    uint64_t events;
    // Quirks that are errors: bit `quirk % 64` of element `quirk / 64`. Bits of unknown quirks are ignored.
    uint64_t errors[2];
    // The longest event, in bytes: its data, the line feeds that join it, its name. 0 is 1 MiB; at most 2^31 - 1.
    // Without `DELTAWIRE_CFG_GROW` what the block can hold bounds it too, whether the event was cut or not.
    uint64_t max_event_len;
    // The longest last event ID, in bytes; 0 is 1 KiB. A longer one is ignored.
    uint32_t max_id_len;
    // Bytes at the end of the block that are set apart for direct reading (`deltawire_reserve`); 0 is none.
    uint32_t read_len;
} deltawire_config;

// How a stream ended, or would if it ended now. `size` is set by the caller; no more than that is written, and a tail
// that the library does not know is zeroed.
typedef struct {
    // `sizeof(deltawire_end)`; `DELTAWIRE_END_INIT` sets it.
    uint32_t size;
    // `DELTAWIRE_VERDICT_*`: the first that holds, in the order of their numbers.
    uint32_t verdict;
    // `DELTAWIRE_PENDING_*`.
    uint32_t pending;
    // How many choices were seen.
    uint32_t choices_seen;
    // How many of them have a finish reason.
    uint32_t choices_finished;
    // How many payloads could not be read.
    uint32_t malformed;
    // How many events and comments were over a limit.
    uint32_t too_long;
    // 1: `[DONE]` came.
    uint8_t done;
    // 1: the API reported an error.
    uint8_t api_error;
    // 1: a JSON body with a message came instead of a stream.
    uint8_t body;
    // 1: `deltawire_finish` (or `deltawire_batch_finish`) has come to its end.
    uint8_t finished;
    // How many bytes were read.
    uint64_t offset;
    // How many events had more than there is room for (`DELTAWIRE_EV_LIMIT`), and were told in part.
    uint32_t left_out;
    // 1: the response is whole, or would be if it ended now: `[DONE]` came, or every choice has a finish reason, or it is
    // a whole body; nothing was malformed, too long or left out; and `[DONE]` came or nothing is pending, which is known
    // when it is `finished`. In mode SSE: the stream ended between events, and nothing was too long.
    uint32_t complete;
    // `DELTAWIRE_MEDIA_*`: what came instead of a stream, if the verdict is NOT_A_STREAM.
    uint32_t media;
    // `DELTAWIRE_PROTOCOL_*`: of events that are no chunks. The first of them that has members decides.
    uint32_t protocol;
} deltawire_end;

// A number: (negative ? -1 : 1) * digits * 10^exp10.
typedef struct {
    // The first 19 significant digits.
    uint64_t digits;
    // The power of ten.
    int32_t exp10;
    // 1 if it is below 0, or -0.
    uint8_t negative;
    // 1 if that is all of the number; 0 if digits that are not zero were cut off, or the exponent does not fit.
    uint8_t exact;
    // Always 0.
    uint8_t reserved[2];
} deltawire_decimal;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Reads `len` bytes (of more than 2^31 - 1 only so many) and writes what is in them to `events`, `cap` at most.
// Texts lie in `data` where they can, else they are copied, decoded, to `scratch`.
//
// MORE: array or scratch are full. Take the events out and call again with the bytes from `out->consumed` on, perhaps
// with more behind them. Content, reasoning, refusals, arguments, JSON and bytes come in pieces if the scratch is short; all else
// (IDs, names, types, roles, finish reasons) does not: then `out->scratch_need` says how much scratch they take.
//
// Answers OK, MORE, NEED_STORAGE, E_NULL, E_ALIGN, E_STATE (also after `deltawire_finish`, and while a callback wants
// an event again), E_REENTRANT, E_SMALL (`cap` 0, or `scratch_len` below `DELTAWIRE_SCRATCH_MIN`), E_RANGE (a length is
// beyond any memory), E_RESUME, E_STRICT (with events: those before it), E_ABORTED and E_CALLBACK (of an earlier feed).
deltawire_status deltawire_batch(deltawire_parser *p,
                                 const void *data,
                                 size_t len,
                                 deltawire_event *events,
                                 size_t cap,
                                 void *scratch,
                                 size_t scratch_len,
                                 deltawire_batch_result *out);

// Says that the stream ended, as `deltawire_finish` does, and writes what that brings to light to `events`. Call again
// while the answer is above 0. All texts lie in the scratch. Answers as `deltawire_batch`.
deltawire_status deltawire_batch_finish(deltawire_parser *p,
                                        deltawire_event *events,
                                        size_t cap,
                                        void *scratch,
                                        size_t scratch_len,
                                        deltawire_batch_result *out);

// Looks into any payload, in one pass; no parser is needed. `*out` points into `mem` and to `json`, which both must stay
// where they are while it is used. Answers OK, ABSENT (no JSON object), E_NULL, E_ALIGN, E_RANGE (`len`).
deltawire_status deltawire_chunk_open(const void *json,
                                      size_t len,
                                      deltawire_chunk_storage *mem,
                                      const deltawire_chunk **out);

// A member that is known (`DELTAWIRE_F_*`), as the library reads it: `null`, `""` and empty objects are absent.
// Answers OK, ABSENT, E_NULL, E_RANGE (`field`).
deltawire_status deltawire_chunk_field(const deltawire_chunk *c, uint32_t field, deltawire_value *out);

// Any member of the top level, by name (UTF-8, decoded); the last of that name. Answers OK, ABSENT, E_NULL, E_RANGE (`len`).
deltawire_status deltawire_chunk_member(const deltawire_chunk *c,
                                        const char *name,
                                        size_t len,
                                        deltawire_value *out);

// The payload: the data lines of the event, joined by LF. Answers OK, E_NULL.
deltawire_status deltawire_chunk_payload(const deltawire_chunk *c, deltawire_str *out);

// Its token counts. Answers OK, ABSENT, E_NULL, E_CONFIG (`size`).
deltawire_status deltawire_chunk_usage(const deltawire_chunk *c, deltawire_usage *out);

// Direct reading: where in the block the next bytes are to be written, as an offset from its first byte, and how many
// fit (`read_len` of the config). Answers OK, E_NULL, E_ALIGN, E_REENTRANT, E_STATE (no `read_len`; or committed bytes
// are not spent, or something is pending), E_ABORTED, E_CALLBACK, E_STRICT (of an earlier call).
deltawire_status deltawire_reserve(deltawire_parser *p, size_t *off, size_t *len);

// Direct reading: `n` bytes were written where `deltawire_reserve` said. Now call `deltawire_feed` or `deltawire_batch`
// with NULL and 0 until the answer is OK. Answers OK, E_NULL, E_ALIGN, E_REENTRANT, E_STATE (nothing is reserved, or
// other bytes were given since),
// E_RANGE (`n` is more than was reserved), E_ABORTED, E_CALLBACK, E_STRICT (of an earlier call).
deltawire_status deltawire_commit(deltawire_parser *p, size_t n);

// Reads `len` bytes and calls `cbs` for what is in them. `cbs` and `user` are used for this call only; `cbs` may
// be NULL: nothing is called. NULL with 0 is no bytes: nothing happens, unless something is pending. `*consumed`, unless `consumed` is NULL, is written on every path.
//
// Answers OK, PAUSED, NEED_STORAGE, E_NULL, E_ALIGN, E_STATE (also after `deltawire_finish`, and while a batch has an
// event pending), E_REENTRANT, E_CONFIG (the size or tail of `cbs`), E_RANGE (`len` is beyond any memory), E_RESUME,
// E_ABORTED, E_CALLBACK, E_STRICT.
deltawire_status deltawire_feed(deltawire_parser *p,
                                const void *data,
                                size_t len,
                                const deltawire_callbacks *cbs,
                                void *user,
                                size_t *consumed);

// Says that the stream ended. May call `cbs` (a last event without its blank line, half a character) and so may stop:
// call again until the answer is not above 0. Then `deltawire_end_of` has the verdict. Bytes that were never given count as
// cut off. Once it has answered OK it answers OK again. Answers as `deltawire_feed`.
deltawire_status deltawire_finish(deltawire_parser *p,
                                  const deltawire_callbacks *cbs,
                                  void *user);

// Bytes of an assembler's block with a log of `log_bytes`: texts take about their own length. 0: too much.
size_t deltawire_message_size(size_t log_bytes);

// Makes an assembler of the block `mem`. As `deltawire_init`. Answers OK, E_NULL, E_ALIGN, E_SMALL,
// E_RANGE (`mem_len`).
deltawire_status deltawire_message_init(void *mem, size_t mem_len, deltawire_message **out);

// A new message. Answers OK, E_NULL, E_ALIGN, E_STATE.
deltawire_status deltawire_message_reset(deltawire_message *m);

// Moves the assembler to another block. As `deltawire_move`. Answers OK, E_NULL, E_ALIGN, E_STATE,
// E_SMALL, E_RANGE (`mem_len`).
deltawire_status deltawire_message_move(void *mem,
                                        size_t mem_len,
                                        const deltawire_message *src,
                                        deltawire_message **out);

// Bytes of the block that it wants: after NEED_STORAGE the next size that makes sense, else the least that holds what
// is kept. 0: not an assembler.
size_t deltawire_message_need(const deltawire_message *m);

// Callbacks that put a message together: `deltawire_feed(p, data, len, deltawire_message_callbacks(), m, &consumed)`.
// When the block is full they answer `DELTAWIRE_AGAIN`: the feed is PAUSED, `deltawire_message_is_full` says 1; move the
// message to a block of `deltawire_message_need` bytes and feed on. The table is static: callbacks of your own may call
// those of it, with the assembler for `user`, and return what they do.
const deltawire_callbacks *deltawire_message_callbacks(void);

// 1: what was to be added last did not fit. 0: it did, or this is no assembler.
uint32_t deltawire_message_is_full(const deltawire_message *m);

// Takes in the `n` events of a batch whose kinds are in `DELTAWIRE_MESSAGE_EVENTS`, which the event mask must ask for;
// others say nothing to it. `data` and `scratch` are those of the batch. `*taken`, unless NULL, is written on every path:
// how many events were taken in; after NEED_STORAGE move, and give the others again. What is over a limit is left out
// (`deltawire_message_limit`). Answers OK, NEED_STORAGE, E_NULL, E_ALIGN, E_STATE, E_RANGE (`n`).
deltawire_status deltawire_message_add(deltawire_message *m,
                                       const deltawire_event *events,
                                       size_t n,
                                       const void *data,
                                       const void *scratch,
                                       size_t *taken);

// How many choices it has; 0 if this is no assembler.
uint32_t deltawire_message_choices(const deltawire_message *m);

// The index of its `n`th choice; they are in order. Answers OK, ABSENT, E_NULL, E_ALIGN, E_STATE.
deltawire_status deltawire_message_choice_index(const deltawire_message *m, uint32_t n, uint32_t *out);

// How many tool calls the choice with this index has.
uint32_t deltawire_message_calls(const deltawire_message *m, uint32_t choice);

// What was left out, if anything was: `DELTAWIRE_LIMIT_*` of the first; else 0.
uint32_t deltawire_message_limit(const deltawire_message *m);

// A text of the message (`DELTAWIRE_M_*`) into `buf`: of the choice with index `choice`, of its `call`th call in the
// order of the finished message; 0 where they do not matter. `*need`, unless NULL, is its length. Not ended by NUL; the
// fields that are JSON are as they came. Each call reads the log once. Answers OK, ABSENT, E_NULL, E_ALIGN, E_STATE, E_RANGE (`field`), E_SMALL (nothing was written).
deltawire_status deltawire_message_text(const deltawire_message *m,
                                        uint32_t field,
                                        uint32_t choice,
                                        uint32_t call,
                                        char *buf,
                                        size_t cap,
                                        size_t *need);

// The whole message as JSON, a `chat.completion` as the API sends it when it does not stream. `flags`:
// `DELTAWIRE_JSON_*`. As `deltawire_message_text`. Answers OK, E_NULL, E_ALIGN, E_STATE, E_RANGE (`flags`), E_SMALL.
deltawire_status deltawire_message_json(const deltawire_message *m,
                                        uint32_t flags,
                                        char *buf,
                                        size_t cap,
                                        size_t *need);

// The name of a status: `OK`, `E_NULL`, …
const char *deltawire_status_name(deltawire_status status);

// A status in words; "?" if the number is not known. Static, ended by NUL.
const char *deltawire_status_text(deltawire_status status);

// The name of a kind of event: `CONTENT`; "?" if the number is not known. Static, ended by NUL.
const char *deltawire_event_name(uint32_t kind);

// The name of a verdict: `Done`; "?" if the number is not known. Static, ended by NUL.
const char *deltawire_verdict_name(uint32_t verdict);

// The name of what came instead of a stream: `Gzip`; "?" if the number is not known, as NONE. Static, ended by NUL.
const char *deltawire_media_name(uint32_t media);

// The name of a protocol: `Anthropic`; "?" if the number is not known, as NONE. Static, ended by NUL.
const char *deltawire_protocol_name(uint32_t protocol);

// The name of what was left over: `Event`; "?" if the number is not known. Static, ended by NUL.
const char *deltawire_pending_name(uint32_t pending);

// The name of a fault: `UnexpectedEnd`; "?" if the number is not known. Static, ended by NUL.
const char *deltawire_fault_name(uint32_t fault);

// The row of the table of quirks: `F6`. NULL past the last known. Static, ended by NUL.
const char *deltawire_quirk_code(uint32_t quirk);

// The name of a quirk: `ContinuedPayload`. NULL past the last known. Static, ended by NUL.
const char *deltawire_quirk_name(uint32_t quirk);

// A quirk in words. NULL past the last known. Static, ended by NUL.
const char *deltawire_quirk_text(uint32_t quirk);

// The version of the library: major * 1000000 + minor * 1000 + patch, as `DELTAWIRE_VERSION` is that of the header.
uint32_t deltawire_version(void);

// The number of the binary interface. Equal numbers go together; see `DELTAWIRE_ABI`.
uint32_t deltawire_abi(void);

// Bytes of a block with room for `event_bytes` of a cut event: what a user of the heap asks. At most
// `DELTAWIRE_BLOCK_SIZE(event_bytes)`. 0: too much. With direct reading add `read_len`, rounded up to 8.
size_t deltawire_block_size(size_t event_bytes);

// Makes a parser of the block `mem` of `mem_len` bytes. `cfg` is copied; NULL is all defaults. `*out`, unless `out` is
// NULL, becomes `(deltawire_parser *)mem`. Whatever is in the block is overwritten: do not call it on a parser in use.
//
// Answers OK, E_NULL, E_ALIGN, E_SMALL (less than `deltawire_block_size(0)` and `read_len`), E_RANGE (beyond
// any memory; with `read_len`, 4 GiB or more), E_CONFIG. On failure nothing is written.
deltawire_status deltawire_init(void *mem, size_t mem_len, const deltawire_config *cfg, deltawire_parser **out);

// A new stream with the same config. Takes time by the fixed state, not by the block. Answers OK, E_NULL, E_ALIGN, E_STATE, E_REENTRANT.
deltawire_status deltawire_reset(deltawire_parser *p);

// Moves the parser `src` to the block `mem`, bigger or smaller; what is retained must fit (`deltawire_need`). `*out`,
// unless NULL, becomes `(deltawire_parser *)mem`. The blocks must not overlap. `src` is not changed, and may be freed.
//
// What was reserved for direct reading is not reserved any more. Answers OK, E_NULL, E_ALIGN, E_STATE, E_REENTRANT,
// E_SMALL, E_RANGE (beyond any memory; with `read_len`, 4 GiB or more). On failure nothing is written.
deltawire_status deltawire_move(void *mem, size_t mem_len, const deltawire_parser *src, deltawire_parser **out);

// Bytes of the block that the parser wants: after NEED_STORAGE the next size that makes sense, else the least that
// holds what is retained. 0: not a parser.
size_t deltawire_need(const deltawire_parser *p);

// How the stream ended, or would if it ended now. Answers OK, E_NULL, E_ALIGN, E_STATE, E_REENTRANT, E_CONFIG (`size`).
deltawire_status deltawire_end_of(const deltawire_parser *p, deltawire_end *out);

// The token counts that came last. Answers OK, ABSENT (none came), E_NULL, E_ALIGN, E_STATE, E_REENTRANT, E_CONFIG (`size`).
deltawire_status deltawire_last_usage(const deltawire_parser *p,
                                      deltawire_usage *out);

// The ID of the last event, as `Last-Event-ID` is to name it on reconnecting: any bytes, valid until the next call that
// takes the parser. Answers OK, ABSENT, E_NULL, E_ALIGN, E_STATE, E_REENTRANT.
deltawire_status deltawire_last_event_id(const deltawire_parser *p, deltawire_str *out);

// Which quirk was the error, after E_STRICT; else, or from a callback, `DELTAWIRE_QUIRKS`.
uint32_t deltawire_error_quirk(const deltawire_parser *p);

// Stream offset where the event began that brought the error, after a status of -100 and below; else 0.
uint64_t deltawire_error_offset(const deltawire_parser *p);

// What the callback returned, after E_ABORTED and E_CALLBACK; else 0.
int32_t deltawire_user_code(const deltawire_parser *p);

// How often `quirk` was met; stops counting at 65,535. 0 for numbers that are not known, and from a callback.
uint64_t deltawire_quirk_count(const deltawire_parser *p, uint32_t quirk);

// The JSON value that these bytes begin with. Whitespace round it is skipped. Answers OK, ABSENT (no JSON value, as far as its end has to be found, or something behind it), E_NULL, E_RANGE (`len`).
deltawire_status deltawire_value_open(const void *json,
                                      size_t len,
                                      deltawire_value *out);

// A value of type `DELTAWIRE_T_TEXT` of any bytes: `deltawire_value_text` gives them as valid UTF-8. Answers OK, E_NULL, E_RANGE (`len`).
deltawire_status deltawire_value_plain(const void *bytes,
                                       size_t len,
                                       deltawire_value *out);

// The member of an object with this name (UTF-8, decoded); the last of that name. Reads the object once. Answers OK,
// ABSENT (no such member, or no object), E_NULL, E_RANGE (`len`).
deltawire_status deltawire_value_member(const deltawire_value *v, const char *name, size_t len, deltawire_value *out);

// The next element of an array, or member of an object (`key`, unless NULL, gets its name). `*cursor` is 0 at first.
// Answers OK, ABSENT (the end; malformed bytes end it too; or no container), E_NULL.
deltawire_status deltawire_value_next(const deltawire_value *container,
                                      size_t *cursor,
                                      deltawire_value *key,
                                      deltawire_value *out);

// The decoded text of a string, of plain text, or of a number, `true` or `false` as it is written, into `buf`. `*need`, unless NULL, is its
// length. Not ended by NUL. `buf` may be NULL with 0, to ask for the length. Answers OK, ABSENT (another type), E_NULL,
// E_SMALL (nothing was written).
deltawire_status deltawire_value_text(const deltawire_value *v,
                                      char *buf,
                                      size_t cap,
                                      size_t *need);

// The same without a copy, if it stands in the bytes as it is: without an escape, and valid UTF-8. Answers OK, ABSENT
// (another type, or it must be decoded: `deltawire_value_text`), E_NULL.
deltawire_status deltawire_value_str(const deltawire_value *v, deltawire_str *out);

// Whether it is a string (or plain text) that decodes to `s`. Answers OK, ABSENT (it is not), E_NULL, E_RANGE (`len`).
deltawire_status deltawire_value_equals(const deltawire_value *v, const char *s, size_t len);

// A number as an integer, however it is written (`10.0`, `1e3`). Answers OK, ABSENT (no number), E_NULL, E_RANGE (no
// integer of this type).
deltawire_status deltawire_value_u64(const deltawire_value *v, uint64_t *out);

// The same, signed.
deltawire_status deltawire_value_i64(const deltawire_value *v, int64_t *out);

// A number as digits and a power of ten; a double is `digits * 10^exp10` if `exact` (`deltawire.hpp` converts).
// Answers OK, ABSENT (no number), E_NULL.
deltawire_status deltawire_value_decimal(const deltawire_value *v, deltawire_decimal *out);

// What an error says (`DELTAWIRE_ERROR_*`), in whichever member its provider puts it. `error` is what `on_error`,
// `on_choice_error` or `DELTAWIRE_F_ERROR` gave; of a batch's text, what `deltawire_value_open` made of it or, with
// `DELTAWIRE_EVF_PLAIN`, `deltawire_value_plain`. Answers OK, ABSENT, E_NULL, E_RANGE (`field`).
deltawire_status deltawire_error_field(const deltawire_value *error, uint32_t field, deltawire_value *out);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* DELTAWIRE_H */
