# SPDX-License-Identifier: Apache-2.0
"""Outputs of timed launches, for the guards refill, outputs and shared.

Between slots one set, which no callable can know, gets the inputs of another one and poisoned
outputs. What the next slot's launches leave there is set aside, and compared after the run with what
the reference, or the baseline, makes of the same inputs at other addresses. A callable that remembers
results by address, works before it is timed only, or leaves outputs alone is caught by what it did
while it was timed. ``shared`` is a launch out of turn in the warm-up.

On the CPU only: on a GPU the launches are a graph's, which Python does not see.
"""
from __future__ import annotations

import random
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import _arrays

Arguments = Tuple[Any, ...]
# Why the second outputs are not the first ones; None: they are.
Judge = Callable[[List[Any], List[Any], Sequence[str], Arguments], Optional[str]]

REFILL, OUTPUTS, SHARED = 1, 2, 4  # of ridge_python.h
GUARDS = {REFILL: "refill", OUTPUTS: "outputs", SHARED: "shared"}
KEPT = 6  # of an arm
KEPT_BYTES = 256 << 20
SHARE = 0.05  # of the run's time
COMPARED_MOST = 1 << 26
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


class Contents(NamedTuple):
    """Of a set by position: copies of its inputs, and its numbers and texts. Nothing of the set stays
    alive; other objects are those that make() gives again."""

    inputs: Dict[int, Any]
    others: Dict[int, Any]
    nbytes: int


class Sample(NamedTuple):
    """What a launch left."""

    number: int
    now: Contents
    before: Tuple[Contents, ...]  # inputs that lay there, since the set was made
    found: List[Any]
    is_scrambled: bool


