"""Register the name "tenax" with `torch.distributed`. The backend itself is imported with the first group."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch

from ..storage.ordinals import NAME

dist: Any = torch.distributed


def _later(name: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        from ..aten.registration import register_all

        register_all()
        return getattr(importlib.import_module("tenax.distributed.create"), name)(*args, **kwargs)

    return call


def register() -> None:
    """Register the backend, once torch.distributed is loaded; some builds of torch lack it."""
    for name in ("tenax", *(("tpu", "tpu_dist") if NAME == "tpu" else ())):  # the names of TorchTPU
        dist.Backend.register_backend(name, _later("create_group"), extended_api=True, devices=[NAME])
    dist.register_rendezvous_handler("jax", _later("rendezvous"))
