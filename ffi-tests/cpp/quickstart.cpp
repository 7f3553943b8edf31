#include <deltawire.hpp>
#include <iostream>
#include <unistd.h>

int main() {
    deltawire::parser parser;
    const auto complain = [](deltawire::at, deltawire::error_info error) {
        std::cerr << "\n" << error.message().value_or("error") << " " << error.code().value_or("") << "\n";
    };
    const auto print = deltawire::callbacks()
                           .on_content([](deltawire::at at, std::string_view text) {
                               if (at.choice() == 0) std::cout << text << std::flush;
                           })
                           .on_choice_error(complain)
                           .on_error(complain);
    char bytes[4096];
    for (ssize_t len; (len = read(0, bytes, sizeof bytes)) > 0;)
        if (!parser.feed({bytes, static_cast<std::size_t>(len)}, print).ok()) return 1;
    if (parser.finish(print) != deltawire::status::ok) return 1;
    const deltawire::end_info end = parser.end();
    std::cerr << "\n" << to_string(end.how) << (end.complete() ? "" : ", incomplete") << "\n"; // Done
    return end.complete() ? 0 : 1; // nothing was cut off, malformed, too long or left out
}
