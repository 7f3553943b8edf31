#include "chance.h"

static uint64_t state;
void chance_from(uint64_t seed) { state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1; }
uint32_t random_below(uint32_t n) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return n == 0 ? 0 : (uint32_t)((state >> 16) % n);
}
int one_in(uint32_t n) { return random_below(n) == 0; }

void holds(int condition, const char *what) {
    if (!condition) fault(what, 0, 1);
}

static struct {
    unsigned char *bytes;
    size_t len, count;
} file;

void read_streams(const char *path) {
    FILE *in = fopen(path, "rb");
    size_t at = 0, len;
    require(in != NULL && fseek(in, 0, SEEK_END) == 0, path);
    file.len = (size_t)ftell(in), file.bytes = malloc(file.len + 1);
    rewind(in);
    require(file.bytes != NULL && fread(file.bytes, 1, file.len, in) == file.len, path);
    fclose(in);
    for (; at + 4 <= file.len; at += 4 + len, file.count++) {
        const unsigned char *b = file.bytes + at;
        len = b[0] + 256u * b[1] + 65536u * b[2];
        require(len <= file.len - at - 4, path);
    }
}
static void append_stream(char **stream, size_t *to, const void *bytes_, size_t len) {
    *stream = realloc(*stream, *to + len);
    require(*stream != NULL, "no memory");
    memcpy(*stream + *to, bytes_, len), *to += len;
}
void choose_stream(char **stream, size_t *len) {
    uint32_t times = one_in(2) ? 1 : 1 + random_below(3), number;
    *len = 0;
    for (; times > 0; times--) {
        const unsigned char *b = file.bytes;
        if (file.count == 0 || one_in(4)) {
            append_stream(stream, len, EVERYTHING, strlen(EVERYTHING));
            continue;
        }
        for (number = random_below((uint32_t)file.count); number > 0; number--) {
            b += 4 + (b[0] + 256u * b[1] + 65536u * b[2]);
        }
        append_stream(stream, len, b + 4, b[0] + 256u * b[1] + 65536u * b[2]);
    }
}
