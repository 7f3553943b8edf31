/* Tests chunks, values, numbers, errors, names, usage and messages, one by one. */
#include "drive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static unsigned long checks, wrong;

static void check_at(int good, const char *what, int line)
{
    checks++;
    if (good) return;
    if (++wrong <= 40) printf("line %d: %s\n", line, what);
}

/* The name of the current table entry, for error messages. */
static void check_named(int good, const char *name, const char *what, int line)
{
    char both[400];
    sprintf(both, "%.150s: %.200s", name, what);
    check_at(good, both, line);
}

#define CHECK(condition) check_at((condition) != 0, #condition, __LINE__)
#define CHECK_OF(name, condition) check_named((condition) != 0, name, #condition, __LINE__)
#define OK DELTAWIRE_OK
#define ABSENT DELTAWIRE_ABSENT

/* Copies to malloc memory of exactly that length, which is freed only at exit. */
static void *kept[4096];
static size_t kept_n;

static char *exact_copy(const char *s, size_t len)
{
    char *c = need_memory(len);
    memcpy(c, s, len);
    if (kept_n == sizeof kept / sizeof kept[0]) die("too many copies");
    kept[kept_n++] = c;
    return c;
}

static deltawire_value open_json(const char *json)
{
    deltawire_value v = {NULL, 0, 0, 0};
    size_t len = strlen(json);
    if (deltawire_value_open(exact_copy(json, len), len, &v) != OK) {
        printf("not opened: %.100s\n", json);
        wrong++;
    }
    return v;
}

static int text_is(const deltawire_value *v, const char *want, size_t len)
{
    text got = TEXT_INIT;
    int same = value_bytes(v, &got) && got.len == len && (!len || memcmp(got.ptr, want, len) == 0);
    text_free(&got);
    return same;
}

#define TEXT_IS(v, literal) text_is(v, literal, sizeof literal - 1)

/* -------------------------------------------------------------------------------------------------------------------
 * Names */

static void names(void)
{
    static const struct {
        deltawire_status status;
        const char *name;
    } statuses[] = {
        {DELTAWIRE_OK, "OK"},
        {DELTAWIRE_PAUSED, "PAUSED"},
        {DELTAWIRE_MORE, "MORE"},
        {DELTAWIRE_NEED_STORAGE, "NEED_STORAGE"},
        {DELTAWIRE_NEED_ROOM, "NEED_ROOM"},
        {DELTAWIRE_ABSENT, "ABSENT"},
        {DELTAWIRE_E_NULL, "E_NULL"},
        {DELTAWIRE_E_CONFIG, "E_CONFIG"},
        {DELTAWIRE_E_SMALL, "E_SMALL"},
        {DELTAWIRE_E_ALIGN, "E_ALIGN"},
        {DELTAWIRE_E_STATE, "E_STATE"},
        {DELTAWIRE_E_REENTRANT, "E_REENTRANT"},
        {DELTAWIRE_E_RANGE, "E_RANGE"},
        {DELTAWIRE_E_RESUME, "E_RESUME"},
        {DELTAWIRE_E_NO_PLACE, "E_NO_PLACE"},
        {DELTAWIRE_E_LATE, "E_LATE"},
        {DELTAWIRE_E_JSON, "E_JSON"},
        {DELTAWIRE_E_UNFINISHED, "E_UNFINISHED"},
        {DELTAWIRE_E_ENDED, "E_ENDED"},
        {DELTAWIRE_E_ABORTED, "E_ABORTED"},
        {DELTAWIRE_E_CALLBACK, "E_CALLBACK"},
        {DELTAWIRE_E_STRICT, "E_STRICT"},
    };
    static const char *const kinds[] = {
        "NONE", "SSE", "COMMENT", "KEEP_ALIVE", "RETRY", "LAST_EVENT_ID", "CHUNK", "ROLE", "CONTENT", "REASONING",
        "REFUSAL", "TOOL_CALL", "TOOL_NAME", "TOOL_ARGUMENTS", "FUNCTION_NAME", "FUNCTION_ARGUMENTS", "AUDIO", "LOGPROBS",
        "?", "FINISH", "CHOICE_ERROR", "USAGE", "ERROR", "MALFORMED", "TOO_LONG", "COMMENT_TOO_LONG", "LIMIT",
        "QUIRK", "DONE", "PAYLOAD", "META", "ANNOTATION", "?", "?", "SIGNATURE",
        "MEDIA", "?", "?", "NATIVE", "TOOL_CALL_END"};
    static const char *const verdicts[] = {"Empty", "NotAStream", "ApiError", "Done", "Finished", "Body", "JsonAnswer",
                                           "OtherProtocol", "Lost", "Truncated", "Aborted"};
    static const char *const medias[] = {"Gzip", "Zstd", "Binary", "Html", "Text"};
    static const char *const protocols[] = {"Other", "Responses", "Anthropic", "Gemini", "Interactions", "Ollama", "Cohere", "Chat"};
    static const char *const pendings[] = {"Nothing", "Event", "Json", "Line"};
    static const char *const faults[] = {"UnexpectedEnd", "UnexpectedByte", "TrailingBytes", "TooDeep", "BadNumber",
                                         "BadLiteral", "BadEscape", "RawControl", "IllFormedUtf8"};
    static const char *const finishes[] = {"?", "other", "stop", "length", "tool_calls", "content_filter", "function_call",
                                           "error", "?"};
    static const char *const limits_of[] = {"?", "TooManyChoices", "TooManyCalls", "BadIndex", "TooLong", "?"};
    uint32_t i, known;
    CHECK(deltawire_version() == DELTAWIRE_VERSION);
    CHECK(deltawire_abi() == DELTAWIRE_ABI);
    for (i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        CHECK_OF(statuses[i].name, strcmp(deltawire_status_name(statuses[i].status), statuses[i].name) == 0);
        CHECK_OF(statuses[i].name, strlen(deltawire_status_text(statuses[i].status)) > 3);
    }
    CHECK(deltawire_status_name(-50) != NULL && deltawire_status_text(-50) != NULL);
    for (i = 0; i < DELTAWIRE_EV_COUNT - 1; i++) {
        const char *name = i < sizeof kinds / sizeof kinds[0] ? kinds[i] : "?";
        CHECK_OF(name, strcmp(deltawire_event_name(i), name) == 0);
    }
    CHECK(strcmp(deltawire_event_name(DELTAWIRE_EV_FRAME), "FRAME") == 0);
    for (i = 0; i < 11; i++) CHECK_OF(verdicts[i], strcmp(deltawire_verdict_name(i + 1), verdicts[i]) == 0);
    for (i = 0; i < 5; i++) CHECK_OF(medias[i], strcmp(deltawire_media_name(i + 1), medias[i]) == 0);
    for (i = 0; i < 8; i++) CHECK_OF(protocols[i], strcmp(deltawire_protocol_name(i + 1), protocols[i]) == 0);
    for (i = 0; i < 4; i++) CHECK_OF(pendings[i], strcmp(deltawire_pending_name(i), pendings[i]) == 0);
    CHECK(strcmp(deltawire_verdict_name(0), "?") == 0 && strcmp(deltawire_media_name(DELTAWIRE_MEDIA_NONE), "None") == 0);
    CHECK(strcmp(deltawire_media_name(6), "?") == 0 && strcmp(deltawire_protocol_name(9), "?") == 0);
    CHECK(strcmp(deltawire_protocol_name(DELTAWIRE_PROTOCOL_NONE), "None") == 0 && strcmp(deltawire_pending_name(4), "?") == 0);
    for (i = 0; i < 9; i++) CHECK_OF(finishes[i], strcmp(deltawire_finish_name(i), finishes[i]) == 0);
    for (i = 0; i < 6; i++) CHECK_OF(limits_of[i], strcmp(deltawire_limit_name(i), limits_of[i]) == 0);
    for (i = 0; i < 9; i++) CHECK_OF(faults[i], strcmp(deltawire_fault_name(i + 1), faults[i]) == 0);
    for (known = 0; deltawire_quirk_code(known); known++) {
        const char *code = deltawire_quirk_code(known), *name = deltawire_quirk_name(known);
        CHECK((code[0] == 'F' || code[0] == 'C') && strspn(code + 1, "0123456789") == strlen(code + 1) && code[1]);
        CHECK_OF(code, name && name[0] >= 'A' && name[0] <= 'Z');
        CHECK_OF(code, deltawire_quirk_text(known) && strlen(deltawire_quirk_text(known)) > 5);
        for (i = 0; i < known; i++) CHECK_OF(code, strcmp(deltawire_quirk_name(i), name) != 0);
    }
    CHECK(known >= 25 && known <= DELTAWIRE_QUIRKS);
    for (i = known; i < DELTAWIRE_QUIRKS + 2; i++) {
        CHECK(!deltawire_quirk_code(i) && !deltawire_quirk_name(i) && !deltawire_quirk_text(i));
    }
    CHECK(!deltawire_quirk_name(UINT32_MAX));
}

