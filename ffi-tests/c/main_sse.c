/* Mode SSE: any event stream. Runs its own cases, and those of files written by sse_cases.py. sse [--malloc]
 * [FILE...] */
#include "drive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long runs, wrong, inputs;

/* Reads in every way; the lines of the kinds in `only` must be `want`. */
static void one(const how *h, const char *name, const text *input, const text *want, uint64_t only)
{
    logbook log;
    size_t end;
    log_init(&log);
    log.only = only;
    drive(h, input->ptr, input->len, &log);
    runs++;
    /* Except the last lines, which describe the end. */
    for (end = 0; end < log.lines.len; end += strcspn(log.lines.ptr + end, "\n") + 1)
        if (!strncmp(log.lines.ptr + end, "last-id ", 8) || !strncmp(log.lines.ptr + end, "end ", 4)) break;
    if (log.bad.len || end != want->len || (end && memcmp(log.lines.ptr, want->ptr, end) != 0)) {
        if (wrong++ < 20) {
            text words = TEXT_INIT;
            describe(h, &words);
            printf("%s: %s\n%s  got\n%.*s  wanted\n%s", name, words.ptr, log.bad.len ? log.bad.ptr : "", (int)end,
                   log.lines.ptr ? log.lines.ptr : "", want->len ? want->ptr : "");
            text_free(&words);
        }
    }
    log_free(&log);
}

static void each_way(const char *name, const text *input, const text *want, uint64_t only, uint32_t flags)
{
    static const struct {
        int batch;
        size_t cap, scratch, direct;
        int pause, grow;
    } ways[] = {{0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 1, 1}, {1, 1, 64, 0, 0, 1}, {1, 3, 64, 0, 0, 0}, {1, 64, 4096, 0, 0, 1},
                {0, 0, 0, 64, 0, 1}, {1, 2, 64, 64, 0, 0}};
    size_t i;
    for (i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        how h = HOW_INIT;
        h.batch = ways[i].batch;
        if (h.batch) h.cap = ways[i].cap, h.scratch = ways[i].scratch;
        h.direct = ways[i].direct;
        h.pause = h.again = ways[i].pause;
        h.grow = ways[i].grow;
        if (h.grow) h.event_bytes = 64;
        h.config.mode = DELTAWIRE_MODE_SSE;
        h.config.flags = flags;
        h.config.events = DELTAWIRE_MASK(DELTAWIRE_EV_COUNT) - 1;
        one(&h, name, input, want, only);
        for (h.step = 1; h.step < 12; h.step += 5) one(&h, name, input, want, only);
        h.step = 0;
        if (input->len < 300)
            for (h.cut = 1; h.cut < input->len; h.cut++) one(&h, name, input, want, only);
    }
    inputs++;
}

/* Frames are complete only if all kinds are emitted. */
#define BUT_FRAMES (ALL_KINDS & ~DELTAWIRE_MASK(DELTAWIRE_EV_FRAME) & ~DELTAWIRE_MASK(DELTAWIRE_EV_QUIRK))

static void own(void)
{
    static const struct {
        const char *name, *input, *want;
        uint32_t flags;
    } own_cases[] = {
        {"all in order",
         ": c\nretry: 10\nevent: add\nid: 1\ndata: a\r\ndata\rdata:  b\n\nx: y\ndata: \xE2\x82\xAC\n\n",
         "comment 0..4 \"c\"\nretry 4..14 10\nsse \"add\" \"a\\n\\n b\" \"1\"\nsse \"message\" \"\\xE2\\x82\\xAC\" \"1\"\n", 0},
        {"no last blank line, to the letter", "data: a\n\ndata: b\n", "sse \"message\" \"a\" \"\"\n", DELTAWIRE_CFG_SPEC},
        {"payloads are not looked into", "data: [DONE]\n\ndata: {\"choices\":\n\n",
         "sse \"message\" \"[DONE]\" \"\"\nsse \"message\" \"{\\\"choices\\\":\" \"\"\n", DELTAWIRE_CFG_SPEC},
        {"nothing", "", "", 0},
        {"blank lines", "\n\r\n\r\n", "", DELTAWIRE_CFG_SPEC},
    };
    size_t i;
    for (i = 0; i < sizeof own_cases / sizeof own_cases[0]; i++) {
        text input = TEXT_INIT, want = TEXT_INIT;
        text_put(&input, own_cases[i].input, strlen(own_cases[i].input));
        text_put(&want, own_cases[i].want, strlen(own_cases[i].want));
        each_way(own_cases[i].name, &input, &want, i == 0 ? BUT_FRAMES : ALL_KINDS, own_cases[i].flags);
        text_free(&input);
        text_free(&want);
    }
}

static void unhex(text *out, const char *s)
{
    text_clear(out);
    text_put(out, "", 0);
    for (; s[0] && s[1]; s += 2) {
        unsigned byte;
        char c;
        if (sscanf(s, "%2x", &byte) != 1) die("no hex");
        c = (char)byte;
        text_put(out, &c, 1);
    }
}

static void of_file(const char *path)
{
    text file = TEXT_INIT, input = TEXT_INIT, events = TEXT_INIT, part = TEXT_INIT;
    char *line, *next, name[200] = "";
    if (!text_of_file(&file, path)) die("the cases cannot be read");
    for (line = file.ptr; *line; line = next) {
        size_t len = strcspn(line, "\n");
        char *word, *rest;
        next = line + len + (line[len] == '\n');
        line[len] = 0;
        word = strtok(line, " ");
        rest = strtok(NULL, " ");
        if (!word || !rest) die("a line of the cases has no second word");
        if (!strcmp(word, "case")) {
            sprintf(name, "%.190s", rest);
            text_clear(&events);
        } else if (!strcmp(word, "input")) {
            unhex(&input, rest);
        } else if (!strcmp(word, "event")) {
            text_str(&events, "sse");
            for (; rest; rest = strtok(NULL, " ")) {
                unhex(&part, rest);
                text_str(&events, " ");
                text_escaped(&events, part.ptr, part.len, 1);
            }
            text_str(&events, "\n");
        } else if (!strcmp(word, "retry")) {
            each_way(name, &input, &events, DELTAWIRE_MASK(DELTAWIRE_EV_SSE), DELTAWIRE_CFG_SPEC);
            /* The last reconnection time. */
            {
                logbook log;
                how h = HOW_INIT;
                const char *last;
                log_init(&log);
                h.config.mode = DELTAWIRE_MODE_SSE;
                h.config.flags = DELTAWIRE_CFG_SPEC;
                log.only = DELTAWIRE_MASK(DELTAWIRE_EV_RETRY);
                drive(&h, input.ptr, input.len, &log);
                last = "none";
                for (word = strtok(log.lines.ptr, "\n"); word && !strncmp(word, "retry ", 6); word = strtok(NULL, "\n"))
                    last = strrchr(word, ' ') + 1;
                if (strcmp(last, rest) != 0 && wrong++ < 20) printf("%s: retry %s, wanted %s\n", name, last, rest);
                log_free(&log);
            }
        } else {
            die("a line of the cases that is not known");
        }
    }
    text_free(&file);
    text_free(&input);
    text_free(&events);
    text_free(&part);
}

int main(int argc, char **argv)
{
    int i;
    count_from_now();
    if (argc > 1 && !strcmp(argv[1], "--malloc")) guarded = 0;
    own();
    for (i = 1; i < argc; i++)
        if (argv[i][0] != '-') of_file(argv[i]);
    printf("sse: %lu cases, %lu runs, %lu wrong\n", inputs, runs, wrong);
    return wrong != 0;
}
