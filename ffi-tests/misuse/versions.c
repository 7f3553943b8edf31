/* Structs that begin with their size, from callers of other versions: shorter, longer, and with invalid sizes. Each
 * struct ends at unmapped memory, so that nothing beyond its size can be read or written. */
#include "common.h"

static const char USED[] = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2,\"total_tokens\":3,"
                           "\"completion_tokens_details\":{\"reasoning_tokens\":4,\"audio_tokens\":7,"
                           "\"accepted_prediction_tokens\":8,\"rejected_prediction_tokens\":9},"
                           "\"prompt_tokens_details\":{\"cached_tokens\":5,\"audio_tokens\":6,\"cache_write_tokens\":10}}}\n\n";

/* Struct sizes that no version has or will have: too small for the size itself, or larger than any memory. */
static const uint32_t NO_SIZES[] = {0, 1, 3, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF8, 0xFFFFFFFF};
enum { NO_SIZE_COUNT = sizeof NO_SIZES / sizeof *NO_SIZES };

static deltawire_parser *used(void) {
    deltawire_callbacks callbacks = DELTAWIRE_CALLBACKS_INIT;
    deltawire_parser *p = parser(FRESH, NEVER);
    is("feed", deltawire_feed(p, USED, sizeof USED - 1, &callbacks, NULL, NULL), DELTAWIRE_OK);
    return p;
}

/* An aligned struct of `size` bytes, followed by at most 7 bytes of garbage, then by unmapped memory. */
static void *sized(const char *name, size_t size, enum when when, int fill) {
    unsigned char *bytes_ = region(name, (size + 7) / 8 * 8, when, 0xC3);
    memset(bytes_, fill, size);
    return bytes_;
}

/* ---- deltawire_config */

static void configs(void) {
    deltawire_config whole = DELTAWIRE_CONFIG_INIT;
    size_t block_size = DELTAWIRE_BLOCK_SIZE(512), size, i, off, len;
    deltawire_parser *p;
    unsigned char *block;
    void *config;
    whole.max_id_len = 100, whole.read_len = 64;

    for (size = 4; size <= sizeof whole; size++) {
        deltawire_status status;
        begin("deltawire_init", "a shorter config", -1);
        block = region("block", block_size, ON_SUCCESS, 0xC3);
        config = sized("config", size, NEVER, 0);
        memcpy(config, &whole, size);
        *(uint32_t *)config = (uint32_t)size;
        freeze();
        status = deltawire_init(block, block_size, config, &p);
        compare(status);
        if (status == DELTAWIRE_OK && size < sizeof whole) {
            /* A partial member counts as absent: no room for direct reading. */
            is("read_len", deltawire_reserve(p, &off, &len),
               size < offsetof(deltawire_config, max_choices) ? DELTAWIRE_E_STATE : DELTAWIRE_OK);
        } else if (size == sizeof whole) {
            is("init", status, DELTAWIRE_OK);
            is("read_len", deltawire_reserve(p, &off, &len), DELTAWIRE_OK);
        } else {
            is("init", status, DELTAWIRE_E_CONFIG);
        }
        if (size == sizeof whole - 8) is("8 bytes shorter", status, DELTAWIRE_OK);
        /* Struct sizes end at the end of a member. */
        if (size % 4 != 0) is("a size that no version has", status, DELTAWIRE_E_CONFIG);
    }
    for (size = sizeof whole + 8; size <= sizeof whole + 40; size += 8) {
        begin("deltawire_init", "a longer config", -1);
        block = region("block", block_size, ON_SUCCESS, 0xC3);
        config = sized("config", size, NEVER, 0);
        memcpy(config, &whole, sizeof whole);
        *(uint32_t *)config = (uint32_t)size;
        for (i = sizeof whole; i < size; i++) {
            ((unsigned char *)config)[i] = 1;
            freeze();
            is("a tail that is not zero", deltawire_init(block, block_size, config, &p), DELTAWIRE_E_CONFIG);
            compare(DELTAWIRE_E_CONFIG);
            ((unsigned char *)config)[i] = 0;
        }
        freeze();
        is("a tail of zeros", deltawire_init(block, block_size, config, &p), DELTAWIRE_OK);
        compare(DELTAWIRE_OK);
        is("read_len", deltawire_reserve(p, &off, &len), DELTAWIRE_OK);
    }
    for (i = 0; i < NO_SIZE_COUNT; i++) {
        begin("deltawire_init", "a config of no size", -1);
        block = region("block", block_size, ON_SUCCESS, 0xC3);
        config = region("config", sizeof whole, NEVER, 0);
        memcpy(config, &whole, sizeof whole);
        *(uint32_t *)config = NO_SIZES[i];
        freeze();
        is("init", deltawire_init(block, block_size, config, &p), DELTAWIRE_E_CONFIG);
        compare(DELTAWIRE_E_CONFIG);
    }
}

