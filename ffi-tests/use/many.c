/* many FILE...: reads a thousand streams in turn, in little memory.
 *
 * Each stream has a block just large enough for an uncut event. When a slice cuts one, the parser moves to a larger
 * block; after that event it moves back to a small one. Every tenth is copied by memcpy in mid-stream and continues
 * from the copy. Each result must equal that of the file read alone. Prints the bytes for each stream. */
#include "deltawire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STREAMS = 1000, SMALL = 64, FILES = 64 };

struct file {
    unsigned char *bytes;
    size_t len;
    uint64_t hash;
    uint32_t verdict;
};

struct stream {
    const struct file *file;
    deltawire_parser *parser;
    size_t block, at, slice;
    uint64_t hash;
    int over;
};

static size_t live, peak, moves;
static deltawire_callbacks callbacks = DELTAWIRE_CALLBACKS_INIT;

static uint64_t fnv(uint64_t hash, const char *text, size_t len) {
    while (len--) hash = (hash ^ (unsigned char)*text++) * UINT64_C(0x100000001b3);
    return hash;
}

static int32_t on_text(void *user, const deltawire_at *at, const char *text, size_t len) {
    struct stream *s = user;
    char tag[8];
    /* Texts must be equal however they are split, so choice and kind precede each byte. */
    while (len--) {
        sprintf(tag, "%u.%u", (unsigned)at->choice % 100, (unsigned)at->kind % 100);
        s->hash = fnv(fnv(s->hash, tag, strlen(tag)), text++, 1);
    }
    return DELTAWIRE_GO_ON;
}

static void fail(const char *what, size_t nth) {
    fprintf(stderr, "many: stream %lu: %s\n", (unsigned long)nth, what);
    exit(1);
}

static void *take(size_t size) {
    void *mem = malloc(size);
    if (!mem) exit(1);
    live += size;
    if (live > peak) peak = live;
    return mem;
}

static void give(void *mem, size_t size) {
    memset(mem, 0xdd, size); /* no longer valid */
    live -= size;
    free(mem);
}

static void begin(struct stream *s, const struct file *file, size_t block) {
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    memset(s, 0, sizeof *s);
    config.flags = DELTAWIRE_CFG_GROW;
    s->file = file;
    s->block = block;
    s->hash = UINT64_C(0xcbf29ce484222325);
    if (deltawire_init(take(block), block, &config, &s->parser) != DELTAWIRE_OK) fail("init", 0);
}

static void move(struct stream *s, size_t size) {
    deltawire_parser *old = s->parser;
    if (deltawire_move(take(size), size, old, &s->parser) != DELTAWIRE_OK) fail("move", 0);
    give(old, s->block);
    s->block = size;
    moves++;
}

/* Reads the next slice. Returns 0 at the end. */
static int turn(struct stream *s, size_t small) {
    size_t len = s->file->len - s->at, off = 0, consumed;
    deltawire_status status;
    if (len > s->slice) len = s->slice;
    if (len == 0) {
        while ((status = deltawire_finish(s->parser, &callbacks, s)) > DELTAWIRE_OK) move(s, deltawire_need(s->parser));
        s->over = 1;
    } else {
        while ((status = deltawire_feed(s->parser, s->file->bytes + s->at + off, len - off, &callbacks, s, &consumed)) >
               DELTAWIRE_OK) {
            off += consumed;
            move(s, deltawire_need(s->parser));
        }
        s->at += len;
        if (s->block > small && deltawire_need(s->parser) <= small) move(s, small);
    }
    if (status < DELTAWIRE_OK) fail(deltawire_status_name(status), 0);
    return !s->over;
}

static uint32_t verdict(const struct stream *s) {
    deltawire_end end = DELTAWIRE_END_INIT;
    deltawire_end_of(s->parser, &end);
    return end.verdict;
}

static void load(struct file *file, const char *name) {
    FILE *in = fopen(name, "rb");
    struct stream alone;
    if (!in) fail(name, 0);
    fseek(in, 0, SEEK_END);
    file->len = (size_t)ftell(in);
    rewind(in);
    file->bytes = malloc(file->len + 1);
    if (!file->bytes || fread(file->bytes, 1, file->len, in) != file->len) fail(name, 0);
    fclose(in);
    begin(&alone, file, deltawire_block_size(NULL, 1 << 21));
    alone.slice = file->len;
    while (turn(&alone, deltawire_block_size(NULL, 1 << 21))) {}
    file->hash = alone.hash;
    file->verdict = verdict(&alone);
    give(alone.parser, alone.block);
}

int main(int argc, char **argv) {
    static struct file files[FILES];
    static struct stream streams[STREAMS];
    size_t small = deltawire_block_size(NULL, SMALL), nth, count = 0, running = STREAMS, rounds = 0;
    double mean = 0;
    callbacks.on_content = callbacks.on_reasoning = callbacks.on_refusal = callbacks.on_tool_arguments = on_text;
    callbacks.on_tool_name = callbacks.on_finish = on_text;
    for (; (int)count + 1 < argc && count < FILES; count++) load(&files[count], argv[count + 1]);
    if (count == 0) return 1;
    moves = peak = 0;
    for (nth = 0; nth < STREAMS; nth++) {
        begin(&streams[nth], &files[nth % count], small);
        streams[nth].slice = 1 + nth * 7 % 311;
    }
    while (running) {
        for (nth = 0; nth < STREAMS; nth++) {
            struct stream *s = &streams[nth];
            if (s->over) continue;
            if (nth % 10 == 0 && s->at > s->file->len / 2 && s->at - s->slice <= s->file->len / 2) {
                void *copy = memcpy(take(s->block), s->parser, s->block);
                give(s->parser, s->block);
                s->parser = copy;
            }
            if (!turn(s, small)) running--;
        }
        mean += (double)live / STREAMS;
        rounds++;
    }
    for (nth = 0; nth < STREAMS; nth++) {
        if (streams[nth].hash != streams[nth].file->hash) fail("other texts than alone", nth);
        if (verdict(&streams[nth]) != streams[nth].file->verdict) fail("another verdict than alone", nth);
        give(streams[nth].parser, streams[nth].block);
    }
    printf("streams %d, smallest block %lu bytes, mean %lu, peak %lu bytes a stream, %lu moves, %lu rounds\n", STREAMS,
           (unsigned long)small, (unsigned long)(mean / (double)rounds), (unsigned long)(peak / STREAMS),
           (unsigned long)moves, (unsigned long)rounds);
    if (live != 0) fail("memory is left over", 0);
    if (peak / STREAMS > small + 2048) fail("too much memory", 0);
    for (nth = 0; nth < count; nth++) free(files[nth].bytes);
    return 0;
}
