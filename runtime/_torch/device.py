"""torch's interface for a device backend in Python: registration, hooks and allocators."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

import torch
from torch._library import opaque_object
from torch.utils import backend_registration

from ..releases import TESTED, private_names

with private_names("torch", torch.__version__):
    STREAM: Any = torch._C.Stream
    EVENT: Any = torch._C.Event
    CPU_GENERATOR: Any = torch._C.Generator  # `torch.Generator` itself is replaced
    DeviceGuard = torch._C._acc.DeviceGuard
    PrivateUse1Hooks = torch._C._acc.PrivateUse1Hooks
    PRIVATE_USE_1 = torch._C._autograd.DeviceType.PrivateUse1
    # (name, device module, hooks, guard): registers a device under the name
    register_device = backend_registration._setup_privateuseone_for_python_backend
    storage_packages: list[Any] = torch.serialization._package_registry  # of (priority, tagger, deserializer)
    _opaque_types: Any = opaque_object._OPAQUE_TYPES
    registered_name = torch._C._get_privateuse1_backend_name  # "privateuseone" if no device has been registered

# Values of `c10::DeviceType`, and mangled C++ names of libc10 and libtorch_cpu, which a build of torch may not export:
# the table of guards with one pointer per device type (`c10::impl::device_guard_impl_registry`), the allocator
# functions, and `at::detail::getPrivateUse1Hooks`.
_PRIVATE_USE_1 = 20
_META = 14
_XLA = 9
_GUARDS = "_ZN3c104impl26device_guard_impl_registryE"
_GET_ALLOCATOR = "_ZN3c1012GetAllocatorERKNS_10DeviceTypeE"
_SET_ALLOCATOR = "_ZN3c1012SetAllocatorENS_10DeviceTypeEPNS_9AllocatorEh"
_GET_CPU_ALLOCATOR = "_ZN3c1015GetCPUAllocatorEv"
_GET_HOOKS = "_ZN2at6detail19getPrivateUse1HooksEv"
_GET_PINNED_ALLOCATOR = 14  # the place in `_methods` of `at::AcceleratorHooksInterface::getPinnedMemoryAllocator`
_methods = (ctypes.c_void_p * 32)()  # the virtual methods of the device's hooks, which C++ calls as long as it runs


def make_transparent(cls: type) -> None:
    """Make instances of a subclass of `torch.Generator` ordinary objects for TorchDynamo, as those of the class are."""
    _opaque_types[cls] = None


def use_meta_allocator() -> bool:
    """Give the device torch's Meta allocator; False if this build of torch does not export the functions.

    torch's Python backend provides no allocator, and `c10::GetAllocator` aborts for a device without one. The Meta
    allocator's memory has a size but no data, and the next use of it raises a Python error. In a build that does not
    export the functions, the replaced methods in `device/storage_methods.py` are the only protection.
    """
    try:
        library = _library("c10")
        get, put = getattr(library, _GET_ALLOCATOR), getattr(library, _SET_ALLOCATOR)
    except (OSError, AttributeError):
        return False
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    put.restype, put.argtypes = None, [ctypes.c_int8, ctypes.c_void_p, ctypes.c_uint8]
    put(_PRIVATE_USE_1, get(ctypes.addressof(ctypes.c_int8(_META))), 0)
    return True


def pin_in_host_memory() -> bool:
    """Have torch use its CPU allocator for pinned memory; False if this build of torch does not allow it.

    torch asks the hooks of the accelerator for the allocator of pinned memory, and those of a Python backend raise. The
    C++ object of the hooks gets a copy of its table of virtual methods in which that method is `c10::GetCPUAllocator`.
    The price is that this depends on the place of the method, which is that of the tested releases.
    """
    if ".".join(torch.__version__.split(".")[:2]) not in TESTED["torch"]:
        return False
    try:
        get, allocator = getattr(_library("torch_cpu"), _GET_HOOKS), getattr(_library("c10"), _GET_CPU_ALLOCATOR)
    except (OSError, AttributeError):
        return False
    get.restype = ctypes.c_void_p
    hooks, header = ctypes.c_void_p.from_address(get()), 2 * ctypes.sizeof(ctypes.c_void_p)
    ctypes.memmove(_methods, (hooks.value or 0) - header, ctypes.sizeof(_methods))  # with what precedes the table
    _methods[_GET_PINNED_ALLOCATOR] = ctypes.cast(allocator, ctypes.c_void_p).value
    hooks.value = ctypes.addressof(_methods) + header
    return True


def guard_xla() -> bool:
    """Use the device's guard for torch's device type `xla`, so that "xla" without an index is the current device.

    Returns False if this build of torch does not export the table; "xla" then needs an index.
    """
    try:
        guards = (ctypes.c_void_p * (_PRIVATE_USE_1 + 1)).in_dll(_library("c10"), _GUARDS)
    except (OSError, ValueError):
        return False
    guards[_XLA] = guards[_PRIVATE_USE_1]
    return True


def _library(name: str) -> ctypes.CDLL:
    suffix = "dylib" if sys.platform == "darwin" else "so"
    return ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / f"lib{name}.{suffix}"))
