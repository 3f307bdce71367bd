"""What tests/live/dump.sh does with the JSON of `classes` and of `dump`.

boot CLASSES DUMP INTO  a folder for each module below INTO, with the boot loader's classes as
                        --patch-module wants them; prints the modules
names CLASSES DUMP      prints the names of these classes, one a line
app DUMP                prints the names of the application's classes, one a line
"""
import json
import os
import sys


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def by_module(classes, dump):
    modules = {c["class"]: c["module"] for c in classes["classes"] if c["loader"] == "bootstrap"}
    for file in dump["files"]:
        if file["loader"] == "bootstrap":
            yield modules[file["class"]], file


def boot(classes, dump, into):
    modules = set()
    for module, file in by_module(load(classes), load(dump)):
        path = os.path.join(into, module, *file["class"].split(".")) + ".class"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.link(file["path"], path)
        modules.add(module)
    print(*sorted(modules), sep="\n")


def names(classes, dump):
    for _, file in by_module(load(classes), load(dump)):
        print(file["class"])


def app(dump):
    seen = set()
    for file in load(dump)["files"]:
        if file["loader"] not in ("bootstrap", "platform") and file["class"] not in seen:
            seen.add(file["class"])
            print(file["class"])


{"boot": boot, "names": names, "app": app}[sys.argv[1]](*sys.argv[2:])
