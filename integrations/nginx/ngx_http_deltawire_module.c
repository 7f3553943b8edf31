/* Meters LLM responses. SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A filter between nginx's copy filter, which has put all bytes into memory, and its gzip filter: so it sees what the upstream sent. It
 * passes the buffers on as they are and reads them on the way, unless it hides usage (ngx_http_deltawire_pass.c). docs/nginx.md is for
 * users. */
#include "ngx_http_deltawire.h"

typedef struct {
    ngx_flag_t is_on;
    ngx_hash_t types;
    ngx_array_t *type_keys;
    size_t max_event;
    ngx_http_complex_value_t *hide; /* NULL: off */

    /* Each worker has its own copy of this memory, and each location, since its upstream differs from others'. */
    deltawire_workspace *workspace;
} ngx_http_deltawire_conf_t;

static ngx_int_t add_variables(ngx_conf_t *cf);
static ngx_int_t add_filters(ngx_conf_t *cf);
static void *create_conf(ngx_conf_t *cf);
static char *merge_conf(ngx_conf_t *cf, void *parent, void *child);
static char *set_max_event(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static char *set_hide(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

#define EVERYWHERE NGX_HTTP_MAIN_CONF | NGX_HTTP_SRV_CONF | NGX_HTTP_LOC_CONF

static ngx_str_t default_types[] = {
    LLM_TYPES(ngx_string),
    ngx_null_string,
};

static ngx_command_t commands[] = {
    {ngx_string("deltawire"), EVERYWHERE | NGX_CONF_FLAG, ngx_conf_set_flag_slot, NGX_HTTP_LOC_CONF_OFFSET,
     offsetof(ngx_http_deltawire_conf_t, is_on), NULL},
    {ngx_string("deltawire_types"), EVERYWHERE | NGX_CONF_1MORE, ngx_http_types_slot, NGX_HTTP_LOC_CONF_OFFSET,
     offsetof(ngx_http_deltawire_conf_t, type_keys), NULL},
    {ngx_string("deltawire_max_event"), EVERYWHERE | NGX_CONF_TAKE1, set_max_event, NGX_HTTP_LOC_CONF_OFFSET,
     offsetof(ngx_http_deltawire_conf_t, max_event), NULL},
    {ngx_string("deltawire_hide_usage"), EVERYWHERE | NGX_CONF_TAKE1, set_hide, NGX_HTTP_LOC_CONF_OFFSET, 0, NULL},
    ngx_null_command,
};

static ngx_http_module_t module_ctx = {add_variables, add_filters, NULL, NULL, NULL, NULL, create_conf, merge_conf};

ngx_module_t ngx_http_deltawire_module = {
    NGX_MODULE_V1, &module_ctx, commands, NGX_HTTP_MODULE, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NGX_MODULE_V1_PADDING,
};

static ngx_http_output_header_filter_pt next_header;
static ngx_http_output_body_filter_pt next_body;

/* Time ----------------------------------------------------------------------------------------------------------------------------- */

/* When nginx began to read the request. That time is known in milliseconds of the wall clock; a clock that was set since then is
 * noticed only if the time would be negative. */
static uint64_t request_time(ngx_http_request_t *r, uint64_t now) {
    ngx_time_t *t = ngx_timeofday();
    int64_t ms = ((int64_t) t->sec - (int64_t) r->start_sec) * 1000 + ((int64_t) t->msec - (int64_t) r->start_msec);

    if (ms < 0 || (uint64_t) ms * 1000000u > now) {
        return now;
    }

    return now - (uint64_t) ms * 1000000u;
}

/* How a response ends --------------------------------------------------------------------------------------------------------------- */

/* Whether nginx itself answered. `r->upstream` may be that of an earlier response, whose headers were never sent on. */
static ngx_uint_t is_local(ngx_http_request_t *r) {
#if (NGX_HTTP_CACHE)
    if (r->cached) {
        return 0;
    }
#endif

    return r->upstream == NULL || !r->upstream->header_sent;
}

enum llm_ending ngx_http_deltawire_ending(ngx_http_request_t *r) { return is_local(r) ? LLM_LOCAL_REPLY : LLM_UPSTREAM_ENDED; }

ngx_uint_t ngx_http_deltawire_is_reset(ngx_http_request_t *r, ngx_buf_t *b) {
    /* nginx removes `cleanup` when it is done with the upstream. What it still has of a body follows, and then a buffer that is the last
     * or, after a failure, only flushes. */
    return !b->last_buf && b->flush && ngx_buf_special(b) && !is_local(r) && r->upstream && r->upstream->cleanup == NULL;
}

/* nginx calls this before it writes the access log, also if the response broke off. */
static void end_response(void *data) {
    ngx_http_deltawire_ctx_t *ctx = data;
    ngx_http_request_t *r = ctx->request;
    enum llm_ending ending = LLM_UPSTREAM_RESET;

    if (ctx->is_over) {
        return;
    }

    ctx->is_over = 1;

    if (r->connection->error || r->connection->timedout) {
        ending = LLM_CLIENT_LEFT;

    } else if (is_local(r)) {
        ending = LLM_LOCAL_REPLY;
    }

    (void) llm_end(&ctx->stream, ending, NULL, NULL);
}

/* nginx calls this when it frees the request's pool. Marks the context, see get_ctx. */
static void free_response(void *data) {
    ngx_http_deltawire_ctx_t *ctx = data;

    ctx->is_over = 1;
    (void) llm_end(&ctx->stream, LLM_UPSTREAM_RESET, NULL, NULL);
}

/* nginx clears the contexts of all modules when it redirects internally, or when a filter replaces the response by an error page. */
static ngx_http_deltawire_ctx_t *get_ctx(ngx_http_request_t *r) {
    ngx_http_deltawire_ctx_t *ctx = ngx_http_get_module_ctx(r, ngx_http_deltawire_module);
    ngx_pool_cleanup_t *cln;

    if (ctx == NULL && (r->internal || r->filter_finalize)) {
        for (cln = r->pool->cleanup; cln; cln = cln->next) {
            if (cln->handler == free_response) {
                ctx = cln->data;
                break;
            }
        }
    }

    return ctx;
}

/* Headers ---------------------------------------------------------------------------------------------------------------------------- */

static void *take(void *log, size_t size) { return ngx_alloc(size, log); }

static void give(void *log, void *mem) {
    (void) log;
    ngx_free(mem);
}

static deltawire_str str_of(ngx_str_t s) {
    deltawire_str out = {(const char *) s.data, s.len};

    return out;
}

static ngx_uint_t has_type(ngx_http_request_t *r, ngx_http_deltawire_conf_t *conf) {
    ngx_str_t *type = &r->headers_out.content_type;
    u_char lowcase[128];
    ngx_uint_t hash = 0;
    size_t n = 0;

    if (type->len == 0) {
        return 0;
    }

    /* ngx_http_test_content_type knows no parameter but charset. */
    while (n < type->len && n < sizeof(lowcase) && type->data[n] != ';' && type->data[n] != ' ') {
        lowcase[n] = ngx_tolower(type->data[n]);
        hash = ngx_hash(hash, lowcase[n]);
        n++;
    }

    /* `deltawire_types *` makes no table. */
    return conf->types.size == 0 || ngx_hash_find(&conf->types, hash, lowcase, n) != NULL;
}

/* Whether the response has a body of its own that may be metered. */
static ngx_uint_t has_body(ngx_http_request_t *r) {
    ngx_uint_t status = r->headers_out.status;

    return r == r->main && !r->header_only && r->method != NGX_HTTP_HEAD && status >= NGX_HTTP_OK && status != NGX_HTTP_NO_CONTENT
           && status != NGX_HTTP_PARTIAL_CONTENT && status != NGX_HTTP_NOT_MODIFIED;
}

static ngx_http_deltawire_ctx_t *make_ctx(ngx_http_request_t *r) {
    ngx_http_deltawire_ctx_t *ctx = ngx_pcalloc(r->pool, sizeof(*ctx));
    ngx_pool_cleanup_t *on_free;
    ngx_http_cleanup_t *on_end;

    if (ctx == NULL) {
        return NULL;
    }

    on_free = ngx_pool_cleanup_add(r->pool, 0);
    on_end = ngx_http_cleanup_add(r, 0);
    if (on_free == NULL || on_end == NULL) {
        return NULL;
    }

    on_free->handler = free_response;
    on_free->data = ctx;
    on_end->handler = end_response;
    on_end->data = ctx;
    ctx->request = r;
    ctx->is_over = 1;
    return ctx;
}

static ngx_int_t header_filter(ngx_http_request_t *r) {
    ngx_http_deltawire_conf_t *conf = ngx_http_get_module_loc_conf(r, ngx_http_deltawire_module);
    ngx_http_deltawire_ctx_t *ctx = r == r->main ? get_ctx(r) : NULL;
    struct llm_response response;
    ngx_str_t says;

    if (ctx) {
        /* Another response replaces the one that began: only the other one counts. */
        (void) llm_end(&ctx->stream, LLM_LOCAL_REPLY, NULL, NULL);
        ctx->is_over = 1;
        ctx->is_left = 1;
        ctx->is_hiding = 0;
    }

    if (!conf->is_on || !has_body(r) || !has_type(r, conf)) {
        return next_header(r);
    }

    if (ctx == NULL) {
        ctx = make_ctx(r);
        if (ctx == NULL) {
            return next_header(r);
        }
    }

    ngx_memzero(&response, sizeof(response));
    response.memory.alloc = take;
    response.memory.release = give;
    response.memory.ctx = r->connection->log;
    response.workspace = conf->workspace;
    response.max_event = (uint32_t) conf->max_event;
    response.request_ns = request_time(r, llm_now());
    response.content_type = str_of(r->headers_out.content_type);
    response.has_length = r->headers_out.content_length_n >= 0 || r->headers_out.content_length != NULL;

    if (r->headers_out.content_encoding && r->headers_out.content_encoding->value.len > 0) {
        response.content_encoding = str_of(r->headers_out.content_encoding->value);
    }

    if (conf->hide && ngx_http_complex_value(r, conf->hide, &says) == NGX_OK) {
        response.hide_usage = llm_is_yes((const char *) says.data, says.len);
    }

    llm_begin(&ctx->stream, &response);
    ngx_http_set_ctx(r, ctx, ngx_http_deltawire_module);
    ctx->is_over = 0;
    ctx->is_left = 0;
    ctx->is_flushed = 1;
    ctx->last_out = &ctx->out;
#if (NGX_HTTP_CACHE)
    ctx->is_cached = r->cached;
#endif
    ctx->is_hiding = llm_hides(&ctx->stream) != 0;
    r->filter_need_in_memory = 1;

    if (ctx->is_hiding) {
        ngx_http_clear_accept_ranges(r);
    }

    return next_header(r);
}

/* Body ------------------------------------------------------------------------------------------------------------------------------- */

static ngx_int_t body_filter(ngx_http_request_t *r, ngx_chain_t *in) {
    ngx_http_deltawire_ctx_t *ctx = r == r->main ? get_ctx(r) : NULL;
    ngx_chain_t *cl;
    ngx_buf_t *b;
    uint64_t now;

    if (ctx == NULL) {
        return next_body(r, in);
    }

    if (ctx->is_hiding) {
        return ngx_http_deltawire_pass(ctx, in, next_body);
    }

    if (ctx->is_over) {
        return next_body(r, in);
    }

    if (r->headers_out.status == NGX_HTTP_PARTIAL_CONTENT) {
        /* nginx cuts a range out of a stored response. */
        ctx->is_over = 1;
        ctx->is_left = 1;
        (void) llm_end(&ctx->stream, LLM_UPSTREAM_ENDED, NULL, NULL);
        return next_body(r, in);
    }

    now = llm_now();

    /* Read before passing on: who sends a buffer also marks its bytes as sent. */
    for (cl = in; cl; cl = cl->next) {
        b = cl->buf;

        if (ngx_buf_in_memory(b)) {
            (void) llm_read(&ctx->stream, b->pos, (size_t) (b->last - b->pos), now, NULL, NULL);

        } else if (ngx_buf_size(b) > 0) {
            llm_unread(&ctx->stream);
        }

        if (b->last_buf) {
            ctx->is_over = 1;
            (void) llm_end(&ctx->stream, ngx_http_deltawire_ending(r), NULL, NULL);
            break;
        }

        if (ngx_http_deltawire_is_reset(r, b)) {
            ctx->is_over = 1;
            (void) llm_end(&ctx->stream, LLM_UPSTREAM_RESET, NULL, NULL);
            break;
        }
    }

    return next_body(r, in);
}

/* Variables -------------------------------------------------------------------------------------------------------------------------- */

static void set_text(ngx_http_variable_value_t *v, u_char *data, size_t len) {
    v->data = data;
    v->len = (unsigned) len;
    v->valid = 1;
    v->no_cacheable = 1;
    v->not_found = 0;
}

/* The facts so far; at the end, and in the log, all. */
static ngx_int_t get_fact(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t fact) {
    ngx_http_deltawire_conf_t *conf = ngx_http_get_module_loc_conf(r, ngx_http_deltawire_module);
    ngx_http_deltawire_ctx_t *ctx = r == r->main ? get_ctx(r) : NULL;
    static u_char local[] = "local_reply";
    struct llm_value value;
    u_char *copy;

    v->not_found = 1;

    if (ctx == NULL || ctx->is_left) {
        /* nginx's own error pages have no type that is metered, but it matters that they are not the upstream's. */
        if (fact == LLM_ENDED_BY && r == r->main && conf->is_on && r->headers_out.status != 0 && is_local(r)) {
            set_text(v, local, sizeof(local) - 1);
        }

        return NGX_OK;
    }

    if (!llm_value_of(&ctx->stream, (unsigned) fact, &value)) {
        return NGX_OK;
    }

    copy = ngx_pnalloc(r->pool, value.text ? value.len : NGX_INT64_LEN);
    if (copy == NULL) {
        return NGX_ERROR;
    }

    if (value.text) {
        ngx_memcpy(copy, value.text, value.len);
        set_text(v, copy, value.len);

    } else {
        set_text(v, copy, (size_t) (ngx_sprintf(copy, "%uL", value.number) - copy));
    }

    return NGX_OK;
}

static ngx_int_t get_cached(ngx_http_request_t *r, ngx_http_variable_value_t *v, uintptr_t data) {
    ngx_http_deltawire_ctx_t *ctx = r == r->main ? get_ctx(r) : NULL;
    static u_char yes[] = "true", no[] = "false";

    (void) data;
    v->not_found = 1;

    if (ctx && !ctx->is_left) {
        set_text(v, ctx->is_cached ? yes : no, ctx->is_cached ? 4 : 5);
    }

    return NGX_OK;
}

static ngx_int_t add_variable(ngx_conf_t *cf, const char *name, ngx_http_get_variable_pt get, uintptr_t data) {
    ngx_http_variable_t *var;
    ngx_str_t full;

    full.len = sizeof("llm_") - 1 + ngx_strlen(name);
    full.data = ngx_pnalloc(cf->pool, full.len);
    if (full.data == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(ngx_cpymem(full.data, "llm_", 4), name, full.len - 4);

    var = ngx_http_add_variable(cf, &full, NGX_HTTP_VAR_NOCACHEABLE);
    if (var == NULL) {
        return NGX_ERROR;
    }

    var->get_handler = get;
    var->data = data;
    return NGX_OK;
}

static ngx_int_t add_variables(ngx_conf_t *cf) {
    unsigned fact;

    for (fact = 0; fact < LLM_FACTS; fact++) {
        if (add_variable(cf, llm_fact_name(fact), get_fact, fact) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return add_variable(cf, "cached", get_cached, 0);
}

/* Configuration ---------------------------------------------------------------------------------------------------------------------- */

static char *set_max_event(ngx_conf_t *cf, ngx_command_t *cmd, void *conf) {
    size_t *size = (size_t *) ((char *) conf + cmd->offset);
    char *rv = ngx_conf_set_size_slot(cf, cmd, conf);

    if (rv == NGX_CONF_OK && (*size < LLM_MAX_EVENT_MIN || *size > LLM_MAX_EVENT_MAX)) {
        return "must be from 1k to 1023m";
    }

    return rv;
}

static char *set_hide(ngx_conf_t *cf, ngx_command_t *cmd, void *conf) {
    ngx_http_deltawire_conf_t *c = conf;
    ngx_http_compile_complex_value_t compile;
    ngx_str_t *value = cf->args->elts;

    (void) cmd;

    if (c->hide != NGX_CONF_UNSET_PTR) {
        return "is duplicate";
    }

    if (ngx_strcmp(value[1].data, "off") == 0) {
        c->hide = NULL;
        return NGX_CONF_OK;
    }

    if (ngx_http_script_variables_count(&value[1]) == 0) {
        return "must be \"off\" or have a variable, such as $http_x_hide_usage";
    }

    c->hide = ngx_palloc(cf->pool, sizeof(*c->hide));
    if (c->hide == NULL) {
        return NGX_CONF_ERROR;
    }

    ngx_memzero(&compile, sizeof(compile));
    compile.cf = cf;
    compile.value = &value[1];
    compile.complex_value = c->hide;
    return ngx_http_compile_complex_value(&compile) == NGX_OK ? NGX_CONF_OK : NGX_CONF_ERROR;
}

static void *create_conf(ngx_conf_t *cf) {
    ngx_http_deltawire_conf_t *conf = ngx_pcalloc(cf->pool, sizeof(*conf));

    if (conf == NULL) {
        return NULL;
    }

    conf->is_on = NGX_CONF_UNSET;
    conf->max_event = NGX_CONF_UNSET_SIZE;
    conf->hide = NGX_CONF_UNSET_PTR;
    return conf;
}

static char *merge_conf(ngx_conf_t *cf, void *parent, void *child) {
    ngx_http_deltawire_conf_t *prev = parent, *conf = child;
    void *mem;

    ngx_conf_merge_value(conf->is_on, prev->is_on, 0);
    ngx_conf_merge_size_value(conf->max_event, prev->max_event, LLM_MAX_EVENT_DEFAULT);
    ngx_conf_merge_ptr_value(conf->hide, prev->hide, NULL);

    if (ngx_http_merge_types(cf, &conf->type_keys, &conf->types, &prev->type_keys, &prev->types, default_types) != NGX_CONF_OK) {
        return NGX_CONF_ERROR;
    }

    if (conf->is_on) {
        mem = ngx_palloc(cf->pool, deltawire_workspace_size());
        if (mem == NULL || deltawire_workspace_init(mem, deltawire_workspace_size(), &conf->workspace) != DELTAWIRE_OK) {
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}

static ngx_int_t add_filters(ngx_conf_t *cf) {
    (void) cf;
    next_header = ngx_http_top_header_filter;
    ngx_http_top_header_filter = header_filter;
    next_body = ngx_http_top_body_filter;
    ngx_http_top_body_filter = body_filter;
    return NGX_OK;
}
