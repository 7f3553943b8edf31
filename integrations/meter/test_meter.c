/* Tests llm_meter.c with a scripted clock and memory that can be refused. SPDX-License-Identifier: MIT OR Apache-2.0
 * Usage: test_meter FILE...   each a recorded response, read in pieces of many sizes */
#include "llm_meter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
#define LIT(s) s, sizeof s - 1
#define CHECK(x)                                                                \
    do {                                                                        \
        checks++;                                                               \
        if (!(x)) {                                                             \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, where, #x); \
            exit(1);                                                            \
        }                                                                       \
    } while (0)

static const char *where = "";
static unsigned long checks;

/* Memory: counts what is in use, and refuses the allocation `refused` and, with `for_good`, all after it. */
struct memory {
    size_t used, peak;
    long asked, refused;
    int for_good;
};

static void *take(void *ctx, size_t size) {
    struct memory *m = ctx;
    long nth = m->asked++;
    size_t *mem;
    if (m->refused >= 0 && (nth == m->refused || (m->for_good && nth > m->refused))) return NULL;
    mem = malloc(size + 16);
    if (!mem) abort();
    mem[0] = size;
    m->used += size;
    if (m->used > m->peak) m->peak = m->used;
    return mem + 2;
}

static void give(void *ctx, void *mem) {
    struct memory *m = ctx;
    m->used -= ((size_t *)mem)[-2];
    free((size_t *)mem - 2);
}

static DELTAWIRE_WORKSPACE(block);
static deltawire_workspace *workspace;

/* What a client gets. */
struct client {
    char *bytes;
    size_t len, room;
    int held; /* bytes that were handed out as held */
    int fails; /* how many of the next calls fail */
};

static int to_client(void *to, const char *bytes, size_t len, int is_held) {
    struct client *c = to;
    if (c->fails > 0) {
        c->fails--;
        return 7;
    }
    if (len == 0) return 0;
    if (c->len + len > c->room) {
        c->room = (c->len + len) * 2;
        c->bytes = realloc(c->bytes, c->room);
        if (!c->bytes) abort();
    }
    memcpy(c->bytes + c->len, bytes, len);
    c->len += len;
    c->held += is_held ? (int)len : 0;
    return 0;
}

/* A response that is being forwarded as a gateway forwards it. */
struct flow {
    struct memory memory;
    struct llm_stream stream;
    struct client client;
};

static void flow_begin(struct flow *f, struct llm_response *r, const char *type, int hide) {
    r->memory.alloc = take;
    r->memory.release = give;
    r->memory.ctx = &f->memory;
    r->workspace = workspace;
    r->content_type.ptr = type;
    r->content_type.len = strlen(type);
    r->hide_usage = hide;
    memset(&f->client, 0, sizeof f->client);
    f->memory.used = f->memory.peak = 0;
    f->memory.asked = 0;
    memset(&f->stream, 0xA5, sizeof f->stream);
    llm_begin(&f->stream, r);
}

static void flow_read(struct flow *f, const char *bytes, size_t len, uint64_t now) {
    /* A copy of exactly this length, so that a sanitizer sees a read beyond it or after the call. */
    char *piece = malloc(len ? len : 1);
    if (!piece) abort();
    memcpy(piece, bytes, len);
    if (llm_hides(&f->stream)) {
        CHECK(llm_read(&f->stream, piece, len, now, to_client, &f->client) == 0);
    } else {
        CHECK(to_client(&f->client, piece, len, 0) == 0);
        CHECK(llm_read(&f->stream, piece, len, now, NULL, NULL) == 0);
    }
    free(piece);
}

static void flow_end(struct flow *f, enum llm_ending ending) {
    CHECK(llm_end(&f->stream, ending, to_client, &f->client) == 0);
    CHECK(f->memory.used == 0);
}

static void flow_free(struct flow *f) {
    free(f->client.bytes);
    f->client.bytes = NULL;
}

