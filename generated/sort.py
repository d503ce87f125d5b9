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
