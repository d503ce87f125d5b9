"""Lowerings of the family `shape`.

Generated from ops_spec/shape.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax

from tenax.kernels import shape as shape_kernels
from tenax.kernels import slices as slices_kernels
from tenax.words import NO_OPMATH, Array, axes, cast


def stack(tensors: Sequence[Array], dim: int = 0) -> Array:
    """stack(Tensor[] tensors, int dim=0) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    return shape_kernels.cat([jnp.expand_dims(x, dim) for x in tensors], dim)


def _stack(tensors: Sequence[Array], dim: int = 0) -> Array:
    """_stack(Tensor[] tensors, int dim=0) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    return stack(tensors, dim)


def block_diag(tensors: Sequence[Array]) -> Array:
    """block_diag(Tensor[] tensors) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    dtype, *tensors = NO_OPMATH(*tensors)
    return cast(jax.scipy.linalg.block_diag(*tensors), dtype)


def flip(self: Array, dims: Sequence[int]) -> Array:
    """flip(Tensor self, int[] dims) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    return lax.rev(self, axes(self, dims) if dims else ())


def rot90(self: Array, k: int = 1, dims: Sequence[int] = (0, 1)) -> Array:
    """rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    return jnp.rot90(self, k, tuple(dims))


def repeat(self: Array, repeats: Sequence[int]) -> Array:
    """repeat(Tensor self, SymInt[] repeats) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    return jnp.tile(self, tuple(repeats))


def _reshape_copy(self: Array, size: Sequence[int]) -> Array:
    """_reshape_copy(Tensor self, SymInt[] size) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    return self.reshape(tuple(size))


def diagonal_backward(grad_output: Array, input_sizes: Sequence[int], offset: int, dim1: int, dim2: int) -> Array:
    """diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    return slices_kernels.diagonal_scatter(
        jnp.zeros(tuple(input_sizes), grad_output.dtype), grad_output, offset, dim1, dim2
    )