/* -------------------------------------------------------------------------------------------------------------------
 * Chunks */

static void chunks(void)
{
    static const char json[] =
        " {\"id\":\"a\\u0062\",\"object\":\"o\",\"created\":1700000000,\"model\":\"m\",\"system_fingerprint\":\"fp\","
        "\"service_tier\":\"flex\",\"provider\":\"P\",\"choices\":[{\"index\":0}],"
        "\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2,\"total_tokens\":3,"
        "\"completion_tokens_details\":{\"reasoning_tokens\":4,\"audio_tokens\":5,\"accepted_prediction_tokens\":6,"
        "\"rejected_prediction_tokens\":7},\"prompt_tokens_details\":{\"cached_tokens\":8,\"audio_tokens\":9,"
        "\"cache_write_tokens\":10}},"
        "\"error\":{\"message\":\"no\"},\"x\\u0079\":[1],\"twice\":1,\"twice\":2,\"n\":null} ";
    static const char bare[] = "{\"id\":\"\",\"model\":null,\"usage\":{},\"error\":null,\"choices\":[]}";
    static const struct {
        uint32_t field, type;
        const char *text;
    } fields[] = {{DELTAWIRE_F_ID, DELTAWIRE_T_STRING, "ab"},
                  {DELTAWIRE_F_OBJECT, DELTAWIRE_T_STRING, "o"},
                  {DELTAWIRE_F_CREATED, DELTAWIRE_T_NUMBER, "1700000000"},
                  {DELTAWIRE_F_MODEL, DELTAWIRE_T_STRING, "m"},
                  {DELTAWIRE_F_SYSTEM_FINGERPRINT, DELTAWIRE_T_STRING, "fp"},
                  {DELTAWIRE_F_SERVICE_TIER, DELTAWIRE_T_STRING, "flex"},
                  {DELTAWIRE_F_PROVIDER, DELTAWIRE_T_STRING, "P"}};
    static const char *const no_chunks[] = {"", " ", "[1]", "1", "\"a\"", "nul", "{", "{\"a\":}"};
    deltawire_chunk_storage mem, other;
    const deltawire_chunk *c = NULL, *d = NULL;
    deltawire_value v;
    deltawire_str s = {NULL, 0};
    deltawire_usage usage = DELTAWIRE_USAGE_INIT;
    char *bytes = exact_copy(json, sizeof json - 1);
    uint32_t i;

    CHECK(deltawire_chunk_open(bytes, sizeof json - 1, &mem, &c) == OK && c != NULL);
    if (!c) return;
    for (i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        memset(&v, 0xA5, sizeof v);
        CHECK_OF(fields[i].text, deltawire_chunk_field(c, fields[i].field, &v) == OK);
        CHECK_OF(fields[i].text, v.type == fields[i].type && v.reserved == 0);
        CHECK_OF(fields[i].text, text_is(&v, fields[i].text, strlen(fields[i].text)));
        CHECK_OF(fields[i].text, v.ptr >= bytes && v.ptr + v.len <= bytes + sizeof json);
    }
    CHECK(deltawire_chunk_field(c, DELTAWIRE_F_CHOICES, &v) == OK && v.type == DELTAWIRE_T_ARRAY && v.len == 13);
    CHECK(deltawire_chunk_field(c, DELTAWIRE_F_USAGE, &v) == OK && v.type == DELTAWIRE_T_OBJECT);
    CHECK(deltawire_chunk_field(c, DELTAWIRE_F_ERROR, &v) == OK && v.type == DELTAWIRE_T_OBJECT);
    CHECK(deltawire_chunk_field(c, 10, &v) == DELTAWIRE_E_RANGE);
    CHECK(deltawire_chunk_field(c, UINT32_MAX, &v) == DELTAWIRE_E_RANGE);

    CHECK(deltawire_chunk_member(c, "xy", 2, &v) == OK && v.type == DELTAWIRE_T_ARRAY && v.len == 3);
    CHECK(deltawire_chunk_member(c, "twice", 5, &v) == OK && TEXT_IS(&v, "2"));
    CHECK(deltawire_chunk_member(c, "n", 1, &v) == OK && v.type == DELTAWIRE_T_NULL);
    CHECK(deltawire_chunk_member(c, "model", 5, &v) == OK && TEXT_IS(&v, "m"));
    CHECK(deltawire_chunk_member(c, "message", 7, &v) == ABSENT);
    CHECK(deltawire_chunk_member(c, "", 0, &v) == ABSENT);
    CHECK(deltawire_chunk_member(c, NULL, 0, &v) == ABSENT);
    CHECK(deltawire_chunk_payload(c, &s) == OK && s.len > 400);
    CHECK(s.ptr >= bytes && s.ptr + s.len <= bytes + sizeof json - 1 && memchr(s.ptr, '{', 2) && memchr(s.ptr + s.len - 2, '}', 2));

    CHECK(deltawire_chunk_usage(c, &usage) == OK && usage.has == 0x3FF && usage.size == sizeof usage);
    CHECK(usage.prompt == 1 && usage.completion == 2 && usage.total == 3 && usage.reasoning == 4);
    CHECK(usage.completion_audio == 5 && usage.accepted_prediction == 6 && usage.rejected_prediction == 7);
    CHECK(usage.cached == 8 && usage.prompt_audio == 9 && usage.cache_write == 10);

    bytes = exact_copy(bare, sizeof bare - 1);
    CHECK(deltawire_chunk_open(bytes, sizeof bare - 1, &other, &d) == OK);
    for (i = 0; i < 10; i++)
        if (i != DELTAWIRE_F_CHOICES) CHECK(deltawire_chunk_field(d, i, &v) == ABSENT);
    CHECK(deltawire_chunk_usage(d, &usage) == ABSENT);
    CHECK(deltawire_chunk_member(d, "id", 2, &v) == OK && v.type == DELTAWIRE_T_STRING && TEXT_IS(&v, ""));
    /* Two chunks are open at a time. */
    CHECK(deltawire_chunk_field(c, DELTAWIRE_F_ID, &v) == OK && TEXT_IS(&v, "ab"));

    for (i = 0; i < sizeof no_chunks / sizeof no_chunks[0] - 1; i++) {
        size_t len = strlen(no_chunks[i]);
        CHECK_OF(no_chunks[i], deltawire_chunk_open(exact_copy(no_chunks[i], len), len, &other, &d) == ABSENT);
    }
    CHECK(deltawire_chunk_open(NULL, 0, &other, &d) == ABSENT);
    CHECK(deltawire_chunk_open("{}", 2, &other, &d) == OK && deltawire_chunk_field(d, DELTAWIRE_F_CHOICES, &v) == ABSENT);
}

/* -------------------------------------------------------------------------------------------------------------------
 * Values */

static void kinds_of_values(void)
{
    static const struct {
        const char *json;
        uint32_t type;
        size_t len;
    } good[] = {{"null", DELTAWIRE_T_NULL, 4},      {" false ", DELTAWIRE_T_FALSE, 5},  {"true", DELTAWIRE_T_TRUE, 4},
                {"\t-1.5e3\n", DELTAWIRE_T_NUMBER, 6}, {"\"a\"", DELTAWIRE_T_STRING, 3}, {"[1, 2]", DELTAWIRE_T_ARRAY, 6},
                {"{\"a\" : {}}", DELTAWIRE_T_OBJECT, 10}};
    static const char *const bad[] = {"", "  ", "\"a", "[1", "{\"a\":1", "1 2", "{} x", "}", "]", ",", "x"};
    size_t i;
    deltawire_value v, w;
    for (i = 0; i < sizeof good / sizeof good[0]; i++) {
        memset(&v, 0xA5, sizeof v);
        v = open_json(good[i].json);
        CHECK_OF(good[i].json, v.type == good[i].type && v.len == good[i].len && v.reserved == 0);
    }
    for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        size_t len = strlen(bad[i]);
        CHECK_OF(bad[i], deltawire_value_open(exact_copy(bad[i], len), len, &v) == ABSENT);
    }
    CHECK(deltawire_value_open(NULL, 0, &v) == ABSENT);
    for (i = 0; i < 2; i++) {
        static const char member[] = "\"x\\u0041\" :\n{\"a\":1} ";
        static const char *const none[] = {"", "\"a\"", "\"a\":", "\"a\" 1", "\"a\":1,", "a:1", "1:1", "\"a\":1 2"};
        size_t n;
        CHECK(deltawire_value_open_member(exact_copy(member, sizeof member - 1), sizeof member - 1, i ? &w : NULL, &v) == OK);
        CHECK(v.type == DELTAWIRE_T_OBJECT && v.len == 7 && (i == 0 || TEXT_IS(&w, "xA")));
        for (n = 0; n < sizeof none / sizeof none[0]; n++)
            CHECK_OF(none[n], deltawire_value_open_member(none[n], strlen(none[n]), NULL, &v) == ABSENT);
    }
    CHECK(deltawire_value_open_member("\"a\":1", 5, &w, NULL) == DELTAWIRE_E_NULL);
    CHECK(deltawire_value_plain(NULL, 0, &v) == OK && v.type == DELTAWIRE_T_TEXT && TEXT_IS(&v, ""));
    v = open_json("{\"a\":{\"b\":[true,{\"c\":\"d\"}]},\"\\u0061b\":1,\"a\\\"b\":2,\"dup\":1,\"dup\":[],\"\":3}");
    CHECK(deltawire_value_member(&v, "ab", 2, &w) == OK && TEXT_IS(&w, "1"));
    CHECK(deltawire_value_member(&v, "a\"b", 3, &w) == OK && TEXT_IS(&w, "2"));
    CHECK(deltawire_value_member(&v, "dup", 3, &w) == OK && w.type == DELTAWIRE_T_ARRAY);
    CHECK(deltawire_value_member(&v, "", 0, &w) == OK && TEXT_IS(&w, "3"));
    CHECK(deltawire_value_member(&v, NULL, 0, &w) == OK && TEXT_IS(&w, "3"));
    CHECK(deltawire_value_member(&v, "b", 1, &w) == ABSENT);
    CHECK(deltawire_value_member(&v, "a", 1, &w) == OK && deltawire_value_member(&w, "b", 1, &w) == OK);
    CHECK(w.type == DELTAWIRE_T_ARRAY && deltawire_value_member(&w, "c", 1, &v) == ABSENT);
    v = open_json("\"a\"");
    CHECK(deltawire_value_member(&v, "a", 1, &w) == ABSENT);
}

