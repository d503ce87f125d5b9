"""Cholesky factorisation, and solving with the factor."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels import loops
from tenax.kernels.graft import graft
from tenax.kernels.triangular import adjoint_of, solve
from tenax.words import Array, Gradients, with_derivative

INT32 = np.dtype("int32")


def _first_failure(a: Array) -> Array:
    """The order of the first leading minor of `(*batch, n, n)` that is not positive, as LAPACK's `info`.

    If all are positive, the factorisation failed through rounding that this elimination does not share; the result is
    then the order whose pivot is the smallest relative to its diagonal element.
    """
    n = a.shape[-1]
    rows = lax.iota(INT32, n)
    diagonal = jnp.real(jnp.diagonal(a, axis1=-2, axis2=-1))

    def eliminate(j: Array, state: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        a, info, least, where = state
        column = lax.dynamic_index_in_dim(a, j, -1, keepdims=False)
        pivot = lax.dynamic_index_in_dim(column, j, -1)
        fails = ~(jnp.real(pivot[..., 0]) > 0)
        part = jnp.real(pivot[..., 0]) / lax.dynamic_index_in_dim(diagonal, j, -1, keepdims=False)
        column = jnp.where(rows > j, column, jnp.zeros((), a.dtype))
        a = a - column[..., :, None] * (column / pivot).conj()[..., None, :]
        where = jnp.where(part < least, j + 1, where)
        return a, jnp.where((info == 0) & fails, j + 1, info), jnp.minimum(part, least), where

    none = jnp.zeros(a.shape[:-2], INT32)
    start = (a, none, jnp.full(a.shape[:-2], jnp.inf, diagonal.dtype), none + n)
    _, info, _, where = loops.fori_loop(jnp.int32(0), jnp.int32(n), eliminate, start)
    return jnp.where(info == 0, where, info)


def linalg_cholesky_ex(self: Array, *, upper: bool = False, check_errors: bool = False) -> tuple[Array, Array]:
    """(L of `self = L L^H`, or U of `U^H U`; int32 info `(*batch)`). A failed factor is NaN.

    The `info` of a failure is found by plain elimination, which runs only if some factorisation failed.
    """
    factor = cholesky(self, upper)
    if self.size == 0:
        return factor, jnp.zeros(self.shape[:-2], INT32)
    diagonal = jnp.real(jnp.diagonal(factor, axis1=-2, axis2=-1))
    failed = jnp.any(jnp.isnan(diagonal), -1)
    lower = lax.stop_gradient(jnp.tril(adjoint_of(self) if upper else self))
    info = lax.cond(jnp.any(failed), _first_failure, lambda a: jnp.zeros(a.shape[:-2], INT32), lower)
    return factor, jnp.where(failed, info, 0)


def cholesky(self: Array, upper: bool = False) -> Array:
    """L of `self = L L^H`, or U of `U^H U`; only that triangle of `self` is read.

    `jnp.linalg.cholesky` averages both triangles.
    """
    if self.size == 0:
        return self
    lower = adjoint_of(self) if upper else self
    symmetric = graft(lower, (lower + adjoint_of(lower)) / 2)  # the form that torch differentiates
    factor = jnp.tril(lax.linalg.cholesky(symmetric, symmetrize_input=False))
    return adjoint_of(factor) if upper else factor


def cholesky_solve(self: Array, input2: Array, upper: bool = False) -> Array:
    """X of `A X = self`, given the factor `input2` of A; batches broadcast.

    Its gradient, as torch's, is not restricted to the triangle that is read.
    """

    def value(b: Array, factor: Array) -> Array:
        between = solve(factor, b, lower=not upper, adjoint=upper)
        return solve(factor, between, lower=not upper, adjoint=not upper)

    def gradients(grad: Array, result: Array, b: Array, factor: Array) -> Gradients:
        def of_factor() -> Array:
            both = cholesky_solve(grad, factor, upper) @ adjoint_of(result)
            both += adjoint_of(both)
            return -(factor @ both if upper else both @ factor)

        return {"b": lambda: cholesky_solve(grad, factor, upper), "factor": of_factor}

    return with_derivative(value, gradients, b=self, factor=input2)
