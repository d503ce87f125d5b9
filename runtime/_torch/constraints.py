"""The constraint of symmetric matrices, which `torch.distributions.constraints` shows as an object alone."""

from __future__ import annotations

import torch

from ..releases import private_names

with private_names("torch", torch.__version__):
    from torch.distributions.constraints import _Symmetric as Symmetric

__all__ = ["Symmetric"]
