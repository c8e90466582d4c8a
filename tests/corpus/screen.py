# SPDX-License-Identifier: Apache-2.0
"""What people read fits their screen: 100 columns, and 60 lines a kernel."""
import os

from corpus import Test

COLUMNS = 100
LINES = 60


def check(test, what, text, most_lines):
    lines = text.splitlines()
    widest = max((len(line) for line in lines), default=0)
    test.true("%s: %d columns" % (what, widest), widest <= COLUMNS)
    test.true("%s: %d lines" % (what, len(lines)), len(lines) <= most_lines)
    test.true(what + ": a line ends with blanks", not any(line != line.rstrip() for line in lines))
    return len(lines)


def main():
    test = Test()
    longest = 0
    paths = [test.report(name) for name in test.names("reports", ".ncu-rep")]
    paths += [test.path("public/%s.ncu-rep" % name) for name in test.names("public", ".ncu-rep")]
    for path in paths:
        # The name of the file is part of what is printed, the folder it lies in is not.
        folder, name = os.path.split(path)
        os.chdir(folder)
        kernels = test.json("kernels", "--json", "--all", name)["kernels"]
        for launch in range(len(kernels)):
            what = "%s launch %d" % (name, launch)
            text = test.text("diagnose", "--launch", str(launch), name)
            longest = max(longest, check(test, what, text, LINES))
        check(test, name, test.text("diagnose", name), LINES)
        check(test, name + " kernels", test.text("kernels", name), 2000)
    print("%d reports, the longest diagnosis has %d lines" % (len(paths), longest))
    test.finish()


main()
