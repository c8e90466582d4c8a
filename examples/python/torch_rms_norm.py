# SPDX-License-Identifier: Apache-2.0
"""RMSNorm of PyTorch against the expression it replaces: python3 torch_rms_norm.py"""
import torch

import ridge

ROWS, COLUMNS, EPS = 4096, 5120, 1e-6


def make(i):
    """Rotation set i: x, w, out."""
    x = torch.randn(ROWS, COLUMNS, device="cuda", dtype=torch.bfloat16)
    return x, torch.randn(COLUMNS, device="cuda", dtype=torch.bfloat16), torch.empty_like(x)


def expression(x, w, out):
    y = x.float()
    out.copy_(y * torch.rsqrt(y.square().mean(-1, keepdim=True) + EPS) * w)


def rms_norm(x, w, out):
    return torch.nn.functional.rms_norm(x, (COLUMNS,), w, EPS)


def reference(x, w, out):
    """In float64: x and w arrive so."""
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPS) * w


def case(at):
    """For the command line: ridge compare python:torch_rms_norm:case ..."""
    return ridge.Case(rms_norm, make, [2], reference=reference, flop=4 * ROWS * COLUMNS)


if __name__ == "__main__":
    print(ridge.check(rms_norm, reference, make, outputs=[2]))
    print(ridge.compare(rms_norm, expression, make, outputs=[2], budget=20))
