/* The filter: one for each stream of HTTP. SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Every hook answers ENVOY_CONTINUE, so nothing is ever delayed; and whatever fails here, the bytes pass. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

struct filter {
    struct config *config;     /* NULL: there was no memory for a filter, so this one does nothing */
    struct worker *worker;     /* set with `stream` */
    struct llm_stream *stream; /* NULL: the response is not read, or is over */
    uint64_t request_ns;
    bool is_hiding;  /* the request has the header that `hide_usage` names */
    bool is_passed;  /* CONNECT and HEAD: there is no response body to read */
    bool is_local;   /* Envoy itself answers */
    bool is_over;    /* facts were published */
};

static struct filter idle;

static void *allocate(void *ctx, size_t size) {
    (void)ctx;
    return malloc(size);
}

static void release(void *ctx, void *mem) {
    (void)ctx;
    free(mem);
}

/* Returns the first value of a header; empty if there is none. */
static deltawire_str header(void *envoy, int map, envoy_bytes name) {
    envoy_bytes value = {NULL, 0};
    if (!ENVOY_CALL(http_get_header)(envoy, map, name, &value, 0, NULL)) return (deltawire_str){NULL, 0};
    return (deltawire_str){value.ptr, value.length};
}

static bool equals(deltawire_str text, const char *word) { return text.len == strlen(word) && memcmp(text.ptr, word, text.len) == 0; }

/* Publishing ------------------------------------------------------------------------------------------------------------------------- */

static const envoy_bytes space = {"deltawire", 9};

static envoy_bytes key_of(enum llm_fact fact) {
    const char *name = llm_fact_name(fact);
    return (envoy_bytes){name, strlen(name)};
}

static void publish_word(void *envoy, enum llm_fact fact, const char *word) {
    ENVOY_CALL(http_set_dynamic_metadata_string)(envoy, space, key_of(fact), (envoy_bytes){word, strlen(word)});
}

static void publish(void *envoy, struct llm_stream *stream) {
    struct llm_value value;
    unsigned fact;
    for (fact = 0; fact < LLM_FACTS; fact++) {
        if (!llm_value_of(stream, fact, &value)) continue;
        if (fact == LLM_COMPLETE) {
            ENVOY_CALL(http_set_dynamic_metadata_bool)(envoy, space, key_of(fact), value.len == 4);
        } else if (value.text) {
            ENVOY_CALL(http_set_dynamic_metadata_string)(envoy, space, key_of(fact), (envoy_bytes){value.text, value.len});
        } else {
            ENVOY_CALL(http_set_dynamic_metadata_number)(envoy, space, key_of(fact), (double)value.number);
        }
    }
}

/* Ends the response, once. What `pass` is not given of held bytes is lost, because nothing more can be sent. */
static void finish(struct filter *f, void *envoy, enum llm_ending ending, llm_pass pass) {
    llm_end(f->stream, ending, pass, f->worker);
    publish(envoy, f->stream);
    count_response(f->config, envoy, f->stream);
    free(f->stream);
    f->stream = NULL;
    f->is_over = true;
}

/* The request ------------------------------------------------------------------------------------------------------------------------ */

void *HOOK(http_filter_new)(void *config, void *envoy) {
    struct filter *f = calloc(1, sizeof *f);
    (void)envoy;
    if (!f) return &idle; /* for NULL, Envoy would close the stream */
    f->config = config;
    return f;
}

void HOOK(http_filter_destroy)(void *given) {
    struct filter *f = given;
    if (f == &idle) return;
    if (f->stream) llm_end(f->stream, LLM_CLIENT_LEFT, NULL, NULL);
    free(f->stream);
    free(f);
}

int HOOK(http_filter_request_headers)(void *envoy, void *given, bool is_end) {
    struct filter *f = given;
    deltawire_str method;
    (void)is_end;
    if (!f->config) return ENVOY_CONTINUE;
    f->request_ns = llm_now();
    method = header(envoy, ENVOY_REQUEST_HEADERS, BYTES(":method"));
    f->is_passed = equals(method, "HEAD") || equals(method, "CONNECT");
    if (f->config->hide_usage) {
        deltawire_str hide = header(envoy, ENVOY_REQUEST_HEADERS, (envoy_bytes){f->config->hide_usage, strlen(f->config->hide_usage)});
        f->is_hiding = hide.len > 0 && llm_is_yes(hide.ptr, hide.len);
    }
    return ENVOY_CONTINUE;
}

int HOOK(http_filter_request_body)(void *envoy, void *given, bool is_end) {
    (void)envoy, (void)given, (void)is_end;
    return ENVOY_CONTINUE;
}

int HOOK(http_filter_request_trailers)(void *envoy, void *given) {
    (void)envoy, (void)given;
    return ENVOY_CONTINUE;
}

