"""Lowerings of the family `indexing`.

Generated from ops_spec/indexing.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax.typing import ArrayLike

from tenax.kernels import indexing as indexing_kernels
from tenax.kernels import mask as mask_kernels
from tenax.kernels import scatter as scatter_kernels
from tenax.words import Array, cast


def index__Tensor(self: Array, indices: Sequence[Array | None]) -> Array:
    """index.Tensor(Tensor self, Tensor?[] indices) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return indexing_kernels.index(self=self, indices=indices)


def index__Tensor__checks(self: Array, indices: Sequence[Array | None]) -> tuple[Array, ...]:
    """What must hold for index.Tensor; see its row of the table."""
    return (sum(jnp.sum((i < -n) | (i >= n)) for i, n in zip(indices, self.shape) if i is not None) == 0,)


def index_put(self: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False) -> Array:
    """index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return indexing_kernels.index_put(self=self, indices=indices, values=values, accumulate=accumulate)


def index_put__checks(
    self: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False
) -> tuple[Array, ...]:
    """What must hold for index_put; see its row of the table."""
    return (sum(jnp.sum((i < -n) | (i >= n)) for i, n in zip(indices, self.shape) if i is not None) == 0,)


def _index_put_impl_(
    self: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False, unsafe: bool = False
) -> Array:
    """_index_put_impl_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False, bool unsafe=False) ->
        Tensor(a!)

    Spec: ops_spec/indexing.yaml
    """
    return indexing_kernels._index_put_impl_(
        self=self, indices=indices, values=values, accumulate=accumulate, unsafe=unsafe
    )


def _index_put_impl___checks(
    self: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False, unsafe: bool = False
) -> tuple[Array, ...]:
    """What must hold for _index_put_impl_; see its row of the table."""
    return (sum(jnp.sum((i < -n) | (i >= n)) for i, n in zip(indices, self.shape) if i is not None) == 0,)


def _unsafe_index__Tensor(self: Array, indices: Sequence[Array | None]) -> Array:
    """_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return indexing_kernels.index(self=self, indices=indices)


def _unsafe_index_put(self: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False) -> Array:
    """_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return indexing_kernels.index_put(self=self, indices=indices, values=values, accumulate=accumulate)


def _unsafe_masked_index(self: Array, mask: Array, indices: Sequence[Array | None], fill: ArrayLike) -> Array:
    """_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return indexing_kernels._unsafe_masked_index(self=self, mask=mask, indices=indices, fill=fill)


def _unsafe_masked_index_put_accumulate(
    self: Array, mask: Array, indices: Sequence[Array | None], values: Array
) -> Array:
    """_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, Tensor values) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return indexing_kernels._unsafe_masked_index_put_accumulate(self=self, mask=mask, indices=indices, values=values)


def take(self: Array, index: Array) -> Array:
    """take(Tensor self, Tensor index) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return indexing_kernels.take(self=self, index=index)


def take__checks(self: Array, index: Array) -> tuple[Array, ...]:
    """What must hold for take; see its row of the table."""
    return (jnp.all((index >= -self.size) & (index < self.size)),)


def put(self: Array, index: Array, source: Array, accumulate: bool = False) -> Array:
    """put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return indexing_kernels.put(self=self, index=index, source=source, accumulate=accumulate)


def put__checks(self: Array, index: Array, source: Array, accumulate: bool = False) -> tuple[Array, ...]:
    """What must hold for put; see its row of the table."""
    return (jnp.all((index >= -self.size) & (index < self.size)),)


def gather(self: Array, dim: int, index: Array, *, sparse_grad: bool = False) -> Array:
    """gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return indexing_kernels.gather(self=self, dim=dim, index=index, sparse_grad=sparse_grad)


def gather__checks(self: Array, dim: int, index: Array, *, sparse_grad: bool = False) -> tuple[Array, ...]:
    """What must hold for gather; see its row of the table."""
    return (jnp.all((index >= 0) & (index < (self.shape or (1,))[dim])),)


