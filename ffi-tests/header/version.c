/* Compares the version of the header with that of the linked library. */
#include "deltawire.h"

#include <stdio.h>
#include <string.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

int main(int argc, char **argv) {
    const char *text =
        TEXT(DELTAWIRE_VERSION_MAJOR) "." TEXT(DELTAWIRE_VERSION_MINOR) "." TEXT(DELTAWIRE_VERSION_PATCH);
    uint32_t parts = DELTAWIRE_VERSION_MAJOR * 1000000u + DELTAWIRE_VERSION_MINOR * 1000u + DELTAWIRE_VERSION_PATCH;
    int bad = 0;
    if (argc != 2 || strcmp(argv[1], text) != 0) bad = printf("the package's version is not %s\n", text);
    if (DELTAWIRE_VERSION != parts) bad = printf("DELTAWIRE_VERSION is %u\n", (unsigned)DELTAWIRE_VERSION);
    if (deltawire_version() != parts) bad = printf("deltawire_version() is %u\n", (unsigned)deltawire_version());
    if (deltawire_abi() != DELTAWIRE_ABI) bad = printf("deltawire_abi() is %u\n", (unsigned)deltawire_abi());
    return bad != 0;
}
