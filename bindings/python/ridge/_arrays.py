# SPDX-License-Identifier: Apache-2.0
"""Tensors as ridge sees them: torch's, and everything that has the buffer protocol.

torch is never imported here: whoever made a tensor has done so.
"""
from __future__ import annotations

import ctypes
import math
import sys
from typing import Any, Callable, List, NamedTuple, Optional, Tuple

from ._library import RidgeError

# By the format of a memoryview, with its size in bytes.
_FORMATS = {("f", 4): "f32", ("d", 8): "f64", ("e", 2): "f16", ("b", 1): "i8", ("B", 1): "u8",
            ("?", 1): "u8", ("h", 2): "i16", ("i", 4): "i32", ("l", 4): "i32", ("l", 8): "i64",
            ("q", 8): "i64", ("I", 4): "u32", ("L", 4): "u32"}
_TORCH = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16",
          "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "int64": "i64", "int32": "i32",
          "uint32": "u32", "int16": "i16", "int8": "i8", "uint8": "u8", "bool": "u8"}


class Host(NamedTuple):
    """A copy in the host's memory: contiguous, last axis fastest."""

    dtype: str
    shape: Tuple[int, ...]
    memory: Any  # a ctypes array of bytes; at least one

    @property
    def address(self) -> int:
        return ctypes.addressof(self.memory)

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    def bytes(self) -> bytes:
        return bytes(self.memory)


def torch() -> Any:
    """torch when somebody has imported it, else None."""
    return sys.modules.get("torch")


def is_torch(value: Any) -> bool:
    module = torch()
    return module is not None and isinstance(value, module.Tensor)


def _view(value: Any) -> Optional[memoryview]:
    if isinstance(value, (bytes, str)):
        return None
    try:
        return memoryview(value)
    except TypeError:
        return None


def is_array(value: Any) -> bool:
    return is_torch(value) or _view(value) is not None


def device_of(values: "Tuple[Any, ...]") -> str:
    """"cuda:1" of the first tensor on a GPU, else "cpu"."""
    for value in values:
        if is_torch(value) and value.device.type == "cuda":
            return f"cuda:{value.device.index or 0}"
    return "cpu"


def nbytes(value: Any) -> int:
    """Bytes that the elements take, each once."""
    if is_torch(value):
        extents = [size for size, stride in zip(value.shape, value.stride()) if stride != 0]
        return math.prod(extents) * value.element_size() if value.numel() else 0
    view = _view(value)
    return view.nbytes if view is not None else 0


def _named_dtype_of(value: Any) -> Tuple[str, str]:
    """Its own name of the type, and ridge's, "" where ridge has none."""
    if is_torch(value):
        name = str(value.dtype).split(".")[-1]
        return name, _TORCH.get(name, "")
    view = memoryview(value)
    return view.format, _FORMATS.get((view.format.lstrip("@=<"), view.itemsize), "")


def known_dtype_of(value: Any) -> str:
    return _named_dtype_of(value)[1]


def dtype_of(value: Any) -> str:
    name, found = _named_dtype_of(value)
    if not found:
        raise RidgeError("RIDGE_ERR_UNSUPPORTED", f"element type {name} cannot be compared")
    return found


def shape_of(value: Any) -> Tuple[int, ...]:
    if is_torch(value):
        return tuple(value.shape)
    return tuple(memoryview(value).shape or ())


