"""Tests of the Envoy module with stock Envoy, on loopback.

    envoy_test.py FOLDER BINARY=LIBRARIES...    FOLDER is for logs; BINARY is an Envoy, LIBRARIES the folder with the module for it

The first Envoy gets every test, the others those that could differ with the interface. DELTAWIRE_COMMAND is the command, built;
DELTAWIRE_CORPUS may name a folder of recordings. Prints a line `PASS gateways-envoy-NAME` for each test."""

import gzip
import json
import os
import re
import socket
import sys
import threading
import time
from pathlib import Path

from bodies import ROOT, bodies, content_type
from client import Connection, parallel
from envoy import MODELS, Envoy, address, free_ports, listener, module, routes, run, start_upstream
from expect import COUNTS, differences, escaped, expected, without_usage

BODIES = bodies()
SHORT = "samples/usage.sse"
local = threading.local()


def connection(port):
    """The connection of this thread to this port."""
    mine = local.__dict__.setdefault("connections", {})
    return mine.setdefault(port, Connection(port))


def get(port, case, path, **headers):
    return connection(port).get(path, {"x-case": case, **{name.replace("_", "-"): value for name, value in headers.items()}})


def same(got, wanted, what):
    assert got == wanted, f"{what}: {got!r} instead of {wanted!r}"


def nothing_wrong(found):
    assert not found, f"{len(found)} differences:\n" + "\n".join(found[:20])


def check(envoy, case, name, cut=None, **due):
    """Compares the facts of a case with the command's, and with those given."""
    facts = envoy.facts(case)
    nothing_wrong(differences(name, BODIES[name], facts, cut))
    for fact, wanted in due.items():
        same(facts.get(fact), wanted, f"{case} {fact}")
    return facts


# Bodies


def test_bodies(envoy):
    """Every body in each size of chunks, plain, and cut in the middle: no byte is altered, and the facts are the command's."""
    count = 0
    for chunk, frame, end, cuts in ((16384, "chunked", "ok", False), (1448, "chunked", "ok", False), (7, "chunked", "ok", False),
                                    (16384, "length", "ok", False), (1448, "close", "ok", False), (1448, "chunked", "ok", True)):
        def one(name):
            body = BODIES[name]
            cut = len(body) // 2 if cuts else None
            # Small chunks of a long body would take most of the time.
            size = chunk if chunk > 7 or len(body) < 100_000 else 70
            case = f"{name} {chunk} {frame} {cut}"
            response = get(envoy.main, case, f"/body/{name}?chunk={size}&frame={frame}&end={end}" + (f"&cut={cut}" if cuts else ""))
            assert response.body == body[:cut] and response.whole, f"{case}: altered"
            return case, name, cut

        for case, name, cut in parallel(one, BODIES, 4):
            check(envoy, case, name, cut, ended_by="complete" if expected(name, BODIES[name], cut)["complete"] else "upstream_end")
            count += 1
    print(f"NOTE {count} bodies, none altered")


def test_hide(envoy):
    """With `hide_usage` and the header, chunks that have only usage are left out, and nothing else; the facts stay the same."""
    hidden = 0
    for chunk in (16384, 1448, 7):
        def one(name):
            body = BODIES[name]
            case = f"hide {name} {chunk}"
            return case, name, get(envoy.main, case, f"/body/{name}?chunk={chunk if len(body) < 100_000 else chunk * 10}&trailers=1", x_hide_usage="true")

        for case, name, response in parallel(one, BODIES, 4):
            facts, due = check(envoy, case, name), BODIES[name]
            if facts.get("protocol") == "chat" and content_type(name) == "text/event-stream":
                due = without_usage(due)
            assert response.body == due and response.whole, f"{case}: {len(response.body)} bytes instead of {len(due)}"
            same(response.trailers, {"x-checksum": "1"}, f"{case}: trailers")
            hidden += len(due) < len(BODIES[name])
    assert hidden > 9, "no body has usage to hide"
    print(f"NOTE {hidden} responses with chunks left out")
    # Where nothing is left out: without the header, with a length, compressed, or cut by the limit of what is held.
    body = BODIES["made/long-held.sse"]
    for case, query, headers in (("hide no", "", {}), ("hide off", "", {"x_hide_usage": "0"}), ("hide length", "?frame=length", {"x_hide_usage": "1"})):
        same(get(envoy.main, case, f"/body/made/long-held.sse{query}", **headers).body, body, case)
    identity = get(envoy.main, "hide encoding", "/body/made/long-held.sse?encoding=identity", x_hide_usage="1")
    same(identity.body, body, "identity is an encoding")
    # A frame that has begun is held until it ends; the bytes before it are not.
    for size in (20, 250):
        response = get(envoy.main, f"hide hold {size}", f"/body/{SHORT}?chunk={size}&pause=5", x_hide_usage="1")
        same(response.body, without_usage(BODIES[SHORT]), "held frames")
        ends = {at + 2 for at in range(len(response.body)) if response.body[at : at + 2] == b"\n\n"}
        assert set(response.reads) <= ends and len(response.reads) > 3, f"reads end within frames: {response.reads}"


