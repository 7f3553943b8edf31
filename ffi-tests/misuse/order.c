/* Calls in the wrong order, and what must still work after them. */
#include "common.h"

static const char ONE_LONG[] = "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"one\","
                               "\"reasoning\":\"two\",\"refusal\":\"three\"},\"finish_reason\":\"stop\"}]}\n\n";

static int32_t answer(void *user, const deltawire_at *at) {
    (void)at;
    return ((struct text *)user)->answer;
}

static void resets(void) {
    static const char *const names[] = {"fresh", "in an event", "pending", "aborted", "strict", "finished", "reserved",
                                        "committed", "in want of an event", "in want of storage"};
    int state;
    for (state = 0; state < PARSER_STATES; state++) {
        begin("deltawire_reset", names[state], -1);
        if (state == STRICT) {
            deltawire_parser *p = parser(state, NO_MISUSE);
            is("error_quirk is known", deltawire_error_quirk(p) < DELTAWIRE_QUIRKS, 1);
            is("reset", deltawire_reset(p), DELTAWIRE_OK);
            is("error_quirk", deltawire_error_quirk(p), DELTAWIRE_QUIRKS);
        } else {
            after_reset(parser(state, NO_MISUSE));
        }
    }
}

static void nothing_came(void) {
    deltawire_callbacks callbacks = DELTAWIRE_CALLBACKS_INIT;
    deltawire_end end = DELTAWIRE_END_INIT;
    deltawire_usage usage = DELTAWIRE_USAGE_INIT;
    deltawire_event event;
    deltawire_batch_result result;
    deltawire_str id;
    unsigned char scratch[DELTAWIRE_SCRATCH_MIN];
    size_t consumed = 77;
    deltawire_parser *p;

    begin("deltawire_finish", "before any feed", -1);
    p = make(512, NULL);
    is("finish", deltawire_finish(p, &callbacks, NULL), DELTAWIRE_OK);
    is("end", deltawire_end_of(p, &end), DELTAWIRE_OK);
    is("verdict", end.verdict, DELTAWIRE_VERDICT_EMPTY);
    is("finished", end.finished, 1);
    is("offset", (long long)end.offset, 0);
    is("usage", deltawire_last_usage(p, &usage), DELTAWIRE_ABSENT);
    is("id", deltawire_last_event_id(p, &id), DELTAWIRE_ABSENT);
    after_reset(p);

    begin("deltawire_batch_finish", "before any batch", -1);
    p = make(512, NULL);
    is("finish", deltawire_batch_finish(p, &event, 1, scratch, sizeof scratch, &result), DELTAWIRE_OK);
    is("events", result.events, 0);
    after_reset(p);

    begin("deltawire_feed", "NULL and 0", -1);
    p = make(512, NULL);
    is("feed", deltawire_feed(p, NULL, 0, &callbacks, NULL, &consumed), DELTAWIRE_OK);
    is("consumed", (long long)consumed, 0);
    is("feed", deltawire_feed(p, NULL, 0, &callbacks, NULL, NULL), DELTAWIRE_OK);
    is("batch", deltawire_batch(p, NULL, 0, &event, 1, scratch, sizeof scratch, &result), DELTAWIRE_OK);
    is("events", result.events, 0);
    is("consumed", (long long)result.consumed, 0);
    works(p);
}

/* Having no callbacks is legal: the stream is then read only for its end and its usage. */
static void no_callbacks(void) {
    deltawire_end end = DELTAWIRE_END_INIT;
    size_t consumed = 77;
    deltawire_parser *p;
    begin("deltawire_feed", "without callbacks", -1);
    p = make(512, NULL);
    is("feed", deltawire_feed(p, ONE_LONG, sizeof ONE_LONG - 1, NULL, NULL, &consumed), DELTAWIRE_OK);
    is("consumed", (long long)consumed, (long long)sizeof ONE_LONG - 1);
    is("finish", deltawire_finish(p, NULL, NULL), DELTAWIRE_OK);
    is("end", deltawire_end_of(p, &end), DELTAWIRE_OK);
    is("verdict", end.verdict, DELTAWIRE_VERDICT_FINISHED);
}

