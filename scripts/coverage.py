"""coverage.py LCOV ROOT UNCOVERED: prints how many lines ran, for each floor of src/, from the export of llvm-cov.

Tests do not count: their files, modules after `#[cfg(test)]`, and macros that expand to nothing. If a function has several
copies, a line ran if it ran in one of them."""

import collections
import pathlib
import re
import sys


def is_test(path):
    return "tests" in path.stem or "tests" in path.parts


def counts(lcov):
    """Returns how often each line of each file ran."""
    lines, path = collections.defaultdict(dict), None
    for line in lcov:
        key, _, value = line.rstrip("\n").partition(":")
        if key == "SF":
            path = pathlib.Path(value)
        elif key == "DA":
            number, times = (int(part) for part in value.split(",")[:2])
            lines[path][number] = max(times, lines[path].get(number, 0))
    return lines


def tail(source):
    """Returns the line at which the tests of a file begin."""
    for number, line in enumerate(source, 1):
        if line.strip() == "#[cfg(test)]" and re.match(r"\s*(pub(\(.*\))? )?mod \w+ \{", source[number] if number < len(source) else ""):
            return number
    return len(source) + 1


def main(lcov, root, uncovered):
    root = pathlib.Path(root)
    floors, missed = collections.defaultdict(lambda: [0, 0]), []
    with open(lcov) as file:
        covered = counts(file)
    for path, lines in sorted(covered.items()):
        name = path.relative_to(root / "src")
        if is_test(name):
            continue
        source = path.read_text().splitlines()
        end = tail(source)
        floor = name.parts[0] if len(name.parts) > 1 else "leaves"
        for number, times in sorted(lines.items()):
            if number >= end:
                continue
            floors[floor][0] += times > 0
            floors[floor][1] += 1
            if times == 0:
                missed.append(f"src/{name}:{number}: {source[number - 1].strip()}")
    if not floors:
        sys.exit("no line of src/ was seen")
    pathlib.Path(uncovered).write_text("\n".join(missed) + "\n")
    order = ["leaves", "scan", "sse", "json", "chat", "track", "stream", "message"]
    rows = [(floor, *floors[floor]) for floor in order if floor in floors]
    assert len(rows) == len(floors), f"unknown floor: {sorted(floors)}"
    rows.append(("all", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    for floor, run, there in rows:
        print(f"NOTE {floor:8} {run:5} of {there:5} lines  {100 * run / there:6.2f} %")


main(*sys.argv[1:])
