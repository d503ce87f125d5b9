"""Float32 functions that CPUs compute in float64, where no float32 formula is accurate: near zeros, in long tails."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tenax.words import Array, cast, double, is_float


def wide(kernel: Callable[..., Array]) -> Callable[..., Array]:
    """Run the kernel on its float32 arrays in the dtype that `double` chooses, and round the result once."""

    @functools.wraps(kernel)
    def widened(*args: Any, **kwargs: Any) -> Array:
        arrays = [x for x in (*args, *kwargs.values()) if is_array(x)]
        if any(x.dtype != np.float32 for x in arrays):
            return kernel(*args, **kwargs)
        value = kernel(*map(double, args), **{name: double(x) for name, x in kwargs.items()})
        return cast(value, np.float32)

    return widened


def is_array(x: Any) -> bool:
    return hasattr(x, "dtype") and is_float(x)
