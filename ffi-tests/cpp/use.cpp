// use SAMPLES: tests deltawire.hpp besides the events: ownership, growth, pauses, values, the assembler.
#include "check.hpp"
#include "log.hpp"

#include <clocale>
#include <cmath>
#include <cstring>
#include <random>

namespace {

test::outcome sum;

using deltawire::event_kind;
using deltawire::flow;
using deltawire::status;
using std::string_view;

// ---------------------------------------------------------------------------------------------------------------------
// Compile-time checks

static_assert(!std::is_copy_constructible_v<deltawire::parser> && !std::is_copy_assignable_v<deltawire::parser>);
static_assert(std::is_nothrow_move_constructible_v<deltawire::parser>);
static_assert(std::is_nothrow_move_assignable_v<deltawire::parser>);
static_assert(!std::is_copy_constructible_v<deltawire::assembler>);
static_assert(!std::is_copy_constructible_v<deltawire::workspace>);
static_assert(std::is_nothrow_move_constructible_v<deltawire::workspace>);
static_assert(std::is_nothrow_move_assignable_v<deltawire::workspace>);
static_assert(std::is_nothrow_move_constructible_v<deltawire::assembler>);
static_assert(!std::is_copy_constructible_v<deltawire::batch_range> &&
              !std::is_move_constructible_v<deltawire::batch_range>);
static_assert(std::is_trivially_copyable_v<deltawire::value>);
static_assert(!std::is_convertible_v<const char *, deltawire::value>);
struct one_method {
    void on_content(string_view) {}
};
static_assert(deltawire::mask_of(event_kind::content, event_kind::done) ==
              (DELTAWIRE_MASK(DELTAWIRE_EV_CONTENT) | DELTAWIRE_MASK(DELTAWIRE_EV_DONE)));
static_assert(deltawire::quirk_set().with(deltawire::quirk(70)).has(deltawire::quirk(70)));
static_assert(!deltawire::quirk_set::all().without(deltawire::quirk(70)).has(deltawire::quirk(70)));
static_assert(!deltawire::quirk_set::all().has(deltawire::quirk(DELTAWIRE_QUIRKS)));
#if defined(__cpp_lib_ranges)
static_assert(std::input_iterator<deltawire::batch_range::iterator>);
static_assert(std::input_iterator<deltawire::value::element_range::iterator>);
#endif

template <class Call>
status error_of(Call call) {
    try {
        call();
    } catch (const deltawire::error &e) {
        CHECK(sum, e.what() != nullptr && string_view(e.what()) == describe(e.code()) && !to_string(e.code()).empty());
        return e.code();
    }
    return status::ok;
}

std::string content_chunk(string_view text) {
    return "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + std::string(text) + "\"}}]}\n\n";
}

// ---------------------------------------------------------------------------------------------------------------------

/// Callbacks of missing methods are NULL.
void tables() {
    const deltawire_callbacks one = deltawire::detail::table<one_method>::value;
    CHECK(sum, one.size == sizeof one && one.on_content != nullptr);
    CHECK(sum, one.on_chunk == nullptr && one.on_frame == nullptr && one.on_sse == nullptr);
    const deltawire_callbacks none = deltawire::detail::table<deltawire::discard>::value;
    CHECK(sum, none.size == sizeof none && none.on_content == nullptr);
}

void moves_and_clones() {
    const std::string input =
        ": hello\n\n" + content_chunk("a\\ud83d") + content_chunk("\\ude00b") +
        "id: 7\ndata: {\"choices\":[{\"delta\":{\"content\":\"c\"},\"finish_reason\":\"stop\"}]}\n\n"
        "data: [DONE]\n\n";
    test::how whole;
    const test::lines wanted = test::by_handler(input, whole);
    CHECK(sum, wanted.size() > 6);
    for (std::size_t cut = 0; cut <= input.size(); cut++) {
        const string_view head = string_view(input).substr(0, cut);
        const string_view tail = string_view(input).substr(cut);
        deltawire::config config;
        config.event_bytes = 0;
        deltawire::parser first(config);
        test::logger log;
        (void)first.feed(head, log);
        // The clone continues where the original is, and they are independent.
        deltawire::parser second = first.clone();
        test::logger copy = log;
        deltawire::parser moved(std::move(first));
        (void)moved.feed(tail, log);
        (void)moved.finish(log);
        CHECK(sum, test::close(moved, std::move(log), false) == wanted);
        first = std::move(second);
        swap(first, moved);
        swap(first, moved);
        first.shrink();
        (void)first.feed(tail, copy);
        (void)first.finish(copy);
        CHECK(sum, test::close(first, std::move(copy), false) == wanted);
        // The original was moved from; every method reports that.
        deltawire::parser &empty = second;
        CHECK(sum, empty.native() == nullptr);
        CHECK(sum, error_of([&] { (void)empty.feed("x", deltawire::discard{}); }) == status::null);
        CHECK(sum, error_of([&] { (void)empty.finish(deltawire::discard{}); }) == status::null);
        CHECK(sum, error_of([&] { empty.reset(); }) == status::null);
        CHECK(sum, error_of([&] { (void)empty.end(); }) == status::null);
        CHECK(sum, error_of([&] { (void)empty.clone(); }) == status::null);
        CHECK(sum, error_of([&] { empty.shrink(); }) == status::null);
        CHECK(sum, error_of([&] {
                       for (const auto &e : empty.batch("x")) (void)e;
                   }) == status::null);
        CHECK(sum, empty.quirk_count(deltawire::quirk(0)) == 0 && !empty.error_quirk());
        second = deltawire::parser();
        CHECK(sum, second.feed(input, deltawire::discard{}).ok());
        deltawire::parser &same = second;
        second = std::move(same);
        CHECK(sum, second.end().offset == input.size());
    }
}

void growth() {
    const std::string text(1 << 20, 'x');
    const std::string long_text = text.substr(0, (1 << 20) - 4096);
    for (const bool by_batch : {false, true}) {
        deltawire::config config;
        config.event_bytes = 0;
        config.batch_scratch = 64;
        config.batch_events = 1;
        deltawire::parser parser(config);
        const std::size_t least = parser.block_size();
        CHECK(sum, least == deltawire_block_size(nullptr, 0));
        std::string got;
        const auto take = deltawire::callbacks().on_content([&](string_view t) { got += t; });
        const std::string input = content_chunk(long_text) + content_chunk("end");
        for (std::size_t at = 0; at < input.size(); at += 4096) {
            const test::slice given(string_view(input).substr(at, 4096));
            if (by_batch) {
                for (const auto &e : parser.batch(given.view()))
                    if (e.kind() == event_kind::content) got += e.text();
                CHECK(sum, parser.last_status() == status::ok);
            } else {
                const auto r = parser.feed(given.view(), take);
                CHECK(sum, r.ok() && r.consumed == given.view().size());
            }
        }
        CHECK(sum, got == long_text + "end");
        CHECK(sum, parser.block_size() > long_text.size() && parser.block_size() < 4 * long_text.size());
        parser.shrink();
        CHECK(sum, parser.block_size() <= least + 64);
        CHECK(sum, parser.feed(content_chunk("more"), take).ok());
        CHECK(sum, got == long_text + "endmore");
        // Nothing grows beyond the limit: the event is too long, and the stream continues.
        got.clear();
        int too_long = 0;
        parser.reset();
        const auto told =
            deltawire::callbacks().on_content([&](string_view t) { got += t; }).on_too_long([&] { too_long++; });
        const std::string over = content_chunk(text) + content_chunk("after");
        for (std::size_t at = 0; at < over.size(); at += 1000)
            CHECK(sum, parser.feed(string_view(over).substr(at, 1000), told).ok());
        CHECK(sum, too_long == 1 && got == "after");
        CHECK(sum, parser.block_size() <= 2 * deltawire_block_size(nullptr, 1 << 20));
    }
    // Without growth, an event that does not fit is too long.
    deltawire::config fixed;
    fixed.grow = false;
    fixed.event_bytes = 32;
    deltawire::parser parser(fixed);
    int too_long = 0;
    for (const char c : content_chunk("more than 32 bytes"))
        (void)parser.feed({&c, 1}, deltawire::callbacks().on_too_long([&](deltawire::at) { too_long++; }));
    CHECK(sum, too_long == 1 && parser.block_size() == deltawire_block_size(nullptr, 32));
    // IDs, names, roles and finish reasons are never split: the scratch grows for them.
    const std::string id(5000, 'i');
    const std::string name(5000, 'n');
    const std::string input = "data: {\"choices\":[{\"finish_reason\":\"\\u0066" + name +
                              "\",\"delta\":{\"role\":\"\\u0072" + name +
                              "\",\"tool_calls\":[{\"index\":0,\"id\":\"\\u0069" + id +
                              "\",\"function\":{\"name\":\"" + name + "\\u006e\",\"arguments\":\"\"}}]}}]}\n\n";
    deltawire::config small;
    small.batch_scratch = 1;
    deltawire::parser batches(small);
    int seen = 0;
    for (const auto &e : batches.batch(input)) {
        if (e.kind() == event_kind::tool_call) {
            seen++;
            CHECK(sum, e.text() == "i" + id && e.opens() && !e.more());
        }
        if (e.kind() == event_kind::tool_name) {
            seen++;
            CHECK(sum, e.replaces() && !e.more() && e.text() == name + "n");
        }
        if (e.kind() == event_kind::role) {
            seen++;
            CHECK(sum, !e.more() && e.text() == "r" + name);
        }
        if (e.kind() == event_kind::finish) {
            seen++;
            CHECK(sum, !e.more() && e.text() == "f" + name);
        }
    }
    CHECK(sum, seen == 4);
}

/// What `end` reports of a stream.
void ends() {
    const std::string done = "data: [DONE]\n\n";
    const auto end_of = [](const std::string &input, const deltawire::config &how = {}) {
        deltawire::parser parser(how);
        (void)parser.feed(input, deltawire::discard{});
        (void)parser.finish();
        return parser.end();
    };
    CHECK(sum, end_of(content_chunk("a") + done).complete() && !end_of(content_chunk("a")).complete());
    const auto inside = end_of(content_chunk("a") + done + "data: {");
    CHECK(sum, inside.complete() && inside.how == deltawire::verdict::done && inside.pending == deltawire::pending::event);
    const auto broken = end_of(content_chunk("a") + "data: {\"choices\":[{]\n\n" + done);
    CHECK(sum, !broken.complete() && broken.how == deltawire::verdict::done && broken.malformed == 1);
    deltawire::config tight;
    tight.max_event_len = 100;
    const auto cut = end_of(content_chunk("a") + content_chunk(std::string(200, 'a')) + done, tight);
    CHECK(sum, !cut.complete() && cut.how == deltawire::verdict::done && cut.too_long == 1);
    static_assert(static_cast<std::uint32_t>(deltawire::mode::usage) == DELTAWIRE_MODE_USAGE, "the modes of C");
}

/// The sentence about the end of each wrong input, and what an exception says is to be done.
void sentences() {
    const auto sentence = [](const std::string &input) {
        deltawire::config how;
        how.max_event_len = 200;
        deltawire::parser parser(how);
        (void)parser.feed(input, deltawire::discard{});
        (void)parser.finish();
        return to_string(parser.end());
    };
#define ENDS(INPUT, SENTENCE) CHECK(sum, sentence(std::string(INPUT, sizeof(INPUT) - 1)) == (SENTENCE));
#include "../ends.inc"
#undef ENDS
    deltawire::parser parser;
    (void)parser.feed("\n<p>", deltawire::discard{});
    (void)parser.finish();
    const auto page = parser.end();
    CHECK(sum, page.first_bytes() == "<p>" && page.media == deltawire::media::html);
    try {
        (void)parser.feed("more", deltawire::discard{});
        CHECK(sum, false);
    } catch (const deltawire::error &e) {
        CHECK(sum, std::string(e.what()).find("reset") != std::string::npos);
    }
    parser.reset();
    const auto stops = deltawire::callbacks().on_content([](std::string_view) { return flow::abort; });
    CHECK(sum, parser.feed(content_chunk("a"), stops).status == status::aborted);
    CHECK(sum, parser.end().how == deltawire::verdict::aborted && to_string(parser.end()) == "aborted: the caller broke off");
    CHECK(sum, to_string(parser.end().how) == "Aborted");
}

void pauses() {
    const std::string input = content_chunk("a") + content_chunk("b") + content_chunk("c");
    struct handler {
        std::string seen;
        int again = 0;
        flow on_chunk(deltawire::at, deltawire::chunk_view) {
            seen += '{';
            if (again > 0) {
                again--;
                return flow::again;
            }
            return flow::go_on;
        }
        flow on_content(string_view text) {
            seen += text;
            return text == "b" ? flow::pause : flow::go_on;
        }
        void on_frame(deltawire::at) { seen += '}'; }
    } h;
    h.again = 2;
    deltawire::parser parser;
    string_view rest = input;
    std::string returns;
    while (true) {
        const deltawire::result r = parser.feed(rest, h);
        rest.remove_prefix(r.consumed);
        returns += std::to_string(r.consumed) + (r.paused() ? "p " : ". ");
        CHECK(sum, r.status == parser.last_status());
        if (r.ok()) break;
    }
    CHECK(sum, rest.empty());
    // Called again twice, then a pause after the second event, whose other methods are still called.
    CHECK(sum, h.seen == "{{{a}{b}{c}");
    const std::size_t one = content_chunk("a").size();
    CHECK(sum, returns.substr(0, 6) == "0p 0p ");
    CHECK(sum, returns == "0p 0p " + std::to_string(2 * one) + "p " + std::to_string(one) + ". ");
    // A pause in finish: a pending surrogate is emitted late.
    deltawire::parser late;
    std::string got;
    const auto pausing = deltawire::callbacks().on_content([&](string_view text) {
        got += text;
        return flow::pause;
    });
    (void)late.feed(content_chunk("\\ud83d"), pausing);
    CHECK(sum, late.feed("", pausing).ok() && got.empty());
    int rounds = 0;
    while (late.finish(pausing) == status::paused) rounds++;
    CHECK(sum, rounds == 1 && got == "\xEF\xBF\xBD" && late.end().finished);
    CHECK(sum, late.finish(pausing) == status::ok && got.size() == 3);
    CHECK(sum, error_of([&] { (void)late.feed("x", pausing); }) == status::state);
    // Fewer bytes than are pending: misuse that changes nothing.
    deltawire::parser resumed;
    handler again;
    again.again = 1;
    CHECK(sum, resumed.feed(input, again).paused());
    CHECK(sum, resumed.feed(input, again).paused() && again.seen == "{{a}{b}");
}

void batches() {
    std::string input;
    for (int i = 0; i < 200; i++) input += content_chunk(std::to_string(i) + (i % 3 == 0 ? "\\n" : " "));
    std::string wanted;
    for (int i = 0; i < 200; i++) wanted += std::to_string(i) + (i % 3 == 0 ? "\n" : " ");
    deltawire::config config;
    config.batch_events = 7;
    config.events = deltawire::mask_of(event_kind::content);
    deltawire::parser parser(config);
    std::string got;
    std::size_t in_place = 0;
    for (const auto &e : parser.batch(input)) {
        CHECK(sum, e.kind() == event_kind::content && e.choice() == 0);
        got += e.text();
        if (e.text().data() >= input.data() && e.text().data() < input.data() + input.size()) in_place++;
    }
    CHECK(sum, got == wanted && in_place >= 130);
    // After leaving a loop, reading continues after its last event.
    parser.reset();
    got.clear();
    deltawire::batch_range range = parser.batch(input);
    int loops = 0;
    bool over = false;
    while (!over) {
        over = true;
        int n = 0;
        for (const auto &e : range) {
            got += e.text();
            if (++n == 10) {
                over = false;
                break;
            }
        }
        loops++;
    }
    CHECK(sum, got == wanted && loops == 21 && range.consumed() == input.size());
    CHECK(sum, range.begin() == range.end());
    // A batch that was left early cannot be lost: every call that would skip its events throws.
    for (const std::size_t after : {1U, 6U, 7U, 8U}) {
        parser.reset();
        std::size_t n = 0;
        for (const auto &e : parser.batch(input)) {
            (void)e;
            if (++n == after) break;
        }
        const auto refuses = [&](auto call) { return error_of(call) == status::resume; };
        CHECK(sum, refuses([&] { (void)parser.feed("x", deltawire::discard{}); }));
        CHECK(sum, refuses([&] { (void)parser.finish(); }));
        CHECK(sum, refuses([&] { (void)parser.clone(); }));
        CHECK(sum, refuses([&] { parser.shrink(); }));
        CHECK(sum, refuses([&] { (void)parser.reserve(); }));
        CHECK(sum, refuses([&] {
                       for (const auto &e : parser.batch("x")) (void)e;
                   }));
        CHECK(sum, refuses([&] {
                       for (const auto &e : parser.batch_finish()) (void)e;
                   }));
        CHECK(sum, !parser.end().finished);
    }
    // The stream is not complete until the same range is read to its end, however many events a call of the library returns.
    const std::string whole = content_chunk("Hel") + content_chunk("lo") + "data: [DONE]\n\n";
    for (const std::size_t size : {1U, 2U, 100U}) {
        deltawire::config how;
        how.batch_events = size;
        deltawire::parser left(how);
        {
            deltawire::batch_range both = left.batch(whole);
            for (const auto &e : both) {
                CHECK(sum, !left.end().complete());
                if (e.kind() == event_kind::content) break;
            }
            CHECK(sum, !left.end().complete());
            for (const auto &e : both) (void)e;
            CHECK(sum, left.end().complete() && left.end().how == deltawire::verdict::done);
        }
        left.reset();
        for (const auto &e : left.batch(whole))
            if (e.kind() == event_kind::content) break;
        CHECK(sum, !left.end().complete());
        left.reset();
        for (const auto &e : left.batch(whole)) (void)e;
        CHECK(sum, left.end().complete());
    }
    // A range that was left at its last event is read, however many events a call of the library returns.
    for (const std::size_t size : {1U, 7U, 100U, 200U, 201U}) {
        config.batch_events = size;
        deltawire::parser last(config);
        std::size_t n = 0;
        for (const auto &e : last.batch(input)) {
            (void)e;
            if (++n == 200) break;
        }
        for (const auto &e : last.batch_finish()) (void)e;
        CHECK(sum, n == 200 && last.end().finished);
    }
    parser.reset();
    // A reset ends the batch, even if its range is still there; so does its last event.
    deltawire::batch_range old = parser.batch(input);
    CHECK(sum, old.begin() != old.end());
    parser.reset();
    CHECK(sum, old.begin() == old.end());
    deltawire::batch_range never = parser.batch(input);
    got.clear();
    for (const auto &e : parser.batch(input)) got += e.text();
    CHECK(sum, got == wanted && never.consumed() == 0);
    CHECK(sum, parser.feed("\n", deltawire::discard{}).ok());
    // No input, and the end.
    for (const auto &e : parser.batch("")) CHECK(sum, e.kind() == event_kind::frame);
    for (const auto &e : parser.batch_finish()) CHECK(sum, e.kind() == event_kind::frame);
    CHECK(sum, parser.end().finished && parser.end().how == deltawire::verdict::truncated);
    // Quirks that are errors end the loop, after the events before them.
    deltawire::config strict;
    strict.errors = deltawire::quirk_set::all();
    deltawire::parser stops(strict);
    got.clear();
    const std::string odd = content_chunk("a") + "data: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\n";
    for (const auto &e : stops.batch(odd))
        if (e.kind() == event_kind::content) got += e.text();
    CHECK(sum, stops.last_status() == status::strict && stops.error_quirk() && stops.error_quirk()->known());
    CHECK(sum, got == "a" && stops.error_offset() == content_chunk("a").size());
    int events = 0;
    for (const auto &e : stops.batch("data: {}\n\n")) events += e.code() == 0 ? 1 : 1;
    CHECK(sum, events == 0 && stops.last_status() == status::strict);
    CHECK(sum, stops.feed("x", deltawire::discard{}).status == status::strict);
    stops.reset();
    CHECK(sum, stops.last_status() == status::ok && !stops.error_quirk());
}

/// Each usage of a batch has its counts.
void usages() {
    const auto chunk = [](const char *usage) { return "data: {\"choices\":[],\"usage\":" + std::string(usage) + "}\n\n"; };
    const std::string input = chunk("{\"prompt_tokens\":3,\"completion_tokens_details\":{\"reasoning_tokens\":4}}") +
                              chunk("{\"total_tokens\":5}") + chunk("{}") + chunk("null");
    deltawire::config config;
    config.events = deltawire::mask_of(event_kind::usage);
    deltawire::parser parser(config);
    std::vector<deltawire::token_usage> all;
    for (const auto &e : parser.batch(input)) {
        const auto counts = e.usage();
        CHECK(sum, counts.has_value());
        if (counts) all.push_back(*counts);
    }
    CHECK(sum, all.size() == 2 && all[0].prompt == 3U && all[0].reasoning == 4U && !all[0].total);
    CHECK(sum, all.size() == 2 && all[1].total == 5U && !all[1].prompt && parser.last_usage()->total == 5U);
    // Usage of other protocols is read under their names, as this event has it. The usage of the stream is merged.
    const auto anthropic = [](const char *type, const char *members) {
        return std::string("event: ") + type + "\ndata: {\"type\":\"" + type + "\"," + members + "}\n\n";
    };
    const std::string message =
        anthropic("message_start", "\"message\":{\"role\":\"assistant\",\"usage\":{\"input_tokens\":9,"
                                   "\"cache_read_input_tokens\":4,\"output_tokens\":1}}") +
        anthropic("message_delta", "\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":82}") +
        anthropic("message_stop", "\"x\":1");
    deltawire::parser other(config);
    all.clear();
    for (const auto &e : other.batch(message)) {
        CHECK(sum, e.is_native() && e.code() == DELTAWIRE_PROTOCOL_ANTHROPIC);
        all.push_back(e.usage().value_or(deltawire::token_usage()));
    }
    CHECK(sum, all.size() == 2 && all[0].prompt == 13U && all[1].completion == 82U && !all[1].prompt);
    CHECK(sum, other.last_usage()->prompt == 13U && other.last_usage()->completion == 82U);
    CHECK(sum, other.end().complete() && other.end().protocol == deltawire::protocol::anthropic);
    other.reset();
    all.clear();
    (void)other.feed(message, deltawire::callbacks().on_usage([&](const deltawire::value &v) {
        all.push_back(deltawire::token_usage::of(v).value_or(deltawire::token_usage()));
    }));
    CHECK(sum, all.size() == 2 && all[0].prompt == 13U && all[1].completion == 82U);
    CHECK(sum, !deltawire::token_usage::of(deltawire::value()) && !deltawire::token_usage::of(deltawire::value::open("[]")));
}

/// What a meter has, and when it has none.
void meters() {
    const auto status_of = [](const deltawire::parser &parser) {
        try {
            (void)parser.meter();
        } catch (const deltawire::error &e) {
            return e.code();
        }
        return status::ok;
    };
    CHECK(sum, status_of(deltawire::parser()) == status::state);
    deltawire::config config;
    config.mode = deltawire::mode::usage;
    config.event_bytes = 8;
    deltawire::parser parser(config);
    auto meter = parser.meter();
    CHECK(sum, !meter.first && !meter.last && !meter.finish && !meter.usage && meter.events == 0 && meter.model.empty());
    const std::string role = "data: {\"model\":\"m\",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";
    const std::string input =
        role + content_chunk("Gr\u00fc\u00dfe") +
        "data: {\"choices\":[{\"delta\":{\"reasoning\":\"\\ud83d\\ude00\",\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":"
        "{\"name\":\"f\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n"
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3}}\n\ndata: [DONE]\n\n";
    const std::size_t cut = role.size() + content_chunk("Gr\u00fc\u00dfe").size();
    (void)parser.feed(input.substr(0, cut + 20), deltawire::discard{});
    deltawire::parser left = parser.clone();
    (void)left.finish();
    meter = left.meter();
    CHECK(sum, meter.first->kind == deltawire::token_kind::content && meter.first->event == 2);
    CHECK(sum, meter.first->offset == role.size() && meter.last->offset == role.size() && meter.token_events == 1);
    CHECK(sum, meter.content.bytes == 7 && meter.content.chars == 5 && !meter.finish && meter.model == "m");
    CHECK(sum, left.end().how == deltawire::verdict::truncated && meter.calls == 0);
    // The rest in batches, after a move; the meter is not behind the loop.
    deltawire::parser moved = std::move(parser);
    CHECK(sum, status_of(parser) == status::null);
    auto rest = moved.batch(string_view(input).substr(cut + 20));
    for (const auto &e : rest) {
        CHECK(sum, e.kind() == event_kind::chunk && moved.meter().usage->prompt == 3U);
        break;
    }
    for (const auto &e : rest) (void)e;
    for (const auto &e : moved.batch_finish()) (void)e;
    meter = moved.meter();
    CHECK(sum, meter.last->kind == deltawire::token_kind::call && meter.last->event == 3 && meter.last->offset == cut);
    CHECK(sum, meter.reasoning.bytes == 4 && meter.reasoning.chars == 1 && meter.arguments.bytes == 2);
    CHECK(sum, meter.calls == 1 && meter.names == 1 && meter.call_names[0] == "f" && meter.call_names[1].empty());
    CHECK(sum, meter.finish == deltawire::finish_reason::tool_calls && meter.finish_text == "tool_calls");
    CHECK(sum, meter.events == 5 && meter.token_events == 2 && !meter.iterations && meter.error.empty());
    moved.reset();
    CHECK(sum, !moved.meter().first && moved.meter().calls == 0 && status_of(moved) == status::ok);
}

