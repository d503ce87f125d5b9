"""Stand-in arrays without memory of their own, which lay out a model from the "meta" device over a mesh.

A program is compiled for arrays with shapes, dtypes and shardings, and is never run. So the shards of all arrays share
one mapping of memory, as large as the largest shard. It is never read, so the operating system provides no pages.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import torch
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from torch import nn

from .._jit.optimizer_state import OptimizerStateInit
from .._jit.state_graph import StateGraph
from .._jit.visitors import reach
from .._torch import pytree
from ..dtypes import numpy_dtype
from ..sharding.checks import named_sharding
from ..sharding.initialize import give_values, named_tensors
from ..sharding.rules import Rules, spec_of
from ..storage.avals import LazyFill
from ..storage.tensors import cell_of
from ..trace.transfer import from_jax


class StandIns:
    """Creates arrays without memory of their own on a mesh."""

    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh
        self._memory = np.empty(0, np.uint8)

    def array(self, shape: tuple[int, ...], dtype: np.dtype, sharding: NamedSharding) -> jax.Array:
        """An array of a shape and dtype, whose values must not be read."""
        part = sharding.shard_shape(shape)
        count = int(np.prod(part)) * dtype.itemsize
        if count > self._memory.size:
            self._memory = np.frombuffer(mmap.mmap(-1, count), np.uint8)
        host = self._memory[:count].view(dtype).reshape(part)
        with jax.enable_x64(True):
            shards = [jax.device_put(host, device) for device in sharding.addressable_devices]
            return jax.make_array_from_single_device_arrays(shape, sharding, shards)

    def tensor(self, like: torch.Tensor, sharding: NamedSharding) -> torch.Tensor:
        """A device tensor that replaces one on "meta"."""
        return from_jax(self.array(tuple(like.shape), numpy_dtype(like.dtype), sharding))

    def place(self, step: Any, arguments: Any, rules: Rules, batch: PartitionSpec) -> Any:
        """Lay out the state that a step reaches: modules by the rules, optimizer state like its parameters.

        Returns:
            The arguments, split by `batch` as far as they have its dimensions.

        Raises:
            ValueError: a spec does not fit; or a tensor on "meta" belongs to no module.
        """
        graph = reach(function=step)
        for module in _outermost(graph):
            for name, tensor, owner in named_tensors(module):
                if tensor.device.type == "meta":
                    spec = spec_of(rules, name, tensor, owner, self.mesh)
                    give_values(tensor, self.tensor(tensor, named_sharding(name, tensor.shape, spec, self.mesh)))
        for path, tensor in graph.reached.tensors.values():
            if tensor.device.type == "meta":
                raise ValueError(f"tenax.distributed.plan: {path} is on the device 'meta', and belongs to no module")
        self._make_optimizer_state(step)
        return pytree.tree_map_only(torch.Tensor, lambda tensor: self._argument(tensor, batch), arguments)

    def _argument(self, tensor: torch.Tensor, batch: PartitionSpec) -> torch.Tensor:
        if tensor.device.type != "meta":
            raise ValueError(
                f"tenax.distributed.plan: an argument of shape {[*tensor.shape]} is on {tensor.device}; expected the "
                "device 'meta', which is the default one within the function that builds the step"
            )
        spec = PartitionSpec(*[*batch][: tensor.dim()])
        return self.tensor(tensor, named_sharding("an argument", tensor.shape, spec, self.mesh))

    def _make_optimizer_state(self, step: Any) -> None:
        OptimizerStateInit(reach(function=step))
        counts: dict[int, tuple[Any, jax.Array]] = {}  # step counts on one array stay on one
        for _, optimizer in reach(function=step).reached.optimizers.values():
            for state in optimizer.state.values():
                for tensor in filter(_is_on_device, state.values()):
                    cell = cell_of(tensor)
                    if cell.content.__class__ is LazyFill or cell.aval.sharding is None:
                        sharding = cell.aval.sharding or NamedSharding(self.mesh, PartitionSpec())
                        old, new = cell.content, self.array(cell.shape, cell.dtype, sharding)
                        cell.write(new if cell.shape else counts.setdefault(id(old), (old, new))[1])


def bytes_of_modules(step: Any) -> int:
    """The bytes of parameters and buffers on each device."""
    tensors = {id(t): t for m in _outermost(reach(function=step)) for _, t, _ in named_tensors(m)}
    return sum(map(_shard_bytes, filter(_is_on_device, tensors.values())))


def bytes_of_optimizers(step: Any) -> int:
    """The bytes of optimizer state on each device."""
    states = [s for _, o in reach(function=step).reached.optimizers.values() for s in o.state.values()]
    return sum(_shard_bytes(t) for state in states for t in filter(_is_on_device, state.values()))


def _is_on_device(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == "jax"


def _shard_bytes(tensor: torch.Tensor) -> int:
    cell = cell_of(tensor)
    part = cell.aval.sharding.shard_shape(cell.shape) if cell.aval.sharding else cell.shape
    return int(np.prod(part)) * cell.dtype.itemsize


def _outermost(graph: StateGraph) -> Iterator[nn.Module]:
    """The modules of a step that are not parts of other modules."""
    modules = [module for _, module in graph.reached.modules.values()]
    inner = {id(child) for module in modules for child in module.modules() if child is not module}
    return (module for module in modules if id(module) not in inner)
