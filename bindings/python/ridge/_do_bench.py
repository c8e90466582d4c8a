# SPDX-License-Identifier: Apache-2.0
"""do_bench(): triton.testing.do_bench's signature, for scripts that exist."""
from __future__ import annotations

import statistics
import time
import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

from . import _arrays
from ._library import RidgeError

_MODES: Dict[str, Callable[[Sequence[float]], float]] = {"min": min, "max": max, "mean": statistics.fmean, "median": statistics.median}

CLOSURE = ("ridge.do_bench() sees a closure: it always uses the same buffers, so the cache is "
           "flushed before each call (written, then read) instead of rotated, and outputs are not "
           "checked. ridge.compare(candidate, baseline, make) does both")


def _quantile(ordered: Sequence[float], frac: float) -> float:
    place = frac * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def _count(budget_ms: float, each_ms: float) -> int:
    return max(1, int(budget_ms / each_ms)) if each_ms > 0 else 1


def _time_host(fn: Callable[[], Any], warmup: float, rep: float) -> List[float]:
    begin = time.perf_counter_ns()
    fn()
    each_ms = (time.perf_counter_ns() - begin) / 1e6
    for _ in range(_count(warmup, each_ms)):
        fn()
    times = []
    for _ in range(_count(rep, each_ms)):
        begin = time.perf_counter_ns()
        fn()
        times.append((time.perf_counter_ns() - begin) / 1e6)
    return times


def _clear(grads: Optional[Sequence[Any]]) -> None:
    for tensor in grads or ():
        tensor.grad = None


def _time_gpu(fn: Callable[[], Any], warmup: float, rep: float,
              grads: Optional[Sequence[Any]]) -> List[float]:
    cuda = _arrays.torch().cuda
    l2_bytes = getattr(cuda.get_device_properties(cuda.current_device()), "L2_cache_size", 0)
    scratch = _arrays.torch().empty(2 * (l2_bytes or 64 << 20) // 4,
                                    dtype=_arrays.torch().int32, device="cuda")

    def once(start: Any, end: Any) -> None:
        _clear(grads)
        scratch.zero_()  # nothing of before is left,
        scratch.sum()  # and the dirty lines are written back before the call
        start.record()
        fn()
        end.record()

    def event() -> Any:
        return cuda.Event(enable_timing=True)

    fn()
    cuda.synchronize()
    start, end = event(), event()
    start.record()
    for _ in range(5):
        once(event(), event())
    end.record()
    cuda.synchronize()
    each_ms = start.elapsed_time(end) / 5
    for _ in range(_count(warmup, each_ms)):
        once(event(), event())
    pairs = [(event(), event()) for _ in range(_count(rep, each_ms))]
    for pair in pairs:
        once(*pair)
    cuda.synchronize()
    return [first.elapsed_time(second) for first, second in pairs]


def do_bench(fn: Callable[[], Any], warmup: float = 25, rep: float = 100,
             grad_to_none: Optional[Sequence[Any]] = None,
             quantiles: Optional[Sequence[float]] = None,
             return_mode: str = "median") -> Union[float, List[float]]:
    """Milliseconds of ``fn()``, cold.

    The signature is triton.testing.do_bench's; the default of ``return_mode`` is the median. With
    CUDA the second-level cache is written and then read before each call: a flush that only writes
    charges its write-back to a kernel that reads. The host is timed where torch has no GPU.

    Args:
        fn: the call. warmup, rep: milliseconds spent before and while measuring.
        grad_to_none: tensors whose ``grad`` is cleared before each call.
        quantiles: fractions; a list of them is returned (one: a number).
        return_mode: "min", "max", "mean", "median" or "all".

    Warns:
        UserWarning: what a closure hides, once a process and caller.
    """
    if return_mode not in (*_MODES, "all"):
        raise RidgeError("RIDGE_ERR_INVALID_ARGUMENT",
                         f"return_mode={return_mode!r}, expected min, max, mean, median or all")
    warnings.warn(CLOSURE, UserWarning, stacklevel=2)
    torch = _arrays.torch()
    if torch is not None and torch.cuda.is_available():
        times = _time_gpu(fn, warmup, rep, grad_to_none)
    else:
        times = _time_host(fn, warmup, rep)
    if quantiles is not None:
        found = [_quantile(sorted(times), frac) for frac in quantiles]
        return found[0] if len(found) == 1 else found
    return times if return_mode == "all" else float(_MODES[return_mode](times))
