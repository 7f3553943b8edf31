/* Memory of all sizes: too little, just enough, larger, smaller, and elsewhere; for parsers and assemblers. */
#define _DEFAULT_SOURCE /* mmap */
#include "common.h"

#include <sys/mman.h>

static void too_small(void) {
    deltawire_event event;
    deltawire_batch_result result;
    unsigned char scratch[DELTAWIRE_SCRATCH_MIN];
    size_t len = THREE_LEN, off, size;
    deltawire_parser *p;
    begin("deltawire_batch", "no room", -1);
    p = make(512, NULL);
    UNCHANGED("cap 0", deltawire_batch(p, THREE, len, &event, 0, scratch, 64, &result), DELTAWIRE_E_SMALL);
    is("consumed", (long long)result.consumed, 0);
    UNCHANGED("scratch 63", deltawire_batch(p, THREE, len, &event, 1, scratch, 63, &result), DELTAWIRE_E_SMALL);
    UNCHANGED("scratch 0", deltawire_batch(p, THREE, len, &event, 1, scratch, 0, &result), DELTAWIRE_E_SMALL);
    UNCHANGED("finish, cap 0", deltawire_batch_finish(p, &event, 0, scratch, 64, &result), DELTAWIRE_E_SMALL);
    UNCHANGED("finish, scratch 63", deltawire_batch_finish(p, &event, 1, scratch, 63, &result), DELTAWIRE_E_SMALL);
    is("a batch", deltawire_batch(p, THREE, len, &event, 1, scratch, 64, &result), DELTAWIRE_MORE);
    is("events", result.events, 1);
    after_reset(p);

    for (off = 0; off < 3; off++) {
        deltawire_config config = DELTAWIRE_CONFIG_INIT;
        void *block;
        begin("deltawire_init", "a byte too few", (int)off);
        config.read_len = off == 0 ? 0 : off == 1 ? 1 : 100;
        config.flags = DELTAWIRE_CFG_GROW;
        size = deltawire_block_size(&config, 0);
        is("read_len", size, deltawire_block_size(NULL, 0) + (config.read_len + 7u) / 8u * 8u);
        is("block_size", size <= DELTAWIRE_BLOCK_SIZE(0) + 104 && size > 0 && size % 8 == 0, 1);
        block = region("block", size, ON_SUCCESS, 0xC3);
        UNCHANGED("a byte less", deltawire_init(block, size - 1, &config, &p), DELTAWIRE_E_SMALL);
        UNCHANGED("8 bytes less", deltawire_init(block, size - 8, &config, &p), DELTAWIRE_E_SMALL);
        is("enough", deltawire_init(block, size, &config, &p), DELTAWIRE_OK);
    }

    begin("deltawire_block_size", "more than there is", -1);
    is("a block has no size", (long long)deltawire_block_size(NULL, SIZE_MAX), 0);
    is("a message has no size", (long long)deltawire_message_size(NULL, SIZE_MAX), 0);

    begin("deltawire_message_init", "a byte too few", -1);
    {
        void *block;
        deltawire_message *m;
        size = deltawire_message_size(NULL, 0);
        is("message_size", size <= DELTAWIRE_MESSAGE_SIZE(0) && size > 0 && size % 8 == 0, 1);
        block = region("block", size, ON_SUCCESS, 0xC3);
        UNCHANGED("a byte less", deltawire_message_init(block, size - 1, NULL, &m), DELTAWIRE_E_SMALL);
        is("enough", deltawire_message_init(block, size, NULL, &m), DELTAWIRE_OK);
    }
}