static int is_text(struct llm_stream *s, enum llm_fact fact, const char *expected) {
    struct llm_value v;
    if (!llm_value_of(s, fact, &v)) return expected == NULL;
    if (expected && v.text && v.len == strlen(expected) && memcmp(v.text, expected, v.len) == 0) return 1;
    fprintf(stderr, "%s is %.*s, expected %s\n", llm_fact_name(fact), (int)v.len, v.text ? v.text : "", expected ? expected : "none");
    return 0;
}

/* -1: absent. */
static int is_number(struct llm_stream *s, enum llm_fact fact, int64_t expected) {
    struct llm_value v;
    if (!llm_value_of(s, fact, &v)) return expected < 0;
    if (!v.text && expected >= 0 && v.number == (uint64_t)expected) return 1;
    fprintf(stderr, "%s is %lu, expected %ld\n", llm_fact_name(fact), (unsigned long)v.number, (long)expected);
    return 0;
}

/* All facts but the times, as one text. */
static void describe(struct llm_stream *s, char *out, size_t room) {
    unsigned fact;
    size_t at = 0;
    for (fact = 0; fact < LLM_FACTS; fact++) {
        struct llm_value v;
        if (fact == LLM_TTFT_MS || fact == LLM_OUTPUT_MS || fact == LLM_MAX_GAP_MS || !llm_value_of(s, fact, &v)) continue;
        at += (size_t)(v.text ? snprintf(out + at, room - at, "%s=%.*s\n", llm_fact_name(fact), (int)v.len, v.text)
                              : snprintf(out + at, room - at, "%s=%lu\n", llm_fact_name(fact), (unsigned long)v.number));
    }
}

static const char ROLE[] = "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"model\":\"m-1\",\"choices\":[{\"index\":0,"
                           "\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n";
static const char HELLO[] = "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"model\":\"m-1\",\"choices\":[{\"index\":0,"
                            "\"delta\":{\"content\":\"Hello\"},\"finish_reason\":null}]}\n\n";
static const char STOP[] = "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"model\":\"m-1\",\"choices\":[{\"index\":0,"
                           "\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
static const char USAGE[] = "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"model\":\"m-1\",\"choices\":[],"
                            "\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":7,\"total_tokens\":18,"
                            "\"prompt_tokens_details\":{\"cached_tokens\":5},\"completion_tokens_details\":{\"reasoning_tokens\":0}}}\n\n";
static const char DONE[] = "data: [DONE]\n\n";
static const char PING[] = ": ping\n\n";

