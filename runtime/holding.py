"""Precision in which floating point values are held, where it is less than that of their dtype.

PyTorch/XLA's XLA_USE_BF16 keeps float32 as bfloat16 on the device and goes on calling it float32. Here an array keeps
its dtype, and what comes into it is rounded, so that the values are the same: results of operations, uploads and fills.
Price: no memory is saved.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


class _Holding:
    """The dtypes whose precision values have, by the dtypes that are rounded."""

    def __init__(self) -> None:
        self.dtypes: dict[np.dtype, np.dtype] = {}
        self.ask: Callable[[], None] = lambda: None  # called where values come to the device, before they are rounded


holding = _Holding()


def narrowed(function: Callable[..., Any], name: str | None) -> tuple[Callable[..., Any], str | None]:
    """A function that gives a tuple of arrays, with rounded results, and the name of the result."""
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
    """Round an array of the host in place."""
    holding.ask()
    dtype = holding.dtypes.get(array.dtype)
    if dtype is not None:
        with np.errstate(over="ignore"):
            array[...] = array.astype(dtype)


def narrow_number(value: Any, dtype: np.dtype) -> Any:
    """Round a number with which an array of a dtype is filled."""
    holding.ask()
    held = holding.dtypes.get(dtype)
    if held is None or value.__class__ not in (bool, int, float):
        return value
    with np.errstate(over="ignore"):
        return float(np.asarray(value, dtype).astype(held))
