"""`torchax.amp`: torch's own autocast on device "jax"."""

from __future__ import annotations

from typing import Any

import torch

from ..._torch import NAME


def autocast(device: str = NAME, dtype: torch.dtype = torch.bfloat16, env: Any = None, **options: Any) -> Any:
    """`torch.autocast` for the device; a context manager or decorator."""
    return torch.autocast(device, dtype=dtype, **options)
