#include "log.h"

#include <stdlib.h>
#include <string.h>

#define KIND(name) DELTAWIRE_EV_##name
/* Kinds whose text is UTF-8 and never empty. */
#define TEXTS \
    (DELTAWIRE_MASK(KIND(ROLE)) | DELTAWIRE_MASK(KIND(CONTENT)) | DELTAWIRE_MASK(KIND(REASONING)) | \
     DELTAWIRE_MASK(KIND(REFUSAL)) | DELTAWIRE_MASK(KIND(TOOL_NAME)) | DELTAWIRE_MASK(KIND(TOOL_ARGUMENTS)) | \
     DELTAWIRE_MASK(KIND(FUNCTION_NAME)) | DELTAWIRE_MASK(KIND(FUNCTION_ARGUMENTS)) | DELTAWIRE_MASK(KIND(FINISH)) | \
     DELTAWIRE_MASK(KIND(META)))
void log_init(logbook *log)
{
    memset(log, 0, sizeof *log);
    log->only = ALL_KINDS;
}

void log_free(logbook *log)
{
    int i;
    text_free(&log->lines);
    text_free(&log->more);
    text_free(&log->bad);
    text_free(&log->payload);
    for (i = 0; i < 3; i++) text_free(&log->held_part[i]);
}

void log_clear(logbook *log)
{
    int i;
    text_clear(&log->lines);
    text_clear(&log->more);
    text_clear(&log->bad);
    text_clear(&log->payload);
    for (i = 0; i < 3; i++) text_clear(&log->held_part[i]);
    log->asked_again = log->open = log->has_payload = 0;
    log->events = 0;
    log->frame_end = log->mask = 0;
}

void log_bad(logbook *log, const char *what, uint64_t number)
{
    if (log->bad.len > 2000) return;
    text_str(&log->bad, what);
    text_str(&log->bad, " ");
    text_u64(&log->bad, number);
    text_str(&log->bad, "\n");
}

int is_utf8(const char *bytes, size_t len)
{
    const unsigned char *b = (const unsigned char *)bytes, *end = b + len;
    while (b < end) {
        size_t more = *b < 0x80 ? 0 : *b < 0xC2 ? 9 : *b < 0xE0 ? 1 : *b < 0xF0 ? 2 : *b < 0xF5 ? 3 : 9;
        size_t i;
        if (more >= (size_t)(end - b)) return 0;
        for (i = 1; i <= more; i++)
            if ((b[i] & 0xC0) != 0x80) return 0;
        if ((*b == 0xE0 && b[1] < 0xA0) || (*b == 0xED && b[1] > 0x9F) || (*b == 0xF0 && b[1] < 0x90) ||
            (*b == 0xF4 && b[1] > 0x8F))
            return 0;
        b += more + 1;
    }
    return 1;
}

int value_bytes(const deltawire_value *v, text *out)
{
    size_t need = 0, again = 0;
    deltawire_str str = {NULL, 0};
    char *buf;
    deltawire_status status;
    text_clear(out);
    if (v->type == DELTAWIRE_T_TRUE || v->type == DELTAWIRE_T_FALSE) {
        text_put(out, v->ptr, v->len);
        return 1;
    }
    status = deltawire_value_text(v, NULL, 0, &need);
    if (status == DELTAWIRE_ABSENT) return 0;
    if (status != (need ? DELTAWIRE_E_SMALL : DELTAWIRE_OK)) die("deltawire_value_text: the query answers something else");
    buf = need_memory(need);
    if (need > 1 && deltawire_value_text(v, buf, need - 1, &again) != DELTAWIRE_E_SMALL) die("deltawire_value_text: too much");
    if (deltawire_value_text(v, buf, need, &again) != DELTAWIRE_OK || again != need) die("deltawire_value_text: not what it said");
    text_put(out, buf, need);
    free(buf);
    /* Where the text is available without a copy, it must be the same. */
    status = deltawire_value_str(v, &str);
    if (status == DELTAWIRE_OK && (str.len != need || (need && memcmp(str.ptr, out->ptr, need) != 0)))
        die("deltawire_value_str differs from deltawire_value_text");
    if (!is_utf8(out->ptr, out->len)) die("deltawire_value_text: not UTF-8");
    return 1;
}