void direct_reading() {
    std::string input;
    for (int i = 0; i < 50; i++) input += content_chunk("n" + std::to_string(i) + (i % 2 == 0 ? "\\u0041" : "B"));
    std::string wanted;
    for (int i = 0; i < 50; i++) wanted += "n" + std::to_string(i) + (i % 2 == 0 ? "A" : "B");
    for (const std::uint32_t read_len : {16U, 64U, 1448U}) {
        for (const bool by_batch : {false, true}) {
            deltawire::config config;
            config.event_bytes = 8;
            config.batch_events = 2;
            config.read_len = read_len;
            deltawire::parser parser(config);
            std::string got;
            int pauses = 0;
            const auto take = deltawire::callbacks().on_content([&](string_view t) {
                got += t;
                return pauses++ % 3 == 0 ? flow::pause : flow::go_on;
            });
            for (std::size_t at = 0; at < input.size();) {
                const deltawire::read_buffer room = parser.reserve();
                const std::size_t n = std::min(room.size, input.size() - at);
                CHECK(sum, n > 0);
                if (n == 0) return;
                std::memcpy(room.data, input.data() + at, n);
                parser.commit(n);
                at += n;
                if (by_batch) {
                    for (const auto &e : parser.batch({}))
                        if (e.kind() == event_kind::content) got += e.text();
                } else {
                    while (parser.feed({}, take).paused()) {}
                }
                CHECK(sum, parser.last_status() == status::ok);
            }
            CHECK(sum, got == wanted);
        }
    }
    deltawire::parser none;
    CHECK(sum, error_of([&] { none.reserve(); }) == status::state);
    CHECK(sum, error_of([&] { none.commit(1); }) == status::state);
}

