"""The class of the constraint of symmetric matrices, of which torch exports only an instance."""

from __future__ import annotations

import torch

from ..releases import private_names

with private_names("torch", torch.__version__):
    from torch.distributions.constraints import _Symmetric as Symmetric

__all__ = ["Symmetric"]
