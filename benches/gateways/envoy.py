"""The Envoy module beside Envoy's own ai_protocol_manager, in one run: processor time of the Envoy process an event, and whose usage is
right. Prints the tables of docs/envoy.md.

    envoy.py FOLDER ENVOY LIBRARIES PEER     FOLDER for logs; folders with the module, and with it and envoy_peer.c"""

import statistics
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "integrations" / "tests"))
from bodies import bodies  # noqa: E402
from client import Connection, parallel  # noqa: E402
from envoy import V3, Envoy, module, start_upstream  # noqa: E402
from expect import differences  # noqa: E402

OWN = {"name": "own", "typed_config": {"@type": f"{V3}.filters.http.ai_protocol_manager.v3.AiProtocolManager",
                                       "response_handling": {"token_usage": {"include_unconfigured_routes": True}}}}
PEER = module()
PEER["typed_config"]["dynamic_module_config"] = {"name": "deltawire_peer"}
ROUNDS, REQUESTS = 7, 30


def nanoseconds(pid):
    """Processor time of all threads of the process, by the scheduler's clock."""
    return sum(int((task / "schedstat").read_text().split()[0]) for task in Path(f"/proc/{pid}/task").iterdir())


def stream(found):
    """The longest recording, or a stream that is made like it."""
    name = "streams/deepseek-reasoning-huge-1.sse"
    return name if name in found else "made/many-events.sse"


def cost(work, binary, library, upstream, found):
    name = stream(found)
    events = sum(line.startswith(b"data:") for line in found[name].splitlines())
    filters = {"none": [], "deltawire": [module()], "ai_protocol_manager": [OWN]}
    envoys = {which: Envoy(binary, library, upstream, work / which, 1, chain) for which, chain in filters.items()}
    print(f"Processor time of the Envoy process an event ({len(found[name]) / 1e6:.1f} MB, {events} events; median of {ROUNDS} rounds of {REQUESTS} responses each, in turn):\n")
    print("| reads of | none | deltawire | ai_protocol_manager | deltawire adds | ai_protocol_manager adds | |\n| --: | --: | --: | --: | --: | --: | --: |")
    try:
        for size in (16384, 1448):
            took = {which: [] for which in envoys}
            for turn in range(ROUNDS + 1):
                for which, envoy in envoys.items():
                    connection = Connection(envoy.main, 60)
                    before = nanoseconds(envoy.process.pid)
                    for _ in range(REQUESTS):
                        response = connection.get(f"/body/{name}?chunk={size}", {"x-case": "bench"})
                        assert response.body == found[name]
                    # The first turn fills caches and pools.
                    if turn > 0:
                        took[which].append((nanoseconds(envoy.process.pid) - before) / REQUESTS / events)
                    connection.close()
            middle = {which: statistics.median(times) for which, times in took.items()}
            ours, theirs = middle["deltawire"] - middle["none"], middle["ai_protocol_manager"] - middle["none"]
            print(f"| {size:,} | {middle['none']:.0f} ns | {middle['deltawire']:.0f} ns | {middle['ai_protocol_manager']:.0f} ns | {ours:.0f} ns | {theirs:.0f} ns | 1/{theirs / ours:.0f} |")
    finally:
        for envoy in envoys.values():
            envoy.stop()


def varint(data, at):
    number = shift = 0
    while True:
        number |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return number, at


def fields(data):
    """The fields of a protobuf message: numbers and bytes by field number."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            found[key >> 3], at = varint(data, at)
        elif key & 7 == 2:
            length, at = varint(data, at)
            found[key >> 3], at = data[at : at + length], at + length
        else:
            raise ValueError(f"wire type {key & 7}")
    return found


def own_usage(line):
    """What ai_protocol_manager says: prompt, completion, and its status. None if it published nothing."""
    text = (line["peer"] or {}).get("usage")
    if text is None:
        return None
    usage = fields(bytes.fromhex(text))
    counts = [fields(usage[number]).get(1, 0) if number in usage else None for number in (3, 4)]
    return (*counts, {0: "unspecified", 1: "complete", 2: "partial", 3: "failed"}.get(usage.get(9, 0), "other"))


def agreements(work, binary, library, upstream, found):
    envoy = Envoy(binary, library, upstream, work / "agree", 1, [PEER, module(), OWN])
    try:
        names = [name for name in found if not name.startswith("made/")]
        connection = Connection(envoy.main)
        altered = wrong = 0
        rows, examples = Counter(), {}
        for name in names:
            response = connection.get(f"/body/{name}?chunk=1448", {"x-case": name})
            altered += response.body != found[name]
            line = envoy.logged(name)
            wrong += bool(differences(name, found[name], line["facts"] or {}))
            ours, theirs = line["facts"] or {}, own_usage(line)
            pair = (ours.get("prompt_tokens"), ours.get("completion_tokens"))
            has_ours, has_theirs = pair != (None, None), theirs is not None and theirs[:2] != (None, None)
            if has_ours and has_theirs:
                row = "both found usage, prompt and completion equal" if pair == theirs[:2] else "both found usage, and differ"
            elif has_ours:
                row = "only deltawire found usage"
            elif has_theirs:
                row = "only ai_protocol_manager found usage"
            else:
                row = "neither found usage"
            rows[row] += 1
            examples.setdefault(row, []).append(name)
            if theirs and theirs[2] == "complete" and ours.get("verdict") == "api_error":
                rows["ai_protocol_manager says complete, the stream has an API error"] += 1
            if theirs and theirs[2] in ("partial", "failed") and ours.get("complete"):
                rows["ai_protocol_manager says partial or failed, the response is complete"] += 1
        print(f"\n{len(names)} bodies, {altered} altered, {wrong} with facts that differ from `deltawire message`:\n\n| | bodies |\n| --- | --: |")
        for row, count in rows.most_common():
            print(f"| {row} | {count} |")
        for row in ("only ai_protocol_manager found usage", "both found usage, and differ"):
            print(f"\n{row}: {', '.join(examples.get(row, ['none']))}", file=sys.stderr)
    finally:
        envoy.stop()


def main():
    work, binary, library, peer = Path(sys.argv[1]), *sys.argv[2:]
    process, upstream = start_upstream()
    try:
        cost(work, binary, library, upstream, bodies())
        agreements(work, binary, peer, upstream, bodies())
    finally:
        process.stdin.close()


if __name__ == "__main__":
    main()
