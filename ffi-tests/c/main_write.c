/* Writes streams, and tests the writer and the place of a value, one answer at a time.
 *
 * write chat|anthropic|responses [--room N | --translate N] FILE: writes the response in FILE as `deltawire convert` does, to a buffer of N
 * bytes, which becomes larger only for an event that needs more. The writer's block begins as small as it can be, and grows
 * and moves when it must. With --translate the translator does it, else the program, event by event.
 * write: the tests. */
#include "drive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long checks, wrong;

static void check_at(int good, const char *what, int line)
{
    checks++;
    if (good) return;
    if (++wrong <= 40) printf("line %d: %s\n", line, what);
}

#define CHECK(condition) check_at((condition) != 0, #condition, __LINE__)

/* ---- A response in one protocol, as a stream of another */

#define CHOICES 64

struct converting {
    uint32_t to;
    size_t size, cap, len;
    deltawire_writer *writer; /* NULL: nothing is written yet */
    char *buf;
    text id, model;
    uint64_t created;
    /* Of each choice: whether it is there, and its last finish reason, which is written at the end. */
    int seen[CHOICES];
    deltawire_event finish[CHOICES];
    text reason[CHOICES];
};

static deltawire_str str_of_text(const text *t)
{
    deltawire_str s = {NULL, 0};
    s.ptr = t->ptr;
    s.len = t->len;
    return s;
}

static void begin(struct converting *c)
{
    deltawire_writer_config config = DELTAWIRE_WRITER_CONFIG_INIT;
    config.protocol = c->to;
    config.flags = DELTAWIRE_WRITE_USAGE;
    config.created = c->created;
    config.id = str_of_text(&c->id);
    config.model = str_of_text(&c->model);
    c->size = deltawire_writer_size(&config, 0);
    if (deltawire_writer_init(need_memory(c->size), c->size, &config, &c->writer) != DELTAWIRE_OK) die("writer_init");
}

static void flush(struct converting *c)
{
    fwrite(c->buf, 1, c->len, stdout);
    c->len = 0;
}

/* After a call of the writer: makes what it needs. Returns 1 to call it again. */
static int again(struct converting *c, deltawire_status status)
{
    count_status(status);
    if (status == DELTAWIRE_NEED_ROOM) {
        size_t room = deltawire_writer_room(c->writer);
        if (room <= c->cap - c->len) die("there was enough room");
        flush(c);
        if (room > c->cap) {
            free(c->buf);
            c->buf = need_memory(c->cap = room);
        }
        return 1;
    }
    if (status == DELTAWIRE_NEED_STORAGE) {
        /* A block contains no pointers, so copying it is a move. */
        size_t need = deltawire_writer_need(c->writer);
        void *mem = need_memory(need);
        if (need <= c->size) die("the block was large enough");
        memcpy(mem, (void *)c->writer, c->size);
        memset((void *)c->writer, 0xA5, c->size);
        free(c->writer);
        c->writer = mem;
        c->size = need;
        if (deltawire_writer_resize(c->writer, need) != DELTAWIRE_OK) die("writer_resize");
        return 1;
    }
    flush(c);
    return 0;
}

static void put(struct converting *c, const deltawire_event *e, const char *s, size_t len, const char *aux, size_t aux_len)
{
    if (!c->writer) begin(c);
    while (again(c, deltawire_writer_put(c->writer, e, s, len, aux, aux_len, c->buf, c->cap, &c->len))) {}
}

static void replace(text *t, const char *s, size_t len)
{
    text_free(t);
    text_put(t, s, len);
}

static int is(const text *t, const char *word)
{
    return t->len == strlen(word) && !memcmp(t->ptr, word, t->len);
}

