/* The meter of mode USAGE: nothing is counted twice or lost, however a call stops and however the block moves. */
#include "common.h"

#define DELTA(members) "data: {\"id\":\"r\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{" members "}}]}\n\n"
/* Each event has several kinds of deltas, so that a call can stop inside each of them; escapes go through the scratch. */
static const char METERED[] =
    ": a comment\n\n"
    DELTA("\"role\":\"assistant\",\"content\":\"\"")
    DELTA("\"content\":\"one \\u00e4\\ud83d\\ude00 and more text than there is room for in the least scratch of a batch, \\n\","
          "\"reasoning_content\":\"two\",\"refusal\":\"three\"")
    DELTA("\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}},"
          "{\"index\":1,\"id\":\"d\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]")
    DELTA("\"content\":\"\\ud83d\"") DELTA("\"content\":\"\\ude00\"")
    DELTA("\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"}\"}}]")
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":3}}\n\n"
    "data: {\"error\":{\"type\":\"overloaded\",\"message\":\"m\"}}\n\n"
    "data: [DONE]\n\n";
enum { METERED_LEN = sizeof METERED - 1 };

static deltawire_config usage_mode(void) {
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    config.mode = DELTAWIRE_MODE_USAGE;
    return config;
}

static deltawire_meter meter_of(const deltawire_parser *p) {
    deltawire_meter meter = DELTAWIRE_METER_INIT;
    is("meter_of", deltawire_meter_of(p, &meter), DELTAWIRE_OK);
    return meter;
}

/* A parser that one call gave the first `len` bytes. The next call here overwrites its block. */
static deltawire_meter in_one_call(size_t len, int to_the_end) {
    static uint64_t block[(DELTAWIRE_BLOCK_SIZE(2048) + DELTAWIRE_METER_SIZE) / 8];
    deltawire_config config = usage_mode();
    deltawire_parser *p = NULL;
    require(deltawire_init(block, sizeof block, &config, &p) == DELTAWIRE_OK && p != NULL, "deltawire_init");
    is("feed", deltawire_feed(p, METERED, len, NULL, NULL, NULL), DELTAWIRE_OK);
    if (to_the_end) is("finish", deltawire_finish(p, NULL, NULL), DELTAWIRE_OK);
    return meter_of(p);
}

static void what_it_has(void) {
    deltawire_meter m;
    begin("deltawire_meter_of", "one call", -1);
    m = in_one_call(METERED_LEN, 1);
    is("events", (long long)m.events, 9);
    is("token events", (long long)m.token_events, 4); /* half a character is none until its other half comes */
    is("content", m.content.bytes == 86 && m.content.chars == 79, 1);
    is("reasoning, refusal", m.reasoning.bytes == 3 && m.refusal.bytes == 5, 1);
    is("arguments", (long long)m.arguments.bytes, 4);
    is("calls", m.calls == 2 && m.names == 2 && m.call_names[0].ptr[0] == 'f' && m.call_names[1].ptr[0] == 'g', 1);
    is("first", m.first.kind == DELTAWIRE_TOKEN_REASONING && m.first.event == 2, 1); /* it comes before content */
    is("last", m.last.kind == DELTAWIRE_TOKEN_CALL && m.last.event == 6, 1);
    is("finish", m.finish == DELTAWIRE_FINISH_TOOL_CALLS && m.finish_reason.len == 10, 1);
    is("error", m.error.len == 10 && memcmp(m.error.ptr, "overloaded", 10) == 0, 1);
    is("usage", m.usage.has == DELTAWIRE_HAS_PROMPT && m.usage.prompt == 3 && m.iterations.has == 0, 1);
}

static void without(void) {
    uint32_t mode;
    for (mode = DELTAWIRE_MODE_CHAT; mode <= DELTAWIRE_MODE_USAGE; mode++) {
        deltawire_config config = DELTAWIRE_CONFIG_INIT;
        deltawire_meter *out;
        deltawire_parser *p;
        size_t size, least;
        begin("deltawire_meter_of", "in each mode", (int)mode);
        config.mode = mode, config.read_len = 64;
        p = make(512, &config);
        out = region("out", sizeof *out, ON_SUCCESS, 0xC3);
        out->size = sizeof *out;
        UNCHANGED("NULL", deltawire_meter_of(p, NULL), DELTAWIRE_E_NULL);
        UNCHANGED("no parser", deltawire_meter_of(NULL, out), DELTAWIRE_E_NULL);
        if (mode != DELTAWIRE_MODE_USAGE) UNCHANGED("no meter", deltawire_meter_of(p, out), DELTAWIRE_E_STATE);
        else is("nothing came", deltawire_meter_of(p, out) == DELTAWIRE_OK && out->events == 0 && out->first.event == 0, 1);
        /* The block is larger by the meter alone. */
        size = deltawire_block_size(&config, 512);
        config.mode = DELTAWIRE_MODE_CHAT;
        least = deltawire_block_size(&config, 512);
        is("size", size - least <= DELTAWIRE_METER_SIZE && (size > least) == (mode == DELTAWIRE_MODE_USAGE), 1);
    }
}