class Samples:
    """Of a run. ``watched``: the set that ``seen`` is told of; -1: none."""

    def __init__(self, outputs: Tuple[int, ...], seed: int) -> None:
        self.outputs = outputs
        self.watched = -1
        self.kept: Dict[int, List[Sample]] = {}
        self._chance = random.Random(seed ^ 0x5851F42D)
        self._seen: Dict[int, Any] = {}
        self._armed: Optional[Contents] = None
        self._before: Dict[int, List[Contents]] = {}  # by set
        self._offered: Dict[int, int] = {}
        self._scrambled: List[int] = []
        self._slots = 0
        self._bytes = 0
        self._spent_s = 0.0
        self._began_s = time.monotonic()

    def seen(self, arm: int, returned: Any) -> None:
        """A launch of ``watched``."""
        self._seen[arm] = returned

    def forget(self) -> None:
        """The sets are gone."""
        self._stop_watching()
        self._before = {}

    def _stop_watching(self) -> None:
        self.watched = -1
        self._armed = None

    def _contents(self, arguments: Arguments) -> Contents:
        inputs = {i: value for i, value in enumerate(arguments)
                  if i not in self.outputs and _arrays.is_array(value)}
        others = {i: value for i, value in enumerate(arguments) if isinstance(value, _PLAIN)}
        return Contents({i: _arrays.clone(value) for i, value in inputs.items()}, others,
                        sum(map(_arrays.nbytes, inputs.values())))

    def _refill(self, made: Dict[int, Arguments], number: int) -> None:
        """Exchanges the inputs of two sets, where that can be."""
        others = [other for other in made if other != number]
        if not others:
            return
        partner = self._chance.choice(others)
        here, there = made[number], made[partner]
        mine, other = self._contents(here), self._contents(there)
        if mine.inputs.keys() != other.inputs.keys() or not all(
                _arrays.is_writable(here[i]) and _arrays.is_writable(there[i]) and
                _arrays.dtype_of(here[i]) == _arrays.dtype_of(there[i]) and
                _arrays.shape_of(here[i]) == _arrays.shape_of(there[i]) for i in mine.inputs):
            return
        for i in mine.inputs:
            _arrays.restore(here[i], other.inputs[i])
            if here[i] is not there[i]:
                _arrays.restore(there[i], mine.inputs[i])
        self._before.setdefault(number, []).append(mine)
        self._before.setdefault(partner, []).append(other)
        self._bytes += mine.nbytes + other.nbytes

    def _prepare(self, made: Dict[int, Arguments], guards: int) -> int:
        """Chooses a set, refills and poisons it."""
        number = self._chance.choice(sorted(made))
        if guards & REFILL:
            self._refill(made, number)
        for index in self.outputs:
            _arrays.fill(made[number][index], 0xFF)
        self._armed = self._contents(made[number])
        self._seen = {}
        return number

    def _take(self, arm: int, number: int, arguments: Arguments, returned: Any,
              is_scrambled: bool) -> None:
        assert self._armed is not None
        now = self._armed
        kept = self.kept.setdefault(arm, [])
        offered = self._offered[arm] = self._offered.get(arm, 0) + 1
        values = [arguments[index] for index in self.outputs] if returned is None else (
            list(returned) if isinstance(returned, (tuple, list)) else [returned])
        self._bytes += now.nbytes + sum(map(_arrays.nbytes, values))
        sample = Sample(number, now, tuple(self._before.get(number, ())),
                        [_arrays.to_host(value, COMPARED_MOST) for value in values], is_scrambled)
        if len(kept) < KEPT:
            kept.append(sample)
        elif self._chance.randrange(offered) < KEPT:
            kept[1 + self._chance.randrange(KEPT - 1)] = sample

    def behind(self, made: Dict[int, Arguments], function: Callable[..., Any], arm: int,
               guards: int) -> None:
        """After a slot of ``arm``, untimed."""
        begin_s = time.monotonic()
        self._slots += 1
        if self.watched in made and self._armed is not None and self._seen:
            if list(self._seen) == [arm] and guards & OUTPUTS:
                self._take(arm, self.watched, made[self.watched], self._seen[arm], False)
            self._stop_watching()
        if made and guards & SHARED and guards & OUTPUTS and arm not in self._scrambled:
            self._scrambled.append(arm)
            self.watched = -1
            number = self._prepare(made, guards | REFILL)
            self._take(arm, number, made[number], function(*made[number]), True)
            self._stop_watching()
        is_cheap = self._spent_s < SHARE * (begin_s - self._began_s) and self._chance.random() < 0.5
        if (made and guards & (OUTPUTS | REFILL) and self.watched < 0 and
                self._bytes < KEPT_BYTES and (self._slots <= 4 or is_cheap)):
            self.watched = self._prepare(made, guards)
        self._spent_s += time.monotonic() - begin_s

    # -- afterwards ----------------------------------------------------------------------------

    def wrong(self, names: Sequence[str], make: Callable[[int], Any],
              right: Callable[[int, Arguments], List[Any]], judge: Judge) -> Tuple[int, str]:
        """(guard, cause) of the first sample that is not right; (0, "").

        right(arm, arguments): the right outputs for fresh arguments.
        """
        begin_s = time.monotonic()
        most_s = max(1.0, 0.1 * (begin_s - self._began_s))
        # What goes wrong in any launch goes wrong out of turn too: those come last.
        pairs = sorted((sample.is_scrambled, place, arm) for arm, kept in self.kept.items()
                       for place, sample in enumerate(kept))
        for _, place, arm in pairs:
            sample = self.kept[arm][place]
            if place >= 2 and time.monotonic() - begin_s > most_s:
                break

            def answer(contents: Contents) -> Tuple[List[Any], Arguments]:
                made = make(sample.number)  # other arrays, of the same kinds
                fresh = list(made) if isinstance(made, (tuple, list)) else [made]
                for index, value in contents.inputs.items():
                    _arrays.restore(fresh[index], value)
                for index, value in contents.others.items():
                    fresh[index] = value
                return right(arm, tuple(fresh)), tuple(fresh)

            empty = [index for index, host in enumerate(sample.found)
                     if host.elements > 0 and not host.bytes().strip(b"\xff")]
            cause: Optional[str]
            if empty:  # a fresh call may do as little
                cause = f"{names[arm]} did not write output {empty[0]}"
            else:
                expected, arguments = answer(sample.now)
                cause = judge(expected, sample.found, ("a fresh call", names[arm]), arguments)
            if cause is None:
                continue
            for contents in sample.before if not empty else ():
                old, arguments = answer(contents)
                if judge(old, sample.found, ("a fresh call", names[arm]), arguments) is None:
                    return REFILL, (f"{names[arm]}: the outputs of a launch are those of the inputs "
                                    "that were there before")
            if sample.is_scrambled:
                return SHARED, f"{names[arm]}: called out of turn: {cause}"
            return OUTPUTS, f"{names[arm]}: outputs of a timed launch: {cause}"
        return 0, ""