/* A block that cannot grow has room for an event. */
static void no_room(void) {
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    deltawire_callbacks callbacks = taking();
    struct text text = {{0}, 0, 0};
    size_t none, some;
    deltawire_parser *p = NULL, *q = NULL;
    void *block;
    begin("deltawire_init", "no room for any event", -1);
    config.read_len = 32;
    none = deltawire_block_size(&config, 0), some = deltawire_block_size(&config, 1);
    is("block_size", (long long)(some - none), 8);
    block = region("block", some, ON_SUCCESS, 0xC3);
    UNCHANGED("none", deltawire_init(block, none, &config, &p), DELTAWIRE_E_SMALL);
    UNCHANGED("a byte less", deltawire_init(block, some - 1, &config, &p), DELTAWIRE_E_SMALL);
    is("some", deltawire_init(block, some, &config, &p), DELTAWIRE_OK);
    require(p != NULL, "deltawire_init");
    is("need", (long long)deltawire_need(p), (long long)some);
    UNCHANGED("move", deltawire_move(region("other", some, ON_SUCCESS, 0xC3), none, p, &q), DELTAWIRE_E_SMALL);
    UNCHANGED("resize", deltawire_resize(p, none), DELTAWIRE_E_SMALL);
    is("move", deltawire_move(region("third", some, ON_SUCCESS, 0xC3), some, p, &q), DELTAWIRE_OK);
    config.flags = DELTAWIRE_CFG_GROW;
    is("one that grows", deltawire_init(block, none, &config, &p), DELTAWIRE_OK);
    is("feed", deltawire_feed(p, THREE, THREE_LEN, &callbacks, &text, NULL), DELTAWIRE_OK);
    is("text", (long long)text.len, 11);
}

static void overlaps(void) {
    size_t size = deltawire_block_size(NULL, 512), message = deltawire_message_size(NULL, 512), by;
    unsigned char *memory = region("memory", 4 * size, ON_SUCCESS, 0xC3);
    deltawire_parser *p = NULL, *q = NULL;
    deltawire_message *m = NULL, *n = NULL;
    begin("deltawire_move", "to a block that overlaps", -1);
    memory = region("memory", 4 * size, ON_SUCCESS, 0xC3);
    require(deltawire_init(memory + size, size, NULL, &p) == DELTAWIRE_OK, "deltawire_init");
    for (by = 8; by < 2 * size; by += by < 64 || by > 2 * size - 64 ? 8 : 128)
        UNCHANGED("move", deltawire_move(memory + by, size, p, &q), DELTAWIRE_E_RANGE);
    UNCHANGED("from below", deltawire_move(memory, 4 * size, p, &q), DELTAWIRE_E_RANGE);
    is("side by side", deltawire_move(memory, size, p, &q), DELTAWIRE_OK);
    is("side by side", deltawire_move(memory + 2 * size, size, p, &q), DELTAWIRE_OK);
    works(q);
    begin("deltawire_message_move", "to a block that overlaps", -1);
    memory = region("memory", 4 * message, ON_SUCCESS, 0xC3);
    require(deltawire_message_init(memory + message, message, NULL, &m) == DELTAWIRE_OK, "deltawire_message_init");
    for (by = 8; by < 2 * message; by += by < 64 || by > 2 * message - 64 ? 8 : 128)
        UNCHANGED("move", deltawire_message_move(memory + by, message, m, &n), DELTAWIRE_E_RANGE);
    is("side by side", deltawire_message_move(memory, message, m, &n), DELTAWIRE_OK);
    is("side by side", deltawire_message_move(memory + 2 * message, message, m, &n), DELTAWIRE_OK);
}

