/* The drives: each passes the input to one part of the interface, in slices of `cut` bytes, and hashes the output.
 * Their own stack is small; all buffers are static. */
#ifndef DRIVES_H
#define DRIVES_H

#include <deltawire.h>

typedef unsigned char u8;
typedef uint64_t u64;

static u8 input[1 << 20];
static size_t input_len;

/* Why a drive gave up; its hash, and the number of items in it. */
static const char *failed;
static u64 sum, steps;

static void note(u64 value) {
    for (int i = 0; i < 8; i++) sum = (sum ^ (u8)(value >> (8 * i))) * 0x100000001b3;
    steps++;
}

static void note_bytes(const void *bytes, size_t len) {
    note(len);
    for (size_t i = 0; i < len; i++) sum = (sum ^ ((const u8 *)bytes)[i]) * 0x100000001b3;
}

static void note_name(const char *name) {
    size_t len = 0;
    while (name && name[len]) len++;
    note_bytes(name, len);
}

/* Memory: two blocks of each kind, so that a full one can move to the other. */
#define ROOM (4u << 20)
static u64 blocks[2][ROOM / 8], messages[2][ROOM / 8];
static int block_at, message_at;
static deltawire_parser *parser;
static deltawire_message *message;
static char text[ROOM];
static u8 scratch[ROOM];
static deltawire_chunk_storage storage;

static int fail(const char *why) {
    if (!failed) failed = why;
    return 0;
}

static void grow(void) {
    size_t need = deltawire_need(parser);
    if (need > ROOM || deltawire_move(blocks[!block_at], need, parser, &parser) != DELTAWIRE_OK) fail("move");
    block_at = !block_at;
}

static void grow_message(void) {
    size_t need = deltawire_message_need(message);
    if (need > ROOM || deltawire_message_move(messages[!message_at], need, message, &message) != DELTAWIRE_OK)
        fail("message_move");
    message_at = !message_at;
}

static int open(deltawire_config *cfg, size_t event_bytes) {
    block_at = 0;
    cfg->flags |= DELTAWIRE_CFG_GROW;
    return deltawire_init(blocks[0], deltawire_block_size(cfg, event_bytes), cfg, &parser) == DELTAWIRE_OK ||
           fail("init");
}

static int open_message(void) {
    message_at = 0;
    return deltawire_message_init(messages[0], deltawire_message_size(NULL, 256), NULL, &message) == DELTAWIRE_OK ||
           fail("message_init");
}

/* The results at the end of the stream. */
static void note_end(void) {
    deltawire_end end = DELTAWIRE_END_INIT;
    deltawire_usage usage = DELTAWIRE_USAGE_INIT;
    deltawire_str id = {0, 0};
    note((u64)deltawire_end_of(parser, &end));
    note_bytes(&end, sizeof end);
    char text[1024];
    note_bytes(text, deltawire_end_text(&end, text, sizeof text));
    note((u64)deltawire_last_usage(parser, &usage));
    note_bytes(&usage, sizeof usage);
    note((u64)deltawire_last_event_id(parser, &id));
    note_bytes(id.ptr, id.len);
    note(deltawire_error_quirk(parser));
    note(deltawire_error_offset(parser));
    note((u64)deltawire_user_code(parser));
    for (uint32_t quirk = 0; quirk <= DELTAWIRE_QUIRKS; quirk++) note(deltawire_quirk_count(parser, quirk));
}

/* ---- values and chunks ---- */

static void note_value(const deltawire_value *v) {
    note(v->type);
    note_bytes(v->ptr, v->len);
}