// ---------------------------------------------------------------------------------------------------------------------

bool same(std::optional<double> got, double wanted) { return got && std::memcmp(&*got, &wanted, sizeof wanted) == 0; }

void doubles() {
    const auto read = [](const std::string &text) { return deltawire::value::open(text).as_double(); };
    const char *fixed[] = {"0",
                           "-0",
                           "0.0",
                           "1",
                           "-1",
                           "0.1",
                           "0.5",
                           "1e22",
                           "1e23",
                           "123456789012345678",
                           "9007199254740993",
                           "9007199254740992",
                           "9007199254740991",
                           "1.7976931348623157e308",
                           "4.9e-324",
                           "2.2250738585072014e-308",
                           "2.2250738585072011e-308",
                           "0.000001",
                           "1E5",
                           "1e+5",
                           "1e-7",
                           "12345678901234567890123",
                           "0.30000000000000004",
                           "1.00000000000000011102230246251565404",
                           "1.00000000000000011102230246251565405",
                           "8.988465674311581e307",
                           "6.0221407623E+23",
                           "-1e-300",
                           "3.141592653589793238462643383279"};
    for (const char *text : fixed) CHECK(sum, same(read(text), std::strtod(text, nullptr)));
    const double infinite = std::numeric_limits<double>::infinity();
    CHECK(sum, same(read("1e400"), infinite) && same(read("-1e400"), -infinite));
    CHECK(sum, same(read("1e-400"), 0.0) && same(read("-1e-400"), -0.0));
    CHECK(sum, same(read("1e99999999999999999999"), infinite) && same(read("1e-99999999999999999999"), 0.0));
    CHECK(sum, same(read("0e99999999999999999999"), 0.0));
    CHECK(sum, same(read("0." + std::string(400, '0') + "1e401"), 1.0));
    CHECK(sum, same(read("1" + std::string(400, '0') + "e-400"), 1.0));
    CHECK(sum, same(read(std::string(2000, '9') + "." + std::string(2000, '9') + "e-1990"), 1e10));
    CHECK(sum, !read("true") && !read("\"1\"") && !read("") && !deltawire::value().as_double());
    std::mt19937_64 random(20);
    for (int i = 0; i < 20000; i++) {
        std::uint64_t bits = random();
        double any = 0;
        std::memcpy(&any, &bits, sizeof any);
        std::array<char, 64> text;
        if (std::isfinite(any)) {
            std::snprintf(text.data(), text.size(), i % 2 == 0 ? "%.17g" : "%.25e", any);
            CHECK(sum, same(read(text.data()), std::strtod(text.data(), nullptr)));
        }
        std::snprintf(
            text.data(), text.size(), "%llu.%llue%d", static_cast<unsigned long long>(random() >> (random() % 64)),
            static_cast<unsigned long long>(random() >> (random() % 64)), static_cast<int>(random() % 50) - 25);
        CHECK(sum, same(read(text.data()), std::strtod(text.data(), nullptr)));
    }
}

