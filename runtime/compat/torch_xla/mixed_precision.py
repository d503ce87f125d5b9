"""`torch_xla.amp`: torch's own autocast and gradient scaling."""

from __future__ import annotations

from typing import Any

import torch
from torch.amp.grad_scaler import GradScaler as _GradScaler

from ..._torch import NAME
from .collectives import fetch_gradients
from .hardware import platform


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
        super().__init__("xla", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class XlaGradScaler(_GradScaler):
    """`torch.amp.GradScaler` for the device.

    With `use_zero_grad`, `step` does not wait to learn whether a gradient is infinite or NaN: if one is, it steps with
    gradients of zero, which still changes parameters by weight decay or momentum.
    """

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
        use_zero_grad: bool = False,
    ) -> None:
        super().__init__(NAME, init_scale, growth_factor, backoff_factor, growth_interval, enabled)
        self.use_zero_grad = use_zero_grad

    def _maybe_opt_step(self, optimizer: torch.optim.Optimizer, optimizer_state: Any, *args: Any, **kwargs: Any) -> Any:
        if not self.use_zero_grad:
            return super()._maybe_opt_step(optimizer, optimizer_state, *args, **kwargs)
        found: Any = sum(optimizer_state["found_inf_per_device"].values())
        for gradient in fetch_gradients(optimizer):
            gradient.copy_(torch.where(found > 0, 0, gradient))
        return optimizer.step(*args, **kwargs)


class _FoundInf:
    """`step(found_inf=...)` of a fused optimizer."""

    found_inf: torch.Tensor | None

    def step(self, closure: Any = None, found_inf: torch.Tensor | None = None) -> Any:
        """Step, unless `found_inf` is 1."""
        if found_inf is None:
            return super().step(closure)  # type: ignore[misc]
        self.found_inf = found_inf.reshape(()).to(torch.float32)
        try:
            return super().step(closure)  # type: ignore[misc]
        finally:
            del self.found_inf


class SGD(_FoundInf, torch.optim.SGD):
    """`torch.optim.SGD`, fused."""

    def __init__(self, params: Any, lr: float = 1e-3, **kwargs: Any) -> None:
        super().__init__(params, lr, fused=True, **kwargs)


class Adam(_FoundInf, torch.optim.Adam):
    """`torch.optim.Adam`, fused."""

    def __init__(self, params: Any, lr: float = 1e-3, **kwargs: Any) -> None:
        super().__init__(params, lr, fused=True, **kwargs)


class AdamW(_FoundInf, torch.optim.AdamW):
    """`torch.optim.AdamW`, fused."""

    def __init__(self, params: Any, lr: float = 1e-3, **kwargs: Any) -> None:
        super().__init__(params, lr, fused=True, **kwargs)
