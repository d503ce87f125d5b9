"""Lowerings of the family `sort`.

Generated from ops_spec/sort.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from tenax.kernels import sort as sort_kernels
from tenax.words import Array


def sort(self: Array, dim: int = -1, descending: bool = False) -> tuple[Array, Array]:
    """sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)

    Spec: ops_spec/sort.yaml
    """
    return sort__stable(self, stable=True, dim=dim, descending=descending)


def sort__stable(self: Array, *, stable: bool | None, dim: int = -1, descending: bool = False) -> tuple[Array, Array]:
    """sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)

    Spec: ops_spec/sort.yaml
    """
    return sort_kernels.sort(self=self, stable=stable, dim=dim, descending=descending)


def topk(self: Array, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Array, Array]:
    """topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)

    Spec: ops_spec/sort.yaml
    """
    return sort_kernels.topk(self=self, k=k, dim=dim, largest=largest, sorted=sorted)


def kthvalue(self: Array, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Array, Array]:
    """kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)

    Spec: ops_spec/sort.yaml
    """
    return sort_kernels.kthvalue(self=self, k=k, dim=dim, keepdim=keepdim)


def median(self: Array) -> Array:
    """median(Tensor self) -> Tensor

    Spec: ops_spec/sort.yaml
    """
    return sort_kernels.median(self=self)


def median__dim(self: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)

    Spec: ops_spec/sort.yaml
    """
    return sort_kernels.median_dim(self=self, dim=dim, keepdim=keepdim)


def nanmedian(self: Array) -> Array:
    """nanmedian(Tensor self) -> Tensor

    Spec: ops_spec/sort.yaml
    """
    return sort_kernels.nanmedian(self=self)


def nanmedian__dim(self: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)

    Spec: ops_spec/sort.yaml
    """
    return sort_kernels.nanmedian_dim(self=self, dim=dim, keepdim=keepdim)


def mode(self: Array, dim: int = -1, keepdim: bool = False) -> tuple[Array, Array]:
    """mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)

    Spec: ops_spec/sort.yaml
    """
    return sort_kernels.mode(self=self, dim=dim, keepdim=keepdim)
