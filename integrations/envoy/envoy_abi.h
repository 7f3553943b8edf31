/* What this module uses of Envoy's interface for dynamic modules, declared anew: the functions that Envoy exports, and the values that
 * they take. The names are Envoy's. interface.c checks at load that Envoy has the interface that these declarations were written for.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef ENVOY_ABI_H
#define ENVOY_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of Envoy's, valid until the hook returns or a function changes what they belong to; or of this module's. */
typedef struct {
    const char *ptr;
    size_t length;
} envoy_bytes;

/* Maps of headers. */
enum { ENVOY_REQUEST_HEADERS = 0, ENVOY_RESPONSE_HEADERS = 2 };

/* Bodies: what the current hook received, and what Envoy keeps to send after it. */
enum { ENVOY_RECEIVED_RESPONSE = 2, ENVOY_BUFFERED_RESPONSE = 3 };

/* What a hook answers for headers, bodies, trailers and local replies. */
enum { ENVOY_CONTINUE = 0 };

/* An attribute of a stream: `response.code_details`. */
enum { ENVOY_CODE_DETAILS = 16 };

enum { ENVOY_LOG_ERROR = 4 };
enum { ENVOY_METRIC_OK = 0 };

/* The library shows only the hooks, which Envoy calls. */
#pragma GCC visibility push(default)

#define HOOK(name) envoy_dynamic_module_on_##name

const char *HOOK(program_init)(void);
void HOOK(http_filter_config_destroy)(void *given);
void *HOOK(http_filter_config_new)(void *envoy, envoy_bytes name, envoy_bytes options);
void *HOOK(http_filter_new)(void *config, void *envoy);
void HOOK(http_filter_destroy)(void *given);
int HOOK(http_filter_request_headers)(void *envoy, void *given, bool is_end);
int HOOK(http_filter_request_body)(void *envoy, void *given, bool is_end);
int HOOK(http_filter_request_trailers)(void *envoy, void *given);
int HOOK(http_filter_response_headers)(void *envoy, void *given, bool is_end);
int HOOK(http_filter_response_body)(void *envoy, void *given, bool is_end);
int HOOK(http_filter_response_trailers)(void *envoy, void *given);
int HOOK(http_filter_local_reply)(void *envoy, void *given, uint32_t status, envoy_bytes details, bool is_reset);
void HOOK(http_filter_stream_complete)(void *envoy, void *given);

#define ENVOY_CALL(name) envoy_dynamic_module_callback_##name

void ENVOY_CALL(log)(int level, envoy_bytes message);
uint32_t ENVOY_CALL(get_concurrency)(void);

bool ENVOY_CALL(http_get_header)(void *filter, int map, envoy_bytes key, envoy_bytes *value, size_t index, size_t *count);
size_t ENVOY_CALL(http_get_body_size)(void *filter, int body);
size_t ENVOY_CALL(http_get_body_chunks_size)(void *filter, int body);
bool ENVOY_CALL(http_get_body_chunks)(void *filter, int body, envoy_bytes *chunks);
bool ENVOY_CALL(http_append_body)(void *filter, int body, envoy_bytes data);
bool ENVOY_CALL(http_drain_body)(void *filter, int body, size_t bytes);

void ENVOY_CALL(http_set_dynamic_metadata_number)(void *filter, envoy_bytes space, envoy_bytes key, double value);
void ENVOY_CALL(http_set_dynamic_metadata_string)(void *filter, envoy_bytes space, envoy_bytes key, envoy_bytes value);
void ENVOY_CALL(http_set_dynamic_metadata_bool)(void *filter, envoy_bytes space, envoy_bytes key, bool value);

bool ENVOY_CALL(http_filter_get_attribute_string)(void *filter, int attribute, envoy_bytes *value);
uint32_t ENVOY_CALL(http_filter_get_worker_index)(void *filter);

int ENVOY_CALL(http_filter_config_define_counter)(void *config, envoy_bytes name, envoy_bytes *labels, size_t count, size_t *id);
int ENVOY_CALL(http_filter_config_define_histogram)(void *config, envoy_bytes name, envoy_bytes *labels, size_t count, size_t *id);
int ENVOY_CALL(http_filter_increment_counter)(void *filter, size_t id, envoy_bytes *values, size_t count, uint64_t by);
int ENVOY_CALL(http_filter_record_histogram_value)(void *filter, size_t id, envoy_bytes *values, size_t count, uint64_t value);

#pragma GCC visibility pop

#endif
