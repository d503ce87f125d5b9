"""The QR factorisation, its Householder form, and least squares."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels import loops
from tenax.kernels.factorization import adjoint_of, broadcast_batch, solve
from tenax.kernels.graft import differentiated_as
from tenax.kernels.spectral import _linalg_svd, linalg_pinv, pinv_gradient
from tenax.words import INT64, Array, Gradients, cast, real_dtype, with_derivative


def linalg_qr(A: Array, mode: str = "reduced") -> tuple[Array, Array]:
    """(Q, R) of `(*batch, m, n)`; in mode "r" Q has shape (0,)."""
    m, n = A.shape[-2:]
    k = m if mode == "complete" else min(m, n)
    if A.size == 0:
        q, r = (
            jnp.broadcast_to(jnp.eye(m, k, dtype=A.dtype), (*A.shape[:-2], m, k)),
            jnp.zeros((*A.shape[:-2], k, n), A.dtype),
        )
    else:
        q, r = lax.linalg.qr(A, full_matrices=mode == "complete")
    return (jnp.zeros(0, A.dtype) if mode == "r" else q), r


def geqrf(self: Array) -> tuple[Array, Array]:
    """(R with the Householder vectors below it, their factors `(*batch, min(m, n))`), as in LAPACK."""
    if self.size == 0:
        return self, jnp.zeros((*self.shape[:-2], min(self.shape[-2:])), self.dtype)
    a, tau = jnp.linalg.qr(self, mode="raw")
    return a.mT, tau


def ormqr(self: Array, input2: Array, input3: Array, left: bool = True, transpose: bool = False) -> Array:
    """`op(Q) input3`, or `input3 op(Q)`, where Q has the Householder vectors `self` and factors `input2`."""
    if input3.size == 0 or input2.size == 0:
        return input3

    def value(a: Array, tau: Array, c: Array) -> Array:
        return lax.linalg.ormqr(a[..., : tau.shape[-1]], tau, c, left=left, transpose=transpose)

    def by_reflections(a: Array, tau: Array, c: Array) -> Array:
        if left:
            return _reflected(a, tau, c, transpose)
        return adjoint_of(_reflected(a, tau, adjoint_of(c), not transpose))

    return differentiated_as(by_reflections, value)(self, input2, input3)


def linalg_householder_product(input: Array, tau: Array) -> Array:
    """The first columns of Q, as many as `input` has; a reflection with factor 0 is the identity."""

    def value(a: Array, tau: Array) -> Array:
        padding = [(0, 0)] * (tau.ndim - 1) + [(0, a.shape[-1] - tau.shape[-1])]
        return lax.linalg.householder_product(a, jnp.pad(tau, padding))

    def by_reflections(a: Array, tau: Array) -> Array:
        return _reflected(a, tau, jnp.broadcast_to(jnp.eye(a.shape[-2], a.shape[-1], dtype=a.dtype), a.shape), False)

    return differentiated_as(by_reflections, value)(input, tau)


def _reflected(a: Array, tau: Array, c: Array, adjoint: bool) -> Array:
    """Q c, or Q^H c, one reflection after another: JAX has no derivative of LAPACK's functions."""
    a = a[..., : tau.shape[-1]]
    vectors = jnp.tril(a, -1) + jnp.eye(a.shape[-2], a.shape[-1], dtype=a.dtype)

    def reflect(c: Array, reflection: tuple[Array, Array]) -> tuple[Array, None]:
        vector, factor = (x[..., None] for x in reflection)
        return c - factor[..., None] * (vector @ (adjoint_of(vector) @ c)), None

    factors = jnp.conj(tau) if adjoint else tau
    stacked = jnp.moveaxis(vectors, -1, 0), jnp.moveaxis(factors, -1, 0)
    return loops.scan(reflect, c, stacked, reverse=not adjoint)[0]


def _by_qr(a: Array, b: Array) -> Array:
    """The X of minimum norm that minimizes `|a X - b|`, for `a` of full rank."""
    wide = a.shape[-1] > a.shape[-2]
    q, r = linalg_qr(adjoint_of(a) if wide else a)
    if wide:
        return jnp.matmul(q, solve(r, b, lower=False, adjoint=True))
    return solve(r, jnp.matmul(adjoint_of(q), b), lower=False)


def linalg_lstsq(
    self: Array, b: Array, rcond: Array | None = None, *, driver: str | None = None
) -> tuple[Array, Array, Array, Array]:
    """(solution, residuals, rank, singular values); what a driver does not return has shape (0,).

    All drivers except "gels" use the SVD; the default "gelsy" is a pivoted QR in LAPACK, with equal results up to
    rounding. "gelss" and "gelsd" also return residuals of rank-deficient matrices. `jnp.linalg.lstsq` does not support
    batches.
    """

    def value(a: Array, b: Array, rcond: Array | None) -> tuple[Array, Array, Array, Array]:
        return _least_squares(a, b, rcond, driver or "gelsy")

    def gradients(grad: Any, result: Any, a: Array, b: Array, rcond: Array | None) -> Gradients:
        def of_both() -> tuple[Array, Array]:
            vectors = result[0].ndim < a.ndim
            slope, x, right = (y[..., None] if vectors else y for y in (grad[0], result[0], b))
            inverse = linalg_pinv(a)
            of_a, of_b = pinv_gradient(slope @ adjoint_of(right), inverse, a), adjoint_of(inverse) @ slope
            if result[1].size:
                apart = 2 * cast(grad[1], a.dtype)[..., None, :] * (a @ x - right)
                of_a, of_b = of_a + apart @ adjoint_of(x), of_b - apart
            return of_a, of_b[..., 0] if vectors else of_b

        return {"a, b": of_both}

    return with_derivative(value, gradients, a=self, b=b, rcond=rcond)


def _least_squares(self: Array, b: Array, rcond: Any, driver: str) -> tuple[Array, Array, Array, Array]:
    m, n = self.shape[-2:]
    real, batch = real_dtype(self.dtype), self.shape[:-2]
    vectors = self.ndim - 1 == b.ndim and b.shape == self.shape[:-1]
    a, b = broadcast_batch(self, b[..., None] if vectors else b)
    rank, values = jnp.zeros(0, INT64), jnp.zeros(0, real)
    if self.size == 0 or b.size == 0:
        x = jnp.zeros((*b.shape[:-2], n, b.shape[-1]), b.dtype)
        rank = rank if driver == "gels" else jnp.zeros(batch, INT64)
        values = values if driver in ("gels", "gelsy") else jnp.zeros((*batch, min(m, n)), real)
    elif driver == "gels":
        x = _by_qr(a, b)
    else:
        u, s, vh = _linalg_svd(self)
        least = float(np.finfo(real).eps) * max(m, n) if rcond is None else cast(rcond, real)
        kept = s > least * s[..., :1]
        inverse = jnp.where(kept, 1 / s, 0)[..., None].astype(self.dtype)
        x = jnp.matmul(adjoint_of(vh), inverse * jnp.matmul(adjoint_of(u), b))
        rank = jnp.sum(kept, -1, dtype=INT64)
        values = values if driver == "gelsy" else s
    residuals = jnp.zeros(0, real)
    if m > n and driver != "gelsy":
        residuals = jnp.sum(jnp.square(jnp.abs(jnp.matmul(a, x) - b)), -2)
    return (x[..., 0] if vectors else x), residuals, rank, values