/* -------------------------------------------------------------------------------------------------------------------
 * Lines */

static void put_named(text *out, const char *name, const char *bytes, size_t len)
{
    if (!len) return;
    text_str(out, " ");
    text_str(out, name);
    text_str(out, "=");
    text_escaped(out, bytes, len, 1);
}

static void put_member(text *out, const char *name, const deltawire_value *v)
{
    text decoded = TEXT_INIT;
    if (value_bytes(v, &decoded)) put_named(out, name, decoded.ptr, decoded.len);
    text_free(&decoded);
}

static void put_range(text *out, const item *it)
{
    text_str(out, " ");
    text_u64(out, it->start);
    text_str(out, "..");
    text_u64(out, it->end);
}

static void put_number(text *out, const char *before, uint64_t number)
{
    text_str(out, before);
    text_u64(out, number);
}

/* Writes any bytes as UTF-8. */
static void put_lossy(text *out, const char *bytes, size_t len)
{
    deltawire_value plain;
    text decoded = TEXT_INIT;
    if (deltawire_value_plain(bytes, len, &plain) != DELTAWIRE_OK || plain.type != DELTAWIRE_T_TEXT ||
        !value_bytes(&plain, &decoded))
        die("deltawire_value_plain is no text");
    text_str(out, " ");
    text_escaped(out, decoded.ptr, decoded.len, 1);
    text_free(&decoded);
}

static deltawire_value json_of(logbook *log, const item *it)
{
    deltawire_value v = {NULL, 0, 0, 0};
    deltawire_status status;
    if (it->flags & DELTAWIRE_EVF_PLAIN) status = deltawire_value_plain(it->part[0], it->part_len[0], &v);
    else status = deltawire_value_open(it->part[0], it->part_len[0], &v);
    if (status != DELTAWIRE_OK) log_bad(log, "no JSON value: status", (uint64_t)-status);
    return v;
}

