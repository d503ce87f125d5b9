"""Lowerings of the family `foreach`.

Generated from ops_spec/foreach.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax.typing import ArrayLike

from tenax.generated import activation as activation_ops
from tenax.generated import matmul as matmul_ops
from tenax.generated import pointwise as pointwise_ops
from tenax.generated import reduction as reduction_ops
from tenax.generated import special as special_ops
from tenax.kernels import distance as distance_kernels
from tenax.kernels import pointwise as pointwise_kernels
from tenax.words import Array, DType, cast


def _foreach_abs(self: Sequence[Array]) -> list[Array]:
    """_foreach_abs(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.abs(a) for a in self]


def _foreach_acos(self: Sequence[Array]) -> list[Array]:
    """_foreach_acos(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.acos(a) for a in self]


def _foreach_asin(self: Sequence[Array]) -> list[Array]:
    """_foreach_asin(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.asin(a) for a in self]


def _foreach_atan(self: Sequence[Array]) -> list[Array]:
    """_foreach_atan(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.atan(a) for a in self]


def _foreach_ceil(self: Sequence[Array]) -> list[Array]:
    """_foreach_ceil(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.ceil(a) for a in self]


def _foreach_cos(self: Sequence[Array]) -> list[Array]:
    """_foreach_cos(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.cos(a) for a in self]


def _foreach_cosh(self: Sequence[Array]) -> list[Array]:
    """_foreach_cosh(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.cosh(a) for a in self]


def _foreach_erf(self: Sequence[Array]) -> list[Array]:
    """_foreach_erf(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [special_ops.erf(a) for a in self]


def _foreach_erfc(self: Sequence[Array]) -> list[Array]:
    """_foreach_erfc(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [special_ops.erfc(a) for a in self]


def _foreach_exp(self: Sequence[Array]) -> list[Array]:
    """_foreach_exp(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.exp(a) for a in self]


def _foreach_expm1(self: Sequence[Array]) -> list[Array]:
    """_foreach_expm1(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.expm1(a) for a in self]


def _foreach_floor(self: Sequence[Array]) -> list[Array]:
    """_foreach_floor(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.floor(a) for a in self]


def _foreach_frac(self: Sequence[Array]) -> list[Array]:
    """_foreach_frac(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.frac(a) for a in self]


def _foreach_lgamma(self: Sequence[Array]) -> list[Array]:
    """_foreach_lgamma(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [special_ops.lgamma(a) for a in self]


def _foreach_log(self: Sequence[Array]) -> list[Array]:
    """_foreach_log(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.log(a) for a in self]


def _foreach_log10(self: Sequence[Array]) -> list[Array]:
    """_foreach_log10(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.log10(a) for a in self]


def _foreach_log1p(self: Sequence[Array]) -> list[Array]:
    """_foreach_log1p(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.log1p(a) for a in self]


def _foreach_log2(self: Sequence[Array]) -> list[Array]:
    """_foreach_log2(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.log2(a) for a in self]


def _foreach_neg(self: Sequence[Array]) -> list[Array]:
    """_foreach_neg(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.neg(a) for a in self]


def _foreach_reciprocal(self: Sequence[Array]) -> list[Array]:
    """_foreach_reciprocal(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.reciprocal(a) for a in self]


def _foreach_round(self: Sequence[Array]) -> list[Array]:
    """_foreach_round(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.round(a) for a in self]


def _foreach_rsqrt(self: Sequence[Array]) -> list[Array]:
    """_foreach_rsqrt(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.rsqrt(a) for a in self]


def _foreach_sigmoid(self: Sequence[Array]) -> list[Array]:
    """_foreach_sigmoid(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [activation_ops.sigmoid(a) for a in self]


def _foreach_sign(self: Sequence[Array]) -> list[Array]:
    """_foreach_sign(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.sign(a) for a in self]


def _foreach_sin(self: Sequence[Array]) -> list[Array]:
    """_foreach_sin(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.sin(a) for a in self]


def _foreach_sinh(self: Sequence[Array]) -> list[Array]:
    """_foreach_sinh(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.sinh(a) for a in self]


def _foreach_sqrt(self: Sequence[Array]) -> list[Array]:
    """_foreach_sqrt(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.sqrt(a) for a in self]


def _foreach_tan(self: Sequence[Array]) -> list[Array]:
    """_foreach_tan(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.tan(a) for a in self]


def _foreach_tanh(self: Sequence[Array]) -> list[Array]:
    """_foreach_tanh(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [activation_ops.tanh(a) for a in self]


def _foreach_trunc(self: Sequence[Array]) -> list[Array]:
    """_foreach_trunc(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.trunc(a) for a in self]


def _foreach_max(self: Sequence[Array]) -> list[Array]:
    """_foreach_max(Tensor[] self) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [reduction_ops.max(a) for a in self]


def _foreach_add__Scalar(self: Sequence[Array], scalar: ArrayLike) -> list[Array]:
    """_foreach_add.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.add__Scalar(a, scalar) for a in self]


def _foreach_add__List(self: Sequence[Array], other: Sequence[Array], *, alpha: ArrayLike = 1) -> list[Array]:
    """_foreach_add.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.add__Tensor(a, b, alpha=alpha) for a, b in zip(self, other, strict=True)]


def _foreach_add__ScalarList(self: Sequence[Array], scalars: Sequence[ArrayLike]) -> list[Array]:
    """_foreach_add.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.add__Scalar(a, b) for a, b in zip(self, scalars, strict=True)]


def _foreach_add__Tensor(self: Sequence[Array], other: Array, *, alpha: ArrayLike = 1) -> list[Array]:
    """_foreach_add.Tensor(Tensor[] self, Tensor other, *, Scalar alpha=1) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.add__Tensor(a, other, alpha=alpha) for a in self]


def _foreach_sub__Scalar(self: Sequence[Array], scalar: ArrayLike) -> list[Array]:
    """_foreach_sub.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.sub__Scalar(a, scalar) for a in self]


def _foreach_sub__List(self: Sequence[Array], other: Sequence[Array], *, alpha: ArrayLike = 1) -> list[Array]:
    """_foreach_sub.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.sub__Tensor(a, b, alpha=alpha) for a, b in zip(self, other, strict=True)]


