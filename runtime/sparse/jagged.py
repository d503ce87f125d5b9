"""Attention of jagged tensors, computed on padded ones.

Except on CUDA, torch converts the batch to strided nested tensors, which the device does not support. The cost is that
every row computes as many scores as the longest one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

from .._torch import NAME
from .._torch.nested import check_attention, ragged_dimension


def jagged_scaled_dot_product_attention(
    plain: Callable[..., torch.Tensor],
    query: Any,
    key: Any,
    value: Any,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """Attention of `(batch, heads, ragged length, features)`. If causal, queries and keys must share their offsets.

    Raises:
        ValueError: an argument is not jagged, dtypes, devices or ragged dimensions differ, or there is a mask.
        RuntimeError: as on CPU torch, for causal attention with different offsets.
    """
    options: dict[str, Any] = {"dropout_p": dropout_p, "scale": scale, "enable_gqa": enable_gqa}
    check_attention(query, key, value, attn_mask, dropout_p, is_causal, scale)
    same_rows = query.offsets() is key.offsets()
    if query.device.type != NAME or (query.dim(), ragged_dimension(query)) != (4, 2) or (is_causal and not same_rows):
        return plain(query, key, value, attn_mask, is_causal=is_causal, **options)
    q, k, v = (x.transpose(1, 2).to_padded_tensor(0.0).transpose(1, 2) for x in (query, key, value))
    queries, keys, lengths = q.shape[2], k.shape[2], key.offsets().diff()
    allowed = (torch.arange(keys, device=query.device) < lengths[:, None])[:, None, None]
    if is_causal:
        allowed = allowed & torch.ones(queries, keys, dtype=torch.bool, device=query.device).tril()
    result = functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed, **options).transpose(1, 2)
    return _without_padding(result, query).transpose(1, 2)


def _without_padding(padded: torch.Tensor, query: Any) -> torch.Tensor:
    """Convert `(batch, length, heads, features)` to `(batch, ragged, heads, features)`, with the query's offsets."""
    offsets, total = query.offsets(), query.values().shape[1]
    batch = torch.arange(padded.shape[0], device=padded.device)
    row = torch.repeat_interleave(batch, offsets.diff(), output_size=total)
    place = torch.arange(total, device=padded.device) - offsets[row]
    return torch.nested.nested_tensor_from_jagged(padded[row, place], offsets, max_seqlen=padded.shape[1])
