// The row of C++: a handler of deltawire.hpp.
#include "deltawire.hpp"
#include "rows.h"

#include <vector>

namespace {

struct handler {
    void on_content(const deltawire::at &at, std::string_view text) {
        if (at.choice() == 0) rows_put(text.data(), text.size(), !at.more());
    }
};

deltawire::parser parser;
handler content;

void response(const char *bytes, std::size_t len) {
    parser.reset();
    for (std::size_t at = 0; at < len; at += rows_slice)
        (void)parser.feed(std::string_view(bytes + at, len - at < rows_slice ? len - at : rows_slice), content);
}

deltawire::workspace workspace;
std::vector<deltawire::parser> parsers;

void event(std::size_t stream, const char *bytes, std::size_t len) {
    (void)parsers[stream].feed(workspace, std::string_view(bytes, len), content);
}

void in_turn() {
    deltawire::config config;
    config.shared = true;
    config.event_bytes = 512;
    parsers.reserve(ROWS_STREAMS);
    for (std::size_t nth = 0; nth < ROWS_STREAMS; nth++) parsers.emplace_back(config);
    rows_turns("C++, handler", event);
}

}  // namespace

int main(int argc, char **argv) {
    if (argc != 4) return 1;
    rows_begin(argv);
    if (rows_slice == 0)
        in_turn();
    else
        rows_row("C++, handler", response);
}