def _foreach_sub__ScalarList(self: Sequence[Array], scalars: Sequence[ArrayLike]) -> list[Array]:
    """_foreach_sub.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.sub__Scalar(a, b) for a, b in zip(self, scalars, strict=True)]


def _foreach_mul__Scalar(self: Sequence[Array], scalar: ArrayLike) -> list[Array]:
    """_foreach_mul.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.mul__Scalar(a, scalar) for a in self]


def _foreach_mul__List(self: Sequence[Array], other: Sequence[Array]) -> list[Array]:
    """_foreach_mul.List(Tensor[] self, Tensor[] other) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.mul__Tensor(a, b) for a, b in zip(self, other, strict=True)]


def _foreach_mul__ScalarList(self: Sequence[Array], scalars: Sequence[ArrayLike]) -> list[Array]:
    """_foreach_mul.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.mul__Scalar(a, b) for a, b in zip(self, scalars, strict=True)]


def _foreach_mul__Tensor(self: Sequence[Array], other: Array) -> list[Array]:
    """_foreach_mul.Tensor(Tensor[] self, Tensor other) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.mul__Tensor(a, other) for a in self]


def _foreach_div__Scalar(self: Sequence[Array], scalar: ArrayLike) -> list[Array]:
    """_foreach_div.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.div__Scalar(a, scalar) for a in self]


def _foreach_div__List(self: Sequence[Array], other: Sequence[Array]) -> list[Array]:
    """_foreach_div.List(Tensor[] self, Tensor[] other) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.div__Tensor(a, b) for a, b in zip(self, other, strict=True)]


def _foreach_div__ScalarList(self: Sequence[Array], scalars: Sequence[ArrayLike]) -> list[Array]:
    """_foreach_div.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.div__Scalar(a, b) for a, b in zip(self, scalars, strict=True)]


def _foreach_div__Tensor(self: Sequence[Array], other: Array) -> list[Array]:
    """_foreach_div.Tensor(Tensor[] self, Tensor other) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.div__Tensor(a, other) for a in self]


def _foreach_clamp_max__Scalar(self: Sequence[Array], scalar: ArrayLike) -> list[Array]:
    """_foreach_clamp_max.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.clamp_max(a, scalar) for a in self]


