"""Arrays on a device: host arrays transferred, fills materialised, and copies with the axes in another order."""

from __future__ import annotations

from contextlib import nullcontext
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._jax import trace_state_clean
from .._torch.frames import set_eval_frame
from .avals import LazyFill
from .ordinals import jax_devices


def inverse_permutation(axes: tuple[int, ...]) -> tuple[int, ...]:
    """The axes that undo a transposition."""
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


def put(array: np.ndarray, index: int | None) -> jax.Array:
    """Transfer a host array to device `index`, with its own dtype: outside `enable_x64` JAX would narrow 64-bit data.

    With None the array is on JAX's default device and not committed to it, so JAX moves it to the arrays it meets.
    """
    device = None if index is None else jax_devices()[index]
    wide = array.dtype.itemsize >= 8 and array.dtype.name != "complex64"
    # Between its graphs torch compiles the frames of Python functions. It must not compile JAX's.
    watching = set_eval_frame(None)
    try:
        with (
            jax.enable_x64(True) if wide else nullcontext(),
            nullcontext() if no_jax_trace() else jax.ensure_compile_time_eval(),
        ):
            return jax.device_put(array, device)
    finally:
        set_eval_frame(watching)


def put_argument(array: np.ndarray, index: int) -> jax.Array:
    """Transfer a host array that is an argument of a program on device `index`.

    If that is JAX's default device, the array stays uncommitted, so that a program of several devices accepts it, too.
    """
    default = jax.config.jax_default_device  # type: ignore[attr-defined]
    return put(array, None if index == 0 and default is None else index)


def put_transposed(array: jax.Array, axes: tuple[int, ...], index: int) -> jax.Array:
    """A copy of an array with its axes in another order. The host makes it, which needs no compilation."""
    return put(np.array(np.asarray(array).transpose(axes), order="C"), index)


no_jax_trace = trace_state_clean  # whether JAX traces nothing on this thread


_SMALL = 1 << 16  # bytes


def materialise(fill: LazyFill, index: int) -> jax.Array:
    """Make the array of a fill on device `index`. Arrays are immutable, so small ones are made once and shared."""
    aval = fill.aval
    if not no_jax_trace():
        value: Any = fill.value
        value = value.node.array.astype(aval.dtype) if hasattr(value, "node") else value  # a number of the trace
        return jax.lax.full(aval.shape, value, aval.dtype)
    if aval.nbytes <= _SMALL:
        return _constant(fill, repr(fill.value), index)
    return jnp.full(aval.shape, fill.value, aval.dtype, device=jax_devices()[index])


@lru_cache(maxsize=1024)
def _constant(fill: LazyFill, text: str, index: int) -> jax.Array:
    """The array of a small fill. `text` distinguishes 0.0 from -0.0 and 1 from True, which compare equal."""
    return put(np.full(fill.aval.shape, fill.value, fill.aval.dtype), index)
