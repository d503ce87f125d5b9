"""Arrays of the host that a function reaches.

The values that a trace reads from them are constants of its program, so their content is compared before each call.
Price: a copy of each array, and the time to compare it.
"""

from __future__ import annotations

import array
from dataclasses import dataclass
from typing import Any

import numpy as np

ARRAYS = (np.ndarray, bytearray, array.array)


@dataclass(frozen=True, slots=True)
class HostArray:
    """An array and its content before a run."""

    path: str
    array: Any
    content: bytes

    def changed(self) -> bool:
        """Whether the content differs now."""
        return content_of(self.array) != self.content

    def restore(self) -> None:
        """Put back the content."""
        value = self.array
        if isinstance(value, np.ndarray):
            if value.dtype.hasobject:
                return  # numpy cannot make objects of bytes
            value[...] = np.frombuffer(self.content, value.dtype).reshape(value.shape)
        else:
            value[:] = bytearray(self.content) if isinstance(value, bytearray) else _typed(value, self.content)


def _typed(like: array.array[Any], content: bytes) -> array.array[Any]:
    made = array.array(like.typecode)
    made.frombytes(content)
    return made


def content_of(value: Any) -> bytes:
    """The bytes of an array; for an array of objects, their addresses."""
    return bytes(value) if isinstance(value, bytearray) else value.tobytes()
