#include "meter.h"

#include <stdlib.h>
#include <string.h>

static void put_text(text *out, const char *name, deltawire_str s)
{
    if (!s.len) return;
    text_str(out, " ");
    text_str(out, name);
    text_str(out, "=");
    text_escaped(out, s.ptr, s.len, 1);
    if (!is_utf8(s.ptr, s.len)) die("a text of a meter is no UTF-8");
}

static void put_u64(text *out, const char *before, uint64_t number)
{
    text_str(out, before);
    text_u64(out, number);
}

static void put_token(text *out, const char *name, const deltawire_token *token)
{
    if (token->reserved) die("reserved is not 0");
    if (token->kind == DELTAWIRE_TOKEN_NONE) {
        if (token->event || token->offset) die("no token, but it has a place");
        return;
    }
    text_str(out, name);
    text_u64(out, token->kind);
    put_u64(out, ":", token->event);
    put_u64(out, ":", token->offset);
}

static void put_amount(text *out, const char *name, const deltawire_amount *amount)
{
    put_u64(out, name, amount->bytes);
    put_u64(out, "/", amount->chars);
}

static void put_usage(text *out, const char *name, const deltawire_usage *usage)
{
    const uint64_t *counts = &usage->prompt; /* the counts follow each other, as their bits do */
    uint32_t i;
    if (usage->size != sizeof *usage) die("a usage without its size");
    for (i = 0; i < 10; i++) {
        if (usage->has) text_str(out, i ? "," : name);
        if (usage->has >> i & 1) text_u64(out, counts[i]);
        else if (counts[i]) die("a count that is not there");
        else if (usage->has) text_str(out, "-");
    }
}

/* Writes the line, as examples/event_log.rs does. */
static void put_meter(text *out, const char *word, size_t at, const deltawire_meter *m)
{
    uint32_t i;
    put_u64(out, word, at);
    put_token(out, " first=", &m->first);
    put_token(out, " last=", &m->last);
    put_u64(out, " events=", m->token_events);
    put_u64(out, "/", m->events);
    put_amount(out, " content=", &m->content);
    put_amount(out, " reasoning=", &m->reasoning);
    put_amount(out, " refusal=", &m->refusal);
    put_amount(out, " arguments=", &m->arguments);
    put_u64(out, " calls=", m->calls);
    for (i = 0; i < DELTAWIRE_METER_NAMES; i++) {
        if (i < m->names) put_text(out, "name", m->call_names[i]);
        else if (m->call_names[i].len || m->call_names[i].ptr) die("a name that does not count");
    }
    put_text(out, "model", m->model);
    put_text(out, "id", m->id);
    put_text(out, "finish", m->finish_reason);
    put_text(out, "error", m->error);
    put_text(out, "tool_usage", m->tool_usage);
    put_u64(out, " kind=", m->finish);
    put_usage(out, " usage=", &m->usage);
    put_usage(out, " iterations=", &m->iterations);
    put_usage(out, " other_iterations=", &m->other_iterations);
}

static size_t line_len(const meters *m, size_t at) { return strcspn(m->lines.ptr + at, "\n"); }

static void compare(const meters *m, size_t want, logbook *log, const deltawire_parser *p, const char *word, size_t at)
{
    const char *line = m->lines.ptr + want;
    size_t len = line_len(m, want);
    deltawire_meter meter = DELTAWIRE_METER_INIT;
    deltawire_status status = deltawire_meter_of(p, &meter);
    text got = TEXT_INIT;
    if (status != DELTAWIRE_OK) {
        log_bad(log, "deltawire_meter_of answers minus", (uint64_t)-status);
        return;
    }
    put_meter(&got, word, at, &meter);
    if ((got.len != len || memcmp(got.ptr, line, len) != 0) && !log->bad.len) {
        text_str(&log->bad, "    got    ");
        text_put(&log->bad, got.ptr, got.len);
        text_str(&log->bad, "\n    wanted ");
        text_put(&log->bad, line, len);
        text_str(&log->bad, "\n");
    }
    text_free(&got);
}

/* Whether the line there begins with `word` and a number, which it writes to `number`. */
static int has(const meters *m, size_t at, const char *word, size_t *number)
{
    if (at >= m->lines.len || strncmp(m->lines.ptr + at, word, strlen(word)) != 0) return 0;
    *number = (size_t)strtoull(m->lines.ptr + at + strlen(word), NULL, 10);
    return 1;
}

void meter_so_far(meters *m, logbook *log, const deltawire_parser *p, size_t fed)
{
    size_t from, next;
    if (!has(m, m->at, "from ", &from) || from > fed) m->at = 0;
    for (;;) {
        next = m->at + line_len(m, m->at) + 1;
        if (!has(m, next, "from ", &from) || from > fed) break;
        m->at = next;
    }
    if (!has(m, m->at, "from ", &from)) die("a file of meters has no line `from`");
    compare(m, m->at, log, p, "from ", from);
}

int meter_next_cut(const meters *m, size_t *line, size_t *cut)
{
    for (; *line < m->lines.len; *line += line_len(m, *line) + 1)
        if (has(m, *line, "cut ", cut)) return 1;
    return 0;
}

void meter_at_end(const meters *m, logbook *log, const deltawire_parser *p, size_t len)
{
    size_t line, cut;
    for (line = 0; meter_next_cut(m, &line, &cut); line++) {
        if (cut != len) continue;
        compare(m, line, log, p, "cut ", len);
        return;
    }
    log_bad(log, "no line `cut` of a stream of bytes", len);
}
