#!/usr/bin/python3
"""Evaluates an expression on an OpenMetrics document, read with Prometheus' own parser.

    metrics.py FILE EXPRESSION

Prints the value of the Python expression, or the parser's error.  In it, `samples` is the list
of all samples, and value(NAME, LABEL=VALUE...) is the value of the only sample with these labels.
"""
import sys

from prometheus_client.openmetrics.parser import text_fd_to_metric_families


def main(path, expression):
    try:
        with open(path, encoding="utf-8", newline="\n") as document:
            samples = [s for family in text_fd_to_metric_families(document)
                       for s in family.samples]
    except ValueError as error:
        print(f"not OpenMetrics: {error}")
        return

    def value(name, **labels):
        found = [s.value for s in samples
                 if s.name == name and labels.items() <= s.labels.items()]
        assert len(found) == 1, f"{name}{labels}: {len(found)} samples"
        return found[0]

    print(eval(expression, {"samples": samples, "value": value}))


main(sys.argv[1], sys.argv[2])
