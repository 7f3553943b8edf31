/* gateway [--drop-usage] [--strict] [--max-memory BYTES] [--count N] PORT: forwards HTTP/1.1 to 127.0.0.1:PORT. The code of
 * docs/gateway.md, in the file that DOCS names, reads the streams.
 *
 * Prints the port that it listens on. Forwards bodies unchanged as they arrive. With --drop-usage it drops chunks
 * that contain only usage, and holds back at most the frame under decision. At the end of each response it prints
 * usage, finish reason and verdict on standard error. It forwards unreadable bytes too. --max-memory limits each
 * parser's block, --count ends the program after that many responses.
 *
 * One thread, poll, up to CLIENTS clients; one request for each connection. */
#define _POSIX_C_SOURCE 200809L
#include "http.h"
#include "safe.h"

#include <stdint.h>

/* The code of docs/gateway.md gets no block larger than --max-memory. */
static size_t max_memory = 1 << 20;

static void *limited(size_t size) { return size <= max_memory ? malloc(size) : NULL; }

#define malloc limited
#include DOCS
#undef malloc

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS = 64, READ = 8192, HEAD_MAX = 65536 };

enum phase {
    REQUEST_HEAD,   /* receiving the client's head */
    RESPONSE_HEAD,  /* forwarding the request; receiving the server's head */
    RESPONSE_BODY,
    DRAINING        /* everything is written; the client reads the rest */
};

struct client {
    int fd, up;                     /* sockets; -1: none */
    enum phase phase;
    struct bytes from_client, from_up, to_client, to_up;
    struct bytes run;               /* part of the body that is not in a chunk yet */
    struct body body;
    struct stream stream;
    uint64_t kept;                  /* bytes of the body that were forwarded */
    int streaming, whole;
    char path[64];
};

static int drop_usage, strict;
static struct client clients[CLIENTS];
static uint16_t upstream;
static long done_count;

static int nonblocking(int fd) {
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL, 0) | O_NONBLOCK) == 0;
}

static int dial(uint16_t port) {
    struct sockaddr_in to;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    memset(&to, 0, sizeof to);
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 && (connect(fd, (struct sockaddr *)&to, sizeof to) != 0 || !nonblocking(fd))) {
        close(fd);
        return -1;
    }
    return fd;
}

/* send_fn */
static int to_run(void *to, const char *bytes, size_t len) {
    struct client *c = to;
    c->kept += len;
    return bytes_put(&c->run, bytes, len) ? 0 : -1;
}

/* With --strict each quirk is an error. */
static void begin(struct client *c) {
    struct stream *s = &c->stream;
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    stream_begin(s, to_run, c, drop_usage);
    c->streaming = 1;
    if (!strict || !s->parser) return;
    config.flags = DELTAWIRE_CFG_GROW;
    config.errors[0] = config.errors[1] = ~UINT64_C(0);
    config.events = DELTAWIRE_MASK(DELTAWIRE_EV_FRAME) | DELTAWIRE_MASK(DELTAWIRE_EV_FINISH);
    deltawire_init(s->parser, deltawire_block_size(NULL, 1024), &config, &s->parser);
}

/* Prints usage, finish reason and verdict at the end, or why the stream was not read. */
static void report(const struct client *c) {
    const struct stream *s = &c->stream;
    deltawire_end end = DELTAWIRE_END_INIT;
    deltawire_usage usage = DELTAWIRE_USAGE_INIT;
    put_safe(stderr, c->path, strlen(c->path));
    fprintf(stderr, " %s bytes=%llu dropped=%d dropped_bytes=%llu finish=%s", c->whole ? "whole" : "cut",
            (unsigned long long)s->seen, s->dropped, (unsigned long long)(s->seen - c->kept),
            s->finish ? deltawire_finish_name(s->finish) : "-");
    if (s->parser && deltawire_last_usage(s->parser, &usage) == DELTAWIRE_OK)
        fprintf(stderr, " usage=%llu+%llu", (unsigned long long)usage.prompt, (unsigned long long)usage.completion);
    else
        fprintf(stderr, " usage=-");
    if (s->parser) deltawire_end_of(s->parser, &end);
    fprintf(stderr, " verdict=%s complete=%lu open=%s\n", deltawire_verdict_name(end.verdict), (unsigned long)end.complete,
            s->why ? s->why : "-");
}

