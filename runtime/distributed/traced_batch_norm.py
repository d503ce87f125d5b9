"""`nn.SyncBatchNorm` in a trace, where the statistics of all ranks count.

torch drops the statistics of ranks without data, so the number of remaining ranks depends on values. In a trace all
ranks have inputs of the same shape, so none has to be dropped.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from .._torch import NAME
from ..trace.core import current_trace

dist: Any = torch.distributed
Tensor = torch.Tensor


def traced_batch_norm(plain: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """`SyncBatchNorm.forward`, as `plain`, which uses `_forward` in traces."""

    @functools.wraps(plain)
    def forward(ctx: Any, input: Tensor, *args: Any) -> Tensor:
        if current_trace() is None or input.device.type != NAME or not input.numel():
            return plain(ctx, input, *args)
        return _forward(ctx, input, *args)

    return forward


def _forward(
    ctx: Any,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    eps: float,
    momentum: float,
    group: Any,
    ranks: int,
) -> Tensor:
    """The normalized input, of shape (batch, channels, ...); saves in `ctx` what torch's backward expects."""
    formats = torch.channels_last, torch.channels_last_3d
    x = input if any(input.is_contiguous(memory_format=f) for f in formats) else input.contiguous()
    channels = x.size(1)
    mean, invstd = torch.batch_norm_stats(x, eps)
    count = mean.new_full((1,), x.numel() // channels)
    own = torch.cat([mean, invstd, count])
    gathered = own.new_empty(ranks * own.numel())
    dist.all_gather_single(gathered, own, group)
    means, invstds, counts = gathered.view(ranks, -1).split(channels, 1)
    mean, invstd = torch.batch_norm_gather_stats_with_counts(
        x,
        means,
        invstds,
        running_mean,
        running_var,
        momentum,
        eps,
        counts.view(-1).to(mean.dtype if running_mean is None else running_mean.dtype),
    )
    weight = None if weight is None else weight.contiguous()
    ctx.save_for_backward(x, weight, mean, invstd, counts.to(torch.int32))
    ctx.process_group = group
    return torch.batch_norm_elemt(x, weight, bias, mean, invstd, eps)
