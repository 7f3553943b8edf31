/* The Envoy module alone, for the sanitizers: a stub of Envoy's interface drives the hooks with streams that are split at random, and
 * refuses memory. The stub gives each piece of a body memory of its own, and moves all of them when the body changes, so that a pointer
 * that is used for too long is found. Arguments: files, event streams of chat completions.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what) \
    do { \
        if (!(what)) { \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #what, context); \
            exit(1); \
        } \
    } while (0)

static char context[256];

/* Memory ----------------------------------------------------------------------------------------------------------------------------- */

/* The stub is linked with --wrap, so these count what the module allocates. The library allocates nothing. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
static long refuse_at = -1, allocations;
static int is_counting;

static int is_refused(void) { return is_counting && allocations++ == refuse_at; }
void *__wrap_malloc(size_t size) { return is_refused() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return is_refused() ? NULL : __real_calloc(count, size); }

static void *copy_of(const char *bytes, size_t len) {
    char *copy = __real_malloc(len ? len : 1);
    CHECK(copy);
    if (len) memcpy(copy, bytes, len);
    return copy;
}

/* The stub --------------------------------------------------------------------------------------------------------------------------- */

#define PIECES 4096
struct body {
    envoy_bytes piece[PIECES];
    size_t count;
};

static struct {
    const char *method, *status, *type, *encoding, *length, *hide, *details;
    struct body received, buffered;
    char facts[4096];
    uint64_t requests, tokens;
    char said[1024];
} envoy;

static void clear(struct body *body) {
    size_t nth;
    for (nth = 0; nth < body->count; nth++) free((void *)(size_t)body->piece[nth].ptr);
    body->count = 0;
}

static void add(struct body *body, const char *bytes, size_t len) {
    CHECK(body->count < PIECES);
    body->piece[body->count].ptr = copy_of(bytes, len);
    body->piece[body->count++].length = len;
}

static void move(struct body *body) {
    size_t nth;
    for (nth = 0; nth < body->count; nth++) {
        char *copy = copy_of(body->piece[nth].ptr, body->piece[nth].length);
        free((void *)(size_t)body->piece[nth].ptr);
        body->piece[nth].ptr = copy;
    }
}

static struct body *body_of(int body) { return body == ENVOY_RECEIVED_RESPONSE ? &envoy.received : &envoy.buffered; }

void ENVOY_CALL(log)(int level, envoy_bytes message) {
    CHECK(level == ENVOY_LOG_ERROR && message.length < sizeof envoy.said);
    memcpy(envoy.said, message.ptr, message.length);
    envoy.said[message.length] = 0;
}
uint32_t ENVOY_CALL(get_concurrency)(void) { return 2; }
uint32_t ENVOY_CALL(http_filter_get_worker_index)(void *filter) {
    (void)filter;
    return 1;
}

bool ENVOY_CALL(http_get_header)(void *filter, int map, envoy_bytes key, envoy_bytes *value, size_t index, size_t *count) {
    const char *name[] = {":method", "x-hide", ":status", "content-type", "content-encoding", "content-length"};
    const char *found[] = {envoy.method, envoy.hide, envoy.status, envoy.type, envoy.encoding, envoy.length};
    size_t nth;
    (void)filter;
    CHECK(index == 0 && !count);
    for (nth = map == ENVOY_REQUEST_HEADERS ? 0 : 2; nth < (map == ENVOY_REQUEST_HEADERS ? 2u : 6u); nth++)
        if (key.length == strlen(name[nth]) && memcmp(key.ptr, name[nth], key.length) == 0 && found[nth]) {
            *value = (envoy_bytes){found[nth], strlen(found[nth])};
            return true;
        }
    *value = (envoy_bytes){NULL, 0};
    return false;
}
size_t ENVOY_CALL(http_get_body_size)(void *filter, int body) {
    size_t nth, size = 0;
    (void)filter;
    for (nth = 0; nth < body_of(body)->count; nth++) size += body_of(body)->piece[nth].length;
    return size;
}
size_t ENVOY_CALL(http_get_body_chunks_size)(void *filter, int body) {
    (void)filter;
    return body_of(body)->count;
}
bool ENVOY_CALL(http_get_body_chunks)(void *filter, int body, envoy_bytes *chunks) {
    (void)filter;
    memcpy(chunks, body_of(body)->piece, body_of(body)->count * sizeof *chunks);
    return true;
}
bool ENVOY_CALL(http_append_body)(void *filter, int body, envoy_bytes data) {
    (void)filter;
    add(body_of(body), data.ptr, data.length);
    move(body_of(body));
    return true;
}
bool ENVOY_CALL(http_drain_body)(void *filter, int body, size_t bytes) {
    struct body *b = body_of(body);
    (void)filter;
    while (bytes > 0) {
        size_t len = b->piece[0].length;
        CHECK(b->count > 0);
        if (bytes < len) {
            char *rest = copy_of(b->piece[0].ptr + bytes, len - bytes);
            free((void *)(size_t)b->piece[0].ptr);
            b->piece[0] = (envoy_bytes){rest, len - bytes};
            break;
        }
        bytes -= len;
        free((void *)(size_t)b->piece[0].ptr);
        memmove(b->piece, b->piece + 1, --b->count * sizeof *b->piece);
    }
    move(b);
    return true;
}