/* The response ----------------------------------------------------------------------------------------------------------------------- */

static bool is_read(const struct config *config, deltawire_str type) {
    size_t nth;
    if (type.len == 0) return false;
    if (!config->types.name) {
        for (nth = 0; llm_types[nth]; nth++)
            if (llm_is_type(type.ptr, type.len, llm_types[nth])) return true;
        return false;
    }
    for (nth = 0; nth < config->types.count; nth++)
        if (llm_is_type(type.ptr, type.len, config->types.name[nth])) return true;
    return false;
}

/* A failure of ours before a stream was begun. */
static void publish_unread(struct filter *f, void *envoy) {
    publish_word(envoy, LLM_VERDICT, "unread");
    ENVOY_CALL(http_set_dynamic_metadata_bool)(envoy, space, key_of(LLM_COMPLETE), false);
    f->is_over = true;
}

static void begin(struct filter *f, void *envoy, deltawire_str type) {
    struct llm_response r;
    f->worker = worker_of(f->config, envoy);
    f->stream = f->worker ? malloc(sizeof *f->stream) : NULL;
    if (!f->stream) {
        publish_unread(f, envoy);
        return;
    }
    memset(&r, 0, sizeof r);
    r.memory.alloc = allocate;
    r.memory.release = release;
    r.workspace = f->worker->workspace;
    r.max_event = f->config->max_event;
    r.request_ns = f->request_ns;
    r.content_type = type;
    r.content_encoding = header(envoy, ENVOY_RESPONSE_HEADERS, BYTES("content-encoding"));
    r.has_length = header(envoy, ENVOY_RESPONSE_HEADERS, BYTES("content-length")).len > 0;
    r.hide_usage = f->is_hiding;
    llm_begin(f->stream, &r);
}

int HOOK(http_filter_response_headers)(void *envoy, void *given, bool is_end) {
    struct filter *f = given;
    deltawire_str status, type;
    if (!f->config || f->is_passed || f->stream || f->is_over) return ENVOY_CONTINUE;
    if (f->is_local) {
        publish_word(envoy, LLM_ENDED_BY, "local_reply");
        f->is_over = true;
        return ENVOY_CONTINUE;
    }
    status = header(envoy, ENVOY_RESPONSE_HEADERS, BYTES(":status"));
    type = header(envoy, ENVOY_RESPONSE_HEADERS, BYTES("content-type"));
    if (equals(status, "101") || equals(status, "204") || equals(status, "304") || !is_read(f->config, type)) return ENVOY_CONTINUE;
    begin(f, envoy, type);
    if (is_end && f->stream) finish(f, envoy, LLM_UPSTREAM_ENDED, NULL);
    return ENVOY_CONTINUE;
}

/* How many pieces of a body are listed on the stack: more than a read has. */
#define FEW_CHUNKS 1024u

/* Lists the pieces of the body that the hook received. Returns NULL if there is none, or no memory; frees nothing if the list is `few`. */
static envoy_bytes *list_chunks(void *envoy, envoy_bytes *few, size_t *count) {
    envoy_bytes *chunks = few;
    *count = ENVOY_CALL(http_get_body_chunks_size)(envoy, ENVOY_RECEIVED_RESPONSE);
    if (*count == 0) return NULL;
    if (*count > FEW_CHUNKS) chunks = malloc(*count * sizeof *chunks);
    if (chunks && ENVOY_CALL(http_get_body_chunks)(envoy, ENVOY_RECEIVED_RESPONSE, chunks)) return chunks;
    if (chunks != few) free(chunks);
    return NULL;
}

/* Reads a body that passes as it is. */
static void read_body(struct filter *f, void *envoy) {
    envoy_bytes few[FEW_CHUNKS];
    uint64_t now = llm_now();
    size_t count, nth;
    envoy_bytes *chunks = list_chunks(envoy, few, &count);
    if (!chunks) {
        if (count > 0) llm_unread(f->stream);
        return;
    }
    for (nth = 0; nth < count; nth++) llm_read(f->stream, chunks[nth].ptr, chunks[nth].length, now, NULL, NULL);
    if (chunks != few) free(chunks);
}

/* Takes what llm_read passes on. There is always room: at most what was held, and a window. */
static int take(void *to, const char *bytes, size_t len, int is_held) {
    struct worker *w = to;
    w->has_held = w->has_held || is_held;
    if (len > sizeof w->out - w->out_len) return -1;
    memcpy(w->out + w->out_len, bytes, len);
    w->out_len += len;
    return 0;
}

static void append(void *envoy, int body, const struct worker *w) {
    if (w->out_len > 0) ENVOY_CALL(http_append_body)(envoy, body, (envoy_bytes){w->out, w->out_len});
}

