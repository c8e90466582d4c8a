# SPDX-License-Identifier: Apache-2.0
"""Other people's reports, ncu 2020.3 to 2026.2: all results open, and each one is diagnosed as far
as its data goes."""
from collections import Counter

from corpus import Test


def short_names(text):
    """"warmingUp*1;mathKernel1*1": how often each name is launched; names may be cut short."""
    return Counter({name: int(count) for name, count in
                    (part.rsplit("*", 1) for part in text.split(";"))})


def main():
    test = Test()
    kernel_count = 0
    for name, version, driver, gpu, capability, results, names in test.lines("public/INDEX.tsv"):
        path = test.path("public/" + name)
        kernels = test.json("diagnose", "--json", path)["kernels"]
        test.equal("%s: results" % name, len(kernels), int(results))
        listed = short_names(names)
        if sum(listed.values()) == int(results):
            test.equal("%s: kernels" % name, Counter(kernel["name"] for kernel in kernels), listed)
        for kernel in kernels:
            what = "%s %s" % (name, kernel["name"])
            verdict = kernel["verdict"]
            test.equal(what + " gpu", kernel["gpu"], gpu)
            test.equal(what + " capability", kernel["compute_capability"], capability)
            test.true(what + ": no sentence", verdict["sentence"])
            test.true("%s: class %s without a word on what is missing" % (what, verdict["class"]),
                      verdict["class"] != "unknown" or (kernel["missing"] and kernel["collect"]))
        kernel_count += len(kernels)
        for command in (["diagnose", "--all"], ["metrics"], ["kernels"]):
            test.true("%s: %s prints nothing" % (name, command), test.text(*command, path))
        del version, driver
    print("%d results" % kernel_count)
    test.true("the corpus holds no public report", kernel_count > 0)
    test.finish()


main()
