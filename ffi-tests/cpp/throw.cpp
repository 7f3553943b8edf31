// throw FOLDER [--quick]: in all cases, an exception from any method of a handler leaves feed or finish unchanged. The parser
// reports the exception until it is reset; then it reads like a new one.
#include "check.hpp"
#include "log.hpp"

namespace {

struct thrown {
    std::string method;
    std::unique_ptr<int> baggage;  // A move-only type whose leak a leak checker detects.
};

// on_##NAME throws at its `left`th call.
#define THROWS(NAME)                                                        \
    struct throws_##NAME {                                                  \
        int left;                                                           \
        template <class... A>                                               \
        void on_##NAME(A &&...) {                                           \
            if (left-- == 0) throw thrown{#NAME, std::make_unique<int>(7)}; \
        }                                                                   \
    };
#define EACH(X)                                                                                        \
    X(sse) X(comment) X(keep_alive) X(retry) X(last_event_id) X(chunk) X(role) X(content) X(reasoning) \
    X(refusal) X(tool_call) X(tool_name) X(tool_arguments) X(function_name) X(function_arguments)      \
    X(audio) X(logprobs) X(finish) X(choice_error) X(usage) X(error) X(malformed)                      \
    X(too_long) X(comment_too_long) X(limit) X(quirk) X(done) X(frame) X(tool_call_end)
EACH(THROWS)

test::outcome sum;

/// Feeds in slices of `step` bytes. Returns whether something was thrown.
template <class Handler>
bool read(deltawire::parser &parser, std::string_view input, std::size_t step, Handler &handler, const char *method) {
    try {
        for (std::size_t at = 0; at < input.size(); at += step) {
            const test::slice given(input.substr(at, step));
            const deltawire::result r = parser.feed(given.view(), handler);
            CHECK(sum, r.ok() && r.consumed == given.view().size());
        }
        CHECK(sum, parser.finish(handler) == deltawire::status::ok);
        return false;
    } catch (const thrown &t) {
        CHECK(sum, t.method == method && *t.baggage == 7);
        return true;
    }
}

template <class Handler>
unsigned long throws(const char *method, const test::quirk_case &c, const test::lines &wanted, std::size_t step) {
    unsigned long times = 0;
    for (int left = 0; left < 2; left++) {
        deltawire::parser parser(c.config);
        Handler handler{left};
        if (!read(parser, c.input, step, handler, method)) break;
        times++;
        CHECK(sum, parser.last_status() == deltawire::status::aborted);
        // The state persists: nothing is called or consumed.
        const deltawire::result again = parser.feed("data: {}\n\n", handler);
        CHECK(sum, again.status == deltawire::status::aborted && again.consumed == 0);
        CHECK(sum, parser.finish(handler) == deltawire::status::aborted);
        CHECK(sum, parser.last_status() == deltawire::status::aborted);
        // The response is not complete, because the handler did not get all of it, whatever the bytes say.
        CHECK(sum, !parser.end().complete());
        // A move preserves that state.
        deltawire::parser moved = std::move(parser);
        CHECK(sum, moved.feed("", deltawire::discard{}).status == deltawire::status::aborted);
        moved.reset();
        CHECK(sum, moved.last_status() == deltawire::status::ok);
        test::logger log;
        CHECK(sum, !read(moved, c.input, step, log, "none"));
        CHECK(sum, test::close(moved, std::move(log), false) == wanted);
    }
    return times;
}

/// A handler that continues after an exception, as the header shows: it gets each text once, wherever the stream is cut.
void goes_on() {
    const std::string input =
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"one\"}},{\"index\":1,\"delta\":{\"content\":\"t\\u0077o\"}}]}"
        "\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"three\"},\"finish_reason\":\"stop\"},"
        "{\"index\":1,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]";
    for (std::size_t cut = 0; cut <= input.size(); cut++) {
        deltawire::parser parser;
        std::exception_ptr thrown;
        std::string got;
        int calls = 0;
        int recovered = 0;
        const auto use = [&](std::string_view text) {
            if (calls++ % 2 == 0) throw std::runtime_error("busy");
            got += text;
            got += ' ';
        };
        const auto recover = [&](const std::exception_ptr &what) { recovered += what != nullptr ? 1 : 0; };
        auto handler = deltawire::callbacks().on_content([&](std::string_view text) {
            try {
                use(text);
            } catch (...) {
                thrown = std::current_exception();
                return deltawire::flow::again;
            }
            return deltawire::flow::go_on;
        });
        for (std::string_view data : {std::string_view(input).substr(0, cut), std::string_view(input).substr(cut)}) {
            for (;;) {
                const deltawire::result r = parser.feed(data, handler);
                data.remove_prefix(r.consumed);
                if (!r.paused()) break;
                recover(std::exchange(thrown, nullptr));
            }
        }
        while (parser.finish(handler) == deltawire::status::paused) recover(std::exchange(thrown, nullptr));
        CHECK(sum, got == "one two three " && recovered == 3 && parser.end().complete());
    }
}

