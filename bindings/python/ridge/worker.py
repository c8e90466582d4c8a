# SPDX-License-Identifier: Apache-2.0
"""The process that runs python:MODULE:FUNCTION arms of a command; started by ridge itself.

    $RIDGE_PYTHON -m ridge.worker FOLDER

What a module prints is shown as the output of a kernel; results go through a descriptor of their
own.
"""
from __future__ import annotations

import ctypes
import math
import struct
import sys
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import _arms, _arrays
from ._library import (AGREE, CASE, CLOSE, INVALID_ARGUMENT, OPEN, UNSUPPORTED, Handle, RidgeError)
from ._measure import Contender, _indices, _traffic, gate, watch
from ._sets import Function, Sets, arguments_of, first_line
from .case import Case

_DEFAULTS = {"dtype": "bf16", "layout": "contiguous", "values": "normal", "seed": 1}


def case_of_text(text: str) -> Dict[str, Any]:
    """"m=3,dtype=f16" as the dict that a function gets: axes are its whole numbers.

    "axes" has them alone; "dtype", "layout", "values", "in_place" and "seed" are always there.
    """
    case: Dict[str, Any] = dict(_DEFAULTS, in_place=False, axes={})
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        if name == "in_place":
            case[name] = value not in ("0", "no", "false")
        elif name in _DEFAULTS:
            case[name] = int(value) if name == "seed" else value
        else:
            case["axes"][name] = case[name] = int(value)
    return case


def dtype_among(values: Sequence[Any], asked: str) -> str:
    """The one type that arrays have, those of whole numbers aside where others are floating-point.

    The type of the case where some have it; "" where there are several, or one without a name.
    """
    found = {_arrays.known_dtype_of(value) for value in values if _arrays.is_array(value)}
    floats = found - {"i64", "i32", "u32", "i16", "i8", "u8"}
    if asked in found:
        return asked
    return (floats or found or {""}).pop() if len(floats or found) <= 1 else ""


class Worker:
    """Answers the session: which callables, which sets, and what they cost."""

    def __init__(self, handle: Handle) -> None:
        self.handle = handle
        self.functions: Dict[int, Any] = {}
        self.names: Dict[int, str] = {}
        self.cases: Dict[int, Case] = {}
        self.texts: Dict[int, str] = {}
        self.sets: Optional[Sets] = None

    def answer(self, event: int, arm: int, number: int, stream: int, values: Any, text: int,
               size: int) -> int:
        """See ridge_python_call."""
        try:
            if event == OPEN:
                self.names[arm] = "python:" + ctypes.string_at(text).decode()
                self.functions[arm] = _arms.load(self.names[arm])
            elif event == CASE:
                work, dtype = self._case(arm, ctypes.string_at(text).decode())
                for index, value in enumerate(work):
                    values[index] = struct.unpack("=Q", struct.pack("=d", value))[0]
                ctypes.memmove(text, dtype.encode() + b"\0", len(dtype) + 1)
            elif event == AGREE:
                image = (self._disagreement() or "").encode()[: size - 1]
                ctypes.memmove(text, image + b"\0", len(image) + 1)
            elif event == CLOSE:
                if self.sets is not None:
                    self.sets.close()
            else:
                return self._sets().answer(event, arm, number, stream, values, text, size)
        except BaseException as error:  # noqa: B902: nothing may pass through C
            message = str(error) if isinstance(error, RidgeError) else (
                f"{type(error).__name__}: {first_line(error)}")
            image = message.encode()[: size - 1]
            ctypes.memmove(text, image + b"\0", len(image) + 1)
            is_refusal = isinstance(error, RidgeError) and error.status == "RIDGE_ERR_UNSUPPORTED"
            return UNSUPPORTED if is_refusal else INVALID_ARGUMENT
        return 0

    def _case(self, arm: int, text: str) -> Tuple[List[float], str]:
        """The case of an arm: what a call costs (flop, read, written, footprint), and its type."""
        asked = case_of_text(text)
        other = self.cases.get(0) if arm == 1 and self.texts.get(0) == text else None
        case = _arms.case_of(self.names[arm], self.functions[arm], asked, other)
        self.cases[arm], self.texts[arm] = case, text
        self.sets = None
        make = self._make(text)
        arguments = arguments_of(make(0))
        outputs = _indices(case.outputs, arguments)
        returned = [] if outputs or case.writes is not None else _arrays.outputs_of(
            case.call, arguments, outputs)
        read, written = _traffic(arguments, outputs, case.reads, case.writes, returned)
        return ([math.nan if case.flop is None else float(case.flop), read, written, read + written],
                dtype_among([*arguments, *returned], asked["dtype"]))

    def _make(self, text: str) -> Any:
        """The baseline's: both arms get the same sets."""
        arm = min(index for index, own in self.texts.items() if own == text)
        return self.cases[arm].make

    def _disagreement(self) -> Optional[str]:
        """Why arms of one case must not be timed against each other. Of a lone arm nothing is said:
        the other one is a kernel, with buffers of its own."""
        if len(self.cases) < 2 or self.texts[0] != self.texts[1]:
            return None
        arguments = arguments_of(self._make(self.texts[0])(0))
        arms = [Contender(self.names[arm], case.call, _indices(case.outputs, arguments), case.inout)
                for arm, case in sorted(self.cases.items())]
        return gate(self.handle, arms, arguments, self.cases[0].reference, self.cases[0].tolerance)

    def _sets(self) -> Sets:
        if self.sets is None:
            text = self.texts[max(self.texts)]
            functions: List[Optional[Function]] = [None] * (max(self.cases) + 1)
            for arm, case in self.cases.items():
                functions[arm] = case.call
            make = self._make(text)
            device = _arrays.device_of(arguments_of(make(0)))
            self.sets = Sets(functions, make, device, 1, None)
            first = arguments_of(make(0))
            watch(self.sets, self.handle,
                  [Contender(self.names[arm], self.cases[arm].call,
                             _indices(self.cases[arm].outputs, first), self.cases[arm].inout)
                   if arm in self.cases else None for arm in range(len(functions))],
                  self.cases[min(self.cases)].reference, self.cases[min(self.cases)].tolerance)
            self.sets.choose()
            if self.sets.is_gpu and self.sets.host_reason:
                print(f"host-paced: {self.sets.host_reason}", flush=True)
        return self.sets


def main(folder: str) -> int:
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    try:
        with Handle() as handle:
            handle.serve(folder, Worker(handle).answer)
    except RidgeError as error:
        print(f"ridge.worker: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 -m ridge.worker FOLDER (started by ridge)")
    sys.exit(main(sys.argv[1]))