static void walks(void)
{
    enum { MANY = 300000 };
    text json = TEXT_INIT;
    deltawire_value v, key, element;
    size_t cursor = 0, n, i;
    uint64_t number;
    clock_t start;

    v = open_json(" [ 1 , \"two\" ,[3], {\"f\":4} ,null ] ");
    for (n = 0; deltawire_value_next(&v, &cursor, n % 2 ? &key : NULL, &element) == OK; n++) {
        static const uint32_t types[] = {DELTAWIRE_T_NUMBER, DELTAWIRE_T_STRING, DELTAWIRE_T_ARRAY, DELTAWIRE_T_OBJECT,
                                         DELTAWIRE_T_NULL};
        CHECK(n < 5 && element.type == types[n]);
    }
    CHECK(n == 5 && deltawire_value_next(&v, &cursor, NULL, &element) == ABSENT);
    cursor = 0;
    v = open_json("[]");
    CHECK(deltawire_value_next(&v, &cursor, &key, &element) == ABSENT);
    cursor = 0;
    v = open_json("{ }");
    CHECK(deltawire_value_next(&v, &cursor, &key, &element) == ABSENT);
    cursor = 0;
    v = open_json("12");
    CHECK(deltawire_value_next(&v, &cursor, &key, &element) == ABSENT);
    cursor = 0;
    v = open_json("[1,2,!,4]");
    for (n = 0; deltawire_value_next(&v, &cursor, NULL, &element) == OK; n++) {}
    CHECK(n == 2 && deltawire_value_next(&v, &cursor, NULL, &element) == ABSENT);
    cursor = (size_t)-1;
    CHECK(deltawire_value_next(&v, &cursor, NULL, &element) == ABSENT);
    cursor = 0;
    v = open_json("{\"a\":1,\"b\" 2,\"c\":3}");
    for (n = 0; deltawire_value_next(&v, &cursor, &key, &element) == OK; n++) {}
    CHECK(n == 1);

    /* A walk must not restart from the beginning for each step. */
    text_clear(&json);
    text_str(&json, "[");
    for (i = 0; i < MANY; i++) {
        if (i) text_str(&json, i % 3 ? "," : " , ");
        text_u64(&json, i);
    }
    text_str(&json, "]");
    CHECK(deltawire_value_open(json.ptr, json.len, &v) == OK);
    start = clock();
    cursor = n = 0;
    while (deltawire_value_next(&v, &cursor, NULL, &element) == OK) {
        if (deltawire_value_u64(&element, &number) != OK || number != n) break;
        n++;
    }
    CHECK(n == MANY);
    CHECK((clock() - start) / CLOCKS_PER_SEC < 5);

    text_clear(&json);
    text_str(&json, "{");
    for (i = 0; i < MANY; i++) {
        text_str(&json, i ? ",\"k\\n" : "\"k\\n");
        text_u64(&json, i);
        text_str(&json, "\": ");
        text_u64(&json, i * 2);
    }
    text_str(&json, "}");
    CHECK(deltawire_value_open(json.ptr, json.len, &v) == OK);
    start = clock();
    cursor = n = 0;
    while (deltawire_value_next(&v, &cursor, &key, &element) == OK) {
        char name[32];
        sprintf(name, "k\n%lu", (unsigned long)n);
        if (deltawire_value_equals(&key, name, strlen(name)) != OK || deltawire_value_u64(&element, &number) != OK ||
            number != n * 2)
            break;
        n++;
    }
    CHECK(n == MANY);
    CHECK((clock() - start) / CLOCKS_PER_SEC < 5);
    text_free(&json);
}

#define SAYS(json, literal) \
    do { \
        deltawire_value said = open_json(json); \
        CHECK_OF(json, TEXT_IS(&said, literal)); \
        CHECK_OF(json, deltawire_value_equals(&said, literal, sizeof literal - 1) == OK); \
        CHECK_OF(json, deltawire_value_equals(&said, literal "x", sizeof literal) == ABSENT); \
        if (sizeof literal > 1) CHECK_OF(json, deltawire_value_equals(&said, literal, sizeof literal - 2) == ABSENT); \
    } while (0)

