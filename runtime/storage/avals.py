"""Interned shapes, dtypes and shardings of arrays, and lazy fills: arrays that do not exist yet."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np
import torch

from ..dtypes import numpy_dtype
from ..xla.memory import cached_until_eviction

MAX_NDIM = 64  # NumPy's limit; the array of a tensor with more axes is flat


class Aval:
    """Shape, dtype and sharding of an array. Avals are interned, so that dispatch compares them by identity."""

    __slots__ = ("__weakref__", "dtype", "nbytes", "shape", "sharding", "stride", "whole_operand", "zeros")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, sharding: Any = None) -> None:
        self.shape = shape
        self.dtype = dtype
        self.sharding = sharding  # None for an array on one device
        self.stride = contiguous_strides(shape)
        self.nbytes = math.prod(shape) * dtype.itemsize
        self.whole_operand: Any = None  # set by dispatch: the operand of a tensor that is the whole array
        self.zeros = LazyFill(self, 2.0**-127 if dtype.name == "float8_e8m0fnu" else 0)  # its bits are 0

    def __repr__(self) -> str:
        return f"Aval({self.shape}, {self.dtype}, {self.sharding})"


class _Meshes:
    used = False  # whether this process has had an array on several devices
    devices = 1  # the maximum number of devices of one array so far
    ranks = False  # whether programs of this process may span several ranks


meshes = _Meshes()
_avals: WeakValueDictionary[tuple[tuple[int, ...], np.dtype, Any], Aval] = WeakValueDictionary()
interning = threading.RLock()  # reentrant, because a finalizer may run while its thread holds it


def aval_of(shape: tuple[int, ...], dtype: np.dtype, sharding: Any = None) -> Aval:
    """The unique `Aval` of a shape, a dtype, and a sharding over several devices (None for an array on one device)."""
    key = (shape, dtype, sharding)
    aval = _avals.get(key)
    if aval is None:
        with interning:
            aval = _avals.setdefault(key, Aval(*key))
    if sharding is not None:
        meshes.used, meshes.devices = True, max(meshes.devices, sharding.num_devices)
    return aval


@cached_until_eviction(1 << 14)
def tensor_aval(size: tuple[int, ...], dtype: torch.dtype) -> Aval:
    """The aval of the array of a contiguous tensor."""
    return aval_of(size, numpy_dtype(dtype))


def contiguous_strides(size: Sequence[int]) -> tuple[int, ...]:
    """The strides of a contiguous tensor."""
    stride, n = [], 1
    for extent in reversed(size):
        stride.append(n)
        n *= max(extent, 1)
    return tuple(reversed(stride))


class LazyFill(NamedTuple):
    """An array that does not exist yet, whose elements are all `value`. Overwriting it needs no computation."""

    aval: Aval
    value: bool | int | float | complex = 0


def array_shape(size: Sequence[int]) -> tuple[int, ...]:
    """The shape of the array of a dense tensor."""
    return tuple(size) if len(size) <= MAX_NDIM else (math.prod(size),)
