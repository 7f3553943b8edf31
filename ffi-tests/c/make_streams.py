#!/usr/bin/env python3
"""make_streams.py FOLDER SAMPLE...: writes streams, always the same ones: texts that are longer than any buffer of the
library, in each channel and full of escapes; IDs and names that are long; the samples with a few bytes changed."""
import os
import random
import sys

# The parts of a text: plain runs of many lengths, characters of each length, escapes, surrogates, invalid bytes.
PARTS = [b"a", b"plain text ", b"x" * 63, b"y" * 1021, b"\\n", b"\\\"", b"\\\\", b"\\u00e9", b"\\u20ac", b"\\ud83d\\ude00",
         "é".encode(), "€".encode(), "😀".encode(), b"\\/", b"\\b\\f\\r\\t"]
ODD = [b"\\ud83d", b"\\ude00", b"\xff", b"\xe2\x82", b"\\q", b"\t", b"\xf0\x9f\x98"]


def text(rng, length, odd=False):
    parts = PARTS + ODD if odd else PARTS
    made = b""
    while len(made) < length:
        made += rng.choice(parts)
    return b'"' + made + b'"'


def chunk(choice, top=b""):
    return b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m",' + top + b'"choices":[' + choice + b"]}\n\n"


def delta(members, rest=b""):
    return chunk(b'{"index":0,"delta":{' + members + b"}" + rest + b"}")


def long_texts(rng, odd):
    out = b""
    for round in range(3):
        length = rng.choice([900, 1023, 1024, 1025, 3000, 9000])
        for channel in (b"role", b"content", b"reasoning_content", b"refusal"):
            out += delta(b'"' + channel + b'":' + text(rng, length, odd))
        call = b'"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}]'
        out += delta(call % (round, text(rng, 300), text(rng, length, odd), text(rng, length, odd)))
        out += delta(b'"function_call":{"name":%s,"arguments":%s}' % (text(rng, 40), text(rng, length, odd)))
        out += delta(b'"audio":{"id":%s,"data":"%s","transcript":%s}' % (text(rng, 9), b"QUJD" * length, text(rng, length, odd)))
        out += delta(b"", b',"logprobs":{"content":[{"token":%s,"logprob":-0.5,"bytes":null}]}' % text(rng, length, odd))
    out += delta(b"", b',"finish_reason":' + text(rng, 2000, odd))
    out += b"data: {\"error\":{\"message\":%s,\"code\":%s,\"metadata\":[%s]}}\n\n" % tuple(text(rng, 2500, odd) for _ in range(3))
    out += b"event: error\ndata: " + b"no JSON " * 400 + b"\n\n"
    out += b"data: {" + b"bad" * 700 + b"\n\n"
    return out + b": " + b"comment " * 300 + b"\n\ndata: [DONE]\n\n"


def long_names(rng):
    out = b""
    for length in (10, 63, 64, 65, 500, 4000):
        name = text(rng, length)
        out += b"event: " + b"e" * length + b'\nid: ' + b"i" * min(length, 1000) + b'\ndata: {"id":%s,"model":%s,"choices":[]}\n\n' % (name, name)
        out += b"id: " + b"j" * min(length, 1000) + b"\n\n"
        out += b"event: " + b"f" * length + b"\ndata: {]\n\n"
        out += delta(b'"tool_calls":[{"index":%d,"id":%s,"type":%s,"function":{"name":"f"}}]' % (length, name, name))
    return out


def native_after_head():
    """An Anthropic stream whose ID, model and time a gateway sent before, in a chunk of chat completions."""
    events = [
        b'{"id":"req","model":"m","created":17}',
        b'{"type":"message_start","message":{"id":"msg","role":"assistant","usage":{"input_tokens":5}}}',
        b'{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"now","input":{}}}',
        b'{"type":"content_block_stop","index":0}',
        b'{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}',
        b'{"type":"message_stop"}',
    ]
    return b"".join(b"data: " + event + b"\n\n" for event in events)


def changed(rng, sample):
    out = bytearray(sample)
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(out))
        what = rng.randrange(6)
        if what == 0:
            del out[at:at + rng.randrange(1, 40)]
        elif what == 1:
            out[at] = rng.randrange(256)
        elif what == 2:
            out[at:at] = rng.choice([b"\n", b"\r", b"\n\n", b"\\", b'"', b"}", b"{", b": c\n", b"\xff", b"data: ", b"\\ud83d"])
        elif what == 3:
            out = out[:at] or out
        elif what == 4:
            out[at:at] = out[at:at + rng.randrange(1, 400)]
        else:
            out[at:at] = b"\n\n" + rng.choice([b"data: [DONE]\n\n", b"event: error\ndata: no\n\n", b"id: 5\n\n", b"retry: 7\n\n",
                                               b'data: {"error":"e"}\n\n', b"[DONE]\n", b'{"detail":[1]}\n', b"data\n\n"])
    return bytes(out)


def main(folder, *samples):
    rng = random.Random(20240229)
    os.makedirs(folder, exist_ok=True)
    streams = {"long-texts": long_texts(rng, False), "odd-texts": long_texts(rng, True), "long-names": long_names(rng)}
    streams["native-after-head"] = native_after_head()
    for n in range(90):
        path = samples[n % len(samples)]
        streams[f"changed-{n:02}"] = changed(rng, open(path, "rb").read())
    for name, stream in streams.items():
        with open(os.path.join(folder, name + ".sse"), "wb") as file:
            file.write(stream)


if __name__ == "__main__":
    main(*sys.argv[1:])
