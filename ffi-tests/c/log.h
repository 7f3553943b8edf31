/* The event log (tests/quirks/README.md), written from callbacks and from batches. */
#ifndef LOG_H
#define LOG_H

#include "counted.h"
#include "text.h"

/* One event, from any source. */
typedef struct {
    uint32_t kind, flags, choice, call, code;
    uint64_t number, start, end;
    const char *part[3]; /* text, aux, extra */
    size_t part_len[3];
    const deltawire_chunk *chunk; /* from callbacks */
} item;

typedef struct {
    text lines; /* the log */
    text more;  /* frames, quirks and other events without a line in the log */
    text bad;   /* violations of the header's guarantees; must be empty */
    uint64_t only;      /* kinds to write, DELTAWIRE_MASK combined */
    int pause;          /* each callback asks for a pause */
    int again;          /* each callback asks to be called again once */
    int asked_again;
    unsigned long events;
    /* An event that comes in pieces. */
    int open;
    item held;
    text held_part[3];
    /* The payload of the chunk to come. */
    text payload;
    int has_payload;
    uint32_t payload_code;
    /* What was emitted since the last frame. */
    uint64_t frame_end, mask;
} logbook;

#define ALL_KINDS UINT64_MAX

void log_init(logbook *log);
void log_free(logbook *log);
/* Resets the log for another stream; pause, again and only stay. */
void log_clear(logbook *log);
void log_bad(logbook *log, const char *what, uint64_t number);

/* Each callback and its kind, in the order of the struct; TEXT, AT and VALUE say what it gets, OTHER is any other. */
#define LOG_CALLBACKS(TEXT, AT, VALUE, OTHER) \
    OTHER(on_sse, SSE) \
    TEXT(on_comment, COMMENT) \
    TEXT(on_keep_alive, KEEP_ALIVE) \
    AT(on_retry, RETRY) \
    TEXT(on_last_event_id, LAST_EVENT_ID) \
    OTHER(on_chunk, CHUNK) \
    TEXT(on_role, ROLE) \
    TEXT(on_content, CONTENT) \
    TEXT(on_reasoning, REASONING) \
    TEXT(on_refusal, REFUSAL) \
    OTHER(on_tool_call, TOOL_CALL) \
    TEXT(on_tool_name, TOOL_NAME) \
    TEXT(on_tool_arguments, TOOL_ARGUMENTS) \
    TEXT(on_function_name, FUNCTION_NAME) \
    TEXT(on_function_arguments, FUNCTION_ARGUMENTS) \
    VALUE(on_audio, AUDIO) \
    VALUE(on_logprobs, LOGPROBS) \
    TEXT(on_finish, FINISH) \
    VALUE(on_choice_error, CHOICE_ERROR) \
    VALUE(on_usage, USAGE) \
    VALUE(on_error, ERROR) \
    TEXT(on_malformed, MALFORMED) \
    AT(on_too_long, TOO_LONG) \
    AT(on_comment_too_long, COMMENT_TOO_LONG) \
    AT(on_limit, LIMIT) \
    AT(on_quirk, QUIRK) \
    AT(on_done, DONE) \
    AT(on_frame, FRAME) \
    TEXT(on_meta, META) \
    VALUE(on_annotations, ANNOTATION) \
    TEXT(on_signature, SIGNATURE) \
    VALUE(on_media, MEDIA) \
    VALUE(on_native, NATIVE) \
    AT(on_tool_call_end, TOOL_CALL_END)

/* Pass this to deltawire_feed; the user pointer is the logbook. */
extern const deltawire_callbacks log_callbacks;
void log_item(logbook *log, const item *it);
/* Logs the events of a batch. `data_len`, `scratch_len`: the limits for texts. */
void log_batch(logbook *log, const deltawire_event *events, size_t n, const void *data, size_t data_len,
               const void *scratch, size_t scratch_len);
/* Writes the line of DELTAWIRE_E_STRICT, which ends a log. */
void log_strict(logbook *log, const deltawire_parser *p);
/* Writes the last lines. */
void log_close(logbook *log, const deltawire_parser *p);

/* Returns the text of a string, a number, a boolean or plain text. 0: the value has another type. */
int value_bytes(const deltawire_value *v, text *out);
int is_utf8(const char *bytes, size_t len);

#endif
