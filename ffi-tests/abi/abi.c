/* The interface for debug information: defines every function of the header, with all of their types, and every
 * constant. scripts/abi.sh generates both lists from the header. Not meant to be called. */
#include <deltawire.h>

/* FUNCTION(prototype): a definition, which the compiler compares with the declaration. */
#define FUNCTION(...) __VA_ARGS__ { __builtin_trap(); }
#include "functions.def"

/* Types that only the user of a block has. */
extern const deltawire_event *abi_event;
extern const deltawire_callbacks *abi_callbacks;
const deltawire_event *abi_event;
const deltawire_callbacks *abi_callbacks;

/* One member named like each constant, so that a changed number shows. */
#define CONSTANT(name) abi_##name = name,
enum abi_constants {
#include "constants.def"
};
extern enum abi_constants abi_constants;
enum abi_constants abi_constants;
