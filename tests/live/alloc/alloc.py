"""What tests/live/alloc.sh does with what `alloc --json` says.

exact COUNTS PROFILE [BEFORE AFTER]  of the application's own classes the profile tells so many as
                       the application counted, no more, no fewer, and of no others; with heaphisto's
                       histograms of before and after, as many bytes as the heap has more of them
start COUNTS PROFILE   likewise, of one from the JVM's start on
jdk COUNTS PROFILE COUNTS PROFILE  the difference of two runs is what the application counted
lines LINES TIMES PROFILE   what was made so many times in these lines of AllocCount, is told there
mix MIXED EXACT        all that AllocWork made is told, exactly by class
shares MIXED PROFILE EXACT  estimates by class within 5 %, or what chance allows, of what the
                       application counted (with sizes from the exact profile), places in order
collapsed FILE PROFILE KEY  its numbers add up to the profile's
leak HOW N OLD PROFILE  the first row is what leaked, N in all, of which OLD or more are live
young PROFILE          what is alive is what AllocLeak has in its cache
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


# Of which classes each place makes how many.
MADE = {"p0": {"AllocWork$C3": 1}, "p1": {"AllocWork$C0": 1}, "p2": {"AllocWork$C1": 1},
        "p3": {"AllocWork$C2": 1}, "p4": {"AllocWork$C3": 1}, "p5": {"AllocWork$C4": 1},
        "p6": {"byte[]": 1}, "p7": {"int[]": 1}, "p8": {"AllocWork$C3[]": 1},
        "p9": {"AllocWork$C0": 1}, "p10": {"char[]": 1}, "p11": {"long[][]": 1, "long[]": 3},
        "p12": {"AllocWork$C2": 1}, "p13": {"byte[]": 1}, "p14": {"java.lang.Object[]": 1},
        "p15": {"AllocWork$C1": 1}, "p16": {"short[]": 1}, "p17": {"AllocWork$C4[]": 1},
        "p18": {"AllocWork$C0": 1}, "p19": {"AllocWork$C4": 1}}
SIGMAS = 5  # what chance exceeds once in millions of times


def place(site):
    return next((frame.partition("(")[0].rpartition(".")[2] for frame in site["stack"]
                 if frame.startswith("AllocWork$Mix.p")), None)


def by_place(profile):
    sums = {}
    for site in profile["sites"]:
        where = place(site)
        if site["class"] in MADE.get(where, ()):
            told = sums.setdefault((where, site["class"]), [0, 0])
            told[0] += site["count"]
            told[1] += site["bytes"]
    return sums


def all_made(mixed):
    made = load(mixed)
    return {(where, name): made[where] * n
            for where, names in MADE.items() for name, n in names.items()}


def mix(mixed, told):
    """Exact by class; the places of arrays, too, are told by those alone who made them."""
    wanted, got = all_made(mixed), by_place(load(told))
    if wanted.keys() != got.keys():
        yield f"made at {sorted(wanted)}, told at {sorted(got)}"
    for name in sorted({name for _, name in wanted}):
        made, count = (sum(n for key, n in sums.items() if key[1] == name)
                       for sums in (wanted, {key: told[0] for key, told in got.items()}))
        if made != count:
            yield f"{name}: made {made}, told {count}"


def shares(mixed, told, told_exactly):
    # All of a place have one size, so that is exact whatever share of a class each place has.
    sizes = {key: size / n for key, (n, size) in by_place(load(told_exactly)).items()}
    wanted = {key: n * sizes.get(key, 0) for key, n in all_made(mixed).items()}
    profile = load(told)
    got = {key: size for key, (_, size) in by_place(profile).items()}
    interval = profile["interval"]

    classes = {"all": [sum(wanted.values()), sum(got.values())]}
    for key, size in wanted.items():
        sums = classes.setdefault(key[1], [0, 0])
        sums[0] += size
        sums[1] += got.get(key, 0)
    print(f"# {classes['all'][0] / interval:.0f} samples: "
          + " ".join(f"{t / r:.3f}" for r, t in classes.values()), file=sys.stderr)
    for name, (right, estimate) in sorted(classes.items()):
        # As many samples as there are intervals: all is much smaller than one.
        chance = SIGMAS / math.sqrt(max(right / interval, 1))
        if abs(estimate / right - 1) > max(0.05, chance):
            yield (f"{name}: made {right:.0f} bytes, estimated {estimate}:"
                   f" {estimate / right:.4f}, chance allows {chance:.3f}")
    order = sorted(wanted, key=wanted.get, reverse=True)[:20]
    for i, first in enumerate(order):
        for second in order[i + 1:]:
            a, b = got.get(first, 0), got.get(second, 0)
            # Ties: what is closer than chance moves them.
            chance = SIGMAS * math.sqrt((wanted[first] + wanted[second]) * interval)
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


ARRAY = 1016  # of a thousand bytes


def spread(n, size, interval):
    """What chance makes of an estimate of n objects: each is sampled with the probability p, and
    HotSpot's is some 2 % off that."""
    p = -math.expm1(-size / interval)
    return 0 if interval == 1 else SIGMAS * math.sqrt(n * (1 - p) / p) + n * 0.02


