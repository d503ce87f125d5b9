"""Backward passes of the device stay on the caller's thread, and report what a hook raised.

torch's engine gives each device a thread of its own, made for the devices it knew when it started. JAX's trace state is
thread-local, and the hop costs a seventh of a small step.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
from typing import Any

import torch
from torch.autograd import Variable

# A C call that leaves a Python error set raises it: this one does nothing else.
_raise_pending = ctypes.pythonapi.PyErr_Occurred
_raise_pending.restype = ctypes.c_void_p

_failures: list[BaseException] = []


class _Depth(threading.local):
    backward = 0
    begun = 0


_depth = _Depth()


def running() -> bool:
    """Whether this thread is within a backward pass of tensors of the device."""
    return _depth.backward > 0


def begun() -> int:
    """How many backward passes of tensors of the device this thread has begun."""
    return _depth.begun


def keep_failure() -> None:
    """Take over the Python error that is set, if one is.

    When a hook raises, the engine unwinds with that error set, and on its way asks the device's guard for its type. A
    Python method that returns a value then would end the process.
    """
    try:
        _raise_pending()
    except BaseException as error:
        _failures.append(error)


class Engine(type(Variable._execution_engine)):  # type: ignore[misc]
    """torch's engine, with its multithreading off while tensors of the device are differentiated."""

    def run_backward(self, tensors: Any, *args: Any, **kwargs: Any) -> Any:
        """As torch's."""
        ours = any(t.device.type == "jax" for t in tensors if isinstance(t, torch.Tensor))
        _depth.backward += ours
        _depth.begun += ours
        try:
            with torch.autograd.set_multithreading_enabled(False) if ours else contextlib.nullcontext():
                return super().run_backward(tensors, *args, **kwargs)
        except SystemError:  # no error was left to report
            if not _failures:
                raise
            failure = _failures.pop()
            _failures.clear()
        finally:
            _depth.backward -= ours
        raise failure


def install() -> None:
    """Put the engine in the place of torch's."""
    Variable._execution_engine = Engine()
