/* The buffers of a response in which usage is hidden. SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A buffer of the upstream is handed back (its `pos` becomes its `last`) as soon as what it contributes has been sent, no sooner: then the
 * upstream is read only as fast as the client takes the bytes. The last view of a buffer therefore remembers it as its `shadow`. Bytes
 * that are held are in the stream's memory, so their buffer is handed back at once. */
#include "ngx_http_deltawire.h"

static void add(ngx_http_deltawire_ctx_t *ctx, ngx_chain_t *cl) {
    cl->next = NULL;
    *ctx->last_out = cl;
    ctx->last_out = &cl->next;
}

/* A buffer that shows bytes of the upstream's. */
static ngx_int_t add_view(ngx_http_deltawire_ctx_t *ctx, u_char *bytes, size_t len) {
    ngx_chain_t *cl = ngx_chain_get_free_buf(ctx->request->pool, &ctx->views);

    if (cl == NULL) {
        return NGX_ERROR;
    }

    *cl->buf = *ctx->from;
    cl->buf->pos = bytes;
    cl->buf->last = bytes + len;
    cl->buf->tag = NULL;
    cl->buf->shadow = NULL;
    cl->buf->in_file = 0;
    cl->buf->temp_file = 0;
    cl->buf->recycled = 0;
    cl->buf->flush = 0;
    cl->buf->sync = 0;
    cl->buf->last_buf = 0;
    cl->buf->last_in_chain = 0;
    cl->buf->last_shadow = 0;
    add(ctx, cl);
    return NGX_OK;
}

/* A buffer with a copy. The memory is reused, in sizes that are powers of two, so that a long stream takes no more than a few. */
static ngx_int_t add_copy(ngx_http_deltawire_ctx_t *ctx, const u_char *bytes, size_t len) {
    ngx_pool_t *pool = ctx->request->pool;
    ngx_chain_t **at = &ctx->copies, *cl;
    ngx_buf_t *b;
    size_t room;

    while (*at && (size_t) ((*at)->buf->end - (*at)->buf->start) < len) {
        at = &(*at)->next;
    }

    cl = *at;

    if (cl) {
        *at = cl->next;

    } else {
        for (room = 1024; room < len; room *= 2) { /* void */ }

        cl = ngx_alloc_chain_link(pool);
        if (cl == NULL) {
            return NGX_ERROR;
        }

        cl->buf = ngx_create_temp_buf(pool, room);
        if (cl->buf == NULL) {
            return NGX_ERROR;
        }
    }

    b = cl->buf;
    b->tag = (ngx_buf_tag_t) &ngx_http_deltawire_pass;
    b->pos = b->start;
    b->last = ngx_cpymem(b->start, bytes, len);
    b->shadow = NULL;
    b->recycled = 0;
    b->flush = 0;
    b->last_buf = 0;
    b->last_in_chain = 0;
    add(ctx, cl);
    return NGX_OK;
}

static int pass(void *to, const char *bytes, size_t len, int is_held) {
    ngx_http_deltawire_ctx_t *ctx = to;

    return is_held ? add_copy(ctx, (const u_char *) bytes, len) : add_view(ctx, (u_char *) bytes, len);
}

/* A buffer without bytes, for flags that no view has. */
static ngx_buf_t *add_mark(ngx_http_deltawire_ctx_t *ctx) {
    ngx_pool_t *pool = ctx->request->pool;
    ngx_chain_t *cl = ngx_alloc_chain_link(pool);

    if (cl == NULL) {
        return NULL;
    }

    cl->buf = ngx_calloc_buf(pool);
    if (cl->buf == NULL) {
        return NULL;
    }

    cl->buf->sync = 1;
    add(ctx, cl);
    return cl->buf;
}

/* Reads one buffer, and adds to `out` what goes on. */
static ngx_int_t read_buf(ngx_http_deltawire_ctx_t *ctx, ngx_buf_t *from, uint64_t now) {
    ngx_chain_t **before = ctx->last_out, *cl;
    size_t len = ngx_buf_in_memory(from) ? (size_t) (from->last - from->pos) : 0;
    ngx_buf_t *last = NULL;
    ngx_uint_t is_reset;

    ctx->from = from;

    if (len > 0 && llm_hides(&ctx->stream)) {
        if (llm_read(&ctx->stream, from->pos, len, now, pass, ctx) != 0) {
            return NGX_ERROR;
        }

    } else if (len > 0) {
        (void) llm_read(&ctx->stream, from->pos, len, now, NULL, NULL);

        if (add_view(ctx, from->pos, len) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    /* The bytes that are held can still go out if the upstream breaks off. */
    is_reset = ngx_http_deltawire_is_reset(ctx->request, from);

    if (!ctx->is_over && (from->last_buf || is_reset)) {
        ctx->is_over = 1;

        if (llm_end(&ctx->stream, is_reset ? LLM_UPSTREAM_RESET : ngx_http_deltawire_ending(ctx->request), pass, ctx) != 0) {
            return NGX_ERROR;
        }
    }

    for (cl = *before; cl; cl = cl->next) {
        last = cl->buf;
    }

    if (last == NULL && (from->last_buf || (from->flush && !ctx->is_flushed) || (len == 0 && ngx_buf_special(from)))) {
        last = add_mark(ctx);
        if (last == NULL) {
            return NGX_ERROR;
        }
    }

    if (last == NULL) {
        from->pos = from->last;
        return NGX_OK;
    }

    last->last_buf = from->last_buf;
    last->last_in_chain = from->last_in_chain;
    last->flush = from->flush;
    last->recycled = from->recycled;
    ctx->is_flushed = from->flush;

    if (len > 0) {
        last->shadow = from;
    }

    return NGX_OK;
}

/* Takes back the buffers that were sent. */
static void reclaim(ngx_http_deltawire_ctx_t *ctx) {
    ngx_pool_t *pool = ctx->request->pool;
    ngx_chain_t **at = &ctx->busy, **list, *cl;

    while (*at) {
        at = &(*at)->next;
    }

    *at = ctx->out;
    ctx->out = NULL;
    ctx->last_out = &ctx->out;

    while (ctx->busy && ngx_buf_size(ctx->busy->buf) == 0) {
        cl = ctx->busy;
        ctx->busy = cl->next;

        if (cl->buf->shadow) {
            cl->buf->shadow->pos = cl->buf->shadow->last;
            cl->buf->shadow = NULL;
        }

        /* Later filters may still have a mark, which has no bytes that would tell. */
        if (!ngx_buf_in_memory(cl->buf)) {
            ngx_free_chain(pool, cl);
            continue;
        }

        list = cl->buf->tag ? &ctx->copies : &ctx->views;
        cl->next = *list;
        *list = cl;
    }
}

ngx_int_t ngx_http_deltawire_pass(ngx_http_deltawire_ctx_t *ctx, ngx_chain_t *in, ngx_http_output_body_filter_pt next) {
    uint64_t now = llm_now();
    ngx_chain_t *cl;
    ngx_int_t rc;

    for (cl = in; cl; cl = cl->next) {
        if (read_buf(ctx, cl->buf, now) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    /* All of it is held. Without `in`, nginx wants later filters to go on. */
    if (in && ctx->out == NULL && ctx->busy == NULL) {
        return NGX_OK;
    }

    rc = next(ctx->request, ctx->out);
    reclaim(ctx);
    return rc;
}
