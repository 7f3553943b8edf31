/* docs_main FILE...: runs the code of docs/gateway.md on streams, in slices of several sizes.
 * docs_main --meter STREAM...: checks that the meter has the usage, the end and the amounts of text that callbacks get, of streams
 * whole and cut, in any slices. */
#define _POSIX_C_SOURCE 200809L
#include "http.h"

#include DOCS

static int keep(void *to, const char *from, size_t len) { return bytes_put(to, from, len) ? 0 : -1; }

static int32_t on_content(void *user, const deltawire_at *at, const char *text, size_t len) {
    return at->choice == 0 ? keep(user, text, len) : DELTAWIRE_GO_ON;
}

static int fail(const char *what, const char *name, size_t slice) {
    fprintf(stderr, "docs/gateway.md: %s: %s, slices of %lu\n", what, name, (unsigned long)slice);
    exit(1);
}

/* Fails if this way of reading returned another text. */
static void same(const struct bytes *got, const struct bytes *whole, const char *what, const char *name, size_t slice) {
    if (got->end != whole->end || (got->end && memcmp(got->ptr, whole->ptr, got->end) != 0)) fail(what, name, slice);
}

/* Heap-allocated parsers, for the recipes for libcurl and for direct reading. */
static deltawire_parser *parser(uint32_t read_len) {
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    size_t size;
    deltawire_parser *p = NULL;
    config.flags = DELTAWIRE_CFG_GROW;
    config.read_len = read_len;
    size = deltawire_block_size(&config, 64);
    if (deltawire_init(malloc(size), size, &config, &p) != DELTAWIRE_OK) fail("init", "", 0);
    return p;
}

static void finish(deltawire_parser **p, const deltawire_callbacks *callbacks, void *user) {
    while (deltawire_finish(*p, callbacks, user) > DELTAWIRE_OK) {
        deltawire_parser *old = *p;
        size_t want = deltawire_need(old);
        if (deltawire_move(malloc(want), want, old, p) != DELTAWIRE_OK) fail("move", "", 0);
        free(old);
    }
}

/* Reads a stream with the recipe for libcurl, from the smallest blocks on, and returns the content of the message. */
static struct bytes transferred(const deltawire_callbacks *callbacks, void *user, const char *bytes, size_t len, size_t slice, const char *name) {
    struct transfer t;
    struct bytes got = {NULL, 0, 0, 0};
    size_t at, n, size = deltawire_message_size(NULL, 0), need = 0;
    memset(&t, 0, sizeof t);
    t.parser = parser(0);
    t.callbacks = *callbacks;
    t.user = user;
    if (deltawire_message_init(malloc(size), size, NULL, &t.message) != DELTAWIRE_OK) fail("message_init", name, slice);
    for (at = 0; at < len; at += n) {
        n = len - at < slice ? len - at : slice;
        if (on_write((char *)bytes + at, 1, n, &t) != n) fail("on_write", name, slice);
    }
    while (deltawire_message_finish(t.message, t.parser, NULL, &t.callbacks, t.user) == DELTAWIRE_NEED_STORAGE)
        if (!deltawire_message_is_full(t.message) || enlarge_message(&t) != 0) fail("message_finish", name, slice);
    if (deltawire_message_text(t.message, DELTAWIRE_M_CONTENT, 0, 0, NULL, 0, &need) != DELTAWIRE_ABSENT) {
        got.ptr = malloc(need + 1);
        if (!got.ptr || deltawire_message_text(t.message, DELTAWIRE_M_CONTENT, 0, 0, got.ptr, need, &got.end) != DELTAWIRE_OK)
            fail("message_text", name, slice);
    }
    free(t.message);
    free(t.parser);
    return got;
}

static size_t load(const char *name, char *bytes, size_t room) {
    FILE *in = fopen(name, "rb");
    size_t len;
    if (!in) fail("open", name, 0);
    len = fread(bytes, 1, room, in);
    fclose(in);
    return len;
}

static int32_t count(void *user, const deltawire_at *at, const char *text, size_t len) {
    (void)text;
    ((size_t *)user)[at->kind] += len;
    return DELTAWIRE_GO_ON;
}

