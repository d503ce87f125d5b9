"""Backward passes of the device run on the caller's thread, and report exceptions of hooks.

torch's engine gives each device a thread of its own. JAX's trace state is thread-local, so backward could not be traced
there, and the change of threads costs a seventh of a small step.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import threading
from collections.abc import Callable
from itertools import cycle
from typing import Any

import torch

from .. import patches
from .._torch.autograd import ENGINE_CLASS

# Pending errors that the device guard took over: (type, value, traceback) as PyErr_Fetch stores them.
_SLOTS = 64
_taken = (ctypes.py_object * (3 * _SLOTS))()


class _Depth(threading.local):
    backward = 0
    begun = 0


_depth = _Depth()


def in_backward() -> bool:
    """Whether this thread runs a backward pass of tensors of the device."""
    return _depth.backward > 0


def backward_count() -> int:
    """How many backward passes of tensors of the device this thread has started."""
    return _depth.begun


def device_type(answer: Any) -> Callable[[], Any]:
    """The method by which the device guard tells its type.

    When a hook raises, the engine unwinds with that error pending, and on its way asks the guard, a Python object, for
    its type. A method that returns a value while an error is pending, or that raises KeyboardInterrupt in the middle,
    would end the process. So the method takes the error over, and is made of C functions alone, between which the
    interpreter raises nothing of its own (see device/interrupts.py). It writes a slot in each call, because C functions
    cannot decide to write none; the engine asks far less often while it unwinds.
    """
    fetch = ctypes.PyDLL(None)["PyErr_Fetch"]
    fetch.restype = functools.partial({"": answer}.get, "")  # of whatever is returned by a function without a result
    size = ctypes.sizeof(ctypes.py_object)
    places = [cycle([ctypes.byref(_taken, size * (3 * i + k)) for i in range(_SLOTS)]) for k in range(3)]
    for place in places:
        for _ in range(_SLOTS):
            next(place)  # a cycle that is not through would look for an error of its iterator
    return functools.partial(next, map(fetch, *places))


class Engine(ENGINE_CLASS):  # type: ignore[misc]
    """torch's engine, with its multithreading off while tensors of the device are differentiated."""

    def run_backward(self, tensors: Any, *args: Any, **kwargs: Any) -> Any:
        """See torch's engine."""
        ours = any(t.device.type == "jax" for t in tensors if isinstance(t, torch.Tensor))
        _depth.backward += ours
        _depth.begun += ours
        try:
            with torch.autograd.set_multithreading_enabled(False) if ours else contextlib.nullcontext():
                return super().run_backward(tensors, *args, **kwargs)
        except SystemError:  # because the hook's error was taken over
            from .taken_errors import last

            failure = last(_taken)
            if failure is None:
                raise
        finally:
            _depth.backward -= ours
        raise failure


def install() -> None:
    """Replace torch's engine."""
    patches.replace("torch.autograd.Variable._execution_engine", Engine())