void values() {
    const std::string json =
        R"({"a":1,"b":[1,"two",null,true,false,{"c":-3.5}],"\u0065sc":"x\ny\ud83d\ude00","n":10.0,"e":1e3,)"
        R"("max":18446744073709551615,"over":18446744073709551616,"min":-9223372036854775808,"a":2,"o":{},"l":[]})";
    const auto v = deltawire::value::open(json);
    CHECK(sum, v && v.is_object() && v.type() == deltawire::value_type::object && v.raw() == json);
    CHECK(sum, v["a"].as_u64() == 2U);
    CHECK(sum, !v["nothing"] && !v["a"]["b"] && !v["nothing"].as_u64() && v["nothing"].raw().empty());
    CHECK(sum, v["esc"].as_string() == "x\ny\xF0\x9F\x98\x80" && !v["esc"].view() &&
                   v["esc"].equals("x\ny\xF0\x9F\x98\x80"));
    CHECK(sum,
          v["n"].as_u64() == 10U && v["n"].as_i64() == 10 && v["e"].as_i64() == 1000 && v["n"].as_string() == "10.0");
    CHECK(sum, v["max"].as_u64() == UINT64_MAX && !v["max"].as_i64() && !v["over"].as_u64());
    CHECK(sum, v["min"].as_i64() == INT64_MIN && !v["min"].as_u64() && v["over"].as_double() == 18446744073709551616.0);
    std::string walked;
    std::size_t n = 0;
    for (const deltawire::value &item : v["b"].elements()) {
        walked += item.raw();
        walked += ' ';
        n++;
        if (n == 2) CHECK(sum, item.view() == "two" && item.is_string());
        if (n == 3) CHECK(sum, item.is_null() && !item.as_bool());
        if (n == 4) CHECK(sum, item.as_bool() == true);
        if (n == 5) CHECK(sum, item.as_bool() == false);
        if (n == 6) CHECK(sum, item["c"].as_double() == -3.5);
    }
    CHECK(sum, n == 6 && walked == "1 \"two\" null true false {\"c\":-3.5} ");
    std::string keys;
    for (const auto &[key, item] : v.members()) {
        keys += *key.as_string() + "=";
        keys += item.is_number() ? item.raw() : "?";
        keys += " ";
    }
    CHECK(sum, keys ==
                   "a=1 b=? esc=? n=10.0 e=1e3 max=18446744073709551615 over=18446744073709551616 "
                   "min=-9223372036854775808 a=2 o=? l=? ");
    n = 0;
    for (const auto &item : v.elements()) n += item ? 1U : 0U;
    CHECK(sum, n == 11);
    for (const auto &item : v["o"].members()) CHECK(sum, !item.key);
    for (const auto &item : v["l"].elements()) CHECK(sum, !item);
    for (const auto &item : v["l"].members()) CHECK(sum, !item.key);
    for (const auto &item : v["a"].elements()) CHECK(sum, !item);
    CHECK(sum, !deltawire::value::open("") && !deltawire::value::open("nonsense") && !deltawire::value::open("{} x"));
    CHECK(sum, deltawire::value::open("[]").view() == std::nullopt);
    const auto [key, member] = deltawire::value::open_member("\"a\\u0042\" : [1] ");
    CHECK(sum, key.as_string() == "aB" && member.is_array() && member.raw() == "[1]");
    CHECK(sum, !deltawire::value::open_member("chunk").second && !deltawire::value::open_member("").first);
    const std::string big = "\"" + std::string(5000, 'y') + "\\u0041\"";
    CHECK(sum, deltawire::value::open(big).as_string() == std::string(5000, 'y') + "A");
    const auto plain = deltawire::value::plain("oh no \xFF");
    CHECK(sum, plain.is_text() && plain.as_string() == "oh no \xEF\xBF\xBD" && plain.raw() == "oh no \xFF");
    CHECK(sum, deltawire::value::plain("text").equals("text"));

    doubles();
    // In a locale with a decimal comma.
    bool other = false;
    for (const char *name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"})
        other = other || std::setlocale(LC_ALL, name) != nullptr;
    if (other) {
        CHECK(sum, std::strtod("0,5", nullptr) == 0.5);
        CHECK(sum, deltawire::value::open("0.5").as_double() == 0.5);
        CHECK(sum, deltawire::value::open("0.30000000000000004").as_double() == 0.30000000000000004);
        CHECK(sum, deltawire::value::open("12345678901234567890.5e-3").as_double() == 12345678901234567.8905);
        std::setlocale(LC_ALL, "C");
    } else {
        std::cout << "note: no locale with a decimal comma\n";
    }
}

void chunks() {
    const std::string payload =
        R"({"id":"c\u0031","object":"chat.completion.chunk","created":5,"model":"m","extra":[1],)"
        R"("choices":[],"usage":{"prompt_tokens":3,"total_tokens":4,"prompt_tokens_details":{"cached_tokens":2}},)"
        R"("error":{"message":"no","code":429,"metadata":{"x":1}}})";
    const deltawire::opened_chunk opened(payload);
    const deltawire::chunk_view chunk = opened.view();
    CHECK(sum, chunk && chunk.payload() == payload && chunk.id().as_string() == "c1" && chunk.model().view() == "m");
    CHECK(sum, chunk.created() == 5U && chunk["extra"].is_array() &&
                   chunk.field(deltawire::chunk_field::choices).is_array());
    CHECK(sum, !chunk.field(deltawire::chunk_field::provider));
    const auto usage = chunk.usage();
    CHECK(sum, usage && usage->prompt == 3U && usage->total == 4U && usage->cached == 2U && !usage->completion &&
                   !usage->reasoning);
    const auto error = chunk.api_error();
    CHECK(sum, error && error->message() == "no" && error->code() == "429" && !error->type() && !error->param());
    CHECK(sum, error && error->metadata()["x"].as_u64() == 1U && error->raw().is_object());
    CHECK(sum, !deltawire::opened_chunk("[1]").view());
    const deltawire::chunk_view none(nullptr);
    CHECK(sum, !none && !none.id() && !none.usage() && !none.api_error() && none.payload().empty());

    // With a handler, in batches, and at the end.
    const std::string input = "event: e\ndata: " + payload + "\n\nid: 9\ndata: [DONE]\n\n";
    struct handler {
        int seen = 0;
        void on_chunk(deltawire::at at, deltawire::chunk_view c) {
            seen++;
            CHECK(sum, at.event_name() == "e" && c.id().equals("c1") && at.chunk().native() == c.native());
        }
        void on_usage(deltawire::at at, deltawire::value v) {
            seen++;
            CHECK(sum, v["total_tokens"].as_u64() == 4U && at.chunk() && at.chunk().usage()->cached == 2U);
        }
        void on_error(deltawire::error_info e) {
            seen++;
            CHECK(sum, e.code() == "429");
        }
        void on_done() { seen++; }
    } h;
    deltawire::parser parser;
    CHECK(sum, !parser.last_usage() && !parser.last_event_id());
    (void)parser.feed(input, h);
    CHECK(sum, h.seen == 4);
    CHECK(sum, parser.last_usage() && parser.last_usage()->prompt == 3U && parser.last_event_id() == "9");
    (void)parser.finish(h);
    const auto end = parser.end();
    CHECK(sum,
          end.done && end.finished && end.api_error && end.how == deltawire::verdict::api_error && !end.complete());
    int seen = 0;
    deltawire::parser second;
    for (const auto &e : second.batch(input)) {
        if (e.kind() == event_kind::error) seen += e.api_error().message() == "no" ? 1 : 0;
        if (e.kind() == event_kind::usage) seen += e.json()["prompt_tokens"].as_u64() == 3U ? 1 : 0;
        if (e.kind() == event_kind::chunk)
            seen += e.text() == "c1" && e.aux() == "m" && e.extra() == "e" && e.number() == 5;
    }
    CHECK(sum, seen == 3);
}

// ---------------------------------------------------------------------------------------------------------------------

/// Whether two values are equal; a null member equals an absent one.
bool alike(const deltawire::value &a, const deltawire::value &b) {
    if (a.is_number()) return b.is_number() && a.as_double() == b.as_double();
    if (a.is_array()) {
        auto at = b.elements().begin();
        for (const auto &item : a.elements()) {
            if (at == b.elements().end() || !alike(item, *at)) return false;
            ++at;
        }
        return b.is_array() && at == b.elements().end();
    }
    if (a.is_object()) {
        for (const auto &[key, item] : a.members())
            if (!item.is_null() && !alike(item, b[*key.as_string()])) return false;
        for (const auto &[key, item] : b.members())
            if (!item.is_null() && !a[*key.as_string()]) return false;
        return b.is_object();
    }
    return a.type() == b.type() && a.as_string() == b.as_string();
}

void assemblers(const std::filesystem::path &samples) {
    std::size_t seen = 0;
    for (const auto &entry : std::filesystem::directory_iterator(samples)) {
        const std::string name = entry.path().filename().string();
        if (entry.path().extension() != ".sse" && name != "body.json" && name != "error-body.json") continue;
        seen++;
        const std::string input = test::read_file(entry.path());
        const auto read = [&](std::size_t step, int way) {
            deltawire::config config;
            if (way == 1) config.events = deltawire::mask_of(event_kind::payload);
            config.batch_scratch = 64;
            config.batch_events = 3;
            deltawire::parser parser(config);
            deltawire::assembler message;
            for (std::size_t at = 0; at < input.size(); at += step) {
                const test::slice given(string_view(input).substr(at, step));
                if (way == 0) {
                    CHECK(sum, parser.feed(message, given.view()).ok());
                } else {
                    for (const auto &e : parser.batch(message, given.view())) CHECK(sum, way == 2 || e.kind() == event_kind::payload);
                }
                if (at % 5 == 0) message = message.clone();
            }
            if (way == 0) (void)parser.finish(message);
            if (way != 0)
                for (const auto &e : parser.batch_finish(message)) CHECK(sum, way == 2 || e.kind() == event_kind::payload);
            return message;
        };
        const deltawire::assembler whole = read(input.size() + 1, 0);
        const std::string json = whole.json(true);
        const std::string expected = test::read_file(samples / (entry.path().stem().string() + ".expected.json"));
        CHECK(sum, alike(deltawire::value::open(whole.json()), deltawire::value::open(expected)));
        CHECK(sum, deltawire::value::open(json).is_object());
        for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{1448}, input.size() + 1})
            for (const int way : {0, 1, 2}) CHECK(sum, read(step, way).json(true) == json);
        CHECK(sum, whole.choices() >= 1 || name.find("error-body") == 0);
        const auto v = deltawire::value::open(json);
        using field = deltawire::message_field;
        for (std::uint32_t i = 0; i < whole.choices(); i++) {
            const auto index = whole.choice_index(i);
            CHECK(sum, index.has_value());
            std::uint32_t at = 0;
            for (const auto &choice : v["choices"].elements()) {
                if (at++ != i) continue;
                const auto message = choice["message"];
                CHECK(sum, choice["index"].as_u64() == *index);
                CHECK(sum, message["content"].as_string() == whole.text(field::content, *index));
                CHECK(sum, choice["finish_reason"].as_string() == whole.text(field::finish, *index));
                std::uint32_t calls = 0;
                for (const auto &call : message["tool_calls"].elements()) {
                    CHECK(sum, call["id"].as_string() == whole.text(field::call_id, *index, calls));
                    CHECK(sum, call["function"]["name"].as_string() == whole.text(field::call_name, *index, calls));
                    CHECK(sum, call["function"]["arguments"].as_string() ==
                                   whole.text(field::call_arguments, *index, calls));
                    calls++;
                }
                CHECK(sum, calls == whole.calls(*index));
            }
        }
        CHECK(sum, !whole.choice_index(whole.choices()));
        CHECK(sum, whole.text(field::id) == v["id"].as_string());
    }
    CHECK(sum, seen >= 17);

    // Exactly as much as the limit allows.
    deltawire::assembler_config limits;
    limits.max_bytes = deltawire_message_size(nullptr, 100000);
    deltawire::assembler bounded(limits);
    deltawire::parser feeds;
    std::size_t kept = 0;
    const auto bound = error_of([&] {
        for (; kept < 200; kept++) (void)feeds.feed(bounded, content_chunk(std::string(1000, 'k')));
    });
    CHECK(sum, bound == status::need_storage && kept > 90 && kept < 101);
    CHECK(sum, bounded.text(deltawire::message_field::content) == std::string(1000 * kept, 'k'));

    // An assembler that is limited, moved, emptied, used again.
    limits.max_bytes = deltawire_message_size(nullptr, 4096);
    deltawire::assembler small(limits);
    deltawire::parser parser;
    (void)parser.feed(small, content_chunk("kept"));
    const std::string big = content_chunk(std::string(10000, 'z'));
    CHECK(sum, error_of([&] { (void)parser.feed(small, big); }) == status::need_storage);
    // To read on without the message.
    std::size_t read = 0;
    const auto without = deltawire::callbacks().on_content([&](string_view more) { read += more.size(); });
    CHECK(sum, parser.feed(big, without).ok() && read == 10000);
    CHECK(sum, small.text(deltawire::message_field::content) == "kept");
    deltawire::assembler moved = std::move(small);
    CHECK(sum, moved.text(deltawire::message_field::content) == "kept");
    CHECK(sum,
          small.native() == nullptr && error_of([&] { (void)small.json(); }) == status::null && small.choices() == 0);
    moved.reset();
    CHECK(sum, !moved.text(deltawire::message_field::content) && moved.choices() == 0);
    deltawire::assembler roomy;
    parser.reset();
    for (int i = 0; i < 300; i++) 
        (void)parser.feed(roomy, content_chunk(std::string(1000, static_cast<char>('a' + i % 26))));
    const auto text = roomy.text(deltawire::message_field::content);
    CHECK(sum, text && text->size() == 300000 && text->substr(999, 2) == "ab");
}

