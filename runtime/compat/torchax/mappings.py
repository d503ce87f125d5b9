"""Conversion of dtypes and single values between the libraries."""

from __future__ import annotations

from typing import Any

import jax
import torch

from ...dtypes import TO_NUMPY, TO_TORCH, numpy_dtype, torch_dtype
from ...trace.transfer import from_jax, to_jax

TORCH_DTYPE_TO_JAX: dict[Any, Any] = {**TO_NUMPY, None: None}
JAX_DTYPE_TO_TORCH: dict[Any, Any] = {**TO_TORCH, None: None}


def t2j(t: torch.Tensor, use_dlpack: bool = True) -> jax.Array:
    """A tensor, on the device or the CPU, as an array. CPU tensors are copied, regardless of `use_dlpack`."""
    array: jax.Array = to_jax(t)
    return array


def j2t(x: jax.Array, use_dlpack: bool = True) -> torch.Tensor:
    """A CPU tensor with the values of an array."""
    tensor: torch.Tensor = from_jax(x).cpu()
    return tensor


def t2j_dtype(dtype: torch.dtype) -> Any:
    """The NumPy dtype."""
    return numpy_dtype(dtype)


def j2t_dtype(dtype: Any) -> torch.dtype:
    """The torch dtype."""
    return torch_dtype(jax.numpy.dtype(dtype))
