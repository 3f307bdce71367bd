"""Checks profiles of programs whose shares are known, and of recordings against their events.

    profile.py shares JDK PROFILE.json [CPU_SHARE]     of the victim Profiled
    profile.py pprof PROFILE.pb.gz PROFILE.json        go tool pprof prints the same values
    profile.py events JTOOL RECORDING                  self values equal the sums over the events
    profile.py foreign JTOOL RECORDING MODE            profiles of async-profiler's events
"""
import collections
import json
import math
import re
import subprocess
import sys

LOOPS = {"sixty": 60, "thirty": 30, "ten": 10}


def shares(release, profile, cpu_share=None):
    """The loops have their shares, in each thread."""
    document = json.load(open(profile))
    assert document["event"] == "cpu", document["event"]
    lines = []
    for thread in "first", "second":
        found = {m["method"].split(".")[-1]: m for m in document["methods"]
                 if m["thread"] == thread and m["method"].startswith("Profiled.")}
        values = {loop: found.get(loop, {"self": 0})["self"] for loop in LOOPS}
        samples = sum(found.get(loop, {"self_samples": 0})["self_samples"] for loop in LOOPS)
        assert samples > 100, (thread, samples)
        for loop, wanted in LOOPS.items():
            got = 100 * values[loop] / sum(values.values())
            # four standard deviations; from JDK 25 on, 3 percentage points are allowed if more
            noise = 400 * math.sqrt(wanted / 100 * (1 - wanted / 100) / samples)
            limit = max(3, noise) if release >= 25 else 3 + noise
            lines.append(f"{thread}.{loop} {got:.1f} ({samples} samples, within {limit:.1f})")
            assert abs(got - wanted) <= limit, lines
    native = sum(s["value"] for s in document["stacks"] if s["thread"] == "native")
    assert any("deflateBytes" in s["frames"][0] for s in document["stacks"]
               if s["thread"] == "native"), "no native method"
    if cpu_share:
        got = 100 * native / document["value"]
        limit = max(3, 200 / math.sqrt(document["samples"]))
        lines.append(f"native {got:.1f} of {float(cpu_share):.1f} (within {limit:.1f})")
        assert abs(got - float(cpu_share)) <= limit, lines
    assert not [m for m in document["methods"] if m["thread"] == "main" and m["self"] > 0 and
                "read" in m["method"]], "a thread that waits uses no CPU"
    print("; ".join(lines))