static void take(struct converting *c, const deltawire_event *e, const char *base, const char *scratch)
{
    const char *s = (e->flags & DELTAWIRE_EVF_TEXT_SCRATCH ? scratch : base) + e->text_off;
    const char *aux = (e->flags & DELTAWIRE_EVF_AUX_SCRATCH ? scratch : base) + e->aux_off;
    int known = e->choice == 0 || c->to == DELTAWIRE_PROTOCOL_CHAT;
    count_event(FROM_BATCH, e->kind, e->flags);
    if (e->flags & DELTAWIRE_EVF_MORE) die("a text in pieces");
    if (e->choice >= CHOICES) return;
    switch (e->kind) {
    case DELTAWIRE_EV_CHUNK:
        if (c->writer) return;
        /* The first of each counts. */
        if (e->text_len && is(&c->id, "response")) replace(&c->id, s, e->text_len);
        if (e->aux_len && is(&c->model, "unknown")) replace(&c->model, aux, e->aux_len);
        if (e->flags & DELTAWIRE_EVF_NUMBER && !c->created) c->created = e->number;
        return;
    case DELTAWIRE_EV_FINISH:
        if (known) {
            c->seen[e->choice] = 1;
            c->finish[e->choice] = *e;
            replace(&c->reason[e->choice], s, e->text_len);
            return;
        }
        break;
    case DELTAWIRE_EV_TOOL_CALL:
        if (known && !c->finish[e->choice].kind) {
            c->seen[e->choice] = 1;
            c->finish[e->choice].kind = DELTAWIRE_EV_FINISH;
            c->finish[e->choice].choice = e->choice;
            replace(&c->reason[e->choice], "tool_calls", 10);
        }
        break;
    case DELTAWIRE_EV_CHOICE_ERROR: c->seen[e->choice] = 0; c->finish[e->choice].kind = 0; break;
    case DELTAWIRE_EV_USAGE:
    case DELTAWIRE_EV_ERROR:
    case DELTAWIRE_EV_TOOL_CALL_END: break;
    case DELTAWIRE_EV_META:
        /* Members of the chunk describe the response. */
        if (e->code <= DELTAWIRE_META_PROVIDER || e->code == DELTAWIRE_META_MEMBER) return;
        break;
    case DELTAWIRE_EV_ROLE:
    case DELTAWIRE_EV_CONTENT:
    case DELTAWIRE_EV_REASONING:
    case DELTAWIRE_EV_REFUSAL:
    case DELTAWIRE_EV_TOOL_NAME:
    case DELTAWIRE_EV_TOOL_ARGUMENTS:
    case DELTAWIRE_EV_FUNCTION_NAME:
    case DELTAWIRE_EV_FUNCTION_ARGUMENTS:
    case DELTAWIRE_EV_AUDIO:
    case DELTAWIRE_EV_LOGPROBS:
    case DELTAWIRE_EV_ANNOTATION:
    case DELTAWIRE_EV_SIGNATURE:
    case DELTAWIRE_EV_MEDIA:
    case DELTAWIRE_EV_NATIVE:
        if (known) c->seen[e->choice] = 1;
        break;
    default: return;
    }
    put(c, e, s, e->text_len, aux, e->aux_len);
}

static void conclude(struct converting *c, int complete)
{
    static const char said[] = "the response is not complete";
    int choice, any = 0;
    for (choice = 0; choice < CHOICES; choice++) any |= c->seen[choice];
    if (!c->writer && !any) return;
    if (!c->writer) begin(c);
    for (choice = 0; choice < CHOICES && complete; choice++) {
        deltawire_event *e = &c->finish[choice];
        if (!c->seen[choice]) continue;
        if (!e->kind) replace(&c->reason[choice], "stop", 4);
        e->kind = DELTAWIRE_EV_FINISH;
        e->choice = (uint32_t)choice;
        put(c, e, c->reason[choice].ptr, c->reason[choice].len, NULL, 0);
    }
    while (again(c, complete ? deltawire_writer_finish(c->writer, c->buf, c->cap, &c->len)
                             : deltawire_writer_fail(c->writer, said, sizeof said - 1, c->buf, c->cap, &c->len))) {}
}

