"""schemas.py PROTOCOL FILE...: validates every event of these streams, which `deltawire convert` wrote, with the published schemas that the
package llm-comply has: OpenAI's OpenAPI for chat completions, Anthropic's, and that of Open Responses. Prints each fault, and fails
if there is one."""
import collections
import json
import pathlib
import re
import sys

import llm_comply
from llm_comply.schema import SpecLoader

protocol, paths = sys.argv[1], sys.argv[2:]
name = {"chat": "openai_chat", "anthropic": "anthropic", "responses": "openresponses"}[protocol]
loader = SpecLoader(str(pathlib.Path(llm_comply.__file__).parent / "specs" / f"{name}.json"))
schemas = {name: loader.get_schema(name) for name in loader.schema_names}
of_type = lambda schema: (schema["properties"]["type"].get("enum") or [schema["properties"]["type"].get("const")])[0]
# The schema of an event by its type. Chat completions have only one.
of = {
    "chat": lambda: {None: "CreateChatCompletionStreamResponse"},
    "anthropic": lambda: {"error": "ErrorResponse"}
    | {of_type(schemas[ref]): ref for ref in (each["$ref"].split("/")[-1] for each in schemas["MessageStreamEvent"]["oneOf"])},
    "responses": lambda: {of_type(schema): name for name, schema in schemas.items() if name.endswith("StreamingEvent")},
}[protocol]()


def may_be_null(schema):
    return schema.get("type") == "null" or "default" in schema or any(map(may_be_null, schema.get("anyOf", [])))


def relax(schema):
    """Makes members optional that may as well be null or a default, and lets a list of words that may be null be null."""
    for inner in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else []:
        relax(inner)
    if isinstance(schema, dict) and isinstance(schema.get("required"), list):
        known = schema.get("properties", {})
        schema["required"] = [name for name in schema["required"] if not may_be_null(known.get(name, {}))]
    if isinstance(schema, dict) and isinstance(schema.get("enum"), list) and "null" in schema.get("type", ""):
        schema["enum"].append(None)


if protocol != "responses":
    relax(schemas)
count = collections.Counter()


def is_foreign(value):
    """Whether it is a citation in the words of another protocol, which is written as it came."""
    kind = value.get("type", "")
    return not kind.endswith("_location") if protocol == "anthropic" else kind != "url_citation"


def own(value):
    """The value without foreign citations, or None if it is an event of one."""
    if isinstance(value, list):
        return [own(each) for each in value]
    if not isinstance(value, dict):
        return value
    one = value.get("annotation") or value["delta"].get("citation") if isinstance(value.get("delta"), dict) else value.get("annotation")
    if one and is_foreign(one):
        return None
    cited = lambda name, inner: [each for each in inner if not is_foreign(each)] if name == "annotations" else inner
    return {name: own(cited(name, inner)) for name, inner in value.items()}


for path in paths:
    for line in pathlib.Path(path).read_text().split("\n"):
        event = json.loads(line[6:]) if line.startswith("data: {") else None
        # OpenAI has no schema of an error in a chunk.
        if event is None or protocol == "chat" and "error" in event:
            continue
        if protocol == "chat":
            # The description says that the usage of other chunks is null, the schema does not.
            event = {name: value for name, value in event.items() if (name, value) != ("usage", None)}
        else:
            event = own(event)
        count["events" if event else "citations"] += 1
        block = event and event.get("content_block", {})
        if block and not re.fullmatch("[a-zA-Z0-9_-]+", block.get("id", "_")):
            count["ids"] += 1
            block["id"] = "_"
        schema = of.get(event.get("type")) if event else None
        for fault in loader.validate(event, schema) if schema else ["no schema"] if event else []:
            count["faults"] += 1
            print(f"{path}: {event.get('type', 'chunk')}: {fault[:400]}")
foreign = f"{count['citations']} citations and {count['ids']} IDs of other protocols"
print(f"NOTE {protocol}: {count['events']} events, {count['faults']} faults; {foreign}")
sys.exit(count["faults"] > 0 or count["events"] == 0)
