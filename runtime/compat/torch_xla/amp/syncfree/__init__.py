"""`torch_xla.amp.syncfree`: optimizers that skip a step on the device if a gradient is not finite.

They are torch's fused optimizers, which accept the scaler's `found_inf` as a tensor.
"""

from __future__ import annotations

from typing import Any

import torch


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
