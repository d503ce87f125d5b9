"""Backward passes of the device run on the caller's thread, and report exceptions of hooks.

torch's engine gives each device a thread of its own. JAX's trace state is thread-local, so backward could not be traced
there, and the change of threads costs a seventh of a small step.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
from typing import Any

import torch

from .. import patches
from .._torch.autograd import ENGINE_CLASS
from ..storage.avals import meshes

# ctypes raises a Python error that is pending after a call; this call does nothing else.
_raise_pending = ctypes.pythonapi.PyErr_Occurred
_raise_pending.restype = ctypes.c_void_p

_failures: list[BaseException] = []


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


def save_pending_error() -> None:
    """Take over the pending Python error, if there is one.

    When a hook raises, the engine unwinds with that error pending, and on its way asks the device guard, a Python
    object, for its type. A Python method that returns a value while an error is pending would end the process.
    """
    try:
        _raise_pending()
    except BaseException as error:
        _failures.append(error)


class Engine(ENGINE_CLASS):  # type: ignore[misc]
    """torch's engine, with its multithreading off while tensors of the device are differentiated."""

    def run_backward(self, tensors: Any, *args: Any, **kwargs: Any) -> Any:
        """See torch's engine."""
        if meshes.used:
            from .mesh_gradients import placed_gradients

            return placed_gradients(self._run, tensors, *args, **kwargs)
        return self._run(tensors, *args, **kwargs)

    def _run(self, tensors: Any, *args: Any, **kwargs: Any) -> Any:
        ours = any(t.device.type == "jax" for t in tensors if isinstance(t, torch.Tensor))
        _depth.backward += ours
        _depth.begun += ours
        try:
            with torch.autograd.set_multithreading_enabled(False) if ours else contextlib.nullcontext():
                return super().run_backward(tensors, *args, **kwargs)
        except SystemError:  # because the hook's error was taken over
            if not _failures:
                raise
            failure = _failures.pop()
            _failures.clear()
        finally:
            _depth.backward -= ours
        raise failure


def install() -> None:
    """Replace torch's engine."""
    patches.replace("torch.autograd.Variable._execution_engine", Engine())
