"""Compares `alloc --json` with the applications' own counts for tests/live/alloc/alloc.sh.

exact COUNTS PROFILE [BEFORE AFTER]  the profile has exactly the objects of the application's own
                       classes that the application counted; with heaphisto's histograms from before
                       and after, also the bytes by which the heap has grown
start COUNTS PROFILE   the same for a recording since the JVM's start
jdk COUNTS PROFILE COUNTS PROFILE  two runs differ by what the application counted
lines LINES TIMES PROFILE   each of these lines of AllocCount has TIMES allocations
mix MIXED EXACT        every allocation of AllocWork is in the profile, by class
shares MIXED PROFILE EXACT  estimates by class are within 5 %, or the random error, of the
                       application's counts (with sizes from the exact profile); sites are in order
collapsed FILE PROFILE KEY  the numbers in FILE add up to the profile's
leak HOW N OLD PROFILE  the first row is the leak: N objects, at least OLD of them live
young PROFILE          the live objects are those in AllocLeak's cache
Prints nothing if they agree; otherwise prints the difference and fails.
"""
import gzip
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
    """The classes of lambdas have numbers: they share one key that ends with *."""
    prefixes = [key[:-1] for key in wanted if key.endswith("*")]
    grouped = {}
    for name, n in sums.items():
        key = next((p + "*" for p in prefixes if name.startswith(p)), name)
        grouped[key] = grouped.get(key, 0) + n
    return grouped


def heap(path):
    return {c["class"]: (c["instances"], c["bytes"]) for c in load(path)["classes"]}


def exact(counts, reported, before=None, after=None):
    wanted, profile = load(counts)["own"], load(reported)
    got, size = (group(by_class(profile, value), wanted) for value in ("count", "bytes"))
    if not wanted:
        yield "nothing was counted"
    for name in sorted(wanted):
        if name.endswith("?"):
            continue
        # A changed class links its lambdas again, and then creates those without captures again.
        more = wanted.get(name + "?", 0) + (20 if name.endswith("*") else 0)
        if not wanted[name] <= got.get(name, 0) <= wanted[name] + more:
            yield f"{name}: counted {wanted[name]}, reported {got.get(name, 0)}"
    for name in sorted(got.keys() - wanted.keys()):
        if element(name).startswith(("AllocCount", "AllocLoads")) and got[name]:
            yield f"{name}: not counted, reported {got[name]}"
    if before:
        was, now = heap(before), heap(after)
        for name in sorted(wanted):
            if name.endswith(("*", "?")) or name + "?" in wanted:
                continue
            objects, taken = (b - a for a, b in zip(was.get(name, (0, 0)), now.get(name, (0, 0))))
            if (objects, taken) != (got.get(name), size.get(name)):
                yield (f"{name}: the heap has {objects} objects, {taken} bytes more; reported"
                       f" {got.get(name)}, {size.get(name)}")


def start(counts, reported):
    """Equal, except for the objects that the classes create before the profile starts."""
    before = ("AllocCount:", "AllocCount$Color:", "AllocCount$Color[]:", "AllocCount$$Lambda")
    for problem in exact(counts, reported):
        if not problem.startswith(before):
            yield problem


def jdk(counts, reported, longer_counts, longer_profile):
    few, many = load(counts)["jdk"], load(longer_counts)["jdk"]
    was, now = by_class(load(reported)), by_class(load(longer_profile))
    for name in sorted(many):
        wanted = many[name] - few.get(name, 0)
        got = now.get(name, 0) - was.get(name, 0)
        # The counts of arrays, which the JDK allocates in strings and lists, are lower bounds.
        # Up to 60 more objects are the JDK's own: it replaces reflection calls by generated code.
        if got < wanted or got > wanted + 60 and name in SURE:
            yield f"{name}: counted {wanted} more, reported {got}"


SURE = {"java.lang.Integer", "java.lang.Long", "java.lang.Double", "java.lang.Character",
        "java.lang.Short", "java.lang.String", "java.lang.StringBuilder", "java.util.ArrayList",
        "java.util.LinkedList$Node", "java.util.HashMap$Node", "java.util.TreeMap$Entry",
        "java.lang.ref.Finalizer", "java.lang.ArithmeticException",
        "java.lang.StackTraceElement", "boolean[]", "short[]", "float[]", "double[]"}


