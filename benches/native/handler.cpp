// The C++ interface: a handler with only the methods that the work needs, for one stream after the other, and for many
// streams that share a workspace.
#include "deltawire.hpp"
#include "sink.h"

#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

struct fill {
    sink &s;

    // A text in pieces counts once.
    void text(const deltawire::at &at, std::string_view piece, struct text &to) {
        if (!at.more()) s.choices += std::uint64_t{at.choice()} + 1;
        text_put(&to, piece.data(), piece.size());
    }
    void on_chunk() { s.events++; }
    void on_content(const deltawire::at &at, std::string_view piece) { text(at, piece, s.content); }
    void on_reasoning(const deltawire::at &at, std::string_view piece) { text(at, piece, s.reasoning); }
    void on_tool_call(const deltawire::at &at, const deltawire::tool_call &call) {
        const auto id = call.id.view();
        if (!id) return;
        s.calls += at.number() + 1;
        text(at, *id, s.names);
    }
    void on_tool_name(const deltawire::at &at, std::string_view name) {
        s.calls += std::uint64_t{at.call()} + 1;
        text(at, name, s.names);
    }
    void on_tool_arguments(const deltawire::at &at, std::string_view piece) {
        if (!at.more()) s.calls += std::uint64_t{at.call()} + 1;
        text(at, piece, s.arguments);
    }
    void on_finish(const deltawire::at &at, std::string_view reason) { text(at, reason, s.names); }
    void on_usage(const deltawire::at &at) {
        const auto usage = at.chunk().usage();
        if (!usage) std::abort();
        s.usage += usage->prompt.value_or(0) + usage->completion.value_or(0) + usage->total.value_or(0);
    }
    deltawire::flow on_done() { return deltawire::flow::abort; }
};

deltawire::config with_room(std::size_t room, bool shared) {
    deltawire::config config;
    config.event_bytes = room;
    config.shared = shared;
    return config;
}

struct streams {
    deltawire::workspace workspace;
    std::vector<deltawire::parser> parsers;
};

}  // namespace

extern "C" void *bench_cpp_new(std::size_t room) { return new deltawire::parser(with_room(room, false)); }

extern "C" void bench_cpp_feed(void *self, const char *bytes, std::size_t len, std::size_t slice, sink *s) {
    auto &parser = *static_cast<deltawire::parser *>(self);
    fill handler{*s};
    parser.reset();
    for (std::size_t at = 0; at < len; at += slice) {
        // A status other than OK: the handler stopped at [DONE].
        if (!parser.feed(std::string_view(bytes + at, len - at < slice ? len - at : slice), handler).ok()) return;
    }
}

extern "C" void *bench_cpp_streams(std::size_t count) {
    auto *all = new streams;
    all->parsers.reserve(count);
    for (std::size_t nth = 0; nth < count; nth++) all->parsers.emplace_back(with_room(512, true));
    return all;
}

extern "C" void bench_cpp_stream_feed(void *self, std::size_t nth, const char *bytes, std::size_t len, sink *s) {
    auto &all = *static_cast<streams *>(self);
    fill handler{*s};
    if (!all.parsers[nth].feed(all.workspace, std::string_view(bytes, len), handler).ok()) std::abort();
}
