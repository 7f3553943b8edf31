#!/usr/bin/env python3
"""messages.py MESSAGE LOGS FILE...: compares what the C program `message` prints, and the texts of each message, with
LOGS/NAME.message.json, the message as the Rust library has it."""
import json
import os
import re
import subprocess
import sys

READS = [[], ["--read", "1"], ["--read", "7"], ["--read", "1448"]]
WAYS = [[], ["--batch"], ["--batch", "--scratch", "4096"]]
runs = wrong = 0
UNREADABLE = object()


def run(program, *options):
    global runs
    runs += 1
    done = subprocess.run([program, *options], capture_output=True, timeout=120)
    if done.returncode not in (0, 2, 3, 4) or done.stderr:
        return None, f"exit {done.returncode}: {done.stderr.decode(errors='replace')}"
    return done.stdout.decode("utf-8"), None


def differ(title, got, want):
    global wrong
    if got == want:
        return
    wrong += 1
    if wrong <= 20:
        got, want = str(got), str(want)
        at = max(len(os.path.commonprefix([got, want])) - 80, 0)
        print(f"{title}\n  got    {got[at:at + 300]}\n  wanted {want[at:at + 300]}")


def each_way(program, path, want):
    for way in WAYS:
        for size in READS:
            # The longest streams byte by byte in one way.
            if size == ["--read", "1"] and way != WAYS[1] and os.path.getsize(path) > 300_000:
                continue
            out, fault = run(program, *size, *way, path)
            title = " ".join([os.path.basename(path), *size, *way])
            try:
                differ(title, json.loads(out) if fault is None else fault, want)
            except ValueError as error:
                differ(title, f"{error!r}: {out}", want)


def unescape(text):
    raw = re.sub(rb"\\(x..|.)", lambda m: {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"\\": b"\\", b'"': b'"'}.get(m[1])
                 or bytes([int(m[1][1:], 16)]), text.encode("ascii"))
    return raw.decode("utf-8", errors="replace")


def texts(out):
    """Returns the lines of --getters, without the fields that JSON writes differently or not at all."""
    got = {}
    for line in out.splitlines():
        name, choice, call, text = line.split(" ", 3)
        if name != "object":
            got[name, int(choice), int(call)] = unescape(text[1:-1])
    return {k: raw(v) if k[0] in ("usage", "error", "choice_error", "reasoning_details", "audio_data") else v for k, v in got.items()}


def raw(value):
    """Returns JSON as sent, or plain text. JSON that Python cannot read is not compared."""
    if value[:1] not in ("{", "[", '"'):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return UNREADABLE


def texts_of(message):
    want = {}

    def put(name, value, choice=0, call=0):
        if value:
            want[name, choice, call] = value
    for name in ("id", "model", "system_fingerprint", "service_tier", "provider", "usage"):
        put(name, message.get(name))
    def put_error(name, error, choice=0):
        put(name, error, choice)
        if isinstance(error, dict):
            said = error.get("message") or error.get("detail") or error.get("error")
            put(name + "_message", said if isinstance(said, str) else None, choice)
            put(name + "_code", str(error["code"]) if error.get("code") is not None else None, choice)
            # The type `error` of a whole event says nothing of the error.
            kind = error.get("type") if error.get("type") != "error" else None
            put(name + "_type", kind or error.get("status"), choice)
        else:
            put(name + "_message", error, choice)

    put_error("error", message.get("error"))
    for choice in message["choices"]:
        index, said = choice["index"], choice["message"]
        put_error("choice_error", choice.get("error"), index)
        for name in ("id", "data", "transcript"):
            put("audio_" + name, (said.get("audio") or {}).get(name), index)
        put("finish_reason", choice.get("finish_reason"), index)
        put("native_finish_reason", choice.get("native_finish_reason"), index)
        put("content", said.get("content"), index)
        for name in ("reasoning_content", "reasoning", "thinking", "thought"):
            put("reasoning", said.get(name), index)
            # JSON also has reasoning without a name under the first.
            put("reasoning_name", name if said.get(name) and name != "reasoning_content" else None, index)
        put("refusal", said.get("refusal"), index)
        put("reasoning_details", said.get("reasoning_details"), index)
        put("role", said.get("role"), index)
        function = said.get("function_call") or {}
        put("function_name", function.get("name"), index)
        put("function_arguments", function.get("arguments"), index)
        calls = said.get("tool_calls") or []
        want["calls", index, len(calls)] = ""
        for n, call in enumerate(calls):
            put("call_id", call.get("id"), index, n)
            called = call.get("function") or call.get("custom") or {}
            put("call_name", called.get("name"), index, n)
            put("call_arguments", called.get("arguments") or called.get("input"), index, n)
    return want


def but_defaults(got, want):
    """Adds the role, type and name of reasoning that JSON writes even if none was sent."""
    got = {k: v for k, v in got.items() if (k[0], v) != ("reasoning_name", "reasoning_content")}
    return {k: v for k, v in got.items() if k[0] != "call_type" and (k[0] != "role" or k in want)}


def main(program, folder, *files):
    for path in files:
        want = json.load(open(os.path.join(folder, os.path.basename(path) + ".message.json"), encoding="utf-8"))
        each_way(program, path, want)
        said = texts_of(want)
        for way in WAYS[:2]:
            out, fault = run(program, "--getters", *way, path)
            title = " ".join([os.path.basename(path), "--getters", *way])
            if fault is not None:
                differ(title, fault, said)
                continue
            got = but_defaults(texts(out), said)
            same = {k for k in got if got[k] == said.get(k) or got[k] is UNREADABLE}
            differ(title, {k: v for k, v in got.items() if k not in same}, {k: v for k, v in said.items() if k not in same})
    print(f"messages: {len(files)}, {runs} runs, {wrong} wrong")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 3 else __doc__)