/* Sends the body in new chunks, since it may be shorter than before: one for each read. */
static int chunk(struct client *c) {
    char size[24];
    size_t len = bytes_len(&c->run);
    int ok;
    if (len == 0) return 1;
    sprintf(size, "%lx\r\n", (unsigned long)len);
    ok = bytes_put(&c->to_client, size, strlen(size)) && bytes_put(&c->to_client, c->run.ptr + c->run.at, len) &&
         bytes_put(&c->to_client, "\r\n", 2);
    bytes_take(&c->run, len);
    return ok;
}

static void hang_up(struct client *c) {
    if (c->fd >= 0) close(c->fd);
    if (c->up >= 0) close(c->up);
    if (c->streaming) free(c->stream.parser);
    bytes_free(&c->from_client);
    bytes_free(&c->from_up);
    bytes_free(&c->to_client);
    bytes_free(&c->to_up);
    bytes_free(&c->run);
    memset(c, 0, sizeof *c);
    c->fd = c->up = -1;
    done_count++;
}

/* ---- One step at a time; each returns 0 if the connection is lost. ---- */

static int request_head(struct client *c) {
    static const char *const without[] = {"Accept-Encoding", "Connection", "Keep-Alive", NULL};
    size_t len = head_len(&c->from_client), n = 0;
    const char *head = c->from_client.ptr + c->from_client.at, *path;
    if (len == 0) return bytes_len(&c->from_client) < HEAD_MAX;
    path = memchr(head, ' ', len);
    while (path && n < sizeof c->path - 1 && path[n + 1] > ' ') n++;
    if (path) memcpy(c->path, path + 1, n);
    c->up = dial(upstream);
    if (c->up < 0) {
        static const char bad[] = "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        c->phase = DRAINING;
        return bytes_put(&c->to_client, bad, sizeof bad - 1);
    }
    /* The parser cannot read a compressed body, so ask for none. */
    if (!head_copy(&c->to_up, head, len, without, "Accept-Encoding: identity\r\nConnection: close\r\n")) return 0;
    bytes_take(&c->from_client, len);
    c->phase = RESPONSE_HEAD;
    return 1;
}

static int response_head(struct client *c) {
    static const char *const without[] = {"Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", NULL};
    size_t len = head_len(&c->from_up), n;
    const char *head = c->from_up.ptr + c->from_up.at, *encoding;
    if (len == 0) return bytes_len(&c->from_up) < HEAD_MAX;
    if (!head_copy(&c->to_client, head, len, without, "Transfer-Encoding: chunked\r\nConnection: close\r\n")) return 0;
    body_begin(&c->body, head, len);
    begin(c);
    encoding = head_field(head, len, "Content-Encoding", &n);
    if (encoding && !head_field_is(head, len, "Content-Encoding", "identity")) {
        free(c->stream.parser);
        c->stream.parser = NULL;
        c->stream.why = "compressed";
    }
    bytes_take(&c->from_up, len);
    c->phase = RESPONSE_BODY;
    return 1;
}

/* The body ended, or the server closed the connection. */
static int response_end(struct client *c, int over) {
    c->whole = over != 2 && body_whole(&c->body);
    c->phase = DRAINING;
    if (stream_end(&c->stream) != 0 || !chunk(c)) return 0;
    report(c);
    /* The missing last chunk shows the client, too, that the body was cut. */
    return !c->whole || bytes_put(&c->to_client, "0\r\n\r\n", 5);
}

static int response_body(struct client *c) {
    const char *data;
    size_t n;
    while ((n = body_next(&c->body, &c->from_up, &data)) > 0) {
        if (stream_bytes(&c->stream, data, n) != 0) return 0;
        bytes_take(&c->from_up, n);
    }
    if (c->body.state == BODY_OVER || c->body.state == BODY_BAD) return response_end(c, 0);
    return chunk(c);
}

static int flush(int fd, struct bytes *b) {
    while (bytes_len(b)) {
        ssize_t n = send(fd, b->ptr + b->at, bytes_len(b), 0);
        if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
        bytes_take(b, (size_t)n);
    }
    return 1;
}

/* Reads once. *over: 1 at the end, 2 if the connection broke. */
static int fill(int fd, struct bytes *b, int *over) {
    char buffer[READ];
    ssize_t n = recv(fd, buffer, sizeof buffer, 0);
    if (n > 0) return bytes_put(b, buffer, (size_t)n);
    if (n == 0) *over = 1;
    else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) *over = 2;
    return 1;
}

