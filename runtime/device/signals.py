"""Signal handlers never raise in functions of C++ that would end the process.

Such functions of torch ask the device guard (`trace/device_guard.py`), and CPython may run a signal handler in between.
A handler that it runs there is called again, and may raise, when the next instruction of Python is executed.
"""

from __future__ import annotations

import contextlib
import ctypes
import signal
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from .. import patches
from ..trace.device_guard import asked

_add_pending_call = ctypes.pythonapi.Py_AddPendingCall
_add_pending_call.argtypes = [ctypes.c_void_p, ctypes.py_object]
# A C function of an object that calls its method `__bool__`, and that fails if it raises.
_call = ctypes.cast(ctypes.pythonapi.PyObject_IsTrue, ctypes.c_void_p)


class _Deferred:
    """The handlers that were put off."""

    def __init__(self) -> None:
        self.calls: deque[tuple[Callable[..., Any], Any]] = deque()
        self.deferring = 0  # handlers that are being put off: pending calls are made between their instructions, too

    def __bool__(self) -> bool:
        if self.deferring:
            _add_pending_call(_call, self)
        elif self.calls:
            handler, arguments = self.calls.popleft()
            handler(*arguments)
        return False


_deferred = _Deferred()


class SignalHandler(NamedTuple):
    """A signal handler that is put off where it must not raise."""

    handler: Callable[..., Any]

    def __call__(self, number: int, frame: Any) -> Any:
        """Handle a signal."""
        if not asked:
            return self.handler(number, frame)
        _deferred.deferring += 1
        _deferred.calls.append((self.handler, (number, frame)))
        _add_pending_call(_call, _deferred)
        _deferred.deferring -= 1
        return None


def _plain(handler: Any) -> Any:
    return handler.handler if isinstance(handler, SignalHandler) else handler


def install() -> None:
    """Have each signal handler be put off where it must; Python's functions still show the handler itself."""
    wrapped: Any = lambda handler: SignalHandler(handler) if callable(handler) else handler  # noqa: E731
    patches.wrap("_signal.signal", lambda put: lambda number, handler: _plain(put(number, wrapped(handler))))
    patches.wrap("_signal.getsignal", lambda get: lambda number: _plain(get(number)))
    with contextlib.suppress(ValueError):  # in another thread than the main one, which alone may set handlers
        for number in signal.valid_signals():
            if callable(handler := signal.getsignal(number)):
                signal.signal(number, handler)
