/* Random walks of an assembler. */
#include "chance.h"

static char *stream;

/* The expected result: the stream in one piece. */
static size_t whole_message(const char *stream, size_t len, char *json, size_t cap) {
    static DELTAWIRE_BLOCK(block, 4096);
    static union { uint64_t align_; unsigned char bytes[DELTAWIRE_MESSAGE_SIZE(65536)]; } log;
    const deltawire_callbacks *callbacks = deltawire_message_callbacks();
    deltawire_parser *p;
    deltawire_message *m;
    size_t need = 0;
    require(deltawire_init(&block, sizeof block, NULL, &p) == DELTAWIRE_OK, "deltawire_init");
    require(deltawire_message_init(&log, sizeof log, NULL, &m) == DELTAWIRE_OK, "deltawire_message_init");
    holds(deltawire_feed(p, stream, len, callbacks, m, NULL) == DELTAWIRE_OK, "the whole stream");
    holds(deltawire_finish(p, callbacks, m) == DELTAWIRE_OK, "its end");
    holds(deltawire_message_json(m, DELTAWIRE_JSON_EXTENDED, json, cap, &need) == DELTAWIRE_OK, "its JSON");
    return need;
}

static deltawire_message *move_message(deltawire_message *m, size_t *size, int must_grow) {
    deltawire_message *to = NULL;
    size_t need = deltawire_message_need(m);
    void *block;
    if (!must_grow && one_in(2)) {
        block = region("message", *size, NO_MISUSE, 0);
        memcpy(block, m, *size);
        release(m);
        return block;
    }
    holds(need % 8 == 0 && (!must_grow || need > *size), "deltawire_message_need");
    if (one_in(2)) need += random_below(40) * 8;
    block = region("message", need, NO_MISUSE, 0xC3);
    holds(deltawire_message_move(block, need, m, &to) == DELTAWIRE_OK, "deltawire_message_move");
    require(to != NULL, "deltawire_message_move");
    release(m);
    *size = need;
    return to;
}

/* The assembler is fed by batch, grows, and moves; its result must be that of the whole stream. */
static void assemble(uint64_t seed) {
    static char expected[65536], got[65536];
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    size_t len, fed = 0, expected_len, size, log_size, need = 0, slice = 0;
    deltawire_parser *p = NULL;
    deltawire_message *m = NULL;
    deltawire_status status = DELTAWIRE_OK, added;
    int ending = 0, steps = 0;
    char name[40];
    chance_from(seed + 7);
    snprintf(name, sizeof name, "message walk %llu", (unsigned long long)seed);
    begin(name, "against the whole", -1);
    choose_stream(&stream, &len);
    expected_len = whole_message(stream, len, expected, sizeof expected);
    config.flags = DELTAWIRE_CFG_GROW;
    config.events = DELTAWIRE_MESSAGE_EVENTS | (one_in(2) ? DELTAWIRE_MASK(DELTAWIRE_EV_PAYLOAD) : 0);
    size = deltawire_block_size(NULL, random_below(100)), log_size = deltawire_message_size(NULL, random_below(100));
    require(deltawire_init(region("parser", size, NO_MISUSE, 0), size, &config, &p) == DELTAWIRE_OK, "deltawire_init");
    require(deltawire_message_init(region("message", log_size, NO_MISUSE, 0), log_size, NULL, &m) == DELTAWIRE_OK, "init");
    for (;;) {
        size_t cap = 1 + random_below(4), scratch_len = 64 + random_below(2) * random_below(400), done = 0, taken = 0;
        deltawire_event *events = region("events", cap * sizeof *events, NO_MISUSE, 0xC3);
        char *scratch = region("scratch", scratch_len, NO_MISUSE, 0xC3), *data;
        deltawire_batch_result *result = region("result", sizeof *result, NO_MISUSE, 0);
        if (status <= DELTAWIRE_OK) slice = random_below(one_in(4) ? 400 : 60);
        if (slice > len - fed) slice = len - fed;
        if (fed == len && status <= DELTAWIRE_OK) ending = 1;
        data = region("data", slice, NEVER, 0);
        memcpy(data, stream + fed, slice);
        status = ending ? deltawire_batch_finish(p, events, cap, scratch, scratch_len, result)
                        : deltawire_batch(p, data, slice, events, cap, scratch, scratch_len, result);
        holds(status >= 0, "a batch");
        while (done < result->events && steps < 100000) {
            added = deltawire_message_add(m, events + done, result->events - done, data, scratch, &taken);
            done += taken;
            holds(added == DELTAWIRE_OK || added == DELTAWIRE_NEED_STORAGE, "deltawire_message_add");
            holds(deltawire_message_is_full(m) == (added == DELTAWIRE_NEED_STORAGE), "deltawire_message_is_full");
            if (added == DELTAWIRE_NEED_STORAGE || one_in(9)) {
                m = move_message(m, &log_size, added == DELTAWIRE_NEED_STORAGE);
            }
            steps++;
            if (added < 0) break;
        }
        fed += result->consumed, slice -= result->consumed;
        release(data), release(events), release(scratch), release(result);
        if (status == DELTAWIRE_NEED_STORAGE) {
            deltawire_parser *q = NULL;
            size_t want = deltawire_need(p);
            holds(want > size, "deltawire_need");
            size = want;
            require(deltawire_move(region("parser", size, NO_MISUSE, 0xC3), size, p, &q) == DELTAWIRE_OK, "a move");
            release(p), p = q;
        }
        if (status < 0 || (ending && status == DELTAWIRE_OK) || ++steps > 100000) break;
    }
    holds(steps < 100000, "the end");
    status = deltawire_message_json(m, DELTAWIRE_JSON_EXTENDED, got, sizeof got, &need);
    holds(status == DELTAWIRE_OK && need == expected_len && memcmp(got, expected, need) == 0, "the same message");
}