def _foreach_clamp_max__List(self: Sequence[Array], other: Sequence[Array]) -> list[Array]:
    """_foreach_clamp_max.List(Tensor[] self, Tensor[] other) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.clamp_max__Tensor(a, b) for a, b in zip(self, other, strict=True)]


def _foreach_clamp_max__ScalarList(self: Sequence[Array], scalars: Sequence[ArrayLike]) -> list[Array]:
    """_foreach_clamp_max.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.clamp_max(a, b) for a, b in zip(self, scalars, strict=True)]


def _foreach_clamp_min__Scalar(self: Sequence[Array], scalar: ArrayLike) -> list[Array]:
    """_foreach_clamp_min.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.clamp_min(a, scalar) for a in self]


def _foreach_clamp_min__List(self: Sequence[Array], other: Sequence[Array]) -> list[Array]:
    """_foreach_clamp_min.List(Tensor[] self, Tensor[] other) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.clamp_min__Tensor(a, b) for a, b in zip(self, other, strict=True)]


def _foreach_clamp_min__ScalarList(self: Sequence[Array], scalars: Sequence[ArrayLike]) -> list[Array]:
    """_foreach_clamp_min.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.clamp_min(a, b) for a, b in zip(self, scalars, strict=True)]


def _foreach_maximum__Scalar(self: Sequence[Array], scalar: ArrayLike) -> list[Array]:
    """_foreach_maximum.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.clamp_min(a, scalar) for a in self]


def _foreach_maximum__List(self: Sequence[Array], other: Sequence[Array]) -> list[Array]:
    """_foreach_maximum.List(Tensor[] self, Tensor[] other) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.clamp_min__Tensor(a, b) for a, b in zip(self, other, strict=True)]


def _foreach_maximum__ScalarList(self: Sequence[Array], scalars: Sequence[ArrayLike]) -> list[Array]:
    """_foreach_maximum.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.clamp_min(a, b) for a, b in zip(self, scalars, strict=True)]


def _foreach_minimum__Scalar(self: Sequence[Array], scalar: ArrayLike) -> list[Array]:
    """_foreach_minimum.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.clamp_max(a, scalar) for a in self]


def _foreach_minimum__List(self: Sequence[Array], other: Sequence[Array]) -> list[Array]:
    """_foreach_minimum.List(Tensor[] self, Tensor[] other) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.clamp_max__Tensor(a, b) for a, b in zip(self, other, strict=True)]


def _foreach_minimum__ScalarList(self: Sequence[Array], scalars: Sequence[ArrayLike]) -> list[Array]:
    """_foreach_minimum.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.clamp_max(a, b) for a, b in zip(self, scalars, strict=True)]


def _foreach_pow__List(self: Sequence[Array], exponent: Sequence[Array]) -> list[Array]:
    """_foreach_pow.List(Tensor[] self, Tensor[] exponent) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.pow__Tensor_Tensor(a, b) for a, b in zip(self, exponent, strict=True)]


def _foreach_pow__Scalar(self: Sequence[Array], exponent: ArrayLike) -> list[Array]:
    """_foreach_pow.Scalar(Tensor[] self, Scalar exponent) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_kernels.power_scalar(a, exponent) for a in self]


def _foreach_pow__ScalarList(self: Sequence[Array], exponent: Sequence[ArrayLike]) -> list[Array]:
    """_foreach_pow.ScalarList(Tensor[] self, Scalar[] exponent) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.pow__Tensor_Tensor(a, b) for a, b in zip(self, exponent, strict=True)]


def _foreach_pow__ScalarAndTensor(self: ArrayLike, exponent: Sequence[Array]) -> list[Array]:
    """_foreach_pow.ScalarAndTensor(Scalar self, Tensor[] exponent) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.pow__Scalar(self, a) for a in exponent]


def _foreach_lerp__List(self: Sequence[Array], tensors1: Sequence[Array], weights: Sequence[Array]) -> list[Array]:
    """_foreach_lerp.List(Tensor[] self, Tensor[] tensors1, Tensor[] weights) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.lerp__Tensor(a, b, c) for a, b, c in zip(self, tensors1, weights, strict=True)]


