/* Random walks: one parser, any calls in any order, with any sizes and any answers of the callbacks. Arguments are
 * invalid after a call, and the block moves by memcpy, so that retained pointers are detected. */
#include "chance.h"

static struct {
    deltawire_parser *p;
    size_t size;
    char *stream;
    size_t len, fed, reserved, off;
    uint64_t offset;
    int calls_left;
    /* Nothing may be lost: no abort, no reset, no early end; the output is compared. */
    int lossless;
    deltawire_config config;
} now;

/* ---- the output, from callbacks or from batches, with the pieces of a text joined */

static struct {
    unsigned char *bytes;
    size_t len, cap;
    int in_pieces;
} came;

static void note(const void *what, size_t len) {
    if (came.len + len > came.cap) {
        came.cap = 2 * (came.len + len);
        came.bytes = realloc(came.bytes, came.cap);
        require(came.bytes != NULL, "no memory");
    }
    if (len > 0) memcpy(came.bytes + came.len, what, len);
    came.len += len;
}
static void note_event(uint32_t kind, uint32_t flags, uint32_t choice, uint32_t call, uint32_t code, uint64_t number,
                       uint64_t start, uint64_t end, const char *text, size_t len) {
    if (!now.lossless || kind == DELTAWIRE_EV_PAYLOAD) return;
    if (!came.in_pieces) {
        uint64_t head[8];
        head[0] = UINT64_C(0x4556454E54), head[1] = kind, head[2] = choice, head[3] = call, head[4] = code;
        head[5] = number, head[6] = start, head[7] = end;
        note(head, sizeof head);
    }
    came.in_pieces = (flags & DELTAWIRE_EVF_MORE) != 0;
    note(text, len);
}

/* ---- callbacks that return anything */

static int32_t some_answer(void) {
    if (now.calls_left-- > 0) return DELTAWIRE_GO_ON;
    now.calls_left = (int)random_below(60);
    if (!now.lossless && one_in(60)) return -5;
    if (!now.lossless && one_in(60)) return 3;
    return one_in(2) ? DELTAWIRE_AGAIN : DELTAWIRE_PAUSE;
}
static int32_t any_answer(const deltawire_at *at, const char *text, size_t len) {
    int32_t answer = some_answer();
    holds(at->size == sizeof *at && at->kind < DELTAWIRE_EV_COUNT && at->start <= at->end, "deltawire_at");
    if (answer != DELTAWIRE_AGAIN) {
        note_event(at->kind, at->flags, at->choice, at->call, at->code, at->number, at->start, at->end, text, len);
    }
    return answer;
}
static size_t sum;
static void touch(const char *at, size_t len) {
    while (len-- > 0) sum += (unsigned char)at[len];
}
static int32_t on_sse(void *user, const deltawire_at *at, deltawire_str type, deltawire_str data, deltawire_str id) {
    (void)user;
    touch(type.ptr, type.len), touch(data.ptr, data.len), touch(id.ptr, id.len);
    return any_answer(at, data.ptr, data.len);
}
static int32_t on_text(void *user, const deltawire_at *at, const char *text, size_t len) {
    (void)user;
    touch(text, len);
    return any_answer(at, text, len);
}
static int32_t on_at(void *user, const deltawire_at *at) {
    (void)user;
    touch(at->event_name.ptr, at->event_name.len);
    return any_answer(at, NULL, 0);
}
static int32_t on_chunk(void *user, const deltawire_at *at) {
    deltawire_value v;
    deltawire_usage usage = DELTAWIRE_USAGE_INIT;
    uint32_t field;
    (void)user;
    for (field = 0; field <= DELTAWIRE_F_ERROR; field++) {
        if (deltawire_chunk_field(at->chunk, field, &v) == DELTAWIRE_OK) touch(v.ptr, v.len);
    }
    deltawire_chunk_usage(at->chunk, &usage);
    return any_answer(at, NULL, 0);
}
static int32_t on_value(void *user, const deltawire_at *at, const deltawire_value *value_) {
    deltawire_value key, v, w;
    size_t cursor = 0, cursor2 = 0, need = 0;
    char buffer[40];
    (void)user;
    while (deltawire_value_next(value_, &cursor, &key, &v) == DELTAWIRE_OK) {
        touch(v.ptr, v.len);
        deltawire_value_text(&v, buffer, sizeof buffer, &need);
        for (cursor2 = 0; deltawire_value_next(&v, &cursor2, NULL, &w) == DELTAWIRE_OK;) touch(w.ptr, w.len);
    }
    return any_answer(at, value_->ptr, value_->len);
}
static int32_t on_call(void *user, const deltawire_at *at, const deltawire_value *id, const deltawire_value *type) {
    (void)user;
    touch(id->ptr, id->len), touch(type->ptr, type->len);
    return any_answer(at, NULL, 0);
}

