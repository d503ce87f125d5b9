"""An allocator for the device, so that C++ code which asks for one gets memory of no content instead of a crash.

torch's Python backend offers no allocator, and `c10::GetAllocator` of a device without one ends the process. Its Meta
allocator serves: what it makes has a size and no data, and the next use of it is a Python error. The symbols are
C++-mangled names of libc10; where a build lacks them, the roads closed in `storage` are the only protection.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import torch

_PRIVATE_USE_1 = 20  # c10::DeviceType
_META = 14
_GET = "_ZN3c1012GetAllocatorERKNS_10DeviceTypeE"
_SET = "_ZN3c1012SetAllocatorENS_10DeviceTypeEPNS_9AllocatorEh"

installed = False


def install() -> bool:
    """Give the device the Meta allocator; False where this build of torch does not export what it takes."""
    global installed
    suffix = "dylib" if sys.platform == "darwin" else "so"
    path = Path(torch.__file__).parent / "lib" / f"libc10.{suffix}"
    try:
        library = ctypes.CDLL(str(path))
        get, put = getattr(library, _GET), getattr(library, _SET)
    except (OSError, AttributeError):
        return False
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    put.restype, put.argtypes = None, [ctypes.c_int8, ctypes.c_void_p, ctypes.c_uint8]
    put(_PRIVATE_USE_1, get(ctypes.addressof(ctypes.c_int8(_META))), 0)
    installed = True
    return True
