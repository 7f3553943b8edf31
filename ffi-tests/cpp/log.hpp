// Writes the log of a stream by a handler and by batches; tests/quirks/README.md lists the lines.
#pragma once

#include "case.hpp"

#include <array>
#include <cstdio>
#include <memory>

namespace test {

/// Bytes as printable ASCII.
inline std::string escaped(std::string_view bytes) {
    std::string text;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        switch (c) {
        case '\n': text += "\\n"; break;
        case '\r': text += "\\r"; break;
        case '\t': text += "\\t"; break;
        case '\\': text += "\\\\"; break;
        default:
            if (byte >= ' ' && byte <= '~') {
                text += c;
            } else {
                std::array<char, 8> hex;
                std::snprintf(hex.data(), hex.size(), "\\x%02X", byte);
                text += hex.data();
            }
        }
    }
    return text;
}

inline std::string in_quotes(std::string_view bytes) {
    std::string text = "\"";
    for (const char c : escaped(bytes)) {
        if (c == '"') text += '\\';
        text += c;
    }
    return text + '"';
}

inline std::string put(const char *name, const std::optional<std::string> &text) {
    return text ? std::string(" ") + name + "=" + in_quotes(*text) : std::string();
}
inline std::string put(const char *name, const deltawire::value &v) { return put(name, v.as_string()); }

/// What log lines need of `at` and of `event`.
template <class At>
std::string range(const At &at) {
    return " " + std::to_string(at.start()) + ".." + std::to_string(at.end());
}
template <class At>
std::string choice(const char *word, const At &at) {
    return std::string(word) + " " + std::to_string(at.choice());
}
template <class At>
std::string call(const char *word, const At &at) {
    return choice(word, at) + " #" + std::to_string(at.call());
}
template <class At>
std::string place(const At &at) {
    return at.replaces() ? " replaces " : " appends ";
}
template <class At>
std::string call_line(const At &at, const std::string &id, const std::string &type) {
    return call("call", at) + " index=" + std::to_string(at.number()) + (at.opens() ? " opens" : "") +
           (at.reuses() ? " reuses" : "") + (at.custom() ? " custom" : "") + id + type;
}
template <class At>
std::string malformed_line(const At &at, std::string_view text, std::string_view name) {
    return "malformed" + range(at) + " " + in_quotes(text) + " " + std::string(to_string(at.fault())) + " at " +
           std::to_string(at.number()) + (name.empty() ? "" : " name=" + in_quotes(name));
}
template <class At>
std::string limit_line(const At &at) {
    const std::string of = at.choice() == UINT32_MAX ? "" : " of " + std::to_string(at.choice());
    return "stop " + std::string(to_string(at.limit())) + of + " at " + std::to_string(at.start());
}
inline std::string audio_line(const std::string &word, const deltawire::value &audio) {
    std::string line =
        word + put("id", audio["id"]) + put("data", audio["data"]) + put("transcript", audio["transcript"]);
    if (const auto time = audio["expires_at"].as_u64()) line += " expires_at=" + std::to_string(*time);
    return line;
}
inline std::string error_line(const std::string &word, const deltawire::error_info &error) {
    std::string line = word;
    if (const auto message = error.message()) line += " " + in_quotes(*message);
    line += put("code", error.code()) + put("type", error.type()) + put("param", error.param());
    if (const auto metadata = error.metadata()) line += " metadata=" + escaped(metadata.raw());
    return line;
}

/// Bytes in memory of exactly their size, freed after use, so that a sanitizer detects a read beyond them or a kept pointer.
class slice {
public:
    explicit slice(std::string_view bytes) : memory_(new char[bytes.size()]), len_(bytes.size()) {
        std::copy(bytes.begin(), bytes.end(), memory_.get());
    }
    std::string_view view() const { return {memory_.get(), len_}; }

private:
    std::unique_ptr<char[]> memory_;
    std::size_t len_;
};

/// What both ways collect.
struct collected {
    test::lines lines;
    std::vector<std::uint64_t> quirks_told = std::vector<std::uint64_t>(DELTAWIRE_QUIRKS, 0);
    std::uint64_t frame_end = 0;

