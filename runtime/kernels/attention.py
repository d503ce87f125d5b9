"""Scaled dot-product attention: softmax(query @ key.T * scale + bias) @ value, over the last two axes.

Products take the inputs' dtype and sum in the compute dtype; the softmax is in the compute dtype and divides after the
last product. A row whose keys are all masked gives zero. Scores beyond `LARGE` are made a block of queries at a time,
and made again for the gradient, so that memory grows with the sequence and not with its square.
"""

from __future__ import annotations

from math import isqrt, prod

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import ArrayLike

from tenax.words import BOOL, Array, cast, opmath

# More scores than this are made in blocks of at most BLOCK: 1 GiB and 256 MiB of float32.
LARGE, BLOCK = 1 << 28, 1 << 26

# Blocks of fewer queries than this would leave the matrix units idle.
NARROW = 64


def _scores(query: Array, key: Array, mask: Array | None, first: Array | None, scale: Array) -> Array:
    """Masked scores (..., L, S). `first` is the position of the first query under a causal mask."""
    compute = opmath(query.dtype)
    scores = jnp.matmul(query, key.mT, preferred_element_type=compute) * scale
    lowest = jnp.asarray(-np.inf, dtype=compute)
    if first is not None:
        rows, columns = (lax.broadcasted_iota(jnp.int32, scores.shape[-2:], axis) for axis in (0, 1))
        scores = jnp.where(rows + first >= columns, scores, lowest)
    if mask is None:
        return scores
    return jnp.where(mask, scores, lowest) if mask.dtype == BOOL else scores + cast(mask, compute)


def _block(
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    first: Array | None,
    scale: Array,
    rng: Array | None,
    dropout_p: float,
) -> tuple[Array, Array]:
    """The output of some queries and the logarithm of each row's sum, both in the compute dtype."""
    scores = _scores(query, key, mask, first, scale)
    top = lax.stop_gradient(jnp.max(scores, axis=-1, keepdims=True, initial=-np.inf))
    top = jnp.where(top == -np.inf, 0, top)
    weights = jnp.exp(scores - top)
    total = jnp.sum(weights, axis=-1, keepdims=True)
    if rng is not None:
        kept = jax.random.bernoulli(rng, 1 - dropout_p, weights.shape)
        weights = jnp.where(kept, weights / (1 - dropout_p), 0)
    out = jnp.matmul(cast(weights, value.dtype), value, preferred_element_type=scores.dtype)
    return out / jnp.where(total == 0, 1, total), jnp.log(total[..., 0]) + top[..., 0]


def _rows(x: Array, start: Array, count: int) -> Array:
    """`count` rows of a query or mask from `start`; one row serves all."""
    return x if x.shape[-2] == 1 else lax.dynamic_slice_in_dim(x, start, count, x.ndim - 2)


def attend(
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    is_causal: bool,
    scale: ArrayLike | None,
    rng: Array | None = None,
    dropout_p: float = 0.0,
) -> tuple[Array, Array]:
    """(..., L, Ev) in the dtype of `query`, and the log-sum-exp of its rows, (..., L) in the compute dtype."""
    compute = opmath(query.dtype)
    length, size = query.shape[-2:]
    factor = lax.full((), size**-0.5, compute) if scale is None else cast(scale, compute)
    batch = jnp.broadcast_shapes(query.shape[:-2], key.shape[:-2])
    scores = prod(batch) * length * key.shape[-2]
    rows = _divisor(length, max(BLOCK * length // max(scores, 1), 1)) if scores > LARGE else length
    if rows == length or rows < NARROW:
        first = jnp.zeros((), jnp.int32) if is_causal else None
        out, lse = _block(query, key, value, mask, first, factor, rng, dropout_p)
        return cast(out, query.dtype), lse

    @jax.checkpoint
    def block(start: Array) -> tuple[Array, Array]:
        part = _rows(query, start, rows)
        shown = None if mask is None else _rows(mask, start, rows)
        lot = None if rng is None else jax.random.fold_in(rng, start)
        out, lse = _block(part, key, value, shown, start if is_causal else None, factor, lot, dropout_p)
        return cast(out, query.dtype), lse

    out, lse = lax.map(block, lax.iota(jnp.int32, length // rows) * rows)
    out, lse = jnp.moveaxis(out, 0, -3), jnp.moveaxis(lse, 0, -2)
    return out.reshape(*out.shape[:-3], length, out.shape[-1]), lse.reshape(*lse.shape[:-2], length)


def _divisor(n: int, most: int) -> int:
    """The largest divisor of `n` that is at most `most`."""
    found = [d for i in range(1, isqrt(n) + 1) if n % i == 0 for d in (i, n // i) if d <= most]
    return max(found, default=1)


def scaled_dot_product_attention(
    rng: Array,
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: ArrayLike | None = None,
    enable_gqa: bool = False,
) -> Array:
    """(..., heads, L, E) x (..., heads, S, E) x (..., heads, S, Ev) to (..., heads, L, Ev).

    `attn_mask` is added, or true where a key is seen; with `enable_gqa` each head of key and value serves several of
    the query's.
    """
    if attn_mask is not None and is_causal:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    shape = query.shape
    grouped = enable_gqa and shape[-3] != key.shape[-3]
    if grouped:
        groups = shape[-3] // key.shape[-3]
        query = query.reshape(*shape[:-3], key.shape[-3], groups, *shape[-2:])
        key, value = key[..., None, :, :], value[..., None, :, :]
        if attn_mask is not None and attn_mask.ndim > 2:
            heads = attn_mask.shape[-3]
            split = (heads // groups, groups) if heads > 1 else (1, 1)
            attn_mask = attn_mask.reshape(*attn_mask.shape[:-3], *split, *attn_mask.shape[-2:])
    lot = rng if dropout_p > 0 else None
    out, _ = attend(query, key, value, attn_mask, is_causal, scale, lot, dropout_p)
    return out.reshape(*shape[:-1], out.shape[-1]) if grouped else out


def _scaled_dot_product_flash_attention_for_cpu(
    query: Array,
    key: Array,
    value: Array,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Array | None = None,
    scale: ArrayLike | None = None,
) -> tuple[Array, Array]:
    """The output (batch, heads, L, E) and log-sum-exp (batch, heads, L), as graphs captured on the CPU ask for them."""
    if dropout_p > 0:
        raise RuntimeError("_scaled_dot_product_flash_attention_for_cpu: Currently do not support dropout > 0")
    return attend(query, key, value, attn_mask, is_causal, scale)


def _scaled_dot_product_flash_attention_for_cpu_backward(
    grad_out: Array,
    query: Array,
    key: Array,
    value: Array,
    out: Array,
    logsumexp: Array,
    dropout_p: float,
    is_causal: bool,
    *,
    attn_mask: Array | None = None,
    scale: ArrayLike | None = None,
) -> tuple[Array, Array, Array]:
    """Gradients of query, key and value."""

    def forward(q: Array, k: Array, v: Array) -> Array:
        return attend(q, k, v, attn_mask, is_causal, scale)[0]

    of_query, of_key, of_value = jax.vjp(forward, query, key, value)[1](grad_out)
    return of_query, of_key, of_value
