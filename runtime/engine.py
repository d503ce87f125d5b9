"""Backward passes of the device stay on the caller's thread.

torch's engine gives each device a thread of its own, made for the devices it knew when it started. JAX's trace state is
thread-local, and the hop costs a seventh of a small step.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd import Variable

from .device import NAME


class Engine(type(Variable._execution_engine)):  # type: ignore[misc]
    """torch's engine, with its multithreading off while tensors of the device are differentiated."""

    def run_backward(self, tensors: Any, *args: Any, **kwargs: Any) -> Any:
        """As torch's."""
        if all(t.device.type != NAME for t in tensors if isinstance(t, torch.Tensor)):
            return super().run_backward(tensors, *args, **kwargs)
        with torch.autograd.set_multithreading_enabled(False):
            return super().run_backward(tensors, *args, **kwargs)


def install() -> None:
    """Put the engine in the place of torch's."""
    Variable._execution_engine = Engine()
