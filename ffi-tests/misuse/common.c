#define _DEFAULT_SOURCE
#include "common.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

const char STREAM[] = "data: {\"id\":\"a\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"one\"}}]}\n\n";
const char PAYLOAD[] = "{\"id\":\"a\",\"model\":\"m\",\"created\":5,\"x\\u0079\":[1,2,{\"z\":null}],\"choices\":[{\"index\":0,"
                       "\"delta\":{\"role\":\"assistant\",\"content\":\"one \\ud83d\\ude00\",\"tool_calls\":[{\"index\":0,"
                       "\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}}],"
                       "\"usage\":{\"prompt_tokens\":3,\"total_tokens\":5}}";
const char EVERYTHING[] =
    ": a comment\n\n"
    "data: : keepalive\n\n"
    "retry: 1500\n\n"
    "id: 7\n: c\n\n"
    "data: {\"choices\":[{\"index\":5,\"message\":{\"content\":\"whole\"}}]}\n\n"
    "data: {\"id\":\"a\",\"object\":\"o\",\"created\":3,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{"
    "\"role\":\"assistant\",\"annotations\":[{\"type\":\"url_citation\"}],\"content\":\"one \\u00e4\",\"reasoning_content\":\"two\",\"refusal\":\"three\",\"audio\":{\"id\":\"x\",\"data\":\"eA==\"},"
    "\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},"
    "\"logprobs\":{\"content\":[{\"token\":\"a\",\"logprob\":-1}]},\"finish_reason\":null}]}\n\n"
    "data: {\"choices\":[{\"index\":1,\"delta\":{\"function_call\":{\"name\":\"g\",\"arguments\":\"{\"}}}]}\n\n"
    "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"x\"},\"error\":{\"code\":500,\"message\":\"m\"}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":99999999999,\"id\":\"a\","
    "\"function\":{\"name\":\"f\"}}]}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"total_tokens\":2}}\n\n"
    "data: {broken\n\n"
    "event: error\ndata: {\"error\":{\"message\":\"bad\",\"code\":3}}\n\n"
    "data: [DONE]\n\n";
const char *const STATE_NAMES[STATES] = {"state 1", "state 2", "state 3", "state 4", "state 5",
                                         "state 6", "state 7", "state 8", "state 9", "state 10"};

size_t seen;
static char label[200];
static unsigned cases, faults;

static struct region {
    const char *name;
    unsigned char *base, *bytes, *copy;
    size_t front, len;
    enum when when;
} regions[256];
static size_t count;

void fault(const char *what, long long got, long long expected) {
    static struct { char name[60]; unsigned said; } known[128];
    size_t len = strcspn(label, ":"), i;
    if (len >= sizeof known->name) len = sizeof known->name - 1;
    for (i = 0; i < 127 && known[i].said > 0; i++) {
        if (strncmp(known[i].name, label, len) == 0 && known[i].name[len] == 0) break;
    }
    memcpy(known[i].name, label, len);
    /* A few of each function are enough. */
    if (++known[i].said <= 8) printf("%s: %s: got %lld, expected %lld\n", label, what, got, expected);
    faults++;
}

int summary(const char *name) {
    printf("%s: %u cases, %u faults\n", name, cases, faults);
    return faults != 0 || cases == 0;
}

void require(int holds, const char *what) {
    if (holds) return;
    printf("%s: cannot be set up: %s\n", label, what);
    exit(2);
}

static void crashed(int signal_number) {
    static const char said[] = ": crashed\n";
    ssize_t done = write(1, label, strlen(label)) + write(1, said, sizeof said - 1);
    _exit(done < 0 ? 4 : 128 + signal_number);
}

void begin(const char *function, const char *what, int state) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM};
    size_t i;
    if (cases++ == 0) {
        setvbuf(stdout, NULL, _IOLBF, 0);
        for (i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], crashed);
    }
    alarm(20); /* a program that takes this long hangs */
    for (i = 0; i < count; i++) {
        munmap(regions[i].base, regions[i].front + regions[i].len + (size_t)sysconf(_SC_PAGESIZE));
        free(regions[i].copy);
    }
    count = 0;
    snprintf(label, sizeof label, "%s: %s, %s", function, what, state < 0 ? "by hand" : STATE_NAMES[state]);
}

