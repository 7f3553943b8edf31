/* What the programs of the link proofs have in place of libc, if FREESTANDING is defined: the memory functions that a library may ask
 * for, system calls, and a stack on which the drives run, painted, so that it can be seen how much of it they used. And how
 * they print, with libc or without. */
#ifndef BARE_H
#define BARE_H

#include <stddef.h>
#include <stdint.h>

#ifdef FREESTANDING
void *memcpy(void *restrict to, const void *restrict from, size_t n) {
    for (size_t i = 0; i < n; i++) ((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
    return to;
}
void *memmove(void *to, const void *from, size_t n) {
    if ((uintptr_t)to <= (uintptr_t)from)
        for (size_t i = 0; i < n; i++) ((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
    else
        while (n--) ((uint8_t *)to)[n] = ((const uint8_t *)from)[n];
    return to;
}
void *memset(void *to, int value, size_t n) {
    for (size_t i = 0; i < n; i++) ((uint8_t *)to)[i] = (uint8_t)value;
    return to;
}
int memcmp(const void *a, const void *b, size_t n) {
    const uint8_t *x = a, *y = b;
    for (size_t i = 0; i < n; i++)
        if (x[i] != y[i]) return x[i] - y[i];
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
__attribute__((noreturn)) static void leave(int status) {
    syscall3(60, status, 0, 0);
    __builtin_unreachable();
}

enum { STACK = 1 << 16, PAINT = 0xA5 };
static uint8_t stack[STACK] __attribute__((aligned(64)));

/* Calls a function of up to three arguments on the painted stack. */
static uint64_t on_stack(void (*drive)(void), uint64_t a, uint64_t b, uint64_t c) {
    uint64_t result;
    __asm__ volatile("mov %%rsp, %%rbx\n\tmov %[top], %%rsp\n\tcall *%[drive]\n\tmov %%rbx, %%rsp"
                     : "=a"(result), "+D"(a), "+S"(b), "+d"(c)
                     : [top] "r"(stack + STACK), [drive] "r"(drive)
                     : "rbx", "rcx", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
                       "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
    return result;
}
#else
#include <unistd.h>
#endif

static void print(int fd, const char *text) {
    size_t n = 0;
    while (text[n]) n++;
    if (write(fd, text, n) < 0) return;
}

static void print_number(int fd, uint64_t value, unsigned base, int digits) {
    char text[24];
    int at = 24;
    text[--at] = 0;
    do {
        text[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (--digits > 0 || value);
    print(fd, text + at);
}

#ifdef FREESTANDING
/* Prints how deep the stack went since it was painted. */
static void print_stack(const char *drive) {
    size_t untouched = 0;
    while (untouched < STACK && stack[untouched] == PAINT) untouched++;
    print(2, "stack "), print(2, drive), print(2, " "), print_number(2, STACK - untouched, 10, 1), print(2, "\n");
}
#endif

#endif
