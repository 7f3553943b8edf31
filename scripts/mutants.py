"""Tests the tests: changes the library in one place at a time, and looks whether a test fails.

What is changed, and into what, cargo-mutants says (`cargo mutants --list --json`). To build the library anew for each of
some thousands of mutants takes a day on two cores. So nearly all of them are built at once: each function becomes a switch
over its mutants, and a variable of the environment says which one is on. A mutant is tried with the tests that reach its
function, the quickest first, until one fails.

What cannot be switched - constants, a `const fn` that they use, a function that returns `impl Trait` - is left for
cargo-mutants itself.
What does not compile is no mutant; cargo-mutants would say `unviable`.

    mutants.py prepare OUT LIST          the sources with switches, in OUT/tree; what is left to cargo-mutants: OUT/rest
    mutants.py build OUT                 builds the tests there, leaving out what does not compile
    mutants.py record OUT                runs each test once: how long it takes, which functions it reaches
    mutants.py run OUT [FILE...] [--jobs N] [--slow SECONDS] [--missed]
                                         tries the mutants (of these files; those that were missed before), without the
                                         tests that take longer than so many seconds (3): OUT/results
    mutants.py rest OUT FOLDER           takes over what cargo-mutants found of what was left to it
    mutants.py elsewhere OUT FILE BUILD TEST
                                         tries the mutants of a file that is not built here, each with these two commands of a
                                         shell, in OUT/plain
    mutants.py report OUT [NOTES [SHARE]]
                                         counts by module, and lists what was missed and is not in NOTES: a line "- `MUTANT` —
                                         REASON", or "- `MUTANT` ×3 — REASON" for as many of one name in one function. Fails
                                         if there are such, or less than SHARE percent are caught
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

# The kernels of other processors.
ELSEWHERE = ("src/scan/neon.rs", "src/scan/wasm.rs")

SWITCH = """
//! Which mutant is on.
#![allow(missing_docs, unreachable_pub, clippy::all)]
extern crate std;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
const RECORD: u32 = u32::MAX;
static ON: AtomicU32 = AtomicU32::new(0);
static REACHED: [AtomicBool; FUNCTIONS] = [const { AtomicBool::new(false) }; FUNCTIONS];
// Before `main`: to ask for a variable allocates, and tests count that.
#[used]
#[link_section = ".init_array"]
static START: extern "C" fn() = start;
extern "C" fn start() {
    let given = std::env::var("MUTANT").ok().and_then(|on| on.parse().ok());
    let record = if std::env::var_os("MUTANT_REACHED").is_some() { RECORD } else { 0 };
    ON.store(given.unwrap_or(record), Relaxed);
}
/// The mutant that is on, if it is one of the function's.
#[inline(always)]
pub fn on(function: usize, first: u32, last: u32) -> Option<u32> {
    let on = ON.load(Relaxed);
    if on == RECORD {
        reached(function);
    }
    if on >= first && on <= last { Some(on) } else { None }
}
#[cold]
#[inline(never)]
fn reached(function: usize) {
    if !REACHED[function].swap(true, Relaxed) {
        use std::io::Write;
        let path = std::env::var_os("MUTANT_REACHED").unwrap();
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(std::format!("{function}\\n").as_bytes()).unwrap();
    }
}
"""

# ---------------------------------------------------------------------------------------------------------------------
# Sources

TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?r(?P<raw>\#*)".*?"(?P=raw)|b?"(?:[^"\\]|\\.)*"|b?'(?:[^'\\\n]|\\[^\n][^'\n]*)'|'\w+|[{}]|.""", re.S
)


def body(text, start, end):
    """The block of the function in text[start:end]: from behind its opening brace to its last one."""
    opened = []
    found = None
    for token in TOKEN.finditer(text, start, end):
        if token[0] == "{":
            opened.append(token.end())
        elif token[0] == "}":
            found = (opened.pop(), token.start())
    assert found and not opened
    return found


