/* Reads cases and streams in every way, and compares the logs with the expected ones.
 *
 * check cases DIR [--part N]            each case of tests/quirks
 * check streams LOGS [--part N] FILE... each stream; LOGS/NAME.log and others are its logs (examples/event_log.rs)
 * check meters LOGS [--part N] FILE...  the meter of each stream at every cut; LOGS/NAME.meter has it
 *
 * --part N: only every Nth run. --malloc: memory from malloc, without guard pages. */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Inputs shorter than this are cut at every position. */
#define CUT_EVERYWHERE_UNDER 200
/* Streams over this length are read byte by byte in a few ways only. */
#define LONG 100000
#define EVERY_KIND (DELTAWIRE_MASK(DELTAWIRE_EV_COUNT) - 1)

static unsigned long runs, turn, part = 1, wrong, said;

typedef struct {
    int batch;
    size_t direct, cap, scratch;
    int pause, again, shared;
} mode;

static const mode modes[] = {
    {0, 0, 0, 0, 0, 0, 0},      {0, 0, 0, 0, 1, 0, 0},    {0, 0, 0, 0, 1, 1, 0},       {1, 0, 1, 64, 0, 0, 0},
    {1, 0, 1, 4096, 0, 0, 0},   {1, 0, 2, 64, 0, 0, 0},   {1, 0, 2, 4096, 0, 0, 0},    {1, 0, 3, 64, 0, 0, 0},
    {1, 0, 3, 4096, 0, 0, 0},   {1, 0, 64, 64, 0, 0, 0},  {1, 0, 64, 4096, 0, 0, 0},   {0, 64, 0, 0, 0, 0, 0},
    {0, 1448, 0, 0, 0, 0, 0},   {1, 64, 3, 64, 0, 0, 0},  {1, 1448, 64, 4096, 0, 0, 0}, {0, 64, 0, 0, 1, 1, 0},
    {0, 0, 0, 0, 0, 0, 1},      {0, 0, 0, 0, 1, 1, 2},    {1, 0, 1, 64, 0, 0, 1},      {1, 0, 3, 4096, 0, 0, 2},
    {1, 64, 2, 64, 0, 0, 1},
};
#define MODES (sizeof modes / sizeof modes[0])

static how how_of(const mode *m)
{
    how h = HOW_INIT;
    h.batch = m->batch;
    h.direct = m->direct;
    if (m->cap) h.cap = m->cap, h.scratch = m->scratch;
    h.pause = m->pause;
    h.again = m->again;
    h.shared = m->shared;
    return h;
}

/* The expected result of a run. `more` has what the log does not contain; the first run sets it. */
typedef struct {
    const char *title;
    const char *name;
    const text *input;
    text lines;
    text more;
    int more_known;
    uint64_t only;
    int but_quirks; /* the last line is not compared */
    int said;       /* number of differences so far; only a few are printed */
} wanted;

static void say_line(const char *word, const text *t, size_t at)
{
    if (at >= t->len) printf("    %s nothing\n", word);
    else printf("    %s %.*s\n", word, (int)strcspn(t->ptr + at, "\n"), t->ptr + at);
}

static void say_difference(const text *got, const text *want)
{
    size_t at = 0, line = 0, number = 1;
    while (at < got->len && at < want->len && got->ptr[at] == want->ptr[at]) {
        if (got->ptr[at] == '\n') line = at + 1, number++;
        at++;
    }
    printf("  line %lu\n", (unsigned long)number);
    say_line("got   ", got, line);
    say_line("wanted", want, line);
}

static void drop_last_line(text *t)
{
    if (t->len) t->len--;
    while (t->len && t->ptr[t->len - 1] != '\n') t->len--;
    if (t->ptr) t->ptr[t->len] = 0;
}

