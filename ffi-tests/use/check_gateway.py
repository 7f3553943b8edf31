#!/usr/bin/env python3
"""check_gateway.py GATEWAY DELTAWIRE FILE...: every byte goes through, but for what was to be left out."""
import http.client
import itertools
import json
import re
import subprocess
import sys
import threading

from common import FLUSHES, Command, check, conclude, cuts, server, status_of

# A last event without its blank line counts too.
BLOCK = re.compile(rb".*?(?:\r\n\r\n|\n\n|\r\r)|.+\Z", re.DOTALL)
LEADING = re.compile(rb"(?::[^\r\n]*(?:\r\n|\n|\r))*")
HOLD = 32768  # more than the gateway holds, less than the long event below


def without_usage(body):
    """Returns the stream without its usage chunks, and their number."""
    out, gone = [], 0
    for nth, block in enumerate(BLOCK.findall(body)):
        # Comments before an event are frames of their own; inside, they are part of it.
        before = LEADING.match(block).group()
        out.append(before)
        block = block[len(before) :]
        # A byte order mark belongs to the first frame.
        lines = (block if nth else block.removeprefix(b"\xef\xbb\xbf")).splitlines()
        data = [line[5:] for line in lines if line.startswith(b"data:")]
        odd = any(line.startswith((b":", b"retry")) for line in lines)
        drop = False
        if data and not odd and len(block) <= HOLD:
            try:
                chunk = json.loads(b"\n".join(data))
            except ValueError:
                chunk = None
            # The events of other protocols have a type, and say more than usage.
            if isinstance(chunk, dict) and not any(chunk.get(name) for name in ("choices", "error", "type")):
                usage = chunk.get("usage")
                drop = isinstance(usage, dict) and bool(usage)
        if drop:
            gone += 1
        else:
            out.append(block)
    return b"".join(out), gone


def variants(bodies):
    """Streams with usage chunks of every kind, and with other line ends."""
    chunk = b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
    finish = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    usage = b'{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}'
    events = [
        b"data: " + usage + b"\n\n",  # goes
        b": a comment before it stays\ndata: " + usage + b"\n\n",  # goes
        b"data: " + usage + b"\n: a comment in the event must go on\n\n",
        b"id: 7\ndata: " + usage + b"\n\n",  # goes
        b"event: x\ndata:" + usage + b"\n\n",  # goes
        b"retry: 10\ndata: " + usage + b"\n\n",
        b"data: " + usage.replace(b",", b",\ndata:", 1) + b"\n\n",  # goes, two lines
        b'data: {"choices":[],"usage":{}}\n\n',
        b'data: {"choices":[],"usage":null}\n\n',
        b'data: {"choices":[{"index":0,"delta":{"content":"b"}}],"usage":{"prompt_tokens":1}}\n\n',
        b'data: {"choices":[{"index":0,"delta":{}}],"usage":{"prompt_tokens":1}}\n\n',
        b'data: {"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n',  # goes
        b'data: {"choices":[],"usage":{"prompt_tokens":' + b" " * 40_000 + b"1}}\n\n",  # too long to be held
        b": alone\n\n",
    ]
    done = b"data: [DONE]\n\n"
    made = {"odd-usage.sse": b"".join(part for event in events[:-2] for part in (chunk, event)) + finish + done}
    made["long-usage.sse"] = chunk + events[-2] + events[-1] + finish + done
    made["last-usage.sse"] = chunk + finish + events[0]
    made["no-last-blank-line.sse"] = chunk + finish + events[0][:-1]
    for name in ("usage.sse", "weather.sse"):
        made[name + ".crlf"] = bodies[name].replace(b"\n", b"\r\n")
        made[name + ".cr"] = bodies[name].replace(b"\n", b"\r")
    made["odd.crlf"] = made["odd-usage.sse"].replace(b"\n", b"\r\n")
    made["odd.cr"] = made["odd-usage.sse"].replace(b"\n", b"\r")
    # Not streams, so nothing may be left out of them.
    made["array.json"] = b'[{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]},\n' + usage + b"]\n"
    made["lines.ndjson"] = b'{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n' + usage + b"\n"
    made["lines-done.ndjson"] = chunk[6:-1] * 3 + finish[6:-1] + usage + b"\n[DONE]\n"
    made["lines-crlf.ndjson"] = made["lines-done.ndjson"].replace(b"\n", b"\r\n")
    # In other protocols the client expects an event that has only usage, so nothing is left out.
    made["anthropic.sse"] = (
        b'data: {"type":"message_start","message":{"role":"assistant"}}\n\n'
        b'data: {"type":"message_delta","usage":{"output_tokens":3}}\n\ndata: {"type":"message_stop"}\n\n'
    )
    made["gemini.sse"] = (
        b'data: {"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}\n\n'
        b'data: {"usageMetadata":{"promptTokenCount":3}}\n\n'
    )
    # Longer than any read, so that a frame of usage is in the middle of a read.
    made["long.sse"] = chunk * 3000 + events[0] + chunk * 1500 + finish + done
    # A byte order mark does not belong to the first field's name.
    mark = b"\xef\xbb\xbf"
    made["mark.sse"] = mark + events[0] + chunk + finish + done  # goes
    made["mark.crlf"] = made["mark.sse"].replace(b"\n", b"\r\n")
    made["mark-body.json"] = mark + made["array.json"]
    return made