static void facts_and_times(void) {
    struct llm_response r = {0};
    struct flow f = {0};
    struct llm_value v;
    where = "facts_and_times";
    f.memory.refused = -1;
    r.request_ns = 1000 * MS;
    flow_begin(&f, &r, "text/event-stream; charset=utf-8", 0);
    CHECK(!llm_hides(&f.stream));
    CHECK(is_number(&f.stream, LLM_TTFT_MS, -1) && is_text(&f.stream, LLM_ENDED_BY, NULL));
    flow_read(&f, LIT(PING), 1100 * MS);
    flow_read(&f, LIT(ROLE), 1200 * MS); /* neither a ping nor a role is a token */
    CHECK(is_number(&f.stream, LLM_TTFT_MS, -1));
    flow_read(&f, HELLO, 40, 1300 * MS);
    flow_read(&f, HELLO + 40, sizeof HELLO - 1 - 40, 1250 * MS + 499999);
    CHECK(is_number(&f.stream, LLM_TTFT_MS, 250) && is_number(&f.stream, LLM_OUTPUT_MS, 0) && is_number(&f.stream, LLM_MAX_GAP_MS, -1));
    flow_read(&f, LIT(HELLO), 1400 * MS);
    flow_read(&f, LIT(PING), 1490 * MS);
    flow_read(&f, LIT(HELLO), 1700 * MS);
    flow_read(&f, LIT(HELLO), 1710 * MS);
    flow_read(&f, LIT(STOP), 1900 * MS);
    CHECK(is_number(&f.stream, LLM_PROMPT_TOKENS, -1) && is_text(&f.stream, LLM_FINISH_REASON, "stop"));
    flow_read(&f, LIT(USAGE), 1950 * MS);
    flow_read(&f, LIT(DONE), 2000 * MS);
    flow_end(&f, LLM_UPSTREAM_ENDED);
    CHECK(is_number(&f.stream, LLM_PROMPT_TOKENS, 11) && is_number(&f.stream, LLM_COMPLETION_TOKENS, 7));
    CHECK(is_number(&f.stream, LLM_TOTAL_TOKENS, 18) && is_number(&f.stream, LLM_CACHED_TOKENS, 5));
    CHECK(is_number(&f.stream, LLM_REASONING_TOKENS, 0)); /* a 0 that was sent is known */
    CHECK(is_number(&f.stream, LLM_EVENTS, 8) && is_number(&f.stream, LLM_TTFT_MS, 250) && is_number(&f.stream, LLM_OUTPUT_MS, 459));
    CHECK(is_number(&f.stream, LLM_MAX_GAP_MS, 300));
    CHECK(is_text(&f.stream, LLM_MODEL, "m-1") && is_text(&f.stream, LLM_PROTOCOL, "chat") && is_text(&f.stream, LLM_VERDICT, "done"));
    CHECK(is_text(&f.stream, LLM_COMPLETE, "true") && is_text(&f.stream, LLM_ERROR, NULL) && is_text(&f.stream, LLM_QUIRKS, NULL));
    CHECK(is_text(&f.stream, LLM_ENDED_BY, "complete"));
    /* Nothing counts after the end. */
    flow_read(&f, LIT(HELLO), 3000 * MS);
    flow_end(&f, LLM_CLIENT_LEFT);
    CHECK(is_number(&f.stream, LLM_EVENTS, 8) && is_text(&f.stream, LLM_ENDED_BY, "complete"));
    CHECK(!llm_value_of(&f.stream, LLM_FACTS, &v) && llm_fact_name(LLM_FACTS) == NULL);
    flow_free(&f);
}

static void texts(void) {
    static const char odd[] = "data: {\"object\":\"chat.completion.chunk\",\"model\":\"a\\\"b\\\\c\\n\xC3\xA9\xF0\x9F\x98\x80\",\"choices\":[]}\n\n"
                              "data: {\"error\":{\"message\":\"m\",\"type\":\"overloaded_error\",\"code\":529}}\n\n";
    char body[2048], expected[LLM_TEXT_MAX + 1];
    struct llm_response r = {0};
    struct flow f = {0};
    int n;
    where = "texts";
    f.memory.refused = -1;
    flow_begin(&f, &r, "text/event-stream", 0);
    flow_read(&f, LIT(odd), 0);
    flow_end(&f, LLM_UPSTREAM_ENDED);
    CHECK(is_text(&f.stream, LLM_MODEL, "a\\\"b\\\\c\\u000a\\u00e9\\ud83d\\ude00"));
    CHECK(is_text(&f.stream, LLM_ERROR, "overloaded_error") && is_text(&f.stream, LLM_VERDICT, "api_error"));
    CHECK(is_text(&f.stream, LLM_COMPLETE, "false") && is_text(&f.stream, LLM_ENDED_BY, "upstream_end"));
    flow_free(&f);

    /* 121 letters, then an escape of 12 bytes: it is left out whole, and so is what follows. */
    n = snprintf(body, sizeof body, "data: {\"object\":\"chat.completion.chunk\",\"model\":\"%0121d\xF0\x9F\x98\x80z\",\"choices\":[]}\n\n", 0);
    flow_begin(&f, &r, "text/event-stream", 0);
    flow_read(&f, body, (size_t)n, 0);
    flow_end(&f, LLM_UPSTREAM_ENDED);
    snprintf(expected, sizeof expected, "%0121d", 0);
    CHECK(is_text(&f.stream, LLM_MODEL, expected));
    flow_free(&f);

    /* Two quirks of one code are one word: C23 is a second finish, and a delta after a finish. */
    flow_begin(&f, &r, "text/event-stream", 0);
    flow_read(&f, LIT(STOP), 0);
    flow_read(&f, LIT(HELLO), 0);
    flow_read(&f, LIT(STOP), 0);
    flow_read(&f, LIT("data: [DONE]"), 0);
    flow_end(&f, LLM_UPSTREAM_ENDED);
    CHECK(is_text(&f.stream, LLM_QUIRKS, "F12,C23"));
    flow_free(&f);
}

