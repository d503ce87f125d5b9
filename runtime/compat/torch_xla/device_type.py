"""Device type `xla` in the programs of this process: `torch.device("xla")` and the strings mean device "jax".

torch knows the type and has nothing behind it. What reaches torch's key `XLA` is a factory, since no tensor has that
type, and is called again for device "jax". The price: `tensor.device` and `str(device)` say `jax`.
"""

from __future__ import annotations

import functools
from typing import Any

import torch

from ... import errors, patches
from ..._torch.device import guard_xla
from ...aten.registration import library, register_all
from ...storage.ordinals import NAME, NAMES, device_index

TYPE = "xla"


@functools.cache
def enable() -> None:
    """Have torch take "xla" for device "jax". Calling it again does nothing."""
    register_all()
    NAMES.add(TYPE)
    guard_xla()
    library("_").fallback(_on_jax, "XLA")
    for name in ("to.device", "to.dtype_layout"):
        library("aten").impl(name, _moved(getattr(torch.ops.aten.to, name.partition(".")[2])), "AutogradPrivateUse1")
    patches.wrap("torch.amp.autocast_mode.autocast.__init__", _autocast)
    errors.mixed_device_texts.append(_mixed_text)


def jax_device(device: Any) -> torch.device:
    """Device "jax" with its index, for a device, a string or an index of either type.

    Raises:
        RuntimeError: it is of another type, or there is no such device.
    """
    return torch.device(NAME, device_index(device))


def _renamed(value: Any) -> Any:
    return jax_device(value) if isinstance(value, torch.device) and value.type == TYPE else value


def _on_jax(op: Any, *args: Any, **kwargs: Any) -> Any:
    return op(*map(_renamed, args), **{name: _renamed(value) for name, value in kwargs.items()})


def _moved(op: Any) -> Any:
    """`Tensor.to` of a tensor of the device, which returns the tensor itself where nothing changes."""

    def to(*args: Any, **kwargs: Any) -> Any:
        return op.decompose(*map(_renamed, args), **{name: _renamed(value) for name, value in kwargs.items()})

    return to


def _autocast(plain: Any) -> Any:
    @functools.wraps(plain)
    def init(self: Any, device_type: str, *args: Any, **kwargs: Any) -> None:
        plain(self, NAME if device_type == TYPE else device_type, *args, **kwargs)

    return init


def _mixed_text(found: object) -> str | None:
    """What programs look for in the error where a tensor of the CPU meets one of the device."""
    if not isinstance(found, torch.Tensor) or found.device.type != "cpu":
        return None
    return f"Input tensor is not an XLA tensor: {found.type()}"
