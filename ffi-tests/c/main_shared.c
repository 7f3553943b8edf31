/* Reads streams in turn with one workspace: each must have the log that it has alone.
 *
 * shared [--part N] FILE...
 *
 * Every stream comes with LF and with CRLF, is read lazily and strictly, by callbacks and by batches, each with its own slice
 * size. A call may stop inside an event (pauses, tiny batches, blocks that are too small), and other streams are then read with
 * the same workspace before the stream continues. Also tests what a callback may do with workspaces, and what they keep. */
#if defined __has_include
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#endif
#endif
#include "drive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STREAMS = 24 };

static unsigned long turns, stops, wrong;

static void is(const char *what, long long got, long long expected)
{
    if (got == expected) return;
    printf("%s: %lld, expected %lld\n", what, got, expected);
    wrong++;
}

static void *block_of(size_t size)
{
    return memset(need_memory(size), 0xA5, size);
}

static deltawire_workspace *new_workspace(void)
{
    deltawire_workspace *w;
    void *mem = block_of(deltawire_workspace_size());
    is("deltawire_workspace_init", deltawire_workspace_init(mem, deltawire_workspace_size(), &w), DELTAWIRE_OK);
    return w;
}

/* -------------------------------------------------------------------------------------------------------------------
 * In turn */

typedef struct {
    const char *name;
    text bytes;
    deltawire_config config;
    logbook alone, log;
    deltawire_parser *p;
    size_t block, at, slice, scratch;
    int batch, over;
} stream;

static void with_crlf(text *out, const text *in)
{
    size_t i;
    for (i = 0; i < in->len; i++) {
        if (in->ptr[i] == '\n') text_put(out, "\r", 1);
        text_put(out, in->ptr + i, 1);
    }
}

static void begin(stream *s, const char *name, const text *bytes, unsigned variant)
{
    static const deltawire_config init = DELTAWIRE_CONFIG_INIT;
    how h = HOW_INIT;
    memset(s, 0, sizeof *s);
    s->name = name;
    if (variant & 1) with_crlf(&s->bytes, bytes);
    else text_put(&s->bytes, bytes->ptr, bytes->len);
    s->batch = (variant & 2) != 0;
    s->config = init;
    s->config.events = DELTAWIRE_MASK(DELTAWIRE_EV_COUNT) - 1;
    s->config.flags = variant & 4 ? DELTAWIRE_CFG_STRICT_JSON : 0;
    s->slice = 1 + variant * 37 % 400;
    h.config = s->config;
    h.grow = 1;
    log_init(&s->alone);
    drive(&h, s->bytes.ptr, s->bytes.len, &s->alone);
    log_init(&s->log);
    /* Batches are tiny instead. */
    s->log.pause = s->log.again = !s->batch && variant % 3 == 0;
    s->config.flags |= DELTAWIRE_CFG_GROW | DELTAWIRE_CFG_SHARED;
    s->block = deltawire_block_size(&s->config, 64);
    is("deltawire_init", deltawire_init(block_of(s->block), s->block, &s->config, &s->p), DELTAWIRE_OK);
}

/* Moves the block of a stream after each call. */
static void moves(stream *s)
{
    void *mem = memcpy(block_of(s->block), (void *)s->p, s->block);
    memset((void *)s->p, 0x5A, s->block);
    free((void *)s->p);
    s->p = mem;
}

static void grows(stream *s)
{
    size_t need = deltawire_need(s->p);
    void *mem = block_of(need);
    deltawire_parser *moved = NULL;
    is("deltawire_move", deltawire_move(mem, need, s->p, &moved), DELTAWIRE_OK);
    free((void *)s->p);
    s->p = moved;
    s->block = need;
}

