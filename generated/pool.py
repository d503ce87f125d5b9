"""Lowerings of the family `pool`.

Generated from ops_spec/pool.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp

from tenax.kernels import average as average_kernels
from tenax.kernels import fractional as fractional_kernels
from tenax.kernels import pool as pool_kernels
from tenax.kernels import unpool as unpool_kernels
from tenax.words import Array


def max_pool2d_with_indices(
    self: Array,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0, 0),
    dilation: Sequence[int] = (1, 1),
    ceil_mode: bool = False,
) -> tuple[Array, Array]:
    """max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1,
        bool ceil_mode=False) -> (Tensor, Tensor)

    Spec: ops_spec/pool.yaml
    """
    return pool_kernels.max_pool2d_with_indices(
        self=self, kernel_size=kernel_size, stride=stride, padding=padding, dilation=dilation, ceil_mode=ceil_mode
    )


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
    return unpool_kernels.max_pool2d_with_indices_backward(
        grad_output=grad_output,
        self=self,
        kernel_size=kernel_size,
        stride=stride,
        padding=padding,
        dilation=dilation,
        ceil_mode=ceil_mode,
        indices=indices,
    )


def max_pool3d_with_indices(
    self: Array,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0, 0, 0),
    dilation: Sequence[int] = (1, 1, 1),
    ceil_mode: bool = False,
) -> tuple[Array, Array]:
    """max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1,
        bool ceil_mode=False) -> (Tensor, Tensor)

    Spec: ops_spec/pool.yaml
    """
    return pool_kernels.max_pool3d_with_indices(
        self=self, kernel_size=kernel_size, stride=stride, padding=padding, dilation=dilation, ceil_mode=ceil_mode
    )


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
    return unpool_kernels.max_pool3d_with_indices_backward(
        grad_output=grad_output,
        self=self,
        kernel_size=kernel_size,
        stride=stride,
        padding=padding,
        dilation=dilation,
        ceil_mode=ceil_mode,
        indices=indices,
    )


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
    return unpool_kernels.max_pool2d_backward(
        grad_output=grad_output,
        self=self,
        kernel_size=kernel_size,
        stride=stride,
        padding=padding,
        dilation=dilation,
        ceil_mode=ceil_mode,
    )


def adaptive_max_pool2d(self: Array, output_size: Sequence[int]) -> tuple[Array, Array]:
    """adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)

    Spec: ops_spec/pool.yaml
    """
    return pool_kernels.adaptive_max_pool2d(self=self, output_size=output_size)


def adaptive_max_pool2d_backward(grad_output: Array, self: Array, indices: Array) -> Array:
    """adaptive_max_pool2d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor

    Spec: ops_spec/pool.yaml
    """
    return unpool_kernels.adaptive_max_pool2d_backward(grad_output=grad_output, self=self, indices=indices)


def adaptive_max_pool3d(self: Array, output_size: Sequence[int]) -> tuple[Array, Array]:
    """adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)

    Spec: ops_spec/pool.yaml
    """
    return pool_kernels.adaptive_max_pool3d(self=self, output_size=output_size)


def adaptive_max_pool3d_backward(grad_output: Array, self: Array, indices: Array) -> Array:
    """adaptive_max_pool3d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor

    Spec: ops_spec/pool.yaml
    """
    return unpool_kernels.adaptive_max_pool3d_backward(grad_output=grad_output, self=self, indices=indices)


def fractional_max_pool2d(
    self: Array, kernel_size: Sequence[int], output_size: Sequence[int], random_samples: Array
) -> tuple[Array, Array]:
    """fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size, Tensor random_samples) -> (Tensor,
        Tensor)

    Spec: ops_spec/pool.yaml
    """
    return fractional_kernels.fractional_max_pool2d(
        self=self, kernel_size=kernel_size, output_size=output_size, random_samples=random_samples
    )


def fractional_max_pool2d_backward(
    grad_output: Array, self: Array, kernel_size: Sequence[int], output_size: Sequence[int], indices: Array
) -> Array:
    """fractional_max_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] output_size, Tensor
        indices) -> Tensor

    Spec: ops_spec/pool.yaml
    """
    return unpool_kernels.fractional_max_pool2d_backward(
        grad_output=grad_output, self=self, kernel_size=kernel_size, output_size=output_size, indices=indices
    )


def fractional_max_pool3d(
    self: Array, kernel_size: Sequence[int], output_size: Sequence[int], random_samples: Array
) -> tuple[Array, Array]:
    """fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] output_size, Tensor random_samples) -> (Tensor,
        Tensor)

    Spec: ops_spec/pool.yaml
    """
    return fractional_kernels.fractional_max_pool3d(
        self=self, kernel_size=kernel_size, output_size=output_size, random_samples=random_samples
    )


def fractional_max_pool3d_backward(
    grad_output: Array, self: Array, kernel_size: Sequence[int], output_size: Sequence[int], indices: Array
) -> Array:
    """fractional_max_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] output_size, Tensor
        indices) -> Tensor

    Spec: ops_spec/pool.yaml
    """
    return unpool_kernels.fractional_max_pool3d_backward(
        grad_output=grad_output, self=self, kernel_size=kernel_size, output_size=output_size, indices=indices
    )


def max_unpool2d(self: Array, indices: Array, output_size: Sequence[int]) -> Array:
    """max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor

    Spec: ops_spec/pool.yaml
    """
    return unpool_kernels.max_unpool2d(self=self, indices=indices, output_size=output_size)


def max_unpool2d__checks(self: Array, indices: Array, output_size: Sequence[int]) -> tuple[Array, ...]:
    """What must hold for max_unpool2d; see its row of the table."""
    return (jnp.all((indices >= 0) & (indices < output_size[0] * output_size[1])),)


def max_unpool3d(
    self: Array, indices: Array, output_size: Sequence[int], stride: Sequence[int], padding: Sequence[int]
) -> Array:
    """max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding) -> Tensor

    Spec: ops_spec/pool.yaml
    """
    return unpool_kernels.max_unpool3d(
        self=self, indices=indices, output_size=output_size, stride=stride, padding=padding
    )


def max_unpool3d__checks(
    self: Array, indices: Array, output_size: Sequence[int], stride: Sequence[int], padding: Sequence[int]
) -> tuple[Array, ...]:
    """What must hold for max_unpool3d; see its row of the table."""
    return (jnp.all((indices >= 0) & (indices < output_size[0] * output_size[1] * output_size[2])),)


def avg_pool2d(
    self: Array,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0, 0),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Array:
    """avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, bool
        count_include_pad=True, int? divisor_override=None) -> Tensor

    Spec: ops_spec/pool.yaml
    """
    return average_kernels.avg_pool2d(
        self=self,
        kernel_size=kernel_size,
        stride=stride,
        padding=padding,
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
        divisor_override=divisor_override,
    )


def avg_pool2d_backward(
    grad_output: Array,
    self: Array,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Array:
    """avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, bool
        ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor

    Spec: ops_spec/pool.yaml
    """
    return average_kernels.avg_pool2d_backward(
        grad_output=grad_output,
        self=self,
        kernel_size=kernel_size,
        stride=stride,
        padding=padding,
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
        divisor_override=divisor_override,
    )


def avg_pool3d(
    self: Array,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0, 0, 0),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Array:
    """avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False, bool
        count_include_pad=True, int? divisor_override=None) -> Tensor

    Spec: ops_spec/pool.yaml
    """
    return average_kernels.avg_pool3d(
        self=self,
        kernel_size=kernel_size,
        stride=stride,
        padding=padding,
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
        divisor_override=divisor_override,
    )


def avg_pool3d_backward(
    grad_output: Array,
    self: Array,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Array:
    """avg_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding, bool
        ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor

    Spec: ops_spec/pool.yaml
    """
    return average_kernels.avg_pool3d_backward(
        grad_output=grad_output,
        self=self,
        kernel_size=kernel_size,
        stride=stride,
        padding=padding,
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
        divisor_override=divisor_override,
    )


def _adaptive_avg_pool2d(self: Array, output_size: Sequence[int]) -> Array:
    """_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor

    Spec: ops_spec/pool.yaml
    """
    return average_kernels._adaptive_avg_pool2d(self=self, output_size=output_size)


def _adaptive_avg_pool2d_backward(grad_output: Array, self: Array) -> Array:
    """_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor

    Spec: ops_spec/pool.yaml
    """
    return average_kernels._adaptive_avg_pool2d_backward(grad_output=grad_output, self=self)


def _adaptive_avg_pool3d(self: Array, output_size: Sequence[int]) -> Array:
    """_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor

    Spec: ops_spec/pool.yaml
    """
    return average_kernels._adaptive_avg_pool3d(self=self, output_size=output_size)


def _adaptive_avg_pool3d_backward(grad_output: Array, self: Array) -> Array:
    """_adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor

    Spec: ops_spec/pool.yaml
    """
    return average_kernels._adaptive_avg_pool3d_backward(grad_output=grad_output, self=self)


def adaptive_avg_pool2d__out(self: Array, output_size: Sequence[int]) -> Array:
    """adaptive_avg_pool2d.out(Tensor self, SymInt[2] output_size, *, Tensor(a!) out) -> Tensor(a!)

    Spec: ops_spec/pool.yaml
    """
    return average_kernels._adaptive_avg_pool2d(self=self, output_size=output_size)


def adaptive_avg_pool3d__out(self: Array, output_size: Sequence[int]) -> Array:
    """adaptive_avg_pool3d.out(Tensor self, SymInt[3] output_size, *, Tensor(a!) out) -> Tensor(a!)

    Spec: ops_spec/pool.yaml
    """
    return average_kernels._adaptive_avg_pool3d(self=self, output_size=output_size)


def adaptive_avg_pool3d_backward__grad_input(grad_output: Array, self: Array) -> Array:
    """adaptive_avg_pool3d_backward.grad_input(Tensor grad_output, Tensor self, *, Tensor(a!) grad_input) -> Tensor(a!)

    Spec: ops_spec/pool.yaml
    """
    return average_kernels._adaptive_avg_pool3d_backward(grad_output=grad_output, self=self)
