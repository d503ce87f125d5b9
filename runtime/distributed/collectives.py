"""Collectives as functions of JAX arrays over a named axis, and as programs.

A program is one jitted `shard_map` over the devices of a group per kind, shapes and dtypes. Every rank passes its
arrays as its shards of global arrays, which concatenate those of all ranks along the first axis.
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

from ..kernels.bitcast import bitcast

AXIS = "ranks"
Arrays = list[jax.Array]


class Ranks(NamedTuple):
    """The ranks of a collective, as an axis of the mesh over which a program runs."""

    axis: str
    size: int
    rank: Callable[[], Any]  # the rank of this device


# Binary functions for reductions without a collective in XLA.
_COMBINE: dict[str, Callable[[jax.Array, jax.Array], jax.Array]] = {
    "SUM": lax.add,
    "PRODUCT": lax.mul,
    "MIN": lax.min,
    "MAX": lax.max,
    "BAND": lax.bitwise_and,
    "BOR": lax.bitwise_or,
    "BXOR": lax.bitwise_xor,
}
# As in NCCL, a sum of bools is true if any of them is.
_OF_BOOL = {"SUM": "BOR", "MAX": "BOR", "PRODUCT": "BAND", "MIN": "BAND", "BAND": "BAND", "BOR": "BOR", "BXOR": "BXOR"}
_COLLECTIVES: dict[str, Callable[..., Any]] = {"SUM": lax.psum, "MIN": lax.pmin, "MAX": lax.pmax}


def check(op: str, dtype: Any) -> None:
    """Raise if a reduction does not exist for a dtype.

    Raises:
        RuntimeError: as torch does.
    """
    inexact = jnp.issubdtype(dtype, jnp.inexact)
    if op in ("MIN", "MAX") and jnp.issubdtype(dtype, jnp.complexfloating):
        raise RuntimeError(f"all_reduce does not support {op} on complex tensors")
    if op in ("BAND", "BOR", "BXOR") and inexact:
        raise RuntimeError(f"Cannot use ReduceOp.{op} with non-integral dtype {dtype}")
    if op in ("AVG", "PREMUL_SUM") and dtype == jnp.bool_:
        raise RuntimeError(f"Cannot use ReduceOp.{op} with Boolean inputs")


def _average(total: jax.Array, size: int) -> jax.Array:
    if jnp.issubdtype(total.dtype, jnp.inexact):
        return total / jnp.asarray(size, total.dtype)
    return lax.div(total, jnp.asarray(size, total.dtype))


def _reduce(x: jax.Array, ranks: Ranks, op: str, factor: float | None = None) -> jax.Array:
    """The reduction of an array over all ranks."""
    if op == "AVG":
        return _average(lax.psum(x, ranks.axis), ranks.size)
    if op == "PREMUL_SUM":
        return lax.psum(x * jnp.asarray(factor, x.dtype), ranks.axis)
    if op in _COLLECTIVES and x.dtype != jnp.bool_:
        return _COLLECTIVES[op](x, ranks.axis)
    return _fold(lax.all_gather(x, ranks.axis), op)


def _reduce_at_root(x: jax.Array, ranks: Ranks, op: str, root: int, factor: float | None = None) -> jax.Array:
    return jnp.where(ranks.rank() == root, _reduce(x, ranks, op, factor), x)


def _fold(rows: jax.Array, op: str) -> jax.Array:
    """Reduce the first axis, in the order of ranks."""
    return functools.reduce(_COMBINE[_OF_BOOL[op] if rows.dtype == jnp.bool_ else op], list(rows))


def _reduce_scatter(x: jax.Array, ranks: Ranks, op: str, factor: float | None = None) -> jax.Array:
    """This rank's row of the reduction of `x`, which has one row per rank."""
    rows = x.reshape(ranks.size, -1)
    if op == "PREMUL_SUM":
        rows, op = rows * jnp.asarray(factor, rows.dtype), "SUM"
    if op in ("SUM", "AVG") and rows.dtype != jnp.bool_:
        total = lax.psum_scatter(rows, ranks.axis, scatter_dimension=0, tiled=False)
        return _average(total, ranks.size) if op == "AVG" else total
    return _fold(_all_to_all(rows, ranks), op)


def _broadcast(x: jax.Array, ranks: Ranks, root: int) -> jax.Array:
    """The array of one rank, bit for bit, as the sum of its bits and of zeros from the other ranks."""
    bits = bitcast(x, jnp.dtype(f"uint{8 * _part(x.dtype).itemsize}"))
    bits = lax.psum(jnp.where(ranks.rank() == root, bits, jnp.zeros_like(bits)), ranks.axis)
    return bitcast(bits, x.dtype)


def _part(dtype: Any) -> Any:
    """The real dtype of the parts of a complex dtype; other dtypes are returned unchanged."""
    return jnp.dtype(f"float{dtype.itemsize * 4}") if jnp.issubdtype(dtype, jnp.complexfloating) else dtype


def _all_gather(x: jax.Array, ranks: Ranks) -> jax.Array:
    return lax.all_gather(x, ranks.axis, tiled=True)


def _all_gather_list(xs: Arrays, ranks: Ranks) -> Arrays:
    return [row for x in xs for row in lax.all_gather(x, ranks.axis)]


def _all_to_all(x: jax.Array, ranks: Ranks) -> jax.Array:
    return lax.all_to_all(x.reshape(ranks.size, -1), ranks.axis, 0, 0, tiled=True)


def _scatter(x: jax.Array, ranks: Ranks, root: int) -> jax.Array:
    return _all_to_all(x, ranks)[root]


def _permute(x: jax.Array, ranks: Ranks, pairs: Sequence[tuple[int, int]]) -> jax.Array:
    return lax.ppermute(x, ranks.axis, pairs)


def _send(x: jax.Array, ranks: Ranks, source: int) -> jax.Array:
    return _permute(x, ranks, [(source, 1 - source)])


def _each(body: Callable[..., jax.Array]) -> Callable[..., Arrays]:
    return lambda xs, **details: [body(x, **details) for x in xs]


BODIES: dict[str, Callable[..., Arrays]] = {
    "all_reduce": _each(_reduce),
    "reduce": _each(_reduce_at_root),
    "broadcast": _each(_broadcast),
    "all_gather": _each(_all_gather),
    "all_gather_list": _all_gather_list,
    "gather": _all_gather_list,
    "reduce_scatter": _each(_reduce_scatter),
    "all_to_all": _each(_all_to_all),
    "scatter": _each(_scatter),
    "send": _each(_send),
    "permute": _each(_permute),
    "barrier": _each(_reduce),
}


def describe(name: str, arrays: Sequence[Any], **details: Any) -> str:
    """Describe a collective, such as `all_reduce(op=SUM) of float32[4], int64[2, 3]`."""
    shown = ", ".join(f"{key}={value}" for key, value in details.items() if value is not None)
    shapes = ", ".join(f"{a.dtype.name}{list(a.shape)}" for a in arrays[:8])
    more = f", and {len(arrays) - 8} more" if len(arrays) > 8 else ""
    return f"{name}({shown}) of {shapes}{more}"


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
        new = key not in self.found
        if new:
            run = self._build(functools.partial(BODIES[name], ranks=self.ranks, **details))
            self.found[key] = Program(run, describe(name, arrays, **details))
        return self.found[key], new

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
