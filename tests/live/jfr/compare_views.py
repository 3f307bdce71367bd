#!/usr/bin/env python3
"""Compares jtool's views of a recording with those of the JDK's `jfr view`, row by row.

usage: compare_views.py JTOOL FILE COMMAND... [-- ITS_FILE]

VIEWS in the environment chooses views.  COMMAND is jfr of JDK 25 with its path, or chroot with its
arguments.  Numbers are compared as they are printed, which is rounded.  Rows that compare as equal
may be in another order.  The JDK refuses a view if the recording does not declare a field of it, so
these are only counted.
"""
import json
import math
import os
import re
import subprocess
import sys

UNITS = {"bytes": 1, "byte": 1, "B": 1, "kB": 2 ** 10, "MB": 2 ** 20, "GB": 2 ** 30, "TB": 2 ** 40,
         "bps": 1, "kbps": 2 ** 10, "Mbps": 2 ** 20, "Gbps": 2 ** 30, "byte/s": 1,
         "kB/s": 2 ** 10, "MB/s": 2 ** 20, "GB/s": 2 ** 30, "Hz": 1, "bits": 1}
SECONDS = {"ms": 1e-3, "s": 1, "m": 60, "h": 3600, "d": 86400}
CUT = 25
REFUSED = ("Missing event found for", "unexpected internal error")


def number_of(text):
    """Returns (value, error) of a printed number, or None."""
    plain = text.replace(",", "")
    if re.fullmatch(r"-?\d+(\.\d+)?", plain):
        digits = len(plain.partition(".")[2])
        return float(plain), 0.51 * 10 ** -digits if digits else 0.0
    match = re.fullmatch(r"(-?\d+\.\d+)%", plain)
    if match:
        return float(match.group(1)) / 100, 0.000051
    match = re.fullmatch(r"(-?[\d.]+) ?([A-Za-z/]+)", plain)
    if match and match.group(2) in UNITS:
        digits = len(match.group(1).partition(".")[2])
        unit = UNITS[match.group(2)]
        return float(match.group(1)) * unit, (0.51 * 10 ** -digits) * unit if unit > 1 else 0.51
    parts = re.findall(r"(-?[\d.]+) (ms|s|m|h|d)\b", plain)
    if parts and " ".join(f"{n} {u}" for n, u in parts) == plain:
        digits = len(parts[-1][0].partition(".")[2])
        value = sum(float(n) * SECONDS[u] for n, u in parts)
        return value, 1.01 * 10 ** -digits * SECONDS[parts[-1][1]] + abs(value) * 0.0051
    return None


def same_cell(theirs, ours):
    if ours is None:
        return theirs in ("", "N/A", "-", "null", "null-bootstrap", "Unknown", "Indefinite", "bootstrap", "NaN", "0 s")
    if isinstance(ours, bool):
        return theirs == ("true" if ours else "false")
    if isinstance(ours, (int, float)):
        if theirs.startswith("0x"):
            return int(theirs, 16) == ours % 2 ** 64
        if theirs == "Indefinite":
            return False
        number = number_of(theirs)
        return number is not None and abs(number[0] - ours) <= number[1] + 1e-9
    match = re.match(r"^\d{4}-\d\d-\d\dT(\d\d:\d\d:\d\d)\.\d+Z$", ours)
    if match:
        return theirs == match.group(1)
    flat = " ".join(ours.split())
    theirs = " ".join(theirs.split())
    # the address of a hidden class
    flat, theirs = (re.sub(r"[/.](\d[0-9a-fx]*)$", r"/\1", text) for text in (flat, theirs))
    if theirs.endswith("..."):
        return flat.startswith(theirs[:-3].rstrip())
    if theirs.startswith("..."):
        return flat.endswith(theirs[3:].lstrip())
    number = number_of(theirs)
    if flat == theirs or (flat, theirs) == ("bootstrap", "null-bootstrap") or (number and number_of(flat) and math.isclose(number[0], number_of(flat)[0])):
        return True
    return theirs in ("", "N/A") and flat in ("", "-") or flat.startswith(theirs) and len(theirs) > 60


def their_table(text):
    """Returns the rows of a table, or the values of a form, or None if there are no events."""
    lines = text.split("\n")
    if any(line.startswith("No events found") for line in lines):
        return None
    for i, line in enumerate(lines):
        if re.fullmatch(r"-+( -+)* *", line) and i > 0 and "--" in line and lines[i + 1].strip():
            spans = [m.span() for m in re.finditer(r"-+", line)]
            rows = []
            for row in lines[i + 1:]:
                if not row.strip():
                    break
                rows.append([row[a:b].strip() for a, b in spans])
            return rows
    form = [line for line in lines if re.match(r"^[A-Z][A-Za-z0-9.%/() ]*: ", line)]
    return [[line.split(": ", 1)[1].strip() for line in form]] if form else []


def compare(jtool, path, jfr, their_path, view):
    out = subprocess.run(jfr + ["view", "--width", "3000", "--cell-height", "1", view, their_path],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         env=dict(os.environ, TZ="UTC")).stdout
    if "could not find" in out.lower() or "unknown view" in out.lower():
        return "unknown", 0
    if any(text in out for text in REFUSED):
        return "refused", 0
    theirs = their_table(out)
    ours = json.loads(subprocess.run([jtool, "jfr", "view", path, view, "--json"], check=True,
                                     stdout=subprocess.PIPE).stdout)["rows"]
    ours = [list(row.values()) for row in ours]
    if theirs is None:
        return ("same" if not ours else f"theirs: no events; ours: {ours[:2]}"), 0
    if len(theirs) != min(len(ours), CUT) and len(theirs) != len(ours):
        return f"{len(theirs)} rows, ours {len(ours)}: {theirs[:2]} {ours[:2]}", 0
    left = list(ours)
    for i, row in enumerate(theirs):
        for j, mine in enumerate(left):
            if len(mine) == len(row) and all(same_cell(a, b) for a, b in zip(row, mine)):
                del left[j]
                break
        else:
            return f"row {i}: theirs {row}\n    ours {ours[min(i, len(ours) - 1)]}", len(theirs)
    return "same", len(theirs)


def main():
    jtool, path, *jfr = sys.argv[1:]
    their_path = path
    if "--" in jfr:
        jfr, (their_path,) = jfr[:jfr.index("--")], jfr[jfr.index("--") + 1:]
    views = [line.split()[0] for line in
             subprocess.run([jtool, "jfr", "view", path, "views"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout.splitlines()[1:]]
    counts = {"same": 0, "unknown": 0, "refused": 0, "different": 0}
    rows = 0
    for view in os.environ.get("VIEWS", " ".join(views)).split():
        result, n = compare(jtool, path, jfr, their_path, view)
        rows += n
        if result in counts:
            counts[result] += 1
        else:
            counts["different"] += 1
        if result not in ("same", "refused"):
            print(f"{view}: {result}")
    print(f"{counts['same']} views equal with {rows} rows, {counts['different']} differ, "
          f"{counts['unknown']} are only ours, {counts['refused']} the JDK refuses")
    return 1 if counts["different"] or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
