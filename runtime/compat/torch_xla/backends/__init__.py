"""`torch_xla.backends`: the precision of products of matrices."""

from __future__ import annotations

import torch

# torch's names of JAX's precisions: `get` gives one of PyTorch/XLA back.
_PRECISIONS = {"default": "medium", "high": "high", "highest": "highest"}


def set_mat_mul_precision(precision: str) -> None:
    """Choose the precision of products and convolutions of float32: 'default', 'high' or 'highest'.

    Raises:
        ValueError: it is none of them.
    """
    if precision not in _PRECISIONS:
        raise ValueError(f"Invalid precision: {precision}. Must be one of {', '.join(_PRECISIONS)}.")
    torch.set_float32_matmul_precision(_PRECISIONS[precision])


def get_mat_mul_precision() -> str:
    """The precision of products and convolutions of float32."""
    chosen = torch.get_float32_matmul_precision()
    return next(name for name, of_torch in _PRECISIONS.items() if of_torch == chosen)
