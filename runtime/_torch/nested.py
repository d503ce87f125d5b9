"""Parts of torch's jagged tensors, whose modules torch imports lazily."""

from __future__ import annotations

from typing import Any

import torch

from ..releases import private_names

with private_names("torch", torch.__version__):
    from torch.nested._internal.sdpa import _validate_sdpa_input as check_attention

__all__ = ["check_attention", "ragged_dimension"]


def ragged_dimension(nested: Any) -> int:
    """The ragged dimension of a jagged tensor."""
    return nested._ragged_idx