# Ends


def test_ends(envoy):
    """However a response ends, its facts are there before the access log is written."""
    body = BODIES[SHORT]
    cut = 900
    for end in ("reset", "close"):
        response = get(envoy.main, f"end {end}", f"/body/{SHORT}?cut={cut}&end={end}&hold=50")
        assert body.startswith(response.body) and not response.whole
        check(envoy, f"end {end}", SHORT, cut, ended_by="upstream_reset")
    left = Connection(envoy.main)
    left.get(f"/body/{SHORT}?chunk=300&pause=100", {"x-case": "end left"}, leave_after=600)
    facts = envoy.facts("end left")
    same((facts["ended_by"], facts["complete"], facts["model"]), ("client_left", False, "qwen-plus"), "client left")
    assert facts["prompt_tokens"] == 9 and facts["events"] >= 1
    get(envoy.main, "end late", f"/late/body/{SHORT}?cut={cut}&hold=2000")
    check(envoy, "end late", SHORT, cut, ended_by="local_reply")
    get(envoy.main, "end trailers", f"/body/{SHORT}?trailers=1")
    check(envoy, "end trailers", SHORT, ended_by="complete")
    for case, path in (("local", "/local"), ("nowhere", "/nowhere")):
        get(envoy.main, case, path)
        same(envoy.facts(case), {"ended_by": "local_reply"}, case)


def test_http2(envoy):
    """HTTP/2 from the client, to the upstream, and reset streams in both."""
    names = [name for name in BODIES if name.startswith(("samples/", "made/"))]
    for way, port, path in (("from", envoy.front, "/body/"), ("to", envoy.main, "/http2/body/")):
        for name in names:
            case = f"http2 {way} {name}"
            response = get(port, case, f"{path}{name}?chunk=1448&trailers=1")
            same((response.body == BODIES[name], response.trailers), (True, {"x-checksum": "1"}), case)
            check(envoy, case, name)
        case = f"http2 {way} hide"
        same(get(port, case, f"{path}{SHORT}?chunk=100&trailers=1", x_hide_usage="1").body, without_usage(BODIES[SHORT]), case)
        case = f"http2 {way} reset"
        get(port, case, f"{path}{SHORT}?cut=900&end=reset&hold=50")
        check(envoy, case, SHORT, 900, ended_by="upstream_reset")
        case = f"http2 {way} left"
        Connection(port).get(f"{path}{SHORT}?chunk=300&pause=100", {"x-case": case}, leave_after=600)
        same(envoy.facts(case)["ended_by"], "client_left", case)
    same(envoy.logged(f"http2 from {SHORT}")["protocol"], "HTTP/2", "protocol of the client")