static void after_the_end(void) {
    deltawire_callbacks callbacks = taking();
    deltawire_end before = DELTAWIRE_END_INIT, after = DELTAWIRE_END_INIT;
    deltawire_event event;
    deltawire_batch_result result;
    struct text text = {{0}, 0, 0};
    unsigned char scratch[DELTAWIRE_SCRATCH_MIN];
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    size_t consumed = 77, off, len;
    deltawire_parser *p;
    begin("deltawire_finish", "and what is called after it", -1);
    config.read_len = 64;
    p = make(512, &config);
    is("feed", deltawire_feed(p, THREE, 100, &callbacks, &text, NULL), DELTAWIRE_OK);
    is("finish", deltawire_finish(p, &callbacks, &text), DELTAWIRE_OK);
    is("end", deltawire_end_of(p, &before), DELTAWIRE_OK);
    text.len = 0;
    is("finish again", deltawire_finish(p, &callbacks, &text), DELTAWIRE_OK);
    UNCHANGED("feed nothing", deltawire_feed(p, NULL, 0, &callbacks, &text, NULL), DELTAWIRE_E_STATE);
    UNCHANGED("feed", deltawire_feed(p, THREE, 10, &callbacks, &text, &consumed), DELTAWIRE_E_STATE);
    is("consumed", (long long)consumed, 0);
    UNCHANGED("batch", deltawire_batch(p, THREE, 10, &event, 1, scratch, sizeof scratch, &result), DELTAWIRE_E_STATE);
    is("events", (long long)result.events, 0);
    is("batch_finish", deltawire_batch_finish(p, &event, 1, scratch, sizeof scratch, &result), DELTAWIRE_OK);
    is("events", (long long)result.events, 0);
    UNCHANGED("reserve", deltawire_reserve(p, &off, &len), DELTAWIRE_E_STATE);
    UNCHANGED("commit", deltawire_commit(p, 0), DELTAWIRE_E_STATE);
    is("text", (long long)text.len, 0);
    is("end", deltawire_end_of(p, &after), DELTAWIRE_OK);
    is("the same end", memcmp(&before, &after, sizeof before), 0);
    after_reset(p);
}

/* Statuses of -100 and below persist: until the reset each call returns the same and calls nothing. */
static void sticky(void) {
    static const struct { int32_t answer; deltawire_status status; } answers[] = {
        {-1, DELTAWIRE_E_ABORTED},         {-2147483647 - 1, DELTAWIRE_E_ABORTED}, {DELTAWIRE_E_STRICT, DELTAWIRE_E_ABORTED},
        {3, DELTAWIRE_E_CALLBACK},         {2147483647, DELTAWIRE_E_CALLBACK}};
    size_t i;
    for (i = 0; i < sizeof answers / sizeof *answers; i++) {
        deltawire_callbacks callbacks = taking();
        deltawire_event event;
        deltawire_batch_result result;
        unsigned char scratch[DELTAWIRE_SCRATCH_MIN];
        struct text text = {{0}, 0, 0};
        size_t consumed = 77, first = 0;
        deltawire_status status = answers[i].status;
        deltawire_parser *p;
        begin("deltawire_feed", "a callback breaks off", (int)i);
        p = make(512, NULL);
        text.answer = answers[i].answer;
        is("feed", deltawire_feed(p, THREE, THREE_LEN, &callbacks, &text, &consumed), status);
        is("consumed is not over", consumed <= THREE_LEN, 1);
        is("user_code", deltawire_user_code(p), text.answer);
        is("error_offset", (long long)deltawire_error_offset(p), 0);
        is("error_quirk", deltawire_error_quirk(p), DELTAWIRE_QUIRKS);
        is("one call", text.len == 3, 1);
        first = text.len;
        is("feed again", deltawire_feed(p, THREE, THREE_LEN, &callbacks, &text, &consumed), status);
        is("consumed", (long long)consumed, 0);
        is("feed nothing", deltawire_feed(p, NULL, 0, &callbacks, &text, &consumed), status);
        is("finish", deltawire_finish(p, &callbacks, &text), status);
        is("batch", deltawire_batch(p, THREE, 10, &event, 1, scratch, sizeof scratch, &result), status);
        is("events", (long long)result.events, 0);
        is("batch_finish", deltawire_batch_finish(p, &event, 1, scratch, sizeof scratch, &result), status);
        is("user_code stays", deltawire_user_code(p), text.answer);
        is("nothing was called", text.len == first, 1);
        after_reset(p);
    }
}

