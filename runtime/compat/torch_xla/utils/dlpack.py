"""`torch_xla.utils.dlpack`: exchange of tensors with other libraries."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils.dlpack import DLDeviceType

from ...._torch import NAME


def to_dlpack(xla_tensor: torch.Tensor) -> Any:
    """A capsule of a tensor, which shares its memory where JAX allows."""
    return xla_tensor.detach().__dlpack__()


def from_dlpack(ext_tensor: Any) -> torch.Tensor:
    """A copy, on the device, of a tensor of another library or a capsule of one.

    Raises:
        ValueError: the tensor is not on the CPU.
    """
    if hasattr(ext_tensor, "__dlpack_device__"):
        kind, _ = ext_tensor.__dlpack_device__()
        if kind != DLDeviceType.kDLCPU:
            raise ValueError(
                f"from_dlpack: a tensor on device {kind} of DLPack; PyTorch/XLA DLPack implementation currently only "
                "supports CPU. Expected tenax.interop.j2t(jax.dlpack.from_dlpack(tensor))"
            )
    return torch.utils.dlpack.from_dlpack(ext_tensor).to(NAME, copy=True)


def from_xla_cuda_to_cuda(tensor: torch.Tensor) -> torch.Tensor:
    """Raise NotImplementedError: torch and JAX do not share a CUDA context here."""
    raise NotImplementedError("from_xla_cuda_to_cuda: expected tensor.cpu().cuda(), which copies through the host")
