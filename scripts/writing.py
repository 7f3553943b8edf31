"""writing.py COMMAND PROTOCOL FOLDER...: converts every recorded stream, reads the result by the vendor's own client from a server on
this machine, and compares the message with that of the source. Prints each difference, and fails if there is one. If NODE names a
folder with the clients for Node and writing.mjs, these read, too."""
import collections
import json
import os
import pathlib
import subprocess
import sys
import warnings

import anthropic
import loopback
import openai

command, protocol, folders = sys.argv[1], sys.argv[2], sys.argv[3:]
# A citation of one vendor in a message of another one has members that the client does not expect.
warnings.simplefilter("ignore")
# A text may have half of a pair, which the output has not.
sys.stdout.reconfigure(errors="backslashreplace")
body = b""
url = loopback.serve(lambda *_: (200, body))
by_anthropic = anthropic.Anthropic(api_key="k", base_url=url, max_retries=0)
by_openai = openai.OpenAI(api_key="k", base_url=url + "/v1", max_retries=0)
ask = [{"role": "user", "content": "x"}]


def arguments(text):
    """Arguments in one spelling. A server may send none. Of those that were cut a client makes what it can."""
    try:
        return json.dumps(json.loads(text or "{}"), sort_keys=True)
    except ValueError:
        return text if protocol != "anthropic" else None


def read_anthropic():
    with by_anthropic.messages.stream(model="m", max_tokens=9, messages=ask) as stream:
        return stream.get_final_message().to_dict()


def of_anthropic(message):
    blocks, usage = message["content"], message["usage"]
    joined = lambda kind, name: "".join(block[name] for block in blocks if block["type"] == kind)
    calls = [(block["name"], arguments(json.dumps(block["input"]))) for block in blocks if block["type"] == "tool_use"]
    prompt = sum(usage.get(name) or 0 for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"))
    words = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "tool_use": "tool_calls"}
    reason = words.get(message["stop_reason"], message["stop_reason"])
    return joined("text", "text"), joined("thinking", "thinking"), calls, reason, (prompt, usage["output_tokens"])


def read_responses():
    # The helper raises an error if a response is incomplete, so the last event is read.
    with by_openai.responses.create(model="m", input="x", stream=True) as stream:
        return [event for event in stream][-1].response.to_dict()


def of_responses(response):
    of_type = lambda *types: [item for item in response["output"] if item["type"] in types]
    parts = [part for item in of_type("message") for part in item["content"]]
    text = "".join(part["refusal"] if part["type"] == "refusal" else part["text"] for part in parts)
    thoughts = "".join(part["text"] for item in of_type("reasoning") for part in item["summary"])
    calls = [(item["name"], arguments(item["arguments"])) for item in of_type("function_call")]
    details, usage = response["incomplete_details"], response["usage"]
    reason = details["reason"] if details else "tool_calls" if of_type("function_call", "custom_tool_call") else "stop"
    counts = (usage["input_tokens"], usage["output_tokens"]) if usage else (0, 0)
    return text, thoughts, calls, {"max_output_tokens": "length"}.get(reason, reason), counts


def read_chat():
    # The helper raises an error if a choice was cut, so the chunks are put together here.
    calls, reason, usage = {}, None, None
    text = {"content": "", "reasoning_content": "", "refusal": ""}
    with by_openai.chat.completions.create(model="m", messages=ask, stream=True) as stream:
        for chunk in stream:
            usage = chunk.usage.to_dict() if chunk.usage else usage
            for choice in chunk.choices:
                if choice.index != 0:
                    continue
                delta, reason = choice.delta, choice.finish_reason or reason
                for name in text:
                    text[name] += getattr(delta, name, None) or ""
                for call in delta.tool_calls or []:
                    known = calls.setdefault(call.index, {"name": "", "arguments": ""})
                    for name in known:
                        known[name] += getattr(call.function, name, None) or ""
    functions = [{"function": function} for function in calls.values() if function["name"]]
    return {"choices": [{"message": text | {"tool_calls": functions}, "finish_reason": reason}], "usage": usage}


