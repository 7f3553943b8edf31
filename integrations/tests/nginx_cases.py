"""The cases that nginx_test.py runs. Each takes a running Nginx, and returns what it says of its success."""

import gzip
import json
import os
import re
import shutil
import socket
import subprocess
import threading
import time
from pathlib import Path

from bodies import ROOT, bodies
from client import Connection, free_ports, parallel
from expect import differences, numbers, without_usage

BODIES = bodies()


def unaltered(nginx, jobs, headers=(), threads=8):
    """Requests each (path, name, cut, is_whole) and compares bytes and facts. Returns how many."""
    local = threading.local()

    def one(job):
        path, name, cut, is_whole = job
        if not hasattr(local, "connection"):
            local.connection = Connection(nginx.port, timeout=60)
        response, identity = nginx.get(path, headers, local.connection)
        due = BODIES[name] if cut is None else BODIES[name][:cut]
        assert response.body == due, f"{path}: {len(response.body)} bytes instead of {len(due)}, or others"
        assert response.whole == is_whole, path
        return job, identity

    wrong = []
    for (path, name, cut, is_whole), identity in parallel(one, jobs, threads):
        facts = nginx.facts(identity)
        wrong += differences(name, BODIES[name], facts, cut)
        if facts.get("verdict") != "too_long":
            ended = "upstream_reset" if not is_whole else "complete" if facts["complete"] else "upstream_end"
            if facts.get("ended_by") != ended:
                wrong.append(f"{path}: ended by {facts.get('ended_by')}, not {ended}")
    assert not wrong, "\n".join(wrong[:40]) + f"\n{len(wrong)} differences"
    return len(jobs)


