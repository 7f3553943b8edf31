#!/usr/bin/env python3
"""circles.py [ROOT...] (src): fails if files, or the folders right below a root, use each other in a circle.

What a file uses are its paths: `use` with its braces, and `crate::`, `super::` and `self::` anywhere in the code. A path leads to
the file that defines its item: a module that re-exports it from below itself (`pub use`, `pub(crate) use`) is a facade, which neither uses what
it re-exports, unless its code has the name too, nor is used by who takes that from it. What mod.rs defines itself is used there. Tests
(tests.rs, *_tests.rs, tests/, `#[cfg(test)]`) are left out. Methods are not seen: they are called by no path."""
import re, sys, tempfile
from pathlib import Path

TEST = re.compile(r"(^|/)(\w+_)?tests?(\.rs$|/)")


def code(text):
    """Removes comments, strings and code of tests; lines stay where they are."""
    blank = lambda m: re.sub(r"[^\n]", " ", m[0])
    text = re.sub(r'//[^\n]*|/\*.*?\*/|b?r(#+)".*?"\1|b?"(\\.|[^"\\])*"|b?\'(\\.[^\']*|[^\'\\])\'', blank, text, flags=re.S)
    for at in reversed([m.start() for m in re.finditer(r"#\[cfg\((all\()?test\b", text)]):
        depth, end = 0, at
        for end in range(text.index("]", at) + 1, len(text)):
            depth += (text[end] in "{([") - (text[end] in "})]")
            if depth == 0 and text[end] in "};":
                break
        text = text[:at] + re.sub(r"[^\n]", " ", text[at : end + 1]) + text[end + 1 :]
    return text


def expand(tree):
    """`a::{b, c::{self, d as e}}` as (path, name)."""
    tree = tree.strip()
    if "{" not in tree:
        path, _, name = re.sub(r"\s+", " ", tree).partition(" as ")
        path = [part.strip() for part in path.split("::") if part.strip()]
        if len(path) > 1 and path[-1] == "self":
            path.pop()
        return [(path, name.strip() or path[-1])] if path else []
    head, inner = tree[: tree.index("{")], tree[tree.index("{") + 1 : tree.rindex("}")]
    parts, depth = [""], 0
    for char in inner:
        depth += (char == "{") - (char == "}")
        parts.append("") if char == "," and depth == 0 else parts.__setitem__(-1, parts[-1] + char)
    return [found for part in parts if part.strip() for found in expand(head + part)]


def graph(root):
    """{file: {file it uses: (line, path)}}"""
    files, texts, uses, exports = {}, {}, {}, {}
    for file in sorted(root.rglob("*.rs")):
        place = file.relative_to(root)
        if TEST.search(place.as_posix()):
            continue
        # The crate's root is the nearest folder with a lib.rs or a main.rs.
        crate = next((p for p in place.parents if any((root / p / f).exists() for f in ("lib.rs", "main.rs"))), Path("."))
        parts = place.relative_to(crate).with_suffix("").parts
        module = (str(crate),) + (parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts)
        files[module], texts[module] = place.as_posix(), code(file.read_text())
    for module, text in texts.items():
        line = lambda at: text.count("\n", 0, at) + 1
        found, rest, exports[module] = [], text, {}
        for m in re.finditer(r"(pub(?:\([\w:\s]+\))?\s+)?\buse\s+([^;]+);", text):
            for path, name in expand(m[2]):
                exports[module][name] = path
                inner = path[0] == "self" or module + (path[0],) in files
                found.append((line(m.start()), path, name if m[1] and inner else None))
            rest = rest[: m.start()] + re.sub(r"[^\n]", " ", m[0]) + rest[m.end() :]
        for m in re.finditer(r"(?<![\w:$.])[a-z]\w*(?:\s*::\s*\w+)+", rest):
            found.append((line(m.start()), [part.strip() for part in m[0].split("::")], None))
        # A re-exported name is used if the code below has the name too.
        uses[module] = [(at, path) for at, path, name in found if name in ("", None, "*") or re.search(rf"\b{name}\b", rest)]

    def lead(module, path, seen=()):
        """Returns the module whose file defines this path, or None if it is of another crate."""
        first, rest, at = path[0], list(path), module
        if first in ("crate", "self", "super"):
            at = module[:1] if first == "crate" else module
            rest.pop(0) if first != "super" else None
            while rest and rest[0] == "super":
                at, rest = at[:-1], rest[1:]
        elif module + (first,) not in files:
            return None
        while rest and at + (rest[0],) in files:
            at, rest = at + (rest[0],), rest[1:]
        further = exports.get(at, {}).get(rest[0]) if rest else None
        if further and (at, rest[0]) not in seen and further != path:
            return lead(at, further, (*seen, (at, rest[0])))
        return at if at in files else None

    edges = {}
    for module, found in uses.items():
        for line, path in found:
            to = lead(module, path)
            if to and to != module:
                edges.setdefault(files[module], {}).setdefault(files[to], (line, "::".join(path)))
    return edges


