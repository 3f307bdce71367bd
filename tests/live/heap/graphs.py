"""Compares jtool's results for a victim's graph with brute force (Graphs.java).

graphs.py graph EXPECTED HISTOGRAM RETAINED STRONG WEAK   the results for every node
graphs.py live HISTOGRAM RETAINED                         the total of each class

EXPECTED is the victim's answer, the others are JSON of jtool: a histogram, `retained --tree`, and
`refpaths` to all the nodes, without and with weak references. Only the nodes whose names begin
with OURS are compared, and the objects that refer to them.
"""
import collections
import json
import re
import sys

OURS = "Made$"
WORD = 8
SHOWN = 6  # differences that are printed
# By how many instances of a JDK class two answers may differ: requests allocate and free some, and
# the JVM hides a few threads.
DRIFT_MAX = 16
# Classes that a walk sees partially: the values of fields of java.lang.Class, the JVM's internal
# objects, archived objects of classes that are not loaded, and fillers.
UNSEEN = re.compile(r"((byte|char|short|int)|"
                    r"java\.lang\.(Class|Object|String|reflect\..*)|"
                    r"java\.lang\.(Class\$.*|invoke\..*|ref\.SoftReference)|"
                    r"(jdk\.internal|sun)\.(reflect\.|vm\.Filler).*)(\[\])*")


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def class_of(name):
    return name.split("#")[0]


def ours(expected):
    return {n: node for n, node in expected.items() if n.startswith(OURS)}


# Sizes.

def aligned(n):
    return (n + WORD - 1) // WORD * WORD


