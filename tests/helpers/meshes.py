"""Meshes of the eight host devices, and arrays on them, for the tests of shardings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import jax
import numpy as np
import torch
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import tenax


def mesh(kind: AxisType = AxisType.Auto) -> Mesh:
    """Eight devices as data=4 by model=2."""
    return jax.make_mesh((4, 2), ("data", "model"), axis_types=(kind, kind))


@contextmanager
def surroundings(kind: AxisType, inside: bool) -> Iterator[Mesh]:
    """A mesh, in the context of `jax.set_mesh` or not."""
    made = mesh(kind)
    with jax.set_mesh(made) if inside else nullcontext():
        yield made


def on_mesh(values: Any, spec: P, where: Mesh | None = None) -> torch.Tensor:
    """A tensor on a mesh, made by JAX alone."""
    array = np.asarray(values)
    return tenax.from_jax(jax.device_put(array, NamedSharding(where or mesh(), spec)))


def spec(x: torch.Tensor) -> P | None:
    """The spec of a tensor, without the axes at its end that are not split; None of one device."""
    sharding = tenax.sharding_of(x)
    if not isinstance(sharding, NamedSharding):
        return None
    entries = list(sharding.spec)
    while entries and entries[-1] is None:
        entries.pop()
    return P(*entries)