static int convert(uint32_t to, size_t cap, const char *path)
{
    static deltawire_event events[64];
    struct converting c;
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    deltawire_end end = DELTAWIRE_END_INIT;
    deltawire_parser *parser = NULL;
    text input = TEXT_INIT;
    size_t size, scratch_len, at = 0;
    char *scratch;
    int choice, finish = 0;
    if (!text_of_file(&input, path)) die("the file cannot be read");
    memset(&c, 0, sizeof c);
    c.to = to;
    c.buf = need_memory(c.cap = cap);
    replace(&c.id, "response", 8);
    replace(&c.model, "unknown", 7);
    config.max_event_len = 1u << 24;
    config.events = DELTAWIRE_MESSAGE_EVENTS;
    size = deltawire_block_size(NULL, input.len + 64);
    if (deltawire_init(need_memory(size), size, &config, &parser) != DELTAWIRE_OK) die("init");
    scratch = need_memory(scratch_len = 2 * input.len + 4096);
    for (;;) {
        deltawire_batch_result result;
        uint32_t i;
        deltawire_status status =
            finish ? deltawire_batch_finish(parser, events, 64, scratch, scratch_len, &result)
                   : deltawire_batch(parser, input.ptr + at, input.len - at, events, 64, scratch, scratch_len, &result);
        for (i = 0; i < result.events; i++) take(&c, &events[i], finish ? NULL : input.ptr + at, scratch);
        if (!finish) at += result.consumed;
        if (status < 0) die(deltawire_status_name(status));
        if (status != DELTAWIRE_OK) continue;
        if (finish) break;
        finish = 1;
    }
    if (deltawire_end_of(parser, &end) != DELTAWIRE_OK) die("end_of");
    conclude(&c, end.complete != 0);
    for (choice = 0; choice < CHOICES; choice++) text_free(&c.reason[choice]);
    text_free(&c.id);
    text_free(&c.model);
    text_free(&input);
    free(parser);
    free(scratch);
    free(c.buf);
    free(c.writer);
    return 0;
}

/* Does the same by the translator, from reads of different lengths. The parser's block begins small, too. */
static int translate(uint32_t to, size_t cap, const char *path)
{
    struct converting c;
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    deltawire_parser *parser = NULL;
    text input = TEXT_INIT;
    size_t size, end = 0, at = 0, consumed;
    uint64_t lost = 1;
    if (!text_of_file(&input, path)) die("the file cannot be read");
    memset(&c, 0, sizeof c);
    c.to = to;
    c.buf = need_memory(c.cap = cap);
    begin(&c);
    config.max_event_len = 1u << 24;
    config.flags = DELTAWIRE_CFG_GROW;
    size = deltawire_block_size(NULL, 64);
    if (deltawire_init(need_memory(size), size, &config, &parser) != DELTAWIRE_OK) die("init");
    for (;;) {
        deltawire_status status =
            at == input.len ? deltawire_translate_finish(c.writer, parser, c.buf, c.cap, &c.len)
                            : deltawire_translate(c.writer, parser, input.ptr + at, end - at, &consumed, c.buf, c.cap, &c.len);
        if (status < 0) die(deltawire_status_name(status));
        if (status == DELTAWIRE_NEED_STORAGE && deltawire_writer_need(c.writer) <= c.size) {
            size = deltawire_need(parser);
            parser = realloc(parser, size);
            if (!parser || deltawire_resize(parser, size) != DELTAWIRE_OK) die("resize");
        } else if (!again(&c, status) && at == input.len) {
            break;
        }
        if (at == input.len) continue;
        at += consumed;
        if (at == end) end += 1 + end * 7 % 61;
        if (end > input.len) end = input.len;
    }
    if (deltawire_translate_left_out(c.writer, NULL, &lost) != DELTAWIRE_OK || lost) printf("%lu lost\n", (unsigned long)lost);
    text_free(&input);
    free(parser);
    free(c.buf);
    free(c.writer);
    return 0;
}

/* ---- One answer at a time */

static union { uint64_t align; unsigned char bytes[DELTAWIRE_WRITER_SIZE(4096)]; } block;
static char buf[8192];
static size_t len;