static void ends(void) {
    static const struct {
        const char *bytes;
        enum llm_ending ending;
        const char *ended_by, *verdict;
    } rows[] = {
        {DONE, LLM_UPSTREAM_ENDED, "upstream_end", "empty"},        {HELLO, LLM_UPSTREAM_ENDED, "upstream_end", "truncated"},
        {STOP, LLM_UPSTREAM_ENDED, "complete", "finished"},         {STOP, LLM_UPSTREAM_RESET, "upstream_reset", "finished"},
        {HELLO, LLM_CLIENT_LEFT, "client_left", "truncated"},       {STOP, LLM_LOCAL_REPLY, "local_reply", "finished"},
        {"", LLM_UPSTREAM_RESET, "upstream_reset", "empty"},        {"<html>", LLM_UPSTREAM_ENDED, "upstream_end", "not_a_stream"},
        {"{\"data\":[]}", LLM_UPSTREAM_ENDED, "upstream_end", "json_answer"},
    };
    struct llm_response r = {0};
    struct flow f = {0};
    size_t nth;
    where = "ends";
    f.memory.refused = -1;
    for (nth = 0; nth < sizeof rows / sizeof *rows; nth++) {
        flow_begin(&f, &r, "text/event-stream", 0);
        flow_read(&f, rows[nth].bytes, strlen(rows[nth].bytes), 0);
        flow_end(&f, rows[nth].ending);
        CHECK(is_text(&f.stream, LLM_ENDED_BY, rows[nth].ended_by));
        CHECK(is_text(&f.stream, LLM_VERDICT, rows[nth].verdict));
        flow_free(&f);
    }
    /* A compressed body is not read. */
    r.content_encoding.ptr = "gzip";
    r.content_encoding.len = 4;
    flow_begin(&f, &r, "text/event-stream", 1);
    CHECK(!llm_hides(&f.stream) && f.memory.asked == 0);
    flow_read(&f, LIT(HELLO), 0);
    flow_end(&f, LLM_UPSTREAM_ENDED);
    CHECK(is_text(&f.stream, LLM_VERDICT, "compressed") && is_number(&f.stream, LLM_EVENTS, -1));
    CHECK(is_text(&f.stream, LLM_ENDED_BY, "upstream_end") && is_text(&f.stream, LLM_COMPLETE, NULL));
    flow_free(&f);
    r.content_encoding.ptr = "Identity";
    r.content_encoding.len = 8;
    flow_begin(&f, &r, "text/event-stream", 1);
    CHECK(!llm_hides(&f.stream)); /* not where the header is present, whatever it says */
    flow_read(&f, LIT(STOP), 0);
    flow_end(&f, LLM_UPSTREAM_ENDED);
    CHECK(is_text(&f.stream, LLM_VERDICT, "finished"));
    flow_free(&f);
}

