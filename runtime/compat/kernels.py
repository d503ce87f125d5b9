"""JAX's Pallas kernels for TPUs, in interpret mode on other platforms."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import lru_cache, wraps
from typing import Any

from jax.experimental.pallas import tpu as pltpu

from ..platforms import platform


def mode() -> Any:
    """The context in which to trace a kernel."""
    return nullcontext() if platform() == "tpu" else pltpu.force_tpu_interpret_mode()


@lru_cache(maxsize=64)  # call_jax compiles a function that is made in each call in each call
def interpreted(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays that calls `pallas_call`, for any platform."""

    @wraps(kernel)
    def call(*args: Any, **kwargs: Any) -> Any:
        with mode():  # whenever JAX traces it: lazy mode does so later
            return kernel(*args, **kwargs)

    return call
