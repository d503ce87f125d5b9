"""Creates tensors on `jax:i`, i >= 1, from DLPack capsules: torch's own constructor only supports `jax:0`."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache

import torch

from .._torch.dispatcher import CPU, kernel_on
from .._torch.tensors import displaced

_EXTENSION_DEVICE = 12  # kDLExtDev, which torch maps to PrivateUse1 (aten/src/ATen/DLConvertor.cpp)
_empty = kernel_on(torch.ops.aten.empty.memory_format, CPU)  # which no mode sees


class _Device(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int), ("device_id", ctypes.c_int)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int),
        ("dtype", ctypes.c_uint32),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),  # null if the tensor is contiguous
        ("byte_offset", ctypes.c_uint64),
    ]


# Not the function of `ctypes.pythonapi` itself, whose types other libraries may set.
_tensor_of = ctypes.PYFUNCTYPE(ctypes.POINTER(_Tensor), ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


@cache
def _scalar(dtype: torch.dtype) -> torch.Tensor:
    return _empty((), dtype=dtype)


def create(size: Sequence[int], dtype: torch.dtype, index: int) -> torch.Tensor:
    """A contiguous tensor of `size` on `jax:index` with an empty storage, to which the caller attaches a cell."""
    host = displaced(_scalar(dtype), tuple(size), (0,) * len(size), 0)
    capsule = torch.utils.dlpack.to_dlpack(host)  # type: ignore[attr-defined]
    tensor = _tensor_of(capsule, b"dltensor").contents
    tensor.data, tensor.device, tensor.strides = None, _Device(_EXTENSION_DEVICE, index), None
    return torch.utils.dlpack.from_dlpack(capsule)
