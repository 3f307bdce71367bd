#!/usr/bin/env python3
"""Compares what jtool reads from a recording with what the JDK's jfr prints, field by field.

usage: compare.py JTOOL FILE COMMAND... [-- ITS_FILE]

COMMAND is jfr with its path, or chroot with its arguments; "print --json" and FILE are appended.
Prints the number of equal events, or the first differences of each type; exit code 1 then.

Both are brought into one form: an event is a multiset of fields; times have nanoseconds; a duration
"for ever", which jtool prints as null, is None; class names are in Java source form.
"""
import collections
import hashlib
import json
import re
import subprocess
import sys

TIME = re.compile(r"^([+-]?\d+-\d\d-\d\dT\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$")
SPAN = re.compile(r"^PT(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?\d+)(?:\.(\d{1,9}))?S)?$")
NEGATIVE = re.compile(r"^PT.*-0\.\d+S$")
CLASS_KEYS = ({"classLoader", "name", "package", "modifiers"},
              {"classLoader", "name", "package", "modifiers", "hidden"})
PRIMITIVES = {"B": "byte", "C": "char", "D": "double", "F": "float", "I": "int", "J": "long",
              "S": "short", "Z": "boolean"}
FOREVER_HOURS = 10 ** 12
# The address of a hidden class: JDK and async-profiler have several characters before it.
TAIL = re.compile(r"^(.*)[/+.](\d[0-9a-fx]*)$")


def split_tail(name):
    match = TAIL.match(name)
    return (match.group(1), "/" + match.group(2)) if match else (name, "")


def source_form(name):
    depth = len(name) - len(name.lstrip("["))
    if depth:
        name = name[depth:]
        name = PRIMITIVES[name] if name in PRIMITIVES else name[1:-1]
    name, tail = split_tail(name)
    return name.replace("/", ".") + tail + "[]" * depth


def time_value(text):
    match = TIME.match(text)
    if not match:
        return None
    base, fraction, zone = match.groups()
    if len(base) == 16:
        base += ":00"
    return f"{base}.{(fraction or '').ljust(9, '0')}{'Z' if zone == '+00:00' else zone}"


def span_value(text):
    """Returns seconds, None for ever, or False if the text is not a duration."""
    match = SPAN.match(text)
    if not match or text == "PT":
        return False
    hours, minutes, seconds, fraction = match.groups()
    if abs(int(hours or 0)) > FOREVER_HOURS:
        return None
    nanos = int((fraction or "").ljust(9, "0"))
    if seconds and seconds.startswith("-"):
        nanos = -nanos
    total = (int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)) * 10 ** 9 + nanos
    return total / 1e9


def canonical(value, theirs):
    if isinstance(value, dict):
        out = {k: canonical(v, theirs) for k, v in value.items()}
        if set(value) in CLASS_KEYS and isinstance(value["name"], str):
            name = value["name"]
            out["name"] = source_form(name) if theirs else "".join(split_tail(name))
        return out
    if isinstance(value, list):
        return [canonical(v, theirs) for v in value]
    if isinstance(value, str):
        time = time_value(value)
        if time is not None:
            return None if time.startswith("-") else time
        if theirs:
            span = span_value(value)
            return value if span is False else span
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value) if abs(value) < 2 ** 53 else value
    return value


class Type:
    def __init__(self):
        self.counts = collections.Counter()
        self.samples = {}

    def add(self, values, sign, theirs):
        text = json.dumps(canonical(values, theirs), sort_keys=True)
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).digest()
        self.counts[digest] += sign
        if self.counts[digest] == 0:
            del self.counts[digest]
            self.samples.pop(digest, None)
        elif len(self.samples) < 400:
            self.samples[digest] = (sign, text)


def their_events(command):
    """Yields the events in jfr's JSON, in which each begins and ends with a line of its own."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8",
                          errors="surrogatepass") as process:
        lines = []
        for line in process.stdout:
            if line.startswith('    "events": ['):
                lines = ["{"]
            elif line.rstrip() in ("    }, {", "    }]"):
                yield json.loads("".join(lines) + "}")
                lines = ["{"]
            else:
                lines.append(line)
    if process.returncode:
        sys.exit(f"{command}: exit code {process.returncode}")


def our_events(jtool, path, name):
    """Reads the array "rows" piece by piece."""
    command = [jtool, "jfr", "view", path, name, "--json"]
    decoder = json.JSONDecoder()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8",
                          errors="surrogatepass") as process:
        text = process.stdout.read(1 << 16)
        at = text.index('"rows":[') + len('"rows":[')
        while True:
            while at < len(text) and text[at] == ",":
                at += 1
            if at < len(text) and text[at] == "]":
                break
            try:
                value, at = decoder.raw_decode(text, at)
                yield value
            except json.JSONDecodeError:
                more = process.stdout.read(max(1 << 16, len(text) - at))
                if not more:
                    sys.exit(f"{command}: the document ends early")
                text, at = text[at:] + more, 0
        process.stdout.read()
    if process.returncode:
        sys.exit(f"{command}: exit code {process.returncode}")


def paths(theirs, ours, path=""):
    """The paths at which two values differ."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in sorted(set(theirs) | set(ours)):
            yield from paths(theirs.get(key, "absent"), ours.get(key, "absent"), f"{path}.{key}")
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for i, pair in enumerate(zip(theirs, ours)):
            yield from paths(*pair, f"{path}[{i}]")
    elif theirs != ours:
        yield f"{path}: theirs {json.dumps(theirs)[:200]}, ours {json.dumps(ours)[:200]}"


def differences(t):
    """Pairs the samples by their time; shows the first differences."""
    ours = [json.loads(text) for digest, (sign, text) in t.samples.items()
            if sign < 0 and digest in t.counts]
    shown = 0
    for digest, (sign, text) in t.samples.items():
        if sign < 0 or digest not in t.counts:
            continue
        theirs = json.loads(text)
        for mine in ours:
            if mine.get("startTime") == theirs.get("startTime"):
                for line in paths(theirs, mine):
                    yield line
                    shown += 1
                    if shown >= 5:
                        return
                break
        else:
            yield f"only theirs: {text[:300]}"
            shown += 1
            if shown >= 5:
                return


def main():
    jtool, path, *jfr = sys.argv[1:]
    their_path = path
    if "--" in jfr:
        jfr, (their_path,) = jfr[:jfr.index("--")], jfr[jfr.index("--") + 1:]
    types = collections.defaultdict(Type)
    total = collections.Counter()
    for event in their_events(jfr + ["print", "--json", "--stack-depth", "100000", their_path]):
        types[event["type"]].add(event["values"], 1, True)
        total[event["type"]] += 1
    listed = json.loads(subprocess.run([jtool, "jfr", "view", path, "events", "--json"],
                                       check=True, stdout=subprocess.PIPE).stdout)
    for row in listed["rows"]:
        name = row["event"]
        if name in ("jdk.Metadata", "jdk.Checkpoint"):
            continue
        for values in our_events(jtool, path, name):
            types[name].add(values, -1, False)
    different = {name: t for name, t in types.items() if t.counts}
    for name, t in sorted(different.items()):
        print(f"{name}: {sum(t.counts.values()):+d} events, {len(t.counts)} of {total[name]} differ")
        for line in differences(t):
            print("  " + line)
    print(f"{sum(total.values())} events of {len(total)} types, "
          f"{sum(len(t.counts) for t in different.values())} differences")
    return 1 if different or not total else 0


if __name__ == "__main__":
    sys.exit(main())
