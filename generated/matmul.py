"""Lowerings of the family `matmul`.

Generated from ops_spec/matmul.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax
from jax.typing import ArrayLike

from tenax.generated import activation as activation_ops
from tenax.kernels import matmul as matmul_kernels
from tenax.words import DEFAULT, Array, DType, axpby, cast, contract, term_dtype


def mm(self: Array, mat2: Array) -> Array:
    """mm(Tensor self, Tensor mat2) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return contract(self, mat2, (1,), (0,))


def bmm(self: Array, mat2: Array) -> Array:
    """bmm(Tensor self, Tensor mat2) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return contract(self, mat2, (2,), (1,), batch=1)


def mv(self: Array, vec: Array) -> Array:
    """mv(Tensor self, Tensor vec) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return contract(self, vec, (1,), (0,))


def dot(self: Array, tensor: Array) -> Array:
    """dot(Tensor self, Tensor tensor) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return contract(self, tensor, (0,), (0,))


def vdot(self: Array, other: Array) -> Array:
    """vdot(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return contract(jnp.conj(self), other, (0,), (0,))


def addmm(self: Array, mat1: Array, mat2: Array, *, beta: ArrayLike = 1, alpha: ArrayLike = 1) -> Array:
    """addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return axpby(alpha if mat1.size else 1, contract(mat1, mat2, (1,), (0,), dtype=term_dtype(mat1.dtype)), beta, self)


def baddbmm(self: Array, batch1: Array, batch2: Array, *, beta: ArrayLike = 1, alpha: ArrayLike = 1) -> Array:
    """baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return axpby(
        alpha if batch1.size else 1, contract(batch1, batch2, (2,), (1,), 1, term_dtype(batch1.dtype)), beta, self
    )


def addbmm(self: Array, batch1: Array, batch2: Array, *, beta: ArrayLike = 1, alpha: ArrayLike = 1) -> Array:
    """addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return axpby(
        alpha if batch1.size else 1,
        contract(batch1, batch2, (0, 2), (0, 1), dtype=term_dtype(batch1.dtype)),
        beta,
        self,
    )


def addmv(self: Array, mat: Array, vec: Array, *, beta: ArrayLike = 1, alpha: ArrayLike = 1) -> Array:
    """addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return axpby(alpha if mat.size else 1, contract(mat, vec, (1,), (0,), dtype=term_dtype(mat.dtype)), beta, self)


def addr(self: Array, vec1: Array, vec2: Array, *, beta: ArrayLike = 1, alpha: ArrayLike = 1) -> Array:
    """addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    dtype, self, vec1, vec2 = DEFAULT(self, vec1, vec2)
    return cast(matmul_kernels.addr(self=self, vec1=vec1, vec2=vec2, beta=beta, alpha=alpha), dtype)


def _addmm_activation(
    self: Array, mat1: Array, mat2: Array, *, beta: ArrayLike = 1, alpha: ArrayLike = 1, use_gelu: bool = False
) -> Array:
    """_addmm_activation(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, bool use_gelu=False)
        -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return (activation_ops.gelu if use_gelu else activation_ops.relu)(addmm(self, mat1, mat2, beta=beta, alpha=alpha))


def mm__dtype(self: Array, mat2: Array, out_dtype: DType) -> Array:
    """mm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return lax.optimization_barrier(contract(self, mat2, (1,), (0,), dtype=out_dtype))


def bmm__dtype(self: Array, mat2: Array, out_dtype: DType) -> Array:
    """bmm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return lax.optimization_barrier(contract(self, mat2, (2,), (1,), batch=1, dtype=out_dtype))


def addmm__dtype(
    self: Array, mat1: Array, mat2: Array, out_dtype: DType, *, beta: ArrayLike = 1, alpha: ArrayLike = 1
) -> Array:
    """addmm.dtype(Tensor self, Tensor mat1, Tensor mat2, ScalarType out_dtype, *, Scalar beta=1, Scalar alpha=1) ->
        Tensor

    Spec: ops_spec/matmul.yaml
    """
    return axpby(alpha, mm__dtype(mat1, mat2, out_dtype), beta, self, out_dtype)


def _int_mm(self: Array, mat2: Array) -> Array:
    """_int_mm(Tensor self, Tensor mat2) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return lax.dot(self, mat2, preferred_element_type=jnp.int32)
