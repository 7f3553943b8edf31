/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#endif
#include "llm_meter.h"

#include <string.h>
#include <time.h>

/* Room for the part of an event that a read cut, before the block grows. Most events are shorter. */
#define SMALL_EVENT 1024u

enum { READING, COMPRESSED, UNREAD, OVER };

#define AS_TEXT(type) type
const char *const llm_types[] = {LLM_TYPES(AS_TEXT), NULL};

uint64_t llm_now(void) {
    struct timespec t = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static const char *const fact_names[LLM_FACTS] = {
    "prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens", "total_tokens", "events",
    "output_chars",  "ttft_ms",           "output_ms",     "max_gap_ms",       "model",        "protocol",
    "finish_reason", "verdict",           "complete",      "error",            "quirks",       "ended_by",
};

const char *llm_fact_name(unsigned fact) { return fact < LLM_FACTS ? fact_names[fact] : NULL; }

static int lower(int c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; }

/* Whether `value` begins with `word`, in whatever case. */
static int begins(const char *value, size_t len, const char *word) {
    size_t n = strlen(word), at;
    if (len < n) return 0;
    for (at = 0; at < n; at++)
        if (lower((unsigned char)value[at]) != word[at]) return 0;
    return 1;
}

static int is_word(const char *value, size_t len, const char *word) { return len == strlen(word) && begins(value, len, word); }

int llm_is_type(const char *value, size_t len, const char *type) {
    size_t n = strlen(type);
    return begins(value, len, type) && (len == n || value[n] == ';' || value[n] == ' ' || value[n] == '\t');
}

int llm_is_yes(const char *value, size_t len) {
    return is_word(value, len, "1") || is_word(value, len, "true") || is_word(value, len, "on") || is_word(value, len, "yes");
}

/* Texts -------------------------------------------------------------------------------------------------------------------------- */

static struct llm_text *text_of(struct llm_stream *s, enum llm_fact fact) { return &s->text[fact - LLM_NUMBERS]; }

/* Appends all of `bytes` or, if they do not fit, nothing. */
static int append(struct llm_text *t, const char *bytes, size_t len) {
    if (len > LLM_TEXT_MAX - t->len) return 0;
    memcpy(t->bytes + t->len, bytes, len);
    t->len += (uint32_t)len;
    return 1;
}

static void set_word(struct llm_stream *s, enum llm_fact fact, const char *word) {
    struct llm_text *t = text_of(s, fact);
    t->len = 0;
    append(t, word, strlen(word));
}

/* Sets `ApiError` as `api_error`. */
static void set_snake(struct llm_stream *s, enum llm_fact fact, const char *name) {
    struct llm_text *t = text_of(s, fact);
    const char *at;
    t->len = 0;
    for (at = name; *at; at++) {
        char c = (char)lower((unsigned char)*at);
        if ((c != *at && at != name && !append(t, "_", 1)) || !append(t, &c, 1)) return;
    }
}

/* Decodes the character at `*at` and moves on. A byte that begins none is a character of its own. */
static uint32_t next_char(const unsigned char **at, const unsigned char *end) {
    const unsigned char *p = *at;
    uint32_t c = *p++;
    int more = c >= 0xF0 && c < 0xF8 ? 3 : c >= 0xE0 && c < 0xF0 ? 2 : c >= 0xC0 && c < 0xE0 ? 1 : 0, n;
    if (more > end - p) more = 0;
    for (n = 0; n < more; n++)
        if ((p[n] & 0xC0) != 0x80) more = 0;
    if (more > 0) c &= 0x3Fu >> more;
    for (n = 0; n < more; n++) c = c << 6 | (p[n] & 0x3Fu);
    *at = p + more;
    return c;
}

static size_t put_unit(char *out, uint32_t unit) {
    static const char digits[] = "0123456789abcdef";
    int shift;
    *out++ = '\\';
    *out++ = 'u';
    for (shift = 12; shift >= 0; shift -= 4) *out++ = digits[unit >> shift & 15u];
    return 6;
}

/* Sets a text of the stream as JSON escapes it, in ASCII, so that it is harmless in any log. A text that is too long ends after the last
 * character that fits. */
static void set_escaped(struct llm_stream *s, enum llm_fact fact, deltawire_str str) {
    struct llm_text *t = text_of(s, fact);
    const unsigned char *at = (const unsigned char *)str.ptr, *end = at ? at + str.len : at;
    t->len = 0;
    while (at < end) {
        char out[12];
        size_t n = 0;
        uint32_t c = next_char(&at, end);
        if (c == '"' || c == '\\') out[n++] = '\\';
        if (c >= 0x20 && c < 0x7F) {
            out[n++] = (char)c;
        } else if (c < 0x10000) {
            n = put_unit(out, c);
        } else {
            n = put_unit(out, 0xD800u + ((c - 0x10000u) >> 10 & 0x3FFu));
            n += put_unit(out + n, 0xDC00u + (c & 0x3FFu));
        }
        if (!append(t, out, n)) return;
    }
}

/* The code of each quirk that the stream has; several quirks may share one. */
static void set_quirks(struct llm_stream *s) {
    struct llm_text *t = text_of(s, LLM_QUIRKS);
    const char *code;
    uint32_t quirk;
    t->len = 0;
    for (quirk = 0; quirk < DELTAWIRE_QUIRKS; quirk++) {
        char word[16];
        size_t n = 0, len, at;
        if (!(code = deltawire_quirk_code(quirk)) || deltawire_quirk_count(s->parser, quirk) == 0) continue;
        if ((len = strlen(code)) > sizeof word - 1) continue;
        for (at = 0; at + len <= t->len; at++) /* a code ends at a comma or at the end, so `C3` is not found in `C33` */
            if (memcmp(t->bytes + at, code, len) == 0 && (at + len == t->len || t->bytes[at + len] == ',')) break;
        if (at + len <= t->len) continue;
        if (t->len > 0) word[n++] = ',';
        memcpy(word + n, code, len);
        if (!append(t, word, n + len)) return;
    }
}

/* Facts -------------------------------------------------------------------------------------------------------------------------- */

static void set_number(struct llm_stream *s, enum llm_fact fact, int is_known, uint64_t number) {
    s->number[fact] = number;
    if (is_known) s->has |= 1u << fact;
}

static void collect_usage(struct llm_stream *s, const deltawire_usage *u) {
    set_number(s, LLM_PROMPT_TOKENS, u->has & DELTAWIRE_HAS_PROMPT, u->prompt);
    set_number(s, LLM_COMPLETION_TOKENS, u->has & DELTAWIRE_HAS_COMPLETION, u->completion);
    set_number(s, LLM_CACHED_TOKENS, u->has & DELTAWIRE_HAS_CACHED, u->cached);
    set_number(s, LLM_REASONING_TOKENS, u->has & DELTAWIRE_HAS_REASONING, u->reasoning);
    set_number(s, LLM_TOTAL_TOKENS, u->has & DELTAWIRE_HAS_TOTAL, u->total);
}

/* Writes the facts as they are now. Without a parser they stay as they are. */
static void collect(struct llm_stream *s) {
    deltawire_meter meter = DELTAWIRE_METER_INIT;
    deltawire_end end = DELTAWIRE_END_INIT;
    const uint64_t ms = 1000000u;
    if (!s->parser) return;
    if (deltawire_meter_of(s->parser, &meter) == DELTAWIRE_OK) {
        collect_usage(s, &meter.usage);
        set_number(s, LLM_EVENTS, 1, meter.events);
        set_number(s, LLM_OUTPUT_CHARS, 1, meter.content.chars + meter.reasoning.chars + meter.refusal.chars + meter.arguments.chars);
        set_escaped(s, LLM_MODEL, meter.model);
        set_escaped(s, LLM_FINISH_REASON, meter.finish_reason);
        set_escaped(s, LLM_ERROR, meter.error);
    }
    set_number(s, LLM_TTFT_MS, s->token_events > 0, s->first > s->begun ? (s->first - s->begun) / ms : 0);
    set_number(s, LLM_OUTPUT_MS, s->token_events > 0, (s->last - s->first) / ms);
    set_number(s, LLM_MAX_GAP_MS, s->last > s->first, s->max_gap / ms);
    if (deltawire_end_of(s->parser, &end) == DELTAWIRE_OK) {
        set_word(s, LLM_COMPLETE, end.complete ? "true" : "false");
        set_snake(s, LLM_VERDICT, end.too_long > 0 ? "TooLong" : deltawire_verdict_name(end.verdict));
        if (end.protocol != DELTAWIRE_PROTOCOL_NONE) set_snake(s, LLM_PROTOCOL, deltawire_protocol_name(end.protocol));
    }
    set_quirks(s);
}

int llm_value_of(struct llm_stream *s, unsigned fact, struct llm_value *out) {
    collect(s);
    if (fact < LLM_NUMBERS) {
        out->number = s->number[fact];
        out->text = NULL;
        out->len = 0;
        return (s->has >> fact & 1u) != 0;
    }
    if (fact >= LLM_FACTS) return 0;
    out->number = 0;
    out->text = s->text[fact - LLM_NUMBERS].bytes;
    out->len = s->text[fact - LLM_NUMBERS].len;
    return out->len > 0;
}

/* The parser ------------------------------------------------------------------------------------------------------------------------ */

static void drop_parser(struct llm_stream *s) {
    if (s->parser) s->memory.release(s->memory.ctx, s->parser);
    s->parser = NULL;
    s->size = 0;
}

/* A failure of ours: what is known so far stays, and the rest is not read. */
static void fail(struct llm_stream *s) {
    collect(s);
    drop_parser(s);
    s->state = UNREAD;
    set_word(s, LLM_VERDICT, "unread");
    set_word(s, LLM_COMPLETE, "false");
}

void llm_unread(struct llm_stream *s) {
    if (s->parser) fail(s);
}

static int resize(struct llm_stream *s, size_t size) {
    deltawire_parser *old = s->parser;
    void *mem = s->memory.alloc(s->memory.ctx, size);
    if (mem && deltawire_move(mem, size, old, &s->parser) == DELTAWIRE_OK) {
        s->memory.release(s->memory.ctx, old);
        s->size = size;
        return 0;
    }
    if (mem) s->memory.release(s->memory.ctx, mem);
    return -1;
}

void llm_begin(struct llm_stream *s, const struct llm_response *r) {
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    void *mem;
    memset(s, 0, sizeof *s);
    s->memory = r->memory;
    s->workspace = r->workspace;
    s->begun = r->request_ns;
    if (r->content_encoding.len > 0 && !is_word(r->content_encoding.ptr, r->content_encoding.len, "identity")) {
        s->state = COMPRESSED;
        set_word(s, LLM_VERDICT, "compressed");
        return;
    }
    config.mode = DELTAWIRE_MODE_USAGE;
    config.flags = DELTAWIRE_CFG_GROW | DELTAWIRE_CFG_SHARED;
    config.max_event_len = r->max_event ? r->max_event : LLM_MAX_EVENT_DEFAULT;
    s->small = deltawire_block_size(&config, SMALL_EVENT);
    mem = s->small > 0 ? s->memory.alloc(s->memory.ctx, s->small) : NULL;
    if (!mem || deltawire_init(mem, s->small, &config, &s->parser) != DELTAWIRE_OK) {
        if (mem) s->memory.release(s->memory.ctx, mem);
        fail(s);
        return;
    }
    s->size = s->small;
    s->hide = r->hide_usage && !r->has_length && r->content_encoding.len == 0 &&
              llm_is_type(r->content_type.ptr, r->content_type.len, "text/event-stream");
}

/* Hiding ---------------------------------------------------------------------------------------------------------------------------- */

int llm_hides(const struct llm_stream *s) { return s->hide; }

/* Forwards the bytes up to stream offset `end`: first those that are held, then those of the piece. */
static void forward(struct llm_stream *s, uint64_t end) {
    if (s->sent < s->base && s->sent < end) {
        uint64_t to = end < s->base ? end : s->base;
        size_t len = (size_t)(to - s->sent);
        if (s->pass && !s->failed) s->failed = s->pass(s->to, s->held + (s->held_len - (size_t)(s->base - s->sent)), len, 1);
        s->sent = to;
    }
    if (s->sent < end) {
        if (s->pass && !s->failed) s->failed = s->pass(s->to, s->piece + (size_t)(s->sent - s->base), (size_t)(end - s->sent), 0);
        s->sent = end;
    }
}

static char byte_at(const struct llm_stream *s, uint64_t offset) {
    return offset < s->base ? s->held[s->held_len - (size_t)(s->base - offset)] : s->piece[(size_t)(offset - s->base)];
}

/* Whether a frame has nothing but usage, as docs/gateway.md demands before one is left out. The protocol is judged outside of the
 * callback. */
static int is_usage_alone(const struct llm_stream *s, const deltawire_at *at) {
    const uint64_t usage = DELTAWIRE_MASK(DELTAWIRE_EV_CHUNK) | DELTAWIRE_MASK(DELTAWIRE_EV_USAGE);
    const uint64_t about =
        DELTAWIRE_MASK(DELTAWIRE_EV_FRAME) | DELTAWIRE_MASK(DELTAWIRE_EV_PAYLOAD) | DELTAWIRE_MASK(DELTAWIRE_EV_QUIRK);
    uint64_t from = at->start;
    char first;
    if (at->code != 0 || (at->number & ~about) != usage) return 0;
    /* The length decides, not whether the frame came in one read. */
    if (s->loose || at->start != s->cut || at->end - at->start >= LLM_HELD_MAX) return 0;
    if (from == 0 && at->end > 3 && byte_at(s, 0) == '\xEF' && byte_at(s, 1) == '\xBB' && byte_at(s, 2) == '\xBF') from = 3;
    while (from < at->end && (byte_at(s, from) == '\r' || byte_at(s, from) == '\n')) from++;
    if (from == at->end) return 0;
    first = byte_at(s, from);
    return first == 'd' || first == 'e' || first == 'i'; /* data, event, id */
}

static int32_t on_frame(void *user, const deltawire_at *at) {
    struct llm_stream *s = user;
    int is_alone = is_usage_alone(s, at);
    s->loose = 0;
    s->cut = at->end;
    s->hidden_start = at->start;
    return is_alone ? DELTAWIRE_PAUSE : DELTAWIRE_GO_ON;
}

/* After the pause that on_frame asked for: leaves the frame out if the stream is one of chat completions so far. */
static void judge(struct llm_stream *s) {
    deltawire_end end = DELTAWIRE_END_INIT;
    if (deltawire_end_of(s->parser, &end) != DELTAWIRE_OK || end.protocol != DELTAWIRE_PROTOCOL_CHAT) return;
    forward(s, s->hidden_start);
    s->sent = s->cut;
}

/* Keeps `len` bytes, the part of a frame that has begun. */
static int hold(struct llm_stream *s, size_t len) {
    size_t old = s->sent < s->base ? (size_t)(s->base - s->sent) : 0, room = s->held_room ? s->held_room : 1024u;
    const char *from = s->held ? s->held + (s->held_len - old) : NULL;
    while (room < len) room *= 2;
    if (room > s->held_room) {
        char *mem = s->memory.alloc(s->memory.ctx, room);
        if (!mem) return -1;
        if (old > 0) memcpy(mem, from, old);
        if (s->held) s->memory.release(s->memory.ctx, s->held);
        s->held = mem;
        s->held_room = room;
    } else if (old > 0) {
        memmove(s->held, from, old);
    }
    memcpy(s->held + old, s->piece + (size_t)(s->sent + old - s->base), len - old);
    s->held_len = len;
    return 0;
}

static void drop_held(struct llm_stream *s) {
    if (s->held) s->memory.release(s->memory.ctx, s->held);
    s->held = NULL;
    s->held_len = s->held_room = 0;
}

/* After a piece: forwards the frames that ended in it, and holds the one that has begun. */
static void settle(struct llm_stream *s) {
    deltawire_end end = DELTAWIRE_END_INIT;
    size_t rest;
    /* In no other protocol is anything left out, so nothing need be held. */
    if (s->parser && (deltawire_end_of(s->parser, &end) != DELTAWIRE_OK ||
                      (end.protocol != DELTAWIRE_PROTOCOL_NONE && end.protocol != DELTAWIRE_PROTOCOL_CHAT)))
        s->hide = 0;
    if (!s->parser) s->hide = 0;
    if (!s->hide) {
        forward(s, s->seen);
        drop_held(s);
        return;
    }
    forward(s, s->cut);
    rest = (size_t)(s->seen - s->sent);
    if (rest == 0 || s->loose || rest > LLM_HELD_MAX || hold(s, rest) != 0) {
        s->loose = rest > 0;
        forward(s, s->seen);
        s->held_len = 0;
        if (s->held_room > 1024u) drop_held(s);
    }
}

/* Reading --------------------------------------------------------------------------------------------------------------------------- */

/* Reads bytes, or with NULL the end of the stream. */
static void look(struct llm_stream *s, const char *data, size_t len) {
    deltawire_callbacks table = DELTAWIRE_CALLBACKS_INIT;
    const deltawire_callbacks *callbacks = NULL;
    if (s->hide) {
        table.on_frame = on_frame;
        callbacks = &table;
    }
    while (s->parser) {
        size_t consumed = 0;
        deltawire_status status = data ? deltawire_feed_with(s->parser, s->workspace, data, len, callbacks, s, &consumed)
                                       : deltawire_finish_with(s->parser, s->workspace, callbacks, s);
        if (data) data += consumed;
        len -= consumed;
        if (status == DELTAWIRE_OK) return;
        if (status == DELTAWIRE_PAUSED) {
            judge(s);
        } else if (status != DELTAWIRE_NEED_STORAGE || resize(s, deltawire_need(s->parser)) != 0) {
            fail(s);
        }
    }
}

/* Notes the time of the current piece if it has a token. */
static void clock_token(struct llm_stream *s) {
    deltawire_meter meter = DELTAWIRE_METER_INIT;
    if (!s->parser || deltawire_meter_of(s->parser, &meter) != DELTAWIRE_OK || meter.token_events <= s->token_events) return;
    if (s->token_events == 0) {
        s->first = s->read_at;
    } else if (s->read_at - s->last > s->max_gap) {
        s->max_gap = s->read_at - s->last;
    }
    s->last = s->read_at;
    s->token_events = meter.token_events;
}

int llm_read(struct llm_stream *s, const void *piece, size_t len, uint64_t now, llm_pass pass, void *to) {
    int hid = s->hide;
    if (len == 0) return 0;
    s->base = s->seen;
    s->seen += len;
    s->piece = piece;
    s->pass = pass;
    s->to = to;
    s->read_at = now;
    s->failed = 0;
    look(s, piece, len);
    clock_token(s);
    if (hid) settle(s);
    if (s->parser && s->size > s->small && deltawire_need(s->parser) <= s->small) (void)resize(s, s->small);
    s->piece = NULL;
    return s->failed;
}

int llm_end(struct llm_stream *s, enum llm_ending ending, llm_pass pass, void *to) {
    static const char *const words[] = {"upstream_end", "upstream_reset", "client_left", "local_reply"};
    const struct llm_text *complete = text_of(s, LLM_COMPLETE);
    int hid = s->hide, state = s->state;
    if (state == OVER) return 0;
    s->base = s->seen;
    s->pass = pass;
    s->to = to;
    s->failed = 0;
    look(s, NULL, 0);
    clock_token(s);
    if (hid) {
        s->hide = 0;
        settle(s);
    }
    collect(s);
    drop_parser(s);
    s->state = OVER;
    set_word(s, LLM_ENDED_BY,
             ending == LLM_UPSTREAM_ENDED && complete->len == 4 ? "complete" : words[ending < sizeof words / sizeof *words ? ending : 0]);
    return s->failed;
}
