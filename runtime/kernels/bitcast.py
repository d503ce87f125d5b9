"""An array's bytes as another dtype."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from tenax.words import imag, real, real_dtype


def bitcast(array: jax.Array, dtype: np.dtype) -> jax.Array:
    """Reinterpret an array's bytes as another dtype, complex and bool included. The last axis is scaled accordingly."""
    if array.dtype == dtype:
        return array
    if array.dtype == np.dtype(bool):
        array = array.astype(np.uint8)
    if jnp.issubdtype(array.dtype, np.complexfloating):
        array = jnp.stack([real(array), imag(array)], -1).reshape(*array.shape[:-1], -1)
    if dtype == np.dtype(bool):
        return bitcast(array, np.dtype(np.uint8)) != 0
    if jnp.issubdtype(dtype, np.complexfloating):
        parts = bitcast(array, real_dtype(dtype)).reshape(*array.shape[:-1], -1, 2)
        return jax.lax.complex(parts[..., 0], parts[..., 1])
    if array.dtype == dtype:
        return array
    old, new = array.dtype.itemsize, dtype.itemsize
    if new != old:
        # The barrier keeps XLA from merging consecutive bitcasts, which is invalid if three different widths occur.
        array = jax.lax.optimization_barrier(array)
    if new > old:
        array = array.reshape(*array.shape[:-1], -1, new // old)
    out = jax.lax.bitcast_convert_type(array, dtype)
    return out.reshape(*out.shape[:-2], -1) if new < old else out