def every_body(nginx):
    """Every body in pieces of 7, 1,448 and 16,384 bytes, buffered, unbuffered and through temporary files."""
    jobs = []
    for nth, name in enumerate(BODIES):
        for chunk, ways in ((7, ("raw", "body", "disk")), (1448, ("body", "disk", "raw")), (16384, ("disk", "raw", "body"))):
            frame = ("chunked", "length", "close")[(nth + chunk) % 3]
            way = ways[nth % 3]
            jobs.append((f"/{way}/body/{name}?chunk={chunk}&frame={frame}" if way != "body" else f"/body/{name}?chunk={chunk}&frame={frame}", name, None, True))
    # The longest first, so that all threads end at about the same time.
    jobs.sort(key=lambda job: -len(BODIES[job[1]]) // (1 if "chunk=7&" in job[0] else 100))
    return f"{unaltered(nginx, jobs)} responses"


def cut_bodies(nginx):
    """Every body cut in the middle: the HTTP message ends properly, the connection is closed, or it is reset."""
    jobs = []
    for nth, name in enumerate(BODIES):
        cut = len(BODIES[name]) // 2
        for end in ("ok", "close"):
            way = ("body", "raw/body", "disk/body")[(nth + len(end)) % 3]
            jobs.append((f"/{way}/{name}?chunk=1448&cut={cut}&end={end}", name, cut, end == "ok"))
    return f"{unaltered(nginx, jobs)} responses"


def resets(nginx):
    """An upstream that resets: what came counts."""
    name = "samples/usage.sse"
    cut = len(BODIES[name]) - 20
    for way in ("/body/", "/raw/body/", "/disk/body/"):
        response, facts = nginx.fetch(f"{way}{name}?cut={cut}&end=reset&hold=100")
        assert not response.whole and response.body == BODIES[name][:cut], way
        wrong = differences(name, BODIES[name], facts, cut)
        assert facts["ended_by"] == "upstream_reset" and not wrong, (way, facts, wrong)
    # Nothing was sent on before the reset, so nginx answers itself.
    response, facts = nginx.fetch("/dead/x")
    assert response.status == 502 and facts == {**facts, "ended_by": "local_reply"} and "verdict" not in facts, facts
    return "3 resets, 1 dead upstream"


def many_at_once(nginx):
    """200 streams at once, each slow."""
    names = [name for name in BODIES if name.startswith("samples/") and name.endswith(".sse")]
    jobs = []
    for nth in range(200):
        name = names[nth % len(names)]
        pieces = len(BODIES[name]) // 20 + 1
        jobs.append((("/raw/body/" if nth % 2 else "/body/") + f"{name}?chunk={pieces}&pause=50", name, None, True))
    return f"{unaltered(nginx, jobs, threads=200)} streams"


def client_leaves(nginx):
    """A client that leaves in the middle."""
    name = "samples/openrouter.sse"
    for way in ("/raw/body/", "/body/"):
        response, facts = nginx.fetch(f"{way}{name}?chunk=200&pause=50", leave_after=600)
        assert not response.whole and BODIES[name].startswith(response.body), way
        assert facts["ended_by"] == "client_left" and facts["complete"] is False and facts["events"] >= 1, (way, facts)
        assert "model" in facts and facts["ttft_ms"] >= 0, facts
    # When nobody reads, nginx notices only as it writes.
    response, facts = nginx.fetch("/raw/body/made/long-1m.sse?chunk=16384&pause=5", leave_after=30000)
    assert facts["ended_by"] == "client_left", facts
    return "3 clients"


def times(nginx):
    """The clock: 200 ms until the head, then a token each 100 ms."""
    name = "made/usage-twice.sse"
    step = BODIES[name].index(b"data:", 10)
    response, facts = nginx.fetch(f"/raw/body/{name}?wait=200&chunk={step}&pause=100")
    assert response.whole and 190 <= facts["ttft_ms"] <= 350, facts
    assert 90 <= facts["max_gap_ms"] <= 500 and facts["output_ms"] >= facts["max_gap_ms"], facts
    _, empty = nginx.fetch("/body/made/comments.sse")
    assert "ttft_ms" not in empty and "prompt_tokens" not in empty, empty
    return f"ttft {facts['ttft_ms']} ms, gap {facts['max_gap_ms']} ms"


def hide_usage(nginx):
    """Chunks with only usage leave the client's stream, where a header says so."""
    names = [name for name in BODIES if name.startswith(("made/usage", "made/long-held", "made/long-200k", "samples/")) and name.endswith(".sse")]
    jobs = [(way, name, chunk) for name in names for way in ("raw/body", "body", "disk/body", "gzip/body") for chunk in (7, 300, 1448, 16384) if chunk > 7 or len(BODIES[name]) < 20000]
    shorter = set()

    def one(job):
        way, name, chunk = job
        due = without_usage(BODIES[name])
        if due != BODIES[name]:
            shorter.add(name)
        path = f"/{way}/{name}" if way != "body" else f"/body/{name}"
        headers = {"x-hide-usage": "true"}
        if way == "gzip/body":
            headers["accept-encoding"] = "gzip"
        response, facts = nginx.fetch(f"{path}?chunk={chunk}", headers)
        got = gzip.decompress(response.body) if way == "gzip/body" else response.body
        assert response.whole and got == due, f"{job}: {len(got)} bytes instead of {len(due)}"
        wrong = differences(name, BODIES[name], facts)
        assert not wrong, wrong

    parallel(one, jobs)
    assert len(shorter) >= 6, shorter
    name = "made/usage-twice.sse"
    # Not without the header, not with a length, not compressed, and not for other types.
    for query, headers in (("", {}), ("", {"x-hide-usage": "0"}), ("?frame=length", {"x-hide-usage": "1"}), ("?encoding=identity", {"x-hide-usage": "1"}), ("?type=application/x-ndjson", {"x-hide-usage": "1"})):
        response, facts = nginx.fetch(f"/body/{name}{query}", headers)
        assert response.body == BODIES[name] and facts["prompt_tokens"] == 9, (query, headers)
    # A frame that has begun is sent on when the upstream breaks off, and a chunk with usage that came whole is not.
    body = without_usage(BODIES[name])
    for way in ("/body/", "/raw/body/", "/disk/body/"):
        response, facts = nginx.fetch(f"{way}{name}?cut={len(BODIES[name]) - 3}&end=reset&hold=100&chunk=50", {"x-hide-usage": "1"})
        assert response.body == body[:-3] and facts["ended_by"] == "upstream_reset" and facts["prompt_tokens"] == 9, (way, facts)
    # Nothing is held when a frame came whole.
    response, facts = nginx.fetch(f"/raw/body/{name}?chunk={BODIES[name].index(b'data:', 10)}&pause=100", {"x-hide-usage": "1"})
    assert response.reads[0] == BODIES[name].index(b"data:", 10), response.reads
    return f"{len(jobs)} responses, {len(shorter)} bodies with hidden chunks"


def slow_client(nginx):
    """A client that reads slowly: nginx puts the rest into a temporary file, or stops reading."""
    name = "made/long-1m.sse"
    for way in ("/disk/body/", "/memory/body/", "/raw/body/"):
        for hide in ("0", "1"):
            identity = nginx.new_id()
            with socket.create_connection(("127.0.0.1", nginx.port3), 30) as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
                connection.sendall(f"GET {way}{name}?chunk=16384 HTTP/1.0\r\nx-id: {identity}\r\nx-hide-usage: {hide}\r\n\r\n".encode())
                data = b""
                while piece := connection.recv(20000):
                    data += piece
                    if len(data) < 300000:
                        time.sleep(0.005)
            due = without_usage(BODIES[name]) if hide == "1" else BODIES[name]
            assert data.split(b"\r\n\r\n", 1)[1] == due, (way, hide)
            facts = nginx.facts(identity)
            wrong = differences(name, BODIES[name], facts)
            assert not wrong and facts["ended_by"] == "complete", (way, hide, facts, wrong)
    assert any("temporary file" in line for line in nginx.errors().splitlines()), "no temporary file was used"
    return "6 responses"


def limits(nginx):
    """max_event, and what is not read."""
    _, facts = nginx.fetch("/body/made/too-long.sse")
    assert facts["verdict"] == "too_long" and facts["complete"] is False and facts["prompt_tokens"] == 9, facts
    _, facts = nginx.fetch("/large/body/made/too-long.sse")
    assert facts["verdict"] == "done" and facts["complete"] is True, facts
    _, facts = nginx.fetch("/small/body/made/long-200k.sse")
    assert facts["verdict"] == "too_long", facts
    response, facts = nginx.fetch("/body/samples/usage.sse?encoding=gzip")
    assert gzip.decompress(response.body) == BODIES["samples/usage.sse"], "gzip"
    assert facts["verdict"] == "compressed" and "prompt_tokens" not in facts and facts["ended_by"] == "upstream_end", facts
    response, facts = nginx.fetch("/gzip/body/samples/usage.sse", {"accept-encoding": "gzip"})
    assert response.headers["content-encoding"] == "gzip" and gzip.decompress(response.body) == BODIES["samples/usage.sse"]
    assert facts["verdict"] == "done" and facts["prompt_tokens"] > 0, facts
    _, facts = nginx.fetch("/body/made/nasty-model.sse")
    assert facts["model"].startswith('a\\u000ab\\"c\\\\d\\u001b[31m\\u00e9xxx') and len(facts["model"]) == 128, facts
    for path in ("/off/body/samples/usage.sse", "/body/samples/usage.sse?type=text/plain", "/body/samples/usage.sse?type=application/grpc", "/plain/body/samples/usage.sse"):
        response, facts = nginx.fetch(path)
        assert response.body == BODIES["samples/usage.sse"] and not set(facts) - {"id", "uri", "status"}, (path, facts)
    for path in ("/plain/body/samples/usage.sse?type=Text/Plain;charset=x", "/body/samples/usage.sse?type=application/json;odata=verbose", "/any/body/samples/usage.sse?type=x/y"):
        _, facts = nginx.fetch(path)
        assert facts["prompt_tokens"] > 0, (path, facts)
    return "14 responses"


def methods_and_statuses(nginx):
    """HEAD, 204, 206, 304 have nothing to meter; an error's body has."""
    for path, how in (("?status=204", {}), ("?status=304", {}), ("?status=206", {}), ("", {"method": "HEAD"})):
        response, facts = nginx.fetch(f"/body/samples/usage.sse{path}", **how)
        assert not set(facts) - {"id", "uri", "status"}, (path, facts)
    response, facts = nginx.fetch("/body/samples/error-body.json?status=503&frame=length")
    assert response.status == 503 and facts["verdict"] == "api_error" and facts["ended_by"] == "upstream_end" and facts["error"], facts
    # A range that nginx cuts out of a file.
    response, facts = nginx.fetch("/file/usage.sse", {"range": "bytes=10-99"})
    assert response.status == 206 and response.body == BODIES["samples/usage.sse"][10:100], response.status
    assert set(facts) - {"id", "uri", "status"} == {"ended_by"}, facts
    response, facts = nginx.fetch("/file/usage.sse")
    assert facts["ended_by"] == "local_reply" and facts["verdict"] == "done" and response.body == BODIES["samples/usage.sse"], facts
    _, facts = nginx.fetch("/local")
    assert facts["ended_by"] == "local_reply" and facts["prompt_tokens"] == 5, facts
    return "8 responses"


def cache(nginx):
    """A response from nginx's cache is marked."""
    name = "samples/usage.sse"
    for expected_cache in ("MISS", "HIT", "HIT"):
        response, facts = nginx.fetch(f"/cache/body/{name}?frame=length")
        assert response.headers["x-cache"] == expected_cache and response.body == BODIES[name]
        assert facts["cached"] == ("true" if expected_cache == "HIT" else "false") and facts["ended_by"] == "complete", facts
        wrong = differences(name, BODIES[name], facts)
        assert not wrong, wrong
    # The cache has the whole response, whoever asked for it.
    for hide in ("1", "0", "1"):
        response, facts = nginx.fetch("/cache/body/made/usage-twice.sse", {"x-hide-usage": hide})
        whole = BODIES["made/usage-twice.sse"]
        assert response.body == (without_usage(whole) if hide == "1" else whole) and facts["prompt_tokens"] == 9, (hide, facts)
    response, facts = nginx.fetch(f"/cache/body/{name}", {"range": "bytes=0-49"})
    assert response.status == 206 and "prompt_tokens" not in facts and "verdict" not in facts, facts
    return "7 responses"


def subrequests(nginx):
    """mirror and auth_request: only what the client gets counts."""
    name = "samples/content.sse"
    for way in ("mirror", "auth"):
        response, identity = nginx.get(f"/{way}/body/{name}")
        assert response.body == BODIES[name]
        deadline = time.monotonic() + 5
        while len(lines := nginx.log_of(identity)) < 2:
            assert time.monotonic() < deadline, lines
        metered = [line for line in lines if line["verdict"]]
        assert len(lines) == 2 and len(metered) == 1, lines
        wrong = differences(name, BODIES[name], numbers(metered[0]))
        assert not wrong, wrong
    response, identity = nginx.get("/refused/x")
    deadline = time.monotonic() + 5
    while len(lines := nginx.log_of(identity)) < 2:
        assert time.monotonic() < deadline, lines
    assert response.status == 403 and sorted(line["ended_by"] for line in lines) == ["", "local_reply"], lines
    assert not any(line["verdict"] for line in lines), lines
    return "3 responses"


def redirects(nginx):
    """error_page and X-Accel-Redirect: only the response that is sent counts."""
    response, facts = nginx.fetch("/fallback/body/samples/usage.sse?status=503")
    assert response.body == BODIES["samples/content.sse"] and facts["ended_by"] == "complete", facts
    wrong = differences("samples/content.sse", BODIES["samples/content.sse"], facts)
    assert not wrong, wrong
    response, facts = nginx.fetch("/accel/x?to=/body/samples/reasoning.sse")
    assert response.body == BODIES["samples/reasoning.sse"], response.body[:200]
    wrong = differences("samples/reasoning.sse", BODIES["samples/reasoning.sse"], facts)
    assert not wrong and facts["ended_by"] == "complete", (facts, wrong)
    response, facts = nginx.fetch("/accel/x?to=/file/usage.sse")
    assert facts["ended_by"] == "local_reply" and facts["prompt_tokens"] > 0, facts
    return "3 redirects"


def trailers_and_conditions(nginx):
    """The facts are there for trailers, and for conditions of the log."""
    response, facts = nginx.fetch("/trailer/body/samples/usage.sse")
    assert response.trailers.get("x-tokens") == str(facts["completion_tokens"]), response.trailers
    _, identity = nginx.get("/body/samples/usage.sse")
    _, other = nginx.get("/body/samples/truncated.sse")
    nginx.facts(identity), nginx.facts(other)
    log = (nginx.folder / "usage.log").read_text()
    assert identity in log and other not in log
    return "1 trailer, 2 conditions"


def http2(nginx):
    """A client of HTTP/2, where curl has it."""
    if not shutil.which("curl") or "HTTP2" not in subprocess.run(["curl", "--version"], capture_output=True, text=True, check=True).stdout:
        return "SKIP curl with HTTP/2 is missing"
    for name in ("samples/usage.sse", "made/long-200k.sse"):
        for way in ("/body/", "/raw/body/"):
            identity = nginx.new_id()
            got = subprocess.run(
                ["curl", "-sS", "--http2-prior-knowledge", "-H", f"x-id: {identity}", f"http://127.0.0.1:{nginx.port2}{way}{name}?chunk=700"], capture_output=True, check=True
            ).stdout
            assert got == BODIES[name]
            wrong = differences(name, BODIES[name], nginx.facts(identity))
            assert not wrong, wrong
    identity = nginx.new_id()
    subprocess.run(
        ["curl", "-sS", "--max-time", "0.5", "--http2-prior-knowledge", "-H", f"x-id: {identity}", f"http://127.0.0.1:{nginx.port2}/raw/body/samples/usage.sse?chunk=100&pause=200"],
        capture_output=True, check=False,
    )
    assert nginx.facts(identity)["ended_by"] == "client_left", nginx.facts(identity)
    return "5 responses"


def check_config(nginx, name, change):
    path = nginx.write_config(name, change=change)
    ran = subprocess.run(["nginx", "-t", "-c", path, "-e", nginx.folder / "test.log"], capture_output=True, text=True, check=False)
    return ran.returncode, ran.stderr


def wrong_options(nginx):
    """A wrong option is a clear error at start."""
    rows = (
        ("deltawire on;", "deltawire maybe;", 'invalid value "maybe" in "deltawire" directive, it must be "on" or "off"'),
        ("deltawire on;", "deltawire on; deltawire_max_event 10;", '"deltawire_max_event" directive must be from 1k to 1023m'),
        ("deltawire on;", "deltawire on; deltawire_max_event 2000m;", '"deltawire_max_event" directive must be from 1k to 1023m'),
        ("deltawire on;", "deltawire on; deltawire_max_event x;", '"deltawire_max_event" directive invalid value'),
        ("deltawire on;", "deltawire on; deltawire_types;", 'invalid number of arguments in "deltawire_types" directive'),
        ("$http_x_hide_usage;", "X-Hide-Usage;", '"deltawire_hide_usage" directive must be "off" or have a variable, such as $http_x_hide_usage'),
        ("$http_x_hide_usage;", "$nowhere;", 'unknown "nowhere" variable'),
        ("deltawire on;", "deltawire on; deltawire on;", '"deltawire" directive is duplicate'),
    )
    for old, new, message in rows:
        status, said = check_config(nginx, "wrong.conf", (old, new))
        assert status != 0 and message in said, said
    status, said = check_config(nginx, "right.conf", ("$http_x_hide_usage;", "off;"))
    assert status == 0, said
    return f"{len(rows)} options"


def wrong_version(nginx):
    """nginx refuses a module that was built for another version, and says so."""
    version = subprocess.run(["nginx", "-v"], capture_output=True, text=True, check=True).stderr.split("/")[1].split()[0].split(".")
    number = int(version[0]) * 1000000 + int(version[1]) * 1000 + int(version[2])
    data = nginx.module.read_bytes()
    # ngx_module_t has the version in 8 bytes.
    assert data.count(number.to_bytes(8, "little")) == 1
    other = nginx.folder / "other.so"
    other.write_bytes(data.replace(number.to_bytes(8, "little"), (number + 1000).to_bytes(8, "little")))
    status, said = check_config(nginx, "other.conf", (f"load_module {nginx.module};", f"load_module {other};"))
    assert status != 0 and f"version {number + 1000} instead of {number}" in said, said
    return "refused"


def page(nginx):
    """The configuration of docs/nginx.md gives the line of the log that the page shows."""
    text = (ROOT / "docs/nginx.md").read_text()
    load, first, provider, hide, trust = re.findall(r"```nginx\n(.*?)```", text, re.S)
    shown = json.loads(re.search(r"```json\n(.*?)```", text, re.S).group(1))
    folder, (port, other) = nginx.folder / "page", free_ports(2)
    (folder / "temp").mkdir(parents=True)
    paths = " ".join(f"{name}_temp_path {folder}/temp/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    for old, new in (("modules/ngx_http_deltawire_module.so", str(nginx.module)), ("8080", str(port)), ("8081", str(other)), ("/var/log/nginx", str(folder)), ("/path/to/deltawire", str(ROOT))):
        load, first = load.replace(old, new), first.replace(old, new)
    around = f"{load} pid {folder}/pid; error_log {folder}/error.log; events {{ }} http {{ {paths} %s }}"

    # What the page shows besides is a configuration, too. The provider is at home in no test.
    more = trust + f"server {{ listen 127.0.0.1:{port}; deltawire on; {hide} {provider.replace('api.openai.com', '127.0.0.1')} }}"
    for name, config in (("more.conf", more), ("trust.conf", more.replace("$http_x_hide_usage;", "$hide_usage;")), ("page.conf", first)):
        (folder / name).write_text(around % config)
        ran = subprocess.run(["nginx", "-t", "-c", folder / name, "-e", folder / "error.log"], capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
    with subprocess.Popen(["nginx", "-c", folder / "page.conf", "-e", folder / "error.log", "-g", "daemon off; master_process off;"]) as process:
        try:
            wait_for(lambda: socket.create_connection(("127.0.0.1", port), 1).close())
            assert Connection(port).get("/usage.sse").body == BODIES["samples/usage.sse"]
            line = json.loads(wait_for(lambda: (folder / "llm.log").read_text().splitlines()[0]))
        finally:
            process.terminate()
    differs = {name for name in shown if line.get(name) != shown[name]}
    assert line.keys() == shown.keys() and differs <= {"time", "ttft_ms"}, line
    return "1 line"


def wait_for(what):
    """Returns what it answers as soon as it does not fail."""
    deadline = time.monotonic() + 10
    while True:
        try:
            return what()
        except (OSError, IndexError):
            assert time.monotonic() < deadline
            time.sleep(0.05)


def reload_under_load(nginx):
    """Reloads while requests run; the second time the module was replaced by rename. No request fails."""
    stop = threading.Event()
    names = [name for name in BODIES if name.startswith("samples/") and name.endswith(".sse")]
    done, errors = [], []

    def load(nth):
        connection = Connection(nginx.port)
        while not stop.is_set():
            name = names[(nth + len(done)) % len(names)]
            try:
                response, identity = nginx.get(f"/body/{name}?chunk=300&pause=2", (), connection)
                assert response.body == BODIES[name] and response.whole, name
                done.append((name, identity))
            except Exception as error:  # is raised below
                errors.append(error)
                return

    threads = [threading.Thread(target=load, args=(nth,)) for nth in range(16)]
    for thread in threads:
        thread.start()
    before = set(nginx.workers())
    for nth in range(4):
        time.sleep(0.7)
        if nth % 2:
            new = nginx.folder / "module.new"
            shutil.copy(nginx.module, new)
            os.rename(new, nginx.module)
        nginx.reload()
    time.sleep(1)
    stop.set()
    for thread in threads:
        thread.join()
    assert not errors, errors[0]
    after = set(nginx.workers())
    assert after and not after & before, (before, after)
    maps = Path(f"/proc/{next(iter(after))}/maps").read_text()
    assert str(nginx.module) in maps, maps
    for name, identity in done:
        wrong = differences(name, BODIES[name], nginx.facts(identity))
        assert not wrong, wrong
    return f"4 reloads, {len(done)} responses"


def resident(nginx):
    """The resident memory of all workers, in KiB."""
    total = 0
    for worker in nginx.workers():
        total += int(next(line for line in Path(f"/proc/{worker}/status").read_text().splitlines() if line.startswith("VmRSS")).split()[1])
    return total


def flat_memory(nginx):
    """10,000 requests: the workers take no more memory after the last than after the first 2,000."""
    names = ["samples/usage.sse", "samples/weather.sse", "samples/body.json", "samples/truncated.sse"]

    def run(count):
        def some(nth):
            connection = Connection(nginx.port)
            for each in range(count // 16):
                name = names[(nth + each) % len(names)]
                headers = {"x-hide-usage": "1"} if each % 3 == 0 else {}
                path = f"/{'raw/' if each % 2 else ''}body/{name}?chunk=1448"
                if each % 50 == 49:
                    connection.get(path, headers, leave_after=100)
                else:
                    assert connection.get(path, headers).whole
            connection.close()

        parallel(some, list(range(16)), 16)

    run(2000)
    before = resident(nginx)
    run(8000)
    after = resident(nginx)
    assert after - before < 600, f"{before} KiB after 2,000 requests, {after} KiB after 10,000"
    return f"{before} KiB after 2,000 requests, {after} KiB after 10,000"


CASES = [
    every_body, cut_bodies, resets, many_at_once, client_leaves, times, hide_usage, slow_client, limits, methods_and_statuses, cache, subrequests, redirects,
    trailers_and_conditions, http2, wrong_options, wrong_version, page, reload_under_load, flat_memory,
]
# These need several processes, or measure them.
NOT_ALONE = [wrong_options, wrong_version, page, reload_under_load, flat_memory]