/* A body with an event of `len` bytes of content in the middle. */
static char *with_long_event(size_t len, size_t *total) {
    size_t room = len + 4096;
    char *body = malloc(room), *at = body;
    if (!body) abort();
    at += sprintf(at, "%sdata: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"", ROLE);
    memset(at, 'x', len);
    at += len;
    at += sprintf(at, "\"}}]}\n\n%s%s%s", STOP, USAGE, DONE);
    *total = (size_t)(at - body);
    return body;
}

static void long_events(void) {
    static const size_t sizes[] = {1, 7, 1448, 16384, 1 << 22};
    struct llm_response r = {0};
    struct flow f = {0};
    size_t nth, at, len, small, before;
    char *body = with_long_event(300000, &len);
    where = "long_events";
    f.memory.refused = -1;
    for (nth = 0; nth < sizeof sizes / sizeof *sizes; nth++) {
        size_t step = sizes[nth] < len ? sizes[nth] : len;
        flow_begin(&f, &r, "text/event-stream", 0);
        small = f.memory.used;
        CHECK(small > 0 && small < 16384);
        for (at = 0; at < len; at += step) flow_read(&f, body + at, step < len - at ? step : len - at, at);
        CHECK(f.memory.used == small); /* after the long event it is small again */
        /* While it moves, a stream has two blocks; the larger at most doubles with each move. */
        CHECK(step > 300000 ? f.memory.peak == small : f.memory.peak > 300000 && f.memory.peak < 1000000);
        CHECK(f.memory.asked < 20);
        flow_end(&f, LLM_UPSTREAM_ENDED);
        CHECK(is_text(&f.stream, LLM_VERDICT, "done") && is_number(&f.stream, LLM_PROMPT_TOKENS, 11));
        CHECK(f.client.len == len && memcmp(f.client.bytes, body, len) == 0);
        flow_free(&f);

        r.max_event = 65536;
        flow_begin(&f, &r, "text/event-stream", 0);
        before = f.memory.used;
        for (at = 0; at < len; at += step) flow_read(&f, body + at, step < len - at ? step : len - at, at);
        CHECK(f.memory.used == before && f.memory.peak < 3 * 65536);
        flow_end(&f, LLM_UPSTREAM_ENDED);
        CHECK(is_text(&f.stream, LLM_VERDICT, "too_long") && is_text(&f.stream, LLM_COMPLETE, "false"));
        CHECK(is_number(&f.stream, LLM_PROMPT_TOKENS, 11) && is_text(&f.stream, LLM_ENDED_BY, "upstream_end"));
        CHECK(f.client.len == len && memcmp(f.client.bytes, body, len) == 0);
        flow_free(&f);
        r.max_event = 0;
    }
    free(body);
}

static int is_unread(struct llm_stream *s) {
    struct llm_value v;
    return llm_value_of(s, LLM_VERDICT, &v) && v.len == 6 && memcmp(v.text, "unread", 6) == 0;
}

/* Whatever allocation is refused, every byte passes. */
static void refused_memory(void) {
    struct llm_response r = {0};
    struct flow f = {0};
    struct llm_value events;
    size_t at, len, unread = 0;
    char *body = with_long_event(20000, &len);
    int hide, for_good;
    where = "refused_memory";
    for (hide = 0; hide < 2; hide++) {
        for (for_good = 0; for_good < 2; for_good++) {
            long nth = -1, asked;
            do {
                size_t less = 0;
                f.memory.refused = ++nth;
                f.memory.for_good = for_good;
                flow_begin(&f, &r, "text/event-stream", hide);
                for (at = 0; at < len; at += 100) flow_read(&f, body + at, len - at < 100 ? len - at : 100, at);
                asked = f.memory.asked;
                /* Once the stream is not read, nothing is held. */
                CHECK(!is_unread(&f.stream) || f.client.len == len);
                flow_end(&f, LLM_UPSTREAM_ENDED);
                if (llm_value_of(&f.stream, LLM_EVENTS, &events) && events.number == 5) {
                    CHECK(is_text(&f.stream, LLM_VERDICT, "done")); /* only held bytes, or a smaller block, were refused */
                    less = hide && f.client.len < len ? sizeof USAGE - 1 : 0;
                } else {
                    unread++;
                    CHECK(is_text(&f.stream, LLM_VERDICT, "unread") && is_text(&f.stream, LLM_ENDED_BY, "upstream_end"));
                }
                CHECK(f.client.len == len - less);
                CHECK(less > 0 || memcmp(f.client.bytes, body, len) == 0);
                flow_free(&f);
            } while (asked > nth); /* until nothing was refused */
            CHECK(nth > 3);
        }
    }
    CHECK(unread >= 8);
    free(body);
}

/* A stream, and what of it a client sees that did not ask for usage. NULL: all of it. */
static void hides(const char *name, const char *type, const char *bytes, size_t len, const char *expected, size_t expected_len) {
    static const size_t steps[] = {1, 2, 7, 64, 1448, 16383, 16384, 16385};
    struct llm_response r = {0};
    struct flow f = {0};
    size_t cut, nth, at, thin = len > 2000 ? 997 : 1;
    where = name;
    f.memory.refused = -1;
    if (!expected) expected = bytes, expected_len = len;
    for (cut = 0; cut <= len; cut += thin) {
        flow_begin(&f, &r, type, 1);
        flow_read(&f, bytes, cut, 0);
        CHECK(f.client.len <= expected_len && memcmp(f.client.bytes ? f.client.bytes : "", expected, f.client.len) == 0);
        flow_read(&f, bytes + cut, len - cut, 0);
        flow_end(&f, LLM_UPSTREAM_ENDED);
        CHECK(f.client.len == expected_len && memcmp(f.client.bytes, expected, expected_len) == 0);
        flow_free(&f);
    }
    for (nth = 0; nth < sizeof steps / sizeof *steps; nth++) {
        flow_begin(&f, &r, type, 1);
        for (at = 0; at < len; at += steps[nth]) flow_read(&f, bytes + at, len - at < steps[nth] ? len - at : steps[nth], 0);
        CHECK(f.memory.peak < 3 * LLM_HELD_MAX + 65536);
        flow_end(&f, LLM_CLIENT_LEFT);
        CHECK(f.client.len == expected_len && memcmp(f.client.bytes, expected, expected_len) == 0);
        flow_free(&f);
    }
}

/* A usage chunk of exactly `len` bytes, between two others. */
static void hides_of_length(size_t len, int is_hidden, const char *eol) {
    size_t eol_len = strlen(eol), fixed, n;
    char *body = malloc(len + 4096), *rest = malloc(4096), *at = body, *chunk;
    if (!body || !rest) abort();
    at += sprintf(at, "%s", HELLO);
    chunk = at;
    at += sprintf(at, "data: {\"object\":\"chat.completion.chunk\",\"choices\":[],\"usage\":{\"prompt_tokens\":1},\"p\":\"");
    fixed = (size_t)(at - chunk) + 2 + 2 * eol_len;
    memset(at, 'p', len - fixed);
    at += len - fixed;
    at += sprintf(at, "\"}%s%s", eol, eol);
    CHECK((size_t)(at - chunk) == len);
    at += sprintf(at, "%s", DONE);
    n = (size_t)sprintf(rest, "%s%s", HELLO, DONE);
    if (is_hidden)
        hides("hides_of_length", "text/event-stream", body, (size_t)(at - body), rest, n);
    else
        hides("hides_of_length, too long", "text/event-stream", body, (size_t)(at - body), NULL, 0);
    free(body);
    free(rest);
}

static void hiding(void) {
    static const char *const eols[] = {"\n", "\r\n", "\r"};
    static char most[LLM_HELD_MAX];
    char all[4096], rest[4096];
    struct llm_response r = {0};
    struct flow f = {0};
    int n, m;
    size_t nth;
    n = sprintf(all, "%s%s%s%s%s%s%s", PING, ROLE, HELLO, PING, STOP, USAGE, DONE);
    m = sprintf(rest, "%s%s%s%s%s%s", PING, ROLE, HELLO, PING, STOP, DONE);
    hides("usage at the end", "text/event-stream", all, (size_t)n, rest, (size_t)m);
    hides("a type with a parameter", "Text/Event-Stream;charset=UTF-8", all, (size_t)n, rest, (size_t)m);
    hides("another type", "application/x-ndjson", all, (size_t)n, NULL, 0);
    n = sprintf(all, "%s%s%s", HELLO, STOP, USAGE);
    m = sprintf(rest, "%s%s", HELLO, STOP);
    hides("usage is last", "text/event-stream", all, (size_t)n, rest, (size_t)m);
    hides("usage is last and cut", "text/event-stream", all, (size_t)n - 20, NULL, 0);
    n = sprintf(all, "\xEF\xBB\xBF%s%s", USAGE, DONE);
    hides("usage is first, after a byte order mark", "text/event-stream", all, (size_t)n, DONE, sizeof DONE - 1);
    n = sprintf(all, "%s: busy\n%s%s", HELLO, USAGE, DONE);
    m = sprintf(rest, "%s: busy\n%s", HELLO, DONE);
    hides("a comment before the frame", "text/event-stream", all, (size_t)n, rest, (size_t)m);
    n = sprintf(all, "%sid: 4\n: busy\n%s%s", HELLO, USAGE, DONE);
    hides("a comment in the frame", "text/event-stream", all, (size_t)n, NULL, 0);
    n = sprintf(all, "%sid: 4\n%s%s", HELLO, USAGE, DONE);
    m = sprintf(rest, "%s%s", HELLO, DONE);
    hides("an id in the frame", "text/event-stream", all, (size_t)n, rest, (size_t)m);
    n = sprintf(all, "%s%s%s", HELLO, "data: {\"object\":\"chat.completion.chunk\",\"choices\":[],\"usage\":null}\n\n", DONE);
    hides("usage is null", "text/event-stream", all, (size_t)n, NULL, 0);
    n = sprintf(all, "%s", "{\"object\":\"chat.completion.chunk\",\"choices\":[],\"usage\":{\"prompt_tokens\":1}}\n");
    hides("a line of JSON", "text/event-stream", all, (size_t)n, NULL, 0);
    n = sprintf(all, "%s%s%s",
                "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"a\",\"model\":\"c\",\"role\":\"assistant\","
                "\"content\":[],\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n",
                "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":9}}\n\n",
                "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":9}}\n\n"
                "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
    hides("another protocol", "text/event-stream", all, (size_t)n, NULL, 0);
    for (nth = 0; nth < 3; nth++) {
        hides_of_length(LLM_HELD_MAX - 1, 1, eols[nth]);
        hides_of_length(LLM_HELD_MAX, 0, eols[nth]);
    }

    where = "not held";
    f.memory.refused = -1;
    flow_begin(&f, &r, "text/event-stream", 1);
    flow_read(&f, LIT(HELLO), 0); /* a frame that arrives whole is handed on at once, and not copied */
    CHECK(f.client.len == sizeof HELLO - 1 && f.client.held == 0);
    flow_read(&f, HELLO, 10, 0);
    CHECK(f.client.len == sizeof HELLO - 1);
    f.client.fails = 1; /* what the gateway cannot forward is reported, and nothing after it is forwarded */
    CHECK(llm_read(&f.stream, HELLO + 10, sizeof HELLO - 11, 0, to_client, &f.client) == 7);
    CHECK(f.client.len == sizeof HELLO - 1);
    flow_end(&f, LLM_CLIENT_LEFT);
    flow_free(&f);
    where = "no more is held";
    memset(most, 'x', sizeof most);
    memcpy(most, "data: ", 6);
    flow_begin(&f, &r, "text/event-stream", 1);
    flow_read(&f, most, LLM_HELD_MAX, 0);
    CHECK(f.client.len == 0);
    flow_read(&f, "x", 1, 0);
    CHECK(f.client.len == LLM_HELD_MAX + 1);
    flow_read(&f, "x", 1, 0); /* and the rest of the frame at once */
    CHECK(f.client.len == LLM_HELD_MAX + 2);
    flow_end(&f, LLM_CLIENT_LEFT);
    flow_free(&f);
    where = "no longer held";
    flow_begin(&f, &r, "text/event-stream", 1);
    flow_read(&f, HELLO, 10, 0);
    llm_unread(&f.stream);
    flow_read(&f, HELLO + 10, 5, 0);
    CHECK(f.client.len == 15 && !llm_hides(&f.stream));
    flow_end(&f, LLM_UPSTREAM_ENDED);
    CHECK(is_text(&f.stream, LLM_VERDICT, "unread"));
    flow_free(&f);
    r.has_length = 1;
    flow_begin(&f, &r, "text/event-stream", 1);
    CHECK(!llm_hides(&f.stream));
    flow_end(&f, LLM_CLIENT_LEFT);
    flow_free(&f);
}