static void all(deltawire_callbacks *c) {
    c->on_sse = on_sse, c->on_chunk = on_chunk, c->on_tool_call = on_call;
    c->on_comment = c->on_keep_alive = c->on_last_event_id = c->on_role = c->on_content = c->on_reasoning = on_text;
    c->on_refusal = c->on_tool_name = c->on_tool_arguments = c->on_function_name = c->on_function_arguments = on_text;
    c->on_finish = c->on_malformed = c->on_meta = on_text;
    c->on_retry = c->on_too_long = c->on_comment_too_long = c->on_limit = c->on_quirk = c->on_done = on_at;
    c->on_frame = on_at;
    c->on_audio = c->on_logprobs = c->on_message = c->on_choice_error = c->on_usage = c->on_error = on_value;
    c->on_annotations = c->on_media = c->on_native = on_value;
    c->on_signature = on_text;
}

/* ---- one step */

static void concluded(deltawire_status status) {
    deltawire_end end = DELTAWIRE_END_INIT;
    deltawire_usage usage = DELTAWIRE_USAGE_INIT;
    deltawire_str id;
    compare(status);
    holds(deltawire_end_of(now.p, &end) == DELTAWIRE_OK, "deltawire_end_of");
    holds(end.offset >= now.offset && end.choices_finished <= end.choices_seen, "deltawire_end");
    now.offset = end.offset;
    deltawire_last_usage(now.p, &usage);
    if (deltawire_last_event_id(now.p, &id) == DELTAWIRE_OK) touch(id.ptr, id.len);
    if (status == DELTAWIRE_E_STRICT) holds(deltawire_error_quirk(now.p) < DELTAWIRE_QUIRKS, "deltawire_error_quirk");
    if (status == DELTAWIRE_E_ABORTED) holds(deltawire_user_code(now.p) == -5, "deltawire_user_code");
    if (status == DELTAWIRE_E_CALLBACK) holds(deltawire_user_code(now.p) > 0, "deltawire_user_code");
    holds(deltawire_error_offset(now.p) <= now.len, "deltawire_error_offset");
}

static size_t take_input(char **data) {
    size_t len = now.len - now.fed;
    if (len > 200 && !one_in(8)) len = random_below(200);
    else if (one_in(4)) len = random_below((uint32_t)len + 1);
    if (one_in(6)) len = 0;
    *data = region("data", len, NEVER, 0);
    memcpy(*data, now.stream + now.fed, len);
    return len;
}

static void feed(int end) {
    deltawire_callbacks *callbacks = region("callbacks", sizeof *callbacks, NEVER, 0);
    size_t *consumed = region("consumed", sizeof *consumed, NO_MISUSE, 0);
    char *data;
    size_t len = take_input(&data);
    deltawire_status status;
    callbacks->size = sizeof *callbacks;
    all(callbacks);
    freeze();
    status = end ? deltawire_finish(now.p, callbacks, NULL) : deltawire_feed(now.p, data, len, callbacks, NULL, consumed);
    holds(*consumed <= len && (status >= 0 || status <= -100 || *consumed == 0), "consumed");
    if (status == DELTAWIRE_OK && !end) holds(*consumed == len, "all is consumed");
    concluded(status);
    now.fed += *consumed;
    release(data), release(consumed), release(callbacks);
}

