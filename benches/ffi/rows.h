/* rows FILE SLICE PASSES: what the rows of C and C++ share. Each reads all responses of the file in slices and appends the
 * content of choice 0 to a buffer that is used again. With SLICE 0, many streams that share a workspace read one event each in
 * turn, as in a gateway. */
#ifndef ROWS_H
#define ROWS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct content {
    char *ptr;
    size_t len, cap;
    uint64_t texts;
};

struct sums {
    uint64_t texts, bytes, hash;
};

static char *rows_bytes;
static size_t rows_len, rows_slice;
static struct content rows_content;

static void rows_put(const char *text, size_t len, int last) {
    struct content *c = &rows_content;
    if (c->cap - c->len < len) {
        c->cap = (c->cap + len) * 2;
        c->ptr = (char *)realloc(c->ptr, c->cap);
        if (!c->ptr) exit(1);
    }
    memcpy(c->ptr + c->len, text, len);
    c->len += len;
    c->texts += (uint64_t)last;
}

/* A response ended. */
static void rows_end(struct sums *sums) {
    struct content *c = &rows_content;
    size_t i;
    if (sums) {
        sums->texts += c->texts;
        sums->bytes += c->len;
        for (i = 0; i < c->len; i++) sums->hash = (sums->hash ^ (unsigned char)c->ptr[i]) * UINT64_C(0x100000001b3);
    }
    c->len = 0;
    c->texts = 0;
}

/* The next response of the file: `from` is 0 at first; gives its end. */
static size_t rows_response(size_t from) {
    static const char done[] = "data: [DONE]\n\n";
    const size_t n = sizeof done - 1;
    while (from + n <= rows_len) {
        const char *d = (const char *)memchr(rows_bytes + from, 'd', rows_len - from);
        if (!d) break;
        from = (size_t)(d - rows_bytes);
        if (from + n <= rows_len && memcmp(d, done, n) == 0) return from + n;
        from++;
    }
    return rows_len;
}

/* Reads the file and the options; where the responses end is found before anybody is timed. */
static size_t *rows_ends, rows_count, rows_passes;

static void rows_begin(char **argv) {
    FILE *in = fopen(argv[1], "rb");
    size_t at = 0;
    if (!in) exit(1);
    fseek(in, 0, SEEK_END);
    rows_len = (size_t)ftell(in);
    rewind(in);
    rows_bytes = (char *)malloc(rows_len + 1);
    rows_ends = (size_t *)malloc(sizeof(size_t) * (rows_len / 14 + 1));
    if (!rows_bytes || !rows_ends || fread(rows_bytes, 1, rows_len, in) != rows_len) exit(1);
    fclose(in);
    rows_slice = strtoul(argv[2], NULL, 10);
    rows_passes = strtoul(argv[3], NULL, 10);
    while (at < rows_len) rows_ends[rows_count++] = at = rows_response(at);
}

static void rows_print(const char *name, uint64_t best, const struct sums *sums) {
    printf("%s\t%llu\t%llu %llu %016llx\n", name, (unsigned long long)best, (unsigned long long)sums->texts,
           (unsigned long long)sums->bytes, (unsigned long long)sums->hash);
}

static uint64_t rows_since(const struct timespec *a) {
    struct timespec b;
    clock_gettime(CLOCK_MONOTONIC, &b);
    return (uint64_t)(b.tv_sec - a->tv_sec) * 1000000000u + (uint64_t)b.tv_nsec - (uint64_t)a->tv_nsec;
}

/* Times passes, after one that warms up and is checked; prints the row. */
static void rows_row(const char *name, void (*response)(const char *bytes, size_t len)) {
    struct sums sums = {0, 0, UINT64_C(0xcbf29ce484222325)};
    uint64_t time, best = UINT64_MAX;
    size_t pass, nth, from;
    for (pass = 0; pass <= rows_passes; pass++) {
        struct timespec a;
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (nth = from = 0; nth < rows_count; from = rows_ends[nth++]) {
            response(rows_bytes + from, rows_ends[nth] - from);
            rows_end(pass ? NULL : &sums);
        }
        time = rows_since(&a);
        /* The best: what a neighbour on the machine took is in none but by chance. */
        if (pass && time < best) best = time;
    }
    rows_print(name, best, &sums);
}

/* The streams that read in turn; a step that has no divisor in common with them, so that no prefetcher guesses the order; and
 * the turns before anything is timed, in which every shape of event is seen. */
enum { ROWS_STREAMS = 100000, ROWS_STEP = 61803, ROWS_WARM = 4 };

/* Times turns: in each, every stream reads its next event, which `event` is given. Prints the row. */
static void rows_turns(const char *name, void (*event)(size_t stream, const char *bytes, size_t len)) {
    struct sums sums = {0, 0, UINT64_C(0xcbf29ce484222325)};
    size_t *next = (size_t *)malloc(sizeof(size_t) * rows_count);
    size_t *end = (size_t *)malloc(sizeof(size_t) * rows_count);
    uint64_t time, best = UINT64_MAX;
    size_t turn, nth, stream = 0;
    if (!next || !end) exit(1);
    for (nth = 0; nth < rows_count; nth++) end[nth] = nth ? rows_ends[nth - 1] : 0;
    for (turn = 0; turn < ROWS_WARM + rows_passes; turn++) {
        struct timespec a;
        for (nth = 0; nth < rows_count; nth++) {
            next[nth] = end[nth];
            do end[nth]++;
            while (end[nth] < 2 || memcmp(rows_bytes + end[nth] - 2, "\n\n", 2) != 0);
        }
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (nth = 0; nth < ROWS_STREAMS; nth++) {
            size_t response;
            stream = (stream + ROWS_STEP) % ROWS_STREAMS;
            response = stream % rows_count;
            event(stream, rows_bytes + next[response], end[response] - next[response]);
        }
        time = rows_since(&a);
        rows_end(&sums);
        if (turn >= ROWS_WARM && time < best) best = time;
    }
    rows_print(name, best, &sums);
}

#endif