/// Exceptions of any type pass through: an int, one of std; also those from functions.
void kinds_of_exceptions() {
    const std::string_view input = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    deltawire::parser parser;
    int seen = 0;
    try {
        (void)parser.feed(input, deltawire::callbacks().on_content([](std::string_view) { throw 5; }));
    } catch (int n) {
        seen = n;
    }
    CHECK(sum, seen == 5);
    parser.reset();
    std::string what;
    try {
        (void)parser.feed(input, deltawire::callbacks().on_frame([](deltawire::at) { throw std::runtime_error("told"); }));
    } catch (const std::exception &e) {
        what = e.what();
    }
    CHECK(sum, what == "told");
    parser.reset();
    // Misuse inside a handler: detected, thrown inside the handler, and rethrown outside.
    auto code = deltawire::status::ok;
    try {
        (void)parser.feed(input, deltawire::callbacks().on_chunk([&] { (void)parser.feed("x", deltawire::discard{}); }));
    } catch (const deltawire::error &e) {
        code = e.code();
    }
    CHECK(sum, code == deltawire::status::reentrant);
    CHECK(sum, parser.last_status() == deltawire::status::aborted);
    parser.reset();
    // An exception that the handler catches has no effect.
    int caught = 0;
    const auto curious = deltawire::callbacks().on_content([&](std::string_view) {
        const auto must_throw = [&caught](auto call) {
            try {
                call();
            } catch (const deltawire::error &e) {
                caught += e.code() == deltawire::status::reentrant ? 1 : 0;
            }
        };
        must_throw([&] { parser.reset(); });
        must_throw([&] { (void)parser.clone(); });
        must_throw([&] { (void)parser.end(); });
        must_throw([&] { (void)parser.last_usage(); });
        must_throw([&] { (void)parser.meter(); });
        must_throw([&] { (void)parser.last_event_id(); });
        must_throw([&] { (void)parser.finish(deltawire::discard{}); });
        must_throw([&] {
            for (const auto &e : parser.batch("x")) (void)e;
        });
        must_throw([&] {
            for (const auto &e : parser.batch_finish()) (void)e;
        });
    });
    CHECK(sum, parser.feed(input, curious).ok());
    CHECK(sum, caught == 9);
    // Without an exception.
    parser.reset();
    int calls = 0;
    const auto breaks_off =
        deltawire::callbacks().on_chunk([] { return deltawire::flow::abort; }).on_content([&](std::string_view) {
            calls++;
        });
    CHECK(sum, parser.feed(input, breaks_off).status == deltawire::status::aborted);
    CHECK(sum, calls == 0);
    parser.reset();
    // Invalid answers.
    const auto wrong = deltawire::callbacks().on_content([](std::string_view) { return static_cast<deltawire::flow>(3); });
    CHECK(sum, parser.feed(input, wrong).status == deltawire::status::callback);
}

}  // namespace

int main(int argc, char **argv) {
    if (argc < 2) return 1;
    const bool quick = argc > 2 && std::string_view(argv[2]) == "--quick";
    auto cases = test::all_cases(argv[1]);
    for (auto &c : cases) {
        if (!c.storage) c.config.event_bytes = 8;
    }
    // The folder of the other mode has no cases.
    for (std::size_t i = 0, n = cases.size(); i < n; i += 16) {
        cases.push_back(cases[i]);
        cases.back().config.mode = deltawire::mode::sse;
    }
    std::vector<std::size_t> steps = {1, 1 << 20};
    if (quick) steps = {64};
    std::string missing;
    for (const std::size_t step : steps) {
        std::vector<test::lines> logs;
        for (const auto &c : cases) {
            test::how h;
            h.config = c.config;
            for (std::size_t at = step; at < c.input.size(); at += step) h.cuts.push_back(at);
            logs.push_back(test::by_handler(c.input, h));
        }
#define RUN(NAME)                                                                                                      \
    {                                                                                                                  \
        unsigned long times = 0;                                                                                       \
        for (std::size_t i = 0; i < cases.size(); i++) times += throws<throws_##NAME>(#NAME, cases[i], logs[i], step); \
        if (times == 0) missing += " " #NAME;                                                                          \
    }
        EACH(RUN)
    }
    if (!missing.empty()) std::cerr << "never called:" << missing << "\n";
    CHECK(sum, missing.empty());
    kinds_of_exceptions();
    goes_on();
    return sum.end("throw");
}
