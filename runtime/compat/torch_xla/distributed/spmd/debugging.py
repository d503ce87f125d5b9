"""`torch_xla.distributed.spmd.debugging`: pictures of shardings."""

from __future__ import annotations

from typing import Any

import torch

from .....sharding.visualize import visualize_sharding as _visualize


def visualize_tensor_sharding(t: torch.Tensor, **kwargs: Any) -> None:
    """Print which part of a tensor is on which device; see `tenax.visualize_sharding`."""
    _visualize(t)


def visualize_sharding(sharding: str, **kwargs: Any) -> None:
    """Raise NotImplementedError: a sharding has no text of XLA here."""
    raise NotImplementedError("visualize_sharding of a text: expected tenax.visualize_sharding(tensor)")