void event_streams() {
    const std::string input = "retry: 10\n: c\n\nevent: a\ndata: 1\ndata: 2\nid: x\n\ndata: last\n\n";
    struct handler {
        std::string seen;
        bool asks = true;
        flow on_sse(const deltawire::sse_event &e) {
            asks = !asks;
            if (!asks) return flow::again;
            seen += std::string(e.type) + "|" + std::string(e.data) + "|" + std::string(e.id) + ";";
            return flow::go_on;
        }
        void on_comment(string_view text) { seen += ":" + std::string(text) + ";"; }
        void on_retry(std::uint64_t ms) { seen += std::to_string(ms) + ";"; }
    };
    deltawire::config config;
    config.mode = deltawire::mode::sse;
    config.spec_framing = true;
    config.event_bytes = 0;
    for (std::size_t cut = 0; cut <= input.size(); cut++) {
        // Each event is requested twice.
        handler h;
        int pauses = 0;
        deltawire::parser parser(config);
        for (string_view rest : {string_view(input).substr(0, cut), string_view(input).substr(cut)}) {
            for (auto r = parser.feed(rest, h); !r.ok(); r = parser.feed(rest, h)) {
                CHECK(sum, r.paused());
                pauses++;
                rest.remove_prefix(r.consumed);
            }
        }
        CHECK(sum, parser.finish(h) == status::ok && pauses == 2);
        std::string seen;
        deltawire::parser second(config);
        const auto take = [&seen](deltawire::batch_range &&range) {
            for (const auto &e : range) {
                if (e.kind() == event_kind::sse) {
                    const auto s = e.sse();
                    seen += std::string(s.type) + "|" + std::string(s.data) + "|" + std::string(s.id) + ";";
                }
                if (e.kind() == event_kind::comment) seen += ":" + std::string(e.text()) + ";";
                if (e.kind() == event_kind::retry) seen += std::to_string(e.number()) + ";";
            }
        };
        take(second.batch(string_view(input).substr(0, cut)));
        take(second.batch(string_view(input).substr(cut)));
        take(second.batch_finish());
        CHECK(sum, h.seen == seen);
        CHECK(sum, h.seen.find("a|1\n2|x;message|last|x;") != std::string::npos);
        CHECK(sum, h.seen.find("10;") != std::string::npos && h.seen.find(":c;") != std::string::npos);
        CHECK(sum, parser.last_event_id() == "x");
    }
}

