# SPDX-License-Identifier: Apache-2.0
"""The labelled reports: the class is right and a labelled cause is among the first two findings."""
from corpus import Test


def main():
    test = Test()
    rows = test.lines("labels.tsv")
    for name, classes, walls, causes, *_ in rows:
        kernel = test.json("diagnose", "--json", test.report(name))["kernels"][0]
        verdict = kernel["verdict"]
        first = [finding["id"] for finding in kernel["findings"][:2]]
        test.true("%s: class %s, expected %s" % (name, verdict["class"], classes),
                  verdict["class"] in classes.split("|"))
        test.true("%s: first %s, expected one of %s" % (name, first, causes),
                  set(first) & set(causes.split("|")))
        if verdict["wall"] not in walls.split("|"):  # told, not required
            print("%s: wall %s, labelled %s" % (name, verdict["wall"], walls))
    print("%d labelled reports" % len(rows))
    test.true("no report is labelled", rows)
    test.finish()


main()
