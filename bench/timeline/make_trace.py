#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Repeats the events of a Kineto trace until a file is as large as wanted.

Each round lies behind the one before it: times are shifted by the length of the trace, numbers of
correlation, flows and external ids by the largest of a round, so that work still finds its own
call. Times keep their digits. The layout is that of Kineto."""
import argparse
import decimal
import gzip
import json
import sys

IDS = ("correlation", "External id", "external id")
UNITS = {"k": 1000, "M": 1000**2, "G": 1000**3}


def load(path):
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    with (gzip.open if packed else open)(path, "rb") as file:
        document = json.loads(file.read(), parse_float=decimal.Decimal)
    return document if isinstance(document, dict) else {"traceEvents": document}


def number(value):
    return value if isinstance(value, (int, decimal.Decimal)) else 0


class Round:
    """The events as one text with a place for every number that is shifted."""

    def __init__(self, events):
        self.times, self.ids, order, texts = [], [], [], []
        for event in events:
            event = dict(event)
            arguments = dict(event.get("args", {}))
            if number(event.get("ts")):
                self.times.append(event["ts"])
                order.append(True)
                event["ts"] = "@#@"
            if isinstance(event.get("id"), int):
                self.ids.append(event["id"])
                order.append(False)
                event["id"] = "@#@"
            for key in IDS:
                if isinstance(arguments.get(key), int):
                    self.ids.append(arguments[key])
                    order.append(False)
                    arguments[key] = "@#@"
            # The order of the places is that of the text.
            head = {key: value for key, value in event.items() if key not in ("ts", "id", "args")}
            for key in ("ts", "id"):
                if key in event:
                    head[key] = event[key]
            text = json.dumps(head, default=float)[1:-1]
            if arguments:
                shifted = {key: arguments[key] for key in IDS if key in arguments}
                shifted.update(arguments)
                text += ',\n    "args": {\n      %s\n    }' % json.dumps(shifted, default=float)[1:-1]
            texts.append("  {\n    %s\n  }" % text)
        self.order = order
        self.template = ",\n".join(texts).replace("%", "%%").replace('"@#@"', "%s")
        self.length = int(max(self.times) - min(self.times)) + 1000
        self.step = max(self.ids, default=0) + 1

    def text(self, index):
        times, ids = iter(self.times), iter(self.ids)
        shift, step = index * self.length, index * self.step
        return self.template % tuple(
            next(times) + shift if is_time else next(ids) + step for is_time in self.order)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", help="a Kineto trace, plain or gzip")
    parser.add_argument("output")
    parser.add_argument("--bytes", default="1G", help="at least so many: 50M, 1G")
    arguments = parser.parse_args()
    unit = UNITS.get(arguments.bytes[-1:])
    wanted = int(arguments.bytes[:-1]) * unit if unit else int(arguments.bytes)
    document = load(arguments.trace)
    events = document.pop("traceEvents")
    one = Round(events)
    head = json.dumps(document, indent=2, default=float).rstrip("}\n")
    written = index = 0
    with open(arguments.output, "w", encoding="utf-8") as file:
        written += file.write(head + (",\n" if document else "") + '  "traceEvents": [\n')
        while written < wanted:
            written += file.write((",\n" if index else "") + one.text(index))
            index += 1
        file.write("\n  ]\n}\n")
    print(f"{index} rounds of {len(events)} events, {written} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