class Sizes:
    """The sizes of nodes. An object's size is in the histogram; an array class may have arrays of
    several lengths, whose sizes follow from the only layout that agrees with the histogram."""

    def __init__(self, histogram, nodes):
        rows = {c["class"]: (c["instances"], c["bytes"]) for c in histogram["classes"]}
        self.objects = {name: size // n for name, (n, size) in rows.items()}
        known = {(node["length"], rows[class_of(name)][1]) for name, node in nodes.items()
                 if node["length"] is not None and rows.get(class_of(name), (0,))[0] == 1}
        rules = [(base, each) for base in range(12, 28, 4) for each in (4, 8)
                 if all(aligned(base + each * n) == size for n, size in known)]
        if not rules:
            sys.exit(f"no rule for the sizes of arrays: {sorted(known)}")
        self.base, self.each = rules[0]

    def of(self, name, node):
        if node["length"] is not None:
            return aligned(self.base + self.each * node["length"])
        return self.objects[class_of(name)]


# Retained sizes and dominators.

def dominators(expected, name):
    """The dominators of a node, the nearest first."""
    while name := expected[name]["dominator"]:
        yield name


def expected_retained(expected, sizes):
    """For each node, the size of all nodes that it dominates."""
    retained = collections.Counter()
    for name, node in ours(expected).items():
        if node["reached"]:
            for holder in [name, *dominators(expected, name)]:
                retained[holder] += sizes.of(name, node)
    return retained


def expected_rows(expected, sizes, retained):
    """By class: the number of instances, their shallow size and their retained size."""
    rows = collections.defaultdict(lambda: [0, 0, 0])
    for name, node in ours(expected).items():
        if not node["reached"]:
            continue
        row = rows[class_of(name)]
        row[0] += 1
        row[1] += sizes.of(name, node)
        if class_of(name) not in map(class_of, dominators(expected, name)):
            row[2] += retained[name]
    return {name: tuple(row) for name, row in rows.items()}


def told_rows(document):
    return {c["class"]: (c["instances"], c["shallow"], c["retained"])
            for c in document["classes"] if c["class"].startswith(OURS)}


def expected_tree(expected, sizes, retained):
    """The number of classes with this length and retained size below a dominator."""
    return collections.Counter(
        (class_of(name), node["length"], sizes.of(name, node), retained[name],
         class_of(node["dominator"] or "-"))
        for name, node in ours(expected).items() if node["reached"])


def told_tree(document):
    tree = collections.Counter()
    queue = [(entry, "-") for entry in document["tree"]]
    while queue:
        entry, parent = queue.pop()
        name = ("class " if entry["class_object"] else "") + entry["class"]
        if name.startswith(OURS):
            tree[name, entry["length"], entry["shallow"], entry["retained"], parent] += 1
        queue += [(child, name) for child in entry["children"]]
    return tree


def compare_retained(expected, histogram, document):
    sizes = Sizes(histogram, ours(expected))
    retained = expected_retained(expected, sizes)
    want, got = expected_rows(expected, sizes, retained), told_rows(document)
    for name in sorted(set(want) | set(got)):
        if want.get(name) != got.get(name):
            yield f"{name}: {want.get(name)} expected, {got.get(name)} reported"
    want, got = expected_tree(expected, sizes, retained), told_tree(document)
    for what in (want - got).elements():
        yield f"not in the tree: {what}"
    for what in (got - want).elements():
        yield f"in the tree, but wrong: {what}"


# Paths.

def edge_fits(wanted, reported):
    if wanted == "referent":
        return reported.startswith("field referent")
    return wanted == reported or (wanted == "[*]" and re.fullmatch(r"\[\d+\]", reported))


def root_fits(node, root):
    """Whether a root of this kind fits a node of this name."""
    kind = root["kind"]
    if node.startswith("class "):
        return kind == "class"
    if node.startswith("Graphs$Worker#"):
        return kind == "thread"
    if kind == "stack local":
        return re.fullmatch(r"worker-\d", root["thread"] or "") and \
            (root["method"] or "").startswith("Graphs$Worker.")
    return kind == "monitor"


def follow(expected, path):
    """The nodes that a path may end at: several if nodes of one class are alike."""
    steps = path["steps"]
    names = {n for n, node in expected.items() if node["root"] and root_fits(n, path["root"])
             and class_of(n).removeprefix("class ") == steps[0]["class"]}
    for step, following in zip(steps, steps[1:]):
        names = {to for n in names for via, to in expected[n]["edges"]
                 if edge_fits(via, step["via"]) and class_of(to) == following["class"]}
    return names


def compare_paths(which, expected, document):
    nodes = ours(expected)
    reached = {n: node[which] for n, node in nodes.items() if node[which] > 0}
    counts = collections.Counter()
    shortest = {}
    for path in document["paths"]:
        steps = path["steps"]
        to = steps[-1]["class"]
        counts[to] += path["count"]
        shortest[to] = min(path["length"], shortest.get(to, path["length"]))
        if path["length"] != len(steps):
            yield f"{to}: of length {path['length']}, {len(steps)} steps"
        elif not any(reached.get(n) == len(steps) for n in follow(expected, path)):
            yield f"{to}: {len(steps)} steps, " \
                  f"{[reached[n] for n in reached if class_of(n) == to]} expected: {path}"
    want = collections.Counter(map(class_of, reached))
    for name in sorted(set(want) | set(counts)):
        if want[name] != counts[name]:
            yield f"{name}: {want[name]} expected to be reached, {counts[name]} reported"
        elif shortest[name] != min(d for n, d in reached.items() if class_of(n) == name):
            yield f"{name}: the shortest reported path has {shortest[name]} steps"
    if document["reached"] != len(reached):
        yield f"{len(reached)} expected to be reached, {document['reached']} reported"


def compare_graph(expected, histogram, retained, strong, weak):
    for line in compare_retained(expected, histogram, retained):
        yield f"retained: {line}"
    for which, paths in ("strong", strong), ("weak", weak):
        for line in compare_paths(which, expected, paths):
            yield f"{which} paths: {line}"


# Totals.

def compare_live(histogram, document):
    want = {c["class"]: (c["instances"], c["bytes"]) for c in histogram["classes"]}
    got = {c["class"]: (c["instances"], c["shallow"]) for c in document["classes"]}
    for name in sorted(set(want) | set(got)):
        one, other = want.get(name, (0, 0)), got.get(name, (0, 0))
        if name.startswith(OURS):
            good = one == other
        elif UNSEEN.fullmatch(name):
            good = other[0] <= one[0] + DRIFT_MAX
        else:
            good = abs(one[0] - other[0]) <= DRIFT_MAX
        if not good:
            yield f"{name}: {one} in the histogram, {other} reported"


def main():
    compare = {"graph": compare_graph, "live": compare_live}[sys.argv[1]]
    bad = list(compare(*map(load, sys.argv[2:])))
    for line in bad[:SHOWN]:
        print(line)
    if len(bad) > SHOWN:
        print(f"and {len(bad) - SHOWN} more")
    sys.exit(bool(bad))


main()
