/* Loading: which Envoy this library was built for, and the hooks that a filter must have but this one does not need.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Envoy's interface is not stable, and an Envoy of another version loads a module after no more than a warning. So the library compares
 * the names of all functions that Envoy exports to modules with those of the release that it was built for. Releases that only fix
 * something have the same. */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "module.h"

#include <elf.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* How many functions a release exports to modules, and the sum of FNV-1a over their names. integrations/envoy/interface.py prints the
 * row of an Envoy. */
struct interface {
    const char *release, *version;
    uint64_t count, sum;
};
static const struct interface interfaces[] = {
    {"1.40", "v0.2.0", 781, UINT64_C(0xab958e0e1268f656)},
    {"1.39", "v0.1.0", 607, UINT64_C(0x5ad61e0585a16463)},
};

#ifndef ENVOY_RELEASE
#error "ENVOY_RELEASE must be one of the releases above, such as \"1.40\""
#endif

void log_error(const char *format, ...) {
    char text[512] = "deltawire: ";
    size_t begun = strlen(text);
    va_list arguments;
    int len;
    va_start(arguments, format);
    len = vsnprintf(text + begun, sizeof text - begun, format, arguments);
    va_end(arguments);
    if (len < 0) return;
    ENVOY_CALL(log)(ENVOY_LOG_ERROR, (envoy_bytes){text, strlen(text)});
}

static void add_name(struct interface *found, const char *name) {
    static const char prefix[] = "envoy_dynamic_module_callback_";
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    if (strncmp(name, prefix, sizeof prefix - 1) != 0) return;
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    found->count++;
    found->sum += hash;
}

/* Adds the functions that the program exports; libraries are not asked. The loader may have made the addresses in the dynamic section
 * absolute, or left them relative to the program. */
static int add_program(struct dl_phdr_info *program, size_t size, void *found) {
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    const uint32_t *hash = NULL;
    ElfW(Half) nth;
    (void)size;
    for (nth = 0; nth < program->dlpi_phnum; nth++) {
        const ElfW(Dyn) * entry;
        if (program->dlpi_phdr[nth].p_type != PT_DYNAMIC) continue;
        for (entry = (const ElfW(Dyn) *)(program->dlpi_addr + program->dlpi_phdr[nth].p_vaddr); entry->d_tag != DT_NULL; entry++) {
            ElfW(Addr) at = entry->d_un.d_ptr;
            if (at < program->dlpi_addr) at += program->dlpi_addr;
            if (entry->d_tag == DT_SYMTAB) symbols = (const ElfW(Sym) *)at;
            if (entry->d_tag == DT_STRTAB) names = (const char *)at;
            if (entry->d_tag == DT_GNU_HASH) hash = (const uint32_t *)at;
        }
    }
    if (symbols && names && hash) {
        /* The table: numbers of buckets and of the first symbol, words of a filter, its shift; the filter; the buckets, each with its
         * first symbol; the hash of each symbol, whose lowest bit ends a bucket. */
        uint32_t buckets = hash[0], first = hash[1], bucket;
        const uint32_t *begins = hash + 4 + hash[2] * (sizeof(ElfW(Addr)) / sizeof *hash), *chain = begins + buckets;
        for (bucket = 0; bucket < buckets; bucket++) {
            uint32_t symbol = begins[bucket];
            if (symbol < first) continue;
            do add_name(found, names + symbols[symbol].st_name);
            while (!(chain[symbol++ - first] & 1u));
        }
    }
    return 1;
}

/* Returns the version of the interface, or NULL: then Envoy does not load the library. */
const char *HOOK(program_init)(void) {
    struct interface found = {NULL, NULL, 0, 0};
    const struct interface *built = NULL, *is = NULL;
    size_t nth;
    dl_iterate_phdr(add_program, &found);
    for (nth = 0; nth < sizeof interfaces / sizeof *interfaces; nth++) {
        const struct interface *one = &interfaces[nth];
        if (strcmp(one->release, ENVOY_RELEASE) == 0) built = one;
        if (one->count == found.count && one->sum == found.sum) is = one;
    }
    if (built && built == is) return built->version;
    if (is) {
        log_error("this library was built for Envoy %s, and this is Envoy %s: build it with `make envoy ENVOY=%s`", ENVOY_RELEASE, is->release, is->release);
    } else {
        log_error("this library was built for Envoy %s, and this Envoy has another interface (%llu functions, %016llx), which is not supported", ENVOY_RELEASE,
                  (unsigned long long)found.count, (unsigned long long)found.sum);
    }
    return NULL;
}

/* Hooks without which Envoy refuses a filter. Envoy calls those about callouts and schedules only for what a module asked for. */
#define UNUSED_HOOK(name) \
    __attribute__((visibility("default"))) void HOOK(http_filter_##name)(void); \
    void HOOK(http_filter_##name)(void) {}
UNUSED_HOOK(http_callout_done)
UNUSED_HOOK(http_stream_headers)
UNUSED_HOOK(http_stream_data)
UNUSED_HOOK(http_stream_trailers)
UNUSED_HOOK(http_stream_complete)
UNUSED_HOOK(http_stream_reset)
UNUSED_HOOK(scheduled)
UNUSED_HOOK(downstream_above_write_buffer_high_watermark)
UNUSED_HOOK(downstream_below_write_buffer_low_watermark)
