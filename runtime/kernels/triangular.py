"""Linear systems with a triangular matrix, over broadcast batches."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from tenax.words import Array


def broadcast_batch(*matrices: Array) -> list[Array]:
    """Matrices `(*batch, m, n)` with their batches broadcast to each other."""
    batch = jnp.broadcast_shapes(*(x.shape[:-2] for x in matrices))
    return [jnp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in matrices]


def adjoint_of(x: Array) -> Array:
    """The conjugate transpose; unlike `x.mH` it works for tracers."""
    return jnp.conj(x.mT)


def solve(a: Array, b: Array, *, lower: bool, left: bool = True, unit: bool = False, adjoint: bool = False) -> Array:
    """X of `op(a) X = b`, or of `X op(a) = b`, where op is the adjoint or nothing; batches broadcast."""
    a, b = broadcast_batch(a, b)
    if b.size == 0:
        return b
    return lax.linalg.triangular_solve(
        a, b, left_side=left, lower=lower, unit_diagonal=unit, transpose_a=adjoint, conjugate_a=adjoint
    )


def linalg_solve_triangular(
    self: Array, B: Array, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Array:
    """X of `self X = B` (`X self = B` when not `left`)."""
    return solve(self, B, lower=not upper, left=left, unit=unitriangular)


def triangular_solve(
    self: Array, A: Array, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Array, Array]:
    """(X of `A X = self`, A with its batch broadcast); `transpose` does not conjugate."""
    a, b = broadcast_batch(A, self)
    matrix, lower = (a.mT, upper) if transpose else (a, not upper)
    return solve(matrix, b, lower=lower, unit=unitriangular), a
