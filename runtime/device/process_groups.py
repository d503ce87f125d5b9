"""Register the name "tenax" with `torch.distributed`. The backend itself is imported with the first group."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch

from ..storage.ordinals import NAME
from .after_import import after_import

dist: Any = torch.distributed


def _later(name: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        from ..aten.registration import register_all

        register_all()
        return getattr(importlib.import_module("tenax.distributed.create"), name)(*args, **kwargs)

    return call


def _register() -> None:
    for name in ("tenax", *(("tpu", "tpu_dist") if NAME == "tpu" else ())):  # the names of TorchTPU
        dist.Backend.register_backend(name, _later("create_group"), extended_api=True, devices=[NAME])
    dist.register_rendezvous_handler("jax", _later("rendezvous"))


def install() -> None:
    """Register the backend once torch.distributed is loaded, unless this build of torch lacks it."""
    if dist.is_available():
        after_import("torch.distributed.distributed_c10d", _register)
