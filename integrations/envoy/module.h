/* The parts of the Envoy module. SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef MODULE_H
#define MODULE_H

#include "envoy_abi.h"
#include "llm_meter.h"

#define BYTES(literal) ((envoy_bytes){literal, sizeof(literal) - 1})

/* How many names a list of the configuration may have, and how long each may be, in bytes. */
#define NAMES_MAX 256u
#define NAME_MAX_LEN LLM_TEXT_MAX

struct names {
    char **name; /* each ended by NUL */
    size_t count;
};

/* What the streams of one worker thread share. Only that thread uses it, and only within a hook. */
struct worker {
    deltawire_workspace *workspace;
    /* What a piece of a body becomes if chunks are left out of it: bytes that were held, then those of the piece. */
    char out[2 * LLM_HELD_MAX];
    size_t out_len;
    bool has_held; /* some of it was held */
};

/* Metrics, by the identifiers that Envoy gave them. */
struct metrics {
    size_t requests, tokens, ttft_ms, output_ms, max_gap_ms;
};

/* A filter's configuration. Envoy keeps it until the last stream that uses it is over. */
struct config {
    struct names types, models; /* no types: those of llm_types */
    uint32_t max_event;
    char *hide_usage; /* name of the request header, or NULL: nothing is left out */
    struct metrics metrics;
    uint32_t workers;
    struct worker *worker[]; /* by the worker's index; NULL until the worker has its first stream */
};

/* Writes an error to Envoy's log: what printf would print. */
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns what the calling worker's streams share, or NULL if there is no memory for it. */
struct worker *worker_of(struct config *config, void *envoy);

/* Adds to the statistics what was metered of a response that is over. */
void count_response(const struct config *config, void *envoy, struct llm_stream *stream);

#endif
