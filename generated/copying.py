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
