# SPDX-License-Identifier: Apache-2.0
"""ridge: is it right, is it faster? For Python callables, by the same code as for C kernels.

    r = ridge.compare(candidate=new, baseline=old, make=lambda i: (x[i], w, out[i]), outputs=[2])
    print(r.verdict, r.ratio, r.interval, r.detectable)

    assert ridge.check(new, reference, make, outputs=[2])
"""
from ._check import CheckResult, check
from ._do_bench import do_bench
from ._library import RidgeError, version
from ._measure import Comparison, Measurement, bench, compare
from .case import Case

__all__ = ["Case", "CheckResult", "Comparison", "Measurement", "RidgeError", "bench", "check",
           "compare", "do_bench", "version"]
