"""Reads the values of tensors from the arrays of their storages, and writes them back, inside an executable."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..dtypes import numpy_dtype
from ..kernels.bitcast import bitcast
from ..words import cast, real_dtype
from . import views
from .avals import Aval, contiguous_strides
from .spec import CONJUGATE, NEGATIVE, Ints, Operand, TensorSpec


def _with_bits(array: jax.Array, bits: int) -> jax.Array:
    if bits & CONJUGATE:
        array = jnp.conj(array)
    return -array if bits & NEGATIVE else array


def load(base: jax.Array, operand: Operand, starts: Any) -> jax.Array:
    """Read the value of a tensor argument from the array of its storage."""
    spec, dtype = operand.spec, numpy_dtype(operand.spec.dtype)
    if spec.covers(operand.base):
        return base
    if not operand.base.nbytes and 0 not in spec.size:
        raise RuntimeError(f"a tensor of shape {list(spec.size)} is read, and its storage was resized to 0 bytes")
    if operand.base.dtype != dtype:
        flat = base.reshape(-1)
        base = bitcast(flat[: _whole(operand.base, dtype)], dtype)
    return _with_bits(views.read(base, spec, starts), spec.bits)


def _whole(base: Aval, dtype: np.dtype) -> int:
    """The number of elements of a storage that fill whole elements of another dtype: 2 of three int16 as int32."""
    count = base.nbytes // base.dtype.itemsize
    return count - base.nbytes % dtype.itemsize // base.dtype.itemsize


def store(base: jax.Array, operand: Operand, starts: Any, value: jax.Array) -> jax.Array:
    """Return the array of a storage with the elements of a tensor argument replaced by `value`."""
    spec, dtype = operand.spec, numpy_dtype(operand.spec.dtype)
    value = _with_bits(jnp.broadcast_to(cast(value, dtype), spec.size), spec.bits)
    if operand.base.dtype == dtype:
        return views.write(base, spec, value, starts)
    if real_dtype(dtype) != real_dtype(operand.base.dtype) and dtype.itemsize <= 8:
        # The elements around the view keep their bits: as floats, XLA would give NaNs another payload.
        dtype = np.dtype(f"uint{8 * dtype.itemsize}")
        value = bitcast(value.reshape(-1), dtype).reshape(spec.size)
    flat, whole = base.reshape(-1), _whole(operand.base, dtype)
    written = bitcast(views.write(bitcast(flat[:whole], dtype), spec, value), operand.base.dtype)
    return (written if whole == flat.size else jnp.concatenate([written, flat[whole:]])).reshape(base.shape)


def to_memory_order(result: jax.Array, spec: TensorSpec) -> jax.Array:
    """The array to store for a result with the strides of `spec`: its axes in memory order, or flat with gaps."""
    if spec.is_contiguous():
        return result
    order = memory_order(spec)
    if order is not None:
        return result.transpose(order)
    return views.write(jnp.zeros(spec.extent, result.dtype), spec, result)


def memory_order(spec: TensorSpec) -> Ints | None:
    """The axes in memory order, or None if the strides are not those of a permuted dense array."""
    size, stride = spec.size, spec.stride
    order = sorted(range(len(size)), key=lambda d: (-stride[d], -size[d], d))
    dense = contiguous_strides([size[d] for d in order])
    exact = all(size[d] == 1 or stride[d] == s for d, s in zip(order, dense, strict=True))
    return tuple(order) if exact else None


def memory_shape(spec: TensorSpec) -> Ints:
    """The shape of the array that `to_memory_order` returns."""
    if spec.is_contiguous():
        return spec.size
    order = memory_order(spec)
    return (spec.extent,) if order is None else tuple(spec.size[d] for d in order)
