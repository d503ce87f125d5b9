"""`torch_xla.experimental.spmd_fully_sharded_data_parallel`: FSDP over the axis `fsdp` of a mesh."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from ...sharding import fsdp
from ...sharding.placing import shard
from .meshes import LogicalMesh, get_global_mesh
from .sharding import mark_sharding
from .wrap import Policy, recursive_wrap, refuse_module


class SpmdFullyShardedDataParallel(nn.Module):
    """A module whose parameters are sharded over the axis `fsdp` of a mesh, as are its outputs by batch."""

    def __init__(
        self,
        module: nn.Module,
        mesh: LogicalMesh | None = None,
        shard_output: Callable[[Any, LogicalMesh], None] | None = None,
        auto_wrap_policy: Policy | None = None,
        auto_wrapper_callable: Callable[..., nn.Module] | None = None,
        extra_data_axis: str | None = None,
    ) -> None:
        """Shard a module.

        Args:
            module: its parameters are sharded in place.
            mesh: a mesh with an axis "fsdp"; by default that of `xs.set_global_mesh`.
            shard_output: shards the output; by default a tensor, or the first of a tuple, is split by batch.
            auto_wrap_policy: selects submodules whose outputs are sharded too; see `torch_xla.distributed.fsdp.wrap`.
            auto_wrapper_callable: wraps these submodules, with the options of this module; by default, this class.
            extra_data_axis: another axis of the mesh that splits the batch.

        Raises:
            RuntimeError: the module is already sharded, or has no `forward`.
            ValueError: there is no mesh with an axis "fsdp", or none with the extra axis.
        """
        refuse_module(module, SpmdFullyShardedDataParallel)
        super().__init__()
        chosen = mesh or get_global_mesh()
        if chosen is None or chosen.get_axis_name_idx("fsdp") is None:
            raise ValueError("SpmdFullyShardedDataParallel: expected a mesh with an axis named 'fsdp'")
        if extra_data_axis is not None and chosen.get_axis_name_idx(extra_data_axis) is None:
            raise ValueError(
                f"SpmdFullyShardedDataParallel: extra_data_axis={extra_data_axis!r}; expected an axis of the mesh, "
                f"{chosen.axis_names}"
            )
        self._mesh = chosen
        batch = "fsdp" if extra_data_axis is None else (extra_data_axis, "fsdp")
        self._shard_output = shard_output or functools.partial(_by_batch, axes=batch)
        if auto_wrap_policy is not None:
            maker = auto_wrapper_callable or SpmdFullyShardedDataParallel
            options: dict[str, Any] = {"mesh": chosen, "shard_output": shard_output}
            if extra_data_axis is not None:
                options["extra_data_axis"] = extra_data_axis
            recursive_wrap(module, auto_wrap_policy, maker, only_wrap_children=True, **options)
        self._orig_module = shard(module, fsdp("fsdp", least=1), chosen.get_jax_mesh())

    @property
    def module(self) -> nn.Module:
        """The module itself."""
        return self._orig_module

    def __getattr__(self, name: str) -> Any:
        """Attributes of the module."""
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("_orig_module"), name)

    def __getitem__(self, key: Any) -> Any:
        """Items of the module, if it is a sequence."""
        inner: Any = self._orig_module
        return inner[key]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module and shard its output."""
        output = self._orig_module(*args, **kwargs)
        self._shard_output(output, self._mesh)
        return output


def _by_batch(output: Any, mesh: LogicalMesh, axes: str | tuple[str, ...]) -> None:
    first = output[0] if isinstance(output, tuple) else output
    if not isinstance(first, torch.Tensor):
        raise ValueError(
            f"SpmdFullyShardedDataParallel: an output of type {type(output).__name__}; expected a tensor, a tuple, or "
            "shard_output"
        )
    parts = math.prod(mesh.shape()[axis] for axis in ([axes] if isinstance(axes, str) else axes))
    if first.dim() and first.shape[0] % parts == 0:
        mark_sharding(first, mesh, (axes, *[None] * (first.dim() - 1)))