static const char *text_of(const deltawire_event *event, uint32_t flag, uint32_t off, uint32_t len, const char *data,
                           size_t data_len, const deltawire_batch_result *result, const char *scratch) {
    const char *from = event->flags & flag ? scratch : data;
    size_t room = event->flags & flag ? result->scratch_used : data_len;
    if (len == 0) return NULL;
    holds(off <= room && len <= room - off, "a text lies in its bytes");
    if (off > room || len > room - off) return NULL;
    touch(from + off, len);
    return from + off;
}

/* Texts that a callback does not receive, or not decoded. */
static int has_no_text(uint32_t kind) {
    return kind == DELTAWIRE_EV_CHUNK || kind == DELTAWIRE_EV_TOOL_CALL;
}

static void batch(int end) {
    size_t cap = 1 + random_below(6), scratch_len = 64 + (one_in(3) ? random_below(600) : 0), i, data_len;
    deltawire_event *events = region("events", cap * sizeof *events, ON_SUCCESS, 0xC3);
    char *scratch = region("scratch", scratch_len, ON_SUCCESS, 0xC3), *data;
    const char *base;
    size_t len = take_input(&data);
    deltawire_batch_result *result = region("result", sizeof *result, ALWAYS, 0);
    deltawire_status status;
    freeze();
    status = end ? deltawire_batch_finish(now.p, events, cap, scratch, scratch_len, result)
                 : deltawire_batch(now.p, data, len, events, cap, scratch, scratch_len, result);
    holds(result->consumed <= len && (status >= 0 || status <= -100 || result->consumed == 0), "consumed");
    if (status == DELTAWIRE_OK && !end) holds(result->consumed == len, "all is consumed");
    holds(result->events <= cap && result->scratch_used <= scratch_len, "the result");
    holds(status != DELTAWIRE_MORE || result->events > 0 || result->scratch_need > scratch_len, "MORE brings something");
    /* Committed bytes lie in the block, and offsets count from its first byte. */
    base = len > 0 ? data : (const char *)(const void *)now.p;
    data_len = len > 0 ? len : now.size;
    for (i = 0; i < result->events && i < cap; i++) {
        const deltawire_event *event = &events[i];
        holds(event->kind < DELTAWIRE_EV_COUNT && event->start <= event->end, "an event");
        const char *text =
            text_of(event, DELTAWIRE_EVF_TEXT_SCRATCH, event->text_off, event->text_len, base, data_len, result, scratch);
        text_of(event, DELTAWIRE_EVF_AUX_SCRATCH, event->aux_off, event->aux_len, base, data_len, result, scratch);
        text_of(event, DELTAWIRE_EVF_EXTRA_SCRATCH, event->extra_off, event->extra_len, base, data_len, result, scratch);
        note_event(event->kind, event->flags, event->choice, event->call, event->code, event->number, event->start,
                   event->end, text, text == NULL || has_no_text(event->kind) ? 0 : event->text_len);
    }
    concluded(status);
    now.fed += result->consumed;
    release(data), release(events), release(scratch), release(result);
}

static void direct(void) {
    size_t *off = region("off", sizeof *off, ON_SUCCESS, 0), *len = region("len", sizeof *len, ON_SUCCESS, 0), n;
    deltawire_status status;
    freeze();
    status = deltawire_reserve(now.p, off, len);
    if (status == DELTAWIRE_OK) {
        holds(*len >= now.config.read_len && *off <= now.size && *len <= now.size - *off, "the read area");
        n = now.len - now.fed < *len ? now.len - now.fed : *len;
        n = random_below((uint32_t)n + 1);
        memcpy((char *)(void *)now.p + *off, now.stream + now.fed, n);
        if (one_in(8)) holds(deltawire_commit(now.p, *len + 1) == DELTAWIRE_E_RANGE, "E_RANGE");
        status = deltawire_commit(now.p, n);
        holds(status == DELTAWIRE_OK, "a commit");
        now.fed += n;
    } else {
        concluded(status);
        if (one_in(2)) status = deltawire_commit(now.p, random_below(50));
        holds(status < 0, "there is nothing to commit");
    }
    release(off), release(len);
}

