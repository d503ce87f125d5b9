"""The copies between devices for `nn.DataParallel`, which torch implements in C++ for CUDA only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..storage.ordinals import NAME, current_index

Plain = Callable[..., Any]


def _device(index: Any) -> torch.device:
    """The device with an index; -1 is the CPU, None the current device."""
    if isinstance(index, (str, torch.device)):
        return torch.device(index)
    return torch.device("cpu") if index == -1 else torch.device(NAME, current_index() if index is None else index)


def _is_ours(*tensors: torch.Tensor) -> bool:
    """Whether any tensor is on the device, or all are on the CPU and CUDA is not available."""
    kinds = {tensor.device.type for tensor in tensors}
    return NAME in kinds or (kinds == {"cpu"} and not torch.cuda.is_available())


def broadcast(plain: Plain, tensor: torch.Tensor, devices: Any = None, *, out: Any = None) -> Any:
    """Copy a tensor to several devices; see `torch.nn.parallel.comm.broadcast`."""
    if not _is_ours(tensor) or (devices is None) == (out is None):
        return plain(tensor, devices, out=out)
    if out is None:
        return tuple(tensor.to(_device(index)) for index in devices)
    return tuple(target.copy_(tensor) for target in out)


def broadcast_coalesced(
    plain: Plain, tensors: Sequence[torch.Tensor], devices: Any, buffer_size: int = 10485760
) -> Any:
    """Copy tensors to each device, one list per device; on the source's device these are the tensors themselves."""
    if not _is_ours(*tensors):
        return plain(tensors, devices, buffer_size)
    real = [torch.view_as_real(t) if t.is_complex() else t for t in tensors]  # the caller converts them back
    return [[t.to(_device(index)) for t in real] for index in devices]


def scatter(
    plain: Plain,
    tensor: torch.Tensor,
    devices: Any = None,
    chunk_sizes: Any = None,
    dim: int = 0,
    streams: Any = None,
    *,
    out: Any = None,
) -> Any:
    """Split a tensor over devices; see `torch.nn.parallel.comm.scatter`."""
    if not _is_ours(tensor) or (out is not None and (devices is not None or chunk_sizes is not None)):
        return plain(tensor, devices, chunk_sizes, dim, streams, out=out)
    if out is not None:
        parts = tensor.split([target.size(dim) for target in out], dim)
        return tuple(target.copy_(part) for target, part in zip(out, parts, strict=True))
    parts = tensor.chunk(len(devices), dim) if chunk_sizes is None else tensor.split([*chunk_sizes], dim)
    real = [torch.view_as_real(part) if part.is_complex() else part for part in parts]
    return tuple(part.to(_device(index)) for part, index in zip(real, devices, strict=False))


def gather(
    plain: Plain, tensors: Sequence[torch.Tensor], dim: int = 0, destination: Any = None, *, out: Any = None
) -> Any:
    """Concatenate tensors from several devices; see `torch.nn.parallel.comm.gather`."""
    if not _is_ours(*tensors) or (out is not None and destination is not None):
        return plain(tensors, dim, destination, out=out)
    target = _device(destination) if out is None else out.device
    real = [torch.view_as_real(t) if t.is_complex() else t for t in tensors]
    whole = torch.cat([t.to(target) for t in real], dim)
    return whole if out is None else out.copy_(whole)
