/* The meter of a parser in mode USAGE, compared with what examples/event_log.rs wrote to NAME.meter. */
#ifndef METER_H
#define METER_H

#include "log.h"

typedef struct {
    text lines; /* the file */
    size_t at;  /* where the line `from` of the last comparison begins */
} meters;

/* Compares after `fed` bytes, before the end of the stream; differences go to log->bad. */
void meter_so_far(meters *m, logbook *log, const deltawire_parser *p, size_t fed);
/* Compares at the end of a stream of `len` bytes. The file must have a line `cut` for it. */
void meter_at_end(const meters *m, logbook *log, const deltawire_parser *p, size_t len);
/* Finds the next line `cut` from `*line` on, which becomes its beginning, and its offset. 0: there is none. */
int meter_next_cut(const meters *m, size_t *line, size_t *cut);

#endif
