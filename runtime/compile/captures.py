"""TorchDynamo's captures, which draw no random numbers of the device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..storage import random


def trace_frame(plain: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """`torch._dynamo.convert_frame.trace_frame`, as `plain`, after which the random state of the device is as before.

    Operators without a Meta kernel (those of Dirichlet and binomial distributions) run on zeros there, for the shapes
    of their results. torch restores the states of the CPU and of CUDA.
    """
    before = random.state()
    try:
        return plain(*args, **options)
    finally:
        random.restore(before)