def of_chat(completion):
    choice = completion["choices"][0]
    own = choice["message"]
    text = (own.get("content") or "") + (own.get("refusal") or "")
    functions = [call["function"] for call in own.get("tool_calls") or [] if "function" in call]
    calls = [(function["name"], arguments(function["arguments"])) for function in functions]
    usage = completion.get("usage") or {}
    counts = (usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0)
    return text, own.get("reasoning_content") or "", calls, choice["finish_reason"], counts


def of_source(completion):
    """What the message of the source has of all this. A stream may end without a reason; Anthropic has its own for a refusal."""
    text, thoughts, calls, reason, counts = of_chat(completion)
    reason = reason or ("tool_calls" if calls else "stop")
    if protocol == "anthropic" and (completion["choices"][0]["message"].get("refusal") or reason == "content_filter"):
        reason = "refusal"
    return text, thoughts, calls, reason, counts


def read_by_node():
    node.stdin.write("\n")
    node.stdin.flush()
    answer = json.loads(node.stdout.readline())
    if "error" in answer:
        raise ValueError(answer["error"])
    return answer["message"]


reads = {"Python": {"anthropic": read_anthropic, "responses": read_responses, "chat": read_chat}[protocol]}
parts_of = {"anthropic": of_anthropic, "responses": of_responses, "chat": of_chat}[protocol]
if "NODE" in os.environ:
    program = ["node", os.environ["NODE"] + "/writing.mjs", protocol, url]
    node = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    reads["Node"] = read_by_node


def same_calls(got, wanted):
    """Whether the calls are the same. Arguments that were cut in the source are None."""
    return [one[0] for one in got] == [one[0] for one in wanted] and all(
        wanted_one[1] in (None, got_one[1]) for got_one, wanted_one in zip(got, wanted)
    )


def convert(path):
    converted = subprocess.run([command, "convert", "--to", protocol, path], capture_output=True)
    if converted.returncode != 0:
        raise ValueError(converted.stderr.decode())
    return converted.stdout


def differences(read, wanted):
    """What a client makes of the body otherwise than wanted, in words."""
    try:
        got = parts_of(read())
    except Exception as error:  # pylint: disable=broad-except
        return [f"error: {error!r}"]
    names = ["text", "reasoning", "calls", "finish reason", "usage"]
    differs = lambda one, other: other not in (None, one) and not (isinstance(other, list) and same_calls(one, other))
    rows = [row for row in zip(names, got, wanted) if differs(*row[1:])]
    return [f"{name}: {str(one)[:300]} instead of {str(other)[:300]}" for name, one, other in rows]


def compare(paths, convert):
    """Counts, for each client, the streams whose message is that of the source after the conversion, and prints each difference."""
    global body
    count = collections.Counter()
    for path in paths:
        source = subprocess.run([command, "message", path], capture_output=True)
        if source.returncode != 0 or not json.loads(source.stdout).get("choices"):
            count["not complete"] += 1
            continue
        wanted = of_source(json.loads(source.stdout))
        try:
            body, wrong = convert(path), []
        except Exception as error:  # pylint: disable=broad-except
            wrong = [f"not converted: {error!r}"]
        for client, read in reads.items():
            found = wrong or differences(read, wanted)
            count[client, "different" if found else "equal"] += 1
            if found:
                print(f"{path.name}, {client}: " + "; ".join(found))
    return count


if __name__ == "__main__":
    count = compare(sorted(path for folder in folders for path in pathlib.Path(folder).glob("*.sse")), convert)
    for client in reads:
        equal, different = (count[client, what] for what in ("equal", "different"))
        print(f"NOTE {protocol}, {client}: {equal} streams equal, {different} different, {count['not complete']} not complete")
    sys.exit(any(count[client, "different"] for client in reads))
