"""Lowerings of the family `sparse`.

Generated from ops_spec/sparse.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from tenax.kernels import sparse as sparse_kernels
from tenax.words import Array


def _convert_indices_from_coo_to_csr(self: Array, size: int, *, out_int32: bool = False) -> Array:
    """_convert_indices_from_coo_to_csr(Tensor self, int size, *, bool out_int32=False) -> Tensor

    Spec: ops_spec/sparse.yaml
    """
    return sparse_kernels._convert_indices_from_coo_to_csr(self=self, size=size, out_int32=out_int32)


def _convert_indices_from_csr_to_coo(
    crow_indices: Array, col_indices: Array, *, out_int32: bool = False, transpose: bool = False
) -> Array:
    """_convert_indices_from_csr_to_coo(Tensor crow_indices, Tensor col_indices, *, bool out_int32=False, bool
        transpose=False) -> Tensor

    Spec: ops_spec/sparse.yaml
    """
    return sparse_kernels._convert_indices_from_csr_to_coo(
        crow_indices=crow_indices, col_indices=col_indices, out_int32=out_int32, transpose=transpose
    )
