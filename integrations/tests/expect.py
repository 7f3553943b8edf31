"""What the command `deltawire message` says of a body, and how facts from a gateway's log compare with it."""

import json
import os
import re
import subprocess
import threading

from bodies import golden_protocol

VERDICTS = [
    ("empty", "empty"), ("not an event stream", "not_a_stream"), ("the API reported an error", "api_error"), ("done", "done"),
    ("finished", "finished"), ("a whole JSON body", "body"), ("a JSON value that", "json_answer"),
    ("an event stream of another protocol", "other_protocol"), ("lost", "lost"), ("truncated", "truncated"),
]
COUNTS = {
    "prompt_tokens": [("prompt_tokens",)],
    "completion_tokens": [("completion_tokens",)],
    "total_tokens": [("total_tokens",)],
    "reasoning_tokens": [("completion_tokens_details", "reasoning_tokens"), ("reasoning_tokens",)],
    # The names in deltawire.h, in their order.
    "cached_tokens": [("prompt_tokens_details", "cached_tokens"), ("prompt_cache_hit_tokens",), ("cached_tokens",), ("num_cached_tokens",), ("cache_read_input_tokens",)],
}
# The goldens' words for protocols that the library names; of others it reads none.
PROTOCOLS = {"text_completion": "chat", **{name: name for name in ("chat", "responses", "anthropic", "gemini", "interactions", "ollama", "cohere")}}
# The command's message keeps the usage that came before an event showed the protocol; the counts of the stream are later ones.
OWN_COUNTS = {"field/vertex-event-first.sse": {"prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 16}}
known, lock = {}, threading.Lock()


def command():
    return os.environ["DELTAWIRE_COMMAND"]


def expected(name, body, cut=None):
    """Returns what the command says of the body, or of its first `cut` bytes; asks it once."""
    key = (name, len(body) if cut is None else cut)
    with lock:
        if key in known:
            return known[key]
    ran = subprocess.run([command(), "message"], input=body[: key[1]], capture_output=True, check=False)
    said = ran.stderr.decode()
    verdict = re.search(r"verdict: (.*)", said).group(1)
    facts = {"verdict": next(word for text, word in VERDICTS if verdict.startswith(text)), "complete": ran.returncode == 0}
    if "too long" in said:
        facts["verdict"] = "too_long"
    # Two quirks may share a code.
    facts["quirks"] = ",".join(dict.fromkeys(re.findall(r"quirk (\w+):", said))) or None
    message = json.loads(ran.stdout) if ran.stdout.strip() else {}
    usage = message.get("usage") or {}
    for fact, paths in COUNTS.items():
        facts[fact] = next((count for count in (at(usage, path) for path in paths) if isinstance(count, int)), None)
    facts["model"] = message.get("model")
    choice = next((choice for choice in message.get("choices", []) if choice.get("index", 0) == 0), {})
    facts["finish_reason"] = choice.get("finish_reason")
    facts["output_chars"] = output_chars(message)
    facts["body"] = verdict.startswith("a whole JSON body")
    facts["protocol"] = None if facts["verdict"] == "not_a_stream" else PROTOCOLS.get(golden_protocol(name))
    with lock:
        known[key] = facts
    return facts


def output_chars(message):
    """Returns how many characters the message has, or None if it has calls, whose arguments a message may fill in."""
    owns = [choice.get("message", {}) for choice in message.get("choices", [])]
    if not owns or any("tool_calls" in own or "function_call" in own for own in owns):
        return None
    return sum(len(own.get(text) or "") for own in owns for text in ("content", "reasoning_content", "refusal"))


def at(value, path):
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def differences(name, body, facts, cut=None):
    """Returns what is wrong with the facts that a gateway logged, as a list of texts."""
    due = expected(name, body, cut)
    wrong = []

    def check(fact, got, wanted):
        if got != wanted:
            wrong.append(f"{name} cut={cut} {fact}: {got!r} instead of {wanted!r}")

    for fact in (*COUNTS, "finish_reason", "complete", "quirks"):
        if name in OWN_COUNTS and cut is None and fact in COUNTS:
            due = {**due, fact: OWN_COUNTS[name].get(fact)}
        check(fact, facts.get(fact), due[fact])
    if due["output_chars"] is not None:
        check("output_chars", facts.get("output_chars"), due["output_chars"])
    # The command calls a body with a finish reason a body, too.
    if due["body"] and due["verdict"] == "body":
        check("verdict", facts.get("verdict") in ("body", "finished", "done"), True)
    else:
        check("verdict", facts.get("verdict"), due["verdict"])
    if due["model"]:
        check("model", facts.get("model"), escaped(due["model"]))
    # A cut may leave no event that shows the protocol, and an error alone shows none.
    if due["protocol"] is not None and ("protocol" in facts or (cut is None and due["verdict"] != "api_error")):
        check("protocol", facts.get("protocol"), due["protocol"])
    return wrong


def escaped(text, limit=128):
    """Escapes a text as the gateways do before it reaches a log: as JSON in ASCII, without the character that does not fit."""
    out = ""
    for char in text.encode()[:limit].decode(errors="ignore"):
        escape = "\\" + char if char in '"\\' else char
        if not " " <= char <= "~":
            units = char.encode("utf-16-be").hex()
            escape = "".join("\\u" + units[at : at + 4] for at in range(0, len(units), 4))
        if len(out) + len(escape) > limit:
            break
        out += escape
    return out


def without_usage(body):
    """Returns an event stream of chat completions without its chunks that have only usage. Knows only whole, well-formed events."""
    lines = re.findall(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", body)
    frames, frame = [], []
    for line in lines:
        # A comment between events is a frame of its own.
        if not frame and line.startswith(b":"):
            frames.append([line])
            continue
        frame.append(line)
        if not line.strip(b"\r\n"):
            frames.append(frame)
            frame = []
    # A last event without its blank line is read, too.
    frames += [frame] if frame else []
    is_chat, kept = False, []
    for frame in frames:
        has_choices, has_only_usage = look_at(frame)
        is_chat = is_chat or has_choices
        if not (is_chat and has_only_usage):
            kept += frame
    return b"".join(kept)


def look_at(frame):
    """Whether the payload of a frame has choices, even none; and whether it has usage and nothing else."""
    fields = [line.removeprefix(b"\xef\xbb\xbf").strip(b"\r\n") for line in frame]
    try:
        payload = json.loads(b"\n".join(field[5:] for field in fields if field.startswith(b"data:")))
    except ValueError:
        return False, False
    if not isinstance(payload, dict):
        return False, False
    usage = payload.get("usage")
    only = isinstance(usage, dict) and usage != {} and not payload.get("choices") and "error" not in payload
    return "choices" in payload, only and not any(field.startswith(b":") for field in fields)


def numbers(facts):
    """Facts from a log of texts: an absent fact is `-` or empty, and numbers are numbers again."""
    found = {}
    for fact, text in facts.items():
        if text in ("", "-", None):
            continue
        found[fact] = text
        if fact == "complete":
            found[fact] = text in (True, "true")
        elif isinstance(text, str) and re.fullmatch(r"\d+", text) and fact not in ("model", "error", "quirks"):
            found[fact] = int(text)
    return found