def _foreach_lerp__Scalar(self: Sequence[Array], tensors1: Sequence[Array], weight: ArrayLike) -> list[Array]:
    """_foreach_lerp.Scalar(Tensor[] self, Tensor[] tensors1, Scalar weight) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.lerp__Scalar(a, b, weight) for a, b in zip(self, tensors1, strict=True)]


def _foreach_lerp__ScalarList(
    self: Sequence[Array], tensors1: Sequence[Array], weight: Sequence[ArrayLike]
) -> list[Array]:
    """_foreach_lerp.ScalarList(Tensor[] self, Tensor[] tensors1, Scalar[] weight) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.lerp__Scalar(a, b, c) for a, b, c in zip(self, tensors1, weight, strict=True)]


def _foreach_addcdiv__Scalar(
    self: Sequence[Array], tensor1: Sequence[Array], tensor2: Sequence[Array], value: ArrayLike = 1
) -> list[Array]:
    """_foreach_addcdiv.Scalar(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.addcdiv(a, b, c, value=value) for a, b, c in zip(self, tensor1, tensor2, strict=True)]


def _foreach_addcdiv__ScalarList(
    self: Sequence[Array], tensor1: Sequence[Array], tensor2: Sequence[Array], scalars: Sequence[ArrayLike]
) -> list[Array]:
    """_foreach_addcdiv.ScalarList(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.addcdiv(a, b, c, value=d) for a, b, c, d in zip(self, tensor1, tensor2, scalars, strict=True)]


def _foreach_addcmul__Scalar(
    self: Sequence[Array], tensor1: Sequence[Array], tensor2: Sequence[Array], value: ArrayLike = 1
) -> list[Array]:
    """_foreach_addcmul.Scalar(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.addcmul(a, b, c, value=value) for a, b, c in zip(self, tensor1, tensor2, strict=True)]


def _foreach_addcmul__ScalarList(
    self: Sequence[Array], tensor1: Sequence[Array], tensor2: Sequence[Array], scalars: Sequence[ArrayLike]
) -> list[Array]:
    """_foreach_addcmul.ScalarList(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [pointwise_ops.addcmul(a, b, c, value=d) for a, b, c, d in zip(self, tensor1, tensor2, scalars, strict=True)]


def _foreach_mm(self: Sequence[Array], mat2: Sequence[Array]) -> list[Array]:
    """_foreach_mm(Tensor[] self, Tensor[] mat2) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [matmul_ops.mm(a, b) for a, b in zip(self, mat2, strict=True)]


def _foreach_norm__Scalar(self: Sequence[Array], ord: ArrayLike = 2, dtype: DType | None = None) -> list[Array]:
    """_foreach_norm.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [distance_kernels.linalg_vector_norm(a, ord, dtype=dtype) for a in self]


def _foreach_powsum__Scalar(self: Sequence[Array], ord: ArrayLike = 2, dtype: DType | None = None) -> list[Array]:
    """_foreach_powsum.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return [distance_kernels.linalg__powsum(abs(a), ord, dtype=dtype) for a in self]


def _foreach_zero_(self: Sequence[Array]) -> list[Array]:
    """_foreach_zero_(Tensor(a!)[] self) -> ()

    Spec: ops_spec/foreach.yaml
    """
    return [jnp.zeros_like(x) for x in self]


def _foreach_clone(self: Sequence[Array]) -> list[Array]:
    """_foreach_clone(Tensor[] self, *, MemoryFormat? memory_format=None) -> Tensor[]

    Spec: ops_spec/foreach.yaml
    """
    return list(self)


def _foreach_copy(self: Sequence[Array], src: Sequence[Array]) -> list[Array]:
    """_foreach_copy(Tensor[] self, Tensor[] src, bool non_blocking=False) -> Tensor[] self_out

    Spec: ops_spec/foreach.yaml
    """
    return [jnp.broadcast_to(cast(s, x.dtype), x.shape) for x, s in zip(self, src, strict=True)]
