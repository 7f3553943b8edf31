// The row of C++: a handler of deltawire.hpp.
#include "deltawire.hpp"
#include "rows.h"

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

}  // namespace

int main(int argc, char **argv) {
    if (argc != 4) return 1;
    rows_begin(argv);
    rows_row("C++, handler", response);
}
