"""check.py FOLDER FILE...: runs the programs of the folder against a local server that cuts the bytes at odd places. Each file is a
sample with a NAME.expected.json beside it."""
import http.client
import json
import os
import subprocess
import sys
import time

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(root, "ffi-tests", "use"))
import server  # noqa: E402

CHOICES = ",".join('{"index":%d,"delta":{"content":"%d"}}' % (nth, nth) for nth in range(9))
NINE = ('data: {"choices":[%s]}\n\ndata: {"choices":[{"index":0,"delta":{"content":" and on"}}]}\n\n' % CHOICES).encode()
FLUSHES = ["whole", "bytes", "utf8", "midline&seed=3&tcp=1"]


def expected(path):
    with open(os.path.splitext(path)[0] + ".expected.json") as file:
        return json.load(file)


def content(path):
    return "".join(choice["message"].get("content") or "" for choice in expected(path)["choices"][:1])


def main():
    folder, *files = sys.argv[1:]
    client, fetch, gateway, layer = (os.path.join(folder, name) for name in ("client", "fetch", "gateway", "layer"))
    port = server.serve(server.load(files) | {"nine": NINE})
    ran = 0

    def read(program, path, *more):
        return subprocess.run([program, f"http://127.0.0.1:{port}/{path}", *more], capture_output=True, timeout=60)

    for program in (client, fetch):
        for path in files:
            name = os.path.basename(path)
            for flush in FLUSHES:
                done = read(program, f"{name}?flush={flush}")
                assert (done.returncode, done.stdout.decode()) == (0, content(path)), done
                ran += 1
        # If a stream was cut, it prints all that came and fails, whether the transport reports the cut or not.
        name = os.path.basename(files[0])
        for cut in ("event", "chunk", "body"):
            done = read(program, f"{name}?flush=lines&cut={cut}")
            assert done.returncode != 0 and (b"truncated" in done.stderr or program == fetch and cut != "body"), (cut, done)
            assert done.stdout and content(files[0]).startswith(done.stdout.decode()), (cut, done)
        # There is no room for a ninth choice; the others are read to the end.
        done = read(program, "nine")
        assert (done.returncode, done.stdout) == (1, b"0 and on") and b"choice" in done.stderr, done
        done = read(program, "none")
        assert done.returncode == 1 and b"no such stream" in done.stderr, done
    # The deadline of the client ends the request, although the server is silent: for ten seconds, unless it is released.
    began = time.monotonic()
    done = read(client, f"{name}?flush=lines&stall=3", "1")
    assert done.returncode == 1 and b"gave up" in done.stderr and time.monotonic() - began < 8, done
    assert content(files[0]).startswith(done.stdout.decode()), done

    process = subprocess.Popen([gateway, f"http://127.0.0.1:{port}"], stdout=subprocess.PIPE, text=True)
    try:
        host, own = process.stdout.readline().strip().split(":")
        for path in files:
            with open(path, "rb") as file:
                body = file.read()
            for flush in FLUSHES:
                asked = http.client.HTTPConnection(host, int(own), timeout=60)
                asked.request("GET", f"/{os.path.basename(path)}?flush={flush}")
                answer = asked.getresponse()
                assert answer.read() == body, (path, flush)
                asked.close()
                line = process.stdout.readline()
                usage = expected(path).get("usage") or {}
                for word, member in (("prompt", "prompt_tokens"), ("completion", "completion_tokens")):
                    count = usage.get(member)
                    wanted = f"{word}={'None' if count is None else f'Some({count})'}"
                    assert wanted in line, (path, wanted, line)
                assert "complete=true" in line, (path, line)
                ran += 1
        # A client that leaves ends the request, although the upstream is silent: for ten seconds, unless it is released.
        asked = http.client.HTTPConnection(host, int(own), timeout=60)
        asked.request("GET", f"/{name}?flush=lines&stall=1")
        answer = asked.getresponse()
        answer.read(1)
        answer.close()
        asked.close()
        left = time.monotonic()
        line = process.stdout.readline()
        assert "Aborted" in line and time.monotonic() - left < 8, (line, time.monotonic() - left)
    finally:
        process.kill()

    for path in files:
        process = subprocess.Popen([layer, path], stdout=subprocess.PIPE, text=True)
        try:
            host, own = process.stdout.readline().strip().split(":")
            asked = http.client.HTTPConnection(host, int(own), timeout=60)
            asked.request("GET", "/")
            with open(path, "rb") as file:
                assert asked.getresponse().read() == file.read(), path
            asked.close()
            count = (expected(path).get("usage") or {}).get("completion_tokens")
            line = process.stdout.readline()
            assert ("None" if count is None else f"Some({count})") in line and "done" in line, (path, count, line)
            ran += 1
        finally:
            process.kill()
    print(f"{ran} responses")


main()
