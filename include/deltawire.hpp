// deltawire.hpp - deltawire.h for C++17.                                 SPDX-License-Identifier: MIT OR Apache-2.0
//
//     #include <deltawire.hpp>
//     #include <iostream>
//
//     int main() {
//         const char *reads[] = {"data: {\"choices\":[{\"delta\":{\"content\":\"Hel", "lo\"}}]}\n\ndata: [DONE]\n\n"};
//         deltawire::parser parser;
//         auto print = deltawire::callbacks().on_content([](std::string_view text) { std::cout << text; });
//         for (std::string_view read : reads)
//             if (!parser.feed(read, print).ok()) return 1;
//         if (parser.finish(print) != deltawire::status::ok) return 1;
//         std::cout << " (" << to_string(parser.end()) << ")\n";
//     }  // Hello (done)
//
// OWNERSHIP   A `parser`, an `assembler`, a `workspace` and a `writer` own their block of memory on the heap. All but a
//             workspace replace their block by a larger one when it is too small. All can be moved; `clone()` copies
//             parsers and assemblers. An object that was moved from may be destroyed or assigned to. Every
//             other call on it throws status::null or, if the function is noexcept, returns 0, nothing or status::ok.
// LIFETIMES   Views are borrowed. What a handler receives (`at`, `chunk_view`, `value`, every std::string_view) is
//             valid until its method returns. An `event` of a batch is valid until the iterator is advanced. A
//             `value`, and every view that is made from it, is valid while its bytes are. A std::string belongs to
//             the caller.
// EXCEPTIONS  Misuse throws `error`. A failed allocation throws std::bad_alloc; reset the parser then, because it is
//             unknown how much of the input it consumed. Faults in the data do not throw. An exception that leaves a
//             handler ends the stream: `feed` throws it again, and until `reset()` the parser reads nothing more,
//             `feed` and `finish` return status::aborted, and `end()` is not complete. To go on after an exception,
//             do not let it leave the handler: store it, return flow::again, handle it after `feed` returned, and
//             feed the remaining bytes. The parser then calls the method again with the same text:
//
//                 std::exception_ptr thrown;
//                 auto handler = deltawire::callbacks().on_content([&](std::string_view text) {
//                     try {
//                         use(text);
//                     } catch (...) {
//                         thrown = std::current_exception();
//                         return deltawire::flow::again;
//                     }
//                     return deltawire::flow::go_on;
//                 });
//                 for (;;) {
//                     const deltawire::result r = parser.feed(data, handler);
//                     data.remove_prefix(r.consumed);
//                     if (!r.paused()) break;
//                     if (thrown) recover(std::exchange(thrown, nullptr)); // or rethrow it, and come back here
//                 }
//                 while (parser.finish(handler) == deltawire::status::paused)
//                     if (thrown) recover(std::exchange(thrown, nullptr));
//
//             `recover` removes the cause or rethrows; otherwise the loop never ends. An exception that leaves a loop
//             over a batch leaves the batch unread, and `end()` is not complete until a loop over the same range has
//             read the other events. A batch of a parser that was aborted has no events; `last_status()` is
//             status::aborted.
//
//             Functions marked noexcept do not throw. Compiled without exceptions, misuse calls std::terminate, and
//             handlers stop with flow::abort.
// THREADS     Any thread may use an object, but only one thread at a time. This header has no global state.
// CALLBACKS   A handler must not call a function of the parser that calls it, and must not end its thread. Functions
//             that are not noexcept detect such a call and throw status::reentrant; `quirk_count` returns 0. The
//             library cannot detect that a handler destroys or moves the parser.
//
// deltawire.h explains statuses, kinds and flags. Everything here is inline, and uses only the C functions.

#ifndef DELTAWIRE_HPP
#define DELTAWIRE_HPP

#include "deltawire.h"

#if __cplusplus < 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG < 201703L)
#error "deltawire.hpp needs C++17 (-std=c++17); deltawire.h takes C++11"
#else

#include <array>
#include <cfloat>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#if defined(__cpp_exceptions) || defined(__EXCEPTIONS) || defined(_CPPUNWIND)
#define DELTAWIRE_DETAIL_EXCEPTIONS 1
#else
#define DELTAWIRE_DETAIL_EXCEPTIONS 0
#endif

namespace deltawire {

// ---------------------------------------------------------------------------------------------------------------------
// Numbers with names

/// The result of a call, as the constants from `DELTAWIRE_OK` on. 0: the call did all of its work. Above 0: the call
/// stopped early; call again. -1 to -99: misuse, which throws `error`. -100 and below: the stream failed, until
/// `reset()`.
enum class status : std::int32_t {
    ok = DELTAWIRE_OK,
    paused = DELTAWIRE_PAUSED,
    more = DELTAWIRE_MORE,
    need_storage = DELTAWIRE_NEED_STORAGE,
    need_room = DELTAWIRE_NEED_ROOM,
    absent = DELTAWIRE_ABSENT,
    null = DELTAWIRE_E_NULL,
    config = DELTAWIRE_E_CONFIG,
    small = DELTAWIRE_E_SMALL,
    align = DELTAWIRE_E_ALIGN,
    state = DELTAWIRE_E_STATE,
    reentrant = DELTAWIRE_E_REENTRANT,
    range = DELTAWIRE_E_RANGE,
    resume = DELTAWIRE_E_RESUME,
    no_place = DELTAWIRE_E_NO_PLACE,
    late = DELTAWIRE_E_LATE,
    json = DELTAWIRE_E_JSON,
    unfinished = DELTAWIRE_E_UNFINISHED,
    ended = DELTAWIRE_E_ENDED,
    aborted = DELTAWIRE_E_ABORTED,
    callback = DELTAWIRE_E_CALLBACK,
    strict = DELTAWIRE_E_STRICT,
};

/// A kind of event, as `DELTAWIRE_EV_*`. A later library may emit kinds that are not listed here.
enum class event_kind : std::uint32_t {
    none = DELTAWIRE_EV_NONE,
    sse = DELTAWIRE_EV_SSE,
    comment = DELTAWIRE_EV_COMMENT,
    keep_alive = DELTAWIRE_EV_KEEP_ALIVE,
    retry = DELTAWIRE_EV_RETRY,
    last_event_id = DELTAWIRE_EV_LAST_EVENT_ID,
    chunk = DELTAWIRE_EV_CHUNK,
    role = DELTAWIRE_EV_ROLE,
    content = DELTAWIRE_EV_CONTENT,
    reasoning = DELTAWIRE_EV_REASONING,
    refusal = DELTAWIRE_EV_REFUSAL,
    tool_call = DELTAWIRE_EV_TOOL_CALL,
    tool_name = DELTAWIRE_EV_TOOL_NAME,
    tool_arguments = DELTAWIRE_EV_TOOL_ARGUMENTS,
    function_name = DELTAWIRE_EV_FUNCTION_NAME,
    function_arguments = DELTAWIRE_EV_FUNCTION_ARGUMENTS,
    audio = DELTAWIRE_EV_AUDIO,
    logprobs = DELTAWIRE_EV_LOGPROBS,
    finish = DELTAWIRE_EV_FINISH,
    choice_error = DELTAWIRE_EV_CHOICE_ERROR,
    usage = DELTAWIRE_EV_USAGE,
    error = DELTAWIRE_EV_ERROR,
    malformed = DELTAWIRE_EV_MALFORMED,
    too_long = DELTAWIRE_EV_TOO_LONG,
    comment_too_long = DELTAWIRE_EV_COMMENT_TOO_LONG,
    limit = DELTAWIRE_EV_LIMIT,
    quirk = DELTAWIRE_EV_QUIRK,
    done = DELTAWIRE_EV_DONE,
    payload = DELTAWIRE_EV_PAYLOAD,
    meta = DELTAWIRE_EV_META,
    annotations = DELTAWIRE_EV_ANNOTATION,
    signature = DELTAWIRE_EV_SIGNATURE,
    media = DELTAWIRE_EV_MEDIA,
    native = DELTAWIRE_EV_NATIVE,
    tool_call_end = DELTAWIRE_EV_TOOL_CALL_END,
    frame = DELTAWIRE_EV_FRAME,
};

/// Why a choice finished. `other` is any other reason; the text of the event has it.
enum class finish_reason : std::uint32_t {
    other = DELTAWIRE_FINISH_OTHER,
    stop = DELTAWIRE_FINISH_STOP,
    length = DELTAWIRE_FINISH_LENGTH,
    tool_calls = DELTAWIRE_FINISH_TOOL_CALLS,
    content_filter = DELTAWIRE_FINISH_CONTENT_FILTER,
    function_call = DELTAWIRE_FINISH_FUNCTION_CALL,
    error = DELTAWIRE_FINISH_ERROR,
};

/// What a `token` is.
enum class token_kind : std::uint32_t {
    content = DELTAWIRE_TOKEN_CONTENT,
    reasoning = DELTAWIRE_TOKEN_REASONING,
    refusal = DELTAWIRE_TOKEN_REFUSAL,
    /// A tool call, or the `function_call` of a choice: it opens, or has more of its name or arguments.
    call = DELTAWIRE_TOKEN_CALL,
};

/// Why deltas were left out.
enum class limit : std::uint32_t {
    choices = DELTAWIRE_LIMIT_CHOICES,
    tool_calls = DELTAWIRE_LIMIT_TOOL_CALLS,
    index = DELTAWIRE_LIMIT_INDEX,
    /// Assembler: the message would be longer than 4 GiB, or have more than 256 members of providers.
    length = DELTAWIRE_LIMIT_LENGTH,
};

/// What is wrong with a malformed payload.
enum class fault : std::uint32_t {
    unexpected_end = DELTAWIRE_FAULT_UNEXPECTED_END,
    unexpected_byte = DELTAWIRE_FAULT_UNEXPECTED_BYTE,
    trailing_bytes = DELTAWIRE_FAULT_TRAILING_BYTES,
    too_deep = DELTAWIRE_FAULT_TOO_DEEP,
    bad_number = DELTAWIRE_FAULT_BAD_NUMBER,
    bad_literal = DELTAWIRE_FAULT_BAD_LITERAL,
    bad_escape = DELTAWIRE_FAULT_BAD_ESCAPE,
    raw_control = DELTAWIRE_FAULT_RAW_CONTROL,
    ill_formed_utf8 = DELTAWIRE_FAULT_ILL_FORMED_UTF8,
};

/// How a stream ended.
enum class verdict : std::uint32_t {
    empty = DELTAWIRE_VERDICT_EMPTY,
    not_a_stream = DELTAWIRE_VERDICT_NOT_A_STREAM,
    api_error = DELTAWIRE_VERDICT_API_ERROR,
    done = DELTAWIRE_VERDICT_DONE,
    finished = DELTAWIRE_VERDICT_FINISHED,
    body = DELTAWIRE_VERDICT_BODY,
    json_answer = DELTAWIRE_VERDICT_JSON_ANSWER,
    other_protocol = DELTAWIRE_VERDICT_OTHER_PROTOCOL,
    lost = DELTAWIRE_VERDICT_LOST,
    truncated = DELTAWIRE_VERDICT_TRUNCATED,
    aborted = DELTAWIRE_VERDICT_ABORTED,
};

/// What the end of a stream cut.
enum class pending : std::uint32_t {
    nothing = DELTAWIRE_PENDING_NOTHING,
    event = DELTAWIRE_PENDING_EVENT,
    json = DELTAWIRE_PENDING_JSON,
    line = DELTAWIRE_PENDING_LINE,
};

/// What a response is that is neither an event stream nor JSON.
enum class media : std::uint32_t {
    none = DELTAWIRE_MEDIA_NONE,
    gzip = DELTAWIRE_MEDIA_GZIP,
    zstd = DELTAWIRE_MEDIA_ZSTD,
    binary = DELTAWIRE_MEDIA_BINARY,
    html = DELTAWIRE_MEDIA_HTML,
    text = DELTAWIRE_MEDIA_TEXT,
};

/// A protocol of events.
enum class protocol : std::uint32_t {
    none = DELTAWIRE_PROTOCOL_NONE,
    other = DELTAWIRE_PROTOCOL_OTHER,
    responses = DELTAWIRE_PROTOCOL_RESPONSES,
    anthropic = DELTAWIRE_PROTOCOL_ANTHROPIC,
    gemini = DELTAWIRE_PROTOCOL_GEMINI,
    interactions = DELTAWIRE_PROTOCOL_INTERACTIONS,
    ollama = DELTAWIRE_PROTOCOL_OLLAMA,
    cohere = DELTAWIRE_PROTOCOL_COHERE,
    chat = DELTAWIRE_PROTOCOL_CHAT,
};

/// The type of a value, by its first byte.
enum class value_type : std::uint32_t {
    none = DELTAWIRE_T_NONE,
    null = DELTAWIRE_T_NULL,
    false_ = DELTAWIRE_T_FALSE,
    true_ = DELTAWIRE_T_TRUE,
    number = DELTAWIRE_T_NUMBER,
    string = DELTAWIRE_T_STRING,
    array = DELTAWIRE_T_ARRAY,
    object = DELTAWIRE_T_OBJECT,
    text = DELTAWIRE_T_TEXT,
};

/// A known member of a chunk; see `DELTAWIRE_F_*`.
enum class chunk_field : std::uint32_t {
    id = DELTAWIRE_F_ID,
    object = DELTAWIRE_F_OBJECT,
    created = DELTAWIRE_F_CREATED,
    model = DELTAWIRE_F_MODEL,
    system_fingerprint = DELTAWIRE_F_SYSTEM_FINGERPRINT,
    service_tier = DELTAWIRE_F_SERVICE_TIER,
    provider = DELTAWIRE_F_PROVIDER,
    choices = DELTAWIRE_F_CHOICES,
    usage = DELTAWIRE_F_USAGE,
    error = DELTAWIRE_F_ERROR,
};

/// A text of an assembled message; see `DELTAWIRE_M_*`.
enum class message_field : std::uint32_t {
    id = DELTAWIRE_M_ID,
    object = DELTAWIRE_M_OBJECT,
    model = DELTAWIRE_M_MODEL,
    system_fingerprint = DELTAWIRE_M_SYSTEM_FINGERPRINT,
    service_tier = DELTAWIRE_M_SERVICE_TIER,
    provider = DELTAWIRE_M_PROVIDER,
    usage = DELTAWIRE_M_USAGE,
    error = DELTAWIRE_M_ERROR,
    error_message = DELTAWIRE_M_ERROR_MESSAGE,
    error_code = DELTAWIRE_M_ERROR_CODE,
    error_type = DELTAWIRE_M_ERROR_TYPE,
    role = DELTAWIRE_M_ROLE,
    content = DELTAWIRE_M_CONTENT,
    refusal = DELTAWIRE_M_REFUSAL,
    reasoning = DELTAWIRE_M_REASONING,
    finish = DELTAWIRE_M_FINISH,
    native_finish = DELTAWIRE_M_NATIVE_FINISH,
    choice_error = DELTAWIRE_M_CHOICE_ERROR,
    choice_error_message = DELTAWIRE_M_CHOICE_ERROR_MESSAGE,
    choice_error_code = DELTAWIRE_M_CHOICE_ERROR_CODE,
    choice_error_type = DELTAWIRE_M_CHOICE_ERROR_TYPE,
    function_name = DELTAWIRE_M_FUNCTION_NAME,
    function_arguments = DELTAWIRE_M_FUNCTION_ARGUMENTS,
    audio_id = DELTAWIRE_M_AUDIO_ID,
    audio_data = DELTAWIRE_M_AUDIO_DATA,
    audio_transcript = DELTAWIRE_M_AUDIO_TRANSCRIPT,
    call_id = DELTAWIRE_M_CALL_ID,
    call_type = DELTAWIRE_M_CALL_TYPE,
    call_name = DELTAWIRE_M_CALL_NAME,
    call_arguments = DELTAWIRE_M_CALL_ARGUMENTS,
    reasoning_details = DELTAWIRE_M_REASONING_DETAILS,
    reasoning_name = DELTAWIRE_M_REASONING_NAME,
    native_usage = DELTAWIRE_M_NATIVE_USAGE,
    signatures = DELTAWIRE_M_SIGNATURES,
    native_content = DELTAWIRE_M_NATIVE_CONTENT,
};

/// What kind of stream the parser reads.
enum class mode : std::uint32_t {
    /// A response in chat completion chunks or in another protocol that `config::protocol` can name.
    chat = DELTAWIRE_MODE_CHAT,
    /// Any event stream. The parser delivers payloads unread.
    sse = DELTAWIRE_MODE_SSE,
    /// As chat, for programs that meter a stream: `parser::meter()` returns what the parser keeps of it.
    usage = DELTAWIRE_MODE_USAGE,
};

/// What a method of a handler may return. A method that returns nothing goes on.
enum class flow : std::int32_t {
    go_on = DELTAWIRE_GO_ON,
    /// Stop after this event: the parser still calls the other methods for it. `feed` returns status::paused.
    pause = DELTAWIRE_PAUSE,
    /// Stop at once: `feed` returns status::paused, and the next call repeats this method and goes on from there.
    again = DELTAWIRE_AGAIN,
    /// Abort: `feed` returns status::aborted. An exception has the same effect, and `feed` also throws it again.
    abort = -1,
};

namespace detail {

inline std::string_view view(const char *name) noexcept {
    return name == nullptr ? std::string_view("?") : std::string_view(name);
}

inline std::string_view view(const deltawire_str &bytes) noexcept {
    return bytes.ptr == nullptr ? std::string_view() : std::string_view(bytes.ptr, bytes.len);
}

}  // namespace detail

/// A status in words.
inline std::string_view describe(status s) noexcept {
    return detail::view(deltawire_status_text(static_cast<std::int32_t>(s)));
}

/// The name of a number: `OK`, `CONTENT`, `Done`, `tool_calls`, and so on. Of a limit it is the name of the error in
/// Rust: `TooManyCalls` for `limit::tool_calls`.
#define DELTAWIRE_DETAIL_NAMED(TYPE, NAME)                                                      \
    inline std::string_view to_string(TYPE number) noexcept {                                   \
        return detail::view(NAME(static_cast<std::underlying_type_t<TYPE>>(number)));           \
    }
DELTAWIRE_DETAIL_NAMED(status, deltawire_status_name)
DELTAWIRE_DETAIL_NAMED(event_kind, deltawire_event_name)
DELTAWIRE_DETAIL_NAMED(verdict, deltawire_verdict_name)
DELTAWIRE_DETAIL_NAMED(pending, deltawire_pending_name)
DELTAWIRE_DETAIL_NAMED(media, deltawire_media_name)
DELTAWIRE_DETAIL_NAMED(protocol, deltawire_protocol_name)
DELTAWIRE_DETAIL_NAMED(finish_reason, deltawire_finish_name)
DELTAWIRE_DETAIL_NAMED(limit, deltawire_limit_name)
DELTAWIRE_DETAIL_NAMED(fault, deltawire_fault_name)
#undef DELTAWIRE_DETAIL_NAMED

/// Thrown for misuse of the library, and when an object reaches the limit that the caller set for its memory.
class error : public std::exception {
public:
    explicit error(status code) noexcept : code_(code) {}
    /// The status.
    status code() const noexcept { return code_; }
    /// The status in words.
    const char *what() const noexcept override {
        const char *text = deltawire_status_text(static_cast<std::int32_t>(code_));
        return text == nullptr ? "deltawire" : text;
    }

private:
    status code_;
};

namespace detail {

[[noreturn]] inline void fail(status s) {
#if DELTAWIRE_DETAIL_EXCEPTIONS
    throw error(s);
#else
    (void)s;
    std::terminate();
#endif
}

/// Throws if the status is one of misuse.
inline status checked(deltawire_status s) {
    if (s < 0 && s > DELTAWIRE_E_ABORTED) fail(static_cast<status>(s));
    return static_cast<status>(s);
}

/// A text that `get` writes to a buffer, with its length. Tries a small buffer first, and calls `get` again if the text
/// is longer.
template <class Get>
std::optional<std::string> text_of(Get get) {
    std::array<char, 128> small;
    std::size_t need = 0;
    deltawire_status s = get(small.data(), small.size(), &need);
    if (s == DELTAWIRE_OK) return std::string(small.data(), need);
    if (s == DELTAWIRE_ABSENT) return std::nullopt;
    if (s != DELTAWIRE_E_SMALL) fail(static_cast<status>(s));
    std::string text(need, '\0');
    s = get(text.data(), text.size(), &need);
    if (s != DELTAWIRE_OK) fail(static_cast<status>(s));
    return text;
}

/// A block for the C library. It consists of 64-bit words, which have the alignment of a block.
using block = std::unique_ptr<std::uint64_t[]>;
static_assert(alignof(std::uint64_t) == DELTAWIRE_ALIGN || alignof(std::max_align_t) >= DELTAWIRE_ALIGN,
              "new gives memory that is aligned");

inline std::size_t block_len(std::size_t bytes) noexcept { return bytes / 8 * 8 + (bytes % 8 == 0 ? 0 : 8); }
inline block make_block(std::size_t bytes) { return block(new std::uint64_t[block_len(bytes) / 8]); }

}  // namespace detail

// ---------------------------------------------------------------------------------------------------------------------
// Quirks

/// A deviation from the protocol that the parser understands, by its number.
class quirk {
public:
    constexpr explicit quirk(std::uint32_t number) noexcept : number_(number) {}
    constexpr std::uint32_t number() const noexcept { return number_; }
    /// Whether this version of the library knows the quirk.
    bool known() const noexcept { return deltawire_quirk_code(number_) != nullptr; }
    /// Its code in docs/quirks.md, such as `F6`; `?` if the number is unknown.
    std::string_view code() const noexcept { return detail::view(deltawire_quirk_code(number_)); }
    /// Its name, such as `ContinuedPayload`; `?` if the number is unknown.
    std::string_view name() const noexcept { return detail::view(deltawire_quirk_name(number_)); }
    /// Its description; `?` if the number is unknown.
    std::string_view text() const noexcept { return detail::view(deltawire_quirk_text(number_)); }

