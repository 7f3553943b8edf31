/* Builds a message in a block that grows as needed, and prints it as JSON.
 *
 * message [--read N] [--batch] [--scratch N] [--getters] FILE
 *
 * --batch: by batch instead of a feed. --getters: a line FIELD CHOICE CALL "TEXT" for each text instead
 * of JSON. The exit status is 0 for a whole message, 2 for an error of the API, 3 for a stream that was cut, 4 for anything
 * but a stream of chunks. */
#include "drive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POISON 0xA5

/* The parser and the assembler, each in a block from malloc. */
static deltawire_parser *parser;
static size_t parser_len;
static deltawire_message *message;
static size_t message_len;

static void check(deltawire_status status, const char *what)
{
    if (status == DELTAWIRE_OK) return;
    fprintf(stderr, "%s: %s: %s\n", what, deltawire_status_name(status), deltawire_status_text(status));
    exit(1);
}

static void grow_parser(void)
{
    size_t need = deltawire_need(parser);
    deltawire_parser *old = parser;
    if (need <= parser_len) die("deltawire_need is no more than there is");
    check(deltawire_move(need_memory(need), need, old, &parser), "deltawire_move");
    memset((void *)old, POISON, parser_len);
    free(old);
    parser_len = need;
}

static void grow_message(void)
{
    size_t need = deltawire_message_need(message);
    deltawire_message *old = message;
    if (need <= message_len) die("deltawire_message_need is no more than there is");
    check(deltawire_message_move(need_memory(need), need, old, &message), "deltawire_message_move");
    memset((void *)old, POISON, message_len);
    free(old);
    message_len = need;
}

/* Replaces the block by a copy, which must work as well because the block contains no pointers. */
static void relocate(void)
{
    void *p = need_memory(parser_len), *m = need_memory(message_len);
    memcpy(p, (void *)parser, parser_len);
    memcpy(m, (void *)message, message_len);
    memset((void *)parser, POISON, parser_len);
    memset((void *)message, POISON, message_len);
    free(parser);
    free(message);
    parser = p;
    message = m;
}

/* Enlarges the block that was too small. */
static void grow(void)
{
    if (deltawire_message_is_full(message)) grow_message();
    else grow_parser();
}

/* Callbacks of which each call is repeated once: the message must not take what comes again twice. */
static int asked;

static int32_t again(void)
{
    asked = !asked;
    return asked ? DELTAWIRE_AGAIN : DELTAWIRE_GO_ON;
}

static int32_t on_at(void *user, const deltawire_at *at)
{
    (void)user, (void)at;
    return again();
}

static int32_t on_text(void *user, const deltawire_at *at, const char *bytes, size_t len)
{
    (void)user, (void)at, (void)bytes, (void)len;
    return again();
}

static int32_t on_value(void *user, const deltawire_at *at, const deltawire_value *value)
{
    (void)user, (void)at, (void)value;
    return again();
}

static int32_t on_call(void *user, const deltawire_at *at, const deltawire_value *id, const deltawire_value *type)
{
    (void)user, (void)at, (void)id, (void)type;
    return again();
}

/* With callbacks in every other slice. */
static void by_feed(const char *data, size_t len)
{
    static unsigned long slices;
    deltawire_callbacks all = DELTAWIRE_CALLBACKS_INIT, *callbacks = slices++ & 1 ? NULL : &all;
    int finish = data == NULL;
    all.on_chunk = on_at, all.on_quirk = on_at, all.on_role = on_text, all.on_content = on_text, all.on_meta = on_text;
    all.on_tool_call = on_call, all.on_tool_name = on_text, all.on_tool_arguments = on_text, all.on_finish = on_text;
    all.on_usage = on_value, all.on_native = on_value, all.on_error = on_value;
    for (;;) {
        size_t consumed = 0;
        deltawire_status status =
            finish ? deltawire_message_finish(message, parser, NULL, callbacks, NULL)
                   : deltawire_message_feed(message, parser, NULL, data, len, callbacks, NULL, &consumed);
        count_status(status);
        if (!finish) data += consumed, len -= consumed;
        if (status == DELTAWIRE_OK) break;
        if (status == DELTAWIRE_NEED_STORAGE) grow();
        else if (status != DELTAWIRE_PAUSED || !callbacks) check(status, "deltawire_message_feed");
    }
    if (len) die("not all was consumed");
}

