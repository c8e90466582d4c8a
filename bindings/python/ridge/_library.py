# SPDX-License-Identifier: Apache-2.0
"""The shared library: where it is, what it exports, its failures as exceptions."""
from __future__ import annotations

import ctypes
import json
import os
import pathlib
import sys
from typing import Any, Callable, Dict, Iterator, List, Optional

# Events of the callback, in the order of ridge_python.h.
PREPARE, LAUNCH, FINISH, STOP, PROGRESS, OPEN, CASE, CLOSE, AGREE, BEHIND, AFTER = range(11)

# The statuses that Python itself makes; the library knows the names of all.
INVALID_ARGUMENT, UNSUPPORTED = 1, 2

CALL = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int64,
    ctypes.c_uint64,
    ctypes.POINTER(ctypes.c_uint64),
    ctypes.c_void_p,
    ctypes.c_size_t,
)


class RidgeError(RuntimeError):
    """A call of ridge failed.

    ``status`` is the name of the ridge_status ("RIDGE_ERR_CUDA"); the text says what was found and
    what was expected. Where a callable raised, its exception is the ``__cause__``.
    """

    def __init__(self, status: str, text: str) -> None:
        super().__init__(text)
        self.status = status


def _file_names() -> Iterator[pathlib.Path]:
    """Where the library may be, best first."""
    name = "libridge_python.dylib" if sys.platform == "darwin" else "libridge_python.so"
    here = pathlib.Path(__file__).resolve().parent
    named = os.environ.get("RIDGE_LIBRARY")

    if named:
        yield pathlib.Path(named)
        return
    yield here / name
    root = here.parents[2]  # of the source tree, when this is bindings/python/ridge
    if (root / "include" / "ridge").is_dir():
        found = root.glob(f"build/*/lib/{name}")
        yield from sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)
    for prefix in (sys.prefix, "/usr/local", "/usr"):
        for folder in ("lib", "lib64"):
            yield pathlib.Path(prefix) / folder / name


def _declare(library: ctypes.CDLL) -> ctypes.CDLL:
    text, handle, number = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_double
    whole, long, address = ctypes.c_int, ctypes.c_int64, ctypes.c_void_p
    arrays = [handle, text, text, address, text, address, address, whole, ctypes.POINTER(long),
              long, number, whole, number, ctypes.POINTER(long), whole, ctypes.c_uint64]
    for name, result, arguments in (
        ("version", text, []),
        ("status_name", text, [whole]),
        ("create", handle, []),
        ("free", None, [handle]),
        ("error", text, [handle]),
        ("text", text, [handle]),
        ("open", whole, [handle, text]),
        ("set", whole, [handle, text, number]),
        ("arm", whole, [handle, whole, text]),
        ("work", whole, [handle, whole, number, number, number, number]),
        ("compare", whole, [handle, CALL]),
        ("measure", whole, [handle, CALL]),
        ("serve", whole, [handle, text, CALL]),
        ("compare_arrays", whole, arrays),
    ):
        function = getattr(library, "ridge_python_" + name)
        function.restype = result
        function.argtypes = arguments
    return library


_loaded: Optional[ctypes.CDLL] = None


def library() -> ctypes.CDLL:
    """The library, loaded at the first call. RidgeError (RIDGE_ERR_IO) when it is not there."""
    global _loaded
    if _loaded is not None:
        return _loaded
    tried: List[str] = []
    named = os.environ.get("RIDGE_LIBRARY")
    for path in _file_names():
        tried.append(str(path))
        if not path.is_file():
            continue
        try:
            _loaded = _declare(ctypes.CDLL(str(path)))
        except (OSError, AttributeError) as error:
            told = str(error)  # the loader's names the file already
            raise RidgeError("RIDGE_ERR_IO",
                             told if told.startswith(str(path)) else f"{path}: {told}") from error
        return _loaded
    if named:
        raise RidgeError("RIDGE_ERR_IO", f"no {named}, the file that $RIDGE_LIBRARY names: build it "
                                         "(cmake --build build/release --target ridge_python)")
    raise RidgeError(
        "RIDGE_ERR_IO",
        f"no {pathlib.Path(tried[-1]).name}: build it (cmake --build build/release "
        "--target ridge_python), or name the file in $RIDGE_LIBRARY; "
        f"looked for {', '.join(tried[:3])}",
    )


def version() -> str:
    """Version of the library, "0.1.0"."""
    return str(library().ridge_python_version().decode())


class Handle:
    """One ridge_python: settings, a device, the last result. Use it in a ``with``."""

    def __init__(self) -> None:
        self._library = library()
        self._self = self._library.ridge_python_create()
        if not self._self:
            raise MemoryError("ridge: out of memory")

    def __enter__(self) -> "Handle":
        return self

    def __exit__(self, *_: object) -> None:
        self._library.ridge_python_free(self._self)
        self._self = None

    def _done(self, status: int, cause: Optional[BaseException] = None) -> None:
        if status != 0:
            name = self._library.ridge_python_status_name(status).decode()
            text = self._library.ridge_python_error(self._self).decode(errors="replace")
            raise RidgeError(name, text) from cause

    def result(self) -> Dict[str, Any]:
        text = self._library.ridge_python_text(self._self).decode(errors="replace")
        found: Dict[str, Any] = json.loads(text)
        return found

    def open(self, device: str) -> Dict[str, Any]:
        self._done(self._library.ridge_python_open(self._self, device.encode()))
        found: Dict[str, Any] = self.result()["device"]
        return found

    def set(self, name: str, value: float) -> None:
        self._done(self._library.ridge_python_set(self._self, name.encode(), float(value)))

    def arm(self, arm: int, name: str, flop: float, reads: float, writes: float,
            footprint: float) -> None:
        self._done(self._library.ridge_python_arm(self._self, arm, name.encode()))
        self._done(self._library.ridge_python_work(self._self, arm, flop, reads, writes, footprint))

    def run(self, what: str, call: Callable[..., int],
            cause: Callable[[], Optional[BaseException]]) -> Dict[str, Any]:
        """ridge_python_compare() or _measure(); cause: what a callback raised."""
        function = getattr(self._library, "ridge_python_" + what)
        self._done(function(self._self, CALL(call)), cause())
        return self.result()

    def serve(self, folder: str, call: Callable[..., int]) -> None:
        self._done(self._library.ridge_python_serve(self._self, folder.encode(), CALL(call)))

    def compare_arrays(self, name: str, dtype: str, out: int, ref_dtype: str, ref: int,
                       previous: Optional[int], shape: "tuple[int, ...]", accumulate_length: int,
                       accumulate_unit: float, exact: bool, ulp: float,
                       tile: "Optional[tuple[int, ...]]",
                       poison: Optional[int]) -> Dict[str, Any]:
        """ridge_compare_arrays(); out, ref and previous are addresses of contiguous elements."""
        extents = (ctypes.c_int64 * max(1, len(shape)))(*shape)
        tiles = (ctypes.c_int64 * max(1, len(shape)))(*tile) if tile is not None else None
        self._done(self._library.ridge_python_compare_arrays(
            self._self, name.encode(), dtype.encode(), out, ref_dtype.encode(), ref, previous,
            len(shape), extents, accumulate_length, accumulate_unit, int(exact), ulp, tiles,
            int(poison is not None), poison or 0))
        mismatch: Dict[str, Any] = self.result()["mismatch"]
        return mismatch
