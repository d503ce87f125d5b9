"""`torchax.tensor`: the tensor class, the environment, and the methods that torchax's tensors have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import torch

from ...device.convert import from_jax, to_jax
from ...device.random import next_key
from ...device.tensor import Tensor as Tensor
from ...dispatch.lowering import register_lowering


class Environment:
    """torchax's environment. tenax needs none; this has the methods that programs call on it."""

    def __enter__(self) -> Environment:
        return self

    def __exit__(self, *error: Any) -> None:
        return None

    @property
    def prng_key(self) -> jax.Array:
        """A new key of the device's random stream."""
        return jax.random.wrap_key_data(next_key())

    def manual_seed(self, seed: int) -> None:
        """`torch.manual_seed`."""
        torch.manual_seed(seed)

    def to_xla(self, tree: Any) -> Any:
        """The tree with its tensors on device "jax"."""
        return jax.tree.map(lambda x: x.to("jax") if isinstance(x, torch.Tensor) else x, tree)

    def j2t_iso(self, tree: Any) -> Any:
        """Arrays as tensors."""
        return from_jax(tree)

    def t2j_iso(self, tree: Any) -> Any:
        """Tensors as arrays."""
        return to_jax(tree)

    j2t_copy = j2t_iso
    t2j_copy = t2j_iso

    def override_op_definition(self, op: Any, function: Callable[..., Any]) -> None:
        """`tenax.register_lowering`, for an operator without a lowering."""
        register_lowering(op, function)


def _apply_jax(self: torch.Tensor, function: Callable[..., Any], *args: Any, **kwargs: Any) -> torch.Tensor:
    """A tensor of what a JAX function gives for the array."""
    return from_jax(function(self.detach().jax(), *args, **kwargs))  # type: ignore[attr-defined]


def _apply_jax_(self: torch.Tensor, function: Callable[..., Any], *args: Any, **kwargs: Any) -> torch.Tensor:
    """The same, written into the tensor."""
    with torch.no_grad():
        return self.set_(_apply_jax(self, function, *args, **kwargs))  # type: ignore[call-overload]


def _shard_(self: torch.Tensor, sharding: Any) -> torch.Tensor:
    """Lay the tensor out over devices, in place."""
    return _apply_jax_(self, jax.device_put, sharding)


def _torch(self: torch.Tensor) -> torch.Tensor:
    """A copy on the CPU."""
    return self.detach().cpu()


for _method in (_apply_jax, _apply_jax_, _shard_, _torch):
    setattr(torch.Tensor, _method.__name__[1:], _method)