/* One call. */
static void turn(stream *s, deltawire_workspace *w)
{
    size_t left = s->bytes.len - s->at, len = left < s->slice ? left : s->slice, consumed = 0;
    /* In memory of exactly this length, which is freed after the call. */
    char *data = need_memory(len + 1);
    deltawire_status status;
    if (len) memcpy(data, s->bytes.ptr + s->at, len);
    turns++;
    if (s->batch) {
        deltawire_event events[2];
        /* Usually as little as possible; IDs, names and types need room for the whole text. */
        size_t room = s->scratch > DELTAWIRE_SCRATCH_MIN ? s->scratch : DELTAWIRE_SCRATCH_MIN, cap = 1 + s->at % 2;
        char *scratch = need_memory(room);
        deltawire_batch_result result;
        status = len ? deltawire_batch_with(s->p, w, data, len, events, cap, scratch, room, &result)
                     : deltawire_batch_finish_with(s->p, w, events, cap, scratch, room, &result);
        log_batch(&s->log, events, result.events, data, len, scratch, result.scratch_used);
        consumed = result.consumed;
        s->scratch = result.scratch_need;
        free(scratch);
    } else {
        status = len ? deltawire_feed_with(s->p, w, data, len, &log_callbacks, &s->log, &consumed)
                     : deltawire_finish_with(s->p, w, &log_callbacks, &s->log);
    }
    free(data);
    s->at += consumed;
    stops += status > DELTAWIRE_OK;
    if (status == DELTAWIRE_NEED_STORAGE) {
        grows(s);
    } else if (status < DELTAWIRE_OK) {
        is(deltawire_status_name(status), status, DELTAWIRE_OK);
        s->over = 1;
    } else if (len == 0 && status == DELTAWIRE_OK) {
        log_close(&s->log, s->p);
        s->over = 1;
    }
    moves(s);
}

static void in_turn(stream *streams, size_t count)
{
    deltawire_workspace *w = new_workspace();
    size_t i, running = count, round = 0;
    while (running) {
        for (i = 0; i < count; i++) {
            stream *s = &streams[i];
            if (s->over) continue;
            turn(s, w);
            if (s->over) running--;
        }
        if (++round % 1000 == 0) is("clear", deltawire_workspace_clear(w), DELTAWIRE_OK);
    }
    for (i = 0; i < count; i++) {
        stream *s = &streams[i];
        int same = text_same(&s->log.lines, &s->alone.lines) && text_same(&s->log.more, &s->alone.more);
        if (!same || s->log.bad.len || s->alone.bad.len) {
            printf("%s, stream %lu (%s): not what it is alone\n%s", s->name, (unsigned long)i, s->batch ? "batch" : "callbacks",
                   s->log.bad.len ? s->log.bad.ptr : "");
            wrong++;
        }
        log_free(&s->log);
        log_free(&s->alone);
        text_free(&s->bytes);
        free((void *)s->p);
    }
    free((void *)w);
}

/* -------------------------------------------------------------------------------------------------------------------
 * What a callback may do */

static const char EVENT[] = "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"secret-model\",\"choices\":"
                            "[{\"index\":0,\"delta\":{\"content\":\"hello\"}}]}\n\n";

typedef struct {
    deltawire_parser *other, *alone;
    deltawire_workspace *same, *another;
    deltawire_callbacks inner;
    size_t texts, inner_texts;
} nested;

static int32_t on_inner(void *user, const deltawire_at *at, const char *bytes, size_t len)
{
    (void)at, (void)bytes;
    ((nested *)user)->inner_texts += len == 5;
    return DELTAWIRE_GO_ON;
}

static int32_t on_outer(void *user, const deltawire_at *at, const char *bytes, size_t len)
{
    nested *n = user;
    size_t consumed = 7;
    deltawire_event event;
    deltawire_batch_result result;
    char scratch[DELTAWIRE_SCRATCH_MIN];
    (void)at, (void)bytes;
    n->texts += len == 5;
    is("the same workspace", deltawire_feed_with(n->other, n->same, EVENT, sizeof EVENT - 1, &n->inner, n, &consumed),
       DELTAWIRE_E_REENTRANT);
    is("consumed", (long long)consumed, 0);
    is("finish", deltawire_finish_with(n->other, n->same, &n->inner, n), DELTAWIRE_E_REENTRANT);
    is("batch", deltawire_batch_with(n->other, n->same, EVENT, 5, &event, 1, scratch, sizeof scratch, &result),
       DELTAWIRE_E_REENTRANT);
    is("batch_finish", deltawire_batch_finish_with(n->other, n->same, &event, 1, scratch, sizeof scratch, &result),
       DELTAWIRE_E_REENTRANT);
    is("clear", deltawire_workspace_clear(n->same), DELTAWIRE_E_REENTRANT);
    is("another workspace", deltawire_feed_with(n->other, n->another, EVENT, sizeof EVENT - 1, &n->inner, n, &consumed),
       DELTAWIRE_OK);
    is("a parser alone", deltawire_feed(n->alone, EVENT, sizeof EVENT - 1, &n->inner, n, &consumed), DELTAWIRE_OK);
    return DELTAWIRE_GO_ON;
}

