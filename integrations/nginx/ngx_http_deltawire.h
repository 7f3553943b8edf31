/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef NGX_HTTP_DELTAWIRE_H
#define NGX_HTTP_DELTAWIRE_H

#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "llm_meter.h"

/* A response that is metered; in the request's pool. */
typedef struct {
    ngx_http_request_t *request;
    struct llm_stream stream;
    unsigned is_cached : 1;
    unsigned is_left : 1; /* not metered after all: the variables are not found */
    unsigned is_over : 1;
    unsigned is_hiding : 1; /* was, at the beginning */
    unsigned is_flushed : 1; /* the last buffer that went out flushes */

    /* Only while hiding: the buffers that this module makes. Those in `views` show a part of the upstream's buffer, those in `copies`
     * have memory of their own. */
    ngx_chain_t *out, **last_out, *busy, *views, *copies;
    ngx_buf_t *from; /* the upstream's buffer that is being read */
} ngx_http_deltawire_ctx_t;

/* How a response whose last buffer came has ended. */
enum llm_ending ngx_http_deltawire_ending(ngx_http_request_t *r);

/* Whether this buffer says that the upstream broke off. */
ngx_uint_t ngx_http_deltawire_is_reset(ngx_http_request_t *r, ngx_buf_t *b);

/* The body filter while the module hides usage: sends on views of the upstream's buffers, and copies of what was held. */
ngx_int_t ngx_http_deltawire_pass(ngx_http_deltawire_ctx_t *ctx, ngx_chain_t *in, ngx_http_output_body_filter_pt next);

#endif
