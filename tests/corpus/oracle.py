# SPDX-License-Identifier: Apache-2.0
"""Every metric of every report against the profiler's own reader: value, unit, instances.

Doubles are compared bit for bit. The profiler's reader gives 0 or nothing for an aggregate that the
file does not hold, ridge gives none; which metrics these are is read from the file itself."""
import json
import math
import struct

from corpus import Test, metrics_without_aggregate


def same(found, expected):
    if isinstance(expected, float) and isinstance(found, (int, float)):
        return struct.pack("<d", found) == struct.pack("<d", expected)
    return type(found) is type(expected) and found == expected


def compare(test, name, kernel, expected, without):
    found = {metric["name"]: metric for metric in kernel["metrics"]}
    test.equal("%s: names of metrics" % name, sorted(found), sorted(expected))
    absent = set()
    for metric in found.keys() & expected.keys():
        value, unit, instances = expected[metric]
        got = found[metric]
        what = "%s %s" % (name, metric)
        test.equal(what + " unit", got["unit"], unit)
        test.equal(what + " instances", got["instance_count"], instances)
        if "value" not in got:
            absent.add(metric)
            test.true("%s: no aggregate, but the oracle has %r" % (what, value),
                      value in (None, 0))
        elif isinstance(value, float) and math.isnan(value):
            test.true(what + " is not null", got["value"] is None)
        else:
            test.true("%s: found %r, expected %r" % (what, got["value"], value),
                      same(got["value"], value))
    test.equal("%s: metrics without an aggregate" % name, absent, without)
    return len(absent)


def main():
    test = Test()
    reports = metrics = absent = 0
    for name in test.names("oracle", ".json"):
        with open(test.path("oracle/%s.json" % name), encoding="utf-8") as oracle:
            expected = json.load(oracle)
        with open(test.report(name), "rb") as report:
            without = metrics_without_aggregate(report.read())
        kernels = test.json("metrics", "--json", test.report(name))["kernels"]
        test.equal("%s: kernels" % name, len(kernels), len(expected))
        for kernel, result, missing in zip(kernels, expected, without):
            absent += compare(test, name, kernel, result["metrics"], missing)
            metrics += len(result["metrics"])
        reports += 1
    print("%d reports, %d metrics, %d of them without an aggregate" % (reports, metrics, absent))
    test.true("the oracle holds no metric", metrics > 0)
    test.finish()


main()