/* Enlarges and shrinks a block by realloc, at each cut of a stream with an ID, a name and a comment in the event. */
static void resized(void) {
    static const char stream[] = "id: 12345\nevent: a-name\ndata: {\"choices\":[{\"index\":0,\"delta\":\n: comment\n"
                                 "data: {\"content\":\"one\"}}]}\n\nevent: b\ndata: {\"choices\":[{\"index\":0,"
                                 "\"delta\":{\"content\":\"two\"}}]}\n\n";
    const size_t len = sizeof stream - 1;
    size_t cut, grow;
    for (cut = 0; cut <= len; cut++) {
        for (grow = 0; grow < 4; grow++) {
            deltawire_config config = DELTAWIRE_CONFIG_INIT;
            deltawire_callbacks callbacks = taking();
            struct text text = {{0}, 0, 0};
            size_t off, room, size, least, consumed = 0, at;
            deltawire_parser *p = NULL;
            deltawire_str id = {NULL, 0};
            unsigned char *memory, *bigger;
            begin("deltawire_resize", "after realloc", -1);
            config.read_len = 48;
            config.flags = grow % 2 ? DELTAWIRE_CFG_GROW : 0;
            size = deltawire_block_size(&config, 400);
            memory = malloc(size);
            require(memory && deltawire_init(memory, size, &config, &p) == DELTAWIRE_OK, "deltawire_init");
            is("feed", deltawire_feed(p, stream, cut, &callbacks, &text, NULL), DELTAWIRE_OK);
            /* Some bytes were read directly and not looked at. */
            is("reserve", deltawire_reserve(p, &off, &room), DELTAWIRE_OK);
            at = len - cut < 40 ? len - cut : 40;
            memcpy(memory + off, stream + cut, at);
            is("commit", deltawire_commit(p, at), DELTAWIRE_OK);
            least = deltawire_need(p);
            is("too small", deltawire_resize(p, least - 8), DELTAWIRE_E_SMALL);
            is("no memory", deltawire_resize(p, SIZE_MAX), DELTAWIRE_E_RANGE);
            /* Shrink first: the bytes after its new end are lost. */
            if (grow / 2) {
                is("smaller", deltawire_resize(p, least), DELTAWIRE_OK);
                bigger = malloc(least);
                require(bigger != NULL, "malloc");
                memcpy(bigger, memory, least);
                free(memory), memory = bigger, size = least;
            }
            bigger = malloc(size + 1000);
            require(bigger != NULL, "malloc");
            memcpy(bigger, memory, size);
            memset(bigger + size, 0xC3, 1000);
            memset(memory, 0xFF, size);
            free(memory), memory = bigger, p = (deltawire_parser *)(void *)memory;
            is("larger", deltawire_resize(p, size + 1000), DELTAWIRE_OK);
            if (at > 0) is("commit", deltawire_commit(p, 0), DELTAWIRE_E_STATE);
            is("what was committed", deltawire_feed(p, NULL, 0, &callbacks, &text, NULL), DELTAWIRE_OK);
            is("the rest", deltawire_feed(p, stream + cut + at, len - cut - at, &callbacks, &text, &consumed), DELTAWIRE_OK);
            is("text", text.len == 6 && memcmp(text.bytes, "onetwo", 6) == 0, 1);
            is("id", deltawire_last_event_id(p, &id), DELTAWIRE_OK);
            is("id", id.len == 5 && memcmp(id.ptr, "12345", 5) == 0, 1);
            free(memory);
        }
    }
}

/* NEED_STORAGE, realloc, resize; and the same for an assembler. */
static void reallocated(void) {
    static const char head[] = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"", tail[] = "\"}}]}\n\n";
    static char stream[4000], got[4000];
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    size_t len = 0, at = 0, consumed, size, log_size, moves = 0, part;
    deltawire_status status = DELTAWIRE_OK;
    deltawire_parser *p = NULL;
    deltawire_message *m = NULL;
    void *mem, *log;
    begin("deltawire_resize", "after NEED_STORAGE", -1);
    memcpy(stream, head, sizeof head - 1), len = sizeof head - 1;
    memset(stream + len, 'x', 3000), len += 3000;
    memcpy(stream + len, tail, sizeof tail - 1), len += sizeof tail - 1;
    config.flags = DELTAWIRE_CFG_GROW;
    size = deltawire_block_size(&config, 0), log_size = deltawire_message_size(&config, 0);
    mem = malloc(size), log = malloc(log_size);
    require(mem && deltawire_init(mem, size, &config, &p) == DELTAWIRE_OK, "deltawire_init");
    require(log && deltawire_message_init(log, log_size, &config, &m) == DELTAWIRE_OK, "deltawire_message_init");
    for (part = 1000; (status > 0 || at < len) && moves < 40; at += consumed) {
        status = deltawire_message_feed(m, p, NULL, stream + at, len - at < part ? len - at : part, NULL, NULL,
                                        &consumed);
        if (status == DELTAWIRE_OK) continue;
        moves++;
        if (status == DELTAWIRE_NEED_STORAGE && !deltawire_message_is_full(m)) {
            size = deltawire_need(p);
            mem = realloc(mem, size), p = mem;
            require(mem != NULL, "realloc");
            is("resize", deltawire_resize(p, size), DELTAWIRE_OK);
        } else if (status == DELTAWIRE_NEED_STORAGE) {
            is("too small", deltawire_message_resize(m, deltawire_message_size(&config, 0) - 8), DELTAWIRE_E_SMALL);
            log_size = deltawire_message_need(m);
            log = realloc(log, log_size), m = log;
            require(log != NULL, "realloc");
            is("resize", deltawire_message_resize(m, log_size), DELTAWIRE_OK);
            is("is_full", deltawire_message_is_full(m), 0);
        } else {
            is("feed", status, DELTAWIRE_OK);
        }
    }
    is("all consumed", (long long)at, (long long)len);
    is("there were moves", moves > 1, 1);
    is("text", deltawire_message_text(m, DELTAWIRE_M_CONTENT, 0, 0, got, sizeof got, &consumed), DELTAWIRE_OK);
    is("text", (long long)consumed, 3000);
    free(mem), free(log);
}