/* ---- any calls in any order: events of any kind with any text, whole and in pieces */

static const char *const TEXTS[] = {
    "a text", "{\"prompt_tokens\":1}", "{\"message\":\"h\",\"code\":3}", "[1,2]", "{", "\xF0\x9F\x98\x80 b\xFF", "", "null",
    "{\"content\":\"whole\",\"tool_calls\":[{\"id\":\"t\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}",
    "{\"id\":\"i\",\"data\":\"eA==\"}", "{\"content\":[{\"token\":\"a\",\"logprob\":-1}]}", "stop",
};
static const deltawire_status ANSWERS[] = {DELTAWIRE_OK, DELTAWIRE_NEED_STORAGE, 999};

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

/* The same by callbacks. */
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
    chance_from(seed + 13);
    snprintf(name, sizeof name, "message misuse %llu", (unsigned long long)seed);
    begin(name, "any calls", -1);
    size = deltawire_message_size(NULL, random_below(300));
    require(deltawire_message_init(region("message", size, NO_MISUSE, 0), size, NULL, &m) == DELTAWIRE_OK, "init");
    for (steps = 0; steps < 60; steps++) {
        uint32_t what = random_below(100);
        if (what < 40) add_events(m);
        else if (what < 65) call_back(m);
        else if (what < 80) m = move_message(m, &size, 0);
        else if (what < 98) look(m);
        else holds(deltawire_message_reset(m) == DELTAWIRE_OK, "deltawire_message_reset");
    }
}

/* messages [STREAMS [WALKS [FIRST]]] */
int main(int argc, char **argv) {
    unsigned long walks = argc > 2 ? strtoul(argv[2], NULL, 10) : 300, first = 0, walk;
    if (argc > 1) read_streams(argv[1]);
    if (argc > 3) first = strtoul(argv[3], NULL, 10);
    for (walk = first; walk < first + walks; walk++) {
        assemble(walk);
        misuse(walk);
    }
    free(stream);
    return summary("random walks of an assembler");
}