static void run_with(const how *h, wanted *w, logbook *log)
{
    int same;
    log->only = w->only;
    drive(h, w->input->ptr, w->input->len, log);
    runs++;
    if (w->but_quirks) drop_last_line(&log->lines);
    same = text_same(&log->lines, &w->lines);
    if (same && !log->bad.len && (!w->more_known || text_same(&log->more, &w->more))) return;
    wrong++;
    if (w->said++ < 2 && said++ < 40) {
        text words = TEXT_INIT;
        describe(h, &words);
        printf("%s \"%s\": %s\n", w->title, w->name, words.ptr);
        if (!same) say_difference(&log->lines, &w->lines);
        else if (log->bad.len) printf("%s", log->bad.ptr);
        else say_difference(&log->more, &w->more);
        text_free(&words);
    }
}

static void run_one(const how *h, wanted *w)
{
    logbook log;
    if (turn++ % part) return;
    log_init(&log);
    run_with(h, w, &log);
    log_free(&log);
}

/* The first run: it sets the expected frames and quirks. */
static void run_first(const how *h, wanted *w)
{
    logbook log;
    log_init(&log);
    run_with(h, w, &log);
    text_put(&w->more, log.more.ptr, log.more.len);
    w->more_known = 1;
    log_free(&log);
}

/* -------------------------------------------------------------------------------------------------------------------
 * With one kind alone the log has exactly the lines of that kind. */

static deltawire_callbacks only_one(uint32_t kind)
{
#define SLOT(member, KIND_NAME) \
    case DELTAWIRE_EV_##KIND_NAME: one.member = log_callbacks.member; break;
    deltawire_callbacks one = DELTAWIRE_CALLBACKS_INIT;
    switch (kind) { LOG_CALLBACKS(SLOT, SLOT, SLOT, SLOT) }
    return one;
}

static void each_kind_alone(const how *whole, wanted *w)
{
    uint32_t kind;
    for (kind = 0; kind < DELTAWIRE_EV_COUNT; kind++) {
        wanted alone = *w;
        how h = *whole;
        logbook log;
        deltawire_callbacks one = only_one(kind);
        /* Quirks inside texts are reported only if the texts are read. */
        if (kind == DELTAWIRE_EV_QUIRK || kind == DELTAWIRE_EV_FRAME || *deltawire_event_name(kind) == '?') continue;
        if (turn++ % part) continue;
        log_init(&log);
        log.only = alone.only = DELTAWIRE_MASK(kind);
        h.batch = 1;
        h.config.events = EVERY_KIND;
        drive(&h, w->input->ptr, w->input->len, &log);
        memset(&alone.lines, 0, sizeof alone.lines);
        text_put(&alone.lines, log.lines.ptr, log.lines.len);
        drop_last_line(&alone.lines);
        alone.more_known = 0;
        alone.but_quirks = 1;
        log_free(&log);

        log_init(&log);
        h.config.events = alone.only;
        h.cap = 2;
        h.scratch = 64;
        h.step = 7;
        run_with(&h, &alone, &log);
        log_free(&log);
        if (kind != DELTAWIRE_EV_PAYLOAD) {
            log_init(&log);
            h.batch = 0;
            h.callbacks = &one;
            run_with(&h, &alone, &log);
            log_free(&log);
        }
        text_free(&alone.lines);
    }
}

/* -------------------------------------------------------------------------------------------------------------------
 * Cases */

static void every_cut(how *h, wanted *w)
{
    static const size_t steps[] = {0, 1, 7, 1448};
    size_t i;
    for (i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        h->step = steps[i];
        /* A growing block may begin with any size, and each size leaves different gaps. */
        if (h->grow) h->event_bytes = (turn + i) % 9 * 8;
        if (h->step != 1 || w->input->len < LONG) run_one(h, w);
    }
    h->step = 0;
    if (w->input->len < CUT_EVERYWHERE_UNDER)
        for (h->cut = 1; h->cut < w->input->len; h->cut++) {
            if (h->grow) h->event_bytes = (turn + h->cut) % 31 * 8;
            run_one(h, w);
        }
    h->cut = 0;
}