CONST = re.compile(r"\bconst (?=(?:unsafe )?fn (\w+))")


def without_const(tree, by_file):
    """Makes each `const fn` an ordinary one, where no constant needs it: a switch is none that a compiler can evaluate.
    Gives the names of those that stay."""
    kept = set()
    sources = {name: (tree / name).read_text() for name in by_file}
    while True:
        for name, text in sources.items():
            (tree / name).write_text(CONST.sub(lambda found: found[0] if found[1] in kept else "", text))
        done, messages = cargo(tree.parent, "check", dev=False)
        told = [m["message"] for m in messages if m.get("reason") == "compiler-message" and m["message"]["level"] == "error"]
        more = {
            found[1]
            for message in told
            if (message["code"] or {}).get("code") == "E0015"
            for found in re.finditer(r"`(?:[^`]*::)?(\w+)(?:::<[^`]*>)?`", message["message"])
        }
        if done.returncode == 0:
            return kept
        if more <= kept:
            sys.exit("\n".join(message["rendered"] for message in told)[-4000:])
        kept |= more


class Source:
    """A file, and places in it as cargo-mutants gives them."""

    def __init__(self, path):
        self.text = path.read_text()
        self.lines = [0]
        for line in self.text.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))

    def span(self, span):
        at = lambda place: self.lines[place["line"] - 1] + place["column"] - 1
        return at(span["start"]), at(span["end"])


def copy_project(tree):
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    for name in subprocess.check_output(["git", "ls-files", "-z"], text=True).split("\0"):
        path = pathlib.Path(name)
        if name and path.exists() and path.parts[0] not in ("bindings", "ffi-tests", "docs"):
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, tree / path)
    shutil.copytree("docs", tree / "docs")
    (tree / ".git").mkdir(exist_ok=True)


def prepare(out, listed):
    out = pathlib.Path(out)
    tree = out / "tree"
    copy_project(tree)
    mutants = json.loads(pathlib.Path(listed).read_text())
    rest, known, elsewhere = [], [], []
    by_file = collections.defaultdict(list)
    for mutant in mutants:
        # A file of tests is none of the library.
        if re.search(r"(^|/)(\w*tests|visits)\.rs$|/tests/", mutant["file"]):
            continue
        if mutant["file"] in ELSEWHERE:
            elsewhere.append(mutant)
            continue
        by_file[mutant["file"]].append(mutant)
    kept = without_const(tree, by_file)
    functions = 0
    for name, those in sorted(by_file.items()):
        source = Source(pathlib.Path(name))
        text = source.text
        spans = collections.defaultdict(list)
        for mutant in those:
            start, end = source.span(mutant["function"]["span"]) if mutant["function"] else (0, 0)
            if not mutant["function"]:
                rest.append(mutant["name"])
                continue
            inner = body(text, start, end)
            head = text[start : inner[0]]
            constant = CONST.search(head)
            if constant and constant[1] in kept or re.search(r"->\s*impl\b", head):
                rest.append(mutant["name"])
                continue
            spans[inner].append(mutant)

        def switched(inner):
            """The body with its mutants, and those of the functions in it."""
            nonlocal functions
            own, out = spans[inner], []
            nested = [other for other in spans if inner[0] <= other[0] and other[1] <= inner[1] and other != inner]
            nested = [one for one in nested if not any(o != one and o[0] <= one[0] and one[1] <= o[1] for o in nested)]
            plain, at = "", inner[0]
            for one in sorted(nested):
                plain += text[at : one[0]] + switched(one)
                at = one[1]
            plain += text[at : inner[1]]
            number, functions = functions, functions + 1
            first = len(known) + 1
            for mutant in own:
                start, end = source.span(mutant["span"])
                known.append({"name": mutant["name"], "file": name, "function": number})
                changed = text[inner[0] : start] + mutant["replacement"] + " " + text[end : inner[1]]
                out.append(f"\n/*<{len(known)}>*/Some({len(known)}) => {{{changed}\n}}/*</{len(known)}>*/")
            if not own:
                return plain
            last = len(known)
            return f"match crate::mutant::on({number}, {first}, {last}) {{{''.join(out)}\n_ => {{{plain}}}}}"

        outer = [one for one in spans if not any(o != one and o[0] <= one[0] and one[1] <= o[1] for o in spans)]
        made, at = "", 0
        for one in sorted(outer):
            made += text[at : one[0]] + switched(one)
            at = one[1]
        made += text[at:]
        # What is a switch now is too large for that.
        made = re.sub(r"#\[inline(\(always\))?\]", "", made)
        (tree / name).write_text(CONST.sub(lambda found: found[0] if found[1] in kept else "", made))
    root = tree / "src/lib.rs"
    root.write_text(root.read_text() + "\n#[doc(hidden)]\npub mod mutant;\n")
    (tree / "src/mutant.rs").write_text(SWITCH.replace("FUNCTIONS", str(functions)))
    (out / "known").write_text(json.dumps(known))
    (out / "rest").write_text("".join(line + "\n" for line in rest))
    (out / "elsewhere").write_text(json.dumps(elsewhere))
    (out / "unviable").write_text("[]")
    print(
        f"{len(mutants)} listed, {len(known)} switched in {functions} functions, {len(rest)} left to cargo-mutants, "
        f"{len(elsewhere)} for other processors"
    )