/* In the middle of a payload the call looks only at the bytes, but still checks their number. */
static void in_a_payload(void) {
    deltawire_callbacks callbacks = taking();
    deltawire_event event;
    deltawire_batch_result result;
    unsigned char scratch[DELTAWIRE_SCRATCH_MIN];
    struct text text = {{0}, 0, 0};
    size_t consumed = 77;
    deltawire_parser *p;

    begin("deltawire_feed and deltawire_batch", "a length that no memory has, in the middle of a payload", -1);
    p = make(512, NULL);
    is("feed", deltawire_feed(p, THREE, 20, &callbacks, &text, &consumed), DELTAWIRE_OK);
    UNCHANGED("feed", deltawire_feed(p, THREE + 20, SIZE_MAX, &callbacks, &text, &consumed), DELTAWIRE_E_RANGE);
    UNCHANGED("batch", deltawire_batch(p, THREE + 20, SIZE_MAX, &event, 1, scratch, sizeof scratch, &result),
              DELTAWIRE_E_RANGE);
    is("feed", deltawire_feed(p, THREE + 20, THREE_LEN - 20, &callbacks, &text, &consumed), DELTAWIRE_OK);
    is("text", text.len == 11 && memcmp(text.bytes, "onetwothree", 11) == 0, 1);
    after_reset(p);
}

