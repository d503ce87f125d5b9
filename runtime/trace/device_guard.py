"""What the device guard answers to functions of C++ that end the process if anything raises in them.

torch looks up the guard's method `type_` and calls it, often from functions that are `noexcept`. In between, pybind11
calls a function of CPython that runs signal handlers. And when a hook has raised, the engine unwinds with that error
pending, beside which nothing may return a value. So the look-up and the call are chains of C functions, in which no
Python runs. The first takes over the pending error, and from it to the second `asked` says that no handler may raise.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterator
from itertools import cycle, repeat, starmap
from operator import itemgetter
from typing import Any

asked: list[bool] = []  # whether C++ has looked up the guard's method and not called it yet

_fetch, _restore = ctypes.pythonapi.PyErr_Fetch, ctypes.pythonapi.PyErr_Restore
_fetch.restype = _restore.restype = None


class _Error(ctypes.Structure):
    """A Python error as the interpreter keeps it, or null pointers."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("type", "value", "traceback")]


# Fetching writes null pointers where no error is pending, so calls take turns: an error stays for as many of them.
_errors = (_Error * 256)()


def _each(value: Any, *calls: Iterator[Any]) -> Iterator[Any]:
    """An iterator whose values are all the same; for each of them it takes one of each other iterator."""
    return map(itemgetter(-1), zip(*calls, repeat(value), strict=True))


def method(value: Any) -> property:
    """The guard's method that returns a value."""
    pointers = [[ctypes.byref(error, i * ctypes.sizeof(ctypes.c_void_p)) for i in range(3)] for error in _errors]
    answer = _each(value, starmap(asked.clear, repeat(()))).__next__
    lookups = _each(answer, starmap(_fetch, cycle(pointers)), starmap(asked.append, repeat((True,))))
    return property(functools.partial(next, lookups))


def take_error() -> BaseException | None:
    """The error that was taken over, if there is one."""
    taken = None
    for error in _errors:
        if error.type:
            try:  # ctypes raises the error that is pending after a call
                _restore(*map(ctypes.c_void_p, (error.type, error.value, error.traceback)))
            except BaseException as raised:
                taken = raised
            ctypes.memset(ctypes.byref(error), 0, ctypes.sizeof(error))
    return taken
