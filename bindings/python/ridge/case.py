# SPDX-License-Identifier: Apache-2.0
"""What `function(case)` of a python:module:function arm answers with."""
from __future__ import annotations

import dataclasses
from typing import Any, Callable, Optional, Sequence


@dataclasses.dataclass
class Case:
    """A callable with what is needed to check and measure it.

    Attributes:
        call: called as ``call(*make(i))``; writes into ``outputs`` or returns tensors.
        make: rotation set i, the arguments of a call.
        outputs: positions in a set that are written.
        inout: those of them that are read too.
        reference: called as ``call`` is, with floating-point torch tensors in float64; None: no
            answer is known, and two arms are held against each other.
        reads, writes: compulsory bytes of a call; None: each tensor of a set once.
        flop: operations of a call, a multiply-add is two; None: unknown.
        tolerance: as of compare(); None: by the type.
        accumulate_length: longest chain of additions of an output, see check(); None: the longest
            axis of an input.
    """

    call: Callable[..., Any]
    make: Callable[[int], Any]
    outputs: Optional[Sequence[int]] = None
    inout: Sequence[int] = ()
    reference: Optional[Callable[..., Any]] = None
    reads: Optional[float] = None
    writes: Optional[float] = None
    flop: Optional[float] = None
    accumulate_length: Optional[int] = None
    tolerance: Optional[float] = None
