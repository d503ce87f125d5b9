"""Lowerings of the family `attention`.

Generated from ops_spec/attention.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from jax.typing import ArrayLike

from tenax.words import BOOL, INT64, Array


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
