/* A program with no start files and no libraries. It reads a stream from standard input, gives it to every export in
 * slices of several sizes, and prints the sums of what they answer. On standard error: how deep the stack went. */
#define FREESTANDING
#include "bare.h"

/* exports.def holds EXPORT(name) for each line of exports.txt. */
#define EXPORT(name) uint64_t name(const uint8_t *bytes, size_t len, size_t cut);
#include "exports.def"
#undef EXPORT

static const struct { const char *name; void (*drive)(void); } drives[] = {
#define EXPORT(name) {#name, (void (*)(void))name},
#include "exports.def"
};
static const size_t cuts[] = {1, 7, 64, 1 << 20};
static uint8_t input[1 << 20];

__attribute__((force_align_arg_pointer, noreturn)) void _start(void) {
    size_t len = 0;
    long got;
    while ((got = read(0, input + len, sizeof input - len)) > 0) len += (size_t)got;
    for (size_t i = 0; i < sizeof drives / sizeof *drives; i++) {
        uint64_t sum = 0;
        memset(stack, PAINT, STACK);
        for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++)
            sum = (sum ^ on_stack(drives[i].drive, (uintptr_t)input, len, cuts[k])) * 0x100000001b3;
        print(1, "sum "), print(1, drives[i].name), print(1, " "), print_number(1, sum, 16, 16), print(1, "\n");
        print_stack(drives[i].name);
    }
    leave(0);
}
