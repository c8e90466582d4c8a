# SPDX-License-Identifier: Apache-2.0
"""compare() and bench(): the measuring loop of ridge over Python callables."""
from __future__ import annotations

import gc
import math
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import _arrays, _text
from ._library import Handle, RidgeError
from ._samples import Samples
from ._sets import Arguments, Function, Sets, arguments_of, check_callables, first_line

Progress = Callable[[str, int, int], None]

_CACHES = ("cold", "hot")
_MODES = ("auto", "event", "graph", "batch")
_REGIMES = ("auto", "short", "both")
COMPARED_MOST = 1 << 26  # elements of an output; of more every nth
# Unit roundoff of the types that are rounded.
_UNITS = {"f64": 2.0 ** -53, "f32": 2.0 ** -24, "f16": 2.0 ** -11, "bf16": 2.0 ** -8,
          "e4m3": 2.0 ** -4, "e5m2": 2.0 ** -3}


class Result:
    """What both results have. ``raw`` is the whole of it: keys are the names of ridge's C fields,
    times in ns, rates in bytes and FLOP a second; what is not known is None."""

    def __init__(self, raw: Dict[str, Any]) -> None:
        self.raw = raw
        run = raw["run"]
        self.records: List[Dict[str, Any]] = raw["records"]  # one a slot
        self.device: Dict[str, Any] = raw["device"]
        self.mode: str = run["mode"]  # "event", "graph", "batch"
        self.host_paced: Optional[str] = raw["host_paced"]  # why Python runs for each launch
        self.is_interrupted: bool = run["is_interrupted"]
        self.invalid_guard: Optional[str] = run["invalid_guard"]
        self.invalid_cause: Optional[str] = run["invalid_cause"]

    def _tail(self) -> str:
        notes = []
        if self.host_paced:
            notes.append("host-paced: " + self.host_paced)
        if self.is_interrupted:
            notes.append("interrupted")
        if self.raw["run"]["is_busy"]:
            notes.append("other processes used the GPU")
        return "".join("\n  " + note for note in notes)


class Comparison(Result):
    """Two callables against each other.

    Attributes:
        verdict: "IMPROVED", "REGRESSED", "SAME", "FASTER_SMALL", "SLOWER_SMALL", "CANNOT_TELL" or
            "INVALID" (then ``invalid_cause`` says why).
        ratio: time of the candidate over the baseline's; None when nothing was measured.
        interval: its 95 % interval (low, high).
        detectable: fraction of the time that is told from nothing in 80 % of runs.
        arms: baseline and candidate: "name", "median_ns", "p10_ns", "bytes_per_s", ...
        path: kernels, copies and memsets of one call of each arm; "" when called by the host.
        records: one a slot: "arm", "median_ns", "placement", "block", "sm_hz", ...
    """

    def __init__(self, raw: Dict[str, Any]) -> None:
        super().__init__(raw)
        run = raw["run"]
        decided = run["sustained"] if run["by_sustained"] else run["interval"]
        bounds = [decided and decided["ln_" + key] for key in ("centre", "low", "high", "detectable")]
        ratio, low, high, detectable = (None if b is None else math.exp(b) for b in bounds)
        self.verdict: str = run["verdict"]
        self.ratio: Optional[float] = ratio
        self.interval: Optional[Tuple[float, float]] = (
            None if low is None or high is None else (low, high))
        self.detectable: Optional[float] = None if detectable is None else detectable - 1
        self.arms: List[Dict[str, Any]] = [run["a"], run["b"]]
        self.path: Tuple[str, str] = (run["a_path"] or "", run["b_path"] or "")

    def __str__(self) -> str:
        run = self.raw["run"]
        if self.ratio is None:
            return f"{self.verdict}: {self.invalid_cause or 'nothing was measured'}{self._tail()}"
        width = max(len(arm["name"]) for arm in self.arms)
        lines = [f"{self.verdict}: B is {_text.effect(self.ratio)} "
                 f"(delta {_text.percent(math.expm1(run['ln_delta']))}, "
                 f"detectable here {_text.percent(self.detectable)})"]
        if self.invalid_cause:
            lines[0] = f"{self.verdict}: {self.invalid_cause}; guard {self.invalid_guard}"
        bounds = "" if self.interval is None else f"  [{self.interval[0]:.4f}, {self.interval[1]:.4f}]"
        lines += [_text.where(self.raw), _text.arm_line("A", self.arms[0], width),
                  _text.arm_line("B", self.arms[1], width),
                  f"  B/A {self.ratio:.4f}{bounds}  {run['placements']} placements, "
                  f"{run['blocks']} blocks, {self.mode}, {run['duration_s']:.1f} s"]
        lines += [f"  {letter} launches {path}" for letter, path in zip("AB", self.path) if path]
        return "\n".join(lines) + self._tail()

    __repr__ = __str__


