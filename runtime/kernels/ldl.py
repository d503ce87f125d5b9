"""The factorisation `A = P L D L^T P^T` of symmetric matrices by Bunch and Kaufman (1977), in LAPACK's `sytrf` form."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels import loops
from tenax.kernels.reduction import argmax
from tenax.kernels.triangular import broadcast_batch, solve
from tenax.words import Array, cast, is_complex

INT32 = np.dtype("int32")
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