static void texts(void)
{
    deltawire_value v;
    deltawire_str s = {NULL, 0};
    char buf[8];
    size_t need = 0;
    SAYS("\"\"", "");
    SAYS("\"abc\"", "abc");
    SAYS("\"a\\\"b\\\\c\\/d\\b\\f\\n\\r\\te\"", "a\"b\\c/d\b\f\n\r\te");
    SAYS("\"\\u0041\\u00e9\\u20AC\\uD83D\\uDE00\"", "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
    SAYS("\"\\u0000\"", "\0");
    SAYS("\"a\\ud83d\"", "a\xEF\xBF\xBD");
    SAYS("\"a\xFF" "b\"", "a\xEF\xBF\xBD" "b");

    v = open_json("\"abc\"");
    CHECK(deltawire_value_str(&v, &s) == OK && s.len == 3 && s.ptr == v.ptr + 1);
    CHECK(deltawire_value_text(&v, buf, 8, NULL) == OK && memcmp(buf, "abc", 3) == 0);
    memset(buf, '-', sizeof buf);
    CHECK(deltawire_value_text(&v, buf, 2, &need) == DELTAWIRE_E_SMALL && need == 3 && buf[0] == '-');
    CHECK(deltawire_value_text(&v, buf, 3, &need) == OK && need == 3 && buf[3] == '-');
    v = open_json("\"\"");
    CHECK(deltawire_value_text(&v, NULL, 0, &need) == OK && need == 0);
    CHECK(deltawire_value_str(&v, &s) == OK && s.len == 0);
    CHECK(deltawire_value_equals(&v, NULL, 0) == OK);
    v = open_json("\"a\\nb\"");
    CHECK(deltawire_value_str(&v, &s) == ABSENT);
    v = open_json("\"\xFF\"");
    CHECK(deltawire_value_str(&v, &s) == ABSENT);
    v = open_json("-1.50");
    CHECK(TEXT_IS(&v, "-1.50") && deltawire_value_equals(&v, "-1.50", 5) == ABSENT);
    v = open_json("[\"a\"]");
    CHECK(deltawire_value_text(&v, buf, 8, &need) == ABSENT && deltawire_value_str(&v, &s) == ABSENT);
    CHECK(deltawire_value_equals(&v, "a", 1) == ABSENT);
    v = open_json("null");
    CHECK(deltawire_value_text(&v, buf, 8, &need) == ABSENT && deltawire_value_equals(&v, "null", 4) == ABSENT);
    CHECK(deltawire_value_plain("a\\n\xFF\"", 5, &v) == OK && v.len == 5 && TEXT_IS(&v, "a\\n\xEF\xBF\xBD\""));
    CHECK(deltawire_value_equals(&v, "a\\n\xEF\xBF\xBD\"", 7) == OK);
    CHECK(deltawire_value_plain("plain", 5, &v) == OK && deltawire_value_str(&v, &s) == OK && s.len == 5);
}

/* -------------------------------------------------------------------------------------------------------------------
 * Numbers */

static void integers(void)
{
    enum { R = DELTAWIRE_E_RANGE };
    static const struct {
        const char *json;
        deltawire_status unsigned_;
        uint64_t u;
        deltawire_status signed_;
        int64_t i;
    } numbers[] = {
        {"0", OK, 0, OK, 0},
        {"7", OK, 7, OK, 7},
        {"-7", R, 0, OK, -7},
        {"10.0", OK, 10, OK, 10},
        {"1e3", OK, 1000, OK, 1000},
        {"1.5", R, 0, R, 0},
        {"9223372036854775807", OK, UINT64_C(9223372036854775807), OK, INT64_MAX},
        {"9223372036854775808", OK, UINT64_C(9223372036854775808), R, 0},
        {"-9223372036854775808", R, 0, OK, INT64_MIN},
        {"-9223372036854775809", R, 0, R, 0},
        {"18446744073709551615", OK, UINT64_MAX, R, 0},
        {"18446744073709551616", R, 0, R, 0},
        {"\"5\"", ABSENT, 0, ABSENT, 0},
        {"[1]", ABSENT, 0, ABSENT, 0},
    };
    size_t n;
    for (n = 0; n < sizeof numbers / sizeof numbers[0]; n++) {
        deltawire_value v = open_json(numbers[n].json);
        uint64_t u = 77;
        int64_t i = 77;
        CHECK_OF(numbers[n].json, deltawire_value_u64(&v, &u) == numbers[n].unsigned_);
        CHECK_OF(numbers[n].json, u == (numbers[n].unsigned_ == OK ? numbers[n].u : 77));
        CHECK_OF(numbers[n].json, deltawire_value_i64(&v, &i) == numbers[n].signed_);
        CHECK_OF(numbers[n].json, i == (numbers[n].signed_ == OK ? numbers[n].i : 77));
    }
}

static void decimals(void)
{
    deltawire_decimal d;
    deltawire_value v = open_json("-12.5");
    memset(&d, 0xA5, sizeof d);
    CHECK(deltawire_value_decimal(&v, &d) == OK && d.digits == 125 && d.exp10 == -1 && d.negative == 1 && d.exact == 1);
    CHECK(d.reserved[0] == 0 && d.reserved[1] == 0);
    v = open_json("12345678901234567891");
    CHECK(deltawire_value_decimal(&v, &d) == OK && d.digits == UINT64_C(1234567890123456789) && d.exp10 == 1);
    CHECK(d.negative == 0 && d.exact == 0);
    v = open_json("\"1\"");
    CHECK(deltawire_value_decimal(&v, &d) == ABSENT);
    v = open_json("{}");
    CHECK(deltawire_value_decimal(&v, &d) == ABSENT);
}

/* -------------------------------------------------------------------------------------------------------------------
 * Errors */

static void errors(void)
{
    static const struct {
        const char *json; /* NULL: plain text */
        const char *message, *code, *type, *param, *metadata;
    } shapes[] = {
        {"{\"message\":\"m\\u0021\",\"code\":\"c\",\"type\":\"t\",\"param\":\"p\",\"metadata\":{\"a\":1}}", "m!", "c", "t", "p",
         "{\"a\":1}"},
        {"{\"message\":\"m\",\"code\":429}", "m", "429", NULL, NULL, NULL},
        {"{\"detail\":\"d\"}", "d", NULL, NULL, NULL, NULL},
        {"{\"details\":\"d\"}", "d", NULL, NULL, NULL, NULL},
        {"{\"error\":\"e\"}", "e", NULL, NULL, NULL, NULL},
        {"{\"message\":null,\"detail\":\"d\",\"code\":null}", "d", NULL, NULL, NULL, NULL},
        {"{\"code\":5,\"metadata\":[1]}", NULL, "5", NULL, NULL, "[1]"},
        {"\"text\\n\"", "text\n", NULL, NULL, NULL, NULL},
        {"{}", NULL, NULL, NULL, NULL, NULL},
        {NULL, "Rate limited", NULL, NULL, NULL, NULL},
    };
    size_t i;
    for (i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const char *name = shapes[i].json ? shapes[i].json : "plain text";
        const char *want[5];
        deltawire_value error, field;
        uint32_t f;
        want[DELTAWIRE_ERROR_MESSAGE] = shapes[i].message;
        want[DELTAWIRE_ERROR_CODE] = shapes[i].code;
        want[DELTAWIRE_ERROR_TYPE] = shapes[i].type;
        want[DELTAWIRE_ERROR_PARAM] = shapes[i].param;
        want[DELTAWIRE_ERROR_METADATA] = shapes[i].metadata;
        if (shapes[i].json) error = open_json(shapes[i].json);
        else CHECK(deltawire_value_plain(exact_copy("Rate limited", 12), 12, &error) == OK);
        for (f = 0; f < 5; f++) {
            deltawire_status status = deltawire_error_field(&error, f, &field);
            CHECK_OF(name, status == (want[f] ? OK : ABSENT));
            if (status != OK || !want[f]) continue;
            if (f == DELTAWIRE_ERROR_METADATA)
                CHECK_OF(name, field.len == strlen(want[f]) && memcmp(field.ptr, want[f], field.len) == 0);
            else CHECK_OF(name, text_is(&field, want[f], strlen(want[f])));
        }
        CHECK_OF(name, deltawire_error_field(&error, 5, &field) == DELTAWIRE_E_RANGE);
    }
}

/* -------------------------------------------------------------------------------------------------------------------
 * Parsers */

static DELTAWIRE_BLOCK(block, 4096);

static deltawire_parser *parser_with(const deltawire_config *config)
{
    deltawire_parser *p = NULL;
    memset(&block, 0xA5, sizeof block);
    CHECK(deltawire_init(&block, sizeof block, config, &p) == OK && p == (deltawire_parser *)(void *)&block);
    return p;
}

static deltawire_status feed(deltawire_parser *p, const char *s, const deltawire_callbacks *callbacks, void *user, size_t *consumed)
{
    size_t len = strlen(s);
    return deltawire_feed(p, exact_copy(s, len), len, callbacks, user, consumed);
}

/* A count alone, under its name in chat completions, sets the bit of its constant. */
static void usage_bits(void)
{
#define OF(of, name) "{\"" of "_tokens_details\":{\"" name "_tokens\":7}}"
    static const struct {
        uint32_t bit;
        size_t at;
        const char *json;
    } rows[] = {
        {DELTAWIRE_HAS_PROMPT, offsetof(deltawire_usage, prompt), "{\"prompt_tokens\":7}"},
        {DELTAWIRE_HAS_COMPLETION, offsetof(deltawire_usage, completion), "{\"completion_tokens\":7}"},
        {DELTAWIRE_HAS_TOTAL, offsetof(deltawire_usage, total), "{\"total_tokens\":7}"},
        {DELTAWIRE_HAS_REASONING, offsetof(deltawire_usage, reasoning), OF("completion", "reasoning")},
        {DELTAWIRE_HAS_CACHED, offsetof(deltawire_usage, cached), OF("prompt", "cached")},
        {DELTAWIRE_HAS_PROMPT_AUDIO, offsetof(deltawire_usage, prompt_audio), OF("prompt", "audio")},
        {DELTAWIRE_HAS_COMPLETION_AUDIO, offsetof(deltawire_usage, completion_audio), OF("completion", "audio")},
        {DELTAWIRE_HAS_ACCEPTED_PREDICTION, offsetof(deltawire_usage, accepted_prediction), OF("completion", "accepted_prediction")},
        {DELTAWIRE_HAS_REJECTED_PREDICTION, offsetof(deltawire_usage, rejected_prediction), OF("completion", "rejected_prediction")},
        {DELTAWIRE_HAS_CACHE_WRITE, offsetof(deltawire_usage, cache_write), OF("prompt", "cache_write")},
    };
#undef OF
    size_t i;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        deltawire_usage usage = DELTAWIRE_USAGE_INIT;
        deltawire_value v;
        uint64_t count;
        CHECK(deltawire_value_open(rows[i].json, strlen(rows[i].json), &v) == OK);
        CHECK_OF(rows[i].json, deltawire_value_usage(&v, &usage) == OK && usage.has == rows[i].bit);
        memcpy(&count, (const char *)&usage + rows[i].at, sizeof count);
        CHECK_OF(rows[i].json, count == 7);
        count_usage(usage.has);
    }
}

