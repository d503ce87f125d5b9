"""Saving, loading and sending tensors of the device: torch's own records, so that any process can read them."""

from __future__ import annotations

from typing import Any

import torch

from . import storage
from .backend import NAME

# Below torch's own packages (cpu 10, cuda 20, …): they do not know the device.
_PRIORITY = 5


def _reduce(tensor: torch.Tensor) -> Any:
    from torch.multiprocessing.reductions import reduce_tensor

    if tensor.device.type == NAME:
        raise NotImplementedError(
            f"a tensor on device '{NAME}' cannot be sent to another process, which has its own JAX; send tensor.cpu()"
        )
    return reduce_tensor(tensor)


def install() -> None:
    """Teach `torch.save`, `torch.load` and torch's multiprocessing the device."""
    from multiprocessing.reduction import ForkingPickler

    torch.serialization.register_package(_PRIORITY, storage.location, storage.restore)
    for kind in (torch.Tensor, torch.nn.Parameter):
        ForkingPickler.register(kind, _reduce)
