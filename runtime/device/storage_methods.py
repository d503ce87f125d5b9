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


def _device_storages() -> Any:
    return importlib.import_module(f"{__package__}.untyped_storage")


def _of_device(name: str) -> Callable[..., Any]:
    return lambda self, *args, **kwargs: _device_storages().METHODS[name](self, *args, **kwargs)


def _refusing(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"UntypedStorage.{name} is not available on device {NAME!r}, whose arrays have no address; use a tensor "
            "operation or storage.cpu()"
        )

    return method


def _copying(plain: Callable[..., Any]) -> Callable[..., Any]:
    def copy_(self: Any, source: Any, non_blocking: bool | None = None) -> Any:
        ours = NAME in (self.device.type, source.device.type)
        return (_device_storages().copy if ours else plain)(self, source, non_blocking)

    return copy_


def install() -> None:
    """Replace the methods."""
    PLAIN["copy_"] = patches.wrap("torch.UntypedStorage.copy_", _copying)
    for name in _REPLACED:
        PLAIN[name] = patches.for_device(f"torch.UntypedStorage.{name}", _of_device(name))
    for name in _REFUSED:
        if hasattr(torch.UntypedStorage, name):
            patches.for_device(f"torch.UntypedStorage.{name}", _refusing(name))