static deltawire_writer *made(uint32_t protocol)
{
    deltawire_writer_config config = DELTAWIRE_WRITER_CONFIG_INIT;
    deltawire_writer *w = NULL;
    config.protocol = protocol;
    config.id.ptr = "id-1", config.id.len = 4;
    config.model.ptr = "model-1", config.model.len = 7;
    CHECK(deltawire_writer_size(&config, 1000) > deltawire_writer_size(&config, 0));
    CHECK(deltawire_writer_size(&config, 2000) <= sizeof block);
    CHECK(deltawire_writer_init(&block, sizeof block, &config, &w) == DELTAWIRE_OK);
    CHECK((void *)w == (void *)&block);
    len = 0;
    return w;
}

static deltawire_event event_of(uint32_t kind)
{
    deltawire_event e;
    memset(&e, 0, sizeof e);
    e.kind = (uint16_t)kind;
    return e;
}

static deltawire_status says(deltawire_writer *w, uint32_t kind, const char *s)
{
    deltawire_event e = event_of(kind);
    return deltawire_writer_put(w, &e, s, strlen(s), NULL, 0, buf, sizeof buf, &len);
}

/* Whether the end of what was written is this. */
static int ends(const char *want)
{
    size_t n = strlen(want);
    return len >= n && memcmp(buf + len - n, want, n) == 0;
}

static void answers(void)
{
    deltawire_writer *w = made(DELTAWIRE_PROTOCOL_CHAT);
    deltawire_event e = event_of(DELTAWIRE_EV_CONTENT);
    size_t before;
    CHECK(deltawire_writer_keep_alive(w, buf, sizeof buf, &len) == DELTAWIRE_OK && ends(": keep-alive\n\n"));
    CHECK(deltawire_writer_finish(w, buf, sizeof buf, &len) == DELTAWIRE_E_UNFINISHED);
    CHECK(says(w, DELTAWIRE_EV_CONTENT, "a \"b\"\n") == DELTAWIRE_OK && ends("{\"content\":\"a \\\"b\\\"\\n\"},\"finish_reason\":null}]}\n\n"));
    CHECK(says(w, DELTAWIRE_EV_NATIVE, "{}") == DELTAWIRE_E_NO_PLACE);
    CHECK(says(w, DELTAWIRE_EV_FRAME, "") == DELTAWIRE_E_NO_PLACE);
    CHECK(says(w, 60, "") == DELTAWIRE_E_RANGE);
    CHECK(says(w, DELTAWIRE_EV_ANNOTATION, "[") == DELTAWIRE_E_JSON);
    e.choice = 64;
    CHECK(deltawire_writer_put(w, &e, "x", 1, NULL, 0, buf, sizeof buf, &len) == DELTAWIRE_E_RANGE);
    e.choice = 0;
    /* No room: nothing is written, and the same event follows. */
    before = len;
    CHECK(deltawire_writer_put(w, &e, "x", 1, NULL, 0, buf, before + 9, &len) == DELTAWIRE_NEED_ROOM);
    CHECK(len == before && deltawire_writer_room(w) > 9);
    CHECK(deltawire_writer_put(w, &e, "x", 1, NULL, 0, buf, before + deltawire_writer_room(w) - 1, &len) == DELTAWIRE_NEED_ROOM);
    CHECK(deltawire_writer_put(w, &e, "x", 1, NULL, 0, buf, before + deltawire_writer_room(w), &len) == DELTAWIRE_OK);
    CHECK(deltawire_writer_room(w) == 0 && ends("{\"content\":\"x\"},\"finish_reason\":null}]}\n\n"));
    len = sizeof buf + 1;
    CHECK(says(w, DELTAWIRE_EV_CONTENT, "y") == DELTAWIRE_E_RANGE && len == sizeof buf + 1);
    len = 0;
    CHECK(says(w, DELTAWIRE_EV_FINISH, "stop") == DELTAWIRE_OK);
    CHECK(says(w, DELTAWIRE_EV_CONTENT, "late") == DELTAWIRE_E_LATE);
    CHECK(deltawire_writer_finish(w, buf, sizeof buf, &len) == DELTAWIRE_OK && ends("data: [DONE]\n\n"));
    CHECK(deltawire_writer_finish(w, buf, sizeof buf, &len) == DELTAWIRE_E_ENDED);
    CHECK(says(w, DELTAWIRE_EV_CONTENT, "z") == DELTAWIRE_E_ENDED);

    w = made(DELTAWIRE_PROTOCOL_ANTHROPIC);
    CHECK(says(w, DELTAWIRE_EV_CONTENT, "a") == DELTAWIRE_OK);
    CHECK(deltawire_writer_keep_alive(w, buf, sizeof buf, &len) == DELTAWIRE_OK && ends("data: {\"type\":\"ping\"}\n\n"));
    CHECK(deltawire_writer_fail(w, "went away", 9, buf, sizeof buf, &len) == DELTAWIRE_OK);
    CHECK(ends("\"message\":\"went away\"}}\n\n"));
}

