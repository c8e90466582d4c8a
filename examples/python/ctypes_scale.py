# SPDX-License-Identifier: Apache-2.0
"""Two ways to copy an array, compared and checked on any machine: python3 ctypes_scale.py"""
import ctypes

import ridge

COUNT = 1 << 16
Vector = ctypes.c_float * COUNT


def make(i):
    """Rotation set i: x, out."""
    return Vector(*(float(k % 97 + i) for k in range(COUNT))), Vector()


def by_memmove(x, out):
    ctypes.memmove(out, x, ctypes.sizeof(Vector))


def by_slice(x, out):
    out[:] = x[:]


def forgets_the_end(x, out):
    ctypes.memmove(out, x, ctypes.sizeof(Vector) - 4 * 100)


if __name__ == "__main__":
    print(ridge.compare(candidate=by_memmove, baseline=by_slice, make=make, outputs=[1], budget=3))
    print()
    print(ridge.check(by_memmove, by_slice, make, outputs=[1], exact=True))
    print()
    print(ridge.check(forgets_the_end, by_slice, make, outputs=[1], exact=True, repeats=2))