/* ---- calls that stop */

/* A batch of so few events that it is full inside an event, of so little scratch that texts come in pieces. */
static void full_batches(void) {
    const deltawire_meter whole = in_one_call(METERED_LEN, 1);
    size_t cap;
    for (cap = 1; cap <= 4; cap++) {
        deltawire_config config = usage_mode();
        deltawire_event events[4];
        deltawire_batch_result result;
        unsigned char scratch[DELTAWIRE_SCRATCH_MIN], others[8] = {0};
        size_t at = 0, calls = 0, i;
        deltawire_status status = DELTAWIRE_MORE;
        deltawire_meter before, m;
        deltawire_parser *p;
        begin("deltawire_meter_of", "batches that are full inside an event", (int)cap);
        if (cap == 4) config.events = DELTAWIRE_MASK(DELTAWIRE_EV_CONTENT);
        p = make(512, &config);
        before = meter_of(p);
        while (status == DELTAWIRE_MORE && calls++ < 200) {
            status = deltawire_batch(p, METERED + at, METERED_LEN - at, events, cap, scratch, sizeof scratch, &result);
            at += result.consumed;
            for (i = 0; config.events != 0 && i < result.events; i++)
                is("the meter brings no other events", events[i].kind, DELTAWIRE_EV_CONTENT);
            m = meter_of(p);
            is("it only grows", before.events <= m.events && before.token_events <= m.token_events &&
                                    before.content.bytes <= m.content.bytes && before.calls <= m.calls, 1);
            is("it never has too much", m.events <= whole.events && m.content.bytes <= whole.content.bytes &&
                                            m.arguments.bytes <= whole.arguments.bytes && m.calls <= whole.calls, 1);
            before = m;
            if (status == DELTAWIRE_MORE && result.consumed == 0) {
                /* In the middle of an event other calls are refused, and count nothing. */
                is("other bytes", deltawire_batch(p, others, 8, events, cap, scratch, sizeof scratch, &result), DELTAWIRE_E_RESUME);
                is("a feed", deltawire_feed(p, METERED + at, METERED_LEN - at, NULL, NULL, NULL), DELTAWIRE_E_STATE);
                is("nothing changed", same_meter(m, meter_of(p)), 1);
            }
        }
        is("batch", status, DELTAWIRE_OK);
        is("there were several", calls > 4 || cap == 4, 1);
        while ((status = deltawire_batch_finish(p, events, cap, scratch, sizeof scratch, &result)) == DELTAWIRE_MORE) continue;
        is("finish", status, DELTAWIRE_OK);
        is("the same meter", same_meter(whole, meter_of(p)), 1);
    }
}

/* Every second call asks for the event again, or for a pause after it. */
static struct stopping {
    int32_t answer;
    unsigned calls, every;
} stopping;

static int32_t stop(void) { return ++stopping.calls % stopping.every == 0 ? stopping.answer : DELTAWIRE_GO_ON; }
static int32_t stop_at(void *user, const deltawire_at *at) { (void)user, (void)at; return stop(); }
static int32_t stop_text(void *user, const deltawire_at *at, const char *text, size_t len) {
    (void)user, (void)at, (void)text, (void)len;
    return stop();
}
static int32_t stop_call(void *user, const deltawire_at *at, const deltawire_value *id, const deltawire_value *type) {
    (void)user, (void)at, (void)id, (void)type;
    return stop();
}
static deltawire_callbacks stopping_by(int32_t with, unsigned every) {
    deltawire_callbacks callbacks = DELTAWIRE_CALLBACKS_INIT;
    callbacks.on_chunk = callbacks.on_done = callbacks.on_frame = stop_at;
    callbacks.on_content = callbacks.on_reasoning = callbacks.on_refusal = callbacks.on_tool_name = stop_text;
    callbacks.on_tool_arguments = callbacks.on_finish = stop_text;
    callbacks.on_tool_call = stop_call;
    stopping.answer = with, stopping.calls = 0, stopping.every = every;
    return callbacks;
}

static void paused_and_again(void) {
    static const int32_t answers[] = {DELTAWIRE_AGAIN, DELTAWIRE_PAUSE};
    const deltawire_meter whole = in_one_call(METERED_LEN, 1);
    unsigned every;
    size_t i;
    for (i = 0; i < 2; i++) {
        for (every = 2; every <= 5; every++) {
            deltawire_callbacks callbacks = stopping_by(answers[i], every);
            deltawire_config config = usage_mode();
            deltawire_parser *p;
            deltawire_status status = DELTAWIRE_PAUSED;
            size_t at = 0, consumed, pauses = 0;
            begin("deltawire_meter_of", i ? "pauses" : "callbacks that are called again", (int)every);
            p = make(512, &config);
            for (; status == DELTAWIRE_PAUSED && pauses < 200; pauses++, at += consumed)
                status = deltawire_feed(p, METERED + at, METERED_LEN - at, &callbacks, NULL, &consumed);
            is("feed", status, DELTAWIRE_OK);
            is("there were pauses", pauses > 3, 1);
            while ((status = deltawire_finish(p, &callbacks, NULL)) == DELTAWIRE_PAUSED) continue;
            is("finish", status, DELTAWIRE_OK);
            is("the same meter", same_meter(whole, meter_of(p)), 1);
        }
    }
}

