/* The rows of C: callbacks, and batches. */
#define _POSIX_C_SOURCE 200809L
#include "deltawire.h"
#include "rows.h"

static DELTAWIRE_BLOCK(block, 8192);
static DELTAWIRE_BLOCK(batch_block, 8192);
static deltawire_parser *parser, *batch_parser;
static deltawire_callbacks callbacks = DELTAWIRE_CALLBACKS_INIT;

static int32_t on_content(void *user, const deltawire_at *at, const char *text, size_t len) {
    (void)user;
    if (at->choice == 0) rows_put(text, len, !(at->flags & DELTAWIRE_EVF_MORE));
    return DELTAWIRE_GO_ON;
}

static void by_callbacks(const char *bytes, size_t len) {
    size_t at, n;
    deltawire_reset(parser);
    for (at = 0; at < len; at += n) {
        n = len - at < rows_slice ? len - at : rows_slice;
        if (deltawire_feed(parser, bytes + at, n, &callbacks, NULL, NULL) != DELTAWIRE_OK) exit(1);
    }
}

static deltawire_event events[64];
static char scratch[4096];

static void take(const deltawire_batch_result *result, const char *data) {
    uint32_t nth;
    for (nth = 0; nth < result->events; nth++) {
        const deltawire_event *e = &events[nth];
        if (e->kind != DELTAWIRE_EV_CONTENT || e->choice != 0) continue;
        rows_put((e->flags & DELTAWIRE_EVF_TEXT_SCRATCH ? scratch : data) + e->text_off, e->text_len,
                 !(e->flags & DELTAWIRE_EVF_MORE));
    }
}

static void by_batches(const char *bytes, size_t len) {
    size_t at, n;
    deltawire_reset(batch_parser);
    for (at = 0; at < len; at += n) {
        const char *data = bytes + at;
        size_t left;
        deltawire_status status;
        left = n = len - at < rows_slice ? len - at : rows_slice;
        do {
            deltawire_batch_result result;
            status = deltawire_batch(batch_parser, data, left, events, 64, scratch, sizeof scratch, &result);
            if (status < DELTAWIRE_OK) exit(1);
            take(&result, data);
            data += result.consumed;
            left -= result.consumed;
        } while (status != DELTAWIRE_OK);
    }
}

/* The blocks of many parsers, each with room for an event that a read cuts, and what they share. */
static char *blocks;
static size_t block_size;
static DELTAWIRE_WORKSPACE(shared);
static deltawire_workspace *workspace;

static deltawire_parser *parser_of(size_t stream) { return (deltawire_parser *)(blocks + stream * block_size); }

static void begin_streams(const deltawire_config *config) {
    deltawire_parser *made;
    size_t nth;
    free(blocks);
    block_size = (deltawire_block_size(config, 512) + 63) / 64 * 64;
    blocks = (char *)malloc(ROWS_STREAMS * block_size);
    if (!blocks || deltawire_workspace_init(&shared, sizeof shared, &workspace) != DELTAWIRE_OK) exit(1);
    for (nth = 0; nth < ROWS_STREAMS; nth++)
        if (deltawire_init(parser_of(nth), block_size, config, &made) != DELTAWIRE_OK) exit(1);
}

static void event_by_callbacks(size_t stream, const char *bytes, size_t len) {
    if (deltawire_feed_with(parser_of(stream), workspace, bytes, len, &callbacks, NULL, NULL) != DELTAWIRE_OK) exit(1);
}

static void event_by_batch(size_t stream, const char *bytes, size_t len) {
    deltawire_batch_result result;
    if (deltawire_batch_with(parser_of(stream), workspace, bytes, len, events, 64, scratch, sizeof scratch, &result) !=
        DELTAWIRE_OK)
        exit(1);
    take(&result, bytes);
}

static int in_turn(deltawire_config *config) {
    config->flags |= DELTAWIRE_CFG_SHARED;
    begin_streams(config);
    rows_turns("C, callbacks", event_by_callbacks);
    config->events = DELTAWIRE_MASK(DELTAWIRE_EV_CONTENT);
    begin_streams(config);
    rows_turns("C, batches of 64", event_by_batch);
    return 0;
}

int main(int argc, char **argv) {
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    if (argc != 4) return 1;
    rows_begin(argv);
    callbacks.on_content = on_content;
    if (rows_slice == 0) return in_turn(&config);
    if (deltawire_init(&block, sizeof block, &config, &parser) != DELTAWIRE_OK) return 1;
    config.events = DELTAWIRE_MASK(DELTAWIRE_EV_CONTENT);
    if (deltawire_init(&batch_block, sizeof batch_block, &config, &batch_parser) != DELTAWIRE_OK) return 1;
    rows_row("C, callbacks", by_callbacks);
    rows_row("C, batches of 64", by_batches);
    return 0;
}
