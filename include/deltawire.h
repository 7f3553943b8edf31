/* deltawire.h - LLM token streams: bytes in, deltas out. SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *     #include <deltawire.h>
 *     #include <stdio.h>
 *
 *     static int32_t print(void *user, const deltawire_at *at, const char *text, size_t len) {
 *         if (at->choice == 0) fwrite(text, 1, len, (FILE *)user);
 *         return DELTAWIRE_GO_ON;
 *     }
 *
 *     int main(void) {
 *         static DELTAWIRE_BLOCK(block, 65536);
 *         deltawire_callbacks callbacks = DELTAWIRE_CALLBACKS_INIT;
 *         deltawire_end end = DELTAWIRE_END_INIT;
 *         deltawire_parser *parser;
 *         char bytes[4096], text[1024];
 *         size_t len;
 *
 *         callbacks.on_content = print;
 *         if (deltawire_init(&block, sizeof block, NULL, &parser) != DELTAWIRE_OK) return 1;
 *         while ((len = fread(bytes, 1, sizeof bytes, stdin)) > 0)
 *             if (deltawire_feed(parser, bytes, len, &callbacks, stdout, NULL) < 0) return 1;
 *         deltawire_finish(parser, &callbacks, stdout);
 *         deltawire_end_of(parser, &end);
 *         deltawire_end_text(&end, text, sizeof text);
 *         printf(" (%s)\n", text);
 *         return end.complete ? 0 : 1;
 *     }
 *
 * The sections of this file are in the order of use: versions, statuses, a parser and its block,
 * events, callbacks, batches, direct reading, workspaces, the end of a stream, chunks and values,
 * the whole message, writing, quirks. What applies to all of them:
 *
 * ALLOCATION  The library never allocates. The caller provides all memory.
 * MEMORY      A parser is one block of memory: its state and tables, then room for an event that a
 *             read cut. Without DELTAWIRE_CFG_GROW no event may be longer than that room. Between
 *             calls the block holds no pointers (not to itself, to input, callbacks or user), so a
 *             memcpy of the block, outside of a call, is a snapshot or a move. A block is aligned
 *             to DELTAWIRE_ALIGN. All of this also holds for an assembler, a workspace and a
 *             writer.
 * VIEWS       What a callback receives is valid until the callback returns. The offsets in the
 *             events of a batch are valid until the next call on the parser, while input and
 *             scratch are unchanged. A deltawire_value is valid while its bytes are.
 * TEXT        Texts are valid UTF-8 and not empty; none ends inside a code point or a surrogate
 *             pair. A text may come in several pieces: all but the last have the flag
 *             DELTAWIRE_EVF_MORE. Where a comment says "bytes", the text is as sent: any bytes,
 *             possibly none. JSON is as sent, too, with any ill-formed UTF-8 in it. Texts are not
 *             ended by NUL, except for the static names that are documented so.
 * EVENTS      An event of this interface is a delta, or something else that the parser reports of
 *             the stream (DELTAWIRE_EV_*). The comment of each kind says which members of a
 *             deltawire_event it sets. Text, Aux and Extra there are the texts at text_off, aux_off
 *             and extra_off. A callback receives Text as an argument, and the other members in a
 *             deltawire_at.
 * INTEGERS    Lengths and offsets in the caller's memory are size_t; offsets in the stream are
 *             uint64_t; limits, counts in the stream, codes, flags, and the `size` that a struct
 *             begins with are uint32_t. The 64 bytes of a deltawire_event are packed: its offsets
 *             are uint32_t, and so a batch looks at no more than 2^31 - 1 bytes at once.
 * CALLS       NULL with length 0 is valid input wherever a function takes bytes. Any number is
 *             valid where a function takes an enumeration: the function answers an unknown number
 *             with a status. Each comment lists the statuses that its function answers. A function
 *             that takes a length answers E_RANGE if the length is beyond any memory, that is,
 *             above PTRDIFF_MAX, such as the (size_t)-1 of a failed read. A getter writes `*out`
 *             only if it answers OK.
 * RESUMING    After a status above 0, call again with the bytes from `consumed` on; more bytes may
 *             follow them. If all bytes were consumed, give NULL and 0. The events continue as if
 *             the call had not stopped. The parser checks that the bytes are the same: a call with
 *             fewer or other bytes answers E_RESUME and changes nothing. (Of an event longer than a
 *             kilobyte, the parser compares one kilobyte, spread over the event.) A write callback
 *             of libcurl, which must take all bytes or none, loops until the status is 0 or below
 *             (see docs/gateway.md).
 * FAULTS      Faults in the data are events (DELTAWIRE_EV_MALFORMED, _TOO_LONG, _LIMIT, _QUIRK),
 *             and the stream goes on. A status describes the call.
 * THREADS     Any thread may use a parser, an assembler, a workspace or a writer, but only one
 *             thread at a time. The library has no locks, no thread-locals, and one global: a
 *             byte that says what the processor can do. The first call sets it, and every
 *             thread would set the same value. Functions that take only const pointers may run
 *             at the same time.
 * REENTRANCY  A callback may call functions that take a deltawire_chunk, a deltawire_value, an
 *             assembler or another parser. Functions that take the calling parser, or the workspace
 *             that it is reading with, change nothing: they answer E_REENTRANT, or 0 if they return
 *             a count. The library cannot detect deltawire_init over a parser in use, a copy of its
 *             block, or an exception or longjmp out of a callback: all of these are forbidden.
 * LENGTHS     A function that copies a text accepts NULL and 0 to ask for the length: it writes the
 *             length to `*need` and answers E_SMALL, or OK if the text is empty.
 * LOSSES      The verdict of deltawire_end describes how a stream ended. `complete` also requires
 *             that nothing was lost on the way: no payload was malformed, no event was over the
 *             limit (without DELTAWIRE_CFG_GROW: over the size of the block) or cut by the end of
 *             the stream, no choice or tool call was beyond max_choices and max_tool_calls, and no
 *             call answered -100 or below: a callback that aborts leaves the response incomplete. A
 *             line that is not a field (`Data: x`) is ignored, as the standard requires, and does
 *             not count as lost. `complete` describes the parser alone: a message has tables and
 *             limits of its own, and deltawire_message_limit says what it left out. Give both the
 *             same config.
 * MESSAGES    To have the message of a stream that you read, give the assembler to the call that
 *             reads: deltawire_message_feed, or deltawire_message_batch. The assembler takes each
 *             event before your callback does, so a callback may read the message. Do not move the
 *             assembler's block inside a callback: the running call goes on with the block that it
 *             was given.
 * VERSIONS    Structs that the caller fills begin with their size, a multiple of 8. They only grow
 *             at the end: a member that an older caller lacks has its default, and bytes after the
 *             members that the library knows must be zero (E_CONFIG). A deltawire_event has 64
 *             bytes in every version. Ignore kinds, flags and quirks that you do not know.
 *             DELTAWIRE_ABI changes when programs have to be compiled again.
 *
 * Made from capi/ by scripts/header.sh --write. C99, C++11. */


#ifndef DELTAWIRE_H
#define DELTAWIRE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// -------------------------------------------------------------------------------------------------
// Versions

#define DELTAWIRE_VERSION_MAJOR 0

#define DELTAWIRE_VERSION_MINOR 1

#define DELTAWIRE_VERSION_PATCH 0

// The version of this header; deltawire_version() returns that of the library.
#define DELTAWIRE_VERSION \
    (DELTAWIRE_VERSION_MAJOR * 1000000u + DELTAWIRE_VERSION_MINOR * 1000u + DELTAWIRE_VERSION_PATCH)

// The binary interface of this header; deltawire_abi() returns that of the library.
#define DELTAWIRE_ABI 1u

// The version of the library: major * 1000000 + minor * 1000 + patch. `DELTAWIRE_VERSION` is that
// of the header.
uint32_t deltawire_version(void);

// The number of the binary interface of the library. A program runs only with a library whose
// number equals its own `DELTAWIRE_ABI`.
uint32_t deltawire_abi(void);

// -------------------------------------------------------------------------------------------------
// Statuses

// The result of a call. 0: the call did all of its work. Above 0: the call stopped early; call
// again. -1 to -99: misuse. The call changed nothing, and a correct call still succeeds. -100 and
// below: the stream failed. Every later call returns the same status until `deltawire_reset`.
typedef int32_t deltawire_status;

// All input is consumed, and no event is pending.
#define DELTAWIRE_OK 0

// A callback returned `DELTAWIRE_PAUSE` or `DELTAWIRE_AGAIN`. To continue, call again with the
// bytes from `consumed` on.
#define DELTAWIRE_PAUSED 1

// Batch: the array or the scratch is full, or more than 2^31 - 1 bytes were given. Process the
// events, then call again with the bytes from `consumed` on.
#define DELTAWIRE_MORE 2

// The block is too small. A parser answers this for an event that a read cut (only with
// `DELTAWIRE_CFG_GROW`), an assembler for a message, a writer (`deltawire_writer_put`) for what it
// writes later. Give it a block of `deltawire_need` or `deltawire_message_need` bytes: after
// `realloc` call `deltawire_resize`, or call `deltawire_move` with another block. Then call again
// with the bytes from `consumed` on. A batch has written the events before the cut one: process
// them first.
#define DELTAWIRE_NEED_STORAGE 3

// A writer: the buffer has no room for the next event, which needs `deltawire_writer_room` bytes.
// Send what was written, then call again with the same event.
#define DELTAWIRE_NEED_ROOM 4

// A getter's answer: there is no such value, or it has another type.
#define DELTAWIRE_ABSENT 10

// Misuse: a pointer that must not be NULL is NULL.
#define DELTAWIRE_E_NULL -1

// Misuse: a struct that the caller fills has an unknown size, a value out of range, or bytes after
// the members of this version that are not zero.
#define DELTAWIRE_E_CONFIG -2

// Misuse: memory is too small. A getter whose text does not fit into the buffer writes only
// `*need`.
#define DELTAWIRE_E_SMALL -3

// Misuse: memory is not aligned to `DELTAWIRE_ALIGN`.
#define DELTAWIRE_E_ALIGN -4

// Misuse: the block was never initialized, or the order of calls is wrong.
#define DELTAWIRE_E_STATE -5

// Misuse: a callback called a function on the parser that is calling it, or with the workspace that
// the call uses.
#define DELTAWIRE_E_REENTRANT -6

// Misuse: an argument is outside its range, or a number does not fit the requested type.
#define DELTAWIRE_E_RANGE -7

// Misuse: the parser expects the bytes from `consumed` on again, because an event is pending or the
// block had no room for it, and the caller gave fewer bytes or other bytes. Call again with the
// bytes from `consumed` on.
#define DELTAWIRE_E_RESUME -8

// A writer: the protocol has no place for the event.
#define DELTAWIRE_E_NO_PLACE -9

// A writer: the event comes too late: its choice finished, its call is over, or the call's ID and
// name were written.
#define DELTAWIRE_E_LATE -10

// A writer: a value is not JSON by RFC 8259, or nests more than 100 levels deep.
#define DELTAWIRE_E_JSON -11

// A writer: a choice has no finish reason, or no choice began.
#define DELTAWIRE_E_UNFINISHED -12

// A writer: the stream ended before.
#define DELTAWIRE_E_ENDED -13

// A callback returned a number below 0, which `deltawire_user_code` returns.
#define DELTAWIRE_E_ABORTED -100

// A callback returned a number above 0 that no constant names. `deltawire_user_code` returns that
// number.
#define DELTAWIRE_E_CALLBACK -101

// The stream has a quirk that the config makes an error; `deltawire_error_quirk` and
// `deltawire_error_offset` name it.
#define DELTAWIRE_E_STRICT -102

// The name of a status, such as `OK` or `E_NULL`; "?" for an unknown number. Static, ended by NUL.
const char *deltawire_status_name(deltawire_status status);

// A status in words; "?" for an unknown number. Static, ended by NUL.
const char *deltawire_status_text(deltawire_status status);

// -------------------------------------------------------------------------------------------------
// A parser and its block

// Mode: the stream is a response in chat completion chunks or in another protocol that `protocol`
// can name.
#define DELTAWIRE_MODE_CHAT 0

// Mode: the stream is any event stream. The parser delivers payloads unread, to `on_sse` or as
// `DELTAWIRE_EV_SSE`.
#define DELTAWIRE_MODE_SSE 1

// Mode: as `DELTAWIRE_MODE_CHAT`, for programs that meter a stream, such as gateways. The block
// also has a meter, which `deltawire_meter_of` reads; it takes at most `DELTAWIRE_METER_SIZE`
// bytes, which `deltawire_block_size` of this config includes. Most such programs need no
// callbacks.
#define DELTAWIRE_MODE_USAGE 2

// Answer `DELTAWIRE_NEED_STORAGE` when a cut event does not fit into the block. Without this flag
// the parser drops the event and reports `DELTAWIRE_EV_TOO_LONG`.
#define DELTAWIRE_CFG_GROW 1

// Frame the stream exactly as WHATWG HTML 9.2 says: ignore unknown lines, and drop a last event
// without its blank line.
#define DELTAWIRE_CFG_SPEC 2

// Check every byte of each payload, against RFC 8259 and as UTF-8. A payload that fails is
// malformed.
#define DELTAWIRE_CFG_STRICT_JSON 4

// The parser shares the memory of a workspace with other parsers, so its own block is smaller. Each
// call that reads takes a workspace (`deltawire_feed_with`, …).
#define DELTAWIRE_CFG_SHARED 8

// Each delta of a text (content, reasoning, arguments of tool calls) may have all of the text so
// far, as some servers send it: report only what is new. A delta that does not begin with the text
// so far, compared by its length and a hash, continues it. Only for such a server: a model may
// repeat itself.
#define DELTAWIRE_CFG_SNAPSHOTS 16

