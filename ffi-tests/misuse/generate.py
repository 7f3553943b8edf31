#!/usr/bin/env python3
"""generate.py HEADER OUT.c: a C99 program that misuses every function of the header in every way it can think of.

What is legal for a function, and what it answers, is read from its comment ("Answers ...", "unless NULL"); what can be done
to an argument follows from its type. So a new function is covered without being named here, and one that is not understood
is an error.
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from header import Header, HeaderError  # noqa: E402

PARSER = ("deltawire_parser *", "const deltawire_parser *")
MESSAGE = ("deltawire_message *", "const deltawire_message *")
WORKSPACE = ("deltawire_workspace *",)
WRITER = ("deltawire_writer *", "const deltawire_writer *")
OBJECTS = PARSER + MESSAGE + WORKSPACE + WRITER
INTEGERS = {"uint32_t": "%u", "int32_t": "%d", "uint64_t": "%llu", "int64_t": "%lld", "deltawire_status": "%d"}
NUMBERS = "0 1 2 3 5 8 9 10 11 19 20 21 29 30 31 40 63 64 100 127 128 129 255 256 65535 65536 1000000".split()
EXTREMES = ["2147483647", "(-2147483647 - 1)", "-1", "-2", "-7", "-9", "-100", "-102", "-103", "-1000"]
# Bytes by the name of the argument; any other gets the payload.
TEXTS = {"data": "STREAM", "name": '"id"', "s": '"x"', "bytes": '"plain"'}


class Answers:
    """The parsed comment of a function."""

    def __init__(self, function, before, others):
        """`others` returns the answers of a function that the comment names; `before` is the text before the comment."""
        doc = function.doc
        self.statuses, self.range = set(), set()
        self.nullable = set(re.findall(r"`\*?(\w+)`,? unless (?:`\w+` is )?NULL", doc))
        self.nullable |= set(re.findall(r"`(\w+)` may be NULL", doc))
        self.always = set(re.findall(r"`\*(\w+)`[^.]*is written on every path", doc))
        self.starts_at_0 = set(re.findall(r"\bSet `\*(\w+)` to 0 before the first call", doc))
        self.null_text = "NULL for unknown numbers" in doc
        neutral = re.search(r"\botherwise[^.]*`(DELTAWIRE_\w+)`", doc)
        self.neutral = neutral[1] if neutral else "0"
        said = re.search(r"\bAnswers (.*)", doc)
        like = re.search(r"\b[Aa]nswers as `(\w+)`", doc)
        if doc.startswith("The same") and not said:
            self.statuses, self.nullable = others(before).statuses, others(before).nullable
        elif like:
            self.statuses = others(like[1]).statuses
            self.nullable |= others(like[1]).nullable
            self.always |= others(like[1]).always
            self.starts_at_0 |= others(like[1]).starts_at_0
        elif said:
            self.statuses = set(re.findall(r"\b(OK|PAUSED|MORE|NEED_STORAGE|NEED_ROOM|ABSENT|E_[A-Z_]+)\b", said[1]))
            self.range = set(re.findall(r"E_RANGE \(`(\w+)`", said[1]))
        for name in re.findall(r"\b[Aa]s `(deltawire_\w+)`", doc):
            self.nullable |= others(name).nullable
        if function.returns == "deltawire_status" and not self.statuses:
            raise HeaderError(f"{function.name}: its comment does not say what it answers")


class Writer:
    def __init__(self, header):
        self.header = header
        self.structs = {struct.name: struct for struct in header.structs}
        self.lines = []
        self.answers = {}

    def put(self, *lines):
        self.lines.extend(lines)

    # ---- valid arguments

    def buffer_of(self, function, number):
        """Returns the name of the pointer whose length this size_t is, if it is a length."""
        params = function.params
        if params[number].type != "size_t" or number == 0:
            return None
        before = params[number - 1]
        no_buffers = OBJECTS + ("size_t *", "const deltawire_config *", "const deltawire_writer_config *")
        return before.name if before.type.endswith("*") and before.type not in no_buffers else None

    def good(self, function, answers, number):
        params, param = function.params, function.params[number]
        kind, name = param.type, param.name
        following = params[number + 1] if number + 1 < len(params) else None
        sized = following is not None and self.buffer_of(function, number + 1) == name
        target = kind[:-1].strip() if kind.endswith("*") else None
        const = kind.startswith("const ")
        bare = target.removeprefix("const ").strip() if target else None
        if kind in WORKSPACE:
            return [f"a.{name} = workspace();"]
        if kind in WRITER:
            return [f"a.{name} = writer(state, {'NEVER' if const else 'NO_MISUSE'});"]
        if kind in PARSER + MESSAGE:
            shares = any(param.type in WORKSPACE for param in params)
            make = "message" if kind in MESSAGE else "sharing_parser" if shares else "parser"
            return [f"a.{name} = {make}(state, {'NEVER' if const else 'NO_MISUSE'});"]
        if kind == "const deltawire_chunk *":
            return [f"a.{name} = chunk();"]
        if kind == "const deltawire_value *":
            return [f"a.{name} = value(state < VALUE_STATES ? state : VALUE_OBJECT);"]
        if kind in ("const void *", "const char *"):
            text = TEXTS.get(name, "PAYLOAD") if sized else "PAYLOAD"
            lines = [f'a.{name} = bytes("{name}", {text});']
            return lines + ([f"a.{following.name} = strlen({text});"] if sized else [])
        if kind == "void *" and name == "user":
            return []
        if kind in ("void *", "char *"):
            if not sized:
                raise HeaderError(f"{function.name}: how long is `{name}`?")
            return [f'a.{name} = region("{name}", 65536, ON_SUCCESS, 0xC3);', f"a.{following.name} = 65536;"]
        if kind.endswith("**"):
            return [f'a.{name} = region("{name}", sizeof *a.{name}, ON_SUCCESS, 0xC3);']
        if kind == "const deltawire_event *":
            return [
                f'event = region("{name}", sizeof *event, NEVER, 0);',
                "event->kind = DELTAWIRE_EV_CONTENT, event->text_len = (uint32_t)strlen(PAYLOAD);",
                f"a.{name} = event" + (f", a.{following.name} = 1;" if sized else ";"),
            ]
        if kind == "deltawire_event *":
            return [f'a.{name} = region("{name}", 4 * sizeof *a.{name}, ON_SUCCESS, 0xC3);', f"a.{following.name} = 4;"]
        if target and (bare in self.structs or bare in INTEGERS or bare == "size_t"):
            when = "NEVER" if const else "ON_SUCCESS"
            if bare == "deltawire_chunk_storage":
                when = "NO_MISUSE"
            elif name == "need":
                when = "ON_SMALL"
            elif name in answers.starts_at_0:
                when = "NO_MISUSE"
            fill = "0" if const or name in answers.starts_at_0 else "0xC3"
            lines = [f'a.{name} = region("{name}", sizeof *a.{name}, {when}, {fill});']
            if bare in self.structs and self.structs[bare].members[0].name == "size":
                size_type = self.structs[bare].members[0].type
                lines.append(f"*({size_type} *)(uintptr_t)a.{name} = sizeof *a.{name};")
            return lines
        if kind in INTEGERS:
            return [f"a.{name} = 0;"]
        if kind == "size_t":
            return [] if self.buffer_of(function, number) else [f"a.{name} = 0;"]
        raise HeaderError(f"{function.name}: what may be done to a {kind}?")

    # ---- the parts of the program

    def calls(self, function):
        """Returns valid arguments as a struct, and the call itself."""
        name, answers = function.name, self.answers[function.name]
        self.put(f"struct {name}_args {{")
        for param in function.params:
            self.put(f"    {param.type}{'' if param.type.endswith('*') else ' '}{param.name};")
        self.put("    int unused;", "};", f"static struct {name}_args {name}_good(int state) {{")
        if any(param.type == "const deltawire_event *" for param in function.params):
            self.put("    deltawire_event *event;")
        self.put(f"    struct {name}_args a;", "    memset(&a, 0, sizeof a);", "    (void)state;")
        for number in range(len(function.params)):
            self.put(*("    " + line for line in self.good(function, answers, number)))
        args = ", ".join("a->" + param.name for param in function.params)
        self.put("    return a;", "}", f"static {function.returns} {name}_call(const struct {name}_args *a) {{")
        self.put("    (void)a;", f"    return {name}({args});", "}")
        if function.returns == "deltawire_status":
            listed = ", ".join("DELTAWIRE_" + status for status in sorted(answers.statuses))
            self.put(f"static const deltawire_status {name}_documented[] = {{{listed}, 999}};")
        self.put("")

    def always(self, function):
        """Returns the outputs that the call always writes, if it has any."""
        always = self.answers[function.name].always
        written = [p for p in function.params if p.type == "deltawire_batch_result *" or p.name in always]
        return [f"    always(a.{param.name});" for param in written]

    def case(self, function, what, change, expected, states="1"):
        """One misuse: applies `change` to valid arguments; `expected` is a status, or another value that judge() accepts."""
        name, answers = function.name, self.answers[function.name]
        self.put(f"    for (state = 0; state < {states}; state++) {{")
        self.put(f'        begin("{name}", "{what}", state);', f"        a = {name}_good(state);")
        self.put(*("        " + line for line in change))
        self.put(*("    " + line for line in self.always(function)))
        self.put("        freeze();", f"        r = {name}_call(&a);")
        if function.returns == "deltawire_status":
            self.put("        compare(r);", f"        judge(r, {name}_documented, {expected});")
            return self.put("    }")
        self.put("        compare(0);", "        (void)r;")
        if function.returns == "const char *":
            self.put(f"        check_text(r, {int(answers.null_text)});")
        elif expected not in ("DOCUMENTED", "NOT_E_NULL"):
            self.put(f"        if (r != {answers.neutral}) fault(\"result\", (long long)r, {answers.neutral});")
        self.put("    }")

    def tests(self, function):
        params, answers = function.params, self.answers[function.name]
        objects = [param for param in params if param.type in OBJECTS]
        values = [param for param in params if param.type == "const deltawire_value *"]
        states = "PARSER_STATES" if any(p.type in PARSER for p in objects) else "MESSAGE_STATES" if objects else "1"
        states = "WRITER_STATES" if any(p.type in WRITER for p in objects) else states
        self.put(f"static void {function.name}_test(void) {{", f"    struct {function.name}_args a;")
        self.put(f"    {function.returns}{'' if function.returns.endswith('*') else ' '}r;", "    int state;")

        self.case(function, "good arguments", [], "DOCUMENTED", "VALUE_STATES" if values else states)
        if values:
            nothing = [f"memset((void *)(uintptr_t)a.{v.name}, 0, sizeof *a.{v.name});" for v in values]
            self.case(function, "a value of zeros", nothing, "DELTAWIRE_ABSENT")
        if objects:
            # Twice, as a retry would: the first call must leave a valid state.
            self.case(function, "twice", [f"{function.name}_call(&a);"], "DOCUMENTED", states)

        pointers = [param for param in params if param.type.endswith("*") and param.name != "user"]
        for number, param in enumerate(params):
            size = None
            if number + 1 < len(params) and self.buffer_of(function, number + 1) == param.name:
                size = params[number + 1]
            self.pointer(function, answers, param, size, states)
            self.integer(function, answers, number, states)
        self.objects(function, objects)
        if len(pointers) > 1:
            change = [f"a.{param.name} = NULL;" for param in pointers]
            legal = all(param.name in answers.nullable for param in pointers)
            self.case(function, "all NULL", change, "DOCUMENTED" if legal else "DELTAWIRE_E_NULL")
            change += [f"a.{p.name} = 0;" for n, p in enumerate(params) if self.buffer_of(function, n)]
            certain = any(p.name not in answers.nullable and p.type not in ("const void *", "const char *", "char *",
                          "const deltawire_event *", "void *", "deltawire_event *") for p in pointers)
            self.case(function, "all NULL and 0", change, "DELTAWIRE_E_NULL" if certain else "DOCUMENTED")
        self.put("}", "")

    def pointer(self, function, answers, param, size, states):
        name, kind = param.name, param.type
        if not kind.endswith("*"):
            return
        reads = kind in ("const void *", "const char *", "const deltawire_event *")
        if reads and size is None:
            # Bytes that events point into: only those can be checked.
            return self.case(function, f"{name} is NULL", [f"a.{name} = NULL;"], "DOCUMENTED", states)
        legal = name in answers.nullable or name == "user"
        if size is None:
            expected = "NOT_E_NULL" if legal else "DELTAWIRE_E_NULL"
            self.case(function, f"{name} is NULL", [f"a.{name} = NULL;"], expected)
            if not legal:
                self.case(function, f"{name} is NULL", [f"a.{name} = NULL;"], "DOCUMENTED", states)
            return
        self.case(function, f"{name} is NULL and its length is not", [f"a.{name} = NULL;"], "DELTAWIRE_E_NULL")
        if reads:
            expected = "NOT_E_NULL"
        elif kind == "char *":
            expected = "NOT_E_NULL"
        elif name == "mem":
            expected = "DELTAWIRE_E_NULL"
        else:
            expected = "NULL_OR_SMALL"
        if kind in ("const void *", "const char *", "void *", "char *"):
            # The result of a failed read(), used as a length.
            for text in ("SIZE_MAX", "SIZE_MAX / 2 + 1") if name != "scratch" else ():
                self.case(function, f"{name} is of length {text}", [f"a.{size.name} = {text};"], "MISUSE")
        both = [f"a.{name} = NULL, a.{size.name} = 0;"]
        self.case(function, f"{name} is NULL of length 0", both, expected)
        self.case(function, f"{name} is NULL of length 0", both, "DOCUMENTED", states)
        if reads:
            self.case(function, f"{name} is of length 0", [f"a.{size.name} = 0;"], "NOT_E_NULL", states)
            return
        unit = f"sizeof *a.{name}" if kind == "deltawire_event *" else "1"
        for length in "0 1 7 8 63 64 1000".split():
            if kind == "deltawire_event *" and length not in ("0", "1"):
                continue
            # Aligned, so that only the length is wrong.
            room = (int(length) + 7) // 8 * 8 if name == "mem" else length
            small = [f'a.{name} = region("small", {room} * {unit}, ON_SUCCESS, 0xC3);', f"a.{size.name} = {length};"]
            if name == "mem":
                expected = "DELTAWIRE_E_SMALL"
            elif kind == "char *":
                expected = "DOCUMENTED"
            else:
                least = 1 if kind == "deltawire_event *" else 64
                expected = "DELTAWIRE_E_SMALL" if int(length) < least else "DOCUMENTED"
            self.case(function, f"{name} is of length {length}", small, expected)
            if expected == "DOCUMENTED":
                self.case(function, f"{name} is of length {length}", small, expected, states)
        if name == "mem":
            uneven = [f'a.{name} = (unsigned char *)region("uneven", 65544, ON_SUCCESS, 0xC3) + 1;']
            self.case(function, f"{name} is not aligned", uneven, "DELTAWIRE_E_ALIGN")
            self.case(function, f"{name} is aligned to 4", [uneven[0].replace("+ 1", "+ 4")],
                      "DOCUMENTED")

    def objects(self, function, objects):
        for param in objects:
            when = "NEVER" if param.type.startswith("const") else "NO_MISUSE"
            size = "DELTAWIRE_BLOCK_SIZE(2048)"
            for what, fill in (("zeros", "0"), ("ones", "0xFF"), ("rubbish", "0xC3")):
                change = [f'a.{param.name} = region("block", {size}, {when}, {fill});']
                self.case(function, f"{param.name} is a block of {what}", change, "DELTAWIRE_E_STATE")
            for off in ("1", "2"):  # 4 is aligned, where uint64_t is aligned to 4
                cast = f"({param.type})(uintptr_t)((const unsigned char *)(const void *)a.{param.name} + {off})"
                self.case(function, f"{param.name} is {off} too far", [f"a.{param.name} = {cast};"], "DELTAWIRE_E_ALIGN")
            other = "message(MESSAGE_SOME" if param.type in PARSER else "parser(FRESH"
            change = [f"a.{param.name} = ({param.type})(void *){other}, {when});"]
            self.case(function, f"{param.name} is of another kind", change, "DELTAWIRE_E_STATE")
        for param in (p for p in function.params if p.type == "deltawire_chunk_storage *"):
            change = [f'a.{param.name} = (void *)((unsigned char *)region("uneven", sizeof *a.{param.name} + 8, '
                      "ON_SUCCESS, 0xC3) + 1);"]
            self.case(function, f"{param.name} is not aligned", change, "DELTAWIRE_E_ALIGN")

    def integer(self, function, answers, number, states):
        param = function.params[number]
        kind, name = param.type, param.name
        if kind == "size_t" and not self.buffer_of(function, number):
            # The library trusts the stated length of a block, unless no memory is so long.
            untold = ("SIZE_MAX / 2", "UINT32_MAX") if name == "mem_len" else ()
            for text in ("0", "1", "7", "8", "9", "256", "257", "SIZE_MAX", "SIZE_MAX - 1", "SIZE_MAX - 7",
                         "SIZE_MAX - 8191", "SIZE_MAX / 2", "SIZE_MAX / 2 + 1", "UINT32_MAX"):
                if text in untold:
                    continue
                self.case(function, f"{name} is {text}", [f"a.{name} = (size_t)({text});"], "DOCUMENTED", states)
        if kind not in INTEGERS:
            return
        for text in NUMBERS + EXTREMES:
            far = text not in NUMBERS or int(text) >= 1000000
            expected = "DELTAWIRE_E_RANGE" if far and name in answers.range else "DOCUMENTED"
            every = states if expected == "DOCUMENTED" else "1"
            self.case(function, f"{name} is {text}", [f"a.{name} = ({kind})({text});"], expected, every)

    def reentrant(self, functions):
        """From each callback, calls every function that takes a parser, on the running parser."""
        taking = [f for f in functions if any(p.type in PARSER for p in f.params)]
        for function in taking:
            name = function.name
            param = next(p for p in function.params if p.type in PARSER)
            answers = self.answers[name]
            self.put(f"static void {name}_again(const char *from, struct running *now) {{")
            self.put(f"    struct {name}_args a;", f"    {function.returns} r;")
            self.put(f'    begin("{name}", from, -1);', f"    a = {name}_good(0);", f"    a.{param.name} = now->parser;")
            self.put(*self.always(function))
            self.put("    freeze();", "    memcpy(now->copy, now->parser, now->size);", f"    r = {name}_call(&a);")
            self.put("    if (memcmp(now->copy, now->parser, now->size) != 0) fault(\"the parser was changed\", 1, 0);")
            if function.returns == "deltawire_status":
                self.put("    compare(r);", f"    judge(r, {name}_documented, DELTAWIRE_E_REENTRANT);")
            else:
                self.put("    compare(0);")
                self.put(f"    if (r != {answers.neutral}) fault(\"result\", (long long)r, {answers.neutral});")
            self.put("}")
        self.put("static void again(const char *from, struct running *now) {", "    now->calls++;")
        self.put("    if (!now->misuse) return;")
        self.put(*(f"    {function.name}_again(from, now);" for function in taking))
        self.put("}", "")
        table = self.structs["deltawire_callbacks"].members[1:]
        for member in table:
            callback = self.header.callbacks[member.type]
            params = ", ".join(f"{p.type}{'' if p.type.endswith('*') else ' '}{p.name}" for p in callback.params)
            unused = ", ".join(f"(void){p.name}" for p in callback.params[1:])
            self.put(f"static {callback.returns} {member.name}_again({params}) {{", f"    {unused};")
            self.put(f"    ((struct running *)user)->by_callback[{table.index(member)}]++;")
            self.put(f'    again("from {member.name}", (struct running *)user);', "    return DELTAWIRE_GO_ON;", "}")
        self.put("", f"enum {{ CALLBACKS = {len(table)}, CALLS_EACH = {len(taking)} }};")
        self.put("static const char *const CALLBACK_NAMES[] = {")
        self.put("    " + ", ".join(f'"{m.name}"' for m in table) + ",", "};")
        self.put("static void all_callbacks(deltawire_callbacks *callbacks) {")
        self.put(*(f"    callbacks->{m.name} = {m.name}_again;" for m in table), "}", "")

    def write(self):
        functions = self.header.functions
        names = [function.name for function in functions]

        def answers(name):
            number = names.index(name)
            if name not in self.answers:
                self.answers[name] = Answers(functions[number], names[number - 1], answers)
            return self.answers[name]

        for name in names:
            answers(name)
        self.put("/* Made by generate.py. */", '#include "common.h"', "")
        self.put("static void check_text(const char *text, int may_be_null) {", "    size_t i;")
        self.put('    if (text == NULL) { if (!may_be_null) fault("a name is NULL", 0, 1); return; }')
        self.put('    for (i = 0; i < 300 && text[i] >= 32 && text[i] < 127; i++) continue;')
        self.put('    if (i == 0 || text[i] != 0) fault("a name is no plain text", (long long)i, 0);', "}", "")
        self.put("struct running {", "    deltawire_parser *parser;", "    unsigned char *copy;", "    size_t size, calls;")
        self.put("    int misuse;", "    size_t by_callback[64];", "};", "")
        for function in functions:
            self.calls(function)
        for function in functions:
            self.tests(function)
        self.reentrant(functions)
        self.put('#include "reentrant.inc"', "", "int main(void) {", *(f"    {f.name}_test();" for f in functions))
        self.put("    reentrant_test();", '    return summary("misuse of every function");', "}")
        return "\n".join(self.lines) + "\n"


def main():
    header, out = sys.argv[1:]
    text = Writer(Header(header)).write()
    with open(out, "w", encoding="utf-8") as file:
        file.write(text)


main()