/* As with realloc: in a larger block before, or with a copy to a smaller one behind it. */
static void resize(size_t size, size_t need) {
    char *block = region("parser", size > now.size ? size : now.size, NO_MISUSE, 0xC3), *smaller;
    deltawire_status status;
    memcpy(block, now.p, now.size);
    release(now.p);
    now.p = (deltawire_parser *)(void *)block;
    freeze();
    status = deltawire_resize(now.p, size);
    compare(status);
    holds(status == DELTAWIRE_OK || (status == DELTAWIRE_E_SMALL && size < need), "deltawire_resize");
    size = status == DELTAWIRE_OK ? size : now.size;
    smaller = region("parser", size, NO_MISUSE, 0);
    memcpy(smaller, now.p, size);
    release(now.p);
    now.p = (deltawire_parser *)(void *)smaller, now.size = size;
}

static void move(void) {
    size_t need = deltawire_need(now.p), size = need;
    deltawire_parser *p = NULL;
    deltawire_status status;
    char *block;
    holds(need > 0 && need % 8 == 0, "deltawire_need");
    if (one_in(3)) {
        /* A plain copy must work as well as the library's function. */
        block = region("parser", now.size, NO_MISUSE, 0);
        memcpy(block, now.p, now.size);
        release(now.p);
        now.p = (deltawire_parser *)(void *)block;
        return;
    }
    if (one_in(2)) size = random_below(2) ? random_below((uint32_t)need + 100) : need + random_below(600);
    size = size / 8 * 8;
    if (one_in(3)) {
        resize(size, need);
        return;
    }
    block = region("parser", size, NO_MISUSE, 0xC3);
    freeze();
    status = deltawire_move(block, size, now.p, &p);
    compare(status);
    holds(status == DELTAWIRE_OK || status == DELTAWIRE_E_SMALL, "deltawire_move");
    if (status != DELTAWIRE_OK) {
        holds(size < need, "a move to what is needed");
        release(block);
        return;
    }
    release(now.p);
    now.p = p, now.size = size;
}

static void start(uint64_t seed, int lossless) {
    size_t i;
    char name[40];
    chance_from(seed);
    snprintf(name, sizeof name, "%swalk %llu", lossless ? "lossless " : "", (unsigned long long)seed);
    begin(name, "any calls", -1);
    now.lossless = lossless;
    now.fed = 0, now.offset = 0, now.calls_left = 20;
    choose_stream(&now.stream, &now.len);
    if (one_in(3)) {
        static const char hard[] = "\0\r\n:{}[]\"\\u\xD8\xFFx,";
        for (i = random_below(30); i > 0; i--) {
            now.stream[random_below((uint32_t)now.len)] = hard[random_below(sizeof hard - 1)];
        }
    }
    memset(&now.config, 0, sizeof now.config);
    now.config.size = sizeof now.config;
    now.config.mode = one_in(4);
    now.config.flags = random_below(8);
    if (one_in(2)) now.config.read_len = random_below(300);
    if (one_in(3)) now.config.events = ~UINT64_C(0);
    if (one_in(6)) now.config.errors[random_below(2)] = UINT64_C(1) << random_below(64);
    if (lossless) {
        now.config.flags |= DELTAWIRE_CFG_GROW;
        now.config.events = ~UINT64_C(0), now.config.errors[0] = now.config.errors[1] = 0;
    }
    if (one_in(4)) now.config.max_event_len = 1 + random_below(700);
    if (one_in(4)) now.config.max_id_len = 1 + random_below(20);
    if (one_in(4)) now.config.max_depth = 1 + random_below(6);
    if (one_in(4)) now.config.max_choices = 1 + random_below(40);
    if (one_in(4)) now.config.max_tool_calls = 1 + random_below(200);
    now.size = deltawire_block_size(&now.config, one_in(3) ? 2000 : 1 + random_below(300));
    now.p = NULL;
    require(deltawire_init(region("parser", now.size, NO_MISUSE, 0), now.size, &now.config, &now.p) == DELTAWIRE_OK,
            "deltawire_init");
}

