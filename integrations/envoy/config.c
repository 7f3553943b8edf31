/* A filter's configuration, and the statistics. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "module.h"

#include <stdlib.h>
#include <string.h>

static bool is(const deltawire_value *key, const char *name) { return deltawire_value_equals(key, name, strlen(name)) == DELTAWIRE_OK; }

/* Returns the text of a JSON string, ended by NUL, or NULL after an error. */
static char *read_text(const deltawire_value *value, const char *option) {
    char text[NAME_MAX_LEN];
    size_t len = 0;
    char *copy;
    if (value->type != DELTAWIRE_T_STRING || deltawire_value_text(value, text, sizeof text, &len) != DELTAWIRE_OK || len == 0 ||
        memchr(text, 0, len)) {
        log_error("option `%s` must have texts of 1 to %u bytes", option, NAME_MAX_LEN);
        return NULL;
    }
    copy = malloc(len + 1);
    if (!copy) {
        log_error("no memory for option `%s`", option);
        return NULL;
    }
    memcpy(copy, text, len);
    copy[len] = 0;
    return copy;
}

static bool read_names(const deltawire_value *list, const char *option, struct names *names) {
    deltawire_value item;
    size_t cursor = 0;
    if (list->type != DELTAWIRE_T_ARRAY) {
        log_error("option `%s` must be a list of texts", option);
        return false;
    }
    names->name = calloc(NAMES_MAX, sizeof *names->name);
    if (!names->name) return false;
    while (deltawire_value_next(list, &cursor, NULL, &item) == DELTAWIRE_OK) {
        if (names->count == NAMES_MAX) {
            log_error("option `%s` may have at most %u texts", option, NAMES_MAX);
            return false;
        }
        names->name[names->count] = read_text(&item, option);
        if (!names->name[names->count]) return false;
        names->count++;
    }
    return true;
}

/* Reads an option. A JSON null stands for the default. */
static bool read_option(struct config *config, const deltawire_value *key, const deltawire_value *value) {
    char name[64] = "";
    size_t len = 0;
    if (is(key, "content_types") && !config->types.name) return value->type == DELTAWIRE_T_NULL || read_names(value, "content_types", &config->types);
    if (is(key, "models") && !config->models.name) return value->type == DELTAWIRE_T_NULL || read_names(value, "models", &config->models);
    if (is(key, "hide_usage") && !config->hide_usage) {
        if (value->type == DELTAWIRE_T_NULL) return true;
        config->hide_usage = read_text(value, "hide_usage");
        return config->hide_usage != NULL;
    }
    if (is(key, "max_event")) {
        uint64_t bytes = 0;
        if (value->type == DELTAWIRE_T_NULL) return true;
        if (deltawire_value_u64(value, &bytes) != DELTAWIRE_OK || bytes < LLM_MAX_EVENT_MIN || bytes > LLM_MAX_EVENT_MAX) {
            log_error("option `max_event` must be a number of bytes from %u to %u", LLM_MAX_EVENT_MIN, LLM_MAX_EVENT_MAX);
            return false;
        }
        config->max_event = (uint32_t)bytes;
        return true;
    }
    if (deltawire_value_text(key, name, sizeof name - 1, &len) != DELTAWIRE_OK) len = 0;
    name[len] = 0;
    log_error("option `%s` is unknown, or is there twice; the options are content_types, max_event, hide_usage and models", name);
    return false;
}

/* Reads the options: what Envoy makes of a google.protobuf.Struct, or JSON in a StringValue. Nothing stands for the defaults. */
static bool read_options(struct config *config, envoy_bytes text) {
    deltawire_value options, key, value;
    size_t cursor = 0, at = 0;
    while (at < text.length && strchr(" \t\r\n", text.ptr[at]) && text.ptr[at]) at++;
    if (at == text.length) return true;
    if (deltawire_value_open(text.ptr, text.length, &options) != DELTAWIRE_OK || options.type != DELTAWIRE_T_OBJECT) {
        log_error("`filter_config` must be a google.protobuf.Struct, or a JSON object in a google.protobuf.StringValue");
        return false;
    }
    while (deltawire_value_next(&options, &cursor, &key, &value) == DELTAWIRE_OK)
        if (!read_option(config, &key, &value)) return false;
    return true;
}

static bool define_metrics(struct metrics *m, void *envoy) {
    envoy_bytes model[] = {BYTES("model")}, requests[] = {BYTES("model"), BYTES("verdict"), BYTES("ended_by")}, tokens[] = {BYTES("model"), BYTES("type")};
    return ENVOY_CALL(http_filter_config_define_counter)(envoy, BYTES("deltawire_requests"), requests, 3, &m->requests) == ENVOY_METRIC_OK &&
           ENVOY_CALL(http_filter_config_define_counter)(envoy, BYTES("deltawire_tokens"), tokens, 2, &m->tokens) == ENVOY_METRIC_OK &&
           ENVOY_CALL(http_filter_config_define_histogram)(envoy, BYTES("deltawire_ttft_ms"), model, 1, &m->ttft_ms) == ENVOY_METRIC_OK &&
           ENVOY_CALL(http_filter_config_define_histogram)(envoy, BYTES("deltawire_output_ms"), model, 1, &m->output_ms) == ENVOY_METRIC_OK &&
           ENVOY_CALL(http_filter_config_define_histogram)(envoy, BYTES("deltawire_max_gap_ms"), model, 1, &m->max_gap_ms) == ENVOY_METRIC_OK;
}