    void told(deltawire::quirk q) { quirks_told.at(q.number())++; }
    template <class At>
    void frame(const At &at) {
        if (at.start() != frame_end || at.end() < at.start())
            lines.push_back("a frame" + range(at) + " after one that ended at " + std::to_string(frame_end));
        frame_end = at.end();
    }
};

/// A handler with all methods, except on_frame where the test asks for pauses.
struct logger : collected {
    bool pause = false;

    using at = deltawire::at;
    using flow = deltawire::flow;
    using text = std::string_view;

    flow on_comment(at a, text t) {
        return whole(a, t, [&](text w) { return "comment" + range(a) + " " + in_quotes(w); });
    }
    flow on_keep_alive(at a, text t) {
        return whole(a, t, [&](text w) { return "keep-alive" + range(a) + " " + in_quotes(w); });
    }
    flow on_retry(at a, std::uint64_t ms) { return line("retry" + range(a) + " " + std::to_string(ms)); }
    flow on_last_event_id(at a, text t) {
        return whole(a, t, [&](text w) { return "id" + range(a) + " " + in_quotes(w); });
    }
    flow on_chunk(at a, deltawire::chunk_view c) {
        const auto created = c.created();
        return line("chunk" + range(a) + (a.event_name().empty() ? "" : " name=" + in_quotes(a.event_name())) +
                    put("id", c.id()) + put("model", c.model()) +
                    (created ? " created=" + std::to_string(*created) : std::string()));
    }
    flow on_role(at a, text t) { return choice_text("role", a, t); }
    flow on_content(at a, text t) { return choice_text("content", a, t); }
    flow on_reasoning(at a, text t) { return choice_text("reasoning", a, t); }
    flow on_refusal(at a, text t) { return choice_text("refusal", a, t); }
    flow on_tool_call(at a, const deltawire::tool_call &c) {
        return line(call_line(a, put("id", c.id), put("type", c.type)));
    }
    flow on_tool_name(at a, text t) {
        return whole(a, t, [&](text w) { return call("name", a) + place(a) + in_quotes(w); });
    }
    flow on_tool_arguments(at a, text t) {
        return whole(a, t, [&](text w) { return call("arguments", a) + " " + in_quotes(w); });
    }
    flow on_tool_call_end(at a, bool whole) { return line(call("call-end", a) + (whole ? " whole" : " broken")); }
    flow on_function_name(at a, text t) {
        return whole(a, t, [&](text w) { return choice("function-name", a) + place(a) + in_quotes(w); });
    }
    flow on_function_arguments(at a, text t) { return choice_text("function-arguments", a, t); }
    flow on_audio(at a, const deltawire::value &v) { return line(audio_line(choice("audio", a), v)); }
    flow on_logprobs(at a, const deltawire::value &v) { return line(choice("logprobs", a) + " " + escaped(v.raw())); }
    flow on_finish(at a, text t) { return choice_text("finish", a, t); }
    flow on_choice_error(at a, const deltawire::error_info &e) {
        return line(error_line(choice("choice-error", a), e));
    }
    flow on_usage(at, const deltawire::value &v) { return line("usage " + escaped(v.raw())); }
    flow on_error(at, const deltawire::error_info &e) { return line(error_line("error", e)); }
    flow on_malformed(at a, text t) {
        return whole(a, t, [&](text w) { return malformed_line(a, w, a.event_name()); });
    }
    flow on_too_long(at a) { return line("too-long " + std::to_string(a.start())); }
    flow on_comment_too_long(at a) { return line("comment-too-long " + std::to_string(a.start())); }
    flow on_limit(at a) { return line(limit_line(a)); }
    flow on_quirk(at, deltawire::quirk q) {
        told(q);
        return answer();
    }
    flow on_done(at a) { return line("done" + range(a)); }
    flow on_frame(at a) {
        frame(a);
        return answer();
    }

private:
    flow answer() const { return pause ? flow::pause : flow::go_on; }
    flow line(std::string made) {
        lines.push_back(std::move(made));
        return answer();
    }
    template <class Line>
    flow whole(at a, text piece, Line make) {
        if (join_.add(piece, a.more())) lines.push_back(make(join_.text()));
        return answer();
    }
    flow choice_text(const char *word, at a, text piece) {
        if (piece.empty()) lines.emplace_back("an empty text was handed out");
        return whole(a, piece, [&](text w) { return choice(word, a) + " " + in_quotes(w); });
    }

