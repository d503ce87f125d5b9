"""Lowerings of the family `copying`.

Generated from ops_spec/copying.yaml by `python -m tenax.codegen`: edit the spec.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax.typing import ArrayLike

from tenax.words import Array, cast


def copy(self: Array, src: Array) -> Array:
    """copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor

    Spec: ops_spec/copying.yaml
    """
    return jnp.broadcast_to(cast(src, self.dtype), self.shape)


def clone(self: Array) -> Array:
    """clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor

    Spec: ops_spec/copying.yaml
    """
    return self


def fill__Scalar(self: Array, value: ArrayLike) -> Array:
    """fill.Scalar(Tensor self, Scalar value) -> Tensor

    Spec: ops_spec/copying.yaml
    """
    return jnp.broadcast_to(cast(value, self.dtype), self.shape)


def fill__Tensor(self: Array, value: Array) -> Array:
    """fill.Tensor(Tensor self, Tensor value) -> Tensor

    Spec: ops_spec/copying.yaml
    """
    return jnp.broadcast_to(cast(value, self.dtype), self.shape)


def zero(self: Array) -> Array:
    """zero(Tensor self) -> Tensor

    Spec: ops_spec/copying.yaml
    """
    return jnp.zeros_like(self)


def _assert_async(self: Array) -> None:
    """_assert_async(Tensor self) -> ()

    Spec: ops_spec/copying.yaml
    """
    return None


def _assert_async__checks(self: Array) -> tuple[Array, ...]:
    """The conditions of _assert_async; its row of the table has their errors."""
    return ((self.size == 1) & jnp.all(self),)


def _assert_async__msg(self: Array, assert_msg: str) -> None:
    """_assert_async.msg(Tensor self, str assert_msg) -> ()

    Spec: ops_spec/copying.yaml
    """
    return None


def _assert_async__msg__checks(self: Array, assert_msg: str) -> tuple[Array, ...]:
    """The conditions of _assert_async.msg; its row of the table has their errors."""
    return ((self.size == 1) & jnp.all(self),)


def _functional_assert_async__msg(self: Array, assert_msg: str, dep_token: Array) -> Array:
    """_functional_assert_async.msg(Tensor self, str assert_msg, Tensor dep_token) -> Tensor

    Spec: ops_spec/copying.yaml
    """
    return dep_token


def _functional_assert_async__msg__checks(self: Array, assert_msg: str, dep_token: Array) -> tuple[Array, ...]:
    """The conditions of _functional_assert_async.msg; its row of the table has their errors."""
    return ((self.size == 1) & jnp.all(self),)
