"""Lowerings of the family `matmul`.

Generated from ops_spec/matmul.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax import lax
from jax.typing import ArrayLike

from tenax.generated import activation as activation_ops
from tenax.kernels import matmul as matmul_kernels
from tenax.words import DEFAULT, Array, DType, cast


def mm(self: Array, mat2: Array) -> Array:
    """mm(Tensor self, Tensor mat2) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return matmul_kernels.mm(self=self, mat2=mat2)


def bmm(self: Array, mat2: Array) -> Array:
    """bmm(Tensor self, Tensor mat2) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return matmul_kernels.bmm(self=self, mat2=mat2)


def mv(self: Array, vec: Array) -> Array:
    """mv(Tensor self, Tensor vec) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return matmul_kernels.mv(self=self, vec=vec)


def dot(self: Array, tensor: Array) -> Array:
    """dot(Tensor self, Tensor tensor) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return matmul_kernels.dot(self=self, tensor=tensor)


def vdot(self: Array, other: Array) -> Array:
    """vdot(Tensor self, Tensor other) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return matmul_kernels.vdot(self=self, other=other)


def addmm(self: Array, mat1: Array, mat2: Array, *, beta: ArrayLike = 1, alpha: ArrayLike = 1) -> Array:
    """addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return matmul_kernels.addmm(self=self, mat1=mat1, mat2=mat2, beta=beta, alpha=alpha)


def baddbmm(self: Array, batch1: Array, batch2: Array, *, beta: ArrayLike = 1, alpha: ArrayLike = 1) -> Array:
    """baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return matmul_kernels.baddbmm(self=self, batch1=batch1, batch2=batch2, beta=beta, alpha=alpha)


def addbmm(self: Array, batch1: Array, batch2: Array, *, beta: ArrayLike = 1, alpha: ArrayLike = 1) -> Array:
    """addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return matmul_kernels.addbmm(self=self, batch1=batch1, batch2=batch2, beta=beta, alpha=alpha)


def addmv(self: Array, mat: Array, vec: Array, *, beta: ArrayLike = 1, alpha: ArrayLike = 1) -> Array:
    """addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return matmul_kernels.addmv(self=self, mat=mat, vec=vec, beta=beta, alpha=alpha)


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


def _trilinear(
    i1: Array,
    i2: Array,
    i3: Array,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int = 1,
) -> Array:
    """_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] sumdim, int
        unroll_dim=1) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return matmul_kernels._trilinear(
        i1=i1, i2=i2, i3=i3, expand1=expand1, expand2=expand2, expand3=expand3, sumdim=sumdim, unroll_dim=unroll_dim
    )


def mm__dtype(self: Array, mat2: Array, out_dtype: DType) -> Array:
    """mm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return matmul_kernels.mm_to(self=self, mat2=mat2, out_dtype=out_dtype)


def bmm__dtype(self: Array, mat2: Array, out_dtype: DType) -> Array:
    """bmm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return matmul_kernels.bmm_to(self=self, mat2=mat2, out_dtype=out_dtype)


def addmm__dtype(
    self: Array, mat1: Array, mat2: Array, out_dtype: DType, *, beta: ArrayLike = 1, alpha: ArrayLike = 1
) -> Array:
    """addmm.dtype(Tensor self, Tensor mat1, Tensor mat2, ScalarType out_dtype, *, Scalar beta=1, Scalar alpha=1) ->
        Tensor

    Spec: ops_spec/matmul.yaml
    """
    return matmul_kernels.addmm_to(self=self, mat1=mat1, mat2=mat2, out_dtype=out_dtype, beta=beta, alpha=alpha)


def baddbmm__dtype(
    self: Array, batch1: Array, batch2: Array, out_dtype: DType, *, beta: ArrayLike = 1, alpha: ArrayLike = 1
) -> Array:
    """baddbmm.dtype(Tensor self, Tensor batch1, Tensor batch2, ScalarType out_dtype, *, Scalar beta=1, Scalar alpha=1)
        -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return matmul_kernels.baddbmm_to(
        self=self, batch1=batch1, batch2=batch2, out_dtype=out_dtype, beta=beta, alpha=alpha
    )


def _int_mm(self: Array, mat2: Array) -> Array:
    """_int_mm(Tensor self, Tensor mat2) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return lax.dot(self, mat2, preferred_element_type=jnp.int32)


def _weight_int8pack_mm(self: Array, mat2: Array, scales: Array) -> Array:
    """_weight_int8pack_mm(Tensor self, Tensor mat2, Tensor scales) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return matmul_kernels._weight_int8pack_mm(self=self, mat2=mat2, scales=scales)


def _scaled_mm(
    self: Array,
    mat2: Array,
    scale_a: Array,
    scale_b: Array,
    bias: Array | None = None,
    scale_result: Array | None = None,
    out_dtype: DType | None = None,
    use_fast_accum: bool = False,
) -> Array:
    """_scaled_mm(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, Tensor? bias=None, Tensor?
        scale_result=None, ScalarType? out_dtype=None, bool use_fast_accum=False) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return matmul_kernels._scaled_mm(
        self=self,
        mat2=mat2,
        scale_a=scale_a,
        scale_b=scale_b,
        bias=bias,
        scale_result=scale_result,
        out_dtype=out_dtype,
        use_fast_accum=use_fast_accum,
    )


def _scaled_mm_v2(
    self: Array,
    mat2: Array,
    scale_a: Sequence[Array],
    recipe_a: Sequence[int],
    swizzle_a: Sequence[int],
    scale_b: Sequence[Array],
    recipe_b: Sequence[int],
    swizzle_b: Sequence[int],
    bias: Array | None,
    out_dtype: DType | None,
    contraction_dim: Sequence[int] = (),
    use_fast_accum: bool = False,
) -> Array:
    """_scaled_mm_v2(Tensor self, Tensor mat2, Tensor[] scale_a, int[] recipe_a, int[] swizzle_a, Tensor[] scale_b,
        int[] recipe_b, int[] swizzle_b, Tensor? bias, ScalarType? out_dtype, int[] contraction_dim=[], bool
        use_fast_accum=False) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return matmul_kernels._scaled_mm_v2(
        self=self,
        mat2=mat2,
        scale_a=scale_a,
        recipe_a=recipe_a,
        swizzle_a=swizzle_a,
        scale_b=scale_b,
        recipe_b=recipe_b,
        swizzle_b=swizzle_b,
        bias=bias,
        out_dtype=out_dtype,
        contraction_dim=contraction_dim,
        use_fast_accum=use_fast_accum,
    )


def _grouped_mm(
    self: Array, mat2: Array, offs: Array | None = None, bias: Array | None = None, out_dtype: DType | None = None
) -> Array:
    """_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? out_dtype=None) -> Tensor

    Spec: ops_spec/matmul.yaml
    """
    return matmul_kernels._grouped_mm(self=self, mat2=mat2, offs=offs, bias=bias, out_dtype=out_dtype)
