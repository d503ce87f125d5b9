"""Make inductor, the default compiler of `torch.compile`, raise for device "jax", for which it generates no code."""

from __future__ import annotations

from typing import Any

import torch

from ..releases import private_names


class _Refusing(type):
    """Metaclass of `NoInductor` that raises on any attribute lookup by inductor."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise RuntimeError(
            "torch.compile: inductor, the default backend, generates no code for device 'jax'; expected "
            'torch.compile(function, backend="tenax"), or torch.compiler.set_default_backend("tenax") for calls of '
            "torch.compile in libraries"
        )


class NoInductor(metaclass=_Refusing):
    """The code generator of device "jax" for inductor.

    Raises:
        RuntimeError: when it is used.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        type(self).scheduling  # noqa: B018 (raises)


def register() -> type[NoInductor]:
    """Register device "jax" with inductor, and return the class that it uses. Called when inductor starts."""
    with private_names("torch", torch.__version__):
        from torch._inductor.codegen.common import DeviceOpOverrides, register_device_op_overrides
    register_device_op_overrides("jax", DeviceOpOverrides())
    return NoInductor
