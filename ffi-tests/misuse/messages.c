/* Random walks of an assembler: any calls in any order, with streams of any events. The fuzz target capi does the same with any
 * bytes. */
#include "common.h"

/* Equal seeds give equal walks. */
static uint64_t state;
static void chance_from(uint64_t seed) { state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1; }
static uint32_t random_below(uint32_t n) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return n == 0 ? 0 : (uint32_t)((state >> 16) % n);
}
static int one_in(uint32_t n) { return random_below(n) == 0; }

static void holds(int condition, const char *what) {
    if (!condition) fault(what, 0, 1);
}

#define DELTA(members) "{\"id\":\"i\",\"choices\":[{\"index\":1,\"delta\":{" members "}}]}"
static const char *const TEXTS[] = {
    DELTA("\"role\":\"assistant\",\"content\":\"a text\""), DELTA("\"reasoning\":\"\xF0\x9F\x98\x80 b\xFF\",\"audio\":{\"data\":\"eA==\"}"),
    DELTA("\"tool_calls\":[{\"index\":2,\"id\":\"t\",\"x\":1,\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]"),
    DELTA("\"tool_calls\":[{\"index\":2,\"function\":{\"arguments\":\"}\"}}]"), DELTA("\"images\":[1],\"refusal\":\"no\""),
    "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"whole\"},\"logprobs\":{\"content\":[]},\"finish_reason\":\"stop\"}]}",
    "{\"choices\":[],\"usage\":{\"prompt_tokens\":1},\"timings\":{\"a\":[1,2]}}", "{\"error\":{\"message\":\"h\",\"code\":3}}",
    "[1,2]", "{", "", "null", "[DONE]", "{\"choices\":[{\"index\":99,\"delta\":{\"content\":\"c\"}},{\"index\":-1}]}",
};
static const deltawire_status ANSWERS[] = {DELTAWIRE_OK, DELTAWIRE_MORE, DELTAWIRE_NEED_STORAGE, DELTAWIRE_E_STATE, 999};

static deltawire_message *move_message(deltawire_message *m, size_t *size) {
    deltawire_message *to = NULL;
    size_t need = deltawire_message_need(m);
    void *block;
    if (one_in(2)) {
        block = region("message", *size, NO_MISUSE, 0);
        memcpy(block, m, *size);
        release(m);
        return block;
    }
    holds(need % 8 == 0, "deltawire_message_need");
    if (one_in(2)) need += random_below(40) * 8;
    block = region("message", need, NO_MISUSE, 0xC3);
    holds(deltawire_message_move(block, need, m, &to) == DELTAWIRE_OK, "deltawire_message_move");
    require(to != NULL, "deltawire_message_move");
    release(m);
    *size = need;
    return to;
}

/* Reads an event into the message, whose block may grow meanwhile. */
static deltawire_message *feed_event(deltawire_message *m, deltawire_parser *p, size_t *size) {
    const char *text = TEXTS[random_below(sizeof TEXTS / sizeof *TEXTS)];
    size_t len = strlen(text) + 8, at = 0, consumed = 0;
    char *data = region("data", len, NEVER, 0);
    deltawire_event *events = region("events", 2 * sizeof *events, ANY_TIME, 0);
    char *scratch = region("scratch", 256, ANY_TIME, 0);
    deltawire_batch_result result;
    deltawire_status status;
    memcpy(data, "data: ", 6), memcpy(data + 6, text, len - 8), memcpy(data + len - 2, "\n\n", 2);
    do {
        freeze();
        if (one_in(2)) {
            status = deltawire_message_batch(m, p, NULL, data + at, len - at, events, 2, scratch, 256, &result);
            consumed = result.consumed;
        } else {
            status = deltawire_message_feed(m, p, NULL, data + at, len - at, NULL, NULL, &consumed);
        }
        compare(status);
        /* What a batch left pending only a batch goes on with, and the other way round. */
        judge(status, ANSWERS, DOCUMENTED);
        if (status < 0) continue;
        at += consumed;
        holds(deltawire_message_is_full(m) == (status == DELTAWIRE_NEED_STORAGE), "deltawire_message_is_full");
        if (status == DELTAWIRE_NEED_STORAGE) {
            size_t need = deltawire_message_need(m);
            holds(need > *size, "deltawire_message_need");
            m = move_message(m, size);
        }
    } while (status != DELTAWIRE_OK);
    holds(at == len, "consumed");
    release(data), release(events), release(scratch);
    return m;
}

static void look(const deltawire_message *m) {
    static const deltawire_status answers[] = {DELTAWIRE_OK, DELTAWIRE_ABSENT, DELTAWIRE_E_SMALL, 999};
    uint32_t index, n, flags = random_below(2);
    size_t cap = random_below(60), need = 0, need2 = 0;
    char *buffer = region("buffer", cap, ON_SUCCESS, 0xC3);
    deltawire_status status;
    freeze();
    status = deltawire_message_text(m, random_below(30), random_below(5), random_below(3), buffer, cap, &need);
    compare(status);
    judge(status, answers, DOCUMENTED);
    holds((status != DELTAWIRE_OK || need <= cap) && (status != DELTAWIRE_E_SMALL || need > cap), "need");
    freeze();
    status = deltawire_message_json(m, flags, buffer, cap, &need);
    compare(status);
    judge(status, answers, DOCUMENTED);
    release(buffer);
    buffer = region("buffer", need, ON_SUCCESS, 0xC3);
    status = deltawire_message_json(m, flags, buffer, need, &need2);
    holds(status == DELTAWIRE_OK && need2 == need, "deltawire_message_json");
    for (n = 0; n < deltawire_message_choices(m); n++) {
        holds(deltawire_message_choice_index(m, n, &index) == DELTAWIRE_OK, "deltawire_message_choice_index");
        holds(deltawire_message_calls(m, index) <= DELTAWIRE_DEFAULT_TOOL_CALLS, "deltawire_message_calls");
    }
    holds(deltawire_message_choice_index(m, n, &index) == DELTAWIRE_ABSENT && n <= DELTAWIRE_DEFAULT_CHOICES, "choices");
    holds(deltawire_message_limit(m) <= 10, "deltawire_message_limit");
    release(buffer);
}

static void misuse(uint64_t seed) {
    size_t size, steps;
    deltawire_message *m = NULL;
    deltawire_parser *p = NULL;
    static DELTAWIRE_BLOCK(block, 2048);
    char name[40];
    chance_from(seed);
    snprintf(name, sizeof name, "message misuse %llu", (unsigned long long)seed);
    begin(name, "any calls", -1);
    size = deltawire_message_size(NULL, random_below(300));
    require(deltawire_message_init(region("message", size, NO_MISUSE, 0), size, NULL, &m) == DELTAWIRE_OK, "init");
    require(deltawire_init(&block, sizeof block, NULL, &p) == DELTAWIRE_OK, "init");
    for (steps = 0; steps < 60; steps++) {
        uint32_t what = random_below(100);
        if (what < 65) m = feed_event(m, p, &size);
        else if (what < 80) m = move_message(m, &size);
        else if (what < 98) look(m);
        else holds(deltawire_message_reset(m) == DELTAWIRE_OK, "deltawire_message_reset");
    }
}

int main(void) {
    uint64_t seed;
    for (seed = 0; seed < 300; seed++) misuse(seed);
    return summary("random walks of an assembler");
}