static void add_fact(envoy_bytes key, const char *text, size_t len) {
    size_t end = strlen(envoy.facts);
    CHECK(end + key.length + len + 3 < sizeof envoy.facts);
    memcpy(envoy.facts + end, key.ptr, key.length);
    envoy.facts[end + key.length] = '=';
    memcpy(envoy.facts + end + key.length + 1, text, len);
    strcpy(envoy.facts + end + key.length + 1 + len, "\n");
}
void ENVOY_CALL(http_set_dynamic_metadata_number)(void *filter, envoy_bytes space, envoy_bytes key, double value) {
    char text[32];
    (void)filter, (void)space;
    /* Times differ from run to run. */
    if (key.length > 3 && memcmp(key.ptr + key.length - 3, "_ms", 3) == 0) return;
    snprintf(text, sizeof text, "%.0f", value);
    add_fact(key, text, strlen(text));
}
void ENVOY_CALL(http_set_dynamic_metadata_string)(void *filter, envoy_bytes space, envoy_bytes key, envoy_bytes value) {
    (void)filter, (void)space;
    add_fact(key, value.ptr, value.length);
}
void ENVOY_CALL(http_set_dynamic_metadata_bool)(void *filter, envoy_bytes space, envoy_bytes key, bool value) {
    (void)filter, (void)space;
    add_fact(key, value ? "yes" : "no", value ? 3 : 2);
}
bool ENVOY_CALL(http_filter_get_attribute_string)(void *filter, int attribute, envoy_bytes *value) {
    (void)filter;
    CHECK(attribute == ENVOY_CODE_DETAILS);
    if (envoy.details) *value = (envoy_bytes){envoy.details, strlen(envoy.details)};
    return envoy.details != NULL;
}
int ENVOY_CALL(http_filter_config_define_counter)(void *config, envoy_bytes name, envoy_bytes *labels, size_t count, size_t *id) {
    (void)config, (void)labels;
    *id = count * 100 + name.length;
    return ENVOY_METRIC_OK;
}
int ENVOY_CALL(http_filter_config_define_histogram)(void *config, envoy_bytes name, envoy_bytes *labels, size_t count, size_t *id) {
    return ENVOY_CALL(http_filter_config_define_counter)(config, name, labels, count, id);
}
int ENVOY_CALL(http_filter_increment_counter)(void *filter, size_t id, envoy_bytes *values, size_t count, uint64_t by) {
    (void)filter;
    CHECK(id / 100 == count && values[0].length > 0);
    if (count == 3) envoy.requests += by;
    if (count == 2) envoy.tokens += by;
    return ENVOY_METRIC_OK;
}
int ENVOY_CALL(http_filter_record_histogram_value)(void *filter, size_t id, envoy_bytes *values, size_t count, uint64_t value) {
    (void)filter, (void)value, (void)values;
    CHECK(id / 100 == count && count == 1);
    return ENVOY_METRIC_OK;
}

/* Driving ---------------------------------------------------------------------------------------------------------------------------- */

static uint32_t seed = 1;
static uint32_t random_below(uint32_t bound) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % bound;
}

struct output {
    char *bytes;
    size_t len;
};

static void collect(struct output *out, struct body *body) {
    size_t nth;
    for (nth = 0; nth < body->count; nth++) {
        memcpy(out->bytes + out->len, body->piece[nth].ptr, body->piece[nth].length);
        out->len += body->piece[nth].length;
    }
    clear(body);
}

enum ending { LAST_BYTES, EMPTY_END, TRAILERS, RESET, LOCAL, DESTROYED, ENDINGS };

