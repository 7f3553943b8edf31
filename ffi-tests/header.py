"""Reads include/deltawire.h: its functions with their comments, its structs, its function types and its constants.

The header is made by cbindgen, so its shape is known; what does not fit that shape is an error, and never overlooked.
"""
import re
from collections import namedtuple

Param = namedtuple("Param", "type name")
Function = namedtuple("Function", "name returns params doc")
Member = namedtuple("Member", "type name count")
Struct = namedtuple("Struct", "name members")
Callback = namedtuple("Callback", "name returns params")

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


class HeaderError(Exception):
    """The header has something that is not understood."""


def _bare(text):
    return COMMENT.sub(" ", text)


def _type(text):
    """`const  deltawire_parser*` becomes `const deltawire_parser *`."""
    text = re.sub(r"\s*\*\s*", "*", " ".join(text.split()))
    return re.sub(r"(?<!\*)\*", " *", text)


def _params(text):
    text = " ".join(text.split())
    if text in ("", "void"):
        return []
    params = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(.+?)\s*(\w+)\s*", part)
        if not match:
            raise HeaderError(f"no parameter: {part!r}")
        params.append(Param(_type(match[1]), match[2]))
    return params


class Header:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        self.constants = dict(re.findall(r"^#define (DELTAWIRE_\w+) (-?\d+)u?$", self.text, re.M))
        self.structs = self._structs()
        self.callbacks = self._callbacks()
        self.functions = self._functions()

    def _structs(self):
        structs = []
        for body, name in re.findall(r"^typedef struct \{\n(.*?)^\} (\w+);", self.text, re.M | re.S):
            members = []
            for line in _bare(body).split(";"):
                if not line.strip():
                    continue
                match = re.fullmatch(r"\s*(.+?)\s*(\w+)\s*(?:\[(\w+)\])?\s*", line, re.S)
                if not match:
                    raise HeaderError(f"no member: {line!r}")
                count = int(self.constants.get(match[3], match[3] or 1))
                members.append(Member(_type(match[1]), match[2], count))
            structs.append(Struct(name, members))
        if len(structs) != len(re.findall(r"struct\s*\w*\s*\{", _bare(self.text))):
            raise HeaderError("a struct was not read")
        return structs

    def _callbacks(self):
        found = re.findall(r"^typedef (\w+) \(\*(\w+)\)\((.*?)\);", _bare(self.text), re.M | re.S)
        return {name: Callback(name, returns, _params(params)) for returns, name, params in found}

    def _functions(self):
        _, _, text = self.text.partition('extern "C" {')
        text = re.sub(r"^#.*$", "", text, flags=re.M)
        pattern = re.compile(r"((?:^//[^\n]*\n)+)((?:[^\n/][^\n]*\n)+)", re.M)
        functions = []
        for doc, proto in pattern.findall(text):
            match = re.fullmatch(r"\s*([\w\s*]+?)\s*(deltawire_\w+)\((.*)\);\s*", proto, re.S)
            if not match:
                continue
            doc = " ".join(line[2:].strip() for line in doc.splitlines())
            functions.append(Function(match[2], _type(match[1]), _params(match[3]), doc))
        names = re.findall(r"\b(deltawire_\w+)\s*\([^;{}]*\)\s*;", _bare(text))
        if sorted(names) != sorted(function.name for function in functions):
            raise HeaderError(f"functions not read: {set(names) ^ {f.name for f in functions}}")
        return functions
