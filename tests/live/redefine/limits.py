"""Creates and compares the class files of limits.sh."""
import json
import os
import re
import struct
import sys


class Case:
    def __init__(self, name, error, pattern, jdk):
        self.name, self.error, self.pattern, self.jdk = name, error, pattern, jdk
        self.sides = {"old": "", "new": ""}


def read_cases(path):
    cases, jdk, side = {}, 8, None
    for line in open(path):
        if line.startswith("#") or not line.strip():
            continue
        if line.startswith("+ "):
            jdk = int(line[2:])
        elif line.startswith("@ "):
            case = Case(*line[2:].rstrip("\n").split(" ", 2), jdk)
            cases[case.name] = case
            jdk, side = 8, "old"
        elif line.startswith("---"):
            side = "new"
        else:
            case.sides[side] += line
    return cases


# Damage. Each function takes a class file of DAMAGED and returns the damaged one. F is the code
# "iload_0, sipush 12345, iadd, ireturn" after max_stack, max_locals and the code length.

DAMAGED = """
public class C {
	int x;
	static int f(int a) { return a + 12345; }
	static int jump(int a) { if (a > 77) return 1; return 2; }
}
"""
F = bytes.fromhex("00020001 00000006 1a113039 60ac")


def code(new, max_stack=2, max_locals=1):
    changed = struct.pack(">HHI", max_stack, max_locals, 6) + bytes.fromhex(new)

    def change(data, jdk):
        assert data.count(F) == 1
        return data.replace(F, changed)
    return change


def text(old, new):
    def utf8(s):
        return b"\1" + struct.pack(">H", len(s)) + s.encode()

    def change(data, jdk):
        assert data.count(utf8(old)) == 1
        return data.replace(utf8(old), utf8(new))
    return change


def version(major, minor=0):
    """major: if below 40, it is relative to the JDK's own."""
    def change(data, jdk):
        return data[:4] + struct.pack(">HH", minor, major if major >= 40 else jdk + 44 + major) + data[8:]
    return change


def access(before, after):
    """Replaces the access flags, which precede this_class and super_class."""
    def change(data, jdk):
        at = struct.pack(">H", before)
        where = [m.start() for m in re.finditer(re.escape(at), data)
                 if data[m.start() + 6:m.start() + 10] == b"\0\0\0\1"]
        assert len(where) == 1, where
        return data[:where[0]] + struct.pack(">H", after) + data[where[0] + 2:]
    return change


def constants(n, prefix="constant"):
    """Adds this number of constants to the pool."""
    def change(data, jdk):
        pool, at, count = [], 10, struct.unpack(">H", data[8:10])[0]
        i = 1
        while i < count:
            tag = data[at]
            size = {1: 3, 3: 5, 4: 5, 5: 9, 6: 9, 7: 3, 8: 3, 9: 5, 10: 5, 11: 5, 12: 5, 15: 4, 16: 3, 17: 5,
                    18: 5}[tag]
            at += size + (struct.unpack(">H", data[at + 1:at + 3])[0] if tag == 1 else 0)
            i += 2 if tag in (5, 6) else 1
        for k in range(n):
            s = ("%s%d" % (prefix, k)).encode()
            pool.append(b"\1" + struct.pack(">H", len(s)) + s)
        return data[:8] + struct.pack(">H", count + n) + data[10:at] + b"".join(pool) + data[at:]
    return change


def whole(change):
    return lambda data, jdk: change(data)


def keep(data, jdk):
    return data


CODE = r"int f\(int\)"
DAMAGES = {
    # The code
    "underflow": (62, CODE, code("00 11 3039 60 ac")),
    "overflow": (62, CODE, code("1a 11 3039 60 ac", max_stack=1)),
    "no_local": (62, CODE, code("1d 11 3039 60 ac")),
    "wrong_return": (62, CODE, code("1a 11 3039 60 b0")),
    "no_return_value": (62, CODE, code("1a 11 3039 60 b1")),
    "wrong_type": (62, CODE, code("01 11 3039 60 ac")),
    "half_long": (62, CODE, code("1e 11 3039 60 ac", max_locals=2, max_stack=4)),
    "falls_off": (62, CODE, code("1a 11 3039 60 00")),
    "into_instruction": (62, CODE, code("a7 0002 1a 1a ac")),
    "jumps_out": (62, CODE, code("a7 0100 1a 00 ac")),
    "no_instruction": (62, CODE, code("1a 11 3039 cb ac")),
    "cut_instruction": (62, CODE, code("1a 00 00 00 00 11")),
    "wrong_constant": (62, CODE, code("12 01 00 00 00 ac")),
    "no_constant": (62, CODE, code("12 fe 00 00 00 ac")),
    "reference_as_int": (62, CODE, code("01 3b 1a 04 60 ac")),
    "throws_int": (62, CODE, code("1a 00 00 00 00 bf")),
    "new_array": (62, CODE, code("1a bc 01 00 be ac")),
    "no_frames": (62, r"int jump\(int\)", text("StackMapTable", "StackMapTablX")),
    # The format
    "bad_descriptor": (60, r"descriptor|signature|\(I\)Q", text("(I)I", "(I)Q")),
    "bad_name": (60, "name", text("jump", "ju.p")),
    "two_of_a_name": (60, "a duplicate method", text("jump", "f")),
    # Versions
    "too_new": (68, "class file version", version(1)),
    "too_old": (68, "class file version", version(44)),
    "other_preview": ("68@11", "preview|does not exist", version(-1, 65535)),
    "own_preview": ("68@0", "preview|does not exist", version(0, 65535)),
    "minor": (68, "class file version .*does not exist", version(0, 7)),
    "oldest_minor": (0, ".", version(45, 7)),
    "old_minor": ("68=11", "does not exist", version(50, 7)),
    "minor_of_11": ("68<17", "class file version", version(55, 7)),
    # Flags that Java source cannot express
    "no_super_bit": (70, "the class is no longer ACC_SUPER", access(0x21, 0x01)),
    "synthetic_class": (70, "the class is now synthetic", access(0x21, 0x1021)),
    "enum_class": (70, "the class is now an enum", access(0x21, 0x4021)),
    "unknown_bits": (0, ".", access(0x21, 0x0061)),
    # Its superclass
    "no_superclass": ("-", "superclass is now no.such.Class", text("java/lang/Object", "no/such/Class")),
    "final_superclass": ("-", "superclass is now java.lang.String", text("java/lang/Object", "java/lang/String")),
    "interface_superclass": ("-", "superclass is now java.lang.Runnable",
                             text("java/lang/Object", "java/lang/Runnable")),
    "own_superclass": ("-", "superclass is now damaged.own_superclass.C",
                       text("java/lang/Object", "damaged/own_superclass/C")),
    "same_constants": (0, ".", constants(30000)),
    "undamaged": (0, ".", keep),
}
# Files that are refused before any class is read.
BROKEN = {
    "trailing": lambda d: d + b"\0",
    "truncated": lambda d: d[:-1],
    "no_magic": lambda d: b"\xca\xfe\xba\xbf" + d[4:],
    "garbage": lambda d: os.urandom(len(d)),
    "empty": lambda d: b"",
    "unknown_constant": lambda d: d.replace(b"\1\0\4jump", b"\2\0\4jump"),
}


