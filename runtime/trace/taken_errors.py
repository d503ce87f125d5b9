"""The errors that the device guard took over while torch's engine unwound; see `autograd_engine.device_type`."""

from __future__ import annotations

import ctypes
from typing import Any


def last(taken: Any) -> BaseException | None:
    """The error that the device guard took over last, if there is one."""
    found = None
    for i in range(0, len(taken), 3):
        kind, value, traceback = (_emptied(taken, i + k) for k in range(3))
        if kind is not None:
            found = value if isinstance(value, BaseException) else kind() if value is None else kind(value)
            found = found.with_traceback(traceback)
    return found


def _emptied(taken: Any, index: int) -> Any:
    try:
        value = taken[index]
    except ValueError:  # NULL
        return None
    size = ctypes.sizeof(ctypes.py_object)
    ctypes.memset(ctypes.addressof(taken) + index * size, 0, size)
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(value))  # the reference that PyErr_Fetch gave
    return value
