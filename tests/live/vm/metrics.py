#!/usr/bin/python3
"""An OpenMetrics document, as the parser of Prometheus' own client reads it.

    metrics.py FILE EXPRESSION

Prints what the Python expression evaluates to, or the parser's complaint.  In it, `samples` is
the list of all, and value(NAME, LABEL=VALUE...) is that of the only one with these labels.
"""
import sys

from prometheus_client.openmetrics.parser import text_fd_to_metric_families


def main(path, expression):
    try:
        with open(path, encoding="utf-8", newline="\n") as document:
            samples = [s for family in text_fd_to_metric_families(document)
                       for s in family.samples]
    except ValueError as complaint:
        print(f"no OpenMetrics: {complaint}")
        return

    def value(name, **labels):
        found = [s.value for s in samples
                 if s.name == name and labels.items() <= s.labels.items()]
        assert len(found) == 1, f"{name}{labels}: {len(found)} of them"
        return found[0]

    print(eval(expression, {"samples": samples, "value": value}))


main(sys.argv[1], sys.argv[2])
