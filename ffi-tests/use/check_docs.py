#!/usr/bin/env python3
"""check_docs.py DOCS FILE...: the recipe of docs/gateway.md leaves out the frames of usage and nothing else, from each stream
that has one, whatever the reads, and whatever its lines end in."""
import os
import subprocess
import sys
import tempfile

from check_gateway import without_usage
from common import check


def main():
    program, *files = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        pairs = []
        for path in files:
            with open(path, "rb") as file:
                body = file.read()
            lf = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            for end, ends in (("", None), (".lf", b"\n"), (".cr", b"\r"), (".crlf", b"\r\n")):
                stream = body if ends is None else lf.replace(b"\n", ends)
                left, gone = without_usage(stream)
                if gone:
                    pair = [os.path.join(folder, os.path.basename(path) + end + kind) for kind in ("", ".left")]
                    for name, content in zip(pair, (stream, left)):
                        with open(name, "wb") as file:
                            file.write(content)
                    pairs += pair
        check(pairs, "no stream has a usage chunk")
        sys.exit(subprocess.run([program, "--left", *pairs]).returncode)


main()
