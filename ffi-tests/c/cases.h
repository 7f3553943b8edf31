/* The cases in tests/quirks/; their README tells the format. */
#ifndef CASES_H
#define CASES_H

#include "drive.h"

typedef struct {
    char row[16];
    char *name;
    deltawire_config config;
    size_t storage; /* SIZE_MAX: no word of it */
    text input;
    text log;
    char *strict; /* `CODE at OFFSET`, NULL: passes */
} quirk_case;

typedef struct {
    quirk_case *list;
    size_t n;
    size_t files;
} cases;

/* All *.case files of a directory; ends the program if one is bad. */
void cases_load(cases *all, const char *dir);
void cases_free(cases *all);
/* The files of a directory whose names end so, sorted; `n` of them. */
char **files_of(const char *dir, const char *suffix, size_t *n);

#endif