/* Calls every accessor of a value. */
static void ask(const deltawire_value *v) {
    deltawire_value key, next, from;
    deltawire_str str;
    deltawire_decimal decimal;
    size_t need = 0, cursor = 0;
    u64 u;
    int64_t i;
    note_value(v);
    deltawire_status status = deltawire_value_text(v, text, 48, &need);
    note((u64)status), note(need);
    if (status == DELTAWIRE_OK) note_bytes(text, need), note((u64)deltawire_value_equals(v, text, need));
    if (deltawire_value_str(v, &str) == DELTAWIRE_OK) note_bytes(str.ptr, str.len);
    note((u64)deltawire_value_equals(v, "stop", 4));
    if (deltawire_value_u64(v, &u) == DELTAWIRE_OK) note(u);
    if (deltawire_value_i64(v, &i) == DELTAWIRE_OK) note((u64)i);
    if (deltawire_value_decimal(v, &decimal) == DELTAWIRE_OK)
        note(decimal.digits), note((u64)decimal.exp10), note(decimal.negative), note(decimal.exact);
    if (deltawire_value_member(v, "index", 5, &next) == DELTAWIRE_OK) note_value(&next);
    for (uint32_t field = 0; field <= DELTAWIRE_ERROR_METADATA + 1; field++) {
        status = deltawire_error_field(v, field, &next);
        note((u64)status);
        if (status == DELTAWIRE_OK) note_value(&next);
    }
    while (deltawire_value_next(v, &cursor, &key, &next) == DELTAWIRE_OK) {
        if (v->type == DELTAWIRE_T_OBJECT) note_value(&key);
        note_value(&next);
    }
    if (deltawire_value_open(v->ptr, v->len, &from) == DELTAWIRE_OK) note_value(&from);
    if (deltawire_value_open_member(v->ptr, v->len, &key, &from) == DELTAWIRE_OK) note_value(&key), note_value(&from);
    if (deltawire_value_plain(v->ptr, v->len, &from) == DELTAWIRE_OK) note_value(&from);
}

static void look(const deltawire_chunk *chunk) {
    deltawire_value value;
    deltawire_usage usage = DELTAWIRE_USAGE_INIT;
    for (uint32_t field = 0; field <= DELTAWIRE_F_ERROR + 1; field++) {
        deltawire_status status = deltawire_chunk_field(chunk, field, &value);
        note((u64)status);
        if (status == DELTAWIRE_OK) ask(&value);
    }
    if (deltawire_chunk_member(chunk, "choices", 7, &value) == DELTAWIRE_OK) note_value(&value);
    if (deltawire_chunk_usage(chunk, &usage) == DELTAWIRE_OK) note_bytes(&usage, sizeof usage);
}

/* ---- callbacks ---- */

/* Every `n`th callback requests a pause; 0: none. */
static u64 pause_every, called;

static int32_t answer(void) { return pause_every && ++called % pause_every == 0 ? DELTAWIRE_PAUSE : DELTAWIRE_GO_ON; }

static void note_at(const deltawire_at *at) {
    note(at->size), note(at->kind), note(at->flags), note(at->choice), note(at->call), note(at->code);
    note(at->number), note(at->start), note(at->end), note(at->chunk != 0);
    note_bytes(at->event_name.ptr, at->event_name.len);
}

static int32_t on_at(void *user, const deltawire_at *at) {
    (void)user;
    note_at(at);
    return answer();
}
static int32_t on_text(void *user, const deltawire_at *at, const char *bytes, size_t len) {
    (void)user;
    note_at(at), note_bytes(bytes, len);
    return answer();
}
static int32_t on_value(void *user, const deltawire_at *at, const deltawire_value *value) {
    (void)user;
    note_at(at), ask(value);
    return answer();
}
static int32_t on_call(void *user, const deltawire_at *at, const deltawire_value *id, const deltawire_value *type) {
    (void)user;
    note_at(at), ask(id), ask(type);
    return answer();
}
static int32_t on_sse(void *user, const deltawire_at *at, deltawire_str type, deltawire_str data, deltawire_str id) {
    (void)user;
    note_at(at), note_bytes(type.ptr, type.len), note_bytes(data.ptr, data.len), note_bytes(id.ptr, id.len);
    return answer();
}
static int32_t on_chunk(void *user, const deltawire_at *at) {
    const deltawire_chunk *again;
    deltawire_str payload = {0, 0};
    (void)user;
    note_at(at), look(at->chunk);
    note((u64)deltawire_chunk_payload(at->chunk, &payload));
    note_bytes(payload.ptr, payload.len);
    deltawire_status status = deltawire_chunk_open(payload.ptr, payload.len, &storage, &again);
    note((u64)status);
    if (status == DELTAWIRE_OK) look(again);
    /* Must be rejected: this parser is running. */
    note((u64)deltawire_reset(parser));
    return answer();
}