/* What a meter must have, from the callbacks of a parser without one. */
static void read_fully(const char *bytes, size_t len, size_t sums[DELTAWIRE_EV_COUNT], deltawire_usage *used, deltawire_end *end) {
    deltawire_callbacks callbacks = DELTAWIRE_CALLBACKS_INIT;
    deltawire_parser *p = parser(0);
    size_t consumed;
    callbacks.on_content = callbacks.on_reasoning = callbacks.on_refusal = count;
    callbacks.on_tool_arguments = callbacks.on_function_arguments = count;
    while (deltawire_feed(p, bytes, len, &callbacks, sums, &consumed) == DELTAWIRE_NEED_STORAGE) {
        deltawire_parser *old = p;
        size_t want = deltawire_need(old);
        if (deltawire_move(malloc(want), want, old, &p) != DELTAWIRE_OK) fail("move", "", 0);
        free(old);
        bytes += consumed;
        len -= consumed;
    }
    finish(&p, &callbacks, sums);
    if (deltawire_end_of(p, end) != DELTAWIRE_OK) fail("end_of", "", 0);
    deltawire_last_usage(p, used);
    free(p);
}

static int meter(int argc, char **argv) {
    static const size_t slices[] = {1, 7, 1448, (size_t)-1};
    static char bytes[1 << 22];
    size_t nth, runs = 0, used = 0, tokens = 0, cut;
    int file;
    for (file = 0; file < argc; file++) {
        size_t len = load(argv[file], bytes, sizeof bytes), at, n;
        for (cut = len;; cut = cut > 997 ? cut - 997 : 0) {
            size_t sums[DELTAWIRE_EV_COUNT] = {0};
            deltawire_usage counts = DELTAWIRE_USAGE_INIT;
            deltawire_end end = DELTAWIRE_END_INIT;
            read_fully(bytes, cut, sums, &counts, &end);
            for (nth = cut == len ? 0 : 2; nth < sizeof slices / sizeof *slices; nth++, runs++) {
                struct meter m;
                if (meter_begin(&m) != 0) fail("meter_begin", argv[file], slices[nth]);
                for (at = 0; at < cut; at += n) {
                    n = cut - at < slices[nth] ? cut - at : slices[nth];
                    meter_look(&m, bytes + at, n);
                }
                meter_look(&m, NULL, 0);
                if (memcmp(&m.now.usage, &counts, sizeof counts) != 0) fail("other counts", argv[file], cut);
                if (memcmp(&m.end, &end, sizeof end) != 0) fail("another end", argv[file], cut);
                if (m.now.content.bytes != sums[DELTAWIRE_EV_CONTENT] || m.now.reasoning.bytes != sums[DELTAWIRE_EV_REASONING] ||
                    m.now.refusal.bytes != sums[DELTAWIRE_EV_REFUSAL] ||
                    m.now.arguments.bytes != sums[DELTAWIRE_EV_TOOL_ARGUMENTS] + sums[DELTAWIRE_EV_FUNCTION_ARGUMENTS])
                    fail("another amount", argv[file], cut);
                used += m.now.usage.has != 0;
                tokens += m.now.token_events;
                free(m.parser);
            }
            if (cut == 0) break;
        }
    }
    printf("docs/gateway.md: %lu runs, %lu with usage, %lu events with tokens\n", (unsigned long)runs, (unsigned long)used,
           (unsigned long)tokens);
    return used == 0 || tokens == 0;
}

/* A stream that reads with the workspace of its upstream, in slices. */
static struct bytes shared(struct upstream *u, const deltawire_callbacks *callbacks, const char *bytes, size_t len, size_t slice) {
    struct bytes got = {NULL, 0, 0, 0};
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    size_t size = shared_size(&config), at = 0, consumed;
    deltawire_parser *p = NULL;
    deltawire_status status;
    if (deltawire_init(malloc(size), size, &config, &p) != DELTAWIRE_OK) fail("init", "shared", slice);
    do {
        size_t left = len - at, n = left < slice ? left : slice;
        status = shared_read(p, u, callbacks, &got, n ? bytes + at : NULL, n, &consumed);
        if (n) at += consumed;
        if (status == DELTAWIRE_NEED_STORAGE) {
            deltawire_parser *old = p;
            size_t want = deltawire_need(old);
            if (deltawire_move(malloc(want), want, old, &p) != DELTAWIRE_OK) fail("move", "shared", slice);
            free(old);
        } else if (status < 0 || (status == DELTAWIRE_OK && n == 0)) {
            break;
        }
    } while (1);
    if (status != DELTAWIRE_OK) fail("shared", "", slice);
    free(p);
    return got;
}

