"""Checks maps of compiled code.  Prints "same" or what is wrong.

    perfmap.py mapped PID MAP    all code is in the code cache's mappings; no piece overlaps another
    perfmap.py names MAP MAP     code at the same addresses has the same names, in most cases
"""
import re
import sys


def lines_of(path):
    rows = []
    for line in open(path):
        address, size, name = line.rstrip("\n").split(" ", 2)
        rows.append((int(address, 16), int(size, 16), name))
    return rows


def code_mappings(pid):
    """Returns the executable mappings without a file.  The JVM reserves its code cache like that."""
    found = []
    for line in open(f"/proc/{pid}/maps"):
        span, mode, _, _, inode, *name = line.split()
        if "x" in mode and inode == "0" and not name:
            found.append(tuple(int(end, 16) for end in span.split("-")))
    return found


def mapped(pid, path):
    mappings = code_mappings(pid)
    rows = lines_of(path)
    wrong = [
        f"{start:x} {size:x} {name} is outside"
        for start, size, name in rows
        if size == 0 or not any(low <= start and start + size <= high for low, high in mappings)
    ]
    wrong += [
        f"{name} reaches into {later}"
        for (start, size, name), (begin, _, later) in zip(rows, rows[1:])
        if start + size > begin
    ]
    return "\n".join(wrong[:20]) or ("same" if len(rows) > 100 else "too few rows")


def methods_of(path):
    """The agent cannot know the names of method handle intrinsics.  "x_stub (stub gen)" of JDK 27 is
    not a method."""
    return {
        start: name
        for start, _, name in lines_of(path)
        if name.endswith(")") and " (" not in name and not re.search(r" java\.lang\.invoke\.MethodHandle\.", name)
    }


def names(one, other):
    """Between the two maps the JVM may discard methods, and use their memory for others."""
    a, b = methods_of(one), methods_of(other)
    both = a.keys() & b.keys()
    wrong = [f"{a[at]}\n{b[at]}" for at in both if a[at] != b[at]]
    if len(both) < 20 or len(both) < 0.8 * max(len(a), len(b)):
        return f"{len(both)} methods in both maps, of {len(a)} and {len(b)}"
    return "\n".join(wrong[:10]) if len(wrong) > 2 else "same"


if __name__ == "__main__":
    print({"mapped": mapped, "names": names}[sys.argv[1]](*sys.argv[2:]))
