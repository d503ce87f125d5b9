"""`torch_xla.experimental.stablehlo_custom_call`: only the functions for host memory."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import torch

from ...interop.calls import call_jax


def place_to_host(t: torch.Tensor | None) -> torch.Tensor | None:
    """A copy of a tensor in host memory that the device can read; it is still a tensor on the device.

    Its values can be read, and `place_to_device` moves them back. Gradients are not moved. Within `tenax.jit` the
    compiled program makes the copy.

    Raises:
        NotImplementedError: the device has no such memory.
    """
    return _placed(t, jax.memory.Space.Host)


def place_to_device(t: torch.Tensor | None) -> torch.Tensor | None:
    """A copy of a tensor in device memory."""
    return _placed(t, jax.memory.Space.Device)


@cache
def _copy(space: Any) -> Any:
    return jax.jit(lambda array: jax.device_put(array, space))


class _Copied(torch.autograd.Function):
    """A copy in another memory space; the gradient is passed on unchanged."""

    @staticmethod
    def forward(ctx: Any, t: torch.Tensor, space: Any) -> torch.Tensor:
        placed: torch.Tensor = call_jax(_copy(space), t)
        return placed

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        return grads[0], None


def _placed(t: torch.Tensor | None, space: Any) -> torch.Tensor | None:
    return None if t is None else _Copied.apply(t, space)