/* Ways to read that are not combinations of the others. */
static void some_more(const how *whole, wanted *w)
{
    how h = *whole;
    h.pause = h.again = 1;
    h.step = 7;
    h.extend = 5;
    run_one(&h, w);
    h.pause = h.again = 0;
    h.batch = 1;
    h.cap = 1;
    h.scratch = 64;
    h.extend = 3;
    run_one(&h, w);
    h.extend = 0;
    h.twice = 1;
    run_one(&h, w);
    h.batch = 0;
    h.step = 0;
    run_one(&h, w);
    h.shared = 1;
    run_one(&h, w);
    h.shared = h.twice = 0;
    if (!h.grow) return;
    h.shrink = 1;
    for (h.batch = 0; h.batch < 2; h.batch++) {
        for (h.step = 1; h.step < 60; h.step += w->input->len < LONG ? 1 : 29) {
            h.shared = (int)(h.step % 3);
            run_one(&h, w);
        }
        h.shared = 0;
        every_cut(&h, w);
    }
}

/* Whether the first `len` bytes of a log end with an event, and none of their events begins after `offset`. The end of a
   call may follow the last event, at the end of the stream. */
static int is_whole_events(const char *lines, size_t len, unsigned long offset)
{
    static const char *const begin[] = {"chunk ", "done ",     "comment ",          "keep-alive ", "retry ", "id ",
                                        "malformed ", "too-long ", "comment-too-long ", "last-id ",    "end ",
                                        "call-end "};
    size_t at, i;
    for (at = 0; at < len; at += strcspn(lines + at, "\n") + 1)
        if ((!strncmp(lines + at, "chunk ", 6) || !strncmp(lines + at, "malformed ", 10)) &&
            strtoul(strchr(lines + at, ' '), NULL, 10) > offset)
            return 0;
    for (i = 0; i < sizeof begin / sizeof begin[0]; i++)
        if (!strncmp(lines + len, begin[i], strlen(begin[i]))) return 1;
    return 0;
}

/* Strict runs end with the expected stop, and the lines before it are a prefix of the log. */
static void strict_log(const quirk_case *c, const how *first, wanted *w)
{
    logbook log;
    size_t before;
    text stop = TEXT_INIT;
    if (!c->strict) {
        text_put(&w->lines, c->log.ptr, c->log.len);
        return;
    }
    log_init(&log);
    drive(first, c->input.ptr, c->input.len, &log);
    text_str(&stop, "stop ");
    text_str(&stop, c->strict);
    text_str(&stop, "\n");
    before = log.lines.len > stop.len ? log.lines.len - stop.len : 0;
    if (before > c->log.len || (before && memcmp(log.lines.ptr, c->log.ptr, before) != 0) ||
        !is_whole_events(c->log.ptr, before, strtoul(strrchr(c->strict, ' '), NULL, 10))) {
        printf("%s \"%s\": strict stops somewhere else\n%s", c->row, c->name, log.lines.ptr ? log.lines.ptr : "");
        wrong++;
        before = 0;
    }
    text_put(&w->lines, c->log.ptr, before);
    text_put(&w->lines, stop.ptr, stop.len);
    text_free(&stop);
    log_free(&log);
}

static void check_case(const quirk_case *c)
{
    size_t m;
    int strict, store;
    for (strict = 0; strict < 2; strict++) {
        wanted w = {NULL, NULL, NULL, TEXT_INIT, TEXT_INIT, 0, ALL_KINDS, 0, 0};
        how first = HOW_INIT;
        w.title = c->row;
        w.name = c->name;
        w.input = &c->input;
        first.config = c->config;
        first.config.events = EVERY_KIND;
        if (c->storage != SIZE_MAX) first.event_bytes = c->storage;
        if (strict) {
            first.config.errors[0] = first.config.errors[1] = UINT64_MAX;
            strict_log(c, &first, &w);
            if (!c->strict) run_first(&first, &w);
            else run_one(&first, &w);
        } else {
            text_put(&w.lines, c->log.ptr, c->log.len);
            run_first(&first, &w);
        }
        for (store = 0; store < (c->storage == SIZE_MAX ? 2 : 1); store++) {
            if (store) first.grow = 1, first.event_bytes = c->input.len % 2 ? 512 : 64;
            for (m = 0; m < MODES; m++) {
                how h = how_of(&modes[m]);
                h.config = first.config;
                h.grow = first.grow;
                h.event_bytes = first.event_bytes;
                every_cut(&h, &w);
            }
            if (!strict) some_more(&first, &w);
            if (!strict) each_kind_alone(&first, &w);
        }
        text_free(&w.lines);
        text_free(&w.more);
    }
}

