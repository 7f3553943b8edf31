/* One stream through a gateway: forwards every byte, except frames to be dropped, and reports at the end how the
 * stream ended, why, and its usage. It fails open: if reading fails, the bytes are forwarded anyway. */
#ifndef USE_RELAY_H
#define USE_RELAY_H

#include "deltawire.h"
#include "http.h"
#include "safe.h"

struct relay_options {
    int drop_usage;     /* drop chunks that have usage and no choice */
    int strict;         /* every quirk is an error */
    size_t max_memory;  /* largest block of a parser, in bytes */
};

/* Takes bytes to forward. Returns 0 if it cannot. */
typedef int (*relay_sink)(void *user, const char *bytes, size_t len);

/* A longer frame is not a usage chunk and is not held. */
#define RELAY_HOLD 16384

struct relay {
    const struct relay_options *options;
    relay_sink sink;
    void *user;
    deltawire_parser *parser; /* NULL: failed open */
    const char *why;          /* why it failed open */
    uint64_t seen, sent;      /* bytes of the stream; those between are held */
    struct bytes held;
    uint64_t frames, dropped, dropped_bytes, usages, errors, events;
    uint32_t finish;          /* of choice 0 */
    size_t block;             /* bytes of the block */
    char error[128];
    deltawire_end end;
    deltawire_usage usage;
    int has_usage;
};

static int relay_fail_open(struct relay *r, const char *why) {
    if (r->parser) {
        /* What is known so far is still useful. */
        deltawire_end_of(r->parser, &r->end);
        r->has_usage = deltawire_last_usage(r->parser, &r->usage) == DELTAWIRE_OK;
    }
    free(r->parser);
    r->parser = NULL;
    r->why = why;
    return 0;
}

static void relay_begin(struct relay *r, const struct relay_options *options, relay_sink sink, void *user) {
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    deltawire_end end = DELTAWIRE_END_INIT;
    deltawire_usage usage = DELTAWIRE_USAGE_INIT;
    size_t size = deltawire_block_size(NULL, 1024);
    void *mem;
    memset(r, 0, sizeof *r);
    r->options = options;
    r->sink = sink;
    r->user = user;
    r->end = end;
    r->usage = usage;
    config.flags = DELTAWIRE_CFG_GROW;
    config.events = DELTAWIRE_MASK(DELTAWIRE_EV_FRAME) | DELTAWIRE_MASK(DELTAWIRE_EV_USAGE) |
                    DELTAWIRE_MASK(DELTAWIRE_EV_FINISH) | DELTAWIRE_MASK(DELTAWIRE_EV_ERROR);
    if (options->strict) config.errors[0] = config.errors[1] = ~UINT64_C(0);
    mem = size <= options->max_memory ? malloc(size) : NULL;
    if (!mem || deltawire_init(mem, size, &config, &r->parser) != DELTAWIRE_OK) {
        free(mem);
        r->why = "no memory";
    }
    r->block = r->parser ? size : 0;
}

/* Forwards the first `n` held bytes, or (`pass` 0) drops them. */
static int relay_release(struct relay *r, uint64_t n, int pass) {
    size_t len = (size_t)n;
    if (len == 0) return 1;
    if (pass && !r->sink(r->user, r->held.ptr + r->held.at, len)) return 0;
    bytes_take(&r->held, len);
    r->sent += len;
    return 1;
}

/* A frame is over. A chunk with usage and without choices is what `stream_options.include_usage` brings. Whatever else
 * the frame has, an error or an ID for reconnecting, must go on. Nor is anything cut out of a JSON body: a frame of an
 * event stream begins with a field's name, after blank lines at most. A byte order mark belongs to the first frame. */
static int relay_frame(struct relay *r, const deltawire_event *e) {
    const uint64_t usage = DELTAWIRE_MASK(DELTAWIRE_EV_CHUNK) | DELTAWIRE_MASK(DELTAWIRE_EV_USAGE);
    const uint64_t about = DELTAWIRE_MASK(DELTAWIRE_EV_FRAME) | DELTAWIRE_MASK(DELTAWIRE_EV_PAYLOAD) |
                           DELTAWIRE_MASK(DELTAWIRE_EV_QUIRK);
    r->frames++;
    if (!r->options->drop_usage) return 1;
    if (e->code == 0 && (e->number & ~about) == usage && e->start >= r->sent) {
        const char *from, *to;
        if (!relay_release(r, e->start - r->sent, 1)) return 0;
        from = r->held.ptr + r->held.at;
        to = from + (e->end - e->start);
        if (e->start == 0 && to - from > 3 && memcmp(from, "\xEF\xBB\xBF", 3) == 0) from += 3;
        while (from < to && (*from == '\n' || *from == '\r')) from++;
        if (from < to && (*from | 0x20) >= 'a' && (*from | 0x20) <= 'z') {
            r->dropped++;
            r->dropped_bytes += e->end - e->start;
            return relay_release(r, e->end - e->start, 0);
        }
    }
    return e->end <= r->sent || relay_release(r, e->end - r->sent, 1);
}

