/* The C interface: callbacks, batches, and a message made from either. The programs ask only for the events that the work
 * needs. */
#include "deltawire.h"
#include "sink.h"

struct reader {
    deltawire_parser *parser, *batch_parser;
    deltawire_callbacks callbacks;
    deltawire_event events[64];
    char scratch[4096];
};

static int32_t on_chunk(void *user, const deltawire_at *at) {
    (void)at;
    ((struct sink *)user)->events++;
    return DELTAWIRE_GO_ON;
}

/* A text in pieces counts as one. */
static uint64_t is_last(const deltawire_at *at) { return !(at->flags & DELTAWIRE_EVF_MORE); }

static int32_t on_content(void *user, const deltawire_at *at, const char *text, size_t len) {
    struct sink *s = (struct sink *)user;
    s->choices += is_last(at) * ((uint64_t)at->choice + 1);
    text_put(&s->content, text, len);
    return DELTAWIRE_GO_ON;
}

static int32_t on_reasoning(void *user, const deltawire_at *at, const char *text, size_t len) {
    struct sink *s = (struct sink *)user;
    s->choices += is_last(at) * ((uint64_t)at->choice + 1);
    text_put(&s->reasoning, text, len);
    return DELTAWIRE_GO_ON;
}

static int32_t on_tool_call(void *user, const deltawire_at *at, const deltawire_value *id, const deltawire_value *type) {
    struct sink *s = (struct sink *)user;
    (void)type;
    if (id->type == DELTAWIRE_T_STRING) {
        deltawire_str text;
        s->choices += (uint64_t)at->choice + 1;
        if (deltawire_value_str(id, &text) != DELTAWIRE_OK) abort();
        s->calls += at->number + 1;
        text_put(&s->names, text.ptr, text.len);
    }
    return DELTAWIRE_GO_ON;
}

static int32_t on_tool_name(void *user, const deltawire_at *at, const char *text, size_t len) {
    struct sink *s = (struct sink *)user;
    s->choices += (uint64_t)at->choice + 1;
    s->calls += (uint64_t)at->call + 1;
    text_put(&s->names, text, len);
    return DELTAWIRE_GO_ON;
}

static int32_t on_tool_arguments(void *user, const deltawire_at *at, const char *text, size_t len) {
    struct sink *s = (struct sink *)user;
    s->choices += is_last(at) * ((uint64_t)at->choice + 1);
    s->calls += is_last(at) * ((uint64_t)at->call + 1);
    text_put(&s->arguments, text, len);
    return DELTAWIRE_GO_ON;
}

static int32_t on_finish(void *user, const deltawire_at *at, const char *text, size_t len) {
    struct sink *s = (struct sink *)user;
    s->choices += (uint64_t)at->choice + 1;
    text_put(&s->names, text, len);
    return DELTAWIRE_GO_ON;
}

static int32_t on_usage(void *user, const deltawire_at *at, const deltawire_value *value) {
    deltawire_usage usage = DELTAWIRE_USAGE_INIT;
    (void)value;
    if (deltawire_chunk_usage(at->chunk, &usage) != DELTAWIRE_OK) abort();
    ((struct sink *)user)->usage += usage.prompt + usage.completion + usage.total;
    return DELTAWIRE_GO_ON;
}

static int32_t on_done(void *user, const deltawire_at *at) {
    (void)user, (void)at;
    return -1;
}

static deltawire_parser *make(const deltawire_config *config, size_t room) {
    const size_t len = deltawire_block_size(NULL, 0) + room;
    deltawire_parser *parser;
    void *block = aligned_alloc(64, (len + 63) / 64 * 64);
    if (!block || deltawire_init(block, len, config, &parser) != DELTAWIRE_OK) abort();
    return parser;
}

