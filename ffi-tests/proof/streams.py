#!/usr/bin/env python3
"""streams.py CASES FOLDER [EVERY]: inputs for proof/. Some need as much stack as any: those of each conformance case, and
streams that are deep, wide and odd; with EVERY only each EVERY-th of these. The others are texts that show the kernels
something odd at each place."""
import pathlib
import re
import sys

ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "0": b"\0", "\\": b"\\", '"': b'"'}


def unescape(text):
    parts = re.split(r"\\(x[0-9A-Fa-f]{2}|.)", text)
    out = bytearray(parts[0].encode("ascii"))
    for escape, rest in zip(parts[1::2], parts[2::2]):
        out += bytes.fromhex(escape[1:]) if escape[0] == "x" else ESCAPES[escape]
        out += rest.encode("ascii")
    return bytes(out)


def cases(folder):
    """The inputs of the conformance cases that are not long."""
    streams = []
    for path in sorted(pathlib.Path(folder).glob("*.case")):
        for line in path.read_text(encoding="ascii").splitlines():
            word, _, rest = line.partition(" ")
            if word == "case":
                streams.append(b"")
            elif word == "in":
                streams[-1] += unescape(rest)
            elif word == "repeat":
                times, _, rest = rest.partition(" ")
                streams[-1] += unescape(rest) * int(times)
    assert len(streams) > 100
    return [stream for stream in streams if 0 < len(stream) < 20000]


def nested(depth):
    return '{"a":[' * (depth // 2) + '"\\ud83d\\u00e9\\q\t"' + "]}" * (depth // 2)


def made():
    """Deep values in each member, up to and beyond what a payload may nest, in events and as bare JSON."""
    delta = '{"choices":[{"index":%d,"delta":{%s},"logprobs":%s,"finish_reason":"stop"}],"usage":%s%s}'
    text = "é\\ud83d\\ude00\\n漢\\u0000\\ud83d" * 400
    call = '{"index":%d,"id":"c%d","type":"function","function":{"name":"n%d","arguments":"%s"}}'
    for depth in (2, 60, 116, 120, 124, 128, 1000, 1030):
        deep = nested(depth)
        payloads = [delta % (3, '"role":"assistant","content":"%s","reasoning":"%s","refusal":"%s"' % (text, text, text), deep, deep, "")]
        payloads += [
            delta % (index, '"%s":%s' % (member, deep), "null", "{}", ',"x":' + deep)
            for index, member in enumerate(["content", "tool_calls", "function_call", "audio", "reasoning_details", "annotations", "x"])
        ]
        payloads.append(delta % (1, '"content":[{"type":"text","text":"%s","x":%s}]' % (text, deep), "null", "null", ""))
        payloads.append('{"error":{"message":"%s","code":5,"metadata":%s}}' % (text[:300], deep))
        calls = ",".join(call % (n, n, n, '{\\"a\\":' * 20) for n in range(48))
        payloads.append(delta % (2, '"tool_calls":[%s]' % calls, "null", "null", ""))
        payloads.append(",".join('{"index":%d,"delta":{"content":"x"}}' % n for n in range(20)).join(('{"choices":[', "]}")))
        for frame in ("data: %s\n\n", "event: e\r\nid: 7\r\n: c\r\ndata: %s\r\n\r\n", "%s\n"):
            yield "".join(frame % payload for payload in payloads).encode()
        yield ("[" + ",".join(payloads) + "]").encode()


# Bytes that a kernel must find in a text, or pass: escaped, ill-formed, and those with a meaning only in JSON's structure.
ODD = [b"\\n", b'\\"', b"\\\\", b"\\u00e9", b"\\ud83d\\ude00", b"\\ud83d", b"\\x", b"\0", b"\x1f", b" ", b"\x7f", "é".encode(), "漢".encode(), "😀".encode()]
ODD += [b"\x80", b"\xe6\xbc", b"\xed\xa0\x80", b"{", b"]", b",", b":", b"/"]


def texts():
    """Texts of each length up to 71 bytes, more than a block of 64, and of about two blocks, with something odd in them: in
    members that are read, in those that are skipped, in names, and in comments."""
    frames = [
        b'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n',
        b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"%s"}}]}}]}\n\n',
        b'data: {"x":{"y":["%s",[]]},"choices":[]}\r\n\r\n',
        b'data: {"%s":[{}],"choices":[{"delta":{"reasoning_content":"%s"}}]}\n\n',
        b": %s\n\n",
    ]
    for frame in frames:
        stream = [frames[1].replace(b'"index":0,"f', b'"index":0,"id":"c","f').replace(b"%s", b"{")]
        for length in [*range(72), 127, 128, 129]:
            # Of long texts every third place, a different one at each length.
            for place in range(length % 3 if length > 24 else 0, length + 1, 3 if length > 24 else 1):
                odd = ODD[(length + 7 * place) % len(ODD)]
                stream.append(frame.replace(b"%s", b"a" * place + odd + b"b" * (length - place)))
        yield b"".join(stream)


def main():
    folder, out = sys.argv[1], pathlib.Path(sys.argv[2])
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    out.mkdir(parents=True, exist_ok=True)
    count = 0
    for kind, streams, step in (("case", cases(folder), every), ("made", made(), every), ("text", texts(), 1)):
        for number, stream in enumerate(streams):
            if number % step:
                continue
            assert len(stream) < 1 << 20
            (out / f"{kind}-{number}").write_bytes(stream)
            count += 1
    print(f"{count} streams")


main()