/* Facts and bytes do not depend on where reads cut; with hiding, the bytes do not either. */
static void any_split(const char *path) {
    static const size_t steps[] = {1, 7, 50, 1448, 16384};
    char whole[2048], cut[2048];
    struct llm_response r = {0};
    struct flow f = {0};
    FILE *file = fopen(path, "rb");
    char *bytes, *hidden = NULL;
    size_t len, hidden_len = 0, nth, at;
    int hide;
    where = path;
    CHECK(file != NULL);
    fseek(file, 0, SEEK_END);
    len = (size_t)ftell(file);
    rewind(file);
    bytes = malloc(len + 1);
    if (!bytes) abort();
    CHECK(fread(bytes, 1, len, file) == len);
    fclose(file);
    f.memory.refused = -1;
    for (hide = 0; hide < 2; hide++) {
        flow_begin(&f, &r, "text/event-stream", hide);
        flow_read(&f, bytes, len, 0);
        flow_end(&f, LLM_UPSTREAM_ENDED);
        memset(whole, 0, sizeof whole);
        describe(&f.stream, whole, sizeof whole);
        if (hide) {
            hidden = f.client.bytes;
            hidden_len = f.client.len;
        } else {
            CHECK(f.client.len == len);
            flow_free(&f);
        }
        for (nth = 0; nth < sizeof steps / sizeof *steps; nth++) {
            if (steps[nth] < 7 && len > 200000) continue;
            flow_begin(&f, &r, "text/event-stream", hide);
            for (at = 0; at < len; at += steps[nth]) flow_read(&f, bytes + at, len - at < steps[nth] ? len - at : steps[nth], at);
            flow_end(&f, LLM_UPSTREAM_ENDED);
            memset(cut, 0, sizeof cut);
            describe(&f.stream, cut, sizeof cut);
            if (strcmp(whole, cut) != 0) fprintf(stderr, "whole:\n%sin pieces of %zu:\n%s", whole, steps[nth], cut);
            CHECK(strcmp(whole, cut) == 0);
            if (hide)
                CHECK(f.client.len == hidden_len && memcmp(f.client.bytes, hidden, hidden_len) == 0);
            else
                CHECK(f.client.len == len && memcmp(f.client.bytes, bytes, len) == 0);
            flow_free(&f);
        }
    }
    free(hidden);
    free(bytes);
}

int main(int argc, char **argv) {
    int nth;
    if (deltawire_workspace_init(&block, sizeof block, &workspace) != DELTAWIRE_OK) return 1;
    CHECK(llm_is_type(LIT("application/json;x"), "application/json") && !llm_is_type(LIT("application/json5"), "application/json"));
    CHECK(llm_is_yes(LIT("TRUE")) && llm_is_yes(LIT("1")) && !llm_is_yes(LIT("")) && !llm_is_yes(LIT("0")) && !llm_is_yes(LIT("true,")));
    facts_and_times();
    texts();
    ends();
    long_events();
    refused_memory();
    hiding();
    for (nth = 1; nth < argc; nth++) any_split(argv[nth]);
    printf("%lu checks, %d files\n", checks, argc - 1);
    return 0;
}
