/* Reads a stream from standard input, passes it through every part of the library in slices of several sizes, and
 * prints the hashes of the output. Built twice: as an ordinary program, and with FREESTANDING, without start files
 * and libc. That one runs on a painted stack and prints the stack depth of each drive on standard error. */
#include "drives.h"
#ifndef FREESTANDING
#include <unistd.h>
#endif

static const struct {
    const char *name;
    void (*drive)(size_t cut);
} drives[] = {
    {"push", drive_push},       {"pause", drive_pause},     {"strict", drive_strict}, {"sse", drive_sse},
    {"batch", drive_batch},     {"direct", drive_direct},   {"message", drive_message},
    {"message-batch", drive_message_batch}, {"tables", drive_tables},
};
static const size_t cuts[] = {1, 7, 64, SIZE_MAX};

/* Every export: links what they reach, whether a drive calls it or not. */
#ifdef CONTROL
u8 deltawire_control(const u8 *bytes, size_t len, size_t at);
#endif
static void (*const volatile roots[])(void) = {
#define EXPORT(name) (void (*)(void))name,
#include "exports.def"
};

#ifdef FREESTANDING
/* Everything that the library may need. */
void *memcpy(void *restrict to, const void *restrict from, size_t n) {
    for (size_t i = 0; i < n; i++) ((u8 *)to)[i] = ((const u8 *)from)[i];
    return to;
}
void *memmove(void *to, const void *from, size_t n) {
    if ((uintptr_t)to <= (uintptr_t)from)
        for (size_t i = 0; i < n; i++) ((u8 *)to)[i] = ((const u8 *)from)[i];
    else
        while (n--) ((u8 *)to)[n] = ((const u8 *)from)[n];
    return to;
}
void *memset(void *to, int value, size_t n) {
    for (size_t i = 0; i < n; i++) ((u8 *)to)[i] = (u8)value;
    return to;
}
int memcmp(const void *a, const void *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (((const u8 *)a)[i] != ((const u8 *)b)[i]) return ((const u8 *)a)[i] - ((const u8 *)b)[i];
    return 0;
}
int bcmp(const void *a, const void *b, size_t n) { return memcmp(a, b, n); }

static long syscall3(long number, long a, const void *b, size_t c) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}
static long read(int fd, void *to, size_t n) { return syscall3(0, fd, to, n); }
static long write(int fd, const void *from, size_t n) { return syscall3(1, fd, from, n); }
#endif

static void print(int fd, const char *text) {
    size_t n = 0;
    while (text[n]) n++;
    if (write(fd, text, n) < 0) return;
}

static void print_number(int fd, u64 value, unsigned base) {
    char text[24];
    int at = 24;
    text[--at] = 0;
    do {
        text[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    print(fd, text + at);
}

#ifdef FREESTANDING
enum { STACK = 1 << 16, PAINT = 0xA5 };
static u8 stack[STACK] __attribute__((aligned(64)));

static void run(void (*drive)(size_t), size_t cut) {
    __asm__ volatile("mov %%rsp, %%rbx\n\tmov %[top], %%rsp\n\tcall *%[drive]\n\tmov %%rbx, %%rsp"
                     : "+D"(cut)
                     : [top] "r"(stack + STACK), [drive] "r"(drive)
                     : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1",
                       "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
                       "xmm13", "xmm14", "xmm15");
}
#else
static void run(void (*drive)(size_t), size_t cut) { drive(cut); }
#endif

static int program(void) {
    size_t rooted = 0;
    long got;
    while (input_len < sizeof input && (got = read(0, input + input_len, sizeof input - input_len)) > 0)
        input_len += (size_t)got;
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) rooted += roots[i] != 0;
    print(1, "roots "), print_number(1, rooted, 10), print(1, "\n");
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
            print(1, drives[i].name), print(1, " "), print_number(1, cuts[k], 10);
            print(1, " "), print_number(1, steps, 10), print(1, " "), print_number(1, sum, 16), print(1, "\n");
        }
#ifdef FREESTANDING
        size_t untouched = 0;
        while (untouched < STACK && stack[untouched] == PAINT) untouched++;
        print(2, "stack "), print(2, drives[i].name), print(2, " "), print_number(2, STACK - untouched, 10), print(2, "\n");
#endif
    }
    return 0;
}

#ifdef FREESTANDING
__attribute__((force_align_arg_pointer, noreturn)) void _start(void) {
    syscall3(60, program(), 0, 0);
    __builtin_unreachable();
}
#else
int main(void) { return program(); }
#endif
