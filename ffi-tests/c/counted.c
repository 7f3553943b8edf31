#include "counted.h"

#include <stdio.h>
#include <stdlib.h>

unsigned long hits[HIT_COUNT + 1];
static const char *const names[] = {HIT_NAMES NULL};
static unsigned long kinds[FROM_COUNT][64];
static unsigned long flags_seen[FROM_COUNT][16];
static unsigned long statuses[256];
static unsigned long usages[32];

static void write_counts(void)
{
    static const char *const from_names[FROM_COUNT] = {"callback", "batch"};
    const char *path = getenv("DELTAWIRE_HITS");
    FILE *file = path ? fopen(path, "a") : NULL;
    int i, from;
    if (!file) return;
    for (i = 0; i < HIT_COUNT; i++)
        if (hits[i]) fprintf(file, "function %s %lu\n", names[i], hits[i]);
    for (from = 0; from < FROM_COUNT; from++) {
        for (i = 0; i < 64; i++)
            if (kinds[from][i]) fprintf(file, "%s %d %lu\n", from_names[from], i, kinds[from][i]);
        for (i = 0; i < 16; i++)
            if (flags_seen[from][i]) fprintf(file, "%s-flag %d %lu\n", from_names[from], 1 << i, flags_seen[from][i]);
    }
    for (i = 0; i < 256; i++)
        if (statuses[i]) fprintf(file, "status %d %lu\n", i - 128, statuses[i]);
    for (i = 0; i < 32; i++)
        if (usages[i]) fprintf(file, "usage %lu %lu\n", 1ul << i, usages[i]);
    fclose(file);
}

void count_from_now(void) { atexit(write_counts); }

void count_event(int from, uint32_t kind, uint32_t flags)
{
    int i;
    kinds[from][kind & 63]++;
    for (i = 0; i < 16; i++)
        if (flags >> i & 1) flags_seen[from][i]++;
}

void count_status(deltawire_status status)
{
    if (status >= -128 && status < 128) statuses[status + 128]++;
}

void count_usage(uint32_t has)
{
    int i;
    for (i = 0; i < 32; i++)
        if (has >> i & 1) usages[i]++;
}

#ifdef ASSERTING
/* Called by the library's panic handler if the library was built with its own assertions. */
void deltawire_panic_reached(void);
void deltawire_panic_reached(void)
{
    fprintf(stderr, "the library panicked\n");
    abort();
}

/* Rust's core library was compiled to unwind and refers to this; nothing here unwinds. */
void rust_eh_personality(void);
void rust_eh_personality(void) {}
#endif