/// A handler beside a message, which has each text before the handler, and none twice if the handler asks again.
void beside() {
    const std::string input = "data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\","
                              "\"content\":\"a\"}}]}\n\n" + content_chunk("b");
    deltawire::config how;
    how.shared = true;
    deltawire::parser one, other, sharing(how);
    deltawire::workspace shared;
    deltawire::assembler message, alone, third;
    std::string printed;
    bool asks = false;
    const auto handler = deltawire::callbacks().on_content([&](string_view text) {
        asks = !asks;
        CHECK(sum, message.text(deltawire::message_field::content) == printed + std::string(text));
        if (asks) return flow::again;
        printed += text;
        return flow::go_on;
    });
    string_view rest = input;
    int pauses = 0;
    for (auto r = one.feed(message, rest, handler); !r.ok(); r = one.feed(message, rest, handler)) {
        CHECK(sum, r.paused() && ++pauses < 3);
        rest.remove_prefix(r.consumed);
    }
    CHECK(sum, pauses == 2 && one.finish(message, handler) == status::ok && printed == "ab");
    CHECK(sum, other.feed(alone, input).ok() && message.json() == alone.json());
    CHECK(sum, message.text(deltawire::message_field::model) == "m");
    CHECK(sum, sharing.feed(third, input, deltawire::discard{}, &shared).ok() && third.json() == alone.json());
    CHECK(sum, error_of([&] { (void)sharing.feed(third, input); }) == status::state);
}

