/* What the walks share: chance that can be repeated, and streams to choose from. */
#ifndef MISUSE_CHANCE_H
#define MISUSE_CHANCE_H

#include "common.h"

/* Equal seeds, equal walks. */
void chance_from(uint64_t seed);
uint32_t random_below(uint32_t n);
int one_in(uint32_t n);
void holds(int condition, const char *what);

/* The streams of a file, each its length (32 bits, little) and its bytes; see streams.py. */
void read_streams(const char *path);
/* All there is, or a few streams of the file, into `*stream`, which is malloc's or NULL. */
void choose_stream(char **stream, size_t *len);

#endif
