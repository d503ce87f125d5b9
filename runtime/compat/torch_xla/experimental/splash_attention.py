"""`torch_xla.experimental.splash_attention`."""

from __future__ import annotations

from typing import Any


def splash_attention(*_: Any, **__: Any) -> Any:
    """Raise NotImplementedError."""
    raise NotImplementedError(
        "splash_attention: expected torch.nn.attention.flex_attention with a block mask, or tenax.call_jax of "
        "jax.experimental.pallas.ops.tpu.splash_attention"
    )
