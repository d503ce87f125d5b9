"""Lowerings of the family `attention`.

Generated from ops_spec/attention.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from jax.typing import ArrayLike

from tenax.kernels import attention as attention_kernels
from tenax.kernels import encoder as encoder_kernels
from tenax.words import BOOL, INT64, Array


def scaled_dot_product_attention(
    rng: Array,
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    dropout_p: ArrayLike = 0.0,
    is_causal: bool = False,
    *,
    scale: ArrayLike | None = None,
    enable_gqa: bool = False,
) -> Array:
    """scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0,
        bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor

    Spec: ops_spec/attention.yaml
    """
    return attention_kernels.scaled_dot_product_attention(
        rng=rng,
        query=query,
        key=key,
        value=value,
        attn_mask=attn_mask,
        dropout_p=dropout_p,
        is_causal=is_causal,
        scale=scale,
        enable_gqa=enable_gqa,
    )


def _scaled_dot_product_flash_attention_for_cpu(
    query: Array,
    key: Array,
    value: Array,
    dropout_p: ArrayLike = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Array | None = None,
    scale: ArrayLike | None = None,
) -> tuple[Array, Array]:
    """_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, float dropout_p=0.0, bool
        is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor output, Tensor logsumexp)

    Spec: ops_spec/attention.yaml
    """
    return attention_kernels._scaled_dot_product_flash_attention_for_cpu(
        query=query, key=key, value=value, dropout_p=dropout_p, is_causal=is_causal, attn_mask=attn_mask, scale=scale
    )


def _scaled_dot_product_flash_attention_for_cpu_backward(
    grad_out: Array,
    query: Array,
    key: Array,
    value: Array,
    out: Array,
    logsumexp: Array,
    dropout_p: ArrayLike,
    is_causal: bool,
    *,
    attn_mask: Array | None = None,
    scale: ArrayLike | None = None,
) -> tuple[Array, Array, Array]:
    """_scaled_dot_product_flash_attention_for_cpu_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value,
        Tensor out, Tensor logsumexp, float dropout_p, bool is_causal, *, Tensor? attn_mask=None, float? scale=None) ->
        (Tensor grad_query, Tensor grad_key, Tensor grad_value)

    Spec: ops_spec/attention.yaml
    """
    return attention_kernels._scaled_dot_product_flash_attention_for_cpu_backward(
        grad_out=grad_out,
        query=query,
        key=key,
        value=value,
        out=out,
        logsumexp=logsumexp,
        dropout_p=dropout_p,
        is_causal=is_causal,
        attn_mask=attn_mask,
        scale=scale,
    )


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
) -> tuple[Array, Array]:
    """_native_multi_head_attention(Tensor query, Tensor key, Tensor value, int embed_dim, int num_head, Tensor
        qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, Tensor? mask=None, bool need_weights=True,
        bool average_attn_weights=True, int? mask_type=None) -> (Tensor, Tensor)

    Spec: ops_spec/attention.yaml
    """
    return encoder_kernels._native_multi_head_attention(
        query=query,
        key=key,
        value=value,
        embed_dim=embed_dim,
        num_head=num_head,
        qkv_weight=qkv_weight,
        qkv_bias=qkv_bias,
        proj_weight=proj_weight,
        proj_bias=proj_bias,
        mask=mask,
        need_weights=need_weights,
        average_attn_weights=average_attn_weights,
        mask_type=mask_type,
    )


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
    eps: ArrayLike,
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
    """_transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, Tensor qkv_weight, Tensor qkv_bias,
        Tensor proj_weight, Tensor proj_bias, bool use_gelu, bool norm_first, float eps, Tensor norm_weight_1, Tensor
        norm_bias_1, Tensor norm_weight_2, Tensor norm_bias_2, Tensor ffn_weight_1, Tensor ffn_bias_1, Tensor
        ffn_weight_2, Tensor ffn_bias_2, Tensor? mask=None, int? mask_type=None) -> Tensor

    Spec: ops_spec/attention.yaml
    """
    return encoder_kernels._transformer_encoder_layer_fwd(
        src=src,
        embed_dim=embed_dim,
        num_heads=num_heads,
        qkv_weight=qkv_weight,
        qkv_bias=qkv_bias,
        proj_weight=proj_weight,
        proj_bias=proj_bias,
        use_gelu=use_gelu,
        norm_first=norm_first,
        eps=eps,
        norm_weight_1=norm_weight_1,
        norm_bias_1=norm_bias_1,
        norm_weight_2=norm_weight_2,
        norm_bias_2=norm_bias_2,
        ffn_weight_1=ffn_weight_1,
        ffn_bias_1=ffn_bias_1,
        ffn_weight_2=ffn_weight_2,
        ffn_bias_2=ffn_bias_2,
        mask=mask,
        mask_type=mask_type,
    )


def _fused_sdp_choice(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    dropout_p: ArrayLike = 0.0,
    is_causal: bool = False,
    *,
    scale: ArrayLike | None = None,
    enable_gqa: bool = False,
) -> int:
    """_fused_sdp_choice(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool
        is_causal=False, *, float? scale=None, bool enable_gqa=False) -> int

    Spec: ops_spec/attention.yaml
    """
    return INT64.type(0)


def _nested_tensor_from_mask_left_aligned(t: Array, mask: Array) -> Array:
    """_nested_tensor_from_mask_left_aligned(Tensor t, Tensor mask) -> bool

    Spec: ops_spec/attention.yaml
    """
    return BOOL.type(False)