static const deltawire_callbacks callbacks = {
    .size = sizeof(deltawire_callbacks), .on_sse = on_sse, .on_comment = on_text, .on_keep_alive = on_text,
    .on_retry = on_at, .on_last_event_id = on_text, .on_chunk = on_chunk, .on_role = on_text, .on_content = on_text,
    .on_reasoning = on_text, .on_refusal = on_text, .on_tool_call = on_call, .on_tool_name = on_text,
    .on_tool_arguments = on_text, .on_function_name = on_text, .on_function_arguments = on_text, .on_audio = on_value,
    .on_logprobs = on_value, .on_finish = on_text, .on_choice_error = on_value,
    .on_usage = on_value, .on_error = on_value, .on_malformed = on_text, .on_too_long = on_at,
    .on_comment_too_long = on_at, .on_limit = on_at, .on_quirk = on_at, .on_done = on_at, .on_frame = on_at,
    .on_meta = on_text, .on_annotations = on_value, .on_signature = on_text, .on_media = on_value,
    .on_native = on_value, .on_tool_call_end = on_at,
};

/* Enlarges the block that was too small. */
static void enlarge(void) {
    if (message && deltawire_message_is_full(message)) grow_message();
    else grow();
}

/* Passes all of the input by callbacks, to the end or to a status below 0. */
static deltawire_status feed(size_t cut, const deltawire_callbacks *cbs) {
    deltawire_status status = DELTAWIRE_OK;
    for (size_t at = 0, n; at < input_len && !failed; at += n) {
        size_t done = 0;
        n = cut < input_len - at ? cut : input_len - at;
        do {
            size_t consumed = 0;
            status = message ? deltawire_message_feed(message, parser, 0, input + at + done, n - done, cbs, 0, &consumed)
                             : deltawire_feed(parser, input + at + done, n - done, cbs, 0, &consumed);
            note((u64)status), note(consumed);
            done += consumed;
            if (status == DELTAWIRE_NEED_STORAGE) enlarge();
        } while (status > 0 && !failed);
        if (status < 0) return status;
        if (done != n) fail("OK, and not all was consumed");
    }
    do {
        status = message ? deltawire_message_finish(message, parser, 0, cbs, 0) : deltawire_finish(parser, cbs, 0);
        note((u64)status);
        if (status == DELTAWIRE_NEED_STORAGE) enlarge();
    } while (status > 0 && !failed);
    return status;
}

static void drive_push(size_t cut) {
    deltawire_config cfg = DELTAWIRE_CONFIG_INIT;
    message = 0, pause_every = 0;
    if (!open(&cfg, 64)) return;
    feed(cut, &callbacks);
    note_end();
    note((u64)deltawire_reset(parser));
    note_end();
}

static void drive_pause(size_t cut) {
    deltawire_config cfg = DELTAWIRE_CONFIG_INIT;
    message = 0, pause_every = 3, called = 0;
    if (!open(&cfg, 1024)) return;
    feed(cut, &callbacks);
    note_end();
}

/* Reads with each quirk as an error, and all JSON checked; each error begins a new stream. */
static void drive_strict(size_t cut) {
    deltawire_config cfg = DELTAWIRE_CONFIG_INIT;
    message = 0, pause_every = 0;
    cfg.flags = DELTAWIRE_CFG_STRICT_JSON | DELTAWIRE_CFG_SPEC;
    cfg.errors[0] = cfg.errors[1] = UINT64_MAX;
    if (!open(&cfg, 0)) return;
    note((u64)feed(cut, &callbacks));
    note_end();
    note((u64)deltawire_reset(parser));
    note((u64)feed(cut, &callbacks));
    note_end();
}

static void drive_sse(size_t cut) {
    deltawire_config cfg = DELTAWIRE_CONFIG_INIT;
    message = 0, pause_every = 5, called = 0;
    cfg.mode = DELTAWIRE_MODE_SSE;
    if (!open(&cfg, 64)) return;
    feed(cut, &callbacks);
    note_end();
}

static void note_token(const deltawire_token *token) {
    note(token->kind), note(token->event), note(token->offset);
}