// How a parser behaves. A member that is 0 selects its default. `deltawire_init` copies the struct.
typedef struct {
    // `sizeof(deltawire_config)`; `DELTAWIRE_CONFIG_INIT` sets it.
    uint32_t size;
    // `DELTAWIRE_MODE_*`.
    uint32_t mode;
    // `DELTAWIRE_CFG_*`, or-ed.
    uint32_t flags;
    // How deep JSON may nest; 0 is 128, at most 1024. A payload that nests deeper is malformed.
    uint32_t max_depth;
    // The kinds of events that a batch emits: `DELTAWIRE_MASK(kind)`, or-ed. 0 is every kind except
    // `DELTAWIRE_EV_FRAME`, `DELTAWIRE_EV_PAYLOAD`, `DELTAWIRE_EV_META`, `DELTAWIRE_EV_ANNOTATION`,
    // `DELTAWIRE_EV_SIGNATURE`, `DELTAWIRE_EV_MEDIA` and `DELTAWIRE_EV_NATIVE`. The parser does not
    // decode texts of other kinds, which saves time.
    // Callbacks ignore this mask: a feed calls every callback that is not NULL.
    uint64_t events;
    // The quirks that end the stream with E_STRICT: bit `quirk % 64` of element `quirk / 64`. Bits
    // of unknown quirks are ignored. All 128 bits are all quirks but
    // `DELTAWIRE_QUIRK_REPEATED_TEXT`, which must be named: a model may repeat itself.
    uint64_t errors[2];
    // The longest allowed event, in bytes: its data, the line feeds that join its data lines, and
    // its name. 0 is 1 MiB; at most 2^31 - 1. Without `DELTAWIRE_CFG_GROW` the size of the block is
    // a limit as well, even for events that no read cut.
    uint32_t max_event_len;
    // `DELTAWIRE_PROTOCOL_*`, if the caller knows the protocol of the stream: CHAT, RESPONSES,
    // ANTHROPIC or GEMINI. 0: the first event whose protocol the parser recognizes decides for the
    // whole stream.
    uint32_t protocol;
    // The longest allowed last event ID, in bytes; 0 is 1 KiB. The parser ignores a longer ID.
    uint32_t max_id_len;
    // Bytes at the end of the block that are reserved for direct reading (`deltawire_reserve`),
    // rounded up to a multiple of 8. 0: no bytes are reserved, and there is no direct reading.
    uint32_t read_len;
    // How many choices of one stream the parser has room for; 0 is `DELTAWIRE_DEFAULT_CHOICES`, at
    // most `DELTAWIRE_MAX_CHOICES`. The parser leaves out the deltas of further choices, and
    // reports that as `DELTAWIRE_EV_LIMIT`.
    uint32_t max_choices;
    // How many tool calls of one stream, over all choices, the parser has room for; 0 is
    // `DELTAWIRE_DEFAULT_TOOL_CALLS`, at most `DELTAWIRE_MAX_TOOL_CALLS`. The parser leaves out
    // further tool calls, and reports that as `DELTAWIRE_EV_LIMIT`.
    uint32_t max_tool_calls;
} deltawire_config;

// A deltawire_config with its size; all other members are zero, the default.
#define DELTAWIRE_CONFIG_INIT {sizeof(deltawire_config), 0, 0, 0, 0, {0, 0}, 0, 0, 0, 0, 0, 0}

// The alignment of every block, in bytes. Memory from malloc has this alignment, and so does a Go
// `[]uint64`.
#define DELTAWIRE_ALIGN 8

// How many bytes of a block the state and tables of the default size take, with room to spare; the
// event buffer is the rest. This constant grows only with `DELTAWIRE_ABI`.
#define DELTAWIRE_STATE_SIZE 12288

// The size of a block, in bytes, for a parser with the default config that can keep `event_bytes`
// of a cut event.
#define DELTAWIRE_BLOCK_SIZE(event_bytes) \
    (DELTAWIRE_STATE_SIZE + (((event_bytes) + sizeof(uint64_t) - 1u) & ~(sizeof(uint64_t) - 1u)))

// Declares an aligned block of DELTAWIRE_BLOCK_SIZE bytes, on the stack, static, or in a struct.
// Give `&name` and `sizeof name` to deltawire_init.
#define DELTAWIRE_BLOCK(name, event_bytes) \
    union { uint64_t align_; unsigned char bytes[DELTAWIRE_BLOCK_SIZE(event_bytes)]; } name

// How many choices of one stream a parser and an assembler have room for, unless the config sets
// `max_choices`.
#define DELTAWIRE_DEFAULT_CHOICES 8

// How many tool calls of one stream, over all choices, a parser and an assembler have room for,
// unless the config sets `max_tool_calls`.
#define DELTAWIRE_DEFAULT_TOOL_CALLS 32

// The largest `max_choices`.
#define DELTAWIRE_MAX_CHOICES 128

// The largest `max_tool_calls`.
#define DELTAWIRE_MAX_TOOL_CALLS 1024

// An upper bound of the bytes that one choice or one tool call takes in a block; see
// `DELTAWIRE_TABLES_SIZE`. This constant grows only with `DELTAWIRE_ABI`.
#define DELTAWIRE_ROW_SIZE 128

// An upper bound of the bytes to add to DELTAWIRE_BLOCK_SIZE or DELTAWIRE_MESSAGE_SIZE if
// max_choices and max_tool_calls of the deltawire_config are these numbers.
#define DELTAWIRE_TABLES_SIZE(choices, tool_calls) \
    ((sizeof(char) * (choices) + (tool_calls)) * DELTAWIRE_ROW_SIZE)

// A parser. Its address is that of its block: `(deltawire_parser *)mem`.
typedef struct deltawire_parser deltawire_parser;

// The size of a block, in bytes, for a parser with this config that can keep `event_bytes` of a cut
// event; `read_len` of the config is included. `cfg` may be NULL: every member then has its
// default, and the size is at most `DELTAWIRE_BLOCK_SIZE(event_bytes)`. Returns 0 if no block is
// that large, or if `deltawire_init` would answer E_CONFIG.
size_t deltawire_block_size(const deltawire_config *cfg, size_t event_bytes);

// Makes a parser in the block `mem` of `mem_len` bytes. `cfg` may be NULL: every member then has
// its default. `*out`, unless `out` is NULL, becomes `(deltawire_parser *)mem`. The function
// overwrites the block: do not call it on a parser in use.
//
// Answers OK, E_NULL, E_ALIGN, E_SMALL (less than `deltawire_block_size(cfg, 0)`, or, without
// `DELTAWIRE_CFG_GROW`, no room for any event), E_RANGE (beyond any memory; with `read_len`, 4 GiB
// or more), E_CONFIG. On failure nothing is written.
deltawire_status deltawire_init(void *mem,
                                size_t mem_len,
                                const deltawire_config *cfg,
                                deltawire_parser **out);

// Begins a new stream with the same config. Takes time in proportion to the state and the tables,
// not to the event buffer. Answers OK, E_NULL, E_ALIGN, E_STATE, E_REENTRANT.
deltawire_status deltawire_reset(deltawire_parser *p);

// The size of the block that the parser needs, in bytes. After NEED_STORAGE that is the size to
// move to; otherwise it is the smallest size that holds what the parser retains. Returns 0 if `p`
// is not a parser.
size_t deltawire_need(const deltawire_parser *p);

// Moves the parser `src` to the block `mem`. The block may be larger or smaller, if what `src`
// retains fits (`deltawire_need`). `*out`, unless `out` is NULL, becomes `(deltawire_parser *)mem`.
// `src` is unchanged, and may be freed.
//
// A reservation for direct reading ends. Answers OK, E_NULL, E_ALIGN, E_STATE, E_REENTRANT,
// E_SMALL, E_RANGE (the blocks overlap; beyond any memory; with `read_len`, 4 GiB or more). On
// failure nothing is written.
deltawire_status deltawire_move(void *mem,
                                size_t mem_len,
                                const deltawire_parser *src,
                                deltawire_parser **out);

// Tells the parser that its block has `mem_len` bytes now. Call this after `realloc` enlarged the
// block, which may also have moved it, or before `realloc` shrinks it. It acts
// as `deltawire_move` does, within the same block.
//
// Answers OK, E_NULL, E_ALIGN, E_STATE, E_REENTRANT, E_SMALL, E_RANGE (beyond any memory; with
// `read_len`, 4 GiB or more). On failure nothing is changed.
deltawire_status deltawire_resize(deltawire_parser *p, size_t mem_len);

// -------------------------------------------------------------------------------------------------
// Kinds of events

// No event.
#define DELTAWIRE_EV_NONE 0

// Mode SSE: an event. Mode USAGE: a skipped event. Text: its data. Aux: its type. Extra: the last
// event ID. All three are bytes.
#define DELTAWIRE_EV_SSE 1

// A comment, without its colon and the one space that may follow the colon. Text: bytes.
#define DELTAWIRE_EV_COMMENT 2

// A payload that only keeps the connection alive. Text: bytes.
#define DELTAWIRE_EV_KEEP_ALIVE 3

// A reconnection time. `number`: milliseconds.
#define DELTAWIRE_EV_RETRY 4

// A last event ID without an event. Text: bytes.
#define DELTAWIRE_EV_LAST_EVENT_ID 5

// A chunk, before its deltas. Text: its `id`. Aux: its `model`. Extra: the `event` field (bytes).
// `number`: its `created`, if the flag `DELTAWIRE_EVF_NUMBER` is set. `code`: how many choices it
// has.
#define DELTAWIRE_EV_CHUNK 6

// The role, once for each choice. Text.
#define DELTAWIRE_EV_ROLE 7

// Content. Text. The message of a body that was not streamed is emitted as this kind and the kinds
// below, too. `number`, in other protocols than chat completions: the slot of the text, a number
// that tells the parts of an output apart.
#define DELTAWIRE_EV_CONTENT 8

// Reasoning. Text. `number`: as in `DELTAWIRE_EV_CONTENT`. `code` 1: a summary (Responses).
#define DELTAWIRE_EV_REASONING 9

// A refusal. Text.
#define DELTAWIRE_EV_REFUSAL 10

// A tool call opens (`DELTAWIRE_EVF_OPENS`), or the ID or type of an open call arrives. Text: its
// ID. Aux: its type. `number`: its index, as sent, or as the parser assigned it.
#define DELTAWIRE_EV_TOOL_CALL 11

// The whole name of a tool call (`DELTAWIRE_EVF_REPLACES`), or a piece to append to the name so
// far. Text.
#define DELTAWIRE_EV_TOOL_NAME 12

// A fragment of a tool call's arguments or, for a custom tool, of its input. Text. If a call has no
// fragment, take the arguments of a function as `{}`, and the input of a custom tool as empty.
// Arguments that Gemini sends by path (`partialArgs`) are not emitted as fragments: an assembler
// joins them, `DELTAWIRE_META_CALL_MEMBER` has them as sent, and
// `DELTAWIRE_QUIRK_PARTIAL_ARGUMENTS` counts the events that contain them.
#define DELTAWIRE_EV_TOOL_ARGUMENTS 13

// The name of a `function_call`'s function; otherwise as `DELTAWIRE_EV_TOOL_NAME`.
#define DELTAWIRE_EV_FUNCTION_NAME 14

// A fragment of a `function_call`'s arguments. Text.
#define DELTAWIRE_EV_FUNCTION_ARGUMENTS 15

// A fragment of audio. Text: JSON, an object with some of `id`, `data`, `transcript`, `expires_at`.
// In Responses it is the event, whose `delta` is data or, if its `type` names a transcript, a piece
// of that.
#define DELTAWIRE_EV_AUDIO 16

// Log probabilities of more tokens. Text: JSON, an object with some of `content` and `refusal`,
// each an array of tokens, or the object of legacy completions. In Responses it is the array.
#define DELTAWIRE_EV_LOGPROBS 17

// A choice finished. Text: the finish reason. A callback may receive it in pieces
// (`DELTAWIRE_EVF_MORE`); a batch has it whole. `code`: `DELTAWIRE_FINISH_*`. A choice may finish
// twice; the last finish reason counts.
#define DELTAWIRE_EV_FINISH 19

// A choice failed. Text: JSON.
#define DELTAWIRE_EV_CHOICE_ERROR 20

// Usage, as this event reports it. Text: JSON. `deltawire_value_usage` reads the counts from the
// value that a callback receives, or from the value that `deltawire_value_open` makes of a batch's
// text. Never add up the counts of several events: each is the count so far. One event may lack
// some counts (Anthropic sends the prompt at the beginning, and often only the completion at the
// end). After the call that emitted the event returned, `deltawire_last_usage` has all counts,
// merged.
#define DELTAWIRE_EV_USAGE 21

// The API reported an error. Text: JSON, or with the flag `DELTAWIRE_EVF_PLAIN` bytes of plain
// text. A batch may emit it in pieces (`DELTAWIRE_EVF_MORE`): join them before you open the value.
#define DELTAWIRE_EV_ERROR 22

// A payload that is not a JSON object, or the bytes that follow the object; the stream goes on.
// Only with `DELTAWIRE_CFG_STRICT_JSON` does the parser find a broken value inside a member that it
// does not read. Text: bytes. Extra: the `event` field. `code`: `DELTAWIRE_FAULT_*`. `number`: the
// offset of the fault, counted from the start of the text's first piece.
#define DELTAWIRE_EV_MALFORMED 23

// An event over the limit: the parser drops the rest of it, and the stream goes on. `start` and
// `end` are where the event began: its length is not known yet.
#define DELTAWIRE_EV_TOO_LONG 24

// A comment over the limit was dropped. `start` and `end` are where it began. If it lies inside an
// event, that event goes on.
#define DELTAWIRE_EV_COMMENT_TOO_LONG 25

// The parser left out deltas of the chunk. `code`: `DELTAWIRE_LIMIT_*`. `choice`: the index of
// their choice; 2^32 - 1 if the choice has no valid index. Emitted at most once for each event, for
// the first delta left out, after the event's other deltas.
#define DELTAWIRE_EV_LIMIT 26

// A quirk of the event, after everything else that the event emits. `code`: the number of the
// quirk.
#define DELTAWIRE_EV_QUIRK 27

// `[DONE]`: the response ended. Some servers send more events after it, and Responses, Anthropic
// and Gemini end without it: `deltawire_end_of` says whether the response is complete.
#define DELTAWIRE_EV_DONE 28

// The payload of a chunk, before `DELTAWIRE_EV_CHUNK`, for `deltawire_chunk_open`. Text: JSON, or
// with the flag `DELTAWIRE_EVF_PLAIN` the plain text of an error event. `code`: 1 if the event's
// name makes the whole payload an error. Only a batch emits it: a callback has `at->chunk`.
#define DELTAWIRE_EV_PAYLOAD 29

