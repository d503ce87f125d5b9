"""`torchax.tensor`: the tensor class, the environment, and the methods of torchax tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import torch

from ... import patches
from ...aten.custom_ops import register_lowering
from ...device.tensor import Tensor as Tensor
from ...storage.random import next_key
from ...storage.tensors import cell_of, covers_array
from ...trace.transfer import from_jax, to_jax


class Environment:
    """The environment of torchax, with the methods that programs call. tenax itself needs no environment."""

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
        """Move the tensors of a tree to device "jax". Modules, which may be leaves too, move and are returned."""
        return jax.tree.map(lambda x: x.to("jax") if isinstance(x, (torch.Tensor, torch.nn.Module)) else x, tree)

    def j2t_iso(self, tree: Any) -> Any:
        """Convert arrays to tensors."""
        return from_jax(tree)

    def t2j_iso(self, tree: Any) -> Any:
        """Convert tensors to arrays."""
        return to_jax(tree)

    j2t_copy = j2t_iso
    t2j_copy = t2j_iso

    def override_op_definition(self, op: Any, function: Callable[..., Any]) -> None:
        """Call `tenax.register_lowering` for an operator without a lowering."""
        register_lowering(op, function)


def _apply_jax(self: torch.Tensor, function: Callable[..., Any], *args: Any, **kwargs: Any) -> torch.Tensor:
    """Apply a JAX function to the array, and convert the result to a tensor."""
    return from_jax(function(self.detach().jax(), *args, **kwargs))  # type: ignore[attr-defined]


def _apply_jax_(self: torch.Tensor, function: Callable[..., Any], *args: Any, **kwargs: Any) -> torch.Tensor:
    """Apply a JAX function to the array, and write the result into the tensor.

    Views share the new value. A result of another shape or dtype, or on another device, gives the tensor a storage of
    its own; views of the old one keep it.

    Raises:
        RuntimeError: such a result for a tensor that is a part of a storage.
    """
    array = function(self.detach().jax(), *args, **kwargs)  # type: ignore[attr-defined]
    result, cell = from_jax(array), cell_of(self)
    whole = covers_array(self, cell)
    with torch.no_grad():
        if (result.shape, result.dtype, result.device) == (self.shape, self.dtype, self.device):
            if not whole:
                return self.copy_(result)
            torch.autograd.graph.increment_version(self)
            cell.write(array)
        elif not whole:
            raise RuntimeError(
                f"apply_jax_: a result of shape {tuple(result.shape)}, {result.dtype} for a view of shape "
                f"{tuple(self.shape)}, {self.dtype}; expected the same, or tensor.apply_jax(function)"
            )
        elif result.dtype == self.dtype and result.device == self.device:
            self.set_(result)
        else:
            self.data = result
    return self


def _shard_(self: torch.Tensor, sharding: Any) -> torch.Tensor:
    """Shard the tensor over devices, in place. Only a tensor that is a whole storage, in its order, keeps its views."""
    if covers_array(self, cell_of(self)):
        return _apply_jax_(self, jax.device_put, sharding)
    with torch.no_grad():
        return self.set_(_apply_jax(self, jax.device_put, sharding))  # type: ignore[call-overload]


def _torch(self: torch.Tensor) -> torch.Tensor:
    """A copy on the CPU."""
    return self.detach().cpu()


for _method in (_apply_jax, _apply_jax_, _shard_, _torch):
    patches.replace(f"torch.Tensor.{_method.__name__[1:]}", _method)
