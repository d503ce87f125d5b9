"""Lowerings of the family `shape`.

Generated from ops_spec/shape.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax import lax

from tenax.kernels import shape as shape_kernels
from tenax.kernels import slices as slices_kernels
from tenax.words import Array, axes


def cat(tensors: Sequence[Array], dim: int = 0) -> Array:
    """cat(Tensor[] tensors, int dim=0) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    return shape_kernels.cat(tensors=tensors, dim=dim)


def stack(tensors: Sequence[Array], dim: int = 0) -> Array:
    """stack(Tensor[] tensors, int dim=0) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    return shape_kernels.stack(tensors=tensors, dim=dim)


def _stack(tensors: Sequence[Array], dim: int = 0) -> Array:
    """_stack(Tensor[] tensors, int dim=0) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    return shape_kernels.stack(tensors=tensors, dim=dim)


def _chunk_cat(tensors: Sequence[Array], dim: int, num_chunks: int) -> Array:
    """_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    return shape_kernels._chunk_cat(tensors=tensors, dim=dim, num_chunks=num_chunks)


def block_diag(tensors: Sequence[Array]) -> Array:
    """block_diag(Tensor[] tensors) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    return shape_kernels.block_diag(tensors=tensors)


def flip(self: Array, dims: Sequence[int]) -> Array:
    """flip(Tensor self, int[] dims) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    return lax.rev(self, axes(self, dims) if dims else ())


def roll(self: Array, shifts: Sequence[int], dims: Sequence[int] = ()) -> Array:
    """roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    return shape_kernels.roll(self=self, shifts=shifts, dims=dims)


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


def repeat_interleave__Tensor(repeats: Array, *, output_size: int | None = None) -> Array:
    """repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    return shape_kernels.repeat_interleave(repeats=repeats, output_size=output_size)


def narrow_copy(self: Array, dim: int, start: int, length: int) -> Array:
    """narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    return lax.slice_in_dim(self, start % max(self.shape[dim], 1), start % max(self.shape[dim], 1) + length, axis=dim)


def _reshape_copy(self: Array, size: Sequence[int]) -> Array:
    """_reshape_copy(Tensor self, SymInt[] size) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    return self.reshape(tuple(size))


def select_scatter(self: Array, src: Array, dim: int, index: int) -> Array:
    """select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    return slices_kernels.select_scatter(self=self, src=src, dim=dim, index=index)


def slice_scatter(
    self: Array, src: Array, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Array:
    """slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    return slices_kernels.slice_scatter(self=self, src=src, dim=dim, start=start, end=end, step=step)


def diagonal_scatter(self: Array, src: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    """diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    return slices_kernels.diagonal_scatter(self=self, src=src, offset=offset, dim1=dim1, dim2=dim2)


def as_strided_scatter(
    self: Array, src: Array, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Array:
    """as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) ->
        Tensor

    Spec: ops_spec/shape.yaml
    """
    return slices_kernels.as_strided_scatter(
        self=self, src=src, size=size, stride=stride, storage_offset=storage_offset
    )


def diag_embed(self: Array, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    """diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    return slices_kernels.diag_embed(self=self, offset=offset, dim1=dim1, dim2=dim2)


def select_backward(grad_output: Array, input_sizes: Sequence[int], dim: int, index: int) -> Array:
    """select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    return slices_kernels.select_backward(grad_output=grad_output, input_sizes=input_sizes, dim=dim, index=index)


def slice_backward(grad_output: Array, input_sizes: Sequence[int], dim: int, start: int, end: int, step: int) -> Array:
    """slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end, SymInt step) ->
        Tensor

    Spec: ops_spec/shape.yaml
    """
    return slices_kernels.slice_backward(
        grad_output=grad_output, input_sizes=input_sizes, dim=dim, start=start, end=end, step=step
    )


def diagonal_backward(grad_output: Array, input_sizes: Sequence[int], offset: int, dim1: int, dim2: int) -> Array:
    """diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    return slices_kernels.diagonal_backward(
        grad_output=grad_output, input_sizes=input_sizes, offset=offset, dim1=dim1, dim2=dim2
    )


def unfold_backward(grad_in: Array, input_sizes: Sequence[int], dim: int, size: int, step: int) -> Array:
    """unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, int size, int step) -> Tensor

    Spec: ops_spec/shape.yaml
    """
    return slices_kernels.unfold_backward(grad_in=grad_in, input_sizes=input_sizes, dim=dim, size=size, step=step)