/* OK means that all bytes were consumed, even of more than 2 GiB, of which one page is written. */
static void two_gib(void) {
#if SIZE_MAX > 0xFFFFFFFFu && !defined(__SANITIZE_ADDRESS__) && !defined(__has_feature)
    const size_t len = ((size_t)1 << 31) + 4096;
    deltawire_event event;
    deltawire_batch_result result;
    unsigned char scratch[DELTAWIRE_SCRATCH_MIN];
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    deltawire_parser *p;
    char *bytes_ = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes_ == MAP_FAILED) {
        printf("SKIP misuse-2-gib: no address space\n");
        return;
    }
    begin("deltawire_batch", "more than 2 GiB", -1);
    bytes_[0] = ':';
    memcpy(bytes_ + len - 15, "\ndata: [DONE]\n\n", 15);
    config.events = DELTAWIRE_MASK(DELTAWIRE_EV_DONE);
    p = make(512, &config);
    is("the first", deltawire_batch(p, bytes_, len, &event, 1, scratch, sizeof scratch, &result), DELTAWIRE_MORE);
    is("consumed", result.consumed > 0 && result.consumed < len && result.events == 0, 1);
    is("the rest", deltawire_batch(p, bytes_ + result.consumed, len - result.consumed, &event, 1, scratch, sizeof scratch,
                                   &result), DELTAWIRE_OK);
    is("events", (long long)result.events, 1);
    munmap(bytes_, len);
#endif
}

static void configs(void) {
    static const struct { uint32_t mode, flags, max_depth; uint32_t max_event_len; int good; } all[] = {
        {0, 0, 1024, 0, 1},      {1, 7, 1, 1, 1},          {0, 0, 0, 0x7FFFFFFF, 1},  {2, 0, 0, 0, 1},
        {0, 16, 0, 0, 1},
        {3, 0, 0, 0, 0},
        {0xFFFFFFFF, 0, 0, 0, 0}, {0, 32, 0, 0, 0},        {0, 0x80000000, 0, 0, 0},  {0, 0xFFFFFFFF, 0, 0, 0},
        {0, 0, 1025, 0, 0},      {0, 0, 0xFFFFFFFF, 0, 0}, {0, 0, 0, 0x80000000, 0},  {0, 0, 0, UINT32_MAX, 0}};
    size_t i, size = DELTAWIRE_BLOCK_SIZE(512);
    for (i = 0; i < sizeof all / sizeof *all; i++) {
        deltawire_config config = DELTAWIRE_CONFIG_INIT;
        deltawire_parser *p;
        char what[40];
        void *block;
        snprintf(what, sizeof what, "config number %d", (int)i);
        begin("deltawire_init", what, -1);
        block = region("block", size, ON_SUCCESS, 0xC3);
        config.mode = all[i].mode, config.flags = all[i].flags, config.max_depth = all[i].max_depth;
        config.max_event_len = all[i].max_event_len;
        UNCHANGED("config", deltawire_init(block, size, &config, &p), all[i].good ? DELTAWIRE_OK : DELTAWIRE_E_CONFIG);
        config.mode = config.flags = config.max_depth = 0, config.max_event_len = 0;
        config.errors[0] = config.errors[1] = UINT64_MAX;
        is("unknown quirks", deltawire_init(block, size, &config, &p), DELTAWIRE_OK);
        config.read_len = 0xFFFFFFFF;
        freeze();
        is_one_of("read_len", deltawire_init(block, size, &config, &p), DELTAWIRE_E_SMALL, DELTAWIRE_E_CONFIG);
        compare(DELTAWIRE_E_SMALL);
        config.read_len = 0, config.max_id_len = 0xFFFFFFFF, config.events = UINT64_MAX;
        is_one_of("max_id_len", deltawire_init(block, size, &config, &p), DELTAWIRE_OK, DELTAWIRE_E_CONFIG);
    }
}

