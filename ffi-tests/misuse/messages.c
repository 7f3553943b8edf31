/* Random walks of an assembler: any calls in any order, with events of any kind and any text, whole and in pieces. The fuzz target
 * capi does the same with parsers, and with the events that they emit. */
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

static const char *const TEXTS[] = {
    "a text", "{\"prompt_tokens\":1}", "{\"message\":\"h\",\"code\":3}", "[1,2]", "{", "\xF0\x9F\x98\x80 b\xFF", "", "null",
    "{\"content\":\"whole\",\"tool_calls\":[{\"id\":\"t\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}",
    "{\"id\":\"i\",\"data\":\"eA==\"}", "{\"content\":[{\"token\":\"a\",\"logprob\":-1}]}", "stop",
};
static const deltawire_status ANSWERS[] = {DELTAWIRE_OK, DELTAWIRE_NEED_STORAGE, 999};

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

static uint32_t any_flags(void) { return random_below(1024) & ~(uint32_t)(one_in(3) ? 0 : DELTAWIRE_EVF_MORE); }

static void add_events(deltawire_message *m) {
    size_t n = random_below(4), i, taken = 77;
    deltawire_event *events = region("events", n * sizeof *events, NEVER, 0);
    const char *text = TEXTS[random_below(sizeof TEXTS / sizeof *TEXTS)];
    size_t len = strlen(text);
    char *data = region("data", len, NEVER, 0), *scratch = region("scratch", len, NEVER, 0);
    deltawire_status status;
    memcpy(data, text, len), memcpy(scratch, text, len);
    for (i = 0; i < n; i++) {
        uint32_t from = one_in(2) ? 0 : random_below((uint32_t)len + 1);
        events[i].kind = (uint16_t)(one_in(5) ? random_below(70) : DELTAWIRE_EV_CHUNK + random_below(17));
        events[i].flags = (uint16_t)any_flags();
        events[i].choice = one_in(9) ? UINT32_MAX : random_below(3), events[i].call = random_below(3);
        events[i].code = random_below(8), events[i].number = random_below(3);
        events[i].text_off = from, events[i].text_len = (uint32_t)len - from;
        if (one_in(3)) events[i].text_len = random_below((uint32_t)len - from + 1);
        if (one_in(3)) events[i].aux_off = from, events[i].aux_len = events[i].text_len;
    }
    freeze();
    status = deltawire_message_add(m, events, n, data, scratch, &taken);
    compare(status);
    judge(status, ANSWERS, DOCUMENTED);
    holds(taken <= n && (status != DELTAWIRE_OK || taken == n), "taken");
    release(events), release(data), release(scratch);
}

/* Adds events by callbacks. */
static void call_back(deltawire_message *m) {
    const deltawire_callbacks *callbacks = deltawire_message_callbacks();
    const char *text = TEXTS[random_below(sizeof TEXTS / sizeof *TEXTS)];
    size_t len = strlen(text);
    char *data = region("data", len, NEVER, 0);
    deltawire_value value_, none;
    deltawire_at at;
    int32_t answer;
    memcpy(data, text, len);
    memset(&at, 0, sizeof at), memset(&none, 0, sizeof none);
    if (deltawire_value_open(data, len, &value_) != DELTAWIRE_OK) value_ = none;
    at.size = sizeof at, at.kind = DELTAWIRE_EV_ROLE + random_below(16), at.flags = any_flags();
    at.choice = random_below(3), at.call = random_below(3), at.code = random_below(8), at.number = random_below(3);
    freeze();
    if (one_in(4)) answer = callbacks->on_tool_call(m, &at, one_in(2) ? &none : &value_, one_in(2) ? &none : &value_);
    else if (one_in(2)) answer = callbacks->on_usage(m, &at, &value_);
    else answer = callbacks->on_content(m, &at, data, len);
    compare(answer);
    holds(answer == DELTAWIRE_GO_ON || answer == DELTAWIRE_AGAIN, "a callback's answer");
    holds(deltawire_message_is_full(m) == (answer == DELTAWIRE_AGAIN), "deltawire_message_is_full");
    release(data);
}

static void look(const deltawire_message *m) {
    static const deltawire_status answers[] = {DELTAWIRE_OK, DELTAWIRE_ABSENT, DELTAWIRE_E_SMALL, 999};
    uint32_t index, n;
    size_t cap = random_below(60), need = 0, need2 = 0;
    char *buffer = region("buffer", cap, ON_SUCCESS, 0xC3);
    deltawire_status status;
    freeze();
    status = deltawire_message_text(m, random_below(30), random_below(5), random_below(3), buffer, cap, &need);
    compare(status);
    judge(status, answers, DOCUMENTED);
    holds((status != DELTAWIRE_OK || need <= cap) && (status != DELTAWIRE_E_SMALL || need > cap), "need");
    freeze();
    status = deltawire_message_json(m, random_below(2), buffer, cap, &need);
    compare(status);
    judge(status, answers, DOCUMENTED);
    release(buffer);
    buffer = region("buffer", need, ON_SUCCESS, 0xC3);
    status = deltawire_message_json(m, 0, buffer, need, &need2);
    holds(status == DELTAWIRE_OK && need2 <= need, "deltawire_message_json");
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
    char name[40];
    chance_from(seed);
    snprintf(name, sizeof name, "message misuse %llu", (unsigned long long)seed);
    begin(name, "any calls", -1);
    size = deltawire_message_size(NULL, random_below(300));
    require(deltawire_message_init(region("message", size, NO_MISUSE, 0), size, NULL, &m) == DELTAWIRE_OK, "init");
    for (steps = 0; steps < 60; steps++) {
        uint32_t what = random_below(100);
        if (what < 40) add_events(m);
        else if (what < 65) call_back(m);
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