static void direct(void) {
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    deltawire_callbacks callbacks = taking();
    deltawire_event event;
    deltawire_batch_result result;
    unsigned char scratch[DELTAWIRE_SCRATCH_MIN];
    struct text text = {{0}, 0, 0};
    size_t off = 0, off2 = 0, len = 0, len2 = 0, at = 0, consumed = 77;
    deltawire_parser *p;

    begin("deltawire_reserve", "without read_len", -1);
    p = make(512, NULL);
    UNCHANGED("reserve", deltawire_reserve(p, &off, &len), DELTAWIRE_E_STATE);
    is("off and len", off == 0 && len == 0, 1);
    UNCHANGED("commit", deltawire_commit(p, 0), DELTAWIRE_E_STATE);
    works(p);

    begin("deltawire_commit", "wrong orders", -1);
    config.read_len = 64;
    p = make(512, &config);
    UNCHANGED("commit without reserve", deltawire_commit(p, 0), DELTAWIRE_E_STATE);
    UNCHANGED("commit without reserve", deltawire_commit(p, 1), DELTAWIRE_E_STATE);
    is("reserve", deltawire_reserve(p, &off, &len), DELTAWIRE_OK);
    is("at least read_len", len >= 64, 1);
    is("reserve twice", deltawire_reserve(p, &off2, &len2), DELTAWIRE_OK);
    is("the same place", off == off2 && len == len2, 1);
    UNCHANGED("commit too much", deltawire_commit(p, len + 1), DELTAWIRE_E_RANGE);
    UNCHANGED("commit far too much", deltawire_commit(p, SIZE_MAX), DELTAWIRE_E_RANGE);
    for (at = 0; at < THREE_LEN;) {
        size_t part = THREE_LEN - at < 20 ? THREE_LEN - at : 20;
        is("reserve", deltawire_reserve(p, &off, &len), DELTAWIRE_OK);
        if (len < part) break;
        memcpy((unsigned char *)p + off, THREE + at, part);
        is("commit", deltawire_commit(p, part), DELTAWIRE_OK);
        UNCHANGED("commit twice", deltawire_commit(p, 1), DELTAWIRE_E_STATE);
        UNCHANGED("reserve before it is spent", deltawire_reserve(p, &off, &len), DELTAWIRE_E_STATE);
        UNCHANGED("other bytes", deltawire_feed(p, THREE, 10, &callbacks, &text, &consumed), DELTAWIRE_E_STATE);
        is("consumed", (long long)consumed, 0);
        UNCHANGED("other bytes in a batch",
                  deltawire_batch(p, THREE, 10, &event, 1, scratch, sizeof scratch, &result), DELTAWIRE_E_STATE);
        is("events", result.events, 0);
        is("feed", deltawire_feed(p, NULL, 0, &callbacks, &text, &consumed), DELTAWIRE_OK);
        is("consumed", (long long)consumed, 0);
        at += part;
    }
    is("text", text.len == 11 && memcmp(text.bytes, "onetwothree", 11) == 0, 1);
    after_reset(p);

    begin("deltawire_commit", "behind a move", -1);
    {
        const size_t size = DELTAWIRE_BLOCK_SIZE(4096);
        deltawire_parser *q = NULL;
        p = make(512, &config);
        is("reserve", deltawire_reserve(p, &off, &len), DELTAWIRE_OK);
        is("move", deltawire_move(region("other", size, ON_SUCCESS, 0xC3), size, p, &q), DELTAWIRE_OK);
        require(q != NULL, "deltawire_move");
        UNCHANGED("what was reserved lies in the old block", deltawire_commit(q, 10), DELTAWIRE_E_STATE);
        is("the old one goes on", deltawire_commit(p, 0), DELTAWIRE_OK);
        is("reserve", deltawire_reserve(q, &off, &len), DELTAWIRE_OK);
        memcpy((unsigned char *)q + off, THREE, 20);
        is("commit", deltawire_commit(q, 20), DELTAWIRE_OK);
        /* Committed bytes move, too. */
        is("move", deltawire_move(region("third", size, ON_SUCCESS, 0xC3), size, q, &p), DELTAWIRE_OK);
        memset(q, 0xFF, size);
        text.len = 0;
        is("feed", deltawire_feed(p, NULL, 0, &callbacks, &text, NULL), DELTAWIRE_OK);
        is("feed", deltawire_feed(p, THREE + 20, THREE_LEN - 20, &callbacks, &text, NULL), DELTAWIRE_OK);
        is("text", text.len == 11 && memcmp(text.bytes, "onetwothree", 11) == 0, 1);
        after_reset(p);
    }

    begin("deltawire_commit", "the end comes while bytes are not spent", -1);
    p = parser(COMMITTED, NO_MISUSE);
    is_one_of("finish", deltawire_finish(p, &callbacks, &text), DELTAWIRE_E_STATE, DELTAWIRE_E_RESUME);
    is("feed", deltawire_feed(p, NULL, 0, &callbacks, &text, NULL), DELTAWIRE_OK);
    is("finish", deltawire_finish(p, &callbacks, &text), DELTAWIRE_OK);
    after_reset(p);
}