/* Room for choices and tool calls: one byte too few is an error, and so is more than the maximum. */
static void rooms(void) {
    static const struct { uint32_t choices, calls; int good; } all[] = {
        {1, 1, 1}, {20, 40, 1}, {DELTAWIRE_MAX_CHOICES, DELTAWIRE_MAX_TOOL_CALLS, 1},
        {DELTAWIRE_MAX_CHOICES + 1, 0, 0}, {0, DELTAWIRE_MAX_TOOL_CALLS + 1, 0}, {UINT32_MAX, 0, 0}, {0, UINT32_MAX, 0}};
    size_t i;
    for (i = 0; i < sizeof all / sizeof *all; i++) {
        deltawire_config config = DELTAWIRE_CONFIG_INIT;
        deltawire_parser *p;
        deltawire_message *m;
        size_t most = DELTAWIRE_BLOCK_SIZE(0) + DELTAWIRE_TABLES_SIZE(256, 2048), size, log_size;
        void *block;
        begin("deltawire_block_size", "room", (int)i);
        config.max_choices = all[i].choices, config.max_tool_calls = all[i].calls, config.flags = DELTAWIRE_CFG_GROW;
        size = deltawire_block_size(&config, 0), log_size = deltawire_message_size(&config, 0);
        is("a block has a size", size > 0, all[i].good), is("a message has a size", log_size > 0, all[i].good);
        if (!all[i].good) size = log_size = most;
        is("size", size <= most && size % 8 == 0, 1), is("log size", log_size <= most && log_size % 8 == 0, 1);
        begin("deltawire_init", "room", (int)i);
        block = region("block", size, ON_SUCCESS, 0xC3);
        if (all[i].good) UNCHANGED("a byte less", deltawire_init(block, size - 1, &config, &p), DELTAWIRE_E_SMALL);
        UNCHANGED("room", deltawire_init(block, size, &config, &p), all[i].good ? DELTAWIRE_OK : DELTAWIRE_E_CONFIG);
        begin("deltawire_message_init", "room", (int)i);
        block = region("block", log_size, ON_SUCCESS, 0xC3);
        if (all[i].good)
            UNCHANGED("a byte less", deltawire_message_init(block, log_size - 1, &config, &m), DELTAWIRE_E_SMALL);
        UNCHANGED("room", deltawire_message_init(block, log_size, &config, &m),
                  all[i].good ? DELTAWIRE_OK : DELTAWIRE_E_CONFIG);
    }
}

