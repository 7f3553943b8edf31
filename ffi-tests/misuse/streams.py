#!/usr/bin/env python3
"""streams.py FOLDER OUT: the inputs of the conformance cases, for the walks: each as its length (32 bits, little) and bytes."""
import pathlib
import re
import struct
import sys

ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "0": b"\0", "\\": b"\\", '"': b'"'}


def unescape(text):
    parts = re.split(r"\\(x[0-9A-Fa-f]{2}|.)", text)
    out = bytearray(parts[0].encode("ascii"))
    for escape, rest in zip(parts[1::2], parts[2::2]):
        out += bytes.fromhex(escape[1:]) if escape[0] == "x" else ESCAPES[escape]
        out += rest.encode("ascii")
    return bytes(out)


def main():
    folder, out = sys.argv[1:]
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
    streams = [stream for stream in streams if 0 < len(stream) < 20000]
    with open(out, "wb") as file:
        for stream in streams:
            file.write(struct.pack("<I", len(stream)) + stream)
    if len(streams) < 100:
        sys.exit(f"only {len(streams)} streams")


main()
