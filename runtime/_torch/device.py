"""torch's interface for a device written in Python: its registration, its hooks, and its allocators."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

import torch
from torch.utils import backend_registration

from ..releases import private_names

with private_names("torch", torch.__version__):
    STREAM: Any = torch._C.Stream
    EVENT: Any = torch._C.Event
    DeviceGuard = torch._C._acc.DeviceGuard
    PrivateUse1Hooks = torch._C._acc.PrivateUse1Hooks
    PRIVATE_USE_1 = torch._C._autograd.DeviceType.PrivateUse1
    # (name, device module, hooks, guard): makes the name a device of torch
    register_device = backend_registration._setup_privateuseone_for_python_backend
    storage_packages: list[Any] = torch.serialization._package_registry  # (priority, location of, restore) of devices
    registered_name = torch._C._get_privateuse1_backend_name  # "privateuseone" where no device has taken the key

# `c10::DeviceType`s; the table of guards, a pointer for each of them (`c10::impl::device_guard_impl_registry`); and
# C++-mangled names of libc10 that a build of torch may not export.
_PRIVATE_USE_1 = 20
_META = 14
_XLA = 9
_GUARDS = "_ZN3c104impl26device_guard_impl_registryE"
_GET_ALLOCATOR = "_ZN3c1012GetAllocatorERKNS_10DeviceTypeE"
_SET_ALLOCATOR = "_ZN3c1012SetAllocatorENS_10DeviceTypeEPNS_9AllocatorEh"


def use_meta_allocator() -> bool:
    """Give the device torch's Meta allocator; False where this build of torch does not export the functions."""
    try:
        library = _libc10()
        get, put = getattr(library, _GET_ALLOCATOR), getattr(library, _SET_ALLOCATOR)
    except (OSError, AttributeError):
        return False
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    put.restype, put.argtypes = None, [ctypes.c_int8, ctypes.c_void_p, ctypes.c_uint8]
    put(_PRIVATE_USE_1, get(ctypes.addressof(ctypes.c_int8(_META))), 0)
    return True


def guard_xla() -> bool:
    """Give torch's device type `xla` the guard of the device, so that "xla" without an index is the current device.

    False where this build of torch does not export the table: then "xla" needs an index.
    """
    try:
        guards = (ctypes.c_void_p * (_PRIVATE_USE_1 + 1)).in_dll(_libc10(), _GUARDS)
    except (OSError, ValueError):
        return False
    guards[_XLA] = guards[_PRIVATE_USE_1]
    return True


def _libc10() -> ctypes.CDLL:
    suffix = "dylib" if sys.platform == "darwin" else "so"
    return ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / f"libc10.{suffix}"))
