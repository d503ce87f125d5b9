"""Padding to a bounded number of shapes, because a compiled function is compiled once per shape."""

from __future__ import annotations

from collections.abc import Sequence

import torch


def bucket(size: int, sizes: Sequence[int] | None = None) -> int:
    """The smallest of `sizes` that is at least `size`; by default, of the powers of two and 3/2 times these, so that
    `tenax.bucket(90)` is 96 and `tenax.bucket(100)` is 128.

    Raises:
        ValueError: all of `sizes` are smaller.
    """
    if sizes is not None:
        smallest = min((s for s in sizes if s >= size), default=None)
        if smallest is None:
            raise ValueError(f"bucket: a size of {size} is greater than each of {sorted(sizes)}")
        return smallest
    power = 1 << max(size - 1, 0).bit_length()
    return power * 3 // 4 if power >= 4 and size <= power * 3 // 4 else power


def pad(
    tensor: torch.Tensor, dim: int = 0, sizes: Sequence[int] | None = None, value: float = 0
) -> tuple[torch.Tensor, torch.Tensor]:
    """Pad a tensor at the end of `dim` to the size of its bucket: `padded, own = tenax.pad(tokens, dim=1)`.

    Args:
        tensor: of any device and dtype, shape [..., n, ...].
        dim: the dimension whose size varies.
        sizes: the sizes to pad to; see `bucket`.
        value: the value of the padding, such as an ignored label for a target.

    Returns:
        The padded tensor [..., m, ...] and a bool tensor [m], True for the original elements, on the same device.
    """
    size = tensor.shape[dim]
    wanted = bucket(size, sizes)
    own = torch.arange(wanted, device=tensor.device) < size
    if wanted == size:
        return tensor, own
    padding = [0, 0] * (tensor.dim() - 1 - dim % tensor.dim()) + [0, wanted - size]
    return torch.nn.functional.pad(tensor, padding, value=value), own