    friend constexpr bool operator==(quirk a, quirk b) noexcept { return a.number_ == b.number_; }
    friend constexpr bool operator!=(quirk a, quirk b) noexcept { return a.number_ != b.number_; }

private:
    std::uint32_t number_;
};

/// A set of quirks.
class quirk_set {
public:
    constexpr quirk_set() noexcept = default;
    /// All quirks, including those of later versions. As `config::errors` it leaves out DELTAWIRE_QUIRK_REPEATED_TEXT,
    /// which must be named: a model may repeat itself.
    static constexpr quirk_set all() noexcept {
        quirk_set set;
        set.low_ = ~std::uint64_t{0};
        set.high_ = ~std::uint64_t{0};
        return set;
    }
    /// A set with this quirk added. A number of `DELTAWIRE_QUIRKS` or more adds nothing.
    constexpr quirk_set with(quirk q) const noexcept { return changed(q, true); }
    /// A set without this quirk.
    constexpr quirk_set without(quirk q) const noexcept { return changed(q, false); }
    constexpr bool has(quirk q) const noexcept {
        return q.number() < DELTAWIRE_QUIRKS && ((q.number() < 64 ? low_ : high_) >> q.number() % 64 & 1) != 0;
    }
    /// The set as bits: quirks 0 to 63, and 64 to 127.
    constexpr std::uint64_t low() const noexcept { return low_; }
    constexpr std::uint64_t high() const noexcept { return high_; }

private:
    constexpr quirk_set changed(quirk q, bool on) const noexcept {
        quirk_set set = *this;
        if (q.number() < DELTAWIRE_QUIRKS) {
            std::uint64_t &word = q.number() < 64 ? set.low_ : set.high_;
            const std::uint64_t bit = std::uint64_t{1} << q.number() % 64;
            word = on ? word | bit : word & ~bit;
        }
        return set;
    }
    std::uint64_t low_ = 0;
    std::uint64_t high_ = 0;
};

// ---------------------------------------------------------------------------------------------------------------------
// Values

/// A JSON value that is not decoded yet; it may be absent. Pass it by value: it is three words long. It is valid while
/// its bytes are. Its methods read only what they return, so they may not find a fault elsewhere in the value.
class value {
public:
    class element_range;
    class member_range;

    /// An absent value.
    constexpr value() noexcept : raw_{nullptr, 0, DELTAWIRE_T_NONE, 0} {}
    constexpr explicit value(const deltawire_value &raw) noexcept : raw_(raw) {}
    /// The value in these bytes; absent if they are not JSON.
    static value open(std::string_view json) noexcept {
        value v;
        if (deltawire_value_open(json.data(), json.size(), &v.raw_) != DELTAWIRE_OK) return value();
        return v;
    }
    /// The name and the value of a member, `"name":value`, which is the text of an `on_meta` with
    /// `DELTAWIRE_META_*MEMBER`. Both are absent if `member` is something else.
    static std::pair<value, value> open_member(std::string_view member) noexcept {
        value key, v;
        if (deltawire_value_open_member(member.data(), member.size(), &key.raw_, &v.raw_) != DELTAWIRE_OK) return {};
        return {key, v};
    }
    /// These bytes as plain text; `as_string` decodes them to valid UTF-8.
    static value plain(std::string_view bytes) noexcept {
        value v;
        if (deltawire_value_plain(bytes.data(), bytes.size(), &v.raw_) != DELTAWIRE_OK) return value();
        return v;
    }

    value_type type() const noexcept { return static_cast<value_type>(raw_.type); }
    /// Whether there is one.
    explicit operator bool() const noexcept { return raw_.type != DELTAWIRE_T_NONE; }
    bool is_null() const noexcept { return raw_.type == DELTAWIRE_T_NULL; }
    bool is_string() const noexcept { return raw_.type == DELTAWIRE_T_STRING; }
    bool is_number() const noexcept { return raw_.type == DELTAWIRE_T_NUMBER; }
    bool is_array() const noexcept { return raw_.type == DELTAWIRE_T_ARRAY; }
    bool is_object() const noexcept { return raw_.type == DELTAWIRE_T_OBJECT; }
    /// Whether it is plain text instead of JSON, as some servers report errors.
    bool is_text() const noexcept { return raw_.type == DELTAWIRE_T_TEXT; }
    /// Its bytes as they were sent; a string includes its quotes and escapes.
    std::string_view raw() const noexcept { return detail::view(deltawire_str{raw_.ptr, raw_.len}); }

    /// The last member of an object with this name; absent if there is none, or if this is not an object. Reads the
    /// object once.
    value operator[](std::string_view name) const noexcept {
        value v;
        if (deltawire_value_member(&raw_, name.data(), name.size(), &v.raw_) != DELTAWIRE_OK) return value();
        return v;
    }
    /// `for (value item : v.elements())`: the elements of an array, or the values of an object; empty for other
    /// types.
    element_range elements() const noexcept;
    /// `for (auto [key, item] : v.members())`: the members of an object; empty for other types.
    member_range members() const noexcept;

