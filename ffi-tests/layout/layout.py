#!/usr/bin/env python3
"""Whether layout.c names every member of every struct of the header, each once. Its numbers are the record: compiling compares
them with the header.

    layout.py            checks
    layout.py --propose  prints the lines that layout.c lacks
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
from header import Header  # noqa: E402

# The three models: LP64, then ILP32 where uint64_t is aligned to 8, then ILP32 where it is aligned to 4.
MODELS = ({"pointer": 8, "u64": 8}, {"pointer": 4, "u64": 8}, {"pointer": 4, "u64": 4})
INTEGERS = {"uint8_t": 1, "uint16_t": 2, "uint32_t": 4, "int32_t": 4, "uint64_t": 8, "int64_t": 8}


def expected(header):
    """What the rule of natural alignment gives: the arguments of SIZE, ALIGN or OFFSET -> three numbers."""
    found = {}
    known = [{}, {}, {}]
    for struct in header.structs:
        for kind in ("SIZE", "ALIGN"):
            found[kind, struct.name] = []
        for number, model in enumerate(MODELS):
            offset, align = 0, 1
            for member in struct.members:
                if member.type in INTEGERS:
                    size = INTEGERS[member.type]
                    to = model["u64"] if size == 8 else size
                elif member.type in known[number]:
                    size, to = known[number][member.type]
                elif member.type == "size_t" or member.type.endswith("*") or member.type in header.callbacks:
                    size = to = model["pointer"]
                else:
                    sys.exit(f"{struct.name}.{member.name}: what is a {member.type}?")
                offset = -(-offset // to) * to
                found.setdefault(("OFFSET", struct.name, member.name), []).append(offset)
                offset += size * member.count
                align = max(align, to)
            size = -(-offset // align) * align
            known[number][struct.name] = (size, align)
            found["SIZE", struct.name].append(size)
            found["ALIGN", struct.name].append(align)
    return found


def main():
    header = Header(os.path.join(ROOT, "include/deltawire.h"))
    wanted = expected(header)
    with open(os.path.join(HERE, "layout.c"), encoding="utf-8") as file:
        lines = re.findall(r"^(SIZE|ALIGN|OFFSET)\((\w+(?:, [a-z_]\w*)?)(?:, \d+){3}\);$", file.read(), re.M)
    there = [(kind, *names.split(", ")) for kind, names in lines]
    if sys.argv[1:] == ["--propose"]:
        for (kind, *names), numbers in wanted.items():
            if (kind, *names) not in there:
                print(f"{kind}({', '.join([*names, *map(str, numbers)])});")
        return
    for line in wanted:
        if there.count(line) != 1:
            sys.exit(f"layout.c has {there.count(line)} lines of {' '.join(line)} (layout.py --propose)")
    if len(there) != len(wanted):
        sys.exit(f"not in the header: {set(there) - set(wanted)}")
    print(f"layout: {len(there)} numbers of {len(header.structs)} structs")


main()
