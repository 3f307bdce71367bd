"""Compares `trace --json` with the applications' own logs for tests/live/trace/trace.sh.

counts COUNTS SUMMARY  the application's counts, and the summary of the same methods
calls LOG CALLS        the application's log of calls, and the reported calls: each one, in the
                       order of its thread, with these values
stacks CALLS FILE      the calls with their stacks, and the collapsed stacks of the same trace
Prints nothing if they agree; otherwise prints the difference and fails.
"""
import functools
import json
import sys

CHARS = 100     # of a string that are reported by default
ELEMENTS = 5    # of an array
DEPTH = 64      # of a stack
BAD = "\ufffd"


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def plain(method):
    """Overloaded methods are counted together."""
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
            yield f"{method}: counted {sums}, reported {got.get(method)}"
    if len(wanted) < 20:
        yield f"only {len(wanted)} methods were counted"


UNSAFE = (("\x7f", "\x9f"), ("\u2028", "\u202e"), ("\u2066", "\u2069"))


@functools.lru_cache(maxsize=None)  # frames recur
def printable(value):
    """Escapes like base/printable.h; a ';' would end the frame."""
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
            yield f"{nanos} is not the time reported for {stack}"
    yield from (f"{nanos} of {stack} are not there" for stack, nanos in wanted.items() if nanos > 0)
    if len(got) < 20:
        yield f"only {len(got)} stacks"


def text(value):
    """Replaces lone surrogates."""
    return "".join(BAD if "\ud800" <= c <= "\udfff" else c for c in value)


def cut_text(value, chars):
    """The first n UTF-16 code units, without half a surrogate pair at the end."""
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
    if name == "java.lang.NullPointerException":  # it computes its message on request
        return got.partition(": ")[0] == name
    if not message:
        return wanted == got
    return got == f"{name}: {cut_text(message, CHARS)}"


def differences(wanted, got):
    for key in ("thread", "method", "returned"):
        if wanted[key] != got[key]:
            yield f"{key}: {wanted[key]!r}, reported {got[key]!r}"
    if not exception_alike(wanted["exception"], got["exception"]):
        yield f"exception: {wanted['exception']!r}, reported {got['exception']!r}"
    if not isinstance(got["args"], list) or (
            len(wanted["args"]) != len(got["args"]) and not got["cut"]):
        yield f"{len(wanted['args'])} arguments, reported {got['args']!r}"
        return
    pairs = [*zip(wanted["args"], got["args"])]
    if got["returned"] == "value":
        pairs.append((wanted["result"], got["result"]))
    for left, right in pairs:
        left = cut(left)
        if not alike(left, right):
            yield f"{wanted['method']}: {left!r}, reported {right!r}"


def by_thread(calls):
    threads = {}
    for call in calls:
        threads.setdefault(call["thread_id"], []).append(call)
    return threads


def calls(log, reported):
    wanted, got = by_thread(lines(log)), by_thread(lines(reported))
    if not wanted:
        yield "nothing was logged"
    if wanted.keys() != got.keys():
        yield f"threads {[*wanted]}, reported {[*got]}"
    for thread in wanted.keys() & got.keys():
        if len(wanted[thread]) != len(got[thread]):
            yield f"thread {thread}: {len(wanted[thread])} calls, reported {len(got[thread])}"
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