static void put_error(logbook *log, const item *it)
{
    static const struct {
        uint32_t field;
        const char *name;
    } fields[] = {{DELTAWIRE_ERROR_CODE, "code"}, {DELTAWIRE_ERROR_TYPE, "type"}, {DELTAWIRE_ERROR_PARAM, "param"}};
    deltawire_value error = json_of(log, it), field;
    text decoded = TEXT_INIT;
    size_t i;
    if (deltawire_error_field(&error, DELTAWIRE_ERROR_MESSAGE, &field) == DELTAWIRE_OK && value_bytes(&field, &decoded)) {
        text_str(&log->lines, " ");
        text_escaped(&log->lines, decoded.ptr, decoded.len, 1);
    }
    text_free(&decoded);
    for (i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (deltawire_error_field(&error, fields[i].field, &field) == DELTAWIRE_OK)
            put_member(&log->lines, fields[i].name, &field);
    if (deltawire_error_field(&error, DELTAWIRE_ERROR_METADATA, &field) == DELTAWIRE_OK) {
        text_str(&log->lines, " metadata=");
        text_escaped(&log->lines, field.ptr, field.len, 0);
    }
}

static void put_audio(logbook *log, const item *it)
{
    static const char *const names[] = {"id", "data", "transcript"};
    deltawire_value audio = json_of(log, it), member;
    uint64_t time;
    size_t i;
    for (i = 0; i < 3; i++)
        if (deltawire_value_member(&audio, names[i], strlen(names[i]), &member) == DELTAWIRE_OK)
            put_member(&log->lines, names[i], &member);
    if (deltawire_value_member(&audio, "expires_at", 10, &member) == DELTAWIRE_OK &&
        deltawire_value_u64(&member, &time) == DELTAWIRE_OK)
        put_number(&log->lines, " expires_at=", time);
}

/* The payload must agree with the event about the chunk. */
static void check_payload(logbook *log, const item *it)
{
    static const uint32_t fields[2] = {DELTAWIRE_F_ID, DELTAWIRE_F_MODEL};
    deltawire_chunk_storage mem;
    const deltawire_chunk *chunk;
    deltawire_value v;
    text decoded = TEXT_INIT;
    int i;
    if (deltawire_chunk_open(log->payload.ptr, log->payload.len, &mem, &chunk) != DELTAWIRE_OK) {
        /* The payload of an error event may be plain text. */
        if (log->payload_code != 1) log_bad(log, "a payload does not open, of bytes", log->payload.len);
        return;
    }
    for (i = 0; i < 2; i++) {
        text_clear(&decoded);
        if (deltawire_chunk_field(chunk, fields[i], &v) == DELTAWIRE_OK) value_bytes(&v, &decoded);
        if (decoded.len != it->part_len[i] || (decoded.len && memcmp(decoded.ptr, it->part[i], decoded.len) != 0))
            log_bad(log, "the payload differs from the chunk in field", fields[i]);
    }
    text_free(&decoded);
}

static void put_text_line(logbook *log, const char *word, const item *it, int call)
{
    text_str(&log->lines, word);
    put_number(&log->lines, " ", it->choice);
    if (call) put_number(&log->lines, " #", it->call);
    if (it->kind == KIND(TOOL_NAME) || it->kind == KIND(FUNCTION_NAME))
        text_str(&log->lines, it->flags & DELTAWIRE_EVF_REPLACES ? " replaces" : " appends");
    text_str(&log->lines, " ");
    text_escaped(&log->lines, it->part[0], it->part_len[0], 1);
}

static void put_bytes_line(logbook *log, const char *word, const item *it)
{
    text_str(&log->lines, word);
    put_range(&log->lines, it);
    text_str(&log->lines, " ");
    text_escaped(&log->lines, it->part[0], it->part_len[0], 1);
}

static void put_json_line(logbook *log, const char *word, const item *it, int choice)
{
    deltawire_value v = json_of(log, it);
    if (v.ptr != it->part[0] || v.len != it->part_len[0]) log_bad(log, "space round JSON of bytes", it->part_len[0]);
    text_str(&log->lines, word);
    if (choice) put_number(&log->lines, " ", it->choice);
    text_str(&log->lines, " ");
    text_escaped(&log->lines, it->part[0], it->part_len[0], 0);
}

static void put_more(logbook *log, const char *word, const item *it)
{
    text_str(&log->more, word);
    put_range(&log->more, it);
}

static uint32_t finish_code(const item *it)
{
    static const char *const reasons[] = {"stop", "length", "tool_calls", "content_filter", "function_call", "error"};
    static const struct { const char *word; uint32_t code; } others[] = {
        {"insufficient_system_resource", DELTAWIRE_FINISH_ERROR}, {"network_error", DELTAWIRE_FINISH_ERROR},
        {"sensitive", DELTAWIRE_FINISH_CONTENT_FILTER}, {"max_tokens", DELTAWIRE_FINISH_LENGTH},
        {"MAX_TOKENS", DELTAWIRE_FINISH_LENGTH}, {"model_length", DELTAWIRE_FINISH_LENGTH},
        {"model_context_window_exceeded", DELTAWIRE_FINISH_LENGTH}};
    uint32_t i;
    for (i = 0; i < 6; i++)
        if (strlen(reasons[i]) == it->part_len[0] && memcmp(reasons[i], it->part[0], it->part_len[0]) == 0)
            return DELTAWIRE_FINISH_STOP + i;
    for (i = 0; i < sizeof others / sizeof *others; i++)
        if (strlen(others[i].word) == it->part_len[0] && memcmp(others[i].word, it->part[0], it->part_len[0]) == 0)
            return others[i].code;
    return DELTAWIRE_FINISH_OTHER;
}

static void put_line(logbook *log, const item *it)
{
    text *out = &log->lines;
    size_t before = out->len;
    switch (it->kind) {
    case KIND(CHUNK):
        text_str(out, "chunk");
        put_range(out, it);
        put_named(out, "name", it->part[2], it->part_len[2]);
        put_named(out, "id", it->part[0], it->part_len[0]);
        put_named(out, "model", it->part[1], it->part_len[1]);
        if (it->flags & DELTAWIRE_EVF_NUMBER) put_number(out, " created=", it->number);
        else if (it->number) log_bad(log, "created without its flag:", it->number);
        /* An event of another protocol can only be read with those before it. */
        if (log->has_payload && !(it->flags & DELTAWIRE_EVF_NATIVE)) check_payload(log, it);
        log->has_payload = 0;
        break;
    case KIND(PAYLOAD):
        text_clear(&log->payload);
        text_put(&log->payload, it->part[0], it->part_len[0]);
        log->has_payload = 1;
        log->payload_code = it->code;
        if (log->only != DELTAWIRE_MASK(KIND(PAYLOAD))) break;
        text_str(out, "payload");
        put_range(out, it);
        text_str(out, " ");
        text_escaped(out, it->part[0], it->part_len[0], 0);
        break;
    case KIND(SSE):
        text_str(out, "sse");
        put_lossy(out, it->part[1], it->part_len[1]);
        put_lossy(out, it->part[0], it->part_len[0]);
        put_lossy(out, it->part[2], it->part_len[2]);
        break;
    case KIND(DONE):
        text_str(out, "done");
        put_range(out, it);
        break;
    case KIND(COMMENT): put_bytes_line(log, "comment", it); break;
    case KIND(KEEP_ALIVE): put_bytes_line(log, "keep-alive", it); break;
    case KIND(LAST_EVENT_ID): put_bytes_line(log, "id", it); break;
    case KIND(RETRY):
        text_str(out, "retry");
        put_range(out, it);
        put_number(out, " ", it->number);
        break;
    case KIND(MALFORMED):
        put_bytes_line(log, "malformed", it);
        text_str(out, " ");
        text_str(out, deltawire_fault_name(it->code));
        put_number(out, " at ", it->number);
        put_named(out, "name", it->part[2], it->part_len[2]);
        break;
    case KIND(TOO_LONG): put_number(out, "too-long ", it->start); break;
    case KIND(COMMENT_TOO_LONG): put_number(out, "comment-too-long ", it->start); break;
    case KIND(ROLE): put_text_line(log, "role", it, 0); break;
    case KIND(CONTENT): put_text_line(log, "content", it, 0); break;
    case KIND(REASONING): put_text_line(log, "reasoning", it, 0); break;
    case KIND(REFUSAL): put_text_line(log, "refusal", it, 0); break;
    case KIND(TOOL_CALL):
        text_str(out, "call");
        put_number(out, " ", it->choice);
        put_number(out, " #", it->call);
        put_number(out, " index=", it->number);
        if (it->flags & DELTAWIRE_EVF_OPENS) text_str(out, " opens");
        if (it->flags & DELTAWIRE_EVF_REUSES) text_str(out, " reuses");
        if (it->flags & DELTAWIRE_EVF_CUSTOM) text_str(out, " custom");
        put_named(out, "id", it->part[0], it->part_len[0]);
        put_named(out, "type", it->part[1], it->part_len[1]);
        break;
    case KIND(TOOL_NAME): put_text_line(log, "name", it, 1); break;
    case KIND(TOOL_ARGUMENTS): put_text_line(log, "arguments", it, 1); break;
    case KIND(TOOL_CALL_END):
        put_number(out, "call-end ", it->choice);
        put_number(out, " #", it->call);
        text_str(out, it->code ? " whole" : " broken");
        break;
    case KIND(FUNCTION_NAME): put_text_line(log, "function-name", it, 0); break;
    case KIND(FUNCTION_ARGUMENTS): put_text_line(log, "function-arguments", it, 0); break;
    case KIND(AUDIO):
        put_number(out, "audio ", it->choice);
        put_audio(log, it);
        break;
    case KIND(LOGPROBS): put_json_line(log, "logprobs", it, 1); break;
    case KIND(USAGE): put_json_line(log, "usage", it, 0); break;
    case KIND(FINISH):
        put_text_line(log, "finish", it, 0);
        /* Tests in Rust cover the words of other protocols and their meaning. */
        if (!(it->flags & DELTAWIRE_EVF_NATIVE) && it->code != finish_code(it)) log_bad(log, "finish reason with code", it->code);
        break;
    case KIND(CHOICE_ERROR):
        put_number(out, "choice-error ", it->choice);
        put_error(log, it);
        break;
    case KIND(ERROR):
        text_str(out, "error");
        put_error(log, it);
        break;
    case KIND(LIMIT):
        text_str(out, "stop ");
        text_str(out, deltawire_limit_name(it->code));
        if (it->choice != UINT32_MAX) put_number(out, " of ", it->choice);
        put_number(out, " at ", it->start);
        break;
    case KIND(QUIRK):
        put_more(log, "quirk", it);
        put_number(&log->more, " ", it->code);
        text_str(&log->more, "\n");
        break;
    case KIND(FRAME):
        put_more(log, "frame", it);
        put_number(&log->more, " choices=", it->code);
        put_number(&log->more, " kinds=", it->number);
        text_str(&log->more, "\n");
        break;
    /* Rust's log has no line for these. */
    case KIND(META):
    case KIND(ANNOTATION):
    case KIND(SIGNATURE):
    case KIND(MEDIA):
    case KIND(NATIVE):
        if (log->only == ALL_KINDS) out = &log->more;
        before = out->len;
        text_str(out, it->kind == KIND(META) ? "meta" : "annotations");
        put_number(out, " ", it->choice);
        put_number(out, " ", it->code);
        text_str(out, " ");
        text_escaped(out, it->part[0], it->part_len[0], 1);
        break;
    default: log_bad(log, "an event of kind", it->kind); break;
    }
    if (out->len > before) text_str(out, "\n");
}

/* What the header promises of every event. */
/* A member is raw JSON, whose pieces may end anywhere. */
static int is_json(const item *it)
{
    return it->kind == KIND(META) && it->code >= DELTAWIRE_META_MEMBER && it->code != DELTAWIRE_META_REASONING_NAME;
}

static void check_item(logbook *log, const item *it)
{
    uint64_t bit = DELTAWIRE_MASK(it->kind & 63);
    uint64_t of_no_concern = DELTAWIRE_MASK(KIND(PAYLOAD)) | DELTAWIRE_MASK(KIND(FRAME)) | DELTAWIRE_MASK(KIND(META));
    if ((bit & TEXTS) && it->part_len[0] == 0) log_bad(log, "an empty text of kind", it->kind);
    if ((bit & TEXTS) && !is_json(it) && !is_utf8(it->part[0], it->part_len[0]))
        log_bad(log, "not UTF-8: a text of kind", it->kind);
    if (it->kind == KIND(TOOL_CALL) || it->kind == KIND(CHUNK))
        if (!is_utf8(it->part[0], it->part_len[0]) || !is_utf8(it->part[1], it->part_len[1]))
            log_bad(log, "not UTF-8: an ID, a type or a model of kind", it->kind);
    if (it->start > it->end) log_bad(log, "a range ends before it begins:", it->start);
    if (it->kind != KIND(FRAME)) {
        log->mask |= bit;
        return;
    }
    if (it->start != log->frame_end) log_bad(log, "a frame does not follow the one before: starts at", it->start);
    if (it->end <= it->start) log_bad(log, "an empty frame at", it->start);
    if (log->only == ALL_KINDS && (it->number ^ log->mask) & ~of_no_concern)
        log_bad(log, "a frame says of other kinds than came: missing or too much", (it->number ^ log->mask) & ~of_no_concern);
    log->frame_end = it->end;
    log->mask = 0;
}

static int same_but_text(const item *a, const logbook *log)
{
    const item *b = &log->held;
    uint32_t may_differ = DELTAWIRE_EVF_MORE | DELTAWIRE_EVF_TEXT_SCRATCH | DELTAWIRE_EVF_AUX_SCRATCH |
                          DELTAWIRE_EVF_EXTRA_SCRATCH;
    int i;
    /* The first piece of a name replaces, the others append. */
    if (a->kind == KIND(TOOL_NAME) || a->kind == KIND(FUNCTION_NAME)) {
        if (a->flags & DELTAWIRE_EVF_REPLACES) return 0;
        may_differ |= DELTAWIRE_EVF_REPLACES;
    }
    for (i = 1; i < 3; i++)
        if (a->part_len[i] != log->held_part[i].len ||
            (a->part_len[i] && memcmp(a->part[i], log->held_part[i].ptr, a->part_len[i]) != 0))
            return 0;
    return a->kind == b->kind && a->choice == b->choice && a->call == b->call && a->code == b->code &&
           a->number == b->number && a->start == b->start && a->end == b->end &&
           ((a->flags ^ b->flags) & ~may_differ) == 0;
}

void log_item(logbook *log, const item *it)
{
    item whole;
    int i;
    log->events++;
    if (!(log->only & DELTAWIRE_MASK(it->kind & 63))) return;
    if (!log->open) check_item(log, it);
    else if ((DELTAWIRE_MASK(it->kind & 63) & TEXTS) && !is_json(it) &&
             (!it->part_len[0] || !is_utf8(it->part[0], it->part_len[0])))
        log_bad(log, "an empty piece, or not UTF-8, of kind", it->kind);
    if (!log->open && !(it->flags & DELTAWIRE_EVF_MORE)) {
        put_line(log, it);
        return;
    }
    if (!log->open) {
        log->held = *it;
        for (i = 0; i < 3; i++) {
            text_clear(&log->held_part[i]);
            text_put(&log->held_part[i], it->part[i], it->part_len[i]);
        }
    } else {
        if (!same_but_text(it, log)) log_bad(log, "a piece of another event, of kind", it->kind);
        text_put(&log->held_part[0], it->part[0], it->part_len[0]);
    }
    log->open = (it->flags & DELTAWIRE_EVF_MORE) != 0;
    if (log->open) return;
    whole = log->held;
    whole.chunk = it->chunk;
    for (i = 0; i < 3; i++) {
        whole.part[i] = log->held_part[i].ptr;
        whole.part_len[i] = log->held_part[i].len;
    }
    put_line(log, &whole);
}

/* -------------------------------------------------------------------------------------------------------------------
 * Callbacks */

static item item_at(logbook *log, const deltawire_at *at, uint32_t kind)
{
    item it;
    memset(&it, 0, sizeof it);
    count_event(FROM_CALLBACK, at->kind, at->flags);
    if (at->kind != kind) log_bad(log, "a callback of another kind:", at->kind);
    if (at->size < sizeof *at) log_bad(log, "deltawire_at says it has bytes:", at->size);
    it.kind = kind;
    it.flags = at->flags;
    it.choice = at->choice;
    it.call = at->call;
    it.code = at->code;
    it.number = at->number;
    it.start = at->start;
    it.end = at->end;
    it.chunk = at->chunk;
    return it;
}

static int32_t answer(const logbook *log) { return log->pause ? DELTAWIRE_PAUSE : DELTAWIRE_GO_ON; }

/* Asks to be called again for each item, if the test does that. */
static int asks_again(logbook *log)
{
    log->asked_again = log->again && !log->asked_again;
    return log->asked_again;
}

static void set_part(item *it, int part, const char *bytes, size_t len)
{
    it->part[part] = len ? bytes : "";
    it->part_len[part] = len;
}

#define TEXT_CALLBACK(name, KIND_NAME) \
    static int32_t name(void *user, const deltawire_at *at, const char *bytes, size_t len) \
    { \
        logbook *log = user; \
        item it = item_at(log, at, KIND(KIND_NAME)); \
        if (asks_again(log)) return DELTAWIRE_AGAIN; \
        set_part(&it, 0, bytes, len); \
        if (KIND(KIND_NAME) == KIND(MALFORMED)) set_part(&it, 2, at->event_name.ptr, at->event_name.len); \
        log_item(log, &it); \
        return answer(log); \
    }
#define AT_CALLBACK(name, KIND_NAME) \
    static int32_t name(void *user, const deltawire_at *at) \
    { \
        logbook *log = user; \
        item it = item_at(log, at, KIND(KIND_NAME)); \
        if (asks_again(log)) return DELTAWIRE_AGAIN; \
        log_item(log, &it); \
        return answer(log); \
    }
#define VALUE_CALLBACK(name, KIND_NAME) \
    static int32_t name(void *user, const deltawire_at *at, const deltawire_value *value) \
    { \
        logbook *log = user; \
        item it = item_at(log, at, KIND(KIND_NAME)); \
        if (asks_again(log)) return DELTAWIRE_AGAIN; \
        set_part(&it, 0, value->ptr, value->len); \
        if (!(at->flags & DELTAWIRE_EVF_PLAIN) != (value->type != DELTAWIRE_T_TEXT)) \
            log_bad(log, "plain or not: a value of type", value->type); \
        log_item(log, &it); \
        return answer(log); \
    }

#define NO_CALLBACK(name, KIND_NAME)
LOG_CALLBACKS(TEXT_CALLBACK, AT_CALLBACK, VALUE_CALLBACK, NO_CALLBACK)

static int32_t on_sse(void *user, const deltawire_at *at, deltawire_str type, deltawire_str data, deltawire_str id)
{
    logbook *log = user;
    item it = item_at(log, at, KIND(SSE));
    if (asks_again(log)) return DELTAWIRE_AGAIN;
    set_part(&it, 0, data.ptr, data.len);
    set_part(&it, 1, type.ptr, type.len);
    set_part(&it, 2, id.ptr, id.len);
    log_item(log, &it);
    return answer(log);
}

static int32_t on_chunk(void *user, const deltawire_at *at)
{
    logbook *log = user;
    item it = item_at(log, at, KIND(CHUNK));
    deltawire_value v;
    text id = TEXT_INIT, model = TEXT_INIT;
    if (asks_again(log)) return DELTAWIRE_AGAIN;
    if (!at->chunk) {
        log_bad(log, "on_chunk without a chunk at", at->start);
        return DELTAWIRE_GO_ON;
    }
    if (deltawire_chunk_field(at->chunk, DELTAWIRE_F_ID, &v) == DELTAWIRE_OK && !value_bytes(&v, &id))
        log_bad(log, "an ID of type", v.type);
    if (deltawire_chunk_field(at->chunk, DELTAWIRE_F_MODEL, &v) == DELTAWIRE_OK && !value_bytes(&v, &model))
        log_bad(log, "a model of type", v.type);
    set_part(&it, 0, id.ptr, id.len);
    set_part(&it, 1, model.ptr, model.len);
    set_part(&it, 2, at->event_name.ptr, at->event_name.len);
    log_item(log, &it);
    text_free(&id);
    text_free(&model);
    return answer(log);
}

static int32_t on_tool_call(void *user, const deltawire_at *at, const deltawire_value *id, const deltawire_value *type)
{
    logbook *log = user;
    item it = item_at(log, at, KIND(TOOL_CALL));
    text id_text = TEXT_INIT, type_text = TEXT_INIT;
    if (asks_again(log)) return DELTAWIRE_AGAIN;
    if (id->type != DELTAWIRE_T_NONE && !value_bytes(id, &id_text)) log_bad(log, "a call's ID of type", id->type);
    if (type->type != DELTAWIRE_T_NONE && !value_bytes(type, &type_text)) log_bad(log, "a call's type of type", type->type);
    set_part(&it, 0, id_text.ptr, id_text.len);
    set_part(&it, 1, type_text.ptr, type_text.len);
    log_item(log, &it);
    text_free(&id_text);
    text_free(&type_text);
    return answer(log);
}

#define MEMBER(name, KIND_NAME) name,
const deltawire_callbacks log_callbacks = {
    sizeof(deltawire_callbacks),
    LOG_CALLBACKS(MEMBER, MEMBER, MEMBER, MEMBER)
};

/* -------------------------------------------------------------------------------------------------------------------
 * Batches */

void log_batch(logbook *log, const deltawire_event *events, size_t n, const void *data, size_t data_len,
               const void *scratch, size_t scratch_len)
{
    static const uint32_t in_scratch[3] = {DELTAWIRE_EVF_TEXT_SCRATCH, DELTAWIRE_EVF_AUX_SCRATCH,
                                           DELTAWIRE_EVF_EXTRA_SCRATCH};
    size_t i;
    int part;
    for (i = 0; i < n; i++) {
        const deltawire_event *e = &events[i];
        uint32_t off[3], len[3];
        item it;
        memset(&it, 0, sizeof it);
        off[0] = e->text_off, len[0] = e->text_len;
        off[1] = e->aux_off, len[1] = e->aux_len;
        off[2] = e->extra_off, len[2] = e->extra_len;
        count_event(FROM_BATCH, e->kind, e->flags);
        it.kind = e->kind;
        it.flags = e->flags;
        it.choice = e->choice;
        it.call = e->call;
        it.code = e->code;
        it.number = e->number;
        it.start = e->start;
        it.end = e->end;
        for (part = 0; part < 3; part++) {
            int from_scratch = (e->flags & in_scratch[part]) != 0;
            size_t room = from_scratch ? scratch_len : data_len;
            const char *from = from_scratch ? scratch : data;
            set_part(&it, part, "", 0);
            if (!len[part]) continue;
            if ((size_t)off[part] + len[part] > room) {
                log_bad(log, "a text lies outside, of kind", e->kind);
                continue;
            }
            set_part(&it, part, from + off[part], len[part]);
        }
        log_item(log, &it);
    }
}

/* -------------------------------------------------------------------------------------------------------------------
 * The end */

void log_strict(logbook *log, const deltawire_parser *p)
{
    const char *code = deltawire_quirk_code(deltawire_error_quirk(p));
    text_str(&log->lines, "stop ");
    text_str(&log->lines, code ? code : "?");
    put_number(&log->lines, " at ", deltawire_error_offset(p));
    text_str(&log->lines, "\n");
}

static void put_quirks(logbook *log, const deltawire_parser *p)
{
    struct {
        const char *code;
        uint64_t count;
    } rows[DELTAWIRE_QUIRKS];
    size_t n = 0, i;
    uint32_t quirk;
    for (quirk = 0; quirk < DELTAWIRE_QUIRKS; quirk++) {
        uint64_t count = deltawire_quirk_count(p, quirk);
        const char *code = deltawire_quirk_code(quirk);
        if (!count) continue;
        if (!code) {
            log_bad(log, "a quirk without a row was counted:", quirk);
            continue;
        }
        for (i = 0; i < n && strcmp(rows[i].code, code) != 0; i++) {}
        if (i == n) rows[n].code = code, rows[n++].count = 0;
        rows[i].count += count;
    }
    text_str(&log->lines, n ? "quirks" : "quirks none");
    for (i = 0; i < n; i++) {
        text_str(&log->lines, " ");
        text_str(&log->lines, rows[i].code);
        put_number(&log->lines, ":", rows[i].count);
    }
    text_str(&log->lines, "\n");
}

void log_close(logbook *log, const deltawire_parser *p)
{
    deltawire_end end = DELTAWIRE_END_INIT;
    deltawire_str id = {NULL, 0};
    deltawire_status status = deltawire_last_event_id(p, &id);
    if (log->open) log_bad(log, "the last piece never came, of kind", log->held.kind);
    if (status == DELTAWIRE_OK) {
        text_str(&log->lines, "last-id ");
        text_escaped(&log->lines, id.ptr, id.len, 1);
        text_str(&log->lines, "\n");
        if (!id.len) log_bad(log, "a last event ID of bytes", 0);
    } else if (status != DELTAWIRE_ABSENT) {
        log_bad(log, "deltawire_last_event_id:", (uint64_t)-status);
    }
    status = deltawire_end_of(p, &end);
    if (status != DELTAWIRE_OK) log_bad(log, "deltawire_end_of:", (uint64_t)-status);
    if (!end.finished) log_bad(log, "finished:", end.finished);
    if (log->only == ALL_KINDS && log->frame_end != end.offset) log_bad(log, "the frames end at", log->frame_end);
    text_str(&log->lines, "end ");
    text_str(&log->lines, deltawire_verdict_name(end.verdict));
    if (end.media) {
        text_str(&log->lines, " media=");
        text_str(&log->lines, deltawire_media_name(end.media));
    }
    if (end.verdict == DELTAWIRE_VERDICT_OTHER_PROTOCOL && end.protocol) {
        text_str(&log->lines, " protocol=");
        text_str(&log->lines, deltawire_protocol_name(end.protocol));
    }
    put_number(&log->lines, " choices=", end.choices_finished);
    put_number(&log->lines, "/", end.choices_seen);
    text_str(&log->lines, " pending=");
    text_str(&log->lines, deltawire_pending_name(end.pending));
    text_str(&log->lines, end.api_error ? " error=true" : " error=false");
    put_number(&log->lines, " offset=", end.offset);
    text_str(&log->lines, "\n");
    put_quirks(log, p);
    put_number(&log->more, "malformed=", end.malformed);
    put_number(&log->more, " too-long=", end.too_long);
    put_number(&log->more, " done=", end.done);
    put_number(&log->more, " body=", end.body);
    text_str(&log->more, "\n");
}