// A member that describes the response. Text. `code`: `DELTAWIRE_META_*`. Most members are emitted
// once for a stream. `DELTAWIRE_META_REASONING_NAME` is emitted once for a choice, before its first
// reasoning. `DELTAWIRE_META_NATIVE_FINISH_REASON`, which belongs to a choice, and unknown members
// (`DELTAWIRE_META_*MEMBER`) are emitted as often as they are sent. Off unless `events` or a
// callback asks for it.
#define DELTAWIRE_EV_META 30

// Annotations of the content, such as citations. Text: JSON. In chat completions it is an array; in
// other protocols, and for a message so far that has more annotations than the previous message,
// each new annotation is an event of its own. Off unless `events` or a callback asks for it.
#define DELTAWIRE_EV_ANNOTATION 31

// A signature of reasoning, or the encrypted reasoning of Responses. (Encrypted reasoning of
// Anthropic, `redacted_thinking`, is a `DELTAWIRE_EV_NATIVE`.) Text. `number`: as in
// `DELTAWIRE_EV_CONTENT`. Off unless `events` or a callback asks for it.
#define DELTAWIRE_EV_SIGNATURE 34

// An image or another medium (other protocols). Text: JSON. Off unless `events` or a callback asks
// for it.
#define DELTAWIRE_EV_MEDIA 35

// A part of the response that no other kind covers (other protocols): a tool that the server ran,
// its result, or a piece of either. Text: JSON. Off unless `events` or a callback asks for it.
#define DELTAWIRE_EV_NATIVE 38

// A tool call is over: it can run now. Emitted once for each call of a tool of the client, if the
// stream is not cut inside it. `code` 1: its arguments are whole, that is, no string or bracket is
// open, none closed that never opened, and the first byte that is not blank begins a JSON value (or
// there is none). This is a balance, not a parse. The input of a custom tool is always whole.
// Responses and Anthropic end a call with its item or block, Gemini with its part; in chat
// completions a call ends when another call of its choice opens and the arguments are a closed
// object or array, otherwise when the choice finishes. What is open after that, or without a finish
// reason, ends in `deltawire_finish` if the response is over.
#define DELTAWIRE_EV_TOOL_CALL_END 39

// A frame ended. The frame is the bytes `start` to `end` of the stream, however reads cut them.
// Each byte of the stream lies in exactly one frame, and frames are in order. A comment inside an
// event belongs to the event's frame; a comment between events is a frame of its own. If lines end
// in CR, a frame may be reported one byte later, or at the end of the stream. The frame of JSON
// outside of fields includes the end of its line, unless more JSON follows on that line. `code`:
// how many choices the frame's chunk has (0: usage only, a comment, `[DONE]`, …). `number`: the
// kinds of events in the frame, `DELTAWIRE_MASK(kind)` or-ed, whether the mask asks for them or not
// (without `DELTAWIRE_EV_FRAME`, `DELTAWIRE_EV_PAYLOAD` and `DELTAWIRE_EV_META`).
#define DELTAWIRE_EV_FRAME 48

// Every kind of this version is below this number. Not every number below it is a kind.
#define DELTAWIRE_EV_COUNT 49

// The name of a kind of event, such as `CONTENT`; "?" for an unknown number. Static, ended by NUL.
const char *deltawire_event_name(uint32_t kind);

// The bit of a kind of event in deltawire_config.events and in `number` of a DELTAWIRE_EV_FRAME.
#define DELTAWIRE_MASK(kind) (UINT64_C(1) << (kind))

// -------------------------------------------------------------------------------------------------
// Flags and codes of events

// The text lies in the scratch, not in the input.
#define DELTAWIRE_EVF_TEXT_SCRATCH 1

// The second text lies in the scratch, not in the input.
#define DELTAWIRE_EVF_AUX_SCRATCH 2

// The third text lies in the scratch, not in the input.
#define DELTAWIRE_EVF_EXTRA_SCRATCH 4

// Another piece of this text follows, in an event that is otherwise the same. A piece of a text
// never ends inside a code point; a piece of JSON or of bytes may. In a batch, only content,
// reasoning, refusals, arguments, signatures, JSON and bytes come in pieces. A callback receives
// any text that must be decoded in pieces of up to 1 KiB. Roles, names and finish reasons are such
// texts, too: `on_finish` may be called twice for one reason. A `deltawire_value` is never cut.
#define DELTAWIRE_EVF_MORE 8

// The tool call opens.
#define DELTAWIRE_EVF_OPENS 16

// The tool call opens under the index of an earlier call.
#define DELTAWIRE_EVF_REUSES 32

// The tool call calls a custom tool.
#define DELTAWIRE_EVF_CUSTOM 64

// The name replaces the name so far. If a callback receives a name in pieces, only the first piece
// has this flag: append the others.
#define DELTAWIRE_EVF_REPLACES 128

// The error, or the payload of an error event, is plain text instead of JSON.
#define DELTAWIRE_EVF_PLAIN 256

// `number` is set, even if it is 0.
#define DELTAWIRE_EVF_NUMBER 512

// The event is of another protocol than chat completions. With `DELTAWIRE_EV_FINISH`: the text is
// the protocol's own word, and `code` is its meaning. With `DELTAWIRE_EV_USAGE`: the members have
// the protocol's own names, which `deltawire_value_usage` reads, and `code` is the
// `DELTAWIRE_PROTOCOL_*`.
#define DELTAWIRE_EVF_NATIVE 4096

// With `DELTAWIRE_EV_FINISH`: the provider refused the prompt, and the text is the reason.
#define DELTAWIRE_EVF_PROMPT 8192

// Finish reason: any other; the text of the event has it.
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

// The name of a `DELTAWIRE_FINISH_*` as providers write it, such as `tool_calls`; `other` for
// OTHER, and "?" for an unknown number. Static, ended by NUL.
const char *deltawire_finish_name(uint32_t finish);

// Limit: more choices than `max_choices` of the config.
#define DELTAWIRE_LIMIT_CHOICES 1

// Limit: more tool calls than `max_tool_calls` of the config.
#define DELTAWIRE_LIMIT_TOOL_CALLS 2

// Limit: an index is a fraction, or 2^32 - 1 or more. (Other odd indexes are only the quirk
// `DELTAWIRE_QUIRK_ODD_INDEX`: a negative index counts as 0, digits in a string as their number,
// and a value of another type as no index.)
#define DELTAWIRE_LIMIT_INDEX 3

// Limit of an assembler: the message would be longer than 4 GiB, or have more than 256 members of
// providers.
#define DELTAWIRE_LIMIT_LENGTH 4

// The name of a `DELTAWIRE_LIMIT_*`, which is that of the error in Rust: `TooManyCalls` for
// `DELTAWIRE_LIMIT_TOOL_CALLS`. "?" for an unknown number. Static, ended by NUL.
const char *deltawire_limit_name(uint32_t limit);

// Fault: the bytes end inside a value.
#define DELTAWIRE_FAULT_UNEXPECTED_END 1

// Fault: a byte that is not allowed at its place.
#define DELTAWIRE_FAULT_UNEXPECTED_BYTE 2

// Fault: bytes other than whitespace follow the value.
#define DELTAWIRE_FAULT_TRAILING_BYTES 3

// Fault: the value nests deeper than allowed.
#define DELTAWIRE_FAULT_TOO_DEEP 4

// Fault: an invalid number.
#define DELTAWIRE_FAULT_BAD_NUMBER 5

// Fault: a literal other than `true`, `false` and `null`.
#define DELTAWIRE_FAULT_BAD_LITERAL 6

// Fault: an unknown escape.
#define DELTAWIRE_FAULT_BAD_ESCAPE 7

// Fault: a raw control character in a string.
#define DELTAWIRE_FAULT_RAW_CONTROL 8

// Fault: ill-formed UTF-8.
#define DELTAWIRE_FAULT_ILL_FORMED_UTF8 9

// The name of a fault, such as `UnexpectedEnd`; "?" for an unknown number. Static, ended by NUL.
const char *deltawire_fault_name(uint32_t fault);

// `code` of a `DELTAWIRE_EV_META`: `object`.
#define DELTAWIRE_META_OBJECT 1

// `code` of a `DELTAWIRE_EV_META`: `system_fingerprint`.
#define DELTAWIRE_META_SYSTEM_FINGERPRINT 2

// `code` of a `DELTAWIRE_EV_META`: `service_tier`.
#define DELTAWIRE_META_SERVICE_TIER 3

// `code` of a `DELTAWIRE_EV_META`: `provider`.
#define DELTAWIRE_META_PROVIDER 4

// `code` of a `DELTAWIRE_EV_META`: `native_finish_reason` of a choice, the finish reason of the
// provider behind a gateway.
#define DELTAWIRE_META_NATIVE_FINISH_REASON 5

// `code` of a `DELTAWIRE_EV_META`: another member of the top level that is not null, each time it
// is sent. Raw JSON, as in an object: `"name":value`, which `deltawire_value_open_member` splits.
#define DELTAWIRE_META_MEMBER 6

// `code` of a `DELTAWIRE_EV_META`: another member of a choice, as
// `DELTAWIRE_META_MEMBER`.
#define DELTAWIRE_META_CHOICE_MEMBER 7

// `code` of a `DELTAWIRE_EV_META`: another member of a delta, as
// `DELTAWIRE_META_MEMBER`; also `reasoning_details`.
#define DELTAWIRE_META_DELTA_MEMBER 8

// `code` of a `DELTAWIRE_EV_META`: another member of a `message`, as
// `DELTAWIRE_META_MEMBER`.
#define DELTAWIRE_META_MESSAGE_MEMBER 9

// `code` of a `DELTAWIRE_EV_META`: the name of the member that contains the first reasoning of a
// choice: `reasoning_content`, `reasoning`, `thinking`, `thought` or `reasoning_text`.
#define DELTAWIRE_META_REASONING_NAME 10

// `code` of a `DELTAWIRE_EV_META`: another member of the tool call `call`, such as `extra_content`,
// each time it is sent, after the call's arguments. Raw JSON, as `DELTAWIRE_META_MEMBER`. The call
// may open later.
#define DELTAWIRE_META_CALL_MEMBER 11

// `code` of a `DELTAWIRE_EV_META`: another member of the `function` of the tool call `call`, or of
// its `custom` tool, as `DELTAWIRE_META_CALL_MEMBER`.
#define DELTAWIRE_META_FUNCTION_MEMBER 12

// -------------------------------------------------------------------------------------------------
// Callbacks

// A chunk: the payload of one event, and an index of its members.
typedef struct deltawire_chunk deltawire_chunk;

// Bytes, not ended by NUL. `{NULL, 0}` is an absent text.
typedef struct {
    // The first byte.
    const char *ptr;
    // The number of bytes.
    size_t len;
} deltawire_str;

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

// Plain text instead of JSON, as some servers report errors.
#define DELTAWIRE_T_TEXT 8

// A JSON value that is not decoded yet: a view of its bytes, valid while those bytes are. Make a
// value with `deltawire_value_open`, or use one that a function returned; do not fill the struct by
// hand.
typedef struct {
    // The bytes of the value as they were sent; a string includes its quotes.
    const char *ptr;
    // The number of bytes.
    size_t len;
    // `DELTAWIRE_T_*`, which the first byte of the value decides.
    uint32_t type;
    // Always 0.
    uint32_t reserved;
} deltawire_value;

// The delta or event that a callback is called for, and its place in the stream. The library fills
// the struct; later versions may add members at its end. It is valid until the callback returns.
typedef struct {
    // `sizeof(deltawire_at)` of the library.
    uint32_t size;
    // `DELTAWIRE_EV_*`.
    uint32_t kind;
    // `DELTAWIRE_EVF_*`.
    uint32_t flags;
    // The index of the choice; 0 if the event belongs to no choice.
    uint32_t choice;
    // The number of the tool call among those of its choice, in order of appearance.
    uint32_t call;
    // As in `deltawire_event`.
    uint32_t code;
    // As in `deltawire_event`.
    uint64_t number;
    // Where the event begins: the stream offset of its first byte.
    uint64_t start;
    // Where the event ends: the stream offset one past its last byte.
    uint64_t end;
    // The chunk that contains the delta; NULL outside of a chunk.
    const deltawire_chunk *chunk;
    // The `event` field of the event: any bytes except CR and LF. Absent if the event has no such
    // field.
    deltawire_str event_name;
} deltawire_at;

// A callback returns this to go on.
#define DELTAWIRE_GO_ON 0

// A callback returns this to stop after the current event. The event's other callbacks are still
// called. The call then returns `DELTAWIRE_PAUSED`.
#define DELTAWIRE_PAUSE 1

// A callback returns this to stop at once. The call returns `DELTAWIRE_PAUSED`. The next call
// repeats this callback, with the same piece if a text comes in pieces, and continues from there.
// The next call must be `deltawire_feed` or `deltawire_finish`, not a batch.
#define DELTAWIRE_AGAIN 2

// A callback without a text.
typedef int32_t (*deltawire_at_fn)(void *user, const deltawire_at *at);

// A callback with a text: valid UTF-8 and not empty. For comments, keep-alives, last event IDs and
// malformed payloads the text is any bytes, and may be empty. Raw JSON (`DELTAWIRE_META_*MEMBER`)
// is as it was sent: ill-formed UTF-8 stays in it. The text is valid until the callback returns,
// and is not ended by NUL.
typedef int32_t (*deltawire_text_fn)(void *user,
                                     const deltawire_at *at,
                                     const char *text,
                                     size_t len);

// A callback with a JSON value; the value of an error may be of type `DELTAWIRE_T_TEXT`. The value
// and its bytes are valid until the callback returns.
typedef int32_t (*deltawire_value_fn)(void *user,
                                      const deltawire_at *at,
                                      const deltawire_value *value);

// A callback for a tool call that opens, or whose ID or type arrives later. `id` and `type` are of
// type `DELTAWIRE_T_NONE` unless this event is the first to contain them, and `type` is so in every
// protocol but chat completions. Otherwise each is a string, or a number or boolean as sent;
// `deltawire_value_text` reads all of these. Both are valid until the callback returns.
typedef int32_t (*deltawire_call_fn)(void *user,
                                     const deltawire_at *at,
                                     const deltawire_value *id,
                                     const deltawire_value *type);