# ---------------------------------------------------------------------------------------------------------------------
# Building


def cargo(out, *arguments, dev=True):
    env = dict(os.environ, CARGO_TARGET_DIR=str(out / "target"), RUSTFLAGS="--cap-lints=allow -Awarnings")
    command = ["cargo", *arguments, "--offline", "-p", "deltawire", "--all-features", "--lib"]
    command += ["--tests"] if dev else []
    command += ["--message-format=json", "--config", "profile.test.opt-level=1", "--config", "profile.test.debug=0"]
    command += ["--config", "profile.dev.opt-level=1", "--config", "profile.dev.debug=0"]
    done = subprocess.run(command, cwd=out / "tree", env=env, capture_output=True, text=True)
    return done, [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def build(out):
    out = pathlib.Path(out).absolute()
    gone = set(json.loads((out / "unviable").read_text()))
    for turn in range(40):
        done, messages = cargo(out, "check" if turn < 39 else "test")
        bad = collections.defaultdict(set)
        for message in messages:
            if message.get("reason") != "compiler-message" or message["message"]["level"] != "error":
                continue
            for span in message["message"]["spans"]:
                while span:
                    bad[span["file_name"]].add((span["byte_start"], span["is_primary"]))
                    span = (span["expansion"] or {}).get("span")
        if done.returncode == 0:
            break
        dropped = 0
        for name, places in bad.items():
            path = out / "tree" / name
            data = path.read_bytes()
            arms = [
                (match.start(), data.index(b"/*</%s>*/" % match[1]) + len(match[1]) + 7, int(match[1]))
                for match in re.finditer(rb"/\*<(\d+)>\*/", data)
            ]
            out_of = {arm for place, _ in places for arm in arms if arm[0] <= place < arm[1]}
            # Of arms within arms the innermost.
            for start, end, number in sorted(out_of, reverse=True):
                if any(start < o[0] and o[1] < end for o in out_of):
                    continue
                data = data[:start] + data[end:]
                gone.add(number)
                dropped += 1
            path.write_bytes(data)
        print(f"does not compile: {dropped} more, {len(gone)} in all", flush=True)
        if dropped == 0:
            sys.exit(done.stderr[-4000:] + "\n".join(m["message"]["rendered"] for m in messages if m.get("reason") == "compiler-message")[-4000:])
    (out / "unviable").write_text(json.dumps(sorted(gone)))
    done, messages = cargo(out, "test", "--no-run")
    if done.returncode != 0:
        sys.exit(done.stderr[-4000:])
    programs = sorted({m["executable"] for m in messages if m.get("executable")})
    (out / "programs").write_text(json.dumps(programs))
    print(f"{len(programs)} programs; {len(gone)} mutants do not compile")


# ---------------------------------------------------------------------------------------------------------------------
# Running


def environment(out, **more):
    env = dict(os.environ, DELTAWIRE_THIN=os.environ.get("DELTAWIRE_THIN", "53"), CARGO_MANIFEST_DIR=str(out / "tree"), RUST_BACKTRACE="0")
    return dict(env, **more)


def bounded():
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def attempt(out, program, test, limit, **more):
    """0: it passes, 1: it fails, 2: it does not end."""
    child = subprocess.Popen(
        [program, "--exact", test, "--test-threads=1"],
        cwd=out / "tree",
        env=environment(out, **more),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=bounded,
    )
    try:
        return 0 if child.wait(limit) == 0 else 1
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        return 2


def record(out):
    out = pathlib.Path(out).absolute()
    tests = []
    for program in json.loads((out / "programs").read_text()):
        said = subprocess.check_output([program, "--list"], text=True, cwd=out / "tree", env=environment(out))
        for name in re.findall(r"^(.*): test$", said, re.M):
            reached = out / "reached"
            reached.unlink(missing_ok=True)
            attempt(out, program, name, 900, MUTANT_REACHED=str(reached))
            # With a mutant that is nowhere it must pass; what fails now says nothing later.
            started = time.monotonic()
            if attempt(out, program, name, 900, MUTANT="4000000000") != 0:
                print(f"{program} {name} fails without a mutant: it is left out")
                continue
            seconds = time.monotonic() - started
            functions = sorted({int(line) for line in reached.read_text().split()}) if reached.exists() else []
            tests.append({"program": program, "test": name, "seconds": seconds, "functions": functions})
    tests.sort(key=lambda test: test["seconds"])
    (out / "tests").write_text(json.dumps(tests))
    print(f"{len(tests)} tests, {sum(test['seconds'] for test in tests):.0f} seconds")


def run(out, *arguments):
    out = pathlib.Path(out).absolute()
    jobs, slow, files, again = 2, 3.0, [], False
    arguments = list(arguments)
    while arguments:
        argument = arguments.pop(0)
        if argument == "--jobs":
            jobs = int(arguments.pop(0))
        elif argument == "--slow":
            slow = float(arguments.pop(0))
        elif argument == "--missed":
            again = True
        else:
            files.append(argument)
    known, tests = json.loads((out / "known").read_text()), json.loads((out / "tests").read_text())
    gone = set(json.loads((out / "unviable").read_text()))
    results = read_results(out)
    by_function = collections.defaultdict(list)
    for test in tests:
        for function in test["functions"] if test["seconds"] <= slow else []:
            by_function[function].append(test)

    def try_one(number, mutant):
        for test in by_function[mutant["function"]]:
            told = attempt(out, test["program"], test["test"], 20 + 10 * test["seconds"], MUTANT=str(number))
            if told:
                return {"name": mutant["name"], "end": ["", "caught", "timeout"][told], "by": test["test"]}
        return {"name": mutant["name"], "end": "missed", "by": f"{len(by_function[mutant['function']])} tests"}

    due = []
    for number, mutant in enumerate(known, 1):
        fits = not files or any(mutant["file"].startswith(file) for file in files)
        before = results.get(mutant["name"], {}).get("end")
        if fits and number not in gone and (before == "missed" if again else before is None):
            due.append((number, mutant))
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool, open(out / "results", "a") as log:
        for result in pool.map(lambda one: try_one(*one), due):
            counts[result["end"]] += 1
            log.write(json.dumps(result) + "\n")
            log.flush()
            if result["end"] == "missed":
                print(f"missed: {result['name']} ({result['by']})", flush=True)
    print(f"tried {len(due)}: {dict(counts)}")


def rest(out, folder):
    out, folder = pathlib.Path(out), pathlib.Path(folder)
    # It also tries some that nobody asked for.
    asked = set((out / "rest").read_text().splitlines())
    with open(out / "results", "a") as log:
        for end in ("caught", "missed", "timeout", "unviable"):
            for name in asked.intersection((folder / f"{end}.txt").read_text().splitlines()):
                log.write(json.dumps({"name": name, "end": end, "by": "cargo-mutants"}) + "\n")


def elsewhere(out, file, build, test):
    out = pathlib.Path(out).absolute()
    tree = out / "plain"
    copy_project(tree)
    source = Source(tree / file)
    good = lambda command: subprocess.run(["bash", "-c", command], cwd=tree, capture_output=True).returncode == 0
    if not (good(build) and good(test)):
        sys.exit(f"{file}: without a mutant it fails")
    with open(out / "results", "a") as log:
        for mutant in json.loads((out / "elsewhere").read_text()):
            if mutant["file"] != file:
                continue
            start, end = source.span(mutant["span"])
            (tree / file).write_text(source.text[:start] + mutant["replacement"] + source.text[end:])
            end = "unviable" if not good(build) else "missed" if good(test) else "caught"
            log.write(json.dumps({"name": mutant["name"], "end": end, "by": test}) + "\n")
            print(f"{end}: {mutant['name']}", flush=True)


def read_results(out):
    path = out / "results"
    lines = path.read_text().splitlines() if path.exists() else []
    return {result["name"]: result for result in map(json.loads, lines)}


def module(name):
    parts = name.split(":")[0].split("/")
    return parts[1] if len(parts) > 2 else "leaves"


NOTE = re.compile(r"^- `(.*)`(?: ×(\d+))? — \S", re.M)


def report(out, notes=None, share=0):
    out = pathlib.Path(out).absolute()
    known = json.loads((out / "known").read_text())
    gone = set(json.loads((out / "unviable").read_text()))
    results = read_results(out)
    # Lines move; what is changed does not.
    nameless = lambda name: re.sub(r":\d+:\d+: ", ": ", name)
    noted = collections.Counter()
    for name, times in NOTE.findall(pathlib.Path(notes).read_text() if notes else ""):
        noted[name] += int(times or 1)
    table = collections.defaultdict(collections.Counter)
    open_ends = []
    names = [(mutant["name"], number in gone) for number, mutant in enumerate(known, 1)]
    names += [(name, False) for name in (out / "rest").read_text().splitlines()]
    names += [(mutant["name"], False) for mutant in json.loads((out / "elsewhere").read_text())]
    for name, unviable in names:
        end = "unviable" if unviable else results.get(name, {}).get("end", "untried")
        if end == "missed":
            noted[nameless(name)] -= 1
            if noted[nameless(name)] >= 0:
                end = "equivalent"
            else:
                open_ends.append(name)
        table[module(name)][end] += 1
        table["all"][end] += 1
    columns = ["caught", "timeout", "equivalent", "missed", "untried", "unviable"]
    print("| module | " + " | ".join(columns) + " | caught of all |")
    print("| --- |" + " ---: |" * (len(columns) + 1))
    for name in [*sorted(set(table) - {"all"}), "all"]:
        ends = table[name]
        caught = ends["caught"] + ends["timeout"]
        percent = 100 * caught / max(caught + ends["equivalent"] + ends["missed"], 1)
        print(f"| {name} | " + " | ".join(str(ends[c]) for c in columns) + f" | {percent:.1f} % |")
    for name in open_ends:
        print(f"missed: {name}")
    for name, left in noted.items():
        if left > 0:
            print(f"noted, but not missed: {name} ({left})")
    return 1 if open_ends or percent < float(share) else 0


if __name__ == "__main__":
    commands = {"prepare": prepare, "build": build, "record": record, "run": run, "rest": rest}
    commands |= {"elsewhere": elsewhere, "report": report}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    sys.exit(commands[sys.argv[1]](*sys.argv[2:]))