def scatter__src(self: Array, dim: int, index: Array, src: Array) -> Array:
    """scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return scatter_kernels.scatter(self=self, dim=dim, index=index, src=src)


def scatter__src__checks(self: Array, dim: int, index: Array, src: Array) -> tuple[Array, ...]:
    """What must hold for scatter.src; see its row of the table."""
    return (jnp.all((index >= 0) & (index < (self.shape or (1,))[dim])),)


def scatter__value(self: Array, dim: int, index: Array, value: ArrayLike) -> Array:
    """scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return scatter__src(self, dim, index, jnp.broadcast_to(cast(value, self.dtype), index.shape))


def scatter__value__checks(self: Array, dim: int, index: Array, value: ArrayLike) -> tuple[Array, ...]:
    """What must hold for scatter.value; see its row of the table."""
    return (jnp.all((index >= 0) & (index < (self.shape or (1,))[dim])),)


def scatter__reduce(self: Array, dim: int, index: Array, src: Array, *, reduce: str) -> Array:
    """scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return scatter_reduce__two(self, dim, index, src, {"add": "sum", "multiply": "prod"}[reduce])


def scatter__reduce__checks(self: Array, dim: int, index: Array, src: Array, *, reduce: str) -> tuple[Array, ...]:
    """What must hold for scatter.reduce; see its row of the table."""
    return (jnp.all((index >= 0) & (index < (self.shape or (1,))[dim])),)


def scatter__value_reduce(self: Array, dim: int, index: Array, value: ArrayLike, *, reduce: str) -> Array:
    """scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return scatter__reduce(self, dim, index, jnp.broadcast_to(cast(value, self.dtype), index.shape), reduce=reduce)


def scatter__value_reduce__checks(
    self: Array, dim: int, index: Array, value: ArrayLike, *, reduce: str
) -> tuple[Array, ...]:
    """What must hold for scatter.value_reduce; see its row of the table."""
    return (jnp.all((index >= 0) & (index < (self.shape or (1,))[dim])),)


def scatter_add(self: Array, dim: int, index: Array, src: Array) -> Array:
    """scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return scatter_reduce__two(self, dim, index, src, "sum")


def scatter_add__checks(self: Array, dim: int, index: Array, src: Array) -> tuple[Array, ...]:
    """What must hold for scatter_add; see its row of the table."""
    return (jnp.all((index >= 0) & (index < (self.shape or (1,))[dim])),)


def scatter_reduce__two(
    self: Array, dim: int, index: Array, src: Array, reduce: str, *, include_self: bool = True
) -> Array:
    """scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) ->
        Tensor

    Spec: ops_spec/indexing.yaml
    """
    return scatter_kernels.scatter_reduce(
        self=self, dim=dim, index=index, src=src, reduce=reduce, include_self=include_self
    )


def scatter_reduce__two__checks(
    self: Array, dim: int, index: Array, src: Array, reduce: str, *, include_self: bool = True
) -> tuple[Array, ...]:
    """What must hold for scatter_reduce.two; see its row of the table."""
    return (jnp.all((index >= 0) & (index < (self.shape or (1,))[dim])),)


def index_select(self: Array, dim: int, index: Array) -> Array:
    """index_select(Tensor self, int dim, Tensor index) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return indexing_kernels.index_select(self=self, dim=dim, index=index)


def index_select__checks(self: Array, dim: int, index: Array) -> tuple[Array, ...]:
    """What must hold for index_select; see its row of the table."""
    return (jnp.all((index >= 0) & (index < (self.shape or (1,))[dim])),)