static struct reader *make_reader(void) {
    struct reader *r = (struct reader *)malloc(sizeof *r);
    const deltawire_callbacks none = DELTAWIRE_CALLBACKS_INIT;
    if (!r) abort();
    r->callbacks = none;
    r->callbacks.on_chunk = on_chunk;
    r->callbacks.on_content = on_content;
    r->callbacks.on_reasoning = on_reasoning;
    r->callbacks.on_tool_call = on_tool_call;
    r->callbacks.on_tool_name = on_tool_name;
    r->callbacks.on_tool_arguments = on_tool_arguments;
    r->callbacks.on_finish = on_finish;
    r->callbacks.on_usage = on_usage;
    r->callbacks.on_done = on_done;
    return r;
}

/* The kinds of events that a batch is asked for. */
static const uint64_t wanted = DELTAWIRE_MASK(DELTAWIRE_EV_CHUNK) | DELTAWIRE_MASK(DELTAWIRE_EV_CONTENT) |
                               DELTAWIRE_MASK(DELTAWIRE_EV_REASONING) | DELTAWIRE_MASK(DELTAWIRE_EV_TOOL_CALL) |
                               DELTAWIRE_MASK(DELTAWIRE_EV_TOOL_NAME) | DELTAWIRE_MASK(DELTAWIRE_EV_TOOL_ARGUMENTS) |
                               DELTAWIRE_MASK(DELTAWIRE_EV_FINISH) | DELTAWIRE_MASK(DELTAWIRE_EV_USAGE) |
                               DELTAWIRE_MASK(DELTAWIRE_EV_DONE);

/* `room` is for an event that a slice cuts. */
void *bench_capi_new(size_t room) {
    struct reader *r = make_reader();
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    r->parser = make(&config, room);
    config.events = wanted;
    r->batch_parser = make(&config, room);
    return r;
}

void bench_capi_feed(void *self, const char *bytes, size_t len, size_t slice, struct sink *s) {
    struct reader *r = (struct reader *)self;
    size_t at, n;
    deltawire_reset(r->parser);
    for (at = 0; at < len; at += n) {
        n = len - at < slice ? len - at : slice;
        /* A status other than OK: the callback stopped at [DONE]. */
        if (deltawire_feed(r->parser, bytes + at, n, &r->callbacks, s, NULL) != DELTAWIRE_OK) return;
    }
}

static void usage(const char *json, size_t len, struct sink *s) {
    deltawire_usage usage = DELTAWIRE_USAGE_INIT;
    deltawire_value value;
    if (deltawire_value_open(json, len, &value) != DELTAWIRE_OK ||
        deltawire_value_usage(&value, &usage) != DELTAWIRE_OK)
        abort();
    s->usage += usage.prompt + usage.completion + usage.total;
}

/* Returns 1 at [DONE]. Inlined in both loops, because a call would be counted. */
__attribute__((always_inline)) static inline int take(const struct reader *r, const deltawire_event *e, const char *data,
                                                      struct sink *s) {
    const char *text = (e->flags & DELTAWIRE_EVF_TEXT_SCRATCH ? r->scratch : data) + e->text_off;
    /* A text in pieces counts as one. */
    const uint64_t last = !(e->flags & DELTAWIRE_EVF_MORE);
    switch (e->kind) {
        case DELTAWIRE_EV_CHUNK: s->events++; break;
        case DELTAWIRE_EV_CONTENT:
            s->choices += last * ((uint64_t)e->choice + 1);
            text_put(&s->content, text, e->text_len);
            break;
        case DELTAWIRE_EV_REASONING:
            s->choices += last * ((uint64_t)e->choice + 1);
            text_put(&s->reasoning, text, e->text_len);
            break;
        case DELTAWIRE_EV_TOOL_CALL:
            if (e->text_len) {
                s->choices += (uint64_t)e->choice + 1;
                s->calls += e->number + 1;
            }
            text_put(&s->names, text, e->text_len);
            break;
        case DELTAWIRE_EV_TOOL_NAME:
            s->choices += (uint64_t)e->choice + 1;
            s->calls += (uint64_t)e->call + 1;
            text_put(&s->names, text, e->text_len);
            break;
        case DELTAWIRE_EV_TOOL_ARGUMENTS:
            s->choices += last * ((uint64_t)e->choice + 1);
            s->calls += last * ((uint64_t)e->call + 1);
            text_put(&s->arguments, text, e->text_len);
            break;
        case DELTAWIRE_EV_FINISH:
            s->choices += (uint64_t)e->choice + 1;
            text_put(&s->names, text, e->text_len);
            break;
        case DELTAWIRE_EV_USAGE: usage(text, e->text_len, s); break;
        case DELTAWIRE_EV_DONE: return 1;
        default: break;
    }
    return 0;
}

