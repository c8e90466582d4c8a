# SPDX-License-Identifier: Apache-2.0
"""The fixture ``ridge_compare`` of pytest.

    def test_faster(ridge_compare):
        ridge_compare(new, make=make, outputs=[2], baseline=old)

    pytest --ridge-baseline=python:mylib.old:rms_norm --ridge-budget=20
"""
from __future__ import annotations

import dataclasses
from typing import Any, Callable, Dict, Optional, Sequence, Union

import pytest

from . import _arms
from ._library import RidgeError
from ._measure import Comparison, compare
from .case import Case


def pytest_addoption(parser: "pytest.Parser") -> None:
    group = parser.getgroup("ridge")
    group.addoption("--ridge-baseline", metavar="ARM", default=None,
                    help="baseline of ridge_compare: python:MODULE:FUNCTION")
    group.addoption("--ridge-delta", type=float, default=None, metavar="RATIO",
                    help="change that matters, 0.01 is 1 %% (default)")
    group.addoption("--ridge-budget", type=float, default=None, metavar="SECONDS",
                    help="time for each comparison (default 60)")


def _baseline(name: Optional[str], given: Any, case: Dict[str, Any], own: Case) -> Case:
    if name is not None and not name.startswith("python:"):
        raise pytest.UsageError(
            f"--ridge-baseline={name}: a build of a ledger is machine code and has no callable; "
            f"compare it by: ridge compare {name} python:MODULE:FUNCTION")
    if name is not None:
        return _arms.case_of(name, _arms.load(name), case, own)
    if isinstance(given, Case):
        return given
    if given is None:
        pytest.skip("no baseline: pass baseline= or --ridge-baseline=python:MODULE:FUNCTION")
    return dataclasses.replace(own, call=given)


@pytest.fixture
def ridge_compare(request: "pytest.FixtureRequest") -> Callable[..., Comparison]:
    """Compares a callable or a ridge.Case with the baseline and fails when it is slower or wrong.

    Arguments: candidate; make and outputs unless it is a Case; ``baseline`` (a callable or a Case),
    which --ridge-baseline overrides; ``case``, the dict for python:MODULE:FUNCTION; the others are
    those of ridge.compare(). Returns the Comparison.
    """
    option = request.config.getoption

    def run(candidate: Union[Case, Callable[..., Any]],
            make: Optional[Callable[[int], Any]] = None,
            outputs: Optional[Sequence[int]] = None, *, baseline: Any = None,
            case: Optional[Dict[str, Any]] = None, **settings: Any) -> Comparison:
        if not isinstance(candidate, Case):
            if make is None:
                raise TypeError("ridge_compare: make is missing")
            candidate = Case(candidate, make, outputs)
        for name, value in (("delta", option("--ridge-delta")), ("budget", option("--ridge-budget"))):
            if value is not None:
                settings[name] = value
        try:
            other = _baseline(option("--ridge-baseline"), baseline, case or {}, candidate)
            found = compare(candidate.call, other.call, candidate.make, candidate.outputs,
                            inout=candidate.inout, reads=candidate.reads, writes=candidate.writes,
                            flop=candidate.flop, **settings)
        except RidgeError as error:
            pytest.fail(f"{error.status}: {error}", pytrace=False)
        if found.verdict in ("REGRESSED", "INVALID"):
            pytest.fail(str(found), pytrace=False)
        return found

    return run
