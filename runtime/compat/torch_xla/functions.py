"""`torch_xla.core.functions`: collectives with gradients, and `SyncBatchNorm`."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from . import collectives
from .replicas import Groups, current

Tensor = torch.Tensor


class AllReduce(torch.autograd.Function):
    """`all_reduce` as an `autograd.Function`: `apply(value, reduce_type, scale, groups)`."""

    @staticmethod
    def forward(ctx: Any, value: Tensor, kind: str, scale: float, groups: Groups) -> Tensor:
        ctx.kind, ctx.scale, ctx.groups = kind, scale, groups
        result: Tensor = collectives.all_reduce(kind, value, scale, groups)
        ctx.save_for_backward(value, result)
        return result

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        value, result = ctx.saved_tensors
        grad: Tensor = collectives.all_reduce("sum", grads[0], ctx.scale, ctx.groups)
        if ctx.kind in ("min", "max"):
            grad = torch.where(value * ctx.scale == result, grad, 0)
        elif ctx.kind == "mul":
            grad = grad * (result / (ctx.scale * value))
        return grad, None, None, None


def all_reduce(reduce_type: str, value: Tensor, scale: float = 1.0, groups: Groups = None) -> Tensor:
    """The reduction over the replicas, with a gradient. `reduce_type` is 'sum', 'mul', 'min' or 'max'.

    Raises:
        NotImplementedError: 'and' or 'or', which have no gradient.
    """
    if reduce_type not in ("sum", "mul", "min", "max"):
        raise NotImplementedError(f"functions.all_reduce({reduce_type!r}) has no gradient; expected xm.all_reduce")
    return AllReduce.apply(value, reduce_type, scale, groups)


class AllGather(torch.autograd.Function):
    """`all_gather` as an `autograd.Function`: `apply(value, dim)`."""

    @staticmethod
    def forward(ctx: Any, value: Tensor, dim: int) -> Tensor:
        ctx.dim = dim
        return collectives.all_gather(value, dim)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        size = current().size
        return collectives.reduce_scatter("sum", grads[0], 1.0, ctx.dim, size), None


def all_gather(value: Tensor, dim: int = 0) -> Tensor:
    """The tensors of the replicas, concatenated along a dimension, with a gradient."""
    return AllGather.apply(value, dim)


class XlaSyncBatchNorm(nn.Module):
    """Batch normalization with statistics over the batches of all replicas."""

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.weight = nn.Parameter(torch.ones(num_features))
        self.bias = nn.Parameter(torch.zeros(num_features))
        self.register_buffer("running_mean", torch.zeros(num_features))
        self.register_buffer("running_var", torch.ones(num_features))

    def forward(self, batch: Tensor) -> Tensor:
        """Normalize (N, C) or (N, C, ...)."""
        shape = [1, -1] + [1] * (batch.dim() - 2)
        dims = [d for d in range(batch.dim()) if d != 1]
        mean, var = self.running_mean, self.running_var
        if self.training:
            scale = 1.0 / current().size
            n = batch.numel() // batch.shape[1] * current().size
            mean = all_reduce("sum", batch.mean(dims), scale)
            var = all_reduce("sum", (batch - mean.view(shape)).square().mean(dims), scale)
            with torch.no_grad():
                self.running_mean.lerp_(mean, self.momentum)  # type: ignore[operator]
                self.running_var.lerp_(var * (n / max(n - 1, 1)), self.momentum)  # type: ignore[operator]
        normal = (batch - mean.view(shape)) * torch.rsqrt(var.view(shape) + self.eps)  # type: ignore[operator]
        return normal * self.weight.view(shape) + self.bias.view(shape)
