"""Evaluates the JSON of `classes` and of `dump` for tests/live/class/dump.sh.

boot CLASSES DUMP INTO  copies the boot loader's classes into a folder for each module below INTO,
                        as --patch-module requires; prints the modules
names CLASSES DUMP      prints the names of these classes, one per line
app DUMP INTO           copies the application's classes below INTO, the first of those with the
                        same name; prints their names, one per line
"""
import json
import os
import sys


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def put(file, top):
    path = os.path.join(top, *file["class"].split(".")) + ".class"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.link(file["path"], path)


def is_of_jdk(file):
    """Includes accessors that reflection generates, which no JVM verifies (verifier.cpp)."""
    return file["loader"] in ("bootstrap", "platform") or "DelegatingClassLoader" in file["loader"]


def by_module(classes, dump):
    modules = {c["class"]: c["module"] for c in classes["classes"] if c["loader"] == "bootstrap"}
    for file in dump["files"]:
        if file["loader"] == "bootstrap":
            # The modules of proxies are created at run time and cannot be patched.
            proxy = ".$Proxy" in file["class"]
            yield "java.base" if proxy else modules[file["class"]], file


def boot(classes, dump, into):
    modules = set()
    for module, file in by_module(load(classes), load(dump)):
        put(file, os.path.join(into, module))
        modules.add(module)
    print(*sorted(modules), sep="\n")


def names(classes, dump):
    for _, file in by_module(load(classes), load(dump)):
        print(file["class"])


def app(dump, into):
    seen = set()
    for file in load(dump)["files"]:
        if not is_of_jdk(file) and file["class"] not in seen:
            seen.add(file["class"])
            put(file, into)
            print(file["class"])


{"boot": boot, "names": names, "app": app}[sys.argv[1]](*sys.argv[2:])