static int step(struct client *c, short client_ready, short up_ready) {
    int over = 0;
    if (client_ready & (POLLIN | POLLHUP | POLLERR)) {
        if (!fill(c->fd, &c->from_client, &over)) return 0;
        if (over) return 0; /* the client closed the connection */
        if (c->phase == REQUEST_HEAD && !request_head(c)) return 0;
    }
    /* The request's body follows its head. */
    if (c->phase != REQUEST_HEAD && bytes_len(&c->from_client)) {
        if (!bytes_put(&c->to_up, c->from_client.ptr + c->from_client.at, bytes_len(&c->from_client))) return 0;
        bytes_take(&c->from_client, bytes_len(&c->from_client));
    }
    if (c->up >= 0 && up_ready & (POLLIN | POLLHUP | POLLERR)) {
        if (!fill(c->up, &c->from_up, &over)) return 0;
        if (c->phase == RESPONSE_HEAD && !response_head(c)) return 0;
        if (c->phase == RESPONSE_BODY && !response_body(c)) return 0;
        if (over && c->phase == RESPONSE_HEAD) return 0;
        if (over && c->phase == RESPONSE_BODY && !response_end(c, over)) return 0;
        if (c->phase == DRAINING) {
            close(c->up);
            c->up = -1;
        }
    }
    if (c->up >= 0 && !flush(c->up, &c->to_up)) return 0;
    if (!flush(c->fd, &c->to_client)) return 0;
    return c->phase != DRAINING || bytes_len(&c->to_client);
}

static int listen_at_all(uint16_t *port) {
    struct sockaddr_in at;
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    memset(&at, 0, sizeof at);
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, CLIENTS) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &len) != 0)
        return -1;
    *port = ntohs(at.sin_port);
    return fd;
}

static void welcome(int listener) {
    struct client *c = clients;
    int fd = accept(listener, NULL, NULL);
    if (fd < 0) return;
    while (c < clients + CLIENTS && c->fd >= 0) c++;
    if (c == clients + CLIENTS || !nonblocking(fd)) close(fd);
    else c->fd = fd;
}

int main(int argc, char **argv) {
    struct pollfd polled[1 + 2 * CLIENTS];
    uint16_t port;
    long count = 0;
    int nth, listener;
    for (nth = 1; nth < argc; nth++) {
        if (strcmp(argv[nth], "--drop-usage") == 0) drop_usage = 1;
        else if (strcmp(argv[nth], "--strict") == 0) strict = 1;
        else if (strcmp(argv[nth], "--max-memory") == 0 && nth + 1 < argc) max_memory = strtoul(argv[++nth], NULL, 10);
        else if (strcmp(argv[nth], "--count") == 0 && nth + 1 < argc) count = atol(argv[++nth]);
        else upstream = (uint16_t)atoi(argv[nth]);
    }
    for (nth = 0; nth < CLIENTS; nth++) clients[nth].fd = clients[nth].up = -1;
    signal(SIGPIPE, SIG_IGN);
    listener = listen_at_all(&port);
    if (upstream == 0 || listener < 0) {
        fprintf(stderr, "usage: gateway [--drop-usage] [--strict] [--max-memory BYTES] [--count N] PORT\n");
        return 1;
    }
    printf("%u\n", (unsigned)port);
    fflush(stdout);
    while (count == 0 || done_count < count) {
        polled[0].fd = listener;
        polled[0].events = POLLIN;
        for (nth = 0; nth < CLIENTS; nth++) {
            struct client *c = &clients[nth];
            struct pollfd *p = &polled[1 + 2 * nth];
            p[0].fd = c->fd;
            p[0].events = (short)((bytes_len(&c->to_client) ? POLLOUT : 0) | (bytes_len(&c->to_up) ? 0 : POLLIN));
            /* Do not read from the server while the client has bytes left to take. */
            p[1].fd = bytes_len(&c->to_client) ? -1 : c->up;
            p[1].events = (short)((bytes_len(&c->to_up) ? POLLOUT : 0) | POLLIN);
            p[0].revents = p[1].revents = 0;
        }
        if (poll(polled, 1 + 2 * CLIENTS, -1) < 0 && errno != EINTR) return 1;
        for (nth = 0; nth < CLIENTS; nth++) {
            struct client *c = &clients[nth];
            const struct pollfd *p = &polled[1 + 2 * nth];
            if (c->fd >= 0 && (p[0].revents || p[1].revents) && !step(c, p[0].revents, p[1].revents)) hang_up(c);
        }
        if (polled[0].revents) welcome(listener);
    }
    close(listener);
    return 0;
}