static void resume(void) {
    const size_t len = sizeof ONE_LONG - 1;
    deltawire_event events[40], event;
    deltawire_batch_result result;
    unsigned char scratch[256];
    deltawire_callbacks callbacks = taking();
    struct text text = {{0}, 0, 0};
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    size_t total, n = 0, at = 0, consumed = 77, off, room;
    deltawire_status status = DELTAWIRE_MORE;
    deltawire_parser *p;
    config.read_len = 64;

    begin("deltawire_batch", "fewer bytes than are pending", -1);
    p = make(512, &config);
    is("batch", deltawire_batch(p, ONE_LONG, len, events, 40, scratch, sizeof scratch, &result), DELTAWIRE_OK);
    total = result.events;
    is("there are events", total > 4, 1);
    is("reset", deltawire_reset(p), DELTAWIRE_OK);
    while (status == DELTAWIRE_MORE && n <= total) {
        status = deltawire_batch(p, ONE_LONG + at, len - at, &event, 1, scratch, sizeof scratch, &result);
        is("at most one event", result.events <= 1, 1);
        at += result.consumed;
        if (result.events == 1 && n < total) {
            is("the same event", event.kind == events[n].kind && event.text_len == events[n].text_len &&
                                     event.start == events[n].start && event.end == events[n].end, 1);
            n++;
        }
        if (status == DELTAWIRE_MORE && at < len) {
            UNCHANGED("no bytes", deltawire_batch(p, NULL, 0, &event, 1, scratch, sizeof scratch, &result),
                      DELTAWIRE_E_RESUME);
            is("events", result.events, 0);
            UNCHANGED("few bytes", deltawire_batch(p, ONE_LONG + at, 1, &event, 1, scratch, sizeof scratch, &result),
                      DELTAWIRE_E_RESUME);
            /* A part was emitted as events, so callbacks cannot emit the rest. */
            UNCHANGED("feed", deltawire_feed(p, ONE_LONG + at, len - at, &callbacks, &text, &consumed),
                      DELTAWIRE_E_STATE);
            is("consumed", (long long)consumed, 0);
            UNCHANGED("finish", deltawire_finish(p, &callbacks, &text), DELTAWIRE_E_STATE);
            UNCHANGED("reserve", deltawire_reserve(p, &off, &room), DELTAWIRE_E_STATE);
            freeze();
            is_one_of("batch_finish", deltawire_batch_finish(p, &event, 1, scratch, sizeof scratch, &result),
                      DELTAWIRE_E_RESUME, DELTAWIRE_E_STATE);
            compare(DELTAWIRE_E_RESUME);
        }
    }
    is("all came", (long long)n, (long long)total);
    is("all consumed", (long long)at, (long long)len);
    after_reset(p);

    begin("deltawire_feed", "fewer bytes than the event that comes again", -1);
    p = make(512, NULL);
    callbacks.on_chunk = answer;
    text.answer = DELTAWIRE_AGAIN, text.len = 0;
    is("again", deltawire_feed(p, ONE_LONG, len, &callbacks, &text, &consumed), DELTAWIRE_PAUSED);
    is("nothing came", text.len == 0 && consumed < len, 1);
    UNCHANGED("no bytes", deltawire_feed(p, NULL, 0, &callbacks, &text, NULL), DELTAWIRE_E_RESUME);
    UNCHANGED("finish", deltawire_finish(p, &callbacks, &text), DELTAWIRE_E_RESUME);
    is("again", deltawire_feed(p, ONE_LONG + consumed, len - consumed, &callbacks, &text, &at), DELTAWIRE_PAUSED);
    consumed += at;
    text.answer = DELTAWIRE_GO_ON;
    is("feed", deltawire_feed(p, ONE_LONG + consumed, len - consumed, &callbacks, &text, &at), DELTAWIRE_OK);
    is("consumed", (long long)(consumed + at), (long long)len);
    is("text", (long long)text.len, 3);
    after_reset(p);

    begin("deltawire_feed", "a pause", -1);
    p = make(512, NULL);
    callbacks = taking();
    text.answer = DELTAWIRE_PAUSE, text.len = 0;
    at = 0, n = 0;
    do {
        status = deltawire_feed(p, THREE + at, THREE_LEN - at, &callbacks, &text, &consumed);
        at += consumed, n++;
    } while (status == DELTAWIRE_PAUSED && n < 10);
    is("feed", status, DELTAWIRE_OK);
    is("text", text.len == 11 && memcmp(text.bytes, "onetwothree", 11) == 0, 1);
    is("consumed", (long long)at, (long long)THREE_LEN);
    is_one_of("calls", (long long)n, 4, 3);
}

