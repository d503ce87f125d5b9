"""Arrays of the tensors passed to collectives, and writing results back."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import torch

from ..aten.memory import copy
from ..storage.tensors import NAME, cell_of, covers_array, wrap
from ..trace.core import current_trace, user_line
from ..trace.transfer import read


def array_of(tensor: torch.Tensor, name: str) -> jax.Array:
    """The array of a tensor that is passed to a collective.

    Raises:
        NotImplementedError: the tensor is sparse.
        RuntimeError: the tensor is not on the one device of this rank.
    """
    if tensor.layout is not torch.strided:
        raise NotImplementedError(f"{name}: layout {tensor.layout} is not supported; convert with .to_dense()")
    if cell_of(tensor).index:
        raise RuntimeError(f"{name}: the tensor is on {tensor.device}; expected {NAME}:0, the one device of this rank")
    return read(tensor)


def is_whole(tensor: torch.Tensor) -> bool:
    """Whether a tensor has all elements of its storage."""
    return tensor.layout is not torch.strided or covers_array(tensor, cell_of(tensor))


def refuse_in_trace(name: str, instead: str = "call it between compiled functions") -> None:
    """Raise while tracing, for a call that would happen only during the trace and not in the program, or that would
    make the programs of the ranks differ."""
    if current_trace() is not None:
        raise NotImplementedError(f"{name} inside a compiled function{user_line()}: not supported; {instead}")


def write(tensor: torch.Tensor, array: jax.Array) -> None:
    """Write a result into a tensor, which may be any view."""
    copy(tensor, wrap(array if array.shape == tensor.shape else array.reshape(tensor.shape)))


def write_all(tensors: Sequence[torch.Tensor], arrays: Sequence[jax.Array]) -> None:
    """Write results into tensors."""
    for tensor, array in zip(tensors, arrays, strict=True):
        write(tensor, array)
