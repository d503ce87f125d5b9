"""`torchax.mesh_util`: models sharded over the devices of a mesh."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
from jax.sharding import PartitionSpec
from torch import nn

from ...sharding.initialize import initialize
from ...sharding.placing import shard

Sharder = Callable[[str, Any], PartitionSpec]


class SingleAxisSharder:
    """Shards the first dimension that one axis of a mesh divides.

    Args:
        axis_name: an axis of the mesh.
        axis_size: the size of the axis.
        replicate_unshardable: replicate a tensor without such a dimension instead of raising.
    """

    def __init__(self, axis_name: str, axis_size: int, replicate_unshardable: bool = False) -> None:
        self.axis_name, self.axis_size, self.replicate_unshardable = axis_name, axis_size, replicate_unshardable

    def __call__(self, name: str, shapedtype: Any) -> PartitionSpec:
        """The spec of a tensor of the given `shape`, with an entry for each dimension.

        Raises:
            AssertionError: no dimension can be sharded.
        """
        shape = tuple(shapedtype.shape)
        first = next((d for d, size in enumerate(shape) if size % self.axis_size == 0), None)
        if first is None and not self.replicate_unshardable:
            raise AssertionError(
                f"SingleAxisSharder: {name} of shape {shape}: no dimension is a multiple of {self.axis_size}; expected "
                "one, or replicate_unshardable=True"
            )
        return PartitionSpec(*(self.axis_name if d == first else None for d in range(len(shape))))


class Mesh:
    """A JAX mesh with a function that chooses the spec of each tensor by its name and shape."""

    @classmethod
    def fsdp_mesh(cls, axis_name: str = "fsdp") -> Mesh:
        """A mesh of all devices along one axis; tensors that it does not divide are replicated."""
        count = jax.device_count()
        return cls(jax.make_mesh((count,), (axis_name,)), SingleAxisSharder(axis_name, count, True))

    def __init__(self, jax_mesh: jax.sharding.Mesh, sharder: Sharder | None = None) -> None:
        """Without a sharder the mesh must have one axis, for which a `SingleAxisSharder` is used."""
        if sharder is None:
            assert len(jax_mesh.axis_names) == 1, f"a mesh of the axes {jax_mesh.axis_names}; expected a sharder"
            sharder = SingleAxisSharder(jax_mesh.axis_names[0], jax_mesh.size)
        self.jax_mesh, self._sharder = jax_mesh, sharder

    def initialize_model_sharded(
        self,
        model_class: Callable[..., nn.Module],
        init_args: Sequence[Any],
        init_kwargs: Mapping[str, Any] | None = None,
        override_sharder: Sharder | None = None,
    ) -> nn.Module:
        """Build a model whose tensors are created in shards, so that no device holds the whole."""
        return initialize(
            lambda: model_class(*init_args, **(init_kwargs or {})), override_sharder or self._sharder, self.jax_mesh
        )

    def shard_model(self, model: nn.Module, override_sharder: Sharder | None = None) -> nn.Module:
        """Move the tensors of a model to the mesh, and return the model."""
        sharded: nn.Module = shard(model, override_sharder or self._sharder, self.jax_mesh)
        return sharded
