#include <deltawire.hpp>
#include <iostream>
#include <unistd.h>

int main() {
    deltawire::parser parser;
    const auto print = deltawire::callbacks().on_content([](deltawire::at at, std::string_view text) {
        if (at.choice() == 0) std::cout << text << std::flush;
    });
    char bytes[4096];
    for (ssize_t len; (len = read(0, bytes, sizeof bytes)) > 0;)
        parser.feed({bytes, static_cast<std::size_t>(len)}, print);
    parser.finish(print);
    std::cerr << "\n" << to_string(parser.end().how) << "\n"; // Done
    return parser.end().complete() ? 0 : 1;
}