void bench_capi_batch(void *self, const char *bytes, size_t len, size_t slice, struct sink *s) {
    struct reader *r = (struct reader *)self;
    size_t at, n;
    deltawire_reset(r->batch_parser);
    for (at = 0; at < len; at += n) {
        const char *data = bytes + at;
        size_t left;
        deltawire_status status;
        left = n = len - at < slice ? len - at : slice;
        do {
            deltawire_batch_result result;
            uint32_t nth;
            status = deltawire_batch(r->batch_parser, data, left, r->events, 64, r->scratch, sizeof r->scratch, &result);
            if (status < DELTAWIRE_OK) abort();
            for (nth = 0; nth < result.events; nth++)
                if (take(r, &r->events[nth], data, s)) return;
            data += result.consumed;
            left -= result.consumed;
        } while (status != DELTAWIRE_OK);
    }
}

/* Streams that share a workspace, each with room for 512 bytes of an event that a slice cuts. */
struct streams {
    struct reader *reader;
    deltawire_workspace *workspace;
    char *blocks;
    size_t block_len;
};

static deltawire_parser *parser_of(const struct streams *all, size_t nth) {
    return (deltawire_parser *)(all->blocks + nth * all->block_len);
}

/* `events` is the mask of a batch. */
static struct streams *make_streams(size_t count, uint64_t events) {
    struct streams *all = (struct streams *)malloc(sizeof *all);
    void *shared = aligned_alloc(64, DELTAWIRE_WORKSPACE_SIZE);
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    size_t nth;
    config.flags |= DELTAWIRE_CFG_SHARED;
    config.events = events;
    if (!all || !shared) abort();
    all->reader = make_reader();
    all->block_len = (deltawire_block_size(&config, 512) + 63) / 64 * 64;
    all->blocks = (char *)aligned_alloc(64, count * all->block_len);
    if (!all->blocks || deltawire_workspace_init(shared, DELTAWIRE_WORKSPACE_SIZE, &all->workspace) != DELTAWIRE_OK) abort();
    for (nth = 0; nth < count; nth++)
        if (deltawire_init(parser_of(all, nth), all->block_len, &config, NULL) != DELTAWIRE_OK) abort();
    return all;
}

void *bench_capi_streams(size_t count) { return make_streams(count, 0); }
void *bench_capi_batch_streams(size_t count) { return make_streams(count, wanted); }

/* Reads the next event of a stream. */
void bench_capi_stream_feed(void *self, size_t nth, const char *bytes, size_t len, struct sink *s) {
    struct streams *all = (struct streams *)self;
    if (deltawire_feed_with(parser_of(all, nth), all->workspace, bytes, len, &all->reader->callbacks, s, NULL) != DELTAWIRE_OK)
        abort();
}

void bench_capi_stream_batch(void *self, size_t nth, const char *bytes, size_t len, struct sink *s) {
    struct streams *all = (struct streams *)self;
    struct reader *r = all->reader;
    deltawire_batch_result result;
    uint32_t at;
    if (deltawire_batch_with(parser_of(all, nth), all->workspace, bytes, len, r->events, 64, r->scratch, sizeof r->scratch,
                             &result) != DELTAWIRE_OK)
        abort();
    for (at = 0; at < result.events; at++) take(r, &r->events[at], bytes, s);
}

