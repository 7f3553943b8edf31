// Compares the meter at each cut of a stream with that of the Rust library (examples/event_log.rs).
#pragma once

#include "log.hpp"

#include <sstream>

namespace test {

inline std::string meter_line(const std::string &word, std::size_t at, const deltawire::meter_info &m) {
    std::ostringstream line;
    line << word << ' ' << at;
    const auto token = [&line](const char *name, const std::optional<deltawire::token> &t) {
        if (t) line << name << static_cast<std::uint32_t>(t->kind) << ':' << t->event << ':' << t->offset;
    };
    token(" first=", m.first);
    token(" last=", m.last);
    line << " events=" << m.token_events << '/' << m.events;
    const auto amount = [&line](const char *name, const deltawire::amount &a) { line << name << a.bytes << '/' << a.chars; };
    amount(" content=", m.content);
    amount(" reasoning=", m.reasoning);
    amount(" refusal=", m.refusal);
    amount(" arguments=", m.arguments);
    line << " calls=" << m.calls;
    const auto text = [&line](const char *name, std::string_view t) {
        if (!t.empty()) line << put(name, std::string(t));
    };
    for (std::size_t i = 0; i < m.call_names.size(); i++) {
        if (i >= m.names && !m.call_names[i].empty()) line << " (a name that does not count)";
        text("name", m.call_names[i]);
    }
    text("model", m.model);
    text("id", m.id);
    text("finish", m.finish_text);
    text("error", m.error);
    text("tool_usage", m.tool_usage);
    line << " kind=" << (m.finish ? static_cast<std::uint32_t>(*m.finish) : 0);
    const auto usage = [&line](const char *name, const std::optional<deltawire::token_usage> &u) {
        if (!u) return;
        for (const auto &count : {u->prompt, u->completion, u->total, u->reasoning, u->cached, u->prompt_audio,
                                  u->completion_audio, u->accepted_prediction, u->rejected_prediction, u->cache_write}) {
            line << std::exchange(name, ",");
            count ? line << *count : line << '-';
        }
    };
    usage(" usage=", m.usage);
    usage(" iterations=", m.iterations);
    usage(" other_iterations=", m.other_iterations);
    return line.str();
}

/// Whether the line begins with this word; then `at` becomes its offset.
inline bool is_meter(const std::string &line, std::string_view word, std::size_t &at) {
    if (line.compare(0, word.size(), word) != 0) return false;
    at = std::stoul(line.substr(word.size()));
    return true;
}

inline void feed_all(deltawire::parser &parser, std::string_view bytes, bool in_batches) {
    if (!in_batches) {
        (void)parser.feed(bytes, deltawire::discard{});
    } else {
        for (const auto &e : parser.batch(bytes)) (void)e;
    }
}

/// Calls `compare` with a line and what it should be, in slices of so many bytes, and at the end of each cut.
template <class Compare>
void meters_of(std::string_view input, const lines &wanted, std::size_t step, bool in_batches, Compare compare) {
    deltawire::config config;
    config.mode = deltawire::mode::usage;
    if (in_batches) config.events = deltawire::mask_of(deltawire::event_kind::done);
    deltawire::parser parser(config);
    std::size_t from = 0, begins = 0;
    for (std::size_t at = 0; at < input.size();) {
        const slice given(input.substr(at, step));
        feed_all(parser, given.view(), in_batches);
        at += given.view().size();
        while (from + 1 < wanted.size() && is_meter(wanted[from + 1], "from ", begins) && begins <= at) from++;
        (void)is_meter(wanted.at(from), "from ", begins);
        compare(meter_line("from", begins, parser.meter()), wanted[from]);
    }
    // A copy of the parser ends at the cut, and the parser goes on.
    parser.reset();
    std::size_t fed = 0, cut = 0;
    for (const std::string &line : wanted) {
        if (!is_meter(line, "cut ", cut)) continue;
        feed_all(parser, input.substr(fed, cut - fed), in_batches);
        fed = cut;
        deltawire::parser ends = parser.clone();
        (void)ends.finish();
        compare(meter_line("cut", cut, ends.meter()), line);
    }
}

}  // namespace test
