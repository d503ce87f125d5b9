"""The tensors that are passed to collectives: checks, their arrays or packed parts of these, and writing results."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from ..aten.memory import copy
from ..storage.placement import put
from ..storage.tensors import NAME, cell_of, covers_array, wrap
from ..trace.core import current_trace, user_line
from ..trace.transfer import read
from .collectives import check

Tensor = torch.Tensor
Run = Callable[..., list[jax.Array]]


def array_of(tensor: Tensor, name: str, op: str | None = None) -> jax.Array:
    """The array of a tensor that is passed to a collective, which reduces it by `op` if one is given.

    Raises:
        NotImplementedError: the tensor is sparse.
        RuntimeError: the tensor is not on the one device of this rank; its dtype does not have the reduction.
    """
    if tensor.layout is not torch.strided:
        raise NotImplementedError(f"{name}: layout {tensor.layout} is not supported; convert with .to_dense()")
    if cell_of(tensor).index:
        raise RuntimeError(f"{name}: the tensor is on {tensor.device}; expected {NAME}:0, the one device of this rank")
    array = read(tensor)
    if op is not None:
        check(op, array.dtype)
    return array


def is_whole(tensor: Tensor) -> bool:
    """Whether a tensor has all elements of its storage."""
    return tensor.layout is not torch.strided or covers_array(tensor, cell_of(tensor))


def refuse_in_trace(name: str, instead: str = "call it between compiled functions") -> None:
    """Raise while tracing, for a call that would happen only during the trace and not in the program, or that would
    make the programs of the ranks differ."""
    if current_trace() is not None:
        raise NotImplementedError(f"{name} inside a compiled function{user_line()}: not supported; {instead}")


def write(tensor: Tensor, array: jax.Array) -> None:
    """Write a result, without its padding, into a tensor, which may be any view."""
    if array.size > tensor.numel():
        array = array.reshape(-1)[: tensor.numel()]
    copy(tensor, wrap(array if array.shape == tensor.shape else array.reshape(tensor.shape)))


def write_all(tensors: Sequence[Tensor], arrays: Sequence[jax.Array]) -> None:
    """Write results into tensors."""
    for tensor, array in zip(tensors, arrays, strict=True):
        write(tensor, array)


def zeros(shape: tuple[int, ...], dtype: Any) -> jax.Array:
    return put(np.zeros(shape, dtype), 0)


@functools.partial(jax.jit, static_argnums=(1, 2))
def padded(flat: jax.Array, counts: tuple[int, ...], width: int) -> jax.Array:
    """Consecutive parts of a flat array as rows of equal width."""
    return rows_of(jnp.split(flat, np.cumsum(counts)[:-1]), width)


@functools.partial(jax.jit, static_argnums=1)
def unpadded(rows: jax.Array, counts: tuple[int, ...]) -> jax.Array:
    return jnp.concatenate([row[:count] for row, count in zip(rows, counts, strict=True)])


@functools.partial(jax.jit, static_argnums=1)
def rows_of(parts: list[jax.Array], width: int) -> jax.Array:
    """Flat arrays as rows of equal width."""
    return jnp.stack([jnp.pad(part, (0, width - part.size)) for part in parts])


def split_counts(which: str, tensor: Tensor, splits: list[int], size: int) -> list[int]:
    rows = tensor.shape[0] if tensor.dim() else 0
    splits = list(splits) or [rows // size] * size
    if len(splits) != size or sum(splits) != rows:
        raise ValueError(
            f"all_to_all_single: {which} splits {splits} of {size} ranks do not sum up to dim 0 of {list(tensor.shape)}"
        )
    row = tensor[0].numel() if rows else 0
    return [n * row for n in splits]


def expect(condition: bool, name: str, tensor: Tensor, expected: Any) -> None:
    if not condition:
        raise ValueError(f"{name}: got a tensor of shape {list(tensor.shape)}; expected {expected}")


def expect_rank(name: str, rank: int, size: int) -> None:
    """Raise for a root, source or destination that is not a rank of the group."""
    if not 0 <= rank < size:
        raise RuntimeError(f"{name}: invalid rank {rank} in the group; expected 0 to {size - 1}")


def expect_list(name: str, tensors: Sequence[Tensor], like: Tensor, size: int) -> None:
    """Raise for a list of tensors that are not one for each rank, with the dtype and device of another tensor."""
    if len(tensors) != size:
        raise ValueError(f"{name}: got a list of {len(tensors)} tensors; expected one for each of {size} ranks")
    expect_dtypes(name, tensors, like)


def expect_dtypes(name: str, tensors: Sequence[Tensor], like: Tensor) -> None:
    for tensor in tensors:
        if tensor.dtype is not like.dtype:
            raise ValueError(f"{name}: got tensors of {tensor.dtype} and {like.dtype}; expected one dtype")
        if tensor.device.type != NAME:
            raise ValueError(f"{name}: got a tensor on {tensor.device} beside one on {like.device}; expected {NAME}")


class SparsePart:
    """The sparse tensor of this rank, to be added to those of the others.

    The ranks first exchange how many values each has. Gathered rows are padded to a power of two, so that few programs
    are compiled.
    """

    def __init__(self, tensor: Tensor) -> None:
        coalesced = tensor.detach().coalesce()
        self.shape, self.sparse_dim = tuple(tensor.shape), tensor.sparse_dim()
        self.indices, self.values = read(coalesced.indices()), read(coalesced.values())

    def summed(self, run: Run, failed: Callable[[str], Exception]) -> Tensor:
        """The sum over the ranks, coalesced, on the thread of the group; `run` runs a collective.

        Raises:
            DistBackendError: the shapes of the ranks differ.
        """
        own = np.array([self.values.shape[0], self.sparse_dim, *self.shape], np.int64)
        every = np.asarray(run("all_gather", [put(own, 0)])[0]).reshape(-1, own.size)
        if (every[:, 1:] != own[1:]).any():
            shapes = [(*map(int, row[2:]),) for row in every]
            raise failed(f"sparse tensors of shapes {shapes}; expected one shape and one number of sparse dimensions")
        counts = every[:, 0]
        width = 1 << max(int(counts.max()) - 1, 0).bit_length()
        gathered = run("all_gather", [_rows(self.indices.T, width), _rows(self.values, width)])
        kept = np.concatenate([np.arange(n) + rank * width for rank, n in enumerate(counts)])
        indices, values = (wrap(jnp.take(rows, kept, axis=0)) for rows in gathered)
        return torch.sparse_coo_tensor(indices.t(), values, self.shape, check_invariants=False).coalesce()


def _rows(array: jax.Array, width: int) -> Any:
    return jnp.pad(array, ((0, width - array.shape[0]), *[(0, 0)] * (array.ndim - 1)))
