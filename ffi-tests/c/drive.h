/* Reads a stream in one of many ways and writes its log.
 *
 * Everything passed to the library lies in separate memory of exactly its length that is invalid after the call:
 * freed, or (in guarded mode, which is fast) overwritten, with its end at an unreadable page. The parser's block
 * moves by memcpy before every call; its previous memory is overwritten and freed. So do the workspaces, which all runs of
 * a program share, because earlier streams must not affect later ones. */
#ifndef DRIVE_H
#define DRIVE_H

#include "meter.h"

typedef struct {
    int batch;      /* otherwise callbacks */
    size_t direct;  /* read_len; 0: the caller's own slices */
    size_t cap;     /* how many events a batch takes */
    size_t scratch; /* bytes of a batch's scratch */
    int pause;      /* a pause at each callback */
    int again;      /* each callback also asks to be called again */
    size_t extend;  /* after a stop, pass this many bytes more than were left */
    size_t step;    /* bytes of a slice; 0: all */
    size_t cut;     /* one cut here; 0: none */
    int grow;       /* DELTAWIRE_CFG_GROW */
    int shrink;     /* after each slice, move to the smallest sufficient block */
    size_t event_bytes; /* room for an event in the (first) block */
    int still;      /* do not move the block at each call (long streams) */
    int shared;     /* with a workspace; 2: with two in turn */
    int twice;      /* then deltawire_reset, and everything again on the same block */
    deltawire_config config;
    const deltawire_callbacks *callbacks; /* NULL: those of the log */
    meters *meters; /* compared after each slice and at the end; NULL: the parser has no meter */
} how;

#define HOW_INIT {0, 0, 64, 4096, 0, 0, 0, 0, 0, 0, 0, 8192, 0, 0, 0, DELTAWIRE_CONFIG_INIT, NULL, NULL}

/* Use memory with a guard page instead of malloc; off for valgrind and ASan. */
extern int guarded;

/* Violations of the header's guarantees are written to log->bad. */
void drive(const how *h, const void *input, size_t len, logbook *log);
void describe(const how *h, text *out);

#endif
