# SPDX-License-Identifier: Apache-2.0
"""The Python package on a GPU, with torch: python3 tests/gpu/python_torch.py [SECONDS]

Each line is a check of the package: what was expected, what came, "ok" or "FAILED"; exit status 1
when one failed. Needs the library (RIDGE_LIBRARY or build/*/lib) and bindings/python in PYTHONPATH.
"""
import pathlib
import sys
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bindings" / "python"))

import torch  # noqa: E402

import ridge  # noqa: E402

ROWS, COLUMNS = 4096, 5120
BUDGET = float(sys.argv[1]) if len(sys.argv) > 1 else 15
failed = []


def make(i):
    """x, w, out"""
    generator = torch.Generator("cuda").manual_seed(i)
    x = torch.randn(ROWS, COLUMNS, device="cuda", dtype=torch.bfloat16, generator=generator)
    w = torch.randn(COLUMNS, device="cuda", dtype=torch.bfloat16, generator=generator)
    return x, w, torch.empty_like(x)


def make_small(i):
    x, w, _ = make(i)
    x = x[:16].clone()
    return x, w, torch.empty_like(x)


def library(x, w, out):
    return torch.nn.functional.rms_norm(x, (x.shape[-1],), w, 1e-6)


def naive(x, w, out):
    y = x.float()
    out.copy_(y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-6) * w)


def reference(x, w, out):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * w


def last_row_missing(x, w, out):
    naive(x[:-1], w, out[:-1])


def waits(x, w, out):
    naive(x, w, out)
    torch.cuda.synchronize()


def line(name, is_right, text):
    print(f"{'ok' if is_right else 'FAILED':6}  {name}: {text}", flush=True)
    if not is_right:
        failed.append(name)


def compared(name, candidate, baseline, accept, **settings):
    begin = time.time()
    found = ridge.compare(candidate, baseline, make, outputs=[2], budget=BUDGET, **settings)
    line(name, accept(found), f"{time.time() - begin:.1f} s")
    for row in str(found).splitlines():
        print("        " + row[:160])
    return found


def checked(name, function, accept, **settings):
    found = ridge.check(function, reference, make, outputs=[2], **settings)
    line(name, accept(found), "")
    for row in str(found).splitlines()[:10]:
        print("        " + row[:160])


def triton_rms_norm():
    try:
        import triton
        import triton.language as tl
    except ImportError:
        return None

    @triton.jit
    def kernel(x, w, out, n, eps, BLOCK: tl.constexpr):
        row = tl.program_id(0).to(tl.int64)
        at = tl.arange(0, BLOCK)
        inside = at < n
        v = tl.load(x + row * n + at, mask=inside, other=0).to(tl.float32)
        scale = tl.rsqrt(tl.sum(v * v) / n + eps)
        weight = tl.load(w + at, mask=inside, other=0).to(tl.float32)
        tl.store(out + row * n + at, (v * scale * weight).to(tl.bfloat16), mask=inside)

    def call(x, w, out):
        kernel[(x.shape[0],)](x, w, out, x.shape[1], 1e-6, BLOCK=8192, num_warps=8)

    return call


print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}, ridge {ridge.version()}")
found = compared("naive expression is slower than rms_norm", naive, library,
                 lambda r: r.verdict == "REGRESSED" and r.ratio > 1.5)
line("launched as graphs, path listed", found.host_paced is None and all(found.path),
     f"{found.host_paced}; mode {found.mode}")
line("rotation", found.raw["run"]["rotation"] >= 2, str(found.raw["run"]["rotation"]))
found = compared("A/A", library, library, lambda r: r.verdict not in ("IMPROVED", "REGRESSED"))
line("A/A interval is narrow", found.interval is not None
     and found.interval[1] - found.interval[0] < 0.02, str(found.interval))

tiny = ridge.compare(library, library, make_small, outputs=[2], budget=BUDGET)
line("A/A, 16 rows: graph of graphs", tiny.mode == "graph" and tiny.verdict not in
     ("IMPROVED", "REGRESSED", "INVALID"), tiny.mode)
print("        " + str(tiny).replace("\n", "\n        "))

compared("a call that synchronises is host-paced", waits, naive,
         lambda r: r.host_paced is not None and r.mode == "batch")
compared("a wrong candidate is not timed", last_row_missing, naive,
         lambda r: r.verdict == "INVALID" and r.invalid_guard == "check")
# Some versions round to bf16 before the weight: one more rounding is allowed.
checked("check of rms_norm", library, lambda r: r.ok, accumulate_length=1, accumulate_unit=2**-8,
        repeats=5)
checked("check names the missing row", last_row_missing,
        lambda r: not r.ok and r.cause_id in ("unwritten", "partial_tile"), repeats=2)
triton_call = triton_rms_norm()
if triton_call is None:
    print("skip    no triton")
else:
    checked("check of a Triton kernel", triton_call, lambda r: r.ok, repeats=5)
    compared("Triton against rms_norm", triton_call, library, lambda r: r.verdict != "INVALID")
    warnings.simplefilter("ignore")
    x, w, out = make(0)
    ms = ridge.do_bench(lambda: triton_call(x, w, out))
    import triton.testing
    theirs = triton.testing.do_bench(lambda: triton_call(x, w, out), return_mode="median")
    line("do_bench beside Triton's", abs(ms / theirs - 1) < 0.3, f"{1e3 * ms:.2f} us, "
         f"{1e3 * theirs:.2f} us")
one = ridge.bench(library, make, outputs=[2], budget=BUDGET, flop=4 * ROWS * COLUMNS)
line("bench", one.median_ns > 0 and one.host_paced is None, "")
print("        " + str(one).replace("\n", "\n        "))
print("FAILED: " + ", ".join(failed) if failed else "all right")
sys.exit(1 if failed else 0)
