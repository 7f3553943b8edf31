"""The official SDKs for Python, as contenders: `openai`, `anthropic` and `google-genai`, each with its synchronous client, whose
transport answers from memory. Commands and answers are those of src/contenders/child.rs.

The time is that of this thread, from the moment the transport returns the response until its stream has been read. It excludes
sockets, TLS and making the request."""
import os
import struct
import sys
import time

import anthropic
import httpx2
import openai
from google import genai

BASIS, PRIME, MASK = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1


class Source(httpx2.BaseTransport):
    """Answers each request with `response`, in slices."""

    def __init__(self):
        self.response, self.slice, self.began = b"", 0, 0

    def slices(self):
        response, slice = self.response, self.slice
        for at in range(0, len(response), slice):
            yield response[at : at + slice]

    def handle_request(self, request):
        self.began = time.thread_time_ns()
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=self.slices())


class Sink:
    """Like `Sink` of src/work.rs. Keeps texts in lists, which are joined at the end of a response."""

    def __init__(self):
        self.events = self.choices = self.calls = self.tokens = self.text = self.hash = 0
        self.begin()

    def begin(self):
        self.content, self.arguments, self.names = [], [], []

    def call(self, index):
        self.choices += 1
        self.calls += index + 1

    def name(self, text):
        if text:
            self.choices += 1
            self.names.append(text)

    def call_name(self, index, text):
        if text:
            self.call(index)
            self.names.append(text)

    def usage(self, prompt, completion, total):
        self.tokens += (prompt or 0) + (completion or 0) + (total or 0)

    def join(self):
        self.texts = ["".join(texts) for texts in (self.content, [], self.arguments, self.names)]
        self.begin()

    def check(self):
        for text in self.texts:
            data = text.encode()
            self.text += len(data)
            hash = self.hash ^ BASIS
            for byte in data:
                hash = (hash ^ byte) * PRIME & MASK
            self.hash = hash ^ len(data)


source = Source()
client = httpx2.Client(transport=source)
of_openai = openai.OpenAI(api_key="none", http_client=client)
of_anthropic = anthropic.Anthropic(api_key="none", http_client=client)
of_gemini = genai.Client(api_key="none", http_options={"httpx_client": client})


def chat(sink):
    for chunk in of_openai.chat.completions.create(model="any", messages=[], stream=True):
        sink.events += 1
        for choice in chunk.choices:
            delta = choice.delta
            if delta.content:
                sink.choices += choice.index + 1
                sink.content.append(delta.content)
            for call in delta.tool_calls or ():
                sink.call_name(call.index, call.id)
                sink.call_name(call.index, call.function.name)
                if call.function.arguments:
                    sink.call(call.index)
                    sink.arguments.append(call.function.arguments)
            sink.name(choice.finish_reason)
        if usage := chunk.usage:
            sink.usage(usage.prompt_tokens, usage.completion_tokens, usage.total_tokens)


def responses(sink):
    for event in of_openai.responses.create(model="any", input="", stream=True):
        sink.events += 1
        match event.type:
            case "response.output_text.delta":
                sink.choices += 1
                sink.content.append(event.delta)
            case "response.function_call_arguments.delta":
                sink.call(event.output_index)
                sink.arguments.append(event.delta)
            case "response.output_item.added":
                if event.item.type == "function_call":
                    sink.call_name(event.output_index, event.item.call_id)
                    sink.call_name(event.output_index, event.item.name)
            case "response.completed":
                sink.name(event.response.status)
                usage = event.response.usage
                sink.usage(usage.input_tokens, usage.output_tokens, usage.total_tokens)


def messages(sink):
    for event in of_anthropic.messages.create(model="any", messages=[], max_tokens=1, stream=True):
        sink.events += 1
        match event.type:
            case "content_block_delta":
                if event.delta.type == "text_delta":
                    sink.choices += 1
                    sink.content.append(event.delta.text)
                else:
                    sink.call(event.index)
                    sink.arguments.append(event.delta.partial_json)
            case "content_block_start":
                if event.content_block.type == "tool_use":
                    sink.call_name(event.index, event.content_block.id)
                    sink.call_name(event.index, event.content_block.name)
            case "message_start":
                usage = event.message.usage
                prompt = usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens
                sink.usage(prompt, usage.output_tokens, prompt + usage.output_tokens)
            case "message_delta":
                sink.name(event.delta.stop_reason)
                sink.usage(0, event.usage.output_tokens, 0)


def gemini(sink):
    for chunk in of_gemini.models.generate_content_stream(model="any", contents="any"):
        sink.events += 1
        for candidate in chunk.candidates or ():
            for part in candidate.content.parts or ():
                if part.text:
                    sink.choices += 1
                    sink.content.append(part.text)
            if candidate.finish_reason:
                sink.name(candidate.finish_reason.value)
        if usage := chunk.usage_metadata:
            sink.usage(usage.prompt_token_count, usage.candidates_token_count, usage.total_token_count)


def load(path):
    found = []
    with open(path, "rb") as file:
        while size := file.read(8):
            found.append(file.read(struct.unpack("<Q", size)[0]))
    return found


def main():
    read_by = {"responses": responses, "anthropic": messages, "gemini": gemini}
    inputs = {}
    for line in sys.stdin:
        what, path, slice = line.rstrip("\n").split("\t")
        if path not in inputs:
            inputs[path] = load(path)
        read = read_by.get(os.path.basename(path).split("-")[0].removesuffix(".sse"), chat)
        sink, took = Sink(), 0
        for response in inputs[path]:
            source.response, source.slice = response, int(slice)
            read(sink)
            sink.join()
            took += time.thread_time_ns() - source.began
            if what == "check":
                sink.check()
        print(took, sink.events, sink.choices, sink.calls, sink.tokens, sink.text, sink.hash, flush=True)


main()
