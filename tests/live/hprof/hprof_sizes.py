"""Compares the objects in a dump with the live objects before and after it, class by class.

Usage: hprof_sizes.py BEFORE DUMP AFTER: JSON of heaphisto.  Classes whose number of
instances in the JVM changed meanwhile are skipped; there must be few.
"""
import json
import re
import sys

FILLER = "jdk.internal.vm.FillerElement[]"  # in a dump they are int[]


def read(path):
    classes = {}
    for row in json.load(open(path))["classes"]:
        # JDK 8 and 11 number hidden classes by hashes that a dump does not have.
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
