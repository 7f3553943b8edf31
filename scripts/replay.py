"""replay.py COMMAND SAMPLES FAULTS: serves streams by `deltawire replay --serve`, reads them by curl and by the vendors' own clients,
and compares what they read with what `deltawire message` prints of the file. Fails at the first difference. NODE is a folder with
writing.mjs and the clients for Node, or is not set."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys

import anthropic
import openai

command, samples, faults = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
ask = [{"role": "user", "content": "x"}]


@contextlib.contextmanager
def served(path, *options):
    """The URL at which the file is served. At the end the server must end by Ctrl-C, with the status of that."""
    server = subprocess.Popen([command, "replay", "--serve", "127.0.0.1:0", *options, path], stderr=subprocess.PIPE, text=True)
    try:
        yield server.stderr.readline().split()[-1].rstrip("/")
    finally:
        server.send_signal(signal.SIGINT)
        rest = server.communicate()[1]
    assert server.returncode == 130 and "interrupted" in rest, (server.returncode, rest)


def choice(path):
    return of_chat(json.loads(subprocess.run([command, "message", path], capture_output=True, check=True).stdout))


def of_chat(completion):
    """The text and the calls of the first choice, and the finish reason."""
    first = completion["choices"][0]
    calls = first["message"].get("tool_calls") or []
    return first["message"].get("content") or "", [call["function"]["name"] for call in calls], first["finish_reason"]


def read_chat(url, **options):
    text, names, reason = "", [], None
    client = openai.OpenAI(api_key="k", base_url=url + "/v1", max_retries=0, **options)
    with client.chat.completions.create(model="m", messages=ask, stream=True) as stream:
        for chunk in stream:
            for part in chunk.choices:
                if part.index == 0:
                    text += part.delta.content or ""
                    names += [call.function.name for call in part.delta.tool_calls or [] if call.function.name]
                    reason = part.finish_reason or reason
    return text, names, reason


def read_responses(url):
    client = openai.OpenAI(api_key="k", base_url=url + "/v1", max_retries=0)
    with client.responses.stream(model="m", input="x") as stream:
        response = stream.get_final_response()
    return response.output_text, [item.name for item in response.output if item.type == "function_call"], "tool_calls"


def read_anthropic(url):
    with anthropic.Anthropic(api_key="k", base_url=url, max_retries=0).messages.stream(model="m", max_tokens=9, messages=ask) as stream:
        message = stream.get_final_message()
    text = "".join(block.text for block in message.content if block.type == "text")
    return text, [block.name for block in message.content if block.type == "tool_use"], {"tool_use": "tool_calls"}[message.stop_reason]


def read_by_node(protocol, url):
    """What the vendor's helper for Node puts together, or its error."""
    program = ["node", os.environ["NODE"] + "/writing.mjs", protocol, url]
    ran = subprocess.run(program, input="\n", capture_output=True, text=True, check=True, timeout=30)
    answer = json.loads(ran.stdout)
    if "error" in answer:
        return answer["error"]
    message = answer["message"]
    if protocol == "chat":
        return of_chat(message)
    if protocol == "responses":
        return message["output_text"], [item["name"] for item in message["output"] if item["type"] == "function_call"], "tool_calls"
    text = "".join(block["text"] for block in message["content"] if block["type"] == "text")
    names = [block["name"] for block in message["content"] if block["type"] == "tool_use"]
    return text, names, {"tool_use": "tool_calls"}[message["stop_reason"]]


def curl(url):
    ran = subprocess.run(["curl", "-sN", "--max-time", "10", "-d", "{}", url], capture_output=True)
    return ran.returncode, ran.stdout


has_node = "NODE" in os.environ
read = 0
streams = [samples / f"{name}.sse" for name in ["content", "logprobs", "reasoning", "weather", "parallel-tools", "refusal"]]
clean = sorted(faults.glob("clean-chat*.sse"))
readers = [(path, "chat", read_chat) for path in streams + clean]
readers += [
    (faults / "clean-responses.sse", "responses", read_responses),
    (faults / "clean-anthropic.sse", "anthropic", read_anthropic),
]
for path, protocol, reader in readers:
    with served(path, "--speed", "0") as url:
        assert curl(url) == (0, path.read_bytes()), path
        got, wanted = reader(url), choice(path)
        assert got == wanted, (path, got, wanted)
        if has_node:
            assert read_by_node(protocol, url) == wanted, (path, read_by_node(protocol, url), wanted)
        read += 1


def fault(url, **options):
    """The type of the error that the client raises."""
    try:
        read_chat(url, **options)
    except Exception as error:  # pylint: disable=broad-except
        return type(error)
    return None


path, whole = streams[0], streams[0].read_bytes()
with served(path, "--cut", "900") as url:
    assert curl(url) == (18, whole[:900])  # a transfer that is not whole
    assert fault(url) == openai.APIConnectionError
with served(path, "--reset-at", "900") as url:
    assert curl(url)[0] == 56  # a failure to receive
    assert fault(url) == openai.APIConnectionError
with served(path, "--stall", "3000", "--stall-at", "900") as url:
    assert fault(url, timeout=0.5) == openai.APITimeoutError
clients = "Python and Node" if has_node else "Python"
print(f"NOTE {read} streams equal by curl and by the official clients for {clients}; a cut, a reset and a stall are seen by both")
