/* The header under test, with each call of its functions counted. hits.h is made of the header by coverage.py. */
#ifndef COUNTED_H
#define COUNTED_H

#include "deltawire.h"
#include "hits.h"

/* Where an event came from. */
enum { FROM_CALLBACK, FROM_BATCH, FROM_COUNT };

/* Call it first in main: at the end the counts are appended to the file that DELTAWIRE_HITS names. */
void count_from_now(void);
void count_event(int from, uint32_t kind, uint32_t flags);
void count_status(deltawire_status status);

#endif
