// Code that must not compile: each number given as CASE, except 0.
#include <deltawire.hpp>

struct handler {
#if CASE == 1
    void on_content(int) {}
#elif CASE == 2
    int on_content(std::string_view) { return 0; }
#elif CASE == 3
    void content(std::string_view) {}
#elif CASE == 12
    void on_done() {}
};
struct handler_that_is_final final {
    void on_content(int) {}
    void on_done() {}
#else
    void on_content(std::string_view) {}
#endif
};

void use(deltawire::parser &parser) {
    handler h;
    (void)parser.feed("", h);
#if CASE == 4
    deltawire::parser copy = parser;
#elif CASE == 5
    (void)parser.feed("", deltawire::callbacks().on_done([] {}).on_done([] {}));
#elif CASE == 6
    (void)parser.feed("", deltawire::callbacks().on_frame([](int, int) {}));
#elif CASE == 7
    (void)parser.feed("", deltawire::callbacks());
#elif CASE == 8
    for (const auto &e : parser.batch(std::string("gone"))) (void)e;
#elif CASE == 9
    for (const auto &e : deltawire::parser().batch("gone")) (void)e;
#elif CASE == 10
    for (const auto &e : deltawire::parser().batch_finish()) (void)e;
#elif CASE == 11
    deltawire::assembler positional(1 << 20, 8, 32);
#elif CASE == 12
    handler_that_is_final is_final;
    (void)parser.feed("", is_final);
#endif
}
