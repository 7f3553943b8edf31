/* The exports of proof/ on each file given, in slices of the sizes of main.c, printed as main.c prints them: an ordinary
 * program, for processors that main.c has no assembly for. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT(name) uint64_t name(const uint8_t *bytes, size_t len, size_t cut);
#include "exports.def"
#undef EXPORT

static const struct { const char *name; uint64_t (*drive)(const uint8_t *, size_t, size_t); } drives[] = {
#define EXPORT(name) {#name, name},
#include "exports.def"
};
static const size_t cuts[] = {1, 7, 64, 1 << 20};

/* Never called, but another compiler may not see that. */
void deltawire_panic_reached(void) { abort(); }

int main(int count, char **paths) {
    static uint8_t input[1 << 20];
    for (int at = 1; at < count; at++) {
        FILE *file = fopen(paths[at], "rb");
        if (!file) return perror(paths[at]), 1;
        size_t len = fread(input, 1, sizeof input, file);
        fclose(file);
        const char *name = strrchr(paths[at], '/');
        printf("sum %s\n", name ? name + 1 : paths[at]);
        for (size_t i = 0; i < sizeof drives / sizeof *drives; i++) {
            uint64_t sum = 0;
            for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++)
                sum = (sum ^ drives[i].drive(input, len, cuts[k])) * 0x100000001b3;
            printf("sum %s %016" PRIx64 "\n", drives[i].name, sum);
        }
    }
    return 0;
}
