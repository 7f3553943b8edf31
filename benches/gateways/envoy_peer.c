/* For benches/gateways/envoy.py: copies what Envoy's own ai_protocol_manager publishes, as hexadecimal digits, to where an access log can
 * print it: the key `usage` of the dynamic metadata `peer`. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "module.h"

#include <string.h>

bool ENVOY_CALL(http_get_typed_metadata)(void *filter, int source, envoy_bytes space, envoy_bytes *type, envoy_bytes *value);

static int nothing;

void *HOOK(http_filter_config_new)(void *envoy, envoy_bytes name, envoy_bytes options) {
    (void)envoy, (void)name, (void)options;
    return &nothing;
}
void HOOK(http_filter_config_destroy)(void *given) { (void)given; }
void *HOOK(http_filter_new)(void *config, void *envoy) {
    (void)envoy;
    return config;
}
void HOOK(http_filter_destroy)(void *given) { (void)given; }
int HOOK(http_filter_request_headers)(void *envoy, void *given, bool is_end) { return (void)envoy, (void)given, (void)is_end, ENVOY_CONTINUE; }
int HOOK(http_filter_request_body)(void *envoy, void *given, bool is_end) { return (void)envoy, (void)given, (void)is_end, ENVOY_CONTINUE; }
int HOOK(http_filter_request_trailers)(void *envoy, void *given) { return (void)envoy, (void)given, ENVOY_CONTINUE; }
int HOOK(http_filter_response_headers)(void *envoy, void *given, bool is_end) { return (void)envoy, (void)given, (void)is_end, ENVOY_CONTINUE; }
int HOOK(http_filter_response_body)(void *envoy, void *given, bool is_end) { return (void)envoy, (void)given, (void)is_end, ENVOY_CONTINUE; }
int HOOK(http_filter_response_trailers)(void *envoy, void *given) { return (void)envoy, (void)given, ENVOY_CONTINUE; }
int HOOK(http_filter_local_reply)(void *envoy, void *given, uint32_t status, envoy_bytes details, bool is_reset) {
    return (void)envoy, (void)given, (void)status, (void)details, (void)is_reset, ENVOY_CONTINUE;
}

void HOOK(http_filter_stream_complete)(void *envoy, void *given) {
    envoy_bytes type = {NULL, 0}, value = {NULL, 0};
    char text[4096];
    size_t nth;
    (void)given;
    if (!ENVOY_CALL(http_get_typed_metadata)(envoy, 0, BYTES("envoy.ai.token_usage"), &type, &value) || value.length > sizeof text / 2) return;
    for (nth = 0; nth < value.length; nth++) {
        text[2 * nth] = "0123456789abcdef"[(unsigned char)value.ptr[nth] >> 4];
        text[2 * nth + 1] = "0123456789abcdef"[(unsigned char)value.ptr[nth] & 15];
    }
    ENVOY_CALL(http_set_dynamic_metadata_string)(envoy, BYTES("peer"), BYTES("usage"), (envoy_bytes){text, 2 * value.length});
}
