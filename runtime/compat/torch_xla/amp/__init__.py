"""`torch_xla.amp`: torch's own autocast and gradient scaling."""

from __future__ import annotations

from typing import Any

import torch
from torch.amp.grad_scaler import GradScaler as _GradScaler

from ..devices import platform
from ..submodules import submodules_of

__getattr__ = submodules_of(__name__)


class XlaAutocast(torch.autocast):
    """`torch.autocast` for the device; the default dtype is bfloat16, on GPUs float16."""

    def __init__(
        self,
        device: Any = None,
        enabled: bool = True,
        dtype: torch.dtype | None = None,
        cache_enabled: bool | None = True,
    ) -> None:
        if dtype is None:
            dtype = torch.float16 if platform() == "GPU" else torch.get_autocast_dtype("xla")
        super().__init__("jax", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


autocast = XlaAutocast


class XlaGradScaler(_GradScaler):
    """`torch.amp.GradScaler` for the device."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
        use_zero_grad: bool = False,
    ) -> None:
        super().__init__("jax", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


GradScaler = XlaGradScaler