def test_again(envoy):
    """A response after an internal redirect, or after retries, is counted once."""
    before = requests(envoy)
    get(envoy.main, "redirect", f"/redirect/body/{SHORT}?status=302&location=http://localhost/body/samples/azure.sse")
    # Envoy logs the redirected request, too, which had no response.
    deadline = time.monotonic() + 10
    while len(envoy.lines.get("redirect", [])) < 2 and time.monotonic() < deadline:
        envoy.read_log()
    lines = envoy.lines["redirect"]
    same([line["details"] for line in lines if not line["facts"]], ["internal_redirect"], "the first response")
    nothing_wrong(differences("samples/azure.sse", BODIES["samples/azure.sse"], next(line["facts"] for line in lines if line["facts"])))
    for failby in ("status", "reset"):
        # A response that has begun is not tried again, so only the first of these succeeds.
        get(envoy.main, f"retry {failby}", f"/retry/body/{SHORT}?fails=2&id={failby}-{os.getpid()}-{envoy.main}&failby={failby}")
    check(envoy, "retry status", SHORT, ended_by="complete")
    check(envoy, "retry reset", SHORT, len(BODIES[SHORT]) // 2, ended_by="upstream_reset")
    same(requests(envoy) - before, 3, "counted responses")


def requests(envoy):
    return sum(statistics(envoy, "requests").values())


def statistics(envoy, name):
    """Returns a counter's values by its labels."""
    found = {}
    for line in envoy.ask("/stats/prometheus").splitlines():
        match = re.match(rf"envoy_\w*deltawire_{name}\{{(.*)\}} (\d+)$", line)
        if match:
            found[tuple(re.findall(r'(\w+)="([^"]*)"', match.group(1)))] = int(match.group(2))
    return found


def test_passed(envoy):
    """Upgrades, CONNECT, gRPC, HEAD, 204, 304, other content types and compressed bodies pass unread."""
    whole = BODIES[SHORT]
    before = requests(envoy)
    for case, head in (("websocket", b"GET /x HTTP/1.1\r\nhost: localhost\r\nx-case: websocket\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"),
                       ("connect", b"CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\nx-case: connect\r\n\r\n")):
        with socket.create_connection(("127.0.0.1", envoy.main), 10) as raw:
            raw.sendall(head)
            got = raw.recv(65536)
            if case == "connect":
                assert got.startswith(b"HTTP/1.1 200"), got
                raw.sendall(f"GET /body/{SHORT}?frame=close HTTP/1.1\r\nhost: a\r\n\r\n".encode())
                got = b""
                while data := raw.recv(65536):
                    got += data
            else:
                while len(got) < len(whole) + 100 or not got.endswith(b"and back"):
                    if got.endswith(whole):
                        raw.sendall(b"there and back")
                    got += raw.recv(65536)
            assert whole in got, f"{case}: altered"
        same(envoy.facts(case), {}, case)
    for case, query, method in (("grpc", "?type=application/grpc", "GET"), ("page", "?type=text/html", "GET"), ("head", "", "HEAD"),
                                ("204", "?status=204", "GET"), ("304", "?status=304", "GET"), ("type", "?type=text/event-streams", "GET")):
        response = connection(envoy.main).get(f"/body/{SHORT}{query}", {"x-case": case}, method)
        same(response.body, b"" if case in ("head", "204", "304") else whole, case)
        same(envoy.facts(case), {}, case)
    same(requests(envoy) - before, 0, "counted responses")
    response = get(envoy.main, "gzip", f"/body/{SHORT}?encoding=gzip")
    assert response.body[:2] == b"\x1f\x8b"
    facts = envoy.facts("gzip")
    same((facts["verdict"], "events" in facts, facts.get("ended_by")), ("compressed", False, "upstream_end"), "gzip")
    get(envoy.main, "identity", f"/body/{SHORT}?encoding=identity")
    check(envoy, "identity", SHORT)
    get(envoy.main, "503", f"/body/{SHORT}?status=503")
    check(envoy, "503", SHORT)


def test_texts(envoy):
    """Texts from the stream are escaped and cut, limits are as configured, and times are those of the upstream's pauses."""
    name = "made/nasty-model.sse"
    get(envoy.main, "nasty", f"/body/{name}")
    model = envoy.facts("nasty")["model"]
    same(model, escaped(expected(name, BODIES[name])["model"]), "escaped model")
    assert len(model) <= 128 and model.isprintable() and model.isascii()
    same(envoy.facts(case_of(envoy, "made/too-long.sse"))["verdict"], "too_long", "over 1 MiB")
    get(envoy.small, "small limit", "/body/made/long-held.sse")
    same(envoy.facts("small limit")["verdict"], "too_long", "over the limit of the option")
    get(envoy.small, "small text", f"/body/{SHORT}?type=Text/Plain;x=1")
    check(envoy, "small text", SHORT)
    # The filter sees what the upstream sent, before a compressor that stands before it in the list.
    response = get(envoy.small, "small gzip", f"/body/{SHORT}?type=text/plain", accept_encoding="gzip")
    same(gzip.decompress(response.body), BODIES[SHORT], "compressed by Envoy")
    check(envoy, "small gzip", SHORT)
    # A header that Envoy strips from clients hides nothing.
    same(get(envoy.small, "small strip", f"/body/{SHORT}", x_hide_usage="1").body, BODIES[SHORT], "stripped header")
    get(envoy.small, "small json", f"/body/{SHORT}?type=application/json")
    same(envoy.facts("small json"), {}, "a content type that the option leaves out")
    get(envoy.main, "error", "/body/samples/error-body.json")
    same(envoy.facts("error")["error"], "requests", "type of the API's error")
    get(envoy.main, "slow", f"/body/{SHORT}?chunk={len(BODIES[SHORT]) // 2}&pause=300&wait=200")
    facts = check(envoy, "slow", SHORT)
    for fact, low in (("ttft_ms", 200), ("output_ms", 0)):
        assert low <= facts[fact] < low + 1500, f"{fact}: {facts[fact]}"


def case_of(envoy, name):
    get(envoy.main, f"text {name}", f"/body/{name}")
    return f"text {name}"


def test_statistics(envoy):
    """The counters are the sums of the facts in the log, by configured models; histograms have as many values."""
    envoy.read_log()
    requests_due, tokens_due, timed = {}, {}, 0
    for line in (line for lines in envoy.lines.values() for line in lines):
        facts = line["facts"] or {}
        if "verdict" not in facts:
            continue
        # The other listener's filter has no list of models.
        model = facts.get("model") if facts.get("model") in MODELS and not line["id"].startswith("small") else "other"
        labels = (("model", model), ("verdict", facts["verdict"]), ("ended_by", facts["ended_by"]))
        requests_due[labels] = requests_due.get(labels, 0) + 1
        timed += "ttft_ms" in facts
        for fact in COUNTS:
            if fact in facts and fact != "total_tokens":
                key = (("model", model), ("type", fact.removesuffix("_tokens")))
                tokens_due[key] = tokens_due.get(key, 0) + facts[fact]
    assert {dict(labels)["model"] for labels in requests_due} > {"other"}, "no configured model was seen"
    same(statistics(envoy, "requests"), requests_due, "requests")
    same(statistics(envoy, "tokens"), tokens_due, "tokens")
    # Envoy merges what its workers recorded every 5 seconds.
    deadline = time.monotonic() + 12
    while sum(statistics(envoy, "ttft_ms_count").values()) != timed and time.monotonic() < deadline:
        time.sleep(0.5)
    same(sum(statistics(envoy, "ttft_ms_count").values()), timed, "times to the first token")


# Load


def test_crowd(envoy):
    """200 streams at once, each with its own facts."""
    names = [name for name in BODIES if 1000 < len(BODIES[name]) < 60_000]

    def one(nth):
        name = names[nth % len(names)]
        case = f"crowd {nth}"
        response = Connection(envoy.main, 60).get(f"/body/{name}?chunk={max(len(BODIES[name]) // 20, 1)}&pause=50", {"x-case": case})
        same(response.body == BODIES[name] and response.whole, True, case)
        return case, name

    wrong = []
    for case, name in parallel(one, range(200), 200):
        wrong += differences(name, BODIES[name], envoy.facts(case))
    nothing_wrong(wrong)


def test_memory(envoy):
    """The memory of Envoy stays the same over 10,000 requests."""
    names = [name for name in BODIES if len(BODIES[name]) < 20_000] + ["made/long-200k.sse"]

    def some(count, first):
        def one(nth):
            name = names[nth % len(names)]
            hide = {"x_hide_usage": "1"} if nth % 3 == 0 else {}
            get(envoy.main, f"memory {nth % 7}", f"/body/{name}", **hide)
        parallel(one, range(first, first + count), 4)

    some(3000, 0)
    early = envoy.rss()
    some(7000, 3000)
    late = envoy.rss()
    print(f"NOTE memory of Envoy after 3,000 requests: {early} KiB, after 10,000: {late} KiB")
    assert late - early < 3000, f"{late - early} KiB more"


def test_drain(binary, library, work, upstream):
    """Envoy drains and ends while streams run, without a crash, and their facts are in the log."""
    envoy = Envoy(binary, library, upstream, work)
    started = threading.Event()
    answers = []

    def one(nth):
        try:
            response = Connection(envoy.main, 30).get(f"/body/{SHORT}?chunk=200&pause=60", {"x-case": f"drain {nth}"})
            started.set()
            answers.append(response.body == BODIES[SHORT])
        except OSError:
            pass

    threads = [threading.Thread(target=one, args=(nth,)) for nth in range(50)]
    for thread in threads:
        thread.start()
    started.wait(20)
    envoy.ask("/drain_listeners?graceful", "POST")
    later = [threading.Thread(target=one, args=(nth,)) for nth in range(50, 80)]
    for thread in later:
        thread.start()
    for thread in threads + later:
        thread.join()
    assert len(answers) >= 50 and all(answers), f"{answers.count(False)} of {len(answers)} altered"
    for nth in range(50):
        check(envoy, f"drain {nth}", SHORT)
    # Ends with streams that run: their facts are in the log.
    leaving = threading.Thread(target=one, args=(99,))
    leaving.start()
    time.sleep(0.3)
    same(envoy.stop(), 0, "exit status of Envoy")
    leaving.join()
    facts = envoy.facts("drain 99")
    same((facts["ended_by"], facts["verdict"], facts["prompt_tokens"]), ("local_reply", "truncated", 9), "a stream when Envoy ends")


# Loading


def refused(binary, library, work, filters, *texts):
    """Envoy does not start with these filters, and says these texts."""
    work.mkdir(parents=True, exist_ok=True)
    config = {"static_resources": {"listeners": [listener("main", free_ports(1)[0], filters, None, [])]}, "admin": address(free_ports(1)[0])}
    process, said = run(binary, library, config, work)
    try:
        assert process.wait(20) != 0
    finally:
        process.kill()
    for text in texts:
        assert text in said.read_text(), f"Envoy does not say {text!r}:\n{said.read_text()[-1500:]}"


def test_options(binary, library, work):
    """A wrong option is an error at start that names it."""
    for options, text in (
        ({"max_event": 100}, "option `max_event` must be a number of bytes from 1024 to"),
        ({"max_event": "1m"}, "option `max_event` must be"),
        ({"content_types": "text/plain"}, "option `content_types` must be a list of texts"),
        ({"models": [""]}, "option `models` must have texts of 1 to 128 bytes"),
        ({"models": ["m"] * 300}, "option `models` may have at most 256 texts"),
        ({"hide_usage": True}, "option `hide_usage` must have texts"),
        ({"hide-usage": "x"}, "option `hide-usage` is unknown"),
        ('{"models": [], "models": []}', "option `models` is unknown, or is there twice"),
        ("max_event = 1", "`filter_config` must be"),
        ("[]", "`filter_config` must be"),
    ):
        refused(binary, library, work, [module(options)], text)


def test_release(envoys, work):
    """A library for another release is refused, with the command that builds the right one."""
    for binary, _ in envoys:
        for _, library in envoys:
            release = re.search(r"(1\.\d+)", Path(library).name).group(1)
            own = dict(envoys)[binary] == library
            if not own:
                refused(binary, library, work, [module()], f"deltawire: this library was built for Envoy {release}, and this is Envoy", "make envoy ENVOY=")


def test_page(binary, library, work, upstream):
    """The configuration of docs/envoy.md gives the line that the page shows, except for the times."""
    work.mkdir(parents=True, exist_ok=True)
    page = (ROOT / "docs" / "envoy.md").read_text()
    front, admin = free_ports(2)
    text = re.search(r"```yaml\n(.*?)```", page, re.S).group(1)
    for old, new in (("8080", front), ("9901", admin), ("8081", upstream), ("access.log", work / "access.log")):
        assert text.count(old) == 1
        text = text.replace(old, str(new))
    (work / "access.log").unlink(missing_ok=True)
    (work / "envoy.yaml").write_text(text)
    process, said = run(binary, library, work / "envoy.yaml", work)
    try:
        deadline = time.monotonic() + 20
        while not (work / "access.log").exists() or not (work / "access.log").read_text():
            try:
                Connection(front).get(f"/body/{SHORT}")
            except OSError:
                assert time.monotonic() < deadline and process.poll() is None, said.read_text()
            time.sleep(0.1)
    finally:
        process.terminate()
        process.wait()
    lines = [json.loads((work / "access.log").read_text().splitlines()[0]), json.loads(re.search(r"^\{.*", page, re.M).group(0))]
    for line in lines:
        for fact in ("ttft_ms", "output_ms", "max_gap_ms"):
            line["llm"].pop(fact, None)
    same(lines[0], lines[1], "the line of the page")


def main():
    work = Path(sys.argv[1])
    envoys = [tuple(pair.split("=")) for pair in sys.argv[2:]]
    process, upstream = start_upstream()

    def done(name):
        print(f"PASS gateways-envoy-{name}", flush=True)

    try:
        for nth, (binary, library) in enumerate(envoys):
            release = Path(library).name
            envoy = Envoy(binary, library, upstream, work / release)
            try:
                tests = [test_bodies, test_hide, test_ends, test_http2, test_again, test_passed, test_texts, test_statistics]
                for test in tests + ([test_crowd, test_memory] if nth == 0 else []):
                    test(envoy)
                    envoy.alive()
                    done(f"{release}-{test.__name__.removeprefix('test_')}")
                same(envoy.stop(), 0, "exit status of Envoy")
            finally:
                envoy.stop()
        test_drain(*envoys[0], work / "drain", upstream)
        done("drain")
        test_page(*envoys[0], work / "page", upstream)
        done("page")
        test_options(*envoys[0], work / "options")
        done("options")
        test_release(envoys, work / "release")
        done("release")
    finally:
        process.stdin.close()
        process.wait()


if __name__ == "__main__":
    main()