/* Reads a window of at most LLM_HELD_MAX bytes, of the `left` bytes that the body begins with. Returns its length; 0 without the bytes. */
static size_t read_window(struct filter *f, void *envoy, size_t left, uint64_t now) {
    size_t most = left < LLM_HELD_MAX ? left : LLM_HELD_MAX;
    envoy_bytes few[FEW_CHUNKS];
    size_t count, nth, window = 0;
    envoy_bytes *chunks = list_chunks(envoy, few, &count);
    f->worker->out_len = 0;
    f->worker->has_held = false;
    if (!chunks) {
        llm_unread(f->stream);
        return 0;
    }
    for (nth = 0; nth < count && window < most; nth++) {
        size_t len = chunks[nth].length < most - window ? chunks[nth].length : most - window;
        bool hides = llm_hides(f->stream);
        llm_read(f->stream, chunks[nth].ptr, len, now, take, f->worker);
        if (!hides) take(f->worker, chunks[nth].ptr, len, 0); /* from now on nothing is left out */
        window += len;
    }
    if (chunks != few) free(chunks);
    return window;
}

/* Reads a body from which chunks may be left out, and puts what passes in its place. Pointers into a body end when it changes. So this
 * reads a window at its front, appends what passes of it, and drains the window, until only what passes is left. */
static void filter_body(struct filter *f, void *envoy) {
    struct worker *w = f->worker;
    size_t all = ENVOY_CALL(http_get_body_size)(envoy, ENVOY_RECEIVED_RESPONSE), done = 0;
    uint64_t now = llm_now();
    while (done < all) {
        size_t window = read_window(f, envoy, all - done, now);
        /* Usually a whole read passes as it is. */
        if (window == 0 || (window >= all && w->out_len == all && !w->has_held)) return;
        append(envoy, ENVOY_RECEIVED_RESPONSE, w);
        ENVOY_CALL(http_drain_body)(envoy, ENVOY_RECEIVED_RESPONSE, window);
        done += window;
    }
}

/* The end as HTTP has it: what was held goes out with the last bytes, or before the trailers. */
static void end_body(struct filter *f, void *envoy, int body) {
    struct worker *w = f->worker;
    w->out_len = 0;
    finish(f, envoy, LLM_UPSTREAM_ENDED, take);
    append(envoy, body, w);
}

int HOOK(http_filter_response_body)(void *envoy, void *given, bool is_end) {
    struct filter *f = given;
    if (!f->stream) return ENVOY_CONTINUE;
    if (llm_hides(f->stream)) {
        filter_body(f, envoy);
    } else {
        read_body(f, envoy);
    }
    if (is_end) end_body(f, envoy, ENVOY_RECEIVED_RESPONSE);
    return ENVOY_CONTINUE;
}

int HOOK(http_filter_response_trailers)(void *envoy, void *given) {
    struct filter *f = given;
    if (f->stream) end_body(f, envoy, ENVOY_BUFFERED_RESPONSE);
    return ENVOY_CONTINUE;
}

/* Other ends ------------------------------------------------------------------------------------------------------------------------- */

static bool begins(envoy_bytes text, const char *word) { return text.length >= strlen(word) && memcmp(text.ptr, word, strlen(word)) == 0; }

/* Who ended a stream that came to no end of its own, by Envoy's details of it. */
static enum llm_ending broken_by(envoy_bytes details, enum llm_ending otherwise) {
    if (begins(details, "upstream")) return LLM_UPSTREAM_RESET;
    if (begins(details, "downstream_local")) return LLM_LOCAL_REPLY; /* Envoy closed the client's connection, as when it ends */
    if (begins(details, "downstream") || begins(details, "http1.") || begins(details, "http2.") || begins(details, "http3.")) return LLM_CLIENT_LEFT;
    return otherwise;
}

/* Envoy answers itself, or ends the response that began. What it sends is no part of that response. */
int HOOK(http_filter_local_reply)(void *envoy, void *given, uint32_t status, envoy_bytes details, bool is_reset) {
    struct filter *f = given;
    (void)status, (void)is_reset;
    if (!f->config) return ENVOY_CONTINUE;
    f->is_local = true;
    if (f->stream) finish(f, envoy, broken_by(details, LLM_LOCAL_REPLY), NULL);
    return ENVOY_CONTINUE;
}

/* The stream is over, and Envoy writes its access log next. */
void HOOK(http_filter_stream_complete)(void *envoy, void *given) {
    struct filter *f = given;
    envoy_bytes details = {NULL, 0};
    if (!f->stream) return;
    if (!ENVOY_CALL(http_filter_get_attribute_string)(envoy, ENVOY_CODE_DETAILS, &details)) details.length = 0;
    finish(f, envoy, broken_by(details, details.length > 0 ? LLM_UPSTREAM_RESET : LLM_CLIENT_LEFT), NULL);
}
