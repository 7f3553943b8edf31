#!/usr/bin/env python3
"""Measures which parts of the header the C tests reach.

coverage.py hits HEADER           prints hits.h: a macro around each function, which counts its calls
coverage.py check HEADER COUNTS   compares the counts of all programs with the header; exit 1 if something was never hit"""
import collections
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from header import Header  # noqa: E402


def header(path):
    """Returns the names of the functions, and a function from a prefix to its constants."""
    read = Header(path)
    define = lambda prefix: {name: int(number) for name, number in read.constants.items() if name.startswith(prefix)}
    return [function.name for function in read.functions], define


def hits(path):
    functions, _ = header(path)
    print("/* Made by coverage.py. */")
    print("enum {" + ", ".join(f"HIT_{name}" for name in functions) + ", HIT_COUNT};")
    print("#define HIT_NAMES " + " ".join(f'"{name}",' for name in functions))
    print("extern unsigned long hits[HIT_COUNT + 1];")
    for name in functions:
        print(f"#define {name}(...) (hits[HIT_{name}]++, ({name})(__VA_ARGS__))")


def check(path, counts):
    functions, define = header(path)
    seen = collections.Counter()
    for line in open(counts, encoding="ascii"):
        what, name, count = line.split()
        seen[what, name] += int(count)
    missing = []
    print(f"functions: {sum(seen['function', f] > 0 for f in functions)} of {len(functions)}")
    for name in functions:
        print(f"  {seen['function', name]:>12} {name}")
        if not seen["function", name]:
            missing.append(name)
    kinds = {name: number for name, number in define("DELTAWIRE_EV_").items() if name not in ("DELTAWIRE_EV_COUNT", "DELTAWIRE_EV_NONE")}
    # A callback has at->chunk instead of this event.
    batch_only = {"DELTAWIRE_EV_PAYLOAD"}
    print(f"kinds of events: {len(kinds)}; by callbacks, by batch")
    for name, number in kinds.items():
        by = [seen[source, str(number)] for source in ("callback", "batch")]
        print(f"  {by[0]:>12} {by[1]:>12} {name}")
        if not by[1] or not by[0] and name not in batch_only:
            missing.append(name)
    flags = define("DELTAWIRE_EVF_")
    print(f"flags of events: {len(flags)}; by callbacks, by batch")
    for name, number in flags.items():
        by = [seen[source, str(number)] for source in ("callback-flag", "batch-flag")]
        print(f"  {by[0]:>12} {by[1]:>12} {name}")
        # A callback receives a text, but not which memory it is in.
        if not by[1] or not by[0] and "SCRATCH" not in name:
            missing.append(name)
    counts = define("DELTAWIRE_HAS_")
    print(f"token counts: {len(counts)}")
    for name, number in counts.items():
        print(f"  {seen['usage', str(number)]:>12} {name}")
        if not seen["usage", str(number)]:
            missing.append(name)
    for name in missing:
        print(f"never hit: {name}")
    return 1 if missing else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["hits"] and len(sys.argv) == 3:
        hits(sys.argv[2])
    elif sys.argv[1:2] == ["check"] and len(sys.argv) == 4:
        sys.exit(check(sys.argv[2], sys.argv[3]))
    else:
        sys.exit(__doc__)
