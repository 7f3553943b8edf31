/* Calls that Go cannot make itself. A struct with pointers must not lie in Go memory, because cgo forbids passing C a Go
 * pointer to memory that contains Go pointers, and C must not store pointers there. So the structs are made here, on the
 * C stack. */
#ifndef DELTAWIRE_GO_BRIDGE_H
#define DELTAWIRE_GO_BRIDGE_H

#include <string.h>
#include "deltawire.h"

/* A block is Go memory. These types are complete here, because in Go a pointer to an incomplete type keeps no memory alive. */
struct deltawire_parser { uint64_t first; };
struct deltawire_workspace { uint64_t first; };
struct deltawire_message { uint64_t first; };
struct deltawire_writer { uint64_t first; };

/* A meter without pointers: its texts follow each other in `texts`, the names of calls last. */
enum { BRIDGE_METER_TEXTS = 5 + DELTAWIRE_METER_NAMES };
typedef struct {
    uint32_t finish, calls, names;
    uint32_t lens[BRIDGE_METER_TEXTS];
    deltawire_token first, last;
    uint64_t events, token_events;
    deltawire_amount content, reasoning, refusal, arguments;
    deltawire_usage usage, iterations, other_iterations;
    char texts[3 * 128 + 64 + 512 + DELTAWIRE_METER_NAMES * 64];
} bridge_meter;

/* Answers E_SMALL if the texts are longer than the header says. */
static inline deltawire_status bridge_meter_of(const deltawire_parser *p, bridge_meter *out) {
    deltawire_meter m = DELTAWIRE_METER_INIT;
    deltawire_status status = deltawire_meter_of(p, &m);
    deltawire_str texts[BRIDGE_METER_TEXTS] = {m.model, m.id, m.finish_reason, m.error, m.tool_usage};
    size_t i, used = 0;
    if (status != DELTAWIRE_OK) return status;
    for (i = 0; i < m.names; i++) texts[5 + i] = m.call_names[i];
    for (i = 0; i < BRIDGE_METER_TEXTS; i++) {
        if (texts[i].len > sizeof out->texts - used) return DELTAWIRE_E_SMALL;
        if (texts[i].len != 0) memcpy(out->texts + used, texts[i].ptr, texts[i].len);
        used += texts[i].len;
        out->lens[i] = (uint32_t)texts[i].len;
    }
    out->finish = m.finish, out->calls = m.calls, out->names = m.names;
    out->first = m.first, out->last = m.last;
    out->events = m.events, out->token_events = m.token_events;
    out->content = m.content, out->reasoning = m.reasoning, out->refusal = m.refusal, out->arguments = m.arguments;
    out->usage = m.usage, out->iterations = m.iterations, out->other_iterations = m.other_iterations;
    return status;
}

/* Copies the last event ID to buf, and its length to *need. Answers E_SMALL if it does not fit. */
static inline deltawire_status bridge_last_event_id(const deltawire_parser *p, char *buf, size_t cap, size_t *need) {
    deltawire_str id = {NULL, 0};
    deltawire_status status = deltawire_last_event_id(p, &id);
    *need = id.len;
    if (status != DELTAWIRE_OK) return status;
    if (id.len > cap) return DELTAWIRE_E_SMALL;
    if (id.len != 0) memcpy(buf, id.ptr, id.len);
    return DELTAWIRE_OK;
}

/* A value, by its place in the bytes that it was taken from. */
typedef struct {
    size_t off;
    size_t len;
    uint32_t type;
} bridge_span;

static inline void bridge_put(const char *base, const deltawire_value *v, bridge_span *out) {
    out->off = (size_t)(v->ptr - base);
    out->len = v->len;
    out->type = v->type;
}

/* Returns the token counts of a usage object in JSON. */
static inline deltawire_status bridge_value_usage(const char *json, size_t len, deltawire_usage *out) {
    deltawire_value v;
    deltawire_status status = deltawire_value_open(json, len, &v);
    return status == DELTAWIRE_OK ? deltawire_value_usage(&v, out) : status;
}