/* Sends a response through a filter. Each read has at most `most` bytes in up to 90 pieces. */
static void respond(void *config, const char *bytes, size_t len, uint32_t most, enum ending ending, struct output *out) {
    int handle = 0;
    void *filter;
    size_t at = 0;
    out->len = 0;
    envoy.facts[0] = 0;
    is_counting = 1;
    filter = HOOK(http_filter_new)(config, &handle);
    CHECK(filter);
    CHECK(HOOK(http_filter_request_headers)(&handle, filter, false) == ENVOY_CONTINUE);
    CHECK(HOOK(http_filter_request_body)(&handle, filter, true) == ENVOY_CONTINUE);
    CHECK(HOOK(http_filter_response_headers)(&handle, filter, false) == ENVOY_CONTINUE);
    while (at < len) {
        size_t read = 1 + random_below(most), piece;
        bool is_end;
        if (read > len - at) read = len - at;
        while (read > 0) {
            piece = random_below(4) ? read : 1 + random_below((uint32_t)read);
            if (envoy.received.count == 89) piece = read;
            add(&envoy.received, bytes + at, piece);
            at += piece;
            read -= piece;
        }
        is_end = at == len && ending == LAST_BYTES;
        CHECK(HOOK(http_filter_response_body)(&handle, filter, is_end) == ENVOY_CONTINUE);
        collect(out, &envoy.received);
    }
    if (ending == EMPTY_END || (ending == LAST_BYTES && len == 0)) {
        CHECK(HOOK(http_filter_response_body)(&handle, filter, true) == ENVOY_CONTINUE);
        collect(out, &envoy.received);
    }
    if (ending == TRAILERS) {
        CHECK(HOOK(http_filter_response_trailers)(&handle, filter) == ENVOY_CONTINUE);
        collect(out, &envoy.buffered);
    }
    if (ending == LOCAL) CHECK(HOOK(http_filter_local_reply)(&handle, filter, 500, BYTES("overload"), true) == ENVOY_CONTINUE);
    if (ending != DESTROYED) HOOK(http_filter_stream_complete)(&handle, filter);
    HOOK(http_filter_destroy)(filter);
    is_counting = 0;
}

static void plain_response(void) {
    memset(&envoy, 0, sizeof envoy);
    envoy.method = "POST";
    envoy.status = "200";
    envoy.type = "text/event-stream; charset=utf-8";
}

/* Facts are the same however a stream is split and ends, and the bytes are those that came, or always the same without their usage. */
static void drive(void *config, const char *bytes, size_t len) {
    struct output first = {__real_malloc(len + 1), 0}, out = {__real_malloc(len + 1), 0};
    char facts[sizeof envoy.facts];
    int hides, round;
    for (hides = 0; hides < 2; hides++) {
        plain_response();
        envoy.hide = hides ? "Yes" : NULL;
        respond(config, bytes, len, 1u << 20, LAST_BYTES, &first);
        CHECK(hides || (first.len == len && memcmp(first.bytes, bytes, len) == 0));
        CHECK(first.len <= len && strstr(envoy.facts, "verdict=") && envoy.requests == 1);
        memcpy(facts, envoy.facts, sizeof facts);
        for (round = 0; round < 60; round++) {
            enum ending ending = (enum ending)(round % 3);
            respond(config, bytes, len, 1 + (1u << random_below(16)), ending, &out);
            CHECK(out.len == first.len && memcmp(out.bytes, first.bytes, out.len) == 0);
            CHECK(strcmp(envoy.facts, facts) == 0);
        }
        /* Ends after which nothing can be sent: what was sent is the beginning. */
        for (round = 0; round < 60; round++) {
            size_t cut = random_below((uint32_t)len + 1);
            enum ending ending = (enum ending)(RESET + round % 3);
            envoy.details = round % 2 ? "downstream_remote_disconnect" : "upstream_reset_after_response_started{x}";
            respond(config, bytes, cut, 1 + (1u << random_below(12)), ending, &out);
            CHECK(out.len <= first.len && memcmp(out.bytes, first.bytes, out.len) == 0);
            CHECK(hides || out.len == cut);
            if (ending == RESET) CHECK(strstr(envoy.facts, round % 2 ? "ended_by=client_left" : "ended_by=upstream_reset"));
            if (ending == LOCAL) CHECK(strstr(envoy.facts, "ended_by=local_reply"));
            CHECK((ending == DESTROYED) == (envoy.facts[0] == 0));
            envoy.details = NULL;
        }
    }
    free(first.bytes);
    free(out.bytes);
}

