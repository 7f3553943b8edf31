/* The header under test, with each call of its functions counted. coverage.py generates hits.h from the header. */
#ifndef COUNTED_H
#define COUNTED_H

#include "deltawire.h"
#include "hits.h"

/* Counts the source of an event. */
enum { FROM_CALLBACK, FROM_BATCH, FROM_COUNT };

/* Call this first in main: at exit the counts are appended to the file named by DELTAWIRE_HITS. */
void count_from_now(void);
void count_event(int from, uint32_t kind, uint32_t flags);
void count_status(deltawire_status status);
/* The bits of deltawire_usage.has. */
void count_usage(uint32_t has);

#endif
