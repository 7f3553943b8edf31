/* Reads the cases in tests/quirks/. Their README describes the format. */
#ifndef CASES_H
#define CASES_H

#include "drive.h"

typedef struct {
    char row[16];
    char *name;
    deltawire_config config;
    size_t storage; /* SIZE_MAX: not specified */
    text input;
    text log;
    char *strict; /* `CODE at OFFSET`, or NULL: passes */
} quirk_case;

typedef struct {
    quirk_case *list;
    size_t n;
} cases;

/* Reads all *.case files of a directory. Ends the program if one is invalid. */
void cases_load(cases *all, const char *dir);
void cases_free(cases *all);
/* The sorted names of the files in a directory with this suffix; `n` is their number. */
char **files_of(const char *dir, const char *suffix, size_t *n);

#endif
