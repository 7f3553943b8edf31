/* Shared by the random walks: reproducible random numbers, and streams to choose from. */
#ifndef MISUSE_CHANCE_H
#define MISUSE_CHANCE_H

#include "common.h"

/* Equal seeds give equal walks. */
void chance_from(uint64_t seed);
uint32_t random_below(uint32_t n);
int one_in(uint32_t n);
void holds(int condition, const char *what);

/* The streams of a file: each has its length (32 bits, little-endian) and its bytes; see streams.py. */
void read_streams(const char *path);
/* Copies all streams, or a few, of the file to `*stream`, which is NULL or from malloc. */
void choose_stream(char **stream, size_t *len);

#endif
