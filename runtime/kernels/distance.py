"""p-norms, and the p-norms of differences: vector_norm, renorm, cdist, pdist."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tenax.kernels.reduction import Dims
from tenax.kernels.search import insertion
from tenax.words import (
    Array,
    DType,
    Gradients,
    Number,
    axes,
    axis,
    cast,
    is_complex,
    opmath,
    real,
    real_dtype,
    root,
    truth,
    with_derivative,
)

Order = float | Number  # of a norm

# For more rows than this, torch computes Euclidean distances by one matrix product (`_cdist_forward`).
_ROWS_BY_DIFFERENCE = 25


def _keep(x: Array, dims: Sequence[int], keepdim: bool) -> Array:
    """Put reduced axes back with length 1 if `keepdim` is true."""
    return lax.expand_dims(x, dims) if keepdim and dims else x


def _powsum(x: Array, p: Order, dims: Sequence[int]) -> Array:
    """sum(|x| ** p) in the accumulation dtype, real; p=0 counts the nonzero elements."""
    x = cast(x, opmath(x.dtype))
    if p == 0:
        terms = cast(truth(x), real_dtype(x.dtype))
    elif p == 2:
        terms = real(x * jnp.conj(x)) if is_complex(x) else x * x
    else:
        terms = jnp.abs(x) if p == 1 else jnp.abs(x) ** _exponent(p, x)
    return lax.reduce_sum(terms, dims)


def _exponent(p: Order, x: Array) -> Any:
    """An order as an exponent of real numbers of the precision of `x`."""
    return cast(p, real_dtype(x.dtype)) if isinstance(p, Number) else p


def _pnorm(x: Array, p: Order, dims: Sequence[int]) -> Array:
    """The p-norm in the accumulation dtype, real."""

    def value(x: Array, p: Order) -> Array:
        if p in (inf, -inf):
            return (lax.reduce_max if p > 0 else lax.reduce_min)(cast(jnp.abs(x), opmath(real_dtype(x.dtype))), dims)
        total = _powsum(x, p, dims)
        return total if p in (0, 1) else root(total) if p == 2 else total ** (1 / _exponent(p, total))

    def gradients(grad: Array, result: Array, x: Array, p: Order) -> Gradients:
        def of_x() -> Array:
            norm, wide = lax.expand_dims(result, dims), cast(x, opmath(x.dtype))
            slope = _slope(wide, norm, p)
            if p in (inf, -inf):
                slope = slope / jnp.sum(jnp.abs(wide) == norm, dims, dtype=slope.dtype, keepdims=True)
            return cast(lax.expand_dims(grad, dims), slope.dtype) * slope

        return {"x": of_x}

    # JAX differentiates the sum of squares, and the square root with the derivative 0 at 0.
    return value(x, p) if p == 2 else with_derivative(value, gradients, x=x, p=p)


def _slope(x: Array, norm: Array, p: Order) -> Array:
    """The derivative of a p-norm; 0 where the norm is 0. That of an extremum is 1 or -1 at each element equal to it."""
    size: Any = p
    if p in (inf, -inf):
        size = jnp.abs(x) == norm
    elif p not in (0, 1):
        flat = (norm == 0) | (x == 0)
        ratio = jnp.where(flat, 1, jnp.abs(x)) / jnp.where(flat, 1, norm)
        size = jnp.where(flat, 0, ratio if p == 2 else ratio ** (_exponent(p, x) - 1))
    return jnp.sign(x) * cast(size, x.dtype)


def linalg_vector_norm(
    self: Array, ord: Order = 2, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Array:
    """(sum |x|^ord)^(1/ord) over `dim`, of `self` cast to `dtype` first; real. A `Number` has no formula of its own.

    `jnp.linalg.vector_norm` computes powers in the dtype itself: in float16, the norm of a hundred elements 300 is inf
    instead of 3000. Its derivative at 0 is NaN, where this one's is 0, as in torch.
    """
    x, dims = self if dtype is None else cast(self, dtype), axes(self, dim)
    return _keep(cast(_pnorm(x, ord, dims), real_dtype(x.dtype)), dims, keepdim)


def linalg__powsum(
    self: Array, ord: Order = 2, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Array:
    """sum |x|^ord over `dim`: the part of a vector norm that adds up across devices."""
    x, dims = self if dtype is None else cast(self, dtype), axes(self, dim)
    return _keep(cast(_powsum(x, ord, dims), real_dtype(x.dtype)), dims, keepdim)


def renorm(self: Array, p: Order, dim: int, maxnorm: Any) -> Array:
    """Scale each slice along `dim` whose p-norm exceeds `maxnorm` down to it."""
    others = tuple(d for d in range(self.ndim) if d != axis(self, dim))
    return self * cast(shrink(lax.expand_dims(_pnorm(self, p, others), others), maxnorm), self.dtype)


def shrink(norm: Array, maxnorm: Any) -> Array:
    """The factor that scales a vector of this norm down to `maxnorm`; 1 if it is short enough."""
    limit = cast(maxnorm, norm.dtype)
    # 1e-7 as in at::renorm, so that the result does not exceed the limit by rounding.
    return jnp.where(norm > limit, limit / (norm + 1e-7), cast(1, norm.dtype))


def _euclidean_dist(x1: Array, x2: Array) -> Array:
    """2-norms of x1[..., i, :] - x2[..., j, :] by one matrix product: fast, but inexact for nearly equal rows."""
    square1, square2 = jnp.sum(x1 * x1, -1)[..., :, None], jnp.sum(x2 * x2, -1)[..., None, :]
    product = jnp.matmul(x1, jnp.swapaxes(x2, -1, -2), precision=lax.Precision.HIGHEST)
    return root(jnp.maximum(square1 + square2 - 2 * product, cast(0, x1.dtype)))


def _differences(x1: Array, x2: Array) -> Array:
    """x1[..., i, None, :] - x2[..., None, j, :]; XLA fuses it into the reduction that follows."""
    return x1[..., :, None, :] - x2[..., None, :, :]


def _cdist_forward(x1: Array, x2: Array, p: Order, compute_mode: int | None) -> Array:
    """p-norms of all differences of rows: [..., P, M] and [..., R, M] to [..., P, R].

    `compute_mode` for p=2: 1 by matrix product, 2 by differences, otherwise by product if there are many rows.
    """
    if not (x1.size and x2.size):  # also in half precision
        batch = np.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
        return jnp.zeros((*batch, x1.shape[-2], x2.shape[-2]), x1.dtype)
    many = max(x1.shape[-2], x2.shape[-2]) > _ROWS_BY_DIFFERENCE
    if p == 2 and (compute_mode == 1 or (compute_mode != 2 and many)):
        return _euclidean_dist(x1, x2)
    differences = _differences(x1, x2)
    return _pnorm(differences, p, (differences.ndim - 1,))


def _cdist_backward(grad_output: Array, x1: Array, x2: Array, p: Order, cdist: Array) -> Array:
    """Gradient of x1 in `_cdist_forward`, [..., P, M] with x1 and x2 broadcast; 0 where the distance is 0."""
    if cdist.size == 0:
        return jnp.zeros_like(x1)
    return jnp.sum(grad_output[..., None] * _slope(_differences(x1, x2), cdist[..., None], p), -2)


def _pairs(n: int) -> tuple[Array, Array]:
    """Row and column of the entries above the diagonal of an n x n matrix, row by row."""
    row = jnp.arange(n, dtype=np.int32)
    starts = row * (2 * n - row - 1) // 2
    k = jnp.arange(n * (n - 1) // 2, dtype=np.int32)
    i = insertion(starts, k, jnp.less_equal) - 1
    # The last row has no entry; its start is the total count.
    return i, k - starts[i] + i + 1


def _pdist_forward(self: Array, p: Order = 2) -> Array:
    """p-norms of the differences of each pair of rows: [N, M] to [N * (N - 1) / 2]."""
    return _cdist_forward(self, self, p, 2)[_pairs(self.shape[0])]


def _pdist_backward(grad_output: Array, self: Array, p: Order, pdist: Array) -> Array:
    """Gradient of `_pdist_forward`, shape [N, M]."""
    i, j = _pairs(self.shape[0])
    above = jnp.zeros((self.shape[0], self.shape[0]), self.dtype)
    grads, distances = (above.at[i, j].set(x, unique_indices=True) for x in (grad_output, pdist))
    return _cdist_backward(grads + grads.T, self, self, p, distances + distances.T)
