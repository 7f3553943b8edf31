/* Shared by the misuse tests: memory in which every change is detected, and parsers and messages in every state. */
#ifndef MISUSE_COMMON_H
#define MISUSE_COMMON_H

#include "deltawire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* When the call under test may change a region. */
enum when {
    NEVER,      /* what the library receives as const */
    ON_SUCCESS, /* only if there is something to write: neither by misuse nor with ABSENT */
    NO_MISUSE,  /* except by misuse: -1 to -99 changes nothing */
    ON_SMALL,   /* a requested length: also with E_SMALL */
    ANY_TIME,   /* memory that says nothing about a stream */
    ALWAYS      /* must be written on every path */
};

enum { FRESH, HALF, PENDING, STUCK, STRICT, FINISHED, RESERVED, COMMITTED, ASKING_AGAIN, WANTING,
       PARSER_STATES };
enum { MESSAGE_SOME, MESSAGE_EMPTY, MESSAGE_FULL, MESSAGE_STATES };
enum { WRITER_SOME, WRITER_NEW, WRITER_ENDED, WRITER_STATES };
enum { VALUE_OBJECT, VALUE_STRING, VALUE_NUMBER, VALUE_ARRAY, VALUE_NONE, VALUE_TEXT, VALUE_CUT, VALUE_STATES };
#define STATES 10

/* What is expected of a result, if not a single status. */
enum { DOCUMENTED = 1000, NOT_E_NULL, NULL_OR_SMALL, MISUSE };

/* EVERYTHING triggers nearly every callback. */
extern const char STREAM[], PAYLOAD[], EVERYTHING[];
extern const char *const STATE_NAMES[STATES];

/* Sets the name of the case under test, which a crash prints. Discards the state of the previous case. */
void begin(const char *function, const char *what, int state);
void fault(const char *what, long long got, long long expected);
int summary(const char *name);
/* Reports an error in the setup, not in the library. */
void require(int holds, const char *what);

/* Returns `len` bytes that end at unmapped memory; the memory before them is checked too. */
void *region(const char *name, size_t len, enum when when, int fill);
/* The call must write to this region. */
void always(void *at);
/* Frees it: any remaining pointer to it crashes. */
void release(void *at);
/* Records the current contents of all regions for a later comparison. */
void freeze(void);
/* Compares all regions after a call that returned `status`. */
void compare(long long status);
/* Compares a status with the documented ones (ended by 999) and the expected one. */
void judge(deltawire_status status, const deltawire_status *documented, int expected);

deltawire_parser *parser(int state, enum when when);
/* The same with DELTAWIRE_CFG_SHARED. */
deltawire_parser *sharing_parser(int state, enum when when);
/* A workspace that has read a stream. */
deltawire_workspace *workspace(void);
deltawire_message *message(int state, enum when when);
deltawire_writer *writer(int state, enum when when);
const deltawire_chunk *chunk(void);
const deltawire_value *value(int state);
const void *bytes(const char *name, const char *text);
/* Callbacks that count, and what they received. */
extern size_t seen;

/* Compares by hand. */
void is(const char *what, long long got, long long expected);
void is_one_of(const char *what, long long got, long long one, long long other);
/* Whether two meters have the same in them, wherever their texts lie. */
int same_meter(deltawire_meter a, deltawire_meter b);
/* Checks a call that may change only what its region allows. */
#define UNCHANGED(what, call, expected) \
    do { deltawire_status status_; freeze(); status_ = (call); compare(status_); is(what, status_, expected); } while (0)

/* Three chunks with contents `one`, `two` and `three`; callbacks that receive contents and return a given answer. */
extern const char THREE[];
enum { THREE_LEN = 179 };
struct text {
    char bytes[4096];
    size_t len;
    int32_t answer;
};
deltawire_callbacks taking(void);
/* A parser with that much room for a cut event, and for direct reading as configured. */
deltawire_parser *make(size_t event_bytes, const deltawire_config *config);
/* Checks that the parser works as new, whatever happened to it before. */
void works(deltawire_parser *p);
void after_reset(deltawire_parser *p);

#endif
