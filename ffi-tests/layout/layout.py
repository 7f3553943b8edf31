#!/usr/bin/env python3
"""Makes layout.c from table.txt: the numbers as assertions of C.

    layout.py            writes layout.c
    layout.py --check    compares layout.c with what is there
    layout.py --propose  prints the lines of the header's structs, for a table that lacks some

The table is the record: its numbers are not made anew, but it has to name every member of every struct of the header.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
from header import Header  # noqa: E402

# The three models: LP64, then ILP32 where uint64_t is aligned to 8, then ILP32 where it is aligned to 4.
MODELS = ({"pointer": 8, "u64": 8}, {"pointer": 4, "u64": 8}, {"pointer": 4, "u64": 4})
INTEGERS = {"uint8_t": 1, "uint16_t": 2, "uint32_t": 4, "int32_t": 4, "uint64_t": 8, "int64_t": 8}
SPECIAL = ("size", "align")
HEAD_C = """/* Sizes, alignments and offsets of the public structs, from table.txt by layout.py. Compiling is the test. */
#include "deltawire.h"

typedef struct { char first; uint64_t second; } after_char;

/* LP64; ILP32 where uint64_t is aligned to 8; ILP32 where it is aligned to 4. */
#if UINTPTR_MAX > 0xFFFFFFFFu
#define PICK(lp64, ilp32, ilp32_packed) (lp64)
#else
#define PICK(lp64, ilp32, ilp32_packed) (offsetof(after_char, second) == 8 ? (ilp32) : (ilp32_packed))
#endif
#define SIZE(type, a, b, c) _Static_assert(sizeof(type) == PICK(a, b, c), "size of " #type)
#define ALIGN(type, a, b, c) \\
    typedef struct { char first; type second; } after_char_##type; \\
    _Static_assert(offsetof(after_char_##type, second) == PICK(a, b, c), "alignment of " #type)
#define OFFSET(type, member, a, b, c) \\
    _Static_assert(offsetof(type, member) == PICK(a, b, c), "offset of " #type "." #member)

"""


def expected(header):
    """What the rule of natural alignment gives: (struct, member or size or align) -> three numbers."""
    found = {}
    known = [{}, {}, {}]
    for struct in header.structs:
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
                found.setdefault((struct.name, "." + member.name), []).append(offset)
                offset += size * member.count
                align = max(align, to)
            size = -(-offset // align) * align
            known[number][struct.name] = (size, align)
            found.setdefault((struct.name, "size"), []).append(size)
            found.setdefault((struct.name, "align"), []).append(align)
    return found


def read_table():
    table = []
    with open(os.path.join(HERE, "table.txt"), encoding="ascii") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                struct, what, *numbers = line.split()
                table.append((struct, what, [int(number) for number in numbers]))
    return table


def make(table):
    c = [HEAD_C]
    last = None
    for struct, what, numbers in table:
        values = ", ".join(map(str, numbers))
        if last not in (None, struct):
            c.append("\n")
        last = struct
        if what in SPECIAL:
            c.append(f"{what.upper()}({struct}, {values});\n")
        else:
            c.append(f"OFFSET({struct}, {what[1:]}, {values});\n")
    c.append("\nint layout_is_checked(void);\nint layout_is_checked(void) { return 1; }\n")
    return "".join(c)


def main():
    header = Header(os.path.join(ROOT, "include/deltawire.h"))
    asked = sys.argv[1:]
    if asked == ["--propose"]:
        for struct in header.structs:
            for (name, what), numbers in sorted(expected(header).items(), key=lambda item: item[0][1][0] == "."):
                if name == struct.name:
                    print(f"{name:24} {what:22}", *(f"{number:4}" for number in numbers))
        return
    table = read_table()
    named = [(struct, what) for struct, what, _ in table]
    wanted = [(s.name, w) for s in header.structs for w in SPECIAL + tuple("." + m.name for m in s.members)]
    for one in wanted:
        if named.count(one) != 1:
            sys.exit(f"table.txt has {named.count(one)} lines of {' '.join(one)}")
    if len(named) != len(wanted):
        sys.exit(f"not in the header: {set(named) - set(wanted)}")
    path, text = os.path.join(HERE, "layout.c"), make(table)
    if asked == ["--check"]:
        with open(path, encoding="utf-8") as file:
            if file.read() != text:
                sys.exit("layout.c is not what layout.py makes of table.txt")
    else:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    print(f"layout: {len(table)} numbers of {len(header.structs)} structs")


main()
