# SPDX-License-Identifier: Apache-2.0
"""The table of instructions against the profiler's source page: every row, every counter."""
import csv

from corpus import Test

COUNTERS = {
    "# Samples": "samples",
    "Instructions Executed": "executed",
    "Thread Instructions Executed": "threads",
    "Predicated-On Thread Instructions Executed": "threads_on",
    "L1 Wavefronts Shared": "wavefronts",
    "L1 Wavefronts Shared Ideal": "wavefronts_ideal",
    "L2 Theoretical Sectors Global": "l2_sectors",
    "L2 Theoretical Sectors Global Ideal": "l2_sectors_ideal",
    "L1 Tag Requests Global": "l1_tag_requests",
    "Warp Stall Sampling (Not-issued Samples)": "samples_not_issued",
}

# The source page's names of reasons where they are not those of the metrics.
REASONS = {
    "dispatch": "dispatch_stall",
    "imc": "imc_miss",
    "lg": "lg_throttle",
    "long_sb": "long_scoreboard",
    "math": "math_pipe_throttle",
    "mio": "mio_throttle",
    "no_inst": "no_instruction",
    "short_sb": "short_scoreboard",
    "sleep": "sleeping",
    "tex": "tex_throttle",
}


def opcode_of(source):
    """"@!P0 LDG.E.U16 R2, [R4]": LDG."""
    words = source.split()
    return words[1 if words[0].startswith("@") else 0].rstrip(",;").split(".")[0]


def stalls_of(row, columns, not_issued):
    suffix = " (Not Issued)" if not_issued else ""
    found = {}
    for column in columns:
        if not column.startswith("stall_") or column.endswith(" (Not Issued)") != not_issued:
            continue
        reason = column[len("stall_"):len(column) - len(suffix)]
        count = int(row[column])
        if count > 0:
            found[REASONS.get(reason, reason)] = count
    return found


def compare(test, what, row, got, columns):
    test.equal(what + " address", "0x%x" % got["pc"], row["Address"])
    test.equal(what + " opcode", got["opcode"].split(".")[0], opcode_of(row["Source"]))
    for column, counter in COUNTERS.items():
        test.equal("%s %s" % (what, counter), got.get(counter, 0), int(row.get(column, 0)))
    test.equal(what + " stalls", got["stalls"], stalls_of(row, columns, False))
    test.equal(what + " stalls_not_issued", got["stalls_not_issued"],
               stalls_of(row, columns, True))


def main():
    test = Test()
    row_count = 0
    for name in test.names("oracle", ".source.csv"):
        with open(test.path("oracle/%s.source.csv" % name), newline="", encoding="utf-8") as page:
            next(page)  # the name of the kernel
            reader = csv.DictReader(page)
            columns = reader.fieldnames
            rows = list(reader)
        kernel = test.json("source", "--json", "--all", test.report(name))["kernels"][0]
        found = kernel["instructions"]
        test.equal("%s: instructions" % name, len(found), len(rows))
        for row, got in zip(rows, found):
            compare(test, "%s 0x%x" % (name, got["offset"]), row, got, columns)
        row_count += len(rows)
    print("%d instructions" % row_count)
    test.true("the oracle holds no source page", row_count > 0)
    test.finish()


main()
