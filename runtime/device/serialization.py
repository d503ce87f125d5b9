"""Save and load device tensors in torch's own format, so that any process can read them."""

from __future__ import annotations

from typing import Any

import torch

from ..storage.ordinals import NAME
from . import storage_methods

# Before torch's own entries (cpu 10, cuda 20, …), which do not know the device.
_PRIORITY = 5


def _reduce(tensor: torch.Tensor) -> Any:
    from torch.multiprocessing.reductions import reduce_tensor

    if tensor.device.type == NAME:
        raise NotImplementedError(
            f"a tensor on device '{NAME}' cannot be sent to another process, which has its own JAX; send tensor.cpu()"
        )
    return reduce_tensor(tensor)


def install() -> None:
    """Register the device with `torch.save`, `torch.load` and torch's multiprocessing."""
    from multiprocessing.reduction import ForkingPickler

    torch.serialization.register_package(_PRIORITY, storage_methods.location, storage_methods.restore)
    for kind in (torch.Tensor, torch.nn.Parameter):
        ForkingPickler.register(kind, _reduce)