void *region(const char *name, size_t len, enum when when, int fill) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (len + page - 1) / page * page;
    struct region *r = &regions[count++];
    require(count <= sizeof regions / sizeof *regions, "too many regions");
    if (pages == 0) pages = page;
    r->base = mmap(NULL, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(r->base != MAP_FAILED && mprotect(r->base + pages, page, PROT_NONE) == 0, "no memory");
    r->name = name, r->when = when, r->len = len, r->front = pages - len;
    r->bytes = r->base + r->front;
    r->copy = malloc(len + 1);
    require(r->copy != NULL, "no memory");
    memset(r->base, 0x5A, r->front);
    memset(r->bytes, fill, len);
    memset(r->copy, fill, len);
    return r->bytes;
}

void always(void *at) {
    size_t i;
    for (i = 0; i < count; i++) {
        if (regions[i].bytes == at) regions[i].when = ALWAYS;
    }
}

void release(void *at) {
    size_t i;
    for (i = 0; i < count && regions[i].bytes != at; i++) continue;
    require(i < count, "no such region");
    munmap(regions[i].base, regions[i].front + regions[i].len + (size_t)sysconf(_SC_PAGESIZE));
    free(regions[i].copy);
    regions[i] = regions[--count];
}

void freeze(void) {
    size_t i;
    for (i = 0; i < count; i++) {
        if (regions[i].when == ALWAYS) memset(regions[i].bytes, 0xC3, regions[i].len);
        memcpy(regions[i].copy, regions[i].bytes, regions[i].len);
    }
}

void compare(long long status) {
    int misuse = status < 0 && status > -100;
    size_t i, j;
    for (i = 0; i < count; i++) {
        const struct region *r = &regions[i];
        int changed = memcmp(r->copy, r->bytes, r->len) != 0;
        char text[80];
        for (j = 0; j < r->front && r->base[j] == 0x5A; j++) continue;
        snprintf(text, sizeof text, "`%s` was written before its beginning", r->name);
        if (j < r->front) fault(text, (long long)j - (long long)r->front, 0);
        snprintf(text, sizeof text, "`%s` was changed by a call that gave %d", r->name, (int)status);
        if (changed && r->when == NEVER) fault(text, 1, 0);
        if (changed && misuse && (r->when == ON_SUCCESS || r->when == NO_MISUSE)) fault(text, 1, 0);
        if (changed && misuse && status != DELTAWIRE_E_SMALL && r->when == ON_SMALL) fault(text, 1, 0);
        if (changed && status == DELTAWIRE_ABSENT && r->when == ON_SUCCESS) fault(text, 1, 0);
        snprintf(text, sizeof text, "`%s` was not written by a call that gave %d", r->name, (int)status);
        if (!changed && r->when == ALWAYS) fault(text, 0, 1);
    }
}

void judge(deltawire_status status, const deltawire_status *documented, int expected) {
    size_t i;
    for (i = 0; documented[i] != 999 && documented[i] != status; i++) continue;
    if (documented[i] == 999) fault("a status that is not documented", status, expected);
    if (expected == NOT_E_NULL) {
        if (status == DELTAWIRE_E_NULL) fault("NULL is legal here", status, DELTAWIRE_OK);
    } else if (expected == MISUSE) {
        if (status != DELTAWIRE_ABSENT && (status >= 0 || status <= -100)) {
            fault("expected a status of misuse", status, DELTAWIRE_E_RANGE);
        }
    } else if (expected == NULL_OR_SMALL) {
        if (status != DELTAWIRE_E_NULL && status != DELTAWIRE_E_SMALL) fault("status", status, DELTAWIRE_E_NULL);
    } else if (expected != DOCUMENTED && status != expected) {
        fault("status", status, expected);
    }
}

const void *bytes(const char *name, const char *text) {
    size_t len = strlen(text);
    void *at = region(name, len, NEVER, 0);
    memcpy(at, text, len);
    return at;
}

