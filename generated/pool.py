"""Lowerings of the family `pool`.

Generated from ops_spec/pool.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenax.generated import checks
from tenax.kernels import average as average_kernels
from tenax.kernels import pool as pool_kernels
from tenax.words import Array


def max_pool2d_with_indices_backward(
    grad_output: Array,
    self: Array,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    indices: Array,
) -> Array:
    """max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2]
        padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor

    Spec: ops_spec/pool.yaml
    """
    return pool_kernels.adaptive_max_pool2d_backward(grad_output, self, indices)


def max_pool3d_with_indices_backward(
    grad_output: Array,
    self: Array,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    indices: Array,
) -> Array:
    """max_pool3d_with_indices_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3]
        padding, int[3] dilation, bool ceil_mode, Tensor indices) -> Tensor

    Spec: ops_spec/pool.yaml
    """
    return pool_kernels.adaptive_max_pool3d_backward(grad_output, self, indices)


def max_pool2d_backward(
    grad_output: Array,
    self: Array,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0, 0),
    dilation: Sequence[int] = (1, 1),
    ceil_mode: bool = False,
) -> Array:
    """max_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0,
        int[2] dilation=1, bool ceil_mode=False) -> Tensor

    Spec: ops_spec/pool.yaml
    """
    return pool_kernels.adaptive_max_pool2d_backward(
        grad_output,
        self,
        pool_kernels.max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)[1],
    )


def fractional_max_pool2d_backward(
    grad_output: Array, self: Array, kernel_size: Sequence[int], output_size: Sequence[int], indices: Array
) -> Array:
    """fractional_max_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] output_size, Tensor
        indices) -> Tensor

    Spec: ops_spec/pool.yaml
    """
    return pool_kernels.adaptive_max_pool2d_backward(grad_output, self, indices)


def fractional_max_pool3d_backward(
    grad_output: Array, self: Array, kernel_size: Sequence[int], output_size: Sequence[int], indices: Array
) -> Array:
    """fractional_max_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] output_size, Tensor
        indices) -> Tensor

    Spec: ops_spec/pool.yaml
    """
    return pool_kernels.adaptive_max_pool3d_backward(grad_output, self, indices)


def max_unpool2d__checks(self: Array, indices: Array, output_size: Sequence[int]) -> tuple[Array, ...]:
    """The conditions of max_unpool2d; its row of the table has their errors."""
    return (checks.pooled_indices_in_bounds(indices, output_size[0] * output_size[1]),)


def max_unpool3d(
    self: Array, indices: Array, output_size: Sequence[int], stride: Sequence[int], padding: Sequence[int]
) -> Array:
    """max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding) -> Tensor

    Spec: ops_spec/pool.yaml
    """
    return pool_kernels.max_unpool2d(self, indices, output_size)


def max_unpool3d__checks(
    self: Array, indices: Array, output_size: Sequence[int], stride: Sequence[int], padding: Sequence[int]
) -> tuple[Array, ...]:
    """The conditions of max_unpool3d; its row of the table has their errors."""
    return (checks.pooled_indices_in_bounds(indices, output_size[0] * output_size[1] * output_size[2]),)


def adaptive_avg_pool2d__out(self: Array, output_size: Sequence[int]) -> Array:
    """adaptive_avg_pool2d.out(Tensor self, SymInt[2] output_size, *, Tensor(a!) out) -> Tensor(a!)

    Spec: ops_spec/pool.yaml
    """
    return average_kernels._adaptive_avg_pool2d(self, output_size)


def adaptive_avg_pool3d__out(self: Array, output_size: Sequence[int]) -> Array:
    """adaptive_avg_pool3d.out(Tensor self, SymInt[3] output_size, *, Tensor(a!) out) -> Tensor(a!)

    Spec: ops_spec/pool.yaml
    """
    return average_kernels._adaptive_avg_pool3d(self, output_size)


def adaptive_avg_pool3d_backward__grad_input(grad_output: Array, self: Array) -> Array:
    """adaptive_avg_pool3d_backward.grad_input(Tensor grad_output, Tensor self, *, Tensor(a!) grad_input) -> Tensor(a!)

    Spec: ops_spec/pool.yaml
    """
    return average_kernels._adaptive_avg_pool_backward(grad_output, self)
