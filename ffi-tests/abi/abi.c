/* The interface as debug information tells it: every function of the header, defined, with all of the types that it
 * takes, and every constant. scripts/abi.sh makes the two lists from the header. It is not meant to be called. */
#include <deltawire.h>

/* FUNCTION(prototype): a definition, which the compiler holds against the declaration. */
#define FUNCTION(...) __VA_ARGS__ { __builtin_trap(); }
#include "functions.def"

/* Types that only a block's user has. */
extern const deltawire_event *abi_event;
extern const deltawire_callbacks *abi_callbacks;
const deltawire_event *abi_event;
const deltawire_callbacks *abi_callbacks;

/* The constants: a member each, named as the constant is, so that a number that changed is seen. */
#define CONSTANT(name) abi_##name = name,
enum abi_constants {
#include "constants.def"
};
extern enum abi_constants abi_constants;
enum abi_constants abi_constants;
