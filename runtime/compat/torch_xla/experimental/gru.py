"""`torch_xla.experimental.gru`: torch's `GRU`, whose loop is a `jax.lax.scan` on the device."""

from __future__ import annotations

from torch.nn import GRU as GRU
