#!/usr/bin/env python3
"""check_docs.py DOCS FILE...: the recipe of docs/gateway.md leaves out the frames of usage and nothing else, from each stream
that has one, whatever the reads, and whatever its lines end in."""
import os
import subprocess
import sys
import tempfile

from check_gateway import variants, without_usage
from common import check, server

OTHERS = {
    "anthropic": b'data: {"type":"message_start","message":{"role":"assistant"}}\n\n'
    b'data: {"type":"message_delta","usage":{"output_tokens":3}}\n\ndata: {"type":"message_stop"}\n\n',
    "gemini": b'data: {"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}\n\n'
    b'data: {"usageMetadata":{"promptTokenCount":3}}\n\n',
}


def main():
    program, *files = sys.argv[1:]
    bodies = server.load(files)
    bodies.update(variants(bodies))
    # Longer than any read, and so with a frame of usage in the middle of one.
    chunk = b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
    bodies["long.sse"] = chunk * 3000 + b'data: {"choices":[],"usage":{"prompt_tokens":1}}\n\n' + chunk * 1500
    with tempfile.TemporaryDirectory() as folder:
        pairs = []
        for body_name, body in bodies.items():
            lf = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            for end, ends in (("", None), (".lf", b"\n"), (".cr", b"\r"), (".crlf", b"\r\n")):
                stream = body if ends is None else lf.replace(b"\n", ends)
                left, gone = without_usage(stream)
                if gone and (ends is None or stream != body):
                    pair = [os.path.join(folder, body_name + end + kind) for kind in ("", ".left")]
                    for name, content in zip(pair, (stream, left)):
                        with open(name, "wb") as file:
                            file.write(content)
                    pairs += pair
        check(pairs, "no stream has a usage chunk")
        # An event of usage alone that the client did ask for: of other protocols nothing is left out.
        for name, stream in OTHERS.items():
            path = os.path.join(folder, name)
            with open(path, "wb") as file:
                file.write(stream)
            pairs += [path, path]
        sys.exit(subprocess.run([program, "--left", *pairs]).returncode)


main()