// A callback for an event of any event stream: its type (`message` if it has no name), its data
// lines joined by LF, and the last event ID. All three are bytes, valid until the callback returns.
typedef int32_t (*deltawire_sse_fn)(void *user,
                                    const deltawire_at *at,
                                    deltawire_str type,
                                    deltawire_str data,
                                    deltawire_str id);

// The functions that `deltawire_feed` and `deltawire_finish` call. A member that is NULL is not
// called. Each function returns `DELTAWIRE_GO_ON`, `DELTAWIRE_PAUSE`, `DELTAWIRE_AGAIN`, or any
// number below 0 to abort (`DELTAWIRE_E_ABORTED`). It must return: no exception, no longjmp. The
// constant `DELTAWIRE_EV_*` of the same name describes what each function receives.
typedef struct {
    // `sizeof(deltawire_callbacks)`; `DELTAWIRE_CALLBACKS_INIT` sets it.
    uint32_t size;
    // Mode SSE: an event. Mode USAGE: a skipped event.
    deltawire_sse_fn on_sse;
    // A comment: bytes.
    deltawire_text_fn on_comment;
    // A payload that only keeps the connection alive: bytes.
    deltawire_text_fn on_keep_alive;
    // A reconnection time: `at->number`, in milliseconds.
    deltawire_at_fn on_retry;
    // A last event ID without an event: bytes.
    deltawire_text_fn on_last_event_id;
    // A chunk (`at->chunk`). The callbacks for its deltas follow.
    deltawire_at_fn on_chunk;
    // The role, once for each choice. Append the pieces: like every text here, a long role comes in
    // several (`DELTAWIRE_EVF_MORE`).
    deltawire_text_fn on_role;
    // Content.
    deltawire_text_fn on_content;
    // Reasoning, whatever the provider calls the member.
    deltawire_text_fn on_reasoning;
    // A refusal.
    deltawire_text_fn on_refusal;
    // A tool call opens, or its ID or type arrives later.
    deltawire_call_fn on_tool_call;
    // The name of a tool call, or a piece of it: append the text to the name so far, unless the
    // flag `DELTAWIRE_EVF_REPLACES` says to replace it.
    deltawire_text_fn on_tool_name;
    // A fragment of a tool call's arguments. Gemini's arguments are as the server wrote them, with
    // its whitespace and line breaks.
    deltawire_text_fn on_tool_arguments;
    // The name of a `function_call`, or a piece of it.
    deltawire_text_fn on_function_name;
    // A fragment of a `function_call`'s arguments.
    deltawire_text_fn on_function_arguments;
    // Audio.
    deltawire_value_fn on_audio;
    // Log probabilities.
    deltawire_value_fn on_logprobs;
    // A choice finished: the finish reason. `at->code` is its meaning, `DELTAWIRE_FINISH_*`. A long
    // reason comes in pieces (`DELTAWIRE_EVF_MORE`), one call for each.
    deltawire_text_fn on_finish;
    // A choice failed: its error.
    deltawire_value_fn on_choice_error;
    // Usage, as this event reports it: see `DELTAWIRE_EV_USAGE`.
    deltawire_value_fn on_usage;
    // The API reported an error.
    deltawire_value_fn on_error;
    // A payload that is not JSON, or bytes that follow a JSON payload.
    deltawire_text_fn on_malformed;
    // An event over the limit was dropped.
    deltawire_at_fn on_too_long;
    // A comment over the limit was dropped.
    deltawire_at_fn on_comment_too_long;
    // The parser left out deltas of the chunk: it had no room for a choice or a tool call, or an
    // index was bad.
    deltawire_at_fn on_limit;
    // A quirk of the event.
    deltawire_at_fn on_quirk;
    // `[DONE]`; other protocols end without it.
    deltawire_at_fn on_done;
    // A frame ended.
    deltawire_at_fn on_frame;
    // A member that describes the response: `at->code` is one of `DELTAWIRE_META_*`.
    deltawire_text_fn on_meta;
    // Annotations of the content.
    deltawire_value_fn on_annotations;
    // A signature of reasoning, or the encrypted reasoning of Responses.
    deltawire_text_fn on_signature;
    // An image or another medium.
    deltawire_value_fn on_media;
    // A part of the response that no other callback covers.
    deltawire_value_fn on_native;
    // A tool call is over. `at->code` is 1 if its arguments are whole: see
    // `DELTAWIRE_EV_TOOL_CALL_END`.
    deltawire_at_fn on_tool_call_end;
} deltawire_callbacks;

// A deltawire_callbacks with its size; all functions are NULL.
#define DELTAWIRE_CALLBACKS_INIT \
    {sizeof(deltawire_callbacks), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
     NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
     NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}

// Reads `len` bytes and calls `cbs` for the events in them. The parser uses `cbs` and `user` for
// this call only. `cbs` may be NULL: then no function is called. Give NULL and 0 to continue with a
// pending event whose bytes are consumed, or to read committed bytes. `*consumed`, unless
// `consumed` is NULL, is written on every path.
//
// Answers OK, PAUSED, NEED_STORAGE, E_NULL, E_ALIGN, E_STATE (also after `deltawire_finish`; while
// an event of a batch is pending; if bytes are given while committed bytes are unread; for a parser
// with `DELTAWIRE_CFG_SHARED`), E_REENTRANT, E_CONFIG (the size or tail of `cbs`), E_RANGE (`len`
// is beyond any memory), E_RESUME, E_ABORTED, E_CALLBACK, E_STRICT.
deltawire_status deltawire_feed(deltawire_parser *p,
                                const void *data,
                                size_t len,
                                const deltawire_callbacks *cbs,
                                void *user,
                                size_t *consumed);

// Ends the stream; afterwards `deltawire_end_of` has the verdict. The call may emit a last event
// without its blank line, an unpaired surrogate, or the end of a call that is open when the
// response is over, so a callback may stop it: call again while the answer is PAUSED. The call
// never answers NEED_STORAGE, because the end of a stream adds no bytes to what the block holds.
// If a feed answered PAUSED and did not consume all bytes, feed the other bytes first: otherwise
// this call may answer E_RESUME. The stream ends where the consumed bytes end: after a feed that
// left bytes (PAUSED, NEED_STORAGE), feed them, or do not ask whether the response is complete.
// After OK, further calls answer OK and do nothing. Answers as `deltawire_feed` in all other
// cases.
deltawire_status deltawire_finish(deltawire_parser *p, const deltawire_callbacks *cbs, void *user);

// After E_ABORTED and E_CALLBACK: the number that the callback returned; otherwise 0.
int32_t deltawire_user_code(const deltawire_parser *p);

// -------------------------------------------------------------------------------------------------
// Batches

// An event of a batch. Its size is 64 bytes in every version, and it holds no pointers. Offsets
// count from the start of `data` (in direct reading: of the block), or from the start of the
// scratch if the flag for that text is set. They are valid until the next call on the parser, while
// input and scratch are unchanged. An absent text has length 0.
typedef struct {
    // `DELTAWIRE_EV_*`. Ignore kinds that you do not know.
    uint16_t kind;
    // `DELTAWIRE_EVF_*`. Ignore flags that you do not know.
    uint16_t flags;
    // The index of the choice; 0 if the event belongs to no choice.
    uint32_t choice;
    // The number of the tool call among those of its choice, in order of appearance.
    uint32_t call;
    // By kind: see `DELTAWIRE_EV_*`.
    uint32_t code;
    // By kind: see `DELTAWIRE_EV_*`.
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
    // Where the event begins: the stream offset of its first byte.
    uint64_t start;
    // Where the event ends: the stream offset one past its last byte.
    uint64_t end;
} deltawire_event;

// The smallest scratch that a batch accepts, in bytes.
#define DELTAWIRE_SCRATCH_MIN 64

// The result of a batch. Every call writes it, whatever the status, unless `out` is NULL.
typedef struct {
    // How many bytes of `data` are consumed. 0 in direct reading, where the parser counts the
    // consumed bytes itself.
    size_t consumed;
    // How many events were written.
    size_t events;
    // How many bytes of the scratch were written.
    size_t scratch_used;
    // If not 0: the next event has texts that are never split, and needs a scratch of at least this
    // many bytes.
    size_t scratch_need;
} deltawire_batch_result;

// Reads `len` bytes and writes the events in them to `events`, at most `cap`. A text that needs no
// decoding stays in `data`; other texts are decoded to `scratch`.
//
// MORE: the array or the scratch is full, or `len` is above 2^31 - 1, the most that one call reads.
// Process the events and call again with the bytes from `out->consumed` on; more bytes may follow
// them. If the scratch is short, content, reasoning, refusals, arguments, signatures, JSON and
// bytes come in pieces. All other texts (IDs, names, types, roles, finish reasons) are never split:
// `out->scratch_need` is the scratch that they need.
//
// Answers OK, MORE, NEED_STORAGE, E_NULL, E_ALIGN, E_STATE (also after `deltawire_finish`, and
// while an event of a feed is pending), E_REENTRANT, E_SMALL (`cap` 0, or `scratch_len` below
// `DELTAWIRE_SCRATCH_MIN`), E_RANGE (a length is beyond any memory), E_RESUME, E_STRICT (the events
// before the error are written), E_ABORTED and E_CALLBACK (after a feed that answered so).
deltawire_status deltawire_batch(deltawire_parser *p,
                                 const void *data,
                                 size_t len,
                                 deltawire_event *events,
                                 size_t cap,
                                 void *scratch,
                                 size_t scratch_len,
                                 deltawire_batch_result *out);

// Ends the stream, as `deltawire_finish` does, and writes the last events to `events`. Call again
// while the answer is MORE. All texts lie in the scratch. The call never answers NEED_STORAGE.
// Answers as `deltawire_batch` in all other cases.
deltawire_status deltawire_batch_finish(deltawire_parser *p,
                                        deltawire_event *events,
                                        size_t cap,
                                        void *scratch,
                                        size_t scratch_len,
                                        deltawire_batch_result *out);

// -------------------------------------------------------------------------------------------------
// Direct reading

// Direct reading: the caller reads into the block itself, and so needs no buffer of its own.
// Returns where to put the next bytes, as an offset from the first byte of the block, and how many
// fit: `read_len` of the config, rounded up to a multiple of 8. Answers OK, E_NULL, E_ALIGN,
// E_REENTRANT, E_STATE (no `read_len`; committed bytes are not consumed; an event is pending; the
// parser expects bytes again; or after `deltawire_finish`), E_ABORTED, E_CALLBACK, E_STRICT (after
// a call that answered so).
deltawire_status deltawire_reserve(deltawire_parser *p, size_t *off, size_t *len);

// Direct reading: tells the parser that `n` bytes were written to the place that
// `deltawire_reserve` returned. Then call `deltawire_feed` or `deltawire_batch` with NULL and 0
// until the answer is OK. Answers OK, E_NULL, E_ALIGN, E_REENTRANT, E_STATE (nothing is reserved,
// or a call was given other bytes since), E_RANGE (`n` is more than was reserved), E_ABORTED,
// E_CALLBACK, E_STRICT (after a call that answered so).
deltawire_status deltawire_commit(deltawire_parser *p, size_t n);

// -------------------------------------------------------------------------------------------------
// Workspaces

// The size of a workspace's block, in bytes, with room to spare. This constant grows only with
// `DELTAWIRE_ABI`.
#define DELTAWIRE_WORKSPACE_SIZE 8192

// Declares an aligned block for a workspace. Give `&name` and `sizeof name` to
// deltawire_workspace_init.
#define DELTAWIRE_WORKSPACE(name) \
    union { uint64_t align_; unsigned char bytes[DELTAWIRE_WORKSPACE_SIZE]; } name

// Memory that the parsers of a thread share: the shapes of events that were read (their bytes
// without the texts that change), and the index of the current event. The address of a workspace is
// that of its block: `(deltawire_workspace *)mem`.
//
// Events from one upstream are the same in most of their bytes. Parsers that share a workspace have
// smaller blocks (`DELTAWIRE_CFG_SHARED`), and the shared memory stays in the processor's cache,
// however many parsers there are. Sharing changes the cost, never the events. A workspace remembers
// two shapes, so use one workspace for each upstream. It holds no pointers between calls, and no
// parser points to it.
//
// One workspace serves one thread, and one trust domain: it contains bytes of the streams that were
// read with it, such as names of tools, until other bytes replace them or
// `deltawire_workspace_clear` overwrites them. No parser emits bytes of another stream. But an
// event whose shape is remembered takes less time, and whoever writes a stream can measure that.
typedef struct deltawire_workspace deltawire_workspace;

// Makes an empty workspace in the block `mem` of `mem_len` bytes. It takes at most
// `DELTAWIRE_WORKSPACE_SIZE` of them. `*out`, unless `out` is NULL, becomes `(deltawire_workspace
// *)mem`. The function overwrites the block: do not call it on a workspace in use.
//
// Answers OK, E_NULL, E_ALIGN, E_SMALL (less than `deltawire_workspace_size()`), E_RANGE (beyond
// any memory). On failure nothing is written.
deltawire_status deltawire_workspace_init(void *mem, size_t mem_len, deltawire_workspace **out);

// The size of a workspace's block, in bytes: at most `DELTAWIRE_WORKSPACE_SIZE`.
size_t deltawire_workspace_size(void);

// Overwrites everything that a workspace keeps of the streams. Parsers that used it go on as
// before. `deltawire_reset` of a parser does not clear a workspace. Answers OK, E_NULL, E_ALIGN,
// E_STATE, E_REENTRANT.
deltawire_status deltawire_workspace_clear(deltawire_workspace *w);

// `deltawire_feed` for a parser with `DELTAWIRE_CFG_SHARED`, which reads with the memory of `w`.
// Each call may take another workspace. A callback may feed another parser with another workspace.
//
// Answers as `deltawire_feed` and, for `w`, E_NULL, E_ALIGN, E_STATE (`w` was never initialized, or
// the parser has no `DELTAWIRE_CFG_SHARED`), E_REENTRANT (another call is using `w`).
deltawire_status deltawire_feed_with(deltawire_parser *p,
                                     deltawire_workspace *w,
                                     const void *data,
                                     size_t len,
                                     const deltawire_callbacks *cbs,
                                     void *user,
                                     size_t *consumed);

// `deltawire_finish` for a parser with `DELTAWIRE_CFG_SHARED`, with the memory of `w`. Answers as
// `deltawire_finish` and, for `w`, as `deltawire_feed_with`.
deltawire_status deltawire_finish_with(deltawire_parser *p,
                                       deltawire_workspace *w,
                                       const deltawire_callbacks *cbs,
                                       void *user);