static void growth(void) {
    static const char head[] = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"", tail[] = "\"}}]}\n\n";
    static char stream[2000];
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    deltawire_callbacks callbacks = taking();
    struct text text = {{0}, 0, 0};
    size_t len = 0, at = 0, consumed = 0, need, moves = 0, size;
    deltawire_parser *p, *q;
    deltawire_status status;
    memcpy(stream, head, sizeof head - 1), len += sizeof head - 1;
    memset(stream + len, 'x', 1000), len += 1000;
    memcpy(stream + len, tail, sizeof tail - 1), len += sizeof tail - 1;

    begin("deltawire_move", "to blocks that are too small", -1);
    config.flags = DELTAWIRE_CFG_GROW;
    size = deltawire_block_size(NULL, 64);
    require(deltawire_init(region("parser", size, NO_MISUSE, 0), size, &config, &p) == DELTAWIRE_OK, "deltawire_init");
    for (at = 0; at < len && moves < 20;) {
        size_t part = len - at < 100 ? len - at : 100;
        consumed = 77;
        status = deltawire_feed(p, stream + at, part, &callbacks, &text, &consumed);
        is("consumed", consumed <= part, 1);
        at += consumed;
        if (status == DELTAWIRE_OK) continue;
        is("feed", status, DELTAWIRE_NEED_STORAGE);
        if (status != DELTAWIRE_NEED_STORAGE) break;
        status = deltawire_feed(p, stream + at, part - consumed, &callbacks, &text, &consumed);
        is("feed without a move", status, DELTAWIRE_NEED_STORAGE);
        at += consumed;
        need = deltawire_need(p);
        is("need", need % 8 == 0 && need > size && need < 65536, 1);
        {
            size_t small = deltawire_block_size(NULL, 0) - 8;
            UNCHANGED("a small block", deltawire_move(region("small", small, ON_SUCCESS, 0xC3), small, p, &q),
                      DELTAWIRE_E_SMALL);
            UNCHANGED("a wrong size", deltawire_move(region("8", 8, ON_SUCCESS, 0xC3), 8, p, &q), DELTAWIRE_E_SMALL);
            UNCHANGED("no size", deltawire_move(region("0", 0, ON_SUCCESS, 0xC3), 0, p, &q), DELTAWIRE_E_SMALL);
        }
        q = NULL;
        is("move", deltawire_move(region("big", need, ON_SUCCESS, 0xC3), need, p, &q), DELTAWIRE_OK);
        if (q == NULL) break;
        memset(p, 0xFF, 256); /* it is free now */
        p = q, size = need, moves++;
    }
    is("there were moves", moves > 0, 1);
    is("all came", (long long)text.len, 1000);
    is("all consumed", (long long)at, (long long)len);

    /* And down again: exactly the needed size, and slightly less. */
    need = deltawire_need(p);
    is("need of an idle parser", need > 0 && need % 8 == 0 && need <= deltawire_block_size(NULL, 64), 1);
    UNCHANGED("a byte too few", deltawire_move(region("less", need, ON_SUCCESS, 0xC3), need - 1, p, &q),
              DELTAWIRE_E_SMALL);
    is("exactly", deltawire_move(region("least", need, ON_SUCCESS, 0xC3), need, p, &q), DELTAWIRE_OK);
    at = 0;
    is("reset", deltawire_reset(q), DELTAWIRE_OK);
    is("whole events need no room", deltawire_feed(q, THREE, THREE_LEN, &callbacks, &text, &at), DELTAWIRE_OK);
    is("text", (long long)text.len, 1011);

    begin("deltawire_move", "with half an event", -1);
    text.len = 0;
    p = make(2048, &config);
    is("feed", deltawire_feed(p, stream, 700, &callbacks, &text, NULL), DELTAWIRE_OK);
    need = deltawire_need(p);
    is("need", need > deltawire_block_size(NULL, 0) && need <= DELTAWIRE_BLOCK_SIZE(2048), 1);
    UNCHANGED("too small", deltawire_move(region("less", need, ON_SUCCESS, 0xC3), need - 8, p, &q), DELTAWIRE_E_SMALL);
    is("exactly", deltawire_move(region("least", need, ON_SUCCESS, 0xC3), need, p, &q), DELTAWIRE_OK);
    is("the old one is whole", deltawire_feed(p, stream + 700, len - 700, &callbacks, &text, NULL), DELTAWIRE_OK);
    is("text", (long long)text.len, 1000);
    status = deltawire_feed(q, stream + 700, len - 700, &callbacks, &text, &consumed);
    is("the new one wants more", status, DELTAWIRE_NEED_STORAGE);
    is("reset in want", deltawire_reset(q), DELTAWIRE_OK);
    text.len = 0;
    is("feed", deltawire_feed(q, THREE, THREE_LEN, &callbacks, &text, NULL), DELTAWIRE_OK);
    is("text", (long long)text.len, 11);
}

/* A call that returns NEED_STORAGE must not overwrite retained bytes, however far it got. */
static int32_t take_id(void *user, const deltawire_at *at, const char *bytes_, size_t len) {
    struct text *text = user;
    (void)at;
    if (text->len + len <= sizeof text->bytes) memcpy(text->bytes + text->len, bytes_, len), text->len += len;
    return DELTAWIRE_GO_ON;
}
static void taken_back(void) {
    static const char stream[] = "id: 7\": c\n\ndata: {\"choices\":[]}\n\n";
    const size_t len = sizeof stream - 1;
    size_t room, cut, slice;
    for (room = 0; room <= 24; room += 8) {
        for (cut = 0; cut <= 11; cut++) {
            for (slice = 1; slice <= len; slice += 2) {
                deltawire_config config = DELTAWIRE_CONFIG_INIT;
                deltawire_callbacks callbacks = DELTAWIRE_CALLBACKS_INIT;
                struct text text = {{0}, 0, 0};
                size_t at = 0, consumed, calls = 0, size = deltawire_block_size(NULL, room);
                deltawire_parser *p, *q = NULL;
                deltawire_status status = DELTAWIRE_OK;
                begin("deltawire_feed", "until the block is full", -1);
                config.flags = DELTAWIRE_CFG_GROW;
                callbacks.on_last_event_id = take_id;
                require(deltawire_init(region("parser", size, NO_MISUSE, 0), size, &config, &p) == DELTAWIRE_OK, "init");
                while (at < len && calls++ < 200) {
                    size_t part = at < cut ? cut - at : len - at < slice ? len - at : slice;
                    status = deltawire_feed(p, stream + at, part, &callbacks, &text, &consumed);
                    at += consumed;
                    if (status != DELTAWIRE_NEED_STORAGE) continue;
                    size = deltawire_need(p);
                    is("move", deltawire_move(region("big", size, NO_MISUSE, 0xC3), size, p, &q), DELTAWIRE_OK);
                    require(q != NULL, "deltawire_move");
                    release(p);
                    p = q;
                }
                is("feed", status, DELTAWIRE_OK);
                is("the ID", text.len == 5 && memcmp(text.bytes, "7\": c", 5) == 0, 1);
            }
        }
    }
}

