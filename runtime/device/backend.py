"""Register the device "jax" with torch's Python backend for PrivateUse1."""

from __future__ import annotations

from .._torch.device import PRIVATE_USE_1, DeviceGuard, PrivateUse1Hooks, register_device, registered_name
from ..storage.ordinals import NAME
from ..trace import device_guard
from .torch_jax import device_module


class _Hooks(PrivateUse1Hooks):
    def is_available(self) -> bool:
        return True

    def has_primary_context(self, index: int) -> bool:
        return True

    def is_built(self) -> bool:
        return True


class _Guard(DeviceGuard):
    type_ = device_guard.method(PRIVATE_USE_1)


def install() -> None:
    """Rename PrivateUse1 to "jax" and register the device.

    Raises:
        RuntimeError: another backend already uses PrivateUse1.
    """
    current = registered_name()
    if current not in ("privateuseone", NAME):
        raise RuntimeError(f"tenax: torch's one free device is taken by {current!r}; expected it to be unused")
    register_device(NAME, device_module(), _Hooks(), _Guard())