// `deltawire_batch` for a parser with `DELTAWIRE_CFG_SHARED`, which reads with the memory of `w`.
// Each call may take another workspace. Answers as `deltawire_batch` and, for `w`, as
// `deltawire_feed_with`.
deltawire_status deltawire_batch_with(deltawire_parser *p,
                                      deltawire_workspace *w,
                                      const void *data,
                                      size_t len,
                                      deltawire_event *events,
                                      size_t cap,
                                      void *scratch,
                                      size_t scratch_len,
                                      deltawire_batch_result *out);

// `deltawire_batch_finish` for a parser with `DELTAWIRE_CFG_SHARED`, with the memory of `w`.
// Answers as `deltawire_batch_finish` and, for `w`, as `deltawire_feed_with`.
deltawire_status deltawire_batch_finish_with(deltawire_parser *p,
                                             deltawire_workspace *w,
                                             deltawire_event *events,
                                             size_t cap,
                                             void *scratch,
                                             size_t scratch_len,
                                             deltawire_batch_result *out);

// -------------------------------------------------------------------------------------------------
// The end of a stream

// The stream has no bytes, only blanks, or only `[DONE]`.
#define DELTAWIRE_VERDICT_EMPTY 1

// The bytes are neither an event stream nor JSON; `media` says what they are.
#define DELTAWIRE_VERDICT_NOT_A_STREAM 2

// The API reported an error.
#define DELTAWIRE_VERDICT_API_ERROR 3

// The stream has `[DONE]` and a chunk, or the event that ends a response of Responses
// (`response.completed`, `response.incomplete`) or Anthropic (`message_stop`). DONE does not mean
// complete: check `complete`.
#define DELTAWIRE_VERDICT_DONE 4

// The stream lacks the end that DONE describes, but every choice has a finish reason. Every stream
// of Gemini ends so, and so do a chat stream that was cut after its finish reasons (its usage may
// be missing) and an Anthropic stream that was cut before `message_stop`.
#define DELTAWIRE_VERDICT_FINISHED 5

// The response is a whole JSON body instead of a stream, and has no finish reason: it contains a
// message, or its `object` is `chat.completion` or `text_completion`.
#define DELTAWIRE_VERDICT_BODY 6

// The response is another whole JSON value, an object or an array of objects: a list of models, an
// embedding.
#define DELTAWIRE_VERDICT_JSON_ANSWER 7

// The stream is of a protocol that the parser does not read; `protocol` names it. In mode SSE every
// stream with an event has this verdict if it ends between events and nothing was too long.
#define DELTAWIRE_VERDICT_OTHER_PROTOCOL 8

// The stream ended between events, without an end that counts as DONE or FINISHED, and something
// was too long, malformed or left out. A stream with the verdict DONE or FINISHED may have lost
// parts, too: check `complete`.
#define DELTAWIRE_VERDICT_LOST 9

// The stream was cut.
#define DELTAWIRE_VERDICT_TRUNCATED 10

// The stream would be LOST or TRUNCATED, but a callback had returned an error (E_ABORTED,
// E_CALLBACK), so nobody knows how it would have ended.
#define DELTAWIRE_VERDICT_ABORTED 11

// The name of a verdict, such as `Done`; "?" for an unknown number. Static, ended by NUL.
const char *deltawire_verdict_name(uint32_t verdict);

// Nothing is pending: the stream ended between events.
#define DELTAWIRE_PENDING_NOTHING 0

// The end of the stream cut an event, or the last event lacks its blank line and is not whole JSON.
#define DELTAWIRE_PENDING_EVENT 1

// The end of the stream cut a JSON value.
#define DELTAWIRE_PENDING_JSON 2

// The end of the stream cut a line outside of an event: `dat`, `data: `, `: pin`.
#define DELTAWIRE_PENDING_LINE 3

// The name of a `DELTAWIRE_PENDING_*`, such as `Event`; "?" for an unknown number. Static, ended by
// NUL.
const char *deltawire_pending_name(uint32_t pending);

// Unknown, or the verdict is not NOT_A_STREAM.
#define DELTAWIRE_MEDIA_NONE 0

// gzip: decompress the body first.
#define DELTAWIRE_MEDIA_GZIP 1

// Zstandard: decompress the body first.
#define DELTAWIRE_MEDIA_ZSTD 2

// Other bytes that are not text.
#define DELTAWIRE_MEDIA_BINARY 3

// HTML: its first byte is `<`.
#define DELTAWIRE_MEDIA_HTML 4

// Other text.
#define DELTAWIRE_MEDIA_TEXT 5

// The name of a `DELTAWIRE_MEDIA_*`, such as `Gzip` or `None`; "?" for an unknown number. Static,
// ended by NUL.
const char *deltawire_media_name(uint32_t media);

// No protocol: the stream has no event of one, or the parser does not read payloads.
#define DELTAWIRE_PROTOCOL_NONE 0

// An unknown protocol.
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

// Chat completions.
#define DELTAWIRE_PROTOCOL_CHAT 8

// The name of a protocol, such as `Anthropic` or `None`; "?" for an unknown number. Static, ended
// by NUL.
const char *deltawire_protocol_name(uint32_t protocol);

// How many of the first bytes of a response `deltawire_end` has, at most.
#define DELTAWIRE_FIRST_BYTES 128

// How a stream ended, or how it would end after the last byte that was read. The caller sets
// `size`: the library writes no more bytes than that, and zeroes members that it does not know.
typedef struct {
    // `sizeof(deltawire_end)`; `DELTAWIRE_END_INIT` sets it.
    uint32_t size;
    // `DELTAWIRE_VERDICT_*`: the first that applies, in the order of their numbers, but ABORTED
    // before LOST.
    uint32_t verdict;
    // `DELTAWIRE_PENDING_*`; NOTHING if the verdict is `DELTAWIRE_VERDICT_NOT_A_STREAM`.
    uint32_t pending;
    // How many choices the stream has. Indexes from 127 on count as one choice.
    uint32_t choices_seen;
    // How many of those choices have a finish reason. Compare it with `choices_seen`, and
    // `choices_seen` with the `n` of the request: `complete` knows only the choices that the stream
    // has, and `[DONE]` counts as the end of all of them.
    uint32_t choices_finished;
    // How many payloads were malformed.
    uint32_t malformed;
    // How many events and comments were over a limit.
    uint32_t too_long;
    // 1: the stream has `[DONE]`.
    uint8_t done;
    // 1: the API reported an error.
    uint8_t api_error;
    // 1: the response is a JSON body instead of a stream, and nothing else.
    uint8_t body;
    // 1: `deltawire_finish` or `deltawire_batch_finish` has returned OK.
    uint8_t finished;
    // How many bytes were read.
    uint64_t offset;
    // How many events had deltas that were left out (`DELTAWIRE_EV_LIMIT`).
    uint32_t left_out;
    // 1: all of the response arrived, or would have if the stream ended now. The stream has its end
    // (`DELTAWIRE_VERDICT_DONE`), a finish reason for every choice, or is a whole body; it has no
    // error of the API; nothing was malformed, too long or left out; no call answered -100 or
    // below; and, unless `[DONE]` came, nothing is pending. Check it after `deltawire_finish`: only
    // then is it known what is pending. In mode SSE: the stream ended between events, and nothing
    // was too long. The finish reason says whether the model finished its answer:
    // `DELTAWIRE_FINISH_LENGTH` and `DELTAWIRE_FINISH_CONTENT_FILTER` cut the answer itself, and a
    // call's arguments with it.
    uint32_t complete;
    // `DELTAWIRE_MEDIA_*`: what the response is if the verdict is NOT_A_STREAM.
    uint32_t media;
    // `DELTAWIRE_PROTOCOL_*`: the protocol of the stream, the one that was read (CHAT, RESPONSES,
    // ANTHROPIC, GEMINI) or, if the verdict is OTHER_PROTOCOL, the one that is not read. NONE if no
    // event showed a protocol.
    uint32_t protocol;
    // How many messages contradict what was reported before (`DELTAWIRE_QUIRK_REPLACED_MESSAGE`,
    // `DELTAWIRE_QUIRK_CHANGED_TEXT`).
    uint32_t replaced;
    // How many events finished a choice whose tool calls have arguments that were cut or no JSON
    // (`DELTAWIRE_QUIRK_BROKEN_ARGUMENTS`).
    uint32_t broken_calls;
    // Why deltas were left out: the bit `1 << DELTAWIRE_LIMIT_*` for each limit.
    uint32_t limits;
    // How many of the bytes in `first_bytes` are used.
    uint32_t first_len;
    // The first bytes of a response that does not begin with an event stream: a page, the sentence
    // of a proxy, a JSON body. They begin with the first byte that is not blank, and end before the
    // first field, or after `DELTAWIRE_FIRST_BYTES`. Bytes as sent, which may be no text:
    // `deltawire_end_text` escapes them. Zeros follow.
    uint8_t first_bytes[DELTAWIRE_FIRST_BYTES];
} deltawire_end;

// A deltawire_end with its size; all other members are zero.
#define DELTAWIRE_END_INIT \
    {sizeof(deltawire_end), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0}}

// Writes how the stream ended, or how it would end now. Answers OK, E_NULL, E_ALIGN, E_STATE,
// E_REENTRANT, E_CONFIG (`size`).
deltawire_status deltawire_end_of(const deltawire_parser *p, deltawire_end *out);

// Writes in words how a stream ended, on one line: the verdict, what came instead of a stream with
// its first bytes, the protocol that is not read, what was lost, and the limits to raise, by their
// names in `deltawire_config`. Characters that a terminal could obey are escaped. As snprintf, it
// writes at most `cap` bytes to `buf`, of which the last is NUL, and returns the length of the
// whole text without the NUL; a text that does not fit is cut at a character. 1024 bytes hold every
// text. `buf` may be NULL if `cap` is 0. Returns 0, and writes nothing, if `end` or `buf` is NULL
// or the size of `end` is unknown.
size_t deltawire_end_text(const deltawire_end *end, char *buf, size_t cap);

// Bit of `deltawire_usage.has`: `prompt` was sent.
#define DELTAWIRE_HAS_PROMPT 1

// Bit of `deltawire_usage.has`: `completion` was sent.
#define DELTAWIRE_HAS_COMPLETION 2

// Bit of `deltawire_usage.has`: `total` was sent.
#define DELTAWIRE_HAS_TOTAL 4

// Bit of `deltawire_usage.has`: `reasoning` was sent.
#define DELTAWIRE_HAS_REASONING 8

// Bit of `deltawire_usage.has`: `cached` was sent.
#define DELTAWIRE_HAS_CACHED 16

// Bit of `deltawire_usage.has`: `prompt_audio` was sent.
#define DELTAWIRE_HAS_PROMPT_AUDIO 32

// Bit of `deltawire_usage.has`: `completion_audio` was sent.
#define DELTAWIRE_HAS_COMPLETION_AUDIO 64

// Bit of `deltawire_usage.has`: `accepted_prediction` was sent.
#define DELTAWIRE_HAS_ACCEPTED_PREDICTION 128

// Bit of `deltawire_usage.has`: `rejected_prediction` was sent.
#define DELTAWIRE_HAS_REJECTED_PREDICTION 256

// Bit of `deltawire_usage.has`: `cache_write` was sent.
#define DELTAWIRE_HAS_CACHE_WRITE 512

// Token counts. The caller sets `size`: the library writes no more bytes than that, and zeroes
// members that it does not know.
typedef struct {
    // `sizeof(deltawire_usage)`; `DELTAWIRE_USAGE_INIT` sets it.
    uint32_t size;
    // Which counts were sent: `DELTAWIRE_HAS_*`, or-ed. The other counts are 0.
    uint32_t has;
    // `prompt_tokens`.
    uint64_t prompt;
    // `completion_tokens`.
    uint64_t completion;
    // `total_tokens`.
    uint64_t total;
    // `completion_tokens_details.reasoning_tokens`, or else `reasoning_tokens` of the usage itself
    // (GitHub Copilot).
    uint64_t reasoning;
    // `prompt_tokens_details.cached_tokens`, or else of the usage itself `prompt_cache_hit_tokens`
    // (DeepSeek), `cached_tokens` (Moonshot), `num_cached_tokens` (Mistral) or
    // `cache_read_input_tokens`.
    uint64_t cached;
    // `prompt_tokens_details.audio_tokens`.
    uint64_t prompt_audio;
    // `completion_tokens_details.audio_tokens`.
    uint64_t completion_audio;
    // `completion_tokens_details.accepted_prediction_tokens`.
    uint64_t accepted_prediction;
    // `completion_tokens_details.rejected_prediction_tokens`.
    uint64_t rejected_prediction;
    // `prompt_tokens_details.cache_write_tokens`, or else `cache_creation_input_tokens` of the same
    // object (Qwen) or of the usage itself (Vercel). OpenAI includes these tokens in `prompt`;
    // gateways differ.
    uint64_t cache_write;
} deltawire_usage;

// A deltawire_usage with its size; all other members are zero.
#define DELTAWIRE_USAGE_INIT {sizeof(deltawire_usage), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

// The token counts so far: those of the last usage, to which a usage of chat completions without
// prompt, completion and total adds its details, or, for Anthropic, which spreads the counts over
// several events, all of them merged. Do not bill by the counts of an incomplete stream: a cut
// Anthropic stream has the completion count of its beginning. Answers OK, ABSENT (the stream has
// none yet), E_NULL, E_ALIGN, E_STATE, E_REENTRANT, E_CONFIG (`size`).
deltawire_status deltawire_last_usage(const deltawire_parser *p, deltawire_usage *out);

// The size of a meter in a block, in bytes, is at most this.
#define DELTAWIRE_METER_SIZE 2304

// How many names of calls a meter keeps.
#define DELTAWIRE_METER_NAMES 8

// No token came so far.
#define DELTAWIRE_TOKEN_NONE 0

// Content.
#define DELTAWIRE_TOKEN_CONTENT 1

// Reasoning.
#define DELTAWIRE_TOKEN_REASONING 2

// A refusal.
#define DELTAWIRE_TOKEN_REFUSAL 3

// A tool call, or the `function_call` of a choice: it opens, or has more of its name or arguments.
#define DELTAWIRE_TOKEN_CALL 4