static int32_t abort_chunk(void *user, const deltawire_at *at) {
    (void)user, (void)at;
    return -7;
}
static int32_t chunk_again(void *user, const deltawire_at *at) {
    (void)user, (void)at;
    return DELTAWIRE_AGAIN;
}

static deltawire_status feed(deltawire_parser *p, deltawire_workspace *w, const char *text, size_t len,
                             const deltawire_callbacks *callbacks) {
    return w ? deltawire_feed_with(p, w, text, len, callbacks, NULL, NULL)
             : deltawire_feed(p, text, len, callbacks, NULL, NULL);
}

/* Reads with a workspace, or with NULL for none. */
static deltawire_parser *parser_with(deltawire_workspace *w, int state, enum when when) {
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    deltawire_callbacks callbacks = DELTAWIRE_CALLBACKS_INIT;
    deltawire_parser *p = NULL;
    deltawire_event event;
    deltawire_batch_result result;
    deltawire_status status = DELTAWIRE_OK, expected = DELTAWIRE_OK;
    unsigned char scratch[DELTAWIRE_SCRATCH_MIN];
    size_t size = DELTAWIRE_BLOCK_SIZE(2048) + DELTAWIRE_METER_SIZE + 256, off = 0, len = 0;
    unsigned char *block;
    config.read_len = 256;
    /* Some have a meter. */
    config.mode = state % 2 ? DELTAWIRE_MODE_CHAT : DELTAWIRE_MODE_USAGE;
    if (w) config.flags = DELTAWIRE_CFG_SHARED;
    if (state == WANTING) config.flags |= DELTAWIRE_CFG_GROW, config.read_len = 0;
    if (state == WANTING) size = deltawire_block_size(&config, 32);
    block = region("parser", size, when, 0);
    if (state == STRICT) config.errors[0] = config.errors[1] = ~UINT64_C(0);
    require(deltawire_init(block, size, &config, &p) == DELTAWIRE_OK && p != NULL, "deltawire_init");
    switch (state) {
    case HALF: status = feed(p, w, STREAM, 30, &callbacks); break;
    case PENDING:
        status = w ? deltawire_batch_with(p, w, STREAM, sizeof STREAM - 1, &event, 1, scratch, sizeof scratch, &result)
                   : deltawire_batch(p, STREAM, sizeof STREAM - 1, &event, 1, scratch, sizeof scratch, &result);
        expected = DELTAWIRE_MORE;
        break;
    case STUCK:
        callbacks.on_chunk = abort_chunk;
        status = feed(p, w, STREAM, sizeof STREAM - 1, &callbacks);
        expected = DELTAWIRE_E_ABORTED;
        break;
    case ASKING_AGAIN:
        callbacks.on_chunk = chunk_again;
        status = feed(p, w, STREAM, sizeof STREAM - 1, &callbacks);
        expected = DELTAWIRE_PAUSED;
        break;
    case WANTING:
        status = feed(p, w, STREAM, sizeof STREAM - 3, &callbacks);
        expected = DELTAWIRE_NEED_STORAGE;
        break;
    case STRICT:
        status = feed(p, w, "data:\n\n", 7, &callbacks);
        expected = DELTAWIRE_E_STRICT;
        break;
    case FINISHED:
        status = w ? deltawire_finish_with(p, w, &callbacks, NULL) : deltawire_finish(p, &callbacks, NULL);
        break;
    case COMMITTED:
    case RESERVED:
        status = deltawire_reserve(p, &off, &len);
        require(len >= 20 && off <= size && len <= size - off, "deltawire_reserve");
        if (state == RESERVED || status != DELTAWIRE_OK) break;
        memcpy(block + off, STREAM, 20);
        status = deltawire_commit(p, 20);
        break;
    default: break;
    }
    if (status != expected) fault("while the state is set up", status, expected);
    return p;
}

deltawire_parser *parser(int state, enum when when) { return parser_with(NULL, state, when); }

deltawire_parser *sharing_parser(int state, enum when when) {
    static DELTAWIRE_WORKSPACE(block);
    deltawire_workspace *w = NULL;
    require(deltawire_workspace_init(&block, sizeof block, &w) == DELTAWIRE_OK && w != NULL, "deltawire_workspace_init");
    return parser_with(w, state, when);
}

