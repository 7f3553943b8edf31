#!/usr/bin/env python3
"""sse_cases.py FILE: the conformance cases of FILE (JSON) as lines: `case NAME`, `input HEX`, `event TYPE DATA ID` (hex),
`retry MS` or `retry none`. Nothing is `-`."""
import json
import sys

hexed = lambda raw: raw.hex() or "-"
for case in json.load(open(sys.argv[1], encoding="utf-8"))["cases"]:
    print("case", case["name"].replace(" ", "_"))
    print("input", hexed(bytes.fromhex(case["input_hex"]) if "input_hex" in case else case["input"].encode()))
    for event in case["events"]:
        print("event", *(hexed(event[key].encode()) for key in ("type", "data", "last_event_id")))
    print("retry", "none" if case["retry"] is None else case["retry"])