struct message_reader {
    deltawire_parser *parser;
    deltawire_message *message;
    deltawire_event events[64];
    char scratch[4096];
};

/* Makes one with a log for the longest response. */
void *bench_capi_message_new(size_t room) {
    struct message_reader *r = (struct message_reader *)malloc(sizeof *r);
    const size_t len = DELTAWIRE_MESSAGE_SIZE(4 << 20);
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    void *block = aligned_alloc(64, (len + 63) / 64 * 64);
    if (!r || !block || deltawire_message_init(block, len, NULL, &r->message) != DELTAWIRE_OK) abort();
    config.events = DELTAWIRE_MASK(DELTAWIRE_EV_CONTENT) | DELTAWIRE_MASK(DELTAWIRE_EV_TOOL_ARGUMENTS);
    r->parser = make(&config, room);
    return r;
}

/* Appends a text of the message, if the message has it. */
static void message_text(const deltawire_message *m, uint32_t field, uint32_t choice, uint32_t call, struct text *to) {
    size_t len;
    switch (deltawire_message_text(m, field, choice, call, to->ptr + to->len, to->cap - to->len, &len)) {
        case DELTAWIRE_OK: to->len += len; break;
        case DELTAWIRE_ABSENT: break;
        default: abort();
    }
}

/* Reads the texts of the finished message, which does not know in how many parts they came. */
static void message_texts(const deltawire_message *m, struct sink *s) {
    uint32_t nth, call;
    for (nth = 0; nth < deltawire_message_choices(m); nth++) {
        uint32_t choice;
        if (deltawire_message_choice_index(m, nth, &choice) != DELTAWIRE_OK) abort();
        message_text(m, DELTAWIRE_M_CONTENT, choice, 0, &s->content);
        message_text(m, DELTAWIRE_M_REASONING, choice, 0, &s->reasoning);
        for (call = 0; call < deltawire_message_calls(m, choice); call++) {
            message_text(m, DELTAWIRE_M_CALL_ID, choice, call, &s->names);
            message_text(m, DELTAWIRE_M_CALL_NAME, choice, call, &s->names);
            message_text(m, DELTAWIRE_M_CALL_ARGUMENTS, choice, call, &s->arguments);
        }
        message_text(m, DELTAWIRE_M_FINISH, choice, 0, &s->names);
    }
}

/* Fed without callbacks. */
void bench_capi_message(void *self, const char *bytes, size_t len, size_t slice, struct sink *s) {
    struct message_reader *r = (struct message_reader *)self;
    size_t at, n;
    deltawire_reset(r->parser);
    if (deltawire_message_reset(r->message) != DELTAWIRE_OK) abort();
    for (at = 0; at < len; at += n) {
        n = len - at < slice ? len - at : slice;
        if (deltawire_message_feed(r->message, r->parser, NULL, bytes + at, n, NULL, NULL, NULL) != DELTAWIRE_OK) abort();
    }
    message_texts(r->message, s);
}

/* Fed by batches. */
void bench_capi_message_batch(void *self, const char *bytes, size_t len, size_t slice, struct sink *s) {
    struct message_reader *r = (struct message_reader *)self;
    size_t at, n;
    deltawire_reset(r->parser);
    if (deltawire_message_reset(r->message) != DELTAWIRE_OK) abort();
    for (at = 0; at < len; at += n) {
        const char *data = bytes + at;
        size_t left;
        deltawire_status status;
        left = n = len - at < slice ? len - at : slice;
        do {
            deltawire_batch_result result;
            status = deltawire_message_batch(r->message, r->parser, NULL, data, left, r->events, 64, r->scratch,
                                             sizeof r->scratch, &result);
            if (status < DELTAWIRE_OK) abort();
            data += result.consumed;
            left -= result.consumed;
        } while (status != DELTAWIRE_OK);
    }
    message_texts(r->message, s);
}
