// The case files of tests/quirks/, whose README describes the format.
#pragma once

#include <deltawire.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace test {

using lines = std::vector<std::string>;

struct quirk_case {
    std::string title;
    deltawire::config config;
    bool storage = false;
    std::string input;
    lines log;
    /// Empty: strict mode passes.
    std::string strict;
};

inline std::string read_file(const std::filesystem::path &path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path.string());
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

inline std::string unescape(std::string_view text) {
    const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); i++) {
        if (text[i] != '\\') {
            bytes += text[i];
            continue;
        }
        switch (text.at(++i)) {
        case 'n': bytes += '\n'; break;
        case 'r': bytes += '\r'; break;
        case 't': bytes += '\t'; break;
        case '0': bytes += '\0'; break;
        case '\\': bytes += '\\'; break;
        case '"': bytes += '"'; break;
        case 'x':
            bytes += static_cast<char>(digit(text.at(i + 1)) * 16 + digit(text.at(i + 2)));
            i += 2;
            break;
        default: throw std::runtime_error("a bad escape");
        }
    }
    return bytes;
}

inline void set_option(quirk_case &c, std::string_view option) {
    const std::size_t equals = option.find('=');
    const std::string_view name = option.substr(0, equals);
    const std::string value(option.substr(equals + 1));
    const auto number = [&value] { return static_cast<std::uint32_t>(std::stoul(value)); };
    if (option == "framing=spec") {
        c.config.spec_framing = true;
    } else if (option == "snapshots=on") {
        c.config.snapshots = true;
    } else if (option == "validate=strict") {
        c.config.strict_json = true;
    } else if (name == "max_event_len") {
        c.config.max_event_len = number();
    } else if (name == "max_id_len") {
        c.config.max_id_len = number();
    } else if (name == "max_depth") {
        c.config.max_depth = number();
    } else if (name == "storage") {
        c.storage = true;
        c.config.grow = false;
        c.config.event_bytes = number();
    } else {
        throw std::runtime_error("an option that is not known");
    }
}

inline void read_cases(const std::filesystem::path &path, std::vector<quirk_case> &into) {
    std::ifstream file(path);
    std::string line;
    std::size_t strict = 0;
    const std::size_t before = into.size();
    while (std::getline(file, line)) {
        if (line.empty() || line.front() == '#') continue;
        const std::size_t space = line.find(' ');
        const std::string word = line.substr(0, space);
        const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
        if (word == "case") {
            into.emplace_back();
            into.back().title = path.stem().string() + " \"" + rest + "\"";
            continue;
        }
        if (into.size() == before) throw std::runtime_error(path.string() + ": expected `case`");
        quirk_case &c = into.back();
        if (word == "option") {
            for (std::size_t at = 0; at < rest.size();) {
                const std::size_t end = std::min(rest.find(' ', at), rest.size());
                set_option(c, std::string_view(rest).substr(at, end - at));
                at = end + 1;
            }
        } else if (word == "reads") {
            // The library has the readers of all protocols.
        } else if (word == "in") {
            c.input += unescape(rest);
        } else if (word == "repeat") {
            const std::size_t gap = rest.find(' ');
            const std::string bytes = unescape(rest.substr(gap + 1));
            for (unsigned long n = std::stoul(rest); n > 0; n--) c.input += bytes;
        } else if (word == "log") {
            c.log.push_back(rest);
        } else if (word == "strict") {
            strict++;
            c.strict = rest == "passes" ? "" : "stop " + rest;
        } else {
            throw std::runtime_error(path.string() + ": a word that is not known: " + word);
        }
    }
    if (into.size() == before || strict != into.size() - before)
        throw std::runtime_error(path.string() + ": no case, or one without its `strict` line");
}

inline std::vector<quirk_case> all_cases(const std::filesystem::path &folder) {
    std::vector<std::filesystem::path> paths;
    for (const auto &entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".case") paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    std::vector<quirk_case> cases;
    for (const auto &path : paths) read_cases(path, cases);
    if (cases.empty()) throw std::runtime_error("no cases");
    return cases;
}

}  // namespace test
