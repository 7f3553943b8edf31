/* The part of the gateway modules that knows streams and no gateway. SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A gateway calls llm_begin when a response's headers came, llm_read for each piece of its body, and llm_end when it is over, however it
 * ended. In between and afterwards llm_fact has what was metered. The gateway forwards the bytes itself; only while llm_hides says so
 * does llm_read hand out what to forward.
 *
 * Nothing here fails a request: if memory is refused or the parser fails, the verdict is `unread` and the bytes pass. One thread at a
 * time may use a stream; streams of one thread may share a workspace. */
#ifndef LLM_METER_H
#define LLM_METER_H

#include <deltawire.h>
#include <stddef.h>
#include <stdint.h>

/* Limit of `max_event` in bytes: what the parser allows. */
#define LLM_MAX_EVENT_MIN 1024u
#define LLM_MAX_EVENT_MAX 0x3fffffffu
#define LLM_MAX_EVENT_DEFAULT (1u << 20)

/* No frame of this many bytes or more is hidden, and no more bytes are ever held. */
#define LLM_HELD_MAX 16384u

/* The longest text of a fact, in bytes. */
#define LLM_TEXT_MAX 128u

/* The facts. Those below LLM_NUMBERS are numbers, the others texts. */
enum llm_fact {
    LLM_PROMPT_TOKENS,
    LLM_COMPLETION_TOKENS,
    LLM_CACHED_TOKENS,
    LLM_REASONING_TOKENS,
    LLM_TOTAL_TOKENS,
    LLM_EVENTS,
    LLM_OUTPUT_CHARS, /* of content, reasoning, refusals and arguments */
    LLM_TTFT_MS,
    LLM_OUTPUT_MS,
    LLM_MAX_GAP_MS,
    LLM_NUMBERS,
    LLM_MODEL = LLM_NUMBERS,
    LLM_PROTOCOL,
    LLM_FINISH_REASON,
    LLM_VERDICT,
    LLM_COMPLETE,
    LLM_ERROR,
    LLM_QUIRKS,
    LLM_ENDED_BY,
    LLM_FACTS
};

/* How a response ended. */
enum llm_ending {
    LLM_UPSTREAM_ENDED, /* as HTTP ends a body: `complete` or `upstream_end` */
    LLM_UPSTREAM_RESET, /* the upstream broke off: `upstream_reset` */
    LLM_CLIENT_LEFT,    /* `client_left` */
    LLM_LOCAL_REPLY     /* the gateway itself answered: `local_reply` */
};

/* The gateway's memory. `alloc` may return NULL; what it returns is aligned as malloc's. */
struct llm_memory {
    void *(*alloc)(void *ctx, size_t size);
    void (*release)(void *ctx, void *mem);
    void *ctx;
};

/* What llm_begin has to know. */
struct llm_response {
    struct llm_memory memory;
    deltawire_workspace *workspace; /* of this thread and this upstream; outlives the stream */
    uint32_t max_event;             /* bytes of the longest event, LLM_MAX_EVENT_MIN to LLM_MAX_EVENT_MAX; 0: 1 MiB */
    uint64_t request_ns;            /* when the request's headers came, on the clock of `now` below */
    deltawire_str content_type;
    deltawire_str content_encoding;
    int has_length;                 /* the response has content-length */
    int hide_usage;                 /* leave chunks out that have only usage, if the response allows it */
};

/* Forwards bytes. Those with `is_held` belong to the stream and change after the call: copy them. Others are a part of the piece that was
 * given to llm_read. Returns 0 on success. */
typedef int (*llm_pass)(void *to, const char *bytes, size_t len, int is_held);

/* A text of a fact: printable ASCII without quotes, or empty if the fact is absent. */
struct llm_text {
    uint32_t len;
    char bytes[LLM_TEXT_MAX];
};

/* A stream. Every member is private to llm_meter.c; the memory may be anywhere, and must not move while the stream is in use. */
struct llm_stream {
    struct llm_memory memory;
    deltawire_workspace *workspace;
    deltawire_parser *parser; /* NULL: not read, or over */
    size_t size, small;       /* bytes of the parser's block now, and between long events */
    int state;
    /* Nanoseconds. */
    uint64_t begun, read_at, first, last, max_gap;
    uint64_t token_events;
    /* Hiding. Stream offsets: `sent` bytes were forwarded or left out, `base` is where the current piece begins, `cut` where the last
     * frame ended, and `seen` where the current piece ends. */
    int hide, loose, failed;
    uint64_t sent, base, cut, seen;
    uint64_t hidden_start;
    const char *piece;
    char *held;
    size_t held_len, held_room;
    llm_pass pass;
    void *to;
    uint32_t has;
    uint64_t number[LLM_NUMBERS];
    struct llm_text text[LLM_FACTS - LLM_NUMBERS];
};

/* A fact: a number if `text` is NULL. The text is not ended by NUL, and valid until the stream is read or freed. */
struct llm_value {
    uint64_t number;
    const char *text;
    size_t len;
};

/* The content types that are read unless a gateway is configured otherwise. */
#define LLM_TYPES(TYPE) TYPE("text/event-stream"), TYPE("application/x-ndjson"), TYPE("application/ndjson"), TYPE("application/json")

/* The same; ends with NULL. */
extern const char *const llm_types[];

/* The time for `now`: monotonic, in nanoseconds. */
uint64_t llm_now(void);

/* Whether `value`, a content type with or without parameters, is `type`. */
int llm_is_type(const char *value, size_t len, const char *type);

/* Whether the value of a header says yes: 1, true, on or yes. */
int llm_is_yes(const char *value, size_t len);

/* Begins a stream. The memory may be uninitialized. */
void llm_begin(struct llm_stream *s, const struct llm_response *r);

/* Whether the gateway must give `pass` to the next llm_read and forward what it is handed there instead of the piece. Once 0, it stays
 * so. */
int llm_hides(const struct llm_stream *s);

/* Reads a piece of the body that arrived at `now`, a monotonic time in nanoseconds. `pass` is called only while llm_hides. Returns 0, or
 * what `pass` returned if that was not 0. */
int llm_read(struct llm_stream *s, const void *piece, size_t len, uint64_t now, llm_pass pass, void *to);

/* Stops reading because the gateway cannot show a piece: the verdict is `unread`. Does nothing after the end. Bytes that are held are handed
 * out by the next llm_read or by llm_end. */
void llm_unread(struct llm_stream *s);

/* Ends the stream, fixes its facts and frees its memory. Forwards the bytes that are held, unless `pass` is NULL. Only the first call
 * counts. Returns as llm_read does. */
int llm_end(struct llm_stream *s, enum llm_ending ending, llm_pass pass, void *to);

/* Returns 1 and writes the fact if it is known, else 0. May be asked at any time, but not from `pass`. */
int llm_value_of(struct llm_stream *s, unsigned fact, struct llm_value *out);

/* The name of a fact, such as `prompt_tokens`; NULL if there is none. Static, ended by NUL. */
const char *llm_fact_name(unsigned fact);

#endif