static void note_meter(void) {
    deltawire_meter m = DELTAWIRE_METER_INIT;
    if (deltawire_meter_of(parser, &m) != DELTAWIRE_OK) fail("meter_of");
    const deltawire_str texts[] = {m.model, m.id, m.finish_reason, m.error, m.tool_usage};
    const deltawire_amount amounts[] = {m.content, m.reasoning, m.refusal, m.arguments};
    note(m.finish), note(m.events), note(m.token_events), note(m.calls), note(m.names);
    note_token(&m.first), note_token(&m.last);
    for (size_t i = 0; i < 4; i++) note(amounts[i].bytes), note(amounts[i].chars);
    for (size_t i = 0; i < 5; i++) note_bytes(texts[i].ptr, texts[i].len);
    for (size_t i = 0; i < DELTAWIRE_METER_NAMES; i++) note_bytes(m.call_names[i].ptr, m.call_names[i].len);
    note_bytes(&m.usage, sizeof m.usage);
    note_bytes(&m.iterations, sizeof m.iterations);
    note_bytes(&m.other_iterations, sizeof m.other_iterations);
}

/* Meters the stream, without callbacks. */
static void drive_meter(size_t cut) {
    deltawire_config cfg = DELTAWIRE_CONFIG_INIT;
    message = 0, pause_every = 0;
    cfg.mode = DELTAWIRE_MODE_USAGE;
    if (!open(&cfg, 64)) return;
    note((u64)feed(cut, 0));
    note_meter();
    note((u64)deltawire_reset(parser));
    note_meter();
}

/* ---- batch ---- */

static deltawire_event events[3];
static size_t scratch_len;

static void take(deltawire_status status, const deltawire_batch_result *result, const u8 *data) {
    note((u64)status), note(result->consumed), note(result->events), note(result->scratch_used);
    note(result->scratch_need);
    for (uint32_t i = 0; i < result->events; i++) {
        const deltawire_event *e = &events[i];
        note(e->kind), note(e->flags), note(e->choice), note(e->call), note(e->code), note(e->number);
        note(e->start), note(e->end);
        note_bytes((e->flags & DELTAWIRE_EVF_TEXT_SCRATCH ? scratch : data) + (e->text_len ? e->text_off : 0), e->text_len);
        note_bytes((e->flags & DELTAWIRE_EVF_AUX_SCRATCH ? scratch : data) + (e->aux_len ? e->aux_off : 0), e->aux_len);
        note_bytes((e->flags & DELTAWIRE_EVF_EXTRA_SCRATCH ? scratch : data) + (e->extra_len ? e->extra_off : 0),
                   e->extra_len);
    }
    if (result->scratch_need > scratch_len) scratch_len = result->scratch_need;
    if (scratch_len > sizeof scratch) fail("scratch_need");
    if (status == DELTAWIRE_NEED_STORAGE) enlarge();
}

static deltawire_status finish_batch(void) {
    deltawire_status status;
    deltawire_batch_result result;
    do {
        status = message
            ? deltawire_message_batch_finish(message, parser, 0, events, 3, scratch, scratch_len, &result)
            : deltawire_batch_finish(parser, events, 3, scratch, scratch_len, &result);
        take(status, &result, scratch);
    } while (status > 0 && !failed);
    return status;
}

static deltawire_status batch(size_t cut) {
    deltawire_status status = DELTAWIRE_OK;
    deltawire_batch_result result;
    for (size_t at = 0, n; at < input_len && !failed; at += n) {
        size_t done = 0;
        n = cut < input_len - at ? cut : input_len - at;
        do {
            const u8 *data = input + at + done;
            status = message
                ? deltawire_message_batch(message, parser, 0, data, n - done, events, 3, scratch, scratch_len, &result)
                : deltawire_batch(parser, data, n - done, events, 3, scratch, scratch_len, &result);
            done += result.consumed;
            take(status, &result, data);
        } while (status > 0 && !failed);
        if (status < 0) return status;
        if (done != n) fail("OK, and not all was consumed");
    }
    return finish_batch();
}

static void drive_batch(size_t cut) {
    deltawire_config cfg = DELTAWIRE_CONFIG_INIT;
    message = 0, scratch_len = DELTAWIRE_SCRATCH_MIN;
    cfg.events = UINT64_MAX >> (64 - DELTAWIRE_EV_COUNT);
    if (!open(&cfg, 64)) return;
    batch(cut);
    note_end();
}

