"""translators.py COMMAND anthropic FOLDER...: translates every recorded stream of chat completions to Anthropic, by deltawire, LiteLLM and
llm-rosetta, reads the results by Anthropic's own client, and counts those whose message is that of the source."""
import asyncio
import json
import pathlib

import litellm
from llm_rosetta import AnthropicConverter, OpenAIChatConverter
from llm_rosetta.pipeline import StreamProcessor

import writing


def by_litellm(path):
    """LiteLLM fetches the recording itself."""
    writing.body = path.read_bytes()

    async def translate():
        asked = {"messages": writing.ask, "max_tokens": 9, "api_base": writing.url + "/v1", "api_key": "k", "stream": True}
        stream = await litellm.anthropic_messages(model="hosted_vllm/m", **asked)
        return b"".join([piece if isinstance(piece, bytes) else piece.encode() async for piece in stream])

    return loop.run_until_complete(asyncio.wait_for(translate(), 20))


def by_rosetta(path):
    """llm-rosetta translates events, so the lines of data are read here."""
    chat, own = OpenAIChatConverter(), AnthropicConverter()
    contexts = {"from_ctx": chat.create_stream_context(), "to_ctx": own.create_stream_context()}
    translate = StreamProcessor(target_converter=chat, source_converter=own, **contexts).process_chunk
    data = [line[5:].strip() for line in path.read_bytes().decode(errors="replace").split("\n") if line.startswith("data:")]
    events = [event for text in data if text and text != "[DONE]" for event in translate(json.loads(text))]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


def of_source(completion):
    """Where the source counts no tokens, a translator may estimate them."""
    *parts, counts = all_of_source(completion)
    return *parts, counts if completion.get("usage") else None


loop = asyncio.new_event_loop()
all_of_source, writing.of_source = writing.of_source, of_source
found = sorted(path for folder in writing.folders for path in pathlib.Path(folder).glob("*.sse"))
paths = [path for path in found if '"delta":' in path.read_text(errors="replace") and '"choices"' in path.read_text(errors="replace")]
for name, convert in {"deltawire": writing.convert, "LiteLLM": by_litellm, "llm-rosetta": by_rosetta}.items():
    print(f"--- {name}")
    count = writing.compare(paths, convert)
    print(f"NOTE {name}: {count['Python', 'equal']} of {count['Python', 'equal'] + count['Python', 'different']} right")
