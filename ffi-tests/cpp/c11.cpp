// deltawire.h from C++11, without deltawire.hpp: reads a stream from a file in reads of 7 bytes, prints its content.
#include <deltawire.h>

#include <cstdio>
#include <memory>
#include <string>

static std::int32_t on_content(void *user, const deltawire_at *at, const char *text, std::size_t len) {
    if (at->choice == 0) static_cast<std::string *>(user)->append(text, len);
    return DELTAWIRE_GO_ON;
}

int main(int argc, char **argv) {
    static_assert(sizeof(deltawire_event) == 64, "64 bytes for ever");
    if (argc < 2 || deltawire_abi() != DELTAWIRE_ABI || deltawire_version() != DELTAWIRE_VERSION) return 1;
    std::FILE *file = std::fopen(argv[1], "rb");
    if (file == nullptr) return 1;

    deltawire_config config = DELTAWIRE_CONFIG_INIT;
    config.flags = DELTAWIRE_CFG_GROW;
    deltawire_callbacks callbacks = DELTAWIRE_CALLBACKS_INIT;
    callbacks.on_content = on_content;
    std::string content;
    DELTAWIRE_BLOCK(first, 16);
    std::unique_ptr<std::uint64_t[]> grown;
    deltawire_parser *parser = nullptr;
    if (deltawire_init(&first, sizeof first, &config, &parser) != DELTAWIRE_OK) return 1;

    char bytes[7];
    std::size_t len = 0;
    while ((len = std::fread(bytes, 1, sizeof bytes, file)) > 0) {
        std::size_t at = 0;
        deltawire_status status = DELTAWIRE_OK;
        do {
            std::size_t consumed = 0;
            status = deltawire_feed(parser, bytes + at, len - at, &callbacks, &content, &consumed);
            at += consumed;
            if (status == DELTAWIRE_NEED_STORAGE) {
                const std::size_t need = deltawire_need(parser);
                std::unique_ptr<std::uint64_t[]> next(new std::uint64_t[(need + 7) / 8]);
                if (deltawire_move(next.get(), need, parser, &parser) != DELTAWIRE_OK) return 1;
                grown.swap(next);
            }
        } while (status > 0);
        if (status != DELTAWIRE_OK) return 1;
    }
    std::fclose(file);
    deltawire_end end = DELTAWIRE_END_INIT;
    if (deltawire_finish(parser, &callbacks, &content) != DELTAWIRE_OK) return 1;
    if (deltawire_end_of(parser, &end) != DELTAWIRE_OK) return 1;
    std::printf("%s (%s)\n", content.c_str(), deltawire_verdict_name(end.verdict));
    return 0;
}