    /// The decoded text of a string or of plain text; a number, `true` or `false` as it is written; empty for other
    /// types.
    std::optional<std::string> as_string() const {
        return detail::text_of([this](char *buf, std::size_t cap, std::size_t *need) {
            return deltawire_value_text(&raw_, buf, cap, need);
        });
    }
    /// The text of a string without a copy, if it needs no decoding; otherwise use `as_string`.
    std::optional<std::string_view> view() const noexcept {
        deltawire_str text = {nullptr, 0};
        if (deltawire_value_str(&raw_, &text) != DELTAWIRE_OK) return std::nullopt;
        return detail::view(text);
    }
    /// Whether it is a string or plain text that decodes to `text`.
    bool equals(std::string_view text) const noexcept {
        return deltawire_value_equals(&raw_, text.data(), text.size()) == DELTAWIRE_OK;
    }
    std::optional<bool> as_bool() const noexcept {
        if (raw_.type == DELTAWIRE_T_TRUE) return true;
        if (raw_.type == DELTAWIRE_T_FALSE) return false;
        return std::nullopt;
    }
    /// A number as an unsigned integer, in whatever notation (`10.0`, `1e3`).
    std::optional<std::uint64_t> as_u64() const noexcept {
        std::uint64_t n = 0;
        if (deltawire_value_u64(&raw_, &n) != DELTAWIRE_OK) return std::nullopt;
        return n;
    }
    /// A number as a signed integer.
    std::optional<std::int64_t> as_i64() const noexcept {
        std::int64_t n = 0;
        if (deltawire_value_i64(&raw_, &n) != DELTAWIRE_OK) return std::nullopt;
        return n;
    }
    /// A number as digits and a power of ten.
    std::optional<deltawire_decimal> as_decimal() const noexcept {
        deltawire_decimal d = {};
        if (deltawire_value_decimal(&raw_, &d) != DELTAWIRE_OK) return std::nullopt;
        return d;
    }
    /// The double nearest to a number, independent of the locale; an infinity if the number is too large.
    std::optional<double> as_double() const {
        const std::optional<deltawire_decimal> d = as_decimal();
        if (!d) return std::nullopt;
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 0
        // Both factors are exact doubles, so the one operation rounds correctly.
        constexpr double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
        if (d->exact == 1 && d->digits <= std::uint64_t{1} << 53 && d->exp10 >= -22 && d->exp10 <= 22) {
            const double digits = static_cast<double>(d->digits);
            const double abs = d->exp10 < 0 ? digits / tens[-d->exp10] : digits * tens[d->exp10];
            return d->negative == 1 ? -abs : abs;
        }
#endif
#if defined(__cpp_lib_to_chars) && __cpp_lib_to_chars >= 201611L && !defined(DELTAWIRE_NO_FROM_CHARS)
        double read = 0;
        const std::string_view text = raw();
        const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), read);
        if (fault == std::errc() && end == text.data() + text.size()) return read;
#endif
        return slow_double();
    }

    /// The value of the C interface.
    const deltawire_value &native() const noexcept { return raw_; }

private:
    /// Uses strtod, on digits and an exponent without a decimal point, because that character depends on the locale.
    double slow_double() const {
        std::string digits;
        long long exp = 0;
        long long written = 0;
        bool point = false;
        const std::string_view text = raw();
        std::size_t i = 0;
        for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; i++) {
            if (text[i] == '.') {
                point = true;
            } else {
                digits += text[i];
                exp -= point ? 1 : 0;
            }
        }
        if (i < text.size()) {
            i++;
            const bool negative = i < text.size() && text[i] == '-';
            if (i < text.size() && (text[i] == '-' || text[i] == '+')) i++;
            for (; i < text.size() && written < 1000000000000000; i++) written = written * 10 + (text[i] - '0');
            exp += negative ? -written : written;
        }
        digits += 'e';
        digits += std::to_string(exp);
        return std::strtod(digits.c_str(), nullptr);
    }

    deltawire_value raw_;
};

/// A member of an object.
struct member {
    /// Its name, a string.
    deltawire::value key;
    deltawire::value value;
};

namespace detail {

struct sentinel {};

template <class Item>
class value_iterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Item;
    using difference_type = std::ptrdiff_t;
    using pointer = const Item *;
    using reference = const Item &;

    value_iterator() noexcept = default;
    explicit value_iterator(const value &container) noexcept : container_(container), more_(true) { advance(); }
    reference operator*() const noexcept { return item_; }
    pointer operator->() const noexcept { return &item_; }
    value_iterator &operator++() noexcept {
        advance();
        return *this;
    }
    void operator++(int) noexcept { advance(); }
    friend bool operator==(const value_iterator &it, sentinel) noexcept { return !it.more_; }
    friend bool operator!=(const value_iterator &it, sentinel) noexcept { return it.more_; }
#if !defined(__cpp_impl_three_way_comparison)
    friend bool operator==(sentinel, const value_iterator &it) noexcept { return !it.more_; }
    friend bool operator!=(sentinel, const value_iterator &it) noexcept { return it.more_; }
#endif

private:
    void advance() noexcept {
        deltawire_value key = {nullptr, 0, DELTAWIRE_T_NONE, 0};
        deltawire_value item = {nullptr, 0, DELTAWIRE_T_NONE, 0};
        more_ = more_ && deltawire_value_next(&container_.native(), &cursor_, &key, &item) == DELTAWIRE_OK;
        if constexpr (std::is_same_v<Item, member>) {
            item_ = member{value(key), value(item)};
        } else {
            item_ = value(item);
        }
    }

    value container_;
    std::size_t cursor_ = 0;
    Item item_;
    bool more_ = false;
};

}  // namespace detail

class value::element_range {
public:
    using iterator = detail::value_iterator<value>;
    explicit element_range(const value &container) noexcept : container_(container) {}
    iterator begin() const noexcept { return iterator(container_); }
    detail::sentinel end() const noexcept { return {}; }

private:
    value container_;
};

class value::member_range {
public:
    using iterator = detail::value_iterator<member>;
    explicit member_range(const value &container) noexcept : container_(container.is_object() ? container : value()) {}
    iterator begin() const noexcept { return iterator(container_); }
    detail::sentinel end() const noexcept { return {}; }

private:
    value container_;
};

inline value::element_range value::elements() const noexcept { return element_range(*this); }
inline value::member_range value::members() const noexcept { return member_range(*this); }

/// An error that the API reported, whatever its shape.
class error_info {
public:
    explicit error_info(const value &raw) noexcept : raw_(raw) {}
    /// Its message, for people to read.
    std::optional<std::string> message() const { return text(DELTAWIRE_ERROR_MESSAGE); }
    /// A string, or a number as it is written.
    std::optional<std::string> code() const { return text(DELTAWIRE_ERROR_CODE); }
    std::optional<std::string> type() const { return text(DELTAWIRE_ERROR_TYPE); }
    std::optional<std::string> param() const { return text(DELTAWIRE_ERROR_PARAM); }
    /// Any JSON; may be absent.
    value metadata() const noexcept { return field(DELTAWIRE_ERROR_METADATA); }
    /// The whole error: JSON, or plain text.
    const value &raw() const noexcept { return raw_; }

private:
    value field(std::uint32_t which) const noexcept {
        deltawire_value v = {nullptr, 0, DELTAWIRE_T_NONE, 0};
        if (deltawire_error_field(&raw_.native(), which, &v) != DELTAWIRE_OK) return value();
        return value(v);
    }
    std::optional<std::string> text(std::uint32_t which) const {
        const value v = field(which);
        if (!v) return std::nullopt;
        return v.as_string();
    }

    value raw_;
};

/// Token counts; a count that was not sent is empty.
struct token_usage {
    /// The counts of a `usage` object, with the member names of any protocol that the library reads; empty if the value
    /// is not an object, or an empty one.
    static std::optional<token_usage> of(const value &v) noexcept {
        deltawire_usage raw = DELTAWIRE_USAGE_INIT;
        if (deltawire_value_usage(&v.native(), &raw) != DELTAWIRE_OK) return std::nullopt;
        return token_usage(raw);
    }

    std::optional<std::uint64_t> prompt;
    std::optional<std::uint64_t> completion;
    std::optional<std::uint64_t> total;
    std::optional<std::uint64_t> reasoning;
    std::optional<std::uint64_t> cached;
    std::optional<std::uint64_t> prompt_audio;
    std::optional<std::uint64_t> completion_audio;
    std::optional<std::uint64_t> accepted_prediction;
    std::optional<std::uint64_t> rejected_prediction;
    std::optional<std::uint64_t> cache_write;

    token_usage() = default;
    explicit token_usage(const deltawire_usage &raw) noexcept {
        const auto take = [&raw](std::uint32_t bit, std::uint64_t count) {
            return (raw.has & bit) != 0 ? std::optional<std::uint64_t>(count) : std::nullopt;
        };
        prompt = take(DELTAWIRE_HAS_PROMPT, raw.prompt);
        completion = take(DELTAWIRE_HAS_COMPLETION, raw.completion);
        total = take(DELTAWIRE_HAS_TOTAL, raw.total);
        reasoning = take(DELTAWIRE_HAS_REASONING, raw.reasoning);
        cached = take(DELTAWIRE_HAS_CACHED, raw.cached);
        prompt_audio = take(DELTAWIRE_HAS_PROMPT_AUDIO, raw.prompt_audio);
        completion_audio = take(DELTAWIRE_HAS_COMPLETION_AUDIO, raw.completion_audio);
        accepted_prediction = take(DELTAWIRE_HAS_ACCEPTED_PREDICTION, raw.accepted_prediction);
        rejected_prediction = take(DELTAWIRE_HAS_REJECTED_PREDICTION, raw.rejected_prediction);
        cache_write = take(DELTAWIRE_HAS_CACHE_WRITE, raw.cache_write);
    }
};

// ---------------------------------------------------------------------------------------------------------------------
// Chunks

/// A chunk: one event's payload and an index of its members. A `chunk_view` is a pointer, which may be null. It is
/// valid until the handler's method returns, or while the `opened_chunk` that it refers to exists.
class chunk_view {
public:
    constexpr explicit chunk_view(const deltawire_chunk *raw) noexcept : raw_(raw) {}
    /// Whether there is one.
    explicit operator bool() const noexcept { return raw_ != nullptr; }
    /// A known member; absent if it is `null`, `""` or an empty object.
    value field(chunk_field which) const noexcept {
        deltawire_value v = {nullptr, 0, DELTAWIRE_T_NONE, 0};
        if (deltawire_chunk_field(raw_, static_cast<std::uint32_t>(which), &v) != DELTAWIRE_OK) return value();
        return value(v);
    }
    /// Any member of the top level, by name. If several have the name, the last counts.
    value operator[](std::string_view name) const noexcept {
        deltawire_value v = {nullptr, 0, DELTAWIRE_T_NONE, 0};
        if (deltawire_chunk_member(raw_, name.data(), name.size(), &v) != DELTAWIRE_OK) return value();
        return value(v);
    }
    value id() const noexcept { return field(chunk_field::id); }
    value model() const noexcept { return field(chunk_field::model); }
    /// Seconds since 1970. A number in a string counts.
    std::optional<std::uint64_t> created() const noexcept {
        const value v = field(chunk_field::created);
        const std::optional<std::string_view> text = v.view();
        return (text ? value::open(*text) : v).as_u64();
    }
    /// The token counts of the chunk.
    std::optional<token_usage> usage() const noexcept {
        deltawire_usage u = DELTAWIRE_USAGE_INIT;
        if (deltawire_chunk_usage(raw_, &u) != DELTAWIRE_OK) return std::nullopt;
        return token_usage(u);
    }
    /// The error that the chunk reports.
    std::optional<error_info> api_error() const noexcept {
        const value v = field(chunk_field::error);
        if (!v) return std::nullopt;
        return error_info(v);
    }
    /// The data lines of the event, joined by LF.
    std::string_view payload() const noexcept {
        deltawire_str text = {nullptr, 0};
        if (deltawire_chunk_payload(raw_, &text) != DELTAWIRE_OK) return {};
        return detail::view(text);
    }
    /// The bytes before and after a value of the chunk in `event`, the event's bytes on the wire: to replace the value,
    /// send the first, the new value (JSON in one line) and the second. `v` must point into the payload. Empty if the
    /// event can be sent only as it is; `deltawire_chunk_place` says when.
    std::optional<std::pair<std::string_view, std::string_view>> around(const value &v,
                                                                        std::string_view event) const noexcept {
        std::size_t start = 0, end = 0;
        const deltawire_status s = deltawire_chunk_place(raw_, event.data(), event.size(), &v.native(), &start, &end);
        if (s != DELTAWIRE_OK) return std::nullopt;
        return std::make_pair(event.substr(0, start), event.substr(end));
    }
    const deltawire_chunk *native() const noexcept { return raw_; }

private:
    const deltawire_chunk *raw_;
};

/// A chunk made of a payload without a parser. It cannot be copied or moved, and the payload must outlive it.
class opened_chunk {
public:
    explicit opened_chunk(std::string_view payload) noexcept {
        if (deltawire_chunk_open(payload.data(), payload.size(), &memory_, &raw_) != DELTAWIRE_OK) raw_ = nullptr;
    }
    opened_chunk(const opened_chunk &) = delete;
    opened_chunk &operator=(const opened_chunk &) = delete;
    /// Null if the payload is not a JSON object.
    chunk_view view() const noexcept { return chunk_view(raw_); }

private:
    deltawire_chunk_storage memory_;
    const deltawire_chunk *raw_ = nullptr;
};

// ---------------------------------------------------------------------------------------------------------------------
// Events

namespace detail {

/// The members that `at` and `event` share.
template <class Self>
class facts {
public:
    event_kind kind() const noexcept { return static_cast<event_kind>(raw().kind); }
    /// The index of the choice; 0 if the event belongs to no choice.
    std::uint32_t choice() const noexcept { return raw().choice; }
    /// The number of the tool call among those of its choice, in order of appearance.
    std::uint32_t call() const noexcept { return raw().call; }
    /// See `DELTAWIRE_EV_*`.
    std::uint32_t code() const noexcept { return raw().code; }
    /// See `DELTAWIRE_EV_*`.
    std::uint64_t number() const noexcept { return raw().number; }
    /// Where the event lies in the stream: the offset of its first byte, and the offset one past its last byte.
    std::uint64_t start() const noexcept { return raw().start; }
    std::uint64_t end() const noexcept { return raw().end; }

