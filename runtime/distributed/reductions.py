"""torch's reduce operations as functions of JAX arrays, over the ranks of a mesh."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from ..kernels.bitcast import bitcast

AXIS = "ranks"


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


def reduce(x: jax.Array, op: str, ranks: Ranks, factor: float | None = None) -> jax.Array:
    """The reduction of an array over all ranks."""
    if op == "AVG":
        return _average(lax.psum(x, ranks.axis), ranks.size)
    if op == "PREMUL_SUM":
        return lax.psum(x * jnp.asarray(factor, x.dtype), ranks.axis)
    if x.dtype == jnp.bool_:
        op = _OF_BOOL[op]
    if op in _COLLECTIVES:
        return _COLLECTIVES[op](x, ranks.axis)
    return fold(lax.all_gather(x, ranks.axis), op)


def fold(rows: jax.Array, op: str) -> jax.Array:
    """Reduce the first axis, in the order of ranks."""
    if rows.dtype == jnp.bool_:
        op = _OF_BOOL[op]
    return functools.reduce(_COMBINE[op], list(rows))


def reduce_scatter(rows: jax.Array, op: str, ranks: Ranks, factor: float | None = None) -> jax.Array:
    """This rank's row of the reduction of `rows`, which has one row per rank."""
    if op == "PREMUL_SUM":
        rows, op = rows * jnp.asarray(factor, rows.dtype), "SUM"
    if op in ("SUM", "AVG") and rows.dtype != jnp.bool_:
        total = lax.psum_scatter(rows, ranks.axis, scatter_dimension=0, tiled=False)
        return _average(total, ranks.size) if op == "AVG" else total
    return fold(lax.all_to_all(rows, ranks.axis, 0, 0, tiled=True), op)


def broadcast(x: jax.Array, root: int, ranks: Ranks) -> jax.Array:
    """The array of one rank, bit for bit, as the sum of its bits and of zeros from the other ranks."""
    bits = bitcast(x, jnp.dtype(f"uint{8 * _part(x.dtype).itemsize}"))
    bits = lax.psum(jnp.where(ranks.rank() == root, bits, jnp.zeros_like(bits)), ranks.axis)
    return bitcast(bits, x.dtype)


def _part(dtype: Any) -> Any:
    """The real dtype of the parts of a complex dtype; other dtypes are returned unchanged."""
    return jnp.dtype(f"float{dtype.itemsize * 4}") if jnp.issubdtype(dtype, jnp.complexfloating) else dtype
