# SPDX-License-Identifier: Apache-2.0
"""Damaged files: cut short, and with single bits flipped. The command says so in one line and ends
with 3, or the damage is where it does not show, and then no kernel is missing; it never crashes."""
import json
import os
import random
import struct
import threading
from concurrent.futures import ThreadPoolExecutor

from corpus import Test, read_blocks

REPORTS = ("reports/metrics_w05.ncu-rep", "public/r09_ncu2024.3.1.0_sm89.ncu-rep",
           "public/r14_ncu2020.3.1.0_sm80.ncu-rep")
CUTS = 60
FLIPS = 200
HEADERS = 16


def kernel_count(test, path):
    return len(json.loads(test.run("kernels", "--json", path)[1])["kernels"])


def check(test, kernels, what, data, statuses):
    path = os.path.join(test.folder, "damaged.%d.%d.ncu-rep"
                        % (os.getpid(), threading.get_ident()))
    with open(path, "wb") as damaged:
        damaged.write(data)
    status, out, err = test.run("diagnose", path)
    if status == 0:
        test.equal(what + ": kernels", kernel_count(test, path), kernels)
    os.remove(path)
    test.true("%s: exit status %d, expected one of %s\n%s" % (what, status, statuses, err[:2000]),
              status in statuses)
    lines = err.count("\n")
    test.true("%s: exit status %d, and %d lines on stderr\n%s" % (what, status, lines, err[:2000]),
              lines == 1 or (lines == 0 and status == 0))
    test.true(what + ": done, and nothing is printed", status != 0 or out)


def cases(test, name):
    """(what, bytes, exit statuses): always the same for a report."""
    with open(test.path(name), "rb") as report:
        data = report.read()
    ends = {end for end, _, _ in read_blocks(data)}  # a file that ends there is whole
    chance = random.Random(name)
    for _ in range(CUTS):
        size = chance.randrange(len(data))
        if size not in ends:
            yield "%s cut at %d" % (name, size), data[:size], (3,)
    headers = [8 + struct.unpack_from("<I", data, 4)[0]] + sorted(ends)[:-1]
    counts = [8 * (start + 4) + bit for start in headers[:HEADERS] for bit in range(32)]
    for bit in counts:  # where the counts of a block stand
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        yield "%s, bit %d of a block header flipped" % (name, bit), flipped, (0, 3)
    for _ in range(FLIPS):
        bit = chance.randrange(8 * len(data))
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        yield "%s, bit %d flipped" % (name, bit), flipped, (0, 3)


def main():
    test = Test()
    os.makedirs(test.folder, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        for name in REPORTS:
            kernels = kernel_count(test, test.path(name))
            list(workers.map(lambda case: check(test, kernels, *case), cases(test, name)))
    test.finish()


main()