deltawire_workspace *workspace(void) {
    static DELTAWIRE_BLOCK(block, 512);
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    deltawire_workspace *w = NULL;
    deltawire_parser *p = NULL;
    size_t size = deltawire_workspace_size();
    require(deltawire_workspace_init(region("workspace", size, ANY_TIME, 0), size, &w) == DELTAWIRE_OK && w != NULL,
            "deltawire_workspace_init");
    config.flags = DELTAWIRE_CFG_SHARED;
    require(deltawire_init(&block, sizeof block, &config, &p) == DELTAWIRE_OK, "deltawire_init");
    require(deltawire_feed_with(p, w, THREE, THREE_LEN, NULL, NULL, NULL) == DELTAWIRE_OK, "deltawire_feed_with");
    return w;
}

deltawire_message *message(int state, enum when when) {
    size_t size = deltawire_message_size(NULL, state == MESSAGE_FULL ? 24 : 1024);
    deltawire_message *m = NULL;
    deltawire_parser *p = NULL;
    deltawire_status status = DELTAWIRE_OK, expected = DELTAWIRE_OK;
    static DELTAWIRE_BLOCK(block, 2048);
    static const char stream[] = "data: {\"id\":\"three\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a longer text\"}}]}\n\n";
    require(deltawire_message_init(region("message", size, when, 0), size, NULL, &m) == DELTAWIRE_OK && m != NULL,
            "deltawire_message_init");
    /* An ID that fits, and content that does not. */
    if (state == MESSAGE_FULL) expected = DELTAWIRE_NEED_STORAGE;
    require(deltawire_init(&block, sizeof block, NULL, &p) == DELTAWIRE_OK, "deltawire_init");
    if (state != MESSAGE_EMPTY) status = deltawire_message_feed(m, p, NULL, stream, sizeof stream - 1, NULL, NULL, NULL);
    if (status != expected) fault("while a stream is read", status, expected);
    return m;
}

deltawire_writer *writer(int state, enum when when) {
    deltawire_writer_config config = DELTAWIRE_WRITER_CONFIG_INIT;
    deltawire_writer *w = NULL;
    deltawire_event event;
    deltawire_status status = DELTAWIRE_OK;
    char out[512];
    size_t size, len = 0;
    config.protocol = DELTAWIRE_PROTOCOL_ANTHROPIC;
    size = deltawire_writer_size(&config, 256);
    require(deltawire_writer_init(region("writer", size, when, 0), size, &config, &w) == DELTAWIRE_OK && w != NULL,
            "deltawire_writer_init");
    memset(&event, 0, sizeof event);
    event.kind = DELTAWIRE_EV_CONTENT;
    if (state == WRITER_SOME) status = deltawire_writer_put(w, &event, "one", 3, NULL, 0, out, sizeof out, &len);
    if (state == WRITER_ENDED) status = deltawire_writer_fail(w, "over", 4, out, sizeof out, &len);
    if (status != DELTAWIRE_OK) fault("while the state is set up", status, DELTAWIRE_OK);
    return w;
}

const deltawire_chunk *chunk(void) {
    const deltawire_chunk *c = NULL;
    const void *json = bytes("payload", PAYLOAD);
    deltawire_chunk_storage *storage = region("chunk", sizeof *storage, NEVER, 0xC3);
    require(deltawire_chunk_open(json, sizeof PAYLOAD - 1, storage, &c) == DELTAWIRE_OK && c != NULL, "a chunk");
    return c;
}