    deltawire::joiner join_;
};

/// Returns the line of a batch's event, with its text joined; empty if the event has no line.
inline std::string event_line(const deltawire::event &e, std::string_view text) {
    using kind = deltawire::event_kind;
    const auto given = [](const char *name, std::string_view t) {
        return t.empty() ? std::string() : put(name, std::string(t));
    };
    switch (e.kind()) {
    case kind::comment: return "comment" + range(e) + " " + in_quotes(text);
    case kind::keep_alive: return "keep-alive" + range(e) + " " + in_quotes(text);
    case kind::retry: return "retry" + range(e) + " " + std::to_string(e.number());
    case kind::last_event_id: return "id" + range(e) + " " + in_quotes(text);
    case kind::chunk:
        return "chunk" + range(e) + given("name", e.extra()) + given("id", text) + given("model", e.aux()) +
               (e.has_number() ? " created=" + std::to_string(e.number()) : std::string());
    case kind::role: return choice("role", e) + " " + in_quotes(text);
    case kind::content: return choice("content", e) + " " + in_quotes(text);
    case kind::reasoning: return choice("reasoning", e) + " " + in_quotes(text);
    case kind::refusal: return choice("refusal", e) + " " + in_quotes(text);
    case kind::tool_call: return call_line(e, given("id", text), given("type", e.aux()));
    case kind::tool_name: return call("name", e) + place(e) + in_quotes(text);
    case kind::tool_arguments: return call("arguments", e) + " " + in_quotes(text);
    case kind::tool_call_end: return call("call-end", e) + (e.code() != 0 ? " whole" : " broken");
    case kind::function_name: return choice("function-name", e) + place(e) + in_quotes(text);
    case kind::function_arguments: return choice("function-arguments", e) + " " + in_quotes(text);
    case kind::audio: return audio_line(choice("audio", e), e.json_of(text));
    case kind::logprobs: return choice("logprobs", e) + " " + escaped(text);
    case kind::finish: return choice("finish", e) + " " + in_quotes(text);
    case kind::choice_error: return error_line(choice("choice-error", e), deltawire::error_info(e.json_of(text)));
    case kind::usage: return "usage " + escaped(text);
    case kind::error: return error_line("error", deltawire::error_info(e.json_of(text)));
    case kind::malformed: return malformed_line(e, text, e.extra());
    case kind::too_long: return "too-long " + std::to_string(e.start());
    case kind::comment_too_long: return "comment-too-long " + std::to_string(e.start());
    case kind::limit: return limit_line(e);
    case kind::done: return "done" + range(e);
    default: return "";
    }
}

/// How a stream is read.
struct how {
    enum class way { handler, pauses, batch } way = way::handler;
    deltawire::config config;
    /// Ends of the slices, except the last.
    std::vector<std::size_t> cuts;
};

inline void stopped(const deltawire::parser &parser, test::lines &into) {
    const auto quirk = parser.error_quirk();
    into.push_back(quirk ? "stop " + std::string(quirk->code()) + " at " + std::to_string(parser.error_offset())
                         : "status " + std::string(to_string(parser.last_status())));
}