int main(int argc, char **argv) {
    static const size_t slices[] = {1, 7, 100, 1448, (size_t)-1};
    static char bytes[1 << 22];
    deltawire_callbacks callbacks = DELTAWIRE_CALLBACKS_INIT;
    struct upstream upstream;
    size_t nth, renamed = 0, runs = 0;
    int file;
    if (argc > 1 && strcmp(argv[1], "--meter") == 0) return meter(argc - 2, argv + 2);
    callbacks.on_content = on_content;
    if (upstream_init(&upstream) != DELTAWIRE_OK) fail("upstream_init", "", 0);
    for (file = 1; file < argc; file++) {
        const char *name = argv[file];
        size_t len = load(name, bytes, sizeof bytes), at, n;
        struct bytes whole = {NULL, 0, 0, 0};
        for (nth = 0; nth < sizeof slices / sizeof *slices; nth++) {
            size_t slice = slices[nth];
            struct stream s;
            struct bytes through[2], curl, direct, other, message;
            deltawire_parser *p;
            int pipe_of[2], hold;
            ssize_t got;

            memset(through, 0, sizeof through);
            memset(&curl, 0, sizeof curl);
            direct = other = curl;
            for (hold = 0; hold < 2; hold++) {
                struct bytes *to = &through[hold];
                stream_begin(&s, keep, to, hold);
                for (at = 0; at < len; at += n) {
                    n = len - at < slice ? len - at : slice;
                    if (stream_bytes(&s, bytes + at, n) != 0) fail("bytes", name, slice);
                    if (s.parser && stream_shrink(&s) != 0) fail("shrink", name, slice);
                }
                if (stream_end(&s) != 0 || s.why) fail(s.why ? s.why : "end", name, slice);
                if (!s.dropped && (to->end != len || memcmp(to->ptr, bytes, len) != 0)) fail("other bytes", name, slice);
                free(s.parser);
                bytes_free(to);
            }

            message = transferred(&callbacks, &curl, bytes, len, slice, name);
            p = parser(512);
            for (at = 0; at < len; at += n) {
                n = len - at < slice ? len - at : slice;
                if (n > 4096) n = 4096; /* fits a pipe */
                if (pipe(pipe_of) != 0 || write(pipe_of[1], bytes + at, n) != (ssize_t)n) fail("pipe", name, slice);
                close(pipe_of[1]);
                while ((got = read_direct(&p, pipe_of[0], &callbacks, &direct)) > 0) {}
                if (got != 0) fail("read_direct", name, slice);
                close(pipe_of[0]);
            }
            finish(&p, &callbacks, &direct);
            free(p);

            if (nth == 0) whole = curl;
            same(&curl, &whole, "on_write: other text", name, slice);
            same(&direct, &whole, "read_direct: other text", name, slice);
            same(&message, &whole, "on_write: another message", name, slice);
            bytes_free(&direct);
            bytes_free(&message);

            /* Replaces the model in each frame; the pass-through above cuts the frames at their blank lines. */
            if (nth == 0 && strstr(name, "content.sse")) {
                const char *frame = bytes, *model = "\"another\\u0020model\"";
                p = parser(0);
                while (frame < bytes + len) {
                    const char *end = strstr(frame, "\n\n");
                    end = end ? end + 2 : bytes + len;
                    if (send_renamed(p, frame, (size_t)(end - frame), model, keep, &other) != 0) fail("rename", name, 0);
                    frame = end;
                }
                for (at = 0; at + strlen(model) <= other.end; at++)
                    renamed += memcmp(other.ptr + at, model, strlen(model)) == 0;
                free(p);
            }
            bytes_free(&other);
            other = shared(&upstream, &callbacks, bytes, len, slice);
            same(&other, &whole, "shared: other text", name, slice);
            bytes_free(&other);
            if (nth) bytes_free(&curl);
            runs++;
        }
        bytes_free(&whole);
    }
    if (renamed < 5) fail("too little was renamed", "", 0);
    printf("docs/gateway.md: %lu runs, %lu models renamed\n", (unsigned long)runs, (unsigned long)renamed);
    return 0;
}