/// The configs set the room for choices and tool calls. More than the maximum is an error; a choice without room is left out.
void room() {
    deltawire::config choices, calls;
    choices.max_choices = DELTAWIRE_MAX_CHOICES + 1;
    calls.max_tool_calls = DELTAWIRE_MAX_TOOL_CALLS + 1;
    CHECK(sum, error_of([&] { deltawire::parser parser(choices); }) == status::config);
    CHECK(sum, error_of([&] { deltawire::parser parser(calls); }) == status::config);
    deltawire::assembler_config many_choices, many_calls;
    many_choices.max_choices = DELTAWIRE_MAX_CHOICES + 1;
    many_calls.max_tool_calls = DELTAWIRE_MAX_TOOL_CALLS + 1;
    CHECK(sum, error_of([&] { deltawire::assembler m(many_choices); }) == status::config);
    CHECK(sum, error_of([&] { deltawire::assembler m(many_calls); }) == status::config);
    deltawire::config one;
    one.max_choices = 1;
    deltawire::assembler_config same;
    same.max_choices = 1;
    deltawire::parser parser(one);
    deltawire::assembler first(same), by_default;
    const std::string both = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}},{\"index\":1,\"delta\":{\"content\":\"b\"}}]}\n\n";
    CHECK(sum, parser.feed(by_default, both).ok() && parser.end().left_out == 1 && by_default.choices() == 1);
    CHECK(sum, deltawire::parser().feed(first, both).ok() && first.choices() == 1 && first.limit() == deltawire::limit::choices);
}