static void usages(void)
{
    static const char first[] = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":1}}\n\n";
    static const char second[] = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":0,\"total_tokens\":7}}\n\n";
    static const char third[] = "data: {\"choices\":[],\"usage\":null}\n\n";
    deltawire_parser *p = parser_with(NULL);
    deltawire_usage usage = DELTAWIRE_USAGE_INIT;
    deltawire_end end = DELTAWIRE_END_INIT;
    deltawire_callbacks none = DELTAWIRE_CALLBACKS_INIT;
    deltawire_value v;
    size_t consumed = 0;
    CHECK(deltawire_last_usage(p, &usage) == ABSENT);
    CHECK(deltawire_value_open("{\"total_tokens\":9,\"prompt_tokens_details\":{\"cached_tokens\":2}}", 60, &v) == ABSENT);
    CHECK(deltawire_value_open("{\"total_tokens\":9,\"prompt_tokens_details\":{\"cached_tokens\":2}}", 62, &v) == OK);
    CHECK(deltawire_value_usage(&v, &usage) == OK && usage.has == 20 && usage.total == 9 && usage.cached == 2);
    /* The names of other protocols. */
    CHECK(deltawire_value_open("{\"input_tokens\":9,\"cache_read_input_tokens\":4,\"output_tokens\":3}", 64, &v) == OK);
    CHECK(deltawire_value_usage(&v, &usage) == OK && usage.has == 23 && usage.prompt == 13 && usage.total == 16);
    CHECK(deltawire_value_open("{\"promptTokenCount\":9,\"thoughtsTokenCount\":2}", 45, &v) == OK);
    CHECK(deltawire_value_usage(&v, &usage) == OK && usage.has == 15 && usage.prompt == 9 && usage.completion == 2);
    CHECK(deltawire_value_open("{\"input_tokens\":9,\"output_tokens\":3,\"total_tokens\":12}", 54, &v) == OK);
    CHECK(deltawire_value_usage(&v, &usage) == OK && usage.has == 7 && usage.prompt == 9 && usage.completion == 3);
    CHECK(deltawire_value_open("{}", 2, &v) == OK && deltawire_value_usage(&v, &usage) == ABSENT);
    CHECK(deltawire_value_open("[1]", 3, &v) == OK && deltawire_value_usage(&v, &usage) == ABSENT);
    CHECK(deltawire_value_plain("x", 1, &v) == OK && deltawire_value_usage(&v, &usage) == ABSENT);
    CHECK(feed(p, first, &none, NULL, &consumed) == OK && consumed == sizeof first - 1);
    CHECK(deltawire_last_usage(p, &usage) == OK && usage.has == 3 && usage.prompt == 5 && usage.completion == 1);
    CHECK(feed(p, second, NULL, NULL, NULL) == OK);
    CHECK(deltawire_last_usage(p, &usage) == OK && usage.has == 7 && usage.completion == 0 && usage.total == 7);
    CHECK(feed(p, third, NULL, NULL, &consumed) == OK && consumed == sizeof third - 1);
    CHECK(deltawire_last_usage(p, &usage) == OK && usage.has == 7 && usage.total == 7);
    CHECK(deltawire_end_of(p, &end) == OK && !end.finished && end.offset == sizeof first + sizeof second + sizeof third - 3);
    CHECK(deltawire_finish(p, NULL, NULL) == OK && deltawire_end_of(p, &end) == OK && end.finished);
    CHECK(end.verdict == DELTAWIRE_VERDICT_TRUNCATED && end.size == sizeof end);
    CHECK(deltawire_reset(p) == OK && deltawire_last_usage(p, &usage) == ABSENT);
    CHECK(deltawire_end_of(p, &end) == OK && end.verdict == DELTAWIRE_VERDICT_EMPTY && end.offset == 0 && !end.finished);
}

/* -------------------------------------------------------------------------------------------------------------------
 * Work */

/* A thousand items of one chunk, one at a time; a long text through a short scratch. */
static void work(void)
{
    enum { MANY = 10000 };
    text input = TEXT_INIT;
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    char *scratch = need_memory(64);
    size_t block_len = deltawire_block_size(NULL, 0), at, i, contents = 0, bytes = 0;
    char *mem = need_memory(block_len);
    deltawire_parser *p = NULL;
    deltawire_event event;
    deltawire_batch_result result;
    deltawire_status status;
    clock_t start = clock();
    int which;
    for (which = 0; which < 2; which++) {
        text_clear(&input);
        text_str(&input, "data: {\"choices\":[");
        if (which == 0) {
            for (i = 0; i < MANY; i++)
                text_str(&input, i ? ",{\"index\":0,\"delta\":{\"content\":\"x\"}}" : "{\"index\":0,\"delta\":{\"content\":\"x\"}}");
        } else {
            text_str(&input, "{\"index\":0,\"delta\":{\"content\":\"");
            for (i = 0; i < 50 * MANY; i++) text_str(&input, "\\n");
            text_str(&input, "\"}}");
        }
        text_str(&input, "]}\n\n");
        config.max_event_len = 64 << 20;
        config.events = DELTAWIRE_MASK(DELTAWIRE_EV_CONTENT);
        /* An event that is not cut is not stored, but the limit counts as if it were. */
        free(mem);
        block_len = deltawire_block_size(NULL, input.len + 4096);
        mem = need_memory(block_len);
        CHECK(deltawire_init(mem, block_len, &config, &p) == OK);
        contents = bytes = at = 0;
        do {
            status = deltawire_batch(p, input.ptr + at, input.len - at, &event, 1, scratch, 64, &result);
            at += result.consumed;
            if (result.events) {
                if (event.kind != DELTAWIRE_EV_CONTENT) break;
                contents += !(event.flags & DELTAWIRE_EVF_MORE);
                bytes += event.text_len;
            }
        } while (status == DELTAWIRE_MORE);
        CHECK(status == OK && at == input.len);
        CHECK(contents == (which ? 1 : MANY) && bytes == (which ? 50 * MANY : MANY));
    }
    CHECK((clock() - start) / CLOCKS_PER_SEC < 10);
    free(mem);
    free(scratch);
    text_free(&input);
}

/* -------------------------------------------------------------------------------------------------------------------
 * Assemblers */

/* Reads a payload into a message. */
static deltawire_status assemble(deltawire_parser *p, deltawire_message *m, const char *json)
{
    text event = TEXT_INIT;
    size_t consumed;
    deltawire_status status;
    text_str(&event, "data: ");
    text_str(&event, json);
    text_str(&event, "\n\n");
    status = deltawire_message_feed(m, p, NULL, event.ptr, event.len, NULL, NULL, &consumed);
    text_free(&event);
    return status;
}

/* What was emitted through callbacks, or in batches. */
typedef struct {
    uint32_t contents, opened, names, limits[3], last_choice;
} tally;

static void count(tally *t, uint32_t kind, uint32_t flags, uint32_t choice, uint32_t code)
{
    if (kind == DELTAWIRE_EV_CONTENT) t->contents++, t->last_choice = choice;
    if (kind == DELTAWIRE_EV_TOOL_CALL) t->opened += (flags & DELTAWIRE_EVF_OPENS) != 0;
    if (kind == DELTAWIRE_EV_TOOL_NAME) t->names++;
    if (kind == DELTAWIRE_EV_LIMIT && code < 3) t->limits[code]++;
}

static int32_t count_at(void *user, const deltawire_at *at)
{
    count(user, at->kind, at->flags, at->choice, at->code);
    return DELTAWIRE_GO_ON;
}

static int32_t count_text(void *user, const deltawire_at *at, const char *bytes, size_t len)
{
    (void)bytes, (void)len;
    return count_at(user, at);
}

static int32_t count_call(void *user, const deltawire_at *at, const deltawire_value *id, const deltawire_value *type)
{
    (void)id, (void)type;
    return count_at(user, at);
}

/* Makes an event with content of choice `n`, or with the nth tool call, of choice n % choices. */
static void nth(text *input, uint32_t n, int is_call, uint32_t choices)
{
    char json[200];
    if (is_call)
        sprintf(json, "data: {\"choices\":[{\"index\":%u,\"delta\":{\"tool_calls\":[{\"index\":%u,\"id\":\"t%u\","
                "\"function\":{\"name\":\"f%u\",\"arguments\":\"{%u\"}}]}}]}\n\n",
                (unsigned)(n % choices), (unsigned)(n / choices), (unsigned)n, (unsigned)n, (unsigned)n);
    else
        sprintf(json, "data: {\"choices\":[{\"index\":%u,\"delta\":{\"content\":\"c%u\"}}]}\n\n", (unsigned)n, (unsigned)n);
    text_str(input, json);
}

static int message_text_is(deltawire_message *m, uint32_t field, uint32_t choice, uint32_t call, const char *want)
{
    char got[32];
    size_t len = 0;
    return deltawire_message_text(m, field, choice, call, got, sizeof got, &len) == OK && len == strlen(want) &&
           memcmp(got, want, len) == 0;
}

/* Checks that a message holds that many choices and calls. */
static void holds_all(deltawire_message *m, uint32_t choices, uint32_t calls)
{
    char want[32];
    uint32_t n;
    CHECK(deltawire_message_choices(m) == choices);
    for (n = 0; n < choices; n++) {
        sprintf(want, "c%u", (unsigned)n);
        CHECK(message_text_is(m, DELTAWIRE_M_CONTENT, n, 0, want));
    }
    for (n = 0; n < calls; n++) {
        sprintf(want, "{%u", (unsigned)n);
        CHECK(message_text_is(m, DELTAWIRE_M_CALL_ARGUMENTS, n % choices, n / choices, want));
    }
}

/* Tests as many choices and tool calls as the config requests, and one more of each: by callbacks, in batches, in both
 * messages, and in blocks that are copied in between. */