// An event that bears a token: content, reasoning, a refusal or a part of a call, which is never
// empty. A role, a ping, a signature, audio, images and tools that are neither functions nor custom
// tools are no tokens.
typedef struct {
    // The number of the event, from 1, as `deltawire_meter.events` counts; 0: none.
    uint64_t event;
    // Stream offset, in bytes, of the event's first byte.
    uint64_t offset;
    // `DELTAWIRE_TOKEN_*`: of the first token of the first such event, of the last token of the
    // last.
    uint32_t kind;
    // Zero.
    uint32_t reserved;
} deltawire_token;

// How much text came, decoded.
typedef struct {
    // Bytes of UTF-8.
    uint64_t bytes;
    // Unicode characters.
    uint64_t chars;
} deltawire_amount;

// What a parser in mode USAGE keeps of its stream. The caller sets `size`: the library writes no
// more bytes than that, and zeroes members that it does not know. Texts are UTF-8, not ended by
// NUL, cut between two characters, and valid until the next call on the parser; a text that did not
// come has the length 0. They are as the server sent them: escape them before you print them.
typedef struct {
    // `sizeof(deltawire_meter)`; `DELTAWIRE_METER_INIT` sets it.
    uint32_t size;
    // `DELTAWIRE_FINISH_*`: why choice 0 finished; 0: it has not.
    uint32_t finish;
    // The first event that bears a token. A program with a clock learns when it came: in the read
    // in which this became known.
    deltawire_token first;
    // The last event so far that bears a token.
    deltawire_token last;
    // How many events came: every one with a payload, also `[DONE]`, a ping, and one that could not
    // be read. Comments, reconnection times and IDs alone do not count. A JSON object as body is
    // one event.
    uint64_t events;
    // How many of them bear a token.
    uint64_t token_events;
    // Content of all choices.
    deltawire_amount content;
    // Reasoning of all choices.
    deltawire_amount reasoning;
    // Refusals of all choices.
    deltawire_amount refusal;
    // Arguments of all calls, custom tools' inputs and `function_call`s. Arguments that Gemini
    // sends by path do not count.
    deltawire_amount arguments;
    // How many tool calls and `function_call`s opened, in all choices.
    uint32_t calls;
    // How many elements of `call_names` are names.
    uint32_t names;
    // The names of the first calls that have one, each at most 64 bytes.
    deltawire_str call_names[DELTAWIRE_METER_NAMES];
    // The first `model` that came, at most 128 bytes.
    deltawire_str model;
    // The first `id` of the response that came, at most 128 bytes.
    deltawire_str id;
    // The finish reason of choice 0 as the message has it, in the word of chat completions if there
    // is one; at most 64 bytes.
    deltawire_str finish_reason;
    // The first error of the API: its type, else its code, else `error`; at most 128 bytes.
    deltawire_str error;
    // The counts so far, as `deltawire_last_usage` has them; `has` is 0 if none came. Bill these,
    // or `iterations`.
    deltawire_usage usage;
    // The sum of Anthropic's `usage.iterations`; `has` is 0 if none came. It includes what `usage`
    // has: that is the sum of those iterations alone whose `type` is `message`. Bill the one or the
    // other, never both.
    deltawire_usage iterations;
    // The sum of those iterations whose `type` is not `message`, such as a compaction.
    deltawire_usage other_iterations;
    // `tool_usage` of Responses, as raw JSON: what tools of the server used. Absent if it is longer
    // than 512 bytes.
    deltawire_str tool_usage;
} deltawire_meter;

