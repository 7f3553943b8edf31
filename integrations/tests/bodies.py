"""The bodies that the upstream serves: the samples, the recordings in DELTAWIRE_CORPUS, and a few that are made here."""

import json
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TYPES = {".sse": "text/event-stream", ".ndjson": "application/x-ndjson", ".json": "application/json; charset=utf-8"}
NO_BODIES = ("MANIFEST.tsv", "cases.json", "README.md", "check.py", "reference.py")


def content_type(name):
    """Recordings of other framings than these (.aws) are served as event streams, too: a reader must survive them."""
    return TYPES.get(Path(name).suffix, "text/event-stream")


def chunk(**members):
    return b"data: " + json.dumps({"id": "c1", "object": "chat.completion.chunk", "model": "m1", **members}).encode() + b"\n\n"


def delta(text):
    return chunk(choices=[{"index": 0, "delta": {"content": text}, "finish_reason": None}])


USAGE = {"prompt_tokens": 9, "completion_tokens": 12, "total_tokens": 21}


def made():
    """Bodies for what no recording shows."""
    ending = chunk(choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}]) + chunk(choices=[], usage=USAGE)
    short = delta("a") + ending + b"data: [DONE]\n\n"
    return {
        # Events that only a larger block holds, with a small one after it; over 1 MiB, an event is too long.
        "made/long-200k.sse": delta("x" * 200_000) + short,
        "made/long-1m.sse": delta("x" * 1_000_000) + short,
        "made/too-long.sse": delta("x" * 1_100_000) + short,
        "made/too-long.json": json.dumps({"object": "chat.completion", "x": "x" * 1_100_000, "choices": []}).encode(),
        # Names that must be escaped before they reach a log.
        "made/nasty-model.sse": chunk(choices=[], usage=USAGE).replace(b'"m1"', b'"a\\nb\\"c\\\\d\\u001b[31m\\u00e9' + b"x" * 300 + b'"') + b"data: [DONE]\n\n",
        "made/empty.sse": b"",
        "made/comments.sse": b": ping\n\n" * 20,
        "made/no-stream.sse": b"\x00\x01\x02\xff" * 100,
        # Usage-only chunks as servers send them: after the choices, with and without comments, and two of them.
        "made/usage-comment.sse": delta("a") + b": note\n" + chunk(choices=[], usage=USAGE) + b"data: [DONE]\n\n",
        "made/usage-twice.sse": delta("a") + chunk(choices=[], usage=USAGE) + delta("b") + chunk(choices=[], usage=USAGE) + b"data: [DONE]\n\n",
        "made/usage-crlf.sse": short.replace(b"\n", b"\r\n"),
        "made/usage-first.sse": b"\xef\xbb\xbf" + chunk(choices=[], usage=USAGE) + short,
        "made/usage-with-choice.sse": chunk(choices=[{"index": 0, "delta": {"content": "a"}}], usage=USAGE) + b"data: [DONE]\n\n",
        # For benches/gateways.
        "made/many-events.sse": b"".join(delta(f" word{nth % 100}") for nth in range(5000)) + short,
        "made/long-held.sse": delta("y" * 40_000) + short,
    }


def bodies():
    """Returns every body by its name."""
    found = made()
    folders = [(ROOT / "samples", "samples")]
    corpus = os.environ.get("DELTAWIRE_CORPUS")
    if corpus:
        folders += [(Path(corpus) / part, part) for part in ("streams", "protocols", "field")]
    for folder, part in folders:
        for path in sorted(folder.iterdir()):
            if path.suffix in (".sse", ".ndjson", ".json", ".aws") and path.name not in NO_BODIES and not path.name.endswith(".expected.json"):
                found[f"{part}/{path.name}"] = path.read_bytes()
    return found


def golden_protocol(name):
    """Returns the protocol that the golden result of a recording says, or None without one."""
    part, _, file = name.partition("/")
    corpus = os.environ.get("DELTAWIRE_CORPUS")
    if not corpus or part not in ("streams", "protocols"):
        return None
    folder = Path(corpus) / part
    for golden in (folder / f"{file}.expected.json", folder / f"{Path(file).stem}.expected.json"):
        if golden.exists():
            return json.loads(golden.read_text()).get("protocol")
    return None
