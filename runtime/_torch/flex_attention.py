"""The operator of `torch.nn.attention.flex_attention`, whose modules torch imports lazily."""

from __future__ import annotations

import torch

from ..releases import private_names

with private_names("torch", torch.__version__):
    from torch._higher_order_ops import flex_attention as operator

__all__ = ["operator"]