/* ---- deltawire_callbacks */

static int32_t count(void *user, const deltawire_at *at) {
    (void)at;
    ++*(size_t *)user;
    return DELTAWIRE_GO_ON;
}

/* Feeds, or finishes, with callbacks of `size` mapped bytes; `tail` follows the known members. */
static deltawire_status feed_with(size_t size, size_t there, size_t tail_at, int finish, size_t *frames) {
    deltawire_callbacks whole = DELTAWIRE_CALLBACKS_INIT;
    deltawire_parser *p = parser(FRESH, NO_MISUSE);
    void *callbacks = sized("callbacks", there, NEVER, 0);
    size_t *consumed = region("consumed", sizeof *consumed, ALWAYS, 0);
    deltawire_status status;
    whole.on_chunk = count, whole.on_frame = count;
    memcpy(callbacks, &whole, there < sizeof whole ? there : sizeof whole);
    memcpy(callbacks, &size, sizeof size);
    if (tail_at != 0) ((unsigned char *)callbacks)[tail_at] = 1;
    *frames = 0;
    freeze();
    if (finish) {
        status = deltawire_finish(p, callbacks, frames);
        *consumed = 0; /* It has no such argument. */
    } else {
        status = deltawire_feed(p, STREAM, strlen(STREAM), callbacks, frames, consumed);
        is("consumed", (long long)*consumed, status == DELTAWIRE_OK ? (long long)strlen(STREAM) : 0);
    }
    compare(status);
    return status;
}

static void callbacks(void) {
    const size_t whole = sizeof(deltawire_callbacks);
    static const size_t none[] = {0, 1, 3, sizeof(size_t) - 1, SIZE_MAX, SIZE_MAX - 7, SIZE_MAX / 2 + 1};
    size_t size, frames, i;
    int finish;
    for (finish = 0; finish < 2; finish++) {
        const char *name = finish ? "deltawire_finish" : "deltawire_feed";
        for (size = sizeof(size_t); size <= whole; size++) {
            deltawire_status status;
            begin(name, "shorter callbacks", -1);
            status = feed_with(size, size, 0, finish, &frames);
            if (status != DELTAWIRE_OK) is("status", status, DELTAWIRE_E_CONFIG);
            if (size == whole) is("all", status, DELTAWIRE_OK);
            if (size == whole - 8) is("8 bytes shorter", status, DELTAWIRE_OK);
            if (size % sizeof(size_t) != 0) is("a size that no version has", status, DELTAWIRE_E_CONFIG);
            if (finish || status != DELTAWIRE_OK) is("calls", (long long)frames, 0);
            else if (size > offsetof(deltawire_callbacks, on_frame)) is("calls", (long long)frames, 2);
            else if (size == offsetof(deltawire_callbacks, on_frame)) is("calls", (long long)frames, 1);
            else is("calls", frames <= 1, 1);
        }
        for (size = whole + 8; size <= whole + 40; size += 8) {
            begin(name, "longer callbacks", -1);
            is("a tail of zeros", feed_with(size, size, 0, finish, &frames), DELTAWIRE_OK);
            for (i = whole; i < size; i++) {
                begin(name, "longer callbacks", -1);
                is("a tail that is not zero", feed_with(size, size, i, finish, &frames), DELTAWIRE_E_CONFIG);
                is("calls", (long long)frames, 0);
            }
        }
        for (i = 0; i < sizeof none / sizeof *none; i++) {
            begin(name, "callbacks of no size", -1);
            is("status", feed_with(none[i], whole, 0, finish, &frames), DELTAWIRE_E_CONFIG);
            is("calls", (long long)frames, 0);
        }
    }
}

/* ---- structs that are filled: deltawire_usage, deltawire_end, deltawire_meter */