/* The memory of Responses grows with the texts, and a copy of the block goes on. */
static void storage(void)
{
    static union { uint64_t align; unsigned char bytes[65536]; } other;
    deltawire_writer_config config = DELTAWIRE_WRITER_CONFIG_INIT;
    deltawire_writer *w = NULL;
    size_t size, need;
    char many[2001];
    memset(many, 'm', sizeof many);
    many[2000] = 0;
    config.protocol = DELTAWIRE_PROTOCOL_RESPONSES;
    size = deltawire_writer_size(&config, 0);
    CHECK(size > 0 && size <= sizeof block);
    CHECK(deltawire_writer_init(&block, size - 8, &config, NULL) == DELTAWIRE_E_SMALL);
    CHECK(deltawire_writer_init(&block, size, &config, &w) == DELTAWIRE_OK);
    len = 0;
    need = deltawire_writer_need(w);
    CHECK(need <= size);
    CHECK(says(w, DELTAWIRE_EV_CONTENT, many) == DELTAWIRE_NEED_STORAGE);
    need = deltawire_writer_need(w);
    CHECK(need > size && need < sizeof other);
    memcpy(&other, &block, size);
    memset(&block, 0xA5, sizeof block);
    w = (deltawire_writer *)(void *)&other;
    CHECK(deltawire_writer_resize(w, 16) == DELTAWIRE_E_SMALL);
    CHECK(deltawire_writer_resize(w, sizeof other) == DELTAWIRE_OK);
    CHECK(says(w, DELTAWIRE_EV_CONTENT, many) == DELTAWIRE_OK);
    CHECK(deltawire_writer_resize(w, size) == DELTAWIRE_E_SMALL);
    CHECK(says(w, DELTAWIRE_EV_FINISH, "stop") == DELTAWIRE_OK);
    while (deltawire_writer_finish(w, buf, sizeof buf, &len) == DELTAWIRE_NEED_ROOM) len = 0;
    CHECK(deltawire_writer_finish(w, buf, sizeof buf, &len) == DELTAWIRE_E_ENDED);
}