/* Finish never answers NEED_STORAGE, whatever the end of the stream cuts, however full the block is, and whether or not a feed
 * answered NEED_STORAGE before: all combinations of three pieces, in the smallest blocks. */
static void finish_needs_no_storage(void) {
    static const char *const pieces[] = {
        "", "dat", "data", "data: ", "data: {\"choices\":[{\"delta\":{\"content\":\"\\ud83d\"}}]}", "\n", "\r", "\r\n", "{\"a\":1}",
        "{\"message\":\"m\"}", "[", "[DONE]", "id: 0123456789", "event: error", "error: x", ": pin", "retry: 5", "\xEF\xBB", "<p",
        "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"content\":[",
    };
    enum { PIECES = sizeof pieces / sizeof *pieces };
    static DELTAWIRE_BLOCK(block, 256);
    size_t nth, room, stopped = 0;
    begin("deltawire_finish", "in a full block", -1);
    for (nth = 0; nth < (size_t)PIECES * PIECES * PIECES; nth++) {
        char stream[512];
        size_t len = (size_t)sprintf(stream, "%s%s%s", pieces[nth / PIECES / PIECES], pieces[nth / PIECES % PIECES], pieces[nth % PIECES]);
        for (room = 0; room <= 64; room += 8) {
            deltawire_config config = DELTAWIRE_CONFIG_INIT;
            deltawire_parser *p;
            deltawire_status status = DELTAWIRE_OK;
            size_t at;
            config.flags = DELTAWIRE_CFG_GROW;
            config.max_event_len = nth % 3 == 0 ? 40 : 0;
            require(deltawire_init(&block, deltawire_block_size(&config, room), &config, &p) == DELTAWIRE_OK, "init");
            for (at = 0; at < len && status == DELTAWIRE_OK; at++) status = deltawire_feed(p, stream + at, 1, NULL, NULL, NULL);
            stopped += status == DELTAWIRE_NEED_STORAGE;
            status = deltawire_finish(p, NULL, NULL);
            if (status != DELTAWIRE_OK) is(stream, status, DELTAWIRE_OK);
        }
    }
    is("some feeds were short of storage, most were not", stopped > 1000 && stopped < nth * 9 / 2, 1);
}

static void snapshot(void) {
    size_t size = DELTAWIRE_BLOCK_SIZE(512), cut;
    for (cut = 0; cut < (THREE_LEN + 1); cut += 7) {
        deltawire_callbacks callbacks = taking();
        struct text text = {{0}, 0, 0};
        deltawire_parser *p;
        void *copy;
        begin("memcpy of a block", "and both go on", -1);
        p = make(512, NULL);
        is("feed", deltawire_feed(p, THREE, cut, &callbacks, &text, NULL), DELTAWIRE_OK);
        copy = region("copy", size, ON_SUCCESS, 0);
        memcpy(copy, p, size);
        text.len = 0;
        is("one", deltawire_feed(p, THREE + cut, THREE_LEN - cut, &callbacks, &text, NULL), DELTAWIRE_OK);
        memset(p, 0xFF, size);
        is("two", deltawire_feed(copy, THREE + cut, THREE_LEN - cut, &callbacks, &text, NULL), DELTAWIRE_OK);
        is("both gave the same", text.len % 2 == 0 && memcmp(text.bytes, text.bytes + text.len / 2, text.len / 2) == 0, 1);
    }
}