def wanted_error(error, jdk, of, allowed):
    """The JVM's expected error, or None for any: see limits.cases. DAMAGES also has N<JDK (only
    before that JDK) and N=JDK (only on it). `allowed`: methods may be added and deleted."""
    if error == "-" or of == "mixed":
        return None
    if allowed and str(error) in ("63@17", "67@17", "68@0"):
        return 0
    number, sign, since, not_8 = re.fullmatch(r"(\d+)(?:([@<=])(\d+))?(!8)?", str(error)).groups()
    since = int(since or 0)
    holds = {None: True, "@": jdk >= since, "<": jdk < since, "=": jdk == since}[sign]
    return int(number) if holds and not (not_8 and of == "eight") else 0


def damage(directory, jdk):
    """Writes the new classes of DAMAGED."""
    for name, (_, _, change) in DAMAGES.items():
        path = f"{directory}/damaged/{name}/C.class"
        rewrite(path, path, lambda data: change(data, int(jdk)))


def rewrite(source, target, change):
    data = open(source, "rb").read()
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as f:
        f.write(change(data))


def broken(source, directory):
    """Writes one file of each kind of BROKEN."""
    for name, change in BROKEN.items():
        rewrite(source, f"{directory}/{name}.class", change)


def fill(source, target, prefix):
    """Writes a class with over half of the maximum number of constants."""
    rewrite(source, target, lambda data: constants(33000, prefix)(data, 0))


def spoil(source, target):
    """Changes a getter of an int or a boolean to return it as an object."""
    getter = re.compile(rb"\x2a\xb4(..)\xac", re.DOTALL)
    rewrite(source, target, lambda data: getter.sub(lambda m: m[0][:4] + b"\xb0", data, count=1))


def sources(cases, jdk, directory, of):
    """Writes the Java files of all cases that the JDK compiles to DIRECTORY/old/OF and new/OF."""
    files = {}
    if of == "damaged":
        for name in DAMAGES:
            files[name] = {"old": DAMAGED, "new": DAMAGED}
    else:
        for case in read_cases(cases).values():
            if case.jdk <= (8 if of == "mixed" else int(jdk)):
                files[case.name] = case.sides
    for name, sides in files.items():
        for side, lines in sides.items():
            os.makedirs(f"{directory}/{side}/{of}/{name}", exist_ok=True)
            with open(f"{directory}/{side}/{of}/{name}/C.java", "w") as f:
                f.write(f"package {of}.{name};\n{lines}")


def compare(cases_path, jdk, theirs_path, ours_path):
    """Prints where the JVM, jtool and the expectation differ; the last line counts."""
    cases, allowed = read_cases(cases_path), jdk.endswith("+")
    jdk = int(jdk.rstrip("+"))
    ours = {row["class"]: row for row in json.load(open(ours_path))["classes"]}
    theirs = dict(line.rstrip("\n").split(" ", 1) for line in open(theirs_path))
    for name, error in theirs.items():
        of, case, simple = name.split(".")
        if name not in ours:
            print(f"{name}: jtool says nothing, the JVM {error}")
            continue
        wanted, pattern = DAMAGES[case][:2] if of == "damaged" else (cases[case].error, cases[case].pattern)
        why = (ours[name]["why"] or "").replace("\n", " ")
        accepted = ours[name]["result"] in ("possible", "unchanged")
        wanted = wanted_error(wanted, jdk, of, allowed) if simple == "C" else None
        if accepted != (error == "0"):
            print(f"{name}: the JVM says {error}, jtool {ours[name]['result']}: {why}")
        elif wanted is not None and error != str(wanted):
            print(f"{name}: {wanted} is wanted, the JVM says {error}")
        elif not accepted and simple == "C" and of != "mixed" and not re.search(pattern, why):
            print(f"{name}: jtool's words are: {why}")
    print(f"{len(theirs)} of {len(ours)} classes compared")


if __name__ == "__main__":
    commands = {f.__name__: f for f in (sources, damage, broken, fill, spoil, compare)}
    commands[sys.argv[1]](*sys.argv[2:])
