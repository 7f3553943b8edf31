"""check.py CLIENT GATEWAY FILE...: runs the programs against a local server that cuts the bytes in unkind ways. Each file is a
sample with a NAME.expected.json beside it."""
import http.client
import json
import os
import subprocess
import sys

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(root, "ffi-tests", "use"))
import server  # noqa: E402

FLUSHES = ["whole", "bytes", "utf8", "midline&seed=3&tcp=1"]


def expected(path):
    with open(os.path.splitext(path)[0] + ".expected.json") as file:
        return json.load(file)


def content(path):
    return "".join(choice["message"].get("content") or "" for choice in expected(path)["choices"][:1])


def main():
    client, gateway, *files = sys.argv[1:]
    port = server.serve(server.load(files))
    ran = 0
    for path in files:
        name = os.path.basename(path)
        for flush in FLUSHES:
            url = f"http://127.0.0.1:{port}/{name}?flush={flush}"
            done = subprocess.run([client, url], capture_output=True, timeout=60)
            assert (done.returncode, done.stdout.decode()) == (0, content(path)), (url, done)
            ran += 1
    # A stream that was cut is a failure, and what came before is printed.
    name = os.path.basename(files[0])
    for cut in ("event", "body"):
        done = subprocess.run([client, f"http://127.0.0.1:{port}/{name}?flush=lines&cut={cut}"], capture_output=True, timeout=60)
        assert done.returncode != 0 and content(files[0]).startswith(done.stdout.decode()), (cut, done)

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
    finally:
        process.kill()
    print(f"{ran} responses")


main()
