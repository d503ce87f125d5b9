"""`torch_xla.amp.grad_scaler`."""

from __future__ import annotations

from . import GradScaler as GradScaler
