// log cases FOLDER...         reads every case in every way and compares the logs
// log streams LOGS FILE...    compares the logs of streams with LOGS/NAME.log, and with every quirk an error with
//                             LOGS/NAME.strict.log
// log meters LOGS FILE...     compares the meters of streams with LOGS/NAME.meter
#include "meter.hpp"

#include <iostream>

namespace {

using test::how;
using test::lines;

struct tally {
    std::uint64_t runs = 0;
    std::uint64_t wrong = 0;
};

std::string describe(const how &h) {
    std::string text = h.way == how::way::batch ? "batch" : h.way == how::way::pauses ? "pauses" : "handler";
    text += ", events " + std::to_string(h.config.batch_events) + ", scratch " + std::to_string(h.config.batch_scratch);
    text += h.config.grow ? ", growing" : ", fixed";
    if (h.config.shared) text += ", shared";
    text += ", cut at";
    for (std::size_t i = 0; i < h.cuts.size() && i < 5; i++) text += " " + std::to_string(h.cuts[i]);
    return text;
}

void compare(const std::string &title, const how &h, const lines &got, const lines &wanted, tally &sum) {
    sum.runs++;
    if (got == wanted) return;
    if (sum.wrong++ >= 40) return;
    std::size_t i = 0;
    while (i < got.size() && i < wanted.size() && got[i] == wanted[i]) i++;
    std::cerr << title << "\n  " << describe(h) << "\n  line " << i + 1 << "\n    got    "
              << (i < got.size() ? got[i] : "nothing") << "\n    wanted " << (i < wanted.size() ? wanted[i] : "nothing")
              << "\n";
}

std::vector<std::size_t> every(std::size_t step, std::size_t len) {
    std::vector<std::size_t> cuts;
    for (std::size_t at = step; at < len; at += step) cuts.push_back(at);
    return cuts;
}

/// Whole, in slices of 1, 7 and 1448 bytes, and cut at each position if it is short.
std::vector<std::vector<std::size_t>> ways_to_cut(std::size_t len, bool singles) {
    std::vector<std::vector<std::size_t>> cuts = {{}, every(1, len), every(7, len)};
    if (len > 1448) cuts.push_back(every(1448, len));
    if (singles)
        for (std::size_t at = 0; at <= len; at++) cuts.push_back({at});
    return cuts;
}

std::vector<how> ways(const deltawire::config &base, bool quick) {
    std::vector<how> all;
    how one;
    one.config = base;
    // All kinds, so that the frames are checked too.
    one.config.events =
        ~std::uint64_t{0} >> (64 - DELTAWIRE_EV_COUNT) & ~deltawire::mask_of(deltawire::event_kind::payload);
    all.push_back(one);
    one.way = how::way::pauses;
    all.push_back(one);
    one.way = how::way::batch;
    all.push_back(one);
    one.config.batch_scratch = 64;
    one.config.batch_events = 1;
    all.push_back(one);
    one.config.shared = true;
    all.push_back(one);
    if (quick) return all;
    one.way = how::way::pauses;
    all.push_back(one);
    one.way = how::way::batch;
    one.config.shared = false;
    one.config.batch_events = 3;
    all.push_back(one);
    one.config.batch_scratch = 4096;
    one.config.batch_events = 2;
    all.push_back(one);
    return all;
}

void check_case(const test::quirk_case &c, bool quick, tally &sum) {
    std::vector<deltawire::config> stores;
    if (c.storage) {
        stores.push_back(c.config);
    } else {
        deltawire::config growing = c.config;
        growing.event_bytes = 8;
        stores.push_back(growing);
        deltawire::config fixed = c.config;
        fixed.grow = false;
        fixed.event_bytes = 8192;
        stores.push_back(fixed);
    }
    const auto cuts = ways_to_cut(c.input.size(), c.input.size() < (quick ? 60U : 200U));
    for (const deltawire::config &store : stores) {
        for (how h : ways(store, quick)) {
            for (const auto &cut : cuts) {
                h.cuts = cut;
                compare(c.title, h, test::log_of(c.input, h), c.log, sum);
            }
            h.config.errors = deltawire::quirk_set::all();
            for (const auto &cut : cuts) {
                h.cuts = cut;
                const lines got = test::log_of(c.input, h);
                lines wanted = c.log;
                if (!c.strict.empty()) {
                    wanted.resize(std::min(wanted.size(), got.empty() ? 0 : got.size() - 1));
                    wanted.push_back(c.strict);
                }
                compare(c.title + " (strict)", h, got, wanted, sum);
            }
        }
    }
}

lines split(const std::string &text) {
    lines all;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        all.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return all;
}

int run(const std::vector<std::string> &args) {
    bool quick = false;
    std::vector<std::string> words;
    for (const std::string &arg : args) {
        if (arg == "--quick") {
            quick = true;
        } else {
            words.push_back(arg);
        }
    }
    if (words.size() < 2) {
        std::cerr << "log cases FOLDER | log streams LOGS FILE... | log meters LOGS FILE...\n";
        return 1;
    }
    tally sum;
    if (words[0] == "cases") {
        const auto cases = test::all_cases(words[1]);
        for (const auto &c : cases) check_case(c, quick, sum);
        std::cout << "cases: " << cases.size() << ", runs: " << sum.runs << ", wrong: " << sum.wrong << "\n";
    } else if (words[0] == "streams") {
        for (std::size_t i = 2; i < words.size(); i++) {
            const std::filesystem::path path = words[i];
            const std::string input = test::read_file(path);
            const std::filesystem::path logs = words[1];
            const std::string name = path.filename().string();
            const lines wanted = split(test::read_file(logs / (name + ".log")));
            const lines strict = split(test::read_file(logs / (name + ".strict.log")));
            deltawire::config growing;
            growing.event_bytes = 8;
            for (how h : ways(growing, quick)) {
                for (const auto &cut : ways_to_cut(input.size(), false)) {
                    h.cuts = cut;
                    compare(name, h, test::log_of(input, h), wanted, sum);
                }
                h.config.errors = deltawire::quirk_set::all();
                for (const auto &cut : ways_to_cut(input.size(), false)) {
                    h.cuts = cut;
                    compare(name + " (strict)", h, test::log_of(input, h), strict, sum);
                }
            }
        }
        std::cout << "streams: " << words.size() - 2 << ", runs: " << sum.runs << ", wrong: " << sum.wrong << "\n";
    } else if (words[0] == "meters") {
        for (std::size_t i = 2; i < words.size(); i++) {
            const std::filesystem::path path = words[i];
            const std::string input = test::read_file(path);
            const std::string name = path.filename().string();
            const lines wanted = split(test::read_file(std::filesystem::path(words[1]) / (name + ".meter")));
            const std::size_t step = input.size() < 20'000 ? 1 : 61;
            test::meters_of(input, wanted, step, i % 2 == 0, [&](const std::string &got, const std::string &line) {
                sum.runs++;
                if (got != line && sum.wrong++ < 40) std::cerr << name << "\n    got    " << got << "\n    wanted " << line << "\n";
            });
        }
        std::cout << "meters: " << words.size() - 2 << ", compared: " << sum.runs << ", wrong: " << sum.wrong << "\n";
    } else {
        return 1;
    }
    return sum.wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char **argv) {
    try {
        return run(std::vector<std::string>(argv + 1, argv + argc));
    } catch (const std::exception &e) {
        std::cerr << e.what() << "\n";
        return 1;
    }
}
