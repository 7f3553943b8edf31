/* The part of HTTP/1.1 that the gateway needs: growing buffers, heads, and the end of a body. */
#ifndef USE_HTTP_H
#define USE_HTTP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Buffers that are written at the end and consumed at the front. ---- */

struct bytes {
    char *ptr;
    size_t at, end, cap; /* contents: ptr[at..end] */
};

static size_t bytes_len(const struct bytes *b) { return b->end - b->at; }

static void bytes_free(struct bytes *b) {
    free(b->ptr);
    memset(b, 0, sizeof *b);
}

/* Consumes the first n bytes. An empty buffer keeps at most 4 KiB. */
static void bytes_take(struct bytes *b, size_t n) {
    b->at += n;
    if (b->at < b->end) return;
    b->at = b->end = 0;
    if (b->cap > 4096) bytes_free(b);
}

/* Returns 0 if memory is out. */
static int bytes_put(struct bytes *b, const void *from, size_t n) {
    if (n == 0) return 1;
    if (b->cap - b->end < n) {
        size_t len = bytes_len(b);
        if (b->at) memmove(b->ptr, b->ptr + b->at, len);
        b->at = 0;
        b->end = len;
        if (b->cap - len < n) {
            size_t cap = b->cap ? b->cap : 1024;
            char *grown;
            while (cap - len < n) cap *= 2;
            grown = realloc(b->ptr, cap);
            if (!grown) return 0;
            b->ptr = grown;
            b->cap = cap;
        }
    }
    memcpy(b->ptr + b->end, from, n);
    b->end += n;
    return 1;
}

/* ---- Heads ---- */

/* Returns the length of the head with its empty line, or 0 if it is incomplete. */
static size_t head_len(const struct bytes *b) {
    size_t i;
    for (i = b->at; i + 3 < b->end; i++)
        if (memcmp(b->ptr + i, "\r\n\r\n", 4) == 0) return i + 4 - b->at;
    return 0;
}

/* Returns the value of a field, trimmed, or NULL if it is absent. `head` has `len` bytes. */
static const char *head_field(const char *head, size_t len, const char *name, size_t *value_len) {
    const char *end = head + len, *line = head;
    size_t n = strlen(name);
    while (line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop) break;
        if ((size_t)(stop - line) > n && line[n] == ':' && strncasecmp(line, name, n) == 0) {
            const char *from = line + n + 1, *to = stop;
            while (from < to && (*from == ' ' || *from == '\t')) from++;
            while (to > from && (to[-1] == '\r' || to[-1] == ' ')) to--;
            *value_len = (size_t)(to - from);
            return from;
        }
        line = stop + 1;
    }
    return NULL;
}

static int head_field_is(const char *head, size_t len, const char *name, const char *value) {
    size_t n;
    const char *is = head_field(head, len, name, &n);
    return is && n == strlen(value) && strncasecmp(is, value, n) == 0;
}

/* Copies a head without the named fields, then `more`, then the empty line. Returns 0 if memory is out. */
static int head_copy(struct bytes *to, const char *head, size_t len, const char *const *without, const char *more) {
    const char *end = head + len - 2, *line = head;
    while (line < end) {
        const char *stop = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
        const char *const *name;
        int keep = 1;
        for (name = without; *name; name++) {
            size_t n = strlen(*name);
            if ((size_t)(stop - line) > n && line[n] == ':' && strncasecmp(line, *name, n) == 0) keep = 0;
        }
        if (keep && !bytes_put(to, line, (size_t)(stop - line))) return 0;
        line = stop;
    }
    return bytes_put(to, more, strlen(more)) && bytes_put(to, "\r\n", 2);
}

/* ---- Bodies ---- */

enum body_kind { BODY_TO_CLOSE, BODY_LENGTH, BODY_CHUNKED };
enum body_state { BODY_SIZE_LINE, BODY_DATA, BODY_AFTER_DATA, BODY_TRAILER, BODY_OVER, BODY_BAD };

struct body {
    enum body_kind kind;
    enum body_state state;
    unsigned long long left;
    size_t line; /* length of the line so far; of a size line, its digits */
    int extension;
};

static void body_begin(struct body *b, const char *head, size_t len) {
    size_t n;
    const char *length = head_field(head, len, "Content-Length", &n);
    memset(b, 0, sizeof *b);
    if (head_field_is(head, len, "Transfer-Encoding", "chunked")) {
        b->kind = BODY_CHUNKED;
    } else if (length) {
        b->kind = BODY_LENGTH;
        b->left = strtoull(length, NULL, 10);
        b->state = b->left ? BODY_DATA : BODY_OVER;
    } else {
        b->kind = BODY_TO_CLOSE;
        b->state = BODY_DATA;
    }
}

/* Finds the next bytes of the body in `in`: consumes what precedes them, and returns their length (possibly 0) and
 * position. The caller consumes them. */
static size_t body_next(struct body *b, struct bytes *in, const char **data) {
    while (bytes_len(in)) {
        size_t have = bytes_len(in);
        char c = in->ptr[in->at];
        if (b->state == BODY_OVER || b->state == BODY_BAD) return 0;
        if (b->state == BODY_DATA) {
            size_t n = have;
            *data = in->ptr + in->at;
            if (b->kind == BODY_TO_CLOSE) return n;
            if (n > b->left) n = (size_t)b->left;
            b->left -= n;
            if (b->left == 0) b->state = b->kind == BODY_CHUNKED ? BODY_AFTER_DATA : BODY_OVER;
            return n;
        }
        bytes_take(in, 1);
        if (b->state == BODY_SIZE_LINE) {
            const char *hex = "0123456789abcdef", *digit = c ? strchr(hex, c | 0x20) : NULL;
            if (c == '\n') {
                b->state = b->line == 0 ? BODY_BAD : b->left ? BODY_DATA : BODY_TRAILER;
                b->line = 0;
                b->extension = 0;
            } else if (c == ';' || c == '\r' || c == ' ') {
                b->extension = 1;
            } else if (!b->extension) {
                if (!digit || ++b->line > 15) b->state = BODY_BAD;
                else b->left = b->left * 16 + (unsigned long long)(digit - hex);
            }
        } else if (b->state == BODY_AFTER_DATA) {
            if (c == '\n') b->state = BODY_SIZE_LINE;
            else if (c != '\r') b->state = BODY_BAD;
        } else { /* the trailer ends at its empty line */
            if (c == '\n' && b->line == 0) b->state = BODY_OVER;
            else if (c == '\n') b->line = 0;
            else if (c != '\r') b->line++;
        }
    }
    return 0;
}

/* After the connection closed: is the body complete? */
static int body_whole(const struct body *b) { return b->state == BODY_OVER || b->kind == BODY_TO_CLOSE; }

#endif
