"""`torchax.ops.mappings`: dtypes and single values of one library in the other."""

from __future__ import annotations

from typing import Any

import jax
import torch

from ....dtypes import numpy_dtype, torch_dtype
from ....trace.transfer import from_jax, to_jax


def t2j(t: torch.Tensor, use_dlpack: bool = True) -> jax.Array:
    """A tensor, of the CPU too, as an array. CPU tensors are copied, whatever `use_dlpack` says."""
    array: jax.Array = to_jax(t)
    return array


def j2t(x: jax.Array, use_dlpack: bool = True) -> torch.Tensor:
    """A CPU tensor with the values of an array."""
    tensor: torch.Tensor = from_jax(x).cpu()
    return tensor


def t2j_dtype(dtype: torch.dtype) -> Any:
    """The dtype of NumPy."""
    return numpy_dtype(dtype)


def j2t_dtype(dtype: Any) -> torch.dtype:
    """The dtype of torch."""
    return torch_dtype(jax.numpy.dtype(dtype))
