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

static void by_batches(const char *bytes, size_t len) {
    static deltawire_event events[64];
    static char scratch[4096];
    size_t at, n;
    deltawire_reset(batch_parser);
    for (at = 0; at < len; at += n) {
        const char *data = bytes + at;
        size_t left;
        deltawire_status status;
        left = n = len - at < rows_slice ? len - at : rows_slice;
        do {
            deltawire_batch_result result;
            uint32_t nth;
            status = deltawire_batch(batch_parser, data, left, events, 64, scratch, sizeof scratch, &result);
            if (status < DELTAWIRE_OK) exit(1);
            for (nth = 0; nth < result.events; nth++) {
                const deltawire_event *e = &events[nth];
                if (e->kind != DELTAWIRE_EV_CONTENT || e->choice != 0) continue;
                rows_put((e->flags & DELTAWIRE_EVF_TEXT_SCRATCH ? scratch : data) + e->text_off, e->text_len,
                         !(e->flags & DELTAWIRE_EVF_MORE));
            }
            data += result.consumed;
            left -= result.consumed;
        } while (status != DELTAWIRE_OK);
    }
}

int main(int argc, char **argv) {
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    if (argc != 4) return 1;
    rows_begin(argv);
    callbacks.on_content = on_content;
    if (deltawire_init(&block, sizeof block, &config, &parser) != DELTAWIRE_OK) return 1;
    config.events = DELTAWIRE_MASK(DELTAWIRE_EV_CONTENT);
    if (deltawire_init(&batch_block, sizeof batch_block, &config, &batch_parser) != DELTAWIRE_OK) return 1;
    rows_row("C, callbacks", by_callbacks);
    rows_row("C, batches of 64", by_batches);
    return 0;
}