const deltawire_value *value(int state) {
    static const char *const texts[VALUE_STATES] = {
        "{\"message\":\"a\",\"code\":3,\"id\":\"x\"}", "\"\\ud83d\\ude00a\\n\"", "-12.5e3", "[1,{\"a\":[]},\"x\"]",
        "", "plain \xFF text", "[1,{\"a\":"};
    deltawire_value *v = region("value", sizeof *v, NEVER, 0);
    const char *text = texts[state];
    if (state == VALUE_NONE) return v;
    if (state == VALUE_TEXT) {
        require(deltawire_value_plain(bytes("text", text), strlen(text), v) == DELTAWIRE_OK, "a plain value");
    } else if (state == VALUE_CUT) {
        /* Events that a lazy reader may emit of a payload with a damaged end. */
        v->ptr = bytes("json", text), v->len = strlen(text), v->type = DELTAWIRE_T_ARRAY;
    } else {
        require(deltawire_value_open(bytes("json", text), strlen(text), v) == DELTAWIRE_OK, "a value");
    }
    return v;
}

/* ---- hand-written tests */

#define CHUNK(text) "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" text "\"}}]}\n\n"
const char THREE[THREE_LEN + 1] = CHUNK("one") CHUNK("two") CHUNK("three");

void is(const char *what, long long got, long long expected) {
    if (got != expected) fault(what, got, expected);
}
void is_one_of(const char *what, long long got, long long one, long long other) {
    if (got != one && got != other) fault(what, got, one);
}

static int same_text(deltawire_str *a, deltawire_str *b) {
    int same = a->len == b->len && (a->len == 0 || memcmp(a->ptr, b->ptr, a->len) == 0);
    a->ptr = b->ptr = NULL;
    return same;
}
int same_meter(deltawire_meter a, deltawire_meter b) {
    int same = same_text(&a.model, &b.model) & same_text(&a.id, &b.id) & same_text(&a.finish_reason, &b.finish_reason) &
               same_text(&a.error, &b.error) & same_text(&a.tool_usage, &b.tool_usage);
    size_t i;
    for (i = 0; i < DELTAWIRE_METER_NAMES; i++) same &= same_text(&a.call_names[i], &b.call_names[i]);
    return same && memcmp(&a, &b, sizeof a) == 0; /* it has no padding */
}

static int32_t take(void *user, const deltawire_at *at, const char *bytes_, size_t len) {
    struct text *text = user;
    (void)at;
    if (text->len + len <= sizeof text->bytes) memcpy(text->bytes + text->len, bytes_, len), text->len += len;
    return text->answer;
}
deltawire_callbacks taking(void) {
    deltawire_callbacks callbacks = DELTAWIRE_CALLBACKS_INIT;
    callbacks.on_content = take;
    return callbacks;
}

deltawire_parser *make(size_t event_bytes, const deltawire_config *config) {
    size_t size = DELTAWIRE_BLOCK_SIZE(event_bytes) + (config ? (config->read_len + 7u) / 8u * 8u : 0);
    deltawire_parser *p = NULL;
    if (config && config->mode == DELTAWIRE_MODE_USAGE) size += DELTAWIRE_METER_SIZE;
    require(deltawire_init(region("parser", size, NO_MISUSE, 0), size, config, &p) == DELTAWIRE_OK, "deltawire_init");
    return p;
}

void works(deltawire_parser *p) {
    deltawire_callbacks callbacks = taking();
    deltawire_end end = DELTAWIRE_END_INIT;
    struct text text = {{0}, 0, 0};
    size_t consumed = 77, len = THREE_LEN;
    is("feed of a stream", deltawire_feed(p, THREE, len, &callbacks, &text, &consumed), DELTAWIRE_OK);
    is("consumed", (long long)consumed, (long long)len);
    is("finish", deltawire_finish(p, &callbacks, &text), DELTAWIRE_OK);
    is("text", text.len == 11 && memcmp(text.bytes, "onetwothree", 11) == 0, 1);
    is("end", deltawire_end_of(p, &end), DELTAWIRE_OK);
    is("offset", (long long)end.offset, (long long)len);
    is("finished", end.finished, 1);
    is("verdict", end.verdict, DELTAWIRE_VERDICT_TRUNCATED);
    is("error_quirk", deltawire_error_quirk(p), DELTAWIRE_QUIRKS);
    is("error_offset", (long long)deltawire_error_offset(p), 0);
    is("user_code", deltawire_user_code(p), 0);
}

void after_reset(deltawire_parser *p) {
    is("reset", deltawire_reset(p), DELTAWIRE_OK);
    works(p);
}