static void by_batch(const char *data, size_t len, size_t scratch_min)
{
    int finish = data == NULL;
    size_t scratch_len = scratch_min, i;
    for (;;) {
        deltawire_event *events = need_memory(8 * sizeof *events);
        void *scratch = need_memory(scratch_len);
        deltawire_batch_result result;
        deltawire_status status =
            finish ? deltawire_message_batch_finish(message, parser, NULL, events, 8, scratch, scratch_len, &result)
                   : deltawire_message_batch(message, parser, NULL, data, len, events, 8, scratch, scratch_len, &result);
        count_status(status);
        for (i = 0; i < result.events; i++) count_event(FROM_BATCH, events[i].kind, events[i].flags);
        free(events);
        free(scratch);
        scratch_len = result.scratch_need > scratch_min ? result.scratch_need : scratch_min;
        if (!finish) data += result.consumed, len -= result.consumed;
        if (status == DELTAWIRE_OK) break;
        if (status == DELTAWIRE_NEED_STORAGE) grow();
        else if (status != DELTAWIRE_MORE) check(status, "deltawire_message_batch");
    }
    if (len) die("not all was consumed");
}

static void print_json(void)
{
    const uint32_t flags = DELTAWIRE_JSON_EXTENDED;
    size_t need = 0, again = 0;
    char *json;
    if (deltawire_message_json(message, flags, NULL, 0, &need) != DELTAWIRE_E_SMALL || !need) die("no length of the JSON");
    json = need_memory(need);
    if (deltawire_message_json(message, flags, json, need - 1, &again) != DELTAWIRE_E_SMALL || again != need)
        die("deltawire_message_json: too much, or another length");
    check(deltawire_message_json(message, flags, json, need, &again), "deltawire_message_json");
    if (again != need || !is_utf8(json, need)) die("the JSON has another length, or is no UTF-8");
    fwrite(json, 1, need, stdout);
    putchar('\n');
    free(json);
}

static void print_text(uint32_t field, const char *name, uint32_t choice, uint32_t call)
{
    size_t need = 0, again = 0;
    char *buf;
    text line = TEXT_INIT;
    deltawire_status status = deltawire_message_text(message, field, choice, call, NULL, 0, &need);
    if (status == DELTAWIRE_ABSENT) return;
    if (status != (need ? DELTAWIRE_E_SMALL : DELTAWIRE_OK)) check(status, "deltawire_message_text, asked for the length");
    buf = need_memory(need);
    check(deltawire_message_text(message, field, choice, call, buf, need, &again), "deltawire_message_text");
    if (again != need) die("a text has another length");
    /* JSON must be as it was sent. */
    if (field != DELTAWIRE_M_USAGE && field != DELTAWIRE_M_ERROR && field != DELTAWIRE_M_CHOICE_ERROR && !is_utf8(buf, need))
        die("a text is no UTF-8");
    text_escaped(&line, buf, need, 1);
    printf("%s %lu %lu %s\n", name, (unsigned long)choice, (unsigned long)call, line.ptr);
    text_free(&line);
    free(buf);
}

typedef struct {
    uint32_t field;
    const char *name;
} field_name;

#define FIELDS(list) list, sizeof list / sizeof list[0]

static void print_fields(const field_name *fields, size_t n, uint32_t choice, uint32_t call)
{
    size_t i;
    for (i = 0; i < n; i++) print_text(fields[i].field, fields[i].name, choice, call);
}

