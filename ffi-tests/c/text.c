#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void die(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

void *need_memory(size_t len)
{
    void *mem = malloc(len ? len : 1);
    if (!mem) die("out of memory");
    return mem;
}

void text_free(text *t)
{
    free(t->ptr);
    t->ptr = NULL;
    t->len = t->cap = 0;
}

void text_clear(text *t)
{
    t->len = 0;
    if (t->ptr) t->ptr[0] = 0;
}

void text_put(text *t, const void *bytes, size_t len)
{
    if (t->cap - t->len <= len) {
        size_t cap = (t->len + len + 1) * 2;
        t->ptr = realloc(t->ptr, cap);
        if (!t->ptr) die("out of memory");
        t->cap = cap;
    }
    if (len) memcpy(t->ptr + t->len, bytes, len);
    t->len += len;
    t->ptr[t->len] = 0;
}

void text_str(text *t, const char *s) { text_put(t, s, strlen(s)); }

void text_u64(text *t, uint64_t number)
{
    char digits[24];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    text_put(t, digits + at, sizeof digits - at);
}

void text_i64(text *t, int64_t number)
{
    if (number < 0) text_str(t, "-");
    text_u64(t, number < 0 ? (uint64_t)0 - (uint64_t)number : (uint64_t)number);
}

void text_escaped(text *t, const void *bytes, size_t len, int quotes)
{
    static const char hex[] = "0123456789ABCDEF";
    const unsigned char *b = bytes;
    size_t i;
    if (quotes) text_str(t, "\"");
    for (i = 0; i < len; i++) {
        char out[4] = {'\\', 'x', 0, 0};
        size_t n = 2;
        if (b[i] == '\n') out[1] = 'n';
        else if (b[i] == '\r') out[1] = 'r';
        else if (b[i] == '\t') out[1] = 't';
        else if (b[i] == '\\') out[1] = '\\';
        else if (b[i] == '"' && quotes) out[1] = '"';
        else if (b[i] >= ' ' && b[i] <= '~') out[0] = (char)b[i], n = 1;
        else out[2] = hex[b[i] >> 4], out[3] = hex[b[i] & 15], n = 4;
        text_put(t, out, n);
    }
    if (quotes) text_str(t, "\"");
}

int text_same(const text *a, const text *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->ptr, b->ptr, a->len) == 0);
}

int text_of_file(text *t, const char *path)
{
    char buf[65536];
    size_t n;
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    text_clear(t);
    text_put(t, "", 0);
    while ((n = fread(buf, 1, sizeof buf, file)) > 0) text_put(t, buf, n);
    n = (size_t)ferror(file);
    fclose(file);
    return n == 0;
}
