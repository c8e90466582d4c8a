#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the roofs of the GPU of this machine and prints them as the file that
`ridge bound --measured` reads. Needs PyTorch with CUDA.

    python3 bench/roofs/roofs.py > roofs.json

Each number is the median of repeated runs on random data (zeros draw less power and run faster),
timed with CUDA events:

- dram_bytes_per_s: a copy of 4 GiB, bytes read plus bytes written.
- flop_per_s: square matrix products through PyTorch (cuBLAS), 8192 cubed, a multiply-add is two;
  fp64 (tensor cores) and fp32 (without TF32) are 4096 cubed.
- launch_s: a kernel of one element, per launch inside a CUDA graph of 1,000.
"""
import json
import statistics
import subprocess
import sys

import torch


def seconds(run, repeats=15, warm_up=5):
    for _ in range(warm_up):
        run()
    times = []
    for _ in range(repeats):
        start = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        start.record()
        run()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / 1e3)
    return statistics.median(times)


def copy_rate():
    count = 1 << 30
    source = torch.randn(count, device="cuda")
    target = torch.empty_like(source)
    return 2 * source.nbytes / seconds(lambda: target.copy_(source))


def product_rate(n, make, multiply):
    a, b = make(n), make(n)
    return 2 * n**3 / seconds(lambda: multiply(a, b))


def floats(dtype):
    return lambda n: torch.randn(n, n, device="cuda").to(dtype)


def fp8(n):
    return torch.randn(n, n, device="cuda").to(torch.float8_e4m3fn)


def scaled(a, b):
    one = torch.ones((), device="cuda")
    return torch._scaled_mm(a, b.t(), one, one, out_dtype=torch.bfloat16, use_fast_accum=True)


def int8(n):
    return torch.randint(-128, 128, (n, n), dtype=torch.int8, device="cuda")


def tf32(a, b):
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        return torch.mm(a, b)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = False


def launch_time():
    one = torch.zeros(1, device="cuda")
    one.add_(1)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(1000):
            one.add_(1)
    return seconds(graph.replay) / 1000


PRODUCTS = [
    ("fp64 tensor", 4096, floats(torch.float64), torch.mm),
    ("fp32", 4096, floats(torch.float32), torch.mm),
    ("tf32 tensor", 8192, floats(torch.float32), tf32),
    ("fp16 tensor", 8192, floats(torch.float16), torch.mm),
    ("bf16 tensor", 8192, floats(torch.bfloat16), torch.mm),
    ("fp8 tensor", 8192, fp8, scaled),
    ("int8 tensor", 8192, int8, lambda a, b: torch._int_mm(a, b.t())),
]


def driver():
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    return subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]


def main():
    rates = {}
    for name, n, make, multiply in PRODUCTS:
        try:
            rates[name] = product_rate(n, make, multiply)
        except (RuntimeError, AttributeError) as error:
            print(f"roofs: {name}: {error}", file=sys.stderr)
    json.dump(
        {
            "schema": "ridge-roofs/1",
            "gpu": torch.cuda.get_device_name(),
            "source": f"bench/roofs/roofs.py, driver {driver()}, torch {torch.__version__}",
            "dram_bytes_per_s": copy_rate(),
            "flop_per_s": rates,
            "launch_s": launch_time(),
        },
        sys.stdout,
        indent=2,
    )
    print()


main()
