"""What tests/live/trace.sh does with what `trace --json` says.

counts COUNTS SUMMARY  what the application counted, and what the summary says of the same methods
calls LOG CALLS        the application's log of calls, and what was told of them: all, thread by
                       thread in their order, with these values
stacks CALLS FILE      the calls with their stacks, and the collapsed stacks of the same trace
Silent when they agree; else says how they do not, and fails.
"""
import functools
import json
import sys

CHARS = 100     # of a string, by default
ELEMENTS = 5    # of an array
DEPTH = 64      # of a stack
BAD = "\ufffd"


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def plain(method):
    """Overloaded ones are counted together."""
    return method.partition("(")[0]


def counts(counted, summary):
    with open(counted, encoding="utf-8") as file:
        wanted = json.loads(file.read().partition(" ")[2])
    got = {}
    for row in lines(summary):
        if "method" in row:
            sums = got.setdefault(plain(row["method"]), [0, 0])
            sums[0] += row["count"]
            sums[1] += row["errors"]
    for method, sums in wanted.items():
        if method.startswith("made.Refused.") and not method.endswith(".fine"):
            if method in got:
                yield f"{method} is not refused"
        elif got.get(method) != sums:
            yield f"{method}: counted {sums}, told {got.get(method)}"
    if len(wanted) < 20:
        yield f"only {len(wanted)} methods were counted"


UNSAFE = (("\x7f", "\x9f"), ("\u2028", "\u202e"), ("\u2066", "\u2069"))


@functools.lru_cache(maxsize=None)  # frames come again and again
def printable(value):
    """As base/text.h has it; a ';' would end the frame."""
    def clean(c):
        if c < " " or any(first <= c <= last for first, last in UNSAFE):
            return "".join(f"\\x{byte:02X}" for byte in c.encode())
        return ":" if c == ";" else c
    return "".join(clean(c) for c in value) or "?"


def stacks(calls, collapsed):
    wanted = {}
    for row in lines(calls):
        frames = [*row["stack"][:0:-1], row["method"]]
        if len(frames) == DEPTH:
            frames.insert(0, f"({DEPTH} frames or more)")
        stack = ";".join(printable(frame) for frame in frames)
        wanted[stack] = wanted.get(stack, 0) + row["nanos"]
    with open(collapsed, encoding="utf-8") as file:
        got = [line.rstrip("\n").rpartition(" ") for line in file]
    for stack, _, nanos in got:
        if wanted.pop(stack, None) != int(nanos):
            yield f"{nanos} is not what was told of {stack}"
    yield from (f"{nanos} of {stack} are not there" for stack, nanos in wanted.items() if nanos > 0)
    if len(got) < 20:
        yield f"only {len(got)} stacks"


def text(value):
    """Half a surrogate pair is no character."""
    return "".join(BAD if "\ud800" <= c <= "\udfff" else c for c in value)


def cut_text(value, chars):
    """So many UTF-16 code units of it, but a last one that is the first half of a pair."""
    units = value.encode("utf-16-le", "surrogatepass")
    if len(units) > 2 * chars:
        units = units[:2 * chars - 2 * (0xd8 <= units[2 * chars - 1] <= 0xdb)]
    return text(units.decode("utf-16-le", "surrogatepass"))


def cut(value):
    if isinstance(value, str):
        return cut_text(value, CHARS)
    if isinstance(value, dict):
        return {**value, "elements": [cut(e) for e in value["elements"][:ELEMENTS]]}
    return value


def alike(wanted, got, real=False):
    if isinstance(wanted, dict):
        real = wanted["class"] == "float[]"
        return (isinstance(got, dict) and wanted["class"] == got.get("class")
                and wanted["length"] == got.get("length")
                and len(wanted["elements"]) == len(got["elements"])
                and all(map(alike, wanted["elements"], got["elements"])))
    if isinstance(wanted, float) or isinstance(got, float):
        return (not isinstance(got, str) and not isinstance(wanted, str) and None not in (wanted, got)
                and abs(wanted - got) <= 1e-7 * abs(wanted))
    return type(wanted) is type(got) and wanted == got


def exception_alike(wanted, got):
    if wanted is None or got is None:
        return wanted == got
    name, _, message = wanted.partition(": ")
    if name == "java.lang.NullPointerException":  # it makes its message when it is asked for one
        return got.partition(": ")[0] == name
    if not message:
        return wanted == got
    return got == f"{name}: {cut_text(message, CHARS)}"


def differences(wanted, got):
    for key in ("thread", "method", "returned"):
        if wanted[key] != got[key]:
            yield f"{key}: {wanted[key]!r}, told {got[key]!r}"
    if not exception_alike(wanted["exception"], got["exception"]):
        yield f"exception: {wanted['exception']!r}, told {got['exception']!r}"
    if not isinstance(got["args"], list) or (
            len(wanted["args"]) != len(got["args"]) and not got["cut"]):
        yield f"{len(wanted['args'])} arguments, told {got['args']!r}"
        return
    pairs = [*zip(wanted["args"], got["args"])]
    if got["returned"] == "value":
        pairs.append((wanted["result"], got["result"]))
    for left, right in pairs:
        left = cut(left)
        if not alike(left, right):
            yield f"{wanted['method']}: {left!r}, told {right!r}"


def by_thread(calls):
    threads = {}
    for call in calls:
        threads.setdefault(call["thread_id"], []).append(call)
    return threads


def calls(log, told):
    wanted, got = by_thread(lines(log)), by_thread(lines(told))
    if not wanted:
        yield "nothing was logged"
    if wanted.keys() != got.keys():
        yield f"threads {[*wanted]}, told {[*got]}"
    for thread in wanted.keys() & got.keys():
        if len(wanted[thread]) != len(got[thread]):
            yield f"thread {thread}: {len(wanted[thread])} calls, told {len(got[thread])}"
        for i, pair in enumerate(zip(wanted[thread], got[thread])):
            wrong = [*differences(*pair)]
            if wrong:
                yield f"thread {thread}, call {i}: {'; '.join(wrong)}"
                if wanted[thread][i]["method"] != got[thread][i]["method"]:
                    break


problems = [*{"counts": counts, "calls": calls, "stacks": stacks}[sys.argv[1]](*sys.argv[2:])]
for problem in problems[:20]:
    print(problem.encode("ascii", "backslashreplace").decode())
sys.exit(bool(problems))
