"""The device guard's method, which C++ calls in functions that end the process if anything raises.

torch looks up the guard's method `type_` and calls it, often from `noexcept` functions. In between, pybind11 calls a
CPython function that runs signal handlers. And when a hook has raised, the engine unwinds with that error pending, and
a Python call may not return a value while an error is pending. So the lookup and the call are chains of C functions
that run no Python code. The lookup saves the pending error; from it until the call, `lookup_pending` says that no
signal handler may raise.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterator
from itertools import cycle, repeat, starmap
from operator import itemgetter
from typing import Any

lookup_pending: list[bool] = []  # not empty while C++ has looked up the guard's method but not called it

_fetch, _restore = ctypes.pythonapi.PyErr_Fetch, ctypes.pythonapi.PyErr_Restore
_fetch.restype = _restore.restype = None


class _Error(ctypes.Structure):
    """A Python error as the interpreter stores it, or null pointers."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("type", "value", "traceback")]


# Fetching writes null pointers if no error is pending, so calls rotate through slots: an error survives 255 more calls.
_errors = (_Error * 256)()


def _each(value: Any, *calls: Iterator[Any]) -> Iterator[Any]:
    """An iterator that repeats `value`, and advances each of `calls` by one step every time."""
    return map(itemgetter(-1), zip(*calls, repeat(value), strict=True))


def method(value: Any) -> property:
    """The guard's method, as a property; the method returns `value`."""
    pointers = [[ctypes.byref(error, i * ctypes.sizeof(ctypes.c_void_p)) for i in range(3)] for error in _errors]
    answer = _each(value, starmap(lookup_pending.clear, repeat(()))).__next__
    lookups = _each(answer, starmap(_fetch, cycle(pointers)), starmap(lookup_pending.append, repeat((True,))))
    return property(functools.partial(next, lookups))


def take_error() -> BaseException | None:
    """The error that a lookup saved, if there is one."""
    taken = None
    for error in _errors:
        if error.type:
            try:  # ctypes raises the error that is pending after a call
                _restore(*map(ctypes.c_void_p, (error.type, error.value, error.traceback)))
            except BaseException as raised:
                taken = raised
            ctypes.memset(ctypes.byref(error), 0, ctypes.sizeof(error))
    return taken
