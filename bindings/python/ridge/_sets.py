# SPDX-License-Identifier: Apache-2.0
"""Rotation sets of callables, and what the measuring loop asks for.

A set is what ``make(i)`` returns; both arms get the same one. On a GPU each arm's call on each set is
captured once into a CUDA graph, which the loop launches: no Python runs while time is taken. Sets
of a placement stay alive until the next ones are made, so that those lie at other addresses.
"""
from __future__ import annotations

import ctypes
import random
import signal
import threading
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from . import _arrays
from ._library import (AFTER, BEHIND, FINISH, INVALID_ARGUMENT, LAUNCH, PREPARE, PROGRESS, STOP,
                       UNSUPPORTED, RidgeError)
from ._samples import Samples

Function = Callable[..., Any]
Arguments = Tuple[Any, ...]

GAP_STEPS, GAP_BYTES = 32, 2 << 20


def arguments_of(made: Any) -> Arguments:
    """What ``make`` returned, as the arguments of a call."""
    return tuple(made) if isinstance(made, (tuple, list)) else (made,)


def why_no_graphs() -> Optional[str]:
    """Why torch's graphs cannot be handed to the measuring loop; None: they can."""
    graph = _arrays.torch().cuda.CUDAGraph
    if not hasattr(graph, "raw_cuda_graph"):
        return f"torch {_arrays.torch().__version__} has no CUDAGraph.raw_cuda_graph(), 2.8 has"
    return None


class Captured:
    """One call as a torch.cuda.CUDAGraph. Raises what the callable raises."""

    def __init__(self, function: Function, arguments: Arguments, warm_ups: int, stream: Any) -> None:
        cuda = _arrays.torch().cuda
        cuda.synchronize()
        with cuda.stream(stream):
            for _ in range(warm_ups):  # compiles, tunes, fills caches
                function(*arguments)
        cuda.synchronize()
        self.graph = cuda.CUDAGraph(keep_graph=True)
        with cuda.stream(stream):
            self.graph.capture_begin(capture_error_mode="thread_local")
            try:
                self.returned = function(*arguments)
            except BaseException:
                try:
                    self.graph.capture_end()
                except RuntimeError:
                    pass  # the call broke the capture; its own exception says how
                raise
            self.graph.capture_end()
        self.graph.instantiate()

    def natives(self) -> Tuple[int, int]:
        """The CUgraph and its instance; 0: this torch does not tell it."""
        instance = getattr(self.graph, "raw_cuda_graph_exec", None)
        return int(self.graph.raw_cuda_graph()), int(instance()) if instance else 0


class Interrupts:
    """Ctrl-C ends the run and keeps what was measured; the second one is a KeyboardInterrupt."""

    def __init__(self) -> None:
        self.asked = False
        self._before: Any = None
        self._is_set = False

    def __enter__(self) -> "Interrupts":
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
            self._is_set = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_set:
            signal.signal(signal.SIGINT, self._before or signal.default_int_handler)

    def _note(self, number: int, frame: Any) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


