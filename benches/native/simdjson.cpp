// simdjson On-Demand on lines by memchr. The response lies in memory with SIMDJSON_PADDING bytes after it, as a read
// buffer would be allocated, so a line that lies whole in a slice is read in place. A line that was cut is joined in a
// buffer with the same padding. The program goes through each object once, in the order of its members, and unescapes
// texts directly into the sink's buffers.
#include "sink.h"
#include <memory>
#include <simdjson.h>
#include <string_view>

namespace {

using namespace simdjson;

struct reader {
    ondemand::parser parser;
    std::unique_ptr<char[]> line;
    size_t len = 0, cap = 0;

    void keep(const char *from, size_t more) {
        if (cap - len < more) {
            const size_t room = (len + more) * 2;
            std::unique_ptr<char[]> larger(new char[room + SIMDJSON_PADDING]);
            if (len) memcpy(larger.get(), line.get(), len);
            line = std::move(larger);
            cap = room;
        }
        memcpy(line.get() + len, from, more);
        len += more;
    }
};

// Compares each key with one comparison of constant length, which includes the quote that ends the key.
template <size_t N> bool is(ondemand::raw_json_string key, const char (&name)[N]) {
    return memcmp(key.raw(), name, N - 1) == 0;
}

bool put(reader &r, ondemand::raw_json_string raw, text &to) {
    if (raw.raw()[0] == '"') return false;
    if (to.cap - to.len < SIMDJSON_PADDING) abort();
    uint8_t *const start = reinterpret_cast<uint8_t *>(to.ptr + to.len), *end = start;
    if (r.parser.unescape(raw, end).error()) abort();
    to.len += size_t(end - start);
    return true;
}

// Returns how many parts the event has. They are kept as they come, and reported in one order, whatever their own
// order.
uint32_t call(reader &r, ondemand::object object, sink &s) {
    uint64_t index = 0;
    ondemand::raw_json_string id, name, arguments;
    for (auto field : object) {
        ondemand::raw_json_string key = field.key(), raw;
        if (is(key, "index\"")) {
            if (field.value().get_uint64().get(index)) abort();
        } else if (is(key, "id\"")) {
            if (!field.value().get_raw_json_string().get(raw)) id = raw;
        } else if (is(key, "function\"")) {
            ondemand::object function;
            if (field.value().get_object().get(function)) continue;
            for (auto member : function) {
                ondemand::raw_json_string part = member.key();
                if (is(part, "arguments\"")) {
                    if (!member.value().get_raw_json_string().get(raw)) arguments = raw;
                } else if (is(part, "name\"")) {
                    if (!member.value().get_raw_json_string().get(raw)) name = raw;
                }
            }
        }
    }
    uint32_t parts = 0;
    if (id.raw() && put(r, id, s.names)) parts++;
    if (name.raw() && put(r, name, s.names)) parts++;
    if (arguments.raw() && put(r, arguments, s.arguments)) parts++;
    s.calls += parts * (index + 1);
    return parts;
}

void choice(reader &r, ondemand::object object, sink &s) {
    uint64_t index = 0;
    uint32_t parts = 0;
    ondemand::raw_json_string raw, finish;
    bool has_finish = false;
    for (auto field : object) {
        ondemand::raw_json_string key = field.key();
        if (is(key, "delta\"")) {
            ondemand::object delta;
            if (field.value().get_object().get(delta)) continue;
            for (auto member : delta) {
                ondemand::raw_json_string name = member.key();
                if (is(name, "content\"")) {
                    if (!member.value().get_raw_json_string().get(raw) && put(r, raw, s.content)) parts++;
                } else if (is(name, "tool_calls\"")) {
                    ondemand::array calls;
                    if (member.value().get_array().get(calls)) continue;
                    for (auto item : calls) {
                        ondemand::object one;
                        if (item.get_object().get(one)) abort();
                        parts += call(r, one, s);
                    }
                } else if (is(name, "reasoning_content\"") || is(name, "reasoning\"")) {
                    if (!member.value().get_raw_json_string().get(raw) && put(r, raw, s.reasoning)) parts++;
                }
            }
        } else if (is(key, "index\"")) {
            if (field.value().get_uint64().get(index)) abort();
        } else if (is(key, "finish_reason\"")) {
            has_finish = !field.value().get_raw_json_string().get(finish);
        }
    }
    if (has_finish && put(r, finish, s.names)) parts++;
    s.choices += parts * (index + 1);
}

// Chat completions.
void chat(reader &r, ondemand::object top, sink &s) {
    for (auto field : top) {
        ondemand::raw_json_string key = field.key();
        if (is(key, "choices\"")) {
            ondemand::array choices;
            if (field.value().get_array().get(choices)) continue;
            for (auto item : choices) {
                ondemand::object one;
                if (item.get_object().get(one)) abort();
                choice(r, one, s);
            }
        } else if (is(key, "usage\"")) {
            ondemand::object usage;
            if (field.value().get_object().get(usage)) continue;
            for (auto member : usage) {
                ondemand::raw_json_string name = member.key();
                uint64_t count;
                if (is(name, "prompt_tokens\"") || is(name, "completion_tokens\"") || is(name, "total_tokens\"")) {
                    if (!member.value().get_uint64().get(count)) s.usage += count;
                }
            }
        }
    }
}

// Other protocols: the members of an event are kept as they come, and reported once its type is known, wherever the
// type is.
void told(reader &r, ondemand::raw_json_string raw, text &to, uint64_t calls, sink &s) {
    if (!raw.raw() || !put(r, raw, to)) return;
    s.choices++;
    s.calls += calls;
}

void responses(reader &r, ondemand::object top, sink &s) {
    ondemand::raw_json_string type, delta, id, name, status;
    uint64_t index = 0, usage = 0;
    for (auto field : top) {
        ondemand::raw_json_string key = field.key(), raw;
        if (is(key, "type\"")) {
            if (field.value().get_raw_json_string().get(type)) abort();
        } else if (is(key, "delta\"")) {
            if (!field.value().get_raw_json_string().get(raw)) delta = raw;
        } else if (is(key, "output_index\"")) {
            if (field.value().get_uint64().get(index)) abort();
        } else if (is(key, "item\"")) {
            ondemand::object item;
            if (field.value().get_object().get(item)) continue;
            for (auto member : item) {
                ondemand::raw_json_string part = member.key();
                if (is(part, "call_id\"")) {
                    if (!member.value().get_raw_json_string().get(raw)) id = raw;
                } else if (is(part, "name\"")) {
                    if (!member.value().get_raw_json_string().get(raw)) name = raw;
                }
            }
        } else if (is(key, "response\"")) {
            ondemand::object response;
            if (field.value().get_object().get(response)) continue;
            for (auto member : response) {
                ondemand::raw_json_string part = member.key();
                if (is(part, "status\"")) {
                    if (!member.value().get_raw_json_string().get(raw)) status = raw;
                } else if (is(part, "usage\"")) {
                    ondemand::object counts;
                    if (member.value().get_object().get(counts)) continue;
                    for (auto one : counts) {
                        ondemand::raw_json_string what = one.key();
                        uint64_t count;
                        if (is(what, "input_tokens\"") || is(what, "output_tokens\"") || is(what, "total_tokens\"")) {
                            if (!one.value().get_uint64().get(count)) usage += count;
                        }
                    }
                }
            }
        }
    }
    if (is(type, "response.output_text.delta\"")) {
        told(r, delta, s.content, 0, s);
    } else if (is(type, "response.function_call_arguments.delta\"")) {
        told(r, delta, s.arguments, index + 1, s);
    } else if (is(type, "response.output_item.added\"")) {
        told(r, id, s.names, index + 1, s);
        told(r, name, s.names, index + 1, s);
    } else if (is(type, "response.completed\"")) {
        told(r, status, s.names, 0, s);
        s.usage += usage;
    }
}

// Returns the counted numbers: prompt, completion, and their sum if both are there.
uint64_t tokens(ondemand::object usage) {
    uint64_t prompt = 0, completion = 0;
    bool has_input = false;
    for (auto member : usage) {
        ondemand::raw_json_string name = member.key();
        uint64_t count;
        if (is(name, "output_tokens\"")) {
            if (!member.value().get_uint64().get(count)) completion = count;
        } else if (is(name, "input_tokens\"")) {
            if (!member.value().get_uint64().get(count)) prompt += count, has_input = true;
        } else if (is(name, "cache_creation_input_tokens\"") || is(name, "cache_read_input_tokens\"")) {
            if (!member.value().get_uint64().get(count)) prompt += count;
        }
    }
    return (prompt + completion) * (has_input ? 2 : 1);
}

void anthropic(reader &r, ondemand::object top, sink &s) {
    ondemand::raw_json_string words, partial, reason, id, name;
    uint64_t index = 0;
    for (auto field : top) {
        ondemand::raw_json_string key = field.key(), raw;
        if (is(key, "index\"")) {
            if (field.value().get_uint64().get(index)) abort();
        } else if (is(key, "delta\"")) {
            ondemand::object delta;
            if (field.value().get_object().get(delta)) continue;
            for (auto member : delta) {
                ondemand::raw_json_string part = member.key();
                ondemand::raw_json_string *const to = is(part, "text\"")           ? &words
                                                      : is(part, "partial_json\"") ? &partial
                                                      : is(part, "stop_reason\"")  ? &reason
                                                                                   : nullptr;
                if (to && !member.value().get_raw_json_string().get(raw)) *to = raw;
            }
        } else if (is(key, "content_block\"")) {
            ondemand::object block;
            if (field.value().get_object().get(block)) continue;
            for (auto member : block) {
                ondemand::raw_json_string part = member.key();
                if (is(part, "id\"")) {
                    if (!member.value().get_raw_json_string().get(raw)) id = raw;
                } else if (is(part, "name\"")) {
                    if (!member.value().get_raw_json_string().get(raw)) name = raw;
                }
            }
        } else if (is(key, "message\"")) {
            ondemand::object message;
            if (field.value().get_object().get(message)) continue;
            for (auto member : message) {
                ondemand::raw_json_string part = member.key();
                ondemand::object usage;
                if (is(part, "usage\"") && !member.value().get_object().get(usage)) s.usage += tokens(usage);
            }
        } else if (is(key, "usage\"")) {
            ondemand::object usage;
            if (!field.value().get_object().get(usage)) s.usage += tokens(usage);
        }
    }
    told(r, id, s.names, index + 1, s);
    told(r, name, s.names, index + 1, s);
    told(r, words, s.content, 0, s);
    told(r, partial, s.arguments, index + 1, s);
    told(r, reason, s.names, 0, s);
}

void gemini(reader &r, ondemand::object top, sink &s) {
    for (auto field : top) {
        ondemand::raw_json_string key = field.key(), raw;
        if (is(key, "candidates\"")) {
            ondemand::array candidates;
            if (field.value().get_array().get(candidates)) continue;
            for (auto one : candidates) {
                ondemand::object candidate;
                if (one.get_object().get(candidate)) abort();
                ondemand::raw_json_string reason;
                for (auto member : candidate) {
                    ondemand::raw_json_string name = member.key();
                    if (is(name, "finishReason\"")) {
                        if (!member.value().get_raw_json_string().get(raw)) reason = raw;
                    } else if (is(name, "content\"")) {
                        ondemand::object content;
                        if (member.value().get_object().get(content)) continue;
                        for (auto inner : content) {
                            ondemand::array parts;
                            if (!is(inner.key(), "parts\"") || inner.value().get_array().get(parts)) continue;
                            for (auto item : parts) {
                                ondemand::object part;
                                if (item.get_object().get(part)) abort();
                                for (auto text : part) {
                                    if (!is(text.key(), "text\"")) continue;
                                    if (!text.value().get_raw_json_string().get(raw)) told(r, raw, s.content, 0, s);
                                }
                            }
                        }
                    }
                }
                told(r, reason, s.names, 0, s);
            }
        } else if (is(key, "usageMetadata\"")) {
            ondemand::object usage;
            if (field.value().get_object().get(usage)) continue;
            for (auto member : usage) {
                ondemand::raw_json_string name = member.key();
                uint64_t count;
                if (is(name, "promptTokenCount\"") || is(name, "candidatesTokenCount\"") || is(name, "totalTokenCount\"")) {
                    if (!member.value().get_uint64().get(count)) s.usage += count;
                }
            }
        }
    }
}

// Reads a line. Returns false after the last line. `room` is how many bytes from its beginning may be read.
template <void (*each)(reader &, ondemand::object, sink &)>
bool take(reader &r, const char *line, size_t len, size_t room, sink &s) {
    if (len < 5 || memcmp(line, "data:", 5) != 0) return true;
    const size_t skip = len > 5 && line[5] == ' ' ? 6 : 5;
    line += skip, len -= skip, room -= skip;
    if (len && line[len - 1] == '\r') len--;
    if (len == 6 && memcmp(line, "[DONE]", 6) == 0) return false;
    ondemand::document document;
    if (r.parser.iterate(line, len, room).get(document)) abort();
    ondemand::object top;
    if (document.get_object().get(top)) abort();
    s.events++;
    each(r, top, s);
    return true;
}

// Reads a response of `len` bytes, with SIMDJSON_PADDING readable bytes after them, in slices.
template <void (*each)(reader &, ondemand::object, sink &)>
void read(void *self, const char *bytes, size_t len, size_t slice, sink *s) {
    reader &r = *static_cast<reader *>(self);
    const char *const end = bytes + len, *const readable = end + SIMDJSON_PADDING;
    r.len = 0;
    for (const char *at = bytes; at < end;) {
        const char *const stop = size_t(end - at) < slice ? end : at + slice;
        while (const void *found = memchr(at, '\n', size_t(stop - at))) {
            const char *const newline = static_cast<const char *>(found);
            if (r.len == 0) {
                if (!take<each>(r, at, size_t(newline - at), size_t(readable - at), *s)) return;
            } else {
                r.keep(at, size_t(newline - at));
                const size_t whole = r.len;
                r.len = 0;
                if (!take<each>(r, r.line.get(), whole, r.cap + SIMDJSON_PADDING, *s)) return;
            }
            at = newline + 1;
        }
        if (at < stop) r.keep(at, size_t(stop - at));
        at = stop;
    }
}

}  // namespace

extern "C" void *bench_simdjson_new() { return new reader; }

extern "C" const char *bench_simdjson_about() {
#define TEXT_OF(name) TEXT(name)
#define TEXT(name) #name
    // The kernels that find the structure are chosen at run time, those that walk it at compile time.
    static const std::string about = std::string(TEXT_OF(SIMDJSON_VERSION)) + " (" + get_active_implementation()->name() +
                                     ", On-Demand " + TEXT_OF(SIMDJSON_BUILTIN_IMPLEMENTATION) + ")";
    return about.c_str();
}

extern "C" void bench_simdjson_read(void *self, const char *bytes, size_t len, size_t slice, sink *s) {
    read<chat>(self, bytes, len, slice, s);
}

extern "C" void bench_simdjson_responses(void *self, const char *bytes, size_t len, size_t slice, sink *s) {
    read<responses>(self, bytes, len, slice, s);
}

extern "C" void bench_simdjson_anthropic(void *self, const char *bytes, size_t len, size_t slice, sink *s) {
    read<anthropic>(self, bytes, len, slice, s);
}

extern "C" void bench_simdjson_gemini(void *self, const char *bytes, size_t len, size_t slice, sink *s) {
    read<gemini>(self, bytes, len, slice, s);
}