def to_host(value: Any, most: Optional[int] = None) -> Host:
    """A copy; most: every nth element only where there are more, then of one axis."""
    dtype, shape = dtype_of(value), shape_of(value)
    count = math.prod(shape)
    if is_torch(value):
        if most is not None and count > most:
            value = value.reshape(-1)[:: (count // most) | 1]
            shape = tuple(value.shape)
        flat = value.detach().cpu().contiguous()
        memory = (ctypes.c_char * max(1, flat.numel() * flat.element_size()))()
        if flat.numel():
            ctypes.memmove(memory, flat.data_ptr(), flat.numel() * flat.element_size())
        return Host(dtype, shape, memory)
    image = memoryview(value).tobytes() or b"\0"
    return Host(dtype, shape, (ctypes.c_char * len(image)).from_buffer_copy(image))


def _bytes_of(value: Any) -> memoryview:
    view = memoryview(value)
    if view.readonly:
        raise RidgeError("RIDGE_ERR_INVALID_ARGUMENT", "an output is read-only")
    return view.cast("B")


def is_writable(value: Any) -> bool:
    return is_torch(value) or not memoryview(value).readonly


def fill(value: Any, byte: int) -> int:
    """Sets every byte of every element; returns the bits of an element."""
    if is_torch(value):
        module, size = torch(), value.element_size()
        bits = int.from_bytes(bytes([byte]) * size, "little")
        if str(value.dtype) == "torch.bool":
            value.fill_(True)
            return 1
        kinds = {1: module.uint8, 2: module.int16, 4: module.int32, 8: module.int64}
        if value.numel() and size in kinds:
            signed = bits if size == 1 or byte < 128 else bits - (1 << 8 * size)
            value.detach().view(kinds[size]).fill_(signed)
        return bits
    view = _bytes_of(value)
    view[:] = bytes([byte]) * len(view)
    return int.from_bytes(bytes([byte]) * memoryview(value).itemsize, "little")


def clone(value: Any) -> Any:
    """A copy of the contents, for restore()."""
    return value.detach().clone() if is_torch(value) else memoryview(value).tobytes()


def restore(value: Any, saved: Any) -> None:
    if is_torch(value):
        value.detach().copy_(saved)
    else:
        _bytes_of(value)[:] = saved


def synchronize(values: "Tuple[Any, ...]") -> None:
    """Waits for a GPU that a value is on."""
    if device_of(values) != "cpu":
        torch().cuda.synchronize()


def outputs_of(function: Callable[..., Any], arguments: "Tuple[Any, ...]",
               outputs: "Tuple[int, ...]") -> List[Any]:
    """Calls; the outputs are what it returns, else the arguments at ``outputs``."""
    returned = function(*arguments)
    if returned is None:
        return [arguments[index] for index in outputs]
    values = list(returned) if isinstance(returned, (tuple, list)) else [returned]
    if not all(is_array(value) for value in values):
        raise TypeError("a callable has to return None or tensors, it returned "
                        f"{type(returned).__name__}")
    return values


# -- guarded copies ------------------------------------------------------------------------------

BAND_BYTES = 4096


class Guarded:
    """A copy of a tensor with a band of known bytes before and behind it.

    ``value`` is what the callable gets; None when such a thing cannot be made of its type.
    """

    def __init__(self, value: Any) -> None:
        self.value: Any = None
        self._bands: List[Any] = []
        if is_torch(value):
            self._of_torch(value)
        else:
            self._of_buffer(value)

    def _of_torch(self, value: Any) -> None:
        module = torch()
        if any(s == 0 and n > 1 for n, s in zip(value.shape, value.stride())):
            return
        reach = sum((n - 1) * s for n, s in zip(value.shape, value.stride())) + 1
        span = (reach if value.numel() else 0) * value.element_size()
        room = -(-span // 256) * 256
        whole = module.zeros(2 * BAND_BYTES + room, dtype=module.uint8, device=value.device)
        inner = whole[BAND_BYTES:BAND_BYTES + room].view(value.dtype)
        self.value = inner.as_strided(value.shape, value.stride())
        self.value.copy_(value.detach())
        # Exactly behind the last element.
        self._bands = [whole[:BAND_BYTES], whole[BAND_BYTES + span:]]

    def _of_buffer(self, value: Any) -> None:
        view = memoryview(value)
        if not view.contiguous:
            return
        whole = bytearray(2 * BAND_BYTES + view.nbytes)
        inner = memoryview(whole)[BAND_BYTES:BAND_BYTES + view.nbytes]
        inner[:] = view.tobytes()
        if isinstance(value, ctypes.Array):
            self.value = type(value).from_buffer(whole, BAND_BYTES)
        elif isinstance(value, memoryview):
            form: Any = view.format.lstrip("@=<")
            self.value = inner.cast(form, view.shape or ())
        else:
            return
        self._bands = [memoryview(whole)[:BAND_BYTES], memoryview(whole)[BAND_BYTES + view.nbytes:]]

    def paint(self, byte: int) -> None:
        for band in self._bands:
            if is_torch(band):
                band.fill_(byte)
            else:
                band[:] = bytes([byte]) * len(band)

    def damage(self, byte: int) -> Tuple[int, str]:
        """Bytes of the bands that are not ``byte`` any more, and where the first is."""
        wrong, where = 0, ""
        for name, band in zip(("before", "behind"), self._bands):
            image = bytes(band.cpu().tolist()) if is_torch(band) else bytes(band)
            bad = [index for index, found in enumerate(image) if found != byte]
            if bad and not where:
                where = (f"{len(image) - bad[-1]} bytes before it" if name == "before" else
                         f"{bad[0]} bytes behind its end")
            wrong += len(bad)
        return wrong, where
