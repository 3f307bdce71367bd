"""Prints a line for each kind of path in refpaths' JSON, and the numbers of instances, of those
that have a path, and of those that only a weak path reaches.  Omits indices in arrays and the names
of lambdas, because they depend on hashes."""
import json
import re
import sys


def plain(text):
    return re.sub(r"\[\d+\]", "[*]", re.sub(r"Lambda.*", "Lambda", text))


def shown(path):
    root, steps = path["root"], path["steps"]
    words = [str(path["count"]), root["kind"]]
    words += [root[key] for key in ("thread", "method") if root[key]]
    assert path["length"] == len(steps) and steps[-1]["via"] is None
    held = ["%s -%s->" % (plain(s["class"]), plain(s["via"])) for s in steps[:-1]]
    return " ".join(words) + ": " + " ".join(held + [plain(steps[-1]["class"])])


document = json.load(open(sys.argv[1]))
for line in sorted(shown(path) for path in document["paths"]):
    print(line.encode("unicode_escape").decode())
print("%(instances)d %(reached)d %(only_weakly)d" % document)