static void print_getters(void)
{
    static const field_name of_message[] = {
        {DELTAWIRE_M_ID, "id"},
        {DELTAWIRE_M_OBJECT, "object"},
        {DELTAWIRE_M_MODEL, "model"},
        {DELTAWIRE_M_SYSTEM_FINGERPRINT, "system_fingerprint"},
        {DELTAWIRE_M_SERVICE_TIER, "service_tier"},
        {DELTAWIRE_M_PROVIDER, "provider"},
        {DELTAWIRE_M_USAGE, "usage"},
        {DELTAWIRE_M_ERROR, "error"},
        {DELTAWIRE_M_ERROR_MESSAGE, "error_message"},
        {DELTAWIRE_M_ERROR_CODE, "error_code"},
        {DELTAWIRE_M_ERROR_TYPE, "error_type"},
    };
    static const field_name of_choice[] = {
        {DELTAWIRE_M_ROLE, "role"},
        {DELTAWIRE_M_CONTENT, "content"},
        {DELTAWIRE_M_REFUSAL, "refusal"},
        {DELTAWIRE_M_REASONING, "reasoning"},
        {DELTAWIRE_M_REASONING_NAME, "reasoning_name"},
        {DELTAWIRE_M_FINISH, "finish_reason"},
        {DELTAWIRE_M_NATIVE_FINISH, "native_finish_reason"},
        {DELTAWIRE_M_CHOICE_ERROR, "choice_error"},
        {DELTAWIRE_M_CHOICE_ERROR_MESSAGE, "choice_error_message"},
        {DELTAWIRE_M_CHOICE_ERROR_CODE, "choice_error_code"},
        {DELTAWIRE_M_CHOICE_ERROR_TYPE, "choice_error_type"},
        {DELTAWIRE_M_FUNCTION_NAME, "function_name"},
        {DELTAWIRE_M_FUNCTION_ARGUMENTS, "function_arguments"},
        {DELTAWIRE_M_AUDIO_ID, "audio_id"},
        {DELTAWIRE_M_AUDIO_DATA, "audio_data"},
        {DELTAWIRE_M_AUDIO_TRANSCRIPT, "audio_transcript"},
        {DELTAWIRE_M_REASONING_DETAILS, "reasoning_details"},
    };
    static const field_name of_call[] = {
        {DELTAWIRE_M_CALL_ID, "call_id"},
        {DELTAWIRE_M_CALL_TYPE, "call_type"},
        {DELTAWIRE_M_CALL_NAME, "call_name"},
        {DELTAWIRE_M_CALL_ARGUMENTS, "call_arguments"},
    };
    uint32_t n, choices = deltawire_message_choices(message);
    print_fields(FIELDS(of_message), 0, 0);
    for (n = 0; n < choices; n++) {
        uint32_t index = 0, call, calls;
        check(deltawire_message_choice_index(message, n, &index), "deltawire_message_choice_index");
        print_fields(FIELDS(of_choice), index, 0);
        calls = deltawire_message_calls(message, index);
        printf("calls %lu %lu \"\"\n", (unsigned long)index, (unsigned long)calls);
        for (call = 0; call < calls; call++) print_fields(FIELDS(of_call), index, call);
    }
    if (deltawire_message_choice_index(message, choices, &n) != DELTAWIRE_ABSENT) die("a choice more than there are");
}

static int exit_status(void)
{
    deltawire_end end = DELTAWIRE_END_INIT;
    check(deltawire_end_of(parser, &end), "deltawire_end_of");
    switch (end.verdict) {
    case DELTAWIRE_VERDICT_DONE:
    case DELTAWIRE_VERDICT_FINISHED:
    case DELTAWIRE_VERDICT_BODY: return 0;
    case DELTAWIRE_VERDICT_API_ERROR: return 2;
    case DELTAWIRE_VERDICT_LOST:
    case DELTAWIRE_VERDICT_TRUNCATED: return 3;
    default: return 4;
    }
}

int main(int argc, char **argv)
{
    size_t read = 0, at = 0, scratch = DELTAWIRE_SCRATCH_MIN;
    int i, batch = 0, getters = 0, status;
    const char *path = NULL;
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    text input = TEXT_INIT;
    count_from_now();
    for (i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--batch")) batch = 1;
        else if (!strcmp(argv[i], "--getters")) getters = 1;
        else if (!strcmp(argv[i], "--read") && i + 1 < argc) read = (size_t)strtoul(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--scratch") && i + 1 < argc) scratch = (size_t)strtoul(argv[++i], NULL, 10);
        else if (!path) path = argv[i];
        else die("message [--read N] [--batch] [--scratch N] [--getters] FILE");
    }
    if (!path || !text_of_file(&input, path)) die("the file cannot be read");

    config.flags = DELTAWIRE_CFG_GROW;
    config.events = DELTAWIRE_MESSAGE_EVENTS | DELTAWIRE_MASK(DELTAWIRE_EV_PAYLOAD);
    parser_len = deltawire_block_size(NULL, 64);
    check(deltawire_init(need_memory(parser_len), parser_len, &config, &parser), "deltawire_init");
    message_len = deltawire_message_size(NULL, 16);
    if (message_len > DELTAWIRE_MESSAGE_SIZE(16)) die("deltawire_message_size is more than the macro says");
    check(deltawire_message_init(need_memory(message_len), message_len, NULL, &message), "deltawire_message_init");

    while (at < input.len) {
        size_t n = read && read < input.len - at ? read : input.len - at;
        char *slice = need_memory(n);
        memcpy(slice, input.ptr + at, n);
        if (batch) by_batch(slice, n, scratch);
        else by_feed(slice, n);
        memset(slice, POISON, n);
        free(slice);
        at += n;
        relocate();
    }
    if (batch) by_batch(NULL, 0, scratch);
    else by_feed(NULL, 0);

    if (getters) print_getters();
    else print_json();
    status = exit_status();
    check(deltawire_message_reset(message), "deltawire_message_reset");
    if (deltawire_message_choices(message) != 0) die("choices after a reset");
    text_free(&input);
    free(parser);
    free(message);
    return status;
}