    /// Another piece of this text follows.
    bool more() const noexcept { return has(DELTAWIRE_EVF_MORE); }
    /// The tool call opens.
    bool opens() const noexcept { return has(DELTAWIRE_EVF_OPENS); }
    /// The tool call opens under the index of an earlier call.
    bool reuses() const noexcept { return has(DELTAWIRE_EVF_REUSES); }
    /// The tool call calls a custom tool.
    bool custom() const noexcept { return has(DELTAWIRE_EVF_CUSTOM); }
    /// The text replaces the name so far; otherwise it is appended.
    bool replaces() const noexcept { return has(DELTAWIRE_EVF_REPLACES); }
    /// The error is plain text instead of JSON.
    bool plain() const noexcept { return has(DELTAWIRE_EVF_PLAIN); }
    /// `number()` is set, even if it is 0.
    bool has_number() const noexcept { return has(DELTAWIRE_EVF_NUMBER); }
    /// The event is of another protocol than chat completions. With event_kind::finish: the text is that protocol's own
    /// word. With event_kind::usage: the members have its own names, and `code()` is the protocol.
    bool is_native() const noexcept { return has(DELTAWIRE_EVF_NATIVE); }
    /// Only for event_kind::finish: the provider refused the prompt, and the text is the reason.
    bool is_prompt() const noexcept { return has(DELTAWIRE_EVF_PROMPT); }

    /// Only for event_kind::finish.
    finish_reason finish() const noexcept { return static_cast<finish_reason>(raw().code); }
    /// Only for event_kind::malformed.
    deltawire::fault fault() const noexcept { return static_cast<deltawire::fault>(raw().code); }
    /// Only for event_kind::limit.
    deltawire::limit limit() const noexcept { return static_cast<deltawire::limit>(raw().code); }
    /// Only for event_kind::quirk.
    deltawire::quirk quirk() const noexcept { return deltawire::quirk(raw().code); }

private:
    const auto &raw() const noexcept { return static_cast<const Self *>(this)->native(); }
    bool has(int flag) const noexcept {
        return (static_cast<unsigned>(raw().flags) & static_cast<unsigned>(flag)) != 0;
    }
};

}  // namespace detail

/// The event that a handler's method is called for, and its place in the stream. Valid until the method returns.
class at : public detail::facts<at> {
public:
    explicit at(const deltawire_at *raw) noexcept : raw_(raw) {}
    /// The chunk that contains the delta; null outside of a chunk.
    chunk_view chunk() const noexcept { return chunk_view(raw_->chunk); }
    /// The `event` field of the event: any bytes.
    std::string_view event_name() const noexcept { return detail::view(raw_->event_name); }
    const deltawire_at &native() const noexcept { return *raw_; }

private:
    const deltawire_at *raw_;
};

/// An event of any event stream. All members are bytes as sent.
struct sse_event {
    /// `message` if it has no name.
    std::string_view type;
    /// Its data lines, joined by LF.
    std::string_view data;
    /// The last event ID.
    std::string_view id;
};

/// A tool call that opens (`at::opens`), or whose ID or type arrives later. A member is absent unless this event is the
/// first to contain it.
struct tool_call {
    value id;
    value type;
};

/// An event of a batch. Valid until its iterator is advanced.
class event : public detail::facts<event> {
public:
    event() noexcept = default;
    event(const deltawire_event *raw, const char *data, const char *scratch) noexcept
        : raw_(raw), data_(data), scratch_(scratch) {}
    /// The text; see `DELTAWIRE_EV_*`. If `more()` is true, the next event has the next piece of the same text. IDs,
    /// names, types, roles and finish reasons are never split.
    std::string_view text() const noexcept { return view(raw_->text_off, raw_->text_len, DELTAWIRE_EVF_TEXT_SCRATCH); }
    /// The second text.
    std::string_view aux() const noexcept { return view(raw_->aux_off, raw_->aux_len, DELTAWIRE_EVF_AUX_SCRATCH); }
    /// The third text.
    std::string_view extra() const noexcept {
        return view(raw_->extra_off, raw_->extra_len, DELTAWIRE_EVF_EXTRA_SCRATCH);
    }
    /// The text as a value (audio, log probabilities, usage, errors); absent if it is only a piece.
    value json() const noexcept { return json_of(text(), more()); }
    /// As `json()`, for a text that was joined from pieces.
    value json_of(std::string_view whole, bool cut = false) const noexcept {
        if (cut) return value();
        return plain() ? value::plain(whole) : value::open(whole);
    }
    /// Only for event_kind::usage: the token counts of this event; empty if the text is only a piece.
    /// `parser::last_usage` has the counts of the stream.
    std::optional<token_usage> usage() const noexcept { return token_usage::of(json()); }
    /// Only for event_kind::error and event_kind::choice_error.
    error_info api_error() const noexcept { return error_info(json()); }
    /// Only for event_kind::sse.
    sse_event sse() const noexcept { return sse_event{aux(), text(), extra()}; }

    const deltawire_event &native() const noexcept { return *raw_; }
    /// Where the offsets of `native()` count from: the data or, with the flag of the text, the scratch.
    const char *data() const noexcept { return data_; }
    const char *scratch() const noexcept { return scratch_; }

private:
    std::string_view view(std::uint32_t off, std::uint32_t len, int flag) const noexcept {
        if (len == 0) return {};
        const bool in_scratch = (static_cast<unsigned>(raw_->flags) & static_cast<unsigned>(flag)) != 0;
        return std::string_view((in_scratch ? scratch_ : data_) + off, len);
    }

    const deltawire_event *raw_ = nullptr;
    const char *data_ = nullptr;
    const char *scratch_ = nullptr;
};

/// Joins the pieces of a text: `if (join.add(e.text(), e.more())) use(join.text());`
class joiner {
public:
    /// Adds a piece. Returns true if the text is complete. Does not copy a text of one piece.
    bool add(std::string_view piece, bool more) {
        if (fresh_) joined_.clear();
        fresh_ = !more;
        if (!more && joined_.empty()) {
            whole_ = piece;
            return true;
        }
        joined_.append(piece);
        return !more;
    }
    /// The text, valid until the next `add`, and no longer than its last piece.
    std::string_view text() const noexcept { return joined_.empty() ? whole_ : std::string_view(joined_); }

private:
    std::string joined_;
    std::string_view whole_;
    bool fresh_ = true;
};

// ---------------------------------------------------------------------------------------------------------------------
// Handlers

// A handler is any object with some of these methods. A method may omit parameters that it does not need, and returns
// nothing or a `flow`. A missing method costs nothing: the library does not decode its text. A method with one of these
// names and other parameters does not compile, and neither does a handler without any of these methods. (In a final
// class, an overloaded or private method with other parameters is ignored instead.) A handler with a misspelt method
// and a correct one does compile, but the misspelt method is never called. A misspelt setter of `callbacks` never
// compiles.
//
//     on_sse(at, sse_event)                  mode::sse: an event
//     on_comment(at, string_view)            any bytes
//     on_keep_alive(at, string_view)         any bytes
//     on_retry(at, uint64_t)                 milliseconds
//     on_last_event_id(at, string_view)      any bytes
//     on_chunk(at, chunk_view)               the methods for its deltas follow
//     on_role, on_content, on_reasoning, on_refusal(at, string_view)
//     on_tool_call(at, tool_call)            at.opens(): opens; at.number(): its index; at.call(): its number
//     on_tool_name(at, string_view)          at.replaces(): the whole name, otherwise a piece to append
//     on_tool_arguments(at, string_view)     never called for a call without arguments: take a function's as {}
//     on_function_name(at, string_view)      as on_tool_name
//     on_function_arguments(at, string_view)
//     on_audio, on_logprobs(at, value)
//     on_finish(at, string_view)             at.finish()
//     on_choice_error, on_error(at, error_info)
//     on_usage(at, value)                    token_usage::of(value): the counts of this event;
//                                            parser::last_usage, after the call: all counts so far
//     on_malformed(at, string_view)          any bytes; the fault is at.fault(), at byte at.number()
//     on_too_long, on_comment_too_long, on_limit(at)
//     on_quirk(at, quirk)
//     on_done(at)                            [DONE]; other protocols than chat completions end without it
//     on_frame(at)
//     on_meta(at, string_view)               at.code(): `DELTAWIRE_META_*`
//     on_annotations(at, value)
//     on_signature(at, string_view)          a signature of reasoning, or the encrypted reasoning of Responses
//     on_media, on_native(at, value)
//     on_tool_call_end(at, bool)             a call is over; whether its arguments are whole
//
// A text may come in several pieces; at.more() is true for all but the last.

/// A handler that ignores every event.
struct discard {};

template <class... Slots>
class callbacks;

