"""`torch_xla.experimental.stablehlo_custom_call`: of it, the names for memory of the host."""

from __future__ import annotations

import torch


def place_to_host(a: torch.Tensor) -> torch.Tensor:
    """Raise NotImplementedError: cells hold arrays of the device's memory."""
    raise NotImplementedError(
        "place_to_host: expected tensor.cpu(), or a policy of tenax.interop.checkpoint that offloads "
        "(jax.checkpoint_policies.offload_dot_with_no_batch_dims)"
    )


def place_to_device(a: torch.Tensor) -> torch.Tensor:
    """Raise NotImplementedError: see `place_to_host`."""
    raise NotImplementedError("place_to_device: expected tensor.to('xla')")
