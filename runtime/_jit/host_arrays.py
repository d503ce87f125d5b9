"""Host arrays that a function reaches.

The values that a trace reads from them are constants of its program, so their content is compared before each call.
This costs a copy of each array, and the time to compare it.
"""

from __future__ import annotations

import array
import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

C_DATA: Any = (ctypes._SimpleCData, ctypes.Structure, ctypes.Union, ctypes.Array)
Content = tuple[bytes, tuple[Any, ...]]  # an array's bytes, and its shape, strides and dtype


@dataclass(frozen=True, slots=True)
class HostArray:
    """An array and its content before a run."""

    path: str
    array: Any
    content: Content

    def changed(self) -> bool:
        """Whether the content has changed."""
        return content_of(self.array) != self.content

    def restore(self) -> None:
        """Restore the content."""
        value: Any = self.array
        content, shown = self.content
        if isinstance(value, np.ndarray):
            if value.dtype.hasobject or _shown(value) != shown:
                return  # bytes cannot be turned back into objects
            value[...] = np.frombuffer(content, value.dtype).reshape(value.shape)
        elif isinstance(value, C_DATA):
            ctypes.memmove(ctypes.addressof(value), content, len(content))
        else:
            value[:] = bytearray(content) if isinstance(value, bytearray) else _typed(value, content)


def _typed(like: array.array[Any], content: bytes) -> array.array[Any]:
    made = array.array(like.typecode)
    made.frombytes(content)
    return made


def _shown(value: np.ndarray) -> tuple[Any, ...]:
    return value.shape, value.strides, value.dtype


def content_of(value: Any) -> Content:
    """The bytes of an array, and its shape, strides and dtype; for an array of objects, the bytes are addresses."""
    if isinstance(value, np.ndarray):
        return value.tobytes(), _shown(value)
    return bytes(value), ()
