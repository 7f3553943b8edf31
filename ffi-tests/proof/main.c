/* Reads a stream from standard input, passes it through every part of the library in slices of several sizes, and
 * prints the hashes of the output. Built twice: as an ordinary program, and with FREESTANDING, without start files
 * and libc. The freestanding program runs on a painted stack and prints the stack depth of each drive on standard error. */
#include "../../proof/bare.h"
#include "drives.h"

static const struct {
    const char *name;
    void (*drive)(size_t cut);
} drives[] = {
    {"push", drive_push},       {"pause", drive_pause},     {"strict", drive_strict}, {"sse", drive_sse},
    {"meter", drive_meter},     {"batch", drive_batch},     {"direct", drive_direct}, {"message", drive_message},
    {"message-batch", drive_message_batch}, {"tables", drive_tables},
};
static const size_t cuts[] = {1, 7, 64, SIZE_MAX};

/* Every export, so that the program links all that they reach, whether a drive calls it or not. */
#ifdef CONTROL
u8 deltawire_control(const u8 *bytes, size_t len, size_t at);
#endif
static void (*const volatile roots[])(void) = {
#define EXPORT(name) (void (*)(void))name,
#include "exports.def"
};

static void run(void (*drive)(size_t), size_t cut) {
#ifdef FREESTANDING
    on_stack((void (*)(void))drive, cut, 0, 0);
#else
    drive(cut);
#endif
}

static int program(void) {
    size_t rooted = 0;
    long got;
    while (input_len < sizeof input && (got = read(0, input + input_len, sizeof input - input_len)) > 0)
        input_len += (size_t)got;
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) rooted += roots[i] != 0;
    print(1, "roots "), print_number(1, rooted, 10, 1), print(1, "\n");
    for (size_t i = 0; i < sizeof drives / sizeof *drives; i++) {
#ifdef FREESTANDING
        memset(stack, PAINT, STACK);
#endif
        for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++) {
            sum = 0xcbf29ce484222325;
            steps = 0;
            run(drives[i].drive, cuts[k]);
            if (failed) {
                print(2, drives[i].name), print(2, ": "), print(2, failed), print(2, "\n");
                return 1;
            }
            print(1, drives[i].name), print(1, " "), print_number(1, cuts[k], 10, 1);
            print(1, " "), print_number(1, steps, 10, 1), print(1, " "), print_number(1, sum, 16, 1), print(1, "\n");
        }
#ifdef FREESTANDING
        print_stack(drives[i].name);
#endif
    }
    return 0;
}

#ifdef FREESTANDING
__attribute__((force_align_arg_pointer, noreturn)) void _start(void) {
    leave(program());
}
#else
int main(void) { return program(); }
#endif
