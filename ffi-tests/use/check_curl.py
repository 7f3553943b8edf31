#!/usr/bin/env python3
"""check_curl.py CURL_TEXT DELTAWIRE FILE...: curl_text prints what `deltawire text` prints, however the server sends it."""
import subprocess
import sys

from common import FLUSHES, Command, check, conclude, cuts, server


def main():
    program, command, *files = sys.argv[1:]
    command = Command(command)
    bodies = server.load(files)
    port = server.serve(bodies)

    def url(name, query=""):
        return f"http://127.0.0.1:{port}/{name}?{query}"

    def get(*arguments):
        return subprocess.run([program, *arguments], capture_output=True, timeout=60)

    streams = 0
    for name, body in sorted(bodies.items()):
        text, status = command.text(body)
        ways = [f"flush={flush}" for flush in FLUSHES] + ["flush=random&frame=length", "flush=random&tcp=1"]
        # All through one connection, which the first URL opens.
        ran = get(*[url(name, way) for way in ways])
        reports = [line for line in ran.stderr.decode().splitlines() if line.startswith("verdict ")]
        fresh = [line.split("new connections ")[1].split(",")[0] for line in reports]
        check(fresh == ["1"] + ["0"] * (len(ways) - 1), f"{name}: connections {fresh}")
        if not (ran.stdout == text * len(ways) and ran.returncode == status):
            for way in ways:
                ran = get(url(name, way))
                check(ran.stdout == text, f"{name} {way}: {ran.stdout[-60:]!r} for {text[-60:]!r}")
                check(ran.returncode == status, f"{name} {way}: status {ran.returncode} for {status}: {ran.stderr}")
        streams += len(ways)
        ran = get(url(name, "frame=close&flush=midline"), url(name))
        check(ran.stdout == text * 2 and ran.returncode == status, f"{name} frame=close: {ran.returncode}")
        if len(body) < 20_000:
            ran = get("--pause", url(name, "flush=random&max=200"), url(name))
            check(ran.stdout == text * 2 and ran.returncode == status, f"{name} --pause: {ran.stdout[-60:]!r}, {ran.stderr}")
            if text and not body.startswith(b"{"):
                check(b"pauses 0" not in ran.stderr, f"{name} --pause: it never paused")

    # A cut event must have moved the parser to a larger block at least once.
    big = max(bodies, key=lambda name: len(bodies[name]))
    ran = get(url("weather.sse", "flush=whole"), url("logprobs.sse", "flush=bytes"), url(big, "flush=random"))
    check(sum(int(part.split()[0].rstrip(b",")) for part in ran.stderr.split(b"moves ")[1:]) > 0, f"no move: {ran.stderr}")

    broken = finished = 0
    for name in ("content.sse", "weather.sse", "crlf.sse", "multibyte.sse"):
        body = bodies[name]
        for at in cuts(body, 6, 11) + [len(body) - 2, body.index(b"data: [DONE]")]:
            text, status = command.text(body[:at])
            for cut in ("event", "chunk", "body"):
                ran = get(url(name, f"cut={cut}&at={at}&flush=random&seed={at}"), url("content.sse"))
                # A connection that broke after a finish reason but before [DONE] may have held more.
                finished += b"verdict Finished" in ran.stderr
                expected = 3 if status == 0 and cut != "body" and b"verdict Finished" in ran.stderr else status
                check(ran.stdout == text + command.text(bodies["content.sse"])[0], f"{name} {cut} at {at}: text")
                check(ran.returncode == expected, f"{name} {cut} at {at}: {ran.returncode} for {expected}: {ran.stderr}")
                broken += 1
    check(finished >= 12, f"only {finished} without [DONE]")
    ran = get(url("content.sse", f"cut=chunk&at={len(bodies['content.sse']) // 2}"))
    check(ran.returncode == 3 and b"verdict Truncated" in ran.stderr, f"cut: {ran.stderr}")

    ran = get(url("error-body.json", "status=429&flush=midline"))
    said = ran.stderr.decode()
    check(ran.returncode == 2 and "status 429" in said, f"error body: {ran.returncode} {said}")
    message = server_message(bodies["error-body.json"])
    check(f"error: {message}\n" in said, f"error body: {message!r} is not in {said!r}")
    ran = get(url("error-midstream.sse", "flush=bytes"))
    check(ran.returncode == 2 and b"error: " in ran.stderr, f"error in mid-stream: {ran.stderr}")

    text, _ = command.text(bodies["multibyte.sse"])
    for arguments, query, expected in [
        ([], "gzip=ask", (text, 0)),         # identity was asked for
        (["--gzip"], "gzip=ask", (text, 0)),  # libcurl asked for it and decodes it
        ([], "gzip=force", (text, 0)),        # nobody asked; libcurl decodes it all the same
        (["--raw"], "gzip=force", (b"", 4)),  # nobody decodes it: no stream
    ]:
        ran = get(*arguments, url("multibyte.sse", query + "&flush=random"))
        check((ran.stdout, ran.returncode) == expected, f"{arguments} {query}: {ran.returncode} {ran.stderr}")
    ran = get("http://127.0.0.1:1/")
    check(ran.returncode == 4 and b"verdict Empty" in ran.stderr, f"nobody there: {ran.returncode} {ran.stderr}")
    conclude(f"curl_text: {len(bodies)} bodies, {streams} streams alike, {broken} broken ones")


def server_message(body):
    import json

    return json.loads(body)["error"]["message"]


main()