static void room_for(uint32_t max_choices, uint32_t max_calls)
{
    const uint32_t choices = max_choices ? max_choices : DELTAWIRE_DEFAULT_CHOICES;
    const uint32_t calls = max_calls ? max_calls : DELTAWIRE_DEFAULT_TOOL_CALLS;
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    deltawire_callbacks callbacks = DELTAWIRE_CALLBACKS_INIT;
    deltawire_parser *p = NULL, *copy = NULL;
    deltawire_message *m = NULL, *of_batch = NULL;
    deltawire_end end = DELTAWIRE_END_INIT;
    deltawire_event events[16];
    char scratch[256];
    text input = TEXT_INIT;
    size_t len, log_len, half, at;
    void *mem, *other, *log, *other_log;
    uint32_t n;
    int round;
    tally t;

    config.max_choices = max_choices, config.max_tool_calls = max_calls;
    config.events = DELTAWIRE_MESSAGE_EVENTS;
    len = deltawire_block_size(&config, 512), log_len = deltawire_message_size(&config, 1 << 17);
    CHECK(len > 0 && len <= DELTAWIRE_BLOCK_SIZE(512) + DELTAWIRE_TABLES_SIZE(choices, calls));
    CHECK(log_len > 0 && log_len <= DELTAWIRE_MESSAGE_SIZE(1 << 17) + DELTAWIRE_TABLES_SIZE(choices, calls));
    mem = need_memory(len), other = need_memory(len), log = need_memory(log_len), other_log = need_memory(log_len);
    memset(mem, 0xA5, len), memset(log, 0xA5, log_len);
    CHECK(deltawire_init(mem, deltawire_block_size(&config, 0) - 1, &config, &p) == DELTAWIRE_E_SMALL);
    CHECK(deltawire_init(mem, len, &config, &p) == OK);
    CHECK(deltawire_message_init(log, deltawire_message_size(&config, 0) - 1, &config, &m) == DELTAWIRE_E_SMALL);
    CHECK(deltawire_message_init(log, log_len, &config, &m) == OK);
    callbacks.on_content = count_text, callbacks.on_tool_name = count_text;
    callbacks.on_tool_call = count_call, callbacks.on_limit = count_at;

    for (n = 0; n < choices; n++) nth(&input, n, 0, choices);
    half = input.len + 40; /* Inside the first call, so that a part of its chunk is in the block. */
    for (n = 0; n < calls; n++) nth(&input, n, 1, choices);
    for (round = 0; round < 2; round++) {
        memset(&t, 0, sizeof t);
        CHECK(deltawire_feed(p, input.ptr, half, &callbacks, &t, NULL) == OK);
        CHECK(t.contents == choices && t.last_choice == choices - 1 && t.opened == 0);
        CHECK(deltawire_move(other, deltawire_need(p) - 8, p, &copy) == DELTAWIRE_E_SMALL);
        memset(other, 0x5A, len);
        if (round) CHECK(deltawire_move(other, len, p, &copy) == OK);
        else memcpy(other, mem, len), copy = (deltawire_parser *)other;
        CHECK(deltawire_feed(copy, input.ptr + half, input.len - half, &callbacks, &t, NULL) == OK);
        CHECK(t.opened == calls && t.names == calls && t.limits[1] == 0 && t.limits[2] == 0);
        CHECK(deltawire_end_of(copy, &end) == OK && end.choices_seen == choices && end.left_out == 0);
        CHECK(deltawire_reset(p) == OK);
    }

    /* One more of each, by callbacks and in the message. */
    CHECK(deltawire_message_feed(m, p, NULL, input.ptr, input.len, NULL, NULL, NULL) == OK);
    CHECK(deltawire_message_limit(m) == 0);
    holds_all(m, choices, calls);
    CHECK(deltawire_message_move(other_log, deltawire_message_need(m) - 8, m, NULL) == DELTAWIRE_E_SMALL);
    CHECK(deltawire_message_move(other_log, log_len, m, &m) == OK);
    CHECK(deltawire_message_resize(m, deltawire_message_need(m) - 8) == DELTAWIRE_E_SMALL);
    CHECK(deltawire_message_resize(m, deltawire_message_need(m)) == OK && deltawire_message_resize(m, log_len) == OK);
    holds_all(m, choices, calls);
    text_clear(&input);
    nth(&input, choices, 0, choices), nth(&input, calls, 1, choices);
    memset(&t, 0, sizeof t);
    memcpy(other, mem, len);
    CHECK(deltawire_feed(copy, input.ptr, input.len, &callbacks, &t, NULL) == OK);
    CHECK(t.contents == 0 && t.opened == 0 && t.names == 0 && t.limits[1] == 1 && t.limits[2] == 1);
    CHECK(deltawire_end_of(copy, &end) == OK && end.left_out == 2);
    CHECK(deltawire_message_feed(m, p, NULL, input.ptr, input.len, NULL, NULL, NULL) == OK);
    CHECK(deltawire_message_limit(m) == DELTAWIRE_LIMIT_CHOICES);
    holds_all(m, choices, calls);

    /* The same in batches, after a reset. */
    CHECK(deltawire_reset(p) == OK && deltawire_message_init(log, log_len, &config, &of_batch) == OK);
    text_clear(&input);
    for (n = 0; n < choices; n++) nth(&input, n, 0, choices);
    for (n = 0; n <= calls; n++) nth(&input, n, 1, choices);
    memset(&t, 0, sizeof t);
    at = 0;
    for (;;) {
        deltawire_batch_result result;
        deltawire_status status = deltawire_message_batch(of_batch, p, NULL, input.ptr + at, input.len - at, events, 16,
                                                          scratch, sizeof scratch, &result);
        for (n = 0; n < result.events; n++)
            count(&t, events[n].kind, events[n].flags, events[n].choice, events[n].code);
        at += result.consumed;
        if (status != DELTAWIRE_MORE) {
            CHECK(status == OK);
            break;
        }
    }
    CHECK(t.contents == choices && t.opened == calls && t.names == calls && t.limits[1] == 0 && t.limits[2] == 1);
    CHECK(deltawire_message_limit(of_batch) == DELTAWIRE_LIMIT_TOOL_CALLS);
    holds_all(of_batch, choices, calls);
    CHECK(deltawire_message_reset(of_batch) == OK);
    CHECK(deltawire_message_choices(of_batch) == 0 && deltawire_message_limit(of_batch) == 0);
    text_free(&input);
    free(mem), free(other), free(log), free(other_log);
}

static void limits(void)
{
    room_for(0, 0);
    room_for(1, 1);
    room_for(20, 40);
    room_for(128, 128);
    room_for(DELTAWIRE_MAX_CHOICES, DELTAWIRE_MAX_TOOL_CALLS);
}

