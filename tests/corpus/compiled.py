# SPDX-License-Identifier: Apache-2.0
"""ridge inspect against ptxas -v, cuobjdump -res-usage and nvdisasm, every kernel and every row, and
against the registers that the profiler saw."""
import collections
import csv
import gzip
import io
import os
import re

from corpus import SHARED, Test, skip

FIXTURES = os.path.join(SHARED, "binary_fixtures")
RESERVE_SM, RESERVE_BYTES = 90, 1024  # of the driver, in what cuobjdump prints


def table(test, path):
    text = test.text("inspect", "--csv", path)
    return {row["name"]: row for row in csv.DictReader(io.StringIO(text))}


def ptxas(path):
    """Kernel: registers, barriers, shared, frame, spill stores, spill loads."""
    found, name = {}, None
    for line in open(path, encoding="utf-8"):
        start = re.search(r"Compiling entry function '(.*?)'", line)
        frame = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill",
                          line)
        used = re.search(r"Used (\d+) registers, used (\d+) barriers", line)
        if start:
            name, numbers = start.group(1), None
        elif frame and name and numbers is None:
            numbers = [int(n) for n in frame.groups()]
        elif used and name:
            shared = re.search(r"(\d+) bytes smem", line)
            found[name] = [int(used.group(1)), int(used.group(2)),
                           int(shared.group(1)) if shared else 0] + numbers
            name = None
    return found


def number(row, key):
    """Of a recursive kernel ptxas and cuobjdump print the frame of the kernel alone, 0; ridge says
    that what it takes is not known."""
    if key == "local_bytes" and row[key] == "" and row["is_recursive"] == "1":
        return 0
    return int(row[key])


def check_ptxas(test, name, rows):
    expected = ptxas(os.path.join(FIXTURES, "truth", name + ".ptxas_v.txt"))
    keys = ["registers_per_thread", "barriers", "static_shared_bytes", "local_bytes",
            "spill_store_bytes", "spill_load_bytes"]
    test.equal(name + ": kernels", sorted(rows), sorted(expected))
    for kernel in expected:
        test.equal("%s %s" % (name, kernel), [number(rows[kernel], key) for key in keys],
                   expected[kernel])
    return len(expected)


def check_usage(test, name, sm, rows):
    text = open(os.path.join(FIXTURES, "truth", name + ".resusage.txt"), encoding="utf-8").read()
    for kernel, registers, stack, shared in re.findall(
            r"Function (\S+):\s+REG:(\d+) STACK:(\d+) SHARED:(\d+)", text):
        if kernel not in rows:  # a device function
            continue
        reserve = RESERVE_BYTES if sm >= RESERVE_SM and int(shared) > 0 else 0
        test.equal("%s %s res-usage" % (name, kernel),
                   [number(rows[kernel], key) for key in
                    ("registers_per_thread", "local_bytes", "static_shared_bytes")],
                   [int(registers), int(stack), int(shared) - reserve])


def disassembly(name):
    """Function: the names of its instructions, in order."""
    rows = collections.OrderedDict()
    path = os.path.join(FIXTURES, "truth", name + ".sass.tsv.gz")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            section, _, _, _, text = line.rstrip("\n").split("\t")
            mnemonic = re.sub(r"^@\S+\s+", "", text).split()[0].split(".")[0]
            rows.setdefault(section[len(".text."):], []).append(mnemonic)
    return rows


def check_code(test, name, path):
    truth = disassembly(name)
    row_count = 0
    sass = test.json("inspect", "--sass", "--json", "--functions", path)["functions"]
    mix = test.json("inspect", "--mix", "--json", "--functions", path)["functions"]
    test.equal(name + ": functions", sorted(at["name"] for at in sass), sorted(truth))
    for listed, counted in zip(sass, mix):
        expected = truth[listed["name"]]
        code = expected[:listed["instruction_count"]]
        what = "%s %s" % (name, listed["name"])
        test.equal(what + " rows", listed["instruction_count"] + listed["padding_count"],
                   len(expected))
        test.true(what + " padding", set(expected[len(code):]) <= {"NOP", "BRA"})
        test.equal(what + " names", [at["text"].split(".")[0] for at in listed["instructions"]],
                   code)
        found = collections.Counter()
        for text, count in counted["whole"]["instructions"].items():
            found[text.split(".")[0]] += count
        test.equal(what + " mix", found, collections.Counter(code))
        row_count += len(expected)
    return row_count


def check_reports(test):
    """The profiler gives a kernel at least 16 registers."""
    for name in test.names("reports", ".ncu-rep"):
        path = test.report(name)
        rows = {}
        for row in csv.DictReader(io.StringIO(test.text("inspect", "--csv", path))):
            rows.setdefault(row["short_name"].split("<")[0], set()).add(
                max(16, int(row["registers_per_thread"])))
        metrics = test.json("metrics", "--json", path, "launch__registers_per_thread")
        for kernel in metrics["kernels"]:
            short = re.sub(r"^void ", "", kernel["name"])
            short = re.split(r"[<(]", short)[0]
            for metric in kernel["metrics"]:
                if metric["name"] == "launch__registers_per_thread":
                    test.true("%s %s: %r registers of %r" % (name, short, metric.get("value"),
                                                             rows.get(short)),
                              metric.get("value") in rows.get(short, set()))


def main():
    test = Test()
    if not os.path.isdir(FIXTURES):
        skip("no folder binary_fixtures in the shared one")
    kernel_count = row_count = 0
    for file in sorted(os.listdir(os.path.join(FIXTURES, "cubin"))):
        name = file[:-len(".cubin")]
        path = os.path.join(FIXTURES, "cubin", file)
        truth = os.path.join(FIXTURES, "truth", name)
        if not file.endswith(".cubin"):
            continue
        if os.path.exists(truth + ".ptxas_v.txt"):
            rows = table(test, path)
            kernel_count += check_ptxas(test, name, rows)
            check_usage(test, name, int(name.split("_")[1]), rows)
        if os.path.exists(truth + ".sass.tsv.gz"):
            row_count += check_code(test, name, path)
    check_reports(test)
    print("%d kernels, %d instructions" % (kernel_count, row_count))
    test.true("no fixture was found", kernel_count > 0 and row_count > 0)
    test.finish()


main()
