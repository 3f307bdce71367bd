"""What is in a dump, against the live objects before and after it, class by class.

Usage: hprof_sizes.py BEFORE DUMP AFTER: JSON of heaphisto.  Classes of which the JVM itself had
another number meanwhile are not looked at; there must be few.
"""
import json
import re
import sys

FILLER = "jdk.internal.vm.FillerElement[]"  # in a dump they are int[], as which they count


def read(path):
    classes = {}
    for row in json.load(open(path))["classes"]:
        # JDK 8 and 11 number their hidden classes by hashes, which are not in a dump.
        name = re.sub(r"/(0x)?[0-9a-f]+", "", row["class"])
        name = "int[]" if name == FILLER else name
        sums = classes.setdefault(name, [0, 0])
        sums[0] += row["instances"]
        sums[1] += row["bytes"]
    return classes


before, dump, after = map(read, sys.argv[1:])
wrong, moved = [], []
for name in sorted(set(before) | set(dump) | set(after)):
    if before.get(name) != after.get(name):
        moved.append(name)
    elif before.get(name) != dump.get(name):
        wrong.append(f"{name}: {dump.get(name)}, should be {before.get(name)}")
if len(moved) > 20 or len(dump) < 100:
    wrong.append(f"{len(moved)} of {len(dump)} classes changed meanwhile: {moved[:5]}")
print("\n".join(wrong))
sys.exit(bool(wrong))