/* -------------------------------------------------------------------------------------------------------------------
 * Streams */

static void read_log(text *into, const char *dir, const char *name, const char *suffix)
{
    char *path = need_memory(strlen(dir) + strlen(name) + strlen(suffix) + 2);
    sprintf(path, "%s/%s%s", dir, name, suffix);
    if (!text_of_file(into, path)) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(1);
    }
    free(path);
}

/* The configurations of a stream's parser; each has its own log. */
typedef struct {
    const char *suffix;
    uint64_t errors;
    uint32_t flags;
    uint32_t max_event_len;
    uint32_t max_id_len, max_depth;
    size_t storage; /* 0: a block that grows, and a large block */
} variant;

static const variant variants[] = {
    {".log", 0, 0, 0, 0, 0, 0},
    {".strict.log", UINT64_MAX, 0, 0, 0, 0, 0},
    {".spec.log", 0, DELTAWIRE_CFG_SPEC | DELTAWIRE_CFG_STRICT_JSON, 0, 0, 0, 0},
    {".short.log", 0, 0, 200, 8, 4, 0},
    {".small.log", 0, 0, 0, 0, 0, 256},
};
#define VARIANTS (sizeof variants / sizeof variants[0])

static void check_variant(const variant *v, wanted *w)
{
    static const size_t steps[] = {0, 1448, 7, 1};
    size_t s, m, len = w->input->len;
    how first = HOW_INIT;
    first.config.events = EVERY_KIND;
    first.config.errors[0] = first.config.errors[1] = v->errors;
    first.config.flags = v->flags;
    first.config.max_event_len = v->max_event_len;
    first.config.max_id_len = v->max_id_len;
    first.config.max_depth = v->max_depth;
    first.grow = !v->storage;
    first.event_bytes = v->storage ? v->storage : 64;
    if (v->errors) run_one(&first, w);
    else run_first(&first, w);
    for (s = 0; s < sizeof steps / sizeof steps[0]; s++) {
        for (m = 0; m < MODES; m++) {
            how h = how_of(&modes[m]);
            if (steps[s] == 1 && len > LONG && m != 0 && m != 7) continue;
            if (steps[s] == 7 && len > LONG && m % 2) continue;
            if (v != variants && (m + s + len) % (len > LONG ? 8 : 3)) continue;
            h.config = first.config;
            h.step = steps[s];
            h.grow = first.grow;
            h.event_bytes = h.grow ? turn % 9 * 8 : first.event_bytes;
            run_one(&h, w);
            if (steps[s] == 1 || v != variants) continue;
            h.grow = 0;
            h.event_bytes = 65536;
            h.still = steps[s] == 7 || len > LONG;
            run_one(&h, w);
        }
    }
    if (v == variants) some_more(&first, w);
}

static void check_stream(const char *logs, const char *path)
{
    text input = TEXT_INIT;
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    size_t i;
    if (!text_of_file(&input, path)) die("a stream cannot be read");
    for (i = 0; i < VARIANTS; i++) {
        wanted w = {NULL, NULL, NULL, TEXT_INIT, TEXT_INIT, 0, ALL_KINDS, 0, 0};
        w.title = variants[i].suffix;
        w.name = name;
        w.input = &input;
        read_log(&w.lines, logs, name, variants[i].suffix);
        check_variant(&variants[i], &w);
        text_free(&w.lines);
        text_free(&w.more);
    }
    text_free(&input);
}

