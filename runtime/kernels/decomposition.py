"""Orthogonal decompositions of matrices, eigenvalues, singular values and QR, and what is computed by them."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels import loops
from tenax.kernels.factorization import adjoint_of, broadcast_batch, solve
from tenax.kernels.graft import differentiated_as, graft
from tenax.words import INT64, Array, Gradients, cast, opmath, real, real_dtype, with_derivative


def _linalg_eigh(A: Array, UPLO: str = "L", compute_v: bool = True) -> tuple[Array, Array]:
    """(ascending real eigenvalues `(*batch, n)`, eigenvectors in columns); only the triangle `UPLO` of A is read.

    `jnp.linalg.eigh` averages both triangles.
    """
    nothing = jnp.zeros(0, A.dtype)
    if A.size == 0:
        return jnp.zeros(A.shape[:-1], real_dtype(A.dtype)), A if compute_v else nothing
    half = A if UPLO.upper() == "L" else adjoint_of(A)
    lower = jnp.tril(half)
    strict = jnp.tril(lower, -1)
    diagonal = real(lower - strict).astype(A.dtype)
    # torch's derivative is that of the symmetric part.
    whole = graft(strict + diagonal + adjoint_of(strict), (half + adjoint_of(half)) / 2)
    vectors, values = lax.linalg.eigh(whole, symmetrize_input=False)
    return values, vectors if compute_v else nothing


def linalg_eig(self: Array) -> tuple[Array, Array]:
    """(complex eigenvalues, eigenvectors of norm 1 in columns); JAX has no derivative of the eigenvectors."""

    def value(A: Array) -> tuple[Array, Array]:
        values, vectors = jnp.linalg.eig(A)
        return values, vectors

    def gradients(grad: Any, result: Any, A: Array) -> Gradients:
        def of_a() -> Array:
            values, vectors = result
            adjoint, diagonal = adjoint_of(vectors), jnp.eye(A.shape[-1], dtype=bool)
            inner = adjoint @ grad[1]
            gauge = cast(real(jnp.diagonal(inner, axis1=-2, axis2=-1)), inner.dtype)[..., None, :]
            apart = jnp.conj(values[..., None, :] - values[..., :, None])
            inner = (inner - adjoint @ (vectors * gauge)) / jnp.where(diagonal, 1, apart)
            inner = jnp.where(diagonal, grad[0][..., None], inner)
            return jnp.linalg.solve(adjoint, inner @ adjoint)

        return {"A": of_a}

    return with_derivative(value, gradients, A=self)


def _linalg_svd(
    A: Array, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
) -> tuple[Array, Array, Array]:
    """(U, descending real singular values, V^H) of `(*batch, m, n)`; without `compute_uv` U and V^H are (0,)."""
    m, n = A.shape[-2:]
    nothing, k = jnp.zeros(0, A.dtype), min(m, n)
    if A.size == 0:
        rows, columns = (m, n) if full_matrices else (k, k)
        u = jnp.broadcast_to(jnp.eye(m, rows, dtype=A.dtype), (*A.shape[:-2], m, rows))
        vh = jnp.broadcast_to(jnp.eye(columns, n, dtype=A.dtype), (*A.shape[:-2], columns, n))
        s = jnp.zeros((*A.shape[:-2], k), real_dtype(A.dtype))
        return (u, s, vh) if compute_uv else (nothing, s, nothing)
    # LAPACK does not terminate for infinities.
    finite = jnp.all(jnp.isfinite(A), axis=(-2, -1))
    a = jnp.where(finite[..., None, None], A, 0)
    if not compute_uv:
        return nothing, jnp.where(finite[..., None], lax.linalg.svd(a, compute_uv=False), jnp.nan), nothing
    u, s, vh = lax.linalg.svd(a, full_matrices=full_matrices)
    held = finite[..., None, None]
    return jnp.where(held, u, jnp.nan), jnp.where(finite[..., None], s, jnp.nan), jnp.where(held, vh, jnp.nan)


def linalg_pinv(self: Array, *, atol: Array | None = None, rtol: Array | None = None, hermitian: bool = False) -> Array:
    """The Moore-Penrose inverse `(*batch, n, m)`; a singular value counts from max(atol, rtol * greatest one) on."""
    dtype = real_dtype(self.dtype)
    if self.size == 0:
        return self.mT
    default = cast(float(jnp.finfo(dtype).eps) * max(self.shape[-2:]), dtype)
    if rtol is None:
        rtol = default if atol is None else jnp.where(atol > 0, 0, default)

    def value(A: Array, atol: Array | None, rtol: Array) -> Array:
        if hermitian:
            values, right = _linalg_eigh(A)
            left = right
        else:
            left, values, adjoint = _linalg_svd(A)
            right = adjoint_of(adjoint)
        limit = cast(rtol, dtype) * jnp.max(jnp.abs(values), -1)
        limit = limit if atol is None else jnp.maximum(limit, cast(atol, dtype))
        kept = jnp.abs(values) > limit[..., None]
        inverse = jnp.where(kept, 1 / jnp.where(kept, values, 1), 0)
        return right * cast(inverse, A.dtype)[..., None, :] @ adjoint_of(left)

    def gradients(grad: Array, result: Array, A: Array, atol: Array | None, rtol: Array) -> Gradients:
        return {"A": lambda: pinv_gradient(grad, result, A)}

    return with_derivative(value, gradients, A=self, atol=atol, rtol=rtol)


def pinv_gradient(grad: Array, inverse: Array, A: Array) -> Array:
    """The gradient of A from that of its pseudoinverse (Golub and Pereyra 1973), of constant rank."""
    wide = A.shape[-2] <= A.shape[-1]
    if not wide:  # the pseudoinverse of the adjoint is the adjoint
        return adjoint_of(pinv_gradient(adjoint_of(grad), adjoint_of(inverse), adjoint_of(A)))
    adjoint, grad = adjoint_of(inverse), adjoint_of(grad)
    inner = grad @ inverse
    outer = inner @ adjoint
    return outer - adjoint_of(inverse @ inner) - (A @ inverse) @ outer + (adjoint @ inverse) @ (grad - inner @ A)


def linalg_matrix_sqrth(self: Array) -> Array:
    """The Hermitian square root of a Hermitian positive semi-definite matrix; only its lower triangle is read.

    `jax.scipy.linalg.sqrtm` returns complex roots of real matrices, and does not support batches.
    """
    values, vectors = _linalg_eigh(self)
    roots = jnp.sqrt(jnp.maximum(values, cast(0, values.dtype)))
    return vectors * cast(roots, self.dtype)[..., None, :] @ adjoint_of(vectors)


def linalg_polar(A: Array) -> tuple[Array, Array]:
    """A = U H of `(*batch, m, n)`, m >= n, by SVD; H is Hermitian and positive semi-definite.

    `jax.scipy.linalg.polar(A, method="svd")` is the same without the check of `_linalg_svd` for infinities.
    """
    u, s, vh = _linalg_svd(A)
    return u @ vh, adjoint_of(vh) * cast(s, A.dtype)[..., None, :] @ vh


def linalg_matrix_exp(self: Array) -> Array:
    """The matrix exponential, by scaling, squaring and Padé approximants (Higham 2005).

    `jax.scipy.linalg.expm` supports float32 and wider, and raises TypeError for bfloat16.
    """
    if self.size == 0:
        return self
    x = cast(self, opmath(self.dtype))
    return cast(jnp.exp(x) if self.shape[-1] == 1 else loops.expm(x), self.dtype)


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

    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise ValueError(f"linalg_lstsq: driver={driver!r}; expected gels, gelsy, gelsd or gelss")

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