/* The expected output: the same stream in one piece. */
static void compare_with_whole(const char *stream, size_t len, deltawire_config config) {
    static DELTAWIRE_BLOCK(block, 65536);
    deltawire_callbacks callbacks = DELTAWIRE_CALLBACKS_INIT;
    deltawire_end walked = DELTAWIRE_END_INIT, whole = DELTAWIRE_END_INIT;
    unsigned char *bytes_ = came.bytes;
    size_t bytes_len = came.len, i;
    deltawire_parser *p;
    holds(deltawire_end_of(now.p, &walked) == DELTAWIRE_OK, "deltawire_end_of");
    memset(&came, 0, sizeof came);
    config.read_len = 0;
    all(&callbacks);
    require(deltawire_init(&block, sizeof block, &config, &p) == DELTAWIRE_OK, "deltawire_init");
    now.calls_left = 1 << 30;
    holds(deltawire_feed(p, stream, len, &callbacks, NULL, NULL) == DELTAWIRE_OK, "the whole stream");
    holds(deltawire_finish(p, &callbacks, NULL) == DELTAWIRE_OK, "its end");
    holds(deltawire_end_of(p, &whole) == DELTAWIRE_OK, "deltawire_end_of");
    holds(memcmp(&walked, &whole, sizeof whole) == 0, "the same end");
    for (i = 0; i < came.len && i < bytes_len && came.bytes[i] == bytes_[i]; i++) continue;
    if (i < came.len || i < bytes_len) fault("the same came, up to byte", (long long)i, (long long)came.len);
    free(bytes_);
}

static void step(int lossless, int pull) {
    uint32_t what = random_below(100);
    if (what < 62) {
        if (pull) batch(0);
        else feed(0);
    } else if (what < 75) {
        direct();
    } else if (what < 92) {
        move();
    } else if (!lossless && (what < 95 || now.fed == now.len)) {
        if (pull) batch(1);
        else feed(1);
    } else if (!lossless && what < 97) {
        holds(deltawire_reset(now.p) == DELTAWIRE_OK, "deltawire_reset");
        now.fed = 0, now.offset = 0;
    }
}

static void walk_lossless(uint64_t seed) {
    deltawire_end end = DELTAWIRE_END_INIT;
    int pull = 0, steps = 0;
    came.len = 0, came.in_pieces = 0;
    start(seed, 1);
    for (; now.offset < now.len && steps < 20000; steps++) {
        if (one_in(12)) pull = !pull;
        step(1, pull);
    }
    /* Whatever is still pending, then the end, by any permitted call. */
    for (; !end.finished && steps < 30000; steps++) {
        if (one_in(3)) pull = !pull;
        if (one_in(4)) move();
        if (pull) batch(one_in(2));
        else feed(one_in(2));
        deltawire_end_of(now.p, &end);
    }
    holds(end.finished == 1, "it comes to its end");
    compare_with_whole(now.stream, now.len, now.config);
}

/* walk [STREAMS [WALKS [FIRST]]] */
int main(int argc, char **argv) {
    unsigned long walks = argc > 2 ? strtoul(argv[2], NULL, 10) : 300, first = 0, walk;
    int steps, pull;
    if (argc > 1) read_streams(argv[1]);
    if (argc > 3) first = strtoul(argv[3], NULL, 10);
    for (walk = first; walk < first + walks; walk++) {
        walk_lossless(walk);
        start(walk, 0);
        for (steps = 0, pull = (int)random_below(2); steps < 150; steps++) {
            if (one_in(30)) pull = !pull;
            step(0, pull);
        }
    }
    free(now.stream), free(came.bytes);
    return summary("random walks");
}
