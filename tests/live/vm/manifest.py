#!/usr/bin/python3
"""Checks a Kubernetes manifest without a cluster.

    manifest.py FILE.yaml

Compares the fields and types of each document with a list of those that we use, from the reference
of the Kubernetes API; a misspelled or misplaced field is an error there.  Also checks the references
inside: labels, volumes and ports.  Prints one line per error; exits with 1 if there is any.
"""
import re
import sys

import yaml

NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
QUANTITY = re.compile(r"[0-9]+(m|Ki|Mi|Gi)?")
LABELS = {str: str}
PORT = (int, str)


def one_of(*values):
    return re.compile("|".join(map(re.escape, values)))


METADATA = {"name": NAME, "namespace": NAME, "labels": LABELS, "annotations": LABELS}
SELECTOR = {"matchLabels": LABELS}
RESOURCES = {"cpu": QUANTITY, "memory": QUANTITY}
PROBE = {"httpGet": {"path!": str, "port!": PORT}, "timeoutSeconds": int, "periodSeconds": int,
         "initialDelaySeconds": int, "failureThreshold": int}
PROFILE = {"type!": one_of("RuntimeDefault", "Unconfined", "Localhost"), "localhostProfile": str}
CONTAINER = {
    "name!": NAME, "image!": str, "args": [str], "command": [str],
    "ports": [{"name": NAME, "containerPort!": int, "protocol": one_of("TCP", "UDP")}],
    "securityContext": {
        "runAsUser": int, "runAsGroup": int, "runAsNonRoot": bool, "privileged": bool,
        "readOnlyRootFilesystem": bool, "allowPrivilegeEscalation": bool,
        "capabilities": {"drop": [str], "add": [str]}, "seccompProfile": PROFILE,
    },
    "resources": {"requests": RESOURCES, "limits": RESOURCES},
    "readinessProbe": PROBE, "livenessProbe": PROBE,
    "volumeMounts": [{"name!": NAME, "mountPath!": str, "readOnly": bool}],
}
POD = {
    "hostPID": bool, "hostNetwork": bool, "automountServiceAccountToken": bool,
    "enableServiceLinks": bool, "priorityClassName": str, "serviceAccountName": NAME,
    "nodeSelector": LABELS,
    "tolerations": [{"key": str, "operator": one_of("Exists", "Equal"), "value": str,
                     "effect": one_of("NoSchedule", "PreferNoSchedule", "NoExecute")}],
    "containers!": [CONTAINER],
    "volumes": [{"name!": NAME, "hostPath": {"path!": str, "type": str}}],
}
PEER = {"namespaceSelector": SELECTOR, "podSelector": SELECTOR}
RULE_PORT = {"port": PORT, "protocol": one_of("TCP", "UDP")}
KINDS = {
    ("v1", "Namespace"): {},
    ("apps/v1", "DaemonSet"): {
        "spec!": {"selector!": SELECTOR, "template!": {"metadata": METADATA, "spec!": POD}},
    },
    ("networking.k8s.io/v1", "NetworkPolicy"): {
        "spec!": {
            "podSelector!": SELECTOR, "policyTypes": [one_of("Ingress", "Egress")],
            "ingress": [{"from": [PEER], "ports": [RULE_PORT]}],
            "egress": [{"to": [PEER], "ports": [RULE_PORT]}],
        },
    },
}
errors = []


def check(value, wanted, where):
    """Compares a value with a type, a pattern, a list of one item, or a dictionary of fields."""
    if isinstance(wanted, dict):
        check_fields(value, wanted, where)
    elif isinstance(wanted, list):
        if not isinstance(value, list):
            errors.append(f"{where}: not a list")
            return
        for i, item in enumerate(value):
            check(item, wanted[0], f"{where}[{i}]")
    elif isinstance(wanted, re.Pattern):
        if not isinstance(value, str) or not wanted.fullmatch(value):
            errors.append(f"{where}: {value!r} does not match {wanted.pattern}")
    # A boolean is an integer in Python, but not in YAML.
    elif not isinstance(value, wanted) or isinstance(value, bool) and wanted is not bool:
        errors.append(f"{where}: {value!r} has the wrong type")


def check_fields(value, wanted, where):
    if not isinstance(value, dict):
        errors.append(f"{where}: not an object")
        return
    if wanted is LABELS:
        for key, text in value.items():
            check(key, str, where)
            check(text, str, f"{where}.{key}")
        return
    fields = {key.rstrip("!"): inner for key, inner in wanted.items()}
    for key, inner in value.items():
        if key in fields:
            check(inner, fields[key], f"{where}.{key}")
        else:
            errors.append(f"{where}: unknown field {key}")
    for key in wanted:
        if key.endswith("!") and key[:-1] not in value:
            errors.append(f"{where}: missing field {key[:-1]}")


def check_pod(pod, where):
    """Each volume that is mounted, and each port that is probed, is defined."""
    volumes = {volume["name"] for volume in pod.get("volumes", [])}
    mounted = set()
    for container in pod["containers"]:
        ports = {port.get("name") for port in container.get("ports", [])}
        mounted |= {mount["name"] for mount in container.get("volumeMounts", [])}
        for probe in ("readinessProbe", "livenessProbe"):
            if probe in container and container[probe]["httpGet"]["port"] not in ports:
                errors.append(f"{where}: {probe}: the container has no such port")
    if mounted != volumes:
        errors.append(f"{where}: volumes {sorted(volumes)}, but mounted are {sorted(mounted)}")


def check_rules(document, sets):
    """Each port of a NetworkPolicy is one of the pods'."""
    names = {port.get("name") for daemons in sets
             for container in daemons["spec"]["template"]["spec"]["containers"]
             for port in container.get("ports", [])}
    if document["kind"] == "NetworkPolicy":
        for rule in document["spec"].get("ingress", []):
            for port in rule.get("ports", []):
                if port["port"] not in names:
                    errors.append(f"NetworkPolicy: no pod has the port {port['port']}")


def check_references(documents):
    """Selectors match the pods of the DaemonSet, and everything is in its namespace."""
    sets = [d for d in documents if d["kind"] == "DaemonSet"]
    namespaces = {d["metadata"]["name"] for d in documents if d["kind"] == "Namespace"}
    for document in documents:
        if document["kind"] == "Namespace":
            continue
        name = f"{document['kind']} {document['metadata']['name']}"
        if document["metadata"].get("namespace") not in namespaces:
            errors.append(f"{name}: its namespace is not in the manifest")
        spec = document["spec"]
        selector = (spec["selector"] if "selector" in spec else spec["podSelector"])["matchLabels"]
        for daemons in sets:
            labels = daemons["spec"]["template"]["metadata"]["labels"]
            if not selector.items() <= labels.items():
                errors.append(f"{name}: its selector does not match the pods")
    for document in documents:
        check_rules(document, sets)
    for daemons in sets:
        check_pod(daemons["spec"]["template"]["spec"], f"DaemonSet {daemons['metadata']['name']}")


def main(path):
    with open(path, encoding="utf-8") as file:
        documents = list(yaml.safe_load_all(file))
    for i, document in enumerate(documents):
        kind = (document.get("apiVersion"), document.get("kind"))
        where = f"document {i + 1} ({kind[1]})"
        if kind not in KINDS:
            errors.append(f"{where}: unknown kind {kind}")
            continue
        check(document, {"apiVersion!": str, "kind!": str, "metadata!": METADATA, **KINDS[kind]},
              where)
    if not errors:
        check_references(documents)
    print(*errors, sep="\n", end="")
    return 1 if errors or not documents else 0


sys.exit(main(sys.argv[1]))
