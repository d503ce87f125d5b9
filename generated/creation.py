"""Lowerings of the family `creation`.

Generated from ops_spec/creation.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jax.typing import ArrayLike

from tenax.kernels import creation as creation_kernels
from tenax.words import Array, DType, cast


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
    return creation_kernels.arange(0, end, dtype=dtype)


def arange__start(start: ArrayLike, end: ArrayLike, *, dtype: DType | None = None) -> Array:
    """arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
        pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return creation_kernels.arange(start, end, dtype=dtype)


def range(start: ArrayLike, end: ArrayLike, *, dtype: DType | None = None) -> Array:
    """range(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
        pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return creation_kernels.closed_range(start, end, dtype=dtype)


def kaiser_window(window_length: int, *, dtype: DType | None = None) -> Array:
    """kaiser_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool?
        pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return creation_kernels.kaiser_window(window_length=window_length, dtype=dtype)


def kaiser_window__periodic(window_length: int, periodic: bool, *, dtype: DType | None = None) -> Array:
    """kaiser_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, Device?
        device=None, bool? pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return creation_kernels.kaiser_window(window_length=window_length, periodic=periodic, dtype=dtype)


def kaiser_window__beta(window_length: int, periodic: bool, beta: ArrayLike, *, dtype: DType | None = None) -> Array:
    """kaiser_window.beta(int window_length, bool periodic, float beta, *, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None) -> Tensor

    Spec: ops_spec/creation.yaml
    """
    return creation_kernels.kaiser_window(window_length=window_length, periodic=periodic, beta=beta, dtype=dtype)
