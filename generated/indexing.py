"""Lowerings of the family `indexing`.

Generated from ops_spec/indexing.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax.typing import ArrayLike

from tenax.generated import checks
from tenax.kernels import indexing as indexing_kernels
from tenax.kernels import scatter as scatter_kernels
from tenax.words import Array, cast, within


def index__Tensor__checks(self: Array, indices: Sequence[Array | None]) -> tuple[Array, ...]:
    """The conditions of index.Tensor; its row of the table has their errors."""
    return (checks.indices_in_bounds(self, indices),)


def index_put__checks(
    self: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False
) -> tuple[Array, ...]:
    """The conditions of index_put; its row of the table has their errors."""
    return (checks.indices_in_bounds(self, indices),)


def _index_put_impl_(
    self: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False, unsafe: bool = False
) -> Array:
    """_index_put_impl_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False, bool unsafe=False) ->
        Tensor(a!)

    Spec: ops_spec/indexing.yaml
    """
    return indexing_kernels.index_put(self, indices, values, accumulate)


def _index_put_impl___checks(
    self: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False, unsafe: bool = False
) -> tuple[Array, ...]:
    """The conditions of _index_put_impl_; its row of the table has their errors."""
    return (checks.indices_in_bounds(self, indices),)


def take(self: Array, index: Array) -> Array:
    """take(Tensor self, Tensor index) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return self.reshape(-1).at[index].get(mode="promise_in_bounds")


def take__checks(self: Array, index: Array) -> tuple[Array, ...]:
    """The conditions of take; its row of the table has their errors."""
    return (checks.flat_index_in_bounds(self, index),)


def put__checks(self: Array, index: Array, source: Array, accumulate: bool = False) -> tuple[Array, ...]:
    """The conditions of put; its row of the table has their errors."""
    return (checks.flat_index_in_bounds(self, index),)


def gather__checks(self: Array, dim: int, index: Array, *, sparse_grad: bool = False) -> tuple[Array, ...]:
    """The conditions of gather; its row of the table has their errors."""
    return (checks.scatter_index_in_bounds(self, dim, index),)


def scatter__src__checks(self: Array, dim: int, index: Array, src: Array) -> tuple[Array, ...]:
    """The conditions of scatter.src; its row of the table has their errors."""
    return (checks.scatter_index_in_bounds(self, dim, index),)


def scatter__value(self: Array, dim: int, index: Array, value: ArrayLike) -> Array:
    """scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return scatter_kernels.scatter(self, dim, index, jnp.broadcast_to(cast(value, self.dtype), index.shape))


def scatter__value__checks(self: Array, dim: int, index: Array, value: ArrayLike) -> tuple[Array, ...]:
    """The conditions of scatter.value; its row of the table has their errors."""
    return (checks.scatter_index_in_bounds(self, dim, index),)


def scatter__reduce(self: Array, dim: int, index: Array, src: Array, *, reduce: str) -> Array:
    """scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return scatter_kernels.scatter_reduce(self, dim, index, src, {"add": "sum", "multiply": "prod"}[reduce])


def scatter__reduce__checks(self: Array, dim: int, index: Array, src: Array, *, reduce: str) -> tuple[Array, ...]:
    """The conditions of scatter.reduce; its row of the table has their errors."""
    return (checks.scatter_index_in_bounds(self, dim, index),)


def scatter__value_reduce(self: Array, dim: int, index: Array, value: ArrayLike, *, reduce: str) -> Array:
    """scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return scatter__reduce(self, dim, index, jnp.broadcast_to(cast(value, self.dtype), index.shape), reduce=reduce)


def scatter__value_reduce__checks(
    self: Array, dim: int, index: Array, value: ArrayLike, *, reduce: str
) -> tuple[Array, ...]:
    """The conditions of scatter.value_reduce; its row of the table has their errors."""
    return (checks.scatter_index_in_bounds(self, dim, index),)


def scatter_add(self: Array, dim: int, index: Array, src: Array) -> Array:
    """scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor

    Spec: ops_spec/indexing.yaml
    """
    return scatter_kernels.scatter_reduce(self, dim, index, src, "sum")


def scatter_add__checks(self: Array, dim: int, index: Array, src: Array) -> tuple[Array, ...]:
    """The conditions of scatter_add; its row of the table has their errors."""
    return (checks.scatter_index_in_bounds(self, dim, index),)


def scatter_reduce__two__checks(
    self: Array, dim: int, index: Array, src: Array, reduce: str, *, include_self: bool = True
) -> tuple[Array, ...]:
    """The conditions of scatter_reduce.two; its row of the table has their errors."""
    return (checks.scatter_index_in_bounds(self, dim, index),)


def index_select__checks(self: Array, dim: int, index: Array) -> tuple[Array, ...]:
    """The conditions of index_select; its row of the table has their errors."""
    return (checks.index_in_bounds(self, dim, index),)


def index_copy__checks(self: Array, dim: int, index: Array, source: Array) -> tuple[Array, ...]:
    """The conditions of index_copy; its row of the table has their errors."""
    return (0 in self.shape[:dim] + self.shape[dim:][1:] or within(index, 0, (self.shape or (1,))[dim]),)


def index_add__checks(self: Array, dim: int, index: Array, source: Array, *, alpha: ArrayLike = 1) -> tuple[Array, ...]:
    """The conditions of index_add; its row of the table has their errors."""
    return ((self.size == 0 and self.ndim > 1) or within(index, 0, (self.shape or (1,))[dim]),)


def index_reduce__checks(
    self: Array, dim: int, index: Array, source: Array, reduce: str, *, include_self: bool = True
) -> tuple[Array, ...]:
    """The conditions of index_reduce; its row of the table has their errors."""
    return (checks.index_in_bounds(self, dim, index),)


def index_fill__int_Scalar__checks(self: Array, dim: int, index: Array, value: ArrayLike) -> tuple[Array, ...]:
    """The conditions of index_fill.int_Scalar; its row of the table has their errors."""
    return (checks.wrapped_index_in_bounds(self, dim, index),)


def index_fill__int_Tensor__checks(self: Array, dim: int, index: Array, value: Array) -> tuple[Array, ...]:
    """The conditions of index_fill.int_Tensor; its row of the table has their errors."""
    return (checks.wrapped_index_in_bounds(self, dim, index),)


def masked_scatter__checks(self: Array, mask: Array, source: Array) -> tuple[Array, ...]:
    """The conditions of masked_scatter; its row of the table has their errors."""
    return (jnp.sum(jnp.broadcast_to(mask, jnp.broadcast_shapes(self.shape, mask.shape))) <= source.size,)
