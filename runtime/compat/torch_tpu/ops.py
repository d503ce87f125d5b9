"""`torch.tpu.ops`, by torch's and JAX's functions, with gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import torch
from torch.nn import functional

from ...interop.calls import call_jax

dist: Any = torch.distributed


def optimization_barrier(inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The tensors, all of which are computed before any is used."""
    return list(call_jax(jax.lax.optimization_barrier, tuple(inputs)))


def ragged_dot(
    lhs: torch.Tensor, rhs: torch.Tensor, group_sizes: torch.Tensor, *, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Products of consecutive groups of rows of `lhs`, each with its matrix of `rhs`."""
    result: torch.Tensor = call_jax(jax.lax.ragged_dot, lhs, rhs, group_sizes)
    return result if out is None else out.copy_(result)


def ragged_dot_weight_grad(lhs: torch.Tensor, grad_output: torch.Tensor, group_sizes: torch.Tensor) -> torch.Tensor:
    """The gradient of `ragged_dot` with respect to `rhs`."""
    return call_jax(_weight_gradient, lhs, grad_output, group_sizes)


def _weight_gradient(lhs: jax.Array, gradient: jax.Array, sizes: jax.Array) -> jax.Array:
    shape = sizes.shape[0], lhs.shape[1], gradient.shape[1]
    _, back = jax.vjp(lambda rhs: jax.lax.ragged_dot(lhs, rhs, sizes), jax.numpy.zeros(shape, lhs.dtype))
    return back(gradient)[0]


class _Gathered(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: torch.Tensor, group: Any) -> torch.Tensor:
        ctx.group = group
        result = rows.new_empty(rows.shape[0] * dist.get_world_size(group), *rows.shape[1:])
        dist.all_gather_into_tensor(result, rows.contiguous(), group)
        return result

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        return _Scattered.apply(grads[0], "sum", ctx.group), None


class _Scattered(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: torch.Tensor, reduce_op: str, group: Any) -> torch.Tensor:
        ctx.reduce_op, ctx.group = reduce_op, group
        result = rows.new_empty(rows.shape[0] // dist.get_world_size(group), *rows.shape[1:])
        dist.reduce_scatter_tensor(result, rows.contiguous(), getattr(dist.ReduceOp, reduce_op.upper()), group)
        return result

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        if ctx.reduce_op != "sum":
            raise NotImplementedError(f"reduce_scatter_dim: the gradient of {ctx.reduce_op!r}; expected 'sum'")
        return _Gathered.apply(grads[0], ctx.group), None, None


def all_gather_dim(input: torch.Tensor, dim: int, group: Any = None) -> torch.Tensor:
    """The tensors of all ranks, side by side along a dimension."""
    rows: torch.Tensor = _Gathered.apply(input.movedim(dim, 0), group)
    return rows.movedim(0, dim)


def reduce_scatter_dim(input: torch.Tensor, dim: int, group: Any = None, reduce_op: str = "sum") -> torch.Tensor:
    """This rank's part, along a dimension, of the reduction of the tensors of all ranks.

    Raises:
        ValueError: the dimension cannot be split evenly.
    """
    ranks = dist.get_world_size(group)
    if input.size(dim) % ranks:
        raise ValueError(f"reduce_scatter_dim: {input.size(dim)} elements; expected a multiple of {ranks}")
    rows: torch.Tensor = _Scattered.apply(input.movedim(dim, 0), reduce_op, group)
    return rows.movedim(0, dim)


def spmd_safe(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function: programs of tenax may contain collectives."""
    return function


def _pool(name: str, input: torch.Tensor, *options: Any) -> Any:
    kernel, stride, padding, dilation, ceil_mode = options
    return getattr(functional, name)(input, kernel, stride, padding, dilation, ceil_mode=ceil_mode)


def _pool_backward(name: str, grad_output: torch.Tensor, input: torch.Tensor, *options: Any) -> Any:
    transpose: Any = torch.func.vjp(lambda x: _pool(name, x, *options), input)[1]
    return transpose(grad_output)[0]


max_pool1d, max_pool2d, max_pool3d = (partial(_pool, f"max_pool{n}d") for n in (1, 2, 3))
max_pool1d_backward, max_pool2d_backward, max_pool3d_backward = (
    partial(_pool_backward, f"max_pool{n}d") for n in (1, 2, 3)
)
