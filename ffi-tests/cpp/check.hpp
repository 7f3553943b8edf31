// A check that reports where it failed, and continues.
#pragma once

#include <iostream>

namespace test {

struct outcome {
    unsigned long checks = 0;
    unsigned long wrong = 0;

    void check(bool good, const char *what, const char *file, int line) {
        checks++;
        if (good) return;
        if (wrong++ < 200) std::cerr << file << ":" << line << ": " << what << "\n";
    }
    int end(const char *name) const {
        std::cout << name << ": " << checks << " checks, " << wrong << " wrong\n";
        return wrong == 0 && checks > 0 ? 0 : 1;
    }
};

}  // namespace test

#define CHECK(outcome, condition) (outcome).check((condition), #condition, __FILE__, __LINE__)