static int32_t allowed(void *user, const deltawire_at *at) {
    deltawire_parser *other = user;
    deltawire_callbacks callbacks = DELTAWIRE_CALLBACKS_INIT;
    deltawire_value v;
    deltawire_str payload;
    deltawire_message *m;
    size_t size = DELTAWIRE_MESSAGE_SIZE(512);
    is("chunk_field", deltawire_chunk_field(at->chunk, DELTAWIRE_F_CHOICES, &v), DELTAWIRE_OK);
    is("chunk_payload", deltawire_chunk_payload(at->chunk, &payload), DELTAWIRE_OK);
    is("another parser", deltawire_feed(other, THREE, THREE_LEN, &callbacks, NULL, NULL), DELTAWIRE_OK);
    is("an assembler", deltawire_message_init(region("message", size, ON_SUCCESS, 0), size, NULL, &m), DELTAWIRE_OK);
    is("with it", deltawire_message_feed(m, other, NULL, THREE, THREE_LEN, NULL, NULL, NULL), DELTAWIRE_OK);
    seen++;
    return DELTAWIRE_GO_ON;
}

static void messages(void) {
    deltawire_callbacks callbacks = DELTAWIRE_CALLBACKS_INIT;
    deltawire_parser *p;
    deltawire_message *m, *q = NULL;
    char text[40];
    size_t need = 77, at = 0, consumed = 0, moves = 0, size;
    deltawire_status status;

    begin("callbacks", "what is allowed in them", -1);
    p = make(512, NULL);
    callbacks.on_chunk = allowed;
    seen = 0;
    is("feed", deltawire_feed(p, THREE, THREE_LEN, &callbacks, make(512, NULL), NULL), DELTAWIRE_OK);
    is("chunks", (long long)seen, 3);

    begin("deltawire_message_feed", "a full message", -1);
    p = make(512, NULL);
    size = deltawire_message_size(NULL, 0);
    is("init", deltawire_message_init(region("message", size, ON_SUCCESS, 0), size, NULL, &m), DELTAWIRE_OK);
    do {
        status = deltawire_message_feed(m, p, NULL, THREE + at, THREE_LEN - at, NULL, NULL, &consumed);
        at += consumed;
        if (status != DELTAWIRE_NEED_STORAGE) break;
        is("is_full", deltawire_message_is_full(m), 1);
        need = deltawire_message_need(m);
        is("need", need > size, 1);
        UNCHANGED("a small block", deltawire_message_move(region("small", 64, ON_SUCCESS, 0xC3), 64, m, &q),
                  DELTAWIRE_E_SMALL);
        is("move", deltawire_message_move(region("big", need, ON_SUCCESS, 0xC3), need, m, &q), DELTAWIRE_OK);
        if (q == NULL) break;
        memset(m, 0xFF, 128);
        m = q, size = need;
    } while (++moves < 20);
    is("feed", status, DELTAWIRE_OK);
    is("there were moves", moves > 0, 1);
    is("is_full", deltawire_message_is_full(m), 0);
    memset(text, 'z', sizeof text);
    is("short", deltawire_message_text(m, DELTAWIRE_M_CONTENT, 0, 0, text, 10, &need), DELTAWIRE_E_SMALL);
    is("need", need == 11 && text[0] == 'z', 1);
    is("text", deltawire_message_text(m, DELTAWIRE_M_CONTENT, 0, 0, text, 11, &need), DELTAWIRE_OK);
    is("text", need == 11 && memcmp(text, "onetwothreez", 12) == 0, 1);
    is("no such choice", deltawire_message_text(m, DELTAWIRE_M_CONTENT, 9, 0, text, 11, &need), DELTAWIRE_ABSENT);
    is("no such call", deltawire_message_text(m, DELTAWIRE_M_CALL_NAME, 0, 9, text, 11, &need), DELTAWIRE_ABSENT);
    is("no choice", (long long)deltawire_message_calls(m, 0xFFFFFFFF), 0);
    is("reset", deltawire_message_reset(m), DELTAWIRE_OK);
    is("choices", (long long)deltawire_message_choices(m), 0);
}

int main(void) {
    too_small();
    no_room();
    overlaps();
    resized();
    reallocated();
    two_gib();
    configs();
    rooms();
    growth();
    taken_back();
    finish_needs_no_storage();
    snapshot();
    messages();
    return summary("sizes and places");
}
