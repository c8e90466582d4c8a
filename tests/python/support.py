# SPDX-License-Identifier: Apache-2.0
"""Callables of known times and known faults, on ctypes arrays."""
import ctypes
import time

COUNT = 48
Vector = ctypes.c_float * COUNT


def make(i):
    """x, out"""
    return Vector(*(k % 7 + i for k in range(COUNT))), Vector()


def double(x, out):
    for k in range(COUNT):
        out[k] = 2 * x[k]


def spinning(us):
    """double() that takes this long."""

    def spin(x, out):
        end = time.perf_counter_ns() + us * 1000
        double(x, out)
        while time.perf_counter_ns() < end:
            pass

    return spin


def until(is_right, ask, tries=6):
    """What ask() finds. A busy machine may hide a difference or spoil a run: it is asked again."""
    for _ in range(tries):
        found = ask()
        if is_right(found):
            break
    return found


def nothing(x, out):
    pass


def raising(x, out):
    raise ValueError("the third axis is missing\nand more")
