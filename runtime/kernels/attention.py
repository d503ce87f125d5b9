"""Scaled dot-product attention as torch defines it: masks, groups of heads and any number of leading axes."""

from __future__ import annotations

from math import prod, sqrt

import jax
import jax.numpy as jnp

from tenax.kernels import fused
from tenax.kernels.flash import AttentionInputs, How, flash, gradients
from tenax.words import FLOAT64, Array, Number, cast, is_float, mesh_devices, opmath, product_precision

Shape = tuple[int, ...]


Scale = float | Array | Number | None  # an operand unless it is a Python number


def _how(query: Array, scale: Scale, causal: bool) -> How:
    scale = 1 / sqrt(max(query.shape[-1], 1)) if scale is None else scale
    known = float(scale) if isinstance(scale, (int, float)) else None
    return How(known, causal, devices=mesh_devices.get(), precision=product_precision(query.dtype))


def _mask(mask: Array, batch: Shape, heads: int, groups: int) -> Array:
    """The mask as (batch, heads, groups, L, S), where axes of size 1 broadcast."""
    full = (*batch, heads * groups)
    if mask.ndim > len(full) + 2:
        found = f"attn_mask of shape {list(mask.shape)} for scores of {len(full) + 2} axes"
        raise RuntimeError(f"scaled_dot_product_attention: {found}; doesn't match the broadcast shape")
    lead = (1,) * (len(full) + 2 - mask.ndim) + mask.shape[:-2]
    last = mask.shape[-2:] if mask.ndim > 1 else (1, *mask.shape)
    *outer, own = lead[-len(full) :]
    if any(n != 1 for n in outer) and tuple(outer) != batch:
        mask, outer = jnp.broadcast_to(mask.reshape(*outer, own, *last), (*batch, own, *last)), list(batch)
    return mask.reshape(prod(outer), *((heads, groups) if own != 1 else (1, 1)), *last)


def _inputs(
    query: Array, key: Array, value: Array, mask: Array | None, scale: Scale, gqa: bool = False
) -> AttentionInputs:
    """The arrays with the axes that `flash` expects."""
    if not is_float(query):
        raise NotImplementedError(f"scaled_dot_product_attention: not implemented for query of {query.dtype}")
    if key.shape[-2] != value.shape[-2]:
        found = f"{key.shape[-2]} keys and {value.shape[-2]} values"
        raise RuntimeError(f"scaled_dot_product_attention: {found}; expected as many of both")
    groups = 1
    if gqa and key.shape[-3] == value.shape[-3]:
        groups = query.shape[-3] // key.shape[-3]
    elif gqa:
        key, value = (jnp.repeat(x, query.shape[-3] // x.shape[-3], axis=-3) for x in (key, value))
    lead = query.shape[:-2]
    if groups == 1:
        lead = jnp.broadcast_shapes(*(x.shape[:-2] for x in (query, key, value)))
        query, key, value = (jnp.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (query, key, value))
    *outer, heads = lead or (1,)
    batch, heads = prod(outer), heads // groups
    return AttentionInputs(
        query.reshape(batch, heads, groups, *query.shape[-2:]),
        key.reshape(batch, heads, *key.shape[-2:]),
        value.reshape(batch, heads, *value.shape[-2:]),
        None if mask is None else _mask(mask, tuple(outer), heads, groups),
        None,
        None if scale is None or isinstance(scale, (int, float)) else cast(scale, opmath(query.dtype)),
    )


def attend(
    query: Array, key: Array, value: Array, mask: Array | None, is_causal: bool, scale: Scale
) -> tuple[Array, Array]:
    """The output (..., L, Ev) in the dtype of `query`, and its log-sum-exp (..., L) in the compute dtype."""
    out, lse = flash(_how(query, scale, is_causal), _inputs(query, key, value, mask, scale))
    shape = query.shape[:-1]
    return out.reshape(*shape, out.shape[-1]), lse.reshape(shape)


def scaled_dot_product_attention(
    rng: Array,
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    dropout_p: float | Array | Number = 0.0,
    is_causal: bool = False,
    *,
    scale: Scale = None,
    enable_gqa: bool = False,
) -> Array:
    """(..., heads, L, E) x (..., heads, S, E) x (..., heads, S, Ev) to (..., heads, L, Ev).

    A float `attn_mask` is added to the scores; a bool one is true where a query attends to a key. With `enable_gqa`
    each head of key and value serves several query heads.

    `jax.nn.dot_product_attention` materializes all scores on the CPU, and gives a fully masked query the mean of the
    values instead of torch's 0.
    """
    how, inputs = _how(query, scale, is_causal), _inputs(query, key, value, attn_mask, scale, enable_gqa)
    if not isinstance(dropout_p, (int, float)):
        inputs = inputs._replace(rest=1 - cast(dropout_p, FLOAT64))
    elif dropout_p > 0:
        how = how._replace(dropout_p=dropout_p)
    if how.dropout_p or inputs.rest is not None:
        how = how._replace(impl=jax.random.key_impl(rng))
        inputs = inputs._replace(seed=jax.random.key_data(rng))
    out = fused.attention(how, inputs)
    lead = jnp.broadcast_shapes(*(x.shape[:-2] for x in ((query,) if enable_gqa else (query, key, value))))
    return out.reshape(*lead, query.shape[-2], out.shape[-1])


def _scaled_dot_product_flash_attention_for_cpu(
    query: Array,
    key: Array,
    value: Array,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Array | None = None,
    scale: Scale = None,
) -> tuple[Array, Array]:
    """The output (batch, heads, L, E) and log-sum-exp (batch, heads, L); graphs captured on the CPU call this."""
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
    scale: Scale = None,
) -> tuple[Array, Array, Array]:
    """Gradients of query, key and value."""
    inputs, how = _inputs(query, key, value, attn_mask, scale), _how(query, scale, is_causal)
    rows = inputs.query.shape[:4]
    out, grad = (x.reshape(*rows, x.shape[-1]) for x in (out, grad_out))
    lse = logsumexp.reshape(rows)
    of_query, of_key, of_value, _ = gradients(how, inputs, out, lse, grad, jnp.zeros_like(lse))
    return of_query.reshape(query.shape), of_key.reshape(key.shape), of_value.reshape(value.shape)