def leak(how, leaked, old, told):
    """All of what was leaked, by count; of what lives all that is old enough; in the first row."""
    profile = load(told)
    first = profile["sites"][0] if profile["sites"] else None
    if not first or first["class"] != "byte[]" or not any(
            "AllocLeak.leak(" in frame for frame in first["stack"]):
        yield f"first: {first}"
        return
    n, old = int(leaked), int(old)
    if old < n / 2:
        yield f"of {n} that leaked {old} are old"
    # One that is chosen is chosen by the rate, which has a limit.
    interval = {"exact": 1, "sampled": 4096, "chosen": 128 << 10}[how]
    size = first["live_bytes"] / max(first["live_count"], 1)
    if not ARRAY * 0.999 < size < ARRAY * 1.001:
        yield f"{size} bytes each"
    count, live, by_chance = (first["count"], first["live_count"], spread(n, ARRAY, interval))
    print(f"# {how}: leaked {n}, told {count}; {old} are old, told {live}; {by_chance:.0f} by chance",
          file=sys.stderr)
    if abs(count - n) > by_chance:
        yield f"{n} leaked, told {count}"
    if not old - by_chance <= live <= n + by_chance:
        yield f"{old} of {n} are old, told {live}"
    # Of a hundred megabytes and more: at the interval that is the first one, it were half of that.
    if how == "chosen" and profile["samples"] < 500:
        yield f"{profile['samples']} samples: a shorter interval would have been better"


def young(told):
    """The cache and no more, however much went through it; and of all else one at most."""
    profile = load(told)
    live = {name: sum(site["live_count"] for site in profile["sites"] if site["class"] == name
                      and any("AllocLeak.churn(" in frame for frame in site["stack"]))
            for name in ("long[]", "java.util.HashMap$Node")}
    by_chance = spread(1000, 176, profile["interval"])
    print(f"# young: {live}, {by_chance:.0f} by chance", file=sys.stderr)
    if abs(live["long[]"] - 1000) > by_chance:
        yield f"1000 are in the cache, told {live['long[]']}; chance allows {by_chance:.0f}"
    if live["java.util.HashMap$Node"] > 1 / -math.expm1(-32 / profile["interval"]) + 1:
        yield f"garbage lives: {live}"


verbs = {"exact": exact, "start": start, "jdk": jdk, "lines": lines, "mix": mix, "shares": shares,
         "collapsed": collapsed, "leak": leak, "young": young}
problems = [*verbs[sys.argv[1]](*sys.argv[2:])]
for problem in problems[:20]:
    print(problem.encode("ascii", "backslashreplace").decode())
sys.exit(bool(problems))