class Measurement(Result):
    """One callable. ``time_ns``: of a launch, median of the slots, amortised over a graph or batch
    where launches are short (``mode``); ``median_ns``: of single launches; ``spread``: range over
    median of placements, the fraction by which another process may differ; ``arm``: the rest."""

    def __init__(self, raw: Dict[str, Any]) -> None:
        super().__init__(raw)
        self.arm: Dict[str, Any] = raw["run"]["arm"]
        self.median_ns: float = self.arm["median_ns"]
        self.time_ns: Optional[float] = _text.deciding_ns(self.arm)
        self.spread: Optional[float] = raw["run"]["spread_frac"]
        self.path: str = raw["run"]["path"] or ""

    def __str__(self) -> str:
        run = self.raw["run"]
        lines = [_text.where(self.raw), _text.arm_line(" ", self.arm, len(self.arm["name"])),
                 f"  {run['placements']} placements, spread {_text.percent(self.spread)}, "
                 f"{self.mode}, {run['duration_s']:.1f} s"]
        if self.invalid_cause:
            lines.insert(0, f"INVALID: {self.invalid_cause}; guard {self.invalid_guard}")
        if self.path:
            lines.append(f"  launches {self.path}")
        return "\n".join(lines) + self._tail()

    __repr__ = __str__


# -- settings ------------------------------------------------------------------------------------


def _choice(name: str, value: str, words: Sequence[str]) -> int:
    if value not in words:
        raise RidgeError("RIDGE_ERR_INVALID_ARGUMENT",
                         f"{name}={value!r}, expected one of {', '.join(words)}")
    return words.index(value)


def _apply(handle: Handle, settings: Dict[str, Any]) -> None:
    for name, words in (("cache", _CACHES), ("mode", _MODES), ("regime", _REGIMES)):
        handle.set(name, _choice(name, settings.pop(name), words))
    for guard in settings.pop("without"):
        handle.set("without." + guard, 1)
    for name, value in settings.items():
        if value is not None:
            handle.set(name, value)


def _name_of(function: Any) -> str:
    name = getattr(function, "__qualname__", None) or type(function).__name__
    module = getattr(function, "__module__", None)
    name = name.replace("<locals>.", "")
    return f"{module}.{name}" if module and module not in ("builtins", "__main__") else name


def _indices(outputs: Optional[Sequence[int]], arguments: Arguments) -> Tuple[int, ...]:
    found = tuple(outputs or ())
    for index in found:
        if not isinstance(index, int) or not -len(arguments) <= index < len(arguments):
            raise RidgeError("RIDGE_ERR_INVALID_ARGUMENT",
                             f"outputs={found}: make() returns {len(arguments)} values")
        if not _arrays.is_array(arguments[index]):
            raise RidgeError("RIDGE_ERR_INVALID_ARGUMENT",
                             f"outputs={found}: value {index} is no tensor, it is "
                             f"{type(arguments[index]).__name__}")
    return tuple(index % len(arguments) for index in found)


def _traffic(arguments: Arguments, outputs: Tuple[int, ...], reads: Optional[float],
             writes: Optional[float], returned: List[Any]) -> Tuple[float, float]:
    """Bytes that a call reads and writes: each tensor once, unless said otherwise."""
    written = [arguments[i] for i in outputs] or returned
    read = [a for i, a in enumerate(arguments) if i not in outputs and _arrays.is_array(a)]
    return (float(sum(map(_arrays.nbytes, read))) if reads is None else float(reads),
            float(sum(map(_arrays.nbytes, written))) if writes is None else float(writes))


# -- what is looked at before anything is timed ----------------------------------------------------


def _run_poisoned(function: Function, arguments: Arguments, outputs: Tuple[int, ...],
                  saved: Dict[int, Any]) -> List[Any]:
    for index in outputs:
        if index in saved:
            _arrays.restore(arguments[index], saved[index])
        else:
            _arrays.fill(arguments[index], 0xFF)
    found = _arrays.outputs_of(function, arguments, outputs)
    _arrays.synchronize(arguments)
    return [_arrays.to_host(value, COMPARED_MOST) for value in found]


