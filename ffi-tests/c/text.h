/* A growing string. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    char *ptr; /* NUL-terminated; len excludes the NUL; NULL until something is written */
    size_t len, cap;
} text;

#define TEXT_INIT {NULL, 0, 0}

void *need_memory(size_t len); /* malloc, or ends the program */
void die(const char *what);

void text_free(text *t);
void text_clear(text *t);
void text_put(text *t, const void *bytes, size_t len);
void text_str(text *t, const char *s);
void text_u64(text *t, uint64_t number);
void text_i64(text *t, int64_t number);
/* Bytes as printable ASCII, with other bytes and the backslash escaped; with `quotes` in quotes. */
void text_escaped(text *t, const void *bytes, size_t len, int quotes);
int text_same(const text *a, const text *b);
/* Reads a whole file. 0: it cannot be read. */
int text_of_file(text *t, const char *path);

#endif
