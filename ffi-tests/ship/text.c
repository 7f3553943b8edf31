/* Prints the text of a stream on standard input, in slices of 7 bytes. C99 and C++11. */
#include <deltawire.h>
#include <stdio.h>

static int32_t content(void *user, const deltawire_at *at, const char *text, size_t len) {
    (void)at;
    return fwrite(text, 1, len, (FILE *)user) == len ? DELTAWIRE_GO_ON : -1;
}

int main(void) {
    static DELTAWIRE_BLOCK(block, 16384);
    char input[7];
    size_t n, consumed;
    deltawire_parser *p;
    deltawire_callbacks cbs = DELTAWIRE_CALLBACKS_INIT;
    deltawire_end end = DELTAWIRE_END_INIT;
    cbs.on_content = content;
    if (deltawire_version() != DELTAWIRE_VERSION || deltawire_abi() != DELTAWIRE_ABI) return 1;
    if (deltawire_init(&block, sizeof block, NULL, &p) != DELTAWIRE_OK) return 1;
    while ((n = fread(input, 1, sizeof input, stdin)) > 0)
        if (deltawire_feed(p, input, n, &cbs, stdout, &consumed) != DELTAWIRE_OK || consumed != n) return 1;
    if (deltawire_finish(p, &cbs, stdout) != DELTAWIRE_OK || deltawire_end_of(p, &end) != DELTAWIRE_OK) return 1;
    return end.verdict == DELTAWIRE_VERDICT_DONE ? 0 : 1;
}
