"""Lowerings of the family `reduction`.

Generated from ops_spec/reduction.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax
from jax.typing import ArrayLike

from tenax.kernels import distance as distance_kernels
from tenax.kernels import moments as moments_kernels
from tenax.kernels import reduction as reduction_kernels
from tenax.words import (
    DEFAULT,
    FLOAT64,
    INT64,
    INT_TO_FLOAT,
    INT_TO_LONG,
    Array,
    DType,
    as_long,
    axes,
    cast,
    is_float,
    numel,
    reduce_over,
    reduce_prod,
    reduce_sum,
    truth,
)


def sum(self: Array, *, dtype: DType | None = None) -> Array:
    """sum(Tensor self, *, ScalarType? dtype=None) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    dtype, self = INT_TO_LONG(self) if dtype is None else DEFAULT(cast(self, dtype))
    return cast(reduce_sum(self), dtype)


def sum__dim_IntList(
    self: Array, dim: Sequence[int] | None, keepdim: bool = False, *, dtype: DType | None = None
) -> Array:
    """sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    dtype, self = INT_TO_LONG(self) if dtype is None else DEFAULT(cast(self, dtype))
    return cast(reduce_sum(self, dim, keepdim), dtype)


def nansum(
    self: Array, dim: Sequence[int] | None = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Array:
    """nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    dtype, self = INT_TO_LONG(self) if dtype is None else DEFAULT(cast(self, dtype))
    result = reduce_sum(jnp.where(jnp.isnan(self), cast(0, self.dtype), self) if is_float(self) else self, dim, keepdim)
    return cast(result, dtype)


def mean(self: Array, *, dtype: DType | None = None) -> Array:
    """mean(Tensor self, *, ScalarType? dtype=None) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    dtype, self = DEFAULT(self) if dtype is None else DEFAULT(cast(self, dtype))
    return cast(reduce_sum(self) / self.size, dtype)


def mean__dim(self: Array, dim: Sequence[int] | None, keepdim: bool = False, *, dtype: DType | None = None) -> Array:
    """mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    dtype, self = DEFAULT(self) if dtype is None else DEFAULT(cast(self, dtype))
    return cast(reduce_sum(self, dim, keepdim) / numel(self, dim), dtype)


def prod(self: Array, *, dtype: DType | None = None) -> Array:
    """prod(Tensor self, *, ScalarType? dtype=None) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    dtype, self = INT_TO_LONG(self) if dtype is None else DEFAULT(cast(self, dtype))
    return cast(reduce_prod(self), dtype)


def prod__dim_int(self: Array, dim: int, keepdim: bool = False, *, dtype: DType | None = None) -> Array:
    """prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    dtype, self = INT_TO_LONG(self) if dtype is None else DEFAULT(cast(self, dtype))
    return cast(reduce_prod(self, dim, keepdim), dtype)


def trace(self: Array) -> Array:
    """trace(Tensor self) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    dtype, self = INT_TO_LONG(self)
    return cast(reduce_sum(jnp.diagonal(self)), dtype)


def count_nonzero__dim_IntList(self: Array, dim: Sequence[int]) -> Array:
    """count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    return reduce_sum(as_long(truth(self)), dim)


def count_nonzero(self: Array, dim: int | None = None) -> Array:
    """count_nonzero(Tensor self, int? dim=None) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    return reduce_sum(as_long(truth(self)), dim)


def logsumexp(self: Array, dim: Sequence[int], keepdim: bool = False) -> Array:
    """logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    dtype, self = INT_TO_FLOAT(self)
    return cast(jax.nn.logsumexp(self, axes(self, dim), keepdims=keepdim), dtype)


def hash_tensor(self: Array, dim: Sequence[int] = (), *, keepdim: bool = False, mode: int = 0) -> Array:
    """hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    return reduce_over(
        lax.reduce_xor,
        lax.bitcast_convert_type(cast(self, FLOAT64 if is_float(self) else INT64), jnp.uint64),
        dim,
        keepdim,
    )


def all(self: Array) -> Array:
    """all(Tensor self) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    return reduction_kernels.all(self)


