"""`torch_xla.backends`: the precision of matrix products."""

from __future__ import annotations

import torch

# torch's name for each precision of PyTorch/XLA.
_PRECISIONS = {"default": "medium", "high": "high", "highest": "highest"}


def set_mat_mul_precision(precision: str) -> None:
    """Set the precision of float32 products and convolutions: 'default', 'high' or 'highest'.

    Raises:
        ValueError: `precision` is another string.
    """
    if precision not in _PRECISIONS:
        raise ValueError(f"Invalid precision: {precision}. Must be one of {', '.join(_PRECISIONS)}.")
    torch.set_float32_matmul_precision(_PRECISIONS[precision])


def get_mat_mul_precision() -> str:
    """The precision of float32 products and convolutions."""
    chosen = torch.get_float32_matmul_precision()
    return next(name for name, of_torch in _PRECISIONS.items() if of_torch == chosen)