def go_pprof(pprof_file, *options):
    """The rows of pprof's report by function, as lists of words."""
    text = subprocess.run(["go", "tool", "pprof", *options, "-nodecount=100000", "-nodefraction=0",
                           "-edgefraction=0", "-unit=ns", "-sample_index=time", pprof_file],
                          check=True, timeout=300, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode()
    return text.split("flat%")[1].splitlines()[1:]


def close(ours, its, what):
    # pprof prints six digits
    assert math.isclose(ours, float(its.replace("ns", "")), rel_tol=1e-5), (what, ours, its)


def method_of(frame):
    return re.sub(r":\d+$", "", frame)


def edges_of(stacks):
    """The time of each pair of a caller and its callee; recursion counts once in a stack."""
    edges = collections.Counter()
    for stack in stacks:
        names = [method_of(f) for f in stack["frames"]]
        for edge in {e for e in zip(names[1:], names) if e[0] != e[1]}:
            edges[edge] += stack["value"]
    return edges


def peeked(rows):
    """Like edges_of, from pprof's report: callers are above a function's line, callees below."""
    edges = {}
    for block in "\n".join(rows).split("-" * 20):
        lines = [line for line in block.splitlines() if "|" in line and "context" not in line]
        middle = [i for i, line in enumerate(lines) if not line.split("|")[1].startswith("   ")]
        for i, line in enumerate(lines):
            name = line.split("|")[1].strip()
            if middle and i != middle[0]:
                function = lines[middle[0]].split("|")[1].strip()
                edge = (name, function) if i < middle[0] else (function, name)
                edges[edge] = line.split()[0]
    return edges


def pprof(pprof_file, profile):
    """go tool pprof has our self and total values, and our callers and callees."""
    document = json.load(open(profile))
    got = {}
    for line in go_pprof(pprof_file, "-top"):
        flat, _, _, cumulative, _, name = line.split(None, 5)
        got[name] = (flat, cumulative)
    for m in document["methods"]:
        close(m["self"], got[m["method"]][0], m)
        close(m["total"], got[m["method"]][1], m)
    edges = edges_of(document["stacks"])
    peek = peeked(go_pprof(pprof_file, "-peek=."))
    assert set(edges) == set(peek), set(edges) ^ set(peek)
    for edge, value in edges.items():
        close(value, peek[edge], edge)
    print(f"{len(document['methods'])} methods, {len(edges)} calls")


def run(jtool, *words):
    return json.loads(subprocess.run([jtool, *words, "--json"], check=True, timeout=300,
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)


def top_of(event):
    trace = event.get("stackTrace")
    frames = trace["frames"] if trace else []
    if not frames:
        return None
    method = frames[0]["method"]
    return method["type"]["name"].replace("/", ".") + "." + method["name"]


def events(jtool, recording):
    """Sums over the events as jfr view prints them."""
    def rows(event):
        known = {r["event"] for r in run(jtool, "jfr", "view", recording, "events")["rows"]}
        if event not in known:
            return []
        return run(jtool, "jfr", "view", recording, event)["rows"]

    def profile(kind):
        return run(jtool, "profile", recording, "-e", kind)

    def same(what, got, wanted):
        assert math.isclose(got, wanted, rel_tol=1e-6, abs_tol=2), (what, got, wanted)

    cpu = rows("jdk.CPUTimeSample") or rows("jdk.ExecutionSample")
    tops = collections.Counter(top_of(e) for e in cpu)
    own = {m["method"]: m["self_samples"] for m in profile("cpu")["methods"]}
    busy = [t for t in tops if t and t.startswith("Recorded.")]
    assert busy, tops
    for method in busy:
        same(method, own[method], tops[method])
    alloc = rows("jdk.ObjectAllocationSample")
    wanted = sum(e["weight"] for e in alloc) if alloc else \
        sum(e["tlabSize"] for e in rows("jdk.ObjectAllocationInNewTLAB")) + \
        sum(e["allocationSize"] for e in rows("jdk.ObjectAllocationOutsideTLAB"))
    assert wanted > 0
    same("alloc", profile("alloc")["value"], wanted)
    same("exceptions", profile("exceptions")["value"], len(rows("jdk.JavaExceptionThrow")))
    monitors = collections.Counter()
    for e in rows("jdk.JavaMonitorEnter"):
        monitors[e["monitorClass"]["name"].replace("/", ".")] += e["duration"] * 1e9
    lock = collections.Counter()
    for s in profile("lock")["stacks"]:
        lock[s["class"]] += s["value"]
    assert monitors
    for name, value in monitors.items():
        same(name, lock[name], value)
    io = sum(e["duration"] * 1e9 for t in ("FileRead", "FileWrite", "FileForce", "SocketRead",
                                           "SocketWrite") for e in rows("jdk." + t))
    same("io", profile("io")["value"], io)
    print(f"{len(cpu)} samples, {wanted} bytes, {len(monitors)} monitors")


def foreign(jtool, recording, mode):
    """async-profiler's samples of cpu and wall, allocation and waits of locks."""
    def rows(event):
        return run(jtool, "jfr", "view", recording, event)["rows"]

    def profile(kind):
        return run(jtool, "profile", recording, "-e", kind)

    samples = rows("jdk.ExecutionSample")
    tops = collections.Counter(top_of(e) for e in samples if e["state"] != "STATE_SLEEPING")
    cpu = profile("cpu")
    own = {m["method"]: m["self_samples"] for m in cpu["methods"]}
    assert cpu["samples"] == sum(tops.values()) > 10, (cpu["samples"], tops)
    assert own["Recorded.hash"] == tops["Recorded.hash"] > 0, own
    assert any(".so" in m["method"] for m in cpu["methods"]), "no native frames"
    texts = [f"{cpu['samples']} of {len(samples)} samples"]
    if mode != "cpu":
        interval = max(int(s["value"]) for s in rows("jdk.ActiveSetting") if s["name"] == "interval")
        wall = profile("wall")
        assert wall["samples"] == len(samples), (wall["samples"], len(samples))
        assert round(wall["value"]) == len(samples) * interval, (wall["value"], interval)
    else:
        wanted = sum(e["tlabSize"] for e in rows("jdk.ObjectAllocationInNewTLAB"))
        assert profile("alloc")["value"] == wanted > 0, wanted
        waited = sum(e["duration"] for e in rows("jdk.JavaMonitorEnter")
                     if e["monitorClass"]["name"].startswith("Recorded$")) * 1e9
        got = sum(s["value"] for s in profile("lock")["stacks"]
                  if s["class"].startswith("Recorded$"))
        assert waited > 0 and math.isclose(got, waited, rel_tol=1e-6), (got, waited)
        texts.append(f"{wanted} bytes; {waited / 1e9:.1f} s of waits")
    print("; ".join(texts))


{"shares": lambda r, *rest: shares(int(r), *rest), "events": events, "pprof": pprof,
 "foreign": foreign}[sys.argv[1]](*sys.argv[2:])
