"""The elements of tensors as NumPy arrays without a copy, where the device's memory is that of the host.

The operators whose result shapes depend on data read them: `Row.on_host` names their NumPy functions.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.lib.stride_tricks import as_strided

from .._jax import ArrayImpl
from ..storage.access import to_memory_order
from ..storage.placement import no_jax_trace, put
from ..storage.spec import TensorSpec
from ..storage.tensors import NAME, cell_of, covers_array
from ..trace.async_errors import raise_failed_assertions
from ..trace.core import current_trace
from ..trace.transfer import read
from .executable import NewResult


@cache
def kernel(path: str) -> Callable[..., Any]:
    """The function of `runtime/kernels/` that a spec names."""
    module, _, function = path.partition(".")
    found: Callable[..., Any] = getattr(importlib.import_module(f"tenax.kernels.{module}"), function)
    return found


def are_on_host(values: Sequence[Any]) -> bool:
    """Whether all tensors among the values are computed, unsharded arrays of one CPU device, and nothing traces."""
    if not no_jax_trace() or current_trace() is not None:
        return False
    return all(_is_on_host(v) for v in values if isinstance(v, torch.Tensor))


def _is_on_host(tensor: torch.Tensor) -> bool:
    if tensor.device.type != NAME:
        return False
    array: Any = cell_of(tensor).read()
    return array.__class__ is ArrayImpl and [device.platform for device in array.sharding.device_set] == ["cpu"]


def host_array(tensor: torch.Tensor) -> np.ndarray:
    """A read-only view of the elements of a tensor on the host; waits until they are computed."""
    raise_failed_assertions(wait=True)
    cell = cell_of(tensor)
    if covers_array(tensor, cell):
        return np.asarray(cell.read())
    spec = TensorSpec.of(tensor)
    memory = np.asarray(cell.read())
    if spec.bits or cell.mixed or not memory.flags.c_contiguous:
        return np.asarray(read(tensor))
    strides = [s * memory.itemsize for s in spec.stride]
    return as_strided(memory.reshape(-1)[spec.offset :], spec.size, strides, writeable=False)


def computed(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a NumPy function of `runtime/kernels/`, whose arithmetic is that of the device: without warnings."""
    with np.errstate(all="ignore"):
        return function(*args, **kwargs)


def device_tensor(array: Any, spec: TensorSpec, index: int) -> torch.Tensor:
    """The tensor with a geometry on device `index` for a NumPy array, which nothing else writes."""
    return NewResult(spec, spread=True).tensor(put(np.ascontiguousarray(to_memory_order(array, spec)), index), index)