/* After a callback broke off, the meter has what came up to there, and calls that are refused change nothing. */
static void broken_off(void) {
    deltawire_callbacks callbacks = taking();
    deltawire_config config = usage_mode();
    struct text text = {{0}, 0, -7};
    deltawire_meter m;
    deltawire_parser *p;
    begin("deltawire_meter_of", "a callback breaks off", -1);
    p = make(512, &config);
    is("feed", deltawire_feed(p, METERED, METERED_LEN, &callbacks, &text, NULL), DELTAWIRE_E_ABORTED);
    m = meter_of(p);
    is("events", m.events == 2 && m.token_events == 1 && m.last.event == 2 && m.calls == 0 && m.error.len == 0, 1);
    is("what was given out", m.content.bytes == 82 && m.reasoning.bytes == 3 && m.refusal.bytes == 0, 1);
    is("feed", deltawire_feed(p, METERED, METERED_LEN, &callbacks, &text, NULL), DELTAWIRE_E_ABORTED);
    is("finish", deltawire_finish(p, NULL, NULL), DELTAWIRE_E_ABORTED);
    is("nothing changed", same_meter(m, meter_of(p)), 1);
    is("reset", deltawire_reset(p), DELTAWIRE_OK);
    m = meter_of(p);
    is("after a reset", m.events == 0 && m.first.event == 0 && m.content.chars == 0 && m.model.len == 0, 1);
    is("feed", deltawire_feed(p, METERED, METERED_LEN, NULL, NULL, NULL), DELTAWIRE_OK);
    is("finish", deltawire_finish(p, NULL, NULL), DELTAWIRE_OK);
    is("finish twice", deltawire_finish(p, NULL, NULL), DELTAWIRE_OK);
    is("feed", deltawire_feed(p, METERED, 100, NULL, NULL, NULL), DELTAWIRE_E_STATE);
    is("the same meter", same_meter(in_one_call(METERED_LEN, 1), meter_of(p)), 1);
}

/* ---- blocks that move */

/* At each cut: a block that grows as often as it must, then moves, shrinks and is copied. */
static void moved(void) {
    size_t cut, grown = 0;
    for (cut = 0; cut <= METERED_LEN; cut += 1 + cut % 3) {
        deltawire_config config = usage_mode();
        deltawire_parser *p = NULL, *q = NULL;
        deltawire_status status = DELTAWIRE_OK;
        deltawire_meter so_far;
        size_t size, at = 0, consumed;
        void *copy;
        begin("deltawire_meter_of", "in a block that moves", -1);
        config.flags = DELTAWIRE_CFG_GROW;
        size = deltawire_block_size(&config, 16);
        require(deltawire_init(region("parser", size, NO_MISUSE, 0), size, &config, &p) == DELTAWIRE_OK && p != NULL, "init");
        while (at < cut || status == DELTAWIRE_NEED_STORAGE) {
            size_t part = cut - at < 50 ? cut - at : 50;
            status = deltawire_feed(p, METERED + at, part, NULL, NULL, &consumed);
            at += consumed;
            if (status != DELTAWIRE_NEED_STORAGE) continue;
            grown++, size = deltawire_need(p);
            is("move", deltawire_move(region("larger", size, NO_MISUSE, 0xC3), size, p, &q), DELTAWIRE_OK);
            release(p), p = q;
        }
        so_far = in_one_call(cut, 0);
        is("the same meter", same_meter(so_far, meter_of(p)), 1);
        /* Its texts are in the new block. */
        is("move", deltawire_move(region("other", size + 64, NO_MISUSE, 0xC3), size + 64, p, &q), DELTAWIRE_OK);
        release(p);
        is("moved", same_meter(so_far, meter_of(q)), 1);
        size = deltawire_need(q);
        UNCHANGED("too small", deltawire_resize(q, size - 8), DELTAWIRE_E_SMALL);
        is("resize", deltawire_resize(q, size), DELTAWIRE_OK);
        is("resized", same_meter(so_far, meter_of(q)), 1);
        copy = region("copy", size, NO_MISUSE, 0);
        memcpy(copy, q, size);
        release(q);
        is("copied", same_meter(so_far, meter_of(copy)), 1);
        is("finish", deltawire_finish(copy, NULL, NULL), DELTAWIRE_OK);
        is("the same end", same_meter(in_one_call(cut, 1), meter_of(copy)), 1);
    }
    is("some blocks grew", grown > 100, 1);
}

int main(void) {
    what_it_has();
    without();
    full_batches();
    paused_and_again();
    broken_off();
    moved();
    return summary("meters");
}
