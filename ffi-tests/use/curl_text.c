/* curl_text [--gzip | --raw] [--pause] URL...: prints the content of streams as it arrives, with libcurl and
 * deltawire.
 *
 * All URLs use one handle, and so one persistent connection. By default it requests uncompressed bodies, with --gzip
 * compressed bodies, which libcurl decodes. With --raw it requests neither and decodes nothing, so a compressed body is not a
 * stream. --pause pauses the transfer after every text, from inside the callback.
 *
 * Exit status, the worst of all URLs: 0 complete, 1 wrong usage, 2 the API reported an error, 3 cut or parts lost, 4
 * not a stream. */
#include "deltawire.h"
#include "safe.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stream {
    CURL *curl;
    deltawire_parser *parser;
    deltawire_callbacks callbacks;
    size_t skip;            /* bytes of the next write that the parser already consumed */
    size_t moves;           /* how often the parser moved to a bigger block */
    size_t pauses;
    int paused;
    deltawire_status stuck; /* a status below 0 */
};

/* ---- Output ---- */

static int32_t on_content(void *user, const deltawire_at *at, const char *text, size_t len) {
    (void)user;
    if (at->choice != 0) return DELTAWIRE_GO_ON;
    return fwrite(text, 1, len, stdout) == len && fflush(stdout) == 0 ? DELTAWIRE_GO_ON : -1;
}

static int32_t on_content_pause(void *user, const deltawire_at *at, const char *text, size_t len) {
    int32_t answer = on_content(user, at, text, len);
    return answer == DELTAWIRE_GO_ON && at->choice == 0 ? DELTAWIRE_PAUSE : answer;
}

static int32_t on_error(void *user, const deltawire_at *at, const deltawire_value *error) {
    deltawire_value message;
    char text[512];
    size_t len = 0;
    (void)user, (void)at;
    if (deltawire_error_field(error, DELTAWIRE_ERROR_MESSAGE, &message) == DELTAWIRE_OK &&
        deltawire_value_text(&message, text, sizeof text, &len) == DELTAWIRE_OK) {
        fputs("error: ", stderr);
        put_safe(stderr, text, len);
        fputs("\n", stderr);
    } else
        fprintf(stderr, "error: (%lu bytes)\n", (unsigned long)error->len);
    return DELTAWIRE_GO_ON;
}

/* ---- Bytes in ---- */

static int grow(struct stream *s) {
    size_t want = deltawire_need(s->parser);
    void *mem = malloc(want);
    deltawire_parser *old = s->parser;
    if (!mem) return 0;
    if (deltawire_move(mem, want, old, &s->parser) != DELTAWIRE_OK) {
        free(mem);
        return 0;
    }
    free(old);
    s->moves++;
    return 1;
}

/* libcurl's write callback must consume all or nothing. So this provides what the parser needs until it has consumed
 * everything. The only exception is a pause: libcurl then keeps the bytes and passes them again from the first, so
 * those already consumed are skipped. */
static size_t on_write(char *data, size_t size, size_t count, void *user) {
    struct stream *s = user;
    size_t len = size * count, off = s->skip < len ? s->skip : len;
    s->skip -= off;
    s->paused = 0;
    for (;;) {
        size_t consumed = 0;
        deltawire_status status = deltawire_feed(s->parser, data + off, len - off, &s->callbacks, s, &consumed);
        off += consumed;
        if (status == DELTAWIRE_OK) return len;
        if (status == DELTAWIRE_PAUSED) {
            s->pauses++;
            s->paused = 1;
            s->skip = off;
            return CURL_WRITEFUNC_PAUSE;
        }
        if (status != DELTAWIRE_NEED_STORAGE || !grow(s)) {
            s->stuck = status;
            return 0; /* libcurl: CURLE_WRITE_ERROR */
        }
    }
}

/* libcurl calls this regularly: resumes a paused transfer. */
static int on_progress(void *user, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) {
    struct stream *s = user;
    (void)a, (void)b, (void)c, (void)d;
    if (s->paused) curl_easy_pause(s->curl, CURLPAUSE_CONT);
    return 0;
}

