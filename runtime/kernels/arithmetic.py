"""Broadcasting arithmetic of arrays of one dtype. JAX's array operators promote dtypes first, and take several times
as long to trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

from tenax.words import BOOL, Array, cast


def _binary(of_numbers: Callable[..., Array], of_bools: Callable[..., Array]) -> Callable[[Array, Array], Array]:
    def apply(x: Array, y: Array) -> Array:
        if x.dtype == BOOL:
            return of_bools(x, y)
        if x.ndim != y.ndim and x.ndim and y.ndim:  # `lax` broadcasts 0-d arrays and axes of size 1
            rank = max(x.ndim, y.ndim)
            x, y = (lax.expand_dims(a, range(rank - a.ndim)) for a in (x, y))
        return of_numbers(x, y)

    return apply


add = _binary(lax.add, jnp.add)
sub = _binary(lax.sub, jnp.subtract)
mul = _binary(lax.mul, jnp.multiply)
div = _binary(lax.div, jnp.true_divide)  # integers truncate


def scaled(x: Array, factor: Any) -> Array:
    """`x` times a number cast to the dtype of `x`; a factor that is a Python 1 is skipped."""
    return x if not hasattr(factor, "dtype") and factor == 1 else mul(x, cast(factor, x.dtype))