/// Parsers in turn with one workspace, which moves meanwhile.
void workspaces() {
    deltawire::config how;
    const std::size_t alone = deltawire::parser(how).block_size();
    how.shared = true;
    CHECK(sum, deltawire::parser(how).block_size() < alone);
    std::vector<deltawire::parser> parsers;
    std::vector<std::string> texts(5);
    for (std::size_t i = 0; i < texts.size(); i++) parsers.emplace_back(how);
    deltawire::workspace shared;
    std::string wanted;
    for (int round = 0; round < 20; round++) {
        wanted += std::to_string(round);
        const std::string input = content_chunk(std::to_string(round));
        for (std::size_t i = 0; i < parsers.size(); i++) {
            const string_view head = string_view(input).substr(0, static_cast<std::size_t>(round) * i);
            const string_view tail = string_view(input).substr(head.size());
            const auto print = deltawire::callbacks().on_content([&](string_view text) { texts[i] += text; });
            CHECK(sum, parsers[i].feed(shared, head, print).ok());
            if (i % 2 == 0) {
                CHECK(sum, parsers[i].feed(shared, tail, print).ok());
            } else {
                for (const deltawire::event &e : parsers[i].batch(shared, tail))
                    if (e.kind() == event_kind::content) texts[i] += e.text();
            }
        }
        deltawire::workspace moved(std::move(shared));
        shared = std::move(moved);
        if (round % 7 == 6) shared.clear();
        if (round % 5 == 4) parsers[2] = parsers[2].clone();
    }
    for (const std::string &text : texts) CHECK(sum, text == wanted);
    CHECK(sum, parsers[0].finish(shared) == status::ok && parsers[0].end().how == deltawire::verdict::truncated);
    for (const deltawire::event &e : parsers[1].batch_finish(shared)) CHECK(sum, e.kind() == event_kind::none);

    // Each kind of parser has its own calls.
    deltawire::parser lone;
    CHECK(sum, error_of([&] { (void)parsers[2].feed("data: x", deltawire::discard{}); }) == status::state);
    CHECK(sum, error_of([&] { (void)lone.feed(shared, "data: x", deltawire::discard{}); }) == status::state);
    CHECK(sum, error_of([&] { (void)parsers[2].finish(); }) == status::state);
    CHECK(sum, error_of([&] { (void)lone.finish(shared); }) == status::state);
    CHECK(sum, error_of([&] { (void)parsers[2].batch("data: x").begin(); }) == status::state);
    CHECK(sum, error_of([&] { (void)lone.batch_finish(shared).begin(); }) == status::state);

    // A handler may use other workspaces. If it throws, other parsers can use the workspace.
    deltawire::workspace other;
    const std::string input = content_chunk("a");
    std::string inner;
    const auto take = deltawire::callbacks().on_content([&](string_view text) { inner += text; });
    const auto nest = deltawire::callbacks().on_content([&](string_view) {
        CHECK(sum, error_of([&] { (void)parsers[3].feed(shared, input, take); }) == status::reentrant);
        CHECK(sum, error_of([&] { shared.clear(); }) == status::reentrant);
        CHECK(sum, parsers[3].feed(other, input, take).ok() && lone.feed(input, take).ok());
    });
    CHECK(sum, parsers[2].feed(shared, input, nest).ok() && inner == "aa");
    const auto throws = deltawire::callbacks().on_content([](string_view) { throw 7; });
    bool thrown = false;
    try {
        (void)parsers[4].feed(shared, input, throws);
    } catch (int) {
        thrown = true;
    }
    CHECK(sum, thrown && parsers[3].feed(shared, input, take).ok() && inner == "aaa");
    const deltawire::workspace taken(std::move(other));
    CHECK(sum, error_of([&] { other.clear(); }) == status::null);
}

void misuse() {
    deltawire::config deep;
    deep.max_depth = 5000;
    CHECK(sum, error_of([&] { deltawire::parser parser(deep); }) == status::config);
    deltawire::config none;
    none.grow = false;
    none.event_bytes = 0;
    CHECK(sum, error_of([&] { deltawire::parser parser(none); }) == status::small);
    none.event_bytes = 1000;
    deltawire::parser fixed(none);
    const std::size_t whole = fixed.block_size();
    fixed.shrink();
    CHECK(sum, fixed.block_size() == whole);
    deltawire::config huge;
    huge.event_bytes = SIZE_MAX;
    CHECK(sum, error_of([&] { deltawire::parser parser(huge); }) != status::ok);
    CHECK(sum, to_string(status::need_storage) == "NEED_STORAGE" && to_string(status::null) == "E_NULL");
    CHECK(sum, to_string(event_kind::none) == "NONE" && static_cast<std::uint32_t>(event_kind::none) == 0);
    CHECK(sum, deltawire::quirk(DELTAWIRE_QUIRK_CONTINUED_PAYLOAD).name() == "ContinuedPayload");
    CHECK(sum, to_string(event_kind::content) == "CONTENT" && to_string(deltawire::verdict::done) == "Done");
    CHECK(sum, to_string(deltawire::fault::unexpected_end) == "UnexpectedEnd");
    CHECK(sum, to_string(static_cast<status>(77)) == "?" && to_string(static_cast<event_kind>(999)) == "?");
    const deltawire::quirk unknown(DELTAWIRE_QUIRKS);
    CHECK(sum, !unknown.known() && unknown.code() == "?" && unknown.name() == "?" && unknown.text() == "?");
    const deltawire::quirk known(0);
    CHECK(sum, known.known() && !known.code().empty() && !known.name().empty() && !known.text().empty());
    CHECK(sum, deltawire::error(status::resume).what() != nullptr);
}

}  // namespace

int main(int argc, char **argv) {
    if (argc < 2) return 1;
    try {
        tables();
        moves_and_clones();
        growth();
        ends();
    sentences();
        pauses();
        batches();
        usages();
        meters();
        direct_reading();
        values();
        chunks();
        assemblers(argv[1]);
        event_streams();
        beside();
        room();
        workspaces();
        misuse();
    } catch (const std::exception &e) {
        std::cerr << "thrown: " << e.what() << "\n";
        return 1;
    }
    return sum.end("use");
}