namespace detail {

template <event_kind Kind>
struct method;

/// Calls the method of a kind, and detects whether a type has a member of that name, callable or not: in a class that
/// derives from the type and from `probe`, which also has the name, the name is ambiguous.
#define DELTAWIRE_DETAIL_METHOD(NAME, ...)                                                 \
    template <>                                                                            \
    struct method<event_kind::NAME> {                                                      \
        template <class H, class... A>                                                     \
        static auto call(H &h, A &&...a) -> decltype(h.on_##NAME(std::forward<A>(a)...)) { \
            return h.on_##NAME(std::forward<A>(a)...);                                     \
        }                                                                                  \
        struct probe {                                                                     \
            int on_##NAME;                                                                 \
        };                                                                                 \
        template <class H>                                                                 \
        struct both : H, probe {};                                                         \
        template <class H, class = void>                                                   \
        struct named : std::true_type {};                                                  \
        template <class H>                                                                 \
        struct named<H, std::void_t<decltype(&both<H>::on_##NAME)>> : std::false_type {};  \
        template <class H, class = void>                                                   \
        struct named_in_final : std::false_type {};                                        \
        template <class H>                                                                 \
        struct named_in_final<H, std::void_t<decltype(&H::on_##NAME)>> : std::true_type {}; \
    };

// The kinds that have a method: the name, the function for C, the handler's type `H`, and the types of the method's
// arguments after `at`.
// clang-format off
#define DELTAWIRE_DETAIL_EACH(X)                                                                            \
    X(sse, sse_fn, H, sse_event) X(comment, text_fn, H, std::string_view)                                   \
    X(keep_alive, text_fn, H, std::string_view) X(retry, retry_fn, H, std::uint64_t)                        \
    X(last_event_id, text_fn, H, std::string_view) X(chunk, chunk_fn, H, chunk_view)                        \
    X(role, text_fn, H, std::string_view) X(content, text_fn, H, std::string_view)                          \
    X(reasoning, text_fn, H, std::string_view) X(refusal, text_fn, H, std::string_view)                     \
    X(tool_call, call_fn, H, tool_call) X(tool_name, text_fn, H, std::string_view)                          \
    X(tool_arguments, text_fn, H, std::string_view) X(function_name, text_fn, H, std::string_view)          \
    X(function_arguments, text_fn, H, std::string_view) X(audio, value_fn, H, value)                        \
    X(logprobs, value_fn, H, value) X(finish, text_fn, H, std::string_view)                                 \
    X(choice_error, error_fn, H, error_info) X(usage, value_fn, H, value) X(error, error_fn, H, error_info) \
    X(malformed, text_fn, H, std::string_view) X(too_long, at_fn, H) X(comment_too_long, at_fn, H)          \
    X(limit, at_fn, H) X(quirk, quirk_fn, H, deltawire::quirk) X(done, at_fn, H) X(frame, at_fn, H)         \
    X(meta, text_fn, H, std::string_view) X(annotations, value_fn, H, value)                                \
    X(signature, text_fn, H, std::string_view) X(media, value_fn, H, value) X(native, value_fn, H, value) \
    X(tool_call_end, end_fn, H, bool)
// clang-format on

DELTAWIRE_DETAIL_EACH(DELTAWIRE_DETAIL_METHOD)
#undef DELTAWIRE_DETAIL_METHOD

/// One function of `callbacks`.
template <event_kind Kind, class F>
struct slot {
    F function_;
};

template <event_kind Kind, class F>
F &function_of(slot<Kind, F> &s) noexcept {
    return s.function_;
}
template <event_kind Kind, class F>
const F &function_of(const slot<Kind, F> &s) noexcept {
    return s.function_;
}

/// What an event of a kind calls: a method of the handler, or a function of `callbacks`.
template <event_kind Kind, class H>
struct target {
    template <class... A>
    static auto call(H &h, A &&...a) -> decltype(method<Kind>::call(h, std::forward<A>(a)...)) {
        return method<Kind>::call(h, std::forward<A>(a)...);
    }
    static constexpr bool named() {
        using bare = std::remove_cv_t<H>;
        if constexpr (std::is_final_v<bare>) {
            // Nothing can derive from a final class. This does not find a method that is overloaded or private.
            return method<Kind>::template named_in_final<bare>::value;
        } else if constexpr (std::is_class_v<bare>) {
            return method<Kind>::template named<bare>::value;
        } else {
            return false;
        }
    }
};

template <event_kind Kind, class H>
struct slot_target {
    template <class Same, class... A>
    static auto call(Same &h, A &&...a) -> decltype(function_of<Kind>(h)(std::forward<A>(a)...)) {
        return function_of<Kind>(h)(std::forward<A>(a)...);
    }
    static constexpr bool named() { return std::remove_cv_t<H>::template has<Kind>(); }
};
template <event_kind Kind, class... Slots>
struct target<Kind, callbacks<Slots...>> : slot_target<Kind, callbacks<Slots...>> {};
template <event_kind Kind, class... Slots>
struct target<Kind, const callbacks<Slots...>> : slot_target<Kind, const callbacks<Slots...>> {};

template <class Void, event_kind Kind, class H, class... A>
struct callable : std::false_type {};
template <event_kind Kind, class H, class... A>
struct callable<std::void_t<decltype(target<Kind, H>::call(std::declval<H &>(), std::declval<A>()...))>, Kind, H, A...>
    : std::true_type {};

template <event_kind Kind, class H, class... A>
constexpr bool wanted() {
    constexpr bool can = callable<void, Kind, H, at, A...>::value || callable<void, Kind, H, A...>::value ||
                         callable<void, Kind, H, at>::value || callable<void, Kind, H>::value;
    static_assert(can || !target<Kind, H>::named(),
                  "this handler has a method on_... that cannot be called with the arguments of its event: see the list "
                  "of methods in deltawire.hpp");
    return can;
}

/// A call of `feed`: its handler, and the exception that it threw.
template <class H>
struct invocation {
    H *handler;
    std::exception_ptr thrown;
};

/// Calls a handler on behalf of the C library. No exception may pass through the C library, so it is stored.
template <event_kind Kind, class H, class... A>
std::int32_t invoke(void *user, const deltawire_at *raw, A... args) noexcept {
    invocation<H> &in = *static_cast<invocation<H> *>(user);
    const auto call = [&]() -> decltype(auto) {
        if constexpr (callable<void, Kind, H, at, A...>::value) {
            return target<Kind, H>::call(*in.handler, at(raw), std::move(args)...);
        } else if constexpr (callable<void, Kind, H, A...>::value) {
            return target<Kind, H>::call(*in.handler, std::move(args)...);
        } else if constexpr (callable<void, Kind, H, at>::value) {
            return target<Kind, H>::call(*in.handler, at(raw));
        } else {
            return target<Kind, H>::call(*in.handler);
        }
    };
    using answer = decltype(call());
    static_assert(std::is_void_v<answer> || std::is_same_v<std::decay_t<answer>, flow>,
                  "a handler's method returns nothing or a deltawire::flow");
#if DELTAWIRE_DETAIL_EXCEPTIONS
    try {
#endif
        if constexpr (std::is_void_v<answer>) {
            call();
            return DELTAWIRE_GO_ON;
        } else {
            return static_cast<std::int32_t>(call());
        }
#if DELTAWIRE_DETAIL_EXCEPTIONS
    } catch (...) {
        in.thrown = std::current_exception();
        return static_cast<std::int32_t>(flow::abort);
    }
#endif
}

template <event_kind Kind, class H>
std::int32_t text_fn(void *user, const deltawire_at *raw, const char *text, std::size_t len) noexcept {
    return invoke<Kind, H>(user, raw, view(deltawire_str{text, len}));
}
template <event_kind Kind, class H>
std::int32_t at_fn(void *user, const deltawire_at *raw) noexcept {
    return invoke<Kind, H>(user, raw);
}
template <event_kind Kind, class H>
std::int32_t value_fn(void *user, const deltawire_at *raw, const deltawire_value *v) noexcept {
    return invoke<Kind, H>(user, raw, value(*v));
}
template <event_kind Kind, class H>
std::int32_t error_fn(void *user, const deltawire_at *raw, const deltawire_value *v) noexcept {
    return invoke<Kind, H>(user, raw, error_info(value(*v)));
}
template <event_kind Kind, class H>
std::int32_t sse_fn(void *user, const deltawire_at *raw, deltawire_str type, deltawire_str data,
                    deltawire_str id) noexcept {
    return invoke<Kind, H>(user, raw, sse_event{view(type), view(data), view(id)});
}
template <event_kind Kind, class H>
std::int32_t retry_fn(void *user, const deltawire_at *raw) noexcept {
    return invoke<Kind, H>(user, raw, std::uint64_t{raw->number});
}
template <event_kind Kind, class H>
std::int32_t chunk_fn(void *user, const deltawire_at *raw) noexcept {
    return invoke<Kind, H>(user, raw, chunk_view(raw->chunk));
}
template <event_kind Kind, class H>
std::int32_t quirk_fn(void *user, const deltawire_at *raw) noexcept {
    return invoke<Kind, H>(user, raw, quirk(raw->code));
}
template <event_kind Kind, class H>
std::int32_t end_fn(void *user, const deltawire_at *raw) noexcept {
    return invoke<Kind, H>(user, raw, raw->code != 0);
}
template <event_kind Kind, class H>
std::int32_t call_fn(void *user, const deltawire_at *raw, const deltawire_value *id,
                     const deltawire_value *type) noexcept {
    return invoke<Kind, H>(user, raw, tool_call{value(*id), value(*type)});
}

/// The callbacks of a type of handlers, and whether any of them is set. (The callbacks alone would not tell: under some
/// sanitizers a comparison with NULL is not a constant expression.)
struct made_table {
    deltawire_callbacks callbacks;
    bool any;
};

/// Makes the callbacks of a type of handlers: NULL for each method that it lacks.
template <class H>
constexpr made_table make_table() {
    deltawire_callbacks t = {};
    bool any = std::is_same_v<std::remove_cv_t<H>, discard>;
    t.size = sizeof t;
#define DELTAWIRE_DETAIL_SET(NAME, FN, ...)                  \
    if constexpr (wanted<event_kind::NAME, __VA_ARGS__>()) { \
        t.on_##NAME = &FN<event_kind::NAME, H>;              \
        any = true;                                          \
    }
    DELTAWIRE_DETAIL_EACH(DELTAWIRE_DETAIL_SET)
#undef DELTAWIRE_DETAIL_SET
    return made_table{t, any};
}

template <class H>
struct table {
    static_assert(make_table<H>().any,
                  "this handler has none of the methods on_...; use deltawire::discard to ignore every event");
    static constexpr deltawire_callbacks value = make_table<H>().callbacks;
};

}  // namespace detail

/// A handler of functions: `callbacks().on_content([](std::string_view text) { ... }).on_done([] { ... })`. Each call
/// returns a new object of a new type: declare it with `auto`. The calls are direct, and the functions are not on the
/// heap.
template <class... Slots>
class callbacks : public Slots... {
public:
    explicit callbacks(Slots... slots) : Slots(std::move(slots))... {}

#define DELTAWIRE_DETAIL_SETTER(NAME, ...)                                                       \
    template <class F>                                                                           \
    auto on_##NAME(F function) const & {                                                         \
        return callbacks(*this).template with<event_kind::NAME>(std::move(function));            \
    }                                                                                            \
    template <class F>                                                                           \
    auto on_##NAME(F function) && {                                                              \
        return callbacks(std::move(*this)).template with<event_kind::NAME>(std::move(function)); \
    }
    DELTAWIRE_DETAIL_EACH(DELTAWIRE_DETAIL_SETTER)
#undef DELTAWIRE_DETAIL_SETTER

    template <event_kind Kind>
    static constexpr bool has() noexcept {
        return (is_of<Kind>(static_cast<Slots *>(nullptr)) || ...);
    }

private:
    template <class... Others>
    friend class callbacks;

    template <event_kind Kind, event_kind Of, class F>
    static constexpr bool is_of(detail::slot<Of, F> *) noexcept {
        return Kind == Of;
    }
    template <event_kind Kind, class F>
    auto with(F function) && {
        static_assert(!has<Kind>(), "this function was given already");
        using added = detail::slot<Kind, F>;
        return callbacks<Slots..., added>(std::move(static_cast<Slots &>(*this))..., added{std::move(function)});
    }
};

callbacks() -> callbacks<>;

#undef DELTAWIRE_DETAIL_EACH

// ---------------------------------------------------------------------------------------------------------------------
// The assembler

/// How an assembler behaves. Change the members that should differ from the defaults.
struct assembler_config {
    /// The largest block, in bytes; 0 is 64 MiB. A call that needs more throws status::need_storage.
    std::size_t max_bytes = 0;
    /// As in the parser's `config`: set both to the same numbers, so that both have room for the same choices and tool
    /// calls.
    std::uint32_t max_choices = 0;
    std::uint32_t max_tool_calls = 0;
};

/// The whole message of a stream, in a block of its own: `parser.feed(message, data)` fills it. The message takes each
/// event before a handler does, so a handler may read it.
class assembler {
public:
    assembler() : assembler(assembler_config()) {}
    explicit assembler(const assembler_config &how)
        : max_(detail::block_len(how.max_bytes == 0 ? std::size_t{64} << 20 : how.max_bytes)) {
        deltawire_config c = DELTAWIRE_CONFIG_INIT;
        c.max_choices = how.max_choices;
        c.max_tool_calls = how.max_tool_calls;
        const std::size_t size = deltawire_message_size(&c, 1024);
        if (size == 0) detail::fail(status::config);
        len_ = detail::block_len(size);
        block_ = detail::make_block(len_);
        detail::checked(deltawire_message_init(block_.get(), len_, &c, nullptr));
    }
    assembler(assembler &&other) noexcept { swap(other); }
    assembler &operator=(assembler &&other) noexcept {
        assembler taken(std::move(other));
        swap(taken);
        return *this;
    }
    assembler(const assembler &) = delete;
    assembler &operator=(const assembler &) = delete;
    ~assembler() = default;

    void swap(assembler &other) noexcept {
        std::swap(block_, other.block_);
        std::swap(len_, other.len_);
        std::swap(max_, other.max_);
    }
    friend void swap(assembler &a, assembler &b) noexcept { a.swap(b); }

    /// An assembler with the same message.
    assembler clone() const {
        assembler copy{nullptr};
        copy.block_ = detail::make_block(len_);
        copy.len_ = len_;
        copy.max_ = max_;
        detail::checked(deltawire_message_move(copy.block_.get(), len_, native(), nullptr));
        return copy;
    }
    /// Begins a new message. The block keeps its size.
    void reset() { detail::checked(deltawire_message_reset(native())); }

    /// How many choices the message has.
    std::uint32_t choices() const noexcept { return deltawire_message_choices(native()); }
    /// The index of the `n`th choice; choices are in ascending order of their indexes.
    std::optional<std::uint32_t> choice_index(std::uint32_t n) const {
        std::uint32_t index = 0;
        if (detail::checked(deltawire_message_choice_index(native(), n, &index)) == status::absent) return std::nullopt;
        return index;
    }
    /// How many tool calls the choice with this index has.
    std::uint32_t calls(std::uint32_t choice = 0) const noexcept { return deltawire_message_calls(native(), choice); }
    /// Why the assembler first left something out of the message; empty if it left out nothing.
    std::optional<deltawire::limit> limit() const noexcept {
        const std::uint32_t which = deltawire_message_limit(native());
        return which == 0 ? std::nullopt : std::optional<deltawire::limit>(static_cast<deltawire::limit>(which));
    }
    /// A text of the message. `choice` is the index of a choice, `call` the position of a call among its calls. Reads
    /// the log once.
    std::optional<std::string> text(message_field field, std::uint32_t choice = 0, std::uint32_t call = 0) const {
        return detail::text_of([&](char *buf, std::size_t cap, std::size_t *need) {
            return deltawire_message_text(native(), static_cast<std::uint32_t>(field), choice, call, buf, cap, need);
        });
    }
    /// A member that has no `message_field`, such as a provider's `citations`, as raw JSON: the last value that was
    /// not null. `which`: `DELTAWIRE_OWNER_*`; `choice` and `call` as in `text`.
    std::optional<std::string> member(std::string_view name, std::uint32_t which = DELTAWIRE_OWNER_CHUNK,
                                      std::uint32_t choice = 0, std::uint32_t call = 0) const {
        return detail::text_of([&](char *buf, std::size_t cap, std::size_t *need) {
            return deltawire_message_member(native(), which, choice, call, name.data(), name.size(), buf, cap, need);
        });
    }
    /// The whole message as JSON: a `chat.completion`, as the API sends it without streaming. `extended` includes the
    /// members that only gateways and providers send.
    std::string json(bool extended = false) const {
        const std::uint32_t flags = extended ? std::uint32_t{DELTAWIRE_JSON_EXTENDED} : 0U;
        std::optional<std::string> text = detail::text_of([&](char *buf, std::size_t cap, std::size_t *need) {
            return deltawire_message_json(native(), flags, buf, cap, need);
        });
        return text ? std::move(*text) : std::string();
    }

    /// The assembler of the C interface; NULL if this object was moved from.
    deltawire_message *native() noexcept { return reinterpret_cast<deltawire_message *>(block_.get()); }
    const deltawire_message *native() const noexcept {
        return reinterpret_cast<const deltawire_message *>(block_.get());
    }

private:
    friend class parser;
    explicit assembler(std::nullptr_t) noexcept {}

    void grow() {
        const std::size_t need = deltawire_message_need(native());
        if (need == 0) detail::fail(status::null);
        // The library asks for more than it needs now. Above `max_` the block gets exactly that size.
        if (len_ >= max_) detail::fail(status::need_storage);
        const std::size_t len = detail::block_len(need < max_ ? need : max_);
        detail::block next = detail::make_block(len);
        detail::checked(deltawire_message_move(next.get(), len, native(), nullptr));
        block_ = std::move(next);
        len_ = len;
    }

    detail::block block_ = {};
    std::size_t len_ = 0;
    std::size_t max_ = 0;
};

// ---------------------------------------------------------------------------------------------------------------------
// The parser

/// The event mask of these kinds, for `config::events`.
template <class... Kinds>
constexpr std::uint64_t mask_of(Kinds... kinds) noexcept {
    static_assert((std::is_same_v<Kinds, event_kind> && ...), "kinds of events");
    return ((std::uint64_t{1} << static_cast<std::uint32_t>(kinds)) | ... | std::uint64_t{0});
}