/* Splits a member into its name and its value. */
static inline deltawire_status bridge_open_member(const char *member, size_t len, bridge_span *key, bridge_span *out) {
    deltawire_value name, v;
    deltawire_status status = deltawire_value_open_member(member, len, &name, &v);
    if (status != DELTAWIRE_OK) return status;
    bridge_put(member, &name, key);
    bridge_put(member, &v, out);
    return status;
}

/* Returns a member of an object in JSON. */
static inline deltawire_status bridge_member(const char *json, size_t len, const char *name, size_t name_len,
                                             bridge_span *out) {
    deltawire_value v, member;
    deltawire_status status = deltawire_value_open(json, len, &v);
    if (status == DELTAWIRE_OK) status = deltawire_value_member(&v, name, name_len, &member);
    if (status == DELTAWIRE_OK) bridge_put(json, &member, out);
    return status;
}

/* Returns a part of an error, which is JSON or plain text. */
static inline deltawire_status bridge_error_field(const char *json, size_t len, int plain, uint32_t field,
                                                  bridge_span *out) {
    deltawire_value v, found;
    deltawire_status status = plain ? deltawire_value_plain(json, len, &v) : deltawire_value_open(json, len, &v);
    if (status == DELTAWIRE_OK) status = deltawire_error_field(&v, field, &found);
    if (status == DELTAWIRE_OK) bridge_put(json, &found, out);
    return status;
}

/* Copies the text of a value, which is JSON or plain text. */
static inline deltawire_status bridge_text(const char *bytes, size_t len, int plain, char *buf, size_t cap,
                                           size_t *need) {
    deltawire_value v;
    deltawire_status status = plain ? deltawire_value_plain(bytes, len, &v) : deltawire_value_open(bytes, len, &v);
    if (status != DELTAWIRE_OK) return status;
    return deltawire_value_text(&v, buf, cap, need);
}

/* Returns a JSON number as an integer. */
static inline deltawire_status bridge_u64(const char *json, size_t len, uint64_t *out) {
    deltawire_value v;
    deltawire_status status = deltawire_value_open(json, len, &v);
    if (status != DELTAWIRE_OK) return status;
    return deltawire_value_u64(&v, out);
}

/* Makes a writer in the block `mem`. Without a block, writes the size of one to *need. */
static inline deltawire_status bridge_writer_init(void *mem, size_t mem_len, uint32_t protocol, uint32_t flags,
                                                  uint32_t text_len, uint32_t retry, uint64_t created, uint64_t first,
                                                  const char *id, size_t id_len, const char *model, size_t model_len,
                                                  const char *members, size_t members_len, size_t *need) {
    deltawire_writer_config c = DELTAWIRE_WRITER_CONFIG_INIT;
    c.protocol = protocol, c.flags = flags, c.text_len = text_len, c.retry = retry;
    c.created = created, c.first_sequence = first;
    c.id.ptr = id, c.id.len = id_len;
    c.model.ptr = model, c.model.len = model_len;
    c.members.ptr = members, c.members.len = members_len;
    if (mem != NULL) return deltawire_writer_init(mem, mem_len, &c, NULL);
    *need = deltawire_writer_size(&c, 1024);
    return *need ? DELTAWIRE_OK : DELTAWIRE_E_CONFIG;
}

/* Finds the value at `off` of a payload in the bytes of its event. */
static inline deltawire_status bridge_place(const char *payload, size_t len, size_t off, size_t value_len,
                                            const char *event, size_t event_len, size_t *start, size_t *end) {
    deltawire_chunk_storage storage;
    const deltawire_chunk *chunk;
    deltawire_value v;
    deltawire_status status = deltawire_chunk_open(payload, len, &storage, &chunk);
    if (status == DELTAWIRE_OK) status = deltawire_value_open(payload + off, value_len, &v);
    if (status == DELTAWIRE_OK) status = deltawire_chunk_place(chunk, event, event_len, &v, start, end);
    return status;
}

#endif
