"""Lowerings of the family `scan`.

Generated from ops_spec/scan.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

import jax.numpy as jnp

from tenax.generated import indexing as indexing_ops
from tenax.kernels import scan as scan_kernels
from tenax.words import DEFAULT, INT_TO_LONG, Array, DType, Gradients, cast, with_derivative


def cumsum(self: Array, dim: int, *, dtype: DType | None = None) -> Array:
    """cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor

    Spec: ops_spec/scan.yaml
    """
    dtype, self = INT_TO_LONG(self) if dtype is None else DEFAULT(cast(self, dtype))
    return cast(scan_kernels.cumsum(self=self, dim=dim, dtype=dtype), dtype)


def cumprod(self: Array, dim: int, *, dtype: DType | None = None) -> Array:
    """cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor

    Spec: ops_spec/scan.yaml
    """
    dtype, self = INT_TO_LONG(self) if dtype is None else DEFAULT(cast(self, dtype))
    return cast(scan_kernels.cumprod(self=self, dim=dim, dtype=dtype), dtype)


def logcumsumexp(self: Array, dim: int) -> Array:
    """logcumsumexp(Tensor self, int dim) -> Tensor

    Spec: ops_spec/scan.yaml
    """
    dtype, self = DEFAULT(self)
    return cast(scan_kernels.logcumsumexp(self=self, dim=dim), dtype)


def _logcumsumexp(self: Array, dim: int) -> Array:
    """_logcumsumexp(Tensor self, int dim) -> Tensor

    Spec: ops_spec/scan.yaml
    """
    return logcumsumexp(self, dim)


def cummax(self: Array, dim: int) -> tuple[Array, Array]:
    """cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)

    Spec: ops_spec/scan.yaml
    """

    def value(self: Array) -> tuple[Array, Array]:
        return scan_kernels.cummax(self=self, dim=dim)

    def gradients(grad: Array, result: Array, self: Array) -> Gradients:
        return {
            "self": lambda: indexing_ops.scatter_add(jnp.zeros_like(self), dim, result[1], grad[0]),
        }

    return with_derivative(value, gradients, self=self)


def cummin(self: Array, dim: int) -> tuple[Array, Array]:
    """cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)

    Spec: ops_spec/scan.yaml
    """

    def value(self: Array) -> tuple[Array, Array]:
        return scan_kernels.cummin(self=self, dim=dim)

    def gradients(grad: Array, result: Array, self: Array) -> Gradients:
        return {
            "self": lambda: indexing_ops.scatter_add(jnp.zeros_like(self), dim, result[1], grad[0]),
        }

    return with_derivative(value, gradients, self=self)


def _cummax_helper(self: Array, values: Array, indices: Array, dim: int) -> tuple[Array, Array]:
    """_cummax_helper(Tensor self, Tensor(a!) values, Tensor(b!) indices, int dim) -> ()

    Spec: ops_spec/scan.yaml
    """
    return cummax(self, dim)


def _cummin_helper(self: Array, values: Array, indices: Array, dim: int) -> tuple[Array, Array]:
    """_cummin_helper(Tensor self, Tensor(a!) values, Tensor(b!) indices, int dim) -> ()

    Spec: ops_spec/scan.yaml
    """
    return cummin(self, dim)
