"""`Mesh` of `torch_xla.distributed.spmd`: a grid of device numbers with named axes."""

from __future__ import annotations

import ast
import math
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
import torch

from ...sharding.current import automatic
from ...sharding.rules import named_sharding
from ...storage.ordinals import NAME
from .process import take_environment
from .settings import mode


class LogicalMesh:
    """A grid of device numbers with named axes."""

    def __init__(self, device_ids: Any, mesh_shape: Sequence[int], axis_names: Sequence[str] | None = None) -> None:
        """Create a grid.

        Args:
            device_ids: the device numbers, in row-major order of the grid.
            mesh_shape: the sizes of the grid, whose product is the number of devices.
            axis_names: one name per axis; without names, axes are known by their numbers.

        Raises:
            ValueError: the arguments do not match each other or the devices.
        """
        self.device_ids = np.asarray(device_ids).reshape(-1)
        self.mesh_shape = tuple(mesh_shape)
        self.axis_names = None if axis_names is None else tuple(axis_names)
        self._names = self.axis_names or tuple(map(str, range(len(mesh_shape))))  # of the JAX mesh
        if len(self._names) != len(self.mesh_shape) or len({*self._names}) != len(self._names):
            raise ValueError(
                f"Mesh: axis_names {self.axis_names} of mesh_shape {self.mesh_shape}; expected a name each"
            )
        if (
            math.prod(self.mesh_shape) != self.device_ids.size
            or len({*self.device_ids.tolist()}) != self.device_ids.size
        ):
            raise ValueError(f"Mesh: device_ids {self.device_ids} of mesh_shape {self.mesh_shape}; expected each once")
        take_environment()
        known = jax.devices()
        if self.device_ids.size and not 0 <= int(self.device_ids.min()) <= int(self.device_ids.max()) < len(known):
            raise ValueError(f"Mesh: device_ids {self.device_ids}; there are {len(known)} devices")

    def __str__(self) -> str:
        """A string from which `from_str` creates an equal mesh."""
        ids = self.device_ids.tolist()
        return str({"device_ids": ids, "mesh_shape": self.mesh_shape, "axis_names": self.axis_names})

    @classmethod
    def from_str(cls, mesh_str: str) -> LogicalMesh | None:
        """The mesh of a string from `str(mesh)`; None for other strings."""
        try:
            return LogicalMesh(**ast.literal_eval(mesh_str))
        except (ValueError, SyntaxError, TypeError):
            return None

    def size(self) -> int:
        """The number of devices."""
        return math.prod(self.mesh_shape)

    def shape(self) -> OrderedDict[str | int, int]:
        """The sizes by the names of their axes, or by their numbers."""
        return OrderedDict(zip(self.axis_names or range(len(self.mesh_shape)), self.mesh_shape, strict=True))

    def get_logical_mesh(self) -> np.ndarray:
        """The device numbers as a grid."""
        return self.device_ids.reshape(self.mesh_shape)

    def get_axis_name_idx(self, name: str) -> int | None:
        """The index of an axis; None if there is no such axis."""
        return self._names.index(name) if self.axis_names and name in self._names else None

    def get_jax_mesh(self) -> jax.sharding.Mesh:
        """The mesh as a JAX mesh."""
        devices = jax.devices()
        grid = np.array([devices[i] for i in self.device_ids.tolist()]).reshape(self.mesh_shape)
        return jax.sharding.Mesh(grid, self._names)

    def partition_spec(self, spec: Sequence[Any]) -> jax.sharding.PartitionSpec:
        """JAX's form of a partition spec, whose entries are axes by name or number, tuples of these, or None."""

        def name(axis: Any) -> Any:
            if isinstance(axis, tuple | list):
                return tuple(map(name, axis))
            return self._names[axis] if isinstance(axis, int) else axis

        return jax.sharding.PartitionSpec(*map(name, spec))

    def sharding(self, spec: Sequence[Any]) -> jax.sharding.NamedSharding:
        """JAX's sharding for a partition spec."""
        return jax.sharding.NamedSharding(self.get_jax_mesh(), self.partition_spec(spec))

    def fitted(self, where: str, t: torch.Tensor, partition_spec: Sequence[Any]) -> jax.sharding.NamedSharding:
        """JAX's sharding of a device tensor by a partition spec.

        Raises:
            ValueError: the tensor is on another device, or the spec does not fit it or the mesh.
        """
        if t.device.type not in (NAME, "meta"):
            raise ValueError(f"{where}: a tensor on {t.device}; expected one on the device: t.to('xla')")
        spec = self.partition_spec(partition_spec)
        if len(spec) != t.dim():
            raise ValueError(f"{where}: partition_spec {tuple(partition_spec)} of a tensor of shape {[*t.shape]}")
        try:
            return named_sharding("a tensor", t.shape, spec, automatic(self.get_jax_mesh()))
        except ValueError as error:
            raise ValueError(str(error).replace("tenax.shard", where, 1)) from None


Mesh = LogicalMesh


class HybridMesh(LogicalMesh):
    """A mesh whose axis sizes are products of sizes within slices (`ici`) and across slices (`dcn`)."""

    def __init__(
        self,
        *,
        ici_mesh_shape: Sequence[int],
        dcn_mesh_shape: Sequence[int] | None = None,
        axis_names: Sequence[str] | None = None,
    ) -> None:
        self.ici_mesh_shape = tuple(ici_mesh_shape)
        self.dcn_mesh_shape = tuple(dcn_mesh_shape or (1,) * len(self.ici_mesh_shape))
        sizes = [a * b for a, b in zip(self.ici_mesh_shape, self.dcn_mesh_shape, strict=True)]
        # Devices are numbered slice by slice: a grid of slices, each of which is a grid of devices.
        n = len(sizes)
        grid = np.arange(math.prod(sizes)).reshape(*self.dcn_mesh_shape, *self.ici_mesh_shape)
        order = [d for pair in zip(range(n), range(n, 2 * n), strict=True) for d in pair]
        super().__init__(grid.transpose(order).reshape(-1), sizes, axis_names)


def set_global_mesh(mesh: LogicalMesh) -> None:
    """Set the mesh of the program."""
    mode.mesh = mesh


def get_global_mesh() -> LogicalMesh | None:
    """The mesh of the program; None if none was set."""
    return mode.mesh


def chosen_mesh(mesh: LogicalMesh | None) -> LogicalMesh:
    """The given mesh, or that of the program.

    Raises:
        ValueError: there is none.
    """
    mesh = mesh or get_global_mesh()
    if mesh is None:
        raise ValueError("there is no mesh; expected one as an argument, or xs.set_global_mesh(mesh)")
    return mesh


def get_1d_mesh(axis_name: str | None = None) -> LogicalMesh:
    """A mesh of all devices along one axis."""
    take_environment()
    n = jax.device_count()
    return LogicalMesh(np.arange(n), (n,), None if axis_name is None else (axis_name,))
