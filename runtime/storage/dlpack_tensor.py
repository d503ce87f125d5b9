"""Creates tensors on `jax:i`, i >= 1, from DLPack capsules: torch's own constructor only supports `jax:0`."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import torch

_EXTENSION_DEVICE = 12  # kDLExtDev, which torch maps to PrivateUse1 (aten/src/ATen/DLConvertor.cpp)


class _Device(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int), ("device_id", ctypes.c_int)]


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = [("dl_tensor", _Tensor), ("manager_ctx", ctypes.c_void_p), ("deleter", _Deleter)]

_live: dict[int, Any] = {}


def _forget(managed: Any) -> None:
    _live.pop(ctypes.addressof(managed.contents), None)


_release = _Deleter(_forget)


_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype = ctypes.py_object
_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def create(size: Sequence[int], dtype: torch.dtype, index: int) -> torch.Tensor:
    """A contiguous tensor of `size` on `jax:index` with an empty storage, to which the caller attaches a cell."""
    n = len(size)
    shape = (ctypes.c_int64 * max(n, 1))(*size)
    code, bits = _code(dtype)
    managed = _Managed(
        _Tensor(None, _Device(_EXTENSION_DEVICE, index), n, _DataType(code, bits, 1), shape, None, 0), None, _release
    )
    _live[ctypes.addressof(managed)] = (managed, shape)
    return torch.utils.dlpack.from_dlpack(_capsule(ctypes.addressof(managed), b"dltensor", None))


def _code(dtype: torch.dtype) -> tuple[int, int]:
    """(DLDataTypeCode, bits) of a dtype (dlpack.h)."""
    bits = dtype.itemsize * 8
    if dtype is torch.bool:
        return 6, 8
    if dtype is torch.bfloat16:
        return 4, 16
    float8 = {
        "float8_e4m3fn": 10,
        "float8_e4m3fnuz": 11,
        "float8_e5m2": 12,
        "float8_e5m2fnuz": 13,
        "float8_e8m0fnu": 14,
    }
    name = str(dtype).removeprefix("torch.")
    if name in float8:
        return float8[name], 8
    if dtype.is_complex:
        return 5, bits
    if dtype.is_floating_point:
        return 2, bits
    return (0 if dtype.is_signed else 1), bits
