"""Replace the methods of `torch.UntypedStorage` that access memory, for device storages only.

The implementations are in `untyped_storage.py`, which is imported on the first call.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch

from .. import patches
from ..storage.ordinals import NAME

PLAIN: dict[str, Any] = {}  # torch's own methods

_REPLACED = (
    "nbytes size __len__ clone cpu tolist __getitem__ data_ptr _write_file _set_from_file resize_ to is_pinned "
    "is_shared __deepcopy__"
).split()
# Methods that would write or share raw device memory.
_REFUSED = (
    "__setitem__ _byteswap byteswap fill_ new share_memory_ _share_filename_cpu_ _share_fd_cpu_ "
    "_share_cuda_ _get_filename"
).split()


def is_ours(storage: Any) -> bool:
    """Whether a storage belongs to the device."""
    return bool(storage.device.type == NAME)


def _device_storages() -> Any:
    return importlib.import_module(f"{__package__}.untyped_storage")


def _for_device(name: str) -> Callable[..., Any]:
    plain = getattr(torch.UntypedStorage, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.device.type == NAME:
            return _device_storages().METHODS[name](self, *args, **kwargs)
        return plain(self, *args, **kwargs)

    return method


def _refusing(name: str) -> Callable[..., Any]:
    plain = getattr(torch.UntypedStorage, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.device.type != NAME:
            return plain(self, *args, **kwargs)
        raise NotImplementedError(
            f"UntypedStorage.{name} is not available on device {NAME!r}, whose arrays have no address; use a tensor "
            "operation or storage.cpu()"
        )

    return method


def _copy(self: Any, source: Any, non_blocking: bool | None = None) -> Any:
    if NAME in (self.device.type, source.device.type):
        return _device_storages().copy(self, source, non_blocking)
    return PLAIN["copy_"](self, source, non_blocking)


def install() -> None:
    """Replace the methods."""
    replacements: dict[str, Callable[..., Any]] = {"copy_": _copy}
    replacements |= {name: _for_device(name) for name in _REPLACED}
    replacements |= {name: _refusing(name) for name in _REFUSED if hasattr(torch.UntypedStorage, name)}
    for name, method in replacements.items():
        method.__name__, method.__qualname__ = name, f"UntypedStorage.{name}"
        PLAIN[name] = patches.replace(f"torch.UntypedStorage.{name}", method)
