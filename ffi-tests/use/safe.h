/* Escapes untrusted text for a log or a terminal. */
#ifndef USE_SAFE_H
#define USE_SAFE_H

#include <stdio.h>

/* Writes everything but printable ASCII as \xHH, so that no line can be forged and no escape sequence gets through. */
static void put_safe(FILE *out, const char *text, size_t len) {
    for (; len; len--, text++) {
        if (*text >= ' ' && *text <= '~') fputc(*text, out);
        else fprintf(out, "\\x%02x", (unsigned)(unsigned char)*text);
    }
}

#endif
