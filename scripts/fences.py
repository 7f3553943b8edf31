#!/usr/bin/env python3
"""fences.py FILE LANGUAGE [N]: prints the code of the fenced blocks of a language in a Markdown file, in order, with #line marks
for C; with N, only that block, unchanged. Fails if there is none."""
import re
import sys


def main():
    path, language, *nth = sys.argv[1:]
    blocks, fence, start = [], None, 0
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        if fence is None and re.match(r"```\S", line):
            fence, start = [], number + 1
            kind = line[3:].split()[0]
        elif fence is None and line.startswith("```"):
            fence, start, kind = [], number + 1, ""
        elif fence is not None and line.rstrip() == "```":
            if kind == language:
                blocks.append((start, "".join(fence)))
            fence = None
        elif fence is not None:
            fence.append(line)
    if nth:
        blocks = blocks[int(nth[0]) - 1 : int(nth[0])]
    if not blocks:
        sys.exit(f"{path} has no block of {language}")
    for start, code in blocks:
        if not nth and language == "c":
            print(f'#line {start} "{path}"')
        print(code, end="")


main()