/* Whichever allocation is refused, the bytes pass. */
static void refuse(const char *bytes, size_t len) {
    struct output hidden = {__real_malloc(len + 1), 0}, out = {__real_malloc(len + 1), 0};
    int unread = 0, hides;
    for (hides = 0; hides < 2; hides++) {
        for (refuse_at = -1; refuse_at < 40; refuse_at++) {
            void *config;
            plain_response();
            envoy.hide = hides ? "on" : NULL;
            config = HOOK(http_filter_config_new)(&out, BYTES("x"), BYTES("{\"hide_usage\":\"x-hide\"}"));
            CHECK(config);
            allocations = 0;
            respond(config, bytes, len, 2000, LAST_BYTES, refuse_at < 0 ? &hidden : &out);
            if (refuse_at >= 0 && out.len == len) CHECK(memcmp(out.bytes, bytes, len) == 0);
            if (refuse_at >= 0 && out.len != len) CHECK(hides && out.len == hidden.len && memcmp(out.bytes, hidden.bytes, out.len) == 0);
            unread += strstr(envoy.facts, "verdict=unread") != NULL;
            HOOK(http_filter_config_destroy)(config);
        }
    }
    free(hidden.bytes);
    refuse_at = -1;
    CHECK(unread >= 3);
    /* Whichever allocation of the configuration is refused, it is refused whole. */
    for (refuse_at = 0; refuse_at < 6; refuse_at++) {
        void *config;
        allocations = 0;
        is_counting = 1;
        config = HOOK(http_filter_config_new)(&out, BYTES("x"), BYTES("{\"models\":[\"a\",\"b\"],\"hide_usage\":\"x-hide\"}"));
        is_counting = 0;
        CHECK((config == NULL) == (refuse_at < 5));
        if (config) HOOK(http_filter_config_destroy)(config);
    }
    refuse_at = -1;
    free(out.bytes);
}

/* A response that the filter leaves alone: no facts, the bytes as they came. */
static void drive_unread(void *config) {
    static const char text[] = "data: {\"choices\":[]}\n\n";
    struct output out = {__real_malloc(sizeof text), 0};
    int which;
    for (which = 0; which < 6; which++) {
        plain_response();
        if (which == 0) envoy.method = "HEAD";
        if (which == 1) envoy.method = "CONNECT";
        if (which == 2) envoy.status = "101";
        if (which == 3) envoy.type = "application/grpc";
        if (which == 4) envoy.type = NULL;
        if (which == 5) envoy.encoding = "br";
        respond(config, text, sizeof text - 1, 7, LAST_BYTES, &out);
        CHECK(out.len == sizeof text - 1 && memcmp(out.bytes, text, out.len) == 0);
        if (which < 5) CHECK(envoy.facts[0] == 0 && envoy.requests == 0);
        if (which == 5) CHECK(strcmp(envoy.facts, "verdict=compressed\nended_by=upstream_end\n") == 0);
    }
    free(out.bytes);
}

int main(int count, char **names) {
    void *config;
    int nth, handle = 0;
    strcpy(context, "interface");
    /* This program is no Envoy that is known. */
    CHECK(HOOK(program_init)() == NULL && strstr(envoy.said, "this Envoy has another interface ("));
    CHECK(strstr(envoy.said, "(17 functions, "));
    config = HOOK(http_filter_config_new)(&handle, BYTES("x"), BYTES("{\"hide_usage\":\"x-hide\",\"models\":[\"gpt-4o\"],\"max_event\":2e5}"));
    CHECK(config);
    CHECK(!HOOK(http_filter_config_new)(&handle, BYTES("x"), BYTES("{\"max_event\":1,\"models\":[\"a\"]}")) && strstr(envoy.said, "`max_event`"));
    drive_unread(config);
    for (nth = 1; nth < count; nth++) {
        FILE *file = fopen(names[nth], "rb");
        char *bytes = __real_malloc(1 << 20);
        size_t len;
        CHECK(file && bytes);
        len = fread(bytes, 1, 1 << 20, file);
        fclose(file);
        snprintf(context, sizeof context, "%s", names[nth]);
        drive(config, bytes, len);
        refuse(bytes, len);
        free(bytes);
    }
    HOOK(http_filter_config_destroy)(config);
    printf("%d streams\n", count - 1);
    return count > 1 ? 0 : 1;
}
