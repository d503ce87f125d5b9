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
    return unique_kernels._unique2(self, sorted, return_inverse)[:2]


def unique_dim_consecutive(
    self: Array, dim: int, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Array, Array, Array]:
    """unique_dim_consecutive(Tensor self, int dim, bool return_inverse=False, bool return_counts=False) -> (Tensor,
        Tensor, Tensor)

    Spec: ops_spec/unique.yaml
    """
    return unique_kernels.unique_consecutive(self, return_inverse, return_counts, dim)