/* Bytes that are passed again must be the same bytes. In an event of less than a kilobyte each different byte is detected. */
static void other_bytes(void) {
    static char other[40000];
    const size_t len = sizeof ONE_LONG - 1;
    deltawire_event event;
    deltawire_batch_result result;
    unsigned char scratch[DELTAWIRE_SCRATCH_MIN];
    deltawire_callbacks callbacks = DELTAWIRE_CALLBACKS_INIT;
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    struct text text = {{0}, 0, 0};
    size_t i, n, at = 0, consumed = 0, off, room, size;
    deltawire_status status;
    deltawire_parser *p, *q = NULL;
    void *block;

    begin("deltawire_batch", "other bytes than those of the pending event", -1);
    p = make(512, NULL);
    is("batch", deltawire_batch(p, ONE_LONG, len, &event, 1, scratch, sizeof scratch, &result), DELTAWIRE_MORE);
    is("consumed", (long long)result.consumed, 0);
    for (i = 0; i < len; i++) {
        memcpy(other, ONE_LONG, len);
        other[i] ^= 1;
        UNCHANGED("another byte", deltawire_batch(p, other, len, &event, 1, scratch, sizeof scratch, &result),
                  DELTAWIRE_E_RESUME);
    }
    for (status = DELTAWIRE_MORE; status == DELTAWIRE_MORE; at += result.consumed)
        status = deltawire_batch(p, ONE_LONG + at, len - at, &event, 1, scratch, sizeof scratch, &result);
    is("the same bytes", status, DELTAWIRE_OK);
    after_reset(p);

    begin("deltawire_feed", "other bytes than those of the event that comes again", -1);
    p = make(512, NULL);
    callbacks.on_chunk = answer;
    text.answer = DELTAWIRE_AGAIN;
    is("again", deltawire_feed(p, ONE_LONG, len, &callbacks, &text, &consumed), DELTAWIRE_PAUSED);
    UNCHANGED("others", deltawire_feed(p, ONE_LONG + 1, len - 1, &callbacks, &text, NULL), DELTAWIRE_E_RESUME);
    UNCHANGED("others", deltawire_feed(p, other, len, &callbacks, &text, NULL), DELTAWIRE_E_RESUME);
    text.answer = DELTAWIRE_GO_ON;
    is("more behind it", deltawire_feed(p, ONE_LONG, len, &callbacks, &text, &consumed), DELTAWIRE_OK);
    after_reset(p);

    /* A long event: the bytes that are passed again are of another event, begin elsewhere, or were overwritten. */
    begin("deltawire_feed", "other bytes than those of a long event", -1);
    n = (size_t)snprintf(other, sizeof other, "data: {\"choices\":[{\"delta\":{\"content\":\"%030000d\"}}]}\n\n", 7);
    p = make(40000, NULL);
    text.answer = DELTAWIRE_AGAIN;
    is("again", deltawire_feed(p, other, n, &callbacks, &text, &consumed), DELTAWIRE_PAUSED);
    UNCHANGED("shifted", deltawire_feed(p, other + 1, n, &callbacks, &text, NULL), DELTAWIRE_E_RESUME);
    UNCHANGED("fewer", deltawire_feed(p, other, n - 1, &callbacks, &text, NULL), DELTAWIRE_E_RESUME);
    memset(other + 20000, '1', 1000);
    UNCHANGED("overwritten", deltawire_feed(p, other, n, &callbacks, &text, NULL), DELTAWIRE_E_RESUME);
    memset(other + 20000, '0', 1000);
    text.answer = DELTAWIRE_GO_ON;
    is("the same bytes", deltawire_feed(p, other, n, &callbacks, &text, NULL), DELTAWIRE_OK);
    after_reset(p);

    begin("deltawire_feed", "other bytes than those that the block had no room for", -1);
    config.flags = DELTAWIRE_CFG_GROW, config.read_len = 64;
    size = deltawire_block_size(&config, 16);
    p = NULL, block = region("parser", size, NO_MISUSE, 0);
    require(deltawire_init(block, size, &config, &p) == DELTAWIRE_OK && p != NULL, "deltawire_init");
    is("feed", deltawire_feed(p, ONE_LONG, 100, &callbacks, &text, &consumed), DELTAWIRE_NEED_STORAGE);
    UNCHANGED("others", deltawire_feed(p, THREE + consumed, 100 - consumed, &callbacks, &text, NULL), DELTAWIRE_E_RESUME);
    UNCHANGED("fewer", deltawire_feed(p, ONE_LONG + consumed, 99 - consumed, &callbacks, &text, NULL),
              DELTAWIRE_E_RESUME);
    UNCHANGED("none", deltawire_batch(p, NULL, 0, &event, 1, scratch, sizeof scratch, &result), DELTAWIRE_E_RESUME);
    UNCHANGED("reserve", deltawire_reserve(p, &off, &room), DELTAWIRE_E_STATE);
    size = deltawire_need(p);
    is("move", deltawire_move(region("big", size, NO_MISUSE, 0), size, p, &q), DELTAWIRE_OK);
    require(q != NULL, "deltawire_move");
    UNCHANGED("others", deltawire_feed(q, THREE + consumed, 100 - consumed, &callbacks, &text, NULL), DELTAWIRE_E_RESUME);
    is("the same", deltawire_feed(q, ONE_LONG + consumed, 100 - consumed, &callbacks, &text, NULL), DELTAWIRE_OK);
    is("reserve", deltawire_reserve(q, &off, &room), DELTAWIRE_OK);
    is("the end may come instead", deltawire_finish(p, &callbacks, &text), DELTAWIRE_OK);
    after_reset(q);
}

