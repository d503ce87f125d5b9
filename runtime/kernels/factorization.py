"""Factorisations of matrices and linear systems with them: triangular, Cholesky, LU, and LDL of symmetric ones.

LDL is `A = P L D L^T P^T` by Bunch and Kaufman (1977), in LAPACK's `sytrf` form."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels import loops
from tenax.kernels.graft import graft
from tenax.kernels.reduction import argmax
from tenax.words import Array, Gradients, cast, is_complex, with_derivative


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


_ALPHA = (1 + math.sqrt(17)) / 8  # minimizes the bound on element growth, ibid.


def _size(x: Array) -> Array:
    """LAPACK's measure of a complex number for pivoting."""
    return jnp.abs(x.real) + jnp.abs(x.imag) if is_complex(x) else jnp.abs(x)


def _swapped(x: Array, i: Array, j: Array) -> Array:
    """`x` with rows `i` and `j` swapped."""
    row = x[i]
    return x.at[i].set(x[j]).at[j].set(row)


def _factor(a: Array, hermitian: bool) -> tuple[Array, Array, Array]:
    """Factor one matrix `(n, n)` from its lower triangle, eliminating one column or two neighbours at a time."""
    n, zero = a.shape[0], jnp.zeros((), a.dtype)
    rows = lax.iota(INT32, n)
    conj = jnp.conj if hermitian else lambda x: x

    def choose(w: Array, k: Array) -> tuple[Array, Array, Array]:
        """(pivot row, whether two columns are eliminated, whether the column is zero)."""
        column = jnp.where(rows > k, _size(w[:, k]), -1)
        best = cast(argmax(column), INT32)
        own, most = _size(w[k, k]), jnp.maximum(column[best], 0)
        widest = jnp.max(jnp.where((rows >= k) & (rows != best), _size(w[best]), 0))
        empty = ~(jnp.maximum(own, most) > 0)
        stay = empty | (own >= _ALPHA * most) | (own >= _ALPHA * most * (most / widest))
        return jnp.where(stay, k, best), ~stay & (_size(w[best, best]) < _ALPHA * widest), empty

    def step(state: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        k, w, pivots, info = state
        row, pair, empty = choose(w, k)
        at = k + pair.astype(INT32)
        swapped = _swapped(_swapped(w, at, row).T, at, row).T
        w = jnp.where((rows >= k)[:, None] & (rows >= k), swapped, w)
        after = k + 1 + pair.astype(INT32)
        next_ = jnp.minimum(k + 1, n - 1)
        x0, x1 = jnp.where(rows >= after, w[:, k], zero), jnp.where(rows >= after, w[:, next_], zero)
        d0, d1, e = w[k, k], w[next_, next_], w[next_, k]
        det = d0 * d1 - e * conj(e)
        alone = jnp.where(empty, x0, x0 / d0)
        l0 = jnp.where(pair, (x0 * d1 - x1 * e) / det, alone)
        l1 = jnp.where(pair, (x1 * d0 - x0 * conj(e)) / det, zero)
        rest = w - l0[:, None] * conj(x0)[None, :] - l1[:, None] * conj(x1)[None, :]
        w = jnp.where((rows >= after)[:, None] & (rows >= after), rest, w)
        w = w.at[:, k].set(jnp.where(rows >= after, l0, w[:, k]))
        w = jnp.where(pair, w.at[:, next_].set(jnp.where(rows >= after, l1, w[:, next_])), w)
        place = jnp.where(pair, -(row + 1), row + 1)
        pivots = jnp.where((rows >= k) & (rows < after), place, pivots)
        return after, w, pivots, jnp.where((info == 0) & empty, k + 1, info)

    strict = jnp.tril(a, -1)
    diagonal = jnp.diag(jnp.diagonal(a))
    diagonal = jnp.real(diagonal).astype(a.dtype) if hermitian else diagonal
    start = (jnp.int32(0), strict + diagonal + conj(strict).T, jnp.zeros(n, INT32), jnp.int32(0))
    _, w, pivots, info = loops.while_loop(lambda state: state[0] < n, step, start)
    return jnp.tril(w), pivots, info


def linalg_ldl_factor_ex(
    self: Array, *, hermitian: bool = False, check_errors: bool = False
) -> tuple[Array, Array, Array]:
    """(L and D in one matrix, int32 pivots from 1, negative for a 2x2 block, int32 info); reads the lower triangle."""
    batch, n = self.shape[:-2], self.shape[-1]
    if self.size == 0:
        return self, jnp.zeros((*batch, n), INT32), jnp.zeros(batch, INT32)
    factor = jax.vmap(lambda a: _factor(a, hermitian and is_complex(self)))
    ld, pivots, info = factor(self.reshape(-1, n, n))
    return ld.reshape(self.shape), pivots.reshape(*batch, n), info.reshape(batch)


def _unpacked(ld: Array, pivots: Array) -> tuple[Array, Array, Array]:
    """(unit lower L, permutation, where 2x2 blocks begin) of one matrix; each swap also applies to earlier columns."""
    n = ld.shape[0]
    rows = lax.iota(INT32, n)

    def step(state: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        k, lower, order, begins = state
        pair = pivots[k] < 0
        at, row = k + pair.astype(INT32), jnp.abs(pivots[k]) - 1
        lower = jnp.where(rows < k, _swapped(lower, at, row), lower)
        begins = begins.at[k].set(pair)
        return at + 1, lower, _swapped(order, at, row), begins

    start = (jnp.int32(0), jnp.tril(ld, -1), rows, jnp.zeros(n, bool))
    _, lower, order, begins = loops.while_loop(lambda state: state[0] < n, step, start)
    inside = begins & (rows[:, None] == rows + 1)
    return jnp.where(inside, jnp.zeros((), ld.dtype), lower), order, begins


def linalg_ldl_solve(LD: Array, pivots: Array, B: Array, *, hermitian: bool = False) -> Array:
    """X of `A X = B`, given the factors of A; batches broadcast."""
    n = LD.shape[-1]
    if B.size == 0:
        return jnp.broadcast_to(B, (*jnp.broadcast_shapes(LD.shape[:-2], B.shape[:-2]), *B.shape[-2:]))
    lower, order, begins = jax.vmap(_unpacked)(LD.reshape(-1, n, n), pivots.astype(INT32).reshape(-1, n))
    lower, order, begins = (
        x.reshape(*LD.shape[:-2], *x.shape[1:]) for x in (lower, order[..., None], begins[..., None])
    )
    ld, lower, order, begins, b = broadcast_batch(LD, lower, order, begins, B)
    conj = jnp.conj if hermitian else lambda x: x
    y = solve(lower, jnp.take_along_axis(b, order, axis=-2), lower=True, unit=True)

    d = jnp.diagonal(ld, axis1=-2, axis2=-1)[..., None]
    e = jnp.where(begins, jnp.pad(jnp.diagonal(ld, -1, -2, -1), [(0, 0)] * (ld.ndim - 2) + [(0, 1)])[..., None], 0)
    before, after = (lambda x: jnp.roll(x, 1, -2)), (lambda x: jnp.roll(x, -1, -2))
    det = d * after(d) - e * conj(e)
    first = (y * after(d) - conj(e) * after(y)) / det
    second = (y * before(d) - before(e) * before(y)) / before(det)
    y = jnp.where(begins, first, jnp.where(before(begins), second, y / d))

    z = solve(conj(lower).mT, y, lower=False, unit=True)
    return jnp.take_along_axis(z, jnp.argsort(order, axis=-2), axis=-2)
