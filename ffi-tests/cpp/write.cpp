// write [translate] TO FILE: writes the response in FILE as `deltawire convert --to TO` does, by the translator or event by
// event. Without arguments: tests what the writer
// and `chunk_view::around` answer.
#include "check.hpp"

#include <deltawire.hpp>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

namespace {

using deltawire::event_kind;
using deltawire::status;
using std::string_view;

struct finish {
    deltawire_event event = {};
    std::string reason = "stop";
};

struct converting {
    deltawire::writer_config head = {};
    std::string id = "response", model = "unknown";
    std::optional<deltawire::writer> writer = {};
    // The choices, each with its last finish reason, which is written at the end.
    std::map<std::uint32_t, std::optional<finish>> choices = {};
    deltawire::joiner join = {};

    deltawire::writer &begun() {
        if (!writer) {
            head.id = id;
            head.model = model;
            head.usage = true;
            writer.emplace(head);
        }
        return *writer;
    }

    void sent() {
        std::cout << writer->written();
        writer->clear();
    }

    void take(const deltawire::event &e) {
        if (!join.add(e.text(), e.more())) return;
        const bool known = e.choice() == 0 || head.protocol == deltawire::protocol::chat;
        switch (e.kind()) {
            case event_kind::chunk:
                if (writer) return;
                // The first of each counts.
                if (!e.text().empty() && id == "response") id = e.text();
                if (!e.aux().empty() && model == "unknown") model = e.aux();
                if ((e.native().flags & DELTAWIRE_EVF_NUMBER) != 0 && head.created == 0) head.created = e.native().number;
                return;
            case event_kind::finish:
                if (known) {
                    choices[e.choice()] = finish{e.native(), std::string(e.text())};
                    return;
                }
                break;
            case event_kind::tool_call:
                if (known && !choices[e.choice()]) choices[e.choice()] = finish{{}, "tool_calls"};
                break;
            case event_kind::choice_error: choices.erase(e.choice()); break;
            case event_kind::meta:
                // Members of the chunk describe the response.
                if (e.code() <= DELTAWIRE_META_PROVIDER || e.code() == DELTAWIRE_META_MEMBER) return;
                break;
            case event_kind::usage:
            case event_kind::error:
            case event_kind::tool_call_end: break;
            default:
                if (known) choices[e.choice()];
        }
        begun().put(e.native(), join.text(), e.aux());
        sent();
    }

    void conclude(bool complete) {
        if (!writer && choices.empty()) return;
        for (auto &[choice, last] : choices) {
            if (!complete) break;
            finish end = last.value_or(finish());
            end.event.kind = DELTAWIRE_EV_FINISH;
            end.event.choice = choice;
            begun().put(end.event, end.reason);
        }
        if (complete) begun().finish();
        else begun().fail("the response is not complete");
        sent();
    }
};

/// Does the same by the translator, from reads of different lengths.
void translate(deltawire::protocol to, string_view data) {
    deltawire::writer_config head;
    head.protocol = to;
    head.usage = true;
    deltawire::config how;
    how.max_event_len = 1U << 24;
    deltawire::parser parser(how);
    deltawire::writer writer(head);
    status last = status::ok;
    for (std::size_t len = 1; !data.empty() && last == status::ok; len = 1 + len * 7 % 61) {
        last = writer.translate(parser, data.substr(0, len));
        data.remove_prefix(std::min(len, data.size()));
        std::cout << writer.written();
        writer.clear();
    }
    if (last == status::ok) last = writer.translate_finish(parser);
    std::cout << writer.written();
    if (last != status::ok || writer.left_out().second != 0) std::cout << "lost\n";
}

int convert(deltawire::protocol to, const char *path, bool translates) {
    std::ifstream in(path, std::ios::binary);
    const std::string data{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (translates) {
        translate(to, data);
        return 0;
    }
    deltawire::config how;
    how.events = DELTAWIRE_MESSAGE_EVENTS & ~DELTAWIRE_MASK(DELTAWIRE_EV_LIMIT);
    how.max_event_len = 1U << 24;
    deltawire::parser parser(how);
    converting c;
    c.head.protocol = to;
    for (const auto &e : parser.batch(data)) c.take(e);
    for (const auto &e : parser.batch_finish()) c.take(e);
    c.conclude(parser.end().complete());
    return 0;
}

test::outcome sum;

void answers() {
    deltawire::writer_config head;
    head.id = "i";
    head.model = "m";
    deltawire::writer chat(head);
    CHECK(sum, chat.written().empty() && chat.finish() == status::unfinished);
    CHECK(sum, chat.put(event_kind::content, "a") == status::ok && chat.put(event_kind::native, "{}") == status::no_place);
    CHECK(sum, chat.put(event_kind::annotations, "[") == status::json && chat.put(event_kind::content, "a", 64) == status::range);
    CHECK(sum, chat.put(event_kind::tool_call, "c", 0, 1) == status::ok && chat.put(event_kind::tool_name, "f", 0, 1) == status::ok);
    deltawire::writer moved(std::move(chat));
    chat = std::move(moved);
    CHECK(sum, chat.put(event_kind::finish, "tool_calls") == status::ok && chat.put(event_kind::content, "b") == status::late);
    chat.clear();
    CHECK(sum, chat.finish() == status::ok && chat.written() == "data: [DONE]\n\n" && chat.keep_alive() == status::ended);

    head.protocol = deltawire::protocol::responses;
    head.max_bytes = 8192;
    deltawire::writer small(head);
    status thrown = status::ok;
    try {
        for (int i = 0; i < 100; i++) {
            if (small.put(event_kind::content, std::string(100, 'm')) != status::ok) thrown = status::range;
        }
    } catch (const deltawire::error &e) {
        thrown = e.code();
    }
    CHECK(sum, thrown == status::need_storage && small.fail("no memory") == status::ok);
    head.protocol = deltawire::protocol::gemini;
    try {
        deltawire::writer none(head);
        thrown = status::ok;
    } catch (const deltawire::error &e) {
        thrown = e.code();
    }
    CHECK(sum, thrown == status::config);

    const string_view event = "data: {\"model\":\"m-2\",\"choices\":[]}\r\n\r\n", payload = event.substr(6, event.size() - 10);
    const deltawire::opened_chunk opened(payload);
    const deltawire::chunk_view chunk = opened.view();
    const auto around = chunk.around(chunk.model(), event);
    CHECK(sum, around && std::string(around->first) + "\"m\"" + std::string(around->second) ==
                             "data: {\"model\":\"m\",\"choices\":[]}\r\n\r\n");
    CHECK(sum, !chunk.around(chunk.model(), event.substr(7)));
}

}  // namespace

int main(int argc, char **argv) {
    if (argc == 3 || argc == 4) {
        const string_view to = argv[argc - 2];
        return convert(to == "chat"        ? deltawire::protocol::chat
                       : to == "anthropic" ? deltawire::protocol::anthropic
                                           : deltawire::protocol::responses,
                       argv[argc - 1], argc == 4);
    }
    answers();
    return sum.end("write");
}
