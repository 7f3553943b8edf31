/* Reads a stream in one of many ways and writes its log.
 *
 * What is handed to the library lies in memory of its own, exactly as long, and is gone after the call: freed, or (in
 * guarded mode, which is quick) overwritten; then its end abuts on a page that cannot be read. The parser's block is
 * moved by memcpy before every call, and what it lay in before is overwritten and freed. */
#ifndef DRIVE_H
#define DRIVE_H

#include "log.h"

typedef struct {
    int batch;      /* else callbacks */
    size_t direct;  /* read_len; 0: the caller's own slices */
    size_t cap;     /* of batches: events */
    size_t scratch; /* of batches: bytes */
    int pause;      /* a pause at each callback */
    int again;      /* and to be called again */
    size_t extend;  /* after a stop so many bytes more than were left */
    size_t step;    /* bytes of a slice; 0: all */
    size_t cut;     /* one cut here; 0: none */
    int grow;       /* DELTAWIRE_CFG_GROW */
    int shrink;     /* after each slice it moves to as small a block as will do */
    size_t event_bytes; /* of the (first) block */
    int still;      /* the block is not moved at each call (long streams) */
    int twice;      /* then deltawire_reset and all again on the same block */
    deltawire_config config;
    const deltawire_callbacks *callbacks; /* NULL: those of the log */
} how;

#define HOW_INIT {0, 0, 64, 4096, 0, 0, 0, 0, 0, 0, 0, 8192, 0, 0, DELTAWIRE_CONFIG_INIT, NULL}

/* Memory with a guard page instead of malloc; off for valgrind and ASan. */
extern int guarded;

/* What breaks a promise stands in log->bad. */
void drive(const how *h, const void *input, size_t len, logbook *log);
void describe(const how *h, text *out);

#endif