// A deltawire_meter with its size; all other members are zero.
#define DELTAWIRE_METER_INIT \
    {sizeof(deltawire_meter), 0, {0, 0, 0, 0}, {0, 0, 0, 0}, 0, 0, {0, 0}, {0, 0}, {0, 0}, {0, 0}, \
     0, 0, {{NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, \
     {NULL, 0}}, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, DELTAWIRE_USAGE_INIT, \
     DELTAWIRE_USAGE_INIT, DELTAWIRE_USAGE_INIT, {NULL, 0}}

// Writes what the parser keeps of its stream in `DELTAWIRE_MODE_USAGE`, at any time, also after a
// stream was cut. Answers OK, E_NULL, E_ALIGN, E_STATE (also in another mode), E_REENTRANT,
// E_CONFIG (`size`).
deltawire_status deltawire_meter_of(const deltawire_parser *p, deltawire_meter *out);

// The last event ID: send it as `Last-Event-ID` to reconnect. Bytes, valid until the next call on
// the parser. Answers OK, ABSENT, E_NULL, E_ALIGN, E_STATE, E_REENTRANT.
deltawire_status deltawire_last_event_id(const deltawire_parser *p, deltawire_str *out);

// After E_STRICT: the number of the quirk; otherwise, and from a callback, `DELTAWIRE_QUIRKS`.
uint32_t deltawire_error_quirk(const deltawire_parser *p);

// After a status of -100 or below: the stream offset of the event that failed; otherwise 0.
uint64_t deltawire_error_offset(const deltawire_parser *p);

// -------------------------------------------------------------------------------------------------
// Chunks

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

// `usage`, if it is an object that is not empty; or the member that has the usage, if the provider
// sends it under another name.
#define DELTAWIRE_F_USAGE 8

// The error, wherever the provider sends it and in whatever shape; its type may be
// `DELTAWIRE_T_TEXT`.
#define DELTAWIRE_F_ERROR 9

// Memory for `deltawire_chunk_open`. The chunk points into it: do not move it while the chunk is in
// use.
typedef struct {
    // Private to the library.
    uint64_t opaque[104];
} deltawire_chunk_storage;

// Indexes a JSON payload in one pass, without a parser. `*out` points into `mem` and to `json`:
// both must stay in place while the chunk is in use. The index has the members of chat completions.
// Of an event of another protocol it has the members with the same names, as sent, but no token
// counts (`deltawire_last_usage` has those). Answers OK, ABSENT (not a JSON object), E_NULL,
// E_ALIGN, E_RANGE (`len`).
deltawire_status deltawire_chunk_open(const void *json,
                                      size_t len,
                                      deltawire_chunk_storage *mem,
                                      const deltawire_chunk **out);

// Returns a known member (`DELTAWIRE_F_*`). A member that is `null`, `""` or an empty object counts
// as absent. Answers OK, ABSENT, E_NULL, E_RANGE (`field`).
deltawire_status deltawire_chunk_field(const deltawire_chunk *c,
                                       uint32_t field,
                                       deltawire_value *out);

// Returns any member of the top level, by its decoded name in UTF-8. If several members have the
// name, the last counts. Answers OK, ABSENT, E_NULL, E_RANGE (`len`).
deltawire_status deltawire_chunk_member(const deltawire_chunk *c,
                                        const char *name,
                                        size_t len,
                                        deltawire_value *out);

// Returns where a value of a chunk lies in the event's bytes on the wire, so that a gateway can
// replace it and send every other byte as it came: `*start` and `*end` are offsets in `event`.
// `value` must point into the payload, as `deltawire_chunk_field`, `deltawire_chunk_member` and
// `deltawire_value_member` return it. `event` are the bytes of the event (`start` to `end` of its
// deltawire_at or of its frame), however reads cut it. They are compared with the payload, so a
// wrong place is never returned. If the value lies in several data lines, what replaces it makes
// one line of them. What replaces it is JSON in one line.
//
// Answers OK, ABSENT (the payload is not what the data lines have, or another field is between the
// lines of the value: send the event as it is), E_NULL, E_RANGE (`len`).
deltawire_status deltawire_chunk_place(const deltawire_chunk *c,
                                       const void *event,
                                       size_t len,
                                       const deltawire_value *value,
                                       size_t *start,
                                       size_t *end);

// Returns the payload: the data lines of the event, joined by LF. Answers OK, E_NULL.
deltawire_status deltawire_chunk_payload(const deltawire_chunk *c, deltawire_str *out);

// Returns the token counts of the chunk. Answers OK, ABSENT, E_NULL, E_CONFIG (`size`).
deltawire_status deltawire_chunk_usage(const deltawire_chunk *c, deltawire_usage *out);

// -------------------------------------------------------------------------------------------------
// Values

// A number: (negative ? -1 : 1) * digits * 10^exp10.
typedef struct {
    // The first 19 significant digits.
    uint64_t digits;
    // The power of ten.
    int32_t exp10;
    // 1 if the number is below 0, or is -0.
    uint8_t negative;
    // 1 if `digits` and `exp10` are exactly the number; 0 if digits other than zero were cut off,
    // or the exponent does not fit.
    uint8_t exact;
    // Always 0.
    uint8_t reserved[2];
} deltawire_decimal;

// Makes a value of JSON bytes. Whitespace around the value is skipped. The function checks the
// bytes only as far as finding the end of the value requires. Answers OK, ABSENT (not JSON, or
// bytes follow the value), E_NULL, E_RANGE (`len`).
deltawire_status deltawire_value_open(const void *json, size_t len, deltawire_value *out);

// Splits a member, `"name":value`, which is the text of a `DELTAWIRE_META_*MEMBER`. `key`, unless
// NULL, receives the name, `out` the value. Whitespace between them is skipped. Answers OK, ABSENT
// (not a member), E_NULL, E_RANGE (`len`).
deltawire_status deltawire_value_open_member(const void *member,
                                             size_t len,
                                             deltawire_value *key,
                                             deltawire_value *out);

// Makes a value of type `DELTAWIRE_T_TEXT` of any bytes; `deltawire_value_text` decodes it to valid
// UTF-8. Answers OK, E_NULL, E_RANGE (`len`).
deltawire_status deltawire_value_plain(const void *bytes, size_t len, deltawire_value *out);

// Returns the member of an object with this decoded name in UTF-8. If several members have the
// name, the last counts. Reads the object once. Answers OK, ABSENT (no such member, or not an
// object), E_NULL, E_RANGE (`len`).
deltawire_status deltawire_value_member(const deltawire_value *v,
                                        const char *name,
                                        size_t len,
                                        deltawire_value *out);

// Returns the next element of an array, or the next member of an object; `key`, unless NULL,
// receives the member's name. Set `*cursor` to 0 before the first call. Answers OK, ABSENT (the
// container or its well-formed part ends; or not a container), E_NULL.
deltawire_status deltawire_value_next(const deltawire_value *container,
                                      size_t *cursor,
                                      deltawire_value *key,
                                      deltawire_value *out);

// Decodes a string or a plain text into `buf`; copies a number, `true` or `false` as it is written.
// `*need`, unless NULL, receives the length. The text is not ended by NUL. To ask for the length,
// `buf` may be NULL with length 0. Answers OK, ABSENT (another type), E_NULL, E_SMALL (nothing was
// written to `buf`).
deltawire_status deltawire_value_text(const deltawire_value *v,
                                      char *buf,
                                      size_t cap,
                                      size_t *need);

// Returns the text of a value without a copy, if it has no escapes and is valid UTF-8. Answers OK,
// ABSENT (another type, or `deltawire_value_text` must decode the text), E_NULL.
deltawire_status deltawire_value_str(const deltawire_value *v, deltawire_str *out);

// Whether the value is a string or plain text that decodes to `s`. Answers OK, ABSENT (it is not),
// E_NULL, E_RANGE (`len`).
deltawire_status deltawire_value_equals(const deltawire_value *v, const char *s, size_t len);

// Returns a number as an unsigned integer, in whatever notation (`10.0`, `1e3`). Answers OK, ABSENT
// (not a number), E_NULL, E_RANGE (not an integer of this type).
deltawire_status deltawire_value_u64(const deltawire_value *v, uint64_t *out);

// Returns a number as a signed integer, in whatever notation (`10.0`, `1e3`). Answers OK, ABSENT
// (not a number), E_NULL, E_RANGE (not an integer of this type).
deltawire_status deltawire_value_i64(const deltawire_value *v, int64_t *out);

// Returns a number as digits and a power of ten. `deltawire.hpp` converts these to a double.
// Answers OK, ABSENT (not a number), E_NULL.
deltawire_status deltawire_value_decimal(const deltawire_value *v, deltawire_decimal *out);

// Returns the token counts of a `usage` object, which may come from `on_usage`, from
// `DELTAWIRE_F_USAGE`, from the text of a `DELTAWIRE_EV_USAGE` in a batch, or from a stored body or
// message. The function knows the member names of chat completions, Responses, Anthropic and
// Gemini. Answers OK, ABSENT (not an object, or an empty one), E_NULL, E_CONFIG (`size`).
deltawire_status deltawire_value_usage(const deltawire_value *v, deltawire_usage *out);

// Part of an error: its message, for people to read.
#define DELTAWIRE_ERROR_MESSAGE 0

// Part of an error: `code`, `status_code`, `statusCode` or `error_code`, a string or a number; or
// the code of the first of its `errors`.
#define DELTAWIRE_ERROR_CODE 1

// Part of an error: `type` (unless its value is `error`), `error_type`, or a `status` in words.
#define DELTAWIRE_ERROR_TYPE 2

// Part of an error: `param`.
#define DELTAWIRE_ERROR_PARAM 3

// Part of an error: `metadata`, any JSON.
#define DELTAWIRE_ERROR_METADATA 4

// Returns a part of an error (`DELTAWIRE_ERROR_*`), whichever member the provider puts it in.
// `error` is the value that `on_error` or `on_choice_error` received, or that `DELTAWIRE_F_ERROR`
// returned. To make a value of a batch's text, call `deltawire_value_open`, or
// `deltawire_value_plain` if the event has the flag `DELTAWIRE_EVF_PLAIN`. Answers OK, ABSENT,
// E_NULL, E_RANGE (`field`).
deltawire_status deltawire_error_field(const deltawire_value *error,
                                       uint32_t field,
                                       deltawire_value *out);

// -------------------------------------------------------------------------------------------------
// The whole message

// An assembler. Its address is that of its block: `(deltawire_message *)mem`.
typedef struct deltawire_message deltawire_message;

// The kinds that a message is made of, for `deltawire_config.events`: `DELTAWIRE_MASK(kind)`,
// or-ed. They are all kinds from `DELTAWIRE_EV_CHUNK` to `DELTAWIRE_EV_ERROR`, and
// `DELTAWIRE_EV_LIMIT`, `_META`, `_ANNOTATION`, `_SIGNATURE`, `_MEDIA`, `_NATIVE` and
// `_TOOL_CALL_END`.
#define DELTAWIRE_MESSAGE_EVENTS 879469789120

// How many bytes of an assembler's block its state and tables of the default size take, with room
// to spare; the log is the rest. This constant grows only with `DELTAWIRE_ABI`.
#define DELTAWIRE_MESSAGE_STATE_SIZE 4096

// The size of an assembler's block, in bytes, with the default config and a log of `log_bytes`.
#define DELTAWIRE_MESSAGE_SIZE(log_bytes) \
    (DELTAWIRE_MESSAGE_STATE_SIZE + \
     (((log_bytes) + sizeof(uint64_t) - 1u) & ~(sizeof(uint64_t) - 1u)))

// The size of an assembler's block, in bytes, with a log of `log_bytes`; a text takes about its own
// length in the log. Only `max_choices` and `max_tool_calls` of the config matter. `cfg` may
// be NULL: both then have their defaults, and the size is at most
// `DELTAWIRE_MESSAGE_SIZE(log_bytes)`. Returns 0 if no block is that large, or if
// `deltawire_message_init` would answer E_CONFIG.
size_t deltawire_message_size(const deltawire_config *cfg, size_t log_bytes);

// Makes an assembler in the block `mem` of `mem_len` bytes, as `deltawire_init` makes a parser.
// Give both the same config, so that both have room for the same choices and tool calls: only
// `max_choices` and `max_tool_calls` matter here. An assembler with less room than its parser
// leaves out the other choices and calls; `deltawire_message_limit` says so. Answers OK, E_NULL,
// E_ALIGN, E_SMALL, E_RANGE (`mem_len`), E_CONFIG.
deltawire_status deltawire_message_init(void *mem,
                                        size_t mem_len,
                                        const deltawire_config *cfg,
                                        deltawire_message **out);

// Begins a new message. Answers OK, E_NULL, E_ALIGN, E_STATE.
deltawire_status deltawire_message_reset(deltawire_message *m);

// The size of the block that the assembler needs, in bytes. After NEED_STORAGE that is the size to
// move to; otherwise it is the smallest size that holds the message. Returns 0 if `m` is not an
// assembler.
size_t deltawire_message_need(const deltawire_message *m);

// Moves the assembler to another block, as `deltawire_move` does a parser. Answers OK, E_NULL,
// E_ALIGN, E_STATE, E_SMALL, E_RANGE (`mem_len`; the blocks overlap).
deltawire_status deltawire_message_move(void *mem,
                                        size_t mem_len,
                                        const deltawire_message *src,
                                        deltawire_message **out);

// Tells the assembler that its block has `mem_len` bytes now, as `deltawire_resize` does. Answers
// OK, E_NULL, E_ALIGN, E_STATE, E_SMALL, E_RANGE (beyond any memory).
deltawire_status deltawire_message_resize(deltawire_message *m, size_t mem_len);

// Reads as `deltawire_feed` does, and adds what is read to the message. `w` may be NULL unless the
// parser has `DELTAWIRE_CFG_SHARED`; `cbs` may be NULL. The message takes each event before a
// callback does.
//
// NEED_STORAGE: the block of the message is too small if `deltawire_message_is_full` returns 1,
// otherwise that of the parser. Enlarge it (`deltawire_message_need`, `deltawire_need`), and call
// again with the bytes from `consumed` on. Begin both together: `deltawire_reset` and
// `deltawire_message_reset`. After AGAIN, go on with this function and this message: the message
// may have the delta that the target has not. The message leaves out what is beyond a limit
// (`deltawire_message_limit`). Answers as `deltawire_feed_with` and, for `m`, E_NULL, E_ALIGN,
// E_STATE.
deltawire_status deltawire_message_feed(deltawire_message *m,
                                        deltawire_parser *p,
                                        deltawire_workspace *w,
                                        const void *data,
                                        size_t len,
                                        const deltawire_callbacks *cbs,
                                        void *user,
                                        size_t *consumed);

// Ends the stream as `deltawire_finish` does, and adds its last events to the message. Answers as
// `deltawire_message_feed`, NEED_STORAGE only for the message.
deltawire_status deltawire_message_finish(deltawire_message *m,
                                          deltawire_parser *p,
                                          deltawire_workspace *w,
                                          const deltawire_callbacks *cbs,
                                          void *user);

// Reads as `deltawire_batch` does, and adds what is read to the message, whichever kinds the array
// has (`events` of the config). `w` may be NULL unless the parser has `DELTAWIRE_CFG_SHARED`.
// NEED_STORAGE is as in `deltawire_message_feed`: process the events first. Answers as
// `deltawire_batch_with` and, for `m`, E_NULL, E_ALIGN, E_STATE.
deltawire_status deltawire_message_batch(deltawire_message *m,
                                         deltawire_parser *p,
                                         deltawire_workspace *w,
                                         const void *data,
                                         size_t len,
                                         deltawire_event *events,
                                         size_t cap,
                                         void *scratch,
                                         size_t scratch_len,
                                         deltawire_batch_result *out);

// Ends the stream as `deltawire_batch_finish` does, and adds its last events to the message.
// Answers as `deltawire_message_batch`, NEED_STORAGE only for the message.
deltawire_status deltawire_message_batch_finish(deltawire_message *m,
                                                deltawire_parser *p,
                                                deltawire_workspace *w,
                                                deltawire_event *events,
                                                size_t cap,
                                                void *scratch,
                                                size_t scratch_len,
                                                deltawire_batch_result *out);

// Returns 1 if the last event did not fit into the block of the message; 0 if it did, or if `m` is
// not an assembler.
uint32_t deltawire_message_is_full(const deltawire_message *m);

// How many choices the message has; 0 if `m` is not an assembler.
uint32_t deltawire_message_choices(const deltawire_message *m);

// Returns the index of the `n`th choice; choices are in ascending order of their indexes. Answers
// OK, ABSENT, E_NULL, E_ALIGN, E_STATE.
deltawire_status deltawire_message_choice_index(const deltawire_message *m,
                                                uint32_t n,
                                                uint32_t *out);

// How many tool calls the choice with this index has.
uint32_t deltawire_message_calls(const deltawire_message *m, uint32_t choice);

// Why the assembler first left something out of the message, as `DELTAWIRE_LIMIT_*`; 0 if it left
// out nothing.
uint32_t deltawire_message_limit(const deltawire_message *m);

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

// Field of a message: the last `usage`, JSON, with the members of later ones that have neither
// prompt, completion nor total. The counts of other protocols have the names of chat completions.
#define DELTAWIRE_M_USAGE 6

// Field of a message: the first error, JSON or plain text.
#define DELTAWIRE_M_ERROR 7

// Field of a message: the message of that error.
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

// Field of a choice: the last finish reason, in the words of chat completions, whatever the
// protocol.
#define DELTAWIRE_M_FINISH 15

// Field of a choice: in other protocols than chat completions, the finish reason as sent; in chat
// completions, `native_finish_reason`, OpenRouter's member for the reason of the model's own
// provider.
#define DELTAWIRE_M_NATIVE_FINISH 16

// Field of a choice: the first error that belongs to this choice, JSON.
#define DELTAWIRE_M_CHOICE_ERROR 17

// Field of a choice: the message of that error.
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

// Field of a choice: its audio, JSON: an array of the pieces as sent, each in base64. A piece may
// have padding at its end, so decode each piece, then join the bytes.
#define DELTAWIRE_M_AUDIO_DATA 24

// Field of a choice: the transcript of its audio.
#define DELTAWIRE_M_AUDIO_TRANSCRIPT 25

// Field of a call: its ID.
#define DELTAWIRE_M_CALL_ID 26

// Field of a call: its type, as sent. Absent in other protocols than chat completions, where the
// flag `DELTAWIRE_EVF_CUSTOM` of the call's event tells custom tools from functions.
#define DELTAWIRE_M_CALL_TYPE 27

// Field of a call: its name.
#define DELTAWIRE_M_CALL_NAME 28

// Field of a call: its arguments, or the input of a custom tool. Gemini's arguments are an object
// as the server wrote it, with its whitespace and line breaks.
#define DELTAWIRE_M_CALL_ARGUMENTS 29

// Field of a choice: `reasoning_details`, JSON, with the fragments of each entry joined.
#define DELTAWIRE_M_REASONING_DETAILS 30

// Field of a choice: the name of the member that contained its first reasoning:
// `reasoning_content`, `reasoning`, `thinking`, `thought` or `reasoning_text`. Absent if only
// `reasoning_details` or parts of the content contained reasoning.
#define DELTAWIRE_M_REASONING_NAME 31

// Field of a message of another protocol than chat completions: its usage under its own names,
// JSON.
#define DELTAWIRE_M_NATIVE_USAGE 32

// Field of a choice of another protocol: its signatures, JSON: an array.
#define DELTAWIRE_M_SIGNATURES 33

// Field of a choice of another protocol: the parts that no other field contains, JSON: an array.
#define DELTAWIRE_M_NATIVE_CONTENT 34

// Copies a text of the message (`DELTAWIRE_M_*`) into `buf`. `choice` is the index of a choice, and
// `call` the position of a call among that choice's calls in the finished message. It may differ
// from `call` of an event, because the message lists the calls of chat completions by index. Give 0
// where the field needs no choice or no call. `*need`, unless NULL, receives the length. The text
// is not ended by NUL; fields that are JSON are copied as they were sent. Each call reads the log
// once. Answers OK, ABSENT, E_NULL, E_ALIGN, E_STATE, E_RANGE (`field`), E_SMALL (nothing was
// written to `buf`).
deltawire_status deltawire_message_text(const deltawire_message *m,
                                        uint32_t field,
                                        uint32_t choice,
                                        uint32_t call,
                                        char *buf,
                                        size_t cap,
                                        size_t *need);

// Flag of `deltawire_message_json`: include the members that only gateways and providers send
// (`provider`, `native_finish_reason`, `reasoning_details`, and every unknown member), write the
// reasoning under its name in the stream (`DELTAWIRE_M_REASONING_NAME`), and write `data` of audio
// as an array of its pieces.
#define DELTAWIRE_JSON_EXTENDED 1

// Copies the whole message as JSON, as `deltawire_message_text` copies a text: a `chat.completion`,
// as the API sends it without streaming. After a cut stream, or one with nothing of a message, the
// JSON contains only what came: check `complete` of `deltawire_end` and `deltawire_message_limit`
// first. An error of the API is a member `error` of the message or of a choice. `flags`:
// `DELTAWIRE_JSON_*`. Answers OK, E_NULL, E_ALIGN, E_STATE, E_RANGE (`flags`), E_SMALL.
deltawire_status deltawire_message_json(const deltawire_message *m,
                                        uint32_t flags,
                                        char *buf,
                                        size_t cap,
                                        size_t *need);

// Owner for `deltawire_message_member`: the chunks.
#define DELTAWIRE_OWNER_CHUNK 0

// Owner for `deltawire_message_member`: a choice.
#define DELTAWIRE_OWNER_CHOICE 1

// Owner for `deltawire_message_member`: the deltas of a choice, or its `message`.
#define DELTAWIRE_OWNER_DELTA 2

// Owner for `deltawire_message_member`: a tool call. Send its members (`extra_content` with the
// signature of a thought) back with the call.
#define DELTAWIRE_OWNER_CALL 3

// Owner for `deltawire_message_member`: the `function` of a tool call, or its `custom` tool.
#define DELTAWIRE_OWNER_FUNCTION 4

// Owner for `deltawire_message_member`: the usage of Anthropic, merged from several events; of
// chat completions, what usages of details added to the last one.
#define DELTAWIRE_OWNER_USAGE 5

// Copies a member that has no `DELTAWIRE_M_*`, such as a provider's `citations` or `timings`, into
// `buf`, as `deltawire_message_text` copies a text. The value is raw JSON, the last one that was
// not null; lists of a delta (`images`), except `citations`, become one. `owner`:
// `DELTAWIRE_OWNER_*`; `choice` is the index of the choice, 0 for a member of the chunks; `call`
// is the position of the call, as in `deltawire_message_text`; `name` is UTF-8 of `name_len`
// bytes. Answers OK, ABSENT, E_NULL, E_ALIGN, E_STATE, E_RANGE (`owner`, `name_len`), E_SMALL.
deltawire_status deltawire_message_member(const deltawire_message *m,
                                          uint32_t owner,
                                          uint32_t choice,
                                          uint32_t call,
                                          const char *name,
                                          size_t name_len,
                                          char *buf,
                                          size_t cap,
                                          size_t *need);

// -------------------------------------------------------------------------------------------------
// Writing

// The request has `stream_options.include_usage`: each chunk of a chat completion has a `usage`,
// and the last one has the counts. The other protocols always write the usage.
#define DELTAWIRE_WRITE_USAGE 1

// Each event has an `id`: its sequence number.
#define DELTAWIRE_WRITE_EVENT_IDS 2

// How a stream is written, and what each of its events repeats. A member that is 0 or absent
// selects its default. `deltawire_writer_init` copies the struct and its texts.
typedef struct {
    // `sizeof(deltawire_writer_config)`; `DELTAWIRE_WRITER_CONFIG_INIT` sets it.
    uint32_t size;
    // `DELTAWIRE_PROTOCOL_*`: CHAT, RESPONSES or ANTHROPIC.
    uint32_t protocol;
    // `DELTAWIRE_WRITE_*`, or-ed.
    uint32_t flags;
    // A text is cut into events of at most this many bytes of text, between characters. 0 is 4096;
    // at least 16.
    uint32_t text_len;
    // How long the client waits before it reconnects, in milliseconds, sent with the first event.
    // 0: nothing is sent.
    uint32_t retry;
    // Always 0.
    uint32_t reserved;
    // When the response was made, in seconds since 1970.
    uint64_t created;
    // The sequence number of the first event.
    uint64_t first_sequence;
    // The ID of the response, UTF-8. If ID or model is absent, or `created` 0, a translation
    // (`deltawire_translate`) takes that of the response that it reads.
    deltawire_str id;
    // The model, UTF-8.
    deltawire_str model;
    // More members, a JSON object: those of every chunk in chat completions, of the response in
    // Responses, of the message in Anthropic Messages. docs/writing.md has the defaults of members
    // that Responses demands.
    deltawire_str members;
} deltawire_writer_config;

// A deltawire_writer_config with its size; all other members are zero or absent.
#define DELTAWIRE_WRITER_CONFIG_INIT \
    {sizeof(deltawire_writer_config), 0, 0, 0, 0, 0, 0, 0, {NULL, 0}, {NULL, 0}, {NULL, 0}}

// How many bytes of a writer's block its state takes, with room to spare; its memory is the rest.
// This constant grows only with `DELTAWIRE_ABI`.
#define DELTAWIRE_WRITER_STATE_SIZE 3072

// The size of a writer's block, in bytes, with `bytes` for the ID, the model and the members of its
// config (in chat completions twice, escaped) and for what has to be written later.
#define DELTAWIRE_WRITER_SIZE(bytes) \
    (DELTAWIRE_WRITER_STATE_SIZE + (((bytes) + sizeof(uint64_t) - 1u) & ~(sizeof(uint64_t) - 1u)))

// A writer: it turns the events of a response into the bytes of an event stream. Its address is
// that of its block: `(deltawire_writer *)mem`.
typedef struct deltawire_writer deltawire_writer;

// The size of a writer's block, in bytes, that has room for what each event repeats and for
// `bytes` more of what has to be written later: the texts of Responses, escaped, and the fragments
// of tool calls that wait. Returns 0 if no block is that large, or if `deltawire_writer_init`
// would not answer OK for `cfg`.
size_t deltawire_writer_size(const deltawire_writer_config *cfg, size_t bytes);

// Makes a writer in the block `mem` of `mem_len` bytes. `*out`, unless `out` is NULL, becomes
// `(deltawire_writer *)mem`. Nothing is written to the stream yet. Answers OK, E_NULL, E_ALIGN,
// E_SMALL (less than `deltawire_writer_size(cfg, 0)`), E_RANGE (beyond any memory), E_CONFIG
// (`size`; a protocol that is not written; unknown flags; an ID or a model that is not UTF-8;
// `members` that are no JSON object). On failure nothing is written.
deltawire_status deltawire_writer_init(void *mem,
                                       size_t mem_len,
                                       const deltawire_writer_config *cfg,
                                       deltawire_writer **out);

// Writes an event of a response: what a parser emitted, or what the program says. Of the event
// only `kind`, `flags`, `choice`, `call`, `code` and `number` count, with the meaning that the
// comment of its kind gives them; `text` is its Text, `aux` its Aux. (Flags that tell where texts
// lie have no meaning here.) To write a text, a zeroed event with its `kind` is enough; a name
// that comes whole has `DELTAWIRE_EVF_REPLACES`, plain text instead of the JSON of an error
// `DELTAWIRE_EVF_PLAIN`. Join a text of JSON that came in pieces first. docs/writing.md tells what
// becomes of each kind.
//
// `buf` of `cap` bytes collects what is to be sent: `*len` bytes of it are written so far, and the
// call adds whole events behind them. Set `*len` to 0 before the first call, and whenever you have
// sent them.
//
// NEED_ROOM: the next event does not fit. Send what `buf` has, give at least
// `deltawire_writer_room` bytes, and call again with the same event and texts; what was written of
// it is not written twice. NEED_STORAGE: the block is too small for what has to be written later.
// Give the writer a block of `deltawire_writer_need` bytes (`deltawire_writer_resize`), and call
// again with the same event. After any status below 0 the event is left out; no more of it may be
// written than the beginning of its choice or its part. The stream goes on with the next event.
//
// Answers OK, NEED_ROOM, NEED_STORAGE, E_NULL, E_ALIGN, E_STATE, E_RANGE (a length; an unknown
// kind; a choice from 64 on; more calls than 32), E_NO_PLACE (the protocol has no place for the
// event), E_LATE (its choice finished, or its call is over), E_JSON, E_ENDED, E_UNFINISHED (only
// `deltawire_writer_finish`).
deltawire_status deltawire_writer_put(deltawire_writer *w,
                                      const deltawire_event *event,
                                      const char *text,
                                      size_t text_len,
                                      const char *aux,
                                      size_t aux_len,
                                      char *buf,
                                      size_t cap,
                                      size_t *len);

// Ends the stream after every choice has a finish reason: closes what is open, and writes the
// usage and the end. Answers as `deltawire_writer_put`, and E_UNFINISHED if a choice has no finish
// reason, or none began: call `deltawire_writer_fail`, so that nobody takes the stream for whole.
// A stream that is dropped without either looks cut.
deltawire_status deltawire_writer_finish(deltawire_writer *w, char *buf, size_t cap, size_t *len);

// Ends the stream with an error of this message, with the counts of tokens so far where the
// protocol has a place for them, and without the end that a whole stream has. An error in JSON is
// an event, `DELTAWIRE_EV_ERROR`. Answers as `deltawire_writer_put`.
deltawire_status deltawire_writer_fail(deltawire_writer *w,
                                       const char *message,
                                       size_t message_len,
                                       char *buf,
                                       size_t cap,
                                       size_t *len);

// Writes what only keeps the connection alive: a `ping` in Anthropic Messages once the message
// began, else a comment. Answers as `deltawire_writer_put`.
deltawire_status deltawire_writer_keep_alive(deltawire_writer *w,
                                             char *buf,
                                             size_t cap,
                                             size_t *len);

// The room that the next event needs, in bytes: after NEED_ROOM `cap - *len` must be at least
// this. Returns 0 if the last call had enough, or if `w` is not a writer.
size_t deltawire_writer_room(const deltawire_writer *w);

// The size of the block that the writer needs, in bytes: after NEED_STORAGE the least that the
// event needs (take twice as much, and the block grows seldom); otherwise the smallest size that
// holds what the writer keeps. Returns 0 if `w` is not a writer.
size_t deltawire_writer_need(const deltawire_writer *w);

// Tells the writer that its block has `mem_len` bytes now. To move a writer, copy the bytes of its
// block (`realloc`, or `memcpy` to another block) and call this with the new address. Answers OK,
// E_NULL, E_ALIGN, E_STATE, E_SMALL, E_RANGE (beyond any memory).
deltawire_status deltawire_writer_resize(deltawire_writer *w, size_t mem_len);

// Reads `len` bytes with `p`, and writes what becomes of the response with `w`: bytes of one
// protocol go in, bytes of another come out. The writer keeps a finish reason for the end,
// because some servers send more after one. If its config has no ID, no model or no time, they
// are those of the response. Callbacks and `events` of the parser's config have no meaning here.
// docs/writing.md tells what becomes of what.
//
// `buf` of `cap` bytes collects what is to be sent, as in `deltawire_writer_put`. Set `*written`
// to 0 before the first call, and whenever you have sent them. `*consumed`, unless `consumed` is
// NULL, is written on every path.
//
// NEED_ROOM: send what `buf` has, and give at least `deltawire_writer_room` bytes. NEED_STORAGE:
// if `deltawire_writer_need` is more than the writer's block has, give the writer a larger one,
// else the parser (`deltawire_need`). After both, call again with the bytes from `consumed` on.
// What cannot be written is counted (`deltawire_translate_left_out`), and the call goes on.
//
// Answers OK, NEED_ROOM, NEED_STORAGE, E_NULL, E_ALIGN, E_STATE (also after the end; while an
// event of a feed or a batch is pending; for a parser with `DELTAWIRE_CFG_SHARED`), E_REENTRANT,
// E_RANGE (a length), E_RESUME, E_STRICT, E_ABORTED and E_CALLBACK (after a feed that answered
// so).
deltawire_status deltawire_translate(deltawire_writer *w,
                                     deltawire_parser *p,
                                     const void *data,
                                     size_t len,
                                     size_t *consumed,
                                     char *buf,
                                     size_t cap,
                                     size_t *written);

// Ends the stream that `p` reads, as `deltawire_finish` does, and the one that `w` writes: with
// the finish reasons if the response is complete (`deltawire_end_of`), else with an error. A
// response of which nothing came leaves nothing. Call again while the answer is above 0. Answers
// as `deltawire_translate`.
deltawire_status deltawire_translate_finish(deltawire_writer *w,
                                            deltawire_parser *p,
                                            char *buf,
                                            size_t cap,
                                            size_t *written);

// What a translation left out. `*without_place`, unless `without_place` is NULL, becomes the number
// of updates that the protocol has no place for, and `*lost`, unless `lost` is NULL, of those that
// could not be written for another reason. Answers OK, E_NULL, E_ALIGN, E_STATE.
deltawire_status deltawire_translate_left_out(const deltawire_writer *w,
                                              uint64_t *without_place,
                                              uint64_t *lost);

// -------------------------------------------------------------------------------------------------
// Quirks

// Every quirk number is below this.
#define DELTAWIRE_QUIRKS 128

// F6: a payload continued in lines without `data:`.
#define DELTAWIRE_QUIRK_CONTINUED_PAYLOAD 0

// F8: a keep-alive was sent as data.
#define DELTAWIRE_QUIRK_KEEP_ALIVE_DATA 1

// F11: an event ID over the limit was ignored.
#define DELTAWIRE_QUIRK_LONG_ID 2

// F12: the last event had no blank line after it.
#define DELTAWIRE_QUIRK_UNTERMINATED_EVENT 3

// F13: ill-formed UTF-8 was replaced by U+FFFD.
#define DELTAWIRE_QUIRK_ILL_FORMED_UTF8 4

// F18: an error came as a field named `error`.
#define DELTAWIRE_QUIRK_ERROR_FIELD 5

// F20: a JSON body came instead of an event stream.
#define DELTAWIRE_QUIRK_JSON_BODY 6

// F21: several JSON values came instead of an event stream.
#define DELTAWIRE_QUIRK_NDJSON 7

// F23: a JSON value without `data:` came between events.
#define DELTAWIRE_QUIRK_JSON_BETWEEN_EVENTS 8

// F25: something came after [DONE].
#define DELTAWIRE_QUIRK_EVENT_AFTER_DONE 9

// F26: [DONE] came without `data:`.
#define DELTAWIRE_QUIRK_BARE_DONE 10

// C3: a chunk or its choices were null.
#define DELTAWIRE_QUIRK_NULL_CHUNK 11

// C4: a choice had no index.
#define DELTAWIRE_QUIRK_MISSING_CHOICE_INDEX 12

// C8: a content part of an unknown type was left out.
#define DELTAWIRE_QUIRK_UNKNOWN_CONTENT_PART 13

// C14: an index was negative, a string or another odd value.
#define DELTAWIRE_QUIRK_ODD_INDEX 14

// C15: another tool call came under an index already in use.
#define DELTAWIRE_QUIRK_REUSED_CALL_INDEX 15

// C18: tool call arguments were JSON instead of text.
#define DELTAWIRE_QUIRK_ARGUMENTS_NOT_TEXT 16

// C19: tool call arguments continued after they were complete.
#define DELTAWIRE_QUIRK_ARGUMENTS_AFTER_END 17

// C23: a choice continued after its finish reason.
#define DELTAWIRE_QUIRK_DELTA_AFTER_FINISH 18

// C23: a choice had more than one finish reason.
#define DELTAWIRE_QUIRK_SECOND_FINISH 19

// C27: a known member had a value of an unexpected type.
#define DELTAWIRE_QUIRK_ODD_TYPE 20

// C31: half a surrogate pair was replaced by U+FFFD.
#define DELTAWIRE_QUIRK_LONE_SURROGATE 21

// C32: a known member came twice in one object.
#define DELTAWIRE_QUIRK_DUPLICATE_MEMBER 22

// C32: the string "None" or "null" came instead of null.
#define DELTAWIRE_QUIRK_NONE_STRING 23

// C33: a string contained a raw control character.
#define DELTAWIRE_QUIRK_RAW_CONTROL 24

// C33: an escape that JSON does not define was kept unchanged.
#define DELTAWIRE_QUIRK_BAD_ESCAPE 25

// C16: a fragment of a tool call came with another ID.
#define DELTAWIRE_QUIRK_CHANGED_CALL_ID 26

// C35: a message so far does not continue the one before, or a response began before another ended.
#define DELTAWIRE_QUIRK_REPLACED_MESSAGE 27

// F28: one block held several JSON values.
#define DELTAWIRE_QUIRK_SEVERAL_VALUES 28

// F29: an event of another protocol came.
#define DELTAWIRE_QUIRK_FOREIGN_EVENT 29

// C36: arguments came by path: deltas have them as members of the call, a message joins them.
#define DELTAWIRE_QUIRK_PARTIAL_ARGUMENTS 30

// C37: an event of Responses had no output_index, or that of another output item.
#define DELTAWIRE_QUIRK_ODD_ITEM_INDEX 31

// C38: a finished text or tool call of Responses differs from its deltas.
#define DELTAWIRE_QUIRK_CHANGED_TEXT 32

// C39: a delta of Responses came after its text was done.
#define DELTAWIRE_QUIRK_DELTA_AFTER_DONE 33

// C40: a text came in members or events that nobody documents.
#define DELTAWIRE_QUIRK_UNKNOWN_TEXT 34

// C41: a fragment without ID and name, under another index, continued the call opened last.
#define DELTAWIRE_QUIRK_GUESSED_CALL 35

// C41: a fragment without ID and name opened a tool call.
#define DELTAWIRE_QUIRK_NAMELESS_CALL 36

// C42: deltas repeated the text before them: each has all of it so far, or it came once more.
#define DELTAWIRE_QUIRK_REPEATED_TEXT 37

// C43: a choice finished while the arguments of a tool call were cut or no JSON.
#define DELTAWIRE_QUIRK_BROKEN_ARGUMENTS 38

// C44: a log probability was NaN or Infinity, which JSON does not have.
#define DELTAWIRE_QUIRK_NOT_ANUMBER 39

// The code of a quirk in docs/quirks.md, such as `F6`; NULL for unknown numbers. Static, ended by
// NUL.
const char *deltawire_quirk_code(uint32_t quirk);

// The name of a quirk, such as `ContinuedPayload`; NULL for unknown numbers. Static, ended by NUL.
const char *deltawire_quirk_name(uint32_t quirk);

// A quirk in words; NULL for unknown numbers. Static, ended by NUL.
const char *deltawire_quirk_text(uint32_t quirk);

// How often the stream has the quirk; counting stops at 65,535. Returns 0 for unknown numbers, and
// from a callback.
uint64_t deltawire_quirk_count(const deltawire_parser *p, uint32_t quirk);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* DELTAWIRE_H */
