"""Ranges of numbers, which would be a program for each combination of start, end and step.

The host computes short ones, because a loop that generates a sequence asks for every length once. Long ones, and those
of lazy mode, are computed from the range of their length that starts at 0 in steps of 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import jax
import numpy as np
import torch

from ..dispatch.dispatcher import Handled
from ..dispatch.signature import Signature
from ..dtypes import numpy_dtype
from ..storage.ordinals import NAME, current_index, device_index
from ..storage.placement import device_of, no_jax_trace, put
from ..storage.recording import recording
from ..storage.tensors import wrap
from ..trace.core import current_trace

Values = list[Any]
_SHORT = 1 << 16  # bytes


def from_length(signature: Signature, end: str) -> Callable[[Values], Values | Handled]:
    """Compute a range of ints or floats on the host, or from the range of its length. A range that torch rejects, or
    that is traced, is left to the lowering, and so is one for `out=`."""
    names = signature.names
    at = [names.index(name) if name in names else None for name in ("start", end, "step")]
    dtype_at = names.index("dtype") if "dtype" in names else None

    def prepare(values: Values) -> Values | Handled:
        numbers = [default if i is None else values[i] for i, default in zip(at, (0, 0, 1), strict=True)]
        if dtype_at is None or not no_jax_trace() or current_trace() is not None:
            return values
        integral = all(type(n) is int for n in numbers)
        dtype = values[dtype_at] or (torch.int64 if integral else torch.get_default_dtype())
        count = _length(numbers, dtype) if integral or all(type(n) in (int, float) for n in numbers) else None
        if count is None:
            return values
        start, _, step = numbers
        device = values[names.index("device")]
        index = current_index() if device is None else device_index(device)
        if index or device_of(0) is not None:
            return values
        kind = numpy_dtype(dtype)
        if count * kind.itemsize <= _SHORT and (recording.tape is None or recording.tape.ahead):
            return Handled(wrap(_short(repr(start), repr(step), count, kind)))
        if (start, step) == (0, 1):
            return values
        wide = torch.float64 if dtype.is_floating_point else torch.int64
        return Handled((torch.arange(count, dtype=wide, device=NAME) * step + start).to(dtype))

    return prepare


def _number(text: str, dtype: np.dtype) -> Any:
    """A number in the dtype in which CPU torch computes a range."""
    return np.int64(int(text)) if np.issubdtype(dtype, np.integer) else np.float64(text)


@lru_cache(maxsize=1024)
def _short(start: str, step: str, count: int, dtype: np.dtype) -> jax.Array:
    """A range that the host computes; calls share it. Its numbers are given as text, because 0.0, -0.0 and 0 are
    equal."""
    first, by = _number(start, dtype), _number(step, dtype)
    with np.errstate(over="ignore"):
        made = (np.arange(count, dtype=first.dtype) * by + first).astype(dtype)
    return put(made, 0)


def _length(numbers: Sequence[Any], dtype: torch.dtype) -> int | None:
    """The number of elements; None if torch rejects the range or rounds its numbers to the dtype first."""
    start, end, step = numbers
    if dtype.is_complex or dtype is torch.bool or not step or (end - start) * step < 0:
        return None
    if dtype.is_floating_point:
        steps = (float(end) - float(start)) / float(step)
        return math.ceil(steps) if math.isfinite(steps) else None
    integral = type(start) is type(end) is type(step) is int
    return len(range(start, end, step)) if integral and max(map(abs, (start, end, step))) < 2**62 else None
