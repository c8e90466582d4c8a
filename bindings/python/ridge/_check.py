# SPDX-License-Identifier: Apache-2.0
"""check(): is a callable right?"""
from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import _arrays, _text
from ._arrays import Host
from ._library import Handle, RidgeError
from ._measure import _indices, _name_of
from ._sets import (Arguments, Captured, Function, arguments_of, check_callables, first_line,
                    why_no_graphs)

# A NaN of every floating-point type, -1; and a great finite number of every type.
POISONS = (0xFF, 0x7B)


class Test(NamedTuple):
    name: str  # of ridge's tests: "values", "written", "guards", ...
    outcome: str  # "pass", "suspicious", "fail", "skipped"
    text: str


class CheckResult:
    """True when nothing failed; as text it is the report.

    Attributes:
        ok: no test failed.
        outcome: the worst: "pass", "suspicious", "fail".
        tests: what was tested, in order.
        mismatches: of each output of the values test, keys as of ridge_mismatch.
        cause, cause_id: the most likely cause of the first wrong output; None.
    """

    def __init__(self, name: str, tests: List[Test], mismatches: List[Dict[str, Any]]) -> None:
        outcomes = [test.outcome for test in tests]
        self.name = name
        self.tests = tests
        self.mismatches = mismatches
        self.outcome = next((o for o in ("fail", "suspicious") if o in outcomes), "pass")
        self.ok = self.outcome != "fail"
        wrong = [m for m in mismatches if m["match"] == "wrong"]
        self.cause: Optional[str] = wrong[0]["cause"] if wrong else None
        self.cause_id: Optional[str] = wrong[0]["cause_id"] if wrong else None

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        lines = [f"{self.outcome.upper()} {self.name}"]
        for found in self.mismatches:
            if found["match"] in ("wrong", "suspicious"):
                lines += ["  " + line for line in _text.mismatch(found)]
        for test in self.tests:
            if test.outcome in ("fail", "suspicious") and test.text:
                lines.append(f"  {test.name}: {test.outcome}: {test.text}")
        passed = [test.name for test in self.tests if test.outcome == "pass"]
        skipped = [f"{test.name} ({test.text})" for test in self.tests if test.outcome == "skipped"]
        if passed:
            lines.append("  passed: " + ", ".join(passed))
        if skipped:
            lines.append("  skipped: " + ", ".join(skipped))
        return "\n".join(lines)

    __repr__ = __str__


