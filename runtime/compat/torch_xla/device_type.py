"""Device type `xla` in this process: `torch.device("xla")` and such strings mean device "jax".

torch knows the type but has no kernels for it. Only factories reach the dispatch key `XLA`, since no tensor has that
type, and they are redispatched to device "jax". The drawback is that `tensor.device` and `str(device)` are `jax`.
"""

from __future__ import annotations

import functools
from typing import Any

import torch

from ... import errors, patches
from ..._torch.device import guard_xla
from ..._torch.frames import FAKE_TENSORS
from ...aten.registration import library, register_all
from ...device.after_import import after_import
from ...dispatch.unusual_arguments import moving_operators
from ...storage.ordinals import NAME, NAMES, device_index
from . import autocast_state
from .autocast_state import TYPE as TYPE
from .process import take_environment

# PyTorch/XLA moves a CPU operand of these operators to the device, and raises for CPU operands of all others.
_MOVING = (
    "__lshift__.Tensor __rshift__.Tensor add.Tensor bitwise_and.Tensor bitwise_or.Tensor bitwise_xor.Tensor div.Tensor "
    "div.Tensor_mode fmod.Tensor mul.Tensor pow.Tensor_Tensor rsub.Tensor sub.Tensor".split()
)


@functools.cache
def enable() -> None:
    """Make "xla" mean device "jax" in torch. Further calls do nothing."""
    register_all()
    NAMES.add(TYPE)
    guard_xla()
    library("_").fallback(_on_jax, "XLA")
    for name in ("to.device", "to.dtype_layout"):
        library("aten").impl(name, _moved(getattr(torch.ops.aten.to, name.partition(".")[2])), "AutogradPrivateUse1")
    autocast_state.follow()
    after_import(FAKE_TENSORS, lambda: patches.wrap(f"{FAKE_TENSORS}.FakeTensorMode.dispatch", _fake))
    errors.mixed_device_texts.append(_mixed_text)
    moving_operators.update(_MOVING, [name.replace(".", "_.") for name in _MOVING])


def jax_device(device: Any) -> torch.device:
    """The "jax" device for a device, string or index of either type.

    Raises:
        RuntimeError: the device is of another type, or does not exist.
    """
    take_environment()
    return torch.device(NAME, device_index(device))


def _renamed(value: Any) -> Any:
    return jax_device(value) if isinstance(value, torch.device) and value.type == TYPE else value


def _on_jax(op: Any, *args: Any, **kwargs: Any) -> Any:
    return op(*map(_renamed, args), **{name: _renamed(value) for name, value in kwargs.items()})


def _moved(op: Any) -> Any:
    """`Tensor.to` of a device tensor, which returns the tensor itself if nothing changes."""

    def to(*args: Any, **kwargs: Any) -> Any:
        return op.decompose(*map(_renamed, args), **{name: _renamed(value) for name, value in kwargs.items()})

    return to


def _fake(plain: Any) -> Any:
    """The operators of the tensors with which torch traces, which would be on a device of that type."""

    @functools.wraps(plain)
    def dispatch(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        renamed = {name: _renamed(value) for name, value in (kwargs or {}).items()}
        return plain(self, func, types, tuple(map(_renamed, args)), renamed)

    return dispatch


def _mixed_text(found: object) -> str | None:
    """The error text that programs look for when CPU and device tensors are mixed."""
    if not isinstance(found, torch.Tensor) or found.device.type != "cpu":
        return None
    return f"Input tensor is not an XLA tensor: {found.type()}"
