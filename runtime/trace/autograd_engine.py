"""Runs backward passes of device tensors on the caller's thread, and reports exceptions of hooks.

torch's engine gives each device a thread of its own. JAX's trace state is thread-local, so backward could not be traced
there, and switching threads costs a seventh of a small step.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Any

import torch

from .. import patches
from .._torch import NAME
from .._torch.autograd import ENGINE_CLASS
from ..storage.avals import meshes
from . import device_guard


class _Depth(threading.local):
    backward = 0
    begun = 0


_depth = _Depth()


def in_backward() -> bool:
    """Whether this thread is running a backward pass of device tensors."""
    return _depth.backward > 0


def backward_count() -> int:
    """The number of backward passes of device tensors that this thread has started."""
    return _depth.begun


class Engine(ENGINE_CLASS):  # type: ignore[misc]
    """torch's engine, with multithreading disabled while device tensors are differentiated."""

    def run_backward(self, tensors: Any, *args: Any, **kwargs: Any) -> Any:
        """See torch's engine."""
        if meshes.used:
            from .mesh_gradients import placed_gradients

            return placed_gradients(self._run, tensors, *args, **kwargs)
        return self._run(tensors, *args, **kwargs)

    def _run(self, tensors: Any, *args: Any, **kwargs: Any) -> Any:
        ours = any(t.device.type == NAME for t in tensors if isinstance(t, torch.Tensor))
        _depth.backward += ours
        _depth.begun += ours
        try:
            with torch.autograd.set_multithreading_enabled(False) if ours else contextlib.nullcontext():
                return super().run_backward(tensors, *args, **kwargs)
        except SystemError:  # raised because the device guard took the hook's pending error
            failure = device_guard.take_error()
            if failure is None:
                raise
        finally:
            _depth.backward -= ours
        raise failure


def install() -> None:
    """Replace torch's engine."""
    patches.replace("torch.autograd.Variable._execution_engine", Engine())