class Gateway:
    """A gateway in front of the server, and what it reports."""

    def __init__(self, program, upstream, *options):
        self.process = subprocess.Popen(
            [program, *options, str(upstream)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.port = int(self.process.stdout.readline())

    def get(self, path, post=None):
        """Body, whether it was whole, status, headers."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        client.request("POST" if post else "GET", "/" + path, post, {"Accept-Encoding": "gzip"})
        answer = client.getresponse()
        try:
            body, whole = answer.read(), True
        except http.client.IncompleteRead as cut:
            body, whole = cut.partial, False
        client.close()
        return body, whole, answer.status, answer.headers

    def report(self):
        """The next line: `path whole|cut name=value ...`."""
        line = self.process.stderr.readline().split()
        return dict(part.split("=", 1) for part in line[2:] if "=" in part) | {"path": line[0], "whole": line[1]}

    def end(self):
        self.process.terminate()
        said = self.process.communicate(timeout=30)
        check(said == ("", ""), f"a gateway said {said}")


def main():
    program, command, *files = sys.argv[1:]
    command = Command(command)
    bodies = server.load(files)
    bodies.update(variants(bodies))
    upstream = server.serve(bodies)
    plain = Gateway(program, upstream)
    drop = Gateway(program, upstream, "--drop-usage")
    ways = [f"flush={flush}" for flush in FLUSHES] + ["flush=midline&frame=length", "flush=random&frame=close", "tcp=1"]
    streams = dropped = 0

    for name, body in sorted(bodies.items()):
        left, gone = without_usage(body)
        status = command.text(body)[1]
        for way in ways:
            got, whole, _, _ = plain.get(f"{name}?{way}")
            said = plain.report()
            check(got == body and whole, f"{name} {way}: {len(got)} bytes for {len(body)}")
            check(int(said["bytes"]) == len(body) and said["open"] == "-", f"{name} {way}: {said}")
            check(status_of(said) == status, f"{name} {way}: {said['verdict']} for status {status}")
            got, whole, _, _ = drop.get(f"{name}?{way}")
            said = drop.report()
            check(got == left and whole, f"{name} {way} --drop-usage: {len(got)} bytes for {len(left)}, {said}")
            count = (int(said["dropped"]), int(said["dropped_bytes"]))
            check(count == (gone, len(body) - len(left)), f"{name} {way} --drop-usage: dropped {count} for {gone}")
            check(status_of(said) == status, f"{name} {way} --drop-usage: {said['verdict']}")
            streams += 2
        dropped += gone
    check(dropped >= 20, f"only {dropped} usage chunks")

    # The report of the gateway at the end must agree with the expected messages beside the samples.
    told = 0
    for path in files:
        try:
            with open(path.rsplit(".", 1)[0] + ".expected.json", encoding="utf-8") as file:
                message = json.load(file)
        except FileNotFoundError:
            continue
        name = path.rsplit("/", 1)[-1]
        plain.get(f"{name}?flush=random")
        said = plain.report()
        usage, choices = message.get("usage"), message.get("choices") or [{}]
        expected = f"{usage['prompt_tokens']}+{usage['completion_tokens']}" if usage else "-"
        check(said["usage"] == expected, f"{name}: usage {said['usage']} for {expected}")
        expected = choices[0].get("finish_reason") or "-"
        check(said["finish"] == expected, f"{name}: finish {said['finish']} for {expected}")
        told += 1
    check(told >= 15, f"only {told} messages")

    # Broken connections: forwards what arrived, and the client learns that it was cut.
    broken = 0
    for name in ("content.sse", "weather.sse", "crlf.sse"):
        body = bodies[name]
        for at in cuts(body, 5, 17):
            for cut in ("event", "chunk"):
                for gateway, expected in ((plain, body[:at]), (drop, without_usage(body[:at])[0])):
                    got, whole, _, _ = gateway.get(f"{name}?cut={cut}&at={at}&flush=random&seed={at}")
                    said = gateway.report()
                    check(got == expected and not whole and said["whole"] == "cut", f"{name} {cut} at {at}: {said}")
                    check(status_of(said) == command.text(body[:at])[1], f"{name} {cut} at {at}: {said}")
                    broken += 1

    # An event must be forwarded before the next one arrives.
    stalls = [("weather.sse", None), ("lines-done.ndjson", 1), ("lines-crlf.ndjson", 1), ("lines-done.ndjson", 4)]
    for gateway in (plain, drop):
        for (name, lines), flush in itertools.product(stalls, ("lines", "bytes")):
            body = bodies[name]
            all_lines = body.splitlines(keepends=True)
            lines = lines or len(all_lines) // 4 * 2
            half = b"".join(all_lines[:lines])
            client = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=8)
            client.request("GET", f"/{name}?flush={flush}&stall={lines if flush == 'lines' else len(half)}")
            answer = client.getresponse()
            got = b""
            try:
                while len(got) < len(half):
                    got += answer.read1(len(half) - len(got))
            except TimeoutError:
                pass
            check(got == half, f"the first half of {name} by {flush}: {got[-40:]}")
            direct = http.client.HTTPConnection("127.0.0.1", upstream, timeout=8)
            direct.request("GET", "/release")
            got += answer.read() if len(got) == len(half) else b""
            check(got == (body if gateway is plain else without_usage(body)[0]), f"the second half of {name} by {flush}")
            gateway.report()
            direct.close()
            client.close()

    # Many clients at once.
    def one(nth, results):
        name = sorted(bodies)[nth % len(bodies)]
        results[nth] = drop.get(f"{name}?flush=random&seed={nth}")[0] == without_usage(bodies[name])[0]

    results = {}
    threads = [threading.Thread(target=one, args=(nth, results)) for nth in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(len(results) == 40 and all(results.values()), f"at once: {results}")
    for _ in threads:
        drop.report()

    # Errors, requests with a body, compression.
    got, _, status, _ = plain.get("error-body.json?status=429&flush=midline")
    said = plain.report()
    check((got, status) == (bodies["error-body.json"], 429), f"error body: {status}")
    check(said["verdict"] == "ApiError", f"error body: {said}")
    _, _, _, headers = plain.get("content.sse", post=b"x" * 100_000)
    plain.report()
    check(headers["X-Posted"] == "100000", f"posted {headers['X-Posted']}")
    got, _, _, headers = plain.get("content.sse?gzip=ask")
    said = plain.report()
    check(got == bodies["content.sse"] and said["verdict"] == "Done", f"identity was not asked for: {said}")
    got, _, _, headers = drop.get("content.sse?gzip=force&flush=bytes")
    said = drop.report()
    check(headers["Content-Encoding"] == "gzip" and said["open"] == "compressed", f"compressed: {said}")
    check(server.gzip.decompress(got) == bodies["content.sse"], "compressed bytes were changed")
    plain.end()
    drop.end()

    # The gateway fails open: after a persistent error, and without memory; from the first byte, and in the middle.
    opened = {}
    for options, why in (
        (["--strict"], "E_STRICT"),
        (["--strict", "--drop-usage"], "E_STRICT"),
        (["--max-memory", "100"], "no"),
        (["--max-memory", "9500"], "NEED_STORAGE"),
        (["--max-memory", "9500", "--drop-usage"], "NEED_STORAGE"),
    ):
        gateway = Gateway(program, upstream, *options)
        for name, body in sorted(bodies.items()):
            for flush in ("bytes", "random&max=700"):
                got, whole, _, _ = gateway.get(f"{name}?flush={flush}")
                said = gateway.report()
                if said["open"] == "-":
                    expected = without_usage(body)[0] if "--drop-usage" in options else body
                    check(got == expected and whole, f"{name} {options}: {said}")
                else:
                    # Frames may be missing up to the failure, but not after it.
                    missing = len(body) - int(said["dropped_bytes"])
                    check(said["open"] == why and len(got) == missing and whole, f"{name} {options}: {said}")
                    check("--drop-usage" in options or got == body, f"{name} {options}: bytes")
                    opened[" ".join(options)] = opened.get(" ".join(options), 0) + 1
        gateway.end()
    check(len(opened) == 5, f"did not fail open: {opened}")

    # The gateway releases all memory; the sanitizers and valgrind check that at exit.
    gateway = Gateway(program, upstream, "--count", "2")
    gateway.get("content.sse")
    gateway.get("weather.sse?cut=chunk")
    check(gateway.process.wait(30) == 0, "the end of the process")
    conclude(
        f"gateway: {len(bodies)} bodies, {streams} streams alike, {dropped} usage chunks left out, {broken} broken, "
        f"failed open {sum(opened.values())} times"
    )


if __name__ == "__main__":
    main()
