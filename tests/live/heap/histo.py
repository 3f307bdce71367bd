"""Compares jtool's class histogram with the JVM's own, taken just before and just after.

histo.py between HIDDEN BEFORE JTOOL.json AFTER    every class: before <= jtool <= after
histo.py near PERCENT BEFORE JTOOL.json AFTER

A JVM allocates a little for every request, jtool's and its own, so three successive histograms
are never equal. Without a collection in between they only grow, and classes that requests do not
use are equal in all three: `between` checks the growth, and limits the classes that may differ.
Only int[] may shrink: during a walk the JVM fills the unused part of each thread's allocation
buffer with one. HIDDEN java.lang.Objects are visible to the JVM only: up to JDK 8 agents do not
see the mark of deleted JNI handles (services/serviceUtil.hpp).

For histograms of reachable objects (ZGC, Shenandoah, --live), `near` requires equality for the
victim's classes, and for the totals within PERCENT; without int[], since jtool's walk follows the
collection, when there are allocation buffers again.

BEFORE and AFTER are outputs of GC.class_histogram, or JSON of jtool.
"""
import json
import re
import sys

PRIMITIVES = {"Z": "boolean", "B": "byte", "C": "char", "D": "double",
              "F": "float", "I": "int", "J": "long", "S": "short"}
ROW = re.compile(r"\s*\d+:\s+(\d+)\s+(\d+)\s+(\S+)")
# Objects that a few requests may leave, in a heap of a million objects.
DRIFT_MAX = 2000
FILLER = "int[]"


def source_name(name):
    """[[I is int[][] in Java source; hidden classes have three spellings."""
    dims = len(name) - len(name.lstrip("["))
    if dims:
        name = name[dims:]
        name = name[1:].rstrip(";") if name.startswith("L") else PRIMITIVES[name]
    # The JVM fills gaps with arrays that only its own histogram distinguishes from int[].
    if name in ("jdk.internal.vm.FillerElement", "jdk.internal.vm.FillerArray"):
        name = "int"
    name = re.sub(r"[/.+](0x[0-9a-f]+|\d+)$", r"/\1", name)
    return name + "[]" * dims


def add(histo, name, instances, size):
    old = histo.get(name, (0, 0))
    histo[name] = (old[0] + instances, old[1] + size)


def read_json(text):
    document, histo = json.loads(text), {}
    for row in document["classes"]:
        name = row["class"]
        dims = name.count("[]")
        add(histo, source_name(name[:len(name) - 2 * dims]) + "[]" * dims,
            row["instances"], row["bytes"])
    check_total(document, histo)
    return histo


def check_total(document, histo):
    total = document["total"]
    sums = tuple(sum(c[i] for c in histo.values()) for i in (0, 1))
    if sums != (total["instances"], total["bytes"]):
        sys.exit(f"jtool's total {total} is not the sum of its rows {sums}")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        text = f.read()
    if text.startswith("{"):
        return read_json(text)
    histo = {}
    for line in text.splitlines():
        row = ROW.match(line)
        if row:
            add(histo, source_name(row[3]), int(row[1]), int(row[2]))
    if not histo:
        sys.exit(f"{path} is no histogram: {text[:200]!r}")
    return histo


def of_victim(name):
    return name.startswith(("Heap", "com.acme.shop.", "Classes", "Generated"))


def totals(histo):
    return [sum(c[i] for name, c in histo.items() if name != FILLER) for i in (0, 1)]


def within(before, ours, after, may_shrink):
    if may_shrink:
        before, after = zip(*map(sorted, zip(before, after)))
    return all(b <= o <= a for b, o, a in zip(before, ours, after))


def between(hidden, before, ours, after):
    bad = []
    for histo in before, after:
        add(histo, "java.lang.Object", -hidden, -16 * hidden)
    for name in sorted(set(before) | set(ours) | set(after)):
        b, o, a = (h.get(name, (0, 0)) for h in (before, ours, after))
        if not within(b, o, a, name == FILLER):
            bad.append(f"{name}: before {b}, jtool {o}, after {a}")
        if of_victim(name) and not b == o == a:
            bad.append(f"{name}: the victim's own, before {b}, jtool {o}, after {a}")
    drift = totals(after)[0] - totals(before)[0]
    if drift > DRIFT_MAX:
        bad.append(f"the heap was not quiet: {drift} objects more")
    return bad


def near(percent, before, ours, after):
    bad = []
    for name in filter(of_victim, set(before) | set(ours) | set(after)):
        b, o, a = (h.get(name, (0, 0)) for h in (before, ours, after))
        if not b == o == a:
            bad.append(f"{name}: before {b}, jtool {o}, after {a}")
    for low, got, high in zip(totals(before), totals(ours), totals(after)):
        low, high = min(low, high), max(low, high)
        if not low * (1 - percent / 100) <= got <= high * (1 + percent / 100):
            bad.append(f"totals: {low} to {high} by the JVM, {got} by jtool")
    return bad


def main():
    args = sys.argv[1:]
    if args[0] == "between":
        bad = between(int(args[1]), *map(read, args[2:]))
    else:
        bad = near(float(args[1]), *map(read, args[2:]))
    for line in bad:
        print(line)
    sys.exit(bool(bad))


main()
