"""The LU factorisation `A = P L U`, and solving, inverting and determinants with it."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels import loops
from tenax.kernels.reduction import argmax
from tenax.kernels.triangular import adjoint_of, broadcast_batch, solve
from tenax.words import Array, Gradients, cast, is_complex, with_derivative

INT32 = np.dtype("int32")


def _diagonal(x: Array) -> Array:
    return jnp.diagonal(x, axis1=-2, axis2=-1)


def _eliminated(a: Array) -> Array:
    """L and U of `(*batch, m, n)` in one matrix, without pivoting."""
    rows = lax.iota(INT32, a.shape[-2])[:, None]
    columns = lax.iota(INT32, a.shape[-1])

    def eliminate(j: Array, a: Array) -> Array:
        row = lax.dynamic_slice_in_dim(a, j, 1, -2)
        pivot = lax.dynamic_slice_in_dim(row, j, 1, -1)
        factor = lax.dynamic_slice_in_dim(a, j, 1, -1) / pivot
        below = rows > j
        a = jnp.where(below & (columns == j), factor, a)
        return jnp.where(below & (columns > j), a - factor * row, a)

    return loops.fori_loop(jnp.int32(0), jnp.int32(min(a.shape[-2:])), eliminate, a)


def linalg_lu_factor_ex(A: Array, *, pivot: bool = True, check_errors: bool = False) -> tuple[Array, Array, Array]:
    """(L and U in one matrix, int32 row swaps from 1, int32 index from 1 of the first zero on U's diagonal, or 0)."""
    k = min(A.shape[-2:])
    pivots = jnp.broadcast_to(lax.iota(INT32, k) + 1, (*A.shape[:-2], k))
    if A.size == 0:
        return A, pivots, jnp.zeros(A.shape[:-2], INT32)
    if pivot:
        factors, swaps, _ = lax.linalg.lu(A)
        pivots = swaps + 1
    else:
        factors = _eliminated(A)
    zero = _diagonal(factors) == 0
    info = jnp.where(jnp.any(zero, -1), cast(argmax(zero, -1), INT32) + 1, 0)
    return factors, pivots, info


def _triangles(factors: Array) -> tuple[Array, Array]:
    m, n = factors.shape[-2:]
    k = min(m, n)
    return jnp.tril(factors[..., :k], -1) + jnp.eye(m, k, dtype=factors.dtype), jnp.triu(factors[..., :k, :])


def _permutation(pivots: Array, m: int) -> Array:
    """`p` of `A[p] = L U`, `(*batch, m)`, from the row swaps."""
    if pivots.size == 0:
        return jnp.broadcast_to(lax.iota(INT32, m), (*pivots.shape[:-1], m))
    return lax.linalg.lu_pivots_to_permutation(pivots - 1, m)


def lu_unpack(
    LU_data: Array, LU_pivots: Array, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Array, Array, Array]:
    """(P, L, U) from the result of `linalg_lu_factor_ex`; what is not requested has shape (0,)."""
    m, dtype = LU_data.shape[-2], LU_data.dtype
    p = lower = upper = jnp.zeros(0, dtype)
    if unpack_pivots:
        p = (lax.iota(INT32, m)[:, None] == _permutation(LU_pivots, m)[..., None, :]).astype(dtype)
    if unpack_data:
        lower, upper = _triangles(LU_data)
    return p, lower, upper


def linalg_lu_solve(LU: Array, pivots: Array, B: Array, *, left: bool = True, adjoint: bool = False) -> Array:
    """X of `op(A) X = B`, or `X op(A) = B`, given the factors of A; op is the adjoint or nothing. Batches broadcast."""
    if not left:
        return adjoint_of(linalg_lu_solve(LU, pivots, adjoint_of(B), adjoint=not adjoint))
    permutation = _permutation(pivots, LU.shape[-1])[..., None]
    factors, b, permutation = broadcast_batch(LU, B, permutation)
    if b.size == 0:
        return b
    if adjoint:
        x = solve(factors, solve(factors, b, lower=False, adjoint=True), lower=True, unit=True, adjoint=True)
        return jnp.take_along_axis(x, jnp.argsort(permutation, axis=-2), axis=-2)
    b = jnp.take_along_axis(b, permutation, axis=-2)
    return solve(factors, solve(factors, b, lower=True, unit=True), lower=False)


def linalg_inv_ex(A: Array, *, check_errors: bool = False) -> tuple[Array, Array]:
    """(the inverse, info as in `linalg_lu_factor_ex`)."""
    factors, pivots, info = linalg_lu_factor_ex(A)
    return linalg_lu_solve(factors, pivots, jnp.broadcast_to(jnp.eye(A.shape[-1], dtype=A.dtype), A.shape)), info


def _factors(A: Array) -> tuple[Array, Array, Array]:
    """The factors that the gradients of det and slogdet read: of A^T when A is real, of A when complex.

    Their formulas test `A.is_contiguous() and not A.is_complex()`, and then expect the factors of A^T.
    """
    return linalg_lu_factor_ex(A if is_complex(A) else A.mT)


def _sign_of_swaps(pivots: Array) -> Array:
    odd = jnp.sum(pivots != lax.iota(INT32, pivots.shape[-1]) + 1, axis=-1, dtype=INT32) % 2
    return 1 - 2 * odd


def _linalg_det(A: Array) -> tuple[Array, Array, Array]:
    """(determinant `(*batch)`, LU, pivots).

    `jnp.linalg.det` and `slogdet` do not return the factors, which torch's gradients read. The gradient of a singular
    matrix is that for a slightly different one.
    """

    def value(A: Array) -> tuple[Array, Array, Array]:
        factors, pivots, _ = _factors(A)
        return jnp.prod(_diagonal(factors), -1) * _sign_of_swaps(pivots).astype(A.dtype), factors, pivots

    def gradients(grad: Any, result: Any, A: Array) -> Gradients:
        def of_a() -> Array:
            if A.shape[-1] == 1:
                return grad[0][..., None, None]
            det, factors, pivots = value(A)  # whose factors have a derivative
            unit = jnp.eye(A.shape[-1], dtype=A.dtype)
            regular = factors + unit * jnp.where(factors == 0, cast(float(jnp.finfo(A.dtype).eps), A.dtype), 0)
            inverse = linalg_lu_solve(regular, pivots, unit * jnp.conj(det)[..., None, None], adjoint=is_complex(A))
            return grad[0][..., None, None] * inverse

        return {"A": of_a}

    return with_derivative(value, gradients, A=A)


def _linalg_slogdet(A: Array) -> tuple[Array, Array, Array, Array]:
    """(sign of the determinant, a unit complex number if complex; log of its absolute value; LU; pivots)."""
    factors, pivots, _ = _factors(A)
    diagonal = _diagonal(factors)
    sign = jnp.prod(jnp.sign(diagonal), -1) * _sign_of_swaps(pivots).astype(A.dtype)
    return sign, jnp.sum(jnp.log(jnp.abs(diagonal)), -1), factors, pivots


def _linalg_solve_ex(
    A: Array, B: Array, *, left: bool = True, check_errors: bool = False
) -> tuple[Array, Array, Array, Array]:
    """(X of `A X = B` or `X A = B`, LU, pivots, info). A `B` of shape `A.shape[:-1]` is a batch of vectors."""
    factors, pivots, info = linalg_lu_factor_ex(A)
    vectors = B.ndim == 1 or (A.ndim - 1 == B.ndim and B.shape == A.shape[:-1])
    columns = B[..., None] if vectors else B
    x = linalg_lu_solve(factors, pivots, columns, left=left)
    return (x[..., 0] if vectors else x), factors, pivots, info