/* -------------------------------------------------------------------------------------------------------------------
 * Meters */

/* Reads the stream cut after `len` bytes, and compares the meter after each slice and at the end. */
static void meter_run(const how *h, const char *name, const text *input, size_t len)
{
    logbook log;
    log_init(&log);
    log.only = 0;
    drive(h, input->ptr, len, &log);
    runs++;
    if (log.bad.len && (wrong++, said++) < 40) {
        text words = TEXT_INIT;
        describe(h, &words);
        printf("%s, %lu bytes: %s\n%s", name, (unsigned long)len, words.ptr, log.bad.ptr);
        text_free(&words);
    }
    log_free(&log);
}

static void check_meters(const char *logs, const char *path)
{
    static const deltawire_callbacks none = DELTAWIRE_CALLBACKS_INIT;
    static const size_t steps[] = {7, 1448, 0};
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    text input = TEXT_INIT;
    meters all = {TEXT_INIT, 0};
    how each = HOW_INIT;
    size_t m, s, line, cut;
    if (!text_of_file(&input, path)) die("a stream cannot be read");
    read_log(&all.lines, logs, name, ".meter");
    /* Every byte is a slice. */
    each.meters = &all;
    each.callbacks = &none;
    each.grow = each.still = 1;
    each.step = 1;
    each.batch = (int)(turn % 2);
    meter_run(&each, name, &input, input.len);
    for (m = 0; m < MODES; m++)
        for (s = 0; s < sizeof steps / sizeof steps[0]; s++) {
            how h = how_of(&modes[m]);
            h.meters = &all;
            h.step = steps[s];
            h.grow = 1;
            h.event_bytes = turn % 9 * 8;
            h.still = input.len > LONG;
            h.shrink = turn % 5 == 0;
            h.twice = turn % 7 == 0;
            h.config.events = turn % 3 ? EVERY_KIND : DELTAWIRE_MASK(DELTAWIRE_EV_DONE);
            if (steps[s] == 7 && input.len > LONG && m % 4) continue;
            if (!(turn++ % part)) meter_run(&h, name, &input, input.len);
        }
    for (line = 0; meter_next_cut(&all, &line, &cut); line++) {
        how h = how_of(&modes[turn % MODES]);
        h.meters = &all;
        h.step = steps[turn % 3];
        h.grow = 1;
        h.still = input.len > LONG;
        if (!(turn++ % part)) meter_run(&h, name, &input, cut);
    }
    text_free(&input);
    text_free(&all.lines);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "", *first = NULL;
    size_t inputs = 0;
    int i;
    count_from_now();
    for (i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--malloc")) {
            guarded = 0;
        } else if (!strcmp(argv[i], "--part") && i + 1 < argc) {
            part = strtoul(argv[++i], NULL, 10);
            if (!part) die("--part N");
        } else if (!strcmp(what, "cases")) {
            cases all = {NULL, 0};
            size_t c;
            cases_load(&all, argv[i]);
            for (c = 0; c < all.n; c++) check_case(&all.list[c]);
            inputs += all.n;
            cases_free(&all);
        } else if ((!strcmp(what, "streams") || !strcmp(what, "meters")) && !first) {
            first = argv[i];
        } else if (!strcmp(what, "streams")) {
            check_stream(first, argv[i]);
            inputs++;
        } else if (!strcmp(what, "meters")) {
            check_meters(first, argv[i]);
            inputs++;
        } else {
            break;
        }
    }
    if (i < argc || !inputs) die("check cases DIR | check streams LOGS FILE... | check meters LOGS FILE... [--part N] [--malloc]");
    printf("%s: %lu, %lu runs, %lu wrong\n", what, (unsigned long)inputs, runs, wrong);
    return wrong != 0;
}
