"""`torch_xla.experimental.spmd_fully_sharded_data_parallel`: FSDP over the axis `fsdp` of a mesh."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from ....sharding import fsdp
from ....sharding.placing import shard
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
        auto_wrapper_callable: Any = None,
        **kwargs: Any,
    ) -> None:
        """Shard a module.

        Args:
            module: its parameters are sharded in place.
            mesh: a mesh with an axis "fsdp"; by default that of `xs.set_global_mesh`.
            shard_output: shards the output; by default a tensor, or the first of a tuple, is split by batch.
            auto_wrap_policy: ignored, because each parameter is sharded by itself.
            auto_wrapper_callable: ignored.
            kwargs: ignored.

        Raises:
            ValueError: there is no mesh with an axis "fsdp".
        """
        super().__init__()
        chosen = mesh or get_global_mesh()
        if chosen is None or "fsdp" not in chosen.axis_names:
            raise ValueError("SpmdFullyShardedDataParallel: expected a mesh with an axis named 'fsdp'")
        self._mesh = chosen
        self._shard_output = shard_output or _by_batch
        self._orig_module = shard(module, fsdp("fsdp", least=1), chosen.get_jax_mesh())

    @property
    def module(self) -> nn.Module:
        """The module itself."""
        return self._orig_module

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module and shard its output."""
        output = self._orig_module(*args, **kwargs)
        self._shard_output(output, self._mesh)
        return output


def _by_batch(output: Any, mesh: LogicalMesh) -> None:
    first = output[0] if isinstance(output, tuple) else output
    if not isinstance(first, torch.Tensor):
        raise ValueError(
            f"SpmdFullyShardedDataParallel: an output of type {type(output).__name__}; expected a tensor, a tuple, or "
            "shard_output"
        )
    if first.shape[0] % mesh.shape()["fsdp"] == 0:
        mark_sharding(first, mesh, ("fsdp", *[None] * (first.dim() - 1)))