/* ---- batches, then callbacks: feed emits what did not fit into the array */

struct frames {
    uint64_t ends[16];
    size_t count;
};
static int32_t on_frame(void *user, const deltawire_at *at) {
    struct frames *frames = user;
    if (frames->count < 16) frames->ends[frames->count++] = at->end;
    return DELTAWIRE_GO_ON;
}

static void mixed(void) {
    /* Blocks without events are frames, too. */
    static const char stream[] = "data: [DONE]\n\nretry:\n\nretry\n\nretry: \n\n";
    static const uint64_t ends[] = {14, 22, 29, 38};
    const size_t len = sizeof stream - 1;
    size_t cap, batches, i;
    for (cap = 1; cap <= 4; cap++) {
        for (batches = 0; batches <= 8; batches++) {
            deltawire_config config = DELTAWIRE_CONFIG_INIT;
            deltawire_callbacks callbacks = DELTAWIRE_CALLBACKS_INIT;
            deltawire_event events[4];
            deltawire_batch_result result;
            unsigned char scratch[DELTAWIRE_SCRATCH_MIN];
            deltawire_status status = DELTAWIRE_MORE;
            struct frames frames = {{0}, 0};
            size_t at = 0, done = 0, consumed;
            deltawire_parser *p;
            begin("deltawire_feed", "behind batches", -1);
            config.events = DELTAWIRE_MASK(DELTAWIRE_EV_FRAME) | DELTAWIRE_MASK(DELTAWIRE_EV_DONE);
            callbacks.on_frame = on_frame;
            p = make(512, &config);
            /* So many batches, and more until a feed is allowed. */
            while (status == DELTAWIRE_MORE && done++ < 20) {
                if (done > batches) {
                    status = deltawire_feed(p, stream + at, len - at, &callbacks, &frames, &consumed);
                    if (status == DELTAWIRE_OK) break;
                    is("feed", status, DELTAWIRE_E_STATE);
                }
                status = deltawire_batch(p, stream + at, len - at, events, cap, scratch, sizeof scratch, &result);
                at += result.consumed;
                for (i = 0; i < result.events; i++) {
                    if (events[i].kind == DELTAWIRE_EV_FRAME && frames.count < 16) frames.ends[frames.count++] = events[i].end;
                }
            }
            is("the last call", status, DELTAWIRE_OK);
            is("finish", deltawire_finish(p, &callbacks, &frames), DELTAWIRE_OK);
            is("frames", (long long)frames.count, 4);
            for (i = 0; i < 4; i++) is("the end of a frame", (long long)frames.ends[i], (long long)ends[i]);
        }
    }
}

int main(void) {
    nothing_came();
    no_callbacks();
    after_the_end();
    resets();
    sticky();
    in_a_payload();
    direct();
    resume();
    other_bytes();
    mixed();
    return summary("wrong orders");
}
