"""Stand-in arrays without memory of their own, which lay out a model from the "meta" device over devices.

A program is compiled for arrays with shapes, dtypes and shardings, and is never run. So all arrays are on the host and
share one mapping of memory, as large as the largest array. It is never read, so the operating system provides no pages.
Only the avals of their cells name the devices, which need not exist.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import jax
import numpy as np
import torch
from jax.sharding import PartitionSpec
from torch import nn

from .._jit.optimizer_state import OptimizerStateInit
from .._jit.state_graph import StateGraph
from .._jit.visitors import reach
from .._torch import pytree
from ..dtypes import numpy_dtype
from ..sharding.current import mesh as current_mesh
from ..sharding.placing import give_values
from ..sharding.rules import Rules, named_sharding, named_tensors, spec_of
from ..storage.avals import LazyFill, aval_of, meshes
from ..storage.cell import Cell
from ..storage.tensors import NAME, cell_of, covers_array, new_tensor
from ..trace.data_swaps import swap


class StandIns(ExitStack):
    """Lays out the state of a step over devices; when it is closed, the state is as it was."""

    def __init__(self, where: jax.sharding.Sharding, rules: Rules, batch: PartitionSpec) -> None:
        """
        Args:
            where: one device, or the replicated sharding of a mesh.
            rules: the sharding of the tensors of modules over the mesh.
            batch: that of arguments.
        """
        super().__init__()
        self.where, self.rules, self.batch = where, rules, batch
        self.mesh: Any = getattr(where, "mesh", None)
        if self.mesh is not None:
            self.enter_context(current_mesh(self.mesh))
        self._memory = np.empty(0, np.uint8)
        for name, value in (("used", False), ("devices", 1)):  # what this process computes on has no part in it
            self.callback(setattr, meshes, name, getattr(meshes, name))
            setattr(meshes, name, value)

    def place(self, step: Any, arguments: Any) -> Any:
        """Lay out the state that a step reaches: modules by the rules, optimizer state like its parameters, and what
        else is on the device on each of the devices.

        Returns:
            The arguments, split by `batch` as far as they have its dimensions.

        Raises:
            ValueError: a spec does not fit; a tensor on "meta" belongs to no module or optimizer; a tensor is on
                several devices.
        """
        graph = reach(function=step)
        for module in _outermost(graph):
            for name, tensor, owner in named_tensors(module):
                spec = PartitionSpec() if self.mesh is None else spec_of(self.rules, name, tensor, owner, self.mesh)
                self._leave_meta(tensor)
                if _is_on_device(tensor):
                    self._place(tensor, name, spec)
        for _, optimizer in graph.reached.optimizers.values():  # some make their state when they are made
            for parameter, state in optimizer.state.items():
                for tensor in state.values():
                    if self._leave_meta(tensor):
                        sharding = cell_of(parameter).aval.sharding if tensor.shape == parameter.shape else None
                        self._lay_out(cell_of(tensor), sharding or self.where, "a state of the optimizer")
        for path, tensor in graph.reached.tensors.values():
            if tensor.device.type == "meta":
                raise ValueError(
                    f"{path} is on the device 'meta', and belongs to no module or optimizer; expected it among the "
                    "arguments of the step"
                )
            if _is_on_device(tensor):
                self._lay_out(cell_of(tensor), self.where, path)
        self._make_optimizer_state(step)
        return pytree.tree_map_only(torch.Tensor, self._argument, arguments)

    def _leave_meta(self, tensor: Any) -> bool:
        """Give a tensor on "meta" a stand-in for its memory; false for what is not one."""
        if not isinstance(tensor, torch.Tensor) or tensor.device.type != "meta":
            return False
        made = self._stand_in(tensor)
        give_values(tensor, made)
        self.callback(swap, tensor, made)
        return True

    def _place(self, tensor: torch.Tensor, name: str, spec: PartitionSpec) -> None:
        """Lay out a tensor of the device by a spec; a part of an array is on each of the devices."""
        cell, where = cell_of(tensor), self.where
        if self.mesh is not None and covers_array(tensor, cell):
            where = named_sharding(name, tensor.shape, spec, self.mesh)
        self._lay_out(cell, where, name)

    def _argument(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.device.type not in ("meta", NAME):
            raise ValueError(
                f"an argument of shape {[*tensor.shape]} is on {tensor.device}; expected the device 'meta' or {NAME!r}"
            )
        given = tensor if _is_on_device(tensor) else self._stand_in(tensor).requires_grad_(tensor.requires_grad)
        self._place(given, "an argument", PartitionSpec(*[*self.batch][: tensor.dim()]))
        return given

    def _stand_in(self, like: torch.Tensor) -> torch.Tensor:
        return new_tensor(Cell(self._array(tuple(like.shape), numpy_dtype(like.dtype))), like.shape, like.dtype)

    def _array(self, shape: tuple[int, ...], dtype: np.dtype) -> jax.Array:
        """An array of a shape and dtype, whose values must not be read."""
        count = int(np.prod(shape)) * dtype.itemsize
        if count > self._memory.size:
            pages = mmap.mmap(-1, count, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ)  # no memory is reserved
            self._memory = np.frombuffer(pages, np.uint8)
        with jax.enable_x64(True):
            return jax.device_put(self._memory[:count].view(dtype).reshape(shape), jax.devices("cpu")[0])

    def _lay_out(self, cell: Cell, sharding: jax.sharding.Sharding, name: str) -> None:
        """Let the aval of a cell say that its array has a sharding, unless it has one."""
        if cell.aval.sharding is not None:
            if cell.aval.sharding.device_set != self.where.device_set:
                raise ValueError(f"{name} is on several devices; expected the device 'meta' or one device")
        elif sharding.num_devices > 1:
            self.callback(setattr, cell, "aval", cell.aval)
            cell.aval = aval_of(cell.shape, cell.dtype, sharding)

    def _make_optimizer_state(self, step: Any) -> None:
        optimizers = [optimizer for _, optimizer in reach(function=step).reached.optimizers.values()]
        for optimizer in optimizers:
            self.callback(optimizer.state.update, dict(optimizer.state))
            self.callback(optimizer.state.clear)
        OptimizerStateInit(reach(function=step))
        for optimizer in optimizers:
            for tensor in (t for state in optimizer.state.values() for t in state.values() if _is_on_device(t)):
                cell = cell_of(tensor)
                if cell.content.__class__ is LazyFill:
                    sharding = cell.aval.sharding or self.where
                    cell.write(self._array(cell.shape, cell.dtype))
                    self._lay_out(cell, sharding, "")
                self._lay_out(cell, self.where, "a state of the optimizer")


def bytes_of_state(step: Any) -> tuple[int, int]:
    """The bytes of parameters and buffers on each device, and those of optimizer state."""
    graph = reach(function=step)
    tensors = {id(t): t for m in _outermost(graph) for _, t, _ in named_tensors(m)}
    states = [t for _, o in graph.reached.optimizers.values() for state in o.state.values() for t in state.values()]
    weights, optimizer = (sum(map(_shard_bytes, filter(_is_on_device, found))) for found in (tensors.values(), states))
    return weights, optimizer


def _is_on_device(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == NAME


def _shard_bytes(tensor: torch.Tensor) -> int:
    cell = cell_of(tensor)
    part = cell.aval.sharding.shard_shape(cell.shape) if cell.aval.sharding else cell.shape
    return int(np.prod(part)) * cell.dtype.itemsize


def _outermost(graph: StateGraph) -> Iterator[nn.Module]:
    """The modules of a step that are not parts of other modules."""
    modules = [module for _, module in graph.reached.modules.values()]
    inner = {id(child) for module in modules for child in module.modules() if child is not module}
    return (module for module in modules if id(module) not in inner)
