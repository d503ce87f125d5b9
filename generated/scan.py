"""Lowerings of the family `scan`.

Generated from ops_spec/scan.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from tenax.kernels import scan as scan_kernels
from tenax.words import DEFAULT, INT_TO_LONG, Array, DType, cast


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


def _cummax_helper(self: Array, values: Array, indices: Array, dim: int) -> tuple[Array, Array]:
    """_cummax_helper(Tensor self, Tensor(a!) values, Tensor(b!) indices, int dim) -> ()

    Spec: ops_spec/scan.yaml
    """
    return scan_kernels.cummax(self, dim)


def _cummin_helper(self: Array, values: Array, indices: Array, dim: int) -> tuple[Array, Array]:
    """_cummin_helper(Tensor self, Tensor(a!) values, Tensor(b!) indices, int dim) -> ()

    Spec: ops_spec/scan.yaml
    """
    return scan_kernels.cummin(self, dim)