def lines(source_lines, times, reported):
    n = int(times)
    a, b, c, d, e, f, g, deep = map(int, source_lines.split()[1:])
    wanted = {("AllocCount$Line", a): n, ("AllocCount$Line[]", b): n,
              ("AllocCount$Line[][]", c): n, ("AllocCount$Line[]", c): n,
              ("AllocCount$Line[]", d): 2 * n, ("AllocCount$Line[]", e): n,
              ("AllocCount$Line[]", f): 2 * n, ("AllocCount$Deep", g): n,
              ("AllocCount$Line[]", deep): n}
    got = {}
    for site in load(reported)["sites"]:
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
        yield f"reported {got}"


# The classes of each allocation site, and how many objects of each it allocates per round.
MADE = {"p0": {"AllocWork$C3": 1}, "p1": {"AllocWork$C0": 1}, "p2": {"AllocWork$C1": 1},
        "p3": {"AllocWork$C2": 1}, "p4": {"AllocWork$C3": 1}, "p5": {"AllocWork$C4": 1},
        "p6": {"byte[]": 1}, "p7": {"int[]": 1}, "p8": {"AllocWork$C3[]": 1},
        "p9": {"AllocWork$C0": 1}, "p10": {"char[]": 1}, "p11": {"long[][]": 1, "long[]": 3},
        "p12": {"AllocWork$C2": 1}, "p13": {"byte[]": 1}, "p14": {"java.lang.Object[]": 1},
        "p15": {"AllocWork$C1": 1}, "p16": {"short[]": 1}, "p17": {"AllocWork$C4[]": 1},
        "p18": {"AllocWork$C0": 1}, "p19": {"AllocWork$C4": 1}}
SIGMAS = 5  # exceeded by chance once in millions of runs


def place(site):
    return next((frame.partition("(")[0].rpartition(".")[2] for frame in site["stack"]
                 if frame.startswith("AllocWork$Mix.p")), None)


def by_site(profile):
    sums = {}
    for site in profile["sites"]:
        where = place(site)
        if site["class"] in MADE.get(where, ()):
            reported = sums.setdefault((where, site["class"]), [0, 0])
            reported[0] += site["count"]
            reported[1] += site["bytes"]
    return sums


def all_made(mixed):
    made = load(mixed)
    return {(where, name): made[where] * n
            for where, names in MADE.items() for name, n in names.items()}


def mix(mixed, reported):
    """Exact by class; array sites are identified by their stacks only."""
    wanted, got = all_made(mixed), by_site(load(reported))
    if wanted.keys() != got.keys():
        yield f"allocated at {sorted(wanted)}, reported at {sorted(got)}"
    for name in sorted({name for _, name in wanted}):
        made, count = (sum(n for key, n in sums.items() if key[1] == name)
                       for sums in (wanted, {key: reported[0] for key, reported in got.items()}))
        if made != count:
            yield f"{name}: allocated {made}, reported {count}"


def shares(mixed, reported, exact_profile):
    # All objects of a site have one size, so these sizes are exact.
    sizes = {key: size / n for key, (n, size) in by_site(load(exact_profile)).items()}
    wanted = {key: n * sizes.get(key, 0) for key, n in all_made(mixed).items()}
    profile = load(reported)
    got = {key: size for key, (_, size) in by_site(profile).items()}
    interval = profile["interval"]

    classes = {"all": [sum(wanted.values()), sum(got.values())]}
    for key, size in wanted.items():
        sums = classes.setdefault(key[1], [0, 0])
        sums[0] += size
        sums[1] += got.get(key, 0)
    print(f"# {classes['all'][0] / interval:.0f} samples: "
          + " ".join(f"{t / r:.3f}" for r, t in classes.values()), file=sys.stderr)
    for name, (right, estimate) in sorted(classes.items()):
        # Every object is much smaller than an interval, so there is one sample for each interval.
        chance = SIGMAS / math.sqrt(max(right / interval, 1))
        if abs(estimate / right - 1) > max(0.05, chance):
            yield (f"{name}: allocated {right:.0f} bytes, estimated {estimate}:"
                   f" {estimate / right:.4f}, chance allows {chance:.3f}")
    order = sorted(wanted, key=wanted.get, reverse=True)[:20]
    for i, first in enumerate(order):
        for second in order[i + 1:]:
            a, b = got.get(first, 0), got.get(second, 0)
            # Either order is accepted if the difference is within the error of the estimate.
            chance = SIGMAS * math.sqrt((wanted[first] + wanted[second]) * interval)
            if a < b and wanted[first] - wanted[second] > chance:
                yield f"{first} is after {second}: {a} and {b}"


