/* The control: three functions with one error each, which the linker substitutes for the library's. Each must be
 * detected. */
#include "deltawire.h"

deltawire_status __real_deltawire_value_u64(const deltawire_value *v, uint64_t *out);
deltawire_status __wrap_deltawire_value_u64(const deltawire_value *v, uint64_t *out);
uint64_t __real_deltawire_quirk_count(const deltawire_parser *p, uint32_t quirk);
uint64_t __wrap_deltawire_quirk_count(const deltawire_parser *p, uint32_t quirk);
deltawire_status __real_deltawire_reset(deltawire_parser *p);
deltawire_status __wrap_deltawire_reset(deltawire_parser *p);

/* Does not treat NULL as misuse. */
deltawire_status __wrap_deltawire_value_u64(const deltawire_value *v, uint64_t *out) {
    return out == NULL ? DELTAWIRE_OK : __real_deltawire_value_u64(v, out);
}

/* Writes to memory passed as const. */
uint64_t __wrap_deltawire_quirk_count(const deltawire_parser *p, uint32_t quirk) {
    uint64_t count = __real_deltawire_quirk_count(p, quirk);
    if (p != NULL && quirk == 31) ((volatile unsigned char *)(uintptr_t)p)[1000] ^= 1;
    return count;
}

/* Returns an undocumented status. */
deltawire_status __wrap_deltawire_reset(deltawire_parser *p) {
    deltawire_status status = __real_deltawire_reset(p);
    return status == DELTAWIRE_E_REENTRANT ? DELTAWIRE_ABSENT : status;
}
