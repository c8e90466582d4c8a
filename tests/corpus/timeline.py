# SPDX-License-Identifier: Apache-2.0
"""Sums of `ridge timeline` against totals that a script of another kind computed from the same
files (truth.json beside them): kernels by name and by base name, calls, copies, memsets, ranges and
annotations with what they launched. Integers are equal, averages and deviations to a tenth."""
import csv
import io
import json
import os
import re
import sys

import corpus

corpus.CORPUS = os.path.join(corpus.SHARED, "timeline_corpus")
csv.field_size_limit(1 << 27)

COPIES = {"1": "HtoD", "2": "DtoH", "8": "DtoD", "10": "PtoP", "11": "unified HtoD",
          "12": "unified DtoH", "13": "unified DtoD"}




def plain(name):
    """As ridge reads it: without the home directory of whoever recorded."""
    return re.sub(r"/home/[^/']+", "/home/user", name)


class Timeline(corpus.Test):
    def run_partial(self, *arguments):
        """What is printed, also of a trace that was cut (exit status 3) or holds no work (1)."""
        status, out, err = self.run("timeline", *arguments)
        self.true("%s: exit status %d, %r" % (" ".join(arguments), status, err), status in (0, 1, 3))
        return out.decode("utf-8", "replace")

    def table(self, path, report):
        return list(csv.DictReader(io.StringIO(self.run_partial(path, "--csv", report))))

    def near(self, what, found, expected):
        self.compared += 1
        if abs(found - expected) > 0.1001:
            self.fail("%s: found %r, expected %r" % (what, found, expected))

    def statistics(self, what, rows, count_column, expected):
        """A table of nsys's columns; expected may be cut after some rows."""
        found = {}
        for row in rows:
            name = row.get("Name", row.get("Operation"))
            found.setdefault(name, []).append(row)
        last = None
        for row in rows:
            total = int(row["Total Time (ns)"])
            self.true("%s: sorted by time" % what, last is None or total <= last)
            last = total
        for row in expected:
            same = found.get(row["name"], [])
            match = [r for r in same if int(r["Total Time (ns)"]) == row["total_ns"]]
            if not self.true("%s: %.80s, %d ns; found %s" % (
                    what, row["name"], row["total_ns"],
                    [r["Total Time (ns)"] for r in same]), match):
                continue
            mine = match[0]
            same.remove(mine)
            label = "%s %.60s" % (what, row["name"])
            self.equal(label + " count", int(mine[count_column]), row["count"])
            self.equal(label + " min", int(mine["Min (ns)"]), row["min_ns"])
            self.equal(label + " max", int(mine["Max (ns)"]), row["max_ns"])
            self.near(label + " avg", float(mine["Avg (ns)"]), row["avg_ns"])
            self.near(label + " med", float(mine["Med (ns)"]), row["med_ns"])
            self.near(label + " stddev", float(mine["StdDev (ns)"]), row["stddev_ns"])
        return sum(len(rows) for rows in found.values())

    def kernels(self, path, truth):
        for report, key in (("cuda_gpu_kern_sum", "table"),
                            ("cuda_gpu_kern_sum:base", "table_short")):
            if key not in truth["kernels"]:
                continue
            rows = self.table(path, report)
            label = "%s %s" % (os.path.basename(path), report)
            self.equal(label + " kernels", sum(int(row["Instances"]) for row in rows),
                       truth["kernels"]["count"])
            self.equal(label + " time", sum(int(row["Total Time (ns)"]) for row in rows),
                       truth["kernels"]["total_ns"])
            self.statistics(label, rows, "Instances", truth["kernels"][key])

    def calls(self, path, truth):
        """Calls recorded with their backtraces have second rows, which nsys counts as well."""
        expected = truth.get("api", {}).get("table", [])
        rows = self.table(path, "cuda_api_sum") if expected else []
        label = os.path.basename(path) + " cuda_api_sum"
        self.statistics(label, rows, "Num Calls", expected)
        if expected:
            self.equal(label + " calls", sum(int(row["Num Calls"]) for row in rows),
                       truth["api"]["count"])
            self.equal(label + " time", sum(int(row["Total Time (ns)"]) for row in rows),
                       truth["api"]["total_ns"])

    def copies(self, path, truth, devices):
        found = {}
        for device in devices:
            for row in device["copies"]:
                sums = found.setdefault(row["name"], [0, 0, 0])
                sums[0] += row["count"]
                sums[1] += row["bytes"] or 0
                sums[2] += row["total_ns"]
        label = os.path.basename(path) + " copies"
        is_nsys = path.endswith(".sqlite")
        for kind, row in truth["memcpy"].items():
            name = "[CUDA memcpy %s]" % COPIES.get(kind, kind) if is_nsys else kind
            self.equal("%s %s" % (label, name), found.pop(name, None),
                       [row["count"], row["bytes"], row["total_ns"]])
        sums = [sum(values) for values in zip(*found.values())] or [0, 0, 0]
        row = truth["memset"]
        self.equal(label + " memset", sums, [row["count"], row["bytes"], row["total_ns"]])

    def ranges(self, path, truth, result):
        kind = "nvtx" if path.endswith(".sqlite") else "annotation"
        expected = truth.get("nvtx") or truth.get("user_annotation")
        rows = {row["name"]: row for row in result["ranges"] if row["kind"] == kind}
        if not expected or not expected["ranges"] or not rows:
            return
        label = os.path.basename(path) + " ranges"
        self.equal(label + " outside",
                   [result["outside_count"], result["outside_ns"]],
                   [expected["kernels_outside"]["count"], expected["kernels_outside"]["total_ns"]])
        self.equal(label + " instances", sum(row["count"] for row in rows.values()),
                   expected["ranges"])
        for row in expected["by_range"]:
            mine = rows.get(plain(row["name"]), {})
            self.equal("%s %.60s" % (label, row["name"]),
                       [mine.get("launching_count"), mine.get("kernel_count"), mine.get("kernel_ns")],
                       [row["instances"], row["kernels"], row["kernel_ns"]])
        for row in expected.get("innermost", []):
            mine = rows.get(plain(row["name"]), {})
            self.equal("%s innermost %.60s" % (label, row["name"]),
                       [mine.get("innermost_count"), mine.get("innermost_ns")],
                       [row["kernels"], row["kernel_ns"]])

    def file(self, name, truth):
        path = self.path(name)
        result = json.loads(self.run_partial(path, "--json") or "{}")
        if "devices" not in result:
            self.equal(name + ": nothing to report",
                       [truth["kernels"]["count"], truth["memcpy"], truth["memset"]["count"]],
                       [0, {}, 0])
            return
        self.kernels(path, truth)
        self.calls(path, truth)
        self.copies(path, truth, result["devices"])
        self.ranges(path, truth, result)


def main():
    test = Timeline()
    path = os.path.join(corpus.CORPUS, "truth.json")
    if not os.path.exists(path):
        corpus.skip("no file " + path)
    with open(path, encoding="utf-8") as truth:
        files = json.load(truth)["files"]
    for name in sorted(files):
        before = test.wrong
        test.file(name, files[name])
        if test.wrong > before:
            print("%s: %d wrong" % (name, test.wrong - before))
    test.finish()


if __name__ == "__main__":
    sys.exit(main())