def index_copy(self: Array, dim: int, index: Array, source: Array) -> Array:
    """index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return scatter_kernels.index_copy(self=self, dim=dim, index=index, source=source)


def index_copy__checks(self: Array, dim: int, index: Array, source: Array) -> tuple[Array, ...]:
    """What must hold for index_copy; see its row of the table."""
    return (jnp.all((index >= 0) & (index < (self.shape or (1,))[dim])),)


def index_add(self: Array, dim: int, index: Array, source: Array, *, alpha: ArrayLike = 1) -> Array:
    """index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return scatter_kernels.index_add(self=self, dim=dim, index=index, source=source, alpha=alpha)


def index_add__checks(self: Array, dim: int, index: Array, source: Array, *, alpha: ArrayLike = 1) -> tuple[Array, ...]:
    """What must hold for index_add; see its row of the table."""
    return (jnp.all((index >= 0) & (index < (self.shape or (1,))[dim])),)


def index_reduce(
    self: Array, dim: int, index: Array, source: Array, reduce: str, *, include_self: bool = True
) -> Array:
    """index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return scatter_kernels.index_reduce(
        self=self, dim=dim, index=index, source=source, reduce=reduce, include_self=include_self
    )


def index_reduce__checks(
    self: Array, dim: int, index: Array, source: Array, reduce: str, *, include_self: bool = True
) -> tuple[Array, ...]:
    """What must hold for index_reduce; see its row of the table."""
    return (jnp.all((index >= 0) & (index < (self.shape or (1,))[dim])),)


def index_fill__int_Scalar(self: Array, dim: int, index: Array, value: ArrayLike) -> Array:
    """index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return scatter_kernels.index_fill(self=self, dim=dim, index=index, value=value)


def index_fill__int_Scalar__checks(self: Array, dim: int, index: Array, value: ArrayLike) -> tuple[Array, ...]:
    """What must hold for index_fill.int_Scalar; see its row of the table."""
    return (jnp.all((index >= -(self.shape or (1,))[dim]) & (index < (self.shape or (1,))[dim])),)


def index_fill__int_Tensor(self: Array, dim: int, index: Array, value: Array) -> Array:
    """index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return scatter_kernels.index_fill(self=self, dim=dim, index=index, value=value)


def index_fill__int_Tensor__checks(self: Array, dim: int, index: Array, value: Array) -> tuple[Array, ...]:
    """What must hold for index_fill.int_Tensor; see its row of the table."""
    return (jnp.all((index >= -(self.shape or (1,))[dim]) & (index < (self.shape or (1,))[dim])),)


def nonzero(self: Array) -> Array:
    """nonzero(Tensor self) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return mask_kernels.nonzero(self=self)


def nonzero_static(self: Array, *, size: int, fill_value: int = -1) -> Array:
    """nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return mask_kernels.nonzero_static(self=self, size=size, fill_value=fill_value)


def masked_select(self: Array, mask: Array) -> Array:
    """masked_select(Tensor self, Tensor mask) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return mask_kernels.masked_select(self=self, mask=mask)


def masked_scatter(self: Array, mask: Array, source: Array) -> Array:
    """masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return mask_kernels.masked_scatter(self=self, mask=mask, source=source)


def masked_scatter__checks(self: Array, mask: Array, source: Array) -> tuple[Array, ...]:
    """What must hold for masked_scatter; see its row of the table."""
    return (jnp.sum(jnp.broadcast_to(mask, jnp.broadcast_shapes(self.shape, mask.shape))) <= source.size,)


def masked_scatter_backward(grad_output: Array, mask: Array, sizes: Sequence[int]) -> Array:
    """masked_scatter_backward(Tensor grad_output, Tensor mask, SymInt[] sizes) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return mask_kernels.masked_scatter_backward(grad_output=grad_output, mask=mask, sizes=sizes)


def tril(self: Array, diagonal: int = 0) -> Array:
    """tril(Tensor self, SymInt diagonal=0) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return jnp.tril(self, diagonal)


def triu(self: Array, diagonal: int = 0) -> Array:
    """triu(Tensor self, SymInt diagonal=0) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return jnp.triu(self, diagonal)
