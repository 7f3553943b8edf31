#!/usr/bin/env python3
"""run.py EVENTS BYTES FILE ROUNDS SLICE,SLICE,... -- PROGRAM...: runs the programs in turn, round after round, so that
whatever slows the machine slows all alike; checks that all find the same; prints medians as Markdown. A program is a
command to which `FILE SLICE PASSES` is added, and which prints `name<TAB>nanoseconds<TAB>what it found` lines. Slices of 0
mean: one event each of many streams in turn, which has a table of its own."""
import statistics
import subprocess
import sys

PASSES = 3
# Of the programs that read one event each in turn.
STREAMS = 100_000
# What a stream of a model brings in a second.
TOKENS = 100
BASE = "Rust, push"


def main():
    at = sys.argv.index("--")
    events, size, file, rounds, slices = sys.argv[1:at]
    programs = [program.split() for program in sys.argv[at + 1 :]]
    events, rounds = int(events), int(rounds)
    slices = [int(slice) for slice in slices.split(",")]
    times = {slice: {} for slice in slices}
    found = {}
    for turn in range(rounds):
        for slice in slices:
            # Another one is the first each time.
            first = turn % len(programs)
            for program in programs[first:] + programs[:first]:
                ran = subprocess.run([*program, file, str(slice), str(PASSES)], capture_output=True, text=True)
                if ran.returncode:
                    sys.exit(f"{program[0]}: status {ran.returncode}: {ran.stderr}")
                for line in ran.stdout.splitlines():
                    name, time, what = line.split("\t")
                    times[slice].setdefault(name, []).append(int(time) / (events if slice else STREAMS))
                    found.setdefault(slice == 0, {}).setdefault(what, set()).add(name)
    if any(len(what) != 1 for what in found.values()):
        sys.exit(f"they do not agree: {found}")
    turns = times.pop(0, None)
    slices = [slice for slice in slices if slice]
    order = []
    for program in programs:
        ran = subprocess.run([*program, file, str(slices[0]), "1"], capture_output=True, text=True, check=True)
        order += [line.split("\t")[0] for line in ran.stdout.splitlines()]
    print(f"{events} events of {int(size) // events} bytes; medians of {rounds} rounds, the best of {PASSES} passes in each.")
    print("\n| ns an event (÷ Rust, push) | " + " | ".join(f"slices of {slice}" for slice in slices) + " |")
    print("|---|" + "--:|" * len(slices))
    for name in order:
        cells = []
        for slice in slices:
            mine, base = times[slice][name], times[slice][BASE]
            # Within each round, so that a slow spell of the machine is in both.
            ratio = statistics.median(a / b for a, b in zip(mine, base))
            cells.append(f"{statistics.median(mine):.0f} ({ratio:.2f})")
        print(f"| {name} | " + " | ".join(cells) + " |")
    if turns:
        print(f"\n| {STREAMS:,} streams in turn | ns an event | × Rust, push | streams of {TOKENS} tokens a second that a core carries |")
        print("|---|--:|--:|--:|")
        for name in (name for name in order if name in turns):
            time, ratio = statistics.median(turns[name]), statistics.median(a / b for a, b in zip(turns[name], turns[BASE]))
            print(f"| {name} | {time:.0f} | {ratio:.2f} | {round(1e9 / time / TOKENS, -2):,.0f} |")


main()
