"""Lowerings of the family `scan`.

Generated from ops_spec/scan.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from tenax.kernels import scan as scan_kernels
from tenax.words import Array, DType


def cumsum(self: Array, dim: int, *, dtype: DType | None = None) -> Array:
    """cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor

    Spec: ops_spec/scan.yaml
    """
    return scan_kernels.cumsum(self=self, dim=dim, dtype=dtype)


def cumprod(self: Array, dim: int, *, dtype: DType | None = None) -> Array:
    """cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor

    Spec: ops_spec/scan.yaml
    """
    return scan_kernels.cumprod(self=self, dim=dim, dtype=dtype)


def logcumsumexp(self: Array, dim: int) -> Array:
    """logcumsumexp(Tensor self, int dim) -> Tensor

    Spec: ops_spec/scan.yaml
    """
    return scan_kernels.logcumsumexp(self=self, dim=dim)


def _logcumsumexp(self: Array, dim: int) -> Array:
    """_logcumsumexp(Tensor self, int dim) -> Tensor

    Spec: ops_spec/scan.yaml
    """
    return scan_kernels.logcumsumexp(self=self, dim=dim)


def cummax(self: Array, dim: int) -> tuple[Array, Array]:
    """cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)

    Spec: ops_spec/scan.yaml
    """
    return scan_kernels.cummax(self=self, dim=dim)


def cummin(self: Array, dim: int) -> tuple[Array, Array]:
    """cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)

    Spec: ops_spec/scan.yaml
    """
    return scan_kernels.cummin(self=self, dim=dim)


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