/// How a parser behaves. Change the members that should differ from the defaults.
struct config {
    /// What the events of the stream are.
    deltawire::mode mode = deltawire::mode::chat;
    /// Framing exactly as in WHATWG HTML 9.2.
    bool spec_framing = false;
    /// Check every byte of each payload, against RFC 8259 and as UTF-8.
    bool strict_json = false;
    /// Each delta of a text may have all of the text so far: report only what is new (`DELTAWIRE_CFG_SNAPSHOTS`).
    bool snapshots = false;
    /// Allocate a larger block for a cut event that does not fit. Otherwise the parser drops such an event as too long.
    bool grow = true;
    /// Room in the first block for an event that a read cut, in bytes. Without `grow` this limits the length of every
    /// event, and 0 throws status::small.
    std::size_t event_bytes = 512;
    /// The longest allowed event, in bytes; 0 is 1 MiB. `grow` allocates room for no longer event.
    std::uint32_t max_event_len = 0;
    /// The longest allowed last event ID, in bytes; 0 is 1 KiB. The parser ignores a longer ID.
    std::uint32_t max_id_len = 0;
    /// How deep JSON may nest; 0 is 128, at most 1024.
    std::uint32_t max_depth = 0;
    /// Quirks that are errors: `feed` and `batch` stop with status::strict.
    quirk_set errors = {};
    /// The kinds that a batch emits, made with `mask_of`; 0 is every kind except frames, payloads, meta, annotations,
    /// signatures, media and native parts.
    std::uint64_t events = 0;
    /// The most events that a batch reads with one call of the library.
    std::size_t batch_events = 64;
    /// The most bytes of text that a batch decodes with one call; longer texts come in pieces. At least 64. The parser
    /// allocates more for texts that are never split: IDs, names, types, roles, finish reasons.
    std::size_t batch_scratch = 4096;
    /// Bytes reserved for direct reading (`parser::reserve`). 0: no bytes are reserved, and there is no direct reading.
    std::uint32_t read_len = 0;
    /// How many choices of one stream the parser has room for; 0 is `DELTAWIRE_DEFAULT_CHOICES`, 8. The parser leaves
    /// out the deltas of further choices (`on_limit`). More than `DELTAWIRE_MAX_CHOICES` throws status::config.
    std::uint32_t max_choices = 0;
    /// How many tool calls of one stream, over all choices, there is room for; 0 is `DELTAWIRE_DEFAULT_TOOL_CALLS`,
    /// 32. A further tool call is left out. More than `DELTAWIRE_MAX_TOOL_CALLS` throws status::config.
    std::uint32_t max_tool_calls = 0;
    /// The protocol of the stream, if the caller knows it: chat, responses, anthropic or gemini. none: the first event
    /// whose protocol the parser recognizes decides for the whole stream.
    deltawire::protocol protocol = deltawire::protocol::none;
    /// The parser shares the memory of a `workspace` with other parsers, so its own block is smaller. Each call that
    /// reads takes a workspace: a call without one throws status::state, and so does a call with one if this is false.
    bool shared = false;
};

/// The result of `feed`.
struct result {
    /// ok: all bytes are consumed. paused: a handler asked for a pause; feed the bytes from `consumed` on again, even
    /// if that is none. More bytes may follow them. aborted, callback, strict: the parser reads nothing until
    /// `reset()`.
    deltawire::status status;
    /// How many bytes of the data are consumed.
    std::size_t consumed;

    bool ok() const noexcept { return status == deltawire::status::ok; }
    bool paused() const noexcept { return status == deltawire::status::paused; }
};

/// How a stream ended, or how it would end now.
struct end_info {
    verdict how = verdict::empty;
    deltawire::pending pending = deltawire::pending::nothing;
    /// What the response is, if it is not a stream.
    deltawire::media media = deltawire::media::none;
    /// The protocol of the stream: the one that was read (chat, responses, anthropic, gemini) or, if the verdict is
    /// other_protocol, the one that is not read. none if no event showed a protocol.
    deltawire::protocol protocol = deltawire::protocol::none;
    std::uint32_t choices_seen = 0;
    std::uint32_t choices_finished = 0;
    /// How many payloads were malformed, and how many events and comments were over a limit.
    std::uint32_t malformed = 0;
    std::uint32_t too_long = 0;
    /// The stream has `[DONE]`; the API reported an error; the response is a JSON body; `finish` has returned ok.
    bool done = false;
    bool api_error = false;
    bool body = false;
    bool finished = false;
    /// How many bytes were read.
    std::uint64_t offset = 0;

    /// How many events had deltas that were left out (`on_limit`).
    std::uint32_t left_out = 0;
    /// See `complete()`.
    bool whole = false;

    /// Whether all of the response arrived, or would have if the stream ended now. The stream has its end
    /// (verdict::done), a finish reason for every choice, or is a whole body; it has no error of the API; nothing was
    /// malformed, too long or left out; no handler threw or aborted; a loop has reached every event of each batch; and
    /// `[DONE]` came, or nothing is pending. In mode::sse: the stream ended between events, nothing was too long, and a
    /// loop has reached every event of each batch. The finish reason says whether the model finished its answer:
    /// finish_reason::length and finish_reason::content_filter cut the answer itself.
    bool complete() const noexcept { return whole; }

    /// How many messages contradict what was reported before; how many events finished a choice whose tool calls have
    /// arguments that were cut or no JSON; and the bit `1 << limit` for each limit that left out deltas.
    std::uint32_t replaced = 0;
    std::uint32_t broken_calls = 0;
    std::uint32_t limits = 0;

    /// The first bytes of a response that does not begin with an event stream: a page, the sentence of a proxy, a JSON
    /// body. They begin with the first byte that is not blank, and end before the first field, or after
    /// DELTAWIRE_FIRST_BYTES. Bytes as sent: `to_string` escapes them. The view is valid while this object is.
    std::string_view first_bytes() const & noexcept {
        return {reinterpret_cast<const char *>(raw.first_bytes), raw.first_len};
    }
    std::string_view first_bytes() const && = delete;
    /// The same for C, from which `first_bytes` and `to_string` read.
    deltawire_end raw = DELTAWIRE_END_INIT;
};

/// In words, on one line: the verdict, what came instead of a stream with its first bytes, the protocol that is not
/// read, what was lost, and the limits to raise. Characters that a terminal could obey are escaped.
inline std::string to_string(const end_info &e) {
    std::array<char, 1024> text;
    const std::size_t len = deltawire_end_text(&e.raw, text.data(), text.size());
    return std::string(text.data(), len < text.size() ? len : text.size() - 1);
}

/// An event that bears a token: content, reasoning, a refusal or a part of a call, which is never empty. A role, a
/// ping, a signature, audio, images and tools that are neither functions nor custom tools are no tokens.
struct token {
    /// Of the first such event: of its first token. Of the last: of its last token.
    token_kind kind;
    /// The number of the event, from 1, as `meter_info::events` counts.
    std::uint64_t event;
    /// Stream offset, in bytes, of the event's first byte.
    std::uint64_t offset;
};

/// How much text came, decoded: in bytes of UTF-8, and in Unicode characters.
struct amount {
    std::uint64_t bytes = 0;
    std::uint64_t chars = 0;
};

/// What a parser with mode::usage keeps of its stream. Texts are UTF-8, cut between two characters, valid until the
/// next call on the parser, and empty if they did not come. They are as the server sent them: escape them before you
/// print them.
struct meter_info {
    /// The first event that bears a token. A program with a clock learns when it came: in the read in which this became
    /// known.
    std::optional<token> first;
    /// The last event so far that bears a token.
    std::optional<token> last;
    /// How many events came: every one with a payload, also `[DONE]`, a ping, and one that could not be read. Comments,
    /// reconnection times and IDs alone do not count. A JSON object as body is one event.
    std::uint64_t events = 0;
    /// How many of them bear a token.
    std::uint64_t token_events = 0;
    /// The sums of all choices. `arguments` has those of all calls, custom tools' inputs and `function_call`s, but not
    /// arguments that Gemini sends by path.
    amount content;
    amount reasoning;
    amount refusal;
    amount arguments;
    /// How many tool calls and `function_call`s opened, in all choices.
    std::uint32_t calls = 0;
    /// How many elements of `call_names` are names: those of the first calls that have one, each at most 64 bytes.
    std::uint32_t names = 0;
    std::array<std::string_view, DELTAWIRE_METER_NAMES> call_names;
    /// The first that came, at most 128 bytes.
    std::string_view model;
    std::string_view id;
    /// Why choice 0 finished, and its finish reason, in the word of chat completions if there is one, at most 64 bytes.
    std::optional<finish_reason> finish;
    std::string_view finish_text;
    /// The first error of the API: its type, else its code, else `error`; at most 128 bytes.
    std::string_view error;
    /// The counts so far, as `parser::last_usage` has them. Bill these, or `iterations`.
    std::optional<token_usage> usage;
    /// The sum of Anthropic's `usage.iterations`. It includes what `usage` has: that is the sum of those iterations
    /// alone whose `type` is `message`. Bill the one or the other, never both.
    std::optional<token_usage> iterations;
    /// The sum of those iterations whose `type` is not `message`, such as a compaction.
    std::optional<token_usage> other_iterations;
    /// `tool_usage` of Responses, as raw JSON: what tools of the server used. Empty if it is longer than 512 bytes.
    std::string_view tool_usage;
};

/// Memory for direct reading.
struct read_buffer {
    char *data;
    std::size_t size;
};

class batch_range;

/// Memory that the parsers of a thread share (`config::shared`): shapes of events that were read. Sharing changes the
/// cost, never the events. A workspace remembers no more shapes than a parser does that shares none, so use one
/// workspace for each upstream. One workspace serves one trust domain: it contains bytes of the streams that were read
/// with it, such as names of tools, until other bytes replace them or `clear()` overwrites them.
class workspace {
public:
    workspace() : block_(detail::make_block(deltawire_workspace_size())) {
        detail::checked(deltawire_workspace_init(block_.get(), deltawire_workspace_size(), nullptr));
    }
    /// Overwrites everything that the workspace keeps of the streams. Throws status::reentrant in a handler of a call
    /// that uses it.
    void clear() { detail::checked(deltawire_workspace_clear(native())); }
    /// The workspace of the C interface: do not move or free it. NULL if this object was moved from.
    deltawire_workspace *native() noexcept { return reinterpret_cast<deltawire_workspace *>(block_.get()); }

private:
    detail::block block_;
};

/// A parser with a block of its own.
class parser {
public:
    parser() : parser(config()) {}
    explicit parser(const config &how)
        : grow_(how.grow),
          events_cap_(how.batch_events == 0 ? 1 : how.batch_events),
          scratch_len_(how.batch_scratch < DELTAWIRE_SCRATCH_MIN ? DELTAWIRE_SCRATCH_MIN : how.batch_scratch) {
        deltawire_config c = DELTAWIRE_CONFIG_INIT;
        c.mode = static_cast<std::uint32_t>(how.mode);
        c.flags = (how.spec_framing ? std::uint32_t{DELTAWIRE_CFG_SPEC} : 0U) |
                  (how.strict_json ? std::uint32_t{DELTAWIRE_CFG_STRICT_JSON} : 0U) |
                  (how.snapshots ? std::uint32_t{DELTAWIRE_CFG_SNAPSHOTS} : 0U) |
                  (how.grow ? std::uint32_t{DELTAWIRE_CFG_GROW} : 0U) |
                  (how.shared ? std::uint32_t{DELTAWIRE_CFG_SHARED} : 0U);
        c.max_depth = how.max_depth;
        c.events = how.events;
        c.errors[0] = how.errors.low();
        c.errors[1] = how.errors.high();
        c.max_event_len = how.max_event_len;
        c.max_id_len = how.max_id_len;
        c.read_len = how.read_len;
        c.max_choices = how.max_choices;
        c.max_tool_calls = how.max_tool_calls;
        c.protocol = static_cast<std::uint32_t>(how.protocol);
        const std::size_t size = deltawire_block_size(&c, how.event_bytes);
        // The library returns 0 for a config that it refuses, whatever the size of the event buffer.
        if (size == 0) detail::fail(deltawire_block_size(&c, 0) == 0 ? status::config : status::range);
        len_ = detail::block_len(size);
        block_ = detail::make_block(len_);
        detail::checked(deltawire_init(block_.get(), len_, &c, nullptr));
    }
    parser(parser &&other) noexcept { swap(other); }
    parser &operator=(parser &&other) noexcept {
        parser taken(std::move(other));
        swap(taken);
        return *this;
    }
    parser(const parser &) = delete;
    parser &operator=(const parser &) = delete;
    ~parser() = default;

    void swap(parser &other) noexcept {
        std::swap(block_, other.block_);
        std::swap(len_, other.len_);
        std::swap(grow_, other.grow_);
        std::swap(events_, other.events_);
        std::swap(events_cap_, other.events_cap_);
        std::swap(scratch_, other.scratch_);
        std::swap(scratch_len_, other.scratch_len_);
        std::swap(status_, other.status_);
        std::swap(batches_, other.batches_);
        std::swap(unread_, other.unread_);
    }
    friend void swap(parser &a, parser &b) noexcept { a.swap(b); }

    /// A copy in the same state: both parsers can read the same bytes from here on.
    parser clone() const {
        require_read();
        parser copy{nullptr};
        copy.grow_ = grow_;
        copy.block_ = detail::make_block(len_);
        copy.len_ = len_;
        detail::checked(deltawire_move(copy.block_.get(), len_, native(), nullptr));
        copy.events_cap_ = events_cap_;
        copy.scratch_len_ = scratch_len_;
        copy.status_ = status_;
        return copy;
    }
    /// Begins a new stream with the same config. The block keeps its size.
    void reset() {
        detail::checked(deltawire_reset(native()));
        status_ = status::ok;
        unread_ = 0;
    }
    /// Moves to the smallest block that holds what the parser retains: call this after a long event to free memory.
    /// Does nothing without `config::grow`, because the size of the block then limits every event.
    void shrink() {
        require_read();
        if (grow_) move_to(deltawire_need(native()));
    }
    /// The size of the block in bytes.
    std::size_t block_size() const noexcept { return len_; }

