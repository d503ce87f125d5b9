"""Register the device "jax" with torch's Python backend for PrivateUse1."""

from __future__ import annotations

import types
from typing import Any

from .._torch.device import PRIVATE_USE_1, DeviceGuard, PrivateUse1Hooks, register_device, registered_name
from ..storage.ordinals import NAME


class _Hooks(PrivateUse1Hooks):
    def is_available(self) -> bool:
        return True

    def has_primary_context(self, index: int) -> bool:
        return True

    def is_built(self) -> bool:
        return True


class _Guard(DeviceGuard):
    def type_(self) -> Any:  # until the first tensor
        return PRIVATE_USE_1


class _DeviceModule(types.ModuleType):
    """The module `torch.jax`, whose names are imported when one is first used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # Python's `inspect` asks every module for its file
            raise AttributeError(name)
        from .torch_jax import attribute

        value = attribute(name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        from .torch_jax import NAMES

        return sorted({*super().__dir__(), *NAMES})


def install() -> None:
    """Rename PrivateUse1 to "jax" and register the device.

    Raises:
        RuntimeError: another backend already uses PrivateUse1.
    """
    current = registered_name()
    if current not in ("privateuseone", NAME):
        raise RuntimeError(f"tenax: torch's one free device is taken by {current!r}; expected it to be unused")
    module = _DeviceModule(f"torch.{NAME}", "Device module of tenax: PyTorch on JAX.")
    register_device(NAME, module, _Hooks(), _Guard())


def set_guard_method(method: property) -> None:
    """Replace the guard's method by one that runs no Python code (`trace/device_guard.py`)."""
    _Guard.type_ = method  # type: ignore[method-assign, assignment]