class _Checker:
    """One set, its inputs and the guards around it."""

    def __init__(self, function: Function, name: str, arguments: Arguments,
                 outputs: Tuple[int, ...], inout: Tuple[int, ...]) -> None:
        self.function, self.name = function, name
        self.outputs, self.inout = outputs, inout
        self.tests: List[Test] = []
        self.guards: Dict[int, _arrays.Guarded] = {}
        self.unguarded: List[int] = []
        self.arguments = self._guard(arguments)
        self.saved = {i: _arrays.clone(a) for i, a in enumerate(self.arguments)
                      if _arrays.is_array(a)}

    def _guard(self, arguments: Arguments) -> Arguments:
        guarded = list(arguments)
        for index, value in enumerate(arguments):
            if not _arrays.is_array(value):
                continue
            guard = _arrays.Guarded(value)
            if guard.value is None:
                self.unguarded.append(index)
            else:
                self.guards[index] = guard
                guarded[index] = guard.value
        return tuple(guarded)

    def note(self, name: str, outcome: str, text: str = "") -> None:
        self.tests.append(Test(name, outcome, text))

    def launch(self, poison: int = POISONS[0], band: int = 0xFF) -> List[Host]:
        """One call on poisoned outputs; what they hold then."""
        for index, saved in self.saved.items():
            if index in self.inout:
                _arrays.restore(self.arguments[index], saved)
            elif index in self.outputs:
                _arrays.fill(self.arguments[index], poison)
        for guard in self.guards.values():
            guard.paint(band)
        _arrays.synchronize(self.arguments)
        try:
            found = _arrays.outputs_of(self.function, self.arguments, self.outputs)
            _arrays.synchronize(self.arguments)
        except Exception as error:
            raise RidgeError("RIDGE_ERR_INVALID_ARGUMENT",
                             f"{self.name}: {type(error).__name__}: {first_line(error)}") from error
        return [_arrays.to_host(value) for value in found]

    # -- tests that need no reference ------------------------------------------------------------

    def structure(self, first: List[Host], repeats: int) -> None:
        self._bands(0xFF)
        self._inputs()
        again = self.launch(POISONS[1], 0xFF)
        where = _difference(first, again)
        self.note("written", "fail" if where else "pass",
                  f"{where} depends on what the output held before: not written, or read first"
                  if where else "")
        again = self.launch(POISONS[0], 0x00)
        self._bands(0x00)
        where = _difference(first, again)
        self.note("bands", "fail" if where else "pass",
                  f"{where} depends on what lies before or behind a tensor: read out of bounds"
                  if where else "")
        for _ in range(repeats):
            where = _difference(first, self.launch())
            if where:
                break
        self.note("repeat", "fail" if where else "pass",
                  f"{where} differs between two calls on the same inputs" if where else "")

    def _bands(self, byte: int) -> None:
        if byte != 0xFF and self.tests and self.tests[0].outcome == "fail":
            return
        if not self.guards:
            self.note("guards", "skipped", "no tensor of these types can be guarded")
            return
        for index, guard in self.guards.items():
            wrong, where = guard.damage(byte)
            if wrong:
                self.tests = [test for test in self.tests if test.name != "guards"]
                self.note("guards", "fail", f"{wrong} bytes around tensor {index} were written, "
                                            f"the first {where}")
                return
        if byte == 0xFF:
            self.note("guards", "pass")

    def _inputs(self) -> None:
        for index, saved in self.saved.items():
            if index in self.outputs:
                continue
            now = _arrays.to_host(self.arguments[index]).bytes()
            before = (_arrays.to_host(saved) if _arrays.is_torch(saved) else None)
            if now != (before.bytes() if before is not None else saved or b"\0"):
                self.note("inputs", "fail", f"tensor {index} is an input and was changed")
                _arrays.restore(self.arguments[index], saved)
                return
        self.note("inputs", "pass")

    def capture(self, first: List[Host]) -> None:
        if _arrays.device_of(self.arguments) == "cpu":
            return
        if why_no_graphs() is not None:
            self.note("capture", "skipped", why_no_graphs() or "")
            return
        try:
            stream = _arrays.torch().cuda.Stream()
            for index, saved in self.saved.items():
                if index in self.inout:
                    _arrays.restore(self.arguments[index], saved)
            captured = Captured(self.function, self.arguments, 1, stream)
        except RuntimeError as error:
            self.note("capture", "skipped", first_line(error))
            return

        def replay(*_: Any) -> Any:
            captured.graph.replay()
            return captured.returned

        own, self.function = self.function, replay
        where = _difference(first, self.launch())
        self.function = own
        self.note("capture", "fail" if where else "pass",
                  f"{where} differs when the call is replayed as a graph" if where else "")

    # -- against the reference -------------------------------------------------------------------

    def values(self, handle: Handle, first: List[Host], again: List[Host], reference: Function,
               bounds: Dict[str, Any]) -> List[Dict[str, Any]]:
        expected = self._expected(reference)
        if len(expected) != len(first):
            raise RidgeError("RIDGE_ERR_INVALID_ARGUMENT",
                             f"{self.name} has {len(first)} outputs, the reference {len(expected)}")
        found = []
        for index, (out, ref) in enumerate(zip(first, expected)):
            name = f"arg {self.outputs[index]}" if self.outputs else f"result {index}"
            if out.shape != ref.shape:
                raise RidgeError("RIDGE_ERR_INVALID_ARGUMENT",
                                 f"{name} is {list(out.shape)}, of the reference {list(ref.shape)}")
            is_own = index < len(self.outputs) and self.outputs[index] not in self.inout
            found.append(handle.compare_arrays(
                name, out.dtype, out.address, ref.dtype, ref.address, None, out.shape,
                poison=_poison_of(out) if is_own else None, **bounds))
        outcome = {"wrong": "fail", "suspicious": "suspicious"}
        worst = max(found, key=lambda m: ("wrong", "suspicious").index(m["match"]) * -1
                    if m["match"] in outcome else -9) if found else None
        self.note("values", outcome.get(worst["match"], "pass") if worst else "pass")
        return found

    def _expected(self, reference: Function) -> List[Host]:
        """By the reference, on the stored inputs; torch's floating-point ones as float64."""
        lifted = []
        for index, value in enumerate(self.arguments):
            if not _arrays.is_array(value):
                lifted.append(value)
            elif _arrays.is_torch(value):
                saved = self.saved[index]
                lifted.append(saved.double() if saved.is_floating_point() else saved.clone())
            else:
                lifted.append(value)
        for index, saved in self.saved.items():
            if not _arrays.is_torch(saved) and index in self.inout:
                _arrays.restore(self.arguments[index], saved)
        try:
            values = _arrays.outputs_of(reference, tuple(lifted), self.outputs)
            _arrays.synchronize(self.arguments)
        except Exception as error:
            raise RidgeError("RIDGE_ERR_INVALID_ARGUMENT",
                             f"reference: {type(error).__name__}: {first_line(error)}") from error
        return [_arrays.to_host(value) for value in values]