static const deltawire_chunk *used_chunk(void) {
    static deltawire_chunk_storage storage;
    const deltawire_chunk *c = NULL;
    require(deltawire_chunk_open(USED + 6, sizeof USED - 1 - 8, &storage, &c) == DELTAWIRE_OK, "a chunk");
    return c;
}
static deltawire_status end_of(void *out) { return deltawire_end_of(used(), out); }
static deltawire_status last_usage(void *out) { return deltawire_last_usage(used(), out); }
static deltawire_status meter_of(void *out) {
    /* Always in the same place, because a meter's texts are pointers. */
    static uint64_t block[(DELTAWIRE_BLOCK_SIZE(512) + DELTAWIRE_METER_SIZE) / 8];
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    deltawire_parser *p = NULL;
    config.mode = DELTAWIRE_MODE_USAGE;
    require(deltawire_init(block, sizeof block, &config, &p) == DELTAWIRE_OK, "deltawire_init");
    is("feed", deltawire_feed(p, USED, sizeof USED - 1, NULL, NULL, NULL), DELTAWIRE_OK);
    return deltawire_meter_of(p, out);
}
static deltawire_status chunk_usage(void *out) { return deltawire_chunk_usage(used_chunk(), out); }

static void filled(const char *name, deltawire_status (*call)(void *), const void *whole, size_t known) {
    size_t size, i;
    for (size = 0; size <= known + 40; size++) {
        deltawire_status status;
        unsigned char *out, before;
        uint32_t told = (uint32_t)size;
        begin(name, size < known ? "a shorter struct" : "a longer struct", -1);
        /* `size` itself must be readable. */
        out = sized("out", size < 4 ? 4 : size, ON_SUCCESS, 0xC3);
        memcpy(out, &told, 4);
        before = out[0];
        /* used() makes regions, so compare out by hand. */
        status = call(out);
        for (i = size < 4 ? 4 : size; i % 8 != 0; i++) is("what is behind it", out[i], 0xC3);
        if (size % 4 != 0) is("a size that no version has", status, DELTAWIRE_E_CONFIG);
        else if (size == known - 8 || (size >= known && size % 8 == 0)) is("status", status, DELTAWIRE_OK);
        else if (size < 4 || status != DELTAWIRE_OK) is("status", status, DELTAWIRE_E_CONFIG);
        if (status != DELTAWIRE_OK) {
            for (i = 4; i < size && out[i] == 0xC3; i++) continue;
            is("nothing was written", out[0] == before && i >= size, 1);
            continue;
        }
        is("`size` stays", memcmp(out, &told, 4), 0);
        for (i = 4; i < size && i < known / 8 * 8; i++) {
            /* A member with only partial room must not be written. */
            if (size >= known || size % 8 == 0 || i < size / 8 * 8) is("a byte", out[i], ((const unsigned char *)whole)[i]);
        }
        for (i = known; i < size; i++) is("the tail is zero", out[i], 0);
    }
    for (i = 0; i < NO_SIZE_COUNT; i++) {
        unsigned char *out;
        begin(name, "a struct of no size", -1);
        out = region("out", known, ON_SUCCESS, 0xC3);
        memcpy(out, &NO_SIZES[i], 4);
        is("status", call(out), DELTAWIRE_E_CONFIG);
        for (size = 4; size < known && out[size] == 0xC3; size++) continue;
        is("nothing was written", (long long)size, (long long)known);
    }
}

int main(void) {
    deltawire_usage usage = DELTAWIRE_USAGE_INIT;
    deltawire_end end = DELTAWIRE_END_INIT;
    deltawire_meter meter = DELTAWIRE_METER_INIT;
    begin("versions", "the whole structs", -1);
    is("usage", last_usage(&usage), DELTAWIRE_OK);
    is("counts", usage.has == 0x3FF && usage.prompt == 1 && usage.completion == 2 && usage.total == 3 &&
                     usage.reasoning == 4 && usage.cached == 5 && usage.prompt_audio == 6 &&
                     usage.completion_audio == 7 && usage.accepted_prediction == 8 && usage.rejected_prediction == 9 &&
                     usage.cache_write == 10, 1);
    is("end", end_of(&end), DELTAWIRE_OK);
    is("offset", (long long)end.offset, (long long)sizeof USED - 1);
    is("meter", meter_of(&meter), DELTAWIRE_OK);
    is("the meter's usage", memcmp(&meter.usage, &usage, sizeof usage), 0);
    configs();
    callbacks();
    filled("deltawire_last_usage", last_usage, &usage, sizeof usage);
    filled("deltawire_chunk_usage", chunk_usage, &usage, sizeof usage);
    filled("deltawire_end_of", end_of, &end, sizeof end);
    filled("deltawire_meter_of", meter_of, &meter, sizeof meter);
    return summary("structs of other versions");
}
