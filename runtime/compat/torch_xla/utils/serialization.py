"""`torch_xla.utils.serialization`: files of trees of tensors."""

from __future__ import annotations

from typing import Any

import torch

from ..transfers import save as save


def load(path: str) -> Any:
    """Load a file of `save`, with its tensors on the CPU."""
    return torch.load(path, map_location="cpu", weights_only=True)
