"""comply.py COMMAND LLM-COMPLY: runs the tests of llm-comply against a server that answers with what `deltawire convert` makes of a
sample: one with calls, with reasoning or with a text, as the request asks. An answer that is not streamed is the message that the
stream was: the response of the last event of Responses, what `deltawire message` reads of chat completions, and what Anthropic's client
puts together."""
import functools
import json
import subprocess
import sys

import anthropic
import loopback

command, comply = sys.argv[1:]
protocols = {"/v1/chat/completions": "chat", "/v1/messages": "anthropic", "/v1/responses": "responses"}


@functools.cache
def stream(protocol, sample):
    return subprocess.run([command, "convert", "--to", protocol, f"samples/{sample}.sse"], capture_output=True, check=True).stdout


def whole(protocol, request):
    """A body is not what deltawire writes, so the members that its schema demands beyond a stream's are those of a server."""
    sample = sample_of(request)
    if protocol == "chat":
        out = subprocess.run([command, "message"], input=stream(protocol, sample), capture_output=True, check=True).stdout
        completion = json.loads(out)
        for choice in completion["choices"]:
            choice["logprobs"] = None
            choice["message"] |= {"refusal": None, "annotations": []}
        return completion
    if protocol == "responses":
        last = stream(protocol, sample).decode().rstrip("\n").split("\ndata: ")[-1]
        return json.loads(last)["response"] | {"reasoning": {"effort": None, "summary": None} | request.get("reasoning", {})}
    asked = {name: request[name] for name in ("model", "max_tokens", "messages")}
    with client.messages.stream(**asked, extra_body=request) as got:
        message = got.get_final_message().to_dict()
    usage = "cache_creation cache_creation_input_tokens cache_read_input_tokens inference_geo output_tokens_details server_tool_use service_tier"
    of_block = {"text": {"citations": None}, "tool_use": {"caller": {"type": "direct"}}}
    message["usage"] = dict.fromkeys(usage.split()) | message["usage"]
    message["content"] = [of_block.get(block["type"], {}) | block for block in message["content"]]
    return {"container": None, "stop_details": None} | message


def sample_of(request):
    if request.get("tools"):
        return "weather"
    return "reasoning" if {"reasoning", "reasoning_effort", "thinking"} & set(request) else "usage"


def is_valid(protocol, request):
    needed = {"chat": ["messages"], "anthropic": ["messages", "max_tokens"], "responses": ["input"]}[protocol]
    return bool(request.get("model")) and all(request.get(name) for name in needed)


def answer(path, body):
    request, protocol = json.loads(body), protocols.get(path)
    if protocol is None or not is_valid(protocol, request):
        error = {"type": "invalid_request_error", "message": "a member is missing", "code": None, "param": None}
        return 400 if protocol else 404, json.dumps({"type": "error", "error": error})
    return 200, stream(protocol, sample_of(request)) if request.get("stream") else json.dumps(whole(protocol, request))


url = loopback.serve(answer)
client = anthropic.Anthropic(api_key="k", base_url=url, max_retries=0)
of_format = {"openai-chat": "gpt-5", "open-responses": "gpt-5", "anthropic": "claude-sonnet-4"}
failed = 0
for kind, model in of_format.items():
    said = subprocess.run([comply, "--format", kind, "-u", url + "/v1", "-k", "k", "-m", model, "--json"], capture_output=True, text=True)
    run = json.loads(said.stdout)
    for result in run["results"]:
        if result["status"] == "failed" or result.get("warnings") and not result["id"].startswith("compact"):
            print(f"{kind}, {result['id']}: {result.get('errors', [])} {result.get('warnings', [])}")
    print(f"NOTE llm-comply, {kind}: {run['summary']}")
    failed += run["summary"]["failed"]
sys.exit(failed > 0)
