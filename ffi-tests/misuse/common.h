/* What the misuse tests share: memory whose every change is seen, and parsers and messages in every state. */
#ifndef MISUSE_COMMON_H
#define MISUSE_COMMON_H

#include "deltawire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* When a region may be changed by the call under test. */
enum when {
    NEVER,      /* what the library gets as const */
    ON_SUCCESS, /* what is written only if there is something to write: neither by misuse nor with ABSENT */
    NO_MISUSE,  /* by all but misuse: -1 to -99 changes nothing */
    ON_SMALL,   /* a length asked for: also with E_SMALL */
    ALWAYS      /* and must be written on every path */
};

enum { FRESH, HALF, PENDING, STUCK, STRICT, FINISHED, RESERVED, COMMITTED, ASKING_AGAIN, WANTING,
       PARSER_STATES };
enum { MESSAGE_SOME, MESSAGE_EMPTY, MESSAGE_FULL, MESSAGE_STATES };
enum { VALUE_OBJECT, VALUE_STRING, VALUE_NUMBER, VALUE_ARRAY, VALUE_NONE, VALUE_TEXT, VALUE_CUT, VALUE_STATES };
#define STATES 10

/* What is expected of a result, if it is not one status. */
enum { DOCUMENTED = 1000, NOT_E_NULL, NULL_OR_SMALL, MISUSE };

/* EVERYTHING calls nearly every callback. */
extern const char STREAM[], PAYLOAD[], EVERYTHING[];
extern const char *const STATE_NAMES[STATES];

/* The name of the case under test: a crash tells it. Everything of the case before is forgotten. */
void begin(const char *function, const char *what, int state);
void fault(const char *what, long long got, long long expected);
int summary(const char *name);
/* A fault in the setting up, not in what is tested. */
void require(int holds, const char *what);

/* `len` bytes that end where no memory is; what lies before them is watched. */
void *region(const char *name, size_t len, enum when when, int fill);
/* Now this region has to be written by the call. */
void always(void *at);
/* Gives it back: what still points to it crashes. */
void release(void *at);
/* All regions as they are now are what later is compared with. */
void freeze(void);
/* Compares all regions after a call that gave `status`. */
void compare(long long status);
/* One status against what is documented (ended by 999) and what is expected. */
void judge(deltawire_status status, const deltawire_status *documented, int expected);

deltawire_parser *parser(int state, enum when when);
deltawire_message *message(int state, enum when when);
const deltawire_chunk *chunk(void);
const deltawire_value *value(int state);
const void *bytes(const char *name, const char *text);
/* Callbacks that count, and what they saw. */
extern size_t seen;

/* What is compared, by hand. */
void is(const char *what, long long got, long long expected);
void is_one_of(const char *what, long long got, long long one, long long other);
/* A call that must change nothing but what its region allows. */
#define UNCHANGED(what, call, expected) \
    do { deltawire_status status_; freeze(); status_ = (call); compare(status_); is(what, status_, expected); } while (0)

/* Three chunks, whose contents are `one`, `two` and `three`; callbacks that take contents, and answer as they are told. */
extern const char THREE[];
enum { THREE_LEN = 179 };
struct text {
    char bytes[4096];
    size_t len;
    int32_t answer;
};
deltawire_callbacks taking(void);
/* A parser with room for so much of a cut event, and for direct reading as the config has it. */
deltawire_parser *make(size_t event_bytes, const deltawire_config *config);
/* The parser is fresh, whatever it was through: a stream comes out whole. */
void works(deltawire_parser *p);
void after_reset(deltawire_parser *p);

#endif