class Sets:
    """Answers the measuring loop. ``exception`` is what a callable raised."""

    def __init__(self, functions: Sequence[Optional[Function]], make: Callable[[int], Any], device: str,
                 seed: int, progress: Optional[Callable[[str, int, int], None]]) -> None:
        self.functions = functions
        self.make = make
        self.is_gpu = device != "cpu"
        self.exception: Optional[BaseException] = None
        self.host_reason: Optional[str] = None
        self.interrupts = Interrupts()
        self.progress = progress
        self.seed = seed
        self._chance = random.Random(seed)
        self._made: Dict[int, Arguments] = {}
        self._old: List[Any] = []
        self._live: Dict[Tuple[int, int], Any] = {}
        self._gap: Any = None
        self._warmed = [False] * len(functions)
        self._streams: Dict[int, Any] = {}
        self._capture_stream: Any = None
        self.samples: Optional[Samples] = None  # None: outputs of timed launches are not looked at
        self.verdict: Callable[[Samples], Tuple[int, str]] = lambda samples: (0, "")

    def _function(self, arm: int) -> Function:
        function = self.functions[arm]
        assert function is not None
        return function

    # -- graphs or host ------------------------------------------------------------------------

    def choose(self) -> None:
        """Captures every arm once; where that fails, all arms are called by the host."""
        if not self.is_gpu:
            self.host_reason = "the CPU has no graphs"
            return
        self.host_reason = why_no_graphs()
        if self.host_reason is not None:
            return
        arguments = arguments_of(self.make(0))
        self._capture_stream = _arrays.torch().cuda.Stream(_arrays.device_of(arguments))
        for index, function in enumerate(self.functions):
            if function is None:
                continue
            try:
                captured = Captured(function, arguments, 3, self._capture_stream)
                del captured
            except RuntimeError as error:
                _arrays.torch().cuda.synchronize()
                self.host_reason = f"arm {index} cannot be captured: {first_line(error)}"
                return
            except Exception as error:
                raise RidgeError("RIDGE_ERR_INVALID_ARGUMENT",
                                 f"arm {index}: {type(error).__name__}: {first_line(error)}"
                                 ) from error
            self._warmed[index] = True

    # -- the callback --------------------------------------------------------------------------

    def answer(self, event: int, arm: int, number: int, stream: int, values: Any, text: int,
               size: int) -> int:
        """See ridge_python_call."""
        try:
            if event == LAUNCH:
                self._launch(arm, number, stream)
            elif event == PREPARE:
                values[0], values[1] = self._prepare(arm, number)
            elif event == FINISH:
                self._finish(arm, number)
            elif event == STOP:
                return int(self.interrupts.asked)
            elif event == PROGRESS and self.progress is not None:
                self.progress(ctypes.string_at(text).decode(), values[0], values[1])
            elif event == BEHIND:
                if self.samples is not None and self.functions[arm] is not None:
                    self.samples.behind(self._made, self._function(arm), arm, values[0])
            elif event == AFTER and self.samples is not None:
                values[0], cause = self.verdict(self.samples)
                image = cause.encode()[: size - 1]
                ctypes.memmove(text, image + b"\0", len(image) + 1)
        except BaseException as error:  # noqa: B902: nothing may pass through C
            self.exception = error
            message = f"{type(error).__name__}: {first_line(error)}".encode()[: size - 1]
            ctypes.memmove(text, message + b"\0", len(message) + 1)
            return UNSUPPORTED if isinstance(error, NotImplementedError) else INVALID_ARGUMENT
        return 0

    def _set(self, number: int) -> Arguments:
        if number in self._made:
            return self._made[number]
        if number == 0 and self.is_gpu:
            self._gap = _arrays.torch().empty(
                (1 + self._chance.randrange(GAP_STEPS)) * GAP_BYTES,
                dtype=_arrays.torch().uint8, device="cuda")
        try:
            made = arguments_of(self.make(number))
        except MemoryError:
            made = self._make_alone(number)
        except RuntimeError as error:
            if type(error).__name__ != "OutOfMemoryError" or not self._old:
                raise
            made = self._make_alone(number)
        self._made[number] = made
        return made

    def _make_alone(self, number: int) -> Arguments:
        """Old and new sets do not fit side by side."""
        self._old.clear()
        if self.is_gpu:
            _arrays.torch().cuda.empty_cache()
        return arguments_of(self.make(number))

    def _prepare(self, arm: int, number: int) -> Tuple[int, int]:
        arguments = self._set(number)
        natives = (0, 0)
        if arm == len(self.functions) - 1 and number == 0 and self._old:
            self._old.clear()  # every new set is made by now
        if self.host_reason is None:
            warm_ups = 1 if self._warmed[arm] else 3
            captured = Captured(self._function(arm), arguments, warm_ups, self._capture_stream)
            self._live[arm, number] = captured
            natives = captured.natives()
        else:
            if not self._warmed[arm]:
                self._function(arm)(*arguments)
            self._live[arm, number] = arguments
        self._warmed[arm] = True
        _arrays.synchronize(arguments)
        return natives

    def _launch(self, arm: int, number: int, stream: int) -> None:
        arguments = self._live[arm, number]
        if not self.is_gpu:
            returned = self._function(arm)(*arguments)
            if self.samples is not None and number == self.samples.watched:
                self.samples.seen(arm, returned)
            return
        cuda = _arrays.torch().cuda
        if stream not in self._streams:
            self._streams[stream] = cuda.ExternalStream(stream)
        with cuda.stream(self._streams[stream]):
            if cuda.is_current_stream_capturing():
                raise NotImplementedError(f"called by the host: {self.host_reason}")
            self._function(arm)(*arguments)

    def _finish(self, arm: int, number: int) -> None:
        self._live.pop((arm, number), None)
        if not self._live:
            self._old = list(self._made.values())
            self._old.append(self._gap)
            self._made = {}
            if self.samples is not None:
                self.samples.forget()

    def close(self) -> None:
        self._live.clear()
        self._made.clear()
        self._old.clear()


def first_line(error: BaseException) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__


def check_callables(make: Any, **functions: Any) -> None:
    for name, value in dict(functions, make=make).items():
        if not callable(value):
            raise RidgeError("RIDGE_ERR_INVALID_ARGUMENT",
                             f"{name} has to be callable, it is {type(value).__name__}")