    /// Reads `data` and calls the handler for its events. Allocates more memory if the config has `grow`. Check the
    /// result: after an exception or flow::abort of a handler, the parser reads nothing more.
    template <class H>
    [[nodiscard]] result feed(std::string_view data, H &&handler) {
        return feed_by(data, handler, nullptr, [this](auto... rest) { return deltawire_feed(native(), rest...); });
    }
    /// As above, for a parser with `config::shared`. Each call may take another workspace. The handler may feed other
    /// parsers with other workspaces, but not with this one, which throws status::reentrant.
    template <class H>
    [[nodiscard]] result feed(workspace &with, std::string_view data, H &&handler) {
        return feed_by(data, handler, nullptr,
                       [&](auto... rest) { return deltawire_feed_with(native(), with.native(), rest...); });
    }
    /// As above, and adds what is read to `message`, which grows as needed. `with` is for a parser with
    /// `config::shared`. If the message reaches its `max_bytes`, the call throws status::need_storage, and some of the
    /// data may have been read: reset both.
    template <class H>
    [[nodiscard]] result feed(assembler &message, std::string_view data, H &&handler, workspace *with = nullptr) {
        return feed_by(data, handler, &message, [&](auto... rest) {
            return deltawire_message_feed(message.native(), native(), native(with), rest...);
        });
    }
    [[nodiscard]] result feed(assembler &message, std::string_view data) { return feed(message, data, discard{}); }
    /// Ends the stream, which may emit last events. Call again while the result is paused. Then `end()` has the
    /// verdict.
    template <class H>
    [[nodiscard]] status finish(H &&handler) {
        return finish_by(handler, nullptr, [this](auto... rest) { return deltawire_finish(native(), rest...); });
    }
    /// As above, of a parser with `config::shared`.
    template <class H>
    [[nodiscard]] status finish(workspace &with, H &&handler) {
        return finish_by(handler, nullptr,
                         [&](auto... rest) { return deltawire_finish_with(native(), with.native(), rest...); });
    }
    /// As above, and adds the last events to `message`.
    template <class H>
    [[nodiscard]] status finish(assembler &message, H &&handler, workspace *with = nullptr) {
        return finish_by(handler, &message, [&](auto... rest) {
            return deltawire_message_finish(message.native(), native(), native(with), rest...);
        });
    }
    /// As above, without a handler.
    [[nodiscard]] status finish() { return finish(discard{}); }
    [[nodiscard]] status finish(workspace &with) { return finish(with, discard{}); }
    [[nodiscard]] status finish(assembler &message) { return finish(message, discard{}); }

    /// The events of `data`, for a range-for: `for (const deltawire::event &e : parser.batch(data))`. The range calls
    /// the library once for every `config::batch_events` events, and allocates the memory that it needs. Texts may be
    /// views of `data`: do not change it during the loop. If you may leave the loop before the last event, keep the
    /// range in a variable, and loop over it again to read the other events:
    ///
    ///     auto range = parser.batch(data);
    ///     for (const deltawire::event &e : range)
    ///         if (wanted(e)) break;
    ///     for (const deltawire::event &e : range) rest(e);  // or an empty body, if only the verdict matters
    ///
    /// Until the last event is read, every call that reads, copies or moves the block throws status::resume, and
    /// `end()` is not complete. If the range is destroyed before, only `reset()` helps. Destroying the range after a
    /// loop that was left at the last event is fine; but which event is the last depends on how the bytes were cut.
    /// `end()`, `meter()` and `last_usage()` describe what the batch has read, which may be ahead of the loop. With
    /// `config::errors` check `last_status()` after the loop.
    [[nodiscard]] batch_range batch(std::string_view data) &;
    /// As above, for a parser with `config::shared`. The workspace must stay in place while the range exists.
    [[nodiscard]] batch_range batch(workspace &with, std::string_view data) &;
    /// As above, and adds what is read to `message`, which must stay in place, too. `config::events` does not matter to
    /// the message.
    [[nodiscard]] batch_range batch(assembler &message, std::string_view data, workspace *with = nullptr) &;
    /// Deleted, because a temporary string is destroyed before the loop begins.
    template <class S, std::enable_if_t<std::is_same_v<std::remove_cv_t<S>, std::string>, int> = 0>
    batch_range batch(S &&data) & = delete;
    template <class With, class S, std::enable_if_t<std::is_same_v<std::remove_cv_t<S>, std::string>, int> = 0>
    batch_range batch(With &with, S &&data) & = delete;
    /// The events at the end of the stream; see `finish`.
    [[nodiscard]] batch_range batch_finish() &;
    [[nodiscard]] batch_range batch_finish(workspace &with) &;
    [[nodiscard]] batch_range batch_finish(assembler &message, workspace *with = nullptr) &;
    /// Deleted, because a temporary parser is destroyed before the loop begins.
    template <class... Given>
    batch_range batch(Given &&...given) && = delete;
    template <class... Given>
    batch_range batch_finish(Given &&...given) && = delete;

    /// Direct reading (`config::read_len`): returns where to write the next bytes. Then `commit` them, and call `feed`
    /// or `batch` without data until the status is ok. The memory is valid until the next call.
    read_buffer reserve() {
        require_read();
        std::size_t off = 0;
        std::size_t len = 0;
        detail::checked(deltawire_reserve(native(), &off, &len));
        return read_buffer{bytes() + off, len};
    }
    /// Tells the parser that `n` bytes were written to the memory of `reserve`.
    void commit(std::size_t n) { detail::checked(deltawire_commit(native(), n)); }

    /// How the stream ended, or would if it ended now.
    end_info end() const {
        deltawire_end raw = DELTAWIRE_END_INIT;
        detail::checked(deltawire_end_of(native(), &raw));
        end_info e;
        e.how = static_cast<verdict>(raw.verdict);
        e.pending = static_cast<deltawire::pending>(raw.pending);
        e.media = static_cast<deltawire::media>(raw.media);
        e.protocol = static_cast<deltawire::protocol>(raw.protocol);
        e.choices_seen = raw.choices_seen;
        e.choices_finished = raw.choices_finished;
        e.malformed = raw.malformed;
        e.too_long = raw.too_long;
        e.done = raw.done != 0;
        e.api_error = raw.api_error != 0;
        e.body = raw.body != 0;
        e.finished = raw.finished != 0;
        e.offset = raw.offset;
        e.left_out = raw.left_out;
        e.replaced = raw.replaced;
        e.broken_calls = raw.broken_calls;
        e.limits = raw.limits;
        // The library does not know which events the loop has reached.
        raw.complete = raw.complete != 0 && unread_ == 0 ? 1 : 0;
        e.whole = raw.complete != 0;
        e.raw = raw;
        return e;
    }
    /// The token counts so far: those of the last usage or, for Anthropic, which spreads the counts over several
    /// events, all of them merged. Do not bill by the counts of an incomplete stream.
    std::optional<token_usage> last_usage() const {
        deltawire_usage raw = DELTAWIRE_USAGE_INIT;
        if (detail::checked(deltawire_last_usage(native(), &raw)) == status::absent) return std::nullopt;
        return token_usage(raw);
    }
    /// What the parser keeps of the stream so far, with mode::usage: at any time, also after the stream was cut. Throws
    /// status::state in another mode.
    meter_info meter() const {
        deltawire_meter raw = DELTAWIRE_METER_INIT;
        detail::checked(deltawire_meter_of(native(), &raw));
        const auto token_of = [](const deltawire_token &t) {
            const token named{static_cast<token_kind>(t.kind), t.event, t.offset};
            return t.kind == DELTAWIRE_TOKEN_NONE ? std::nullopt : std::optional(named);
        };
        const auto usage_of = [](const deltawire_usage &u) {
            return u.has == 0 ? std::nullopt : std::optional(token_usage(u));
        };
        meter_info m;
        m.first = token_of(raw.first);
        m.last = token_of(raw.last);
        m.events = raw.events;
        m.token_events = raw.token_events;
        m.content = {raw.content.bytes, raw.content.chars};
        m.reasoning = {raw.reasoning.bytes, raw.reasoning.chars};
        m.refusal = {raw.refusal.bytes, raw.refusal.chars};
        m.arguments = {raw.arguments.bytes, raw.arguments.chars};
        m.calls = raw.calls;
        m.names = raw.names;
        for (std::size_t i = 0; i < m.call_names.size(); i++) m.call_names[i] = detail::view(raw.call_names[i]);
        m.model = detail::view(raw.model);
        m.id = detail::view(raw.id);
        if (raw.finish != 0) m.finish = static_cast<finish_reason>(raw.finish);
        m.finish_text = detail::view(raw.finish_reason);
        m.error = detail::view(raw.error);
        m.usage = usage_of(raw.usage);
        m.iterations = usage_of(raw.iterations);
        m.other_iterations = usage_of(raw.other_iterations);
        m.tool_usage = detail::view(raw.tool_usage);
        return m;
    }
    /// The last event ID, to send when reconnecting: bytes, valid until the next call.
    std::optional<std::string_view> last_event_id() const {
        deltawire_str id = {nullptr, 0};
        if (detail::checked(deltawire_last_event_id(native(), &id)) == status::absent) return std::nullopt;
        return detail::view(id);
    }
    /// How often the stream has a quirk. Returns 0 in a handler.
    std::uint64_t quirk_count(quirk q) const noexcept { return deltawire_quirk_count(native(), q.number()); }
    /// The status of the last `feed` or `finish`, or of the last call that filled a batch.
    status last_status() const noexcept { return status_; }
    /// After status::strict: which quirk was the error.
    std::optional<quirk> error_quirk() const noexcept {
        const std::uint32_t number = deltawire_error_quirk(native());
        if (number >= DELTAWIRE_QUIRKS || status_ != status::strict) return std::nullopt;
        return quirk(number);
    }
    /// After a status of -100 or below: the stream offset of the event that failed.
    std::uint64_t error_offset() const noexcept { return deltawire_error_offset(native()); }

    /// The parser of the C interface: do not move or free it. NULL if this object was moved from.
    deltawire_parser *native() noexcept { return reinterpret_cast<deltawire_parser *>(block_.get()); }
    const deltawire_parser *native() const noexcept { return reinterpret_cast<const deltawire_parser *>(block_.get()); }

private:
    friend class batch_range;
    friend class writer;
    explicit parser(std::nullptr_t) noexcept {}

    char *bytes() noexcept { return reinterpret_cast<char *>(block_.get()); }
    static deltawire_workspace *native(workspace *with) noexcept { return with == nullptr ? nullptr : with->native(); }

    /// Throws if a batch was left before its last event.
    void require_read() const {
        if (unread_ != 0) detail::fail(status::resume);
    }

    /// Feeds with `call`, a function of C without its leading arguments: it takes the data and everything after it. It
    /// fills `message`, unless that is null.
    template <class H, class Call>
    result feed_by(std::string_view data, H &handler, assembler *message, Call call) {
        require_read();
        detail::invocation<H> in{std::addressof(handler), nullptr};
        std::size_t consumed = 0;
        for (;;) {
            std::size_t took = 0;
            const deltawire_status s =
                call(data.data() + consumed, data.size() - consumed, &detail::table<H>::value, &in, &took);
            consumed += took;
            if (!settle(s, in.thrown, message)) return result{status_, consumed};
        }
    }
    /// Finishes with `call`, which takes the callbacks and `user`.
    template <class H, class Call>
    status finish_by(H &handler, assembler *message, Call call) {
        require_read();
        detail::invocation<H> in{std::addressof(handler), nullptr};
        for (;;) {
            const deltawire_status s = call(&detail::table<H>::value, &in);
            if (!settle(s, in.thrown, message)) return status_;
        }
    }

    /// Handles the status of a call with a handler. Returns true if a block is larger now, and the call must be
    /// repeated.
    bool settle(deltawire_status s, std::exception_ptr &thrown, assembler *message) {
#if DELTAWIRE_DETAIL_EXCEPTIONS
        if (thrown != nullptr) {
            status_ = static_cast<status>(s);
            std::rethrow_exception(std::exchange(thrown, nullptr));
        }
#else
        (void)thrown;
#endif
        if (s == DELTAWIRE_NEED_STORAGE) {
            enlarge(message);
            return true;
        }
        status_ = detail::checked(s);
        return false;
    }
    /// After NEED_STORAGE: enlarges the block of the message, if that is full, or that of the parser.
    void enlarge(assembler *message) {
        if (message != nullptr && deltawire_message_is_full(message->native()) != 0) {
            message->grow();
        } else {
            move_to(deltawire_need(native()));
        }
    }
    void move_to(std::size_t need) {
        if (need == 0) detail::fail(native() == nullptr ? status::null : status::reentrant);
        const std::size_t len = detail::block_len(need);
        detail::block next = detail::make_block(len);
        detail::checked(deltawire_move(next.get(), len, native(), nullptr));
        block_ = std::move(next);
        len_ = len;
    }

    detail::block block_ = {};
    std::size_t len_ = 0;
    bool grow_ = true;
    std::unique_ptr<deltawire_event[]> events_ = {};
    std::size_t events_cap_ = 1;
    std::unique_ptr<char[]> scratch_ = {};
    std::size_t scratch_len_ = DELTAWIRE_SCRATCH_MIN;
    status status_ = status::ok;
    /// How many batches were begun, and the number of the batch that has unread events; 0 if no batch has any.
    std::uint64_t batches_ = 0;
    std::uint64_t unread_ = 0;
};

/// The events of some bytes; see `parser::batch`. The range points to the parser, which must stay in place. Its
/// iterators are input iterators: all of them refer to the same event.
class batch_range {
public:
    class iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = event;
        using difference_type = std::ptrdiff_t;
        using pointer = const event *;
        using reference = const event &;

