"""`torch_xla.experimental.spmd_fully_sharded_data_parallel`: FSDP over the axis `fsdp` of a mesh."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn

from ....sharding import fsdp
from ....sharding.placing import shard
from ..distributed.fsdp.wrap import recursive_wrap
from ..distributed.spmd.meshes import LogicalMesh, get_global_mesh
from ..distributed.spmd.xla_sharding import mark_sharding


class SpmdFullyShardedDataParallel(nn.Module):
    """A module whose parameters are sharded over the axis `fsdp` of a mesh, as are its outputs by batch."""

    def __init__(
        self,
        module: nn.Module,
        mesh: LogicalMesh | None = None,
        shard_output: Callable[[Any, LogicalMesh], None] | None = None,
        auto_wrap_policy: Any = None,
        auto_wrapper_callable: Callable[..., nn.Module] | None = None,
        extra_data_axis: str | None = None,
        **kwargs: Any,
    ) -> None:
        """Shard a module.

        Args:
            module: its parameters are sharded in place.
            mesh: a mesh with an axis "fsdp"; by default that of `xs.set_global_mesh`.
            shard_output: shards the output; by default a tensor, or the first of a tuple, is split by batch.
            auto_wrap_policy: selects submodules that become such modules themselves, whose outputs are sharded as well;
                see `torch_xla.distributed.fsdp.wrap`. Each parameter is sharded by itself in any case.
            auto_wrapper_callable: makes them, with `mesh` and the next arguments; by default, this class.
            extra_data_axis: a further axis of the mesh over which outputs are split by batch.
            kwargs: further arguments of `auto_wrapper_callable`.

        Raises:
            ValueError: there is no mesh with an axis "fsdp" and the extra axis.
            RuntimeError: the module is of this class.
        """
        super().__init__()
        chosen = mesh or get_global_mesh()
        if chosen is None or "fsdp" not in chosen.axis_names:
            raise ValueError("SpmdFullyShardedDataParallel: expected a mesh with an axis named 'fsdp'")
        if extra_data_axis is not None and extra_data_axis not in chosen.axis_names:
            raise ValueError(
                f"SpmdFullyShardedDataParallel: The provided {extra_data_axis} axis is not in the mesh, which has "
                f"{', '.join(chosen.axis_names)}"
            )
        if isinstance(module, SpmdFullyShardedDataParallel):
            raise RuntimeError(
                "Cannot wrap a module that is already wrapped with FSDP; expected the inner modules first"
            )
        if auto_wrap_policy is not None:
            options = {"mesh": chosen, "shard_output": shard_output, "extra_data_axis": extra_data_axis, **kwargs}
            maker = auto_wrapper_callable or SpmdFullyShardedDataParallel
            recursive_wrap(module, auto_wrap_policy, maker, only_wrap_children=True, **options)
        self._mesh = chosen
        axes = "fsdp" if extra_data_axis is None else (extra_data_axis, "fsdp")
        self._shard_output = shard_output or partial(_by_batch, axes=axes)
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
        return self.module[key]  # type: ignore[index]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module and shard its output."""
        output = self._orig_module(*args, **kwargs)
        self._shard_output(output, self._mesh)
        return output


def _by_batch(output: Any, mesh: LogicalMesh, axes: Any) -> None:
    first = output[0] if isinstance(output, tuple) else output
    if not isinstance(first, torch.Tensor):
        raise ValueError(
            f"SpmdFullyShardedDataParallel: an output of type {type(output).__name__}; expected a tensor, a tuple, or "
            "shard_output"
        )
    parts = math.prod(mesh.shape()[axis] for axis in ([axes] if isinstance(axes, str) else axes))
    if first.shape[0] % parts == 0:
        mark_sharding(first, mesh, (axes, *[None] * (first.dim() - 1)))
