#define _DEFAULT_SOURCE
#include "drive.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef SANITIZED
int guarded = 0;
#else
int guarded = 1;
#endif

#define POISON 0xA5

/* -------------------------------------------------------------------------------------------------------------------
 * Memory that is exactly as long */

typedef struct {
    unsigned char *base; /* start of guarded memory */
    size_t room;
    unsigned char *mem;
    size_t len;
} exact;

static void exact_take(exact *e, const void *bytes, size_t len)
{
    const size_t page = 4096;
    e->len = len;
    if (!guarded) {
        e->mem = malloc(len ? len : 1);
        if (!e->mem) die("out of memory");
    } else {
        if (e->room < len || !e->base) {
            if (e->base) munmap(e->base, e->room + page);
            e->room = (len / page + 16) * page;
            e->base = mmap(NULL, e->room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (e->base == MAP_FAILED || mprotect(e->base + e->room, page, PROT_NONE) != 0) die("no memory to guard");
        }
        e->mem = e->base + e->room - len;
    }
    if (len) {
        if (bytes) memcpy(e->mem, bytes, len);
        else memset(e->mem, POISON, len);
    }
}

static void exact_drop(exact *e)
{
    if (!e->mem) return;
    if (guarded) memset(e->mem, POISON, e->len);
    else free(e->mem);
    e->mem = NULL;
}

/* -------------------------------------------------------------------------------------------------------------------
 * A run */

typedef struct {
    const how *h;
    logbook *log;
    const deltawire_callbacks *callbacks;
    unsigned char *alloc; /* memory of the block */
    size_t alloc_len;
    size_t block_len;
    unsigned odd;
    deltawire_parser *p;
    const char *input;
    size_t len, pos; /* bytes given so far */
    size_t stride;   /* how many events a batch takes */
    size_t scratch;  /* bytes of the next batch's scratch */
    int over;        /* there was a status below 0 */
} run;

/* Slices and scratch: kept between runs, because they are mapped. */
static exact slice_mem, scratch_mem, events_mem;

static unsigned char *new_block(run *r, size_t len, unsigned char **alloc)
{
    /* Aligned to 8 and, every other time, not to 16. */
    size_t shift = r->odd++ % 2 * 8;
    *alloc = need_memory(len + shift);
    return *alloc + shift;
}

static void take_block(run *r, unsigned char *alloc, size_t len, deltawire_parser *p)
{
    memset((void *)r->p, POISON, r->block_len);
    free(r->alloc);
    r->alloc = alloc;
    r->block_len = len;
    r->p = p;
}

static void relocate(run *r)
{
    unsigned char *alloc, *mem;
    if (r->h->still) return;
    mem = new_block(r, r->block_len, &alloc);
    memcpy(mem, (void *)r->p, r->block_len);
    take_block(r, alloc, r->block_len, (deltawire_parser *)mem);
}

static void move_to(run *r, size_t len)
{
    unsigned char *alloc, *mem = new_block(r, len, &alloc);
    deltawire_parser *moved = NULL;
    deltawire_status status;
    memset(mem, POISON, len);
    status = deltawire_move(mem, len, r->p, &moved);
    if (status != DELTAWIRE_OK || moved != (deltawire_parser *)mem) {
        log_bad(r->log, "deltawire_move answers", (uint64_t)-status);
        log_bad(r->log, "to a block of", len);
        free(alloc);
        r->over = 1;
        return;
    }
    take_block(r, alloc, len, moved);
}

/* Enlarges the block without moving it, as realloc may. */
static void resize_to(run *r, size_t len)
{
    unsigned char *alloc, *mem = new_block(r, len, &alloc);
    deltawire_status status;
    memset(mem, POISON, len);
    memcpy(mem, (void *)r->p, r->block_len);
    take_block(r, alloc, len, (deltawire_parser *)(void *)mem);
    status = deltawire_resize(r->p, len);
    if (status == DELTAWIRE_OK) return;
    log_bad(r->log, "deltawire_resize answers", (uint64_t)-status);
    r->over = 1;
}

static void grow(run *r)
{
    size_t need = deltawire_need(r->p);
    if (!r->h->grow) log_bad(r->log, "NEED_STORAGE, which was not asked for", need);
    if (need <= r->block_len) {
        log_bad(r->log, "deltawire_need after NEED_STORAGE", need);
        r->over = 1;
        return;
    }
    if (r->odd % 3) move_to(r, need);
    else resize_to(r, need);
}

static void shrink(run *r)
{
    size_t need = deltawire_need(r->p);
    if (need > r->block_len) log_bad(r->log, "deltawire_need of a block that is good", need);
    else if (need < r->block_len) move_to(r, need);
}

/* -------------------------------------------------------------------------------------------------------------------
 * Workspaces, which are never cleared, and are in other memory at each call */

enum { WORKSPACES = 2 };
static unsigned char *workspace_alloc[WORKSPACES];
static deltawire_workspace *workspaces[WORKSPACES];

static void drop_workspaces(void)
{
    int i;
    for (i = 0; i < WORKSPACES; i++) free(workspace_alloc[i]);
}

/* The workspace of the next call. */
static deltawire_workspace *workspace(run *r)
{
    size_t i = r->h->shared > 1 ? r->odd % WORKSPACES : 0, size = deltawire_workspace_size();
    unsigned char *alloc, *mem;
    if (!workspaces[0] && !workspaces[1] && atexit(drop_workspaces) != 0) die("atexit");
    if (workspaces[i] && r->h->still) return workspaces[i];
    mem = new_block(r, size, &alloc);
    if (!workspaces[i]) {
        memset(mem, POISON, size);
        if (deltawire_workspace_init(mem, size, &workspaces[i]) != DELTAWIRE_OK) die("deltawire_workspace_init");
        if ((unsigned char *)(void *)workspaces[i] != mem) die("deltawire_workspace_init gives another block");
    } else {
        memcpy(mem, (void *)workspaces[i], size);
        memset((void *)workspaces[i], POISON, size);
        free(workspace_alloc[i]);
        workspaces[i] = (deltawire_workspace *)(void *)mem;
    }
    workspace_alloc[i] = alloc;
    return workspaces[i];
}

static deltawire_status call_feed(run *r, const void *data, size_t len, size_t *consumed)
{
    if (!r->h->shared) return deltawire_feed(r->p, data, len, r->callbacks, r->log, consumed);
    return deltawire_feed_with(r->p, workspace(r), data, len, r->callbacks, r->log, consumed);
}

static deltawire_status call_finish(run *r)
{
    if (!r->h->shared) return deltawire_finish(r->p, r->callbacks, r->log);
    return deltawire_finish_with(r->p, workspace(r), r->callbacks, r->log);
}

/* Handles the result of a call. Returns 1 to call again. */
static int after(run *r, deltawire_status status, int moved_on)
{
    count_status(status);
    /* No input can produce so many events, so the same one is emitted repeatedly. */
    if (r->log->events > 1000 + 64 * (unsigned long)r->len) {
        log_bad(r->log, "it never ends; events", r->log->events);
        r->over = 1;
        return 0;
    }
    if (!moved_on && status > 0 && status != DELTAWIRE_NEED_STORAGE) {
        log_bad(r->log, "it stands still with status", (uint64_t)status);
        r->over = 1;
        return 0;
    }
    if (status == DELTAWIRE_NEED_STORAGE) grow(r);
    else if (status == DELTAWIRE_PAUSED && !r->h->pause && !r->h->again) log_bad(r->log, "PAUSED, and nobody asked", 0);
    else if (status == DELTAWIRE_MORE && !r->h->batch) log_bad(r->log, "MORE from a feed", 0);
    else if (status == DELTAWIRE_E_STRICT) {
        log_strict(r->log, r->p);
        r->over = 1;
    } else if (status < 0 || status > DELTAWIRE_NEED_STORAGE) {
        log_bad(r->log, "the answer is minus", (uint64_t)-status);
        r->over = 1;
    }
    if (r->over) return 0;
    relocate(r);
    return status > 0;
}

/* One call of deltawire_batch or, with `finish`, of deltawire_batch_finish. Returns 1 to call again. */
static int batch(run *r, const void *data, size_t len, int finish, size_t *consumed)
{
    deltawire_batch_result result;
    deltawire_event *events;
    const void *texts = data;
    size_t reach = len;
    deltawire_status status;
    int again;
    exact_take(&events_mem, NULL, r->h->cap * sizeof *events);
    exact_take(&scratch_mem, NULL, r->scratch);
    events = (deltawire_event *)(void *)events_mem.mem;
    memset(&result, POISON, sizeof result);
    if (r->h->shared && finish)
        status = deltawire_batch_finish_with(r->p, workspace(r), events, r->h->cap, scratch_mem.mem, r->scratch, &result);
    else if (r->h->shared)
        status = deltawire_batch_with(r->p, workspace(r), data, len, events, r->h->cap, scratch_mem.mem, r->scratch, &result);
    else if (finish) status = deltawire_batch_finish(r->p, events, r->h->cap, scratch_mem.mem, r->scratch, &result);
    else status = deltawire_batch(r->p, data, len, events, r->h->cap, scratch_mem.mem, r->scratch, &result);
    if (r->h->direct) texts = r->p, reach = r->block_len;
    if (finish) reach = 0;
    if (result.consumed > len || result.events > r->h->cap || result.scratch_used > r->scratch) {
        log_bad(r->log, "more consumed or written than there is; events", result.events);
        r->over = 1;
        return 0;
    }
    if (!len && result.consumed) log_bad(r->log, "consumed of nothing", result.consumed);
    log_batch(r->log, events, result.events, texts, reach, scratch_mem.mem, result.scratch_used);
    exact_drop(&events_mem);
    exact_drop(&scratch_mem);
    *consumed = result.consumed;
    again = after(r, status, result.consumed || result.events || result.scratch_need > r->scratch);
    if (result.scratch_need && status != DELTAWIRE_MORE) log_bad(r->log, "scratch_need without MORE", result.scratch_need);
    r->scratch = result.scratch_need > r->h->scratch ? result.scratch_need : r->h->scratch;
    return again;
}

/* One call of deltawire_feed. Returns 1 to call again. */
static int feed(run *r, const void *data, size_t len, size_t *consumed)
{
    unsigned long before = r->log->events;
    int asked = r->log->asked_again;
    deltawire_status status = call_feed(r, data, len, consumed);
    if (*consumed > len) {
        log_bad(r->log, "more consumed than there is", *consumed);
        r->over = 1;
        return 0;
    }
    return after(r, status, *consumed || r->log->events != before || r->log->asked_again != asked);
}

static int call(run *r, const void *data, size_t len, size_t *consumed)
{
    *consumed = (size_t)-1;
    return r->h->batch ? batch(r, data, len, 0, consumed) : feed(r, data, len, consumed);
}

/* Reads the bytes up to `end` from memory of the caller. */
static void give_slice(run *r, size_t end)
{
    size_t off = 0, consumed;
    int again = 1;
    exact_take(&slice_mem, r->input + r->pos, end - r->pos);
    while (again) {
        size_t rest = slice_mem.len - off;
        again = call(r, rest ? slice_mem.mem + off : NULL, rest, &consumed);
        if (r->over) break;
        off += consumed;
        r->pos += consumed;
        if (!again) {
            if (r->pos != end) log_bad(r->log, "OK, and not all is consumed; position", r->pos);
            r->pos = end;
        } else if (end - r->pos < 4096 || r->h->extend) {
            /* The same bytes again in other memory, with or without more after them. */
            size_t more = r->len - end < r->h->extend ? r->len - end : r->h->extend;
            exact_drop(&slice_mem);
            end += more;
            exact_take(&slice_mem, r->input + r->pos, end - r->pos);
            off = 0;
        }
    }
    exact_drop(&slice_mem);
}

/* Reads the bytes up to `end` directly into the block. */
static void give_direct(run *r, size_t end)
{
    while (r->pos < end && !r->over) {
        size_t off = (size_t)-1, room = 0, consumed, n;
        deltawire_status status = deltawire_reserve(r->p, &off, &room);
        if (status != DELTAWIRE_OK || room == 0 || room > r->h->direct || off > r->block_len || room > r->block_len - off) {
            log_bad(r->log, "deltawire_reserve answers", (uint64_t)-status);
            r->over = 1;
            return;
        }
        n = end - r->pos < room ? end - r->pos : room;
        memcpy((unsigned char *)(void *)r->p + off, r->input + r->pos, n);
        if (n % 2) relocate(r);
        status = deltawire_commit(r->p, n);
        if (status != DELTAWIRE_OK) {
            log_bad(r->log, "deltawire_commit answers", (uint64_t)-status);
            r->over = 1;
            return;
        }
        relocate(r);
        r->pos += n;
        while (call(r, NULL, 0, &consumed)) {}
    }
}

/* Checks that nothing more is emitted. */
static void finished(run *r)
{
    unsigned long before = r->log->events;
    size_t consumed = 7;
    if (call_finish(r) != DELTAWIRE_OK) log_bad(r->log, "a second finish is not OK", 0);
    if (call_feed(r, "x", 1, &consumed) != DELTAWIRE_E_STATE || consumed != 0)
        log_bad(r->log, "a feed after the end is not E_STATE; consumed", consumed);
    if (r->log->events != before) log_bad(r->log, "events after the end:", r->log->events - before);
}

/* Checks that E_STRICT persists. */
static void stays_strict(run *r)
{
    unsigned long before = r->log->events;
    size_t consumed = 7;
    if (call_feed(r, "\n\n", 2, &consumed) != DELTAWIRE_E_STRICT || consumed != 0 || call_finish(r) != DELTAWIRE_E_STRICT)
        log_bad(r->log, "E_STRICT does not stick; consumed", consumed);
    if (r->log->events != before) log_bad(r->log, "events after E_STRICT:", r->log->events - before);
    if (deltawire_user_code(r->p) != 0) log_bad(r->log, "E_STRICT is an answer of a callback:", 0);
}

static void give_all(run *r)
{
    const how *h = r->h;
    size_t end = 0;
    r->pos = 0;
    while ((r->pos < r->len || (r->pos == 0 && r->len == 0)) && !r->over) {
        if (h->cut && r->pos < h->cut) end = h->cut;
        else if (h->step) end = r->pos + h->step;
        else end = r->len;
        if (end > r->len) end = r->len;
        if (h->direct) give_direct(r, end);
        else give_slice(r, end);
        if (h->meters && !r->over) meter_so_far(h->meters, r->log, r->p, r->pos);
        if (h->shrink && !r->over) shrink(r);
        if (r->len == 0) break;
    }
    while (!r->over) {
        size_t consumed;
        int again;
        if (h->batch) {
            again = batch(r, NULL, 0, 1, &consumed);
        } else {
            unsigned long before = r->log->events;
            int asked = r->log->asked_again;
            deltawire_status status = call_finish(r);
            again = after(r, status, r->log->events != before || r->log->asked_again != asked);
        }
        if (!again) break;
    }
    if (r->over) return;
    log_close(r->log, r->p);
    finished(r);
    if (h->meters) meter_at_end(h->meters, r->log, r->p, r->len);
}

void drive(const how *h, const void *input, size_t len, logbook *log)
{
    run r;
    deltawire_config config = h->config;
    deltawire_status status;
    unsigned char *mem;
    int times = h->twice ? 2 : 1;
    memset(&r, 0, sizeof r);
    r.h = h;
    r.log = log;
    r.callbacks = h->callbacks ? h->callbacks : &log_callbacks;
    r.input = input;
    r.len = len;
    r.scratch = h->scratch;
    r.odd = (unsigned)(len + h->cut);
    config.read_len = (uint32_t)h->direct;
    if (h->meters) config.mode = DELTAWIRE_MODE_USAGE;
    if (h->shared) {
        size_t alone = deltawire_block_size(&config, h->event_bytes);
        config.flags |= DELTAWIRE_CFG_SHARED;
        if (deltawire_block_size(&config, h->event_bytes) >= alone) log_bad(log, "a block is no smaller for sharing:", alone);
    }
    r.block_len = deltawire_block_size(&config, h->event_bytes);
    if (r.block_len > DELTAWIRE_BLOCK_SIZE(h->event_bytes) + (h->meters ? DELTAWIRE_METER_SIZE : 0) + (h->direct + 7) / 8 * 8)
        log_bad(log, "deltawire_block_size is more than the macro says:", r.block_len);
    mem = new_block(&r, r.block_len, &r.alloc);
    memset(mem, POISON, r.block_len);
    if (h->grow) config.flags |= DELTAWIRE_CFG_GROW;
    status = deltawire_init(mem, r.block_len, &config, &r.p);
    memset(&config, POISON, sizeof config);
    if (status != DELTAWIRE_OK || r.p != (deltawire_parser *)(void *)mem) {
        log_bad(log, "deltawire_init answers", (uint64_t)-status);
        free(r.alloc);
        return;
    }
    log->pause = h->pause;
    log->again = h->again;
    while (times--) {
        r.over = 0;
        give_all(&r);
        if (r.over && log->bad.len == 0) stays_strict(&r);
        if (times && log->bad.len == 0) {
            log_clear(log);
            status = deltawire_reset(r.p);
            if (status != DELTAWIRE_OK) log_bad(log, "deltawire_reset answers", (uint64_t)-status);
        }
    }
    memset((void *)r.p, POISON, r.block_len);
    free(r.alloc);
    exact_drop(&slice_mem);
    exact_drop(&scratch_mem);
    exact_drop(&events_mem);
}

void describe(const how *h, text *out)
{
    text_str(out, h->batch ? "batch" : "callbacks");
    if (h->direct) text_str(out, " direct="), text_u64(out, h->direct);
    if (h->batch) text_str(out, " cap="), text_u64(out, h->cap), text_str(out, " scratch="), text_u64(out, h->scratch);
    if (h->pause) text_str(out, " pause");
    if (h->again) text_str(out, " again");
    if (h->extend) text_str(out, " extend="), text_u64(out, h->extend);
    if (h->cut) text_str(out, " cut="), text_u64(out, h->cut);
    if (h->step) text_str(out, " step="), text_u64(out, h->step);
    if (h->shrink) text_str(out, " shrink");
    if (h->twice) text_str(out, " twice");
    if (h->shared) text_str(out, h->shared > 1 ? " two workspaces" : " workspace");
    text_str(out, h->grow ? " grow" : " fixed");
    text_str(out, "="), text_u64(out, h->event_bytes);
    if (h->meters) text_str(out, " meter");
    if (h->config.errors[0]) text_str(out, " strict");
    if (h->config.events) text_str(out, " events="), text_u64(out, h->config.events);
}