static void messages(void)
{
    static const char json[] =
        "{\"id\":\"i\",\"object\":\"chat.completion.chunk\",\"created\":0,\"model\":\"m\",\"provider\":\"P\",\"choices\":["
        "{\"index\":3,\"delta\":{\"role\":\"assistant\",\"content\":\"c\\u00e9\",\"tool_calls\":[{\"index\":0,\"id\":\"t\","
        "\"type\":\"function\",\"extra_content\":{\"google\":{\"thought_signature\":\"c2ln\"}},\"function\":{\"name\":\"f\","
        "\"strict\":true,\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}],"
        "\"usage\":{\"total_tokens\":3},\"timings\":{\"n\": -0},\"none\":null}";
    static const char more[] =
        "{\"timings\":{\"n\": -0,\"m\":18446744073709551616},\"choices\":[{\"index\":3,\"delta\":{\"sig\":\"s\",\"reasoning\":\"r\",\"reasoning_details\":["
        "{\"index\":0,\"text\":\"a\"},{\"index\":0,\"text\":\"b\"}]},\"filter\":[]}]}";
    static const struct {
        uint32_t owner, choice, call;
        const char *name, *want;
    } members[] = {{DELTAWIRE_OWNER_CHUNK, 0, 0, "timings", "{\"n\": -0,\"m\":18446744073709551616}"},
                   {DELTAWIRE_OWNER_CHUNK, 0, 0, "none", NULL},    {DELTAWIRE_OWNER_CHUNK, 0, 0, "usage", NULL},
                   {DELTAWIRE_OWNER_CHUNK, 3, 0, "timings", NULL}, {DELTAWIRE_OWNER_CHOICE, 3, 0, "filter", "[]"},
                   {DELTAWIRE_OWNER_DELTA, 3, 9, "sig", "\"s\""},  {DELTAWIRE_OWNER_DELTA, 0, 0, "sig", NULL},
                   {DELTAWIRE_OWNER_CALL, 3, 0, "extra_content", "{\"google\":{\"thought_signature\":\"c2ln\"}}"},
                   {DELTAWIRE_OWNER_CALL, 3, 1, "extra_content", NULL}, {DELTAWIRE_OWNER_CALL, 0, 0, "extra_content", NULL},
                   {DELTAWIRE_OWNER_FUNCTION, 3, 0, "strict", "true"},  {DELTAWIRE_OWNER_CALL, 3, 0, "strict", NULL}};
    static const struct {
        uint32_t field, choice, call;
        const char *want;
    } fields[] = {{DELTAWIRE_M_ID, 0, 0, "i"},           {DELTAWIRE_M_OBJECT, 0, 0, "chat.completion.chunk"},
                  {DELTAWIRE_M_MODEL, 0, 0, "m"},        {DELTAWIRE_M_SERVICE_TIER, 0, 0, NULL},
                  {DELTAWIRE_M_PROVIDER, 0, 0, "P"},     {DELTAWIRE_M_USAGE, 0, 0, "{\"total_tokens\":3}"},
                  {DELTAWIRE_M_ERROR, 0, 0, NULL},       {DELTAWIRE_M_ROLE, 3, 0, "assistant"},
                  {DELTAWIRE_M_CONTENT, 3, 0, "c\xC3\xA9"}, {DELTAWIRE_M_CONTENT, 0, 0, NULL},
                  {DELTAWIRE_M_REASONING, 3, 0, NULL},   {DELTAWIRE_M_FINISH, 3, 0, "tool_calls"},
                  {DELTAWIRE_M_CALL_ID, 3, 0, "t"},      {DELTAWIRE_M_CALL_TYPE, 3, 0, "function"},
                  {DELTAWIRE_M_CALL_NAME, 3, 0, "f"},    {DELTAWIRE_M_CALL_ARGUMENTS, 3, 0, "{}"},
                  {DELTAWIRE_M_CALL_NAME, 3, 1, NULL},   {DELTAWIRE_M_FUNCTION_NAME, 3, 0, NULL}};
    deltawire_parser *p = parser_with(NULL);
    deltawire_message *m = NULL;
    size_t len = deltawire_message_size(NULL, 4096), i, need;
    void *mem = need_memory(len);
    char buf[64];
    uint32_t index = 9;
    CHECK(deltawire_message_init(mem, len, NULL, &m) == OK && deltawire_message_choices(m) == 0);
    CHECK(assemble(p, m, json) == OK && !deltawire_message_is_full(m));
    CHECK(deltawire_message_choices(m) == 1 && deltawire_message_choice_index(m, 0, &index) == OK && index == 3);
    CHECK(deltawire_message_choice_index(m, 1, &index) == ABSENT);
    CHECK(deltawire_message_calls(m, 3) == 1 && deltawire_message_calls(m, 0) == 0);
    for (i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const char *want = fields[i].want;
        deltawire_status status = deltawire_message_text(m, fields[i].field, fields[i].choice, fields[i].call, buf, sizeof buf, &need);
        char name[40];
        sprintf(name, "field %lu", (unsigned long)fields[i].field);
        CHECK_OF(name, status == (want ? OK : ABSENT));
        if (want && status == OK) CHECK_OF(name, need == strlen(want) && memcmp(buf, want, need) == 0);
    }
    CHECK(assemble(p, m, more) == OK);
    for (i = 0; i < sizeof members / sizeof members[0]; i++) {
        const char *name = members[i].name, *want = members[i].want;
        deltawire_status status = deltawire_message_member(m, members[i].owner, members[i].choice, members[i].call, name, strlen(name), buf, sizeof buf, &need);
        CHECK_OF(name, status == (want ? OK : ABSENT));
        if (want && status == OK) CHECK_OF(name, need == strlen(want) && memcmp(buf, want, need) == 0);
    }
    CHECK(deltawire_message_member(m, DELTAWIRE_OWNER_USAGE + 1, 0, 0, "timings", 7, buf, sizeof buf, &need) == DELTAWIRE_E_RANGE);
    CHECK(deltawire_message_member(m, 0, 0, 0, NULL, 7, buf, sizeof buf, &need) == DELTAWIRE_E_NULL);
    CHECK(deltawire_message_member(NULL, 0, 0, 0, "timings", 7, buf, sizeof buf, &need) == DELTAWIRE_E_NULL);
    CHECK(deltawire_message_member(m, 0, 0, 0, "timings", 7, buf, 3, &need) == DELTAWIRE_E_SMALL && need > 3);
    CHECK(deltawire_message_text(m, DELTAWIRE_M_REASONING_DETAILS, 3, 0, buf, sizeof buf, &need) == OK);
    CHECK(need == 25 && memcmp(buf, "[{\"index\":0,\"text\":\"ab\"}]", need) == 0);
    CHECK(deltawire_message_text(m, DELTAWIRE_M_REASONING_NAME, 3, 0, buf, sizeof buf, &need) == OK);
    CHECK(need == 9 && memcmp(buf, "reasoning", need) == 0);
    CHECK(deltawire_message_text(m, DELTAWIRE_M_NATIVE_CONTENT + 1, 0, 0, buf, sizeof buf, &need) == DELTAWIRE_E_RANGE);
    CHECK(deltawire_message_json(m, 2, buf, sizeof buf, &need) == DELTAWIRE_E_RANGE);
    CHECK(deltawire_message_json(m, 0, buf, sizeof buf, &need) == DELTAWIRE_E_SMALL && need > 100);
    CHECK(deltawire_message_need(m) <= len && deltawire_message_need(m) > 0);
    free(mem);

    /* Full: the event is pending, and nothing was stored. */
    len = deltawire_message_size(NULL, 0);
    mem = need_memory(len);
    CHECK(deltawire_reset(p) == OK && deltawire_message_init(mem, len, NULL, &m) == OK);
    CHECK(assemble(p, m, json) == DELTAWIRE_NEED_STORAGE && deltawire_message_is_full(m));
    CHECK(deltawire_message_choices(m) == 0 && deltawire_message_need(m) > len);
    free(mem);
    limits();
}

typedef struct {
    uint32_t code, flags;
    char text[32];
    unsigned long calls;
} seen_text;

static int32_t keep_text(void *user, const deltawire_at *at, const char *bytes, size_t len)
{
    seen_text *seen = user;
    seen->calls++;
    seen->code = at->code;
    seen->flags = at->flags;
    if (len >= sizeof seen->text) return DELTAWIRE_PAUSE;
    memcpy(seen->text, bytes, len);
    seen->text[len] = 0;
    return DELTAWIRE_GO_ON;
}

/* Tests finish reasons and usage of other protocols, by their constants. */
static void other_protocols(void)
{
    static const struct {
        uint32_t protocol, code, has;
        uint64_t prompt, completion, total;
        const char *json, *word;
    } rows[] = {
        {DELTAWIRE_PROTOCOL_ANTHROPIC, DELTAWIRE_FINISH_TOOL_CALLS, 23 | DELTAWIRE_HAS_CACHE_WRITE, 15, 4, 19,
         "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"input_tokens\":3,"
         "\"cache_read_input_tokens\":2,\"cache_creation_input_tokens\":10,\"output_tokens\":4}}", "tool_use"},
        {DELTAWIRE_PROTOCOL_ANTHROPIC, DELTAWIRE_FINISH_LENGTH, 2, 0, 0, 0,
         "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"},\"usage\":{\"output_tokens\":0}}", "max_tokens"},
        {DELTAWIRE_PROTOCOL_RESPONSES, DELTAWIRE_FINISH_CONTENT_FILTER, 15, 5, 6, 20,
         "{\"type\":\"response.incomplete\",\"response\":{\"status\":\"incomplete\",\"incomplete_details\":{\"reason\":"
         "\"content_filter\"},\"usage\":{\"input_tokens\":5,\"output_tokens\":6,\"total_tokens\":20,"
         "\"output_tokens_details\":{\"reasoning_tokens\":1}}}}", "incomplete"},
        {DELTAWIRE_PROTOCOL_RESPONSES, DELTAWIRE_FINISH_ERROR, 0, 0, 0, 0,
         "{\"type\":\"response.failed\",\"response\":{\"status\":\"failed\"}}", "failed"},
        {DELTAWIRE_PROTOCOL_GEMINI, DELTAWIRE_FINISH_STOP, 15, 7, 8, 15,
         "{\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":3,\"toolUsePromptTokenCount\":4,"
         "\"candidatesTokenCount\":2,\"thoughtsTokenCount\":6}}", "STOP"},
        {DELTAWIRE_PROTOCOL_GEMINI, DELTAWIRE_FINISH_OTHER, 0, 0, 0, 0,
         "{\"candidates\":[{\"finishReason\":\"LANGUAGE\"}]}", "LANGUAGE"},
        {DELTAWIRE_PROTOCOL_GEMINI, DELTAWIRE_FINISH_CONTENT_FILTER, 0, 0, 0, 0,
         "{\"promptFeedback\":{\"blockReason\":\"OTHER\"}}", "OTHER"},
    };
    size_t i;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char event[1024];
        int is_prompt = strstr(rows[i].json, "promptFeedback") != NULL;
        seen_text seen = {0, 0, "", 0};
        deltawire_parser *p = parser_with(NULL);
        deltawire_callbacks callbacks = DELTAWIRE_CALLBACKS_INIT;
        deltawire_usage usage = DELTAWIRE_USAGE_INIT;
        deltawire_end end = DELTAWIRE_END_INIT;
        callbacks.on_finish = keep_text;
        sprintf(event, "data: %s\n\n", rows[i].json);
        CHECK(feed(p, event, &callbacks, &seen, NULL) == OK && deltawire_finish(p, NULL, NULL) == OK);
        CHECK(seen.calls == 1 && seen.code == rows[i].code && !strcmp(seen.text, rows[i].word));
        CHECK((seen.flags & DELTAWIRE_EVF_NATIVE) != 0 && ((seen.flags & DELTAWIRE_EVF_PROMPT) != 0) == is_prompt);
        CHECK(deltawire_end_of(p, &end) == OK && end.protocol == rows[i].protocol);
        CHECK(deltawire_last_usage(p, &usage) == (rows[i].has ? OK : ABSENT));
        if (!rows[i].has) continue;
        CHECK(usage.has == rows[i].has && usage.prompt == rows[i].prompt);
        CHECK(usage.completion == rows[i].completion && usage.total == rows[i].total);
        CHECK(usage.cache_write == (usage.has & DELTAWIRE_HAS_CACHE_WRITE ? 10 : 0));
    }
}