/* `data` and `scratch` are those of the batch. Returns 0 if the sink failed. */
static int relay_events(struct relay *r, const deltawire_event *e, size_t n, const char *data, const char *scratch) {
    for (; n; n--, e++) {
        const char *text = (e->flags & DELTAWIRE_EVF_TEXT_SCRATCH ? scratch : data);
        r->events++;
        switch (e->kind) {
        case DELTAWIRE_EV_FRAME:
            if (!relay_frame(r, e)) return 0;
            break;
        case DELTAWIRE_EV_USAGE: r->usages += !(e->flags & DELTAWIRE_EVF_MORE); break;
        case DELTAWIRE_EV_FINISH:
            if (e->choice == 0) r->finish = e->code;
            break;
        case DELTAWIRE_EV_ERROR: {
            deltawire_value error, message;
            size_t len = 0;
            deltawire_status status;
            r->errors += !(e->flags & DELTAWIRE_EVF_MORE);
            if (e->flags & DELTAWIRE_EVF_MORE || r->error[0]) break;
            text += e->text_off;
            status = e->flags & DELTAWIRE_EVF_PLAIN ? deltawire_value_plain(text, e->text_len, &error)
                                                    : deltawire_value_open(text, e->text_len, &error);
            if (status == DELTAWIRE_OK && deltawire_error_field(&error, DELTAWIRE_ERROR_MESSAGE, &message) == DELTAWIRE_OK &&
                deltawire_value_text(&message, r->error, sizeof r->error - 1, &len) == DELTAWIRE_OK)
                r->error[len] = 0;
            break;
        }
        default: break; /* a kind of a later version */
        }
    }
    return 1;
}

static int relay_grow(struct relay *r) {
    size_t want = deltawire_need(r->parser);
    deltawire_parser *old = r->parser;
    void *mem = want <= r->options->max_memory ? malloc(want) : NULL;
    if (!mem || deltawire_move(mem, want, old, &r->parser) != DELTAWIRE_OK) {
        free(mem);
        return relay_fail_open(r, "no memory");
    }
    free(old);
    r->block = want;
    return 1;
}

/* Reads `len` bytes, or (data NULL) the end of the stream. Returns 0 if the sink failed. */
static int relay_look(struct relay *r, const char *data, size_t len) {
    deltawire_event events[16];
    char scratch[2048];
    deltawire_batch_result result;
    size_t off = 0;
    while (r->parser) {
        const char *from = data ? data + off : NULL;
        deltawire_status status =
            data ? deltawire_batch(r->parser, from, len - off, events, 16, scratch, sizeof scratch, &result)
                 : deltawire_batch_finish(r->parser, events, 16, scratch, sizeof scratch, &result);
        off += result.consumed;
        if (!relay_events(r, events, result.events, from, scratch)) return 0;
        if (status == DELTAWIRE_OK) break;
        if (status == DELTAWIRE_NEED_STORAGE) relay_grow(r);
        else if (status < DELTAWIRE_OK) relay_fail_open(r, deltawire_status_name(status));
        else if (result.scratch_need > sizeof scratch) relay_fail_open(r, "no scratch");
    }
    return 1;
}

/* Bytes arrived. Returns 0 if the sink failed. */
static int relay_bytes(struct relay *r, const char *data, size_t len) {
    /* Nothing to decide: forward them before reading them. */
    int hold = r->parser && r->options->drop_usage;
    r->seen += len;
    if (!hold) {
        if (!relay_release(r, bytes_len(&r->held), 1) || !r->sink(r->user, data, len)) return 0;
        r->sent += len;
    } else if (!bytes_put(&r->held, data, len)) {
        relay_fail_open(r, "no memory");
        if (!relay_release(r, bytes_len(&r->held), 1) || !r->sink(r->user, data, len)) return 0;
        r->sent += len;
    }
    if (!relay_look(r, data, len)) return 0;
    if (!r->parser || bytes_len(&r->held) > RELAY_HOLD) return relay_release(r, bytes_len(&r->held), 1);
    return 1;
}

/* The stream ended, whole or cut. Returns 0 if the sink failed. */
static int relay_end(struct relay *r) {
    int ok = relay_look(r, NULL, 0);
    ok = ok && relay_release(r, bytes_len(&r->held), 1);
    if (r->parser) {
        deltawire_end_of(r->parser, &r->end);
        r->has_usage = deltawire_last_usage(r->parser, &r->usage) == DELTAWIRE_OK;
    }
    return ok;
}

static void relay_free(struct relay *r) {
    free(r->parser);
    r->parser = NULL;
    bytes_free(&r->held);
}

static void relay_report(const struct relay *r, FILE *out) {
    fprintf(out, "bytes=%llu frames=%llu dropped=%llu dropped_bytes=%llu block=%lu finish=%s errors=%llu",
            (unsigned long long)r->seen, (unsigned long long)r->frames, (unsigned long long)r->dropped,
            (unsigned long long)r->dropped_bytes, (unsigned long)r->block, r->finish ? deltawire_finish_name(r->finish) : "-",
            (unsigned long long)r->errors);
    if (r->has_usage)
        fprintf(out, " usage=%llu+%llu", (unsigned long long)r->usage.prompt, (unsigned long long)r->usage.completion);
    else
        fprintf(out, " usage=-");
    fprintf(out, " verdict=%s complete=%lu open=%s", deltawire_verdict_name(r->end.verdict), (unsigned long)r->end.complete,
            r->why ? r->why : "-");
    if (r->error[0]) {
        fputs(" error=", out);
        put_safe(out, r->error, strlen(r->error));
    }
    fprintf(out, "\n");
}

#endif