/* Writes the bytes directly into the block, which grows. */
static void drive_direct(size_t cut) {
    deltawire_config cfg = DELTAWIRE_CONFIG_INIT;
    deltawire_status status;
    deltawire_batch_result result;
    message = 0, scratch_len = DELTAWIRE_SCRATCH_MIN;
    cfg.read_len = 64;
    if (!open(&cfg, 64)) return;
    for (size_t at = 0; at < input_len && !failed;) {
        size_t off = 0, len = 0;
        status = deltawire_reserve(parser, &off, &len);
        note((u64)status), note(len);
        if (status != DELTAWIRE_OK || len == 0) {
            fail("reserve");
            return;
        }
        if (len > cut) len = cut;
        if (len > input_len - at) len = input_len - at;
        for (size_t i = 0; i < len; i++) ((u8 *)parser)[off + i] = input[at + i];
        at += len;
        note((u64)deltawire_commit(parser, len));
        do {
            const u8 *data = (const u8 *)parser;
            status = deltawire_batch(parser, 0, 0, events, 3, scratch, scratch_len, &result);
            take(status, &result, data);
        } while (status > 0 && !failed);
    }
    finish_batch();
    note_end();
}

/* ---- the message ---- */

static void note_message(void) {
    size_t need = 0;
    deltawire_status status;
    for (uint32_t flags = 0; flags <= DELTAWIRE_JSON_EXTENDED; flags++) {
        note((u64)deltawire_message_json(message, flags, 0, 0, &need));
        note((u64)deltawire_message_json(message, flags, text, sizeof text, &need));
        note_bytes(text, need < sizeof text ? need : 0);
    }
    uint32_t choices = deltawire_message_choices(message);
    note(choices);
    for (uint32_t n = 0; n < choices; n++) {
        uint32_t index = 0, calls;
        note((u64)deltawire_message_choice_index(message, n, &index));
        calls = deltawire_message_calls(message, index);
        note(calls);
        for (uint32_t call = 0; call <= calls; call++)
            for (uint32_t field = 0; field <= DELTAWIRE_M_NATIVE_CONTENT + 1; field++) {
                need = 0;
                status = deltawire_message_text(message, field, index, call, text, sizeof text, &need);
                note((u64)status);
                if (status == DELTAWIRE_OK) note_bytes(text, need);
            }
    }
    note((u64)deltawire_message_reset(message));
    note(deltawire_message_choices(message));
}

static void drive_message(size_t cut) {
    deltawire_config cfg = DELTAWIRE_CONFIG_INIT;
    if (!open(&cfg, 64) || !open_message()) return;
    note((u64)feed(cut, 0));
    note_message();
}

static void drive_message_batch(size_t cut) {
    deltawire_config cfg = DELTAWIRE_CONFIG_INIT;
    scratch_len = DELTAWIRE_SCRATCH_MIN;
    if (!open(&cfg, 64) || !open_message()) return;
    note((u64)batch(cut));
    note_message();
}

/* ---- functions that need no stream ---- */

static void drive_tables(size_t cut) {
    for (int32_t status = -110; status < 20; status++)
        note_name(deltawire_status_name(status)), note_name(deltawire_status_text(status));
    for (uint32_t n = 0; n < 2 * DELTAWIRE_QUIRKS; n++) {
        note_name(deltawire_quirk_code(n)), note_name(deltawire_quirk_name(n)), note_name(deltawire_quirk_text(n));
        note_name(deltawire_event_name(n)), note_name(deltawire_verdict_name(n)), note_name(deltawire_media_name(n)),
            note_name(deltawire_protocol_name(n)), note_name(deltawire_pending_name(n)), note_name(deltawire_fault_name(n)), note_name(deltawire_finish_name(n)),
            note_name(deltawire_limit_name(n));
    }
    note(deltawire_version()), note(deltawire_abi());
    note(deltawire_block_size(NULL, cut)), note(deltawire_message_size(NULL, cut));
    if (deltawire_version() != DELTAWIRE_VERSION || deltawire_abi() != DELTAWIRE_ABI) fail("library and header differ");
}

#endif
