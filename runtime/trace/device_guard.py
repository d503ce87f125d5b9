"""The device guard's method, which C++ calls in functions that end the process if anything raises.

torch looks up the guard's method `type_` and calls it, often from `noexcept` functions. In between, pybind11 calls a
CPython function that runs signal handlers. And when a hook has raised, the engine unwinds with that error pending, and
a Python call may not return a value while an error is pending. So both are chains of C functions that run no Python
code but audit hooks (from Python 3.14 on, ctypes calls them); the lookup saves the error, and no handler may raise.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterator
from itertools import cycle, repeat, starmap
from operator import itemgetter, length_hint
from typing import Any

_found: list[bool] = []  # not empty while C++ has looked up the guard's method but not called it
_begun, _ended = repeat(None, 1 << 62), repeat(None, 1 << 62)  # a lookup advances one when it begins, one at its end

_fetch, _restore = ctypes.pythonapi.PyErr_Fetch, ctypes.pythonapi.PyErr_Restore
_fetch.restype = _restore.restype = None


# An error is stored as type, value and traceback. Fetching writes null pointers if none is pending, so calls rotate
# through slots: an error survives 255 more calls.
_errors = (ctypes.c_void_p * 3 * 256)()


def _each(value: Any, *calls: Iterator[Any]) -> Iterator[Any]:
    """An iterator that repeats `value`, and advances each of `calls` by one step every time."""
    return map(itemgetter(-1), zip(*calls, repeat(value), strict=True))


def method(value: Any) -> property:
    """The guard's method, as a property; the method returns `value`."""
    pointers = [[ctypes.byref(error, i * ctypes.sizeof(ctypes.c_void_p)) for i in range(3)] for error in _errors]
    answer = _each(value, starmap(_found.clear, repeat(()))).__next__
    lookups = _each(answer, _begun, starmap(_fetch, cycle(pointers)), starmap(_found.append, repeat((True,))), _ended)
    return property(functools.partial(next, lookups))


def in_lookup() -> bool:
    """Whether C++ looks up the guard's method, or has looked it up but not called it."""
    return bool(_found) or length_hint(_begun) != length_hint(_ended)


def take_error() -> BaseException | None:
    """The error that a lookup saved, if there is one."""
    taken = None
    for error in _errors:
        if error[0]:
            try:  # ctypes raises the error that is pending after a call
                _restore(*map(ctypes.c_void_p, error))
            except BaseException as raised:
                taken = raised
            ctypes.memset(ctypes.byref(error), 0, ctypes.sizeof(error))
    return taken
