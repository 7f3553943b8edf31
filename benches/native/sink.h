/* The buffers of the sink in Rust, to which the contenders in C and C++ write. The sink has made room. */
#ifndef SINK_H
#define SINK_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct text {
    char *ptr;
    size_t len, cap;
};

struct sink {
    struct text content, reasoning, arguments, names;
    uint64_t events, choices, calls, usage;
};

/* Appends a text. The caller makes room; without room the program can only abort. */
static inline void text_put(struct text *to, const char *from, size_t len) {
    if (to->cap - to->len < len) abort();
    memcpy(to->ptr + to->len, from, len);
    to->len += len;
}

#endif