        iterator() noexcept = default;
        reference operator*() const noexcept { return range_->current_; }
        pointer operator->() const noexcept { return &range_->current_; }
        iterator &operator++() {
            range_->advance();
            return *this;
        }
        void operator++(int) { range_->advance(); }
        friend bool operator==(const iterator &it, detail::sentinel) noexcept { return it.ended(); }
        friend bool operator!=(const iterator &it, detail::sentinel) noexcept { return !it.ended(); }
#if !defined(__cpp_impl_three_way_comparison)
        friend bool operator==(detail::sentinel, const iterator &it) noexcept { return it.ended(); }
        friend bool operator!=(detail::sentinel, const iterator &it) noexcept { return !it.ended(); }
#endif

    private:
        friend class batch_range;
        explicit iterator(batch_range *range) noexcept : range_(range) {}
        bool ended() const noexcept { return range_->over(); }
        batch_range *range_ = nullptr;
    };

    batch_range(const batch_range &) = delete;
    batch_range &operator=(const batch_range &) = delete;
    /// If the loop was left at the last event, finds out that no events follow, so that the batch counts as read.
    ~batch_range() {
        if (number_ == 0 || parser_->unread_ != number_ || index_ + 1 < count_) return;
#if DELTAWIRE_DETAIL_EXCEPTIONS
        try {
#endif
            if (last_) {
                count_ = 0;
            } else {
                fill();
            }
            parser_->unread_ = count_ == 0 ? 0 : number_;
#if DELTAWIRE_DETAIL_EXCEPTIONS
        } catch (...) {
            parser_->unread_ = number_;  // The next call reports it.
        }
#endif
    }

    /// The next event: the first one or, after a loop that was left early, the event after the last one of that loop.
    iterator begin() {
        advance();
        return iterator(this);
    }
    detail::sentinel end() const noexcept { return {}; }
    /// How many bytes of the data are consumed: all of them after the loop, unless the batch stopped with
    /// status::strict.
    std::size_t consumed() const noexcept { return consumed_; }

private:
    friend class parser;
    /// The C function that reads more events, with the memory for them. A pointer, so that a program links only the
    /// functions that it uses.
    using reader = deltawire_status (*)(batch_range &, deltawire_event *, std::size_t, void *, std::size_t,
                                        deltawire_batch_result *);

    batch_range(parser &p, std::string_view data, reader by, workspace *with, assembler *message) noexcept
        : parser_(&p), data_(data), read_(by), workspace_(with), message_(message) {}

    bool over() const noexcept { return index_ >= count_; }

    void advance() {
        if (number_ == 0) {
            parser_->require_read();
            number_ = parser_->unread_ = ++parser_->batches_;
        }
        if (parser_->unread_ != number_) {
            // The batch ended, or the parser was reset.
            index_ = count_;
            return;
        }
        if (!over()) index_++;
        if (over() && !last_) fill();
        if (over()) {
            parser_->unread_ = 0;
            return;
        }
        current_ = event(&parser_->events_[index_], base_, parser_->scratch_.get());
    }

    /// Reads the next events, if there are any.
    void fill() {
        index_ = 0;
        count_ = 0;
        last_ = true;  // If something below throws, the loop ends.
        parser_->unread_ = 0;
        parser &p = *parser_;
        for (;;) {
            if (status_ == DELTAWIRE_NEED_STORAGE) p.enlarge(message_);
            if (p.events_ == nullptr) p.events_.reset(new deltawire_event[p.events_cap_]);
            if (p.scratch_ == nullptr || need_ > p.scratch_len_) {
                p.scratch_len_ = need_ > p.scratch_len_ ? need_ : p.scratch_len_;
                p.scratch_.reset(new char[p.scratch_len_]);
            }
            deltawire_batch_result out = {};
            status_ = read_(*this, p.events_.get(), p.events_cap_, p.scratch_.get(), p.scratch_len_, &out);
            p.status_ = detail::checked(status_);
            const std::size_t took = out.consumed;
            // In direct reading there is no data: texts lie in the scratch or in the block.
            base_ = data_.empty() ? p.bytes() : data_.data();
            data_.remove_prefix(took);
            consumed_ += took;
            count_ = out.events;
            need_ = out.scratch_need;
            const bool rest = status_ > 0;
            if (count_ != 0 || !rest) {
                last_ = !rest;
                p.unread_ = number_;
                return;
            }
        }
    }

    parser *parser_;
    /// Which of the parser's batches this is; 0 before it begins.
    std::uint64_t number_ = 0;
    std::string_view data_;
    reader read_;
    workspace *workspace_;
    assembler *message_;
    bool last_ = false;
    deltawire_status status_ = DELTAWIRE_OK;
    std::size_t consumed_ = 0;
    std::size_t need_ = 0;
    const char *base_ = nullptr;
    std::size_t index_ = 0;
    std::size_t count_ = 0;
    event current_;
};

inline batch_range parser::batch(std::string_view data) & {
    const auto read = [](batch_range &b, auto... memory) {
        return deltawire_batch(b.parser_->native(), b.data_.data(), b.data_.size(), memory...);
    };
    return batch_range(*this, data, read, nullptr, nullptr);
}
inline batch_range parser::batch(workspace &with, std::string_view data) & {
    const auto read = [](batch_range &b, auto... memory) {
        parser &p = *b.parser_;
        return deltawire_batch_with(p.native(), b.workspace_->native(), b.data_.data(), b.data_.size(), memory...);
    };
    return batch_range(*this, data, read, &with, nullptr);
}
inline batch_range parser::batch(assembler &message, std::string_view data, workspace *with) & {
    const auto read = [](batch_range &b, auto... memory) {
        return deltawire_message_batch(b.message_->native(), b.parser_->native(), native(b.workspace_), b.data_.data(),
                                       b.data_.size(), memory...);
    };
    return batch_range(*this, data, read, with, &message);
}
inline batch_range parser::batch_finish() & {
    const auto read = [](batch_range &b, auto... memory) {
        return deltawire_batch_finish(b.parser_->native(), memory...);
    };
    return batch_range(*this, {}, read, nullptr, nullptr);
}
inline batch_range parser::batch_finish(workspace &with) & {
    const auto read = [](batch_range &b, auto... memory) {
        return deltawire_batch_finish_with(b.parser_->native(), b.workspace_->native(), memory...);
    };
    return batch_range(*this, {}, read, &with, nullptr);
}
inline batch_range parser::batch_finish(assembler &message, workspace *with) & {
    const auto read = [](batch_range &b, auto... memory) {
        return deltawire_message_batch_finish(b.message_->native(), b.parser_->native(), native(b.workspace_),
                                              memory...);
    };
    return batch_range(*this, {}, read, with, &message);
}

// ---------------------------------------------------------------------------------------------------------------------
// The writer

/// How a stream is written, and what each of its events repeats: see `deltawire_writer_config`. The writer copies the
/// texts.
struct writer_config {
    /// Chat completions, Responses or Anthropic.
    deltawire::protocol protocol = deltawire::protocol::chat;
    std::string_view id = {};
    std::string_view model = {};
    /// More members, a JSON object.
    std::string_view members = {};
    /// Seconds since 1970.
    std::uint64_t created = 0;
    std::uint64_t first_sequence = 0;
    /// Chat completions: the request has `stream_options.include_usage`.
    bool usage = false;
    /// Each event has an `id`: its sequence number.
    bool event_ids = false;
    /// Milliseconds; 0: none.
    std::uint32_t retry = 0;
    /// Bytes of text in an event; 0 is 4096.
    std::uint32_t text_len = 0;
    /// The largest block, in bytes; 0 is 64 MiB. An event that needs more throws status::need_storage.
    std::size_t max_bytes = 0;
};

/// Writes a response as an event stream: `put` its events, then `finish()`, or `fail` if it is not whole. The bytes to
/// send collect in `written()`; `clear()` them when they are sent. docs/writing.md tells what becomes of each event.
///
/// Calls return status::ok, or why nothing was written: no_place, late, json, range, unfinished (`finish`) or ended. The
/// stream goes on with the next event.
class writer {
public:
    explicit writer(const writer_config &how)
        : max_(detail::block_len(how.max_bytes == 0 ? std::size_t{64} << 20 : how.max_bytes)) {
        deltawire_writer_config c = DELTAWIRE_WRITER_CONFIG_INIT;
        c.protocol = static_cast<std::uint32_t>(how.protocol);
        c.flags = (how.usage ? std::uint32_t{DELTAWIRE_WRITE_USAGE} : 0U) |
                  (how.event_ids ? std::uint32_t{DELTAWIRE_WRITE_EVENT_IDS} : 0U);
        c.text_len = how.text_len;
        c.retry = how.retry;
        c.created = how.created;
        c.first_sequence = how.first_sequence;
        c.id = {how.id.data(), how.id.size()};
        c.model = {how.model.data(), how.model.size()};
        c.members = {how.members.data(), how.members.size()};
        const std::size_t size = deltawire_writer_size(&c, 1024);
        if (size == 0) detail::fail(status::config);
        len_ = detail::block_len(size);
        block_ = detail::make_block(len_);
        detail::checked(deltawire_writer_init(block_.get(), len_, &c, nullptr));
    }
    writer(writer &&) noexcept = default;
    writer &operator=(writer &&) noexcept = default;

    /// Writes an event of a batch. Join a text of JSON that came in pieces first.
    status put(const event &e) { return put(e.native(), e.text(), e.aux()); }
    /// Writes an event with these texts: its offsets and lengths do not count.
    status put(const deltawire_event &e, std::string_view text, std::string_view aux = {}) {
        return call([&](char *buf, std::size_t cap, std::size_t *len) {
            return deltawire_writer_put(native(), &e, text.data(), text.size(), aux.data(), aux.size(), buf, cap, len);
        });
    }
    /// Writes a text: content, a whole name, a finish reason, the JSON of a usage, … For a tool call the text is its ID.
    status put(event_kind kind, std::string_view text, std::uint32_t choice = 0, std::uint32_t call = 0) {
        deltawire_event e = {};
        e.kind = static_cast<std::uint16_t>(kind);
        e.choice = choice;
        e.call = call;
        if (kind == event_kind::tool_name || kind == event_kind::function_name) e.flags = DELTAWIRE_EVF_REPLACES;
        return put(e, text);
    }
    /// Reads `data` with the parser, and writes what becomes of the response. If ID and model are empty and `created` is
    /// 0, they are those of the response. The parser's block grows as well.
    status translate(parser &from, std::string_view data) {
        return translate_by(from, [&](auto... out) {
            std::size_t consumed = 0;
            const deltawire_status s =
                deltawire_translate(native(), from.native(), data.data(), data.size(), &consumed, out...);
            data.remove_prefix(consumed);
            return s;
        });
    }
    /// Ends the stream that the parser reads, and this one: with an error if the response is not complete.
    status translate_finish(parser &from) {
        return translate_by(
            from, [&](auto... out) { return deltawire_translate_finish(native(), from.native(), out...); });
    }
    /// How many updates a translation left out: those that the protocol has no place for, and those that were lost.
    std::pair<std::uint64_t, std::uint64_t> left_out() const {
        std::pair<std::uint64_t, std::uint64_t> counts = {};
        detail::checked(deltawire_translate_left_out(reinterpret_cast<const deltawire_writer *>(block_.get()), &counts.first,
                                                     &counts.second));
        return counts;
    }
    /// Ends the stream after every choice has a finish reason.
    status finish() {
        return call([&](char *buf, std::size_t cap, std::size_t *len) {
            return deltawire_writer_finish(native(), buf, cap, len);
        });
    }
    /// Ends the stream with an error.
    status fail(std::string_view message) {
        return call([&](char *buf, std::size_t cap, std::size_t *len) {
            return deltawire_writer_fail(native(), message.data(), message.size(), buf, cap, len);
        });
    }
    /// Writes what only keeps the connection alive.
    status keep_alive() {
        return call([&](char *buf, std::size_t cap, std::size_t *len) {
            return deltawire_writer_keep_alive(native(), buf, cap, len);
        });
    }

    /// The bytes that were written and not cleared; valid until the next call.
    std::string_view written() const noexcept { return std::string_view(buffer_.data(), used_); }
    void clear() noexcept { used_ = 0; }

    /// The writer of the C interface; NULL if this object was moved from.
    deltawire_writer *native() noexcept { return reinterpret_cast<deltawire_writer *>(block_.get()); }

private:
    template <class Call>
    status call(Call write) {
        for (;;) {
            const deltawire_status s = write(buffer_.data(), buffer_.size(), &used_);
            if (s == DELTAWIRE_NEED_ROOM) {
                buffer_.resize(2 * (used_ + deltawire_writer_room(native())));
            } else if (s == DELTAWIRE_NEED_STORAGE) {
                grow();
            } else if (s == DELTAWIRE_E_RANGE || (s <= DELTAWIRE_E_NO_PLACE && s >= DELTAWIRE_E_ENDED)) {
                return static_cast<status>(s);
            } else {
                return detail::checked(s);
            }
        }
    }

    template <class Call>
    status translate_by(parser &from, Call run) {
        return call([&](char *buf, std::size_t cap, std::size_t *len) {
            deltawire_status s = DELTAWIRE_OK;
            while ((s = run(buf, cap, len)) == DELTAWIRE_NEED_STORAGE && deltawire_writer_need(native()) <= len_) {
                from.move_to(deltawire_need(from.native()));
            }
            return s;
        });
    }

    void grow() {
        const std::size_t need = deltawire_writer_need(native());
        if (need > max_) detail::fail(status::need_storage);
        const std::size_t len = detail::block_len(need < max_ / 2 ? 2 * need : max_);
        detail::block next = detail::make_block(len);
        std::memcpy(next.get(), block_.get(), len_);
        block_ = std::move(next);
        len_ = len;
        detail::checked(deltawire_writer_resize(native(), len_));
    }

    detail::block block_ = {};
    std::size_t len_ = 0;
    std::size_t max_ = 0;
    std::string buffer_ = {};
    std::size_t used_ = 0;
};

}  // namespace deltawire

#undef DELTAWIRE_DETAIL_EXCEPTIONS

#endif  // C++17
#endif  // DELTAWIRE_HPP
