# SPDX-License-Identifier: Apache-2.0
"""Memory stays near the file's size: a report of many kernels, as the blocks of one written again
and again. Not for a build with sanitizers, which hold memory of their own."""
import os
import resource
import struct

from corpus import Test

COPIES = 16
SLACK = 0.1  # of the file, for tables of metrics
SMALL_BYTES = 16 << 20  # the program itself, and the interpreter that starts it


def peak_bytes():
    unit = 1024 if os.uname().sysname == "Linux" else 1
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit


def main():
    test = Test()
    with open(test.report("h01"), "rb") as report:
        data = report.read()
    start = 8 + struct.unpack_from("<I", data, 4)[0]
    path = os.path.join(test.folder, "many.%d.ncu-rep" % os.getpid())
    with open(path, "wb") as many:
        many.write(data[:start])
        for _ in range(COPIES):
            many.write(data[start:])
    del data  # a child counts what this program has when it starts
    size = os.path.getsize(path)
    for command, files in (("kernels", 1), ("metrics", 1), ("source", 1), ("diagnose", 1),
                           ("diff", 2)):  # a file that is mapped twice counts twice
        test.true(command + " prints nothing", test.text(command, *files * [path]))
        print("%s: %.1f MiB of report, %.1f MiB of memory"
              % (command, files * size / 2**20, peak_bytes() / 2**20))
        test.true(command + ": too much memory",
                  peak_bytes() <= files * size * (1 + SLACK) + SMALL_BYTES)
    os.remove(path)
    test.finish()


main()