def tolerance_of(dtype: str, arguments: Arguments) -> float:
    """By how much two right answers may differ, as a part of |value| and of the root mean square.

    64 unit roundoffs, 8 of types narrower than f32 (results are rounded once or a few times, sums
    are kept in f32), and what sums over the longest axis in another order differ by, which grows
    as the root of its length; at most a quarter.
    """
    length = max((e for a in arguments if _arrays.is_array(a) for e in _arrays.shape_of(a)),
                 default=1)
    unit = _UNITS[dtype]
    own = (64 if unit <= 2.0 ** -24 else 8) * unit
    return min(own + 8 * math.sqrt(length) * (unit if dtype == "f64" else 2.0 ** -24), 0.25)


def _disagreement(handle: Handle, right: List[Any], found: List[Any], names: Sequence[str],
                  arguments: Arguments, tolerance: Optional[float]) -> Optional[str]:
    """Why ``found`` is not ``right``; None: it is, in each element. names: of right, of found."""
    if len(right) != len(found):
        return f"{names[0]} has {len(right)} outputs, {names[1]} {len(found)}"
    for index, (ref, out) in enumerate(zip(right, found)):
        if ref.shape != out.shape:
            return f"output {index} is {ref.shape} of {names[0]}, {out.shape} of {names[1]}"
        is_float = out.dtype in _UNITS
        poison = int.from_bytes(b"\xff" * (len(out.memory) // max(1, out.elements) or 1), "little")
        part = 0.0 if not is_float else (
            tolerance_of(out.dtype, arguments) if tolerance is None else tolerance)
        seen = handle.compare_arrays(f"output {index}", out.dtype, out.address, ref.dtype,
                                     ref.address, None, out.shape, 1, part, not part, 0, None,
                                     poison if is_float else None)
        if seen["wrong_count"] > 0 or seen["structure_count"] > 0:
            return (f"{names[1]} does not compute what {names[0]} does: "
                    f"{_text.difference(seen)}")
    return None


def _by_reference(reference: Function, arguments: Arguments, outputs: Tuple[int, ...],
                  saved: Dict[int, Any]) -> List[Any]:
    """Its outputs; floating-point torch tensors are given in float64."""
    lifted = []
    for index, value in enumerate(arguments):
        if index in saved:
            _arrays.restore(value, saved[index])
        if _arrays.is_torch(value):
            value = value.detach().double() if value.is_floating_point() else value.clone()
        lifted.append(value)
    found = _arrays.outputs_of(reference, tuple(lifted), outputs)
    _arrays.synchronize(arguments)
    return [_arrays.to_host(value, COMPARED_MOST) for value in found]


class Contender(NamedTuple):
    """A callable of a comparison, as it is looked at before it is timed."""

    name: str
    function: Function
    outputs: Tuple[int, ...]
    inout: Sequence[int] = ()


def gate(handle: Handle, arms: Sequence[Contender], arguments: Arguments,
         reference: Optional[Function], tolerance: Optional[float]) -> Optional[str]:
    """Why the arms (baseline, candidate) must not be timed: they differ from the reference, or
    without one from each other. None: they may be. Leaves zeros in the outputs."""
    if tolerance is not None and not 0 <= tolerance < 1:
        raise RidgeError("RIDGE_ERR_INVALID_ARGUMENT", f"tolerance={tolerance}, expected 0 to 1")
    saved = {i % len(arguments): _arrays.clone(arguments[i]) for arm in arms for i in arm.inout}
    answers, right, named = [], None, "reference"
    try:
        if reference is not None:
            right = _by_reference(reference, arguments, arms[0].outputs, saved)
        for arm in arms:
            named = arm.name
            answers.append(_run_poisoned(arm.function, arguments, arm.outputs, saved))
    except Exception as error:
        raise RidgeError("RIDGE_ERR_INVALID_ARGUMENT",
                         f"{named}: {type(error).__name__}: {first_line(error)}") from error
    for index in {i for arm in arms for i in arm.outputs}:
        _arrays.fill(arguments[index], 0)
    for index, contents in saved.items():
        _arrays.restore(arguments[index], contents)
    if right is None:
        return _disagreement(handle, answers[0], answers[1], [arm.name for arm in arms], arguments,
                             tolerance)
    causes = [_disagreement(handle, right, answer, ("the reference", arm.name), arguments, tolerance)
              for arm, answer in zip(arms, answers)]
    return causes[0] or causes[1]


def watch(sets: Sets, handle: Handle, arms: Sequence[Optional[Contender]],
          reference: Optional[Function], tolerance: Optional[float]) -> None:
    """Lets ``sets`` look at outputs of timed launches, where it can: on the CPU, and where no
    output is read, since then it depends on how often it was launched."""
    known = [arm for arm in arms if arm is not None]
    if sets.is_gpu or any(arm.inout for arm in known):
        return
    places = known[0].outputs
    names = [arm.name if arm is not None else "" for arm in arms]
    own = [arm.function if arm is not None else None for arm in arms]

    def right(arm: int, arguments: Arguments) -> List[Any]:
        function = own[0] or own[arm]
        assert function is not None
        if reference is not None:
            return _by_reference(reference, arguments, places, {})
        return _run_poisoned(function, arguments, places, {})

    def judge(expected: List[Any], found: List[Any], named: Sequence[str],
              arguments: Arguments) -> Optional[str]:
        return _disagreement(handle, expected, found, named, arguments, tolerance)

    sets.samples = Samples(places, sets.seed)
    sets.verdict = lambda samples: samples.wrong(names, sets.make, right, judge)


def _refused(device: Dict[str, Any], names: Sequence[str], delta: float,
             cause: str) -> Comparison:
    """INVALID before anything was timed."""
    keys = ("median_ns", "p10_ns", "p90_ns", "amortized_ns", "bytes_per_s", "flop_per_s")
    arms = [dict.fromkeys(keys) for _ in names]
    for arm, name in zip(arms, names):
        arm["name"] = name
    run = {"verdict": "INVALID", "interval": None, "sustained": None, "by_sustained": False,
           "delta": delta, "mode": "auto", "is_interrupted": False, "is_busy": False,
           "invalid_guard": "check", "invalid_cause": cause, "a": arms[0], "b": arms[1],
           "a_path": None, "b_path": None, "placements": 0, "blocks": 0, "slots": 0}
    return Comparison({"schema": "ridge-comparison/1", "device": device, "run": run,
                       "records": [], "placement_values": [], "host_paced": None})


def _run(handle: Handle, what: str, sets: Sets) -> Dict[str, Any]:
    was_collecting = gc.isenabled()
    gc.disable()  # it would run within slots where the host calls
    with sets.interrupts:
        try:
            raw = handle.run(what, sets.answer, lambda: sets.exception)
        finally:
            sets.close()
            if was_collecting:
                gc.enable()
    raw["run"] = raw.pop("comparison" if what == "compare" else "measurement")
    raw["host_paced"] = sets.host_reason if sets.is_gpu else None
    return raw


# -- public ----------------------------------------------------------------------------------------


def compare(candidate: Function, baseline: Function, make: Callable[[int], Any],
            outputs: Optional[Sequence[int]] = None, *, inout: Sequence[int] = (),
            reads: Optional[float] = None, writes: Optional[float] = None,
            flop: Optional[float] = None, budget: float = 60, delta: Optional[float] = None,
            placements: Optional[int] = None, blocks: Optional[int] = None,
            most: Optional[int] = None, cache: str = "cold", mode: str = "auto",
            regime: str = "auto", seed: int = 1, device: Optional[str] = None, check: bool = True,
            null: bool = False, names: Optional[Sequence[str]] = None,
            without: Sequence[str] = (), progress: Optional[Progress] = None,
            reference: Optional[Function] = None,
            tolerance: Optional[float] = None) -> Comparison:
    """Is ``candidate`` faster than ``baseline``?

    ``make(i)`` builds rotation set i, the arguments of a call: a tuple of tensors and other values.
    Both callables get the same sets, and as many as are together more than three times the
    last-level cache, at new addresses for every placement. On a GPU a call on a set is captured
    once into a CUDA graph (torch) and the graph is launched: what a callable allocates, compiles or
    decides happens then. What cannot be captured is called for every launch; ``host_paced`` says so
    and why, and such times include Python's.

    Args:
        candidate, baseline: called as ``f(*make(i))``. They write into the tensors at ``outputs``,
            or return tensors, which are then the outputs. On a GPU they use torch's current stream.
        outputs: positions in the set that are written, negative ones count from the end.
        inout: those of them whose contents are read too. They are not put back between timed
            launches.
        reads, writes: compulsory bytes of a call, for bandwidth and the number of sets; by default
            each tensor of the set once.
        flop: operations of a call, a multiply-add is two.
        budget: seconds.
        delta: ratio that matters, 0.01 is 1 %; default 1 %, 2 % for what is launch-bound.
        placements, blocks, most: of the pilot (6), of each placement (4), placements at most (24).
        cache: "cold" or "hot". mode: "auto", "event", "graph", "batch". regime: "auto", "short",
            "both": also under sustained load.
        device: "cuda:0", "cpu"; default: where the tensors are.
        check: the two must compute the same on poisoned outputs before they are timed, in each
            element; else the verdict is INVALID.
        reference: both must compute what it does instead. Called as they are, with floating-point
            torch tensors in float64.
        tolerance: a difference that is right, as a part of |value| + rms of the output; default by
            type: 64 unit roundoffs, 8 of types narrower than f32, and 8 sqrt(longest axis) of f32's
            (f64's in f64). Integers are equal.
        null: the candidate is the baseline: a control of the measurement.
        progress: called with phase, steps done, steps in all.

    Returns:
        Comparison. Ctrl-C ends the run and keeps what was measured (``is_interrupted``).

    Raises:
        RidgeError: a callable raised (its exception is the cause), no device, a bad setting.
    """
    check_callables(make, candidate=candidate, baseline=baseline)
    names = tuple(names) if names is not None else (_name_of(baseline), _name_of(candidate))
    functions = [baseline, candidate]
    arguments = arguments_of(make(0))
    places = _indices(outputs, arguments)
    with Handle() as handle:
        where = handle.open(device or _arrays.device_of(arguments))
        arms = [Contender(n, f, places, inout) for n, f in zip(names, functions)]
        cause = gate(handle, arms, arguments, reference, tolerance) if check else None
        if cause is not None:
            return _refused(where, names, delta or 0.01, cause)
        _prepare(handle, functions, names, arguments, places, reads, writes, flop)
        del arguments
        sets = Sets(functions, make, where["kind"], seed, progress)
        watch(sets, handle, arms, reference, tolerance)
        sets.choose()
        _apply(handle, {
            "cache": cache, "regime": regime, "without": without, "seed": seed, "delta": delta,
            "mode": "batch" if sets.is_gpu and sets.host_reason else mode, "budget_s": budget,
            "pilot": placements, "blocks": blocks, "most": most, "null_control": null})
        return Comparison(_run(handle, "compare", sets))


def bench(function: Function, make: Callable[[int], Any], outputs: Optional[Sequence[int]] = None,
          *, reads: Optional[float] = None, writes: Optional[float] = None,
          flop: Optional[float] = None, budget: float = 60, placements: Optional[int] = None,
          blocks: Optional[int] = None, cache: str = "cold", mode: str = "auto", seed: int = 1,
          device: Optional[str] = None, roofs: bool = False, name: Optional[str] = None,
          without: Sequence[str] = (), progress: Optional[Progress] = None) -> Measurement:
    """How long does a call take? Arguments as of compare(); ``roofs``: measure the machine's.

    A level differs between processes by more than its spread here: to decide which of two is
    faster, compare() them.
    """
    check_callables(make, function=function)
    arguments = arguments_of(make(0))
    places = _indices(outputs, arguments)
    with Handle() as handle:
        where = handle.open(device or _arrays.device_of(arguments))
        _prepare(handle, [function], [name or _name_of(function)], arguments, places, reads, writes,
                 flop)
        del arguments
        sets = Sets([function], make, where["kind"], seed, progress)
        watch(sets, handle, [Contender(name or _name_of(function), function, places)], None, None)
        sets.choose()
        _apply(handle, {
            "cache": cache, "regime": "auto", "without": without, "seed": seed, "budget_s": budget,
            "mode": "batch" if sets.is_gpu and sets.host_reason else mode, "pilot": placements,
            "blocks": blocks, "measure_roofs": roofs})
        return Measurement(_run(handle, "measure", sets))


def _prepare(handle: Handle, functions: List[Function], names: Sequence[str], arguments: Arguments,
             outputs: Tuple[int, ...], reads: Optional[float], writes: Optional[float],
             flop: Optional[float]) -> None:
    for arm, (function, name) in enumerate(zip(functions, names)):
        returned: List[Any] = []
        if not outputs and writes is None:
            try:
                returned = _arrays.outputs_of(function, arguments, outputs)
            except Exception as error:
                raise RidgeError("RIDGE_ERR_INVALID_ARGUMENT",
                                 f"{name}: {type(error).__name__}: {first_line(error)}") from error
        read, written = _traffic(arguments, outputs, reads, writes, returned)
        handle.arm(arm, name, math.nan if flop is None else float(flop), read, written,
                   read + written)