inline test::lines close(const deltawire::parser &parser, collected &&got, bool strict) {
    if (strict) {
        stopped(parser, got.lines);
        return std::move(got.lines);
    }
    if (const auto id = parser.last_event_id()) got.lines.push_back("last-id " + in_quotes(*id));
    const deltawire::end_info end = parser.end();
    std::string ended = "end " + std::string(to_string(end.how));
    if (end.media != deltawire::media::none) ended += " media=" + std::string(to_string(end.media));
    if (end.how == deltawire::verdict::other_protocol && end.protocol != deltawire::protocol::none)
        ended += " protocol=" + std::string(to_string(end.protocol));
    got.lines.push_back(ended + " choices=" + std::to_string(end.choices_finished) + "/" +
                        std::to_string(end.choices_seen) + " pending=" + std::string(to_string(end.pending)) +
                        " error=" + (end.api_error ? "true" : "false") + " offset=" + std::to_string(end.offset));
    std::vector<std::pair<std::string, std::uint64_t>> rows;
    for (std::uint32_t number = 0; number < DELTAWIRE_QUIRKS; number++) {
        const deltawire::quirk q(number);
        const std::uint64_t count = parser.quirk_count(q);
        const std::uint64_t told = got.quirks_told.at(number);
        if (told > count)
            got.lines.push_back(std::string(q.name()) + " told " + std::to_string(told) + ", counted " +
                                std::to_string(count));
        if (count == 0) continue;
        const std::string code(q.code());
        auto row = std::find_if(rows.begin(), rows.end(), [&](const auto &r) { return r.first == code; });
        if (row == rows.end()) row = rows.insert(row, {code, 0});
        row->second += count;
    }
    std::string line = "quirks";
    for (const auto &[code, count] : rows) line += " " + code + ":" + std::to_string(count);
    got.lines.push_back(rows.empty() ? "quirks none" : line);
    return std::move(got.lines);
}

/// The workspace of all parsers with `config::shared`, because earlier streams must not affect later ones.
inline deltawire::workspace &workspace() {
    static deltawire::workspace shared;
    return shared;
}

/// Writes the log by a handler.
inline test::lines by_handler(std::string_view input, const how &how) {
    deltawire::parser parser(how.config);
    logger log;
    log.pause = how.way == how::way::pauses;
    std::size_t from = 0;
    for (std::size_t i = 0; i <= how.cuts.size(); i++) {
        const std::size_t to = i < how.cuts.size() ? how.cuts[i] : input.size();
        deltawire::result r{deltawire::status::paused, 0};
        while (r.paused()) {
            // Bytes that were not consumed are passed again, from another place.
            const slice given(input.substr(from, to - from));
            r = how.config.shared ? parser.feed(workspace(), given.view(), log) : parser.feed(given.view(), log);
            from += r.consumed;
        }
        if (!r.ok()) return close(parser, std::move(log), true);
        if (from != to) log.lines.push_back("feed left bytes without a stop");
        from = to;
    }
    deltawire::status s = deltawire::status::paused;
    while (s == deltawire::status::paused) s = how.config.shared ? parser.finish(workspace(), log) : parser.finish(log);
    return close(parser, std::move(log), s != deltawire::status::ok);
}

/// Writes the log by batches.
inline test::lines by_batch(std::string_view input, const how &how) {
    deltawire::parser parser(how.config);
    collected got;
    const auto take = [&got, join = std::make_unique<deltawire::joiner>()](deltawire::batch_range &&range) {
        for (const deltawire::event &e : range) {
            if (e.kind() == deltawire::event_kind::quirk) got.told(e.quirk());
            if (e.kind() == deltawire::event_kind::frame) got.frame(e);
            if (!join->add(e.text(), e.more())) continue;
            std::string line = event_line(e, join->text());
            if (!line.empty()) got.lines.push_back(std::move(line));
        }
        return range.consumed();
    };
    std::size_t from = 0;
    for (std::size_t i = 0; i <= how.cuts.size(); i++) {
        const std::size_t to = i < how.cuts.size() ? how.cuts[i] : input.size();
        const slice given(input.substr(from, to - from));
        const std::size_t consumed =
            take(how.config.shared ? parser.batch(workspace(), given.view()) : parser.batch(given.view()));
        if (parser.last_status() != deltawire::status::ok) return close(parser, std::move(got), true);
        if (consumed != to - from) got.lines.push_back("a batch left bytes without a stop");
        from = to;
    }
    take(how.config.shared ? parser.batch_finish(workspace()) : parser.batch_finish());
    return close(parser, std::move(got), parser.last_status() != deltawire::status::ok);
}

inline test::lines log_of(std::string_view input, const how &how) {
    return how.way == how::way::batch ? by_batch(input, how) : by_handler(input, how);
}

}  // namespace test