static int get(struct stream *s, const char *url) {
    deltawire_end end = DELTAWIRE_END_INIT;
    deltawire_status status;
    CURLcode code;
    long fresh = 0, http = 0;

    s->skip = s->moves = s->pauses = 0;
    s->paused = 0;
    s->stuck = DELTAWIRE_OK;
    curl_easy_setopt(s->curl, CURLOPT_URL, url);
    code = curl_easy_perform(s->curl);
    curl_easy_getinfo(s->curl, CURLINFO_NUM_CONNECTS, &fresh);
    curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &http);

    /* The last event may have come without its blank line. A pause would have nothing to pause here. */
    do {
        status = deltawire_finish(s->parser, &s->callbacks, s);
        if (status == DELTAWIRE_NEED_STORAGE && !grow(s)) break;
    } while (status > DELTAWIRE_OK);

    deltawire_end_of(s->parser, &end);
    fprintf(stderr, "verdict %s, status %ld, new connections %ld, moves %lu, pauses %lu, curl: %s%s%s\n",
            deltawire_verdict_name(end.verdict), http, fresh, (unsigned long)s->moves, (unsigned long)s->pauses,
            curl_easy_strerror(code), s->stuck ? ", parser: " : "", s->stuck ? deltawire_status_text(s->stuck) : "");
    deltawire_reset(s->parser);
    /* Without [DONE], the stream may have had more when the connection broke. */
    if (end.complete) return end.verdict == DELTAWIRE_VERDICT_FINISHED && code != CURLE_OK ? 3 : 0;
    switch (end.verdict) {
    case DELTAWIRE_VERDICT_DONE:
    case DELTAWIRE_VERDICT_FINISHED:
    case DELTAWIRE_VERDICT_BODY:
    case DELTAWIRE_VERDICT_LOST:
    case DELTAWIRE_VERDICT_TRUNCATED: return 3;
    case DELTAWIRE_VERDICT_API_ERROR: return 2;
    default: return 4;
    }
}

int main(int argc, char **argv) {
    struct stream s = {0};
    deltawire_callbacks callbacks = DELTAWIRE_CALLBACKS_INIT;
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    size_t size = deltawire_block_size(NULL, 128); /* it grows when a read cuts a longer event */
    void *mem = malloc(size);
    int nth, worst = argc < 2;

    callbacks.on_content = on_content;
    callbacks.on_error = on_error;
    callbacks.on_choice_error = on_error;
    s.callbacks = callbacks;
    config.flags = DELTAWIRE_CFG_GROW;
    s.curl = curl_easy_init();
    if (!mem || !s.curl || deltawire_init(mem, size, &config, &s.parser) != DELTAWIRE_OK) return 1;
    curl_easy_setopt(s.curl, CURLOPT_WRITEFUNCTION, on_write);
    curl_easy_setopt(s.curl, CURLOPT_WRITEDATA, &s);
    curl_easy_setopt(s.curl, CURLOPT_NOSIGNAL, 1L);
    /* If this is set, to any value, libcurl decodes compressed bodies, even if the request did not ask for compression. */
    curl_easy_setopt(s.curl, CURLOPT_ACCEPT_ENCODING, "identity");
    for (nth = 1; nth < argc; nth++) {
        int status;
        if (strcmp(argv[nth], "--gzip") == 0) {
            curl_easy_setopt(s.curl, CURLOPT_ACCEPT_ENCODING, "gzip");
            continue;
        }
        if (strcmp(argv[nth], "--raw") == 0) {
            curl_easy_setopt(s.curl, CURLOPT_ACCEPT_ENCODING, NULL);
            continue;
        }
        if (strcmp(argv[nth], "--pause") == 0) {
            s.callbacks.on_content = on_content_pause;
            curl_easy_setopt(s.curl, CURLOPT_NOPROGRESS, 0L);
            curl_easy_setopt(s.curl, CURLOPT_XFERINFOFUNCTION, on_progress);
            curl_easy_setopt(s.curl, CURLOPT_XFERINFODATA, &s);
            continue;
        }
        status = get(&s, argv[nth]);
        if (status > worst) worst = status;
    }
    curl_easy_cleanup(s.curl);
    curl_global_cleanup();
    free(s.parser);
    return worst;
}
