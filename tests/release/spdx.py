#!/usr/bin/python3
"""Checks an SBOM: the rules of SPDX 2.3 for its fields, and that it describes PROGRAM.

    spdx.py FILE.spdx.json PROGRAM

Prints one line per error; exits with 1 if there is any.
"""
import hashlib
import json
import re
import sys

ID = re.compile(r"SPDXRef-[A-Za-z0-9.-]+")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
CREATOR = re.compile(r"(Tool|Person|Organization): .+")
SUPPLIER = re.compile(r"NOASSERTION|(Person|Organization): .+")
URI = re.compile(r"[a-z][a-z+.-]*://[^#\s]+")
LOCATION = re.compile(r"NOASSERTION|NONE|[a-z][a-z+.-]*://\S+")
LICENSES = {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause",
            "GPL-3.0-or-later WITH GCC-exception-3.1", "MIT", "Zlib", "NOASSERTION", "NONE"}
CATEGORIES = {"SECURITY", "PACKAGE-MANAGER", "PERSISTENT-ID", "OTHER"}
PURPOSES = {"APPLICATION", "LIBRARY", "SOURCE"}
RELATIONS = {"DESCRIBES", "STATIC_LINK"}
DIGITS = {"SHA1": 40, "SHA256": 64, "SHA512": 128}

# The required fields come first in each table.
DOCUMENT = ("spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo")
PACKAGE = ("SPDXID", "name", "downloadLocation")
OPTIONAL = {"versionInfo", "supplier", "filesAnalyzed", "licenseConcluded", "licenseDeclared",
            "copyrightText", "externalRefs", "checksums", "primaryPackagePurpose"}
errors = []


def require(condition, text):
    if not condition:
        errors.append(text)


def fields(value, required, optional, where):
    for field in required:
        require(field in value, f"{where}: missing {field}")
    for field in set(value) - set(required) - set(optional):
        errors.append(f"{where}: unknown field {field}")


def matches(value, pattern, where):
    require(isinstance(value, str) and pattern.fullmatch(value), f"{where}: invalid: {value!r}")


def check_document(document):
    fields(document, DOCUMENT, {"packages", "relationships"}, "document")
    require(document.get("spdxVersion") == "SPDX-2.3", "document: spdxVersion is not SPDX-2.3")
    require(document.get("dataLicense") == "CC0-1.0", "document: dataLicense is not CC0-1.0")
    require(document.get("SPDXID") == "SPDXRef-DOCUMENT", "document: wrong SPDXID")
    matches(document.get("documentNamespace"), URI, "document: documentNamespace")
    info = document.get("creationInfo", {})
    fields(info, ("creators", "created"), {"licenseListVersion", "comment"}, "creationInfo")
    matches(info.get("created"), TIME, "creationInfo: created")
    require(info.get("creators"), "creationInfo: no creator")
    for creator in info.get("creators", []):
        matches(creator, CREATOR, "creationInfo: creator")


def check_package(package):
    where = f"package {package.get('name')}"
    fields(package, PACKAGE, OPTIONAL, where)
    matches(package.get("SPDXID"), ID, f"{where}: SPDXID")
    matches(package.get("downloadLocation"), LOCATION, f"{where}: downloadLocation")
    matches(package.get("supplier", "NOASSERTION"), SUPPLIER, f"{where}: supplier")
    require(package.get("filesAnalyzed") is False, f"{where}: filesAnalyzed needs a list of files")
    require(package.get("primaryPackagePurpose", "LIBRARY") in PURPOSES, f"{where}: wrong purpose")
    require(package.get("versionInfo"), f"{where}: no version")
    for field in ("licenseConcluded", "licenseDeclared"):
        require(package.get(field) in LICENSES, f"{where}: unknown {field}")
    for checksum in package.get("checksums", []):
        digits = DIGITS.get(checksum.get("algorithm"), 0)
        matches(checksum.get("checksumValue"), re.compile(f"[0-9a-f]{{{digits}}}"),
                f"{where}: checksum")
    for reference in package.get("externalRefs", []):
        fields(reference, ("referenceCategory", "referenceType", "referenceLocator"), (), where)
        require(reference.get("referenceCategory") in CATEGORIES, f"{where}: wrong category")
        matches(reference.get("referenceLocator"), re.compile(r"pkg:deb/debian/\S+@\S+"),
                f"{where}: purl")


def check_relations(document):
    ids = [package.get("SPDXID") for package in document.get("packages", [])]
    require(len(ids) == len(set(ids)), "two packages have one SPDXID")
    linked = set()
    for relation in document.get("relationships", []):
        fields(relation, ("spdxElementId", "relationshipType", "relatedSpdxElement"), (),
               "relationship")
        require(relation.get("relationshipType") in RELATIONS, "relationship: unknown type")
        for end in ("spdxElementId", "relatedSpdxElement"):
            require(relation.get(end) in ids + ["SPDXRef-DOCUMENT"],
                    f"relationship: unknown element {relation.get(end)}")
        linked.add(relation.get("relatedSpdxElement"))
    require(linked == set(ids), "a package has no relationship")


def main(path, program):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    with open(program, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    check_document(document)
    for package in document.get("packages", []):
        check_package(package)
    check_relations(document)
    described = [package for package in document.get("packages", [])
                 if package.get("SPDXID") == "SPDXRef-jtool"]
    require(described and described[0].get("checksums", [{}])[0].get("checksumValue") == digest,
            "its checksum is not that of the program")
    names = {package.get("name") for package in document.get("packages", [])}
    require(names == {"gcc-12", "jtool", "json-c", "libbsd", "libmd", "musl", "xxhash", "zlib"},
            f"wrong packages: {sorted(map(str, names))}")
    print(*errors, sep="\n", end="")
    return 1 if errors else 0


sys.exit(main(*sys.argv[1:]))
