# SPDX-License-Identifier: Apache-2.0
"""python:MODULE:FUNCTION, resolved."""
from __future__ import annotations

import dataclasses
import importlib
import os
import sys
from typing import Any, Callable, Dict, Optional

from ._library import RidgeError
from ._sets import first_line
from .case import Case


def load(name: str) -> Callable[[Dict[str, Any]], Any]:
    """The function that "python:module:function" names; the current folder is searched too.

    RidgeError: RIDGE_ERR_INVALID_ARGUMENT for another form, RIDGE_ERR_IO when the module or the
    function is not there or the import raises.
    """
    prefix, _, rest = name.partition(":")
    module, _, function = rest.rpartition(":")
    if prefix != "python" or not module or not function:
        raise RidgeError("RIDGE_ERR_INVALID_ARGUMENT",
                         f"{name!r}: expected python:MODULE:FUNCTION")
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found = importlib.import_module(module)
        for part in function.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise RidgeError("RIDGE_ERR_IO",
                         f"{name}: {type(error).__name__}: {first_line(error)}") from error
    if not callable(found):
        raise RidgeError("RIDGE_ERR_INVALID_ARGUMENT",
                         f"{name} is no function, it is {type(found).__name__}")
    return found


def case_of(name: str, function: Callable[[Dict[str, Any]], Any], case: Dict[str, Any],
            other: Optional[Case] = None) -> Case:
    """What ``function(case)`` answers, as a Case. A plain callable takes the rest from ``other``.

    RidgeError: RIDGE_ERR_UNSUPPORTED when it raises NotImplementedError (it refuses the case).
    """
    try:
        found = function(case)
    except NotImplementedError as error:
        raise RidgeError("RIDGE_ERR_UNSUPPORTED", f"{name}: {first_line(error)}") from error
    except Exception as error:
        raise RidgeError("RIDGE_ERR_INVALID_ARGUMENT",
                         f"{name}: {type(error).__name__}: {first_line(error)}") from error
    if isinstance(found, Case):
        return found
    if callable(found) and other is not None:
        return dataclasses.replace(other, call=found)
    fields = {field.name: getattr(found, field.name) for field in dataclasses.fields(Case)
              if hasattr(found, field.name)}
    if "call" in fields and "make" in fields:
        return Case(**fields)
    raise RidgeError("RIDGE_ERR_INVALID_ARGUMENT",
                     f"{name} has to return a ridge.Case, it returned {type(found).__name__}")
