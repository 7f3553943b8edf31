"""writing.py COMMAND PROTOCOL FOLDER...: converts every recorded stream, reads the result by the vendor's own client from a server on
this machine, and compares the message with that of the source. Prints each difference, and fails if there is one."""
import collections
import http.server
import json
import pathlib
import subprocess
import sys
import threading
import warnings

import anthropic
import openai

command, protocol, folders = sys.argv[1], sys.argv[2], sys.argv[3:]
# A citation of one vendor in a message of another one has members that the client does not expect.
warnings.simplefilter("ignore")
body = b""


class Server(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
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
        message = stream.get_final_message()
    joined = lambda kind, name: "".join(getattr(block, name) for block in message.content if block.type == kind)
    calls = [(block.name, arguments(json.dumps(block.input))) for block in message.content if block.type == "tool_use"]
    usage = message.usage
    prompt = usage.input_tokens + (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
    words = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "tool_use": "tool_calls"}
    reason = words.get(message.stop_reason, message.stop_reason)
    return joined("text", "text"), joined("thinking", "thinking"), calls, reason, (prompt, usage.output_tokens)


def read_responses():
    # The helper raises an error if a response is incomplete, so the last event is read.
    with by_openai.responses.create(model="m", input="x", stream=True) as stream:
        response = [event for event in stream][-1].response
    parts = [part for item in response.output if item.type == "message" for part in item.content]
    text = "".join(part.refusal if part.type == "refusal" else part.text for part in parts)
    thoughts = "".join(part.text for item in response.output if item.type == "reasoning" for part in item.summary)
    calls = [(item.name, arguments(item.arguments)) for item in response.output if item.type == "function_call"]
    is_call = any(item.type in ("function_call", "custom_tool_call") for item in response.output)
    reason = response.incomplete_details.reason if response.incomplete_details else "tool_calls" if is_call else "stop"
    usage = response.usage
    counts = (usage.input_tokens, usage.output_tokens) if usage else (0, 0)
    return text, thoughts, calls, {"max_output_tokens": "length"}.get(reason, reason), counts


def read_chat():
    # The helper raises an error if a choice was cut, so the chunks are put together here.
    text, thoughts, calls, reason, counts = "", "", {}, None, (0, 0)
    with by_openai.chat.completions.create(model="m", messages=ask, stream=True) as stream:
        for chunk in stream:
            counts = (chunk.usage.prompt_tokens, chunk.usage.completion_tokens) if chunk.usage else counts
            for choice in chunk.choices:
                if choice.index != 0:
                    continue
                delta, reason = choice.delta, choice.finish_reason or reason
                text += (delta.content or "") + (delta.refusal or "")
                thoughts += getattr(delta, "reasoning_content", None) or ""
                for call in delta.tool_calls or []:
                    known = calls.setdefault(call.index, ["", ""])
                    if call.function:
                        known[0] += call.function.name or ""
                        known[1] += call.function.arguments or ""
    calls = [(name, arguments(text)) for name, text in calls.values() if name]
    return text, thoughts, calls, reason, counts


read = {"anthropic": read_anthropic, "responses": read_responses, "chat": read_chat}[protocol]


def of_source(message):
    """What the message of the source has of all this."""
    choice = message["choices"][0]
    own = choice["message"]
    text = (own.get("content") or "") + (own.get("refusal") or "")
    functions = [call["function"] for call in own.get("tool_calls") or [] if "function" in call]
    calls = [(function["name"], arguments(function["arguments"])) for function in functions]
    # A stream may end without a reason. Anthropic has a reason of its own for a refusal.
    reason = choice["finish_reason"] or ("tool_calls" if calls else "stop")
    if protocol == "anthropic" and (own.get("refusal") or reason == "content_filter"):
        reason = "refusal"
    usage = message.get("usage") or {}
    counts = (usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0)
    return text, own.get("reasoning_content") or "", calls, reason, counts


def same_calls(got, wanted):
    """Whether the calls are the same. Arguments that were cut in the source are None."""
    return [one[0] for one in got] == [one[0] for one in wanted] and all(
        wanted_one[1] in (None, got_one[1]) for got_one, wanted_one in zip(got, wanted)
    )


count = collections.Counter()
for path in sorted(path for folder in folders for path in pathlib.Path(folder).glob("*.sse")):
    source = subprocess.run([command, "message", path], capture_output=True)
    if source.returncode != 0 or not json.loads(source.stdout).get("choices"):
        count["not complete"] += 1
        continue
    wanted = of_source(json.loads(source.stdout))
    converted = subprocess.run([command, "convert", "--to", protocol, path], capture_output=True)
    body = converted.stdout
    try:
        got = read() if converted.returncode == 0 else converted.stderr.decode()
    except Exception as error:  # pylint: disable=broad-except
        got = repr(error)
    names = ["text", "reasoning", "calls", "finish reason", "usage"]
    pairs = zip(names, got, wanted) if isinstance(got, tuple) else [("error", got, "")]
    differs = lambda one, other: one != other and not (isinstance(other, list) and same_calls(one, other))
    wrong = [f"{name}: {str(one)[:300]} instead of {str(other)[:300]}" for name, one, other in pairs if differs(one, other)]
    count["different" if wrong else "equal"] += 1
    if wrong:
        print(f"{path.name}: " + "; ".join(wrong))
print(f"NOTE {protocol}: {count['equal']} streams equal, {count['different']} different, {count['not complete']} not complete")
sys.exit(count["different"] > 0)
