"""Compares jtool's output with the JVM's own.  Prints "same" or what differs.

    ask.py properties JSON WORDS    props --json, and the properties that the victim printed
    ask.py flags JSON TEXT          flags --json, and the JVM's VM.flags -all
"""
import json
import re
import sys


def text_of(units):
    """Decodes UTF-16 units in hexadecimal; a lone surrogate becomes U+FFFD."""
    text = bytes.fromhex(units).decode("utf-16-be", "surrogatepass")
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def printed_properties(line):
    printed = {}
    for word in line.split()[1:]:
        name, value = word.split("=")
        printed[text_of(name).replace("\0", "\ufffd")] = text_of(value)
    return printed


def listed_flags(text):
    """Parses the JVM's table by its columns, on which jtool does not rely."""
    first = re.compile(r" *(\S+) (\S+) +:?= (.*)$")
    n_braces = 2 if "{default}\n" in text else 1  # JDK 8 prints no origins
    flags = {}
    for line in text.splitlines()[1:]:
        match = first.match(line)
        if match:
            kind, name, rest = match.groups()
            value = re.sub(r" *(\{[^{}]*\} *){%d}$" % n_braces, "", rest)
            flags[name] = (kind, value)
    return flags


def as_text(flag):
    if flag["type"] == "bool":
        return str(flag["value"]).lower()
    return "%f" % flag["value"] if flag["type"] == "double" else str(flag["value"])


def compare(got, wanted):
    differing = [name for name in sorted(got.keys() | wanted.keys())
                 if got.get(name) != wanted.get(name)]
    if not differing:
        return "same"
    name = differing[0]
    return f"{len(differing)} differ, {name!r}: {got.get(name)!r}, not {wanted.get(name)!r}"


def main(what, document, answer):
    with open(document, encoding="utf-8") as file:
        got = json.load(file)
    with open(answer, encoding="utf-8") as file:
        answer = file.read()
    if what == "properties":
        print(compare(got["properties"], printed_properties(answer)))
    else:
        flags = {flag["name"]: (flag["type"], as_text(flag)) for flag in got["flags"]}
        print(compare(flags, listed_flags(answer)))


main(*sys.argv[1:])