static void free_names(struct names *names) {
    size_t nth;
    for (nth = 0; nth < names->count; nth++) free(names->name[nth]);
    free(names->name);
}

void HOOK(http_filter_config_destroy)(void *given) {
    struct config *config = given;
    uint32_t nth;
    if (!config) return;
    for (nth = 0; nth < config->workers; nth++) {
        if (config->worker[nth]) free(config->worker[nth]->workspace);
        free(config->worker[nth]);
    }
    free_names(&config->types);
    free_names(&config->models);
    free(config->hide_usage);
    free(config);
}

/* Returns NULL, after an error in the log, if an option is wrong: then Envoy refuses its own configuration. */
void *HOOK(http_filter_config_new)(void *envoy, envoy_bytes name, envoy_bytes options) {
    /* The main thread, which is no worker, has a place, too. */
    uint32_t workers = ENVOY_CALL(get_concurrency)() + 1;
    struct config *config = calloc(1, sizeof *config + workers * sizeof *config->worker);
    (void)name;
    if (!config) return NULL;
    config->workers = workers;
    if (read_options(config, options)) {
        if (define_metrics(&config->metrics, envoy)) return config;
        log_error("Envoy refuses the statistics");
    }
    HOOK(http_filter_config_destroy)(config);
    return NULL;
}

struct worker *worker_of(struct config *config, void *envoy) {
    uint32_t index = ENVOY_CALL(http_filter_get_worker_index)(envoy);
    struct worker *worker;
    void *mem;
    if (index >= config->workers) return NULL;
    if (config->worker[index]) return config->worker[index];
    worker = calloc(1, sizeof *worker);
    mem = malloc(deltawire_workspace_size());
    if (worker && mem && deltawire_workspace_init(mem, deltawire_workspace_size(), &worker->workspace) == DELTAWIRE_OK) {
        config->worker[index] = worker;
        return worker;
    }
    free(worker);
    free(mem);
    return NULL;
}

/* Names of models come from the wire, so only configured ones become labels. */
static envoy_bytes model_label(const struct config *config, struct llm_stream *stream) {
    struct llm_value model;
    size_t nth;
    if (llm_value_of(stream, LLM_MODEL, &model))
        for (nth = 0; nth < config->models.count; nth++)
            if (strlen(config->models.name[nth]) == model.len && memcmp(config->models.name[nth], model.text, model.len) == 0)
                return (envoy_bytes){config->models.name[nth], model.len};
    return BYTES("other");
}

static envoy_bytes text_label(struct llm_stream *stream, enum llm_fact fact) {
    struct llm_value value;
    return llm_value_of(stream, fact, &value) ? (envoy_bytes){value.text, value.len} : BYTES("none");
}

void count_response(const struct config *config, void *envoy, struct llm_stream *stream) {
    static const struct {
        enum llm_fact fact;
        envoy_bytes type;
    } tokens[] = {
        {LLM_PROMPT_TOKENS, {"prompt", 6}},
        {LLM_COMPLETION_TOKENS, {"completion", 10}},
        {LLM_CACHED_TOKENS, {"cached", 6}},
        {LLM_REASONING_TOKENS, {"reasoning", 9}},
    };
    const struct metrics *m = &config->metrics;
    envoy_bytes labels[3] = {model_label(config, stream), text_label(stream, LLM_VERDICT), text_label(stream, LLM_ENDED_BY)};
    struct llm_value value;
    size_t nth;
    ENVOY_CALL(http_filter_increment_counter)(envoy, m->requests, labels, 3, 1);
    for (nth = 0; nth < sizeof tokens / sizeof *tokens; nth++) {
        labels[1] = tokens[nth].type;
        if (llm_value_of(stream, tokens[nth].fact, &value)) ENVOY_CALL(http_filter_increment_counter)(envoy, m->tokens, labels, 2, value.number);
    }
    if (llm_value_of(stream, LLM_TTFT_MS, &value)) ENVOY_CALL(http_filter_record_histogram_value)(envoy, m->ttft_ms, labels, 1, value.number);
    if (llm_value_of(stream, LLM_OUTPUT_MS, &value)) ENVOY_CALL(http_filter_record_histogram_value)(envoy, m->output_ms, labels, 1, value.number);
    if (llm_value_of(stream, LLM_MAX_GAP_MS, &value)) ENVOY_CALL(http_filter_record_histogram_value)(envoy, m->max_gap_ms, labels, 1, value.number);
}
