"""Floating-point values rounded to less precision than their dtype has.

PyTorch/XLA's XLA_USE_BF16 stores float32 as bfloat16 on the device while reporting float32. Here arrays keep their
dtype, and everything written to them (op results, uploads, fills) is rounded, so the values are the same. The cost is
that no memory is saved.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


class _Holding:
    """Maps each dtype that is rounded to the dtype whose precision its values keep."""

    def __init__(self) -> None:
        self.dtypes: dict[np.dtype, np.dtype] = {}
        self.ask: Callable[[], None] = lambda: None  # called before values on their way to the device are rounded


holding = _Holding()


def narrowed(function: Callable[..., Any], name: str | None) -> tuple[Callable[..., Any], str | None]:
    """Wrap a function that returns a tuple of arrays so that it rounds them; also return the name of the wrapper."""
    if not holding.dtypes:
        return function, name
    bits = {dtype: (jnp.finfo(d).nexp, jnp.finfo(d).nmant) for dtype, d in holding.dtypes.items()}

    def rounded(x: Any) -> Any:
        return x if x is None or x.dtype not in bits else jax.lax.reduce_precision(x, *bits[x.dtype])

    @functools.wraps(function)
    def run(*operands: Any) -> tuple[Any, ...]:
        return tuple([rounded(x) for x in function(*operands)])

    return run, name and f"{name} held as {holding.dtypes}"


def narrow(array: np.ndarray) -> None:
    """Round a host array in place."""
    holding.ask()
    dtype = holding.dtypes.get(array.dtype)
    if dtype is not None:
        with np.errstate(over="ignore"):
            array[...] = array.astype(dtype)


def narrow_number(value: Any, dtype: np.dtype) -> Any:
    """Round the fill value of an array of `dtype`."""
    holding.ask()
    held = holding.dtypes.get(dtype)
    if held is None or type(value) not in (bool, int, float):
        return value
    with np.errstate(over="ignore"):
        return float(np.asarray(value, dtype).astype(held))
