"""Lowerings of the family `unique`.

Generated from ops_spec/unique.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from tenax.kernels import unique as unique_kernels
from tenax.words import Array


def _unique(self: Array, sorted: bool = True, return_inverse: bool = False) -> tuple[Array, Array]:
    """_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor)

    Spec: ops_spec/unique.yaml
    """
    return unique_kernels._unique(self=self, sorted=sorted, return_inverse=return_inverse)


def _unique2(
    self: Array, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Array, Array, Array]:
    """_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor,
        Tensor)

    Spec: ops_spec/unique.yaml
    """
    return unique_kernels._unique2(self=self, sorted=sorted, return_inverse=return_inverse, return_counts=return_counts)


def unique_dim(
    self: Array, dim: int, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Array, Array, Array]:
    """unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) ->
        (Tensor, Tensor, Tensor)

    Spec: ops_spec/unique.yaml
    """
    return unique_kernels.unique_dim(
        self=self, dim=dim, sorted=sorted, return_inverse=return_inverse, return_counts=return_counts
    )


def unique_consecutive(
    self: Array, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple[Array, Array, Array]:
    """unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> (Tensor,
        Tensor, Tensor)

    Spec: ops_spec/unique.yaml
    """
    return unique_kernels.unique_consecutive(
        self=self, return_inverse=return_inverse, return_counts=return_counts, dim=dim
    )


def unique_dim_consecutive(
    self: Array, dim: int, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Array, Array, Array]:
    """unique_dim_consecutive(Tensor self, int dim, bool return_inverse=False, bool return_counts=False) -> (Tensor,
        Tensor, Tensor)

    Spec: ops_spec/unique.yaml
    """
    return unique_kernels.unique_dim_consecutive(
        self=self, dim=dim, return_inverse=return_inverse, return_counts=return_counts
    )
