"""`torch_xla.utils.serialization`: files of trees of tensors."""

from __future__ import annotations

from typing import Any

import torch

from .. import transfers
from ..missing import names_of

__getattr__ = names_of(__name__)


def save(data: Any, path: Any, master_only: bool = True, global_master: bool = False) -> None:
    """Save a tree of tensors; see `xm.save`."""
    transfers.save(data, path, master_only, global_master)


def load(path: str) -> Any:
    """Load a file of `save`, with its tensors on the CPU."""
    return torch.load(path, map_location="cpu", weights_only=True)