static void configs(void)
{
    deltawire_writer_config config = DELTAWIRE_WRITER_CONFIG_INIT, bad;
    deltawire_writer *w = NULL;
#define REFUSED(change)                                                                          \
    (bad = config, change, deltawire_writer_size(&bad, 0) == 0 &&                                \
                               deltawire_writer_init(&block, sizeof block, &bad, &w) == DELTAWIRE_E_CONFIG)
    config.protocol = DELTAWIRE_PROTOCOL_CHAT;
    CHECK(deltawire_writer_init(&block, sizeof block, &config, NULL) == DELTAWIRE_OK);
    CHECK(REFUSED(bad.size = 9));
    CHECK(REFUSED(bad.size = 0));
    CHECK(REFUSED(bad.protocol = DELTAWIRE_PROTOCOL_GEMINI));
    CHECK(REFUSED(bad.protocol = 99));
    CHECK(REFUSED(bad.flags = 4));
    CHECK(REFUSED(bad.reserved = 1));
    CHECK(REFUSED((bad.id.ptr = "\xFF", bad.id.len = 1)));
    CHECK(REFUSED((bad.model.ptr = "\xC3", bad.model.len = 1)));
    CHECK(REFUSED((bad.members.ptr = "[1]", bad.members.len = 3)));
    CHECK(REFUSED((bad.members.ptr = "{\"a\":", bad.members.len = 5)));
    CHECK(w == NULL);
    config.flags = DELTAWIRE_WRITE_USAGE | DELTAWIRE_WRITE_EVENT_IDS;
    config.retry = 5, config.first_sequence = 7, config.text_len = 16, config.created = 9;
    config.members.ptr = "{\"service_tier\": \"x\"}", config.members.len = 21;
    CHECK(deltawire_writer_init(&block, sizeof block, &config, &w) == DELTAWIRE_OK);
    len = 0;
    CHECK(says(w, DELTAWIRE_EV_CONTENT, "seventeen letters") == DELTAWIRE_OK);
    CHECK(len > 16 && memcmp(buf, "retry: 5\nid: 7\n", 15) == 0);
    CHECK(ends("\"created\":9,\"model\":\"\",\"service_tier\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"s\"},"
               "\"finish_reason\":null}],\"usage\":null}\n\n"));
#undef REFUSED
}

/* Where a value lies on the wire. */
static void places(void)
{
    static const char event[] = ": c\r\ndata: {\"model\":\"m\",\"usage\":{\r\ndata:\"total_tokens\":5}}\r\n\r\n";
    static const char payload[] = "{\"model\":\"m\",\"usage\":{\n\"total_tokens\":5}}";
    deltawire_chunk_storage storage_of_chunk;
    const deltawire_chunk *c = NULL;
    deltawire_value v;
    size_t start = 0, end = 0, n = sizeof event - 1;
    CHECK(deltawire_chunk_open(payload, sizeof payload - 1, &storage_of_chunk, &c) == DELTAWIRE_OK);
    CHECK(deltawire_chunk_field(c, DELTAWIRE_F_MODEL, &v) == DELTAWIRE_OK);
    CHECK(deltawire_chunk_place(c, event, n, &v, &start, &end) == DELTAWIRE_OK);
    CHECK(end - start == 3 && memcmp(event + start, "\"m\"", 3) == 0);
    CHECK(deltawire_chunk_place(c, event, start, &v, &start, &end) == DELTAWIRE_ABSENT);
    CHECK(deltawire_chunk_member(c, "usage", 5, &v) == DELTAWIRE_OK);
    CHECK(deltawire_chunk_place(c, event, n, &v, &start, &end) == DELTAWIRE_OK);
    CHECK(memcmp(event + start, "{\r\ndata:", 8) == 0 && memcmp(event + end, "}\r\n\r\n", 5) == 0);
    CHECK(deltawire_value_open("5", 1, &v) == DELTAWIRE_OK);
    CHECK(deltawire_chunk_place(c, event, n, &v, &start, &end) == DELTAWIRE_ABSENT);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"chat", "anthropic", "responses"};
    static const uint32_t protocols[] = {DELTAWIRE_PROTOCOL_CHAT, DELTAWIRE_PROTOCOL_ANTHROPIC,
                                         DELTAWIRE_PROTOCOL_RESPONSES};
    int (*how)(uint32_t, size_t, const char *) = convert;
    size_t room = 16384;
    int i;
    count_from_now();
    if (argc == 1) {
        answers();
        storage();
        configs();
        places();
        printf("%lu checks, %lu wrong\n", checks, wrong);
        return wrong != 0;
    }
    if (argc == 5 && strcmp(argv[2], "--translate") == 0) how = translate;
    if (argc == 5) room = (size_t)strtoul(argv[3], NULL, 10);
    for (i = 0; i < 3 && (argc == 3 || argc == 5); i++)
        if (strcmp(argv[1], names[i]) == 0) return how(protocols[i], room, argv[argc - 1]);
    die("write [chat|anthropic|responses [--room N | --translate N] FILE]");
    return 1;
}