def collapsed(path, reported, key):
    total = 0
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, _, n = line.rstrip("\n").rpartition(" ")
            total += int(n)
            if not stack or ";;" in stack:
                yield f"an empty frame: {line!r}"
    wanted = sum(site[key] for site in load(reported)["sites"])
    if total != wanted or not total:
        yield f"the profile's are {wanted}, in the file are {total}"


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """Yields the number and the value of each field of a protobuf message."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        value, at = varint(data, at)
        if tag & 7 == 2:
            at, value = at + value, data[at:at + value]
        yield tag >> 3, value


def packed(data):
    at, numbers = 0, []
    while at < len(data):
        number, at = varint(data, at)
        numbers.append(number)
    return numbers


def pprof(path, reported):
    """The samples of a pprof profile add up to the sites, and each location has a function."""
    message = [*fields(gzip.open(path).read())]
    strings = [value.decode() for number, value in message if number == 6]
    functions = {dict(fields(value))[1] for number, value in message if number == 5}
    samples = [dict(fields(value)) for number, value in message if number == 2]
    sums = [sum(values) for values in zip(*(packed(sample[2]) for sample in samples))]
    sites = load(reported)["sites"]
    keys = ["bytes", "count"]
    if "inuse_space" in strings:
        keys += ["live_bytes", "live_count"]
    wanted = [sum(site[key] for site in sites) for key in keys]
    if sums != wanted:
        yield f"the profile's are {wanted}, in the file are {sums}"
    if not all(functions.issuperset(packed(sample[1])) for sample in samples):
        yield "a sample has a location without a function"
    if "AllocWork.java" not in strings or strings[0]:
        yield f"strings: {strings[:20]}"


ARRAY = 1016  # a byte[1000] with its header


def spread(n, size, interval):
    """The random error of an estimate of n objects: each is sampled with probability p, from which
    HotSpot's deviates by about 2 %."""
    p = -math.expm1(-size / interval)
    return 0 if interval == 1 else SIGMAS * math.sqrt(n * (1 - p) / p) + n * 0.02


def leak(how, leaked, old, reported):
    """Checks that the leak is the first row: the count of all leaked objects, and the live count of
    the old ones."""
    profile = load(reported)
    first = profile["sites"][0] if profile["sites"] else None
    if not first or first["class"] != "byte[]" or not any(
            "AllocLeak.leak(" in frame for frame in first["stack"]):
        yield f"first: {first}"
        return
    n, old = int(leaked), int(old)
    if old < n / 2:
        yield f"of {n} that leaked {old} are old"
    # A chosen interval follows the allocation rate, up to a limit.
    interval = {"exact": 1, "sampled": 4096, "chosen": 128 << 10}[how]
    size = first["live_bytes"] / max(first["live_count"], 1)
    if not ARRAY * 0.999 < size < ARRAY * 1.001:
        yield f"{size} bytes each"
    count, live, random_error = (first["count"], first["live_count"], spread(n, ARRAY, interval))
    print(f"# {how}: leaked {n}, reported {count}; {old} are old, reported {live};"
          f" {random_error:.0f} by chance",
          file=sys.stderr)
    if abs(count - n) > random_error:
        yield f"{n} leaked, reported {count}"
    if not old - random_error <= live <= n + random_error:
        yield f"{old} of {n} are old, reported {live}"
    # The victim allocates 100 MB or more; the initial interval would take half as many samples.
    if how == "chosen" and profile["samples"] < 500:
        yield f"{profile['samples']} samples: a shorter interval would have been better"


def young(reported):
    """Checks that only the entries that are still in the cache are live, plus at most one other
    object."""
    profile = load(reported)
    live = {name: sum(site["live_count"] for site in profile["sites"] if site["class"] == name
                      and any("AllocLeak.churn(" in frame for frame in site["stack"]))
            for name in ("long[]", "java.util.HashMap$Node")}
    random_error = spread(1000, 176, profile["interval"])
    print(f"# young: {live}, {random_error:.0f} by chance", file=sys.stderr)
    if abs(live["long[]"] - 1000) > random_error:
        yield f"1000 are in the cache, reported {live['long[]']}; chance allows {random_error:.0f}"
    if live["java.util.HashMap$Node"] > 1 / -math.expm1(-32 / profile["interval"]) + 1:
        yield f"garbage lives: {live}"


verbs = {"exact": exact, "start": start, "jdk": jdk, "lines": lines, "mix": mix, "shares": shares,
         "collapsed": collapsed, "pprof": pprof, "leak": leak, "young": young}
problems = [*verbs[sys.argv[1]](*sys.argv[2:])]
for problem in problems[:20]:
    print(problem.encode("ascii", "backslashreplace").decode())
sys.exit(bool(problems))
