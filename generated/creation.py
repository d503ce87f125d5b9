"""Lowerings of the family `creation`.

Generated from ops_spec/creation.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax.typing import ArrayLike

from tenax.kernels import creation as creation_kernels
from tenax.words import INT64, Array, DType, cast


def zeros(size: Sequence[int], *, dtype: DType | None = None) -> Array:
    """zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None)
        -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return jnp.zeros(tuple(size), dtype)


def ones(size: Sequence[int], *, dtype: DType | None = None) -> Array:
    """ones(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None)
        -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return jnp.ones(tuple(size), dtype)


def full(size: Sequence[int], fill_value: ArrayLike, *, dtype: DType | None = None) -> Array:
    """full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
        pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return jnp.broadcast_to(cast(fill_value, dtype), tuple(size))


def zeros_like(self: Array, *, dtype: DType | None = None) -> Array:
    """zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
        pin_memory=None, MemoryFormat? memory_format=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return jnp.zeros(self.shape, dtype or self.dtype)


def ones_like(self: Array, *, dtype: DType | None = None) -> Array:
    """ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
        pin_memory=None, MemoryFormat? memory_format=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return jnp.ones(self.shape, dtype or self.dtype)


def full_like(self: Array, fill_value: ArrayLike, *, dtype: DType | None = None) -> Array:
    """full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
        bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return jnp.broadcast_to(cast(fill_value, dtype or self.dtype), self.shape)


def new_zeros(self: Array, size: Sequence[int], *, dtype: DType | None = None) -> Array:
    """new_zeros(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
        pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return jnp.zeros(tuple(size), dtype or self.dtype)


def new_ones(self: Array, size: Sequence[int], *, dtype: DType | None = None) -> Array:
    """new_ones(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
        pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return jnp.ones(tuple(size), dtype or self.dtype)


def new_full(self: Array, size: Sequence[int], fill_value: ArrayLike, *, dtype: DType | None = None) -> Array:
    """new_full(Tensor self, SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device?
        device=None, bool? pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return jnp.broadcast_to(cast(fill_value, dtype or self.dtype), tuple(size))


def scalar_tensor(s: ArrayLike, *, dtype: DType | None = None) -> Array:
    """scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
        pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return cast(s, dtype)


def _efficientzerotensor(size: Sequence[int], *, dtype: DType | None = None) -> Array:
    """_efficientzerotensor(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
        pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return jnp.zeros(tuple(size), dtype)


def _new_zeros_with_same_feature_meta(self: Array, other: Array, *, self_num_batch_dims: int = 0) -> Array:
    """_new_zeros_with_same_feature_meta(Tensor self, Tensor other, *, int self_num_batch_dims=0) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return jnp.zeros(self.shape[:self_num_batch_dims] + other.shape, self.dtype)


def eye(n: int, *, dtype: DType | None = None) -> Array:
    """eye(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) ->
        Tensor

    Spec: ops_spec/creation.yaml
    """
    return jnp.eye(n, dtype=dtype)


def eye__m(n: int, m: int, *, dtype: DType | None = None) -> Array:
    """eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
        pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return jnp.eye(n, m, dtype=dtype)


def arange(end: ArrayLike, *, dtype: DType | None = None) -> Array:
    """arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) ->
        Tensor

    Spec: ops_spec/creation.yaml
    """
    return arange__start_step(0, end, dtype=dtype)


def arange__start(start: ArrayLike, end: ArrayLike, *, dtype: DType | None = None) -> Array:
    """arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
        pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return arange__start_step(start, end, dtype=dtype)


def arange__start_step(start: ArrayLike, end: ArrayLike, step: ArrayLike = 1, *, dtype: DType | None = None) -> Array:
    """arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return creation_kernels.arange(start=start, end=end, step=step, dtype=dtype)


def range__step(start: ArrayLike, end: ArrayLike, step: ArrayLike = 1, *, dtype: DType | None = None) -> Array:
    """range.step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Device?
        device=None, bool? pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return creation_kernels.closed_range(start=start, end=end, step=step, dtype=dtype)


def range(start: ArrayLike, end: ArrayLike, *, dtype: DType | None = None) -> Array:
    """range(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
        pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return range__step(start, end, dtype=dtype)


def linspace(start: ArrayLike, end: ArrayLike, steps: int, *, dtype: DType | None = None) -> Array:
    """linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device?
        device=None, bool? pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return creation_kernels.linspace(start=start, end=end, steps=steps, dtype=dtype)


def linspace__Tensor_Tensor(start: Array, end: Array, steps: int, *, dtype: DType | None = None) -> Array:
    """linspace.Tensor_Tensor(Tensor start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return creation_kernels.linspace(start=start, end=end, steps=steps, dtype=dtype)


def linspace__Tensor_Scalar(start: Array, end: ArrayLike, steps: int, *, dtype: DType | None = None) -> Array:
    """linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return creation_kernels.linspace(start=start, end=end, steps=steps, dtype=dtype)


def linspace__Scalar_Tensor(start: ArrayLike, end: Array, steps: int, *, dtype: DType | None = None) -> Array:
    """linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return creation_kernels.linspace(start=start, end=end, steps=steps, dtype=dtype)


def logspace(
    start: ArrayLike, end: ArrayLike, steps: int, base: ArrayLike = 10.0, *, dtype: DType | None = None
) -> Array:
    """logspace(Scalar start, Scalar end, int steps, float base=10.0, *, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return creation_kernels.logspace(start=start, end=end, steps=steps, base=base, dtype=dtype)


def logspace__Tensor_Tensor(
    start: Array, end: Array, steps: int, base: ArrayLike = 10.0, *, dtype: DType | None = None
) -> Array:
    """logspace.Tensor_Tensor(Tensor start, Tensor end, int steps, float base=10.0, *, ScalarType? dtype=None, Layout?
        layout=None, Device? device=None, bool? pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return creation_kernels.logspace(start=start, end=end, steps=steps, base=base, dtype=dtype)


def logspace__Tensor_Scalar(
    start: Array, end: ArrayLike, steps: int, base: ArrayLike = 10.0, *, dtype: DType | None = None
) -> Array:
    """logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float base=10.0, *, ScalarType? dtype=None, Layout?
        layout=None, Device? device=None, bool? pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return creation_kernels.logspace(start=start, end=end, steps=steps, base=base, dtype=dtype)


def logspace__Scalar_Tensor(
    start: ArrayLike, end: Array, steps: int, base: ArrayLike = 10.0, *, dtype: DType | None = None
) -> Array:
    """logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float base=10.0, *, ScalarType? dtype=None, Layout?
        layout=None, Device? device=None, bool? pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return creation_kernels.logspace(start=start, end=end, steps=steps, base=base, dtype=dtype)


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: DType | None = INT64) -> Array:
    """tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None,
        bool? pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return creation_kernels.tril_indices(row=row, col=col, offset=offset, dtype=dtype)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: DType | None = INT64) -> Array:
    """triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None,
        bool? pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return creation_kernels.triu_indices(row=row, col=col, offset=offset, dtype=dtype)