def _poison_of(host: Host) -> Optional[int]:
    if host.dtype not in ("f16", "bf16", "f32", "f64", "e4m3", "e5m2") or host.elements == 0:
        return None
    return int.from_bytes(b"\xff" * (len(host.memory) // host.elements), "little")


def _difference(first: List[Host], second: List[Host]) -> str:
    """"output 0, element 17": where bits differ; "" nowhere."""
    if len(first) != len(second):
        return f"the number of outputs ({len(first)}, {len(second)})"
    for index, (a, b) in enumerate(zip(first, second)):
        if a.shape != b.shape:
            return f"the shape of output {index}"
        left, right = a.bytes(), b.bytes()
        if left != right:
            size = max(1, len(left) // max(1, a.elements))
            return f"output {index}, element {_first_difference(left, right) // size},"
    return ""


def _first_difference(left: bytes, right: bytes) -> int:
    """Index of the first byte that differs, in blocks first."""
    low, block = 0, 1 << 16
    while left[low:low + block] == right[low:low + block]:
        low += block
    return low + next(i for i, (x, y) in enumerate(zip(left[low:], right[low:])) if x != y)


def _longest_axis(arguments: Arguments) -> int:
    extents = [e for a in arguments if _arrays.is_array(a) for e in _arrays.shape_of(a)]
    return max(extents, default=1)


def check(function: Function, reference: Optional[Function], make: Callable[[int], Any],
          outputs: Optional[Sequence[int]] = None, *, inout: Sequence[int] = (),
          accumulate_length: Optional[int] = None, accumulate_unit: float = 0,
          exact: bool = False, ulp: float = 0, tile: Optional[Sequence[int]] = None,
          repeats: int = 20, name: Optional[str] = None) -> CheckResult:
    """Is ``function`` right on the set ``make(0)``?

    Tests: **values**, elementwise against the reference in double, with a bound that rounding
    cannot exceed and where and why it is exceeded; **written**, two poisons in the outputs before
    the call; **guards** and **bands**, bytes around each tensor stay as they are and do not matter
    (torch, ctypes arrays and memoryviews; the callable gets copies of the tensors between them);
    **inputs** unchanged; **repeat**, the same bits; **capture**, the same bits as a CUDA graph.

    Args:
        function: called as ``f(*make(0))``; writes into ``outputs``, or returns tensors.
        reference: called with the same, floating-point torch tensors in float64; writes or returns.
            None: no values test.
        outputs, inout: as of compare().
        accumulate_length: c of the bound |out - ref| <= u |ref| + c a max(|ref|, rms), the longest
            chain of additions; 0: elementwise, held to ``ulp`` (default 2) units in the last place;
            default: the longest axis of a tensor.
        accumulate_unit: a, unit roundoff of the accumulator; 0: 2^-24.
        exact: any difference is wrong.
        tile: of the kernel, extents of an output's axes, for the cause of a mismatch.

    Returns:
        CheckResult: true when nothing failed.

    Raises:
        RidgeError: a callable raised, shapes differ, an element type that ridge does not know.
    """
    check_callables(make, function=function)
    if reference is not None:
        check_callables(make, reference=reference)
    arguments = arguments_of(make(0))
    places, both = _indices(outputs, arguments), _indices(inout, arguments)
    title = name or _name_of(function)
    checker = _Checker(function, title, arguments, tuple(dict.fromkeys(places + both)), both)
    del arguments
    mismatches: List[Dict[str, Any]] = []
    first = checker.launch()
    with Handle() as handle:
        checker.structure(first, repeats)
        checker.capture(first)
        if reference is None:
            checker.note("values", "skipped", "no reference")
        else:
            length = (_longest_axis(checker.arguments) if accumulate_length is None
                      else accumulate_length)
            bounds = {"accumulate_length": length, "accumulate_unit": accumulate_unit,
                      "exact": exact, "ulp": ulp, "tile": None if tile is None else tuple(tile)}
            mismatches = checker.values(handle, first, first, reference, bounds)
    checker.tests.sort(key=lambda test: test.name != "values")
    return CheckResult(title, checker.tests, mismatches)
