"""Collectives as programs: one jitted `shard_map` over the devices of a group per kind, shapes and dtypes.

Every rank passes its arrays as its shards of global arrays, which concatenate those of all ranks along the first axis.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from .errors import describe
from .reductions import AXIS, Ranks, broadcast, reduce, reduce_scatter

Arrays = list[jax.Array]


def _all_reduce(xs: Arrays, ranks: Ranks, op: str, factor: float | None = None) -> Arrays:
    return [reduce(x, op, ranks, factor) for x in xs]


def _reduce(xs: Arrays, ranks: Ranks, op: str, root: int, factor: float | None = None) -> Arrays:
    here = ranks.rank() == root
    return [jnp.where(here, reduce(x, op, ranks, factor), x) for x in xs]


def _broadcast(xs: Arrays, ranks: Ranks, root: int) -> Arrays:
    return [broadcast(x, root, ranks) for x in xs]


def _all_gather(xs: Arrays, ranks: Ranks) -> Arrays:
    return [lax.all_gather(x, ranks.axis, tiled=True) for x in xs]


def _all_gather_list(xs: Arrays, ranks: Ranks) -> Arrays:
    return [row for x in xs for row in lax.all_gather(x, ranks.axis)]


def _reduce_scatter(xs: Arrays, ranks: Ranks, op: str, factor: float | None = None) -> Arrays:
    return [reduce_scatter(x.reshape(ranks.size, -1), op, ranks, factor) for x in xs]


def _all_to_all(xs: Arrays, ranks: Ranks) -> Arrays:
    return [lax.all_to_all(x.reshape(ranks.size, -1), ranks.axis, 0, 0, tiled=True) for x in xs]


def _scatter(xs: Arrays, ranks: Ranks, root: int) -> Arrays:
    return [row[root] for row in _all_to_all(xs, ranks)]


def _permute(xs: Arrays, ranks: Ranks, pairs: Sequence[tuple[int, int]]) -> Arrays:
    return [lax.ppermute(x, ranks.axis, pairs) for x in xs]


def _send(xs: Arrays, ranks: Ranks, source: int) -> Arrays:
    return [lax.ppermute(x, ranks.axis, [(source, 1 - source)]) for x in xs]


BODIES: dict[str, Callable[..., Arrays]] = {
    "all_reduce": _all_reduce,
    "reduce": _reduce,
    "broadcast": _broadcast,
    "all_gather": _all_gather,
    "all_gather_list": _all_gather_list,
    "gather": _all_gather_list,
    "reduce_scatter": _reduce_scatter,
    "all_to_all": _all_to_all,
    "scatter": _scatter,
    "send": _send,
    "permute": _permute,
    "barrier": _all_reduce,
}


class Program(NamedTuple):
    """A collective for given shapes and dtypes."""

    run: Callable[[Arrays], Arrays]
    description: str


class Programs:
    """The collectives over an ordered set of devices, one per rank."""

    def __init__(self, devices: Sequence[jax.Device]) -> None:
        self.size = len(devices)
        self.ranks = Ranks(AXIS, self.size, functools.partial(lax.axis_index, AXIS))
        self.sharding = NamedSharding(Mesh(np.array(devices), (AXIS,)), PartitionSpec(AXIS))
        self.found: dict[Any, Program] = {}

    def find(self, name: str, arrays: Sequence[jax.Array], **details: Any) -> tuple[Program, bool]:
        """The program of a collective, and whether it is new. The details are parameters of its body."""
        key = name, tuple(details.items()), tuple((a.shape, a.dtype) for a in arrays)
        program = self.found.get(key)
        if program is not None:
            return program, False
        run = self._build(functools.partial(BODIES[name], ranks=self.ranks, **details))
        program = self.found[key] = Program(run, describe(name, arrays, **details))
        return program, True

    def _build(self, body: Callable[..., Arrays]) -> Callable[[Arrays], Arrays]:
        def local(xs: Arrays) -> Arrays:
            with jax.enable_x64(True):
                return [jnp.atleast_1d(y) for y in body(xs)]

        sharding = self.sharding
        run = jax.jit(
            jax.shard_map(local, mesh=sharding.mesh, in_specs=sharding.spec, out_specs=sharding.spec, check_vma=False)
        )
        return lambda xs: [y.addressable_data(0) for y in run([self._globalized(x) for x in xs])]

    def _globalized(self, x: jax.Array) -> jax.Array:
        if not x.ndim:
            x = x.reshape(1)
        shape = (self.size * x.shape[0], *x.shape[1:])
        return jax.make_array_from_single_device_arrays(shape, self.sharding, [x])