static deltawire_parser *parser_with(uint32_t flags)
{
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    deltawire_parser *p = NULL;
    size_t size;
    config.flags = flags;
    size = deltawire_block_size(&config, 512);
    is("deltawire_init", deltawire_init(block_of(size), size, &config, &p), DELTAWIRE_OK);
    return p;
}

static void from_a_callback(void)
{
    nested n;
    deltawire_callbacks outer = DELTAWIRE_CALLBACKS_INIT;
    deltawire_parser *p = parser_with(DELTAWIRE_CFG_SHARED);
    int i;
    memset(&n, 0, sizeof n);
    n.other = parser_with(DELTAWIRE_CFG_SHARED);
    n.alone = parser_with(0);
    n.same = new_workspace();
    n.another = new_workspace();
    n.inner.size = sizeof n.inner;
    n.inner.on_content = on_inner;
    outer.on_content = on_outer;
    for (i = 0; i < 5; i++)
        is("feed", deltawire_feed_with(p, n.same, EVENT, sizeof EVENT - 1, &outer, &n, NULL), DELTAWIRE_OK);
    is("texts", (long long)n.texts, 5);
    is("texts of others", (long long)n.inner_texts, 10);
    free((void *)p), free((void *)n.other), free((void *)n.alone), free((void *)n.same), free((void *)n.another);
}

/* -------------------------------------------------------------------------------------------------------------------
 * What a workspace keeps */

static int holds(const deltawire_workspace *w, const char *word)
{
    size_t size = deltawire_workspace_size(), len = strlen(word), at;
    const char *bytes = (const char *)(const void *)w;
#ifdef VALGRIND_MAKE_MEM_DEFINED
    /* The bytes between two fields are never written. */
    (void)VALGRIND_MAKE_MEM_DEFINED(w, size);
#endif
    for (at = 0; at + len <= size; at++)
        if (!memcmp(bytes + at, word, len)) return 1;
    return 0;
}

static void keeps_until_clear(void)
{
    deltawire_workspace *w = new_workspace(), *empty = new_workspace();
    deltawire_parser *p = parser_with(DELTAWIRE_CFG_SHARED);
    deltawire_end end = DELTAWIRE_END_INIT;
    size_t i, sizes[2];
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    for (i = 0; i < 4; i++) is("feed", deltawire_feed_with(p, w, EVENT, sizeof EVENT - 1, NULL, NULL, NULL), DELTAWIRE_OK);
    is("a template is kept", holds(w, "secret-model"), 1);
    is("reset", deltawire_reset(p), DELTAWIRE_OK);
    is("reset leaves it", holds(w, "secret-model"), 1);
    is("clear", deltawire_workspace_clear(w), DELTAWIRE_OK);
    is("clear overwrites it", holds(w, "secret-model"), 0);
    /* A cleared workspace works like a new one. */
    is("feed", deltawire_feed_with(p, w, EVENT, sizeof EVENT - 1, NULL, NULL, NULL), DELTAWIRE_OK);
    is("feed", deltawire_feed_with(p, empty, EVENT, sizeof EVENT - 1, NULL, NULL, NULL), DELTAWIRE_OK);
    is("finish", deltawire_finish_with(p, w, NULL, NULL), DELTAWIRE_OK);
    is("end", deltawire_end_of(p, &end), DELTAWIRE_OK);
    is("offset", (long long)end.offset, 2 * ((long long)sizeof EVENT - 1));
    is("the size is below the macro's", deltawire_workspace_size() <= DELTAWIRE_WORKSPACE_SIZE, 1);
    sizes[0] = deltawire_block_size(&config, 0);
    config.flags = DELTAWIRE_CFG_SHARED;
    sizes[1] = deltawire_block_size(&config, 0);
    printf("bytes: a block %lu, one that shares %lu, a workspace %lu\n", (unsigned long)sizes[0], (unsigned long)sizes[1],
           (unsigned long)deltawire_workspace_size());
    free((void *)p), free((void *)w), free((void *)empty);
}

