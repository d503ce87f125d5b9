"""An allocator for the device, so that C++ code that requests one does not crash the process.

torch's Python backend provides no allocator, and `c10::GetAllocator` aborts for a device without one. torch's Meta
allocator is used instead: its memory has a size but no data, and the next use of it raises a Python error. In a build
that does not export the symbols, the replaced methods in `storage_methods` are the only protection.
"""

from __future__ import annotations

from .._torch.device import use_meta_allocator

installed = False


def install() -> bool:
    """Give the device the Meta allocator; False if this build of torch does not export the symbols."""
    global installed
    installed = use_meta_allocator()
    return installed