def all__dim(self: Array, dim: int, keepdim: bool = False) -> Array:
    """all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    return reduction_kernels.all(self, (dim,), keepdim)


def any(self: Array) -> Array:
    """any(Tensor self) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    return reduction_kernels.any(self)


def any__dim(self: Array, dim: int, keepdim: bool = False) -> Array:
    """any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    return reduction_kernels.any(self, (dim,), keepdim)


def _is_all_true(self: Array) -> Array:
    """_is_all_true(Tensor self) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    return jnp.all(self)


def _is_any_true(self: Array) -> Array:
    """_is_any_true(Tensor self) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    return jnp.any(self)


def amax(self: Array, dim: Sequence[int] = (), keepdim: bool = False) -> Array:
    """amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    return reduce_over(lax.reduce_max, self, dim, keepdim)


def amin(self: Array, dim: Sequence[int] = (), keepdim: bool = False) -> Array:
    """amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    return reduce_over(lax.reduce_min, self, dim, keepdim)


def aminmax(self: Array, *, dim: int | None = None, keepdim: bool = False) -> tuple[Array, Array]:
    """aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)

    Spec: ops_spec/reduction.yaml
    """
    return (amin(self, dim, keepdim), amax(self, dim, keepdim))


def _aminmax(self: Array) -> tuple[Array, Array]:
    """_aminmax(Tensor self) -> (Tensor, Tensor)

    Spec: ops_spec/reduction.yaml
    """
    return aminmax(self)


def _aminmax__dim(self: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """_aminmax.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)

    Spec: ops_spec/reduction.yaml
    """
    return aminmax(self, dim=dim, keepdim=keepdim)


def max(self: Array) -> Array:
    """max(Tensor self) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    return jnp.max(self)


def min(self: Array) -> Array:
    """min(Tensor self) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    return jnp.min(self)


def var__correction(
    self: Array, dim: Sequence[int] | None = None, *, correction: ArrayLike | None = None, keepdim: bool = False
) -> Array:
    """var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    return moments_kernels.var_mean(self, dim, correction=correction, keepdim=keepdim)[0]


def std__correction(
    self: Array, dim: Sequence[int] | None = None, *, correction: ArrayLike | None = None, keepdim: bool = False
) -> Array:
    """std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    return moments_kernels.std_mean(self, dim, correction=correction, keepdim=keepdim)[0]


def norm__ScalarOpt_dtype(self: Array, p: ArrayLike | None, *, dtype: DType) -> Array:
    """norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    return distance_kernels.linalg_vector_norm(self, 2 if p is None else p, dtype=dtype)


def norm__Scalar(self: Array, p: ArrayLike = 2) -> Array:
    """norm.Scalar(Tensor self, Scalar p=2) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    return distance_kernels.linalg_vector_norm(self, p)


def norm__ScalarOpt_dim_dtype(
    self: Array, p: ArrayLike | None, dim: Sequence[int], keepdim: bool, *, dtype: DType
) -> Array:
    """norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    return distance_kernels.linalg_vector_norm(self, 2 if p is None else p, dim, keepdim, dtype=dtype)


def norm__ScalarOpt_dim(self: Array, p: ArrayLike | None, dim: Sequence[int], keepdim: bool = False) -> Array:
    """norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    return distance_kernels.linalg_vector_norm(self, 2 if p is None else p, dim, keepdim)


def renorm(self: Array, p: ArrayLike, dim: int, maxnorm: ArrayLike) -> Array:
    """renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor

    Spec: ops_spec/reduction.yaml
    """
    dtype, self = DEFAULT(self)
    return cast(distance_kernels.renorm(self=self, p=p, dim=dim, maxnorm=maxnorm), dtype)
