"""`torchax.view`: views are tensors of the device like all others."""

from __future__ import annotations

from ...device.tensor import Tensor

View = Tensor
