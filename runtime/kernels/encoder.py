"""The fused layers that `nn.MultiheadAttention` and `nn.TransformerEncoderLayer` call when no gradient is needed."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from tenax.kernels.attention import attend
from tenax.kernels.matmul import linear
from tenax.kernels.norm import native_layer_norm
from tenax.words import BOOL, Array, cast

# ATen's numbers for the shape of a mask: (L, S), (batch, S) or (batch, heads, L, S).
QUERY_KEY, BATCH_KEY, ALL = range(3)


def _shown(mask: Array | None, mask_type: int | None) -> Array | None:
    """True where a key is attended to, for scores (batch, heads, L, S); torch's masks are true or nonzero elsewhere."""
    if mask is None:
        return None
    shown = ~cast(mask, BOOL)
    return shown[:, None, None, :] if mask_type == BATCH_KEY else shown


def _native_multi_head_attention(
    query: Array,
    key: Array,
    value: Array,
    embed_dim: int,
    num_head: int,
    qkv_weight: Array,
    qkv_bias: Array,
    proj_weight: Array,
    proj_bias: Array,
    mask: Array | None = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> tuple[Array, Array | None]:
    """Attention of (batch, L, embed) to (batch, S, embed): the output, and the weights of the heads or their mean."""
    weights, biases = jnp.split(qkv_weight, 3), jnp.split(qkv_bias, 3)

    def heads(x: Array, number: int) -> Array:
        y = linear(x, weights[number], biases[number])
        return y.reshape(*y.shape[:2], num_head, embed_dim // num_head).swapaxes(1, 2)

    q, k, v = heads(query, 0), heads(key, 1), heads(value, 2)
    shown = _shown(mask, mask_type)
    out, lse = attend(q, k, v, shown, False, None)
    # A fully masked query is NaN here, unlike in `scaled_dot_product_attention`, where it is zero.
    lse = jnp.where(lse == -jnp.inf, jnp.nan, lse)
    out = jnp.where(jnp.isnan(lse)[..., None], jnp.nan, out)
    out = linear(out.swapaxes(1, 2).reshape(query.shape), proj_weight, proj_bias)
    if not need_weights:
        return out, None
    scores = jnp.matmul(q, k.mT, preferred_element_type=lse.dtype) * (embed_dim // num_head) ** -0.5
    if shown is not None:
        scores = jnp.where(shown, scores, -jnp.inf)
    attention = jnp.exp(scores - lse[..., None])
    if average_attn_weights:
        attention = jnp.mean(attention, axis=1)
    return out, cast(attention, query.dtype)


def _transformer_encoder_layer_fwd(
    src: Array,
    embed_dim: int,
    num_heads: int,
    qkv_weight: Array,
    qkv_bias: Array,
    proj_weight: Array,
    proj_bias: Array,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Array,
    norm_bias_1: Array,
    norm_weight_2: Array,
    norm_bias_2: Array,
    ffn_weight_1: Array,
    ffn_bias_1: Array,
    ffn_weight_2: Array,
    ffn_bias_2: Array,
    mask: Array | None = None,
    mask_type: int | None = None,
) -> Array:
    """Attention and a feed-forward network of (batch, L, embed), each with a residual and a layer norm."""

    def attention(x: Array) -> Array:
        parts = (qkv_weight, qkv_bias, proj_weight, proj_bias, mask, False, False, mask_type)
        return _native_multi_head_attention(x, x, x, embed_dim, num_heads, *parts)[0]

    def feed_forward(x: Array) -> Array:
        y = linear(x, ffn_weight_1, ffn_bias_1)
        y = jax.nn.gelu(y, approximate=False) if use_gelu else jnp.maximum(y, 0)
        return linear(y, ffn_weight_2, ffn_bias_2)

    x = src
    for function, weight, bias in ((attention, norm_weight_1, norm_bias_1), (feed_forward, norm_weight_2, norm_bias_2)):
        if norm_first:
            x = x + function(native_layer_norm(x, (embed_dim,), weight, bias, eps)[0])
        else:
            x = native_layer_norm(x + function(x), (embed_dim,), weight, bias, eps)[0]
    return x
