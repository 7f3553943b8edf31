#!/usr/bin/env python3
"""header.py MADE [SECTIONS]: prints include/deltawire.h. MADE is what cbindgen makes of capi/, which lists constants, then
types, then functions; this puts all of them in the sections of capi/sections.txt, and adds a constant for each quirk of
src/quirk.rs.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RULE = "// " + "-" * 97
NAMES = (
    re.compile(r"#define (DELTAWIRE_\w+)"),
    re.compile(r"typedef struct (deltawire_\w+) deltawire_\w+;"),
    re.compile(r"typedef struct \{.*\} (deltawire_\w+);", re.S),
    re.compile(r"typedef \w+ \(\*(deltawire_\w+)\)\("),
    re.compile(r"typedef \w+ (deltawire_\w+);"),
    re.compile(r"(?:const )?\w+ \**(deltawire_\w+)\("),
)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def name_of(item):
    code = re.sub(r"^\s*//[^\n]*\n", "", item, flags=re.M)
    for pattern in NAMES:
        match = pattern.match(code)
        if match:
            return match[1]
    sys.exit(f"header.py: what is this?\n{item}")


def items_of(text):
    """Returns the items by name. An item is a comment and its declaration, with empty lines only inside a struct."""
    parts = re.split(r"\n\n+(?![ }])", text.strip("\n"))
    items = {}
    for part in parts:
        # The part is several macros of one line each, or one item.
        for item in re.split(r"\n(?=#define DELTAWIRE_VERSION_)", part):
            name = name_of(item)
            if name in items:
                sys.exit(f"header.py: {name} occurs twice")
            items[name] = item
    return items


def quirks():
    """Returns a constant for each quirk, with its code and its text."""
    table = read("src/quirk.rs")
    rows = re.findall(r'^    (\w+) = (\d+), "(\w+)", "((?:[^"\\]|\\.)*)";$', table, re.M)
    if len(rows) != len(re.findall(r'^    \w+ = \d+, "', table, re.M)):
        sys.exit("header.py: not every quirk of src/quirk.rs was read")
    for name, number, code, text in rows:
        upper = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()
        text = text.replace('\\"', '"')
        yield f"// {code}: {text}.\n#define DELTAWIRE_QUIRK_{upper} {number}"


# The constants of the header, by prefix, and the enumeration of the library that has their numbers.
ENUMS = {
    "EV": ("src/delta.rs", "kinds! {"),
    "META": ("src/delta.rs", "enum Meta {"),
    "FINISH": ("src/delta.rs", "enum FinishKind {"),
    "OWNER": ("src/chat/key.rs", "enum Owner {"),
    "FAULT": ("src/json/error.rs", "enum JsonErrorKind {"),
    "PROTOCOL": ("src/dialect/protocol.rs", "enum Protocol {"),
    "VERDICT": ("src/stream/end.rs", "enum Verdict {"),
    "PENDING": ("src/stream/end.rs", "enum Pending {"),
    "MEDIA": ("src/stream/media.rs", "enum Media {"),
    "TOKEN": ("src/stream/meter.rs", "enum TokenKind {"),
}


def compare_numbers(made):
    """Fails unless the constants of each prefix are the variants of its enumeration, with their numbers."""
    for prefix, (path, begin) in ENUMS.items():
        block = read(path).partition(begin)[2]
        block = block[: re.search(r"^ *}$", block, re.M).start()]
        rows = re.findall(r"^ +(\w+) = (\d+)( [A-Z_]+)?", block, re.M)
        # A kind has its name in C beside its number. Reserved kinds have none.
        library = {(upper.strip() or name, number) for name, number, upper in rows if upper or prefix != "EV"}
        header = set(re.findall(rf"^#define DELTAWIRE_{prefix}_(\w+) (\d+)$", made, re.M))
        header = {row for row in header if row[0] != "COUNT" and row != ("NONE", "0") or row in library}
        squash = lambda rows: {(name.replace("_", "").lower(), number) for name, number in rows}
        if len(rows) < 4 or squash(library) != squash(header):
            sys.exit(f"header.py: {path} and the header differ in {squash(library) ^ squash(header)}")


def main():
    made, sections = read(sys.argv[1]), read((sys.argv[2:] or ["capi/sections.txt"])[0])
    head, _, body = made.partition("#include <stdint.h>\n")
    body, _, foot = body.rpartition("#ifdef __cplusplus\n}")
    body = body.replace('#ifdef __cplusplus\nextern "C" {\n#endif // __cplusplus\n', "")
    items = items_of(body)
    compare_numbers(body)
    out = [head.rstrip("\n"), "\n#include <stdint.h>\n\n", '#ifdef __cplusplus\nextern "C" {\n#endif\n']
    for line in sections.splitlines():
        if line.startswith("= "):
            out.append(f"\n{RULE}\n// {line[2:]}\n")
        elif line == "QUIRKS":
            out.extend(f"\n{item}\n" for item in quirks())
        elif line and not line.startswith("#"):
            pattern = re.compile(line.replace("*", r"\w*") + "$")
            names = [name for name in items if pattern.match(name)]
            if not names:
                sys.exit(f"header.py: capi/sections.txt names {line}, and the header has nothing of that name")
            out.extend(f"\n{items.pop(name)}\n" for name in names)
    if items:
        sys.exit(f"header.py: capi/sections.txt has no section for {', '.join(items)}")
    out.append("\n#ifdef __cplusplus\n}" + foot)
    sys.stdout.write("".join(out))


main()
