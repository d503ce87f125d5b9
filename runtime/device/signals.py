"""Defer signal handlers where an exception in a C++ function would end the process.

Such functions of torch query the device guard (`trace/device_guard.py`), and CPython may run a signal handler during
the query. The handler is then deferred to the next Python instruction, where it may raise.
"""

from __future__ import annotations

import ctypes
import signal
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from .. import patches
from ..trace.device_guard import in_lookup

_add_pending_call = ctypes.pythonapi.Py_AddPendingCall
_add_pending_call.argtypes = [ctypes.c_void_p, ctypes.py_object]
# A C function that calls an object's `__bool__` and propagates its exception.
_call = ctypes.cast(ctypes.pythonapi.PyObject_IsTrue, ctypes.c_void_p)


class _Deferred:
    """The queue of deferred handlers; `__bool__` runs the next one."""

    def __init__(self) -> None:
        self.calls: deque[tuple[Callable[..., Any], Any]] = deque()
        self.deferring = 0  # handlers being deferred right now: pending calls may run between those instructions too

    def __bool__(self) -> bool:
        if self.deferring or in_lookup():
            _add_pending_call(_call, self)
        elif self.calls:
            handler, arguments = self.calls.popleft()
            handler(*arguments)
        return False


_deferred = _Deferred()


class SignalHandler(NamedTuple):
    """A signal handler that is deferred where it must not raise."""

    handler: Callable[..., Any]

    def __call__(self, number: int, frame: Any) -> Any:
        """Handle or defer a signal."""
        if not in_lookup():
            return self.handler(number, frame)
        _deferred.deferring += 1
        _deferred.calls.append((self.handler, (number, frame)))
        _add_pending_call(_call, _deferred)
        _deferred.deferring -= 1
        return None


def _plain(handler: Any) -> Any:
    return handler.handler if isinstance(handler, SignalHandler) else handler


def install() -> None:
    """Wrap all signal handlers, present and future; `signal.getsignal` still returns the original handler."""
    wrapped: Any = lambda handler: SignalHandler(handler) if callable(handler) else handler  # noqa: E731
    patches.wrap("_signal.signal", lambda put: lambda number, handler: _plain(put(number, wrapped(handler))))
    patches.wrap("_signal.getsignal", lambda get: lambda number: _plain(get(number)))
    if threading.current_thread() is threading.main_thread():
        _wrap_handlers()
    else:  # only the main thread may set handlers, and it runs pending calls
        _deferred.calls.append((_wrap_handlers, ()))
        _add_pending_call(_call, _deferred)


def _wrap_handlers() -> None:
    for number in signal.valid_signals():
        if callable(handler := signal.getsignal(number)):
            signal.signal(number, handler)
