"""torch's GPU flash attention operators, which DTensor and ring attention call, via the CPU operators' lowerings.

They also return sequence counts and seeds, which matter only for nested tensors and dropout.
"""

from __future__ import annotations

from typing import Any

import torch

Tensor = torch.Tensor


def forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> tuple[Any, ...]:
    """The output (batch, heads, L, E), the log-sum-exp (batch, heads, L), and seven results without meaning here.

    Their strides are those of torch's Meta kernel, on which graphs of `torch.compile` rely.

    Raises:
        NotImplementedError: with dropout, or with `return_debug_mask`.
    """
    if dropout_p or return_debug_mask:
        raise NotImplementedError(
            "scaled_dot_product_attention: of DTensors with dropout: not supported; expected dropout_p=0.0"
        )
    out, lse = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
        query, key, value, 0.0, is_causal, scale=scale
    )
    none = query.new_zeros((), dtype=torch.int64)
    return out, lse.contiguous(), none, none, query.shape[2], key.shape[2], none, none.clone(), query.new_zeros(0)


def backward(
    grad_out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    logsumexp: Tensor,
    cum_seq_q: Tensor,
    cum_seq_k: Tensor,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    philox_seed: Tensor,
    philox_offset: Tensor,
    *,
    scale: float | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of query, key and value, with the strides of torch's Meta kernel."""
    found = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward(
        grad_out, query, key, value, out, logsumexp, dropout_p, is_causal, scale=scale
    )
    grad_query, grad_key, grad_value = map(_laid_out, found, (query, key, value))
    return grad_query, grad_key, grad_value


def _laid_out(x: Tensor, source: Tensor) -> Tensor:
    """The tensor with the strides of `torch.empty_like(source)`."""
    new = torch.empty_like(source)
    return x if x.stride() == new.stride() else new.copy_(x)


def _for_each_query(x: Tensor, heads: int) -> Tensor:
    """Repeat the heads of keys or values to match the number of query heads (grouped-query attention)."""
    return x.unsqueeze(2).expand(-1, -1, heads // x.shape[1], -1, -1).flatten(1, 2)


def of_wrappers(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Attention of DTensors, by operators that can be split by batch and heads, or by sequence (`context_parallel`)."""
    if attn_mask is None and not dropout_p and query.dim() == 4:
        if enable_gqa:
            key, value = (_for_each_query(x, query.shape[1]) for x in (key, value))
        found = torch.ops.aten._scaled_dot_product_flash_attention(query, key, value, dropout_p, is_causal, scale=scale)
        return found[0]
    return torch.ops.aten.scaled_dot_product_attention.default.decompose(
        query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
    )