/* A chunk that is opened from the payload of another protocol has the members that have the names of chat completions, as they
 * were sent, and nothing else. */
static void chunks_of_other_protocols(void)
{
    static const char *const payloads[] = {
        "{\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":3}}}",
        "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":3}}",
        "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}",
        "{\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\",\"usage\":{\"total_tokens\":3}}}",
        "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"x\"}]}}],\"usageMetadata\":{},\"responseId\":\"g\"}",
    };
    size_t i;
    for (i = 0; i < sizeof payloads / sizeof payloads[0]; i++) {
        size_t len = strlen(payloads[i]);
        deltawire_chunk_storage memory;
        const deltawire_chunk *chunk = NULL;
        deltawire_usage usage = DELTAWIRE_USAGE_INIT;
        deltawire_str whole;
        deltawire_value v;
        uint32_t field;
        CHECK(deltawire_chunk_open(exact_copy(payloads[i], len), len, &memory, &chunk) == OK);
        CHECK(deltawire_chunk_payload(chunk, &whole) == OK && whole.len == len && !memcmp(whole.ptr, payloads[i], len));
        for (field = DELTAWIRE_F_ID; field <= DELTAWIRE_F_ERROR; field++) {
            int is_usage = i == 1 && field == DELTAWIRE_F_USAGE;
            CHECK(deltawire_chunk_field(chunk, field, &v) == (is_usage ? OK : ABSENT));
        }
        /* The counts have other names here, which deltawire_last_usage knows. */
        CHECK(deltawire_chunk_usage(chunk, &usage) == (i == 1 ? OK : ABSENT) && usage.has == 0);
        CHECK(deltawire_chunk_member(chunk, "type", 4, &v) == (i == 4 ? ABSENT : OK));
    }
}

static int32_t aborts(void *user, const deltawire_at *at)
{
    (void)at;
    return -*(int32_t *)user;
}

/* The sentence about the end of each wrong input, whole and in buffers that are too small; and what a status says is to be done. */
static void ends(void)
{
    static const struct {
        const char *input;
        size_t len;
        const char *sentence;
    } rows[] = {
#define ENDS(INPUT, SENTENCE) {INPUT, sizeof(INPUT) - 1, SENTENCE},
#include "../ends.inc"
#undef ENDS
    };
    static const char chunk[] = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    /* A choice needs room for members that no event is made of, too. */
    static const char third[] = "data: {\"choices\":[{\"index\":3,\"delta\":{\"images\":[1]}}]}\n\n";
    static DELTAWIRE_BLOCK(block, 512);
    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    deltawire_callbacks callbacks = DELTAWIRE_CALLBACKS_INIT;
    deltawire_end end = DELTAWIRE_END_INIT;
    deltawire_parser *p;
    char text[1024];
    int32_t code = 7;
    size_t i, cap, need, fed;
    config.max_event_len = 200;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const size_t len = rows[i].len, all = strlen(rows[i].sentence);
        CHECK(deltawire_init(&block, sizeof block, &config, &p) == OK);
        for (fed = 0; fed < len; fed++) {
            CHECK_OF(rows[i].sentence, deltawire_feed(p, rows[i].input + fed, i % 2 ? 1 : len, NULL, NULL, NULL) == OK);
            if (i % 2 == 0) break;
        }
        CHECK_OF(rows[i].sentence, deltawire_finish(p, NULL, NULL) == OK && deltawire_end_of(p, &end) == OK);
        memset(text, 'x', sizeof text);
        need = deltawire_end_text(&end, text, sizeof text);
        CHECK_OF(rows[i].sentence, need == all && strcmp(text, rows[i].sentence) == 0);
        if (need != all || strcmp(text, rows[i].sentence) != 0) printf("  it says: %s\n", text);
        for (cap = 0; cap <= all; cap++) {
            memset(text, 'x', sizeof text);
            CHECK_OF(rows[i].sentence, deltawire_end_text(&end, text, cap) == all && text[cap] == 'x');
            if (cap == 0) continue;
            need = strlen(text);
            /* Cut at a character, which has at most three bytes here. */
            CHECK_OF(rows[i].sentence, need < cap && need + 3 >= cap && memcmp(text, rows[i].sentence, need) == 0);
            CHECK_OF(rows[i].sentence, ((unsigned char)rows[i].sentence[need] & 0xC0) != 0x80);
        }
    }
    CHECK(deltawire_end_text(&end, NULL, 0) == strlen(rows[i - 1].sentence) && deltawire_end_text(&end, NULL, 9) == 0);
    CHECK(deltawire_end_text(NULL, text, sizeof text) == 0);
    /* The first bytes are as they were sent. */
    CHECK(deltawire_init(&block, sizeof block, &config, &p) == OK && deltawire_feed(p, "\n<a\x1B", 4, NULL, NULL, NULL) == OK);
    CHECK(deltawire_finish(p, NULL, NULL) == OK && deltawire_end_of(p, &end) == OK);
    CHECK(end.first_len == 3 && memcmp(end.first_bytes, "<a\x1B\0", 4) == 0);
    /* More bytes need another stream. */
    CHECK(strstr(deltawire_status_text(deltawire_feed(p, "x", 1, NULL, NULL, NULL)), "deltawire_reset") != NULL);
    end.size = 7;
    CHECK(strstr(deltawire_status_text(deltawire_end_of(p, &end)), "_INIT") != NULL && deltawire_end_text(&end, text, 9) == 0);
    end.size = sizeof end;
    CHECK(strstr(deltawire_status_text(deltawire_commit(p, 1)), "deltawire_reserve") != NULL);
    memset(&block, 0, sizeof block);
    CHECK(strstr(deltawire_status_text(deltawire_reset(p)), "deltawire_init") != NULL);
    /* Too many choices, and a callback that aborts: the caller did that, so the stream was not cut. */
    config.max_choices = 1;
    CHECK(deltawire_init(&block, sizeof block, &config, &p) == OK);
    CHECK(deltawire_feed(p, chunk, sizeof chunk - 1, NULL, NULL, NULL) == OK);
    CHECK(deltawire_feed(p, third, sizeof third - 1, NULL, NULL, NULL) == OK);
    CHECK(deltawire_end_of(p, &end) == OK && end.limits == 1 << DELTAWIRE_LIMIT_CHOICES && end.first_len == 0);
    deltawire_end_text(&end, text, sizeof text);
    CHECK_OF(text, strcmp(text, "lost: parts of the stream could not be read: 1 left out (raise max_choices)") == 0);
    callbacks.on_chunk = aborts;
    CHECK(deltawire_feed(p, chunk, sizeof chunk - 1, &callbacks, &code, NULL) == DELTAWIRE_E_ABORTED);
    CHECK(strstr(deltawire_status_text(deltawire_finish(p, NULL, NULL)), "deltawire_reset") != NULL);
    CHECK(deltawire_end_of(p, &end) == OK && end.verdict == DELTAWIRE_VERDICT_ABORTED && !end.complete);
    deltawire_end_text(&end, text, sizeof text);
    CHECK_OF(text, strcmp(text, "aborted: the caller broke off: 1 left out (raise max_choices)") == 0);
}

int main(void)
{
    count_from_now();
    names();
    chunks();
    kinds_of_values();
    walks();
    texts();
    integers();
    decimals();
    errors();
    usage_bits();
    usages();
    ends();
    other_protocols();
    chunks_of_other_protocols();
    work();
    messages();
    while (kept_n) free(kept[--kept_n]);
    printf("values: %lu checks, %lu wrong\n", checks, wrong);
    return wrong != 0;
}
