"""What tests/live/alloc.sh does with what `alloc --json` says.

exact COUNTS PROFILE [BEFORE AFTER]  of the application's own classes the profile tells so many as
                       the application counted, no more, no fewer, and of no others; with heaphisto's
                       histograms of before and after, as many bytes as the heap has more of them
start COUNTS PROFILE   likewise, of one from the JVM's start on
jdk COUNTS PROFILE COUNTS PROFILE  the difference of two runs is what the application counted
lines LINES TIMES PROFILE   what was made so many times in these lines of AllocCount, is told there
shares MIXED PROFILE MIXED EXACT  estimates by class within 5 %, or what chance allows, of what the
                       application counted (with sizes from the exact profile), places in order
collapsed FILE PROFILE KEY  its numbers add up to the profile's
leak CLASS METHOD HOW N PROFILE  the first row is this class's, made there, and most of N live
Silent when they agree; else says how they do not, and fails.
"""
import json
import math
import sys


def load(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return json.loads(text[text.index("{"):])


def by_class(profile, value="count"):
    sums = {}
    for site in profile["sites"]:
        sums[site["class"]] = sums.get(site["class"], 0) + site[value]
    return sums


def element(name):
    return name.replace("[]", "")


def group(sums, wanted):
    """Lambdas' classes have numbers: theirs are one key that ends with *."""
    prefixes = [key[:-1] for key in wanted if key.endswith("*")]
    grouped = {}
    for name, n in sums.items():
        key = next((p + "*" for p in prefixes if name.startswith(p)), name)
        grouped[key] = grouped.get(key, 0) + n
    return grouped


def heap(path):
    return {c["class"]: (c["instances"], c["bytes"]) for c in load(path)["classes"]}


def exact(counts, told, before=None, after=None):
    wanted, profile = load(counts)["own"], load(told)
    got, size = (group(by_class(profile, value), wanted) for value in ("count", "bytes"))
    if not wanted:
        yield "nothing was counted"
    for name in sorted(wanted):
        if name.endswith("?"):
            continue
        # A class that is changed links its lambdas anew: those that capture nothing are made again.
        more = wanted.get(name + "?", 0) + (20 if name.endswith("*") else 0)
        if not wanted[name] <= got.get(name, 0) <= wanted[name] + more:
            yield f"{name}: counted {wanted[name]}, told {got.get(name, 0)}"
    for name in sorted(got.keys() - wanted.keys()):
        if element(name).startswith(("AllocCount", "AllocLoads")) and got[name]:
            yield f"{name}: not counted, told {got[name]}"
    if before:
        was, now = heap(before), heap(after)
        for name in sorted(wanted):
            if name.endswith(("*", "?")) or name + "?" in wanted:
                continue
            objects, taken = (b - a for a, b in zip(was.get(name, (0, 0)), now.get(name, (0, 0))))
            if (objects, taken) != (got.get(name), size.get(name)):
                yield (f"{name}: the heap has {objects} objects, {taken} bytes more; told"
                       f" {got.get(name)}, {size.get(name)}")


def start(counts, told):
    """Exact, but for what classes make themselves before anybody counts."""
    before = ("AllocCount:", "AllocCount$Color:", "AllocCount$Color[]:", "AllocCount$$Lambda")
    for problem in exact(counts, told):
        if not problem.startswith(before):
            yield problem


def jdk(counts, told, counts_of_more, told_of_more):
    few, many = load(counts)["jdk"], load(counts_of_more)["jdk"]
    was, now = by_class(load(told)), by_class(load(told_of_more))
    for name in sorted(many):
        wanted = many[name] - few.get(name, 0)
        got = now.get(name, 0) - was.get(name, 0)
        # Arrays that the JDK makes inside strings and lists: at least those.  Some tens are its own
        # affair, as it makes calls by reflection faster.
        if got < wanted or got > wanted + 60 and name in SURE:
            yield f"{name}: counted {wanted} more, told {got}"


SURE = {"java.lang.Integer", "java.lang.Long", "java.lang.Double", "java.lang.Character",
        "java.lang.Short", "java.lang.String", "java.lang.StringBuilder", "java.util.ArrayList",
        "java.util.LinkedList$Node", "java.util.HashMap$Node", "java.util.TreeMap$Entry",
        "java.lang.ref.Finalizer", "java.lang.ArithmeticException",
        "java.lang.StackTraceElement", "boolean[]", "short[]", "float[]", "double[]"}


def lines(told_lines, times, told):
    n = int(times)
    a, b, c, d, e, f, g, deep = map(int, told_lines.split()[1:])
    wanted = {("AllocCount$Line", a): n, ("AllocCount$Line[]", b): n,
              ("AllocCount$Line[][]", c): n, ("AllocCount$Line[]", c): n,
              ("AllocCount$Line[]", d): 2 * n, ("AllocCount$Line[]", e): n,
              ("AllocCount$Line[]", f): 2 * n, ("AllocCount$Deep", g): n,
              ("AllocCount$Line[]", deep): n}
    got = {}
    for site in load(told)["sites"]:
        if not element(site["class"]).startswith(("AllocCount$Line", "AllocCount$Deep")):
            continue
        where = next((frame for frame in site["stack"] if "AllocCount." in frame
                      or "AllocCount$Deep" in frame), "?")
        line = int(where.rpartition(":")[2].rstrip(")"))
        got[site["class"], line] = got.get((site["class"], line), 0) + site["count"]
        if not site["stack"][-1].startswith(("AllocCount.main(", "java.lang.Thread.run")):
            yield f"a stack that ends at {site['stack'][-1]}"
    if got != wanted:
        yield f"wanted {wanted}"
        yield f"told {got}"


def place(site):
    return next((frame.partition("(")[0].rpartition(".")[2] for frame in site["stack"]
                 if frame.startswith("AllocWork$Mix.p")), None)


def by_place(profile):
    sums = {}
    for site in profile["sites"]:
        if place(site):
            told = sums.setdefault((place(site), site["class"]), [0, 0, 0])
            told[0] += site["count"]
            told[1] += site["bytes"]
            told[2] += site.get("samples", 0)
    return sums


def shares(mixed, told, mixed_exactly, told_exactly):
    made, exactly = load(mixed), load(mixed_exactly)
    sizes = by_place(load(told_exactly))
    profile = load(told)
    got = by_place(profile)
    wanted = {key: s[1] / exactly[key[0]] * made[key[0]] for key, s in sizes.items()}
    interval = profile["interval"]

    if len(wanted) < 20:
        yield f"{len(wanted)} places"
    classes = {}
    for key, size in wanted.items():
        sums = classes.setdefault(key[1], [0, 0])
        sums[0] += size
        sums[1] += got.get(key, [0, 0, 0])[1]
    for name, (right, told_bytes) in sorted(classes.items()):
        chance = 4 / math.sqrt(max(right / interval, 1))
        if abs(told_bytes / right - 1) > max(0.05, chance):
            yield (f"{name}: made {right:.0f} bytes, estimated {told_bytes}: {told_bytes / right:.4f},"
                   f" chance allows {chance:.3f}")
    large = sum(right for right, _ in classes.values())
    total = sum(told_bytes for _, told_bytes in classes.values())
    print(f"# {large / interval:.0f} samples, all: {total / large:.4f}, by class: "
          + " ".join(f"{t / r:.3f}" for r, t in classes.values()), file=sys.stderr)
    if abs(total / large - 1) > 0.05:
        yield f"{large:.0f} bytes were made, {total} are estimated"
    order = sorted(wanted, key=wanted.get, reverse=True)[:20]
    for i, first in enumerate(order):
        for second in order[i + 1:]:
            a, b = (got.get(key, [0, 0, 0])[1] for key in (first, second))
            # Ties: what is closer than chance moves them.
            chance = 4 * math.sqrt((wanted[first] + wanted[second]) * interval)
            if a < b and wanted[first] - wanted[second] > chance:
                yield f"{first} is behind {second}: {a} and {b}"


def collapsed(path, told, key):
    total = 0
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, _, n = line.rstrip("\n").rpartition(" ")
            total += int(n)
            if not stack or ";;" in stack:
                yield f"an empty frame: {line!r}"
    wanted = sum(site[key] for site in load(told)["sites"])
    if total != wanted or not total:
        yield f"the profile's are {wanted}, in the file are {total}"


def leak(name, method, how, leaked, told):
    """Most of what was leaked, but what is still too young, and in the first row."""
    sites = load(told)["sites"]
    first = sites[0] if sites else None
    if not first or first["class"] != name or not any(method + "(" in f for f in first["stack"]):
        yield f"first: {first}"
        return
    n = int(leaked)
    # An interval that was chosen makes a few samples.
    low, high = {"exact": (n * 0.4, n), "sampled": (n * 0.3, n * 1.5), "chosen": (1, n * 5)}[how]
    if not low <= first["live_count"] <= high or not 900 < first["live_bytes"] / first["live_count"] < 1100:
        yield f"{n} of a thousand bytes were leaked: {first}"


verbs = {"exact": exact, "start": start, "jdk": jdk, "lines": lines, "shares": shares, "collapsed": collapsed,
         "leak": leak}
problems = [*verbs[sys.argv[1]](*sys.argv[2:])]
for problem in problems[:20]:
    print(problem.encode("ascii", "backslashreplace").decode())
sys.exit(bool(problems))