/* A parser accepts only the functions for its kind, even where a call would only add bytes to a cut event. */
static void of_the_other_kind(void)
{
    deltawire_workspace *w = new_workspace();
    deltawire_parser *shares = parser_with(DELTAWIRE_CFG_SHARED), *alone = parser_with(0);
    deltawire_event event;
    deltawire_batch_result result;
    char scratch[DELTAWIRE_SCRATCH_MIN];
    size_t given, consumed = 7;
    for (given = 0; given < 20; given++) {
        size_t len = given % 3 + 1;
        is("feed", deltawire_feed(shares, EVENT + given, len, NULL, NULL, &consumed), DELTAWIRE_E_STATE);
        is("consumed", (long long)consumed, 0);
        is("feed_with", deltawire_feed_with(alone, w, EVENT + given, len, NULL, NULL, &consumed), DELTAWIRE_E_STATE);
        is("consumed", (long long)consumed, 0);
        is("batch", deltawire_batch(shares, EVENT + given, len, &event, 1, scratch, sizeof scratch, &result), DELTAWIRE_E_STATE);
        is("batch_with", deltawire_batch_with(alone, w, EVENT + given, len, &event, 1, scratch, sizeof scratch, &result),
           DELTAWIRE_E_STATE);
        is("no workspace", deltawire_feed_with(shares, NULL, EVENT + given, len, NULL, NULL, &consumed), DELTAWIRE_E_NULL);
        is("consumed", (long long)consumed, 0);
        is("finish", deltawire_finish(shares, NULL, NULL), DELTAWIRE_E_STATE);
        is("finish_with", deltawire_finish_with(alone, w, NULL, NULL), DELTAWIRE_E_STATE);
        is("batch_finish", deltawire_batch_finish(shares, &event, 1, scratch, sizeof scratch, &result), DELTAWIRE_E_STATE);
        is("batch_finish_with", deltawire_batch_finish_with(alone, w, &event, 1, scratch, sizeof scratch, &result),
           DELTAWIRE_E_STATE);
        /* The next byte by the right function. */
        is("feed_with", deltawire_feed_with(shares, w, EVENT + given, 1, NULL, NULL, NULL), DELTAWIRE_OK);
        is("feed", deltawire_feed(alone, EVENT + given, 1, NULL, NULL, NULL), DELTAWIRE_OK);
    }
    free((void *)shares), free((void *)alone), free((void *)w);
}

int main(int argc, char **argv)
{
    static stream streams[STREAMS];
    unsigned long part = 1, nth = 0, files = 0;
    size_t count = 0;
    int i, first = 1;
    count_from_now();
    guarded = 0;
    if (argc > 2 && !strcmp(argv[1], "--part")) part = strtoul(argv[2], NULL, 10), first = 3;
    if (!part) die("--part N");
    from_a_callback();
    keeps_until_clear();
    of_the_other_kind();
    for (i = first; i < argc; i++) {
        text bytes = TEXT_INIT;
        unsigned variant;
        if (!text_of_file(&bytes, argv[i])) die("a stream cannot be read");
        for (variant = 0; variant < 8; variant++) {
            if (nth++ % part) continue;
            begin(&streams[count++], argv[i], &bytes, variant + 8 * (unsigned)files);
            if (count == STREAMS) in_turn(streams, count), count = 0;
        }
        text_free(&bytes);
        files++;
    }
    in_turn(streams, count);
    printf("%lu streams in turn of %lu files, %lu calls, %lu stopped early, %lu wrong\n", (nth + part - 1) / part, files, turns,
           stops, wrong);
    return wrong != 0;
}
