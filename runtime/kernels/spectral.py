"""Eigenvalues, singular values and the exponential of matrices."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from tenax._jax import lower_svd_without_64_bit_types
from tenax.kernels import loops
from tenax.kernels.factorization import adjoint_of
from tenax.kernels.graft import graft
from tenax.platforms import platform
from tenax.words import Array, Gradients, cast, opmath, real, real_dtype, with_derivative


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
    if platform() == "tpu":
        lower_svd_without_64_bit_types()
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
