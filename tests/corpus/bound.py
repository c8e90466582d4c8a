# SPDX-License-Identifier: Apache-2.0
"""What is known of the corpus kernels (walls.cu, walls2.cu) against ridge bound: no kernel is faster
than its bound, products do exactly the operations of a product, streams move what they must."""
from corpus import Test

# name, operation, parameters, what DRAM reads are of the compulsory ones (from, to), exact FLOP
KERNELS = [
    ("h01", "gemm", "m=4096 n=4096 k=4096 out_bits=32 dtype=bf16", (2.0, 5.0), True),
    ("h02", "gemm", "m=4096 n=4096 k=4096 out_bits=32 dtype=bf16", (2.0, 5.0), True),
    ("w08", "gemm", "m=2048 n=2048 k=2048 dtype=f32", (0.95, 1.05), True),
    ("w01", "add_rms_norm", "rows=8192 columns=4096 dtype=bf16", (0.99, 1.01), False),
    ("w02", "add_rms_norm", "rows=8192 columns=4096 dtype=bf16", (0.99, 1.01), False),
    ("w03", "transpose", "rows=8192 columns=8192 dtype=f32", (0.99, 1.01), False),
    ("w16", "transpose", "rows=8192 columns=8192 dtype=f32", (0.99, 1.01), False),
]


def main():
    test = Test()
    for name, operation, parameters, (low, high), is_exact in KERNELS:
        found = test.json("bound", "--json", "--report", test.report(name), operation,
                          *parameters.split())
        kernel, least = found["kernels"][0], found["least"]
        test.true("%s: %.4g times the least time" % (name, kernel["time_ratio"]),
                  kernel["time_ratio"] >= 1)
        test.true("%s: reads %.4g times the least" % (name, kernel["read_ratio"]),
                  low <= kernel["read_ratio"] <= high)
        if is_exact:
            test.equal("%s: operations" % name, kernel["flop_count"], least["flop_count"])
    # Without parameters: whatever a report holds, it opens, and no kernel beats the chip's roofs.
    reports = test.names("reports", ".ncu-rep")
    for name in reports:
        status, text, _ = test.run("bound", "--json", "--report", test.report(name))
        test.true("%s: exit status %d" % (name, status), status in (0, 1))
    print("%d kernels against their bound, %d reports opened" % (len(KERNELS), len(reports)))
    test.finish()


main()