def circles(edges):
    """Returns a shortest circle of each strongly connected group, and the members of the group."""

    def way(start):
        before, rest, circle = {start: None}, [start], None
        for node in rest:
            for to in edges.get(node, ()):
                if to == start and not circle:
                    circle = [node]
                    while before[circle[-1]] is not None:
                        circle.append(before[circle[-1]])
                if to not in before:
                    before[to] = node
                    rest.append(to)
        return before, circle and circle[::-1]

    reached, left = {node: way(node) for node in edges}, set(edges)
    while left:
        start = min(left)
        knot = {node for node in edges if node in reached[start][0] and start in reached[node][0]}
        left -= knot
        if len(knot) > 1:
            yield min((reached[node][1] for node in sorted(knot)), key=len), sorted(knot)


def report(root):
    files = graph(root)
    # The folders right below the root, and the files there; lib.rs is the facade of all.
    floors, floor = {}, lambda file: file.split("/")[0].removesuffix(".rs")
    for file, uses in files.items():
        for to, (line, path) in uses.items():
            if floor(file) != floor(to):
                floors.setdefault(floor(file), {}).setdefault(floor(to), (f"{file}:{line}", path))
    count = 0
    for what, edges in (("files", files), ("folders", floors)):
        for circle, knot in circles(edges):
            # A circle of files directly below the root was reported as a circle of files.
            if what == "folders" and not any((Path(root) / node).is_dir() for node in knot):
                continue
            count += 1
            print(f"{root}: {what} in a circle: {' -> '.join([*circle, circle[0]])}")
            if len(knot) > len(circle):
                print(f"    in a knot of {len(knot)}: {' '.join(knot)}")
            for node, to in zip(circle, [*circle[1:], circle[0]]):
                place, path = edges[node][to]
                print(f"    {place if what == 'folders' else f'{node}:{place}'} uses {path} of {to}")
    return count


def control():
    """Checks that a circle through a facade is found, and that the facade itself, a test and a comment make no circle."""
    sound = {"lib.rs": "mod low; pub mod a;", "low.rs": "pub(crate) struct Low; // crate::a::b::B\n#[cfg(test)] mod t { use crate::a::B; }",
             "a/mod.rs": "mod b; mod c; pub use b::B; pub(crate) use c::{C};", "a/b.rs": "use crate::low::Low; pub struct B;",
             "a/c.rs": "use super::B; fn f() { crate::low::Low; }", "a/tests.rs": "use super::c;"}
    for changed, expected in (({}, 0), ({"a/b.rs": "use super::{x::Y, C as D};"}, 1), ({"low.rs": "fn f() { crate::a::B; }"}, 2)):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**sound, **changed}.items():
                (Path(folder) / name).parent.mkdir(exist_ok=True)
                (Path(folder) / name).write_text(text)
            files = graph(Path(folder))
            floors = {f.split("/")[0]: {t.split("/")[0]: 0 for t in to if t.split("/")[0] != f.split("/")[0]} for f, to in files.items()}
            found = sum(1 for edges in (files, floors) for _ in circles(edges))
            if found != expected:
                sys.exit(f"circles: the control with {changed} shows {found} circles, not {expected}")


control()
print("PASS circles-control", flush=True)
if sum(report(Path(root)) for root in sys.argv[1:] or ["src"]):
    sys.exit(1)
print("PASS circles")
